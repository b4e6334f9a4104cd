/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv6 prefixes of images that Baleen no longer builds: which of them is the
 * longest that covers an address? Images of before there were trees have a
 * directory of stems, and here all that is longer than /32; those of the first
 * trees (tree.h) all that is longer than /64.
 *
 * Idea: binary search over the lengths that occur. A hash table holds every
 * prefix and, at the shorter lengths that the search for it visits, markers:
 * where one is found the search goes on with longer prefixes, else with
 * shorter ones. Prefix and marker carry the answer for what they cover, as far
 * as prefixes of their own or a shorter length decide it, so nothing has to be
 * searched again. An exception is a prefix whose answer is "out".
 *
 * Paper: Waldvogel, Varghese, Turner, Plattner, "Scalable High Speed IP
 * Routing Lookups" (SIGCOMM 1997), sections 3 and 4.
 *
 *      lengths 65..128, at most 64: 7 probes; with a directory 33..128, at most
 *      96: 7 as well
 *
 *      key, class       /33../63  prefix, a one behind it, zeros      0
 *                       /64       the upper half                      1
 *                       /65../127 hash of prefix, a one, zeros        2
 *                       /128      hash of the address                 3
 *      slot of 64 bits: [ used:1 | side:1 | answer:1 | class:2 | tag:59 ]
 *
 * The table is that of cuckoo.h with other bits in front of the tag. Classes 0
 * and 1 are permuted, not hashed, and with 32 buckets or more the tag keeps
 * every bit of them: exact up to /64. Longer ones are hashed to 64 bits and err
 * when two hashes collide: at most 7 n / 2^64, a 7th for each probe.
 *
 * Example: lengths 40, 48, 64 occur: the tree is 48; 40, 64. The prefix
 * 2001:db8:1:2::/64 has a marker 2001:db8:1::/48, whose answer is "in" when a
 * /40 or /48 above it is listed. An address costs a probe at 48, then one at
 * 64 when that was found, else at 40.
 */
#ifndef BALEEN_PREFIXES_H
#define BALEEN_PREFIXES_H

#include <baleen/cuckoo.h>
#include <baleen/directory.h>

#define BALEEN_PREFIX_ANSWER (1ull << 61)
#define BALEEN_PREFIX_CLASS_SHIFT 59

/* Depth of a balanced tree of 96 lengths. */
#define BALEEN_PREFIX_PROBES 7

/**
 * baleen_prefix_locate() - where a prefix or marker is stored
 * @table: a table of kind BALEEN_KIND_PREFIXES
 * @seed: the filter's seed
 * @hi: upper half of an address that the prefix covers
 * @lo: lower half
 * @length: 33 to 128
 *
 * Context: any, BPF-safe.
 * Return: the place; the answer is not set in its slot.
 */
baleen_inline struct baleen_cuckoo_place baleen_prefix_locate(const struct baleen_table *table,
							      const struct baleen_seed *seed,
							      u64 hi, u64 lo, u32 length)
{
	struct baleen_cuckoo_place place;
	u64 length_class, hash;

	if (length <= 64) {
		length_class = length == 64;
		/* A one behind the prefix tells the lengths apart. */
		if (length < 64)
			hi = (hi | 1ull << (63 - (length & 63))) & ~0ull << (63 - (length & 63));
		hash = baleen_permute64(seed, hi);
	} else {
		length_class = 2 + (length == 128);
		if (length < 128)
			lo = (lo | 1ull << ((127 - length) & 63)) & ~0ull << ((127 - length) & 63);
		hash = baleen_hash_ip6(seed, hi, lo);
	}
	place = baleen_cuckoo_locate_hash(table, hash, 64);
	place.slot |= length_class << BALEEN_PREFIX_CLASS_SHIFT;
	return place;
}

/* Bit 0: the slot is in the bucket; bit 1: its answer. */
baleen_inline u32 baleen_bucket_answer(const u64 *word, u64 slot)
{
	u64 found = 0, answer = 0;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		u64 held = baleen_le64(word[i]);
		u64 differ = (held ^ slot) & ~BALEEN_PREFIX_ANSWER;
		/* All ones when nothing differs: x or -x has the highest bit
		 * set, unless x is 0.
		 */
		u64 same = ((differ | -differ) >> 63) - 1;

		found |= same;
		answer |= same & held;
	}
	return (found & 1) | (answer & BALEEN_PREFIX_ANSWER ? 2 : 0);
}

/**
 * baleen_prefixes_test() - is the address in the set, by its longest prefix?
 * @image: a checked header with a BALEEN_IP6_PREFIXES table
 * @store: the image (see baleen_store_block())
 * @hi: upper half of the address
 * @lo: lower half
 * @answer: the answer when no prefix covers it, 0 or 1
 *
 * Context: any, BPF-safe.
 * Return: 1 it is (past /64: or hashes collide), 0 it is not.
 */
baleen_inline int baleen_prefixes_test(const struct baleen_image *image, const void *store, u64 hi,
				       u64 lo, u32 answer)
{
	const struct baleen_table *table = &image->table[BALEEN_IP6_PREFIXES];
	u32 node = 1;

	BALEEN_LOOP
	for (int i = 0; i < BALEEN_PREFIX_PROBES; i++) {
		u32 length = image->length_tree[node & (BALEEN_LENGTH_NODES - 1)];
		struct baleen_cuckoo_place place;
		const u64 *bucket;
		u32 found, known;

		if (!length)
			break;
		place = baleen_prefix_locate(table, &image->seed, hi, lo, length);
		bucket = baleen_bucket_get(table, store, place.home, 64, BALEEN_IP6_PREFIXES);
		if (!bucket)
			break;
		found = baleen_bucket_answer(bucket, place.slot);
		bucket = baleen_bucket_get(table, store, place.other, 64, BALEEN_IP6_PREFIXES);
		if (!bucket)
			break;
		found |= baleen_bucket_answer(bucket, place.slot | baleen_cuckoo_side(64));
		/* By masks: a branch here and the verifier looks at 2^7 paths. */
		known = -(found & 1);
		answer = (answer & ~known) | (found >> 1 & known);
		node = node << 1 | (found & 1);
	}
	return answer & 1;
}

#endif /* BALEEN_PREFIXES_H */
