/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cuckoo tables of every geometry.
 */
#ifndef BALEEN_TESTS_SHAPES_H
#define BALEEN_TESTS_SHAPES_H

#include "filter/slots.h"
#include "tables.h"

struct geometry {
	u32 domain, slot_bits, bucket_slots, n_buckets;
	bool is_packed, is_semi_sorted;
};

static inline struct baleen_table geometry_table(const struct geometry *geometry, u32 n_stash)
{
	u32 slots = geometry->bucket_slots;
	struct baleen_table table = {
		.kind = BALEEN_KIND_CUCKOO,
		.slot_bits = geometry->slot_bits,
		.bucket_slots = geometry->is_semi_sorted ?
					slots | BALEEN_PACKED | BALEEN_SEMI_SORTED :
				geometry->is_packed			? slots | BALEEN_PACKED :
				slots == 4 && geometry->slot_bits >= 16 ? 0 :
									  slots,
		.n_buckets = geometry->n_buckets,
		.log2_buckets = baleen_log2(geometry->n_buckets),
		.n_stash = n_stash,
		.first_block = BALEEN_HEADER_BLOCKS,
	};

	table.n_blocks = baleen_table_blocks(&table);
	return table;
}

static inline struct baleen_filter geometry_filter(const struct geometry *geometry, u32 n_stash,
						   struct random *random)
{
	struct baleen_table table = geometry_table(geometry, n_stash);
	struct baleen_filter filter = table_filter(&table, geometry->domain, random);

	if (geometry->domain == BALEEN_WORD)
		filter.image.key_spec = BALEEN_KEY_SRC | BALEEN_KEY_DPORT;
	return filter;
}

typedef void each_fn(const struct geometry *geometry, struct random *random);

/* All that the validator allows, in tables small enough to fill up. */
static inline void each_geometry(each_fn *visit, struct random *random)
{
	static const u32 widths[] = { 8, 12, 16, 32, 64 }, n_buckets[] = { 4, 7, 42, 64, 101 };

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		for (u32 i = 0; i < 5 * 3 * 5; i++) {
			struct geometry geometry = { domain,	     widths[i / 15],
						     1 << i / 5 % 3, n_buckets[i % 5],
						     false,	     false };

			if (domain == BALEEN_IP4 &&
			    (geometry.slot_bits == 64 || geometry.slot_bits == 16))
				continue;
			visit(&geometry, random);
		}
		for (u32 width = BALEEN_MIN_PACKED_BITS; width <= BALEEN_MAX_PACKED_BITS; width++) {
			for (u32 slots = 1; slots <= 4; slots++) {
				/* A number of buckets each, so that tables end at any bit. */
				struct geometry geometry = { domain, width,
							     slots,  n_buckets[width % 5],
							     true,   false };

				visit(&geometry, random);
			}
		}
		for (u32 width = BALEEN_MIN_PACKED_BITS + 1; width <= BALEEN_MAX_PACKED_BITS;
		     width++) {
			struct geometry geometry = { domain, width, 4, n_buckets[width % 5],
						     true,   true };

			visit(&geometry, random);
		}
	}
}

#endif /* BALEEN_TESTS_SHAPES_H */
