// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signs of life of this host, for `baleen fleet status` of others. */
#include <stdio.h>
#include <sys/random.h>

#include "fleetd/fleetd.h"

static int call(struct redis *redis, struct baleen_error *error, const char *command)
{
	redisReply *reply = NULL;
	int err = redis_call(redis, &reply, error, command);

	if (!err)
		freeReplyObject(reply);
	return err;
}

int life_show(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	const struct baleen_fleet_conf *conf = &fleet->conf;
	u64 now_s = broker_ms(fleet) / 1000, epoch = 0;
	char command[512];
	int err;

	if (getrandom(&epoch, sizeof(epoch), 0) != sizeof(epoch))
		epoch = now_s;
	snprintf(command, sizeof(command), "SET {%s}:epoch %016llx NX", conf->fleet,
		 (unsigned long long)epoch);
	err = call(redis, error, command);
	snprintf(command, sizeof(command), "ZADD {%s}:hosts %llu %s", conf->fleet,
		 (unsigned long long)now_s, conf->host);
	if (!err)
		err = call(redis, error, command);
	/* So that the set does not keep hosts of last year. */
	snprintf(command, sizeof(command), "ZREMRANGEBYSCORE {%s}:hosts -inf %llu", conf->fleet,
		 (unsigned long long)(now_s - 86400));
	return err ? err : call(redis, error, command);
}
