// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A question to all hosts: what a host answers, and whom the one that asked believes.
 */
#include <errno.h>

#include "fleets.h"
#include "fleet/fleet_answer.h"

static struct baleen_fleet_message question;

static int start(void **state)
{
	struct baleen_fleet_writer writer;
	const char *why;
	int err = fleets_start(state);

	if (err)
		return err;
	writer = operator_asks(ASKS, "192.0.2.1");
	err = baleen_fleet_decode(writer.bytes, writer.n_bytes, &question, &why);
	baleen_fleet_writer_free(&writer);
	return err;
}

#define WHY "eth1:bad: it has no filter now"
static u32 n_hold = 2;

/* The one that receives answers as web1, whose key is that of ops. */
static struct baleen_fleet_writer answer(bool takes_bans)
{
	const struct baleen_fleet_signer by = { .fleet = "example",
						.keys = &ops,
						.now_ms = fleet_now };
	const struct baleen_fleet_live live = {
		.taken = { .n_rules = takes_bans * 2, .n_hold = takes_bans * n_hold, .why = WHY },
	};
	struct baleen_fleet_writer writer;

	OK(baleen_fleet_answer_make(&there, &question, &live, "web1/operator", &by, &writer,
				    &error));
	return writer;
}

static bool read_answer(const struct baleen_fleet_writer *writer, const char *host,
			struct baleen_fleet_message *read)
{
	return baleen_fleet_answer_read(&fleet_policy, &question, host, writer->bytes,
					writer->n_bytes, read);
}

static void answers(bool takes_bans, u32 value, const char *reason)
{
	struct baleen_fleet_writer writer = answer(takes_bans);
	struct baleen_fleet_message read;

	assert_true(read_answer(&writer, "web1", &read));
	assert_int_equal(read.value, value);
	assert_string_equal(read.reason, reason);
	assert_string_equal(read.subject, "192.0.2.1");
	baleen_fleet_writer_free(&writer);
}

static void test_states(void **state)
{
	answers(true, BALEEN_FLEET_NOT_BANNED, "");
	publish("192.0.2.9");
	receives(batch(0), BALEEN_FLEET_APPLIED);
	answers(true, BALEEN_FLEET_NOT_BANNED, "");
	publish("192.0.2.0/24");
	receives(batch(1), BALEEN_FLEET_APPLIED);
	answers(true, BALEEN_FLEET_BANNED, PUBLISHER ": in force");
	answers(false, BALEEN_FLEET_NO_RULE, PUBLISHER ": in force");
	n_hold = 1;
	answers(true, BALEEN_FLEET_NOT_HELD, PUBLISHER ": " WHY);
	n_hold = 2;
	receives(operator_asks(SUSPEND, PUBLISHER), BALEEN_FLEET_APPLIED);
	answers(true, BALEEN_FLEET_NOT_COUNTED, PUBLISHER ": its publisher is suspended");
	fleet_now++;
	receives(operator_asks(RESUME, PUBLISHER), BALEEN_FLEET_APPLIED);
	receives(operator_asks(PARDON, "192.0.2.1"), BALEEN_FLEET_APPLIED);
	/* The wider ban counts, but for this address, which the rules let pass. */
	answers(true, BALEEN_FLEET_BANNED, PUBLISHER ": in force");
	fleet_now += 24 * HOUR;
	answers(true, BALEEN_FLEET_NOT_COUNTED, PUBLISHER ": ended");
}

static void refuses(const struct baleen_fleet_writer *writer, const char *host)
{
	struct baleen_fleet_message read, before;

	memset(&read, 0xa5, sizeof(read));
	before = read;
	assert_false(read_answer(writer, host, &read));
	assert_memory_equal(&read, &before, sizeof(read));
}

/* Redis may have put in anything. */
static void test_believed(void **state)
{
	struct baleen_fleet_writer writer = answer(true), other;

	refuses(&writer, "web3");
	refuses(&writer, "web");
	refuses(&writer, "web11");
	writer.bytes[writer.n_bytes - 1] ^= 1;
	refuses(&writer, "web1");
	writer.bytes[writer.n_bytes - 1] ^= 1;
	writer.n_bytes--;
	refuses(&writer, "web1");
	writer.n_bytes++;
	/* To another question. */
	question.incarnation[0] ^= 1;
	refuses(&writer, "web1");
	baleen_fleet_writer_free(&writer);
	question.incarnation[0] ^= 1;
	/* No answer at all. */
	other = operator_asks(ASKS, "192.0.2.1");
	refuses(&other, "ops");
	baleen_fleet_writer_free(&other);
}

/* In the stream, where it has no place. */
static void test_in_the_stream(void **state)
{
	receives(answer(true), BALEEN_FLEET_DUPLICATE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, fleets_stop)
	const struct CMUnitTest tests[] = {
		TEST(test_states),
		TEST(test_believed),
		TEST(test_in_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
