// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen apply: configurations onto their devices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/apply.h"
#include "cli/common/feed_progress.h"
#include "cli/open/guard.h"
#include "deploy/conf_apply.h"
#include "deploy/confirm.h"
#include "util/duration.h"
#include "util/shell.h"
#include "util/url.h"

/* A window below a second cannot be confirmed by anybody, one above a day is none. */
#define MIN_CONFIRM_MS 1000
#define MAX_CONFIRM_MS 86400000

/**
 * struct apply - what is asked for
 * @conf_path: -c
 * @looks: --check or --diff: nothing is changed
 * @shows_lines: --diff
 * @confirm_ms: --confirm; 0 when it was not given
 * @force: also what would cut this host off
 * @quiet_change: a change is exit 0, too
 * @json: an array of objects, filled in; NULL for words
 * @result: exit code so far
 */
struct apply {
	const char *conf_path;
	bool looks;
	bool shows_lines;
	u64 confirm_ms;
	bool force;
	bool quiet_change;
	json_t *json;
	int result;
};

/* --- arguments ------------------------------------------------------------------ */

static int take_confirm(const struct option_use *use)
{
	u64 *confirm_ms = use->to;

	if (baleen_duration_parse(use->argument, confirm_ms) || *confirm_ms < MIN_CONFIRM_MS ||
	    *confirm_ms > MAX_CONFIRM_MS)
		return option_refuse(use, "not a time from 1s to 1d such as 60s");
	return 0;
}

static int parse(struct apply *apply, int *argc, char ***argv)
{
	int err = options_parse(&apply_command, apply, argc, argv);

	apply->looks |= apply->shows_lines;
	if (!err && apply->conf_path && *argc > 1)
		err = complain_usage(&apply_command, "-c is for one device");
	if (!err && apply->looks && apply->confirm_ms)
		err = complain_usage(&apply_command,
				     "--confirm has nothing to confirm with --check "
				     "and --diff");
	return err;
}

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

	if (!state || !baleen_url_is(wanted->source))
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

static int receive(const struct apply *apply, const char *path, const struct baleen_conf *conf,
		   const struct baleen_rule_store *state, struct baleen_feed_versions *versions)
{
	struct baleen_error error;

	for (size_t i = 0; i < conf->n_feeds; i++) {
		const struct baleen_conf_feed *feed = &conf->feed[i];
		const struct baleen_stored_rule *rule = &conf->rules.rule[feed->rule];
		struct baleen_feed_ask ask = { .state = state,
					       .rule = rule,
					       .wanted = &feed->wanted,
					       .ignores_limits = apply->force,
					       .on_progress = feed_progress,
					       .data = (void *)feed->wanted.source };
		size_t first = versions->n;
		int err;

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
 * @conf: the configuration
 * @before: its state as a configuration
 * @versions: versions of its feeds
 * @work: for the library
 */
struct device {
	const struct apply *apply;
	const char *name;
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_conf conf;
	struct baleen_conf before;
	struct baleen_feed_versions versions;
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
		printf("%s: %s\n", device->name, is_changed ? "would change" : "unchanged");
	else
		printf("%s: %s%s%s%s\n", device->name, is_changed ? "changed" : "unchanged",
		       *mode ? ", " : "", mode,
		       device->conf.rules.dry_run ? ", DRY RUN: drops nothing" : "");
	if (left_ms)
		printf("%s: back to what was in %s, unless 'baleen confirm %s'\n", device->name,
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
			    one.change->n_added || one.change->n_removed)
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

static int read_all(struct device *device)
{
	struct baleen_error error;
	struct baleen_rule_store state;
	int err = baleen_conf_read(device->path, &device->conf, &error);
	bool has_state;

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
	if (has_state)
		baleen_rule_store_close(&state);
	return err;
}

/* A window whose time is over is not extended. */
static int take_back_what_is_due(const char *name)
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

static int apply_to(struct apply *apply, const char *name, const char *path)
{
	struct device device = {
		.apply = apply,
		.name = name,
		.work = { .device = name,
			  .timeout_ms = BALEEN_LOCK_TIMEOUT_MS,
			  .confirm_ms = apply->confirm_ms,
			  .check = check },
	};
	struct baleen_error error;
	int err, ifindex;

	snprintf(device.path, sizeof(device.path), "%s", path);
	device.work.data = &device;
	device.work.goal =
		(struct baleen_conf_goal){ .conf = &device.conf, .versions = &device.versions };
	if (baleen_device_ifindex(name, &ifindex, &error))
		return complain("%s", error.text);
	err = apply->looks ? 0 : take_back_what_is_due(name);
	if (!err)
		err = read_all(&device);
	if (!err)
		err = compare(&device);
	baleen_conf_plan_free(&device.work.plan);
	baleen_feed_versions_free(&device.versions);
	baleen_conf_free(&device.before);
	baleen_conf_free(&device.conf);
	return err;
}

/* --- all devices ------------------------------------------------------------------------ */

/* One that failed is worse than one that changed, and that worse than none. */
static void add_result(struct apply *apply, int result)
{
	if (result == EXIT_FAILED || apply->result == EXIT_DONE)
		apply->result = result;
}

static int apply_to_one(const char *device, void *data)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct apply *apply = data;

	if (apply->conf_path)
		snprintf(path, sizeof(path), "%s", apply->conf_path);
	else if (baleen_conf_path(device, path, sizeof(path))) {
		complain("%s: name too long", device);
		add_result(apply, EXIT_FAILED);
		return 0;
	}
	if (apply->result != EXIT_FAILED || !apply->conf_path)
		add_result(apply, apply_to(apply, device, path));
	return 0;
}

/* /etc/baleen/DEV.conf is of DEV. */
static int apply_file(struct apply *apply)
{
	const char *slash = strrchr(apply->conf_path, '/');
	char name[IF_NAMESIZE + sizeof(".conf")];
	char *suffix;

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : apply->conf_path);
	suffix = strrchr(name, '.');
	if (!suffix || suffix == name || strcmp(suffix, ".conf"))
		return complain_usage(&apply_command,
				      "-c %s: of which device? its name is not "
				      "DEV.conf",
				      apply->conf_path);
	*suffix = '\0';
	return apply_to_one(name, apply);
}

static int apply_all(struct apply *apply, int argc, char **argv)
{
	struct baleen_error error;

	for (int i = 0; i < argc; i++)
		apply_to_one(argv[i], apply);
	if (argc)
		return 0;
	if (apply->conf_path)
		return apply_file(apply);
	if (baleen_conf_each(apply_to_one, apply, &error))
		return complain("%s", error.text);
	return 0;
}

static int run(int argc, char **argv)
{
	struct apply apply = { 0 };
	struct baleen_error error;
	int err = parse(&apply, &argc, &argv);

	if (err)
		return err;
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = apply_all(&apply, argc, argv);
	if (!err)
		err = apply.result;
	if (err == EXIT_CHANGED && apply.quiet_change)
		err = EXIT_DONE;
	return finish_collected(apply.json, err);
}

static const struct option_spec options[] = {
	VALUE("conf", 'c', "FILE", option_text, apply, conf_path, "this configuration instead"),
	FLAG("check", 0, apply, looks,
	     "only say what would change; whether it would cut this host off is asked when it is "
	     "done"),
	FLAG("diff", 0, apply, shows_lines, "the same, as lines of the configuration"),
	VALUE("confirm", 0, "TIME", take_confirm, apply, confirm_ms,
	      "the previous state comes back in TIME (60s, 5m) unless 'baleen confirm DEV' is "
	      "said; meanwhile another 'apply --confirm' may follow"),
	FLAG("force", 0, apply, force,
	     "also when this host would cut itself off, or a feed is beyond its limits"),
	FLAG("quiet-change", 0, apply, quiet_change, "exit 0, not 3, when something changed"),
	VALUE("json", 'j', NULL, option_json, apply, json, "an array with one object per device"),
	{ 0 },
};

const struct command apply_command = {
	.name = "apply",
	.synopsis = "[DEV...] [-c FILE] [--check|--diff] [--confirm TIME] [OPTION...]",
	.help = "Makes devices what their configurations say: /etc/baleen/DEV.conf, of every device that\n"
		"has one when none is named. Prints what changes, and changes it in one step: each packet\n"
		"sees the old rules or the new ones. Feeds from files are read, those from URLs fetched\n"
		"when there is no good copy of them. What is the same already is left alone. A filter\n"
		"that was attached by hand is taken over, and single entries of rules that go on stay.\n"
		"When anything is wrong with a configuration, a feed or its limits, nothing changes.\n"
		"Exit: 0 nothing had to change, 3 something did (0 with --quiet-change), 1 failed.\n",
	.options = options,
	.run = run,
};
