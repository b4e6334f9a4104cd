// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers of a Redis, of which nothing is believed: in parts, cut off, malformed, too long. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleetd/redis.h"

/* user/fleetd/redis.c: what is longer is no answer. */
#define MAX_ANSWER_BYTES (256u << 20)

static struct redis redis;
static struct baleen_error error;
static int peer, always;

/* A number of elements that no memory has is an answer of this test's, not a finding. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static int begin(void **state)
{
	int pair[2], wake[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) || pipe(wake))
		return -1;
	redis = (struct redis){ .fd = pair[0], .reader = redisReaderCreate() };
	strcpy(redis.server.host, "h");
	strcpy(redis.server.port, "1");
	peer = pair[1];
	always = wake[0];
	memset(&error, 0, sizeof(error));
	if (write(wake[1], "", 1) != 1)
		return -1;
	return close(wake[1]);
}

static int end(void **state)
{
	redis_close(&redis);
	close(peer);
	return close(always);
}

static void renew(void)
{
	assert_int_equal(end(NULL), 0);
	assert_int_equal(begin(NULL), 0);
}

static void say(const char *bytes, size_t n_bytes)
{
	assert_int_equal(write(peer, bytes, n_bytes), n_bytes);
}

static void say_text(const char *text)
{
	say(text, strlen(text));
}

/* What there is now; -EAGAIN: not all of it. */
static int hear(redisReply **reply)
{
	return redis_receive(&redis, 1000, always, reply, &error);
}

static void is_closed(void)
{
	assert_int_equal(redis.fd, -1);
	assert_null(redis.reader);
}

/* --- refused ----------------------------------------------------------------------- */

static const struct {
	const char *answer;
	int err;
} refused[] = {
	{ "?1\r\n", -EPROTO },
	{ "\r\n", -EPROTO },
	{ "HTTP/1.1 400 Bad Request\r\n", -EPROTO },
	{ "$-2\r\n", -EPROTO },
	{ "$x\r\n", -EPROTO },
	{ "$99999999999999999999\r\n", -EPROTO },
	{ "*-2\r\n", -EPROTO },
	{ "*x\r\n", -EPROTO },
	{ "*9223372036854775807\r\n", -EPROTO },
	{ "*1152921504606846976\r\n", -EPROTO },
	{ ":x\r\n", -EPROTO },
	{ "*2\r\n:1\r\n?\r\n", -EPROTO },
	{ "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", -EPROTO },
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		redisReply *reply = (void *)&refused;

		say_text(refused[i].answer);
		if (hear(&reply) != refused[i].err)
			fail_msg("'%s' is not refused", refused[i].answer);
		assert_ptr_equal(reply, &refused);
		assert_memory_equal(error.text, "h:1: ", 5);
		assert_true(strlen(error.text) > 5);
		is_closed();
		assert_int_equal(hear(&reply), -ENOTCONN);
		renew();
	}
}

/* More levels than the stack has room for; a piece is what one read() may bring. */
static void test_deep(void **state)
{
	static char piece[65536];
	redisReply *reply = NULL;
	int err = -EAGAIN;

	for (size_t i = 0; i < sizeof(piece); i += 4)
		memcpy(piece + i, "*1\r\n", 4);
	for (u32 i = 0; i < 40 && err == -EAGAIN; i++) {
		say(piece, sizeof(piece));
		err = hear(&reply);
	}
	assert_int_equal(err, -EPROTO);
	assert_null(reply);
	is_closed();
}

static void test_too_long(void **state)
{
	redisReply *reply = NULL;

	say_text("$9223372036854775807\r\n");
	assert_int_equal(hear(&reply), -EAGAIN);
	say_text("abc");
	assert_int_equal(hear(&reply), -EAGAIN);
	/* As if so many had come. */
	redis.n_bytes = MAX_ANSWER_BYTES - 2;
	say_text("de");
	assert_int_equal(hear(&reply), -EAGAIN);
	say_text("f");
	assert_int_equal(hear(&reply), -EMSGSIZE);
	assert_string_equal(error.text, "h:1: its answer is too long");
	assert_null(reply);
	is_closed();
}

/* Answers before it do not count for the length of one. */
static void test_length_is_of_one(void **state)
{
	redisReply *reply;

	say_text("+OK\r\n$3\r\nab");
	assert_int_equal(hear(&reply), 0);
	freeReplyObject(reply);
	assert_int_equal(redis.n_bytes, strlen("$3\r\nab"));
	redis.n_bytes = MAX_ANSWER_BYTES - 3;
	say_text("c\r\n");
	assert_int_equal(hear(&reply), 0);
	assert_string_equal(reply->str, "abc");
	freeReplyObject(reply);
	assert_int_equal(redis.n_bytes, 0);
}

/* --- cut off ----------------------------------------------------------------------- */

static const char nested[] = "*3\r\n$3\r\na\0b\r\n*2\r\n:-7\r\n$-1\r\n$0\r\n\r\n";

static void test_cut_off(void **state)
{
	for (size_t n = 0; n < sizeof(nested) - 1; n++) {
		redisReply *reply = NULL;

		say(nested, n);
		assert_int_equal(hear(&reply), -EAGAIN);
		close(peer);
		peer = -1;
		assert_int_equal(hear(&reply), -EPIPE);
		assert_string_equal(error.text, "h:1: it hung up");
		assert_null(reply);
		is_closed();
		renew();
	}
}

static void test_in_time(void **state)
{
	redisReply *reply = NULL;

	say(nested, 9);
	assert_int_equal(redis_receive(&redis, 0, -1, &reply, &error), -ETIMEDOUT);
	assert_null(reply);
	is_closed();
}

/* Nobody waits for an answer that is there already. */
static void test_there_already(void **state)
{
	redisReply *reply;

	say_text(":5\r\n");
	assert_int_equal(redis_receive(&redis, 0, always, &reply, &error), 0);
	assert_int_equal(reply->integer, 5);
	freeReplyObject(reply);
}

/* --- in parts ---------------------------------------------------------------------- */

static void test_byte_by_byte(void **state)
{
	redisReply *reply = NULL;

	for (size_t i = 0; i + 1 < sizeof(nested) - 1; i++) {
		say(&nested[i], 1);
		assert_int_equal(hear(&reply), -EAGAIN);
		assert_null(reply);
	}
	say(&nested[sizeof(nested) - 2], 1);
	assert_int_equal(hear(&reply), 0);
	assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
	assert_int_equal(reply->elements, 3);
	assert_int_equal(reply->element[0]->len, 3);
	assert_memory_equal(reply->element[0]->str, "a\0b", 4);
	assert_int_equal(reply->element[1]->element[0]->integer, -7);
	assert_int_equal(reply->element[1]->element[1]->type, REDIS_REPLY_NIL);
	assert_int_equal(reply->element[2]->len, 0);
	freeReplyObject(reply);
}

/* An error leaves the connection, and says who answered it. */
static void test_error(void **state)
{
	redisReply *reply = NULL;

	say_text("-NOPERM this user has no permissions\r\n+OK\r\n");
	assert_int_equal(hear(&reply), -EREMOTE);
	assert_string_equal(error.text, "h:1: NOPERM this user has no permissions");
	assert_null(reply);
	assert_int_equal(hear(&reply), 0);
	assert_string_equal(reply->str, "OK");
	freeReplyObject(reply);
}

/* One that is longer than a line of ours is cut. */
static void test_long_error(void **state)
{
	char line[3000];
	redisReply *reply;

	memset(line, 'x', sizeof(line));
	line[0] = '-';
	say(line, sizeof(line));
	say_text("\r\n");
	assert_int_equal(hear(&reply), -EREMOTE);
	assert_int_equal(strlen(error.text), strlen("h:1: ") + 200);
}

/* --- commands ---------------------------------------------------------------------- */

static void test_send(void **state)
{
	static const char wanted[] = "*3\r\n$3\r\nSET\r\n$5\r\n{a}:k\r\n$3\r\n\0 \n\r\n";
	char got[64];

	assert_int_equal(redis_send(&redis, &error, "SET {%s}:k %b", "a", "\0 \n", (size_t)3), 0);
	assert_int_equal(read(peer, got, sizeof(got)), sizeof(wanted) - 1);
	assert_memory_equal(got, wanted, sizeof(wanted) - 1);
}

static void test_send_to_nobody(void **state)
{
	redisReply *reply = NULL;

	close(peer);
	peer = -1;
	assert_int_equal(redis_call(&redis, &reply, &error, "PING"), -EPIPE);
	is_closed();
	assert_int_equal(redis_send(&redis, &error, "PING"), -ENOTCONN);
	assert_string_equal(error.text, "h:1: not connected");
	assert_null(reply);
}

#define EACH(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_refused),
		EACH(test_deep),
		EACH(test_too_long),
		EACH(test_length_is_of_one),
		EACH(test_cut_off),
		EACH(test_in_time),
		EACH(test_there_already),
		EACH(test_byte_by_byte),
		EACH(test_error),
		EACH(test_long_error),
		EACH(test_send),
		EACH(test_send_to_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
