/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv6 prefixes: bounds of a tree from the entries of a list; the table of these entries.
 *
 * The layout is that of include/baleen/tree.h. Entries are sorted by address,
 * then length: all that a prefix covers stands behind it in one piece, so one
 * pass with the enclosing prefixes on a stack finds every bound.
 */
#ifndef BALEEN_PREFIX_TABLE_H
#define BALEEN_PREFIX_TABLE_H

#include "filter/tree_table.h"
#include "list/list.h"

/**
 * struct baleen_entries - IPv6 prefixes and exceptions
 * @entry: sorted by address, then length; no two alike
 * @n: how many
 */
struct baleen_entries {
	const struct baleen_prefix6 *entry;
	size_t n;
};

/**
 * baleen_bounds_make() - what the tree is to say
 * @entries: the entries, at least one
 * @bounds: filled in; free with baleen_bounds_free()
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_bounds_make(const struct baleen_entries *entries, struct baleen_bounds *bounds);

/**
 * baleen_bounds_free() - free what was allocated
 * @bounds: made, or all zeros
 */
void baleen_bounds_free(struct baleen_bounds *bounds);

/**
 * baleen_entries_fill() - write the entries into their table
 * @filter: has an empty table of entries
 * @entries: the entries
 */
void baleen_entries_fill(struct baleen_filter *filter, const struct baleen_entries *entries);

/**
 * baleen_entries_read() - the entries back
 * @filter: has a table of entries
 * @out: filled in with as many entries as the table has buckets
 *
 * Return: 0; -EINVAL when they are not what baleen_entries_fill() writes.
 */
int baleen_entries_read(const struct baleen_filter *filter, struct baleen_prefix6 *out);

#endif /* BALEEN_PREFIX_TABLE_H */
