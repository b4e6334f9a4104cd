// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A broker's clock that is wrong: what is believed of it, and what it spoils.
 */
#include "fleets.h"
#include "fleet/fleet_clock.h"

#define MINUTE 60000ull
#define YEAR (365 * 24 * HOUR)

static struct baleen_fleet_clock broker;

static void judges(u64 broker_ms, u64 local_ms, u64 boot_ms, u32 want)
{
	assert_int_equal(baleen_fleet_clock_judge(&broker, broker_ms, local_ms, boot_ms), want);
}

/* --- what is believed ------------------------------------------------------ */

/* The clock of a host may be an hour off, and may be set right. */
static void test_host_is_off(void **state)
{
	memset(&broker, 0, sizeof(broker));
	judges(NOW, NOW + HOUR, 5 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	judges(NOW + MINUTE, NOW + HOUR + MINUTE, 6 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	judges(NOW + 2 * MINUTE, NOW + 2 * MINUTE, 7 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	judges(NOW + 3 * MINUTE, NOW - HOUR, 8 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
}

static void test_broker_is_far(void **state)
{
	memset(&broker, 0, sizeof(broker));
	judges(NOW + YEAR, NOW, MINUTE, BALEEN_FLEET_CLOCK_FAR);
	judges(NOW - YEAR, NOW, MINUTE, BALEEN_FLEET_CLOCK_FAR);
	judges(0, NOW, MINUTE, BALEEN_FLEET_CLOCK_FAR);
	judges(~0ull, NOW, MINUTE, BALEEN_FLEET_CLOCK_FAR);
	judges(NOW, NOW, 2 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	/* However long it lasts. */
	for (u64 at = 3; at < 100; at++)
		judges(NOW - 25 * HOUR, NOW, at * MINUTE, BALEEN_FLEET_CLOCK_FAR);
}

/* A broker that was set is believed when it has gone on from there. */
static void test_broker_jumps(void **state)
{
	memset(&broker, 0, sizeof(broker));
	judges(NOW, NOW, MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	judges(NOW + HOUR, NOW, 2 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	judges(NOW + HOUR + 9 * MINUTE, NOW, 11 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	/* Two that differ, asked in turn, are never steady. */
	judges(NOW - HOUR, NOW, 12 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	judges(NOW + HOUR + 11 * MINUTE, NOW, 13 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	judges(NOW + HOUR + 20 * MINUTE, NOW, 22 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	judges(NOW + HOUR + 21 * MINUTE, NOW, 23 * MINUTE, BALEEN_FLEET_CLOCK_MOVED);
	assert_int_equal(broker.moved_ms, HOUR - MINUTE);
	judges(NOW + HOUR + 22 * MINUTE, NOW, 24 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
	/* Back at once: nothing was believed of what was between. */
	judges(NOW, NOW, 25 * MINUTE, BALEEN_FLEET_CLOCK_JUMPED);
	judges(NOW + HOUR + 24 * MINUTE, NOW, 26 * MINUTE, BALEEN_FLEET_CLOCK_RIGHT);
}

/* --- logs that move along -------------------------------------------------- */

static void hears_of_here(struct baleen_fleet_writer writer)
{
	receives(writer, BALEEN_FLEET_APPLIED);
}

/* Set back by half an hour: a ban of two hours ends after two hours, what was let go stays so, what
 * was banned since stays banned, and what is said now is said after all that.
 */
static void test_set_back(void **state)
{
	struct baleen_fleet_local local = local_ban("192.0.2.1", NOW + 2 * HOUR, "");
	struct baleen_fleet_sync sync;
	struct baleen_fleet_writer all;
	u64 end_ms = 0;

	publish("192.0.2.1 192.0.2.2");
	hears_of_here(batch(0));
	fleet_now += MINUTE;
	all = operator_asks(PARDON, "192.0.2.1");
	hears_at(&here, "web3", all);
	hears_of_here(all);
	fleet_now += MINUTE;
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	hears_of_here(batch(2));
	in_force("192.0.2.2 192.0.2.3");

	/* All of a later incarnation is missing, though it is signed before. */
	fleet_now -= HOUR / 2;
	OK(baleen_fleet_own_move(&here, -(s64)HOUR / 2, fleet_now, &error));
	OK(baleen_fleet_own_move(&office, -(s64)HOUR / 2, fleet_now, &error));
	receives(head(), BALEEN_FLEET_GAP);
	hears_of_here(snapshot());
	receives(head(), BALEEN_FLEET_APPLIED);
	/* It is heard, so nobody thinks that it is silent. */
	assert_int_equal(publisher_of(&there).head_ms, fleet_now);
	const struct baleen_fleet_signer by = { .fleet = "example",
						.keys = &ops,
						.now_ms = fleet_now };
	OK(baleen_fleet_own_snapshot(&office, "ops/control", &by, &all, &error));
	hears_at(&here, "web3", all);
	hears_of_here(all);
	in_force("192.0.2.2 192.0.2.3");
	baleen_sql_do(&there.db, "SELECT force_ms FROM entry WHERE address = x'c0000202'", &end_ms,
		      NULL, NULL, 0);
	assert_int_equal(end_ms, NOW + 2 * HOUR - HOUR / 2);

	/* A pardon of now counts: it is later than all that was heard of. */
	all = snapshot();
	hears_at(&office, "ops", all);
	baleen_fleet_writer_free(&all);
	fleet_now += MINUTE;
	struct baleen_fleet_writer pardon = operator_asks(PARDON, "192.0.2.0/24");
	hears_at(&here, "web3", pardon);
	hears_of_here(pardon);
	in_force("");
	/* A ban that was made after its host had heard of that counts, one of before does not. */
	fleet_now += MINUTE;
	local.made_ms = fleet_now - MINUTE / 2;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, &local, 1, fleet_now, &sync, &error));
	hears_of_here(batch(3));
	in_force("192.0.2.1");
	struct baleen_fleet_local both[] = { local, local_ban("192.0.2.8", NOW + 2 * HOUR, "") };
	both[1].made_ms = fleet_now - 2 * MINUTE;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, both, 2, fleet_now, &sync, &error));
	hears_of_here(batch(6));
	in_force("192.0.2.1");
}

/* An operator whose clock was set back before he hears that logs moved along. */
static void test_said_after_all(void **state)
{
	u64 made_ms;

	publish("192.0.2.1");
	hears_of_here(batch(0));
	fleet_now -= HOUR;
	OK(baleen_fleet_word_time(&there, fleet_now, &made_ms, &error));
	assert_int_equal(made_ms, NOW + 1);
	struct baleen_fleet_entry entry = word_on(PARDON, "192.0.2.1", made_ms);
	OK(baleen_fleet_word_post(&office, &entry, &error));
	assert_int_equal(take_words(&office, "ops"), 1);
	const struct baleen_fleet_signer by = { .fleet = "example",
						.keys = &ops,
						.now_ms = fleet_now };
	struct baleen_fleet_writer writer;
	u64 last;
	assert_int_equal(baleen_fleet_own_batch(&office, "ops/control", &by, 0, &writer, &last,
						&error),
			 1);
	hears_of_here(writer);
	in_force("");
	/* Another one that is later by hours is not believed. */
	entry = word_on(PARDON, "192.0.2.9", NOW + 3 * HOUR);
	OK(baleen_fleet_word_post(&office, &entry, &error));
	assert_int_equal(take_words(&office, "ops"), 1);
	assert_int_equal(baleen_fleet_own_batch(&office, "ops/control", &by, 1, &writer, &last,
						&error),
			 1);
	refused(writer, BALEEN_FLEET_CAUSE_TIME);
}

/* --- what it spoils -------------------------------------------------------- */

static int due(void)
{
	const struct baleen_fleet_publisher known = publisher_of(&there);

	return baleen_fleet_rejudge_due(&there, &known, fleet_now, &error);
}

static void rejudge(void)
{
	const struct baleen_fleet_receiver by = receiver();

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_rejudge(&by, PUBLISHER, false, &result, &error));
	OK(baleen_fleet_store_commit(&there, &error));
}

/* Bans that seemed to have ended come into force when the time is right again. */
static void test_ended_too_early(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	assert_int_equal(due(), 0);
	publish("192.0.2.1 192.0.2.2");
	fleet_now = NOW + YEAR;
	receives(batch(1), BALEEN_FLEET_APPLIED);
	rejudge();
	in_force("");
	assert_int_equal(due(), 0);
	fleet_now = NOW + HOUR;
	assert_int_equal(due(), 1);
	rejudge();
	told("+192.0.2.1 +192.0.2.2");
	in_force("192.0.2.1 192.0.2.2");
	assert_int_equal(due(), 0);
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* Nor does a publisher wait for its rate until the wrong time has come. */
static void test_rate_after_the_future(void **state)
{
	fleet_set_policy("rate 2/h");
	fleet_now = NOW + HOUR;
	publish("192.0.2.1 192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 192.0.2.2");
	fleet_now = NOW;
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	receives(batch(2), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 192.0.2.2");
	fleet_now = NOW + HOUR / 2;
	rejudge();
	in_force("192.0.2.1 192.0.2.2 192.0.2.3");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_is_off),  cmocka_unit_test(test_broker_is_far),
		cmocka_unit_test(test_broker_jumps), TEST(test_set_back),
		TEST(test_said_after_all),	     TEST(test_ended_too_early),
		TEST(test_rate_after_the_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
