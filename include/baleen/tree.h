/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree: any set of IPv6 prefixes, as the numbers at which "in" and "out" change.
 *
 * Idea: prefixes that are sorted, with nesting and exceptions resolved, are intervals of
 * addresses. Each end of one is a key of a B-tree. An index by the first bits of an
 * address, and where many begin alike an index by the bits after these, leads to a root
 * that mostly is a leaf. A node is one cache line. All of its keys are compared without a
 * branch, and how many are above the address chooses one of up to 13 intervals: an
 * answer, or a child.
 *
 * Papers: Bayer and McCreight, "Organization and Maintenance of Large Ordered Indexes"
 * (1972); Lampson, Srinivasan and Varghese, "IP Lookups using Multiway and Multicolumn
 * Search" (INFOCOM 1998): ends of intervals as keys, an index before them, nodes as wide
 * as a cache line; Lamport, "Multiple Byte Processing with Full-Word Instructions" (CACM
 * 1975): the comparison.
 *
 *      table: [ index by g bits ][ nodes and further indexes, from leaf_block on ]
 *
 *      index, 16 entries of 32 bits a line; an entry is
 *        0..3        enum baleen_group: this is the answer
 *        from 4 on   4 + number of the root
 *        1 k:5 n:26  the next k bits choose an entry of the index from line n on;
 *                    that one leads to no other index
 *
 *      node of 64 bytes:
 *      +------ words 0..5 -----+--- word 6 ---+----------------- word 7 --------------+
 *      | 6 keys of 63 bits, or | first child, | wide, low, | shift  | 13 intervals |
 *      | 12 keys of 31 bits    | u32          | half: 63.. | 57..52 | of 4 bits    |
 *      +-----------------------+--------------+------------+--------+--------------+
 *      interval n has n keys above it: 0..3 is enum baleen_group, more is 4 + the
 *      number of a child, counted from the first one
 *      wide: bits 0..62 of a key, below a 1 in bit 63
 *      narrow: (key >> shift) & 0x7fffffff, below a 1 in bit 31 and 63: all addresses
 *      that come here, and the keys, agree in what is above these bits
 *      keys that are not used are 0, with the 1 above
 *      bit 62, low: this node, and all below it, decides by the lower half of the address
 *      bit 61, half: addresses whose lower half does not begin with bit 60 are answered by
 *      bit 59
 *
 * A key is above an address when key - (address + 1) borrows nothing from the 1 above it.
 *
 * A tree decides by the upper half of an address. A /64 of which longer prefixes are listed
 * is an interval whose child is the root of a tree of lower halves. Its node keeps 63 bits of
 * a key, so half of the /64 is answered by the root alone; where both halves have longer
 * prefixes the root has one narrow key, 2^63. In images of before there were low nodes such a
 * /64 is BALEEN_GROUP_OUT or BALEEN_GROUP_IN: the table of prefixes.h decides.
 *
 * Example: 2001:db8::/32 with the exception 2001:db8:7::/48 has four ends: 2001:db8::,
 * 2001:db8:7::, 2001:db8:8:: and 2001:db9::. In an index by 8 bits, entry 0x20 leads to one
 * wide node, whose keys are the upper halves of these. Two of them are above 2001:db8:7::1:
 * interval 2 of 0 (out), 1 (in), 2 (out), 3 (in) and 4 (out).
 *
 * Our numbers: exact. An address costs a line of an index, or of two, and 1 node, of long
 * lists 1.1 to 1.9 on the average; at most 1 + log7(ends below one entry), and as much again
 * in a /64 that has longer prefixes. 17 bytes a prefix for a million of the lengths that BGP
 * announces, 32 for as many /64, and 64 for each /64 with longer ones, 192 where both of its
 * halves have some.
 */
#ifndef BALEEN_TREE_H
#define BALEEN_TREE_H

#include <baleen/directory.h>

/* Keys of a node; intervals are one more. */
#define BALEEN_TREE_WIDE_KEYS 6
#define BALEEN_TREE_NARROW_KEYS 12

/* Words of keys; then the words of the first child and of the intervals. */
#define BALEEN_TREE_KEY_WORDS 6
#define BALEEN_TREE_BASE 6
#define BALEEN_TREE_FORM 7

/* Intervals from here on are children: at the most so many. */
#define BALEEN_TREE_CHILD 4u
#define BALEEN_TREE_CHILDREN 12u

#define BALEEN_TREE_WIDE (1ull << 63)
#define BALEEN_TREE_LOW (1ull << 62)
#define BALEEN_TREE_HALF (1ull << 61)
#define BALEEN_TREE_HALF_AT 60
#define BALEEN_TREE_REST_AT 59
#define BALEEN_TREE_SHIFT_AT 52

/* The bits above keys, and the lowest bits of narrow ones. */
#define BALEEN_TREE_FLAGS 0x8000000080000000ull
#define BALEEN_TREE_ONES 0x0000000100000001ull
#define BALEEN_TREE_WINDOW 0x7fffffffull

/* Nodes on a way. Of wide ones 12 have more keys than an image has room for; then come as many
 * of lower halves, and the root that parts these.
 */
#define BALEEN_TREE_DEPTH 25

/* Entries of an index. */
#define BALEEN_TREE_ROOT 4u
#define BALEEN_TREE_INDEX (1u << 31)
#define BALEEN_TREE_BITS_AT 26
#define BALEEN_TREE_LINES (1u << BALEEN_TREE_BITS_AT)

/* An entry of the index that begins with a block of the image. */
baleen_inline u32 baleen_tree_entry(const void *store, u32 first_block, u32 i)
{
	const struct baleen_block *block = baleen_store_block(store, first_block + (i >> 4));

	return block ? baleen_le64(block->word[i >> 1 & 7]) >> (i & 1) * 32 :
		       (u32)BALEEN_GROUP_NONE;
}

/**
 * baleen_tree_root() - what the indexes of a tree say of an address
 * @table: a table of kind BALEEN_KIND_TREE
 * @store: the image (see baleen_store_block())
 * @hi: upper half of the address
 *
 * An index that the tree does not have finds nothing, so that a damaged body does not
 * lead outside the image.
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_group, or BALEEN_TREE_ROOT and the number of a node, or more.
 */
baleen_inline u32 baleen_tree_root(const struct baleen_table *table, const void *store, u64 hi)
{
	u32 entry = baleen_tree_entry(store, table->first_block, hi >> (64 - table->group_bits));
	u32 line, i;

	if (!(entry & BALEEN_TREE_INDEX))
		return entry;
	i = hi << table->group_bits >> (-(entry >> BALEEN_TREE_BITS_AT & 31) & 63);
	line = entry & (BALEEN_TREE_LINES - 1);
	/* The bits of a damaged entry may be 0, and its number any. */
	if ((u64)line + (i >> 4) >= table->n_buckets)
		return BALEEN_GROUP_NONE;
	entry = baleen_tree_entry(store, table->leaf_block + line, i);
	return entry & BALEEN_TREE_INDEX ? (u32)BALEEN_GROUP_NONE : entry;
}

/**
 * baleen_tree_interval() - which interval of a node an address is in
 * @node: the node
 * @hi: upper half of the address
 * @lo: lower half
 *
 * Context: any, BPF-safe.
 * Return: the four bits of the interval, of a damaged node any; in the half of a /64 that the
 * root answers alone, this answer.
 */
baleen_inline u32 baleen_tree_interval(const struct baleen_block *node, u64 hi, u64 lo)
{
	u64 form = baleen_le64(node->word[BALEEN_TREE_FORM]);
	u64 number = form & BALEEN_TREE_LOW ? lo : hi;
	u64 window = (number >> (form >> BALEEN_TREE_SHIFT_AT & 63)) & BALEEN_TREE_WINDOW;
	u64 narrow = (form >> 63) - 1, n = 0, next;

	if (form & BALEEN_TREE_HALF && (form >> BALEEN_TREE_HALF_AT ^ lo >> 63) & 1)
		return form >> BALEEN_TREE_REST_AT & 1;
	/* By a mask: nodes of both forms lie side by side, so a branch is often mispredicted. */
	next = (number & ~BALEEN_TREE_WIDE) + 1;
	next ^= (next ^ (window + 1) * BALEEN_TREE_ONES) & narrow;
#pragma GCC unroll 6
	for (int i = 0; i < BALEEN_TREE_KEY_WORDS; i++)
		n += ((baleen_le64(node->word[i]) - next) & BALEEN_TREE_FLAGS) >> 31;
	/* The lower lanes of wide keys say nothing. */
	n = (n >> 32) + (n & narrow & 15);
	return form >> (4 * n & 63) & 15;
}

/**
 * baleen_tree_get() - what a tree says of an address
 * @table: a table of kind BALEEN_KIND_TREE
 * @store: the image (see baleen_store_block())
 * @hi: upper half of the address
 * @lo: lower half
 * @node: the root, from baleen_tree_root(), without BALEEN_TREE_ROOT
 *
 * A child that the tree does not have finds nothing, and no way is longer than
 * BALEEN_TREE_DEPTH, so that a damaged body leads neither outside the image nor on for ever.
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_group, never BALEEN_GROUP_LEAF. BALEEN_GROUP_OUT and _IN are of a /64 of
 * which longer prefixes are in another table.
 */
baleen_inline u32 baleen_tree_get(const struct baleen_table *table, const void *store, u64 hi,
				  u64 lo, u32 node)
{
	BALEEN_LOOP
	for (int i = 0; i < BALEEN_TREE_DEPTH; i++) {
		const struct baleen_block *block;
		u32 interval;

		if (node >= table->n_buckets)
			break;
		block = baleen_store_block(store, table->leaf_block + node);
		if (!block)
			break;
		interval = baleen_tree_interval(block, hi, lo);
		if (interval < BALEEN_TREE_CHILD)
			return interval;
		node = (u32)baleen_le64(block->word[BALEEN_TREE_BASE]) + interval -
		       BALEEN_TREE_CHILD;
	}
	return BALEEN_GROUP_NONE;
}

#endif /* BALEEN_TREE_H */
