// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The smallest table that is planned, beside all shapes and loads there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/kind.h"
#include "filter/plan.h"

static double rate(const struct baleen_table *table, u32 domain, u64 n)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };

	image.table[domain] = *table;
	return baleen_table_fpp(&image, domain, n);
}

/* The fewest blocks of one kind of which copies count, at every width, and at every load at which
 * random sets of a million keys were built: those of a cuckoo table with 1 to 4 slots a bucket.
 */
static u32 try_all(u32 domain, u32 kind, u64 n, double fpp)
{
	static const u32 most_loads[] = { 47, 88, 95, 97 };
	u32 fewest = UINT32_MAX;

	for (u32 slots = 1; slots <= (kind == BALEEN_KIND_CUCKOO ? 4 : 1); slots++) {
		u32 most = kind == BALEEN_KIND_CUCKOO ? most_loads[slots - 1] : 95;

		for (u32 bits = 1; bits <= 32; bits++) {
			for (u32 load = 10; load <= most; load++) {
				struct baleen_shape shape = { .has_copies = true,
							      .load = load / 100. };
				struct baleen_table table;

				if (kind == BALEEN_KIND_CUCKOO) {
					shape.bucket_slots = slots;
					shape.slot_bits = bits;
				} else {
					shape.remainder_bits = bits;
				}
				if (!baleen_plan_shaped(domain, kind, n, fpp, &shape, &table,
							NULL) &&
				    rate(&table, domain, n) <= fpp && table.n_blocks < fewest)
					fewest = table.n_blocks;
			}
		}
	}
	return fewest;
}

/* What --need delete takes: at most 1.05 of the smallest that trying all shapes and loads finds. */
static void assert_smallest(u32 domain)
{
	static const double rates[] = { 0.03, 0.02, 0.01, 0.002, 0.001, 0.0001 };
	static const u32 kinds[] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_QUOTIENT };
	const struct baleen_shape copies = { .has_copies = true, .may_err = true };

	for (u32 i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (u64 n = 100000; n <= 1000000; n += 150000) {
			u32 planned = UINT32_MAX, fewest = UINT32_MAX;

			for (u32 k = 0; k < 2; k++) {
				struct baleen_table table;
				u32 tried = try_all(domain, kinds[k], n, rates[i]);

				assert_int_equal(baleen_plan_shaped(domain, kinds[k], n, rates[i],
								    &copies, &table, NULL),
						 0);
				assert_true(rate(&table, domain, n) <= rates[i]);
				planned = table.n_blocks < planned ? table.n_blocks : planned;
				fewest = tried < fewest ? tried : fewest;
			}
			if (planned > fewest * 1.05)
				fail_msg("%llu keys at %g: %u blocks, and %u do",
					 (unsigned long long)n, rates[i], planned, fewest);
		}
	}
}

static void test_smallest(void **state)
{
	assert_smallest(BALEEN_IP4);
	assert_smallest(BALEEN_IP6);
}

/* Slots of 8 bits err at 2 % in buckets of 3 that are 85 % full: less than 9 bits at 95 %. */
static void test_cuckoo_load(void **state)
{
	const struct baleen_shape full = { .load = 0.95 };
	struct baleen_table table;

	assert_int_equal(baleen_plan_table(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000000, 0.02, &table,
					   NULL),
			 0);

	assert_int_equal(table.slot_bits, 8);
	assert_int_equal(baleen_bucket_slots(&table), 3);
	assert_true(table.n_blocks * 512. / 1000000 < 8 / 0.849);
	/* A load that was asked for stays. */
	assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000000, 0.02, &full,
					    &table, NULL),
			 0);
	assert_int_equal(table.slot_bits, 9);
}

/* One key more never needs a smaller table. */
static void test_cuckoo_grows(void **state)
{
	static const double rates[] = { 0, 0.02, 0.0001 };

	for (u32 i = 0; i < 15; i++) {
		const struct baleen_shape shape = { .bucket_slots = i / 3 };
		u32 last = 0;

		for (u64 n = 1; n <= 1200; n++) {
			struct baleen_table table;

			if (baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, n, rates[i % 3],
					       &shape, &table, NULL))
				continue;
			assert_true(table.n_blocks >= last);
			last = table.n_blocks;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_cuckoo_load),
		cmocka_unit_test(test_cuckoo_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
