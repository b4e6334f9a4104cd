/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bloom filters of a geometry that a test chooses itself.
 */
#ifndef BALEEN_TESTS_PLANES_H
#define BALEEN_TESTS_PLANES_H

#include "filter/bloom_bits.h"
#include "filter/estimate.h"
#include "tables.h"

static inline struct baleen_table plane_table(u32 kind, u32 hash, u32 n_hashes, u64 n_bits)
{
	struct baleen_table table = {
		.kind = kind,
		.hash = hash,
		.n_hashes = n_hashes,
		.first_block = BALEEN_HEADER_BLOCKS,
		.n_buckets = (n_bits + 511) / 512,
	};

	table.n_spare_bits = (u64)table.n_buckets * 512 - n_bits;
	table.n_blocks = baleen_table_blocks(&table);
	return table;
}

/* Is this bit of the plane set? Counted by bytes, as nobody else does. */
static inline bool plane_bit(const struct baleen_filter *filter, u32 domain, u64 position)
{
	const u8 *plane = (u8 *)filter->bytes + filter->image.table[domain].first_block * 64ull;

	return plane[position / 8] >> position % 8 & 1;
}

/* The counter of a bit, by bytes. */
static inline u32 plane_counter(const struct baleen_filter *filter, u32 domain, u64 position)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const u8 *counters =
		(u8 *)filter->bytes + (table->first_block + (u64)table->n_buckets) * 64;

	return counters[position / 2] >> position % 2 * 4 & 15;
}

#endif /* BALEEN_TESTS_PLANES_H */
