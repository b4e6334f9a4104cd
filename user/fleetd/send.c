// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Batches, heads and snapshots go out. */
#include <errno.h>
#include <string.h>

#include "fleetd/publisher.h"
#include "util/array.h"

struct baleen_fleet_signer signer_of(const struct fleet *fleet)
{
	return (struct baleen_fleet_signer){ .fleet = fleet->conf.fleet,
					     .keys = &fleet->keys,
					     .now_ms = broker_ms(fleet) };
}

/* Answers of a transaction: n times QUEUED, then one of EXEC. */
static int end_transaction(struct redis *redis, u32 n, struct baleen_error *error)
{
	redisReply *reply = NULL;
	struct baleen_error first;
	int err = 0, ret = 0;

	for (u32 i = 0; i < n; i++) {
		err = redis_receive(redis, REDIS_STEP_MS, -1, &reply,
				    ret == -EREMOTE ? &first : error);
		if (err && err != -EREMOTE)
			return err;
		ret = ret ? ret : err;
		if (!err && i + 1 == n && reply->type != REDIS_REPLY_ARRAY)
			ret = baleen_fail(error, EREMOTE, "a transaction was not carried out");
		for (size_t j = 0; !err && !ret && i + 1 == n && j < reply->elements; j++)
			if (reply->element[j]->type == REDIS_REPLY_ERROR)
				ret = baleen_fail(error, EREMOTE, "%.200s", reply->element[j]->str);
		if (!err)
			freeReplyObject(reply);
	}
	return ret;
}

/* A batch or a note, with the head, as one; without one when more batches follow. */
static int send_with_head(struct publisher *publisher, const char *name,
			  const struct baleen_fleet_writer *message,
			  const struct baleen_fleet_writer *head, struct baleen_error *error)
{
	const char *fleet = publisher->fleet->conf.fleet;
	struct redis *redis = &publisher->redis;
	int err = redis_send(redis, error, "MULTI");

	if (!err)
		err = redis_send(redis, error, "XADD {%s}:log MAXLEN ~ " LOG_LENGTH " * m %b",
				 fleet, message->bytes, message->n_bytes);
	if (!err && head->n_bytes)
		err = redis_send(redis, error, "HSET {%s}:heads %s %b", fleet, name, head->bytes,
				 head->n_bytes);
	if (!err)
		err = redis_send(redis, error, "EXEC");
	return err ? err : end_transaction(redis, head->n_bytes ? 4 : 3, error);
}

/* A head tells of all that was published, so it goes with the last batch: who sees it before
 * would fetch a snapshot of what the next batches bring.
 */
int send_batches(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	u64 sent = own->acknowledged, last = 0;
	int more = 1, err = 0;

	while (more > 0 && !err) {
		const struct baleen_fleet_signer signer = signer_of(fleet);
		struct baleen_fleet_writer batch = { 0 }, head = { 0 };

		more = baleen_fleet_own_batch(&fleet->store, own->name, &signer, sent, &batch,
					      &last, error);
		if (more <= 0)
			return more;
		if (last >= own->sequence)
			err = baleen_fleet_own_head(&fleet->store, own->name, &signer, &head,
						    error);
		if (!err)
			err = send_with_head(publisher, own->name, &batch, &head, error);
		if (!err)
			err = baleen_fleet_own_acknowledge(&fleet->store, own->name, last, error);
		sent = last;
		baleen_fleet_writer_free(&batch);
		baleen_fleet_writer_free(&head);
	}
	return err;
}

struct sent *find_sent(struct publisher *publisher, const char *name)
{
	for (size_t i = 0; i < publisher->n_snapshots; i++)
		if (!strcmp(publisher->snapshot[i].name, name))
			return &publisher->snapshot[i];
	if (baleen_array_add(&publisher->snapshot, publisher->n_snapshots))
		return NULL;
	publisher->snapshot[publisher->n_snapshots] = (struct sent){ 0 };
	strcpy(publisher->snapshot[publisher->n_snapshots].name, name);
	return &publisher->snapshot[publisher->n_snapshots++];
}

int send_snapshot(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		  struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	const struct baleen_fleet_signer signer = signer_of(fleet);
	struct baleen_fleet_writer snapshot = { 0 };
	struct sent *sent = find_sent(publisher, own->name);
	redisReply *reply = NULL;
	int err = sent ? 0 : baleen_no_memory(error);

	if (!err)
		err = baleen_fleet_own_snapshot(&fleet->store, own->name, &signer, &snapshot,
						error);
	if (!err)
		err = redis_call(&publisher->redis, &reply, error, "SET {%s}:snap:%s %b",
				 fleet->conf.fleet, own->name, snapshot.bytes, snapshot.n_bytes);
	if (!err) {
		freeReplyObject(reply);
		sent->is_known = true;
		sent->made_ms = signer.now_ms;
		sent->sequence = own->sequence;
		memcpy(sent->incarnation, own->incarnation, sizeof(sent->incarnation));
	}
	baleen_fleet_writer_free(&snapshot);
	return err;
}

/* So that others see that it is alive, and that nobody holds back what it says. */
int send_head(struct publisher *publisher, const struct baleen_fleet_publisher *own,
	      struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	const struct baleen_fleet_signer signer = signer_of(fleet);
	struct baleen_fleet_writer head = { 0 };
	redisReply *reply = NULL;
	int err = baleen_fleet_own_head(&fleet->store, own->name, &signer, &head, error);

	if (!err)
		err = redis_call(&publisher->redis, &reply, error, "HSET {%s}:heads %s %b",
				 fleet->conf.fleet, own->name, head.bytes, head.n_bytes);
	if (!err)
		freeReplyObject(reply);
	baleen_fleet_writer_free(&head);
	return err;
}

/* The snapshot first: who sees the head fetches it. The note is the head itself. */
int publish_anew(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	const struct baleen_fleet_signer signer = signer_of(fleet);
	struct baleen_fleet_writer head = { 0 };
	int err = send_snapshot(publisher, own, error);

	if (!err)
		err = baleen_fleet_own_head(&fleet->store, own->name, &signer, &head, error);
	if (!err)
		err = send_with_head(publisher, own->name, &head, &head, error);
	if (!err)
		err = baleen_fleet_own_acknowledge(&fleet->store, own->name, own->sequence, error);
	baleen_fleet_writer_free(&head);
	return err;
}
