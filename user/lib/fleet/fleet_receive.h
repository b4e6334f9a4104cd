/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of others: verified, held to the policy, and applied in order.
 *
 * Of a publisher only the next change of the same incarnation is applied. Entries that the
 * policy does not let in are stored as held: they are not in force, but count for the digest, so
 * that every receiver of the same numbers has the same digest.
 */
#ifndef BALEEN_FLEET_RECEIVE_H
#define BALEEN_FLEET_RECEIVE_H

#include "fleet/fleet_result.h"

/* A message may be signed so long after the broker's time: as far as a clock may be set back
 * without being far, since who has heard of what is later signs after that.
 */
#define BALEEN_FLEET_AHEAD_MS (2 * 3600000ull)

/**
 * baleen_fleet_receive() - take a message
 * @receiver: its store has a transaction: the caller begins it, and commits it with the cursor
 * @bytes: from elsewhere
 * @n_bytes: how many
 * @result: filled in; to be freed with baleen_fleet_result_free(), also after a failure
 * @error: filled in on failure
 *
 * A pardon that concerns entries which this host has published is for the caller to answer:
 * they stay until it takes them out and syncs (baleen_fleet_view_taken_back() finds them).
 *
 * Return: 0, whatever the verdict; a negative errno: roll back, nothing counts.
 */
int baleen_fleet_receive(const struct baleen_fleet_receiver *receiver, const void *bytes,
			 size_t n_bytes, struct baleen_fleet_result *result,
			 struct baleen_error *error);

/**
 * baleen_fleet_rejudge() - judge the entries of a publisher anew
 * @receiver: its store has a transaction
 * @publisher: HOST/ORIGIN; with an own one nothing is done
 * @is_all: also those in force, after a change of the policy; else those that are held
 * @result: filled in: effects; to be freed with baleen_fleet_result_free()
 * @error: filled in on failure
 *
 * Entries that have ended make room. Those that are held because of the policy's caps come into
 * force, the oldest first, as far as caps and rate allow. A publisher that the policy no longer
 * knows is forgotten, with all that it had.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_rejudge(const struct baleen_fleet_receiver *receiver, const char *publisher,
			 bool is_all, struct baleen_fleet_result *result,
			 struct baleen_error *error);

/**
 * baleen_fleet_rejudge_due() - may entries of a publisher come into force without a message?
 * @store: opened
 * @publisher: found
 * @now_ms: broker's time
 * @error: filled in on failure
 *
 * Some are held, or seemed to have ended when the broker's clock was wrong.
 *
 * Return: 1 or 0; a negative errno.
 */
int baleen_fleet_rejudge_due(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_publisher *publisher, u64 now_ms,
			     struct baleen_error *error);

/**
 * struct baleen_fleet_refusal - how often something was refused
 * @publisher: HOST/ORIGIN as the message said; empty when it could not be read
 * @cause: enum baleen_fleet_cause
 * @n: messages; of BALEEN_FLEET_CAUSE_HELD entries
 * @last_ms: the last time, broker's
 */
struct baleen_fleet_refusal {
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	u32 cause;
	u64 n;
	u64 last_ms;
};

/**
 * baleen_fleet_refusals_each() - all that was refused
 * @store: opened
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_refusals_each(const struct baleen_fleet_store *store,
			       int (*visit)(const struct baleen_fleet_refusal *refusal, void *data),
			       void *data, struct baleen_error *error);

#endif /* BALEEN_FLEET_RECEIVE_H */
