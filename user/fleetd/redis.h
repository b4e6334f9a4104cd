/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A connection to a Redis: hiredis's formatter and reader over a socket of ours, with TLS by
 * GnuTLS when it is asked for.
 *
 * Each call has a time limit, and an answer a limit of bytes. After any failure but an error
 * that Redis answered, the connection is closed.
 */
#ifndef BALEEN_FLEETD_REDIS_H
#define BALEEN_FLEETD_REDIS_H

#include <gnutls/gnutls.h>
#include <hiredis/hiredis.h>

#include "fleet/fleet_conf.h"

/**
 * struct redis - a connection
 * @fd: its socket; -1: closed
 * @is_tls: @session is in use
 * @session: of GnuTLS
 * @credentials: what it trusts, and who this is
 * @reader: of hiredis
 * @n_bytes: received since the last answer
 * @server: to whom
 */
struct redis {
	int fd;
	bool is_tls;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
	redisReader *reader;
	size_t n_bytes;
	struct baleen_fleet_server server;
};

#define REDIS_CLOSED     \
	{                \
		.fd = -1 \
	}

/* Longest time that one step takes, such as to connect or to answer. */
#define REDIS_STEP_MS 3000

/* How a server was found to be; of redis_find(). */
enum redis_role {
	REDIS_MASTER,
	REDIS_REPLICA,
};

/* Connects and logs in. 0 or a negative errno. */
int redis_connect(struct redis *redis, const struct baleen_fleet_conf *conf,
		  const struct baleen_fleet_server *server, struct baleen_error *error);

/* Finds the master, or one to read from, and connects to it. 0 or a negative errno. */
int redis_find(struct redis *redis, const struct baleen_fleet_conf *conf, enum redis_role role,
	       struct baleen_error *error);

/* Is it still the master, as it says itself, and as Sentinel says if one answers? */
bool redis_is_master_still(struct redis *redis, const struct baleen_fleet_conf *conf);

/* Does a server hear the news, as its answer to INFO says: a master, or a replica whose master
 * speaks with it?
 */
bool redis_has_news(const char *info);

void redis_close(struct redis *redis);

/* Sends a command, whose arguments are as of redisFormatCommand(). 0 or a negative errno. */
int redis_send(struct redis *redis, struct baleen_error *error, const char *format, ...);

/* The next answer; free it with freeReplyObject(). 0; -EAGAIN when @wake_fd, if not -1, was
 * readable first; -EREMOTE when Redis answered an error, which is the text of @error and needs
 * no freeing; -ETIMEDOUT, or another negative errno.
 */
int redis_receive(struct redis *redis, u64 timeout_ms, int wake_fd, redisReply **reply,
		  struct baleen_error *error);

/* Both. */
int redis_call(struct redis *redis, redisReply **reply, struct baleen_error *error,
	       const char *format, ...);

#endif /* BALEEN_FLEETD_REDIS_H */
