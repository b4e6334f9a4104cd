/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trees of IPv6 addresses: nodes, from the leaves to the root.
 *
 * tree_table.c makes indexes before them. The layout is that of include/baleen/tree.h.
 */
#ifndef BALEEN_TREE_NODES_H
#define BALEEN_TREE_NODES_H

#include <baleen/port.h>

#include <stdbool.h>

/**
 * struct baleen_bound - the state of upper or lower halves changes here
 * @from: the first of them
 * @state: BALEEN_GROUP_NONE or _ALL, not the state of those before; of upper halves also
 *         BALEEN_TREE_CHILD and the number of a struct baleen_low
 */
struct baleen_bound {
	u64 from;
	u32 state;
};

/**
 * struct baleen_low - lower halves of a /64 that has longer prefixes
 * @state: of the lowest
 * @n: how many bounds there are
 * @first: number of the first one in low_bound
 */
struct baleen_low {
	u32 state;
	u32 n;
	size_t first;
};

/**
 * struct baleen_bounds - content of a tree
 * @bound: of upper halves, ascending; what lies before the first is in state
 *         BALEEN_GROUP_NONE
 * @n: how many
 * @low: each is the state of one upper half; NULL when there is none
 * @low_bound: of lower halves, ascending in each of @low
 */
struct baleen_bounds {
	struct baleen_bound *bound;
	size_t n;
	struct baleen_low *low;
	struct baleen_bound *low_bound;
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

/* Numbers side by side; they end before those of the next one. */
struct baleen_tree_interval {
	u64 from;
	/* A state; above the leaves a block. */
	u32 value;
};

/**
 * struct baleen_tree_group - numbers with the same first bits
 * @first: the lowest
 * @last: the highest
 * @state: of the lowest
 * @is_low: they are lower halves
 * @n: how many bounds there are behind the lowest
 * @bound: the first of these
 */
struct baleen_tree_group {
	u64 first;
	u64 last;
	u32 state;
	bool is_low;
	size_t n;
	const struct baleen_bound *bound;
};

/**
 * struct baleen_tree_maker - a tree that is being made, or a part of it that is counted
 * @tree: the tree
 * @bounds: content of it
 * @is_counting: no block is written, and trees of lower halves, which are always the same,
 *               are left out
 * @max_blocks: most blocks
 * @is_full: there is no memory for more of them, or there may be none
 * @interval: room for the intervals of a group
 * @low_interval: and for those of a tree of lower halves
 */
struct baleen_tree_maker {
	struct baleen_tree *tree;
	const struct baleen_bounds *bounds;
	bool is_counting;
	u64 max_blocks;
	bool is_full;
	struct baleen_tree_interval *interval;
	struct baleen_tree_interval *low_interval;
};

/**
 * baleen_tree_add_blocks() - place for more blocks, side by side
 * @maker: is_full when there is none
 * @n: how many
 *
 * Return: number of the first.
 */
u64 baleen_tree_add_blocks(struct baleen_tree_maker *maker, u64 n);

/**
 * baleen_tree_cut() - the first part of a group
 * @group: begins with @first; then behind @last
 * @first: the lowest of the part
 * @last: the highest
 *
 * Return: the part.
 */
struct baleen_tree_group baleen_tree_cut(struct baleen_tree_group *group, u64 first, u64 last);

/**
 * baleen_tree_is_uniform() - do all numbers of a group have one answer?
 * @group: the group
 *
 * Return: whether it needs no node.
 */
bool baleen_tree_is_uniform(const struct baleen_tree_group *group);

/**
 * baleen_tree_make_nodes() - the nodes of a group
 * @maker: is_full when there is no memory for them
 * @group: the group
 * @root: the root has this place
 *
 * Return: steps from the root to a leaf.
 */
u32 baleen_tree_make_nodes(struct baleen_tree_maker *maker, const struct baleen_tree_group *group,
			   u64 root);

#endif /* BALEEN_TREE_NODES_H */
