// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen apply: a configuration onto its device. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "cli/open/conf_put.h"
#include "cli/open/guard.h"
#include "deploy/conf_apply.h"
#include "deploy/conf_edits.h"
#include "deploy/confirm.h"
#include "deploy/icp_follow.h"
#include "state/rule_store_mend.h"
#include "util/duration.h"
#include "util/shell.h"

/* --- one device --------------------------------------------------------------------- */

/**
 * struct device - a device that is being applied to
 * @apply: the request
 * @name: its name
 * @wanted: its configuration
 * @work: for the library
 */
struct device {
	const struct apply *apply;
	const char *name;
	struct conf_goal wanted;
	struct baleen_conf_apply work;
};

static int check(void *data, const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset)
{
	const struct device *device = data;

	return guard_conf(device->name, &device->wanted.conf.rules, xdp, ruleset,
			  device->apply->force);
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

/* Its edits go. */
static void report_edits(const struct device *device)
{
	struct baleen_conf_edits edits = { .was_applied = true, .by_hand = true };

	snprintf(edits.path, sizeof(edits.path), "%s", device->wanted.whole_path);
	if (device->apply->looks)
		say("%s: edited by hand since the last apply, which this takes back: '%s' shows "
		    "it\n",
		    device->name, baleen_conf_edits_command(&edits, device->name).text);
	else
		say("%s: what was edited by hand since the last apply is taken back\n",
		    device->name);
}

static void report_words(const struct device *device, bool is_changed)
{
	const struct apply *apply = device->apply;
	const char *mode = mode_now(device);
	u64 left_ms = is_changed ? apply->confirm_ms : open_window_ms(device->name);
	char window[BALEEN_DURATION_TEXT];

	if (!apply->shows_lines)
		print_changes(device->name, &device->work.plan);
	if (device->wanted.was_edited && !apply->shows_lines)
		report_edits(device);
	if (apply->looks)
		say("%s: %s\n", device->name, is_changed ? "would change" : "unchanged");
	else
		say("%s: %s%s%s%s\n", device->name, is_changed ? "changed" : "unchanged",
		    *mode ? ", " : "", mode,
		    device->wanted.conf.rules.dry_run ? ", DRY RUN: drops nothing" : "");
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
	json_object_set_new(one, "conf", json_text(device->wanted.path));
	json_object_set_new(one, apply->looks ? "would_change" : "changed",
			    json_boolean(is_changed));
	json_object_set_new(one, "changes", describe_changes(&device->work.plan));
	json_object_set_new(one, "mode", *mode ? json_string(mode) : json_null());
	json_object_set_new(one, "dry_run", json_boolean(device->wanted.conf.rules.dry_run));
	json_object_set_new(one, "confirm_ms",
			    is_changed && apply->confirm_ms ? json_integer(apply->confirm_ms) :
							      json_null());
	json_object_set_new(one, "edited_by_hand", json_boolean(device->wanted.was_edited));
	if (apply->shows_lines) {
		json_t *lines = json_array();

		put_conf_diff(&device->wanted, lines);
		json_object_set_new(one, "lines", lines);
	}
	json_array_append_new(apply->json, one);
}

static int report(const struct device *device)
{
	const struct apply *apply = device->apply;
	bool is_changed = device->work.plan.n_changes;

	if (apply->shows_lines && !apply->json) {
		if (put_conf_diff(&device->wanted, NULL))
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

static int change(struct device *device)
{
	struct waiter waiter = { 0 };
	int err = device->apply->confirm_ms ? start_waiter(&waiter, device->name) : 0;

	if (err)
		return err;
	baleen_conf_plan_free(&device->work.plan);
	err = conf_put(&device->work);
	release_waiter(&waiter, !err && device->work.plan.n_changes);
	if (err)
		return err;
	/* Changed is changed, also without answers for caches. */
	err = conf_follow_icp(device->name);
	return report(device) == EXIT_FAILED || err ? EXIT_FAILED : EXIT_CHANGED;
}

static int compare(struct device *device)
{
	struct baleen_error error;

	if (baleen_conf_look(&device->work, &error))
		return complain("%s", error.text);
	if (!device->apply->looks && !device->work.plan.n_changes)
		baleen_conf_remember(&device->work.goal, BALEEN_LOCK_TIMEOUT_MS);
	if (device->apply->looks || !device->work.plan.n_changes)
		return report(device);
	return change(device);
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

static int apply_once(struct apply *apply, const char *name, const char *path, bool is_default)
{
	struct device device = {
		.apply = apply,
		.name = name,
		.wanted = { .device = name,
			    .path = path,
			    .is_default = is_default,
			    .looks = apply->looks,
			    .is_offline = apply->is_offline,
			    .ignores_limits = apply->force },
		.work = { .device = name,
			  .timeout_ms = BALEEN_LOCK_TIMEOUT_MS,
			  .confirm_ms = apply->confirm_ms,
			  .check = check },
	};
	struct baleen_error error;
	int err, ifindex;

	device.work.data = &device;
	device.work.goal = conf_goal_of(&device.wanted);
	if (baleen_device_ifindex(name, &ifindex, &error))
		return complain("%s", error.text);
	err = apply->looks ? 0 : roll_back_overdue(name);
	if (!err)
		err = conf_goal_read(&device.wanted);
	if (!err)
		err = compare(&device);
	baleen_conf_plan_free(&device.work.plan);
	conf_goal_free(&device.wanted);
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
	return conf_set_aside(name) ? apply_once(apply, name, path, is_default) : EXIT_FAILED;
}
