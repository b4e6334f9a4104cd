/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of a set as ipset and nftables print it.
 *
 * - `ipset save [NAME]`: create and add lines; timeout, comment, nomatch. The
 *   counters, skbinfo and such of an entry are passed over.
 * - `nft -j list set FAMILY TABLE NAME`, or list ruleset: addresses, prefixes
 *   and ranges; timeout, expires, comment.
 *
 * What is not understood is refused, never passed over.
 */
#ifndef BALEEN_IMPORT_H
#define BALEEN_IMPORT_H

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_IMPORT_MAX_BYTES (256ull << 20)

/**
 * enum baleen_import_format - whose text it is
 * @BALEEN_IMPORT_IPSET: that of ipset save
 * @BALEEN_IMPORT_NFT: JSON of nft -j
 */
enum baleen_import_format {
	BALEEN_IMPORT_IPSET,
	BALEEN_IMPORT_NFT,
};

/**
 * struct baleen_import_entry - one entry of a set
 * @key: as in a list (list.h), without '!'; of several fields as ipset has
 *       them: 192.0.2.1,tcp:443
 * @is_exception: nomatch
 * @expires_s: seconds left; 0: it does not expire
 * @comment: "" for none
 * @line: of the file; 0 in JSON
 *
 * @key and @comment are valid during the callback.
 */
struct baleen_import_entry {
	const char *key;
	bool is_exception;
	u64 expires_s;
	const char *comment;
	u64 line;
};

/**
 * struct baleen_importer - what to read, and where to
 * @format: of the file
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
 * baleen_import_format_parse() - a format from text
 * @text: ipset or nft
 * @format: the format; untouched on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_import_format_parse(const char *text, enum baleen_import_format *format);

/**
 * baleen_import() - read the entries of one set
 * @importer: which, and what to do with them
 * @fd: open for reading; a file, pipe or terminal; read to its end
 * @name: of the file in messages
 * @error: filled in on failure
 *
 * Nothing is called before the file is known to be whole and the set found.
 *
 * Return: 0; -EINVAL for what is no such file, has an entry that is not
 * understood, or several sets and none chosen; -ENOENT without that set;
 * -E2BIG; -ENOMEM; the negative errno of a failed read; what
 * &struct baleen_importer.on_entry returned.
 */
int baleen_import(const struct baleen_importer *importer, int fd, const char *name,
		  struct baleen_error *error);

#endif /* BALEEN_IMPORT_H */
