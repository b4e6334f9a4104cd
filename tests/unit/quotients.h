/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quotient filters of fingerprints that a test chooses itself.
 */
#ifndef BALEEN_TESTS_QUOTIENTS_H
#define BALEEN_TESTS_QUOTIENTS_H

#include "filter/quotient_stream.h"
#include "filter/quotient_table.h"
#include "tables.h"

/* What fingerprints are of does not matter, so long as there are 64 bits. */
#define DOMAIN BALEEN_TUPLE

static inline struct baleen_table quotient_table(u32 q, u32 r)
{
	struct baleen_table table = {
		.kind = BALEEN_KIND_QUOTIENT,
		.slot_bits = r,
		.log2_buckets = q,
		.shape = BALEEN_QUOTIENT_META,
		.n_buckets = 1u << q,
		.first_block = BALEEN_HEADER_BLOCKS,
	};

	table.n_blocks = baleen_table_blocks(&table);
	return table;
}

/* An empty filter; two with equal seeds merge. */
static inline struct baleen_filter quotient_filter(u32 q, u32 r, u64 seed)
{
	struct baleen_table table = quotient_table(q, r);
	struct random random = { .state = seed };

	return table_filter(&table, DOMAIN, &random);
}

static inline bool quotient_has(const struct baleen_filter *filter, u64 fingerprint)
{
	return baleen_quotient_has(&filter->image.table[DOMAIN], filter->bytes, fingerprint);
}

static inline u64 quotient_count(const struct baleen_filter *filter, u64 fingerprint)
{
	return baleen_quotient_copies(filter, DOMAIN, fingerprint);
}

/* One by one, then sealed. */
static inline struct baleen_filter quotient_of(u32 q, u32 r, u64 seed, const u64 *values, size_t n)
{
	struct baleen_filter filter = quotient_filter(q, r, seed);
	bool changed;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(baleen_quotient_insert(&filter, DOMAIN, values[i], &changed), 0);
	assert_sealed(&filter);
	return filter;
}

static inline void assert_same_filter(const struct baleen_filter *a, const struct baleen_filter *b)
{
	assert_int_equal(a->n_bytes, b->n_bytes);
	assert_memory_equal(a->bytes, b->bytes, a->n_bytes);
	assert_memory_equal(&a->image, &b->image, sizeof(a->image));
}

#endif /* BALEEN_TESTS_QUOTIENTS_H */
