// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of this host --> the stream.
 *
 *      states --> local_sync() --> outbox --> XADD, with the head in one transaction of Redis
 *                                  |
 *             head at Redis is not what was sent --> snapshot, head, and a note in the stream
 *
 * Redis may forget what it acknowledged. The head there says how much it has; who finds less
 * than he has sent publishes anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleetd/fleetd.h"
#include "util/array.h"
#include "util/clock.h"

/* Changes that come so soon after others go out with the next ones. */
#define COALESCE_MS 50
/* A state that could not be read is read again. */
#define AGAIN_MS 500
/* Another host with this name would have published something meanwhile. */
#define OTHER_MS 60000

/**
 * struct sent - the snapshot of a publisher at Redis, and what was found there
 * @name: HOST/ORIGIN
 * @sequence: number of its last change when it was sent
 * @incarnation: the same
 * @other_made_ms: when the head of another host that has this name was made; 0 for none
 * @other_since_ms: since when it is the same, CLOCK_MONOTONIC
 * @waits: another host publishes under this name: nothing is sent
 */
struct sent {
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	u64 sequence;
	u8 incarnation[BALEEN_FLEET_INCARNATION_BYTES];
	u64 other_made_ms;
	u64 other_since_ms;
	bool waits;
};

/**
 * struct publisher - the one that publishes
 * @fleet: what it knows
 * @redis: connection to the master
 * @pause: after failures
 * @changes: see changes_open()
 * @is_due: states have changed
 * @synced_ms: when they were read the last time, CLOCK_MONOTONIC
 * @looks_at_ms: when heads are to be compared
 * @snapshot: one for each publisher of this host
 * @n_snapshots: how many
 */
struct publisher {
	struct fleet *fleet;
	struct redis redis;
	struct pause pause;
	int changes;
	bool is_due;
	u64 synced_ms;
	u64 looks_at_ms;
	struct sent *snapshot;
	size_t n_snapshots;
};

static struct baleen_fleet_signer signer_of(const struct fleet *fleet)
{
	return (struct baleen_fleet_signer){ .fleet = fleet->conf.fleet,
					     .keys = &fleet->keys,
					     .now_ms = broker_ms(fleet) };
}

/* --- own publishers ----------------------------------------------------------------- */

/**
 * struct own - the publishers of this host
 * @publisher: they
 * @n: how many
 */
struct own {
	struct baleen_fleet_publisher *publisher;
	size_t n;
};

static int keep_own(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct own *own = data;

	if (!publisher->is_own)
		return 0;
	if (baleen_array_add(&own->publisher, own->n))
		return -ENOMEM;
	own->publisher[own->n++] = *publisher;
	return 0;
}

static int find_own(struct publisher *publisher, struct own *own, struct baleen_error *error)
{
	*own = (struct own){ 0 };
	return baleen_fleet_store_each(&publisher->fleet->store, keep_own, own, error);
}

/* --- sending ------------------------------------------------------------------------ */

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
static int send_batches(struct publisher *publisher, const struct baleen_fleet_publisher *own,
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

static struct sent *find_sent(struct publisher *publisher, const char *name)
{
	for (size_t i = 0; i < publisher->n_snapshots; i++)
		if (!strcmp(publisher->snapshot[i].name, name))
			return &publisher->snapshot[i];
	if (baleen_array_add(&publisher->snapshot, publisher->n_snapshots))
		return NULL;
	publisher->snapshot[publisher->n_snapshots] = (struct sent){ .sequence = ~0ull };
	strcpy(publisher->snapshot[publisher->n_snapshots].name, name);
	return &publisher->snapshot[publisher->n_snapshots++];
}

static int send_snapshot(struct publisher *publisher, const struct baleen_fleet_publisher *own,
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
		sent->sequence = own->sequence;
		memcpy(sent->incarnation, own->incarnation, sizeof(sent->incarnation));
	}
	baleen_fleet_writer_free(&snapshot);
	return err;
}

/* The snapshot first: who sees the head fetches it. The note is the head itself. */
static int publish_anew(struct publisher *publisher, const struct baleen_fleet_publisher *own,
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

/* --- heads ---------------------------------------------------------------------------- */

static int renew(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct baleen_fleet_publisher renewed;
	int err;

	say(fleet, LOG_ALERT,
	    "%s: somebody has published other bans under this name: this host is a copy of another "
	    "one, was installed anew, or went back in time; it takes a new incarnation",
	    own->name);
	err = baleen_fleet_own_renew(&fleet->store, own->name, broker_ms(fleet), error);
	if (!err)
		err = baleen_fleet_store_find(&fleet->store, own->name, &renewed, error);
	return err > 0 ? publish_anew(publisher, &renewed, error) : err;
}

/* A head that this host has not signed is replaced. */
static bool read_head(const struct fleet *fleet, const redisReply *reply,
		      const struct baleen_fleet_publisher *own, struct baleen_fleet_message *head)
{
	const char *why;

	return reply->type == REDIS_REPLY_STRING &&
	       !baleen_fleet_decode(reply->str, reply->len, head, &why) &&
	       head->type == BALEEN_FLEET_HEAD && !strcmp(head->publisher, own->name) &&
	       !strcmp(head->fleet, fleet->conf.fleet) &&
	       baleen_fleet_verify(reply->str, reply->len, fleet->keys.public_key);
}

/* A head of another incarnation that nobody changes is of this host before it was installed
 * anew.
 */
static bool is_at_rest(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		       const struct baleen_fleet_message *head)
{
	struct sent *sent = find_sent(publisher, own->name);
	u64 now_ms = baleen_monotonic_ms();

	if (!sent)
		return false;
	if (!sent->other_since_ms || sent->other_made_ms != head->made_ms)
		sent->other_since_ms = now_ms;
	sent->other_made_ms = head->made_ms;
	return now_ms > sent->other_since_ms + OTHER_MS;
}

static int compare_head(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			const redisReply *reply, struct baleen_error *error)
{
	struct fleet *fleet = publisher->fleet;
	struct sent *sent = find_sent(publisher, own->name);
	struct baleen_fleet_message head;
	u32 standing = BALEEN_FLEET_BEHIND;
	int err = 0;

	if (!sent)
		return baleen_no_memory(error);
	sent->waits = false;
	if (read_head(fleet, reply, own, &head)) {
		err = baleen_fleet_own_compare(&fleet->store, &head, &standing, error);
		/* The outbox comes behind it. */
		if (!err && standing == BALEEN_FLEET_BEHIND && head.last == own->acknowledged &&
		    own->acknowledged < own->sequence &&
		    !memcmp(head.incarnation, own->incarnation, sizeof(head.incarnation)))
			return 0;
	}
	if (err)
		return err;
	if (standing == BALEEN_FLEET_CLONE)
		return renew(publisher, own, error);
	if (standing == BALEEN_FLEET_OTHER && is_at_rest(publisher, own, &head))
		return renew(publisher, own, error);
	sent->waits = standing == BALEEN_FLEET_OTHER;
	if (sent->waits)
		say(fleet, LOG_ALERT,
		    "%s: another host publishes under this name: this one waits until it stops",
		    own->name);
	return standing == BALEEN_FLEET_BEHIND ? publish_anew(publisher, own, error) : 0;
}

static bool is_stale(struct publisher *publisher, const struct baleen_fleet_publisher *own)
{
	const struct sent *sent = find_sent(publisher, own->name);

	if (sent && sent->waits)
		return false;
	return !sent || sent->sequence != own->sequence ||
	       memcmp(sent->incarnation, own->incarnation, sizeof(sent->incarnation));
}

static int fetch_and_compare(struct publisher *publisher, const struct baleen_fleet_publisher *own,
			     struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(&publisher->redis, &reply, error, "HGET {%s}:heads %s",
			     publisher->fleet->conf.fleet, own->name);

	if (err)
		return err;
	err = compare_head(publisher, own, reply, error);
	freeReplyObject(reply);
	return err;
}

static int compare_heads(struct publisher *publisher, struct baleen_error *error)
{
	struct own own;
	int err = find_own(publisher, &own, error);

	for (size_t i = 0; i < own.n && !err; i++) {
		err = fetch_and_compare(publisher, &own.publisher[i], error);
		if (!err && is_stale(publisher, &own.publisher[i]))
			err = send_snapshot(publisher, &own.publisher[i], error);
	}
	free(own.publisher);
	return err;
}

/* --- all that is looked at ------------------------------------------------------------- */

static int look(struct publisher *publisher, struct baleen_error *error)
{
	int err;

	publisher->looks_at_ms = baleen_monotonic_ms() + RECONCILE_MS;
	/* A change that was not told of goes out, too. */
	publisher->is_due = true;
	changes_mend(publisher->fleet, &publisher->changes);
	if (!redis_is_master_still(&publisher->redis, &publisher->fleet->conf)) {
		redis_close(&publisher->redis);
		return baleen_fail(error, EAGAIN, "%s:%s is no longer the master",
				   publisher->redis.server.host, publisher->redis.server.port);
	}
	err = clock_measure(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = life_show(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = policy_offer(publisher->fleet, &publisher->redis, error);
	if (!err)
		err = controls_put_back(publisher->fleet, &publisher->redis, error);
	return err ? err : compare_heads(publisher, error);
}

/* --- the loop --------------------------------------------------------------------------- */

static bool waits(struct publisher *publisher, const char *name)
{
	const struct sent *sent = find_sent(publisher, name);

	return sent && sent->waits;
}

static int send_all(struct publisher *publisher, struct baleen_error *error)
{
	struct own own;
	int err = find_own(publisher, &own, error);

	for (size_t i = 0; i < own.n && !err; i++)
		if (own.publisher[i].acknowledged < own.publisher[i].sequence &&
		    !waits(publisher, own.publisher[i].name))
			err = send_batches(publisher, &own.publisher[i], error);
	free(own.publisher);
	return err;
}

/* An error that Redis answered leaves a connection, whose next answers could be of others. */
static void fail(struct publisher *publisher, const struct baleen_error *error)
{
	say(publisher->fleet, LOG_WARNING, "%s", error->text);
	note(publisher->fleet, "publisher-error", "%s", error->text);
	redis_close(&publisher->redis);
	pause_more(&publisher->pause);
}

static void work(struct publisher *publisher)
{
	u64 now_ms = baleen_monotonic_ms();
	struct baleen_error error;
	int err = 0;

	if (publisher->is_due && now_ms >= publisher->synced_ms + COALESCE_MS) {
		publisher->synced_ms = now_ms;
		publisher->is_due = false;
		if (local_sync(publisher->fleet, &error)) {
			say(publisher->fleet, LOG_WARNING, "%s", error.text);
			publisher->is_due = true;
			publisher->synced_ms = now_ms + AGAIN_MS;
		}
	}
	if (publisher->redis.fd < 0 && now_ms < publisher->pause.until_ms)
		return;
	if (publisher->redis.fd < 0) {
		err = redis_find(&publisher->redis, &publisher->fleet->conf, REDIS_MASTER, &error);
		publisher->looks_at_ms = 0;
		publisher->n_snapshots = 0;
	}
	if (!err && now_ms >= publisher->looks_at_ms)
		err = look(publisher, &error);
	if (!err)
		err = signals_send(publisher->fleet, &publisher->redis, &error);
	if (!err)
		err = send_all(publisher, &error);
	if (err)
		fail(publisher, &error);
	else
		note(publisher->fleet, "publisher-error", "%s", "");
	if (!err)
		pause_none(&publisher->pause);
}

static u64 next_ms(const struct publisher *publisher)
{
	u64 next = publisher->redis.fd < 0 ? publisher->pause.until_ms : publisher->looks_at_ms;

	if (publisher->is_due && publisher->synced_ms + COALESCE_MS < next)
		next = publisher->synced_ms + COALESCE_MS;
	return next;
}

/* Nothing is expected of Redis between commands but its end. */
static void rest(struct publisher *publisher)
{
	struct pollfd fds[] = { { .fd = publisher->changes, .events = POLLIN },
				{ .fd = publisher->redis.fd, .events = POLLIN } };
	u64 now_ms = baleen_monotonic_ms(), next = next_ms(publisher);

	if (poll(fds, 2, next > now_ms ? (int)(next - now_ms) : 0) <= 0)
		return;
	if (fds[0].revents) {
		changes_read(&publisher->changes);
		publisher->is_due = true;
	}
	if (fds[1].revents)
		redis_close(&publisher->redis);
}

int publisher_run(struct fleet *fleet)
{
	struct publisher publisher = { .fleet = fleet, .redis = REDIS_CLOSED, .is_due = true };

	publisher.changes = changes_open();
	for (;;) {
		work(&publisher);
		rest(&publisher);
	}
}
