// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A question to all hosts, for `baleen fleet who --all`: their answers, a line each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/fleet_answer.h"
#include "fleetd/order.h"
#include "util/clock.h"
#include "util/foreign.h"

/* Answers are looked for so often. */
#define LOOK_MS 50

/**
 * struct asking - one question
 * @fleet: fleet.conf and policy
 * @redis: the master
 * @question: decoded
 * @has: of each host of the policy: it has answered
 * @n: how many have
 * @until_ms: CLOCK_MONOTONIC, the end
 */
struct asking {
	struct fleet *fleet;
	struct redis *redis;
	struct baleen_fleet_message question;
	bool *has;
	size_t n;
	u64 until_ms;
};

/* A host that the policy knows answers once; what is none of its answers is passed over. */
static void take_answer(struct asking *asking, const redisReply *field, const redisReply *value)
{
	const struct baleen_fleet_policy *policy = &asking->fleet->policy;
	struct baleen_fleet_message answer;
	char line[4 * BALEEN_FLEET_REASON_BYTES + 128];

	if (field->type != REDIS_REPLY_STRING || value->type != REDIS_REPLY_STRING)
		return;
	for (size_t i = 0; i < policy->n_hosts; i++) {
		if (strcmp(policy->host[i].name, field->str))
			continue;
		if (asking->has[i] ||
		    !baleen_fleet_answer_read(policy, &asking->question, field->str, value->str,
					      value->len, &answer))
			return;
		asking->has[i] = true;
		asking->n++;
		/* A reason of another host is no second line. */
		baleen_foreign_format(line, sizeof(line), "%s %u %s", policy->host[i].name,
				      answer.value, answer.reason);
		puts(line);
	}
}

static int look(struct asking *asking, const char *name, struct baleen_error *error)
{
	char cursor[CURSOR_BYTES] = "0";
	int err = 0;

	do {
		redisReply *reply = NULL;
		const redisReply *fields;

		err = redis_call(asking->redis, &reply, error, "HSCAN %s %s COUNT 64", name,
				 cursor);
		if (err)
			return err;
		if (!hash_part_is(reply)) {
			freeReplyObject(reply);
			return baleen_fail(error, EPROTO, "no answer to HSCAN");
		}
		strcpy(cursor, reply->element[0]->str);
		fields = reply->element[1];
		for (size_t i = 0; i + 1 < fields->elements; i += 2)
			take_answer(asking, fields->element[i], fields->element[i + 1]);
		freeReplyObject(reply);
	} while (strcmp(cursor, "0") && baleen_monotonic_ms() < asking->until_ms);
	return 0;
}

static int wait_for_answers(struct asking *asking, struct baleen_error *error)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };
	char name[ANSWERS_NAME];
	int err;

	answers_name(&asking->fleet->conf, &asking->question, name);
	do {
		nanosleep(&pause, NULL);
		err = look(asking, name, error);
	} while (!err && asking->n < asking->fleet->policy.n_hosts &&
		 baleen_monotonic_ms() < asking->until_ms);
	return err;
}

int ask_all(struct fleet *fleet, struct redis *redis, const void *bytes, size_t n_bytes,
	    u64 wait_ms, struct baleen_error *error)
{
	struct asking asking = { .fleet = fleet,
				 .redis = redis,
				 .until_ms = baleen_monotonic_ms() + wait_ms };
	redisReply *reply = NULL;
	const char *why;
	int err = baleen_fleet_site_policy(&fleet->conf, &fleet->policy, NULL, error);

	if (err)
		return err;
	if (baleen_fleet_decode(bytes, n_bytes, &asking.question, &why))
		return baleen_fail(error, EINVAL, "%s", why);
	asking.has = calloc(fleet->policy.n_hosts + 1, sizeof(*asking.has));
	if (!asking.has)
		return baleen_no_memory(error);
	err = redis_call(redis, &reply, error, "XADD {%s}:log MAXLEN ~ " LOG_LENGTH " * m %b",
			 fleet->conf.fleet, bytes, n_bytes);
	if (!err) {
		freeReplyObject(reply);
		err = wait_for_answers(&asking, error);
	}
	free(asking.has);
	baleen_fleet_policy_free(&fleet->policy);
	return err;
}
