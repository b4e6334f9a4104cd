// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys that are tested many at a time: the same answers as one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filter/asker.h"
#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "tables.h"

#define N_MEMBERS 500
#define N_KEYS 1500
#define N_DOMAINS 4
#define ANY_SHAPE ((struct baleen_shape){ 0 })

/* A filter with a table of this kind in each domain that can have one. */
static struct baleen_filter make_filter(u32 kind, const struct baleen_shape *shape, double fpp,
					struct random *random)
{
	struct baleen_image image = { .n_blocks = BALEEN_HEADER_BLOCKS };
	struct baleen_filter filter;

	image.seed = random_seed(random);
	for (u32 domain = 0; domain < N_DOMAINS; domain++) {
		struct baleen_table *table = &image.table[domain];

		if (baleen_plan_shaped(domain, kind, N_MEMBERS, fpp, shape, table, NULL)) {
			*table = (struct baleen_table){ 0 };
			continue;
		}
		table->first_block = image.n_blocks;
		image.n_blocks += table->n_blocks;
	}
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	return filter;
}

/* Runs of one domain of every length up to 100, a third of the keys members. */
static void make_keys(struct baleen_filter *filter, struct baleen_key *keys, struct random *random)
{
	size_t n_left = 0;
	u32 domain = 0;

	for (u32 i = 0; i < N_KEYS; i++) {
		if (!n_left) {
			n_left = 1 + random_below(random, 100);
			domain = random_below(random, N_DOMAINS);
		}
		n_left--;
		keys[i] = random_key(random, domain);
		if (i % (N_KEYS / N_MEMBERS) == 0 && filter->image.table[domain].kind)
			assert_int_equal(insert_one(filter, &keys[i]), 0);
	}
}

/* Numbers, by each set of instructions that this CPU has. */
static void check_numbers(const struct baleen_filter *filter, u32 domain,
			  const struct baleen_key *keys)
{
	static u64 number[N_KEYS];
	struct baleen_asker asker;
	u8 found[N_KEYS + 1];
	size_t n = 0, n_in = 0;

	for (u32 i = 0; i < N_KEYS; i++)
		if (keys[i].domain == domain)
			number[n++] = domain == BALEEN_IP4 ? keys[i].ip4 : keys[i].lo;
	memset(found, 0xa5, sizeof(found));
	for (size_t i = 0; i < n; i++) {
		struct baleen_key key = { .domain = domain };
		int is_in;

		if (domain == BALEEN_IP4)
			key.ip4 = number[i];
		else
			key.lo = number[i];
		is_in = baleen_filter_test(filter, &key);
		n_in += is_in;
		for (u32 width = 0; width <= baleen_lanes_width(); width++) {
			baleen_asker_init(&asker, filter, domain, width);
			assert_int_equal(baleen_asker_test(&asker, number[i]), is_in);
		}
	}
	assert_int_equal(baleen_filter_test_numbers(filter, domain, number, n, found), n_in);
	assert_int_equal(found[n], 0xa5);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found[i], baleen_asker_test(&asker, number[i]));
}

static void check_lanes(const struct baleen_filter *filter, u32 domain,
			const struct baleen_key *keys)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_lanes lanes = { .filter = filter, .table = table };
	u8 found[BALEEN_LANES];

	if (!baleen_lanes_know(table))
		return;
	lanes.of = baleen_lanes_of(table, domain);
	for (u32 width = 0; width <= baleen_lanes_width(); width++) {
		u32 n = 0;

		for (u32 i = 0; i < N_KEYS && n < BALEEN_LANES; i++)
			if (keys[i].domain == domain)
				lanes.lane[n++] = domain == BALEEN_IP4 ? keys[i].ip4 : keys[i].lo;
		assert_int_equal(n, BALEEN_LANES);
		baleen_lanes_test(&lanes, width, found);
		n = 0;
		for (u32 i = 0; i < N_KEYS && n < BALEEN_LANES; i++)
			if (keys[i].domain == domain)
				assert_int_equal(found[n++], baleen_filter_test(filter, &keys[i]));
	}
}

static void check_same(u32 kind, const struct baleen_shape *shape, double fpp)
{
	static struct baleen_key keys[N_KEYS];
	struct random random = random_from(0x6d616e79 + kind);
	struct baleen_filter filter = make_filter(kind, shape, fpp, &random);
	size_t n_expected = 0;
	u8 found[N_KEYS + 1];

	make_keys(&filter, keys, &random);
	memset(found, 0xa5, sizeof(found));
	for (u32 i = 0; i < N_KEYS; i++)
		n_expected += baleen_filter_test(&filter, &keys[i]);
	assert_true(n_expected >= N_MEMBERS / N_DOMAINS);
	assert_int_equal(baleen_filter_test_many(&filter, keys, N_KEYS, found), n_expected);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_int_equal(found[i], baleen_filter_test(&filter, &keys[i]));
	assert_int_equal(found[N_KEYS], 0xa5);
	assert_int_equal(baleen_filter_test_many(&filter, keys, 0, &found[N_KEYS]), 0);
	assert_int_equal(found[N_KEYS], 0xa5);
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_WORD; domain += BALEEN_WORD) {
		check_numbers(&filter, domain, keys);
		check_lanes(&filter, domain, keys);
	}
	baleen_filter_free(&filter);
}

static void test_bloom(void **state)
{
	check_same(BALEEN_KIND_BLOOM, &ANY_SHAPE, 0.3);
	check_same(BALEEN_KIND_BLOOM, &ANY_SHAPE, 0.01);
}

static void test_cuckoo(void **state)
{
	check_same(BALEEN_KIND_CUCKOO, &ANY_SHAPE, 0);
	check_same(BALEEN_KIND_CUCKOO, &ANY_SHAPE, 0.01);
}

static void test_shapes(void **state)
{
	static const u32 widths[] = { 8, 12, 16, 32, 64 };

	for (u32 i = 0; i < 5; i++)
		for (u32 slots = 1; slots <= 4; slots *= 2)
			for (u32 stash = 0; stash < 2; stash++)
				check_same(BALEEN_KIND_CUCKOO,
					   &(struct baleen_shape){ .slot_bits = widths[i],
								   .bucket_slots = slots,
								   .has_stash = stash },
					   0);
}

static void test_packed(void **state)
{
	for (u32 width = BALEEN_MIN_PACKED_BITS; width <= BALEEN_MAX_PACKED_BITS; width++)
		check_same(BALEEN_KIND_CUCKOO,
			   &(struct baleen_shape){ .slot_bits = width,
						   .bucket_slots = 1 + width % 4,
						   .has_stash = width % 2 },
			   0);
}

static void test_semi_sorted(void **state)
{
	for (u32 width = BALEEN_MIN_PACKED_BITS + 1; width <= BALEEN_MAX_PACKED_BITS; width++)
		check_same(BALEEN_KIND_CUCKOO,
			   &(struct baleen_shape){ .slot_bits = width,
						   .is_semi_sorted = true,
						   .has_stash = width % 2 },
			   0);
}

static void test_quotient(void **state)
{
	check_same(BALEEN_KIND_QUOTIENT, &ANY_SHAPE, 0);
	check_same(BALEEN_KIND_QUOTIENT, &ANY_SHAPE, 0.01);
}

static void test_classic(void **state)
{
	check_same(BALEEN_KIND_CLASSIC, &ANY_SHAPE, 0.3);
}

static void test_counting(void **state)
{
	check_same(BALEEN_KIND_COUNTING, &ANY_SHAPE, 0.3);
	check_same(BALEEN_KIND_COUNTING, &(struct baleen_shape){ .hash = BALEEN_HASH_KEYED }, 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bloom),	 cmocka_unit_test(test_cuckoo),
		cmocka_unit_test(test_shapes),	 cmocka_unit_test(test_packed),
		cmocka_unit_test(test_quotient), cmocka_unit_test(test_classic),
		cmocka_unit_test(test_counting), cmocka_unit_test(test_semi_sorted),
	};

	return cmocka_run_group_tests_name("many", tests, NULL, NULL);
}
