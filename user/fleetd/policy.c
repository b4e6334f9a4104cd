// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy over Redis: it is signed, so that anything may carry it. */
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleetd/fleetd.h"

/* The serial alone: a policy of many hosts is long. Nobody vouches for it. */
static int find_serial(struct fleet *fleet, struct redis *redis, u64 *serial,
		       struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, "HGET {%s}:policy serial", fleet->conf.fleet);

	if (err)
		return err;
	*serial = reply->type == REDIS_REPLY_STRING ? strtoull(reply->str, NULL, 10) : 0;
	freeReplyObject(reply);
	return 0;
}

int policy_offer(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	struct baleen_fleet_signed texts = { 0 };
	struct baleen_fleet_policy policy = { 0 };
	redisReply *reply = NULL;
	u64 serial = 0;
	int err = find_serial(fleet, redis, &serial, error);

	if (err || serial >= fleet->policy.serial)
		return err;
	err = baleen_fleet_site_policy(&fleet->conf, &policy, &texts, error);
	if (!err)
		err = redis_call(redis, &reply, error,
				 "HSET {%s}:policy serial %llu text %s signature %s",
				 fleet->conf.fleet, (unsigned long long)policy.serial, texts.text,
				 texts.signature);
	if (!err)
		freeReplyObject(reply);
	baleen_fleet_signed_free(&texts);
	baleen_fleet_policy_free(&policy);
	return err;
}

static char *text_of(const redisReply *reply, size_t index)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
			       reply->element[index]->type == REDIS_REPLY_STRING ?
		       reply->element[index]->str :
		       NULL;
}

int policy_fetch(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	struct baleen_fleet_signed texts;
	redisReply *reply = NULL;
	struct baleen_error why;
	u64 serial = 0;
	int ret = find_serial(fleet, redis, &serial, error);

	if (ret || serial <= fleet->policy.serial)
		return ret;
	ret = redis_call(redis, &reply, error, "HMGET {%s}:policy text signature",
			     fleet->conf.fleet);

	if (ret)
		return ret;
	texts = (struct baleen_fleet_signed){ text_of(reply, 0), text_of(reply, 1) };
	if (texts.text && texts.signature)
		ret = baleen_fleet_site_policy_take(&fleet->conf, &texts, &why);
	freeReplyObject(reply);
	/* One that is not right is no reason to leave the connection. */
	if (ret < 0)
		say(fleet, LOG_WARNING, "the policy that Redis has is refused: %s", why.text);
	if (ret > 0)
		say(fleet, LOG_NOTICE, "there is a newer policy");
	return ret > 0;
}
