/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of the upper halves of IPv6 addresses: laid out, written.
 *
 * The layout is that of include/baleen/tree.h.
 */
#ifndef BALEEN_TREE_TABLE_H
#define BALEEN_TREE_TABLE_H

#include "filter/filter.h"

/**
 * struct baleen_bound - the state of upper halves changes here
 * @from: the first of them
 * @state: enum baleen_group, not the state of those before
 */
struct baleen_bound {
	u64 from;
	u32 state;
};

/**
 * struct baleen_bounds - content of a tree
 * @bound: ascending; what lies before the first is in state BALEEN_GROUP_NONE
 * @n: how many
 */
struct baleen_bounds {
	struct baleen_bound *bound;
	size_t n;
};

/**
 * struct baleen_tree - a tree that is made
 * @group_bits: bits of the first index, 8 to 24
 * @index: that index
 * @n_blocks: blocks behind it
 * @room: for how many there is memory
 * @block: the blocks
 */
struct baleen_tree {
	u32 group_bits;
	u32 *index;
	u64 n_blocks;
	u64 room;
	u64 (*block)[BALEEN_BLOCK_WORDS];
};

/**
 * baleen_tree_make() - lay out a tree
 * @bounds: content of the tree
 * @tree: filled in; free with baleen_tree_free(), also on failure
 *
 * Return: 0, -ENOMEM, or -E2BIG when indexes cannot number so many blocks.
 */
int baleen_tree_make(const struct baleen_bounds *bounds, struct baleen_tree *tree);

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
