// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A server of HTTP whose clients are slow: others are answered, and slow ones end. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/http_listen.h"

/* More than sockets hold. */
#define MAX_BODY (1u << 24)

#define PART "GET / HTTP/1.1\r\nHost: x\r\nX: "
#define WHOLE "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static struct http_server server;
static int epoll_fd;
static u16 port;
static size_t body_bytes;

/* The time is this test's. */
static u64 now_ms = 1000;

u64 __wrap_baleen_monotonic_ms(void);
u64 __wrap_baleen_monotonic_ms(void)
{
	return now_ms;
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **context)
{
	static char body[MAX_BODY];
	struct MHD_Response *response;
	enum MHD_Result result;

	/* An answer at the first call would end the connection. */
	if (!*context) {
		*context = body;
		return MHD_YES;
	}
	response = MHD_create_response_from_buffer(body_bytes, body, MHD_RESPMEM_PERSISTENT);
	result = MHD_queue_response(connection, 200, response);
	MHD_destroy_response(response);
	return result;
}

static void start(u32 n_clients, u32 n_of_address, u64 deadline_ms)
{
	const struct http_limits limits = { .n_clients = n_clients,
					    .n_of_address = n_of_address,
					    .silence_s = 600,
					    .deadline_ms = deadline_ms };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct sockaddr_storage storage = { 0 };

	memcpy(&storage, &address, sizeof(address));
	body_bytes = 2;
	assert_int_equal(http_listen(&server, &storage, &limits, 0, on_request, NULL), 0);
	epoll_fd = MHD_get_daemon_info(server.http, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	port = MHD_get_daemon_info(server.http, MHD_DAEMON_INFO_BIND_PORT)->port;
}

static int end(void **state)
{
	http_end(&server);
	assert_null(server.clients);
	return 0;
}

/* From 127.0.0.@host. */
static int come(u8 host, const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n = strlen(text);
	int few = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	assert_int_equal(bind(fd, (void *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (void *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
	return fd;
}

/* One round of the server: what its caller does. */
static int serve(int most_ms)
{
	struct pollfd polled = { .fd = epoll_fd, .events = POLLIN };
	int wait_ms = http_run(&server);

	poll(&polled, 1, wait_ms < 0 || wait_ms > most_ms ? most_ms : wait_ms);
	http_run(&server);
	return wait_ms;
}

/* Is there an answer? -1: the server has closed it. */
static int answered(int fd)
{
	char text[16];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}

static void assert_answered(int fd, int want)
{
	int got = 0;

	for (int i = 0; i < 200 && !got; i++) {
		serve(10);
		got = answered(fd);
	}
	assert_int_equal(got, want);
}

static void forget(int fd)
{
	char text[512];

	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
}

static void settle(void)
{
	for (int i = 0; i < 10; i++)
		serve(1);
}

/* As many as are let in hold their connections open: who comes is answered. */
static void full(void **state)
{
	int slow[64], fd;

	start(16, 1000, 600000);
	for (u32 i = 0; i < 64; i++) {
		slow[i] = come(2 + i, PART);
		serve(1);
	}
	fd = come(1, WHOLE);
	assert_answered(fd, 1);
	settle();
	assert_int_equal(answered(slow[0]), -1);
	assert_int_equal(answered(slow[63]), 0);
	for (u32 i = 0; i < 64; i++)
		close(slow[i]);
	close(fd);
}

/* All at once, more than the library lets in. */
static void flood(void **state)
{
	int slow[100], fd;

	start(16, 8, 600000);
	for (u32 i = 0; i < 100; i++)
		slow[i] = come(1, PART);
	settle();
	fd = come(1, WHOLE);
	assert_answered(fd, 1);
	for (u32 i = 0; i < 100; i++)
		close(slow[i]);
	close(fd);
}

/* An address has so many, and 127.0.0.0/8 is one: its oldest makes room. */
static void one_address(void **state)
{
	int slow[5];

	start(100, 4, 600000);
	for (u32 i = 0; i < 5; i++) {
		slow[i] = come(1 + i, PART);
		settle();
	}
	assert_answered(slow[0], -1);
	for (u32 i = 1; i < 5; i++)
		assert_int_equal(answered(slow[i]), 0);
	for (u32 i = 0; i < 5; i++)
		close(slow[i]);
}

static u32 n_open(void)
{
	return MHD_get_daemon_info(server.http, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
		->num_connections;
}

/* A byte now and then does not put the deadline off, and neither does a reader that does not
 * read; whoever has asked before, and asks again, is not late.
 */
static void deadline(void **state)
{
	int slow, reader, good;

	start(16, 8, 300);
	slow = come(1, PART);
	body_bytes = MAX_BODY;
	reader = come(1, WHOLE);
	settle();
	body_bytes = 2;
	good = come(1, WHOLE);
	assert_answered(good, 1);
	now_ms += 200;
	assert_int_equal(send(good, WHOLE, strlen(WHOLE), MSG_NOSIGNAL), strlen(WHOLE));
	assert_int_equal(send(slow, "a", 1, MSG_NOSIGNAL), 1);
	settle();
	now_ms += 99;
	assert_int_equal(http_run(&server), 1);
	settle();
	assert_int_equal(answered(slow), 0);
	assert_int_equal(n_open(), 3);
	now_ms += 1;
	assert_int_equal(http_run(&server), 200);
	assert_answered(slow, -1);
	settle();
	assert_int_equal(n_open(), 1);
	forget(good);
	assert_int_equal(send(good, WHOLE, strlen(WHOLE), MSG_NOSIGNAL), strlen(WHOLE));
	assert_answered(good, 1);
	now_ms += 300;
	http_run(&server);
	settle();
	assert_int_equal(n_open(), 0);
	assert_int_equal(http_run(&server), -1);
	close(slow);
	close(reader);
	close(good);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(full),
		TEST(flood),
		TEST(one_address),
		TEST(deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
