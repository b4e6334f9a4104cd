/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The classic filter.
 */
#ifndef BALEEN_CLASSIC_H
#define BALEEN_CLASSIC_H

#include <baleen/image.h>

/**
 * baleen_classic_test() - may the key be in the filter?
 * @table: a classic table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_classic_test(const struct baleen_table *table,
				   const struct baleen_seed *seed, const void *store,
				   const struct baleen_key *key)
{
	return 0;
}

#endif /* BALEEN_CLASSIC_H */
