/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a host gets on with its fleet: what status, metrics and doctor tell.
 *
 * Each publisher signs its head again every BALEEN_FLEET_HEAD_MS. So one whose head does not move
 * is dead, or somebody withholds what it says: a Redis that stands still, a replica that lost its
 * master, or one that was broken into. All of these look alike, and none looks well.
 */
#ifndef BALEEN_FLEET_HEALTH_H
#define BALEEN_FLEET_HEALTH_H

#include "fleet/fleet_result.h"

/* A head is signed again after this time ... */
#define BALEEN_FLEET_HEAD_MS 30000ull
/* ... and a publisher whose head did not move for so long is silent. */
#define BALEEN_FLEET_SILENT_MS 120000ull

/* Names of texts that baleen-fleetd keeps in the database. */
#define BALEEN_FLEET_TEXT_EXPIRES "policy-expires-ms"
#define BALEEN_FLEET_TEXT_LOOKED "looked-s"
#define BALEEN_FLEET_TEXT_AGREED "agreed-s"
#define BALEEN_FLEET_TEXT_LAG "lag-ms"
#define BALEEN_FLEET_TEXT_HOSTS "hosts-alive"
#define BALEEN_FLEET_TEXT_SENDS "publisher-error"
#define BALEEN_FLEET_TEXT_RECEIVES "reader-error"

/* About so many heads are looked at in so long: who looks at all needs more of it. */
#define BALEEN_FLEET_A_LOOK 128
#define BALEEN_FLEET_LOOK_MS 10000ull

/* So long before a policy expires it is told. */
#define BALEEN_FLEET_EXPIRES_SOON_MS (7 * 86400000ull)

/**
 * struct baleen_fleet_health - how it is
 * @n_publishers: publishers of other hosts
 * @n_silent: those that are silent
 * @n_behind: those that have published what this host lacks
 * @n_changes_behind: how many changes that are
 * @n_cloned: those under whose name two hosts publish, own ones among them
 * @n_held: entries that the policy holds
 * @n_entries: entries of all of them
 * @n_unsent: own changes that Redis does not have
 * @silent: name of the one that has been silent longest; empty for none
 * @silent_ms: for so long
 * @behind: name of one that is behind; empty for none
 * @cloned: name of one; empty for none
 * @looked_s: when heads were compared last, broker's time, seconds; 0 for never
 * @agreed_s: when all agreed
 * @lag_ms: from the signature of a batch to its being in force, the longest of the last second
 *          that had any
 * @n_hosts: hosts that showed a sign of life
 * @sends: why nothing goes out; empty when it does
 * @receives: why nothing comes in
 * @silent_after_ms: who says nothing for so long is silent: BALEEN_FLEET_SILENT_MS, and what it
 * takes to look at all publishers
 * @expires_ms: when the policy expires, this host's time; 0 for never
 * @refused: messages that were refused, by cause; entries that were held
 */
struct baleen_fleet_health {
	u64 n_publishers;
	u64 n_silent;
	u64 n_behind;
	u64 n_changes_behind;
	u64 n_cloned;
	u64 n_held;
	u64 n_entries;
	u64 n_unsent;
	char silent[BALEEN_FLEET_PUBLISHER_BYTES];
	u64 silent_ms;
	char behind[BALEEN_FLEET_PUBLISHER_BYTES];
	char cloned[BALEEN_FLEET_PUBLISHER_BYTES];
	u64 looked_s;
	u64 agreed_s;
	u64 lag_ms;
	u64 n_hosts;
	char sends[BALEEN_FLEET_TEXT_BYTES];
	char receives[BALEEN_FLEET_TEXT_BYTES];
	u64 silent_after_ms;
	u64 expires_ms;
	u64 refused[BALEEN_FLEET_N_CAUSES];
};

/**
 * baleen_fleet_silence() - for how long a publisher has said nothing new
 * @publisher: one of another host
 * @now_ms: broker's time
 * @local_ms: time of this host
 *
 * By the broker's clock and by this host's, the longer of both counts: a broker that holds back
 * what is said may hold back its clock, too.
 *
 * Return: milliseconds.
 */
u64 baleen_fleet_silence(const struct baleen_fleet_publisher *publisher, u64 now_ms, u64 local_ms);

/**
 * baleen_fleet_health_read() - how it is
 * @store: opened
 * @local_ms: time of this host
 * @health: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_health_read(const struct baleen_fleet_store *store, u64 local_ms,
			     struct baleen_fleet_health *health, struct baleen_error *error);

#endif /* BALEEN_FLEET_HEALTH_H */
