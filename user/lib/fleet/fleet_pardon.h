/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that were let go: bans that were made before do not count.
 *
 * A pardon is an entry of a publisher HOST/control, so it has a number, is in heads and snapshots,
 * and ends. It is looked for by its key: what it costs does not grow with how many there are.
 */
#ifndef BALEEN_FLEET_PARDON_H
#define BALEEN_FLEET_PARDON_H

#include "fleet/fleet_store.h"

/**
 * struct baleen_fleet_pardons - how to look for pardons
 * @store: private
 * @now_ms: private: broker's time
 * @has: private: by length, of IPv4 and of IPv6: there is one
 * @ret: 0; a negative errno when a question failed: all answers since are false
 * @made_ms: of the pardon that was found last: its time
 * @heard_ms: when this host heard of it, by this host's clock
 * @error: private: filled in then
 */
struct baleen_fleet_pardons {
	const struct baleen_fleet_store *store;
	u64 now_ms;
	bool has[2][129];
	int ret;
	u64 made_ms;
	u64 heard_ms;
	struct baleen_error *error;
};

/**
 * baleen_fleet_pardons_open() - begin to look for pardons
 * @store: opened
 * @now_ms: broker's time
 * @pardons: filled in; nothing is to be freed
 * @error: filled in on failure, of this and of later questions
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_pardons_open(const struct baleen_fleet_store *store, u64 now_ms,
			      struct baleen_fleet_pardons *pardons, struct baleen_error *error);

/**
 * baleen_fleet_pardons_hold() - was an entry let go after it was made?
 * @pardons: opened; @ret of it tells of a failure
 * @entry: set and key count
 * @base_ms: when it was made
 *
 * Return: true when a pardon of the key, or of a prefix that it is in, is not older: @pardons has
 * the time of the latest of these.
 */
bool baleen_fleet_pardons_hold(struct baleen_fleet_pardons *pardons,
			       const struct baleen_fleet_entry *entry, u64 base_ms);

#endif /* BALEEN_FLEET_PARDON_H */
