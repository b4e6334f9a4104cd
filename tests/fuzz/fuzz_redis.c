// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as the answers of a broker, those above 127 as words of them, the first as how much
 * comes at a time: an answer is whole and not deep, and after anything else the connection is
 * closed with a reason.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleetd/redis.h"
#include "target.h"

#define MAX_BYTES 2048

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"+OK\r\n",
	"-ERR no\r\n",
	":42\r\n",
	"$-1\r\n",
	"$5\r\nhello\r\n",
	"*2\r\n",
	"*-1\r\n",
	"*0\r\n",
	"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nm\r\n$1\r\nx\r\n",
	"%1\r\n",
	"~1\r\n",
	">2\r\n",
	"_\r\n",
	"#t\r\n",
	",1.5\r\n",
	"(12345678901234567890\r\n",
	"=7\r\ntxt:abc\r\n",
	"*2147483647\r\n",
	"$2147483647\r\n",
	"*9223372036854775807\r\n",
	"\r\n",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* A number of elements that no memory has is an answer, not a finding: hiredis allocates for as
 * many as it is told, and touches none.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

/* Reads every byte, so that ASan sees each. */
static u64 sum_of(const redisReply *reply, u32 depth)
{
	u64 sum = reply->type;

	check(depth < 10);
	for (size_t i = 0; reply->str && i < reply->len; i++)
		sum += (u8)reply->str[i];
	for (size_t i = 0; i < reply->elements; i++)
		sum += sum_of(reply->element[i], depth + 1);
	return sum;
}

/* Takes what there is. */
static void hear(struct redis *redis, int always)
{
	struct baleen_error error;
	redisReply *reply;
	int err;

	while (redis->fd >= 0) {
		reply = NULL;
		error.text[0] = '\0';
		err = redis_receive(redis, 1000, always, &reply, &error);
		if (err == -EAGAIN)
			return;
		if (!err) {
			check(reply && sum_of(reply, 0));
			freeReplyObject(reply);
			continue;
		}
		check(*error.text);
		check(err == -EREMOTE || redis->fd < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 80];
	struct redis redis = { .fd = -1 };
	static int always = -1;
	size_t n_piece;
	int pair[2], wake[2];

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	/* Readable for ever: nothing is waited for. */
	if (always < 0) {
		check(!pipe(wake) && write(wake[1], "", 1) == 1);
		always = wake[0];
	}
	check(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair));
	redis.fd = pair[0];
	redis.reader = redisReaderCreate();
	check(redis.reader);
	n_piece = 1 + bytes[0] * 16;
	n_bytes = text_of_words(bytes + 1, n_bytes - 1, words, N_WORDS, text);
	for (size_t at = 0, n; at < n_bytes && redis.fd >= 0; at += n) {
		n = n_bytes - at < n_piece ? n_bytes - at : n_piece;
		check(write(pair[1], text + at, n) == (ssize_t)n);
		hear(&redis, always);
	}
	redis_close(&redis);
	close(pair[1]);
	return 0;
}
