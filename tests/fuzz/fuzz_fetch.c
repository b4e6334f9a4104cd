// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as the answers of a web server, those above 127 as words of HTTP: baleen-fetch has a
 * document within its limit, or says why not, keeps only text that it can send back, and tells its
 * secrets to the host of the URL alone.
 */
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fetch/transfer.h"
#include "target.h"

#define MAX_BYTES 1024
#define MAX_ANSWERS 4
#define MAX_DOCUMENT 2000
#define ROOM (MAX_BYTES * 80)

/* "baleen" as gzip does it. */
#define PACKED \
	"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4a\xcc\x49\x4d\xcd\x03\0\xc2\xc3\xc0\xdd\x06\0\0\0"

/* So that it gets beyond the first word without knowing any. */
static char elsewhere[64];
static const char *const words[] = {
	"HTTP/1.1 200 OK\r\n",
	"HTTP/1.1 206 Partial Content\r\n",
	"HTTP/1.1 304 Not Modified\r\n",
	"HTTP/1.1 302 Found\r\n",
	"HTTP/1.1 416 Range Not Satisfiable\r\n",
	"HTTP/1.1 503 Service Unavailable\r\n",
	"HTTP/1.1 ",
	"Content-Length: ",
	"Content-Length: 10\r\n",
	"Content-Range: bytes ",
	"Content-Range: bytes 5-9/10\r\n",
	"Content-Encoding: gzip\r\n",
	"Content-Encoding: ",
	"Transfer-Encoding: chunked\r\n",
	"5\r\nhello\r\n0\r\n\r\n",
	"ETag: \"a\"\r\n",
	"ETag: \"",
	"Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
	"Retry-After: 0\r\n",
	"Retry-After: ",
	"Location: /b\r\n",
	"Location: ",
	elsewhere,
	"Connection: close\r\n",
	"\r\n",
	"\r\nhello",
	"\r\nhelloworld",
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

/* These bytes are no words: the next answer, and a document that is packed. */
#define NEXT_ANSWER 255
#define PACKED_DOCUMENT 254

/**
 * struct answers - of the server
 * @text: one behind the other
 * @start: of each, and the end of the last
 * @n: how many
 * @at: the next
 */
static struct {
	char text[ROOM];
	size_t start[MAX_ANSWERS + 1];
	u32 n, at;
} answers;

static u16 port;
static int listening[2];

int LLVMFuzzerInitialize(int *argc, char ***argv);
/* --- the server ------------------------------------------------------------ */

static int listen_at(u32 address)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(address) };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(fd >= 0 && !bind(fd, (struct sockaddr *)&at, n) && !listen(fd, 16));
	check(!getsockname(fd, (struct sockaddr *)&at, &n));
	port = ntohs(at.sin_port);
	return fd;
}

/* Up to the end of the request. */
static void hear(int fd, bool is_elsewhere)
{
	char request[16384] = "";
	size_t n = 0;
	ssize_t got;

	while (n + 1 < sizeof(request) &&
	       (got = recv(fd, request + n, sizeof(request) - 1 - n, 0)) > 0) {
		n += got;
		request[n] = '\0';
		if (strstr(request, "\r\n\r\n"))
			break;
	}
	/* By their headers: an ETag may be of the same letters. */
	check(!is_elsewhere ||
	      (!strcasestr(request, "\nX-Token:") && !strcasestr(request, "\nAuthorization:")));
}

static void *serve(void *data)
{
	struct pollfd polled[] = { { .fd = listening[0], .events = POLLIN },
				   { .fd = listening[1], .events = POLLIN } };

	for (;;) {
		bool is_elsewhere;
		int fd;

		poll(polled, 2, -1);
		is_elsewhere = !polled[0].revents;
		fd = accept(listening[is_elsewhere], NULL, NULL);
		if (fd < 0)
			continue;
		hear(fd, is_elsewhere);
		if (answers.at < answers.n) {
			size_t start = answers.start[answers.at++];

			send(fd, answers.text + start, answers.start[answers.at] - start,
			     MSG_NOSIGNAL);
		}
		close(fd);
	}
	return NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	pthread_t thread;

	setenv("no_proxy", "*", 1);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	listening[0] = listen_at(INADDR_LOOPBACK);
	listening[1] = listen_at(INADDR_LOOPBACK + 1);
	snprintf(elsewhere, sizeof(elsewhere), "Location: http://127.0.0.2:%u/\r\n", port);
	return pthread_create(&thread, NULL, serve, NULL);
}

/* --- the client ------------------------------------------------------------ */

static bool on_progress(u64 n_received, u64 n_total)
{
	return true;
}

static void check_text(const char *text, size_t room)
{
	check(memchr(text, '\0', room));
	for (; *text; text++)
		check(*text >= ' ' && *text <= '~');
}

static void fetch(bool is_conditional)
{
	static struct baleen_fetch_order order = {
		.verb = BALEEN_FETCH_DOCUMENT,
		.connect_timeout_ms = 2000,
		.timeout_ms = 2000,
		.stall_s = 2,
		.n_retries = 2,
		.max_bytes = MAX_DOCUMENT,
		.headers = "X-Token: secret\n",
		.user = "a:b",
	};
	int fd = memfd_create("fetch", MFD_CLOEXEC);
	struct baleen_fetch_report report;
	struct stat there;

	snprintf(order.url, sizeof(order.url), "http://127.0.0.1:%u/a", port);
	strcpy(order.etag, is_conditional ? "\"a\"" : "");
	transfer_document(&order, fd, on_progress, &report);
	check(report.is_last && report.err <= 0 && report.n_attempts >= 1 &&
	      report.n_attempts <= order.n_retries + 1);
	check(!report.is_unchanged || (is_conditional && !report.err));
	check_text(report.etag, sizeof(report.etag));
	check_text(report.last_modified, sizeof(report.last_modified));
	check(!fstat(fd, &there) && there.st_size <= MAX_DOCUMENT);
	check(memchr(report.text, '\0', sizeof(report.text)) && (!report.err || *report.text));
	if (!report.err)
		check((u64)there.st_size == report.n_bytes && report.n_bytes <= MAX_DOCUMENT);
	close(fd);
}

static void make_answers(const uint8_t *bytes, size_t n_bytes)
{
	char *text = answers.text;
	size_t n = 0;

	answers.at = answers.n = 0;
	answers.start[0] = 0;
	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < 128) {
			text[n++] = bytes[i];
		} else if (bytes[i] == NEXT_ANSWER && answers.n + 1 < MAX_ANSWERS) {
			answers.start[++answers.n] = n;
		} else if (bytes[i] == PACKED_DOCUMENT) {
			memcpy(text + n, PACKED, sizeof(PACKED) - 1);
			n += sizeof(PACKED) - 1;
		} else {
			n += strlen(strcpy(text + n, words[bytes[i] % N_WORDS]));
		}
	}
	answers.start[++answers.n] = n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	if (!n_bytes || n_bytes > MAX_BYTES)
		return 0;
	make_answers(bytes + 1, n_bytes - 1);
	fetch(*bytes & 1);
	return 0;
}
