/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of a geometry that a test chooses itself.
 */
#ifndef BALEEN_TESTS_TABLES_H
#define BALEEN_TESTS_TABLES_H

#include <baleen/image_check.h>

#include "filter/filter.h"
#include "random.h"

/* The rest of the geometry from kind, slot_bits, n_hashes and n_buckets. */
static inline void table_complete(struct baleen_table *table, u32 first_block)
{
	u32 per_block = 1;

	if (table->kind == BALEEN_KIND_CUCKOO)
		per_block = baleen_buckets_per_block(table->slot_bits);
	table->n_blocks = (table->n_buckets - 1) / per_block + 1;
	if (table->kind == BALEEN_KIND_CUCKOO)
		table->log2_buckets = baleen_log2(table->n_buckets);
	table->first_block = first_block;
}

static inline struct baleen_table cuckoo_table(u32 slot_bits, u32 n_buckets)
{
	struct baleen_table table = {
		.kind = BALEEN_KIND_CUCKOO,
		.slot_bits = slot_bits,
		.n_buckets = n_buckets,
	};

	table_complete(&table, BALEEN_HEADER_BLOCKS);
	return table;
}

static inline struct baleen_table bloom_table(u32 n_hashes, u32 n_blocks)
{
	struct baleen_table table = {
		.kind = BALEEN_KIND_BLOOM,
		.n_hashes = n_hashes,
		.n_buckets = n_blocks,
	};

	table_complete(&table, BALEEN_HEADER_BLOCKS);
	return table;
}

/* An empty filter of one table. */
static inline struct baleen_filter table_filter(const struct baleen_table *table, u32 domain,
						struct random *random)
{
	bool is_address = domain == BALEEN_IP4 || domain == BALEEN_IP6;
	struct baleen_image image = { .key_spec = is_address ? BALEEN_KEY_SRC : BALEEN_KEY_FLOW };
	struct baleen_filter filter;

	if (baleen_needs_md5(table))
		image.key_spec = BALEEN_KEY_SQUID;
	image.seed = random_seed(random);
	image.table[domain] = *table;
	image.n_blocks = table->first_block + table->n_blocks;
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	return filter;
}

/* 0 or -ENOSPC. */
static inline int insert_one(struct baleen_filter *filter, const struct baleen_key *key)
{
	size_t n_done;

	return baleen_filter_insert(filter, key, 1, &n_done);
}

/* Also checks what the validator says of the geometry. */
static inline void assert_sealed(struct baleen_filter *filter)
{
	struct baleen_image out;
	const char *reason;

	baleen_filter_seal(filter);
	if (baleen_image_check(filter->bytes, filter->n_bytes, &out, &reason))
		fail_msg("%s", reason);
	assert_memory_equal(&out, &filter->image, sizeof(out));
}

#endif /* BALEEN_TESTS_TABLES_H */
