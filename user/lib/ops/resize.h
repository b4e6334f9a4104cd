/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another filter of the same set, with room for another number of keys.
 *
 * Without the keys where tables keep enough of them: what can be listed is built
 * again, 64-bit hashes move to another table, quotient tables move bits between
 * quotient and remainder. A plane of bits can be folded in half as often as its
 * number of blocks, or bits, is even: bit for bit the filter of the same keys in half
 * the size. It has room for m ln 2 / k keys: that many set half of its bits, where k
 * positions are the best number of them (Bloom 1970; Mitzenmacher and Upfal).
 */
#ifndef BALEEN_RESIZE_H
#define BALEEN_RESIZE_H

#include "filter/filter.h"

/**
 * baleen_filter_resize() - another filter of the same set, with other room
 * @filter: the filter, live ones too
 * @capacity: room for this many hosts and keys; of a Bloom filter at least, of others
 *            baleen_filter_keys() or more
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: as baleen_filter_edit(); -EOPNOTSUPP for what keeps too little of its
 * keys, saying so, and for a Bloom filter of which not even a half would be enough.
 */
int baleen_filter_resize(const struct baleen_filter *filter, u64 capacity,
			 struct baleen_filter *out, struct baleen_error *error);

/**
 * baleen_filter_refit() - the same, table by table
 * @filter: the filter, live ones too
 * @n: room for so many by domain, up to BALEEN_TUPLE; 0 leaves the table as it is
 * @out: as for baleen_filter_resize()
 * @error: filled in on failure
 *
 * Return: as baleen_filter_resize().
 */
int baleen_filter_refit(const struct baleen_filter *filter, const u64 *n, struct baleen_filter *out,
			struct baleen_error *error);

#endif /* BALEEN_RESIZE_H */
