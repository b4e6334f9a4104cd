// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fleet of two hosts without a network: order, gaps, duplicates, rewinds, clones.
 */
#include <errno.h>

#include "fleets.h"

/* --- publish --------------------------------------------------------------- */

static void test_sync_differences(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + HOUR, "a"),
					      local_ban("192.0.2.0/24", NOW + HOUR, "a"),
					      local_ban("192.0.2.1", 0, "a longer one"),
					      local_ban("192.0.2.1-192.0.2.3", NOW + HOUR, "a"),
					      local_ban("192.0.2.9", NOW, "has ended") };
	struct baleen_fleet_publisher own;
	struct baleen_fleet_sync sync;
	struct baleen_fleet_digest digest;

	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 5, NOW, &sync, &error));
	assert_int_equal(sync.n_put, 2);
	assert_int_equal(sync.n_del, 0);
	assert_int_equal(sync.n_skipped, 1);
	own = publisher_of(&here);
	assert_true(own.is_own);
	assert_int_equal(own.sequence, 2);
	assert_int_equal(own.n, 2);
	digest = own.digest;

	/* The same again, in another order, is no change: not even when it has ended elsewhere. */
	local[0] = local_ban("192.0.2.1", 0, "a longer one");
	local[1] = local_ban("192.0.2.0/24", NOW + 100 * HOUR, "a");
	local[2] = local_ban("192.0.2.0/24", NOW + HOUR, "a");
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW + 48 * HOUR, &sync, &error));
	assert_int_equal(sync.n_put, 0);
	assert_int_equal(sync.n_del, 1);
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 3, NOW, &sync, &error));
	assert_int_equal(sync.n_put, 1);
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 0, NOW, &sync, &error));
	assert_int_equal(sync.n_del, 2);
	own = publisher_of(&here);
	assert_int_equal(own.sequence, 6);
	assert_int_equal(own.n, 0);
	assert_false(baleen_fleet_digest_is(&own.digest, &digest));
	assert_int_equal(own.digest.hi | own.digest.lo, 0);
	assert_int_equal(baleen_fleet_own_sync(&here, "web3", local, 0, NOW, &sync, &error),
			 -EINVAL);
}

/* Ends go by the broker's clock, which is an hour ahead. */
static void test_sync_offset(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", NOW + HOUR, "") };
	struct baleen_fleet_sync sync;

	OK(baleen_fleet_store_set(&here, BALEEN_FLEET_TEXT_OFFSET, "3600000", &error));
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW, &sync, &error));
	fleet_now = NOW + HOUR;
	receives(batch(0), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.effect[0].entry.end_ms, NOW + 2 * HOUR);
	fleet_now = NOW + 2 * HOUR - 1;
	assert_int_equal(baleen_fleet_view_next_end(&there, fleet_now), NOW + 2 * HOUR);
	in_force("192.0.2.1");
	fleet_now++;
	in_force("");
	assert_int_equal(baleen_fleet_view_next_end(&there, fleet_now), 0);

	OK(baleen_fleet_store_set(&here, BALEEN_FLEET_TEXT_OFFSET, "-3600000", &error));
	local[0].end_ms += HOUR;
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 1, NOW, &sync, &error));
	fleet_now = NOW - HOUR;
	receives(batch(1), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.effect[0].entry.end_ms, NOW + HOUR);
}

/* A fleet has no ban for ever. */
static void test_sync_ends(void **state)
{
	struct baleen_fleet_local local[] = { local_ban("192.0.2.1", 0, ""),
					      local_ban("192.0.2.2", NOW + 1000 * HOUR, "") };
	struct baleen_fleet_sync sync;

	fleet_set_policy("max-ttl 30d");
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 2, NOW, &sync, &error));
	receives(batch(0), BALEEN_FLEET_APPLIED);
	assert_int_equal(result.effect[0].entry.end_ms, NOW + BALEEN_FLEET_TTL_MS);
	assert_int_equal(result.effect[1].entry.end_ms, NOW + BALEEN_FLEET_MAX_TTL_MS);
}

static void test_outbox(void **state)
{
	const struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer = { 0 };
	struct baleen_fleet_local local[600];
	struct baleen_fleet_sync sync;
	char key[32];
	u64 last = 77;

	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 -ENOENT);
	for (u32 i = 0; i < 600; i++) {
		snprintf(key, sizeof(key), "10.0.%u.%u", i / 256, i % 256);
		local[i] = local_ban(key, NOW + HOUR, "");
	}
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, 600, NOW, &sync, &error));
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 1);
	assert_int_equal(last, 512);
	receives(writer, BALEEN_FLEET_APPLIED);
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 512, &writer, &last, &error),
			 1);
	assert_int_equal(last, 600);
	receives(writer, BALEEN_FLEET_APPLIED);
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 600, &writer, &last, &error),
			 0);
	assert_int_equal(last, 600);
	/* What the stream has, leaves. */
	OK(baleen_fleet_own_acknowledge(&here, PUBLISHER, 590, &error));
	assert_int_equal(publisher_of(&here).acknowledged, 590);
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 1);
	assert_int_equal(last, 600);
	receives(writer, BALEEN_FLEET_DUPLICATE);
	assert_int_equal(result.message.first, 591);
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* --- order ----------------------------------------------------------------- */

static void test_in_order(void **state)
{
	publish("192.0.2.1 192.0.2.0/24 2001:db8::/64");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	told("+192.0.2.0/24 +192.0.2.1 +2001:db8::/64");
	assert_string_equal(result.effect[0].publisher, PUBLISHER);
	assert_string_equal(result.effect[0].entry.reason, "sshd");
	in_force("192.0.2.0/24 192.0.2.1 2001:db8::/64");
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(publisher_of(&there).agreed_ms, NOW);

	publish("192.0.2.1 192.0.2.2");
	receives(batch(3), BALEEN_FLEET_APPLIED);
	told("-192.0.2.0/24 +192.0.2.2 -2001:db8::/64");
	in_force("192.0.2.1 192.0.2.2");
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_int_equal(publisher_of(&there).sequence, 6);
}

static void test_duplicates_and_overlap(void **state)
{
	struct baleen_fleet_writer first, both;

	publish("192.0.2.1");
	first = batch(0);
	publish("192.0.2.2");
	both = batch(0);
	receive_bytes(first.bytes, first.n_bytes);
	receive_bytes(first.bytes, first.n_bytes);
	assert_int_equal(result.verdict, BALEEN_FLEET_DUPLICATE);
	told("");
	in_force("192.0.2.1");
	/* Cut anew after a restart: the part that is there is passed over. */
	receive_bytes(both.bytes, both.n_bytes);
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	told("-192.0.2.1 +192.0.2.2");
	/* An old batch comes late: what was taken back does not come again. */
	receives(first, BALEEN_FLEET_DUPLICATE);
	receives(both, BALEEN_FLEET_DUPLICATE);
	in_force("192.0.2.2");
	receives(head(), BALEEN_FLEET_APPLIED);
}

static void test_gap(void **state)
{
	struct baleen_fleet_writer lost;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	publish("192.0.2.1 192.0.2.2");
	lost = batch(1);
	publish("192.0.2.1 192.0.2.2 192.0.2.3");
	receives(batch(2), BALEEN_FLEET_GAP);
	assert_int_equal(publisher_of(&there).lacks, 3);
	assert_int_equal(publisher_of(&there).sequence, 1);
	in_force("192.0.2.1");
	receives(head(), BALEEN_FLEET_GAP);
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	assert_string_equal(result.about, PUBLISHER);
	in_force("192.0.2.1 192.0.2.2 192.0.2.3");
	assert_int_equal(publisher_of(&there).lacks, 3);
	receives(lost, BALEEN_FLEET_DUPLICATE);
	receives(head(), BALEEN_FLEET_APPLIED);
}

/* Who begins in the middle asks for all; who begins with the first change need not. */
static void test_begin(void **state)
{
	struct baleen_fleet_writer none;

	publish("");
	none = head();
	receives(none, BALEEN_FLEET_APPLIED);
	publish("192.0.2.1");
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_GAP);
	in_force("");
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	receives(head(), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 192.0.2.2");
}

/* Redis went back in time: heads and snapshots of before change nothing. */
static void test_rewound(void **state)
{
	struct baleen_fleet_writer old_head, old_snapshot;

	publish("192.0.2.1");
	old_head = head();
	old_snapshot = snapshot();
	publish("192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(old_head, BALEEN_FLEET_DUPLICATE);
	receives(old_snapshot, BALEEN_FLEET_DUPLICATE);
	in_force("192.0.2.2");
}

/* Whoever has the key of a host makes up names of it: they are counted as one. */
static void test_invented_names(void **state)
{
	struct baleen_fleet_signer by = signer();
	struct baleen_fleet_local local = local_ban("192.0.2.1", NOW + HOUR, "");
	u64 n_rows = 0, last;

	fleet_set_policy("publisher web9/*");
	strcpy(fleet_policy.grant[1].pattern, "web*/fail2ban");
	for (u32 i = 0; i < 100; i++) {
		struct baleen_fleet_writer writer;
		struct baleen_fleet_sync sync;
		char name[32];

		snprintf(name, sizeof(name), "web3/invented-%u", i);
		OK(baleen_fleet_own_sync(&here, name, &local, 1, NOW, &sync, &error));
		assert_int_equal(baleen_fleet_own_batch(&here, name, &by, 0, &writer, &last, &error),
				 1);
		refused(writer, BALEEN_FLEET_CAUSE_PUBLISHER);
	}
	baleen_sql_do(&there.db, "SELECT count(*) FROM refusal", &n_rows, NULL, NULL, 0);
	assert_int_equal(n_rows, 1);
	assert_int_equal(n_refused("web3/*", BALEEN_FLEET_CAUSE_PUBLISHER), 100);
}

/* --- incarnations ---------------------------------------------------------- */

static void test_new_incarnation(void **state)
{
	struct baleen_fleet_writer old_batch, old_snapshot;

	publish("192.0.2.1 192.0.2.2");
	old_snapshot = snapshot();
	receives(batch(0), BALEEN_FLEET_APPLIED);
	publish("192.0.2.1 192.0.2.3");
	old_batch = batch(2);
	fleet_now++;
	OK(baleen_fleet_own_renew(&here, PUBLISHER, NULL, fleet_now, &error));
	receives(head(), BALEEN_FLEET_GAP);
	in_force("192.0.2.1 192.0.2.2");
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 192.0.2.3");
	receives(head(), BALEEN_FLEET_APPLIED);
	/* What was signed before is over, however valid its signature is. */
	refused(old_batch, BALEEN_FLEET_CAUSE_REPLAY);
	refused(old_snapshot, BALEEN_FLEET_CAUSE_REPLAY);
	in_force("192.0.2.1 192.0.2.3");
	publish("192.0.2.3");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	told("-192.0.2.1");
	assert_int_equal(n_refused(PUBLISHER, BALEEN_FLEET_CAUSE_REPLAY), 2);
}

/* A host with a new disk begins anew, with few bans: its numbers are smaller, and it is missed. */
static void test_smaller_numbers(void **state)
{
	struct baleen_fleet_publisher known;
	char fresh[96];

	publish("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	baleen_fleet_store_close(&here);
	snprintf(fresh, sizeof(fresh), "%s/" BALEEN_FLEET_STORE_FILE, fleet_dir[0]);
	assert_int_equal(unlink(fresh), 0);
	OK(baleen_fleet_store_open(&here, fleet_dir[0], true, &error));
	fleet_now++;
	publish("198.51.100.1");
	receives(head(), BALEEN_FLEET_GAP);
	known = publisher_of(&there);
	assert_true(known.lacks > known.sequence);
	publish("198.51.100.1 198.51.100.2");
	receives(batch(1), BALEEN_FLEET_GAP);
	known = publisher_of(&there);
	assert_true(known.lacks > known.sequence);
	fleet_now++;
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	in_force("198.51.100.1 198.51.100.2");
	known = publisher_of(&there);
	assert_true(known.lacks <= known.sequence);
	receives(head(), BALEEN_FLEET_APPLIED);
}

static u32 standing_of(struct baleen_fleet_writer writer)
{
	struct baleen_fleet_message message;
	const char *why;
	u32 standing = 99;

	assert_int_equal(baleen_fleet_decode(writer.bytes, writer.n_bytes, &message, &why), 0);
	OK(baleen_fleet_own_compare(&here, &message, &standing, &error));
	baleen_fleet_writer_free(&writer);
	return standing;
}

static void test_cloned_machine(void **state)
{
	struct baleen_fleet_writer of_clone;

	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	assert_int_equal(standing_of(head()), BALEEN_FLEET_SAME);
	clone_here();
	publish("192.0.2.1 192.0.2.2");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	swap_here();
	publish("192.0.2.1 198.51.100.9");
	refused(batch(1), BALEEN_FLEET_CAUSE_CLONE);
	refused(head(), BALEEN_FLEET_CAUSE_CLONE);
	assert_string_equal(result.why, PUBLISHER ": two hosts publish under this name: "
						  "change 2 differs");
	assert_true(publisher_of(&there).is_cloned);
	refused(snapshot(), BALEEN_FLEET_CAUSE_CLONE);
	in_force("192.0.2.1 192.0.2.2");
	of_clone = head();
	swap_here();
	assert_int_equal(standing_of(of_clone), BALEEN_FLEET_CLONE);
	receives(head(), BALEEN_FLEET_APPLIED);
	assert_false(publisher_of(&there).is_cloned);
	swap_here();
	fleet_now++;
	OK(baleen_fleet_own_renew(&here, PUBLISHER, NULL, fleet_now, &error));
	receives(snapshot(), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1 198.51.100.9");
	of_clone = head();
	swap_here();
	assert_int_equal(standing_of(of_clone), BALEEN_FLEET_OTHER);
}

static void test_standing(void **state)
{
	struct baleen_fleet_writer old, older;

	publish("192.0.2.1");
	fleet_now++;
	old = head();
	older = head();
	publish("192.0.2.1 192.0.2.2");
	assert_int_equal(standing_of(old), BALEEN_FLEET_BEHIND);
	fleet_now++;
	OK(baleen_fleet_own_renew(&here, PUBLISHER, NULL, fleet_now, &error));
	assert_int_equal(standing_of(older), BALEEN_FLEET_BEHIND);
	assert_int_equal(standing_of(head()), BALEEN_FLEET_SAME);
}

/* --- who may say so -------------------------------------------------------- */

/* Signed by another host, for another fleet, for another publisher, altered, in the future. */
static void test_refused(void **state)
{
	struct baleen_fleet_signer by = signer();
	struct baleen_fleet_writer writer, good;
	u64 last;

	publish("192.0.2.1");
	by.keys = &ops;
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 1);
	refused(writer, BALEEN_FLEET_CAUSE_SIGNATURE);
	by.keys = &web3;
	by.fleet = "other";
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 1);
	refused(writer, BALEEN_FLEET_CAUSE_FLEET);
	by.fleet = "example";
	by.now_ms = NOW + BALEEN_FLEET_AHEAD_MS + 1;
	assert_int_equal(baleen_fleet_own_batch(&here, PUBLISHER, &by, 0, &writer, &last, &error),
			 1);
	refused(writer, BALEEN_FLEET_CAUSE_TIME);
	good = batch(0);
	receive_bytes(good.bytes, good.n_bytes - 1);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_FORM);
	assert_int_equal(result.message.type, 0);
	good.bytes[good.n_bytes - 1] ^= 1;
	receive_bytes(good.bytes, good.n_bytes);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_SIGNATURE);
	good.bytes[good.n_bytes - 1] ^= 1;
	/* web3 says that ops said it: one byte of the name of the publisher is another one. */
	good.bytes[64 + 7] = 'x';
	receive_bytes(good.bytes, good.n_bytes);
	assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_PUBLISHER);
	assert_string_equal(result.why, "xeb3/fail2ban: its host has no key in the policy");
	baleen_fleet_writer_free(&good);

	in_force("");
	assert_int_equal(baleen_fleet_store_find(&there, PUBLISHER,
						 &(struct baleen_fleet_publisher){ 0 }, &error),
			 0);
	assert_int_equal(n_refused("web3/*", BALEEN_FLEET_CAUSE_SIGNATURE), 2);
	assert_int_equal(n_refused("web3/*", BALEEN_FLEET_CAUSE_FLEET), 1);
	/* A name that nobody has a key for is not kept. */
	assert_int_equal(n_refused("", BALEEN_FLEET_CAUSE_PUBLISHER), 1);
	assert_int_equal(n_refused("", BALEEN_FLEET_CAUSE_FORM), 1);
	receives(batch(0), BALEEN_FLEET_APPLIED);
}

/* One's own messages come back in the stream. */
static void test_mine(void **state)
{
	const struct baleen_fleet_receiver by = {
		.store = &here, .policy = &fleet_policy, .host = "web3", .now_ms = NOW
	};
	struct baleen_fleet_writer writer;

	publish("192.0.2.1");
	writer = batch(0);
	OK(baleen_fleet_store_begin(&here, &error));
	OK(baleen_fleet_receive(&by, writer.bytes, writer.n_bytes, &result, &error));
	OK(baleen_fleet_store_commit(&here, &error));
	assert_int_equal(result.verdict, BALEEN_FLEET_MINE);
	assert_int_equal(result.message.last, 1);
	baleen_fleet_writer_free(&writer);
	/* By name the own entries are told, too; among all they are not. */
	char keys[64] = "";
	OK(baleen_fleet_view_each(&here, NULL, NOW, add_key, keys, &error));
	assert_string_equal(keys, "");
	OK(baleen_fleet_view_each(&here, PUBLISHER, NOW, add_key, keys, &error));
	assert_string_equal(keys, "192.0.2.1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_invented_names),
		TEST(test_refused),
		TEST(test_sync_differences),
		TEST(test_sync_offset),
		TEST(test_sync_ends),
		TEST(test_outbox),
		TEST(test_in_order),
		TEST(test_duplicates_and_overlap),
		TEST(test_gap),
		TEST(test_begin),
		TEST(test_rewound),
		TEST(test_new_incarnation),
		TEST(test_smaller_numbers),
		TEST(test_cloned_machine),
		TEST(test_standing),
		TEST(test_mine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
