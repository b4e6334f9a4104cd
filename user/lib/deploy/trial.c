// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The roll-outs of a device, a step further. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/trial.h"
#include "deploy/trial_judge.h"
#include "deploy/trial_rule.h"
#include "state/set_feed.h"
#include "util/command.h"

/**
 * struct work - the roll-out of one feed
 * @trial: all of the device
 * @feed: feed of the state
 * @rollout: as the state has it, and shall have it
 * @manifest: its manifest
 * @version: of the feed, that came in this step; NULL for none
 * @error: filled in on failure
 */
struct work {
	struct baleen_trial *trial;
	struct baleen_feed feed;
	struct baleen_feed_rollout rollout;
	struct baleen_set_manifest manifest;
	const struct baleen_feed_version *version;
	struct baleen_error *error;
};

static struct baleen_rule_store *state_of(const struct work *work)
{
	return &work->trial->deploy->state;
}

/* --- what is told ------------------------------------------------------------------------ */

static void __attribute__((format(printf, 3, 4)))
note(const struct work *work, bool is_veto, const char *format, ...)
{
	struct baleen_trial *trial = work->trial;
	struct baleen_trial_note *note = &trial->note[trial->n_notes];
	va_list args;

	if (trial->n_notes == BALEEN_TRIAL_NOTES)
		return;
	trial->n_notes++;
	note->is_veto = is_veto;
	strcpy(note->rule, work->feed.rule);
	va_start(args, format);
	vsnprintf(note->text, sizeof(note->text), format, args);
	va_end(args);
}

void baleen_trial_vote(struct baleen_trial *trial, const struct baleen_set_manifest *manifest,
		       const struct baleen_vote *what)
{
	struct baleen_vote *vote = &trial->vote[trial->n_votes];

	if (trial->n_votes == BALEEN_TRIAL_NOTES)
		return;
	trial->n_votes++;
	*vote = *what;
	vote->is_own = true;
	vote->generation = manifest->head.generation;
	vote->digest = baleen_vote_digest(&manifest->head);
	vote->made_s = trial->now_ms / 1000;
	strcpy(vote->set, manifest->name);
	snprintf(vote->host, sizeof(vote->host), "%s", trial->site->host);
}

static void say(const struct work *work, bool is_veto, const char *reason)
{
	struct baleen_vote vote = { .is_veto = is_veto };

	snprintf(vote.reason, sizeof(vote.reason), "%s", reason);
	if (work->manifest.head.generation == work->rollout.generation)
		baleen_trial_vote(work->trial, &work->manifest, &vote);
}

/* --- phases ------------------------------------------------------------------------------- */

/* A canary divides its soak time between trial and watch. */
static u64 length_ms(const struct work *work)
{
	u32 ring = work->rollout.ring;
	u64 soak_ms;

	if (!ring || ring > work->manifest.rollout.n_rings)
		return 0;
	soak_ms = work->manifest.rollout.ring[ring - 1].soak_s * 1000ull;
	return ring == 1 ? soak_ms / 2 : soak_ms;
}

static const char *trial_name(const struct work *work)
{
	const struct baleen_stored_rules *rules = &work->trial->plan->rules;
	int at = baleen_trial_rule_find(rules, work->feed.id);

	return at < 0 ? "" : rules->rule[at].name;
}

/* Without room for a rule more nothing is compared; all else goes on. */
static void begin(struct work *work, enum baleen_rollout_phase phase, u64 generation)
{
	struct baleen_feed_rollout *rollout = &work->rollout;

	rollout->phase = phase;
	rollout->generation = generation;
	rollout->until_ms = work->trial->now_ms + length_ms(work);
	rollout->why[0] = '\0';
	if (baleen_trial_rule_put(work->trial->plan, &work->feed) == -E2BIG)
		note(work, false, "no room for a rule that counts: generation %llu is not compared",
		     (unsigned long long)generation);
	work->trial->is_changed = true;
	baleen_trial_counters(work->trial->deploy, work->feed.rule, trial_name(work),
			      rollout->base);
}

static void end(struct work *work)
{
	work->rollout.phase = BALEEN_PHASE_NONE;
	if (baleen_trial_rule_remove(work->trial->plan, work->feed.id))
		work->trial->is_changed = true;
}

static void rebuild(struct work *work)
{
	struct baleen_deploy_plan *plan = work->trial->plan;
	int at = baleen_rule_store_find_rule(&plan->rules, work->feed.rule);

	if (at >= 0)
		plan->rebuild[at] = true;
	work->trial->is_changed = true;
}

static void refuse(struct work *work, const char *why)
{
	work->rollout.vetoed = work->rollout.generation;
	work->rollout.released = 0;
	if (work->rollout.available == work->rollout.vetoed)
		work->rollout.step = BALEEN_ROLLOUT_VETO;
	snprintf(work->rollout.why, sizeof(work->rollout.why), "%s", why);
	say(work, true, why);
}

static int go_back(struct work *work, const char *why)
{
	unsigned long long bad = work->feed.generation;
	int err;

	work->rollout.generation = work->feed.generation;
	end(work);
	err = baleen_feed_other_forget(state_of(work), &work->feed, BALEEN_COPY_NEXT, work->error);
	if (!err)
		err = baleen_feed_go_back(state_of(work), &work->feed, work->error);
	if (err)
		return err;
	rebuild(work);
	refuse(work, why);
	note(work, true, "generation %llu is out of force, %llu is back: %s", bad,
	     (unsigned long long)work->feed.generation, why);
	return 0;
}

static int stop_trial(struct work *work)
{
	end(work);
	return baleen_feed_other_forget(state_of(work), &work->feed, BALEEN_COPY_NEXT, work->error);
}

/* The server has just named it, and nobody is against it. */
static bool may_go_on(const struct work *work)
{
	return work->trial->now_ms >= work->rollout.until_ms && work->version &&
	       work->version->news && work->rollout.step == BALEEN_ROLLOUT_GO &&
	       work->rollout.available == work->rollout.generation;
}

/* A host that is ill before says nothing of the generation. */
static bool is_well(struct work *work)
{
	const char *health = work->trial->plan->rules.health;
	struct baleen_error why;

	if (!*health || !baleen_command_run(health, BALEEN_TRIAL_HEALTH_MS, &why))
		return true;
	snprintf(work->rollout.why, sizeof(work->rollout.why),
		 "waits for the health command: %.180s", why.text);
	return false;
}

static int go_on_trial(struct work *work)
{
	struct baleen_feed_rollout *rollout = &work->rollout;
	char why[BALEEN_ROLLOUT_WHY_BYTES];
	int err;

	if (rollout->step != BALEEN_ROLLOUT_GO)
		return stop_trial(work);
	if (!baleen_trial_judge(work->trial->deploy, work->feed.rule, trial_name(work), rollout, "",
				why)) {
		err = stop_trial(work);
		refuse(work, why);
		note(work, true, "generation %llu is refused on trial: %s",
		     (unsigned long long)rollout->generation, why);
		return err;
	}
	/* Another configuration has no such rule. */
	if (!*trial_name(work))
		begin(work, BALEEN_PHASE_TRIAL, rollout->generation);
	if (!may_go_on(work) || !is_well(work))
		return 0;
	err = baleen_feed_advance(state_of(work), &work->feed, work->error);
	if (err)
		return err;
	rebuild(work);
	begin(work, BALEEN_PHASE_WATCH, work->feed.generation);
	note(work, false, "generation %llu is in force after its trial",
	     (unsigned long long)work->feed.generation);
	return 0;
}

static int go_on_watch(struct work *work)
{
	struct baleen_feed_rollout *rollout = &work->rollout;
	char why[BALEEN_ROLLOUT_WHY_BYTES];

	if (!baleen_trial_judge(work->trial->deploy, work->feed.rule, trial_name(work), rollout,
				work->trial->plan->rules.health, why))
		return go_back(work, why);
	if (work->trial->now_ms < rollout->until_ms)
		return 0;
	end(work);
	if (rollout->ring == 1)
		say(work, false, "");
	note(work, false, "generation %llu is good%s", (unsigned long long)rollout->generation,
	     rollout->ring == 1 ? ", says this canary" : "");
	return 0;
}

/* --- a feed ------------------------------------------------------------------------------- */

static const struct baleen_feed_version *find_version(const struct work *work)
{
	const struct baleen_feed_versions *versions = work->trial->versions;

	for (size_t i = 0; i < versions->n; i++)
		if (baleen_feed_is_of(&versions->version[i].feed, work->feed.rule,
				      &work->feed.wanted))
			return &versions->version[i];
	return NULL;
}

static bool has_come(const struct work *work, bool is_candidate)
{
	return work->version && work->version->news &&
	       work->version->outcome == BALEEN_FEED_CHANGED &&
	       work->version->news->is_candidate == is_candidate;
}

static int step(struct work *work)
{
	if (has_come(work, true)) {
		begin(work, BALEEN_PHASE_TRIAL, work->version->feed.generation);
		note(work, false, "generation %llu is on trial until %s",
		     (unsigned long long)work->rollout.generation,
		     baleen_set_time(work->rollout.until_ms / 1000).text);
		return 0;
	}
	if (has_come(work, false) && work->manifest.rollout.n_rings && length_ms(work)) {
		begin(work, BALEEN_PHASE_WATCH, work->feed.generation);
		return 0;
	}
	/* Taken at once, without rings, or by a release: there is nothing to compare with. */
	if (has_come(work, false) && work->rollout.phase != BALEEN_PHASE_NONE)
		return stop_trial(work);
	switch (work->rollout.phase) {
	case BALEEN_PHASE_TRIAL: return go_on_trial(work);
	case BALEEN_PHASE_WATCH: return go_on_watch(work);
	default: return 0;
	}
}

static int put(struct work *work)
{
	u64 pace_ms = baleen_rollout_pace_ms(&work->manifest.rollout);

	if (work->rollout.phase != BALEEN_PHASE_NONE)
		work->feed.next_ms = work->trial->now_ms + pace_ms;
	if (baleen_feeds_put(state_of(work), &work->feed, work->error))
		return -EIO;
	return baleen_feed_rollout_put(state_of(work), work->feed.id, &work->rollout, work->error);
}

static int look_at(const struct baleen_feed *feed, void *data)
{
	struct work *all = data, work = *all;
	struct baleen_feed_rollout before;
	int err;

	work.feed = *feed;
	if (!baleen_feed_set_is(feed->wanted.source) ||
	    !baleen_feed_manifest_get(state_of(&work), feed->id, &work.manifest))
		return 0;
	baleen_feed_rollout_get(state_of(&work), feed->id, &work.rollout);
	before = work.rollout;
	work.version = find_version(&work);
	err = step(&work);
	if (err || (work.rollout.phase == BALEEN_PHASE_NONE &&
		    !memcmp(&before, &work.rollout, sizeof(before))))
		return err;
	return put(&work);
}

static int put_rules(struct baleen_trial *trial, struct baleen_error *error)
{
	return trial->is_changed ? baleen_rule_store_set_rules(&trial->deploy->state,
							       &trial->plan->rules, error) :
				   0;
}

int baleen_trial_step(struct baleen_trial *trial, struct baleen_error *error)
{
	struct work work = { .trial = trial, .error = error };
	int err = baleen_feeds_each(&trial->deploy->state, NULL, look_at, &work, error);

	return err ? err : put_rules(trial, error);
}

int baleen_trial_go_back(struct baleen_trial *trial, const struct baleen_feed *feed,
			 const char *why, struct baleen_error *error)
{
	struct work work = { .trial = trial, .feed = *feed, .error = error };
	int err;

	baleen_feed_manifest_get(state_of(&work), feed->id, &work.manifest);
	baleen_feed_rollout_get(state_of(&work), feed->id, &work.rollout);
	err = go_back(&work, why);
	if (!err)
		err = put(&work);
	return err ? err : put_rules(trial, error);
}
