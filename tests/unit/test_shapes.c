// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cuckoo table in every geometry, against a plain array of keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kind.h"
#include "slots.h"
#include "tables.h"

#define POISON 0xa5

struct geometry {
	u32 domain, slot_bits, bucket_slots, n_buckets;
};

static struct baleen_table geometry_table(const struct geometry *geometry, u32 n_stash)
{
	u32 slots = geometry->bucket_slots;
	struct baleen_table table = {
		.kind = BALEEN_KIND_CUCKOO,
		.slot_bits = geometry->slot_bits,
		.bucket_slots = slots == 4 && geometry->slot_bits >= 16 ? 0 : slots,
		.n_buckets = geometry->n_buckets,
		.log2_buckets = baleen_log2(geometry->n_buckets),
		.n_stash = n_stash,
		.first_block = BALEEN_HEADER_BLOCKS,
	};

	table.n_blocks = baleen_table_blocks(&table);
	return table;
}

static struct baleen_filter geometry_filter(const struct geometry *geometry, u32 n_stash,
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
static void each_geometry(each_fn *visit, struct random *random)
{
	static const u32 widths[] = { 8, 12, 16, 32, 64 }, n_buckets[] = { 4, 7, 42, 64, 101 };

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		for (u32 i = 0; i < 5 * 3 * 5; i++) {
			struct geometry geometry = { domain, widths[i / 15], 1 << i / 5 % 3,
						     n_buckets[i % 5] };

			if (domain == BALEEN_IP4 &&
			    (geometry.slot_bits == 64 || geometry.slot_bits == 16))
				continue;
			visit(&geometry, random);
		}
	}
}

/* --- full: refused and undone ----------------------------------------------- */

static void fill_up(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, 0, random);
	u32 n_slots = geometry->n_buckets * geometry->bucket_slots, n_held = 0, n_refused = 0;
	struct baleen_key *held = malloc(n_slots * sizeof(*held));
	u8 *before = malloc(filter.n_bytes);

	while (n_refused < 8) {
		struct baleen_key key = random_key(random, geometry->domain);
		size_t n_done = POISON;
		int err;

		if (baleen_filter_test(&filter, &key))
			continue;
		memcpy(before, filter.bytes, filter.n_bytes);
		err = baleen_filter_insert(&filter, &key, 1, &n_done);
		assert_int_equal(n_done, !err);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_memory_equal(filter.bytes, before, filter.n_bytes);
			assert_false(baleen_filter_test(&filter, &key));
			n_refused++;
		} else {
			held[n_held++] = key;
		}
	}
	assert_true(n_held >= n_slots / 4);
	assert_int_equal(filter.image.table[geometry->domain].n_entries, n_held);
	assert_int_equal(baleen_filter_count(&filter, geometry->domain), n_held);
	for (u32 i = 0; i < n_held; i++)
		assert_true(baleen_filter_test(&filter, &held[i]));
	assert_sealed(&filter);
	free(before);
	free(held);
	baleen_filter_free(&filter);
}

static void test_full(void **state)
{
	struct random random = random_from(1);

	each_geometry(fill_up, &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
