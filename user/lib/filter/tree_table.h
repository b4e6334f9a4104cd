/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of IPv6 addresses: laid out, written.
 *
 * The layout is that of include/baleen/tree.h.
 */
#ifndef BALEEN_TREE_TABLE_H
#define BALEEN_TREE_TABLE_H

#include "filter/filter.h"
#include "filter/tree_nodes.h"

/**
 * baleen_tree_make() - lay out a tree
 * @bounds: content of the tree
 * @max_blocks: most blocks behind its index, BALEEN_TREE_LINES or fewer
 * @tree: filled in; free with baleen_tree_free(), also on failure
 *
 * Return: 0, -ENOMEM, or -E2BIG for more blocks; how many there would be at least is in @tree.
 */
int baleen_tree_make(const struct baleen_bounds *bounds, u64 max_blocks, struct baleen_tree *tree);

/**
 * baleen_tree_free() - free what was allocated
 * @tree: made, or all zeros
 */
void baleen_tree_free(struct baleen_tree *tree);

/**
 * baleen_tree_table() - the table of a tree
 * @tree: the tree
 *
 * Return: kind and geometry; first_block and leaf_block are 0.
 */
struct baleen_table baleen_tree_table(const struct baleen_tree *tree);

/**
 * baleen_tree_fill() - write a tree into its table
 * @filter: has an empty table of this layout in its place
 * @tree: the tree
 */
void baleen_tree_fill(struct baleen_filter *filter, const struct baleen_tree *tree);

#endif /* BALEEN_TREE_TABLE_H */
