/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A generation of a signed set that reaches hosts in rings (set/rollout.h), on this host.
 *
 *      a canary       trial: counts what the next one would drop, half of its soak time
 *                     watch: enforces it, the other half; then it says that it is good
 *      other hosts    watch: for the soak time of their ring
 *
 * In both phases a rule that counts stands before the one that drops: it holds the generation that
 * is not in force, so both see the same packets. The new one is bad when
 *
 *      on trial       it holds a peer of a session that somebody is logged in by or that this host
 *                     opened, a gateway, a resolver or an own address, or more than one in twenty
 *                     of all peers; and the rule in force does not
 *      in both        it drops more than three times what the other one does, and that is more
 *                     than one packet in a hundred, and 100 packets, more
 *      watched        the health command of the device fails
 *
 * Then the old one is in force again, or still, this host never takes the new one by itself, and
 * says so to the fleet. A trial ends well only when the server still names its generation: when
 * all else is dead nobody goes on.
 */
#ifndef BALEEN_TRIAL_H
#define BALEEN_TRIAL_H

#include "deploy/deploy.h"
#include "state/feed_rollout.h"
#include "state/feed_update.h"
#include "state/votes.h"

#define BALEEN_TRIAL_NOTES (2 * BALEEN_MAX_RULES)

/**
 * struct baleen_trial_note - what became of a roll-out
 * @rule: name of the rule
 * @text: in a line
 * @is_veto: the generation is bad
 */
struct baleen_trial_note {
	char rule[BALEEN_NAME_BYTES];
	char text[BALEEN_ROLLOUT_TEXT];
	bool is_veto;
};

/**
 * struct baleen_trial - the roll-outs of a device, a step further
 * @deploy: opened, with a transaction that has all versions of feeds
 * @plan: rules of the state; rules of trials come and go, and what is to be derived anew is marked
 * @versions: these versions
 * @site: who this host is
 * @now_ms: the time
 * @is_changed: filled in: the device has to be put to what the plan says
 * @note: filled in
 * @n_notes: how many
 * @vote: filled in: to be written down when the transaction is committed
 * @n_votes: how many
 */
struct baleen_trial {
	struct baleen_deploy *deploy;
	struct baleen_deploy_plan *plan;
	const struct baleen_feed_versions *versions;
	const struct baleen_rollout_site *site;
	u64 now_ms;
	bool is_changed;
	struct baleen_trial_note note[BALEEN_TRIAL_NOTES];
	u32 n_notes;
	struct baleen_vote vote[BALEEN_TRIAL_NOTES];
	u32 n_votes;
};

/**
 * baleen_trial_step() - look at all roll-outs of a device
 * @trial: the first five are given
 * @error: filled in on failure
 *
 * May run the health command of the device, for up to BALEEN_TRIAL_HEALTH_MS.
 *
 * Return: 0 or a negative errno.
 */
int baleen_trial_step(struct baleen_trial *trial, struct baleen_error *error);

/**
 * baleen_trial_go_back() - put the previous generation of a feed in force again
 * @trial: the first five are given
 * @feed: feed of the state
 * @why: why, in a line
 * @error: filled in on failure
 *
 * This host refuses the generation from then on.
 *
 * Return: 0; -ENOENT when there is no previous one; a negative errno.
 */
int baleen_trial_go_back(struct baleen_trial *trial, const struct baleen_feed *feed,
			 const char *why, struct baleen_error *error);

/**
 * baleen_trial_vote() - a vote of this host, to be written down after the step
 * @trial: gets it, if there is room
 * @manifest: of the generation it is on
 * @what: is_veto, is_taken_back and reason
 */
void baleen_trial_vote(struct baleen_trial *trial, const struct baleen_set_manifest *manifest,
		       const struct baleen_vote *what);

#endif /* BALEEN_TRIAL_H */
