/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats of baleen_import(), from a file that has been read.
 */
#ifndef BALEEN_IMPORT_FORMATS_H
#define BALEEN_IMPORT_FORMATS_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * enum baleen_import_format - the program that wrote the text
 * @BALEEN_IMPORT_IPSET: that of ipset save
 * @BALEEN_IMPORT_NFT: JSON of nft -j
 * @BALEEN_IMPORT_JSON: lines of baleen export
 */
enum baleen_import_format {
	BALEEN_IMPORT_IPSET,
	BALEEN_IMPORT_NFT,
	BALEEN_IMPORT_JSON,
};

/**
 * struct baleen_import_entry - one entry of a set
 * @key: as in a list (list.h), without '!'; of several fields as ipset has
 *       them: 192.0.2.1,tcp:443
 * @is_exception: nomatch
 * @expires_s: seconds left; 0: it does not expire
 * @comment: "" for none
 * @line: its line in the file; 0 of nft
 * @rule: of a line of JSON: of which rule; NULL otherwise, and where it is missing
 * @origin: of such a line: who has it; NULL in the same way
 * @since_ms: of such a line: since when, since the epoch; 0 where it is missing
 * @end_ms: of such a line: until when; 0 for ever
 *
 * Texts are valid during the callback.
 */
struct baleen_import_entry {
	const char *key;
	bool is_exception;
	u64 expires_s;
	const char *comment;
	u64 line;
	const char *rule;
	const char *origin;
	u64 since_ms;
	u64 end_ms;
};

/**
 * struct baleen_importer - what to read, and where to
 * @format: format of the file
 * @set: the name of the set; of nft also FAMILY/TABLE/NAME. NULL: the only one
 * @on_entry: called for each entry in order; not 0 ends the reading, after it
 *            filled in @error
 * @data: passed to @on_entry
 */
struct baleen_importer {
	enum baleen_import_format format;
	const char *set;
	int (*on_entry)(void *data, const struct baleen_import_entry *entry,
			struct baleen_error *error);
	void *data;
};

/**
 * struct baleen_import_text - a file in memory
 * @name: its name in messages
 * @bytes: its bytes, a NUL byte behind them
 * @n_bytes: how many
 */
struct baleen_import_text {
	const char *name;
	char *bytes;
	size_t n_bytes;
};

/**
 * baleen_import_ipset() - baleen_import() of ipset save
 * @importer: which set, and what to do with it
 * @text: the file; changed
 * @error: filled in on failure
 *
 * Return: as baleen_import().
 */
int baleen_import_ipset(const struct baleen_importer *importer, struct baleen_import_text *text,
			struct baleen_error *error);

/**
 * baleen_import_nft() - baleen_import() of nft -j
 * @importer: which set, and what to do with it
 * @text: the file
 * @error: filled in on failure
 *
 * Return: as baleen_import().
 */
int baleen_import_nft(const struct baleen_importer *importer, struct baleen_import_text *text,
		      struct baleen_error *error);

/**
 * baleen_import_json() - baleen_import() of lines of baleen export
 * @importer: what to do with them; they have no sets
 * @text: the file
 * @error: filled in on failure
 *
 * Return: as baleen_import().
 */
int baleen_import_json(const struct baleen_importer *importer, struct baleen_import_text *text,
		       struct baleen_error *error);

#endif /* BALEEN_IMPORT_FORMATS_H */
