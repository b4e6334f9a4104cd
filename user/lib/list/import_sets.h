/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sets that a file to be imported has, for the choice of one.
 */
#ifndef BALEEN_IMPORT_SETS_H
#define BALEEN_IMPORT_SETS_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * struct baleen_import_sets - the sets that a file has, for the choice of one
 * @n: how many
 * @n_named: of them, those that are called by the name in question
 * @names: what they are called, as far as they fit
 * @used: used bytes of @names
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
 * @name: its name
 * @is_named: the name in question is its name
 */
void baleen_import_sets_add(struct baleen_import_sets *sets, const char *name, bool is_named);

/**
 * baleen_import_sets_choose() - is one set meant, and no other?
 * @sets: all of them
 * @wanted: the name that was given, or NULL
 * @file: name of the file in messages
 * @error: filled in on failure: names the sets
 *
 * Return: 0; -EINVAL when several are meant; -ENOENT when none is.
 */
int baleen_import_sets_choose(const struct baleen_import_sets *sets, const char *wanted,
			      const char *file, struct baleen_error *error);

#endif /* BALEEN_IMPORT_SETS_H */
