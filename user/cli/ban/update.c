// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen update: new versions of feeds. */
#include <string.h>

#include "cli/ban/feed_due.h"
#include "cli/common/feed_progress.h"
#include "cli/open/guard.h"
#include "cli/open/never_names.h"
#include "cli/open/filter_name.h"
#include "cli/open/rollout_site.h"
#include "deploy/bans.h"
#include "deploy/conf_plan.h"
#include "deploy/protect.h"
#include "deploy/trial.h"
#include "net/device.h"
#include "state/feed_update.h"
#include "state/route_feed.h"
#include "state/rule_store_each.h"
#include "util/number.h"
#include "util/signals.h"

/**
 * struct update - what is asked for
 * @force: also what is beyond its limits, or would cut this host off
 * @quiet_change: a change is exit 0, too
 * @due: only what baleend should look for by now
 * @routes: only tables of routes
 * @json: an array of objects, filled in; NULL for words
 * @site: who this host is
 * @result: exit code so far
 */
struct update {
	bool force;
	bool quiet_change;
	bool due;
	bool routes;
	json_t *json;
	struct baleen_rollout_site site;
	int result;
};

/**
 * struct device - a device whose feeds are asked for
 * @update: the request
 * @name: its name
 * @rule: the only rule, or NULL for all
 * @conf: its state as a configuration
 * @versions: versions of the feeds
 * @answers: answers for its never-names
 * @trial: roll-outs of signed sets
 * @is_changed: any of them, or what is withheld
 */
struct device {
	struct update *update;
	const char *name;
	const char *rule;
	struct baleen_conf conf;
	struct baleen_feed_versions versions;
	struct baleen_never_answers answers;
	struct baleen_trial trial;
	bool is_changed;
};

/* --- receive ------------------------------------------------------------------- */

static bool is_asked_for(const struct device *device, const struct baleen_rule_store *state,
			 const struct baleen_conf_feed *feed)
{
	const char *rule = device->conf.rules.rule[feed->rule].name;

	if (baleen_feed_copy_is(feed->wanted.source) || (device->rule && strcmp(device->rule, rule)))
		return false;
	if (device->update->routes && !baleen_route_feed_is(feed->wanted.source))
		return false;
	return !device->update->due || feed_is_due(state, rule, &feed->wanted);
}

static int receive(struct device *device, const struct baleen_rule_store *state)
{
	struct baleen_error error;

	rollout_site_read_for(&device->conf, true, &device->update->site);
	for (size_t i = 0; i < device->conf.n_feeds; i++) {
		const struct baleen_conf_feed *feed = &device->conf.feed[i];
		const struct baleen_feed_ask ask = {
			.state = state,
			.rule = &device->conf.rules.rule[feed->rule],
			.wanted = &feed->wanted,
			.ignores_limits = device->update->force,
			.site = &device->update->site,
			.rolls_out = true,
			/* Devices with the same feed are due together: one download does. */
			.share_ms = device->update->due ? feed->wanted.every_s * 500ull : 0,
			.on_progress = feed_progress,
			.data = (void *)feed->wanted.source,
		};
		int err;

		if (!is_asked_for(device, state, feed))
			continue;
		err = baleen_feed_receive(&ask, &device->versions, &error);
		feed_progress_end();
		if (err)
			return complain("%s: %s", device->name, error.text);
	}
	return 0;
}

/* Names are of the device, not of a rule. */
static int ask_names(struct device *device, const struct baleen_rule_store *state)
{
	struct baleen_error error;

	if (device->rule || device->update->routes)
		return 0;
	if (baleen_never_names_ask(device->conf.rules.never_names, state, device->update->due,
				   &device->answers, &error))
		return complain("%s: %s", device->name, error.text);
	return 0;
}

static int check_rule(const struct device *device)
{
	if (!device->rule || baleen_rule_store_find_rule(&device->conf.rules, device->rule) >= 0)
		return 0;
	return complain_no_rule(device->name, device->rule);
}

static int receive_all(struct device *device)
{
	struct baleen_error error;
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device->name, 0, &error);

	if (!err) {
		err = baleen_conf_from_state(&state, &device->conf, &error);
		if (err)
			baleen_rule_store_close(&state);
	}
	if (err)
		return complain("%s", error.text);
	err = check_rule(device);
	if (!err)
		err = receive(device, &state);
	if (!err)
		err = ask_names(device, &state);
	baleen_rule_store_close(&state);
	return err;
}

/* --- put ------------------------------------------------------------------------- */

/**
 * struct asking - who has to agree
 * @device: the device
 * @rules: rules of its state
 * @xdp: the filter that is on; NULL for none
 */
struct asking {
	const struct device *device;
	const struct baleen_stored_rules *rules;
	const struct baleen_xdp *xdp;
};

static int check(void *data, const struct baleen_ruleset *ruleset)
{
	const struct asking *asking = data;

	return guard_conf(asking->device->name, asking->rules, asking->xdp, ruleset,
			  asking->device->update->force);
}

static bool is_change(const struct baleen_feed_version *version)
{
	return version->outcome != BALEEN_FEED_SAME && version->outcome != BALEEN_FEED_FAILED;
}

/* A generation on trial changes no rule that drops. */
static bool changes_rule(const struct baleen_feed_version *version)
{
	return is_change(version) && !(version->news && version->news->is_candidate);
}

static int accept_feeds(struct device *device, struct baleen_deploy *deploy,
			struct baleen_deploy_plan *plan, struct baleen_error *error)
{
	struct baleen_rule_store *state = &deploy->state;
	int err = 0;

	for (size_t i = 0; i < device->versions.n && !err; i++) {
		const struct baleen_feed_version *version = &device->versions.version[i];
		int rule = baleen_rule_store_find_rule(&plan->rules, version->feed.rule);

		err = baleen_feed_version_accept(state, version, error);
		if (rule >= 0 && changes_rule(version))
			plan->rebuild[rule] = true;
	}
	if (!err)
		err = baleen_protect(state, plan, &device->answers, error);
	device->trial = (struct baleen_trial){ .deploy = deploy,
					       .plan = plan,
					       .versions = &device->versions,
					       .site = &device->update->site,
					       .now_ms = baleen_now_ms() };
	return err ? err : baleen_trial_step(&device->trial, error);
}

static bool rebuilds(const struct baleen_deploy_plan *plan)
{
	for (u32 i = 0; i < plan->rules.n_rules; i++)
		if (plan->rebuild[i])
			return true;
	return false;
}

/* Without a change of any rule only times are written down. */
static int put(struct device *device, struct baleen_deploy *deploy, struct baleen_error *error)
{
	struct baleen_deploy_plan plan = { 0 };
	struct asking asking = { .device = device,
				 .rules = &plan.rules,
				 .xdp = deploy->has_xdp ? &deploy->xdp : NULL };
	int err = baleen_rule_store_get_rules(&deploy->state, &plan.rules, error);

	if (!err)
		err = baleen_rule_store_begin(&deploy->state, error);
	if (err)
		return err;
	err = accept_feeds(device, deploy, &plan, error);
	if (err)
		baleen_rule_store_rollback(&deploy->state);
	else if (!(rebuilds(&plan) || device->trial.is_changed) || !deploy->has_xdp)
		err = baleen_rule_store_commit(&deploy->state, error);
	else
		err = baleen_deploy_put(deploy, &plan, NULL, check, &asking, error);
	return err;
}

/* A refused step counts as a failure of each feed that would have changed. */
static void note_refusal(struct device *device, struct baleen_deploy *deploy, const char *why)
{
	int err = baleen_rule_store_begin(&deploy->state, NULL);

	for (size_t i = 0; i < device->versions.n; i++) {
		struct baleen_feed_version *version = &device->versions.version[i];

		if (is_change(version))
			baleen_feed_version_fail(version, why);
		if (!err)
			err = baleen_feed_version_accept(&deploy->state, version, NULL);
	}
	for (size_t i = 0; i < device->answers.n; i++)
		baleen_never_answer_fail(&device->answers.answer[i], why);
	if (!err)
		err = baleen_never_names_update(&deploy->state, device->conf.rules.never_names,
						&device->answers, NULL);
	if (!err)
		baleen_rule_store_commit(&deploy->state, NULL);
	else
		baleen_rule_store_rollback(&deploy->state);
}

static bool has_change(const struct baleen_feed_versions *versions)
{
	for (size_t i = 0; i < versions->n; i++)
		if (is_change(&versions->version[i]))
			return true;
	return false;
}

static int put_all(struct device *device)
{
	struct baleen_deploy deploy;
	struct baleen_error error;
	int err;

	baleen_bans_end_if_due();
	err = baleen_deploy_open(&deploy, device->name, BALEEN_LOCK_TIMEOUT_MS, &error);

	if (err)
		return complain("%s", error.text);
	err = put(device, &deploy, &error);
	/* Else each feed that would have changed says it. */
	if (err < 0 && !has_change(&device->versions))
		complain("%s: %s", device->name, error.text);
	if (err)
		note_refusal(device, &deploy,
			     err < 0 ? error.text : "refused: this host would cut itself off");
	baleen_deploy_close(&deploy);
	if (err)
		return EXIT_FAILED;
	rollout_votes_put(&device->trial);
	return 0;
}

/* --- report ------------------------------------------------------------------------ */

static const char *outcome_text(enum baleen_feed_outcome outcome)
{
	static const char *const text[] = {
		[BALEEN_FEED_SAME] = "same",	   [BALEEN_FEED_NEW] = "new",
		[BALEEN_FEED_CHANGED] = "changed", [BALEEN_FEED_GONE] = "gone",
		[BALEEN_FEED_FAILED] = "failed",
	};

	return text[outcome];
}

/* There is a later generation, which is not for this host yet. */
static bool waits(const struct baleen_feed_version *version, char *text)
{
	return version->news && version->news->rollout.available > version->feed.generation &&
	       *baleen_rollout_text(&version->news->rollout, text);
}

static void report_words(const struct device *device, const struct baleen_feed_version *version)
{
	char added[NUMBER_TEXT], removed[NUMBER_TEXT], now[NUMBER_TEXT];
	char text[BALEEN_ROLLOUT_TEXT];

	if (version->outcome == BALEEN_FEED_FAILED) {
		complain("%s:%s: %s%s", device->name, version->feed.rule, version->error.text,
			 version->feed.received_ms ? "; its last good copy stays in force" : "");
		return;
	}
	if (*version->error.text)
		complain("%s:%s: %s", device->name, version->feed.rule, version->error.text);
	say("%s:%s: %s: ", device->name, version->feed.rule, baleen_feed_name(&version->feed).text);
	if (version->outcome == BALEEN_FEED_SAME) {
		say("%s\n", waits(version, text) ? text : "unchanged");
		return;
	}
	say("%s, +%s -%s: %s %s", outcome_text(version->outcome),
	    format_count(version->n_added, added), format_count(version->n_removed, removed),
	    format_count(version->now.n_entries, now),
	    baleen_plural(version->now.n_entries, "entry", "entries"));
	if (version->feed.n_special && version->outcome != BALEEN_FEED_GONE)
		say(", without %s special-purpose%s", format_count(version->feed.n_special, added),
		    version->outcome == BALEEN_FEED_NEW ? SPECIAL_HINT : "");
	if (version->now.n_ends)
		say(", without %s %s", format_count(version->now.n_ends, added),
		    baleen_plural(version->now.n_ends, "timeout", "timeouts"));
	if (version->feed.generation)
		say(", generation %llu", (unsigned long long)version->feed.generation);
	if (version->feed.n_held)
		say(", %s of them held", format_count(version->feed.n_held, added));
	putchar('\n');
}

static void report_json(const struct device *device, const struct baleen_feed_version *version)
{
	json_t *one = json_object();
	char text[BALEEN_ROLLOUT_TEXT];

	json_object_set_new(one, "device", json_text(device->name));
	json_object_set_new(one, "rule", json_text(version->feed.rule));
	json_object_set_new(one, "feed", json_text(baleen_feed_name(&version->feed).text));
	json_object_set_new(one, "result", json_string(outcome_text(version->outcome)));
	json_object_set_new(one, "entries", json_integer(version->now.n_entries));
	json_object_set_new(one, "added", json_integer(version->n_added));
	json_object_set_new(one, "removed", json_integer(version->n_removed));
	json_object_set_new(one, "special", json_integer(version->feed.n_special));
	json_object_set_new(one, "timeouts", json_integer(version->now.n_ends));
	json_object_set_new(one, "held", json_integer(version->feed.n_held));
	json_object_set_new(one, "generation", json_integer(version->feed.generation));
	json_object_set_new(one, "fallbacks", json_integer(version->feed.n_fallbacks));
	json_object_set_new(one, "waits", waits(version, text) ? json_text(text) : json_null());
	json_object_set_new(one, "error",
			    *version->error.text ? json_text(version->error.text) : json_null());
	json_array_append_new(device->update->json, one);
}

static bool is_reported(const struct baleen_feed_versions *versions, size_t i)
{
	return i && versions->version[i].outcome == BALEEN_FEED_FAILED &&
	       versions->version[i - 1].outcome == BALEEN_FEED_FAILED &&
	       !strcmp(versions->version[i].error.text, versions->version[i - 1].error.text);
}

static int report(const struct device *device)
{
	int result = EXIT_DONE;

	for (size_t i = 0; i < device->versions.n; i++) {
		const struct baleen_feed_version *version = &device->versions.version[i];

		if (device->update->json)
			report_json(device, version);
		else if (!is_reported(&device->versions, i))
			report_words(device, version);
		if (version->outcome == BALEEN_FEED_FAILED)
			result = EXIT_FAILED;
		else if (is_change(version) && result == EXIT_DONE)
			result = EXIT_CHANGED;
	}
	result = rollout_notes_report(device->name, &device->trial, device->update->json, result);
	return never_names_report(device->name, &device->answers, device->update->json, result);
}

/* --- the command --------------------------------------------------------------------- */

static void add_result(struct update *update, int result)
{
	if (result == EXIT_FAILED || update->result == EXIT_DONE)
		update->result = result;
}

static void update_device(struct update *update, const char *name, const char *rule)
{
	struct device device = { .update = update, .name = name, .rule = rule };
	int err = receive_all(&device), result;

	/* With nothing due, not even what is withheld is looked at. */
	if (!err && (device.versions.n || device.answers.n || !(update->due || update->routes)))
		err = put_all(&device);
	result = report(&device);
	add_result(update, err ? EXIT_FAILED : result);
	baleen_feed_versions_free(&device.versions);
	baleen_never_answers_free(&device.answers);
	baleen_conf_free(&device.conf);
}

static int update_each(struct baleen_rule_store_found *found, void *data)
{
	baleen_rule_store_let_go(found);
	update_device(data, found->device, NULL);
	return 0;
}

static int update_all(struct update *update, int argc, char **argv)
{
	struct baleen_error error;

	for (int i = 0; i < argc; i++) {
		char device[BALEEN_POINT_BYTES];
		const char *rule;

		if (split_live(argv[i], device, sizeof(device), &rule))
			update_device(update, device, rule);
		else
			update_device(update, argv[i], NULL);
	}
	if (!argc && baleen_rule_store_each(update_each, update, &error))
		return complain("%s", error.text);
	return update->result;
}

static int run(int argc, char **argv)
{
	struct update update = { 0 };
	struct baleen_error error;
	int err = options_parse(&update_command, &update, &argc, &argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	/* A download ends early, a change is finished. */
	baleen_signals_hold(NULL);
	err = update_all(&update, argc, argv);
	if (err == EXIT_CHANGED && update.quiet_change)
		err = EXIT_DONE;
	return finish_collected(update.json, err);
}

static const struct option_spec options[] = {
	FLAG("due", 0, update, due,
	     "only feeds whose 'every' has passed since they were asked last, or 5 minutes when "
	     "they failed"),
	FLAG("routes", 0, update, routes,
	     "only tables of routes: baleend asks for them when the kernel tells of a change"),
	FLAG("force", 0, update, force,
	     "also what is beyond its limits, or would cut this host off; lets go held routes"),
	FLAG("quiet-change", 0, update, quiet_change, "exit 0, not 3, when something changed"),
	VALUE("json", 'j', NULL, option_json, update, json, "an array with one object per feed"),
	{ 0 },
};

const struct command update_command = {
	.name = "update",
	.synopsis = "[DEV[:RULE]...] [--due] [--routes] [--force] [--quiet-change] [-j]",
	.help = "Asks the feeds of rules for new versions, of all devices when none is named: files,\n"
		"directories (each regular file in them, not hidden, not ending in ~ or .tmp), URLs and\n"
		"tables of routes.\n"
		"What came is judged first: can it be read, and is it within the limits of its rule\n"
		"(min-entries, max-entries, max-shrink, max-coverage, max-growth)? What is refused, or does\n"
		"not come, leaves the last good copy in force, and the others go on; --force takes it this\n"
		"once.\n"
		"All that came goes on the device in one step. What is withheld (addresses of this\n"
		"host, its gateways, resolvers and peers, the never-drop list and names) is found anew.\n"
		"Exit: 0 nothing changed, 3 something did (0 with --quiet-change), 1 a feed failed.\n",
	.options = options,
	.run = run,
};
