// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Signals of hosts: who may, which one counts, how many there are, and those to be sent.
 */
#include <errno.h>

#include "fleets.h"
#include "fleet/fleet_kept.h"
#include "fleet/fleet_signal.h"

static struct baleen_fleet_signal vote(const char *subject, u64 number, u32 value)
{
	struct baleen_fleet_signal signal = {
		.topic = "rollout", .number = number, .digest = ~number, .value = value
	};

	strcpy(signal.subject, subject);
	strcpy(signal.reason, "as measured");
	return signal;
}

static struct baleen_fleet_writer sign(const struct baleen_fleet_signal *signal, const char *by,
				       const struct baleen_fleet_keys *keys)
{
	const struct baleen_fleet_signer signer = { .fleet = "example",
						    .keys = keys,
						    .now_ms = fleet_now };
	struct baleen_fleet_message message = { .control = BALEEN_FLEET_SIGNAL,
						.number = signal->number,
						.about = signal->digest,
						.value = signal->value };
	struct baleen_fleet_writer writer;

	strcpy(message.publisher, by);
	strcpy(message.topic, signal->topic);
	strcpy(message.subject, signal->subject);
	strcpy(message.reason, signal->reason);
	OK(baleen_fleet_own_control(&signer, &message, &writer, &error));
	return writer;
}

static struct baleen_fleet_writer says(const char *subject, u64 number, u32 value)
{
	const struct baleen_fleet_signal signal = vote(subject, number, value);

	return sign(&signal, PUBLISHER, &web3);
}

static int add_signal(const struct baleen_fleet_signal *signal, void *data)
{
	sprintf(strchr(data, '\0'), "%s %s %s %llu %u; ", signal->publisher, signal->topic,
		signal->subject, (unsigned long long)signal->number, signal->value);
	assert_string_equal(signal->reason, "as measured");
	assert_true(signal->digest == ~signal->number);
	return 0;
}

static void signals(const char *topic, const char *subject, const char *want)
{
	char got[4096] = "";

	OK(baleen_fleet_signals_each(&there, topic, subject, fleet_now, add_signal, got, &error));
	assert_string_equal(got, want);
}

static int start(void **state)
{
	int err = fleets_start(state);

	if (!err)
		fleet_set_policy("may signal");
	return err;
}

/* --- received -------------------------------------------------------------- */

static void test_right(void **state)
{
	const struct baleen_fleet_signal signal = vote("bad", 7, 1);
	struct baleen_fleet_kept kept[2];
	size_t n;

	fleet_set_policy("may pardon suspend");
	refused(says("bad", 7, 1), BALEEN_FLEET_CAUSE_RIGHT);
	assert_non_null(strstr(result.why, "may not signal"));
	fleet_set_policy("may signal");
	refused(sign(&signal, PUBLISHER, &ops), BALEEN_FLEET_CAUSE_SIGNATURE);
	refused(asks_about("192.0.2.1", "web1/soc"), BALEEN_FLEET_CAUSE_RIGHT);
	signals(NULL, NULL, "");
	OK(baleen_fleet_kept_next(&there, "", fleet_now, kept, 2, &n, &error));
	assert_int_equal(n, 0);
}

/* One that comes late is not the newest; nor does it replace the one that is kept. */
static void test_newest(void **state)
{
	struct baleen_fleet_writer old = says("bad", 7, 1);
	struct baleen_fleet_kept kept[4];
	size_t n;

	fleet_now++;
	receives(says("bad", 8, 2), BALEEN_FLEET_APPLIED);
	receives(old, BALEEN_FLEET_DUPLICATE);
	receives(says("worse", 1, 255), BALEEN_FLEET_APPLIED);
	signals(NULL, NULL, PUBLISHER " rollout bad 8 2; " PUBLISHER " rollout worse 1 255; ");
	signals("rollout", "bad", PUBLISHER " rollout bad 8 2; ");
	signals("rollout", "b", "");
	signals("other", NULL, "");
	OK(baleen_fleet_kept_next(&there, "", fleet_now, kept, 4, &n, &error));
	assert_int_equal(n, 2);
	assert_string_equal(kept[0].name, "signal rollout bad " PUBLISHER);
	assert_int_equal(baleen_fleet_kept_counts(&fleet_policy, kept[0].name, kept[0].bytes,
						  kept[0].n_bytes),
			 fleet_now);
	assert_int_equal(baleen_fleet_kept_counts(&fleet_policy, kept[1].name, kept[0].bytes,
						  kept[0].n_bytes),
			 0);
}

static void test_over(void **state)
{
	struct baleen_fleet_writer old;

	receives(says("bad", 7, 1), BALEEN_FLEET_APPLIED);
	old = says("late", 7, 1);
	fleet_now += BALEEN_FLEET_MAX_TTL_MS;
	signals(NULL, NULL, PUBLISHER " rollout bad 7 1; ");
	fleet_now++;
	signals(NULL, NULL, "");
	refused(old, BALEEN_FLEET_CAUSE_REPLAY);
}

/* Nobody fills the disks of others; room comes with time. */
static void test_full(void **state)
{
	char subject[16];

	for (u32 i = 0; i < BALEEN_FLEET_MAX_SIGNALS; i++) {
		snprintf(subject, sizeof(subject), "list%u", i);
		receives(says(subject, 1, 1), BALEEN_FLEET_APPLIED);
	}
	refused(says("more", 1, 1), BALEEN_FLEET_CAUSE_FULL);
	fleet_now++;
	receives(says("list0", 2, 1), BALEEN_FLEET_APPLIED);
	fleet_now += BALEEN_FLEET_MAX_TTL_MS;
	receives(says("more", 1, 1), BALEEN_FLEET_APPLIED);
}

/* --- posted ---------------------------------------------------------------- */

static void refuses_post(struct baleen_fleet_signal signal)
{
	assert_int_equal(baleen_fleet_signal_post(&here, &signal, &error), -EINVAL);
}

static void test_post_refused(void **state)
{
	struct baleen_fleet_signal signal = vote("bad", 7, 1);
	u64 id;

	refuses_post(vote("", 7, 1));
	refuses_post(vote("a b", 7, 1));
	refuses_post(vote("a\xc3\xa4", 7, 1));
	refuses_post(vote("bad", 1ull << 62, 1));
	refuses_post(vote("bad", 7, 256));
	strcpy(signal.reason, "two\nlines");
	refuses_post(signal);
	signal = vote("bad", 7, 1);
	strcpy(signal.topic, "Rollout");
	refuses_post(signal);
	assert_int_equal(baleen_fleet_signal_next(&here, &signal, &id, &error), 0);
}

/* In the order in which they were posted; one that is posted while it is sent is sent, too. */
static void test_post(void **state)
{
	struct baleen_fleet_signal bad = vote("bad", 7, 1), worse = vote("worse", 7, 2), next;
	u64 id = 0, other = 0;

	OK(baleen_fleet_signal_post(&here, &bad, &error));
	OK(baleen_fleet_signal_post(&here, &worse, &error));
	assert_int_equal(baleen_fleet_signal_next(&here, &next, &id, &error), 1);
	assert_string_equal(next.subject, "bad");
	assert_string_equal(next.topic, "rollout");
	assert_string_equal(next.reason, "as measured");
	assert_int_equal(next.number, 7);
	assert_true(next.digest == ~7ull);
	assert_int_equal(next.value, 1);
	bad.value = 2;
	OK(baleen_fleet_signal_post(&here, &bad, &error));
	OK(baleen_fleet_signal_sent(&here, id, &error));
	assert_int_equal(baleen_fleet_signal_next(&here, &next, &other, &error), 1);
	assert_string_equal(next.subject, "worse");
	OK(baleen_fleet_signal_sent(&here, other, &error));
	assert_int_equal(baleen_fleet_signal_next(&here, &next, &other, &error), 1);
	assert_string_equal(next.subject, "bad");
	assert_int_equal(next.value, 2);
	OK(baleen_fleet_signal_sent(&here, other, &error));
	assert_int_equal(baleen_fleet_signal_next(&here, &next, &other, &error), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_right), TEST(test_newest),	   TEST(test_over),
		TEST(test_full),  TEST(test_post_refused), TEST(test_post),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
