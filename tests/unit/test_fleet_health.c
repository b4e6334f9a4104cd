// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A publisher whose head stands still is silent, whatever holds back what it says; two machines
 * under one name are noticed by the changes and heads that cannot be of one.
 */
#include <errno.h>

#include "fleets.h"
#include "fleet/fleet_health.h"

static struct baleen_fleet_health health(void)
{
	struct baleen_fleet_health read;

	OK(baleen_fleet_health_read(&there, fleet_local ? fleet_local : fleet_now, &read, &error));
	return read;
}

/* --- silence --------------------------------------------------------------- */

static void test_head_goes_on(void **state)
{
	assert_int_equal(health().n_publishers, 0);
	publish("192.0.2.1 192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	for (u32 i = 0; i < 20; i++) {
		fleet_now += BALEEN_FLEET_HEAD_MS;
		receives(head(), BALEEN_FLEET_APPLIED);
		assert_int_equal(health().n_silent, 0);
	}
	assert_int_equal(health().n_publishers, 1);
	assert_int_equal(health().n_entries, 2);
	assert_string_equal(health().silent, "");
	assert_int_equal(publisher_of(&there).head_ms, fleet_now);
}

/* Redis stands still, or goes on telling the same. */
static void test_head_stands_still(void **state)
{
	struct baleen_fleet_writer old;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	old = head();
	receive_bytes(old.bytes, old.n_bytes);
	fleet_now += BALEEN_FLEET_SILENT_MS - 1;
	receive_bytes(old.bytes, old.n_bytes);
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_silent, 0);
	fleet_now++;
	receive_bytes(old.bytes, old.n_bytes);
	assert_int_equal(health().n_silent, 1);
	assert_int_equal(health().silent_ms, BALEEN_FLEET_SILENT_MS);
	assert_string_equal(health().silent, PUBLISHER);
	in_force("192.0.2.1");
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_silent, 0);
	baleen_fleet_writer_free(&old);
}

/* Its clock stands still, too: the broker's time that this host knows has not gone on. */
static void test_broker_stands_still(void **state)
{
	char offset[32];

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	fleet_local = fleet_now + BALEEN_FLEET_SILENT_MS;
	snprintf(offset, sizeof(offset), "-%llu", (unsigned long long)BALEEN_FLEET_SILENT_MS);
	OK(baleen_fleet_store_set(&there, BALEEN_FLEET_TEXT_OFFSET, offset, &error));
	assert_int_equal(health().n_silent, 1);
}

/* A clock of a host that is an hour off makes nobody silent. */
static void test_clock_is_off(void **state)
{
	publish("192.0.2.1");
	OK(baleen_fleet_store_set(&there, BALEEN_FLEET_TEXT_OFFSET, "3600000", &error));
	fleet_local = fleet_now - HOUR;
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_silent, 0);
	fleet_local += BALEEN_FLEET_SILENT_MS;
	assert_int_equal(health().n_silent, 1);
}

/* A batch is a sign of life, too. */
static void test_batches_go_on(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	fleet_now += BALEEN_FLEET_SILENT_MS;
	assert_int_equal(health().n_silent, 1);
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_silent, 0);
}

static void test_behind(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	receives(head(), BALEEN_FLEET_GAP);
	assert_int_equal(health().n_behind, 1);
	assert_int_equal(health().n_changes_behind, 2);
	assert_string_equal(health().behind, PUBLISHER);
	receives(batch(1), BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_behind, 0);
	assert_int_equal(health().n_changes_behind, 0);
}

/* What agrees is not verified again; what did not agree is. */
static void test_known_head(void **state)
{
	struct baleen_fleet_writer same, ahead;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	same = head();
	receive_bytes(same.bytes, same.n_bytes);
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	same.bytes[same.n_bytes - 1] ^= 1;
	receive_bytes(same.bytes, same.n_bytes);
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	same.bytes[32]++;
	same.bytes[40]++;
	receive_bytes(same.bytes, same.n_bytes);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_SIGNATURE);
	fleet_now++;
	publish("192.0.2.1 192.0.2.2");
	ahead = head();
	for (u32 i = 0; i < 2; i++) {
		receive_bytes(ahead.bytes, ahead.n_bytes);
		assert_int_equal(result.verdict, BALEEN_FLEET_GAP);
	}
	baleen_fleet_writer_free(&same);
	baleen_fleet_writer_free(&ahead);
}

/* --- two machines ---------------------------------------------------------- */

/* The number of the batch was applied, and its change was another one. */
static void test_clone_by_batch(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	clone_here();
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	receives(batch(1), BALEEN_FLEET_DUPLICATE);
	receives(batch(0), BALEEN_FLEET_DUPLICATE);
	swap_here();
	publish("192.0.2.1 192.0.2.99");
	refused(batch(1), BALEEN_FLEET_CAUSE_CLONE);
	assert_non_null(strstr(result.why, "change 2 differs"));
	refused(batch(0), BALEEN_FLEET_CAUSE_CLONE);
	assert_int_equal(n_refused(PUBLISHER, BALEEN_FLEET_CAUSE_CLONE), 2);
	assert_int_equal(health().n_cloned, 1);
	assert_string_equal(health().cloned, PUBLISHER);
	in_force("192.0.2.1 192.0.2.2");
}

/* One that goes on from a number that another one has used is not applied in part either. */
static void test_clone_goes_further(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	clone_here();
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	swap_here();
	publish("192.0.2.1 192.0.2.97 192.0.2.98 192.0.2.99");
	refused(batch(1), BALEEN_FLEET_CAUSE_CLONE);
	in_force("192.0.2.1 192.0.2.2");
}

/* Whoever has applied a number does not sign a smaller one later. */
static void test_clone_by_head(void **state)
{
	struct baleen_fleet_writer before;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	before = head();
	clone_here();
	fleet_now++;
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	receives(before, BALEEN_FLEET_DUPLICATE);
	assert_int_equal(health().n_cloned, 0);
	swap_here();
	fleet_now++;
	refused(head(), BALEEN_FLEET_CAUSE_CLONE);
	assert_int_equal(health().n_cloned, 1);
	/* The one whose numbers went on agrees. */
	swap_here();
	fleet_now++;
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(health().n_cloned, 0);
}

/* Of long ago nothing is remembered, and so nothing is noticed by it. */
static void test_remembered(void **state)
{
	u64 n = 0;

	for (u32 i = 0; i < 3; i++) {
		publish(i & 1 ? "192.0.2.1" : "192.0.2.2");
		receives(batch(i ? 2 * i - 1 : 0), BALEEN_FLEET_APPLIED);
	}
	assert_int_equal(baleen_sql_do(&there.db, "SELECT COUNT(*) FROM seen", &n, &error, NULL, 0),
			 1);
	assert_int_equal(n, 3);
	OK(baleen_sql_do(&there.db, "UPDATE seen SET first = 1, last = 1 WHERE first = 1", NULL,
			 &error, NULL, 0));
	OK(baleen_sql_do(&there.db, "UPDATE publisher SET sequence = 5000", NULL, &error, NULL, 0));
	OK(baleen_sql_do(&here.db, "UPDATE publisher SET sequence = 5000", NULL, &error, NULL, 0));
	publish("192.0.2.2 192.0.2.3 192.0.2.4");
	receives(batch(5000), BALEEN_FLEET_APPLIED);
	assert_int_equal(baleen_sql_do(&there.db, "SELECT COUNT(*) FROM seen", &n, &error, NULL, 0),
			 1);
	assert_int_equal(n, 1);
}

/* --- the beginning of a message -------------------------------------------- */

static void test_peek(void **state)
{
	struct baleen_fleet_message message, before;
	struct baleen_fleet_writer writer;

	publish("192.0.2.1 192.0.2.2");
	writer = snapshot();
	assert_true(writer.n_bytes > BALEEN_FLEET_PEEK_BYTES);
	memset(&message, 0xa5, sizeof(message));
	before = message;
	for (size_t n = 0; n < BALEEN_FLEET_HEADER_BYTES + strlen("example" PUBLISHER); n++)
		assert_int_equal(baleen_fleet_peek(writer.bytes, n, &message), -EINVAL);
	assert_memory_equal(&message, &before, sizeof(message));
	OK(baleen_fleet_peek(writer.bytes, BALEEN_FLEET_PEEK_BYTES, &message));
	assert_int_equal(message.type, BALEEN_FLEET_SNAPSHOT);
	assert_int_equal(message.last, 2);
	assert_int_equal(message.n_entries, 2);
	assert_string_equal(message.publisher, PUBLISHER);
	assert_string_equal(message.fleet, "example");
	assert_int_equal(message.made_ms, NOW);
	writer.bytes[4]++;
	assert_int_equal(baleen_fleet_peek(writer.bytes, writer.n_bytes, &message), -EINVAL);
	baleen_fleet_writer_free(&writer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_head_goes_on),	TEST(test_head_stands_still),
		TEST(test_broker_stands_still), TEST(test_clock_is_off),
		TEST(test_batches_go_on),	TEST(test_behind),
		TEST(test_known_head),		TEST(test_clone_by_batch),
		TEST(test_clone_goes_further),	TEST(test_clone_by_head),
		TEST(test_remembered),		TEST(test_peek),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
