/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blocked Bloom filter: one cache line per probe, no branches.
 *
 * Idea: a key picks one 64-byte block, two different words of it, and k/2
 * bits in each word; it is maybe a member when all of them are set.
 *
 * Papers: Bloom 1970; Putze, Sanders, Singler, "Cache-, Hash- and
 * Space-Efficient Bloom Filters" (WEA 2007), section 3 (blocking).
 *
 *      hash (64 bits) = [ hi:32 | lo:32 ]     block = hi * n_buckets >> 32
 *      g = hash * odd:
 *      [ 5 unused | bits of word 2: 4 x 6 | bits of word 1: 4 x 6 | d:8 | a:3 ]
 *      word 1 = a, word 2 = a xor (1 + d * 7 / 256)
 *
 * Error: the keys in a block are Poisson with mean n / n_blocks; a word that
 * j keys chose has its bits set by j * k/2 throws into 64. The mean of the
 * product over both words is the false positive rate; the plan computes it
 * exactly (see baleen_bloom_fpp()). At 16 bits a key and k = 8: 1.3e-3.
 *
 * Example: k = 2 and g = 0x8005: a = 5, d = 0, so words 5 and 5 xor 1 = 4;
 * the bit of word 1 is (g >> 11) & 63 = 16, that of word 2 (g >> 35) & 63 = 0.
 */
#ifndef BALEEN_BLOOM_H
#define BALEEN_BLOOM_H

#include <baleen/image.h>

/**
 * struct baleen_bloom_place - the bits of one key
 * @block: index of the block in the image
 * @word: the two words of the block
 * @mask: the bits set in each word
 */
struct baleen_bloom_place {
	u32 block;
	u32 word[2];
	u64 mask[2];
};

/* Up to four bits of a word, six bits of @g each. */
baleen_inline u64 baleen_bloom_mask(u64 g, u32 n_bits)
{
	u64 mask = 1ull << (g & 63);

	if (n_bits > 1)
		mask |= 1ull << (g >> 6 & 63);
	if (n_bits > 2)
		mask |= 1ull << (g >> 12 & 63);
	if (n_bits > 3)
		mask |= 1ull << (g >> 18 & 63);
	return mask;
}

/**
 * baleen_bloom_locate() - block, words and bits of a key
 * @table: a Bloom table of @key's domain, or a blocked counting one
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: the place.
 */
baleen_inline struct baleen_bloom_place baleen_bloom_locate(const struct baleen_table *table,
							    const struct baleen_seed *seed,
							    const struct baleen_key *key)
{
	u64 hash = baleen_hash64(seed, key);
	u64 g = hash * 0x9e3779b97f4a7c15ull;
	struct baleen_bloom_place place;

	/* The high bits of a product are the mixed ones. */
	g ^= g >> 32;
	place.block = table->first_block + (u32)((hash >> 32) * table->n_buckets >> 32);
	place.word[0] = g & 7;
	place.word[1] = (g & 7) ^ (u32)(1 + ((g >> 3 & 255) * 7 >> 8));
	place.mask[0] = baleen_bloom_mask(g >> 11, table->n_hashes / 2);
	place.mask[1] = baleen_bloom_mask(g >> 35, table->n_hashes / 2);
	return place;
}

/**
 * baleen_bloom_test() - may the key be in the filter?
 * @table: a Bloom table of @key's domain, or a blocked counting one
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe, 0 surely not.
 */
baleen_inline int baleen_bloom_test(const struct baleen_table *table,
				    const struct baleen_seed *seed, const void *store,
				    const struct baleen_key *key)
{
	struct baleen_bloom_place place = baleen_bloom_locate(table, seed, key);
	const struct baleen_block *block = baleen_store_block(store, place.block);
	u64 missing;

	if (!block)
		return 0;
	missing = ~baleen_le64(block->word[baleen_opaque64(place.word[0]) & 7]) & place.mask[0];
	missing |= ~baleen_le64(block->word[baleen_opaque64(place.word[1]) & 7]) & place.mask[1];
	return !missing;
}

#endif /* BALEEN_BLOOM_H */
