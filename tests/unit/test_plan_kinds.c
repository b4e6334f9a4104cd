// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What each kind would cost, the plans of the textbooks, which kind fits, seeds of a text. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/bloom_math.h"
#include "ops/choose.h"
#include "ops/plan_kinds.h"
#include "ops/seed.h"

static const struct baleen_shape any;
static const u32 kinds[] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_BLOOM, BALEEN_KIND_CLASSIC,
			     BALEEN_KIND_COUNTING, BALEEN_KIND_QUOTIENT };

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define ALL_KINDS                                                                         \
	(1u << BALEEN_KIND_CUCKOO | 1u << BALEEN_KIND_BLOOM | 1u << BALEEN_KIND_CLASSIC | \
	 1u << BALEEN_KIND_COUNTING | 1u << BALEEN_KIND_QUOTIENT)

/* --- textbooks -------------------------------------------------------------- */

/* Rates as they are printed in the textbooks, rounded or cut off. */
static void test_bits_per_key(void **state)
{
	static const struct {
		double bits_per_key, fpp, unit;
		u32 k;
	} rows[] = { { 6, 0.0561, 1e-4, 4 },
		     { 8, 0.0215, 1e-4, 6 },
		     { 12, 0.00314, 1e-5, 8 },
		     { 16, 0.000458, 1e-6, 11 } };

	for (u32 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u32 k = baleen_classic_hashes(rows[i].bits_per_key, 1);

		assert_int_equal(k, rows[i].k);
		assert_true(fabs(baleen_classic_fpp(rows[i].bits_per_key, k, 1) - rows[i].fpp) <
			    rows[i].unit);
	}
}

static void test_billion(void **state)
{
	struct baleen_textbook bloom = baleen_textbook_plan(BALEEN_KIND_BLOOM, 1e9, 0.02, 0);
	struct baleen_textbook quotient = baleen_textbook_plan(BALEEN_KIND_QUOTIENT, 1e9, 0.02, 0);
	struct baleen_textbook cuckoo = baleen_textbook_plan(BALEEN_KIND_CUCKOO, 1e9, 0.02, 0);

	assert_true(fabs(bloom.n_bits - 8.14e9) < 0.005e9);
	/* Rounded down, as m is. */
	assert_int_equal(bloom.n_hashes, 5);
	assert_int_equal(baleen_textbook_plan(BALEEN_KIND_BLOOM, 10, 0.01, 0).n_hashes, 6);
	assert_true(baleen_textbook_plan(BALEEN_KIND_BLOOM, 10, 0.01, 0).n_bits == 95);
	assert_int_equal(quotient.log2_buckets, 30);
	assert_int_equal(quotient.slot_bits, 6);
	assert_true(quotient.n_bits == ldexp(9, 30));
	assert_true(quotient.fpp < 0.02);
	assert_int_equal(cuckoo.log2_buckets, 29);
	assert_int_equal(cuckoo.slot_bits, 8);
	assert_true(cuckoo.n_bits == ldexp(2 * 8, 29));
	assert_true(fabs(log2(cuckoo.n_buckets_loaded) - 29.15) < 0.005);
	/* Past the threshold of two slots: a plan that cannot be built. */
	assert_true(cuckoo.load > 0.897);
	assert_true(baleen_textbook_plan(BALEEN_KIND_COUNTING, 1e9, 0.02, 0).n_bits ==
		    4 * bloom.n_bits);
	assert_true(fabs(baleen_any_bound(1e9, 0.02) * M_LOG2E - bloom.n_bits) < 1);
}

/* --- costs ------------------------------------------------------------------ */

static void test_costs(void **state)
{
	static const double rates[] = { 0.3, 0.02, 1e-3, 1e-6 };
	static const u64 counts[] = { 1000, 123456, 1000000000 };

	for (u32 i = 0; i < N_KINDS * 4 * 3; i++) {
		double fpp = rates[i / N_KINDS % 4];
		u64 n = counts[i / N_KINDS / 4];
		struct baleen_cost cost;

		baleen_cost_plan(BALEEN_TUPLE, kinds[i % N_KINDS], n, fpp, &any, &cost);
		/* A billion counters of that rate are over 16 GiB. */
		if (cost.err) {
			assert_int_equal(cost.err, -E2BIG);
			continue;
		}
		assert_int_equal(cost.table.kind, kinds[i % N_KINDS]);
		assert_true(cost.fpp > 0 && cost.fpp <= fpp);
		assert_false(cost.is_exact);
		assert_true(cost.n_bits >= baleen_any_bound(n, cost.fpp));
		assert_true(cost.n_bits <= cost.n_bytes * 8);
		assert_true(cost.bits_per_key == (double)cost.n_bits / n);
	}
}

static void test_costs_refused(void **state)
{
	for (u32 i = 0; i < N_KINDS; i++) {
		struct baleen_cost cost;

		baleen_cost_plan(BALEEN_IP4, kinds[i], 1ull << 40, 0.01, &any, &cost);
		assert_int_equal(cost.err, -E2BIG);
		assert_int_equal(cost.table.kind, kinds[i]);
		assert_int_equal(cost.n_bits, 0);
		baleen_cost_plan(BALEEN_IP4, kinds[i], 1000, 1.5, &any, &cost);
		assert_int_equal(cost.err, -EINVAL);
		/* No slot is so narrow. */
		baleen_cost_fill(BALEEN_TUPLE, kinds[i], 1000000, 2, &any, &cost);
		assert_int_equal(cost.err, kinds[i] == BALEEN_KIND_CUCKOO ||
							   kinds[i] == BALEEN_KIND_QUOTIENT ?
						   -EINVAL :
						   0);
	}
}

/* The rate that is found costs no more, one that is much lower does. */
static void test_fill(void **state)
{
	const u64 n = 1000000;

	for (u32 i = 0; i < N_KINDS; i++) {
		struct baleen_cost cost, better;

		baleen_cost_fill(BALEEN_TUPLE, kinds[i], n, 40, &any, &cost);
		assert_int_equal(cost.err, 0);
		assert_true(cost.n_bits < 40 * n + 512);
		assert_true(cost.fpp > 0 && cost.fpp < 0.3);
		baleen_cost_plan(BALEEN_TUPLE, kinds[i], n, cost.fpp / 4, &any, &better);
		assert_true(better.err || better.n_bits > 40 * n);
	}
}

/* --- choice ----------------------------------------------------------------- */

#define N_KEYS 3000

static struct baleen_list six_list(void)
{
	static struct baleen_ip6 six[N_KEYS];
	struct baleen_list list = { .n_listed = N_KEYS, .ip6 = six, .n_ip6 = N_KEYS };

	for (u32 i = 0; i < N_KEYS; i++) {
		six[i].hi = 0x20010db800000000ull;
		six[i].lo = i;
	}
	return list;
}

static struct baleen_list four_list(void)
{
	static u32 four[N_KEYS];
	struct baleen_list list = { .n_listed = N_KEYS, .ip4 = four, .n_ip4 = N_KEYS };

	for (u32 i = 0; i < N_KEYS; i++)
		four[i] = 0xc0000200 + i;
	return list;
}

static struct baleen_choice choose(const struct baleen_list *list, double fpp, u32 among, u32 needs)
{
	struct baleen_build_options options = { .key_spec = BALEEN_KEY_SRC, .fpp = fpp };
	struct baleen_choice choice;
	struct baleen_error error;

	if (baleen_choose(list, &options, among, needs, &choice, &error))
		fail_msg("%s", error.text);
	assert_true(*choice.why);
	return choice;
}

static void test_choice(void **state)
{
	struct baleen_list six = six_list(), four = four_list();

	for (u32 needs = 0; needs < 1u << BALEEN_N_NEEDS; needs++) {
		assert_int_equal(choose(&six, 0, ALL_KINDS, needs).kind, BALEEN_KIND_CUCKOO);
		assert_int_equal(choose(&four, 0, ALL_KINDS, needs).kind, BALEEN_KIND_CUCKOO);
	}
	assert_int_equal(choose(&four, 0.1, ALL_KINDS, 0).kind, BALEEN_KIND_CUCKOO);
	/* 4.8 bits a key, where every slot is wider. */
	assert_int_equal(choose(&six, 0.1, ALL_KINDS, 0).kind, BALEEN_KIND_BLOOM);
	assert_int_equal(choose(&six, 0.1, 1u << BALEEN_KIND_CLASSIC, 0).kind, BALEEN_KIND_CLASSIC);
}

/* What is chosen can do it, meets the rate, and is the smallest that does. */
static void test_choice_needs(void **state)
{
	static const double rates[] = { 0.1, 1e-3 };
	struct baleen_list six = six_list();

	for (u32 i = 0; i < 2u << BALEEN_N_NEEDS; i++) {
		u32 needs = i / 2;
		struct baleen_choice choice = choose(&six, rates[i % 2], ALL_KINDS, needs);
		struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };
		struct baleen_cost cost, other;

		baleen_cost_plan(BALEEN_IP6, choice.kind, N_KEYS, choice.fpp, &any, &cost);
		image.table[BALEEN_IP6] = cost.table;
		image.flags = choice.copies ? BALEEN_FLAG_COPIES : 0;
		assert_int_equal(baleen_table_can(&image, BALEEN_IP6) & needs, needs);
		assert_true(cost.fpp <= rates[i % 2]);
		for (u32 k = 0; k < N_KINDS; k++) {
			baleen_cost_plan(BALEEN_IP6, kinds[k], N_KEYS, rates[i % 2], &any, &other);
			image.table[BALEEN_IP6] = other.table;
			image.flags = BALEEN_FLAG_COPIES;
			if (kinds[k] != BALEEN_KIND_CLASSIC &&
			    (baleen_table_can(&image, BALEEN_IP6) & needs) == needs)
				assert_true(cost.n_bytes <= other.n_bytes);
		}
	}
}

static void test_choice_refused(void **state)
{
	struct baleen_build_options options = { .key_spec = BALEEN_KEY_SRC, .fpp = 0.01 };
	struct baleen_choice choice = { .kind = 77 };
	struct baleen_list six = six_list();
	struct baleen_error error;
	u32 needs = 77;

	assert_int_equal(baleen_choose(&six, &options, 1u << BALEEN_KIND_BLOOM, BALEEN_NEED_DELETE,
				       &choice, &error),
			 -EINVAL);
	assert_int_equal(choice.kind, 77);
	assert_string_equal(error.text,
			    "bloom cannot be had in this shape, at this rate, able to delete");
	assert_int_equal(baleen_needs_parse("", &needs), -EINVAL);
	assert_int_equal(baleen_needs_parse("delete,", &needs), -EINVAL);
	assert_int_equal(baleen_needs_parse("deletes", &needs), -EINVAL);
	assert_int_equal(needs, 77);
	assert_int_equal(baleen_needs_parse("merge,delete", &needs), 0);
	assert_int_equal(needs, BALEEN_NEED_DELETE | BALEEN_NEED_MERGE);
}

/* --- seed ------------------------------------------------------------------- */

static void assert_seed(const char *text, u64 first, u64 second)
{
	struct baleen_seed seed;

	memset(&seed, 0xa5, sizeof(seed));
	baleen_seed_from_text(text, &seed);
	assert_int_equal(seed.word[0], first);
	assert_int_equal(seed.word[1], second);
}

/* SplitMix64 from 0 and 1 is known; FNV-1a of "a" is 0xaf63dc4c8601ec8c. */
static void test_seed(void **state)
{
	assert_seed("0", 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4);
	assert_seed("1", 0x910a2dec89025cc1, 0xbeeb8da1658eec67);
	assert_seed("01", 0x910a2dec89025cc1, 0xbeeb8da1658eec67);
	assert_seed("12638187200555641996", 0x5f29c2aadd9b8527, 0xff84f1bdb6d3884f);
	assert_seed("a", 0x5f29c2aadd9b8527, 0xff84f1bdb6d3884f);
	/* 2^64 is no number below it, and an empty text none at all. */
	assert_seed("18446744073709551616", 0xa4dd6bd2a5bc9103, 0x6a1dd1a51c1f816);
	assert_seed("", 0xc3817c016ba4ff30, 0x100cdaacc0bc9316);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_per_key), cmocka_unit_test(test_billion),
		cmocka_unit_test(test_costs),	     cmocka_unit_test(test_costs_refused),
		cmocka_unit_test(test_fill),	     cmocka_unit_test(test_choice),
		cmocka_unit_test(test_choice_needs), cmocka_unit_test(test_choice_refused),
		cmocka_unit_test(test_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
