// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pardons and suspensions that a broker loses: what each host keeps of them.
 */
#include "fleets.h"
#include "fleet/fleet_kept.h"

static struct baleen_fleet_kept kept[8];

static size_t next(const char *after, size_t max)
{
	size_t n = 99;

	OK(baleen_fleet_kept_next(&there, after, fleet_now, kept, max, &n, &error));
	return n;
}

static u64 counts(const struct baleen_fleet_kept *one, const char *name)
{
	return baleen_fleet_kept_counts(&fleet_policy, name, one->bytes, one->n_bytes);
}

static void test_kept(void **state)
{
	struct baleen_fleet_writer old;

	assert_int_equal(next("", 8), 0);
	old = operator_asks(BALEEN_FLEET_SUSPEND, PUBLISHER);
	receive_bytes(old.bytes, old.n_bytes);
	receives(operator_asks(BALEEN_FLEET_PARDON, "192.0.2.0/24"), BALEEN_FLEET_APPLIED);
	receives(operator_asks(BALEEN_FLEET_PARDON, "2001:db8::1"), BALEEN_FLEET_APPLIED);
	receives(operator_asks(BALEEN_FLEET_ASK, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	fleet_now++;
	receives(operator_asks(BALEEN_FLEET_RESUME, PUBLISHER), BALEEN_FLEET_APPLIED);
	receives(old, BALEEN_FLEET_DUPLICATE);
	assert_int_equal(next("", 8), 3);
	assert_string_equal(kept[0].name, "pardon bans 192.0.2.0/24");
	assert_string_equal(kept[1].name, "pardon bans 2001:db8::1");
	assert_string_equal(kept[2].name, "suspend " PUBLISHER);
	assert_int_equal(kept[0].made_ms, NOW);
	assert_int_equal(kept[2].made_ms, NOW + 1);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(counts(&kept[i], kept[i].name), kept[i].made_ms);
	assert_int_equal(next("", 2), 2);
	assert_int_equal(next(kept[1].name, 2), 1);
	assert_string_equal(kept[0].name, "suspend " PUBLISHER);
}

/* A host that begins later has them from one that kept them. */
static void test_given_on(void **state)
{
	const struct baleen_fleet_receiver late = {
		.store = &here, .policy = &fleet_policy, .host = "web9", .now_ms = NOW + 5
	};
	struct baleen_fleet_publisher found = { 0 };

	receives(operator_asks(BALEEN_FLEET_SUSPEND, "web7/soc"), BALEEN_FLEET_APPLIED);
	assert_int_equal(next("", 8), 1);
	OK(baleen_fleet_store_begin(&here, &error));
	OK(baleen_fleet_receive(&late, kept[0].bytes, kept[0].n_bytes, &result, &error));
	OK(baleen_fleet_store_commit(&here, &error));
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	OK(baleen_sql_do(&here.db, "SELECT is_suspended FROM suspended WHERE name = 'web7/soc'",
			 &found.n, &error, NULL, 0) < 0);
	assert_int_equal(found.n, 1);
}

/* Pardons come to an end; what is newer stays when the old one is forgotten. */
static void test_over(void **state)
{
	struct baleen_fleet_kept old;

	receives(operator_asks(BALEEN_FLEET_PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	receives(operator_asks(BALEEN_FLEET_SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	fleet_now += BALEEN_FLEET_MAX_TTL_MS + 1;
	assert_int_equal(next("", 8), 2);
	assert_true(kept[0].is_over);
	assert_false(kept[1].is_over);
	old = kept[0];
	receives(operator_asks(BALEEN_FLEET_PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	OK(baleen_fleet_kept_forget(&there, &old, &error));
	assert_int_equal(next("", 8), 2);
	assert_false(kept[0].is_over);
	OK(baleen_fleet_kept_forget(&there, &kept[0], &error));
	assert_int_equal(next("", 8), 1);
}

/* What a broker has is not believed for its name alone. */
static void test_counts(void **state)
{
	struct baleen_fleet_kept forged;

	receives(operator_asks(BALEEN_FLEET_SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	assert_int_equal(next("", 8), 1);
	assert_int_equal(counts(&kept[0], "suspend web3/soc"), 0);
	assert_int_equal(counts(&kept[0], ""), 0);
	forged = kept[0];
	forged.bytes[48]++;
	assert_int_equal(counts(&forged, forged.name), 0);
	forged = kept[0];
	forged.n_bytes--;
	assert_int_equal(counts(&forged, forged.name), 0);
	/* web1 has the key of ops in this policy, and may not suspend. */
	struct baleen_fleet_writer writer = control(BALEEN_FLEET_SUSPEND, PUBLISHER, "web1/soc");
	assert_int_equal(baleen_fleet_kept_counts(&fleet_policy, kept[0].name, writer.bytes,
						  writer.n_bytes),
			 0);
	baleen_fleet_writer_free(&writer);
}

/* --- own bans -------------------------------------------------------------- */

static int add_own(const struct baleen_fleet_found *found, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	assert_true(found->is_own);
	assert_string_equal(found->publisher, PUBLISHER);
	sprintf(strchr(data, '\0'), "%s ", baleen_fleet_key_format(&found->entry.key, text));
	return 0;
}

static void taken_back(const char *want)
{
	char got[1024] = "";

	OK(baleen_fleet_view_taken_back(&here, fleet_now, add_own, got, &error));
	assert_string_equal(got, want);
}

/* The host that has made a ban hears of a pardon. */
static void hears(struct baleen_fleet_writer writer)
{
	const struct baleen_fleet_receiver by = {
		.store = &here, .policy = &fleet_policy, .host = "web3", .now_ms = fleet_now
	};

	OK(baleen_fleet_store_begin(&here, &error));
	OK(baleen_fleet_receive(&by, writer.bytes, writer.n_bytes, &result, &error));
	OK(baleen_fleet_store_commit(&here, &error));
	baleen_fleet_writer_free(&writer);
}

/* A prefix lets go what is in it, for as long as it is there; what is banned later stays. */
static void test_own_inside(void **state)
{
	publish("192.0.2.7 192.0.2.9 198.51.100.1");
	taken_back("");
	hears(operator_asks(BALEEN_FLEET_PARDON, "192.0.2.0/24"));
	taken_back("192.0.2.7 192.0.2.9 ");
	taken_back("192.0.2.7 192.0.2.9 ");
	publish("192.0.2.9 198.51.100.1");
	taken_back("192.0.2.9 ");
	publish("198.51.100.1");
	taken_back("");
	fleet_now += HOUR;
	publish("192.0.2.7 198.51.100.1");
	taken_back("");
	hears(operator_asks(BALEEN_FLEET_PARDON, "198.51.100.1"));
	taken_back("198.51.100.1 ");
}

static int add_exception(const struct baleen_fleet_pardon *pardon, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	if (pardon->is_exception)
		sprintf(strchr(data, '\0'), "%s ", baleen_fleet_key_format(&pardon->key, text));
	return 0;
}

static void exceptions(const char *want)
{
	char got[1024] = "";

	OK(baleen_fleet_pardons_each(&here, fleet_now, add_exception, got, &error));
	assert_string_equal(got, want);
}

/* An address is let out of a wider ban of the host itself, too. */
static void test_own_wider(void **state)
{
	publish("192.0.2.0/24");
	fleet_now++;
	hears(operator_asks(BALEEN_FLEET_PARDON, "192.0.2.7"));
	hears(operator_asks(BALEEN_FLEET_PARDON, "198.51.100.1"));
	taken_back("");
	exceptions("192.0.2.7 ");
	publish("");
	exceptions("");
}

/* --- many pardons ---------------------------------------------------------- */

static u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Few bits, so that prefixes and keys meet. */
static void random_key(u32 *random, struct baleen_fleet_key *key)
{
	bool is_ip6 = next_random(random) & 1;
	struct baleen_fleet_key whole = { .family = is_ip6 ? 6 : 4, .length = is_ip6 ? 128 : 32 };

	for (u32 i = 0; i < baleen_fleet_key_bytes(&whole); i++)
		whole.address[i] = next_random(random) & 0x81;
	*key = baleen_fleet_key_widen(&whole, next_random(random) % (whole.length + 1u));
}

/* One by one. */
static bool holds(const struct baleen_fleet_pardons *pardons,
		  const struct baleen_fleet_entry *entry, u64 base_ms)
{
	for (size_t i = 0; i < pardons->n; i++)
		if (base_ms <= pardons->pardon[i].made_ms &&
		    !strcmp(pardons->pardon[i].set, entry->set) &&
		    baleen_fleet_key_covers(&pardons->pardon[i].key, &entry->key))
			return true;
	return false;
}

static void put_pardon(const struct baleen_fleet_key *key, const char *set, u64 made_ms)
{
	struct baleen_fleet_message message = { .key = *key,
						.made_ms = made_ms,
						.publisher = "ops/operator" };
	bool is_new;

	strcpy(message.set, set);
	OK(baleen_fleet_pardons_put(&there, &message, &is_new, &error));
}

static void test_many_pardons(void **state)
{
	const struct baleen_fleet_pardons *pardons;
	struct baleen_fleet_entry entry = { .set = "" };
	u32 random = 7, n_held = 0;

	OK(baleen_fleet_store_begin(&there, &error));
	for (u32 i = 0; i < 400; i++) {
		random_key(&random, &entry.key);
		/* One of all addresses would hide the others. */
		if (entry.key.length > 4)
			put_pardon(&entry.key, i & 1 ? "bans" : "scans",
				   NOW + next_random(&random) % 100);
	}
	OK(baleen_fleet_store_commit(&there, &error));
	OK(baleen_fleet_pardons_share(&there, fleet_now, &pardons, &error));
	assert_in_range(pardons->n, 100, 400);
	for (u32 i = 0; i < 20000; i++) {
		u64 base_ms = NOW + next_random(&random) % 120;
		bool want;

		random_key(&random, &entry.key);
		strcpy(entry.set, i % 3 ? "bans" : "scans");
		want = holds(pardons, &entry, base_ms);
		assert_int_equal(baleen_fleet_pardons_hold(pardons, &entry, base_ms), want);
		n_held += want;
	}
	assert_in_range(n_held, 1000, 19000);
}

static size_t n_shared(void)
{
	const struct baleen_fleet_pardons *pardons;

	OK(baleen_fleet_pardons_share(&there, fleet_now, &pardons, &error));
	return pardons->n;
}

/* They are read again when this one or another process has changed them, or undone it. */
static void test_shared_pardons(void **state)
{
	struct baleen_fleet_store other;
	struct baleen_fleet_key key;

	assert_int_equal(n_shared(), 0);
	OK(baleen_fleet_key_parse("192.0.2.1", &key));
	put_pardon(&key, "bans", NOW);
	assert_int_equal(n_shared(), 1);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_key_parse("192.0.2.2", &key));
	put_pardon(&key, "bans", NOW);
	assert_int_equal(n_shared(), 2);
	baleen_fleet_store_rollback(&there);
	assert_int_equal(n_shared(), 1);
	OK(baleen_fleet_store_open(&other, fleet_dir[1], true, &error));
	OK(baleen_sql_do(&other.db, "DELETE FROM pardon", NULL, &error, NULL, 0));
	assert_int_equal(n_shared(), 0);
	baleen_fleet_store_close(&other);
}

/* --- what is old ----------------------------------------------------------- */

/* Who is suspended stays so, also for those that hear of it late; a pardon is over. */
static void test_old_suspension(void **state)
{
	struct baleen_fleet_writer suspend = operator_asks(BALEEN_FLEET_SUSPEND, PUBLISHER);
	struct baleen_fleet_writer pardon = operator_asks(BALEEN_FLEET_PARDON, "192.0.2.1");

	fleet_now += 400 * 24 * HOUR;
	receives(suspend, BALEEN_FLEET_APPLIED);
	refused(pardon, BALEEN_FLEET_CAUSE_REPLAY);
}

/* A broker that has something wrong is read every few seconds: that is one refusal. */
static void test_refused_once(void **state)
{
	struct baleen_fleet_writer writer;

	publish("192.0.2.1");
	writer = batch(0);
	writer.bytes[writer.n_bytes - 1] ^= 1;
	for (u32 i = 0; i < 5; i++) {
		receive_bytes(writer.bytes, writer.n_bytes);
		assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_SIGNATURE);
	}
	assert_int_equal(n_refused(PUBLISHER, BALEEN_FLEET_CAUSE_SIGNATURE), 1);
	writer.bytes[writer.n_bytes - 1] ^= 2;
	receive_bytes(writer.bytes, writer.n_bytes);
	assert_int_equal(n_refused(PUBLISHER, BALEEN_FLEET_CAUSE_SIGNATURE), 2);
	baleen_fleet_writer_free(&writer);
}

/* A database of before has its tables made. */
static void test_older_database(void **state)
{
	OK(sqlite3_exec(there.db.db,
			"DROP TABLE kept; DROP TABLE refused; DROP TABLE signal; DROP TABLE posted; DROP TABLE seen;"
			"ALTER TABLE publisher DROP COLUMN head_ms; ALTER TABLE publisher DROP COLUMN heard_ms;"
			"PRAGMA user_version = 1",
			NULL, NULL, NULL));
	baleen_fleet_store_close(&there);
	OK(baleen_fleet_store_open(&there, fleet_dir[1], true, &error));
	test_kept(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_kept),	   TEST(test_given_on),	    TEST(test_over),
		TEST(test_counts),	   TEST(test_own_inside),   TEST(test_own_wider),
		TEST(test_old_suspension), TEST(test_refused_once), TEST(test_older_database),
		TEST(test_many_pardons),
		TEST(test_shared_pardons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
