/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Control messages that were applied, as they were signed.
 *
 * A broker may lose them, and a host that begins later must have them. So each host keeps them,
 * and gives the broker those that it lacks: they are signed, so it does not matter who does.
 * A signal is kept for as long as it counts. Pardons and suspensions are entries of a publisher.
 */
#ifndef BALEEN_FLEET_KEPT_H
#define BALEEN_FLEET_KEPT_H

#include "fleet/fleet_policy.h"
#include "fleet/fleet_store.h"

/* A control message is shorter. */
#define BALEEN_FLEET_CONTROL_MAX 1024
#define BALEEN_FLEET_KEPT_NAME_BYTES 192

/**
 * struct baleen_fleet_kept - a control message
 * @name: of two with the same one the newer counts: "signal TOPIC SUBJECT PUBLISHER"
 * @made_ms: when it was signed, broker's time
 * @is_over: it no longer counts
 * @bytes: it
 * @n_bytes: of it
 */
struct baleen_fleet_kept {
	char name[BALEEN_FLEET_KEPT_NAME_BYTES];
	u64 made_ms;
	bool is_over;
	u8 bytes[BALEEN_FLEET_CONTROL_MAX];
	size_t n_bytes;
};

/**
 * baleen_fleet_kept_name() - what a control message is about
 * @message: a signal
 * @name: filled in; empty for others, which are not kept
 *
 * Return: @name.
 */
char *baleen_fleet_kept_name(const struct baleen_fleet_message *message,
			     char name[BALEEN_FLEET_KEPT_NAME_BYTES]);

/**
 * baleen_fleet_kept_put() - keep a message that was applied
 * @store: with a transaction
 * @message: decoded
 * @bytes: as it came
 * @n_bytes: of it
 * @error: filled in on failure
 *
 * An older one than what is kept is not.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_kept_put(struct baleen_fleet_store *store,
			  const struct baleen_fleet_message *message, const void *bytes,
			  size_t n_bytes, struct baleen_error *error);

/**
 * baleen_fleet_kept_next() - some of the messages that are kept, by name
 * @store: opened
 * @after: those with a larger name; "" for the first
 * @now_ms: broker's time
 * @kept: room for @max
 * @max: at the most
 * @n: filled in: how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_kept_next(const struct baleen_fleet_store *store, const char *after, u64 now_ms,
			   struct baleen_fleet_kept *kept, size_t max, size_t *n,
			   struct baleen_error *error);

/**
 * baleen_fleet_kept_forget() - no longer keep a message
 * @store: opened for writing
 * @kept: read; a newer one of the same name stays
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_kept_forget(struct baleen_fleet_store *store, const struct baleen_fleet_kept *kept,
			     struct baleen_error *error);

/**
 * baleen_fleet_kept_is_news() - may it be a message that is newer than what is kept?
 * @store: opened
 * @name: what it is said to be about
 * @bytes: it; nobody vouches for it
 * @n_bytes: of it
 *
 * So one that is known need not be verified each time that it is read.
 *
 * Return: true or false.
 */
bool baleen_fleet_kept_is_news(const struct baleen_fleet_store *store, const char *name,
			       const void *bytes, size_t n_bytes);

/**
 * baleen_fleet_kept_counts() - would others take a message?
 * @policy: the policy
 * @name: what it is about
 * @bytes: it
 * @n_bytes: of it
 *
 * Return: when it was signed, by somebody who may, about @name; 0 when it was not.
 */
u64 baleen_fleet_kept_counts(const struct baleen_fleet_policy *policy, const char *name,
			     const void *bytes, size_t n_bytes);

#endif /* BALEEN_FLEET_KEPT_H */
