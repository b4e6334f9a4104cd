/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the lines of a feed go: one rule, or all that take bans.
 */
#ifndef BALEEN_CLI_FEED_TARGET_H
#define BALEEN_CLI_FEED_TARGET_H

#include "cli/open/entries.h"
#include "deploy/bans.h"
#include "state/scope.h"

/**
 * struct feed_target - the rule, or all of them
 * @name: DEV:RULE or BALEEN_SCOPE_BANS, as typed
 * @device: its device; empty for all
 * @rule: its rule
 * @key_spec: key fields
 * @ban_width: as wide as a lone IPv6 address is banned: in the widest of them, as they were
 *             when they were last held
 * @max_entries: most entries of a snapshot: in the smallest of them
 * @keeps_sessions: refuse to ban peers of TCP sessions
 * @wait_ms: for other writers
 * @session: the device, while it is held
 * @bans: all devices, while they are held
 * @host: surveyed once while it is held
 * @is_held: it is
 * @held_ms: since when
 * @is_late: a device of them was held by another for too long
 * @behind: devices that the last put left behind, and why; empty for none
 * @unkept: why the disk has not what is in force; NULL when it has
 */
struct feed_target {
	const char *name;
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	u32 key_spec, ban_width;
	u64 max_entries;
	bool keeps_sessions;
	u64 wait_ms;
	struct baleen_device_session session;
	struct baleen_bans bans;
	struct baleen_host host;
	bool is_held;
	u64 held_ms;
	bool is_late;
	struct baleen_error behind;
	const char *unkept;
};

/* Finds out what keys it has, from its @name and @wait_ms; 0, or an exit code after a message. */
int feed_target_find(struct feed_target *target);

/* Makes a batch, as baleen_deploy_batch() or baleen_bans_put(). 0; -ENOENT when no rule takes bans;
 * a negative errno: then nothing has changed.
 */
int feed_target_put(struct feed_target *target, struct baleen_batch *batch,
		    struct baleen_error *error);

/* For bans makes the deletions of a batch where the rule is not there, too, and fills in their
 * results. 0, or a negative errno: then nothing has changed there.
 */
int feed_target_put_parked(const struct feed_target *target, struct baleen_batch *batch,
			   struct baleen_error *error);

/* Lets others in. */
void feed_target_release(struct feed_target *target);

#endif /* BALEEN_CLI_FEED_TARGET_H */
