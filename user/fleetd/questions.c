// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Questions of operators about a key: the reader hears them, the publisher answers at the master.
 *
 *      reader --> socket --> publisher --> hash {FLEET}:answer:ID, field HOST
 *
 * The socket holds a few: what does not fit is not answered.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>

#include "fleet/fleet_answer.h"
#include "fleet/fleet_kept.h"
#include "fleetd/fleetd.h"

/* Answers to a question that Redis forgets by itself. */
#define ANSWER_S "60"
/* Questions that are answered at a time. */
#define AT_ONCE 16

int questions_open(struct fleet *fleet)
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
			  fleet->question) ?
		       -errno :
		       0;
}

void question_pass(struct fleet *fleet, const void *bytes, size_t n_bytes)
{
	if (send(fleet->question[1], bytes, n_bytes, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
		say(fleet, LOG_WARNING, "a question is not answered: %s", strerror(errno));
}

static int answer(struct fleet *fleet, struct redis *redis,
		  const struct baleen_fleet_message *question, struct baleen_error *error)
{
	const struct baleen_fleet_signer signer = { .fleet = fleet->conf.fleet,
						    .keys = &fleet->keys,
						    .now_ms = broker_ms(fleet) };
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES], name[ANSWERS_NAME];
	struct baleen_fleet_writer writer = { 0 };
	struct baleen_fleet_live live;
	redisReply *reply = NULL;
	int err;

	/* One that was read again, or comes from a stream of before. */
	if (question->made_ms + BALEEN_FLEET_QUESTION_MS < signer.now_ms)
		return 0;
	snprintf(publisher, sizeof(publisher), "%s/" OPERATOR, fleet->conf.host);
	answers_name(&fleet->conf, question, name);
	err = baleen_fleet_live_ask(question->set, &question->key, &live, error);
	if (!err)
		err = baleen_fleet_answer_make(&fleet->store, question, &live, publisher, &signer,
					       &writer, error);
	if (!err)
		err = redis_call(redis, &reply, error, "HSET %s %s %b", name, fleet->conf.host,
				 writer.bytes, writer.n_bytes);
	if (!err) {
		freeReplyObject(reply);
		err = redis_call(redis, &reply, error, "EXPIRE %s " ANSWER_S, name);
	}
	if (!err)
		freeReplyObject(reply);
	baleen_fleet_writer_free(&writer);
	return err;
}

int questions_answer(struct fleet *fleet, struct redis *redis, struct baleen_error *error)
{
	u8 bytes[BALEEN_FLEET_CONTROL_MAX];
	struct baleen_fleet_message question;
	const char *why;
	int err = 0;

	for (u32 i = 0; i < AT_ONCE && !err; i++) {
		ssize_t n = recv(fleet->question[0], bytes, sizeof(bytes), 0);

		if (n <= 0)
			break;
		if (!baleen_fleet_decode(bytes, n, &question, &why))
			err = answer(fleet, redis, &question, error);
	}
	return err;
}

char *answers_name(const struct baleen_fleet_conf *conf,
		   const struct baleen_fleet_message *question, char *name)
{
	int n = snprintf(name, ANSWERS_NAME, "{%s}:answer:", conf->fleet);

	for (u32 i = 0; i < 8; i++)
		n += snprintf(name + n, ANSWERS_NAME - n, "%02x", question->incarnation[i]);
	return name;
}
