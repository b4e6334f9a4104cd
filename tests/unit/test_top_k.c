// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Space-Saving against exact counts: the bounds of its paper hold for streams of
 * every shape, after every thousand events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <util/top_k.h>

#include "random.h"

#define MAX_KEYS 5000

static u64 exact[MAX_KEYS];

static struct baleen_key key_of(u32 i)
{
	return (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = i };
}

/* What the theorems say, about all counters and all keys. */
static void assert_bounds(const struct baleen_top_k *top_k)
{
	u64 sum = 0, bound = baleen_top_k_bound(top_k);
	bool has[MAX_KEYS] = { false };

	assert_true(bound <= top_k->n_events / BALEEN_TOP_K);
	for (u32 i = 0; i < top_k->n; i++) {
		const struct baleen_top_key *hitter = &top_k->hitter[i];
		u64 count = exact[hitter->key.ip4];

		assert_false(has[hitter->key.ip4]);
		has[hitter->key.ip4] = true;
		sum += hitter->count;
		assert_true(hitter->count >= count);
		assert_true(hitter->count - hitter->error <= count);
		assert_true(hitter->error <= bound);
	}
	assert_int_equal(sum, top_k->n_events);
	for (u32 i = 0; i < MAX_KEYS; i++)
		assert_true(has[i] || exact[i] <= bound);
}

/* Key i with the weight of a / (i + 1), roughly; or all alike. */
static u32 draw(struct random *random, u32 n_keys, bool skewed)
{
	u32 i = random_below(random, n_keys);

	return skewed ? random_below(random, i + 1) : i;
}

static void run(u32 n_keys, bool skewed)
{
	static struct baleen_top_k top_k;
	struct random random = random_from(n_keys);

	memset(&top_k, 0, sizeof(top_k));
	memset(exact, 0, sizeof(exact));
	for (u32 n = 1; n <= 50000; n++) {
		u32 i = draw(&random, n_keys, skewed);
		struct baleen_key key = key_of(i);

		exact[i]++;
		baleen_top_k_add(&top_k, &key, BALEEN_KEY_SRC, 3);
		if (n % 1000 == 0)
			assert_bounds(&top_k);
	}
}

static void bounds(void **state)
{
	run(1, false);
	run(BALEEN_TOP_K, false);
	run(BALEEN_TOP_K + 1, false);
	run(MAX_KEYS, false);
	run(MAX_KEYS, true);
}

/* One counter per key, as long as there are enough: then all is exact. */
static void few(void **state)
{
	static struct baleen_top_k top_k;
	const struct baleen_top_key *top[3];

	memset(&top_k, 0, sizeof(top_k));
	assert_int_equal(baleen_top_k_top(&top_k, top, 3), 0);
	for (u32 i = 0; i < BALEEN_TOP_K; i++)
		for (u32 n = 0; n <= i; n++)
			baleen_top_k_add(&top_k, &(struct baleen_key){ .ip4 = i }, BALEEN_KEY_SRC,
					 0);
	assert_int_equal(baleen_top_k_top(&top_k, top, 3), 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(top[i]->key.ip4, BALEEN_TOP_K - 1 - i);
		assert_int_equal(top[i]->count, BALEEN_TOP_K - i);
		assert_int_equal(top[i]->error, 0);
	}
}

/* The example of the header, with 256 counters for its two. */
static void taken_over(void **state)
{
	static struct baleen_top_k top_k;
	struct baleen_key key;

	memset(&top_k, 0, sizeof(top_k));
	assert_int_equal(baleen_top_k_bound(&top_k), 0);
	for (u32 i = 0; i < BALEEN_TOP_K; i++) {
		key = key_of(i);
		baleen_top_k_add(&top_k, &key, BALEEN_KEY_SRC, 0);
		baleen_top_k_add(&top_k, &key, BALEEN_KEY_SRC, 0);
	}
	key = key_of(4711);
	baleen_top_k_add(&top_k, &key, BALEEN_KEY_SRC, 0);
	assert_int_equal(top_k.n, BALEEN_TOP_K);
	assert_int_equal(top_k.hitter[0].key.ip4, 4711);
	assert_int_equal(top_k.hitter[0].count, 3);
	assert_int_equal(top_k.hitter[0].error, 2);
	assert_int_equal(baleen_top_k_bound(&top_k), 2);
}

/* A key is that of a rule and of its fields. */
static void apart(void **state)
{
	static struct baleen_top_k top_k;
	const struct baleen_key same = { .domain = BALEEN_IP6, .hi = 1, .lo = 2 };
	struct baleen_key other = same;

	memset(&top_k, 0, sizeof(top_k));
	baleen_top_k_add(&top_k, &same, BALEEN_KEY_SRC, 0);
	baleen_top_k_add(&top_k, &same, BALEEN_KEY_SRC, 0);
	baleen_top_k_add(&top_k, &same, BALEEN_KEY_SRC, 1);
	baleen_top_k_add(&top_k, &same, BALEEN_KEY_DST, 0);
	other.lo = 1;
	baleen_top_k_add(&top_k, &other, BALEEN_KEY_SRC, 0);
	assert_int_equal(top_k.n, 4);
	assert_int_equal(top_k.hitter[0].count, 2);
	assert_int_equal(top_k.n_events, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds),
		cmocka_unit_test(few),
		cmocka_unit_test(taken_over),
		cmocka_unit_test(apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
