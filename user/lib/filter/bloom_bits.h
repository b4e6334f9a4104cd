/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole planes of bits: what can be done with Bloom filters without their keys.
 *
 * The OR of two filters is, bit for bit, the filter of the union. Their AND
 * has the intersection in it, and may have bits besides that a key of each set: it
 * errs more than a filter of the intersection. Counters add up, as far as they
 * count; in an intersection the lower one is kept, which is at least as high as
 * it must be.
 *
 * Half a filter: a blocked filter of n blocks puts a key into block
 * hash * n >> 32, one of n / 2 into half of that, so neighbours fold onto each other;
 * so do neighbouring bits of a keyed classic filter, position mix * m >> 64. A
 * remainder modulo m is the same modulo m / 2, whatever its sign was, so the second
 * half of a murmur3 filter folds onto the first. The halves are bit for bit the
 * filter of the same keys and seed in half the size. It needs an even number
 * of blocks, or bits.
 */
#ifndef BALEEN_BLOOM_BITS_H
#define BALEEN_BLOOM_BITS_H

#include "filter/filter.h"

/**
 * baleen_bits_unite() - add the keys of another filter
 * @filter: a writable mapping of a live map, or a filter in memory
 * @other: a filter whose table fits, see compat.h
 * @domain: domain of the tables
 *
 * The number of entries becomes an estimate. Readers see a key of @filter at
 * any time.
 *
 * Context: one writer at a time.
 */
void baleen_bits_unite(struct baleen_filter *filter, const struct baleen_filter *other, u32 domain);

/**
 * baleen_bits_intersect() - remove the keys that another filter does not have
 * @filter: a writable mapping of a live map, or a filter in memory
 * @other: a filter whose table fits, see compat.h
 * @domain: domain of the tables
 *
 * The number of entries becomes an estimate. Readers see a key of both at any
 * time.
 *
 * Context: one writer at a time.
 */
void baleen_bits_intersect(struct baleen_filter *filter, const struct baleen_filter *other,
			   u32 domain);

/**
 * baleen_filter_halve() - a filter with every plane of bits folded in half
 * @filter: the filter, live ones too; tables that come with prefixes are copied
 * @half: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Counters of bits that fold onto each other add up. A key that has both of them
 * was counted twice then, which a filter of half the size would not do: it can only
 * be a bit that stays.
 *
 * Return: 0; -EOPNOTSUPP for an odd number of blocks or bits and for tables of
 * slots, saying so; -ENOMEM.
 */
int baleen_filter_halve(const struct baleen_filter *filter, struct baleen_filter *half,
			struct baleen_error *error);

/**
 * baleen_bits_folded() - where a bit comes to by folds
 * @table: a Bloom, classic or counting table
 * @folded: the same table, folded in half any number of times
 * @position: a bit of @table
 *
 * Return: a bit of @folded.
 */
u64 baleen_bits_folded(const struct baleen_table *table, const struct baleen_table *folded,
		       u64 position);

#endif /* BALEEN_BLOOM_BITS_H */
