/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bans of a fleet that are in force on this host.
 *
 * They are the union of what publishers have: not held, not of a suspended publisher, made after
 * any pardon of their key, and not ended. What this host has published itself is not among them,
 * unless it is asked for by name: it has these entries already.
 */
#ifndef BALEEN_FLEET_VIEW_H
#define BALEEN_FLEET_VIEW_H

#include "fleet/fleet_pardon.h"
#include "fleet/fleet_result.h"

/**
 * baleen_fleet_view_each() - the bans in force
 * @store: opened
 * @publisher: of this one; NULL for all
 * @now_ms: broker's time
 * @visit: called with each, by publisher, set and key; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_each(const struct baleen_fleet_store *store, const char *publisher,
			   u64 now_ms,
			   int (*visit)(const struct baleen_fleet_effect *effect, void *data),
			   void *data, struct baleen_error *error);

/**
 * enum baleen_fleet_state - does an entry count on this host?
 * @BALEEN_FLEET_COUNTS: it does; of an own one, it is published
 * @BALEEN_FLEET_IS_HELD: the policy holds it
 * @BALEEN_FLEET_IS_SUSPENDED: its publisher is suspended
 * @BALEEN_FLEET_IS_PARDONED: its key was let go after it was made
 * @BALEEN_FLEET_HAS_ENDED: its time is over
 */
enum baleen_fleet_state {
	BALEEN_FLEET_COUNTS,
	BALEEN_FLEET_IS_HELD,
	BALEEN_FLEET_IS_SUSPENDED,
	BALEEN_FLEET_IS_PARDONED,
	BALEEN_FLEET_HAS_ENDED,
};

/**
 * baleen_fleet_state_text() - a state in words
 * @state: enum baleen_fleet_state
 * @hold: enum baleen_fleet_hold
 * @text: filled in
 * @room: bytes that @text has, 64 are enough
 *
 * Return: @text, such as "held: rate".
 */
const char *baleen_fleet_state_text(u32 state, u32 hold, char *text, size_t room);

/**
 * struct baleen_fleet_found - an entry, whether it counts or not
 * @publisher: HOST/ORIGIN
 * @is_own: this host published it
 * @state: enum baleen_fleet_state
 * @hold: enum baleen_fleet_hold
 * @base_ms: when it was made, or when it came if that was before; broker's time
 * @entry: the entry; its end is the one that counts here
 */
struct baleen_fleet_found {
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	bool is_own;
	u32 state;
	u32 hold;
	u64 base_ms;
	struct baleen_fleet_entry entry;
};

/**
 * baleen_fleet_view_find() - all entries that an address or prefix is in
 * @store: opened
 * @key: the address or prefix
 * @now_ms: broker's time
 * @visit: called with each, the longest prefix first; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_find(const struct baleen_fleet_store *store,
			   const struct baleen_fleet_key *key, u64 now_ms,
			   int (*visit)(const struct baleen_fleet_found *found, void *data),
			   void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_inside() - all entries of a set that are in a prefix
 * @store: opened
 * @set: name of the set
 * @key: the prefix
 * @now_ms: broker's time
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_inside(const struct baleen_fleet_store *store, const char *set,
			     const struct baleen_fleet_key *key, u64 now_ms,
			     int (*visit)(const struct baleen_fleet_found *found, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_exact() - all bans of just this key
 * @store: opened
 * @key: an address or prefix
 * @now_ms: broker's time
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_exact(const struct baleen_fleet_store *store,
			    const struct baleen_fleet_key *key, u64 now_ms,
			    int (*visit)(const struct baleen_fleet_found *found, void *data),
			    void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_wide() - all bans of prefixes that the policy lets
 * @store: opened
 * @now_ms: broker's time
 * @visit: called with each that has not ended; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_wide(const struct baleen_fleet_store *store, u64 now_ms,
			   int (*visit)(const struct baleen_fleet_found *found, void *data),
			   void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_has_pardons() - was anything inside of a prefix let go?
 * @store: opened
 * @entry: set and key of a ban
 * @error: filled in on failure
 *
 * Return: 1; 0, also of a single address; a negative errno.
 */
int baleen_fleet_view_has_pardons(const struct baleen_fleet_store *store,
				  const struct baleen_fleet_entry *entry,
				  struct baleen_error *error);

/**
 * baleen_fleet_view_newest() - what was published last, bans and words
 * @store: opened
 * @most: so many
 * @visit: called with each, the newest first: publisher, is_own, hold and entry are filled in; a
 *         nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_newest(const struct baleen_fleet_store *store, u64 most,
			     int (*visit)(const struct baleen_fleet_found *found, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_holds() - how entries of a publisher stand
 * @store: opened
 * @publisher: HOST/ORIGIN
 * @now_ms: broker's time: those that have ended are not counted
 * @n: BALEEN_FLEET_N_HOLDS numbers, by enum baleen_fleet_hold, filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_view_holds(const struct baleen_fleet_store *store, const char *publisher,
			    u64 now_ms, u64 *n, struct baleen_error *error);

/**
 * baleen_fleet_view_taken_back() - what this host publishes, and a pardon takes back
 * @store: opened
 * @now_ms: broker's time
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * They stay until the caller takes them out where they are, and syncs. What was published after
 * the pardon is not among them.
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_view_taken_back(const struct baleen_fleet_store *store, u64 now_ms,
				 int (*visit)(const struct baleen_fleet_found *found, void *data),
				 void *data, struct baleen_error *error);

/**
 * baleen_fleet_view_next_end() - when the next ban in force ends
 * @store: opened
 * @now_ms: broker's time
 *
 * Return: broker's time; 0 when there is none.
 */
u64 baleen_fleet_view_next_end(const struct baleen_fleet_store *store, u64 now_ms);

#endif /* BALEEN_FLEET_VIEW_H */
