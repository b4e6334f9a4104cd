// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks a cache by ICP, as another cache does. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "icp/icp_client.h"
#include "util/clock.h"

#define MAX_MESSAGE (BALEEN_ICP_QUERY_BYTES + BALEEN_ICP_MAX_URL + 1)

int baleen_icp_connect(const struct sockaddr_storage *address, int *fd, struct baleen_error *error)
{
	int new = socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (new < 0)
		return baleen_fail(error, errno, "%s", strerror(errno));
	if (connect(new, (const struct sockaddr *)address, sizeof(*address))) {
		err = baleen_fail(error, errno, "%s", strerror(errno));
		close(new);
		return err;
	}
	*fd = new;
	return 0;
}

static size_t query_write(u8 *message, u32 number, const char *url)
{
	size_t n_url = strlen(url) + 1, n_bytes = BALEEN_ICP_QUERY_BYTES + n_url;
	u16 n_bytes_be = htons(n_bytes);
	u32 number_be = htonl(number);

	memset(message, 0, BALEEN_ICP_QUERY_BYTES);
	message[0] = BALEEN_ICP_QUERY;
	message[1] = BALEEN_ICP_VERSION;
	memcpy(message + 2, &n_bytes_be, sizeof(n_bytes_be));
	memcpy(message + 4, &number_be, sizeof(number_be));
	memcpy(message + BALEEN_ICP_QUERY_BYTES, url, n_url);
	return n_bytes;
}

/* Nobody listens, or nobody is there: the cache itself may come back. */
static bool is_silence(int number)
{
	return number == ECONNREFUSED || number == EHOSTUNREACH || number == EAGAIN;
}

/* The first call may only bring what became of the datagram before. */
static int query_send(int fd, const u8 *message, size_t n_bytes, struct baleen_error *error)
{
	if (send(fd, message, n_bytes, 0) < 0 &&
	    (!is_silence(errno) || send(fd, message, n_bytes, 0) < 0) && !is_silence(errno))
		return baleen_fail(error, errno, "%s", strerror(errno));
	return 0;
}

/* Answers to earlier queries are passed over. */
static int reply_read(int fd, u32 number, struct baleen_icp_reply *reply,
		      struct baleen_error *error)
{
	u8 message[MAX_MESSAGE];
	ssize_t n = recv(fd, message, sizeof(message), MSG_DONTWAIT);

	if (n < 0 && !is_silence(errno))
		return baleen_fail(error, errno, "%s", strerror(errno));
	if (n >= BALEEN_ICP_HEADER_BYTES && message[1] == BALEEN_ICP_VERSION &&
	    baleen_load_be32(message + 4) == number)
		reply->opcode = message[0];
	return 0;
}

int baleen_icp_ask(int fd, u32 number, const char *url, u64 timeout_ms,
		   struct baleen_icp_reply *reply, struct baleen_error *error)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	u64 began_ns, now_ns, end_ns;
	struct baleen_icp_reply got = { 0 };
	u8 message[MAX_MESSAGE];
	int err;

	if (!*url || strlen(url) > BALEEN_ICP_MAX_URL)
		return baleen_fail(error, EINVAL, "a URL has 1 to %u bytes", BALEEN_ICP_MAX_URL);
	began_ns = baleen_clock_ns(CLOCK_MONOTONIC);
	end_ns = began_ns + timeout_ms * 1000000;
	err = query_send(fd, message, query_write(message, number, url), error);
	while (!err && !got.opcode) {
		now_ns = baleen_clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= end_ns)
			break;
		if (poll(&ready, 1, (end_ns - now_ns + 999999) / 1000000) < 0)
			err = baleen_fail(error, errno, "%s", strerror(errno));
		else if (ready.revents)
			err = reply_read(fd, number, &got, error);
	}
	if (err)
		return err;
	if (got.opcode)
		got.ns = baleen_clock_ns(CLOCK_MONOTONIC) - began_ns;
	*reply = got;
	return 0;
}
