// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Quotient filters filled, resized and merged in sorted passes, and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/hashes.h"
#include "filter/kind.h"
#include "quotients.h"

#define MAX 4096
#define SEED 7

struct set {
	u64 value[MAX];
	size_t n;
};

/* --- refused ---------------------------------------------------------------- */

static void assert_refused(const struct baleen_filter *a, const struct baleen_filter *b,
			   int expected, const char *reason)
{
	const struct baleen_filter *filters[] = { a, b };
	struct baleen_filter out = { .n_bytes = 77 };
	struct baleen_error error;
	u64 n = 77;

	assert_int_equal(baleen_quotient_merge(filters, 2, BALEEN_SET_UNION, 0, &out, &error),
			 expected);
	assert_string_equal(error.text, reason);
	assert_int_equal(baleen_quotient_count(filters, 2, BALEEN_SET_UNION, &n, &error), expected);
	assert_int_equal(out.n_bytes, 77);
	assert_int_equal(n, 77);
}

static void test_refused(void **state)
{
	static const u64 values[] = { 1, 2, 3 };
	struct baleen_filter a = quotient_of(4, 8, SEED, values, 3), out = { .n_bytes = 77 };
	struct baleen_filter wide = quotient_of(4, 9, SEED, values, 3);
	struct baleen_filter other_seed = quotient_of(4, 8, SEED + 1, values, 3);
	struct baleen_filter other_key = quotient_of(4, 8, SEED, values, 3);
	struct baleen_error error;

	other_key.image.key_spec = BALEEN_KEY_STRING;
	assert_refused(&a, &wide, -EINVAL, "fingerprints of 13 bits, and of 12 in the first");
	assert_refused(&a, &other_seed, -EINVAL, "they have different seeds");
	assert_refused(&a, &other_key, -EINVAL, "they have different keys");
	assert_int_equal(baleen_quotient_resize(&a, 1 << 12, &out, &error), -E2BIG);
	assert_string_equal(error.text, "4096 keys are too many for fingerprints of 12 bits");
	assert_int_equal(out.n_bytes, 77);
	a.image.table[DOMAIN].kind = BALEEN_KIND_CLASSIC;
	assert_refused(&a, &other_seed, -EOPNOTSUPP, "a table that is no quotient filter");
	assert_int_equal(baleen_quotient_resize(&a, 9, &out, &error), -EOPNOTSUPP);
	baleen_filter_free(&a);
	baleen_filter_free(&wide);
	baleen_filter_free(&other_seed);
	baleen_filter_free(&other_key);
}

/* --- sets ------------------------------------------------------------------- */

/* Up to @n of about @n_of numbers of @n_bits, unsorted, none twice. The last
 * slots of a table are crowded, so that they go on at slot 0.
 */
static void make_set(struct set *set, size_t n, u32 n_bits, u64 n_of, struct random *random)
{
	set->n = 0;
	while (set->n < n) {
		u64 value = random_below(random, n_of) * 0x9e3779b97f4a7c15ull >> (64 - n_bits);
		size_t i = 0;

		if (!random_below(random, 8))
			value |= 15ull << (n_bits - 4);
		while (i < set->n && set->value[i] != value)
			i++;
		if (i == set->n)
			set->value[set->n++] = value;
		else
			n--;
	}
}

static bool is_in(const struct set *set, u64 value)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->value[i] == value)
			return true;
	return false;
}

/* What @op keeps of @n sets, the obvious way. */
static void combine_sets(const struct set *sets, size_t n, enum baleen_set_op op, struct set *out)
{
	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < sets[i].n; j++) {
			u64 value = sets[i].value[j];
			size_t n_in = 0;

			for (size_t k = 0; k < n; k++)
				n_in += is_in(&sets[k], value);
			if ((op == BALEEN_SET_UNION ||
			     (op == BALEEN_SET_INTERSECTION && n_in == n) ||
			     (op == BALEEN_SET_DIFFERENCE && i == 0 && n_in == 1)) &&
			    !is_in(out, value))
				out->value[out->n++] = value;
		}
	}
}

/* --- fill -------------------------------------------------------------------- */

static void fill_like_insert(u32 q, u32 r, size_t n, struct random *random)
{
	struct baleen_filter one_by_one, filled = quotient_filter(q, r, SEED);
	struct set *set = malloc(sizeof(*set));
	u64 *values;

	make_set(set, n, q + r, 2ull << q, random);
	one_by_one = quotient_of(q, r, SEED, set->value, set->n);
	/* All twice. */
	values = malloc((2 * set->n + 1) * sizeof(*values));
	for (size_t i = 0; i < 2 * set->n; i++)
		values[i] = set->value[i % set->n];
	assert_int_equal(baleen_quotient_fill(&filled, DOMAIN, values, 2 * set->n), 0);
	assert_sealed(&filled);
	assert_same_filter(&one_by_one, &filled);
	assert_int_equal(baleen_quotient_check_body(&filled, DOMAIN, NULL), 0);
	free(values);
	free(set);
	baleen_filter_free(&one_by_one);
	baleen_filter_free(&filled);
}

static void test_fill(void **state)
{
	static const u8 shapes[][2] = {
		{ 1, 3 }, { 2, 62 }, { 3, 5 }, { 5, 9 }, { 6, 7 }, { 8, 23 }
	};
	struct random random = random_from(1);

	for (u32 i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (u32 load = 0; load <= 4; load++)
			fill_like_insert(shapes[i][0], shapes[i][1],
					 (1u << shapes[i][0]) * load / 4, &random);
}

static void test_fill_refused(void **state)
{
	struct baleen_filter filter = quotient_filter(3, 5, SEED);
	u64 values[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, *zeros = calloc(filter.n_bytes, 1);

	assert_int_equal(baleen_quotient_fill(&filter, DOMAIN, values, 9), -ENOSPC);
	assert_memory_equal(filter.bytes, zeros, filter.n_bytes);
	assert_int_equal(filter.image.table[DOMAIN].n_entries, 0);
	assert_int_equal(baleen_quotient_fill(&filter, DOMAIN, values, 8), 0);
	assert_sealed(&filter);
	free(zeros);
	baleen_filter_free(&filter);
}

/* --- resize ------------------------------------------------------------------ */

/* 01|001010 becomes 010|01010, then 0100|1010. */
static void test_doubling(void **state)
{
	static const u64 value = 0112;
	struct baleen_filter filter = quotient_of(2, 6, SEED, &value, 1);

	for (u32 q = 3; q <= 4; q++) {
		struct baleen_filter larger, fresh = quotient_of(q, 8 - q, SEED, &value, 1);
		struct baleen_quotient quotient;

		assert_int_equal(baleen_quotient_resize(&filter, 3u << (q - 2), &larger, NULL), 0);
		assert_same_filter(&larger, &fresh);
		quotient = baleen_quotient_of(&larger, DOMAIN);
		assert_true(
			baleen_quotient_bit(&quotient, value >> (8 - q), BALEEN_QUOTIENT_OCCUPIED));
		assert_int_equal(baleen_quotient_get(quotient.table, quotient.store,
						     value >> (8 - q)),
				 value & ((1u << (8 - q)) - 1));
		baleen_filter_free(&fresh);
		baleen_filter_free(&filter);
		filter = larger;
	}
	baleen_filter_free(&filter);
}

/* Up to where one bit of a remainder is left, and down to where all fit. */
static void test_resize(void **state)
{
	struct random random = random_from(2);
	struct set *set = malloc(sizeof(*set));

	for (u32 n = 0; n <= 96; n += 24) {
		struct baleen_filter filter;

		make_set(set, n, 12, 1 << 9, &random);
		filter = quotient_of(9, 3, SEED, set->value, set->n);
		for (u32 q = 1; q <= 11; q++) {
			u64 capacity = (1u << q) * BALEEN_QUOTIENT_LOAD;
			struct baleen_filter resized, fresh;

			assert_int_equal(baleen_quotient_resize(&filter, capacity, &resized, NULL),
					 0);
			if (set->n > capacity) {
				assert_true(resized.image.table[DOMAIN].log2_buckets > q);
			} else {
				fresh = quotient_of(q, 12 - q, SEED, set->value, set->n);
				assert_same_filter(&resized, &fresh);
				baleen_filter_free(&fresh);
			}
			baleen_filter_free(&resized);
		}
		baleen_filter_free(&filter);
	}
	free(set);
}

/* --- merge ------------------------------------------------------------------- */

static void merge_sets(size_t n, enum baleen_set_op op, struct random *random)
{
	struct set *sets = malloc((n + 1) * sizeof(*sets)), *kept = &sets[n];
	struct baleen_filter filter[5], merged, fresh;
	const struct baleen_filter *filters[5];
	u64 n_kept;
	u32 q;

	for (size_t i = 0; i < n; i++) {
		make_set(&sets[i], random_below(random, 90), 20, 200, random);
		q = 7 + random_below(random, 3);
		filter[i] = quotient_of(q, 20 - q, SEED, sets[i].value, sets[i].n);
		filters[i] = &filter[i];
	}
	combine_sets(sets, n, op, kept);
	assert_int_equal(baleen_quotient_merge(filters, n, op, 0, &merged, NULL), 0);
	assert_int_equal(baleen_quotient_count(filters, n, op, &n_kept, NULL), 0);
	assert_int_equal(n_kept, kept->n);
	q = merged.image.table[DOMAIN].log2_buckets;
	fresh = quotient_of(q, 20 - q, SEED, kept->value, kept->n);
	assert_same_filter(&merged, &fresh);
	for (size_t i = 0; i < n; i++)
		baleen_filter_free(&filter[i]);
	baleen_filter_free(&merged);
	baleen_filter_free(&fresh);
	free(sets);
}

static void test_merge(void **state)
{
	struct random random = random_from(3);

	for (u32 round = 0; round < 8; round++)
		for (size_t n = 1; n <= 5; n++)
			for (u32 op = BALEEN_SET_UNION; op <= BALEEN_SET_DIFFERENCE; op++)
				merge_sets(n, op, &random);
}

/* --- hashes and keys ---------------------------------------------------------- */

static void keys_come_back(u32 domain, u32 n_bits)
{
	struct baleen_table table = quotient_table(8, n_bits - 8);
	struct random random = random_from(4);
	struct baleen_filter filter = table_filter(&table, domain, &random), copy;
	struct baleen_hashes hashes;
	size_t n_done;

	for (u32 i = 0; i < 192; i++) {
		struct baleen_key key = random_key(&random, domain);

		assert_int_equal(insert_one(&filter, &key), 0);
		assert_true(baleen_filter_test(&filter, &key));
	}
	assert_sealed(&filter);
	n_done = filter.image.table[domain].n_entries;
	assert_int_equal(baleen_hashes_read(&filter, domain, &hashes, NULL), 0);
	assert_int_equal(hashes.n, n_done);
	assert_int_equal(baleen_filter_alloc(&copy, &filter.image, NULL), 0);
	assert_int_equal(baleen_hashes_insert(&copy, domain, &hashes), 0);
	assert_sealed(&copy);
	assert_same_filter(&filter, &copy);
	/* Into one that has them. */
	assert_int_equal(baleen_hashes_insert(&copy, domain, &hashes), 0);
	assert_sealed(&copy);
	assert_same_filter(&filter, &copy);
	free(hashes.hash);
	baleen_filter_free(&filter);
	baleen_filter_free(&copy);
}

static void test_hashes(void **state)
{
	struct baleen_filter filter = quotient_filter(8, 20, SEED);
	struct baleen_hashes hashes = { .n = 77 };
	struct baleen_error error;

	assert_int_equal(baleen_hashes_read(&filter, DOMAIN, &hashes, &error), -EOPNOTSUPP);
	assert_int_equal(hashes.n, 77);
	baleen_filter_free(&filter);
	keys_come_back(BALEEN_IP4, 32);
	keys_come_back(BALEEN_TUPLE, 64);
}

/* --- damaged ------------------------------------------------------------------ */

/* Also the three bits, which a sound body has right; not what an empty slot holds. */
static void assert_same_slots(const struct baleen_filter *a, const struct baleen_filter *b)
{
	struct baleen_quotient one = baleen_quotient_of(a, DOMAIN);
	struct baleen_quotient other = baleen_quotient_of(b, DOMAIN);

	for (u32 slot = 0; slot < one.table->n_buckets; slot++) {
		for (u32 plane = 0; plane < BALEEN_QUOTIENT_META; plane++)
			assert_int_equal(baleen_quotient_bit(&one, slot, plane),
					 baleen_quotient_bit(&other, slot, plane));
		if (baleen_quotient_used(&one, slot / 64) >> slot % 64 & 1)
			assert_int_equal(baleen_quotient_get(one.table, one.store, slot),
					 baleen_quotient_get(other.table, other.store, slot));
	}
}

/* Whatever the body says, everything ends, and what is sound is a set. */
static void use_body(struct baleen_filter *filter, struct random *random)
{
	const struct baleen_filter *filters[] = { filter, filter };
	struct baleen_filter out, again;
	bool changed;
	int err;

	for (u32 i = 0; i < 32; i++)
		quotient_has(filter, random_next(random) >> (64 - 14));
	err = baleen_quotient_merge(filters, 2, BALEEN_SET_UNION, 0, &out, NULL);
	assert_int_equal(err, baleen_quotient_check_body(filter, DOMAIN, NULL));
	if (!err) {
		assert_int_equal(baleen_quotient_resize(filter, 3, &again, NULL), 0);
		/* One that noise made fuller than it was grows. */
		if (out.image.table[DOMAIN].log2_buckets ==
		    filter->image.table[DOMAIN].log2_buckets)
			assert_same_slots(&out, filter);
		baleen_filter_free(&again);
		baleen_filter_free(&out);
	} else {
		assert_int_equal(err, -EINVAL);
	}
	for (u32 i = 0; i < 32; i++) {
		u64 value = random_next(random) >> (64 - 14);

		baleen_quotient_insert(filter, DOMAIN, value, &changed);
		baleen_quotient_delete(filter, DOMAIN, value, &changed);
	}
	baleen_filter_seal(filter);
}

static void test_damaged(void **state)
{
	struct random random = random_from(5);
	struct set *set = malloc(sizeof(*set));

	for (u32 round = 0; round < 2000; round++) {
		u32 q = 1 + random_below(&random, 9);
		struct baleen_filter filter;
		u64 *word;
		u32 n_flips = random_below(&random, 4);

		make_set(set, random_below(&random, (1u << q) + 1), 14, 2 << q, &random);
		filter = quotient_of(q, 14 - q, SEED, set->value, set->n);
		word = (u64 *)((u8 *)filter.bytes + BALEEN_HEADER_BYTES);
		for (u32 i = 0; i < n_flips; i++)
			word[random_below(&random, filter.n_bytes / 8 - 64)] ^=
				1ull << random_below(&random, 64);
		/* And now and then nothing but noise. */
		for (u32 i = 0; round % 16 == 0 && i < filter.n_bytes / 8 - 64; i++)
			word[i] = random_next(&random);
		if (round % 2)
			baleen_filter_seal(&filter);
		use_body(&filter, &random);
		baleen_filter_free(&filter);
	}
	free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_fill_refused),
		cmocka_unit_test(test_fill),	cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_resize),	cmocka_unit_test(test_merge),
		cmocka_unit_test(test_hashes),	cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
