/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often a key is in a filter of which copies count.
 *
 * Where a table does not keep whole keys, others may look the same, and are
 * counted, too: the key was added so many times at most.
 */
#ifndef BALEEN_COPIES_H
#define BALEEN_COPIES_H

#include "filter/filter.h"

/**
 * enum baleen_copies_bound - what a number of copies says
 * @BALEEN_COPIES_EXACT: that many
 * @BALEEN_COPIES_AT_MOST: that many, those of keys that look the same included
 * @BALEEN_COPIES_AT_LEAST: counters have come to their end: that many, or any more
 */
enum baleen_copies_bound {
	BALEEN_COPIES_EXACT,
	BALEEN_COPIES_AT_MOST,
	BALEEN_COPIES_AT_LEAST,
};

/**
 * baleen_copies_check() - does a filter know how often a key is in it?
 * @image: its header
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP, saying which table does not.
 */
int baleen_copies_check(const struct baleen_image *image, struct baleen_error *error);

/**
 * baleen_copies_of() - how often a key is in a filter
 * @filter: one that baleen_copies_check() took; live ones too
 * @key: a key that is in it, as far as a probe tells
 * @n: set to the number
 *
 * Return: what @n says.
 */
enum baleen_copies_bound baleen_copies_of(const struct baleen_filter *filter,
					  const struct baleen_key *key, u64 *n);

#endif /* BALEEN_COPIES_H */
