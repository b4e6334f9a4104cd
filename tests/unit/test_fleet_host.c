// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Limits are of a host: it has no more of them by publishing under more names.
 */
#include "fleets.h"

/* Publishes just these entries, and gives them to the receiver. */
static u32 gives(const char *publisher, struct baleen_fleet_local *local, size_t n)
{
	const struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer;
	struct baleen_fleet_sync sync;
	u64 last, after = 0;

	OK(baleen_fleet_own_sync(&here, publisher, local, n, fleet_now, &sync, &error));
	while (baleen_fleet_own_batch(&here, publisher, &by, after, &writer, &last, &error) > 0) {
		receive_bytes(writer.bytes, writer.n_bytes);
		baleen_fleet_writer_free(&writer);
		after = last;
	}
	return result.verdict;
}

/* Addresses net.0.0 and so on. */
static u32 gives_many(const char *publisher, u32 net, u32 n)
{
	static struct baleen_fleet_local local[2048];
	char key[32];

	for (u32 i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "10.%u.%u.%u", net, i / 256, i % 256);
		local[i] = local_ban(key, NOW + 2 * HOUR, "");
	}
	return gives(publisher, local, n);
}

static void rejudge(const char *publisher)
{
	const struct baleen_fleet_receiver by = receiver();

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_rejudge(&by, publisher, false, &result, &error));
	OK(baleen_fleet_store_commit(&there, &error));
}

static void test_entries(void **state)
{
	fleet_set_policy("entries 3");
	assert_int_equal(gives_many("web3/fail2ban", 1, 2), BALEEN_FLEET_APPLIED);
	assert_int_equal(gives_many("web3/soc", 2, 2), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.n_held, 1);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_ENTRIES);
	in_force("10.1.0.0 10.1.0.1 10.2.0.0");
	/* What the other leaves, this one may have. */
	assert_int_equal(gives_many("web3/fail2ban", 1, 1), BALEEN_FLEET_APPLIED);
	rejudge("web3/soc");
	told("+10.2.0.1");
	in_force("10.1.0.0 10.2.0.0 10.2.0.1");
}

static void test_coverage(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.0/24", NOW + HOUR, "") };
	struct baleen_fleet_local more[] = { local_ban("198.51.100.0/24", NOW + HOUR, ""),
					     local_ban("203.0.113.1", NOW + HOUR, "") };

	fleet_set_policy("coverage 300");
	gives("web3/fail2ban", local, 1);
	gives("web3/soc", more, 2);
	in_force("192.0.2.0/24 203.0.113.1");
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_COVERAGE);
}

static void test_rate(void **state)
{
	fleet_set_policy("rate 2/h");
	gives_many("web3/fail2ban", 1, 2);
	gives_many("web3/soc", 2, 2);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_RATE);
	in_force("10.1.0.0 10.1.0.1");
	fleet_now += HOUR / 2;
	rejudge("web3/soc");
	rejudge("web3/fail2ban");
	in_force("10.1.0.0 10.1.0.1 10.2.0.0");
	gives_many("web3/other", 3, 1);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_RATE);
}

/* Held entries fill no disk either. */
static void test_stored(void **state)
{
	fleet_set_policy("entries 1");
	assert_int_equal(gives_many("web3/fail2ban", 1, 1000), BALEEN_FLEET_APPLIED);
	assert_int_equal(gives_many("web3/soc", 2, 32), BALEEN_FLEET_APPLIED);
	assert_int_equal(gives_many("web3/soc", 2, 33), BALEEN_FLEET_REFUSED);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_FULL);
	assert_string_equal(result.why, "web3/soc: its host has more than 1032 entries");
	in_force("10.1.0.0");
}

static void test_names(void **state)
{
	char publisher[32];

	for (u32 i = 0; i < BALEEN_FLEET_MAX_NAMES; i++) {
		snprintf(publisher, sizeof(publisher), "web3/a%u", i);
		assert_int_equal(gives_many(publisher, i, 1), BALEEN_FLEET_APPLIED);
	}
	assert_int_equal(gives_many("web3/one-more", 100, 1), BALEEN_FLEET_REFUSED);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_FULL);
	assert_int_equal(gives_many("web3/a5", 5, 2), BALEEN_FLEET_APPLIED);
}

static void test_suspend_a_host(void **state)
{
	gives_many("web3/fail2ban", 1, 1);
	gives_many("web3/soc", 2, 1);
	receives(operator_asks(SUSPEND, "web33/*"), BALEEN_FLEET_APPLIED);
	in_force("10.1.0.0 10.2.0.0");
	receives(operator_asks(SUSPEND, "web3/*"), BALEEN_FLEET_APPLIED);
	in_force("");
	assert_true(publisher_of(&there).is_suspended);
	/* Another name is no way out. */
	gives_many("web3/other", 3, 1);
	in_force("");
	fleet_now++;
	receives(operator_asks(RESUME, "web3/soc"), BALEEN_FLEET_APPLIED);
	in_force("10.2.0.0");
	fleet_now++;
	receives(operator_asks(SUSPEND, "web3/*"), BALEEN_FLEET_APPLIED);
	in_force("");
	fleet_now++;
	receives(operator_asks(RESUME, "web3/*"), BALEEN_FLEET_APPLIED);
	in_force("10.1.0.0 10.3.0.0 10.2.0.0");
}

static void test_target_names(void **state)
{
	assert_true(baleen_fleet_target_is("web3/soc"));
	assert_true(baleen_fleet_target_is("web3/*"));
	assert_false(baleen_fleet_target_is("*/*"));
	assert_false(baleen_fleet_target_is("web3/a*"));
	assert_false(baleen_fleet_target_is("/*"));
	assert_false(baleen_fleet_target_is("web3"));
	assert_false(baleen_fleet_target_is(""));
	assert_false(baleen_fleet_publisher_is("web3/*"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_entries),
		TEST(test_coverage),
		TEST(test_rate),
		TEST(test_stored),
		TEST(test_names),
		TEST(test_suspend_a_host),
		cmocka_unit_test(test_target_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
