/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals: what hosts of a fleet say to each other about a subject, such as a vote on a list.
 *
 *      baleen_fleet_signal_post() --> posted --> baleen-fleetd signs --> the stream
 *      the stream --> baleen_fleet_receive() --> signal --> baleen_fleet_signals_each()
 *
 * A signal has a topic, which says who is to understand it, a subject, a number, a digest, a value
 * and a reason. Of one publisher, topic and subject the newest counts, for 30 days. Those of this
 * host come back to it by the stream, as they come to all. They are kept as other control messages
 * are, so a broker may lose them.
 *
 * A publisher signals when the policy says `may signal`. It has BALEEN_FLEET_MAX_SIGNALS at the
 * most.
 */
#ifndef BALEEN_FLEET_SIGNAL_H
#define BALEEN_FLEET_SIGNAL_H

#include "fleet/fleet_store.h"

/* A publisher has no more. */
#define BALEEN_FLEET_MAX_SIGNALS 256

/**
 * struct baleen_fleet_signal - a signal
 * @publisher: HOST/ORIGIN who signed it; not looked at by baleen_fleet_signal_post()
 * @topic: 1 to 31 of a-z 0-9 . _ -
 * @subject: 1 to 63 of ASCII without blanks and control characters
 * @number: such as a generation; below 2^62
 * @digest: first 8 bytes of the digest of what is meant, 0 for none
 * @value: 0 to 255
 * @reason: UTF-8 without control characters; may be empty
 * @made_ms: when it was signed, broker's time; not looked at by baleen_fleet_signal_post()
 */
struct baleen_fleet_signal {
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	char topic[BALEEN_FLEET_NAME_BYTES];
	char subject[BALEEN_FLEET_SUBJECT_BYTES];
	u64 number;
	u64 digest;
	u32 value;
	char reason[BALEEN_FLEET_REASON_BYTES];
	u64 made_ms;
};

/**
 * baleen_fleet_signal_post() - have a signal sent to all hosts, this one among them
 * @store: opened for writing, in a transaction or without
 * @signal: the signal
 * @error: filled in on failure
 *
 * baleen-fleetd sends it when it hears of a change (baleen_announce()), or within 10 seconds.
 * Without it, or without Redis, it waits. Of those on one topic and subject the last one is sent.
 *
 * Return: 0; -EINVAL for a signal that nobody can send; a negative errno.
 */
int baleen_fleet_signal_post(struct baleen_fleet_store *store,
			     const struct baleen_fleet_signal *signal, struct baleen_error *error);

/**
 * baleen_fleet_signals_each() - all signals that count, by subject and publisher
 * @store: opened
 * @topic: of this one; NULL for all
 * @subject: on this; NULL for all
 * @now_ms: broker's time
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_signals_each(const struct baleen_fleet_store *store, const char *topic,
			      const char *subject, u64 now_ms,
			      int (*visit)(const struct baleen_fleet_signal *signal, void *data),
			      void *data, struct baleen_error *error);

/**
 * baleen_fleet_signal_next() - the next signal that is to be sent
 * @store: opened
 * @signal: filled in, but for publisher and time
 * @id: filled in; for baleen_fleet_signal_sent()
 * @error: filled in on failure
 *
 * Return: 1; 0 when there is none; a negative errno.
 */
int baleen_fleet_signal_next(const struct baleen_fleet_store *store,
			     struct baleen_fleet_signal *signal, u64 *id,
			     struct baleen_error *error);

/**
 * baleen_fleet_signal_sent() - a signal has been sent
 * @store: opened for writing
 * @id: of it; another one that was posted meanwhile stays
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_signal_sent(struct baleen_fleet_store *store, u64 id, struct baleen_error *error);

/**
 * baleen_fleet_signal_has_room() - may a publisher say one thing more?
 * @store: with a transaction: what no longer counts is forgotten
 * @message: the signal
 * @now_ms: broker's time
 * @error: filled in on failure
 *
 * Return: 1 or 0; a negative errno.
 */
int baleen_fleet_signal_has_room(struct baleen_fleet_store *store,
				 const struct baleen_fleet_message *message, u64 now_ms,
				 struct baleen_error *error);

/**
 * baleen_fleet_signal_put() - a signal has come
 * @store: with a transaction
 * @message: the signal, verified
 * @is_new: filled in: there was none of its publisher on this subject that is as new
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_signal_put(struct baleen_fleet_store *store,
			    const struct baleen_fleet_message *message, bool *is_new,
			    struct baleen_error *error);

#endif /* BALEEN_FLEET_SIGNAL_H */
