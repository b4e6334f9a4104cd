/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A signed set that reaches its hosts in rings (set/rollout.h), as the state of a device has it:
 *
 *      the manifest that came last          its generation is on its way, or in force
 *      the generation in force              the last good copy of the feed
 *      the next one, on a canary            counted beside it, not in force
 *      the previous one                     to go back to
 *
 *      nothing -> trial -> watch -> nothing          of a canary; other hosts have no trial
 *
 * The other two copies are feeds of their own that baleen_feeds_each() passes over, so they are
 * committed, copied and forgotten as all else of the state is.
 */
#ifndef BALEEN_FEED_ROLLOUT_H
#define BALEEN_FEED_ROLLOUT_H

#include "set/set_manifest.h"
#include "state/feeds.h"

/**
 * enum baleen_rollout_phase - what a host does with a generation
 * @BALEEN_PHASE_NONE: nothing but to enforce what is in force
 * @BALEEN_PHASE_TRIAL: counts what the next one would drop
 * @BALEEN_PHASE_WATCH: enforces a new one, and counts what the previous one would drop
 * @BALEEN_N_PHASES: how many there are
 */
enum baleen_rollout_phase {
	BALEEN_PHASE_NONE,
	BALEEN_PHASE_TRIAL,
	BALEEN_PHASE_WATCH,
	BALEEN_N_PHASES,
};

/* Why a generation is no good, in a line. */
#define BALEEN_ROLLOUT_WHY_BYTES 256

/**
 * struct baleen_feed_rollout - a roll-out as one host sees it
 * @available: generation of the manifest that came last; 0 when none has
 * @created_s: when it was made, in seconds since 1970
 * @ring: of this host; 0: it is for all hosts at once
 * @n_rings: how many there are
 * @due_s: when this ring is due
 * @step: enum baleen_rollout_step: may this host take it?
 * @n_ok: canaries that said it is good
 * @n_canaries: so many have to
 * @phase: enum baleen_rollout_phase
 * @generation: that is on trial or watched
 * @until_ms: when the phase ends
 * @base: when the phase began, or the counters did: all packets, those of the rule, and those of
 *        the other generation
 * @is_held: the operator has this host stay at its generation
 * @released: the operator lets this one come, whatever others say; 0 for none
 * @vetoed: this host refuses this one; 0 for none
 * @why: it is refused, or a phase waits; empty when neither is
 */
struct baleen_feed_rollout {
	u64 available;
	u64 created_s;
	u32 ring;
	u32 n_rings;
	u64 due_s;
	u32 step;
	u32 n_ok;
	u32 n_canaries;
	u32 phase;
	u64 generation;
	u64 until_ms;
	u64 base[3];
	bool is_held;
	u64 released;
	u64 vetoed;
	char why[BALEEN_ROLLOUT_WHY_BYTES];
};

/**
 * baleen_feed_rollout_get() - the roll-out of a feed
 * @state: opened
 * @feed: id of the feed
 * @rollout: filled in; all zeros when there is none, or one that cannot be read
 */
void baleen_feed_rollout_get(const struct baleen_rule_store *state, u64 feed,
			     struct baleen_feed_rollout *rollout);

/**
 * baleen_feed_rollout_put() - write it down
 * @state: with a transaction
 * @feed: id of the feed
 * @rollout: as it is now
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_rollout_put(struct baleen_rule_store *state, u64 feed,
			    const struct baleen_feed_rollout *rollout, struct baleen_error *error);

/**
 * baleen_feed_manifest_get() - the manifest that came last
 * @state: opened
 * @feed: id of the feed
 * @manifest: filled in; untouched on failure
 *
 * It was verified when it came.
 *
 * Return: true; false when there is none.
 */
bool baleen_feed_manifest_get(const struct baleen_rule_store *state, u64 feed,
			      struct baleen_set_manifest *manifest);

/**
 * baleen_feed_manifest_put() - keep a manifest
 * @state: with a transaction
 * @feed: id of the feed
 * @manifest: verified
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_manifest_put(struct baleen_rule_store *state, u64 feed,
			     const struct baleen_set_manifest *manifest,
			     struct baleen_error *error);

/* The other copies. */
#define BALEEN_COPY_NEXT "+next"
#define BALEEN_COPY_PREVIOUS "+previous"

/**
 * baleen_feed_other() - another copy of a set
 * @state: opened
 * @feed: the feed
 * @which: BALEEN_COPY_NEXT or BALEEN_COPY_PREVIOUS
 * @other: filled in: a feed that baleen_feed_open() and baleen_feed_read() take
 *
 * Return: true; false when there is none.
 */
bool baleen_feed_other(const struct baleen_rule_store *state, const struct baleen_feed *feed,
		       const char *which, struct baleen_feed *other);

/**
 * baleen_feed_other_put() - keep bytes as another copy
 * @state: with a transaction
 * @feed: feed of the state; its counts are those of the bytes
 * @which: as for baleen_feed_other(); one that is there is replaced
 * @fd: the bytes
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_other_put(struct baleen_rule_store *state, const struct baleen_feed *feed,
			  const char *which, int fd, struct baleen_error *error);

/**
 * baleen_feed_other_forget() - let another copy go
 * @state: with a transaction
 * @feed: feed of the state
 * @which: as for baleen_feed_other(); need not be there
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_feed_other_forget(struct baleen_rule_store *state, const struct baleen_feed *feed,
			     const char *which, struct baleen_error *error);

/**
 * baleen_feed_keep_previous() - what is in force becomes the previous generation
 * @state: with a transaction
 * @feed: feed of the state, before another copy is accepted
 * @error: filled in on failure
 *
 * Return: 0, also when there is no copy; a negative errno.
 */
int baleen_feed_keep_previous(struct baleen_rule_store *state, const struct baleen_feed *feed,
			      struct baleen_error *error);

/**
 * baleen_feed_advance() - the next generation comes into force, what was becomes the previous one
 * @state: with a transaction
 * @feed: feed of the state; counts and generation become those of the next
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is no next one; a negative errno.
 */
int baleen_feed_advance(struct baleen_rule_store *state, struct baleen_feed *feed,
			struct baleen_error *error);

/**
 * baleen_feed_go_back() - the previous generation comes into force again
 * @state: with a transaction
 * @feed: feed of the state; counts and generation become those of the previous one
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is no previous one; a negative errno.
 */
int baleen_feed_go_back(struct baleen_rule_store *state, struct baleen_feed *feed,
			struct baleen_error *error);

#endif /* BALEEN_FEED_ROLLOUT_H */
