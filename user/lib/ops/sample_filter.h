/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of made keys, to measure what a plan promises.
 *
 * Keys go by number: any two differ, none is like another, and they are the same each time.
 */
#ifndef BALEEN_SAMPLE_FILTER_H
#define BALEEN_SAMPLE_FILTER_H

#include "filter/filter.h"

/* Keys that are asked for of which none is in. */
#define BALEEN_SAMPLE_OTHERS 1000000
#define BALEEN_SAMPLE_FIRST_OTHER (1ull << 40)

/**
 * baleen_sample_key() - a key, hashed to 64 bits
 * @i: its number; from BALEEN_SAMPLE_FIRST_OTHER on they are in no filter
 *
 * Return: the key.
 */
static inline struct baleen_key baleen_sample_key(u64 i)
{
	return (struct baleen_key){ .domain = BALEEN_TUPLE,
				    .hi = baleen_mix64(i * 0x9e3779b97f4a7c15ull + 1) };
}

/**
 * baleen_sample_filter() - an empty filter with one table of hashed keys
 * @table: kind and geometry of the table
 * @filter: filled in; free with baleen_filter_free()
 * @error: filled in on failure
 *
 * Its seed is the same each time.
 *
 * Return: 0 or a negative errno.
 */
int baleen_sample_filter(const struct baleen_table *table, struct baleen_filter *filter,
			 struct baleen_error *error);

/**
 * baleen_sample_insert() - put keys in
 * @filter: the filter
 * @first: number of the first key
 * @end: number behind the last one
 *
 * Return: how many went in.
 */
u64 baleen_sample_insert(struct baleen_filter *filter, u64 first, u64 end);

/**
 * baleen_sample_rate() - the false positive rate of a filter
 * @filter: the filter
 *
 * Return: share of BALEEN_SAMPLE_OTHERS keys, none of which is in, that it says are.
 */
double baleen_sample_rate(const struct baleen_filter *filter);

#endif /* BALEEN_SAMPLE_FILTER_H */
