// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Signals that a broker loses: what each host keeps of them. What operators say, and own bans.
 */
#include "fleet/fleet_exception.h"
#include "fleet/fleet_kept.h"
#include "fleet/fleet_pardon.h"
#include "fleets.h"

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

static struct baleen_fleet_writer signal_of(const char *subject)
{
	const struct baleen_fleet_signer signer = { .fleet = "example",
						    .keys = &ops,
						    .now_ms = fleet_now };
	struct baleen_fleet_message message = { .control = BALEEN_FLEET_SIGNAL,
						.publisher = "web1/operator",
						.topic = "rollout" };
	struct baleen_fleet_writer writer;

	strcpy(message.subject, subject);
	OK(baleen_fleet_own_control(&signer, &message, &writer, &error));
	return writer;
}

static void test_kept(void **state)
{
	struct baleen_fleet_writer old;

	fleet_set_policy("may signal");
	assert_int_equal(next("", 8), 0);
	old = signal_of("c");
	receive_bytes(old.bytes, old.n_bytes);
	receives(signal_of("a"), BALEEN_FLEET_APPLIED);
	receives(signal_of("b"), BALEEN_FLEET_APPLIED);
	receives(operator_asks(ASKS, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	fleet_now++;
	receives(signal_of("c"), BALEEN_FLEET_APPLIED);
	receives(old, BALEEN_FLEET_DUPLICATE);
	assert_int_equal(next("", 8), 3);
	assert_string_equal(kept[0].name, "signal rollout a web1/operator");
	assert_string_equal(kept[1].name, "signal rollout b web1/operator");
	assert_string_equal(kept[2].name, "signal rollout c web1/operator");
	assert_int_equal(kept[0].made_ms, NOW);
	assert_int_equal(kept[2].made_ms, NOW + 1);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(counts(&kept[i], kept[i].name), kept[i].made_ms);
	assert_int_equal(next("", 2), 2);
	assert_int_equal(next(kept[1].name, 2), 1);
	assert_string_equal(kept[0].name, "signal rollout c web1/operator");
}

/* They come to an end; what is newer stays when the old one is forgotten. */
static void test_over(void **state)
{
	struct baleen_fleet_kept old;

	fleet_set_policy("may signal");
	receives(signal_of("a"), BALEEN_FLEET_APPLIED);
	fleet_now += BALEEN_FLEET_MAX_TTL_MS + 1;
	assert_int_equal(next("", 8), 1);
	assert_true(kept[0].is_over);
	old = kept[0];
	receives(signal_of("a"), BALEEN_FLEET_APPLIED);
	OK(baleen_fleet_kept_forget(&there, &old, &error));
	assert_int_equal(next("", 8), 1);
	assert_false(kept[0].is_over);
	OK(baleen_fleet_kept_forget(&there, &kept[0], &error));
	assert_int_equal(next("", 8), 0);
}

/* What a broker has is not believed for its name alone. */
static void test_counts(void **state)
{
	struct baleen_fleet_kept forged;

	fleet_set_policy("may signal");
	receives(signal_of("a"), BALEEN_FLEET_APPLIED);
	assert_int_equal(next("", 8), 1);
	assert_int_equal(counts(&kept[0], "signal rollout b web1/operator"), 0);
	assert_int_equal(counts(&kept[0], ""), 0);
	forged = kept[0];
	forged.bytes[48]++;
	assert_int_equal(counts(&forged, forged.name), 0);
	forged = kept[0];
	forged.n_bytes--;
	assert_int_equal(counts(&forged, forged.name), 0);
	fleet_set_policy("");
	assert_int_equal(counts(&kept[0], kept[0].name), 0);
}

/* --- what an operator says ------------------------------------------------- */

/* It is said, and nobody hears it. */
static void says_unheard(u32 kind, const char *about)
{
	struct baleen_fleet_writer writer = operator_asks(kind, about);

	baleen_fleet_writer_free(&writer);
}

/* A host that begins later, or that a broker keeps it from, has it from the snapshot. */
static void test_given_on(void **state)
{
	const struct baleen_fleet_signer by = { .fleet = "example", .keys = &ops, .now_ms = NOW };
	struct baleen_fleet_writer head, snapshot;

	publish("192.0.2.1 192.0.2.2");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	fleet_now++;
	says_unheard(SUSPEND, "web7/soc");
	says_unheard(PARDON, "192.0.2.1");
	in_force("192.0.2.1 192.0.2.2");
	OK(baleen_fleet_own_head(&office, "ops/control", &by, &head, &error));
	OK(baleen_fleet_own_snapshot(&office, "ops/control", &by, &snapshot, &error));
	/* The head tells that something is withheld. */
	receives(head, BALEEN_FLEET_GAP);
	receives(snapshot, BALEEN_FLEET_APPLIED);
	assert_true(result.is_whole);
	in_force("192.0.2.2");
	OK(baleen_fleet_own_head(&office, "ops/control", &by, &head, &error));
	receives(head, BALEEN_FLEET_APPLIED);
}

/* Of what one operator says on a publisher the last word stays; of two the newest counts. */
static void test_words(void **state)
{
	publish("192.0.2.1");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	receives(operator_asks(SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	/* At once, by the same clock, and with one that has gone back. */
	receives(operator_asks(RESUME, PUBLISHER), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
	fleet_now -= HOUR / 2;
	receives(operator_asks(SUSPEND, "web3/*"), BALEEN_FLEET_APPLIED);
	in_force("");
	receives(operator_asks(RESUME, PUBLISHER), BALEEN_FLEET_APPLIED);
	in_force("192.0.2.1");
}

/* They end, and leave the log; so an operator has room again. */
static void test_ended_words(void **state)
{
	struct baleen_fleet_publisher publisher;

	says_unheard(PARDON, "192.0.2.1");
	says_unheard(PARDON, "192.0.2.2");
	says_unheard(SUSPEND, PUBLISHER);
	assert_int_equal(take_words(&office, "ops"), 0);
	fleet_now += BALEEN_FLEET_MAX_TTL_MS + 10;
	assert_int_equal(take_words(&office, "ops"), 1);
	assert_false(result.is_whole);
	assert_int_equal(baleen_fleet_store_find(&office, "ops/control", &publisher, &error), 1);
	assert_int_equal(publisher.n, 1);
	assert_int_equal(publisher.sequence, 5);
	assert_int_equal(take_words(&office, "ops"), 0);
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
	hears(operator_asks(PARDON, "192.0.2.0/24"));
	taken_back("192.0.2.7 192.0.2.9 ");
	taken_back("192.0.2.7 192.0.2.9 ");
	publish("192.0.2.9 198.51.100.1");
	taken_back("192.0.2.9 ");
	publish("198.51.100.1");
	taken_back("");
	fleet_now += HOUR;
	publish("192.0.2.7 198.51.100.1");
	taken_back("");
	hears(operator_asks(PARDON, "198.51.100.1"));
	taken_back("198.51.100.1 ");
}

static int add_exception(const struct baleen_fleet_entry *pardon, void *data)
{
	char text[BALEEN_FLEET_KEY_TEXT];

	sprintf(strchr(data, '\0'), "%s ", baleen_fleet_key_format(&pardon->key, text));
	return 0;
}

static void exceptions(const char *want)
{
	char got[1024] = "";

	OK(baleen_fleet_exceptions_each(&here, fleet_now, add_exception, got, &error));
	assert_string_equal(got, want);
}

/* An address is let out of a wider ban of the host itself, too. */
static void test_own_wider(void **state)
{
	publish("192.0.2.0/24");
	fleet_now++;
	hears(operator_asks(PARDON, "192.0.2.7"));
	hears(operator_asks(PARDON, "198.51.100.1"));
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

#define N_PARDONS 400

/* One by one. */
static bool holds(const struct baleen_fleet_entry *pardon, u32 n,
		  const struct baleen_fleet_entry *entry, u64 base_ms)
{
	for (u32 i = 0; i < n; i++)
		if (base_ms <= pardon[i].made_ms && !strcmp(pardon[i].set, entry->set) &&
		    baleen_fleet_key_covers(&pardon[i].key, &entry->key))
			return true;
	return false;
}

static void test_many_pardons(void **state)
{
	static struct baleen_fleet_entry pardon[N_PARDONS];
	struct baleen_fleet_pardons pardons;
	struct baleen_fleet_entry entry = { .set = "" };
	u32 random = 7, n = 0, n_held = 0;

	while (n < N_PARDONS) {
		memset(&pardon[n], 0, sizeof(pardon[n]));
		random_key(&random, &pardon[n].key);
		/* One of all addresses would hide the others, and is more than a policy lets. */
		if (pardon[n].key.length <= (pardon[n].key.family == 4 ? 4 : 26) ||
		    !baleen_fleet_key_check(&pardon[n].key))
			continue;
		strcpy(pardon[n].set, n & 1 ? "bans" : "scans");
		pardon[n].made_ms = NOW + next_random(&random) % 100;
		OK(baleen_fleet_word_post(&there, &pardon[n], &error));
		/* Of two of a key the later one counts, or is later by one. */
		for (u32 i = 0; i < n; i++)
			if (!strcmp(pardon[i].set, pardon[n].set) &&
			    !memcmp(&pardon[i].key, &pardon[n].key, sizeof(pardon[n].key)) &&
			    pardon[i].made_ms >= pardon[n].made_ms)
				pardon[n].made_ms = pardon[i].made_ms + 1;
		n++;
	}
	while (take_words(&there, "ops"))
		;
	OK(baleen_fleet_pardons_open(&there, fleet_now, &pardons, &error));
	for (u32 i = 0; i < 20000; i++) {
		u64 base_ms = NOW + next_random(&random) % 120;
		bool want;

		random_key(&random, &entry.key);
		strcpy(entry.set, i % 3 ? "bans" : "scans");
		want = holds(pardon, n, &entry, base_ms);
		assert_int_equal(baleen_fleet_pardons_hold(&pardons, &entry, base_ms), want);
		assert_int_equal(pardons.ret, 0);
		n_held += want;
	}
	assert_in_range(n_held, 1000, 19000);
}

/* The same as what all rows say, key by key, whatever wide bans and pardons there are. */
static void test_all_exceptions(void **state)
{
	struct baleen_fleet_local local[64];
	struct baleen_fleet_sync sync;
	char want[8192], got[8192], text[BALEEN_FLEET_KEY_TEXT];
	u32 random = 11, n_exceptions = 0;

	fleet_set_policy("shortest-prefix 0 0\ncoverage 900G");
	for (u32 round = 0; round < 20; round++) {
		size_t n = 0;

		for (u32 i = 0; i < 12; i++) {
			struct baleen_fleet_key key;

			random_key(&random, &key);
			if (key.length <= 4 || !baleen_fleet_key_check(&key))
				continue;
			local[n++] =
				local_ban(baleen_fleet_key_format(&key, text), NOW + 20 * HOUR, "");
			random_key(&random, &key);
			if (key.length > 4 && baleen_fleet_key_check(&key))
				hears(operator_asks(PARDON, baleen_fleet_key_format(&key, text)));
		}
		fleet_now++;
		OK(baleen_fleet_own_sync(&here, PUBLISHER, local, n, fleet_now, &sync, &error));
		struct baleen_sql_rows rows =
			baleen_sql_ask(&here.db,
				       "SELECT " BALEEN_FLEET_ROW_COLUMNS
				       " FROM entry WHERE is_control"
				       " AND hold = 0 ORDER BY of_set, family, address, length",
				       &error, NULL, 0);
		struct baleen_fleet_row row;
		*want = *got = '\0';
		while (baleen_sql_next(&rows)) {
			OK(baleen_fleet_row_read(&here, rows.row, 0, &row, &error));
			if (baleen_fleet_exception_is(&here, &row.entry, row.base_ms, fleet_now,
						      &error) > 0)
				add_exception(&row.entry, want);
		}
		OK(baleen_sql_end(&rows));
		OK(baleen_fleet_exceptions_each(&here, fleet_now, add_exception, got, &error));
		assert_string_equal(got, want);
		n_exceptions += *got != '\0';
	}
	assert_in_range(n_exceptions, 5, 20);
}

/* --- what is refused ------------------------------------------------------- */

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
	assert_int_equal(n_refused("web3/*", BALEEN_FLEET_CAUSE_SIGNATURE), 1);
	writer.bytes[writer.n_bytes - 1] ^= 2;
	receive_bytes(writer.bytes, writer.n_bytes);
	assert_int_equal(n_refused("web3/*", BALEEN_FLEET_CAUSE_SIGNATURE), 2);
	baleen_fleet_writer_free(&writer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fleets_start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_kept),	 TEST(test_over),	    TEST(test_counts),
		TEST(test_given_on),	 TEST(test_words),	    TEST(test_ended_words),
		TEST(test_own_inside),	 TEST(test_own_wider),	    TEST(test_refused_once),
		TEST(test_many_pardons), TEST(test_all_exceptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
