// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stream --> the database of the fleet --> rules.
 *
 *      XREAD from the cursor --> receive each, and the cursor, in one transaction --> mirror
 *
 * A batch that does not follow what is there makes the snapshot of its publisher wanted.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "fleet/fleet_control.h"
#include "fleet/fleet_health.h"
#include "fleet/fleet_word.h"
#include "fleetd/fleetd.h"
#include "state/entries.h"
#include "util/announce.h"
#include "util/array.h"
#include "util/clock.h"

/* Messages of one transaction. */
#define READ_COUNT "256"
/* XREAD waits so long for a message. */
#define BLOCK_MS 1000
/* The stream may have what a head tells of: it is read before a snapshot is fetched. */
#define SHORT_BLOCK_MS 20
/* Rules are compared with the store so often, since what is protected changes. */
#define MIRROR_MS 60000
/* After the book did not take it. */
#define AGAIN_MS 1000
/* How long batches take is noted so often. */
#define LAG_MS 1000
#define NO_LAG (~0ull)

/* --- messages ----------------------------------------------------------------------- */

static int want(struct reader *reader, const char *publisher)
{
	for (size_t i = 0; i < reader->n_wants; i++)
		if (!strcmp(reader->wants[i], publisher))
			return 0;
	if (baleen_array_add(&reader->wants, reader->n_wants))
		return -ENOMEM;
	strcpy(reader->wants[reader->n_wants++], publisher);
	return 0;
}

/* Refusals of a host that are told in LINES_MS, the one that says that there are more among them.
 */
#define MOST_LINES 10
#define LINES_MS 600000
/* Hosts that are told apart; the others share one. */
#define MOST_SIGNERS 64

/* May a refusal be told? Whoever makes up names, or signs what is refused, fills no journal. */
static bool may_tell(struct reader *reader, const struct baleen_fleet_result *result)
{
	static struct signer {
		char host[BALEEN_FLEET_PUBLISHER_BYTES];
		u64 since_ms;
		u32 n;
	} signer[MOST_SIGNERS];
	const char *publisher = result->message.publisher;
	u64 now_ms = baleen_monotonic_ms();
	char host[BALEEN_FLEET_PUBLISHER_BYTES] = "";
	struct signer *one = signer;

	/* The first is of all whom the policy does not know. */
	if (baleen_fleet_policy_key(&reader->fleet->policy, publisher))
		snprintf(host, sizeof(host), "%.*s", (int)strcspn(publisher, "/"), publisher);
	while (*host && one < signer + MOST_SIGNERS - 1 && strcmp(one->host, host) &&
	       (one == signer || *one->host))
		one++;
	snprintf(one->host, sizeof(one->host), "%s", host);
	if (!one->since_ms || now_ms >= one->since_ms + LINES_MS) {
		one->since_ms = now_ms;
		one->n = 0;
	}
	if (++one->n == MOST_LINES)
		say(reader->fleet, LOG_WARNING,
		    "more of %s is refused: 'baleen fleet status' counts it",
		    *host ? host : "unknown publishers");
	return one->n < MOST_LINES;
}

static void tell(struct reader *reader, const struct baleen_fleet_result *result)
{
	const char *publisher =
		*result->message.publisher ? result->message.publisher : "an unknown publisher";

	if (result->verdict == BALEEN_FLEET_REFUSED &&
	    (result->cause == BALEEN_FLEET_CAUSE_CLONE || may_tell(reader, result)))
		say(reader->fleet,
		    result->cause == BALEEN_FLEET_CAUSE_CLONE ? LOG_ALERT : LOG_WARNING,
		    "a message of %s is refused (%s): %s", publisher,
		    baleen_fleet_cause_name(result->cause), result->why);
	if (result->n_held && result->is_alarm)
		say(reader->fleet, LOG_ALERT,
		    "%s publishes more than the policy lets it (%s): its bans are held, what it "
		    "takes back is applied",
		    publisher, baleen_fleet_hold_name(result->hold));
}

/* A text for each batch would be a commit for each. */
void reader_note_lag(struct reader *reader)
{
	u64 now_ms = baleen_monotonic_ms();

	if (reader->lag_ms == NO_LAG || now_ms < reader->lag_noted_ms + LAG_MS)
		return;
	note(reader->fleet, BALEEN_FLEET_TEXT_LAG, "%llu", (unsigned long long)reader->lag_ms);
	reader->lag_ms = NO_LAG;
	reader->lag_noted_ms = now_ms;
}

static void measure_lag(struct reader *reader, const struct baleen_fleet_message *message)
{
	u64 now_ms = broker_ms(reader->fleet);
	u64 lag_ms = now_ms > message->made_ms ? now_ms - message->made_ms : 0;

	if (message->type != BALEEN_FLEET_BATCH)
		return;
	if (reader->lag_ms == NO_LAG || reader->lag_ms < lag_ms)
		reader->lag_ms = lag_ms;
}

/* It goes by what the store says, not by what was heard: who is killed in between does it later. */
void reader_pardon(struct reader *reader)
{
	struct baleen_fleet_store *store = &reader->fleet->store;
	struct baleen_error error;
	u64 mark;
	int err = baleen_fleet_control_is_due(store, &mark, &error);

	if (!err && mark)
		err = local_pardon(reader->fleet, &error);
	if (!err && mark)
		err = baleen_fleet_control_is_done(store, mark, &error);
	if (err)
		say(reader->fleet, LOG_ERR,
		    "a pardon is not carried out yet on what is banned here: %s", error.text);
}

static bool is_question(const struct baleen_fleet_result *result)
{
	return result->verdict == BALEEN_FLEET_APPLIED &&
	       result->message.type == BALEEN_FLEET_CONTROL &&
	       result->message.control == BALEEN_FLEET_ASK;
}

void reader_follow(struct reader *reader, const struct baleen_fleet_result *result)
{
	tell(reader, result);
	if (result->verdict == BALEEN_FLEET_APPLIED)
		measure_lag(reader, &result->message);
	if (result->verdict == BALEEN_FLEET_GAP && want(reader, result->message.publisher))
		say(reader->fleet, LOG_ERR, "not enough memory");
	if (baleen_fleet_is_control(result->about))
		reader_pardon(reader);
	reader->is_dirty |= result->is_whole;
}

/* --- one transaction -------------------------------------------------------------------- */

/**
 * struct taken - what came of the messages of one transaction
 * @result: of each message
 * @n: how many
 * @effect: of all
 * @n_effects: how many
 */
struct taken {
	struct baleen_fleet_result *result;
	size_t n;
	struct baleen_fleet_effect *effect;
	size_t n_effects;
};

static void free_taken(struct taken *taken)
{
	for (size_t i = 0; i < taken->n; i++)
		baleen_fleet_result_free(&taken->result[i]);
	free(taken->result);
	free(taken->effect);
}

static int keep_effects(struct taken *taken, const struct baleen_fleet_result *result)
{
	for (size_t i = 0; i < result->n_effects; i++) {
		if (baleen_array_add(&taken->effect, taken->n_effects))
			return -ENOMEM;
		taken->effect[taken->n_effects++] = result->effect[i];
	}
	return 0;
}

static struct baleen_fleet_receiver receiver_of(struct fleet *fleet)
{
	return (struct baleen_fleet_receiver){ .store = &fleet->store,
					       .policy = &fleet->policy,
					       .host = fleet->conf.host,
					       .now_ms = broker_ms(fleet),
					       .local_ms = baleen_now_ms() };
}

static int take(struct reader *reader, const redisReply *message, struct taken *taken,
		struct baleen_error *error)
{
	struct fleet *fleet = reader->fleet;
	const struct baleen_fleet_receiver receiver = receiver_of(fleet);
	struct baleen_fleet_result *result = &taken->result[taken->n++];
	int err = baleen_fleet_receive(&receiver, message->str, message->len, result, error);

	if (!err && is_question(result))
		question_pass(fleet, message->str, message->len);
	return !err && keep_effects(taken, result) ? baleen_no_memory(error) : err;
}

static int take_each(struct reader *reader, const redisReply *const *message, size_t n,
		     const char *cursor, struct taken *taken, struct baleen_error *error)
{
	struct baleen_fleet_store *store = &reader->fleet->store;
	int err = baleen_fleet_store_begin(store, error);

	for (size_t i = 0; i < n && !err; i++)
		err = take(reader, message[i], taken, error);
	if (!err && cursor)
		err = baleen_fleet_store_set(store, BALEEN_FLEET_TEXT_CURSOR, cursor, error);
	if (!err)
		err = baleen_fleet_store_commit(store, error);
	if (err)
		baleen_fleet_store_rollback(store);
	return err;
}

/* On disk first, then in force: who is killed in between puts it in force at the next start. */
int reader_take(struct reader *reader, const redisReply *const *message, size_t n,
		const char *cursor, u64 *n_gaps, struct baleen_error *error)
{
	struct taken taken = { .result = calloc(n + 1, sizeof(*taken.result)) };
	int err;

	if (!taken.result)
		return baleen_no_memory(error);
	err = take_each(reader, message, n, cursor, &taken, error);
	if (!err && mirror_effects(reader->fleet, taken.effect, taken.n_effects))
		reader->is_dirty = true;
	for (size_t i = 0; i < taken.n && !err; i++) {
		*n_gaps += taken.result[i].verdict == BALEEN_FLEET_GAP ||
			   taken.result[i].cause == BALEEN_FLEET_CAUSE_CLONE;
		reader_follow(reader, &taken.result[i]);
	}
	free_taken(&taken);
	return err;
}

/* --- the stream ----------------------------------------------------------------------- */

/* The message of an entry of the stream: [id, [field, value, ...]]; NULL for none. */
static const redisReply *find_message(const redisReply *entry)
{
	const redisReply *fields = entry->element[1];

	for (size_t i = 0; i + 1 < fields->elements; i += 2)
		if (fields->element[i]->type == REDIS_REPLY_STRING &&
		    fields->element[i + 1]->type == REDIS_REPLY_STRING &&
		    !strcmp(fields->element[i]->str, "m"))
			return fields->element[i + 1];
	return NULL;
}

static bool is_entry(const redisReply *entry)
{
	return entry->type == REDIS_REPLY_ARRAY && entry->elements == 2 &&
	       entry->element[0]->type == REDIS_REPLY_STRING &&
	       entry->element[0]->len < CURSOR_BYTES &&
	       entry->element[1]->type == REDIS_REPLY_ARRAY;
}

static int take_entries(struct reader *reader, const redisReply *entries,
			struct baleen_error *error)
{
	const redisReply **message = calloc(entries->elements + 1, sizeof(*message));
	const char *cursor = reader->cursor;
	u64 ignored = 0;
	size_t n = 0;
	int err;

	if (!message)
		return baleen_no_memory(error);
	for (size_t i = 0; i < entries->elements; i++) {
		const char *id =
			is_entry(entries->element[i]) ? entries->element[i]->element[0]->str : "";

		/* Kept, it would be asked for again and again. */
		if (!stream_id_is(id) || !stream_id_is_before(cursor, id)) {
			free(message);
			return baleen_fail(error, EPROTO, "%s:%s: '%.64s' is no id behind %s",
					   reader->redis.server.host, reader->redis.server.port, id,
					   cursor);
		}
		cursor = id;
		message[n] = find_message(entries->element[i]);
		n += message[n] != NULL;
	}
	err = reader_take(reader, message, n, cursor, &ignored, error);
	if (!err && cursor != reader->cursor)
		strcpy(reader->cursor, cursor);
	free(message);
	return err;
}

/* The answer for one stream: [[name, entries]], or nothing. */
static int take_answer(struct reader *reader, const redisReply *reply, struct baleen_error *error)
{
	const redisReply *stream;

	if (reply->type == REDIS_REPLY_NIL)
		return 0;
	stream =
		reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 ? reply->element[0] : NULL;
	if (!stream || stream->type != REDIS_REPLY_ARRAY || stream->elements != 2 ||
	    stream->element[1]->type != REDIS_REPLY_ARRAY)
		return baleen_fail(error, EPROTO, "%s:%s: no answer to XREAD",
				   reader->redis.server.host, reader->redis.server.port);
	return take_entries(reader, stream->element[1], error);
}

/* --- what is said on this host ------------------------------------------------------------ */

/* In one transaction: an entry of this host, which counts here, and what is to be sent. */
static int take_words(struct reader *reader, struct baleen_fleet_result *result,
		      struct baleen_error *error)
{
	const struct baleen_fleet_receiver receiver = receiver_of(reader->fleet);
	struct baleen_fleet_store *store = &reader->fleet->store;
	int ret = baleen_fleet_store_begin(store, error), err;

	if (ret)
		return ret;
	ret = baleen_fleet_words_take(&receiver, result, error);
	err = ret < 0 ? ret : baleen_fleet_store_commit(store, error);
	if (err)
		baleen_fleet_store_rollback(store);
	return err ? err : ret;
}

/* Without Redis, too: it is sent when there is one. */
static void hear_operator(struct reader *reader)
{
	struct baleen_error error;
	int ret = 1;

	while (ret > 0) {
		struct baleen_fleet_result result = { .verdict = BALEEN_FLEET_APPLIED };

		ret = take_words(reader, &result, &error);
		if (ret > 0 && mirror_effects(reader->fleet, result.effect, result.n_effects))
			reader->is_dirty = true;
		if (ret > 0)
			reader_follow(reader, &result);
		/* The publisher sends it. */
		if (ret > 0)
			baleen_announce();
		if (ret < 0)
			say(reader->fleet, LOG_ERR, "what an operator says here waits: %s",
			    error.text);
		baleen_fleet_result_free(&result);
	}
}

/* Something on this host has changed. */
static void hear_changes(struct reader *reader)
{
	changes_read(&reader->changes);
	if (baleen_fleet_word_is_posted(&reader->fleet->store, NULL) > 0)
		hear_operator(reader);
	reader->is_dirty |= mirror_is_new();
}

/* --- rules ------------------------------------------------------------------------------ */

/* A rule that begins to take bans gets them at once: somebody has changed its state. */
static void mirror(struct reader *reader)
{
	reader->is_dirty = mirror_all(reader->fleet);
	reader->mirrored_ms = baleen_monotonic_ms();
}

static void mirror_if_due(struct reader *reader)
{
	u64 pause_ms = reader->is_dirty ? AGAIN_MS : MIRROR_MS;

	if (!reader->mirrored_ms || baleen_monotonic_ms() >= reader->mirrored_ms + pause_ms)
		mirror(reader);
}

static int read_some(struct reader *reader, struct baleen_error *error)
{
	redisReply *reply = NULL;
	int err = redis_send(&reader->redis, error,
			     "XREAD COUNT " READ_COUNT " BLOCK %d STREAMS {%s}:log %s",
			     reader->n_wants ? SHORT_BLOCK_MS : BLOCK_MS, reader->fleet->conf.fleet,
			     reader->cursor);

	while (!err) {
		err = redis_receive(&reader->redis, BLOCK_MS + REDIS_STEP_MS, reader->changes,
				    &reply, error);
		if (err != -EAGAIN)
			break;
		hear_changes(reader);
		mirror_if_due(reader);
		err = 0;
	}
	if (err)
		return err;
	err = take_answer(reader, reply, error);
	freeReplyObject(reply);
	reader_note_lag(reader);
	return err;
}

/* --- the loop --------------------------------------------------------------------------- */

static int work(struct reader *reader, struct baleen_error *error)
{
	int err = 0;

	if (reader->redis.fd < 0) {
		err = redis_find(&reader->redis, &reader->fleet->conf, REDIS_REPLICA, error);
		reader->looks_at_ms = 0;
		reader->heads = reader->signals = (struct sweep){ .n_gaps = 0 };
	}
	if (!err && baleen_monotonic_ms() >= reader->looks_at_ms) {
		changes_mend(reader->fleet, &reader->changes);
		hear_operator(reader);
		err = reconcile(reader, error);
	}
	if (!err)
		err = read_some(reader, error);
	if (!err && reader->n_wants)
		err = reconcile_snapshots(reader, error);
	return err;
}

static void rest(struct reader *reader)
{
	u64 now_ms = baleen_monotonic_ms();
	struct pollfd changes = { .fd = reader->changes, .events = POLLIN };

	if (now_ms < reader->pause.until_ms &&
	    poll(&changes, 1, (int)(reader->pause.until_ms - now_ms)) > 0)
		hear_changes(reader);
}

int reader_run(struct fleet *fleet)
{
	struct reader reader = {
		.fleet = fleet, .redis = REDIS_CLOSED, .is_dirty = true, .lag_ms = NO_LAG
	};
	struct baleen_error error;

	if (baleen_fleet_store_get(&fleet->store, BALEEN_FLEET_TEXT_CURSOR, reader.cursor,
				   &error)) {
		say(fleet, LOG_ERR, "%s", error.text);
		return EXIT_FAILURE;
	}
	if (!stream_id_is(reader.cursor))
		strcpy(reader.cursor, "0-0");
	reader.changes = changes_open();
	hear_operator(&reader);
	for (;;) {
		mirror_if_due(&reader);
		if (!work(&reader, &error)) {
			note(fleet, BALEEN_FLEET_TEXT_RECEIVES, "%s", "");
			pause_none(&reader.pause);
			continue;
		}
		say(fleet, LOG_WARNING, "%s", error.text);
		note(fleet, BALEEN_FLEET_TEXT_RECEIVES, "%s", error.text);
		redis_close(&reader.redis);
		pause_more(&reader.pause);
		rest(&reader);
	}
}
