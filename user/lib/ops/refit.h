/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of the same keys, with room for another number of them.
 *
 * 64-bit hashes move to another table, and quotient tables move bits between
 * quotient and remainder. A plane of bits can be folded in half as often as its
 * number of blocks, or bits, is even: bit for bit the filter of the same keys in half
 * the size. It has room for m ln 2 / k keys: that many set half of its bits, where k
 * positions are the best number of them (Bloom 1970; Mitzenmacher and Upfal).
 */
#ifndef BALEEN_REFIT_H
#define BALEEN_REFIT_H

#include "filter/filter.h"

/**
 * baleen_filter_refit() - another filter of the same set, with other room by table
 * @filter: the filter, live ones too
 * @n: room for so many by domain, up to BALEEN_TUPLE; 0 leaves the table as it is
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP for tables that keep too little of their keys, saying so, and
 * for a Bloom filter when not even a half would be enough; -E2BIG, -ENOMEM.
 */
int baleen_filter_refit(const struct baleen_filter *filter, const u64 *n, struct baleen_filter *out,
			struct baleen_error *error);

#endif /* BALEEN_REFIT_H */
