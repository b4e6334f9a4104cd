/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two formats of baleen_import(), from a file that has been read.
 */
#ifndef BALEEN_IMPORT_FORMATS_H
#define BALEEN_IMPORT_FORMATS_H

#include "list/import.h"

/**
 * struct baleen_import_text - a file in memory
 * @name: of it in messages
 * @bytes: its bytes, a NUL byte behind them
 * @n_bytes: how many
 */
struct baleen_import_text {
	const char *name;
	char *bytes;
	size_t n_bytes;
};

/**
 * struct baleen_import_sets - the sets that a file has, for the choice of one
 * @n: how many
 * @n_named: of them, those that are called by the name in question
 * @names: what they are called, as far as they fit
 * @used: of @names
 *
 * All zeros is none.
 */
struct baleen_import_sets {
	u32 n;
	u32 n_named;
	char names[512];
	size_t used;
};

/**
 * baleen_import_sets_add() - one more set
 * @sets: added to
 * @name: what it is called
 * @is_named: the importer's name means it
 */
void baleen_import_sets_add(struct baleen_import_sets *sets, const char *name, bool is_named);

/**
 * baleen_import_sets_choose() - is one set meant, and no other?
 * @sets: all of them
 * @importer: with the name that was given
 * @file: name of the file in messages
 * @error: filled in on failure: names the sets
 *
 * Return: 0; -EINVAL when several are meant; -ENOENT when none is.
 */
int baleen_import_sets_choose(const struct baleen_import_sets *sets,
			      const struct baleen_importer *importer, const char *file,
			      struct baleen_error *error);

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

#endif /* BALEEN_IMPORT_FORMATS_H */
