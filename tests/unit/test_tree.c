// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of IPv6 addresses: nodes, layouts and what is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/image_check.h>
#include <baleen/tree.h>

#include "filter/plan.h"
#include "filter/tree_table.h"
#include "random.h"

/* --- nodes ---------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A node by its picture in tree.h, of ascending keys. */
static struct baleen_block make_node(const u64 *key, u32 n, bool is_wide, u32 shift)
{
	struct baleen_block node = {};
	u64 form = is_wide ? 1ull << 63 : (u64)shift << 52;

	for (u32 i = 0; i < 6; i++)
		node.word[i] = baleen_le64(is_wide ? 1ull << 63 : 0x8000000080000000ull);
	for (u32 i = 0; i < n; i++) {
		u64 narrow = (key[i] >> shift & 0x7fffffff) << 32 * (i % 2);

		if (is_wide)
			node.word[i] |= baleen_le64(key[i] & ~(1ull << 63));
		else
			node.word[i / 2] |= baleen_le64(narrow);
	}
	for (u32 i = 0; i <= n; i++)
		form |= (u64)i << 4 * i;
	node.word[7] = baleen_le64(form);
	return node;
}

static u32 count_above(const u64 *key, u32 n, u64 number)
{
	u32 n_above = 0;

	for (u32 i = 0; i < n; i++)
		n_above += key[i] > number;
	return n_above;
}

static void test_nodes(void **state)
{
	struct random random = random_from(1);

	for (u32 round = 0; round < 20000; round++) {
		bool is_wide = round % 2;
		u32 n = random_below(&random, is_wide ? 7 : 13);
		u32 shift = is_wide ? 0 : random_below(&random, 34);
		u64 top = random_next(&random), key[12];
		struct baleen_block node;

		/* What all agree in: the highest bit, or all above 31. */
		top &= is_wide ? 1ull << 63 : shift == 33 ? 0 : ~0ull << (31 + shift);
		for (u32 i = 0; i < n; i++) {
			u64 low = random_next(&random) >> random_below(&random, 40);

			low = round % 5 ? low : ~0ull * (random_next(&random) % 2);
			key[i] = top | (is_wide ? low >> 1 : (low & 0x7fffffff) << shift);
		}
		qsort(key, n, sizeof(*key), compare_numbers);
		node = make_node(key, n, is_wide, shift);
		for (u32 i = 0; i < 40; i++) {
			u64 number = random_next(&random);

			if (i % 2 && n)
				number = key[i / 2 % n] + i % 3 - 1;
			if (is_wide)
				number = top | (number & ~(1ull << 63));
			else if (shift < 33)
				number = top | (number & ~(~0ull << (31 + shift)));
			assert_int_equal(baleen_tree_interval(&node, number, ~number),
					 count_above(key, n, number));
		}
	}
}

/* --- layouts -------------------------------------------------------------- */

/**
 * struct shape - what random bounds are like
 * @n: how many are drawn; equal ones are one
 * @prefix: they begin with this
 * @length: so long is that
 * @step: binary logarithm of what they are multiples of
 */
struct shape {
	u32 n;
	u64 prefix;
	u32 length;
	u32 step;
};

static struct baleen_bounds random_bounds(struct random *random, const struct shape *shape)
{
	u64 *number = malloc((shape->n + 1) * sizeof(*number));
	struct baleen_bounds bounds = { .bound = malloc((shape->n + 1) * sizeof(*bounds.bound)) };
	u32 before = BALEEN_GROUP_NONE;

	for (u32 i = 0; i < shape->n; i++) {
		u64 low = random_next(random);

		if (shape->length)
			low >>= shape->length;
		number[i] = shape->prefix | low >> shape->step << shape->step;
	}
	qsort(number, shape->n, sizeof(*number), compare_numbers);
	for (u32 i = 0; i < shape->n; i++) {
		if (i && number[i] == number[i - 1])
			continue;
		before = (before + 1 + random_below(random, 3)) % 4;
		bounds.bound[bounds.n++] = (struct baleen_bound){ number[i], before };
	}
	free(number);
	return bounds;
}

static u32 state_of(const struct baleen_bounds *bounds, u64 number)
{
	size_t low = 0, high = bounds->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (bounds->bound[middle].from <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? bounds->bound[low - 1].state : BALEEN_GROUP_NONE;
}

static struct baleen_filter filter_of(const struct baleen_bounds *bounds)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC }, out;
	struct baleen_filter filter;
	struct baleen_tree tree;
	const char *reason;

	assert_int_equal(baleen_tree_make(bounds, BALEEN_TREE_LINES, &tree), 0);
	image.table[BALEEN_IP6_STEMS] = baleen_tree_table(&tree);
	assert_int_equal(baleen_plan_table(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, 1, 0,
					   &image.table[BALEEN_IP6_ENTRIES], NULL),
			 0);
	assert_int_equal(baleen_tables_place(&image, NULL), 0);
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	baleen_tree_fill(&filter, &tree);
	baleen_tree_free(&tree);
	baleen_filter_seal(&filter);
	if (baleen_image_check(filter.bytes, filter.n_bytes, &out, &reason))
		fail_msg("%s", reason);
	return filter;
}

static u32 ask(const struct baleen_filter *filter, u64 number)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP6_STEMS];
	u32 root = baleen_tree_root(table, filter->bytes, number);

	return root < BALEEN_TREE_ROOT ? root :
					 baleen_tree_get(table, filter->bytes, number, ~number,
							 root - BALEEN_TREE_ROOT);
}

static void assert_same(const struct baleen_filter *filter, const struct baleen_bounds *bounds,
			u64 number)
{
	u32 want = state_of(bounds, number), found = ask(filter, number);

	if (found != want)
		fail_msg("%#llx of %zu bounds: %u, not %u", (unsigned long long)number, bounds->n,
			 found, want);
}

static void try_shape(const struct shape *shape, struct random *random)
{
	struct baleen_bounds bounds = random_bounds(random, shape);
	struct baleen_filter filter = filter_of(&bounds);

	for (size_t i = 0; i < bounds.n; i++) {
		assert_same(&filter, &bounds, bounds.bound[i].from);
		assert_same(&filter, &bounds, bounds.bound[i].from - 1);
		assert_same(&filter, &bounds, bounds.bound[i].from + 1);
	}
	for (u32 i = 0; i < 2000; i++) {
		u64 number = random_next(random);

		assert_same(&filter, &bounds, number);
		if (shape->length)
			number >>= shape->length;
		assert_same(&filter, &bounds, shape->prefix | number);
	}
	assert_same(&filter, &bounds, 0);
	assert_same(&filter, &bounds, ~0ull);
	baleen_filter_free(&filter);
	free(bounds.bound);
}

static void test_layouts(void **state)
{
	static const u64 prefixes[] = { 0x2001000000000000, 0x20010db800000000, 0x20010db812340000,
					0xfffffffffff00000, 0 };
	static const u32 lengths[] = { 12, 32, 48, 44, 0 };
	struct random random = random_from(2);

	for (u32 n = 0; n <= 30000; n = n < 30 ? n + 1 : n * 3)
		for (u32 i = 0; i < 5; i++)
			for (u32 step = 0; step < 36; step += 1 + random_below(&random, 12)) {
				struct shape shape = { n, prefixes[i], lengths[i], step };

				try_shape(&shape, &random);
			}
}

/* Neighbours: the most bounds that so many bits can have, also at both ends. */
static void test_dense(void **state)
{
	for (u32 step = 0; step <= 40; step += 8) {
		for (u32 end = 0; end < 2; end++) {
			struct baleen_bounds bounds = { .bound = malloc(5000 *
									sizeof(*bounds.bound)) };
			u64 first = end ? ~0ull << step : 5000ull << step;
			struct baleen_filter filter;

			for (u32 i = 5000; i--;)
				bounds.bound[bounds.n++] =
					(struct baleen_bound){ first - ((u64)i << step),
							       i % 2 ? 1 + i / 2 % 3 : 0 };
			/* The first changes nothing when it is "none". */
			bounds.bound[0].state = BALEEN_GROUP_IN;
			filter = filter_of(&bounds);
			for (u32 i = 0; i < 5000; i++)
				for (int k = -1; k <= 1; k++)
					assert_same(&filter, &bounds, bounds.bound[i].from + k);
			baleen_filter_free(&filter);
			free(bounds.bound);
		}
	}
}

/* --- damage --------------------------------------------------------------- */

/* Circles, children, indexes and numbers that are not there: the answer is any, and the
 * sanitizer tells of what is read outside.
 */
static void test_damage(void **state)
{
	static const struct shape shape = { 20000, 0x2001000000000000, 12, 0 };
	struct random random = random_from(3);
	struct baleen_bounds bounds = random_bounds(&random, &shape);
	struct baleen_filter filter = filter_of(&bounds);
	const struct baleen_table *table = &filter.image.table[BALEEN_IP6_STEMS];
	u64 *word = ((struct baleen_block *)filter.bytes)[table->first_block].word;
	u64 n_words = table->n_blocks * BALEEN_BLOCK_WORDS;

	for (u32 round = 0; round < 300; round++) {
		for (u32 i = 0; i < 500; i++) {
			u64 *at = &word[random_below(&random, n_words)];

			*at = round % 3 == 0 ? random_next(&random) :
			      round % 3 == 1 ? ~0ull << random_below(&random, 64) :
					       *at ^ 1ull << random_below(&random, 64);
		}
		for (u32 i = 0; i < 1000; i++)
			assert_true(ask(&filter,
					i % 2 ? random_next(&random) : bounds.bound[i].from) < 4);
	}
	baleen_filter_free(&filter);
	free(bounds.bound);
}

/* A node that is its own child ends after BALEEN_TREE_DEPTH steps. */
static void test_circle(void **state)
{
	static const struct shape shape = { 3, 0x2001000000000000, 16, 0 };
	struct random random = random_from(4);
	struct baleen_bounds bounds = random_bounds(&random, &shape);
	struct baleen_filter filter = filter_of(&bounds);
	const struct baleen_table *table = &filter.image.table[BALEEN_IP6_STEMS];
	struct baleen_block *node = (struct baleen_block *)filter.bytes + table->leaf_block;

	node->word[BALEEN_TREE_BASE] = 0;
	node->word[BALEEN_TREE_FORM] |= baleen_le64(0x4444444444444);
	node->word[BALEEN_TREE_FORM] &= baleen_le64(~0xbbbbbbbbbbbbbull);
	assert_int_equal(ask(&filter, bounds.bound[1].from), BALEEN_GROUP_NONE);
	baleen_filter_free(&filter);
	free(bounds.bound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),  cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_dense),  cmocka_unit_test(test_damage),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
