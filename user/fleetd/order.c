// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One thing that `baleen fleet` asks of baleen-fleetd. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleetd/order.h"
#include "util/foreign.h"

/* A control message is much shorter. */
#define MAX_MESSAGE 4096

/* The caller prints it as it is. */
static int complain(const char *text)
{
	fprintf(stderr, "%s\n", text);
	return EXIT_FAILURE;
}

static ssize_t read_message(u8 *bytes)
{
	size_t n = 0;
	ssize_t got;

	while (n < MAX_MESSAGE && (got = read(STDIN_FILENO, bytes + n, MAX_MESSAGE - n)) > 0)
		n += got;
	return n < MAX_MESSAGE ? (ssize_t)n : -1;
}

/* A question of stdin, for all hosts: their answers are waited for. */
static int ask(struct fleet *fleet, struct redis *redis, const char *wait_ms,
	       struct baleen_error *error)
{
	u8 bytes[MAX_MESSAGE];
	ssize_t n = read_message(bytes);

	if (n <= 0)
		return baleen_fail(error, EINVAL, "no message");
	return ask_all(fleet, redis, bytes, n, strtoull(wait_ms, NULL, 10), error);
}

static int check(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	struct redis replica = REDIS_CLOSED;
	char text[512];
	int err;

	/* Sentinel has said where. */
	baleen_foreign_format(text, sizeof(text), "%s:%s is the master%s", redis->server.host,
			      redis->server.port, *fleet->conf.tls_ca ? ", by TLS" : "");
	puts(text);
	if (!fleet->conf.replicas.n)
		return 0;
	err = redis_find(&replica, &fleet->conf, REDIS_REPLICA, error);
	if (err)
		return err;
	baleen_foreign_format(text, sizeof(text), "%s:%s is read from", replica.server.host,
			      replica.server.port);
	puts(text);
	redis_close(&replica);
	return 0;
}

int order_run(struct fleet *fleet, int argc, char **argv)
{
	struct redis redis = REDIS_CLOSED;
	struct baleen_error error;
	bool is_asked = argc == 2 && !strcmp(argv[0], "--ask");
	int err;

	if (!is_asked && (argc != 1 || strcmp(argv[0], "--check")))
		return complain("baleend starts this program; see 'man baleen-fleet'");
	err = baleen_fleet_conf_read(&fleet->conf, &error);
	if (!err)
		err = redis_find(&redis, &fleet->conf, REDIS_MASTER, &error);
	if (!err)
		err = is_asked ? ask(fleet, &redis, argv[1], &error) : check(fleet, &redis, &error);
	redis_close(&redis);
	return err ? complain(error.text) : EXIT_SUCCESS;
}
