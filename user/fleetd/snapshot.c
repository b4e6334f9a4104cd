// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The beginning of a snapshot tells whether the rest is needed; who needs a newer one says so. */
#include <errno.h>
#include <string.h>

#include "fleetd/fleetd.h"

/* A user of Redis of before may not ask for a part: then it is not known. */
int snapshot_peek(struct redis *redis, const struct baleen_fleet_conf *conf, const char *name,
		  redisReply **reply, struct baleen_error *error)
{
	int err = redis_call(redis, reply, error, "GETRANGE {%s}:snap:%s 0 %d", conf->fleet, name,
			     BALEEN_FLEET_PEEK_BYTES - 1);

	if (err == -EREMOTE)
		*reply = NULL;
	return err == -EREMOTE ? 0 : err;
}

bool snapshot_is(const redisReply *reply, const struct baleen_fleet_conf *conf, const char *name,
		 struct baleen_fleet_message *message)
{
	return reply && reply->type == REDIS_REPLY_STRING &&
	       !baleen_fleet_peek(reply->str, reply->len, message) &&
	       message->type == BALEEN_FLEET_SNAPSHOT && !strcmp(message->fleet, conf->fleet) &&
	       !strcmp(message->publisher, name);
}

int snapshot_want(struct redis *redis, const struct baleen_fleet_conf *conf, const char *name,
		  struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, "HSET {%s}:wanted %s %s", conf->fleet, name,
			     conf->host);

	if (!err)
		freeReplyObject(reply);
	return err;
}

/**
 * struct wanting - publishers whose snapshots are asked for
 * @fleet: the fleet
 * @redis: the master
 * @error: filled in on failure
 */
struct wanting {
	struct fleet *fleet;
	struct redis *redis;
	struct baleen_error *error;
};

static int want(const struct baleen_fleet_publisher *publisher, void *data)
{
	const struct wanting *wanting = data;

	if (publisher->is_own || publisher->lacks <= publisher->sequence)
		return 0;
	return snapshot_want(wanting->redis, &wanting->fleet->conf, publisher->name,
			     wanting->error);
}

int snapshot_want_all(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	struct wanting wanting = { .fleet = fleet, .redis = redis, .error = error };

	return baleen_fleet_store_each(&fleet->store, want, &wanting, error);
}
