// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a receiver holds back, lets go and suspends, and what a kill in the middle leaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fleet/fleet_exception.h"
#include "fleets.h"

static u64 count_rows(void)
{
	u64 n = 0;

	baleen_sql_do(&there.db, "SELECT count(*) FROM entry", &n, NULL, NULL, 0);
	return n;
}

static void rejudge(bool is_all)
{
	const struct baleen_fleet_receiver by = receiver();

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_rejudge(&by, PUBLISHER, is_all, &result, &error));
	OK(baleen_fleet_store_commit(&there, &error));
}

/* --- caps ------------------------------------------------------------------ */

/* Over the cap adds are held, and count for the digest; what is taken back is taken back. */
static void test_entries(void **state)
{
	fleet_set_policy("entries 2");
	publish("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	told("+192.0.2.1 +192.0.2.2");
	assert_int_equal(result.n_held, 2);
	assert_true(result.is_alarm);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_ENTRIES);
	assert_int_equal(publisher_of(&there).n_held, 2);
	assert_int_equal(publisher_of(&there).n, 4);
	assert_int_equal(n_refused(PUBLISHER, BALEEN_FLEET_CAUSE_HELD), 2);
	in_force("192.0.2.1 192.0.2.2");
	receives(head(), BALEEN_FLEET_APPLIED);

	/* One alarm, not one a batch. */
	publish("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5");
	receives(batch(4), BALEEN_FLEET_APPLIED);
	told("");
	assert_false(result.is_alarm);
	publish("192.0.2.2 192.0.2.3 192.0.2.4");
	receives(batch(5), BALEEN_FLEET_APPLIED);
	told("-192.0.2.1");
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(publisher_of(&there).n_held, 2);
	rejudge(false);
	told("+192.0.2.3");
	in_force("192.0.2.2 192.0.2.3");
	assert_int_equal(publisher_of(&there).n_held, 1);
	rejudge(false);
	told("");
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* A snapshot is held to the same, and takes nobody out of force who is in it. */
static void test_entries_of_a_snapshot(void **state)
{
	fleet_set_policy("entries 2");
	publish("192.0.2.8 192.0.2.9");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	publish("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.9");
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	assert_int_equal(result.n_held, 2);
	in_force("192.0.2.1 192.0.2.9");
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* The oldest come first, whatever their keys. */
static void test_age_in_a_snapshot(void **state)
{
	fleet_set_policy("entries 1");
	publish("192.0.2.9");
	fleet_now++;
	publish("192.0.2.1 192.0.2.9");
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.9");
}

static void test_renewal_is_not_too_fast(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + HOUR, "") };
	struct baleen_fleet_sync sync;

	fleet_set_policy("rate 1/h");
	for (u32 i = 0; i < 5; i++) {
		local[0].end_ms++;
		OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW, &sync, &error));
		receives(batch(i), BALEEN_FLEET_APPLIED);
		told("+192.0.2.1");
		assert_int_equal(result.effect[0].entry.end_ms, local[0].end_ms);
	}
	publish("192.0.2.1 192.0.2.2");
	receives(batch(5), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_RATE);
	in_force("192.0.2.1");
	fleet_now += HOUR;
	rejudge(false);
	told("+192.0.2.2");
}

/* Who comes late takes by the snapshot what came slowly, but not what came too fast. */
static void test_rate_of_a_snapshot(void **state)
{
	char keys[512] = "";

	fleet_set_policy("rate 2/m");
	for (u32 i = 1; i <= 6; i++) {
		sprintf(strchr(keys, '\0'), "192.0.2.%u ", i);
		publish(keys);
		fleet_now += 30000;
	}
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.n_held, 0);
	in_force("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6");
	sprintf(strchr(keys, '\0'), "198.51.100.1 198.51.100.2 198.51.100.3 198.51.100.4");
	publish(keys);
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.n_held, 2);
	receives(head(), BALEEN_FLEET_APPLIED);
}

static void test_policy_changes(void **state)
{
	fleet_set_policy("shortest-prefix 24 48");
	publish("192.0.2.0/24 198.51.0.0/16 198.51.100.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_PREFIX);
	in_force("192.0.2.0/24 198.51.100.1");
	/* Room alone does not let in what is too wide. */
	rejudge(false);
	told("");
	fleet_set_policy("shortest-prefix 16 48\nmax-ttl 30m");
	rejudge(true);
	told("+192.0.2.0/24 +198.51.100.1 +198.51.0.0/16");
	assert_int_equal(result.effect[0].entry.end_ms, NOW + HOUR / 2);
	fleet_now += HOUR / 2;
	in_force("");
	fleet_now -= HOUR / 2;
	fleet_set_policy("sets scans");
	rejudge(true);
	told("-192.0.2.0/24 -198.51.0.0/16 -198.51.100.1");
	in_force("");
	assert_int_equal(publisher_of(&there).n_held, 3);
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* A publisher that the policy no longer knows has nothing here; it may come again. */
static void test_policy_forgets(void **state)
{
	struct baleen_fleet_receiver by;
	struct baleen_fleet_publisher publisher;

	fleet_set_policy("entries 1");
	publish("192.0.2.1 192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	strcpy(fleet_policy.grant[1].pattern, "db*/*");
	refused(head(), BALEEN_FLEET_CAUSE_PUBLISHER);
	rejudge(true);
	told("-192.0.2.1");
	in_force("");
	assert_int_equal(count_rows(), 0);
	assert_int_equal(baleen_fleet_store_find(&there, PUBLISHER, &publisher, &error), 0);
	rejudge(true);
	told("");
	/* Here it is an own one, which no policy forgets. */
	by = receiver();
	by.store = &here;
	OK(baleen_fleet_rejudge(&by, PUBLISHER, true, &result, &error));
	assert_int_equal(publisher_of(&here).n, 2);

	fleet_set_policy("");
	receives(head(), BALEEN_FLEET_GAP);
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 192.0.2.2");
}

/* What has ended leaves its place to others, though its publisher has not taken it back. */
static void test_ended_makes_room(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + HOUR, ""),
					      local_ban("192.0.2.2", NOW + 2 * HOUR, "") };
	struct baleen_fleet_sync sync;

	fleet_set_policy("entries 1");
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 2, NOW, &sync, &error));
	receives(batch(0), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	rejudge(false);
	told("");
	fleet_now += HOUR;
	rejudge(false);
	told("+192.0.2.2");
	publish("192.0.2.2");
	receives(batch(2), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.2");
	rejudge(true);
	assert_int_equal(result.n_held, 0);
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* A ban that ended on its way is stored, for the digest, and not in force. */
static void test_late(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + 2 * HOUR, "sshd"),
					      local_ban("192.0.2.9", NOW + 9 * HOUR, "") };
	struct baleen_fleet_writer writer;
	struct baleen_fleet_sync sync;

	fleet_set_policy("entries 1\nrate 1/h");
	publish("192.0.2.1");
	writer = batch(0);
	fleet_now = NOW + 2 * HOUR;
	receives(writer, BALEEN_FLEET_APPLIED);
	told("");
	assert_int_equal(result.n_held, 0);
	in_force("");
	assert_int_equal(count_rows(), 1);
	receives(head(), BALEEN_FLEET_APPLIED);
	/* It takes no place from others, and none of their rate. */
	fleet_now = NOW + 1;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 2, fleet_now, &sync, &error));
	fleet_now = NOW + 2 * HOUR;
	receives(batch(1), BALEEN_FLEET_APPLIED);
	told("+192.0.2.9");
}

/* --- operators ------------------------------------------------------------- */

static int add_exception(const struct baleen_fleet_entry *pardon, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	sprintf(strchr(data, '\0'), "%s ", baleen_fleet_key_format(&pardon->key, text));
	return 0;
}

static void exceptions(const char *want)
{
	char got[256] = "";

	OK(baleen_fleet_exceptions_each(&there, fleet_now, add_exception, got, &error));
	assert_string_equal(got, want);
}

static void test_pardon(void **state)
{
	struct baleen_fleet_writer late;

	publish("192.0.2.1 192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	late = batch(2);
	fleet_now++;
	receives(operator_asks(PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	told("-192.0.2.1");
	assert_string_equal(result.effect[0].publisher, PUBLISHER);
	in_force("192.0.2.2");
	receives(operator_asks(PARDON, "192.0.2.0/24"), BALEEN_FLEET_APPLIED);
	told("-192.0.2.2");
	in_force("");
	/* Made before, though it comes after. */
	receives(late, BALEEN_FLEET_APPLIED);
	told("");
	in_force("");
	receives(head(), BALEEN_FLEET_APPLIED);
	receives(snapshot(), BALEEN_FLEET_DUPLICATE);
	/* Made since: somebody means it. */
	fleet_now += 2;
	publish("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4");
	receives(batch(3), BALEEN_FLEET_APPLIED);
	told("+192.0.2.4");
	in_force("192.0.2.4");
}

/* A ban counts from when it was made, though its host published it later; one of long ago counts
 * from when it is published.
 */
static void test_pardon_before_publishing(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + 9 * HOUR, ""),
					      local_ban("192.0.2.2", NOW + 9 * HOUR, ""),
					      local_ban("192.0.2.3", 0, ""),
					      local_ban("192.0.2.4", NOW + 9 * HOUR, "") };
	struct baleen_fleet_sync sync;

	local[0].made_ms = NOW;
	local[1].made_ms = NOW + 1;
	local[2].made_ms = NOW - BALEEN_FLEET_TTL_MS + 2 * HOUR;
	local[3].made_ms = NOW - BALEEN_FLEET_TTL_MS;
	receives(operator_asks(PARDON, "192.0.2.0/24"), BALEEN_FLEET_APPLIED);
	fleet_now += HOUR;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 4, fleet_now, &sync, &error));
	receives(batch(0), BALEEN_FLEET_APPLIED);
	told("+192.0.2.2 +192.0.2.4");
	in_force("192.0.2.2 192.0.2.4");
	receives(head(), BALEEN_FLEET_APPLIED);
	/* Another end is another ban: it counts from now. own_sync() has sorted them by key. */
	local[0].end_ms += HOUR;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 4, fleet_now, &sync, &error));
	receives(batch(4), BALEEN_FLEET_APPLIED);
	told("+192.0.2.1");
}

/* At the same time the pardon wins; an older one that is played again takes nothing back. */
static void test_pardon_again(void **state)
{
	struct baleen_fleet_writer old = operator_asks(PARDON, "192.0.2.1");

	receive_bytes(old.bytes, old.n_bytes);
	fleet_now++;
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	receives(operator_asks(PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	told("-192.0.2.1");
	in_force("");
	receives(old, BALEEN_FLEET_DUPLICATE);
	told("");
	in_force("");
}

/* A clock of a publisher that runs ahead does not outlive a pardon. */
static void test_pardon_of_the_future(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + 9 * HOUR, "") };
	struct baleen_fleet_sync sync;

	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW + HOUR, &sync, &error));
	struct baleen_fleet_writer ahead = batch(0);
	hears_at(&office, "ops", ahead);
	receives(ahead, BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	fleet_now++;
	receives(operator_asks(PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	in_force("");
}

/* A key inside a wider ban is an exception of it, until somebody bans it since. */
static void test_pardon_inside_a_ban(void **state)
{
	publish("192.0.2.0/24");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	fleet_now++;
	receives(operator_asks(PARDON, "192.0.2.7"), BALEEN_FLEET_APPLIED);
	told("+192.0.2.7");
	assert_true(result.effect[0].is_exception);
	exceptions("192.0.2.7 ");
	in_force("192.0.2.0/24");
	fleet_now++;
	publish("192.0.2.0/24 192.0.2.7");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	assert_false(result.is_whole);
	exceptions("");
	publish("192.0.2.0/24");
	receives(batch(2), BALEEN_FLEET_APPLIED);
	exceptions("192.0.2.7 ");
	/* One around it that was made before, and comes late: all is looked at. */
	publish("192.0.2.0/25 192.0.2.0/24");
	receives(batch(3), BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	exceptions("");
	fleet_now += BALEEN_FLEET_MAX_TTL_MS;
	exceptions("");
}

static void test_suspend(void **state)
{
	struct baleen_fleet_writer resume;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	resume = operator_asks(RESUME, PUBLISHER);
	receive_bytes(resume.bytes, resume.n_bytes);
	fleet_now++;
	receives(operator_asks(SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	in_force("");
	assert_true(publisher_of(&there).is_suspended);
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	told("");
	receives(head(), BALEEN_FLEET_APPLIED);
	/* Somebody plays an old message again. */
	receives(resume, BALEEN_FLEET_DUPLICATE);
	in_force("");
	fleet_now++;
	receives(operator_asks(RESUME, PUBLISHER), BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	in_force("192.0.2.1 192.0.2.2");
	receives(operator_asks(ASKS, "192.0.2.1"), BALEEN_FLEET_APPLIED);
}

/* web4 has the same key in this policy as ops, but is no operator. */
static void test_operators_refused(void **state)
{
	struct baleen_fleet_writer old;

	refused(operator_says(&here, "web4", PARDON, "192.0.2.1"), BALEEN_FLEET_CAUSE_RIGHT);
	refused(operator_says(&here, "web4", SUSPEND, PUBLISHER), BALEEN_FLEET_CAUSE_RIGHT);
	refused(asks_about("192.0.2.1", "web1/control"), BALEEN_FLEET_CAUSE_RIGHT);
	refused(operator_says(&here, "web3", PARDON, "192.0.2.1"), BALEEN_FLEET_CAUSE_SIGNATURE);
	refused(asks_about("192.0.2.1", "ops/other"), BALEEN_FLEET_CAUSE_PUBLISHER);
	old = operator_asks(PARDON, "192.0.2.1");
	fleet_now += BALEEN_FLEET_MAX_TTL_MS + 1;
	publish("192.0.2.0/24");
	receives(old, BALEEN_FLEET_APPLIED);
	exceptions("");
}

static u64 held_of_ops(void)
{
	struct baleen_fleet_publisher publisher;

	assert_int_equal(baleen_fleet_store_find(&there, "ops/control", &publisher, &error), 1);
	return publisher.n_held;
}

/* An operator has limits, too, but no rate: he says it in person. One right is not the other. */
static void test_limits_of_operators(void **state)
{
	fleet_set_policy("rate 1/h\npublisher x/y");
	strcpy(fleet_policy.grant[0].pattern, "ops/control");
	fleet_policy.grant[0].shortest_ip4 = 24;
	fleet_policy.grant[0].entries = 2;
	fleet_policy.grant[0].rate = 1;
	fleet_policy.grant[0].may_suspend = false;
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(operator_asks(PARDON, "0.0.0.0/0"), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_PREFIX);
	in_force("192.0.2.1");
	receives(operator_asks(SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_RIGHT);
	in_force("192.0.2.1");
	receives(operator_asks(PARDON, "198.51.100.1"), BALEEN_FLEET_APPLIED);
	receives(operator_asks(PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.n_held, 0);
	in_force("");
	receives(operator_asks(PARDON, "198.51.100.2"), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_ENTRIES);
	assert_int_equal(held_of_ops(), 3);
	/* Another policy takes the right: what was let go is banned again. */
	fleet_policy.grant[0].may_pardon = false;
	fleet_policy.grant[0].may_suspend = true;
	const struct baleen_fleet_receiver by = receiver();
	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_rejudge(&by, "ops/control", true, &result, &error));
	OK(baleen_fleet_store_commit(&there, &error));
	assert_true(result.is_whole);
	in_force("");
	assert_true(publisher_of(&there).is_suspended);
	assert_int_equal(held_of_ops(), 4);
}

/* A word on a publisher is none of who bans. */
static void test_word_of_a_host(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + HOUR, "") };
	struct baleen_fleet_account account;
	struct baleen_fleet_row row = { .entry = word_on(SUSPEND, PUBLISHER, NOW) };
	struct baleen_fleet_sync sync;

	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW, &sync, &error));
	receives(batch(0), BALEEN_FLEET_APPLIED);
	row.entry.end_ms = row.force_ms = BALEEN_FLEET_NEVER_MS;
	OK(baleen_fleet_store_begin(&here, &error));
	OK(baleen_fleet_own_account(&here, PUBLISHER, NOW, &account, &error));
	OK(baleen_fleet_own_put(&here, &account, &row, NULL, &error));
	OK(baleen_fleet_account_save(&here, &account, &error));
	OK(baleen_fleet_store_commit(&here, &error));
	receives(batch(1), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.hold, BALEEN_FLEET_HOLD_RIGHT);
	in_force("192.0.2.1");
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* --- questions ------------------------------------------------------------- */

static int add_found(const struct baleen_fleet_found *found, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	sprintf(strchr(data, '\0'), "%s:%u:%u ", baleen_fleet_key_format(&found->entry.key, text),
		found->state, found->hold);
	assert_string_equal(found->publisher, PUBLISHER);
	return 0;
}

static int add_refusal(const struct baleen_fleet_refusal *refusal, void *data)
{
	sprintf(strchr(data, '\0'), "%s:%s:%u ", refusal->publisher,
		baleen_fleet_cause_name(refusal->cause), (u32)refusal->n);
	return 0;
}

static int add_publisher(const struct baleen_fleet_publisher *publisher, void *data)
{
	sprintf(strchr(data, '\0'), "%s:%u ", publisher->name, (u32)publisher->n);
	return 0;
}

static void test_questions(void **state)
{
	struct baleen_fleet_key key;
	char got[512] = "";

	fleet_set_policy("shortest-prefix 24 0");
	publish("192.0.0.0/16 192.0.2.0/24 192.0.2.7 192.0.2.8 2001:db8::/32 198.51.100.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	fleet_now++;
	receives(operator_asks(PARDON, "192.0.2.7"), BALEEN_FLEET_APPLIED);
	OK(baleen_fleet_key_parse("192.0.2.7", &key));
	OK(baleen_fleet_view_find(&there, &key, fleet_now, add_found, got, &error));
	assert_string_equal(got, "192.0.2.7:3:0 192.0.2.0/24:0:0 192.0.0.0/16:1:2 ");
	*got = '\0';
	OK(baleen_fleet_key_parse("192.0.2.0/24", &key));
	OK(baleen_fleet_view_inside(&there, BALEEN_FLEET_SET, &key, fleet_now, add_found, got,
				    &error));
	assert_string_equal(got, "192.0.2.0/24:0:0 192.0.2.7:3:0 192.0.2.8:0:0 ");
	*got = '\0';
	OK(baleen_fleet_key_parse("192.0.2.0/25", &key));
	OK(baleen_fleet_view_inside(&there, BALEEN_FLEET_SET, &key, fleet_now, add_found, got,
				    &error));
	assert_string_equal(got, "192.0.2.7:3:0 192.0.2.8:0:0 ");
	*got = '\0';
	OK(baleen_fleet_view_inside(&there, "scans", &key, fleet_now, add_found, got, &error));
	assert_string_equal(got, "");
	OK(baleen_fleet_key_parse("2001:db8:1:2:3:4:5:6", &key));
	OK(baleen_fleet_view_find(&there, &key, fleet_now + 2 * HOUR, add_found, got, &error));
	assert_string_equal(got, "2001:db8::/32:4:4 ");
	*got = '\0';
	OK(baleen_fleet_refusals_each(&there, add_refusal, got, &error));
	assert_string_equal(got, PUBLISHER ":held:2 ");
	*got = '\0';
	OK(baleen_fleet_store_each(&there, add_publisher, got, &error));
	assert_string_equal(got, "ops/control:1 " PUBLISHER ":6 ");
}

/* --- killed ---------------------------------------------------------------- */

/* A child does the work, with the cursor, and is killed after so many calls into the store; what
 * is left is what was before, or all of it.
 */
static void die_in_the_middle(u32 step)
{
	const struct baleen_fleet_receiver by = receiver();
	struct baleen_fleet_store mine;
	struct baleen_fleet_result none;
	struct baleen_fleet_writer writer = batch(1);

	if (baleen_fleet_store_open(&mine, fleet_dir[1], true, &error))
		_exit(1);
	struct baleen_fleet_receiver own = by;
	own.store = &mine;
	for (u32 i = 0; i <= step; i++) {
		int err = 0;

		switch (i) {
		case 0: err = baleen_fleet_store_begin(&mine, &error); break;
		case 1:
			err = baleen_fleet_receive(&own, writer.bytes, writer.n_bytes, &none,
						   &error);
			break;
		case 2:
			err = baleen_fleet_store_set(&mine, BALEEN_FLEET_TEXT_CURSOR, "2-0",
						     &error);
			break;
		case 3: err = baleen_fleet_store_commit(&mine, &error); break;
		}
		if (err)
			_exit(1);
	}
	kill(getpid(), SIGKILL);
}

static void test_killed(void **state)
{
	char cursor[BALEEN_FLEET_TEXT_BYTES];

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	OK(baleen_fleet_store_set(&there, BALEEN_FLEET_TEXT_CURSOR, "1-0", &error));
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	for (u32 step = 0; step < 4; step++) {
		pid_t pid;
		int status;

		baleen_fleet_store_close(&there);
		pid = fork();
		if (!pid)
			die_in_the_middle(step);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		OK(baleen_fleet_store_open(&there, fleet_dir[1], true, &error));
		OK(baleen_fleet_store_get(&there, BALEEN_FLEET_TEXT_CURSOR, cursor, &error));
		assert_string_equal(cursor, step < 3 ? "1-0" : "2-0");
		in_force(step < 3 ? "192.0.2.1" : "192.0.2.1 192.0.2.2 192.0.2.3");
		assert_int_equal(publisher_of(&there).sequence, step < 3 ? 1 : 3);
	}
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* An error in the middle undoes all of it: the cursor does not pass what was not stored. */
static void test_rolled_back(void **state)
{
	const struct baleen_fleet_receiver by = receiver();
	struct baleen_fleet_writer writer;

	publish("192.0.2.1 192.0.2.2");
	writer = batch(0);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_receive(&by, writer.bytes, writer.n_bytes, &result, &error));
	OK(baleen_fleet_store_set(&there, BALEEN_FLEET_TEXT_CURSOR, "2-0", &error));
	baleen_fleet_store_rollback(&there);
	baleen_fleet_store_rollback(&there);
	in_force("");
	assert_int_equal(count_rows(), 0);
	receives(writer, BALEEN_FLEET_APPLIED);
}

static u64 number_of(const char *sql)
{
	u64 number = 0;

	assert_true(baleen_sql_do(&there.db, sql, &number, &error, NULL, 0) >= 0);
	return number;
}

/* A database that may not grow is what a full disk is: SQLite says the same. */
static void test_no_room(void **state)
{
	const struct baleen_fleet_receiver by = receiver();
	struct baleen_fleet_local local[512];
	struct baleen_fleet_writer writer;
	struct baleen_fleet_sync sync;
	char limit[64], key[32];
	u64 n_pages;
	int err;

	fleet_set_policy("rate 1000/s");
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	for (u32 i = 0; i < 512; i++) {
		snprintf(key, sizeof(key), "10.0.%u.%u", i / 256, i % 256);
		local[i] = local_ban(key, NOW + HOUR, "so that it takes some room in a page");
	}
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 512, NOW, &sync, &error));
	writer = batch(1);
	n_pages = number_of("PRAGMA page_count");
	snprintf(limit, sizeof(limit), "PRAGMA max_page_count = %llu", (unsigned long long)n_pages);
	number_of(limit);

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	err = baleen_fleet_receive(&by, writer.bytes, writer.n_bytes, &result, &error);
	if (!err)
		err = baleen_fleet_store_commit(&there, &error);
	baleen_fleet_store_rollback(&there);
	assert_int_equal(err, -ENOSPC);
	assert_non_null(strstr(error.text, "/fleet.db: "));
	in_force("192.0.2.1");
	assert_int_equal(publisher_of(&there).sequence, 1);

	number_of("PRAGMA max_page_count = 1073741823");
	receives(writer, BALEEN_FLEET_APPLIED);
	receives(batch(513), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(publisher_of(&there).n, 512);
}

/* --- the file -------------------------------------------------------------- */

static void test_store_refused(void **state)
{
	struct baleen_fleet_store store;
	char directory[64] = "/tmp/baleen-fleet-XXXXXX", path[128];
	struct stat file;
	int fd;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/fleet.db", directory);
	assert_int_equal(baleen_fleet_store_open(&store, directory, false, &error), -ENOENT);
	assert_int_equal(access(path, F_OK), -1);
	/* Empty: somebody was killed before it was made. */
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	close(fd);
	assert_int_equal(baleen_fleet_store_open(&store, directory, false, &error), -ENOENT);
	OK(baleen_fleet_store_open(&store, directory, true, &error));
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 07777, 0600);
	assert_int_equal(baleen_sql_do(&store.db, "PRAGMA user_version = 99", NULL, &error, NULL,
				       0),
			 0);
	baleen_fleet_store_close(&store);
	assert_int_equal(baleen_fleet_store_open(&store, directory, true, &error), -EPROTO);
	assert_non_null(
		strstr(error.text, "fleet.db: made by another release of Baleen: remove it"));
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "not a database, but long enough to look at\n", 43), 43);
	close(fd);
	snprintf(path, sizeof(path), "rm -f %s/fleet.db-*", directory);
	assert_int_equal(system(path), 0);
	assert_int_equal(baleen_fleet_store_open(&store, directory, false, &error), -EINVAL);
	assert_non_null(strstr(error.text, "fleet.db: damaged"));
	snprintf(path, sizeof(path), "rm -rf %s", directory);
	assert_int_equal(system(path), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_store_refused),
		TEST(test_operators_refused),
		TEST(test_limits_of_operators),
		TEST(test_word_of_a_host),
		TEST(test_entries),
		TEST(test_entries_of_a_snapshot),
		TEST(test_age_in_a_snapshot),
		TEST(test_renewal_is_not_too_fast),
		TEST(test_rate_of_a_snapshot),
		TEST(test_policy_changes),
		TEST(test_policy_forgets),
		TEST(test_ended_makes_room),
		TEST(test_late),
		TEST(test_pardon),
		TEST(test_pardon_before_publishing),
		TEST(test_pardon_again),
		TEST(test_pardon_of_the_future),
		TEST(test_pardon_inside_a_ban),
		TEST(test_suspend),
		TEST(test_questions),
		TEST(test_killed),
		TEST(test_no_room),
		TEST(test_rolled_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
