// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Quotient filters as they are planned: geometry, rates, clusters, room. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "list/list.h"
#include "quotients.h"

/* --- geometry ---------------------------------------------------------------- */

static void assert_refused(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			   int expected, const char *reason)
{
	struct baleen_table table = { .n_blocks = 77 };
	struct baleen_error error;

	assert_int_equal(baleen_plan_shaped(domain, BALEEN_KIND_QUOTIENT, n, fpp, shape, &table,
					    &error),
			 expected);
	assert_string_equal(error.text, reason);
	assert_int_equal(table.n_blocks, 77);
}

static void test_refused(void **state)
{
	static const struct baleen_shape long_remainder = { .remainder_bits = 23 };
	static const struct baleen_shape longest = { .remainder_bits = 64 };
	static const struct baleen_shape short_remainder = { .remainder_bits = 4 };

	assert_refused(BALEEN_IP4, 700, 0, &long_remainder, -EINVAL,
		       "remainders of 23 bits: 22 bits of a key of 32 are left beside 1024 slots");
	assert_refused(BALEEN_IP6, 1, 0, &longest, -EINVAL,
		       "remainders of 64 bits: 63 bits of a key of 64 are left beside 2 slots");
	assert_refused(BALEEN_IP6, 768, 0.01, &short_remainder, -EINVAL,
		       "remainders of 4 bits err at a rate of 0.0457933, more than 0.01");
	assert_refused(BALEEN_IP6, 1ull << 31, 0.01, NULL, -E2BIG,
		       "2147483648 keys are too many for one filter");
}

static void test_geometry(void **state)
{
	static const struct {
		u32 domain;
		u64 n;
		double fpp, load;
		u32 remainder_bits, q, r;
	} plans[] = {
		{ BALEEN_IP4, 1, 0, 0, 0, 1, 31 },
		{ BALEEN_IP4, 768, 0, 0, 0, 10, 22 },
		{ BALEEN_IP4, 769, 0, 0, 0, 11, 21 },
		{ BALEEN_IP4, 1000000, 0, 0, 0, 21, 11 },
		{ BALEEN_IP4, 1000000, 0.01, 0, 0, 21, 6 },
		{ BALEEN_IP4, 1000000, 1e-9, 0, 0, 21, 11 },
		{ BALEEN_IP6, 1000000, 0, 0, 0, 21, 43 },
		{ BALEEN_IP6, 1000000, 0.9, 0, 0, 21, 1 },
		{ BALEEN_WORD, 1000000, 0, 0.96, 0, 20, 44 },
		{ BALEEN_WORD, 1024, 0, 1, 8, 10, 8 },
		{ BALEEN_TUPLE, 1000000000, 0.02, 0.94, 0, 30, 6 },
	};

	for (u32 i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		const struct baleen_shape shape = { .load = plans[i].load,
						    .remainder_bits = plans[i].remainder_bits };
		struct baleen_image image = { 0 };
		struct baleen_table *table = &image.table[plans[i].domain];
		u32 n_bits = plans[i].q + plans[i].r;
		bool is_exact = (plans[i].domain == BALEEN_IP4 || plans[i].domain == BALEEN_WORD) &&
				n_bits == baleen_key_bits(plans[i].domain);

		assert_int_equal(baleen_plan_shaped(plans[i].domain, BALEEN_KIND_QUOTIENT,
						    plans[i].n, plans[i].fpp, &shape, table, NULL),
				 0);
		assert_int_equal(table->log2_buckets, plans[i].q);
		assert_int_equal(table->slot_bits, plans[i].r);
		assert_int_equal(table->n_blocks, baleen_table_blocks(table));
		assert_int_equal(baleen_table_is_exact(&image, plans[i].domain), is_exact);
		if (plans[i].fpp)
			assert_true(baleen_table_fpp(&image, plans[i].domain, plans[i].n) <=
				    plans[i].fpp);
	}
}

/* The textbook's table for a billion keys at 2 %: 9 * 2^30 bits. */
static void test_textbook(void **state)
{
	const struct baleen_shape shape = { .load = 0.94 };
	struct baleen_table table;

	assert_int_equal(baleen_plan_shaped(BALEEN_TUPLE, BALEEN_KIND_QUOTIENT, 1000000000, 0.02,
					    &shape, &table, NULL),
			 0);
	assert_int_equal((u64)table.n_blocks * 512, 9ull << 30);
}

/* --- clusters ---------------------------------------------------------------- */

/* As in quotient.h: that a cluster starts at a slot and is longer. */
static double longer_than(double load, double length)
{
	return exp(-length * (load - 1 - log(load)));
}

static void test_bound(void **state)
{
	double slot = longer_than(BALEEN_QUOTIENT_LOAD, BALEEN_QUOTIENT_SCAN);

	assert_true(slot < 1.8e-17);
	assert_true(ldexp(slot, 20) < 1.9e-11);
	assert_true(ldexp(slot, 31) < 3.8e-8);
}

/* Slots at which a cluster of @length or more starts. */
static u32 count_clusters(const struct baleen_filter *filter, u32 length)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, DOMAIN);
	u32 n = quotient.table->n_buckets, n_shifted = 0, n_long = 0;

	for (u32 slot = 0; slot < n; slot++) {
		if (baleen_quotient_bit(&quotient, slot, BALEEN_QUOTIENT_SHIFTED)) {
			n_shifted++;
			continue;
		}
		n_long += n_shifted + 1 >= length;
		n_shifted = 0;
	}
	return n_long;
}

static struct baleen_filter random_filter(u32 q, double load, struct random *random)
{
	struct baleen_filter filter = quotient_filter(q, 16, 1);
	u32 n = (1u << q) * load;
	u64 *values = malloc(n * sizeof(*values));

	for (u32 i = 0; i < n; i++)
		values[i] = random_next(random) >> (64 - 16 - q);
	assert_int_equal(baleen_quotient_fill(&filter, DOMAIN, values, n), 0);
	free(values);
	baleen_filter_seal(&filter);
	return filter;
}

/* At the load that is planned for there are long clusters, but no more than the
 * bound says: it is far from tight.
 */
static void test_clusters(void **state)
{
	struct random random = random_from(1);
	u32 n_32 = 0, n_64 = 0, n_128 = 0;
	const u32 q = 15, n_tables = 8;

	for (u32 i = 0; i < n_tables; i++) {
		struct baleen_filter filter = random_filter(q, BALEEN_QUOTIENT_LOAD, &random);

		n_32 += count_clusters(&filter, 32);
		n_64 += count_clusters(&filter, 64);
		n_128 += count_clusters(&filter, 128);
		assert_true(baleen_quotient_fits_packets(&filter.image.table[DOMAIN]));
		baleen_filter_free(&filter);
	}
	printf("# of %u slots clusters of 32, 64, 128 and more start at %u, %u, %u\n",
	       n_tables << q, n_32, n_64, n_128);
	assert_true(n_32 > 200 && n_32 < longer_than(BALEEN_QUOTIENT_LOAD, 32) * (n_tables << q));
	assert_true(n_64 > 20 && n_64 < longer_than(BALEEN_QUOTIENT_LOAD, 64) * (n_tables << q));
	assert_true(n_128 < longer_than(BALEEN_QUOTIENT_LOAD, 128) * (n_tables << q));
}

static void test_too_long(void **state)
{
	struct random random = random_from(2);
	struct baleen_filter filter = random_filter(15, 0.99, &random);
	struct baleen_table *table = &filter.image.table[DOMAIN];

	assert_true(table->longest_cluster > BALEEN_QUOTIENT_SCAN);
	assert_false(baleen_quotient_fits_packets(table));
	table->longest_cluster = BALEEN_QUOTIENT_SCAN;
	assert_true(baleen_quotient_fits_packets(table));
	baleen_filter_free(&filter);
}

/* --- keys -------------------------------------------------------------------- */

/* All that fit, and where it stopped. */
static void test_full(void **state)
{
	struct baleen_table table = quotient_table(6, 26);
	struct random random = random_from(3);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_key keys[100];
	size_t n_done = 77;
	u8 *before = malloc(filter.n_bytes);

	for (u32 i = 0; i < 100; i++)
		keys[i] = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = i * 7 };
	assert_int_equal(baleen_filter_insert(&filter, keys, 100, &n_done), -ENOSPC);
	assert_int_equal(n_done, 64);
	memcpy(before, filter.bytes, filter.n_bytes);
	assert_int_equal(baleen_filter_insert(&filter, keys + 64, 1, &n_done), -ENOSPC);
	assert_int_equal(n_done, 0);
	assert_memory_equal(before, filter.bytes, filter.n_bytes);
	/* What is there is no news. */
	assert_int_equal(baleen_filter_insert(&filter, keys, 64, &n_done), 0);
	assert_int_equal(n_done, 64);
	for (u32 i = 0; i < 100; i++)
		assert_int_equal(baleen_filter_test(&filter, &keys[i]), i < 64);
	free(before);
	baleen_filter_free(&filter);
}

/* An exact one is its list, and nothing else; sorted as addresses are. */
static void test_list(void **state)
{
	struct baleen_table table = quotient_table(7, 25);
	struct random random = random_from(4);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_list list;
	bool changed;

	for (u32 i = 0; i < 100; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = i * i };

		assert_int_equal(baleen_quotient_add(&filter, &key, &changed), 0);
		assert_true(changed);
	}
	for (u32 i = 0; i < 100; i += 2) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = i * i };

		assert_int_equal(baleen_quotient_del(&filter, &key, &changed), 0);
		assert_true(changed);
		assert_int_equal(baleen_quotient_del(&filter, &key, &changed), 0);
		assert_false(changed);
	}
	baleen_filter_seal(&filter);
	assert_int_equal(baleen_filter_to_list(&filter, &list, NULL), 0);
	assert_int_equal(list.n_ip4, 50);
	for (u32 i = 0; i < 50; i++)
		assert_int_equal(list.ip4[i], (2 * i + 1) * (2 * i + 1));
	baleen_list_free(&list);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_geometry),
		cmocka_unit_test(test_textbook), cmocka_unit_test(test_bound),
		cmocka_unit_test(test_clusters), cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_full),	 cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
