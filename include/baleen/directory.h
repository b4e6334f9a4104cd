/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directory: any set of prefixes of 32-bit numbers, by at most two loads.
 *
 * Idea: the numbers fall into 2^g groups by their first g bits. Two bits per
 * group say whether none or all of its numbers are in the set, whether they
 * are in the cuckoo table beside it, or whether the group has a leaf: a bitmap
 * of its numbers, found by counting the leaves before it. Counts stand in the
 * line of the bits that they belong to, so a leaf costs one more line.
 *
 *      line of 64 bytes, 192 groups, three for each bit of a word:
 *      +------- words 0..2 ------+------- words 3..5 ------+-- word 6 --+- 7 -+
 *      | low bit of 3 x 64 groups| high bit                | counts     |  0  |
 *      +-------------------------+-------------------------+------------+-----+
 *      state = high << 1 | low: 0 none, 1 all, 2 hosts, 3 leaf
 *      counts: bits 0..23 leaves before this line, 32..39 in the first, 40..47
 *      in the first two words of this line
 *
 *      leaf r: bits [r << (32 - g) ...] of the bitmap behind the lines, one
 *      bit per number for IPv4 (in the set), two for IPv6 stems (see below)
 *
 * IPv4: a group whose members are few has them in the cuckoo table of hosts.
 * So an address costs one line, one and a leaf, or one and two buckets: three
 * at most, whatever the list. IPv6, in images of before there were trees (see
 * tree.h): numbers are stems, the first 32 bits of an address; 0 none, 1 all of
 * the stem's addresses are in the set, 2 and 3: prefixes longer than /32 decide
 * (see prefixes.h), and what none of them covers is out (2) or in (3). So a stem
 * costs two lines at most.
 *
 * The builder takes the g of 8 to 24 that makes the image smallest. Ranks over
 * bit vectors: Jacobson, "Space-efficient Static Trees and Graphs" (1989);
 * DIR-24-8 (Gupta, Lin, McKeown, INFOCOM 1998) is the same idea without them.
 *
 * Example: g = 24, 192.0.2.77: group 0xc00002 stands in line 0xc00002 / 192 =
 * 65536, word 0, bit 2; when that says leaf and 1,000 leaves come before it,
 * bit 1000 * 256 + 77 of the bitmap decides.
 *
 * Our numbers: exact. 5.6 MB for g = 24, 22 kB for g = 16; country-us (27,769
 * prefixes): 2.3 MB, g = 22, 6,859 leaves. A bitmap of all /24s with a cuckoo
 * table for the rest: 2.1 MB for it; 2.2 instead of 0.5 MB for 1,000 random
 * prefixes of /16 to /32, 7.3 instead of 6.5 MB for a million.
 */
#ifndef BALEEN_DIRECTORY_H
#define BALEEN_DIRECTORY_H

#include <baleen/image.h>

/**
 * enum baleen_group - what a directory says of a number
 * @BALEEN_GROUP_NONE: it is not in the set
 * @BALEEN_GROUP_ALL: it is
 * @BALEEN_GROUP_HOSTS: IPv4: the cuckoo table of hosts decides
 * @BALEEN_GROUP_OUT: stem: the longest prefix that covers the address decides;
 *                    when there is none it is not in the set
 * @BALEEN_GROUP_IN: stem: as OUT, but when there is none it is in the set
 * @BALEEN_GROUP_LEAF: of a group only: look into the leaf
 */
enum baleen_group {
	BALEEN_GROUP_NONE = 0,
	BALEEN_GROUP_ALL = 1,
	BALEEN_GROUP_HOSTS = 2,
	BALEEN_GROUP_OUT = 2,
	BALEEN_GROUP_IN = 3,
	BALEEN_GROUP_LEAF = 3,
};

/* Where the two bits of a group stand. */
struct baleen_group_place {
	u32 line;
	u32 word;
	u32 bit;
};

/**
 * baleen_group_locate() - where the two bits of a group stand
 * @group: the first bits of a number
 *
 * Context: any, BPF-safe.
 * Return: line of the directory, word of 0..2, bit of that word.
 */
baleen_inline struct baleen_group_place baleen_group_locate(u32 group)
{
	u32 triple = group >> 6;
	/* triple / 3: the product is exact for every 32-bit number. */
	u32 line = (u64)triple * 0xaaaaaaabull >> 33;

	return (struct baleen_group_place){ line, triple - 3 * line, group & 63 };
}

/**
 * baleen_leaf_rank() - how many leaves come before that of a group
 * @counts: word 6 of the group's line
 * @leaves: low and high bits of its word, of which both are set for a leaf
 * @place: place of the group
 *
 * Context: any, BPF-safe.
 * Return: the rank; of a damaged body any number below 2^25.
 */
baleen_inline u64 baleen_leaf_rank(u64 counts, u64 leaves, const struct baleen_group_place *place)
{
	return (counts & 0xffffff) + (counts >> (24 + 8 * place->word) & 0xff) +
	       baleen_popcount64(leaves & ((1ull << place->bit) - 1));
}

/**
 * baleen_directory_get() - what a directory says of a number
 * @table: a table of kind BALEEN_KIND_DIRECTORY
 * @store: the image (see baleen_store_block())
 * @number: IPv4 address or IPv6 stem
 * @width: bits per number in a leaf, as a constant: baleen_leaf_width()
 *
 * A rank that the directory was never built with finds nothing, so that a
 * damaged body cannot lead outside the image.
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_group, never BALEEN_GROUP_LEAF when @width is 1.
 */
baleen_inline u32 baleen_directory_get(const struct baleen_table *table, const void *store,
				       u32 number, u32 width)
{
	u32 low_bits = 32 - table->group_bits;
	struct baleen_group_place place = baleen_group_locate(number >> low_bits);
	const struct baleen_block *block;
	u64 low, high, rank;

	block = baleen_store_block(store, table->first_block + place.line);
	if (!block)
		return BALEEN_GROUP_NONE;
	/* The masks tell the verifier what the division means. */
	low = baleen_le64(block->word[place.word & 3]);
	high = baleen_le64(block->word[3 + (place.word & 3)]);
	if (!((low & high) >> place.bit & 1))
		return (low >> place.bit & 1) | (high >> place.bit & 1) << 1;
	rank = baleen_leaf_rank(baleen_le64(block->word[6]), low & high, &place);
	if (rank >= table->n_buckets)
		return BALEEN_GROUP_NONE;
	rank = (rank << low_bits | (number & ((1ull << low_bits) - 1))) * width;
	block = baleen_store_block(store, table->leaf_block + (u32)(rank >> 9));
	if (!block)
		return BALEEN_GROUP_NONE;
	return baleen_le64(block->word[rank >> 6 & 7]) >> (rank & 63) & ((1u << width) - 1);
}

#endif /* BALEEN_DIRECTORY_H */
