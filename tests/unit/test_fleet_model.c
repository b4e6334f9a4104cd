// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Random bans over a bus that loses, repeats, reorders and rewinds: at each moment a receiver
 * has just what its publisher had at that number, and at the end of each round what it has now.
 *
 * The reference is a table of 32 bits: which of 32 keys were published at which number.
 */
#include "fleets.h"

#define N_KEYS 32
#define ROUNDS 3000
#define MAX_SENT 32768
#define MAX_SEQUENCE 65536

static u64 seed = 20261125;

/* What each number stood for, and in which incarnation. */
static u32 history[MAX_SEQUENCE];
static u32 wanted;
static u64 sequence;

/* All that was ever sent; who repeats or rewinds takes from it. */
static struct baleen_fleet_writer sent[MAX_SENT];
static size_t n_sent;

/* How often each verdict came: a bus on which all goes well would try nothing. */
static u64 n_verdicts[BALEEN_FLEET_REFUSED + 1];

/* xorshift64: the same numbers on each machine. */
static u32 random_below(u32 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 20) % n;
}

static void key_of(u32 i, char *key)
{
	static const char *const kinds[] = { "192.0.2.%u", "198.51.%u.0/24", "2001:db8:%u::/48",
					     "2001:db8::%u" };

	sprintf(key, kinds[i % 4], i + 1);
}

static size_t keep(struct baleen_fleet_writer writer)
{
	assert_true(n_sent < MAX_SENT);
	sent[n_sent] = writer;
	return n_sent++;
}

/* The numbers between are passed in the order of own_sync: by key. The table has them all. */
static void note_history(u32 before, u32 after)
{
	struct {
		struct baleen_fleet_entry entry;
		u32 bit;
	} one[N_KEYS];
	u32 n = 0, now = before;

	memset(one, 0, sizeof(one));
	for (u32 i = 0; i < N_KEYS; i++) {
		char key[64];

		if (!((before ^ after) >> i & 1))
			continue;
		key_of(i, key);
		strcpy(one[n].entry.set, BALEEN_FLEET_SET);
		assert_int_equal(baleen_fleet_key_parse(key, &one[n].entry.key), 0);
		one[n++].bit = i;
	}
	for (u32 i = 0; i < n; i++)
		for (u32 k = i + 1; k < n; k++)
			if (baleen_fleet_entry_compare(&one[i].entry, &one[k].entry) > 0) {
				typeof(one[0]) swapped = one[i];

				one[i] = one[k];
				one[k] = swapped;
			}
	for (u32 i = 0; i < n; i++) {
		assert_true(sequence + 1 < MAX_SEQUENCE);
		now ^= 1u << one[i].bit;
		history[++sequence] = now;
	}
}

static void publish_some(void)
{
	struct baleen_fleet_local local[N_KEYS];
	struct baleen_fleet_sync sync;
	u32 before = wanted;
	size_t n = 0;

	for (u32 i = random_below(4); i < 4; i++)
		wanted ^= 1u << random_below(N_KEYS);
	for (u32 i = 0; i < N_KEYS; i++) {
		char key[64];

		if (!(wanted >> i & 1))
			continue;
		key_of(i, key);
		local[n++] = local_ban(key, NOW + 100 * HOUR, "");
	}
	OK(baleen_fleet_own_sync(&here, PUBLISHER, local, n, fleet_now, &sync, &error));
	note_history(before, wanted);
	assert_int_equal(publisher_of(&here).sequence, sequence);
}

static int add_bit(const struct baleen_fleet_effect *effect, void *data)
{
	char key[64], text[BALEEN_FLEET_KEY_TEXT];

	baleen_fleet_key_format(&effect->entry.key, text);
	for (u32 i = 0; i < N_KEYS; i++) {
		key_of(i, key);
		if (!strcmp(key, text))
			*(u32 *)data |= 1u << i;
	}
	return 0;
}

/* It has what its number stands for, no less and no more. */
static void check_receiver(void)
{
	struct baleen_fleet_publisher publisher;
	u32 bits = 0;

	OK(baleen_fleet_view_each(&there, NULL, fleet_now, add_bit, &bits, &error));
	if (!baleen_fleet_store_find(&there, PUBLISHER, &publisher, &error))
		publisher.sequence = 0;
	if (bits != history[publisher.sequence])
		fail_msg("at %llu: %08x, and not %08x", (unsigned long long)publisher.sequence,
			 bits, history[publisher.sequence]);
}

/* Now and then whoever receives is killed before the commit. */
static void deliver(const struct baleen_fleet_writer *writer)
{
	const struct baleen_fleet_receiver by = receiver();
	bool is_killed = !random_below(8);

	baleen_fleet_result_free(&result);
	OK(baleen_fleet_store_begin(&there, &error));
	OK(baleen_fleet_receive(&by, writer->bytes, writer->n_bytes, &result, &error));
	if (is_killed)
		baleen_fleet_store_rollback(&there);
	else
		OK(baleen_fleet_store_commit(&there, &error));
	n_verdicts[result.verdict]++;
	if (result.verdict == BALEEN_FLEET_REFUSED)
		assert_int_equal(result.cause, BALEEN_FLEET_CAUSE_REPLAY);
	check_receiver();
}

/* Heads tell who lacks something: then the snapshot, until the digests agree. */
static void reconcile(void)
{
	size_t of_head = keep(head()), of_snapshot = keep(snapshot());

	for (u32 i = 0; i < 100; i++) {
		receive_bytes(sent[of_head].bytes, sent[of_head].n_bytes);
		if (result.verdict == BALEEN_FLEET_APPLIED)
			break;
		assert_int_equal(result.verdict, BALEEN_FLEET_GAP);
		deliver(&sent[of_snapshot]);
	}
	assert_int_equal(result.verdict, BALEEN_FLEET_APPLIED);
	assert_int_equal(publisher_of(&there).sequence, sequence);
	check_receiver();
}

static void test_lossy_bus(void **state)
{
	u64 after = 0;

	/* Nobody cuts the power here. */
	baleen_sql_do(&here.db, "PRAGMA synchronous = OFF", NULL, NULL, NULL, 0);
	baleen_sql_do(&there.db, "PRAGMA synchronous = OFF", NULL, NULL, NULL, 0);
	fleet_set_policy("rate 1000000/s\nentries 1000\nshortest-prefix 0 0\ncoverage 1000000M\n"
			 "max-ttl 30d");
	for (u32 round = 0; round < ROUNDS; round++) {
		const struct baleen_fleet_signer by = signer();
		struct baleen_fleet_writer writer;
		u64 last;

		fleet_now++;
		publish_some();
		if (!random_below(50)) {
			OK(baleen_fleet_own_renew(&here, PUBLISHER, NULL, fleet_now, &error));
			fleet_now++;
			after = sequence;
		}
		while (baleen_fleet_own_batch(&here, PUBLISHER, &by, after, &writer, &last,
					      &error) > 0) {
			size_t number = keep(writer);

			/* Some go back, as after a restart that has forgotten where it was. */
			after = random_below(6) ? last : after - (after ? random_below(2) : 0);
			if (random_below(4))
				deliver(&sent[number]);
			if (after < last)
				break;
		}
		for (u32 i = random_below(4); i; i--)
			deliver(&sent[random_below(n_sent)]);
		if (!random_below(3))
			reconcile();
	}
	reconcile();
	assert_true(n_verdicts[BALEEN_FLEET_APPLIED] > 500 &&
		    n_verdicts[BALEEN_FLEET_DUPLICATE] > 500 &&
		    n_verdicts[BALEEN_FLEET_GAP] > 500 && n_verdicts[BALEEN_FLEET_REFUSED] > 500);
	for (size_t i = 0; i < n_sent; i++)
		baleen_fleet_writer_free(&sent[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lossy_bus, fleets_start, fleets_stop),
	};

	print_message("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
