// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Quotient filters that count copies, against sorted arrays of fingerprints. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/hashes.h"
#include "filter/kind.h"
#include "quotients.h"

#define SEED 7
#define Q 7
#define N_BITS 18
/* Few, so that most are there more than once. */
#define N_UNLIKE 24
#define MAX 512

/* A multiset as the textbook has it: ascending, as often as each was added. */
struct multiset {
	u64 value[MAX];
	size_t n;
};

static void multiset_add(struct multiset *set, u64 value)
{
	size_t i = set->n++;

	for (; i && set->value[i - 1] > value; i--)
		set->value[i] = set->value[i - 1];
	set->value[i] = value;
}

static bool multiset_del(struct multiset *set, u64 value)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->value[i] != value)
			continue;
		for (set->n--; i < set->n; i++)
			set->value[i] = set->value[i + 1];
		return true;
	}
	return false;
}

static u64 multiset_count(const struct multiset *set, u64 value)
{
	u64 n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += set->value[i] == value;
	return n;
}

/* In the last slots and the first, too. */
static u64 some_value(struct random *random)
{
	return random_below(random, N_UNLIKE) * 0x9e3779b97f4a7c15ull >> (64 - N_BITS);
}

/* Also a value that none has, and no order. */
static void assert_is(const struct baleen_filter *filter, const struct multiset *set)
{
	struct baleen_quotient_reader reader = baleen_quotient_reader(filter, DOMAIN);
	size_t n = 0;

	assert_true(filter->image.flags == BALEEN_FLAG_COPIES);
	assert_int_equal(filter->image.table[DOMAIN].n_entries, set->n);
	for (; baleen_quotient_read(&reader); n++)
		assert_true(n < set->n && reader.value == set->value[n]);
	assert_int_equal(n, set->n);
	for (u64 i = 0; i <= N_UNLIKE; i++) {
		u64 value = i * 0x9e3779b97f4a7c15ull >> (64 - N_BITS);

		assert_int_equal(quotient_count(filter, value), multiset_count(set, value));
		assert_int_equal(quotient_has(filter, value), multiset_count(set, value) > 0);
	}
	assert_int_equal(baleen_quotient_check_body(filter, DOMAIN, NULL), 0);
}

static struct baleen_filter empty(u32 q)
{
	struct baleen_filter filter = quotient_filter(q, N_BITS - q, SEED);

	filter.image.flags = BALEEN_FLAG_COPIES;
	return filter;
}

/* In one pass. */
static struct baleen_filter filter_of(u32 q, const struct multiset *set)
{
	struct baleen_filter filter = empty(q);
	u64 *values = malloc((set->n + 1) * sizeof(*values));

	memcpy(values, set->value, set->n * sizeof(*values));
	assert_int_equal(baleen_quotient_fill(&filter, DOMAIN, values, set->n), 0);
	assert_sealed(&filter);
	free(values);
	return filter;
}

/* The textbook's: sums, the fewest, and what is left. */
static void combine(const struct multiset *a, const struct multiset *b, enum baleen_set_op op,
		    struct multiset *out)
{
	out->n = 0;
	for (u64 i = 0; i < N_UNLIKE; i++) {
		u64 value = i * 0x9e3779b97f4a7c15ull >> (64 - N_BITS);
		u64 n_a = multiset_count(a, value), n_b = multiset_count(b, value), n = n_a + n_b;

		if (op == BALEEN_SET_INTERSECTION)
			n = n_a < n_b ? n_a : n_b;
		else if (op == BALEEN_SET_DIFFERENCE)
			n = n_a > n_b ? n_a - n_b : 0;
		while (n--)
			multiset_add(out, value);
	}
}

static void merge_with(struct baleen_filter *filter, struct multiset *set, enum baleen_set_op op,
		       struct random *random)
{
	struct multiset *other = calloc(2, sizeof(*other)), *kept = &other[1];
	struct baleen_filter of_other, made, fresh;
	const struct baleen_filter *both[] = { filter, &of_other };
	u64 n_kept = 0;

	for (u64 n = random_below(random, 32); n--;)
		multiset_add(other, some_value(random));
	of_other = filter_of(5 + random_below(random, 4), other);
	baleen_filter_seal(filter);
	combine(set, other, op, kept);
	assert_int_equal(baleen_quotient_count(both, 2, op, &n_kept, NULL), 0);
	assert_int_equal(n_kept, kept->n);
	assert_int_equal(baleen_quotient_merge(both, 2, op, 0, &made, NULL), 0);
	fresh = filter_of(made.image.table[DOMAIN].log2_buckets, kept);
	assert_same_filter(&made, &fresh);
	*set = *kept;
	baleen_filter_free(&fresh);
	baleen_filter_free(&of_other);
	baleen_filter_free(filter);
	*filter = made;
	free(other);
}

static void resize(struct baleen_filter *filter, const struct multiset *set, struct random *random)
{
	u32 q = Q - 2 + random_below(random, 5);
	struct baleen_filter made, fresh;

	baleen_filter_seal(filter);
	assert_int_equal(baleen_quotient_resize(filter, (1u << q) * BALEEN_QUOTIENT_LOAD, &made,
						NULL),
			 0);
	fresh = filter_of(made.image.table[DOMAIN].log2_buckets, set);
	assert_same_filter(&made, &fresh);
	baleen_filter_free(&fresh);
	baleen_filter_free(filter);
	*filter = made;
}

static void change(struct baleen_filter *filter, struct multiset *set, bool add,
		   struct random *random)
{
	u64 value = some_value(random);
	bool changed = false;
	int err;

	if (!add) {
		baleen_quotient_delete(filter, DOMAIN, value, &changed);
		assert_int_equal(changed, multiset_del(set, value));
		return;
	}
	err = baleen_quotient_insert(filter, DOMAIN, value, &changed);
	assert_int_equal(err, set->n < filter->image.table[DOMAIN].n_buckets ? 0 : -ENOSPC);
	assert_int_equal(changed, !err);
	if (!err)
		multiset_add(set, value);
}

/* Whatever is done, it is what the arrays have. */
static void test_random(void **state)
{
	struct random random = random_from(1);
	struct multiset *set = calloc(1, sizeof(*set));
	struct baleen_filter filter = empty(Q);

	for (u32 i = 0; i < 4000; i++) {
		bool grows = i / 200 % 2 == 0;

		if (random_below(&random, 16))
			change(&filter, set, random_below(&random, 4) ? grows : !grows, &random);
		else if (random_below(&random, 2))
			resize(&filter, set, &random);
		else
			merge_with(&filter, set,
				   set->n < 64 ? BALEEN_SET_UNION :
						 BALEEN_SET_INTERSECTION + random_below(&random, 2),
				   &random);
		assert_is(&filter, set);
	}
	baleen_filter_free(&filter);
	free(set);
}

/* --- legal where copies count only ------------------------------------------- */

static void test_flag(void **state)
{
	static const u64 values[] = { 5, 5, 9 };
	struct multiset set = { { 5, 5, 9 }, 3 };
	struct baleen_filter copies = filter_of(4, &set), once;
	const struct baleen_filter *both[] = { &copies, &once };
	struct baleen_filter out = { .n_bytes = 77 };
	struct baleen_error error;

	once = quotient_of(4, N_BITS - 4, SEED, values, 3);
	assert_int_equal(once.image.table[DOMAIN].n_entries, 2);
	assert_int_equal(copies.image.table[DOMAIN].n_entries, 3);
	assert_int_equal(baleen_quotient_merge(both, 2, BALEEN_SET_UNION, 0, &out, &error),
			 -EINVAL);
	assert_string_equal(error.text, "copies of a key count in some of them");
	assert_int_equal(out.n_bytes, 77);
	copies.image.flags = 0;
	assert_int_equal(baleen_quotient_check_body(&copies, DOMAIN, &error), -EINVAL);
	once.image.flags = BALEEN_FLAG_COPIES;
	assert_int_equal(baleen_quotient_check_body(&once, DOMAIN, NULL), 0);
	baleen_filter_free(&copies);
	baleen_filter_free(&once);
}

/* --- keys ---------------------------------------------------------------------- */

/* A key is there as often as it was inserted, in hashes as well; the rate is of
 * what is different.
 */
static void test_keys(void **state)
{
	struct baleen_table table = quotient_table(8, 24);
	struct random random = random_from(2);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random), moved;
	const struct baleen_kind_ops *ops = baleen_kind_ops(BALEEN_KIND_QUOTIENT);
	struct baleen_key key[64];
	struct baleen_hashes hashes;

	filter.image.flags = BALEEN_FLAG_COPIES;
	for (u32 i = 0; i < 64; i++)
		key[i] = random_key(&random, BALEEN_IP4);
	for (u32 i = 0; i < 64; i++)
		for (u32 n = 0; n <= i % 4; n++)
			assert_int_equal(insert_one(&filter, &key[i]), 0);
	assert_int_equal(baleen_filter_count(&filter, BALEEN_IP4), 160);
	assert_sealed(&filter);
	assert_true(ops->measure(&filter, BALEEN_IP4) == 64. / (1ull << 32));
	assert_int_equal(baleen_hashes_read(&filter, BALEEN_IP4, &hashes, NULL), 0);
	assert_int_equal(hashes.n, 160);
	assert_int_equal(baleen_filter_alloc(&moved, &filter.image, NULL), 0);
	assert_int_equal(baleen_hashes_insert(&moved, BALEEN_IP4, &hashes), 0);
	assert_sealed(&moved);
	assert_same_filter(&filter, &moved);
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(ops->copies(&moved, &key[i]), i % 4 + 1);
	free(hashes.hash);
	baleen_filter_free(&filter);
	baleen_filter_free(&moved);
}

/* --- damaged --------------------------------------------------------------------- */

/* Everything ends, and a body that is said to be sound is that of its fingerprints. */
static void use_body(struct baleen_filter *filter, struct random *random)
{
	struct baleen_quotient_reader reader = baleen_quotient_reader(filter, DOMAIN);
	struct multiset *read = calloc(1, sizeof(*read));
	struct baleen_filter out;
	bool changed;

	for (u32 i = 0; i < 32; i++)
		baleen_quotient_copies(filter, DOMAIN, some_value(random));
	if (!baleen_quotient_check_body(filter, DOMAIN, NULL)) {
		while (baleen_quotient_read(&reader))
			multiset_add(read, reader.value);
		assert_int_equal(baleen_filter_count(filter, DOMAIN), read->n);
		for (size_t i = 0; i < read->n; i++)
			assert_int_equal(quotient_count(filter, read->value[i]),
					 multiset_count(read, read->value[i]));
		assert_int_equal(baleen_quotient_resize(filter, 3, &out, NULL), 0);
		baleen_filter_free(&out);
	}
	for (u32 i = 0; i < 32; i++) {
		baleen_quotient_insert(filter, DOMAIN, some_value(random), &changed);
		baleen_quotient_delete(filter, DOMAIN, some_value(random), &changed);
	}
	baleen_filter_seal(filter);
	free(read);
}

static void test_damaged(void **state)
{
	struct random random = random_from(3);
	struct multiset *set = calloc(1, sizeof(*set));

	for (u32 round = 0; round < 1000; round++) {
		u32 q = 3 + random_below(&random, 5);
		struct baleen_filter filter;
		u64 *word;

		set->n = 0;
		for (u32 n = random_below(&random, (1u << q) + 1); n--;)
			multiset_add(set, some_value(&random));
		filter = filter_of(q, set);
		word = (u64 *)((u8 *)filter.bytes + BALEEN_HEADER_BYTES);
		for (u32 n = 1 + random_below(&random, 3); n--;)
			word[random_below(&random, filter.n_bytes / 8 - 64)] ^=
				1ull << random_below(&random, 64);
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
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_flag),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
