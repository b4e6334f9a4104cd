// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fetches a document: fetch URL FILE [NAME=VALUE...]
 *
 * NAME is etag, modified, max (bytes), retries, pause (ms), timeout (ms), stall
 * (s), private (1: it may lead to private networks), or interrupt: start, to find a blocked signal
 * pending; progress, to get one when the first data comes; pause, to get one a second later. FILE
 * is made anew. Prints one line:
 *
 *      new 123 bytes, 1 attempt, etag "x", modified Thu, 01 Jan 1970 00:00:00 GMT
 *      unchanged, 1 attempt, etag "x", modified
 *
 * Exit: 0; 1 after a message on stderr; 2 bad usage.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fetch.h"

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void interrupt(void *data, u64 n_received, u64 n_total)
{
	if (n_received)
		raise(SIGTERM);
}

static void take_interrupt(struct baleen_fetch_request *request, const char *when)
{
	block_signals();
	if (!strcmp(when, "start"))
		raise(SIGTERM);
	else if (!strcmp(when, "pause"))
		alarm(1);
	else
		request->on_progress = interrupt;
}

static void take(struct baleen_fetch_request *request, const char *argument)
{
	const char *value = strchr(argument, '=');
	size_t length = value ? value - argument : 0;

	if (!value++)
		errx(2, "'%s': not NAME=VALUE", argument);
	if (!strncmp(argument, "etag", length))
		request->etag = value;
	else if (!strncmp(argument, "modified", length))
		request->last_modified = value;
	else if (!strncmp(argument, "max", length))
		request->max_bytes = strtoull(value, NULL, 10);
	else if (!strncmp(argument, "retries", length))
		request->n_retries = atoi(value);
	else if (!strncmp(argument, "pause", length))
		request->pause_ms = atoi(value);
	else if (!strncmp(argument, "timeout", length))
		request->timeout_ms = atoi(value);
	else if (!strncmp(argument, "stall", length))
		request->stall_s = atoi(value);
	else if (!strncmp(argument, "private", length))
		request->may_be_private = atoi(value);
	else if (!strncmp(argument, "interrupt", length))
		take_interrupt(request, value);
	else
		errx(2, "'%s' is not known", argument);
}

int main(int argc, char **argv)
{
	struct baleen_fetch_result result;
	struct baleen_fetch_request request;
	struct baleen_error error;
	int fd;

	if (argc < 3) {
		fprintf(stderr, "usage: fetch URL FILE [NAME=VALUE...]\n");
		return 2;
	}
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		err(1, "%s", argv[2]);
	request = baleen_fetch_defaults(argv[1], fd);
	request.pause_ms = 1;
	for (int i = 3; i < argc; i++)
		take(&request, argv[i]);
	if (baleen_fetch(&request, &result, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (result.is_unchanged)
		printf("unchanged");
	else
		printf("new %llu bytes", (unsigned long long)result.n_bytes);
	printf(", %u attempt%s, etag %s, modified %s\n", result.n_attempts,
	       result.n_attempts == 1 ? "" : "s", result.etag, result.last_modified);
	return 0;
}
