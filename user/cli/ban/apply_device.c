// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen apply: a configuration onto its device. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "cli/common/feed_progress.h"
#include "cli/open/rollout_site.h"
#include "cli/open/guard.h"
#include "cli/open/never_names.h"
#include "deploy/conf_apply.h"
#include "deploy/confirm.h"
#include "state/feed_set.h"
#include "state/rule_store_mend.h"
#include "state/set_feed.h"
#include "util/duration.h"
#include "util/shell.h"
#include "util/url.h"

/* A URL that was fetched so lately for another device is not fetched again. */
#define SHARE_MS 600000ull

/* --- feeds ------------------------------------------------------------------------ */

/**
 * struct copies - which source has a good copy already
 * @rule: name of its rule
 * @wanted: the source
 * @has_copy: it has
 */
struct copies {
	const char *rule;
	const struct baleen_feed_source *wanted;
	bool has_copy;
};

static int find_copy(const struct baleen_feed *feed, void *data)
{
	struct copies *copies = data;

	if (!baleen_feed_is_of(feed, copies->rule, copies->wanted))
		return 0;
	copies->has_copy = feed->received_ms;
	return 1;
}

/* A URL is asked by 'baleen update', or when there is nothing to go on with. */
static bool needs_version(const struct baleen_rule_store *state, const char *rule,
			  const struct baleen_feed_source *wanted)
{
	struct copies copies = { .rule = rule, .wanted = wanted };

	if (!state || (!baleen_url_is(wanted->source) && !baleen_feed_set_is(wanted->source) &&
		       !baleen_feed_copy_is(wanted->source)))
		return true;
	baleen_feeds_each(state, rule, find_copy, &copies, NULL);
	return !copies.has_copy;
}

static int complain_of_failures(const char *path, const struct baleen_conf_feed *feed,
				const struct baleen_feed_versions *versions, size_t first)
{
	for (size_t i = first; i < versions->n; i++) {
		if (versions->version[i].outcome != BALEEN_FEED_FAILED)
			continue;
		return complain("%s:%llu: %s", path, (unsigned long long)feed->line,
				versions->version[i].error.text);
	}
	return 0;
}

/* A set whose copy is at hand is not asked for, so a wrong name would show only later. */
static int check_key(const char *path, const struct baleen_conf_feed *feed)
{
	struct baleen_error error;

	if (!*feed->wanted.key || !baleen_feed_set_check_key(&feed->wanted, &error))
		return 0;
	return complain("%s:%llu: %s", path, (unsigned long long)feed->line, error.text);
}

static int receive(const struct apply *apply, const char *path, const struct baleen_conf *conf,
		   const struct baleen_rule_store *state, struct baleen_feed_versions *versions)
{
	struct baleen_rollout_site site = { .has_fleet = false };
	struct baleen_error error;

	rollout_site_read_for(conf, &site);
	for (size_t i = 0; i < conf->n_feeds; i++) {
		const struct baleen_conf_feed *feed = &conf->feed[i];
		const struct baleen_stored_rule *rule = &conf->rules.rule[feed->rule];
		struct baleen_feed_ask ask = { .state = state,
					       .rule = rule,
					       .wanted = &feed->wanted,
					       .ignores_limits = apply->force,
					       .share_ms =
						       apply->is_offline ? UINT64_MAX : SHARE_MS,
					       .is_offline = apply->is_offline,
					       .site = &site,
					       .on_progress = feed_progress,
					       .data = (void *)feed->wanted.source };
		size_t first = versions->n;
		int err;

		if (!apply->is_offline && check_key(path, feed))
			return EXIT_FAILED;
		if (!needs_version(state, rule->name, &feed->wanted))
			continue;
		err = baleen_feed_receive(&ask, versions, &error);
		feed_progress_end();
		if (err)
			return complain("%s", error.text);
		if (complain_of_failures(path, feed, versions, first))
			return EXIT_FAILED;
	}
	return 0;
}

/* --- one device --------------------------------------------------------------------- */

/**
 * struct device - a device that is being applied to
 * @apply: the request
 * @name: its name
 * @path: path of its configuration
 * @is_default: which is default.conf
 * @conf: the configuration
 * @before: its state as a configuration
 * @versions: versions of its feeds
 * @answers: answers for its never-names
 * @work: for the library
 */
struct device {
	const struct apply *apply;
	const char *name;
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	bool is_default;
	struct baleen_conf conf;
	struct baleen_conf before;
	struct baleen_feed_versions versions;
	struct baleen_never_answers answers;
	struct baleen_conf_apply work;
};

static int check(void *data, const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset)
{
	const struct device *device = data;

	return guard_conf(device->name, &device->conf.rules, xdp, ruleset, device->apply->force);
}

static const char *mode_now(const struct device *device)
{
	const char *mode = "";
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device->name, false, NULL))
		return mode;
	if (xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED)
		mode = baleen_mode_text(xdp.there.mode);
	baleen_xdp_close(&xdp);
	return mode;
}

/* How long a change that waits to be confirmed stays; 0 when none does. */
static u64 open_window_ms(const char *device)
{
	u64 deadline_ms = baleen_confirm_deadline(device), now_ms = baleen_now_ms();

	if (!deadline_ms)
		return 0;
	return deadline_ms > now_ms ? deadline_ms - now_ms : 1;
}

static void report_words(const struct device *device, bool is_changed)
{
	const struct apply *apply = device->apply;
	const char *mode = mode_now(device);
	u64 left_ms = is_changed ? apply->confirm_ms : open_window_ms(device->name);
	char window[BALEEN_DURATION_TEXT];

	if (!apply->shows_lines)
		print_changes(device->name, &device->work.plan);
	if (apply->looks)
		say("%s: %s\n", device->name, is_changed ? "would change" : "unchanged");
	else
		say("%s: %s%s%s%s\n", device->name, is_changed ? "changed" : "unchanged",
		    *mode ? ", " : "", mode,
		    device->conf.rules.dry_run ? ", DRY RUN: drops nothing" : "");
	if (left_ms)
		say("%s: back to what was in %s, unless 'baleen confirm %s'\n", device->name,
		    format_span(left_ms, window), baleen_shell_word(device->name).text);
}

static void report_json(const struct device *device, bool is_changed)
{
	const struct apply *apply = device->apply;
	json_t *one = json_object();
	const char *mode = mode_now(device);

	json_object_set_new(one, "device", json_text(device->name));
	json_object_set_new(one, "conf", json_text(device->path));
	json_object_set_new(one, apply->looks ? "would_change" : "changed",
			    json_boolean(is_changed));
	json_object_set_new(one, "changes", describe_changes(&device->work.plan));
	json_object_set_new(one, "mode", *mode ? json_string(mode) : json_null());
	json_object_set_new(one, "dry_run", json_boolean(device->conf.rules.dry_run));
	json_object_set_new(one, "confirm_ms",
			    is_changed && apply->confirm_ms ? json_integer(apply->confirm_ms) :
							      json_null());
	json_array_append_new(apply->json, one);
}

static int report(const struct device *device)
{
	const struct apply *apply = device->apply;
	bool is_changed = device->work.plan.n_changes;

	if (apply->shows_lines && !apply->json) {
		if (print_conf_diff(device->name, &device->before, &device->conf))
			return EXIT_FAILED;
		for (size_t i = 0; i < device->work.plan.n_changes; i++) {
			const struct baleen_conf_plan one = { .change =
								      &device->work.plan.change[i],
							      .n_changes = 1 };
			enum baleen_conf_change_kind kind = one.change->kind;

			/* Changes that no line of the configuration states. */
			if (kind <= BALEEN_CONF_LIVE || kind == BALEEN_CONF_FEED_CHANGED ||
			    one.change->n_added || one.change->n_removed || one.change->n_singles)
				print_changes(device->name, &one);
		}
	}
	if (apply->json)
		report_json(device, is_changed);
	else
		report_words(device, is_changed);
	return is_changed ? EXIT_CHANGED : EXIT_DONE;
}

/* A change on trial must be confirmed or tried again, so that it is never lost silently. */
static int check_window(const struct device *device)
{
	u64 left_ms = open_window_ms(device->name);
	char left[BALEEN_DURATION_TEXT];

	if (!left_ms || device->apply->confirm_ms)
		return 0;
	return complain("%s: goes back to what was in %s: 'baleen confirm %s' first, or --confirm",
			device->name, format_span(left_ms, left),
			baleen_shell_word(device->name).text);
}

static int change(struct device *device)
{
	struct waiter waiter = { 0 };
	struct baleen_error error = { "" };
	int err = check_window(device);

	if (!err && device->apply->confirm_ms)
		err = start_waiter(&waiter, device->name);
	if (err)
		return err;
	baleen_conf_plan_free(&device->work.plan);
	err = baleen_conf_apply(&device->work, &error);
	release_waiter(&waiter, !err && device->work.plan.n_changes);
	for (u32 i = 0; i < device->work.attempts.n_failed; i++)
		complain("%s: %s failed: %s", device->name, device->work.attempts.failed[i].what,
			 device->work.attempts.failed[i].reason);
	if (err < 0)
		complain("%s", error.text);
	return err ? EXIT_FAILED : report(device);
}

static int compare(struct device *device)
{
	struct baleen_error error;

	if (baleen_conf_look(&device->work, &error))
		return complain("%s", error.text);
	if (device->apply->looks || !device->work.plan.n_changes)
		return report(device);
	return change(device);
}

/* A name without an answer is no reason to leave the device without a filter. */
static int ask_names(struct device *device, const struct baleen_rule_store *state)
{
	struct baleen_error error;

	if (device->apply->is_offline)
		return 0;
	if (baleen_never_names_ask(device->conf.rules.never_names, state, false, &device->answers,
				   &error))
		return complain("%s: %s", device->name, error.text);
	never_names_complain(device->name, &device->answers);
	return 0;
}

static int read_all(struct device *device)
{
	struct baleen_error error;
	struct baleen_rule_store state;
	int err = baleen_conf_read(device->path, &device->conf, &error);
	bool has_state = false;

	if (!err)
		err = baleen_conf_is_of(&device->conf, device->name, device->path, &error);
	if (!err && *device->conf.match && !device->is_default)
		err = baleen_fail(&error, EINVAL, "%s: match belongs into default.conf",
				  device->path);
	if (!err) {
		err = baleen_rule_store_open(&state, device->name, 0, &error);
		has_state = !err;
		if (err == -ENOENT)
			err = 0;
		else if (!err)
			err = baleen_conf_from_state(&state, &device->before, &error);
	}
	if (err)
		return complain("%s", error.text);
	err = receive(device->apply, device->path, &device->conf, has_state ? &state : NULL,
		      &device->versions);
	if (!err)
		err = ask_names(device, has_state ? &state : NULL);
	if (has_state)
		baleen_rule_store_close(&state);
	return err;
}

/* A window whose time is over is not extended. */
static int roll_back_overdue(const char *name)
{
	struct baleen_error error;
	u64 deadline_ms;
	int did = baleen_confirm_check(name, BALEEN_LOCK_TIMEOUT_MS, &deadline_ms, &error);

	if (did > 0)
		complain("%s: was not confirmed: the previous state is back in force", name);
	else if (did < 0)
		complain("%s", error.text);
	return did < 0 ? EXIT_FAILED : 0;
}

/* Return: true when there is another state now. */
static bool set_aside(const char *name)
{
	struct baleen_rule_store_aside aside;
	struct baleen_error error;
	int did = baleen_rule_store_set_aside(name, BALEEN_LOCK_TIMEOUT_MS, &aside, &error);

	if (did > 0)
		complain("%s: its state is damaged, and is set aside: %s: %s of it could be read; "
			 "the rest comes from its configuration",
			 name, aside.path, aside.has_rules ? "rules" : "no rule");
	else if (did < 0)
		complain("%s", error.text);
	return did > 0;
}

static int apply_once(struct apply *apply, const char *name, const char *path, bool is_default)
{
	struct device device = {
		.apply = apply,
		.name = name,
		.is_default = is_default,
		.work = { .device = name,
			  .timeout_ms = BALEEN_LOCK_TIMEOUT_MS,
			  .confirm_ms = apply->confirm_ms,
			  .check = check },
	};
	struct baleen_error error;
	int err, ifindex;

	snprintf(device.path, sizeof(device.path), "%s", path);
	device.work.data = &device;
	device.work.goal = (struct baleen_conf_goal){ .device = name,
						      .conf = &device.conf,
						      .versions = &device.versions,
						      .answers = &device.answers };
	if (baleen_device_ifindex(name, &ifindex, &error))
		return complain("%s", error.text);
	err = apply->looks ? 0 : roll_back_overdue(name);
	if (!err)
		err = read_all(&device);
	if (!err)
		err = compare(&device);
	baleen_conf_plan_free(&device.work.plan);
	baleen_feed_versions_free(&device.versions);
	baleen_never_answers_free(&device.answers);
	baleen_conf_free(&device.before);
	baleen_conf_free(&device.conf);
	return err;
}

int apply_to(struct apply *apply, const char *name, const char *path, bool is_default)
{
	if (!baleen_rule_store_is_damaged(name))
		return apply_once(apply, name, path, is_default);
	if (apply->looks)
		return complain("%s: its state is damaged: 'baleen apply %s' sets it aside and "
				"makes another",
				name, baleen_shell_word(name).text);
	return set_aside(name) ? apply_once(apply, name, path, is_default) : EXIT_FAILED;
}
