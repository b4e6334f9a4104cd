/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counting filter.
 */
#ifndef BALEEN_COUNTING_H
#define BALEEN_COUNTING_H

#include <baleen/bloom.h>
#include <baleen/classic.h>

/**
 * baleen_counting_test() - may the key be in the filter?
 * @table: a counting table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_counting_test(const struct baleen_table *table,
				   const struct baleen_seed *seed, const void *store,
				   const struct baleen_key *key)
{
	/* One plane of bits, whoever counts beside it. */
	if (table->hash == BALEEN_HASH_BLOCKED)
		return baleen_bloom_test(table, seed, store, key);
	return baleen_classic_test(table, seed, store, key);
}

#endif /* BALEEN_COUNTING_H */
