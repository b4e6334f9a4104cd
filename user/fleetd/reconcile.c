// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stream may lose, repeat or rewind: found by heads, mended by snapshots.
 *
 *      epoch, replication id, last id of the stream --> is the cursor one of this stream?
 *      heads of all publishers --> who is ahead of what is here --> snapshots
 *
 * A stream whose last id is before the cursor never answers XREAD, and says nothing. So its
 * last id is asked for, and then it is read from its beginning: what is there already is passed
 * over by its numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_health.h"
#include "fleet/fleet_kept.h"
#include "fleetd/fleetd.h"
#include "state/entries.h"
#include "util/array.h"
#include "util/clock.h"

/* Fields of a hash that are asked for at once, about. */
#define AT_ONCE "64"
/* BALEEN_FLEET_A_LOOK messages are looked at each time, about: what a look costs does not grow with the
 * fleet, but the time that it takes to look at all. The first look, and one at another stream, is at
 * all. So many fields may be none: anybody may fill a hash.
 */
#define JUNK_A_LOOK (64 * BALEEN_FLEET_A_LOOK)
/* A head is shorter. */
#define HEAD_MAX 512

/* --- is it the same stream? ----------------------------------------------------------- */

/* The value of a name in an array of names and values; NULL for none. */
static const redisReply *find_value(const redisReply *reply, const char *name)
{
	if (reply->type != REDIS_REPLY_ARRAY)
		return NULL;
	for (size_t i = 0; i + 1 < reply->elements; i += 2)
		if (reply->element[i]->type == REDIS_REPLY_STRING &&
		    !strcmp(reply->element[i]->str, name))
			return reply->element[i + 1];
	return NULL;
}

/* Digits that are a number of 64 bits; behind them, or NULL. */
static const char *skip_number(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	strtoull(text, &end, 10);
	return errno ? NULL : end;
}

bool stream_id_is(const char *id)
{
	const char *end = strlen(id) < CURSOR_BYTES ? skip_number(id) : NULL;

	end = end && *end == '-' ? skip_number(end + 1) : NULL;
	return end && !*end;
}

bool stream_id_is_before(const char *a, const char *b)
{
	char *a_end, *b_end;
	u64 a_ms = strtoull(a, &a_end, 10), b_ms = strtoull(b, &b_end, 10);

	if (a_ms != b_ms)
		return a_ms < b_ms;
	return (*a_end == '-' ? strtoull(a_end + 1, NULL, 10) : 0) <
	       (*b_end == '-' ? strtoull(b_end + 1, NULL, 10) : 0);
}

static int find_last_id(struct reader *reader, char *id, size_t room, struct baleen_error *error)
{
	redisReply *reply = NULL;
	const redisReply *last;
	int err = redis_call(&reader->redis, &reply, error, "XINFO STREAM {%s}:log",
			     reader->fleet->conf.fleet);

	snprintf(id, room, "0-0");
	/* There is no stream yet, or no longer. */
	if (err == -EREMOTE && strstr(error->text, "no such key"))
		return 0;
	if (err)
		return err;
	last = find_value(reply, "last-generated-id");
	if (last && last->type == REDIS_REPLY_STRING)
		snprintf(id, room, "%s", last->str);
	freeReplyObject(reply);
	return 0;
}

static int find_epoch(struct reader *reader, char *epoch, size_t room, struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_call(&reader->redis, &reply, error, "GET {%s}:epoch",
			     reader->fleet->conf.fleet);

	*epoch = '\0';
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_STRING)
		snprintf(epoch, room, "%s", reply->str);
	freeReplyObject(reply);
	return 0;
}

/* Has a text changed since it was kept? It is kept. */
static bool is_other(struct reader *reader, const char *name, const char *text)
{
	char known[BALEEN_FLEET_TEXT_BYTES] = "";

	if (!*text || baleen_fleet_store_get(&reader->fleet->store, name, known, NULL) ||
	    !strcmp(known, text))
		return false;
	baleen_fleet_store_set(&reader->fleet->store, name, text, NULL);
	return *known;
}

static int check_cursor(struct reader *reader, struct baleen_error *error)
{
	char last[64], epoch[64], replication[64];
	int err = source_check(reader, replication, sizeof(replication), error);
	bool is_rewound;

	if (!err)
		err = find_epoch(reader, epoch, sizeof(epoch), error);
	if (!err)
		err = find_last_id(reader, last, sizeof(last), error);
	if (err)
		return err;
	is_rewound = stream_id_is_before(last, reader->cursor);
	is_rewound |= is_other(reader, BALEEN_FLEET_TEXT_EPOCH, epoch);
	is_rewound |= is_other(reader, BALEEN_FLEET_TEXT_REPLICATION, replication);
	if (!is_rewound || !strcmp(reader->cursor, "0-0"))
		return 0;
	say(reader->fleet, LOG_NOTICE,
	    "the stream is another one than before: it is read from its beginning");
	strcpy(reader->cursor, "0-0");
	reader->heads = reader->signals = (struct sweep){ .n_gaps = 0 };
	return baleen_fleet_store_set(&reader->fleet->store, BALEEN_FLEET_TEXT_CURSOR,
				      reader->cursor, error);
}

/* --- heads and snapshots --------------------------------------------------------------- */

/* May a field of {FLEET}:heads be a head? Whoever may write to Redis may write anything. */
static bool is_head(const struct fleet *fleet, const redisReply *field, const redisReply *value)
{
	return value->len <= HEAD_MAX && baleen_fleet_publisher_is(field->str) &&
	       baleen_fleet_policy_key(&fleet->policy, field->str) &&
	       baleen_fleet_policy_grant(&fleet->policy, field->str);
}

static bool is_signal(const struct fleet *fleet, const redisReply *field, const redisReply *value)
{
	return value->len <= BALEEN_FLEET_CONTROL_MAX &&
	       baleen_fleet_kept_is_news(&fleet->store, field->str, value->str, value->len);
}

/**
 * struct hash - a hash of messages
 * @name: behind {FLEET}:
 * @is_right: may this be one of its messages?
 */
struct hash {
	const char *name;
	bool (*is_right)(const struct fleet *fleet, const redisReply *field,
			 const redisReply *value);
};

static const struct hash heads = { "heads", is_head }, signals = { "control", is_signal };

/* Fields and values of an answer; @n_right grows by those that may be messages. */
static int take_fields(struct reader *reader, const struct hash *hash, const redisReply *fields,
		       u64 *n_gaps, size_t *n_right, struct baleen_error *error)
{
	const redisReply **message = calloc(fields->elements + 1, sizeof(*message));
	size_t n = 0;
	int err = 0;

	if (!message)
		return baleen_no_memory(error);
	for (size_t i = 0; i + 1 < fields->elements; i += 2) {
		const redisReply *field = fields->element[i], *value = fields->element[i + 1];

		if (field->type == REDIS_REPLY_STRING && value->type == REDIS_REPLY_STRING &&
		    hash->is_right(reader->fleet, field, value))
			message[n++] = value;
	}
	*n_right += n;
	if (n)
		err = reader_take(reader, message, n, NULL, n_gaps, error);
	free(message);
	return err;
}

bool hash_part_is(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
	       reply->element[0]->type == REDIS_REPLY_STRING &&
	       reply->element[0]->len < CURSOR_BYTES &&
	       reply->element[1]->type == REDIS_REPLY_ARRAY;
}

/* A part at a time: Redis may have any number of fields, which are not to be in memory at once.
 *
 * Return: 1 when all was looked at; 0; a negative errno.
 */
static int take_hash(struct reader *reader, const struct hash *hash, struct sweep *sweep,
		     struct baleen_error *error)
{
	bool is_all = !*sweep->cursor;
	size_t n = 0, n_right = 0;
	int err;

	if (is_all || !strcmp(sweep->cursor, "0"))
		*sweep = (struct sweep){ .cursor = "0", .is_clean = sweep->is_clean };
	do {
		redisReply *reply = NULL;

		err = redis_call(&reader->redis, &reply, error, "HSCAN {%s}:%s %s COUNT " AT_ONCE,
				 reader->fleet->conf.fleet, hash->name, sweep->cursor);
		if (err)
			return err;
		if (hash_part_is(reply)) {
			strcpy(sweep->cursor, reply->element[0]->str);
			n += reply->element[1]->elements / 2;
			err = take_fields(reader, hash, reply->element[1], &sweep->n_gaps, &n_right,
					  error);
		} else {
			err = baleen_fail(error, EPROTO, "%s:%s: no answer to HSCAN",
					  reader->redis.server.host, reader->redis.server.port);
		}
		freeReplyObject(reply);
	} while (!err && strcmp(sweep->cursor, "0") &&
		 (is_all || (n_right < BALEEN_FLEET_A_LOOK && n < JUNK_A_LOOK)));
	if (err || strcmp(sweep->cursor, "0"))
		return err;
	sweep->is_clean = !sweep->n_gaps;
	return 1;
}

static int fetch_snapshot(struct reader *reader, const char *publisher, bool *is_there,
			  struct baleen_error *error)
{
	redisReply *reply = NULL;
	const redisReply *message;
	size_t n_wants = reader->n_wants;
	u64 ignored = 0;
	int err = redis_call(&reader->redis, &reply, error, "GET {%s}:snap:%s",
			     reader->fleet->conf.fleet, publisher);

	if (err)
		return err;
	message = reply;
	*is_there = reply->type == REDIS_REPLY_STRING;
	if (*is_there)
		err = reader_take(reader, &message, 1, NULL, &ignored, error);
	if (n_wants < reader->n_wants)
		reader->n_wants = n_wants;
	freeReplyObject(reply);
	return err;
}

/* Its first bytes say whether there is anything new in it. */
static int is_of_use(struct reader *reader, const struct baleen_fleet_publisher *known,
		     bool *is_of_use, struct baleen_error *error)
{
	struct baleen_fleet_message message;
	redisReply *reply = NULL;
	int err = snapshot_peek(&reader->redis, &reader->fleet->conf, known->name, &reply, error);

	if (err)
		return err;
	*is_of_use = !snapshot_is(reply, &reader->fleet->conf, known->name, &message) ||
		     memcmp(message.incarnation, known->incarnation, sizeof(known->incarnation)) ||
		     message.last > known->sequence;
	if (reply)
		freeReplyObject(reply);
	return 0;
}

/* A replica takes no writes: then the publisher of this host asks, at the master. */
static int ask_for_newer(struct reader *reader, const char *publisher, struct baleen_error *error)
{
	int err = snapshot_want(&reader->redis, &reader->fleet->conf, publisher, error);

	return err == -EREMOTE ? 0 : err;
}

/* One that does not have all that is missing helps, and a newer one is asked for. */
static int take_snapshot(struct reader *reader, const struct baleen_fleet_publisher *known,
			 struct baleen_error *error)
{
	struct baleen_fleet_publisher now = *known;
	bool needs_it = false, is_there = false;
	int ret = is_of_use(reader, known, &needs_it, error);

	if (!ret && needs_it)
		ret = fetch_snapshot(reader, known->name, &is_there, error);
	if (!ret)
		ret = baleen_fleet_store_find(&reader->fleet->store, known->name, &now, error);
	if (ret < 0)
		return ret;
	return !is_there || now.lacks > now.sequence ? ask_for_newer(reader, known->name, error) :
						       0;
}

int reconcile_snapshots(struct reader *reader, struct baleen_error *error)
{
	int err = 0;

	while (reader->n_wants && !err) {
		struct baleen_fleet_publisher known = { 0 };
		int ret;

		strcpy(known.name, reader->wants[reader->n_wants - 1]);
		ret = baleen_fleet_store_find(&reader->fleet->store, known.name, &known, error);
		/* The stream may have brought it meanwhile. */
		if (!ret || (ret > 0 && known.lacks > known.sequence))
			ret = take_snapshot(reader, &known, error);
		err = ret < 0 ? ret : 0;
		reader->n_wants -= !err;
	}
	return err;
}

/* --- what is held ----------------------------------------------------------------------- */

static int rejudge(struct reader *reader, const char *publisher, bool is_all)
{
	struct fleet *fleet = reader->fleet;
	const struct baleen_fleet_receiver receiver = { .store = &fleet->store,
							.policy = &fleet->policy,
							.host = fleet->conf.host,
							.now_ms = broker_ms(fleet),
							.local_ms = baleen_now_ms() };
	struct baleen_fleet_result result = { 0 };
	struct baleen_error error;
	int err;

	err = baleen_fleet_store_begin(&fleet->store, &error);
	if (!err)
		err = baleen_fleet_rejudge(&receiver, publisher, is_all, &result, &error);
	if (!err)
		err = baleen_fleet_store_commit(&fleet->store, &error);
	if (err) {
		baleen_fleet_store_rollback(&fleet->store);
		say(fleet, LOG_ERR, "%s", error.text);
	} else {
		reader_follow(reader, &result);
		if (mirror_effects(fleet, result.effect, result.n_effects))
			reader->is_dirty = true;
	}
	baleen_fleet_result_free(&result);
	return err;
}

/**
 * struct others - publishers that are to be judged anew
 * @fleet: the fleet
 * @name: they
 * @n: how many
 * @is_all: not only those with entries that are held
 */
struct others {
	struct fleet *fleet;
	char (*name)[BALEEN_FLEET_PUBLISHER_BYTES];
	size_t n;
	bool is_all;
};

static int keep_other(const struct baleen_fleet_publisher *publisher, void *data)
{
	struct others *others = data;

	if ((publisher->is_own && !(publisher->is_control && others->is_all)) ||
	    (!others->is_all && baleen_fleet_rejudge_due(&others->fleet->store, publisher,
							 broker_ms(others->fleet), NULL) <= 0))
		return 0;
	if (baleen_array_add(&others->name, others->n))
		return -ENOMEM;
	strcpy(others->name[others->n++], publisher->name);
	return 0;
}

/* Entries that are held come into force when something has ended, and all are judged by a new
 * policy. */
static int rejudge_others(struct reader *reader, struct baleen_error *error)
{
	struct fleet *fleet = reader->fleet;
	char serial[24], known[BALEEN_FLEET_TEXT_BYTES] = "";
	struct others others = { .fleet = fleet };
	int err = baleen_fleet_store_get(&fleet->store, BALEEN_FLEET_TEXT_SERIAL, known, error),
	    n = 0;

	if (err)
		return err;
	snprintf(serial, sizeof(serial), "%llu", (unsigned long long)fleet->policy.serial);
	others.is_all = strcmp(serial, known) != 0;
	err = baleen_fleet_store_each(&fleet->store, keep_other, &others, error);
	for (size_t i = 0; i < others.n && !err; i++)
		n += rejudge(reader, others.name[i], others.is_all) != 0;
	free(others.name);
	if (!err && !n && others.is_all)
		note(fleet, BALEEN_FLEET_TEXT_SERIAL, "%s", serial);
	return err;
}

/* --- the whole -------------------------------------------------------------------------- */

static int count_hosts(struct reader *reader, struct baleen_error *error)
{
	u64 now_s = broker_ms(reader->fleet) / 1000;
	redisReply *reply = NULL;
	char since[24];
	int err;

	snprintf(since, sizeof(since), "%llu", (unsigned long long)(now_s - ALIVE_S));
	err = redis_call(&reader->redis, &reply, error, "ZCOUNT {%s}:hosts %s +inf",
			 reader->fleet->conf.fleet, since);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_INTEGER)
		note(reader->fleet, BALEEN_FLEET_TEXT_HOSTS, "%lld", reply->integer);
	freeReplyObject(reply);
	return 0;
}

/* A broker that withholds a newer one cannot do so for longer than this one says. */
static void tell_policy(struct fleet *fleet)
{
	u64 expires_ms = fleet->policy.expires_ms;

	note(fleet, BALEEN_FLEET_TEXT_EXPIRES, "%llu", (unsigned long long)expires_ms);
	if (expires_ms && expires_ms <= baleen_now_ms())
		say(fleet, LOG_ALERT,
		    "policy %llu has expired: it was not signed again, or Redis withholds a newer "
		    "one; it goes on until there is one",
		    (unsigned long long)fleet->policy.serial);
}

int reconcile(struct reader *reader, struct baleen_error *error)
{
	/* The publisher asks the master; a replica may have another time. */
	int err = clock_is_known(reader->fleet) ?
			  0 :
			  clock_measure(reader->fleet, &reader->redis, error);

	reader->looks_at_ms = baleen_monotonic_ms() + RECONCILE_MS;
	if (err > 0)
		err = 0;
	if (!err)
		err = check_cursor(reader, error);
	if (!err)
		err = take_hash(reader, &signals, &reader->signals, error);
	if (err >= 0)
		reader_pardon(reader);
	if (err >= 0)
		err = take_hash(reader, &heads, &reader->heads, error);
	if (err >= 0)
		err = rejudge_others(reader, error);
	if (!err)
		err = count_hosts(reader, error);
	if (!err)
		err = policy_fetch(reader->fleet, &reader->redis, error);
	if (err < 0)
		return err;
	note(reader->fleet, BALEEN_FLEET_TEXT_LOOKED, "%llu",
	     (unsigned long long)(broker_ms(reader->fleet) / 1000));
	source_tell_silence(reader);
	tell_policy(reader->fleet);
	/* A part that agrees, when all of them did. */
	if (reader->heads.is_clean && !reader->heads.n_gaps)
		note(reader->fleet, BALEEN_FLEET_TEXT_AGREED, "%llu",
		     (unsigned long long)(broker_ms(reader->fleet) / 1000));
	return 0;
}
