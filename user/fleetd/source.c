// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Does the server that is read from tell the news? One that stands still, a replica without its
 * master, and one that was broken into answer as if all were well.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_health.h"
#include "fleetd/fleetd.h"
#include "state/entries.h"
#include "util/clock.h"

/* Silent publishers are told of again after this time. */
#define AGAIN_MS 600000

static void find_replication(const char *info, char *id, size_t room)
{
	static const char name[] = "master_replid:";
	const char *at = strstr(info, name);

	*id = '\0';
	if (at)
		snprintf(id, room, "%.*s", (int)strcspn(at + strlen(name), "\r\n"),
			 at + strlen(name));
}

int source_check(struct reader *reader, char *replication, size_t room, struct baleen_error *error)
{
	const struct baleen_fleet_server *server = &reader->redis.server;
	redisReply *reply = NULL;
	const char *info;
	int err = redis_call(&reader->redis, &reply, error, "INFO replication");

	if (err)
		return err;
	info = reply->type == REDIS_REPLY_STRING ? reply->str : "";
	find_replication(info, replication, room);
	if (!reader->fleet->conf.replicas.n && !strstr(info, "role:master"))
		err = baleen_fail(error, EAGAIN, "%s:%s is no longer the master", server->host,
				  server->port);
	else if (!redis_has_news(info))
		err = baleen_fail(error, EAGAIN, "%s:%s has lost its master", server->host,
				  server->port);
	freeReplyObject(reply);
	return err;
}

void source_tell_silence(struct reader *reader)
{
	struct fleet *fleet = reader->fleet;
	u64 now_ms = baleen_monotonic_ms();
	struct baleen_fleet_health health;
	char others[40] = "";

	if (baleen_fleet_health_read(&fleet->store, baleen_now_ms(), &health, NULL))
		return;
	if (!health.n_silent)
		reader->silence_said_ms = 0;
	if (!health.n_silent ||
	    (reader->silence_said_ms && now_ms < reader->silence_said_ms + AGAIN_MS))
		return;
	reader->silence_said_ms = now_ms;
	if (health.n_silent > 1)
		snprintf(others, sizeof(others), " and %llu others",
			 (unsigned long long)health.n_silent - 1);
	say(fleet, LOG_ALERT,
	    "%s%s said nothing new for two minutes or more: either baleend does not run there, or "
	    "Redis withholds it (%llu of %llu publishers are silent)",
	    health.silent, others, (unsigned long long)health.n_silent,
	    (unsigned long long)health.n_publishers);
}
