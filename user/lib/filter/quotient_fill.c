// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Many fingerprints at once into an empty quotient table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/quotient_stream.h"
#include "filter/quotient_table.h"

/* Counters of a digit stay in the L1 cache, and so do the ends of its buckets. */
#define DIGIT_BITS 11
#define N_DIGITS (1u << DIGIT_BITS)

/* One pass of a radix sort, least digit first: linear, whatever is sorted. */
static void sort_digit(const u64 *from, u64 *to, size_t n, u32 shift)
{
	size_t start[N_DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		start[from[i] >> shift & (N_DIGITS - 1)]++;
	for (u32 digit = 0; digit < N_DIGITS; digit++) {
		size_t count = start[digit];

		start[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[start[from[i] >> shift & (N_DIGITS - 1)]++] = from[i];
}

static int sort(u64 *values, size_t n, u32 n_bits)
{
	u64 *from = values, *spare = malloc(n * sizeof(*spare)), *to = spare;

	if (n && !spare)
		return -ENOMEM;
	for (u32 shift = 0; shift < n_bits; shift += DIGIT_BITS) {
		u64 *sorted = to;

		sort_digit(from, to, n, shift);
		to = from;
		from = sorted;
	}
	if (from == spare && n)
		memcpy(values, spare, n * sizeof(*values));
	free(spare);
	return 0;
}

static size_t drop_duplicates(u64 *values, size_t n)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!n_kept || values[i] != values[n_kept - 1])
			values[n_kept++] = values[i];
	return n_kept;
}

int baleen_quotient_fill(struct baleen_filter *filter, u32 domain, u64 *fingerprints, size_t n)
{
	struct baleen_table *table = &filter->image.table[domain];
	struct baleen_quotient_writer writer;
	u64 end = 0;
	int err = sort(fingerprints, n, table->log2_buckets + table->slot_bits);

	if (err)
		return err;
	if (!(filter->image.flags & BALEEN_FLAG_COPIES))
		n = drop_duplicates(fingerprints, n);
	if (n > table->n_buckets)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++)
		end = baleen_quotient_advance(table, end, fingerprints[i]);
	writer = baleen_quotient_writer(filter, domain, end);
	for (size_t i = 0; i < n; i++)
		baleen_quotient_write(&writer, fingerprints[i]);
	table->n_entries = n;
	/* The keys are tested before the filter is sealed. */
	table->longest_cluster = baleen_quotient_longest(filter, domain);
	return 0;
}
