// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Control messages; those that Redis has lost come back: each host has them as they were signed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_kept.h"
#include "fleetd/fleetd.h"

int control_send(const struct baleen_fleet_conf *conf, struct redis *redis, const char *name,
		 const void *bytes, size_t n_bytes, struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, "HSET {%s}:control %s %b", conf->fleet, name,
			     bytes, n_bytes);

	if (err)
		return err;
	freeReplyObject(reply);
	err = redis_call(redis, &reply, error, "XADD {%s}:log MAXLEN ~ " LOG_LENGTH " * m %b",
			 conf->fleet, bytes, n_bytes);
	if (!err)
		freeReplyObject(reply);
	return err;
}

/* Messages that are compared each time. */
#define AT_ONCE 64

static int put_back(struct fleet *fleet, struct redis *redis, const struct baleen_fleet_kept *kept,
		    struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err;

	/* Whoever asked for it may no longer. */
	if (!baleen_fleet_kept_counts(&fleet->policy, kept->name, kept->bytes, kept->n_bytes))
		return 0;
	err = redis_call(redis, &reply, error, "HSET {%s}:control %s %b", fleet->conf.fleet,
			 kept->name, kept->bytes, kept->n_bytes);
	if (err)
		return err;
	freeReplyObject(reply);
	say(fleet, LOG_NOTICE, "Redis has lost '%s': it has it again", kept->name);
	return 0;
}

/* One whose user may not delete keeps what is over. */
static int take_out(struct fleet *fleet, struct redis *redis, const struct baleen_fleet_kept *kept,
		    struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, "HDEL {%s}:control %s", fleet->conf.fleet,
			     kept->name);

	if (err && err != -EREMOTE)
		return err;
	if (!err)
		freeReplyObject(reply);
	return baleen_fleet_kept_forget(&fleet->store, kept, error);
}

static int compare(struct fleet *fleet, struct redis *redis, const struct baleen_fleet_kept *kept,
		   struct baleen_error *error)
{
	redisReply *reply = NULL;
	u64 there_ms = 0;
	int err = redis_call(redis, &reply, error, "HGET {%s}:control %s", fleet->conf.fleet,
			     kept->name);

	if (err)
		return err;
	if (reply->type == REDIS_REPLY_STRING)
		there_ms = baleen_fleet_kept_counts(&fleet->policy, kept->name, reply->str,
						    reply->len);
	freeReplyObject(reply);
	if (kept->is_over && there_ms <= kept->made_ms)
		return take_out(fleet, redis, kept, error);
	return there_ms < kept->made_ms ? put_back(fleet, redis, kept, error) : 0;
}

int controls_put_back(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	static char after[BALEEN_FLEET_KEPT_NAME_BYTES];
	struct baleen_fleet_kept *kept = calloc(AT_ONCE, sizeof(*kept));
	size_t n = 0;
	int err;

	if (!kept)
		return baleen_no_memory(error);
	err = baleen_fleet_kept_next(&fleet->store, after, broker_ms(fleet), kept, AT_ONCE, &n,
				     error);
	for (size_t i = 0; i < n && !err; i++)
		err = compare(fleet, redis, &kept[i], error);
	/* The next ones the next time; then from the first one again. */
	if (!err)
		strcpy(after, n == AT_ONCE ? kept[n - 1].name : "");
	free(kept);
	return err;
}
