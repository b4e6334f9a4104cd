// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen set status, hold, release and rollback: signed sets that reach this host in rings. */
#include <stdlib.h>
#include <string.h>

#include "cli/common/options.h"
#include "cli/open/filter_name.h"
#include "cli/open/guard.h"
#include "cli/open/rollout_site.h"
#include "cli/set/set_verbs.h"
#include "deploy/bans.h"
#include "deploy/protect.h"
#include "net/device.h"
#include "state/entries.h"
#include "state/rule_store_each.h"
#include "state/set_feed.h"
#include "util/signals.h"

/**
 * struct rollout - what is asked for
 * @command: the verb
 * @fleet: the whole fleet is asked not to take it
 * @reason: why, for the others
 * @json: an array, filled in; NULL for words
 * @device: the device
 * @rule: the only rule; NULL for all
 * @n: feeds that were found
 */
struct rollout {
	const struct command *command;
	bool fleet;
	const char *reason;
	json_t *json;
	const char *device;
	const char *rule;
	u32 n;
};

/* --- status -------------------------------------------------------------------------------- */

static const char *const phase_words[BALEEN_N_PHASES] = { "none", "trial", "watch" };
static const char *const step_words[] = {
	[BALEEN_ROLLOUT_GO] = "go",
	[BALEEN_ROLLOUT_RING] = "ring",
	[BALEEN_ROLLOUT_CANARIES] = "canaries",
	[BALEEN_ROLLOUT_VETO] = "veto",
	[BALEEN_ROLLOUT_HELD] = "held",
};

static json_t *describe(const struct rollout *asked, const struct baleen_feed *feed,
			const struct baleen_feed_rollout *rollout, u64 previous)
{
	json_t *json = json_object();

	json_object_set_new(json, "device", json_text(asked->device));
	json_object_set_new(json, "rule", json_text(feed->rule));
	json_object_set_new(json, "feed", json_text(baleen_feed_name(feed).text));
	json_object_set_new(json, "generation", json_integer(feed->generation));
	json_object_set_new(json, "previous", json_integer(previous));
	json_object_set_new(json, "available", json_integer(rollout->available));
	json_object_set_new(json, "ring", json_integer(rollout->ring));
	json_object_set_new(json, "rings", json_integer(rollout->n_rings));
	json_object_set_new(json, "due", json_integer(rollout->due_s));
	json_object_set_new(json, "ok", json_integer(rollout->n_ok));
	json_object_set_new(json, "canaries", json_integer(rollout->n_canaries));
	json_object_set_new(json, "step", json_string(step_words[rollout->step]));
	json_object_set_new(json, "phase", json_string(phase_words[rollout->phase]));
	json_object_set_new(json, "until",
			    json_integer(rollout->phase ? rollout->until_ms / 1000 : 0));
	json_object_set_new(json, "held", json_boolean(rollout->is_held));
	json_object_set_new(json, "vetoed", json_integer(rollout->vetoed));
	json_object_set_new(json, "why", *rollout->why ? json_text(rollout->why) : json_null());
	return json;
}

static void print_status(const struct rollout *asked, const struct baleen_feed *feed,
			 const struct baleen_feed_rollout *rollout, u64 previous)
{
	struct baleen_set_time until = baleen_set_time(rollout->until_ms / 1000);
	char text[BALEEN_ROLLOUT_TEXT];

	say("%s:%s: %s\n", asked->device, feed->rule, baleen_feed_name(feed).text);
	if (feed->generation)
		say("  generation %llu is in force", (unsigned long long)feed->generation);
	else
		say("  nothing is in force");
	if (previous)
		say(", %llu is kept to go back to", (unsigned long long)previous);
	putchar('\n');
	if (rollout->n_rings)
		say("  this host is in ring %u of %u\n", rollout->ring, rollout->n_rings);
	if (rollout->phase == BALEEN_PHASE_TRIAL)
		say("  generation %llu is on trial until %s: what it would drop is counted\n",
		    (unsigned long long)rollout->generation, until.text);
	if (rollout->phase == BALEEN_PHASE_WATCH)
		say("  it is watched until %s\n", until.text);
	if (rollout->phase && *rollout->why)
		say("  %s\n", rollout->why);
	if (rollout->available > feed->generation && *baleen_rollout_text(rollout, text))
		say("  %s\n", text);
	else if (rollout->is_held)
		puts("  held: no later generation comes into force");
}

static int show(const struct baleen_rule_store *state, const struct baleen_feed *feed,
		struct rollout *asked)
{
	struct baleen_feed_rollout rollout;
	struct baleen_feed previous;
	u64 before = 0;

	baleen_feed_rollout_get(state, feed->id, &rollout);
	if (baleen_feed_other(state, feed, BALEEN_COPY_PREVIOUS, &previous))
		before = previous.generation;
	if (asked->json)
		json_array_append_new(asked->json, describe(asked, feed, &rollout, before));
	else
		print_status(asked, feed, &rollout, before);
	return 0;
}

/**
 * struct walk - the signed sets of a device
 * @asked: what is asked for
 * @state: its state
 */
struct walk {
	struct rollout *asked;
	const struct baleen_rule_store *state;
};

static int show_feed(const struct baleen_feed *feed, void *data)
{
	struct walk *walk = data;

	if (!baleen_feed_set_is(feed->wanted.source))
		return 0;
	walk->asked->n++;
	return show(walk->state, feed, walk->asked);
}

static void show_feeds(const struct baleen_rule_store *state, struct rollout *asked)
{
	struct walk walk = { .asked = asked, .state = state };
	struct baleen_error error;

	if (baleen_feeds_each(state, asked->rule, show_feed, &walk, &error))
		complain("%s", error.text);
}

static int show_found(struct baleen_rule_store_found *found, void *data)
{
	struct rollout *asked = data;

	asked->device = found->device;
	if (found->err)
		return complain("%s", found->error.text);
	show_feeds(&found->state, asked);
	return 0;
}

/* @rule: NULL for any */
static bool has_rule(const struct baleen_rule_store *state, const char *rule)
{
	struct baleen_stored_rules rules;

	return !rule || baleen_rule_store_get_rules(state, &rules, NULL) ||
	       baleen_rule_store_find_rule(&rules, rule) >= 0;
}

static int show_device(const char *device, struct rollout *asked)
{
	struct baleen_rule_store state;
	struct baleen_error error;

	asked->device = device;
	if (baleen_rule_store_open(&state, device, 0, &error))
		return complain("%s", error.text);
	if (has_rule(&state, asked->rule)) {
		show_feeds(&state, asked);
		baleen_rule_store_close(&state);
		return 0;
	}
	baleen_rule_store_close(&state);
	return complain_no_rule(device, asked->rule);
}

static void parse_target(struct rollout *asked, const char *target, char *device)
{
	if (!split_live(target, device, BALEEN_POINT_BYTES, &asked->rule))
		snprintf(device, BALEEN_POINT_BYTES, "%s", target);
}

static int run_status(int argc, char **argv)
{
	struct rollout asked = { .command = &set_status_command };
	int err = options_parse(asked.command, &asked, &argc, &argv);
	char device[BALEEN_POINT_BYTES];
	struct baleen_error error;

	if (err)
		return err;
	if (argc) {
		parse_target(&asked, argv[0], device);
		err = show_device(device, &asked);
	} else if (baleen_rule_store_each(show_found, &asked, &error)) {
		err = complain("%s", error.text);
	}
	if (!err && !asked.n && !asked.json)
		puts("no rule has a signed set");
	return finish_collected(asked.json, err ? EXIT_FAILED : EXIT_DONE);
}

/* --- changes --------------------------------------------------------------------------------- */

/**
 * struct change - a roll-out that the operator changes
 * @asked: what is asked for
 * @trial: a step of the device
 * @site: who this host is
 * @error: filled in on failure
 */
struct change {
	struct rollout *asked;
	struct baleen_trial trial;
	struct baleen_rollout_site site;
	struct baleen_error *error;
};

static void vote(struct change *change, const struct baleen_feed *feed, bool is_veto)
{
	struct baleen_trial *trial = &change->trial;
	struct baleen_vote vote = { .is_veto = is_veto, .is_taken_back = !is_veto };
	struct baleen_set_manifest manifest;

	if (is_veto)
		snprintf(vote.reason, sizeof(vote.reason), "%s",
			 change->asked->reason ? change->asked->reason : "held by an operator");
	if (baleen_feed_manifest_get(&trial->deploy->state, feed->id, &manifest))
		baleen_trial_vote(trial, &manifest, &vote);
}

static int hold(struct change *change, const struct baleen_feed *feed,
		struct baleen_feed_rollout *rollout)
{
	rollout->is_held = true;
	rollout->released = 0;
	if (rollout->available > feed->generation)
		rollout->step = BALEEN_ROLLOUT_HELD;
	if (change->asked->fleet)
		vote(change, feed, true);
	return baleen_feed_rollout_put(&change->trial.deploy->state, feed->id, rollout,
				       change->error);
}

/* The next update takes it. */
static int release(struct change *change, const struct baleen_feed *feed,
		   struct baleen_feed_rollout *rollout)
{
	struct baleen_feed changed = *feed;
	int err;

	rollout->is_held = false;
	rollout->released = rollout->available;
	rollout->vetoed = 0;
	rollout->step = BALEEN_ROLLOUT_GO;
	rollout->why[0] = '\0';
	if (rollout->available > feed->generation)
		changed.next_ms = change->trial.now_ms;
	vote(change, feed, false);
	err = baleen_feeds_put(&change->trial.deploy->state, &changed, change->error);
	return err ? err :
		     baleen_feed_rollout_put(&change->trial.deploy->state, feed->id, rollout,
					     change->error);
}

static int roll_back(struct change *change, const struct baleen_feed *feed)
{
	return baleen_trial_go_back(&change->trial, feed,
				    change->asked->reason ? change->asked->reason :
							    "taken back by an operator",
				    change->error);
}

static int change_feed(const struct baleen_feed *feed, void *data)
{
	struct change *change = data;
	struct baleen_feed_rollout rollout;

	if (!baleen_feed_set_is(feed->wanted.source))
		return 0;
	change->asked->n++;
	if (change->asked->command == &set_rollback_command)
		return roll_back(change, feed);
	baleen_feed_rollout_get(&change->trial.deploy->state, feed->id, &rollout);
	return change->asked->command == &set_hold_command ? hold(change, feed, &rollout) :
							     release(change, feed, &rollout);
}

struct asking {
	const struct baleen_deploy *deploy;
	const struct baleen_stored_rules *rules;
};

static int check(void *data, const struct baleen_ruleset *ruleset)
{
	const struct asking *asking = data;

	return guard_conf(asking->deploy->state.device, asking->rules,
			  asking->deploy->has_xdp ? &asking->deploy->xdp : NULL, ruleset, false);
}

static int put(struct change *change, struct baleen_deploy_plan *plan)
{
	struct baleen_deploy *deploy = change->trial.deploy;
	struct asking asking = { .deploy = deploy, .rules = &plan->rules };
	int err = baleen_feeds_each(&deploy->state, change->asked->rule, change_feed, change,
				    change->error);

	if (!err && !change->asked->n)
		err = baleen_fail(change->error, ENOENT, "%s%s%s: has no signed set",
				  change->asked->device, change->asked->rule ? ":" : "",
				  change->asked->rule ? change->asked->rule : "");
	if (err) {
		baleen_rule_store_rollback(&deploy->state);
		return err;
	}
	if (!change->trial.is_changed || !deploy->has_xdp)
		return baleen_rule_store_commit(&deploy->state, change->error);
	return baleen_deploy_put(deploy, plan, NULL, check, &asking, change->error);
}

static int change_device(struct change *change)
{
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_deploy deploy;
	int err;

	baleen_bans_end_if_due();
	err = baleen_deploy_open(&deploy, change->asked->device, BALEEN_LOCK_TIMEOUT_MS,
				 change->error);
	if (err)
		return err;
	change->trial.deploy = &deploy;
	change->trial.plan = &plan;
	err = baleen_rule_store_get_rules(&deploy.state, &plan.rules, change->error);
	if (!err && !has_rule(&deploy.state, change->asked->rule))
		err = complain_no_rule(change->asked->device, change->asked->rule);
	if (!err)
		err = baleen_rule_store_begin(&deploy.state, change->error);
	if (!err)
		err = put(change, &plan);
	baleen_deploy_close(&deploy);
	return err;
}

static int report(const struct change *change)
{
	const struct rollout *asked = change->asked;
	struct rollout status = *asked;
	int err;

	for (u32 i = 0; i < change->trial.n_notes; i++)
		if (!asked->json)
			say("%s:%s: %s\n", asked->device, change->trial.note[i].rule,
			    change->trial.note[i].text);
	err = show_device(asked->device, &status);
	return finish_collected(asked->json, err ? EXIT_FAILED : EXIT_DONE);
}

static int run_change(const struct command *command, int argc, char **argv)
{
	struct rollout asked = { .command = command };
	const struct baleen_feed_versions none = { 0 };
	int err = options_parse(command, &asked, &argc, &argv);
	struct baleen_error error = { "" };
	struct change change = { .asked = &asked, .error = &error };
	char device[BALEEN_POINT_BYTES];

	if (err)
		return err;
	parse_target(&asked, argv[0], device);
	asked.device = device;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	rollout_site_read(&change.site);
	change.trial.versions = &none;
	change.trial.site = &change.site;
	change.trial.now_ms = baleen_now_ms();
	baleen_signals_hold(NULL);
	err = change_device(&change);
	if (err)
		return err < 0 ? complain("%s", error.text) : EXIT_FAILED;
	rollout_votes_put(&change.trial);
	return report(&change);
}

static int run_hold(int argc, char **argv)
{
	return run_change(&set_hold_command, argc, argv);
}

static int run_release(int argc, char **argv)
{
	return run_change(&set_release_command, argc, argv);
}

static int run_rollback(int argc, char **argv)
{
	return run_change(&set_rollback_command, argc, argv);
}

#define REASON(what) VALUE("reason", 0, "TEXT", option_text, rollout, reason, what)
#define JSON \
	VALUE("json", 'j', NULL, option_json, rollout, json, "an array with one object per set")

static const struct option_spec status_table[] = {
	JSON,
	{ 0 },
};

const struct command set_status_command = {
	.name = "set status",
	.synopsis = "[-j] [DEV[:RULE]]",
	.help = "Says of each signed set that is a feed which generation is in force and which the\n"
		"publisher has, in which ring this host is, and what the next one waits for.\n",
	.options = status_table,
	.asks = { 0, 1, "one device is asked for" },
	.run = run_status,
};

static const struct option_spec hold_table[] = {
	FLAG("fleet", 0, rollout, fleet,
	     "veto the generation that the publisher has, so no host of the fleet takes it"),
	REASON("why, for the others"),
	JSON,
	{ 0 },
};

const struct command set_hold_command = {
	.name = "set hold",
	.synopsis = "[--fleet] [--reason TEXT] [-j] DEV[:RULE]",
	.help = "Keeps the generation in force until 'baleen set release'.\n",
	.options = hold_table,
	.asks = { 1, 1, "one device is asked for" },
	.run = run_hold,
};

static const struct option_spec release_table[] = {
	JSON,
	{ 0 },
};

const struct command set_release_command = {
	.name = "set release",
	.synopsis = "[-j] DEV[:RULE]",
	.help = "Lets the generation come that the publisher has, before its ring is due and whatever\n"
		"canaries say: with the next 'baleen update'. Ends a hold, and takes back the own veto.\n",
	.options = release_table,
	.asks = { 1, 1, "one device is asked for" },
	.run = run_release,
};

static const struct option_spec rollback_table[] = {
	REASON("why, for the others"),
	JSON,
	{ 0 },
};

const struct command set_rollback_command = {
	.name = "set rollback",
	.synopsis = "[--reason TEXT] [-j] DEV[:RULE]",
	.help = "Puts the previous generation in force again, from the copy at hand, and vetoes the one\n"
		"that was: this host refuses it, and so do hosts of its fleet that do not have it yet.\n",
	.options = rollback_table,
	.asks = { 1, 1, "one device is asked for" },
	.run = run_rollback,
};
