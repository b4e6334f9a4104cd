/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bits of a key of a filter in memory: what <baleen/plane.h> does not know are
 * strings, and many keys at once.
 */
#ifndef BALEEN_LIB_POSITIONS_H
#define BALEEN_LIB_POSITIONS_H

#include <baleen/plane.h>

#include "filter/filter.h"

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
 * @seed: the filter's seed
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 * @positions: filled in
 */
void baleen_positions_of_bytes(const struct baleen_table *table, const struct baleen_seed *seed,
			       const void *bytes, u32 n_bytes, struct baleen_positions *positions);

/**
 * baleen_positions_add() - as baleen_live_add(), into a plane of bits
 * @filter: the filter
 * @key: the key
 * @changed: whether it was not there; untouched on failure
 *
 * Return: 0; -EOPNOTSUPP as baleen_positions_of().
 */
int baleen_positions_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

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

#endif /* BALEEN_LIB_POSITIONS_H */
