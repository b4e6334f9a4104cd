/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the publisher: publisher.c has its loop, send.c what it sends, heads.c how it
 * finds out what Redis has.
 */
#ifndef BALEEN_FLEETD_PUBLISHER_H
#define BALEEN_FLEETD_PUBLISHER_H

#include "fleetd/fleetd.h"

/**
 * struct sent - the snapshot of a publisher at Redis, and what was found there
 * @name: HOST/ORIGIN
 * @is_known: the next three are
 * @sequence: number of its last change when it was sent
 * @incarnation: the same
 * @made_ms: when it was signed, broker's time
 * @other_made_ms: when the head of another host that has this name was made; 0 for none
 * @other_since_ms: since when it is the same, CLOCK_MONOTONIC
 * @waits: another host publishes under this name: nothing is sent
 */
struct sent {
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	bool is_known;
	u64 sequence;
	u8 incarnation[BALEEN_FLEET_INCARNATION_BYTES];
	u64 made_ms;
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

/* The signer of this host, now. */
struct baleen_fleet_signer signer_of(const struct fleet *fleet);

/* One for each publisher; NULL without memory. */
struct sent *find_sent(struct publisher *publisher, const char *name);

/* The batches that Redis lacks. 0 or a negative errno. */
int send_batches(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 struct baleen_error *error);

/* All entries. 0 or a negative errno. */
int send_snapshot(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		  struct baleen_error *error);

/* The head alone, signed again. 0 or a negative errno. */
int send_head(struct publisher *publisher, const struct baleen_fleet_publisher *own,
	      struct baleen_error *error);

/* Snapshot, head, and a note of it in the stream. 0 or a negative errno. */
int publish_anew(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		 struct baleen_error *error);

/* Is what Redis has where this publisher is? What it lacks is sent. 0 or a negative errno. */
int compare_with_redis(struct publisher *publisher, const struct baleen_fleet_publisher *own,
		       struct baleen_error *error);

#endif /* BALEEN_FLEETD_PUBLISHER_H */
