// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as what a client sends to the server of digests, those above 127 as words of HTTP, the
 * first as how much comes at a time: the server answers or hangs up, ends each connection, and has
 * the whole digest for the next client. The same bytes as the Accept of a client of metrics.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/icp/icp_serve.h"
#include "daemon/digest_server.h"
#include "report/metrics.h"
#include "target.h"

#define MAX_BYTES 512
#define DIGEST_BYTES (BALEEN_DIGEST_HEAD_BYTES + 512)
/* The server of digests tells libmicrohttpd nothing of its memory: a request of 32 KiB is refused.
 */
#define ROOM 262144
/* libmicrohttpd does not see that a client with half a request has no more to say. */
#define PART_MS 10
/* Shorter than the silence after which it hangs up. */
#define WHOLE_MS 20000

/* So that it gets beyond the first word without knowing any. */
static const char *const words[] = {
	"GET " DIGEST_PATH " HTTP/1.1\r\nHost: x\r\n\r\n",
	"HEAD " DIGEST_PATH " HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET ",
	"POST ",
	"OPTIONS ",
	"/metrics ",
	"/store_digest ",
	DIGEST_PATH " ",
	"HTTP/1.1\r\n",
	"HTTP/1.0\r\n",
	"Host: x\r\n",
	"\r\n",
	"If-Modified-Since: ",
	"Thu, 01 Jan 1970 00:00:00 GMT\r\n",
	"Fri, 31 Dec 2999 23:59:59 GMT\r\n",
	"Connection: close\r\n",
	"Connection: keep-alive\r\n",
	"Content-Length: ",
	"Transfer-Encoding: chunked\r\n",
	"Expect: 100-continue\r\n",
	"Range: bytes=0-9\r\n",
	"Cookie: a=b\r\n",
	"application/openmetrics-text;version=1.0.0;q=0.",
	"q=0, ",
	"text/plain, ",
	"%00%2e%2e/",
	"?a=b&c ",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static const char whole[] = "GET " DIGEST_PATH " HTTP/1.0\r\n\r\n";

static u8 bytes_of_digest[DIGEST_BYTES];
static struct digest_document document = {
	.bytes = bytes_of_digest, .n_bytes = DIGEST_BYTES, .modified_s = 1700000000, .n_users = 1
};
static u16 port;
static sem_t is_ready;

int LLVMFuzzerInitialize(int *argc, char ***argv);
/* --- the server: its digest does not change -------------------------------- */

struct digest_document *digest_maker_collect(struct digest_maker *maker)
{
	document.n_users++;
	return &document;
}

void digest_document_put(struct digest_document *digest)
{
	check(digest == &document && --document.n_users >= 1);
}

int complain(const char *format, ...)
{
	abort();
}

static void on_ready(const struct digest_server *server, u32 at)
{
	port = at;
	sem_post(&is_ready);
}

static void *serve(void *data)
{
	struct digest_server server = { .pause_ms = 1, .max_age_s = 60 };
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	memcpy(&server.address, &address, sizeof(address));
	digest_serve(&server, on_ready);
	abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	pthread_t thread;

	for (size_t i = 0; i < DIGEST_BYTES; i++)
		bytes_of_digest[i] = 31 * i;
	sem_init(&is_ready, 0, 0);
	check(!pthread_create(&thread, NULL, serve, NULL));
	while (sem_wait(&is_ready))
		;
	return 0;
}

/* --- a client -------------------------------------------------------------- */

/* Return: bytes of the answers, until the server hangs up or is silent; -1 when all ports are
 * taken, or the clock of libFuzzer, whose handler restarts no call, came in between.
 */
static ssize_t ask(const char *text, size_t n_bytes, size_t n_piece, u32 silence_ms, u8 *answer)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct linger reset = { .l_onoff = 1 };
	const struct timeval silence = { .tv_sec = silence_ms / 1000,
					 .tv_usec = silence_ms % 1000 * 1000 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t n_answer = 0;
	ssize_t n;

	check(fd >= 0);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to))) {
		check(errno == EADDRNOTAVAIL || errno == EINTR);
		close(fd);
		return -1;
	}
	for (size_t at = 0; at < n_bytes; at += n) {
		n = n_bytes - at < n_piece ? n_bytes - at : n_piece;
		n = send(fd, text + at, n, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			break;
	}
	shutdown(fd, SHUT_WR);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
	while ((n = recv(fd, answer + n_answer, ROOM - n_answer, 0)) > 0 || (n && errno == EINTR))
		n_answer += n > 0 ? n : 0;
	check(n_answer < ROOM);
	/* Otherwise all ports wait for late segments. */
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	return n_answer;
}

static void check_answer(const u8 *answer, ssize_t n_bytes)
{
	u32 status = 0;

	if (n_bytes <= 0)
		return;
	check(n_bytes > 12 && !memcmp(answer, "HTTP/1.", 7));
	for (u32 i = 9; i < 12; i++)
		status = 10 * status + answer[i] - '0';
	check(status == 100 || status == 200 || status == 304 || (status >= 400 && status < 500) ||
	      status == 501 || status == 505);
}

static void check_whole(void)
{
	static u8 answer[ROOM];
	ssize_t n_bytes = ask(whole, sizeof(whole) - 1, sizeof(whole), WHOLE_MS, answer);

	if (n_bytes < 0)
		return;
	check(n_bytes > (ssize_t)DIGEST_BYTES && !memcmp(answer + 9, "200", 3));
	check(!memcmp(answer + n_bytes - DIGEST_BYTES, bytes_of_digest, DIGEST_BYTES));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	static char text[MAX_BYTES * 80 + 1];
	static u8 answer[ROOM];
	static u32 n;
	size_t n_piece;

	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	n_piece = 1 + bytes[0] * 16;
	n_bytes = text_of_words(bytes + 1, n_bytes - 1, words, N_WORDS, text);
	text[n_bytes] = '\0';
	baleen_metrics_accepted(text);
	check_answer(answer, ask(text, n_bytes, n_piece + n_bytes / 16, PART_MS, answer));
	if (n++ % 16 == 0)
		check_whole();
	return 0;
}
