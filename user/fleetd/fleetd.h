/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of baleen-fleetd:
 *
 *      main       files; starts the two that follow, and ends when one of them does
 *      publisher  what this host has banned --> the stream; send, heads: its parts
 *      order      one thing that `baleen fleet` asks for
 *      local      what this host has banned: single entries of published origins
 *      reader     the stream --> the database of the fleet
 *      reconcile  heads, snapshots, the policy: what the stream has lost; source: is Redis well?
 *      mirror     the database --> rules with `feed fleet:SET`
 *      policy     the policy over Redis
 *      controls   signals that Redis has lost; signals: those of this host to others
 *      questions  questions of operators about a key; ask: one of this host
 *      life       signs of life
 *      redis      a connection; redis_find: to whom
 *
 * Publisher and reader are processes of their own, so that one that waits for a server does
 * not hold up the other. What is in force does not need them: bans that came stay until they
 * end, whatever dies.
 *
 *      {FLEET}:log      stream of signed messages, field m: batches, heads, questions, signals
 *      {FLEET}:heads    hash: publisher --> its signed head, signed again every 30 s
 *      {FLEET}:snap:P   signed snapshot of the publisher P
 *      {FLEET}:wanted   hash: publisher --> who needs a newer snapshot of it
 *      {FLEET}:control  hash: what each signal is about --> the last one
 *      {FLEET}:answer:ID  hash: host --> its answer to a question; ends in a minute
 *      {FLEET}:epoch    random; missing: Redis was emptied
 *      {FLEET}:hosts    sorted set: host --> broker's time of its last sign of life, seconds
 *      {FLEET}:policy   hash: serial, text, signature
 */
#ifndef BALEEN_FLEETD_H
#define BALEEN_FLEETD_H

#include "fleet/fleet_conf.h"
#include "fleet/fleet_health.h"
#include "fleet/fleet_keys.h"
#include "fleet/fleet_own.h"
#include "fleet/fleet_receive.h"
#include "fleet/fleet_site.h"
#include "fleet/fleet_store.h"
#include "fleet/fleet_view.h"
#include "fleetd/redis.h"

/* Heads are compared so often, and when something has happened. */
#define RECONCILE_MS BALEEN_FLEET_LOOK_MS
/* A host that showed no sign of life for so long is not alive. */
#define ALIVE_S 60
/* Messages of the stream that are kept: those that a host reads again when it begins anew. */
#define LOG_LENGTH "16384"

/* An id of a message of the stream. */
#define CURSOR_BYTES 64

/* The origin of `baleen fleet ban`; always published. */
#define OPERATOR "operator"

/**
 * struct fleet - what both processes know
 * @conf: fleet.conf
 * @keys: of this host
 * @policy: the policy
 * @store: the database
 * @name: of the process, for messages
 * @question: questions of operators: the publisher reads [0], the reader writes [1]
 */
struct fleet {
	struct baleen_fleet_conf conf;
	struct baleen_fleet_keys keys;
	struct baleen_fleet_policy policy;
	struct baleen_fleet_store store;
	const char *name;
	int question[2];
};

/* Writes one line to stderr, which is the journal's; the same one again after ten minutes. */
void say(const struct fleet *fleet, int priority, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Keeps a text for `baleen fleet status` and metrics, when it is another one. */
void note(struct fleet *fleet, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Each runs until something that it cannot mend happens: an exit status. */
int publisher_run(struct fleet *fleet);
int reader_run(struct fleet *fleet);

/* The broker's time, and this host's, in milliseconds. */
u64 broker_ms(const struct fleet *fleet);

/* Has anybody measured how far the broker's clock is ahead? */
bool clock_is_known(const struct fleet *fleet);

/* Measures how far the broker's clock is ahead, and keeps it, if it can be right. 1 when it was
 * set, so that logs of this host are of a later incarnation; 0 or a negative errno.
 */
int clock_measure(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* A descriptor that is readable when a state of a device has changed; -errno. */
int changes_open(void);
/* Empties it; also called when nothing has changed. */
void changes_read(int *fd);
/* Opens it again when that failed, and says so: the caller looks at the states all the same. */
void changes_mend(const struct fleet *fleet, int *fd);

/**
 * struct pause - when to try again
 * @next_ms: pause after the next failure
 * @until_ms: CLOCK_MONOTONIC, before which nothing is tried
 */
struct pause {
	u64 next_ms;
	u64 until_ms;
};

/* A failure: doubles, up to 10 s, and takes a random share, so that hosts do not come at once. */
void pause_more(struct pause *pause);
void pause_none(struct pause *pause);

/* Publishes what has changed into the store. 0; a negative errno, then nothing was. */
int local_sync(struct fleet *fleet, struct baleen_error *error);

/* Bans again what a message of this host itself has, its snapshot: @n gets how many. What this host
 * has is as it is. 0 or a negative errno.
 */
int local_inherit(struct fleet *fleet, const struct baleen_fleet_publisher *own, const void *bytes,
		  size_t n_bytes, u64 *n, struct baleen_error *error);

/* Takes what pardons are about out of what this host has banned itself, also inside prefixes. 0 or
 * a negative errno.
 */
int local_pardon(struct fleet *fleet, struct baleen_error *error);

/* The changes of a result in all rules that take them; 0, or a negative errno when a device did
 * not get all of it.
 */
int mirror_effects(struct fleet *fleet, const struct baleen_fleet_effect *effect, size_t n);
/* Makes all rules what the store says. The same. */
int mirror_all(struct fleet *fleet);
/* Has another rule begun to take bans, or takes them otherwise, since this was asked last? */
bool mirror_is_new(void);

/**
 * struct sweep - a hash at Redis that is read a part each time
 * @cursor: of HSCAN; empty: from the beginning, and all of it at once
 * @n_gaps: messages that do not follow what is here, so far
 * @is_clean: there was none in the last one that was whole
 */
struct sweep {
	char cursor[CURSOR_BYTES];
	u64 n_gaps;
	bool is_clean;
};

/**
 * struct reader - the one that reads
 * @fleet: what it knows
 * @redis: its connection
 * @pause: after failures
 * @changes: see changes_open()
 * @cursor: id of the last message that was taken
 * @wants: publishers whose snapshot is needed
 * @n_wants: how many
 * @is_dirty: rules may differ from the store
 * @looks_at_ms: time of the next reconciliation, CLOCK_MONOTONIC
 * @heads: the sweep over all heads; @signals: over all signals
 * @mirrored_ms: time of the last mirror_all()
 * @lag_ms: the longest of the batches since @lag_noted_ms
 * @lag_noted_ms: when it was noted last, CLOCK_MONOTONIC
 * @silence_said_ms: when silent publishers were told of, CLOCK_MONOTONIC; 0: there are none
 */
struct reader {
	struct fleet *fleet;
	struct redis redis;
	struct pause pause;
	int changes;
	char cursor[CURSOR_BYTES];
	char (*wants)[BALEEN_FLEET_PUBLISHER_BYTES];
	size_t n_wants;
	bool is_dirty;
	u64 looks_at_ms;
	struct sweep heads, signals;
	u64 mirrored_ms;
	u64 lag_ms;
	u64 lag_noted_ms;
	u64 silence_said_ms;
};

/* Takes messages in one transaction, with the cursor, if there is one, and puts in force what
 * came of them; @n_gaps grows by those that do not follow what is there. 0 or a negative errno.
 */
int reader_take(struct reader *reader, const redisReply *const *message, size_t n,
		const char *cursor, u64 *n_gaps, struct baleen_error *error);

/* Notes how long the batches of the last second took, if there were any. */
void reader_note_lag(struct reader *reader);

/* Carries out pardons on what this host has banned itself, if there are any. */
void reader_pardon(struct reader *reader);

/* Is it an answer to HSCAN, a cursor below CURSOR_BYTES and fields? */
bool hash_part_is(const redisReply *reply);

/* Is it the id of a message of the stream, MS-NUMBER? */
bool stream_id_is(const char *id);
/* Both are ids: does the message of the first come before the other one? */
bool stream_id_is_before(const char *a, const char *b);

/* Does what follows from a result once it is committed, but for its effects. */
void reader_follow(struct reader *reader, const struct baleen_fleet_result *result);

/* Says that this host is alive, and that Redis was not emptied. 0 or a negative errno. */
int life_show(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* Gives Redis the policy of this host, if that is newer. 0 or a negative errno. */
int policy_offer(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* Sends a signal to all hosts. 0 or a negative errno. */
int control_send(const struct baleen_fleet_conf *conf, struct redis *redis, const char *name,
		 const void *bytes, size_t n_bytes, struct baleen_error *error);

/* Sends the signals that were posted here. 0 or a negative errno. */
int signals_send(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* Makes the socket for questions. 0 or a negative errno. */
int questions_open(struct fleet *fleet);
/* From the reader to the publisher: a question that was verified. */
void question_pass(struct fleet *fleet, const void *bytes, size_t n_bytes);
/* Answers those that came. 0 or a negative errno. */
int questions_answer(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* The hash that answers to a question are in: a name of ANSWERS_NAME bytes. */
#define ANSWERS_NAME 64
char *answers_name(const struct baleen_fleet_conf *conf,
		   const struct baleen_fleet_message *question, char *name);

/* Gives Redis signals that it lacks, some each time. 0 or a negative errno. */
int controls_put_back(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* Takes the policy that Redis has, if it is newer: this program starts again with it. 1, 0 or a
 * negative errno.
 */
int policy_fetch(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* The first bytes of a snapshot, as far as Redis tells them; NULL when it does not. Free them with
 * freeReplyObject(). 0 or a negative errno.
 */
int snapshot_peek(struct redis *redis, const struct baleen_fleet_conf *conf, const char *name,
		  redisReply **reply, struct baleen_error *error);

/* Asks for a newer snapshot of a publisher. 0; -EREMOTE of a replica; a negative errno. */
int snapshot_want(struct redis *redis, const struct baleen_fleet_conf *conf, const char *name,
		  struct baleen_error *error);

/* Asks for those of all publishers that this host lacks changes of. 0 or a negative errno. */
int snapshot_want_all(struct fleet *fleet, struct redis *redis, struct baleen_error *error);

/* Are these those of a snapshot of a publisher? @message is its header, which nobody vouches for.
 */
bool snapshot_is(const redisReply *reply, const struct baleen_fleet_conf *conf, const char *name,
		 struct baleen_fleet_message *message);

/* Is the server that is read from in a state to tell the news? Also its replication id, of @room
 * bytes. 0; -EAGAIN when another one is to be asked; a negative errno.
 */
int source_check(struct reader *reader, char *replication, size_t room, struct baleen_error *error);

/* Says which publishers said nothing new for long, if any. */
void source_tell_silence(struct reader *reader);

/* Compares all heads. 0 or a negative errno. */
int reconcile(struct reader *reader, struct baleen_error *error);

/* Fetches the snapshots that are needed. 0 or a negative errno. */
int reconcile_snapshots(struct reader *reader, struct baleen_error *error);

#endif /* BALEEN_FLEETD_H */
