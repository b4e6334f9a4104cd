/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv6 prefixes: from the entries of a list to bounds, prefixes and markers.
 *
 * The layouts are those of include/baleen/tree.h and prefixes.h. Entries
 * are sorted by address, then length: all that a prefix covers stands behind
 * it in one piece, so one pass with the enclosing prefixes on a stack finds
 * every answer, and equal markers one behind the other.
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
 * @bounds: filled in; @bounds->bound is to be freed by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_bounds_make(const struct baleen_entries *entries, struct baleen_bounds *bounds);

/**
 * baleen_prefixes_plan() - the lengths past /64, their search tree, the slots
 * @entries: the entries
 * @image: prefix_lengths and length_tree are filled in
 *
 * Return: prefixes and markers that the table is to hold; 0 for no table.
 */
u64 baleen_prefixes_plan(const struct baleen_entries *entries, struct baleen_image *image);

/**
 * baleen_prefixes_fill() - insert prefixes and markers
 * @filter: has an empty table of prefixes, lengths and search tree
 * @entries: the entries
 *
 * Return: 0; -ENOSPC when one finds no room, or two that are hashed have the
 * same hash: another seed, or a larger table, is needed.
 */
int baleen_prefixes_fill(struct baleen_filter *filter, const struct baleen_entries *entries);

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
