// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets that filters are compared with: they hold what they were made of, and err as they say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ops/baselines.h"
#include "ops/sample_filter.h"

#define N_OTHERS 200000

static void make_keys(u64 *keys, u32 n)
{
	for (u32 i = 0; i < n; i++)
		keys[i] = baleen_sample_key(i).hi;
}

static u32 others_found(const struct baleen_baseline *set)
{
	u32 n = 0;

	for (u32 i = 0; i < N_OTHERS; i++)
		n += baleen_baseline_test(set, baleen_sample_key(BALEEN_SAMPLE_FIRST_OTHER + i).hi);
	return n;
}

static void test_members(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 7, 8, 1000, 65536, 100003 };
	u64 *keys = malloc(100003 * sizeof(*keys));

	make_keys(keys, 100003);
	for (u32 kind = 0; kind < BALEEN_N_BASELINES; kind++)
		for (u32 s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			struct baleen_baseline set;

			assert_int_equal(baleen_baseline_make(kind, keys, sizes[s], 1e-3, &set), 0);
			for (u32 i = 0; i < sizes[s]; i++)
				assert_true(baleen_baseline_test(&set, keys[i]));
			if (kind != BALEEN_BASELINE_COMPACT)
				assert_int_equal(others_found(&set), 0);
			baleen_baseline_free(&set);
			assert_null(set.key);
		}
	free(keys);
}

/* Keys 0 and 2^64 - 1, and those whose signature is that of an empty slot. */
static void test_edges(void **state)
{
	static const u64 keys[] = { 0, ~0ull, 1ull << 40, 2, 0xff00ull << 32 };

	for (u32 kind = 0; kind < BALEEN_N_BASELINES; kind++) {
		struct baleen_baseline set;

		assert_int_equal(baleen_baseline_make(kind, keys, 5, 0.5, &set), 0);
		for (u32 i = 0; i < 5; i++)
			assert_true(baleen_baseline_test(&set, keys[i]));
		if (kind != BALEEN_BASELINE_COMPACT)
			assert_false(baleen_baseline_test(&set, 3));
		baleen_baseline_free(&set);
	}
}

/* The chance that an absent key, whose signature is random, is found: it is that of any slot,
 * since it says the place, too. Of 256 low bytes 0 and 1 are signature 1.
 */
static double chance(const struct baleen_baseline *set)
{
	bool is_there[256] = { false };
	u32 n_found = 0;

	for (u32 place = 0; place < set->n_slots; place++)
		is_there[set->slot[place]] = true;
	for (u32 i = 1; i < 256; i++)
		n_found += is_there[i] * (i == 1 ? 2 : 1);
	return n_found / 256.0;
}

static void test_compact_errs(void **state)
{
	struct baleen_baseline set;
	double p, deviation;
	u64 keys[200];
	u32 n;

	make_keys(keys, 200);
	assert_int_equal(baleen_compact_bytes(200, 0.99), 1);
	assert_int_equal(baleen_compact_bytes(2000, 0.01), 3);
	assert_int_equal(baleen_compact_bytes(1e9, 1e-12), 8);
	assert_int_equal(baleen_baseline_make(BALEEN_BASELINE_COMPACT, keys, 200, 0.99, &set), 0);
	n = others_found(&set);
	p = chance(&set);
	deviation = sqrt(N_OTHERS * p * (1 - p));
	baleen_baseline_free(&set);
	/* 99.9 % of binomial numbers lie within 3.3 deviations. */
	assert_true(p > 0.01 && p < 200 / 256.0);
	assert_true(fabs(n - N_OTHERS * p) < 3.3 * deviation);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_compact_errs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
