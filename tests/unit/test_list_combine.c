// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Union, intersection and difference of lists against what each list says. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "list/list_combine.h"
#include "random.h"

#define SETS 300
#define MAX_ENTRIES 40
#define PROBES 2000

/* --- a slow reference: of all entries that cover an address the longest ----- */

static bool covers4(const struct baleen_net4 *net, u32 ip4)
{
	return net->first <= ip4 && ip4 <= net->last;
}

static bool covers6(const struct baleen_prefix6 *prefix, const struct baleen_ip6 *ip6)
{
	for (u32 bit = 0; bit < prefix->length; bit++) {
		u64 differ = bit < 64 ? prefix->hi ^ ip6->hi : prefix->lo ^ ip6->lo;

		if (differ >> (63 - bit % 64) & 1)
			return false;
	}
	return true;
}

static bool slow_has4(const struct baleen_list *list, u32 ip4)
{
	for (size_t i = 0; i < list->n_net4; i++)
		if (covers4(&list->net4[i], ip4))
			return true;
	for (size_t i = 0; i < list->n_ip4; i++)
		if (list->ip4[i] == ip4)
			return true;
	return false;
}

static bool slow_has6(const struct baleen_list *list, struct baleen_ip6 ip6)
{
	int longest = -1;
	bool is_in = false;

	for (size_t i = 0; i < list->n_ip6; i++)
		if (list->ip6[i].hi == ip6.hi && list->ip6[i].lo == ip6.lo)
			return true;
	for (size_t i = 0; i < list->n_prefix6; i++) {
		if (list->prefix6[i].length > longest && covers6(&list->prefix6[i], &ip6)) {
			longest = list->prefix6[i].length;
			is_in = !list->prefix6[i].is_exception;
		}
	}
	return is_in;
}

/* --- random lists --------------------------------------------------------- */

/* Few bits of entropy, so that entries meet. */
static u32 any_ip4(struct random *random)
{
	return (u32)(random_next(random) & 0x3) << 30 | (u32)(random_next(random) & 0xff);
}

static struct baleen_ip6 any_ip6(struct random *random)
{
	return (struct baleen_ip6){
		.hi = (random_next(random) & 3) << 62 | (random_next(random) & 7),
		.lo = (random_next(random) & 3) << 62 | (random_next(random) & 7),
	};
}

static void add_prefix4(struct baleen_list *list, struct random *random)
{
	u32 length = random_next(random) % 33;
	u32 address = any_ip4(random);

	list->prefix4[list->n_prefix4++] = (struct baleen_prefix4){
		.address = length ? address & ~0u << (32 - length) : 0,
		.length = length,
		.is_exception = random_next(random) % 3 == 0,
	};
}

static void add_prefix6(struct baleen_list *list, struct random *random)
{
	struct baleen_ip6 ip6 = any_ip6(random);
	u32 length = random_next(random) % 129;
	struct baleen_prefix6 prefix = {
		.length = length,
		.is_exception = random_next(random) % 3 == 0,
	};

	prefix.hi = !length ? 0 : length >= 64 ? ip6.hi : ip6.hi & ~0ull << (64 - length);
	prefix.lo = length <= 64 ? 0 : length == 128 ? ip6.lo : ip6.lo & ~0ull << (128 - length);
	list->prefix6[list->n_prefix6++] = prefix;
}

static void make_list(struct baleen_list *list, struct random *random)
{
	u32 n = random_next(random) % MAX_ENTRIES;
	bool hosts_only = random_next(random) % 4 == 0;

	*list = (struct baleen_list){ .room_ip4 = MAX_ENTRIES,
				      .room_ip6 = MAX_ENTRIES,
				      .room_prefix4 = MAX_ENTRIES,
				      .room_prefix6 = MAX_ENTRIES };
	list->ip4 = calloc(MAX_ENTRIES, sizeof(*list->ip4));
	list->ip6 = calloc(MAX_ENTRIES, sizeof(*list->ip6));
	list->prefix4 = calloc(MAX_ENTRIES, sizeof(*list->prefix4));
	list->prefix6 = calloc(MAX_ENTRIES, sizeof(*list->prefix6));
	for (u32 i = 0; i < n; i++) {
		list->ip4[list->n_ip4++] = any_ip4(random);
		list->ip6[list->n_ip6++] = any_ip6(random);
		if (hosts_only)
			continue;
		add_prefix4(list, random);
		add_prefix6(list, random);
	}
	assert_int_equal(baleen_list_finish(list), 0);
}

/* --- checks --------------------------------------------------------------- */

static bool slow_op(enum baleen_set_op op, bool a, bool b)
{
	return op == BALEEN_SET_UNION ? a | b : op == BALEEN_SET_INTERSECTION ? a & b : a & !b;
}

static void check_shape(const struct baleen_list *list)
{
	assert_true(!list->n_ip6 || !list->n_prefix6);
	for (size_t i = 1; i < list->n_ip4; i++)
		assert_true(list->ip4[i - 1] < list->ip4[i]);
	for (size_t i = 0; i < list->n_net4; i++) {
		assert_true(list->net4[i].first < list->net4[i].last);
		assert_true(!i || list->net4[i - 1].last + 1ull < list->net4[i].first);
	}
}

static void check_one(const struct baleen_list *a, const struct baleen_list *b, struct random *random)
{
	for (enum baleen_set_op op = BALEEN_SET_UNION; op <= BALEEN_SET_DIFFERENCE; op++) {
		struct baleen_list out;

		assert_int_equal(baleen_list_combine(a, b, op, &out), 0);
		check_shape(&out);
		for (u32 i = 0; i < PROBES / 10; i++) {
			u32 ip4 = i % 2 ? any_ip4(random) : random_next(random);
			struct baleen_ip6 ip6 = any_ip6(random);

			assert_int_equal(slow_has4(&out, ip4),
					 slow_op(op, slow_has4(a, ip4), slow_has4(b, ip4)));
			assert_int_equal(slow_has6(&out, ip6),
					 slow_op(op, slow_has6(a, ip6), slow_has6(b, ip6)));
		}
		baleen_list_free(&out);
	}
}

static void test_random(void **unused)
{
	struct random random = random_from(20261120);

	for (u32 i = 0; i < SETS; i++) {
		struct baleen_list a, b;

		make_list(&a, &random);
		make_list(&b, &random);
		check_one(&a, &b, &random);
		baleen_list_free(&a);
		baleen_list_free(&b);
	}
}

/* All of it, none of it, and what is left of itself. */
static void test_edges(void **unused)
{
	struct baleen_prefix6 all6 = { .length = 0 };
	struct baleen_net4 all4 = { 0, UINT32_MAX };
	struct baleen_list all = { .net4 = &all4, .n_net4 = 1, .prefix6 = &all6, .n_prefix6 = 1 };
	struct baleen_list none = { 0 }, out;

	assert_int_equal(baleen_list_combine(&all, &none, BALEEN_SET_UNION, &out), 0);
	assert_true(out.n_net4 == 1 && out.net4[0].first == 0 && out.net4[0].last == UINT32_MAX);
	assert_true(out.n_prefix6 == 1 && !out.prefix6[0].is_exception && !out.prefix6[0].length);
	baleen_list_free(&out);
	assert_int_equal(baleen_list_combine(&all, &all, BALEEN_SET_DIFFERENCE, &out), 0);
	assert_true(!out.n_net4 && !out.n_ip4 && !out.n_prefix6 && !out.n_ip6);
	baleen_list_free(&out);
	assert_int_equal(baleen_list_combine(&none, &none, BALEEN_SET_UNION, &out), 0);
	assert_true(!out.n_net4 && !out.n_ip4 && !out.n_prefix6 && !out.n_ip6);
	baleen_list_free(&out);
}

static void test_keys(void **unused)
{
	struct baleen_key in_a[] = { { .domain = BALEEN_WORD, .lo = 1 },
				     { .domain = BALEEN_WORD, .lo = 5 } };
	struct baleen_key in_b[] = { { .domain = BALEEN_WORD, .lo = 5 },
				     { .domain = BALEEN_TUPLE, .lo = 1 } };
	struct baleen_list a = { .key_spec = BALEEN_KEY_FLOW, .key = in_a, .n_key = 2 };
	struct baleen_list b = { .key_spec = BALEEN_KEY_FLOW, .key = in_b, .n_key = 2 };
	struct baleen_list out = { .n_lines = 77 };

	assert_int_equal(baleen_list_combine(&a, &b, BALEEN_SET_UNION, &out), 0);
	assert_true(out.n_key == 3 && out.key[0].lo == 1 && out.key[1].lo == 5 &&
		    out.key[2].domain == BALEEN_TUPLE && out.key_spec == BALEEN_KEY_FLOW);
	baleen_list_free(&out);
	assert_int_equal(baleen_list_combine(&a, &b, BALEEN_SET_DIFFERENCE, &out), 0);
	assert_true(out.n_key == 1 && out.key[0].lo == 1);
	baleen_list_free(&out);
	b.key_spec = BALEEN_KEY_SRC;
	out = (struct baleen_list){ .n_lines = 77 };
	assert_int_equal(baleen_list_combine(&a, &b, BALEEN_SET_UNION, &out), -EINVAL);
	assert_true(out.n_lines == 77 && !out.key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
