// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rings of hosts: where a host is, when its ring is due, and whether it may go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "set/rollout.h"

static struct baleen_set_rollout rings_of(const char *text)
{
	struct baleen_set_rollout rollout = { .n_canaries = 2 };

	assert_null(baleen_set_rollout_parse(text, &rollout));
	return rollout;
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "",		",",	     "1:1h",
					   "0:1h,100",	"10,10,100", "100,1",
					   "101",	"-1:1h,100", "1:1h:2h,100",
					   "1 1h,100",	"1:,100",    "1:31d,100",
					   "1:1ms,100", "x",	     "1,2,3,4,5,6,7,8,100" };
	struct baleen_set_rollout rollout = { .n_rings = 7 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!baleen_set_rollout_parse(bad[i], &rollout))
			fail_msg("'%s' is taken", bad[i]);
		assert_int_equal(rollout.n_rings, 7);
	}
	rollout = (struct baleen_set_rollout){ .n_canaries = 1 };
	assert_non_null(baleen_set_rollout_refuse(&rollout));
}

static void test_parse(void **state)
{
	struct baleen_set_rollout rollout = rings_of("default");

	assert_int_equal(rollout.n_rings, 4);
	assert_int_equal(rollout.n_canaries, 2);
	assert_int_equal(rollout.ring[0].percent, 1);
	assert_int_equal(rollout.ring[1].soak_s, 4 * 3600);
	assert_int_equal(rollout.ring[3].percent, 100);
	rollout = rings_of("1:90s,100");
	assert_int_equal(rollout.n_rings, 2);
	assert_int_equal(rollout.ring[0].soak_s, 90);
	assert_int_equal(rollout.ring[1].soak_s, 0);
	assert_int_equal(rings_of("none").n_rings, 0);
}

/* The examples of the header, which b2sum prints. */
static void test_place(void **state)
{
	const struct baleen_set_rollout rollout = rings_of("default");

	assert_int_equal(baleen_set_place("bans", "web4"), 0x3a65dce8);
	assert_int_equal(baleen_set_place("bans", "web1"), 0xde874c41);
	assert_int_equal(baleen_set_ring_of(&rollout, "bans", "web4", 0), 3);
	assert_int_equal(baleen_set_ring_of(&rollout, "bans", "web1", 0), 4);
	assert_int_equal(baleen_set_ring_of(&rollout, "bans", "web1", 1), 1);
	assert_int_equal(baleen_set_ring_of(&rollout, "bans", "web1", 9), 4);
	assert_int_equal(baleen_set_ring_of(&(struct baleen_set_rollout){ 0 }, "bans", "web1", 2),
			 0);
	assert_int_not_equal(baleen_set_place("bans", "web4"), baleen_set_place("spam", "web4"));
}

/* Of 100,000 names each ring has its share: a standard deviation is 31 of 1,000 and 158 of
 * 50,000; five of them are allowed.
 */
static void test_shares(void **state)
{
	const struct baleen_set_rollout rollout = rings_of("default");
	u32 n[5] = { 0 };

	for (u32 i = 0; i < 100000; i++) {
		char host[32];

		sprintf(host, "host%u", i);
		n[baleen_set_ring_of(&rollout, "bans", host, 0)]++;
	}
	assert_in_range(n[1], 1000 - 157, 1000 + 157);
	assert_in_range(n[2], 9000 - 452, 9000 + 452);
	assert_in_range(n[3], 40000 - 774, 40000 + 774);
	assert_in_range(n[4], 50000 - 790, 50000 + 790);
}

static void test_due(void **state)
{
	const struct baleen_set_rollout rollout = rings_of("default"), none = { 0 };

	assert_int_equal(baleen_set_ring_due_s(&rollout, 1000, 0), 1000);
	assert_int_equal(baleen_set_ring_due_s(&rollout, 1000, 1), 1000);
	assert_int_equal(baleen_set_ring_due_s(&rollout, 1000, 2), 1000 + 3600);
	assert_int_equal(baleen_set_ring_due_s(&rollout, 1000, 4), 1000 + 17 * 3600);
	assert_int_equal(baleen_set_ring_due_s(&rollout, 1000, 5), 1000 + 18 * 3600);
	assert_int_equal(baleen_set_ring_due_s(&none, 1000, 1), 1000);
}

static void test_decide(void **state)
{
	const struct baleen_set_rollout rollout = rings_of("default");
	struct baleen_rollout_view view = {
		.rollout = &rollout, .created_s = 1000, .now_s = 1000 + 3599, .ring = 2
	};

	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_RING);
	view.now_s++;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_GO);
	view.has_fleet = true;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_CANARIES);
	view.n_ok = 1;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_CANARIES);
	view.n_ok = 2;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_GO);
	view.n_vetoes = 1;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_VETO);
	view.is_released = true;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_GO);
	view.is_held = true;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_HELD);
	view = (struct baleen_rollout_view){ .rollout = &rollout, .created_s = 1000, .ring = 1 };
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_GO);
	view.ring = 2;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_RING);
	view.ring = 1;
	view.n_vetoes = 1;
	assert_int_equal(baleen_rollout_decide(&view), BALEEN_ROLLOUT_VETO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_parse),
		cmocka_unit_test(test_place),	cmocka_unit_test(test_shares),
		cmocka_unit_test(test_due),	cmocka_unit_test(test_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
