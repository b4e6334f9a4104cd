// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Semi-sorted buckets: lists, bits, and what is allowed under readers. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/kind.h"
#include "filter/live.h"
#include "filter/plan.h"
#include "shapes.h"

#define POISON 0xa5
#define N_LISTS 3876

/* Four loops count the lists as the header says, and each number gives its list back. */
static void test_lists(void **state)
{
	u32 n = 0;

	for (u32 d = 0; d < 16; d++)
		for (u32 c = 0; c <= d; c++)
			for (u32 b = 0; b <= c; b++)
				for (u32 a = 0; a <= b; a++, n++) {
					assert_int_equal(baleen_semi_number(a, b, c, d), n);
					assert_int_equal(baleen_semi_lists[n],
							 a | b << 4 | c << 8 | d << 12);
				}
	assert_int_equal(n, N_LISTS);
	for (; n < 4096; n++)
		assert_int_equal(baleen_semi_lists[n], 0);
}

/* The example of semi.h. */
static void test_example(void **state)
{
	static const u64 slot[] = { 0x2b, 0x0f, 0x2c, 0x1a };
	struct random random = random_from(1);
	struct geometry geometry = { BALEEN_IP6, 8, 4, 4, true, true };
	struct baleen_filter filter = geometry_filter(&geometry, 0, &random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP6);

	for (u32 i = 0; i < 4; i++)
		baleen_slots_set(&slots, 0, 0, slot[i]);
	assert_int_equal(*(const u64 *)slots.start, 0xcbaf00a);
	baleen_filter_free(&filter);
}

/* --- against a plain array ----------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Few values, so that slots are alike in part and in whole; all of them, now and then. */
static u64 random_slot(struct random *random, u32 slot_bits)
{
	u64 all = random_next(random) >> (64 - slot_bits);

	switch (random_below(random, 4)) {
	case 0: return 0;
	case 1: return all & 3;
	case 2: return all & ~(~0ull << (slot_bits - 1) >> 3);
	default: return all;
	}
}

static void check_buckets(const struct baleen_slots *slots, const void *bytes, u64 (*model)[4],
			  struct random *random)
{
	for (u32 bucket = 0; bucket < slots->table->n_buckets; bucket++) {
		u64 other = random_slot(random, slots->slot_bits);
		u32 n_other = 0;

		for (u32 i = 0; i < 4; i++) {
			assert_true(baleen_slots_get(slots, bucket, i) == model[bucket][i]);
			if (model[bucket][i])
				assert_int_equal(baleen_semi_has(slots->table, bytes, bucket,
								 model[bucket][i]),
						 1);
			n_other += model[bucket][i] == other;
		}
		assert_int_equal(baleen_semi_has(slots->table, bytes, bucket, other), !!n_other);
	}
}

/* Half of the stores are those of a writer under readers: they leave the same bits. */
static void store_slots(u32 slot_bits, struct random *random)
{
	struct geometry geometry = { BALEEN_IP6, slot_bits, 4, 37, true, true };
	struct baleen_filter filter = geometry_filter(&geometry, 0, random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP6);
	u64 model[37][4] = { 0 };

	for (u32 n = 0; n < 400; n++) {
		u32 bucket = random_below(random, 37), i = random_below(random, 4);
		u64 slot = random_slot(random, slot_bits);

		if (n % 2)
			baleen_slots_store(&slots, bucket, i, slot);
		else
			baleen_slots_set(&slots, bucket, i, slot);
		model[bucket][i] = slot;
		qsort(model[bucket], 4, sizeof(u64), compare);
		check_buckets(&slots, filter.bytes, model, random);
	}
	for (u32 bucket = 0; bucket < 37; bucket++)
		for (u32 i = 0; i < 4; i++)
			if (model[bucket][i])
				assert_true(baleen_slots_clear(&slots, bucket, model[bucket][i]) ||
					    (i && model[bucket][i] == model[bucket][i - 1]));
	for (size_t i = BALEEN_HEADER_BYTES; i < filter.n_bytes; i++)
		assert_int_equal(((const u8 *)filter.bytes)[i], 0);
	baleen_filter_free(&filter);
}

static void test_store(void **state)
{
	struct random random = random_from(2);

	for (u32 slot_bits = 5; slot_bits <= BALEEN_MAX_PACKED_BITS; slot_bits++)
		store_slots(slot_bits, &random);
}

/* A number that is none of a list leads nowhere, and a writer leaves a right one. */
static void test_damaged(void **state)
{
	struct random random = random_from(3);
	struct geometry geometry = { BALEEN_IP6, 13, 4, 8, true, true };
	struct baleen_filter filter = geometry_filter(&geometry, 0, &random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP6);

	memset(slots.start, 0xff, 48);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(baleen_slots_get(&slots, 0, i), 0x1ff);
	baleen_slots_set(&slots, 0, 0, 0x1000);
	assert_int_equal(baleen_slots_get(&slots, 0, 3), 0x1000);
	assert_int_equal(baleen_semi_has(slots.table, filter.bytes, 0, 0x1000), 1);
	baleen_filter_free(&filter);
}

/* Keys that walk together and do not all fit: those before them are left as they were. */
static void test_groups(void **state)
{
	enum { N = 1100, N_MORE = 1024 };
	struct random random = random_from(5);
	struct geometry geometry = { BALEEN_IP6, 21, 4, 300, true, true };
	struct baleen_filter filter = geometry_filter(&geometry, 0, &random);
	struct baleen_key key[N + N_MORE];
	size_t n_done = POISON, n_more = POISON;

	for (u32 i = 0; i < N + N_MORE; i++)
		key[i] = random_key(&random, BALEEN_IP6);
	assert_int_equal(baleen_filter_insert(&filter, key, N, &n_done), 0);
	assert_int_equal(n_done, N);
	assert_int_equal(baleen_filter_insert(&filter, key + N, N_MORE, &n_more), -ENOSPC);
	assert_in_range(N + n_more, 1150, 1200);
	for (u32 i = 0; i < N + n_more; i++)
		assert_int_equal(baleen_filter_test(&filter, &key[i]), 1);
	assert_int_equal(baleen_filter_count(&filter, BALEEN_IP6), N + n_more);
	assert_sealed(&filter);
	baleen_filter_free(&filter);
}

/* --- under readers ------------------------------------------------------------- */

static void test_live(void **state)
{
	struct random random = random_from(4);

	for (u32 slot_bits = 5; slot_bits <= BALEEN_MAX_PACKED_BITS; slot_bits++) {
		struct geometry geometry = { BALEEN_IP6, slot_bits, 4, 64, true, true };
		struct baleen_filter filter = geometry_filter(&geometry, 0, &random);
		struct baleen_key key = random_key(&random, BALEEN_IP6);
		bool is_whole = slot_bits == 5 || slot_bits == 9 || slot_bits == 17;
		bool changed = POISON;

		assert_int_equal(baleen_table_changes_live(&filter.image.table[BALEEN_IP6]),
				 is_whole);
		filter.image.flags |= BALEEN_FLAG_LIVE;
		assert_int_equal(baleen_live_add(&filter, &key, &changed),
				 is_whole ? 0 : -EOPNOTSUPP);
		assert_int_equal(baleen_filter_test(&filter, &key), is_whole);
		filter.image.flags &= ~BALEEN_FLAG_LIVE;
		assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
		assert_int_equal(changed, !is_whole);
		assert_int_equal(baleen_filter_test(&filter, &key), 1);
		filter.image.flags |= BALEEN_FLAG_LIVE;
		assert_int_equal(baleen_live_del(&filter, &key, &changed),
				 is_whole ? 0 : -EOPNOTSUPP);
		assert_int_equal(baleen_filter_test(&filter, &key), !is_whole);
		baleen_filter_free(&filter);
	}
}

/* --- plan ------------------------------------------------------------------------ */

/* One bit less a slot than ceil(log2(2b / P)), at the load of four slots. */
static void test_plan(void **state)
{
	static const double rates[] = { 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001 };
	const struct baleen_shape shape = { .is_semi_sorted = true };
	u32 n = 1000000;

	for (u32 i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct baleen_table table;
		double formula, planned;

		assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, n, rates[i],
						    &shape, &table, NULL),
				 0);
		assert_true(baleen_table_is_semi_sorted(&table));
		formula = (ceil(log2(8 / rates[i])) - 1) / BALEEN_LOAD_FACTOR;
		planned = table.n_blocks * 512. / n;
		assert_true(planned <= formula * 1.01);
	}
}

static void test_plan_refused(void **state)
{
	struct baleen_shape shape = { .is_semi_sorted = true };
	struct baleen_table table;
	struct baleen_error error;

	assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000, 0, &shape, &table,
					    &error),
			 -EINVAL);
	assert_string_equal(error.text, "semi-sorted slots hold fingerprints of up to 32 bits: "
					"they need --fpp or --slot-bits");
	assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000, 1e-12, &shape,
					    &table, &error),
			 -EINVAL);
	assert_string_equal(error.text, "fingerprints of 32 bits err more often than 1e-12");
	/* So of buckets of 3, whose slots cannot keep a key either. */
	shape = (struct baleen_shape){ .bucket_slots = 3 };
	assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000, 1e-12, &shape,
					    &table, &error),
			 -EINVAL);
	assert_string_equal(error.text, "fingerprints of 32 bits err more often than 1e-12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists), cmocka_unit_test(test_example),
		cmocka_unit_test(test_store), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_live),  cmocka_unit_test(test_groups),
		cmocka_unit_test(test_plan),  cmocka_unit_test(test_plan_refused),
	};

	return cmocka_run_group_tests_name("semi", tests, NULL, NULL);
}
