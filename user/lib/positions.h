/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bits of a key in a plane of bits, as a list of positions: what everything
 * but the packet path does with them.
 *
 * Position p is bit p % 64 of word p / 64 of the plane, whether it is blocked or
 * classic. See bloom.h and classic.h.
 */
#ifndef BALEEN_POSITIONS_H
#define BALEEN_POSITIONS_H

#include "filter.h"

/**
 * struct baleen_positions - the bits of one key
 * @n: how many
 * @bit: the positions, each once, in no order
 */
struct baleen_positions {
	u32 n;
	u64 bit[BALEEN_MAX_POSITIONS];
};

/**
 * baleen_positions_of() - the bits of a key
 * @image: a checked header
 * @key: the key; its table is a Bloom, classic or counting one
 * @positions: filled in; untouched on failure
 *
 * Return: 0; -EOPNOTSUPP for a key of several fields where the hash is not keyed.
 */
int baleen_positions_of(const struct baleen_image *image, const struct baleen_key *key,
			struct baleen_positions *positions);

/**
 * baleen_positions_of_bytes() - the bits of a string
 * @table: a classic or counting table whose hash is not keyed
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 * @positions: filled in
 */
void baleen_positions_of_bytes(const struct baleen_table *table, const void *bytes, u32 n_bytes,
			       struct baleen_positions *positions);

/**
 * baleen_positions_test() - are all these bits set?
 * @filter: the filter
 * @domain: of the table
 * @positions: the bits, at least one
 *
 * Return: true or false.
 */
bool baleen_positions_test(const struct baleen_filter *filter, u32 domain,
			   const struct baleen_positions *positions);

/**
 * baleen_positions_add() - set bits, and count them where the table counts
 * @filter: a writable mapping of a live map, or a filter in memory
 * @domain: of a Bloom, classic or counting table
 * @positions: the bits of one key
 *
 * Counters first, then bits, each store atomic: a writer that is killed leaves
 * counters that are too high at the worst, so that a bit stays set for longer.
 *
 * Context: one writer at a time.
 * Return: whether a bit was not set before.
 */
bool baleen_positions_add(struct baleen_filter *filter, u32 domain,
			  const struct baleen_positions *positions);

/**
 * baleen_positions_del() - count bits down, and clear those that come to zero
 * @filter: a writable mapping of a live map, or a filter in memory
 * @domain: of a counting table
 * @positions: the bits of one key
 *
 * Does nothing unless all of them are set. Bits that only this key has are cleared
 * first: who is killed from then on leaves counters that are too high, but
 * a second try finds the key gone, and does not count anything down twice. Of a key
 * without such a bit, a false positive from then on, nobody can tell. A bit without a
 * count is what a killed writer left, and is cleared.
 *
 * Context: one writer at a time.
 * Return: whether all of them were set.
 */
bool baleen_positions_del(struct baleen_filter *filter, u32 domain,
			  const struct baleen_positions *positions);

/**
 * baleen_counter_get() - how many keys have set a bit
 * @filter: the filter
 * @domain: of a counting table
 * @position: the bit
 *
 * Return: 0 to BALEEN_COUNTER_MAX, which stands for that many or more.
 */
u32 baleen_counter_get(const struct baleen_filter *filter, u32 domain, u64 position);

/**
 * baleen_positions_insert() - as baleen_filter_insert(), into a plane of bits
 * @filter: the filter
 * @keys: the keys, all of one domain
 * @n: how many, at least one
 * @n_done: how many are in
 *
 * Where the table counts, every key is counted, also one that is there.
 *
 * Return: 0; -EOPNOTSUPP as baleen_positions_of().
 */
int baleen_positions_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			    size_t *n_done);

#endif /* BALEEN_POSITIONS_H */
