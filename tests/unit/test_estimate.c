// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How many keys a Bloom filter holds: estimates against sets of known size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/estimate.h"
#include "planes.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Swamidass and Baldi's ends, and between them the formula. */
static void test_ends(void **state)
{
	assert_true(baleen_estimate_bits(1000, 7, 0) == 0);
	assert_true(baleen_estimate_bits(1000, 7, 6) == 0);
	assert_true(baleen_estimate_bits(1000, 7, 7) == 1);
	assert_true(fabs(baleen_estimate_bits(1000, 7, 8) - 1.1475) < 0.0001);
	assert_true(fabs(baleen_estimate_bits(1000, 7, 500) - 99.0210) < 0.0001);
	assert_true(fabs(baleen_estimate_bits(1000, 7, 999) - 986.8222) < 0.0001);
	assert_true(fabs(baleen_estimate_bits(1000, 7, 1000) - 142.8571) < 0.0001);
}

static void test_blocked_ends(void **state)
{
	struct baleen_table table = plane_table(BALEEN_KIND_BLOOM, 0, 8, 512);

	assert_true(baleen_estimate_table(&table, 0) == 0);
	assert_true(baleen_estimate_table(&table, 512) == 64);
	/* One key is about k bits, and two are nearly 2k. */
	assert_true(fabs(baleen_estimate_table(&table, 8) - 1) < 0.05);
	table.n_buckets = 1 << 20;
	assert_true(fabs(baleen_estimate_table(&table, 16) - 2) < 0.05);
}

/* --- known sets ---------------------------------------------------------------- */

#define N_FILTERS 20
#define N_KEYS 2500

static const struct geometry {
	u32 kind, hash, n_hashes;
} geometries[] = {
	{ BALEEN_KIND_BLOOM, BALEEN_HASH_BLOCKED, 2 },
	{ BALEEN_KIND_BLOOM, BALEEN_HASH_BLOCKED, 4 },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED, 8 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 1 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 7 },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_MURMUR3, 4 },
};

/* The standard deviation of the estimate: that of the zeros left by kn independent
 * throws into m, m e^-c (1 - (1 + c) e^-c) with c = kn/m, by what one key changes.
 * Blocks crowd, which adds to it: below a quarter as much at these fills.
 */
static double deviation(const struct geometry *geometry, double m, double n)
{
	double c = geometry->n_hashes * n / m, zero = exp(-c);

	return sqrt(m * zero * (1 - (1 + c) * zero)) / (geometry->n_hashes * zero) *
	       (geometry->hash == BALEEN_HASH_BLOCKED ? 1.25 : 1);
}

static struct baleen_filter fill(const struct geometry *geometry, u64 m, u64 seed, u32 first,
				 u32 last)
{
	struct baleen_table table =
		plane_table(geometry->kind, geometry->hash, geometry->n_hashes, m);
	struct random random = { .state = seed };
	struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);

	for (u32 i = 0; i < last; i++) {
		struct baleen_key key = random_key(&random, BALEEN_IP6);

		if (i >= first)
			assert_int_equal(insert_one(&filter, &key), 0);
	}
	return filter;
}

static void assert_near(double got, double want, double deviation)
{
	if (fabs(got - want) > deviation)
		fail_msg("%g is not within %g of %g", got, deviation, want);
}

/* Each estimate within five standard deviations, and their mean within four of its
 * own: one in 16,000 for another seed. A bias of 1 % would be seen.
 */
static void try_fill(const struct geometry *geometry, u64 m)
{
	double sigma = deviation(geometry, m, N_KEYS), sum = 0;

	for (u32 i = 0; i < N_FILTERS; i++) {
		struct baleen_filter filter = fill(geometry, m, 1000 * m + i, 0, N_KEYS);
		double n = baleen_estimate_keys(&filter, BALEEN_IP6);

		assert_near(n, N_KEYS, 5 * sigma);
		sum += n;
		baleen_filter_free(&filter);
	}
	assert_near(sum / N_FILTERS, N_KEYS, 4 * sigma / sqrt(N_FILTERS));
}

static void test_known_sets(void **state)
{
	static const u32 bits_per_key[] = { 4, 10, 30 };

	for (u32 i = 0; i < N_OF(geometries); i++)
		for (u32 j = 0; j < N_OF(bits_per_key); j++)
			try_fill(&geometries[i], (u64)bits_per_key[j] * N_KEYS / 512 * 512);
}

/* 2,500 keys each, of which 1,000 are in both. */
static void test_overlap(void **state)
{
	for (u32 i = 0; i < N_OF(geometries); i++) {
		u64 m = 10 * 4000 / 512 * 512;
		struct baleen_filter a = fill(&geometries[i], m, i, 0, 2500);
		struct baleen_filter b = fill(&geometries[i], m, i, 1500, 4000);
		double sigma = deviation(&geometries[i], m, 4000);
		struct baleen_overlap overlap;

		assert_memory_equal(&a.image.seed, &b.image.seed, sizeof(a.image.seed));
		baleen_estimate_overlap(&a, &b, BALEEN_IP6, &overlap);
		assert_near(overlap.a, 2500, 5 * sigma);
		assert_near(overlap.b, 2500, 5 * sigma);
		assert_near(overlap.either, 4000, 5 * sigma);
		assert_near(overlap.both, 1000, 10 * sigma);
		assert_near(overlap.only_a, 1500, 10 * sigma);
		assert_near(overlap.only_b, 1500, 10 * sigma);
		baleen_estimate_overlap(&a, &a, BALEEN_IP6, &overlap);
		assert_true(overlap.both == overlap.a && overlap.either == overlap.a);
		assert_true(overlap.only_a == 0 && overlap.only_b == 0);
		baleen_filter_free(&a);
		baleen_filter_free(&b);
	}
}

/* Sets without a key in common never share less than nothing. */
static void test_disjoint(void **state)
{
	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter a = fill(&geometries[i], 512 * 40, i, 0, 1000);
		struct baleen_filter b = fill(&geometries[i], 512 * 40, i, 1000, 2000);
		double sigma = deviation(&geometries[i], 512 * 40, 2000);
		struct baleen_overlap overlap;

		baleen_estimate_overlap(&a, &b, BALEEN_IP6, &overlap);
		assert_true(overlap.both >= 0);
		assert_near(overlap.both, 0, 10 * sigma);
		baleen_filter_free(&a);
		baleen_filter_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),	   cmocka_unit_test(test_blocked_ends),
		cmocka_unit_test(test_known_sets), cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_disjoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
