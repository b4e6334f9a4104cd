// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen restore: onto a device what was saved. */
#include <errno.h>
#include <limits.h>
#include <math.h>

#include "cli/open/policy.h"
#include "cli/device/restore.h"
#include "cli/open/session.h"
#include "cli/open/guard.h"
#include "deploy/saved_entries.h"
#include "deploy/saved.h"
#include "list/special.h"
#include "ops/edit.h"
#include "util/number.h"
#include "util/shell.h"

/* Longer than it takes a card to come up, shorter than anybody waits for a boot. */
#define BOOT_WAIT_MS 10000

struct restore {
	const char *device;
	const char *directory;
	enum baleen_mode mode;
	bool is_mode_given; /* else the saved one */
	bool force;
	bool json;
	bool is_boot;
	u64 wait_ms;
	u32 ifindex; /* 0: that of the device's name */
};

static int check_arguments(const struct restore *restore, int n)
{
	if (restore->is_boot && (restore->is_mode_given || restore->force || restore->json))
		return complain_usage(&restore_command,
				      "--boot takes no options but --wait and --ifindex");
	if (!restore->is_boot && restore->wait_ms != BOOT_WAIT_MS)
		return complain_usage(&restore_command, "--wait is for --boot");
	if (restore->ifindex && (!restore->is_boot || n != 1))
		return complain_usage(&restore_command, "--ifindex is for --boot with one device");
	if (!restore->is_boot && n != 2)
		return complain_usage(&restore_command,
				      "one device and one directory are asked for");
	return 0;
}

static int parse_mode(const struct option_use *use)
{
	struct restore *restore = use->to;
	int mode = option_word(use);

	restore->is_mode_given = true;
	restore->mode = mode;
	return mode < 0 ? EXIT_USAGE : 0;
}

static int parse(struct restore *restore, int *argc, char ***argv)
{
	int err;

	restore->wait_ms = BOOT_WAIT_MS;
	err = options_parse(&restore_command, restore, argc, argv);
	if (!err)
		err = check_arguments(restore, *argc);
	if (err || restore->is_boot)
		return err;
	restore->device = (*argv)[0];
	restore->directory = (*argv)[1];
	return 0;
}

/* Rules are in force by now: their entries follow, each where it is not there. */
static int put_entries(const struct restore *restore, const struct baleen_saved *saved,
		       struct baleen_saved_counts *counts)
{
	struct baleen_error error;

	if (baleen_saved_entries_put(saved, restore->device, counts, &error))
		return complain("%s: its single entries are not restored: %s", restore->device,
				error.text);
	if (counts->n_refused)
		return complain("%s: %llu %s not restored, such as %s: never dropped here",
				restore->device, (unsigned long long)counts->n_refused,
				baleen_plural(counts->n_refused, "entry", "entries"),
				counts->refused);
	return 0;
}

static void say_entries(const struct baleen_saved_counts *counts)
{
	char n[NUMBER_TEXT];

	if (counts->n_put)
		say(", %s %s", format_count(counts->n_put, n),
		    baleen_plural(counts->n_put, "single entry", "single entries"));
	if (counts->n_there)
		say(", %s there already", format_count(counts->n_there, n));
	if (counts->n_ended)
		say(", %s ended since", format_count(counts->n_ended, n));
}

static int report(const struct restore *restore, const struct baleen_saved *saved, const char *how,
		  enum baleen_mode mode)
{
	struct baleen_saved_counts counts;
	int err = put_entries(restore, saved, &counts);
	u32 n = saved->ruleset.n_rules;
	json_t *json;

	if (!restore->json) {
		say("%s: restored %u rule%s, %s, %s%s%s", restore->device, n, n == 1 ? "" : "s",
		    how, baleen_mode_text(mode),
		    mode == BALEEN_MODE_GENERIC ? ": degraded, behind the driver" : "",
		    saved->ruleset.dry_run ? ", DRY RUN: drops nothing" : "");
		say_entries(&counts);
		say("\n");
		return finish_output(err);
	}
	json = json_object();
	json_object_set_new(json, "device", json_text(restore->device));
	json_object_set_new(json, "device_at_save", json_text(saved->device));
	json_object_set_new(json, "how", json_string(how));
	json_object_set_new(json, "rules", json_integer(n));
	json_object_set_new(json, "mode", json_string(baleen_mode_text(mode)));
	json_object_set_new(json, "degraded", json_boolean(mode == BALEEN_MODE_GENERIC));
	json_object_set_new(json, "dry_run", json_boolean(saved->ruleset.dry_run));
	json_object_set_new(json, "entries", json_integer(counts.n_put));
	json_object_set_new(json, "entries_there", json_integer(counts.n_there));
	json_object_set_new(json, "entries_ended", json_integer(counts.n_ended));
	json_object_set_new(json, "entries_refused", json_integer(counts.n_refused));
	print_json(json);
	return err;
}

static int attach(const struct restore *restore, const struct baleen_saved *saved,
		  const struct rules *rules, const struct list_options *lists)
{
	struct baleen_attempts attempts;
	struct baleen_device_attach asked = { .device = restore->device,
					      .ruleset = &saved->ruleset,
					      .mode = saved->mode,
					      .attach_type = saved->attach_type };

	if (session_attach(&asked, rules, lists, &attempts))
		return EXIT_FAILED;
	return report(restore, saved, "attached", attempts.mode);
}

/* Mode and place are changed by no update: that takes a moment without any
 * filter, which is for the operator to choose.
 */
static int check_way(const struct baleen_xdp *xdp, const struct baleen_saved *saved)
{
	if (saved->mode != BALEEN_MODE_AUTO && saved->mode != xdp->there.mode)
		return complain(
			"%s: is attached %s, and the rules ask for %s: 'baleen detach %s' first, "
			"or --mode auto",
			xdp->device, baleen_mode_text(xdp->there.mode),
			baleen_mode_text(saved->mode), baleen_shell_word(xdp->device).text);
	if (baleen_attachment_type(xdp->pins.ifindex, saved->attach_type) !=
	    xdp->config.attach_type)
		return complain(
			"%s: is attached in another way than was saved: 'baleen detach %s' first",
			xdp->device, baleen_shell_word(xdp->device).text);
	return 0;
}

/* Rules of the same name and key go on counting. */
static void continue_rules(const struct baleen_xdp *xdp, struct baleen_ruleset *ruleset)
{
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		int index = baleen_xdp_rule_index(xdp, rule->name);

		if (index >= 0 &&
		    xdp->config.rule[index].image.key_spec == rule->filter->image.key_spec)
			rule->live = index;
	}
}

static int update(const struct restore *restore, struct baleen_device_session *session,
		  struct baleen_saved *saved, const struct rules *rules,
		  const struct list_options *lists, enum baleen_mode *mode)
{
	const struct baleen_xdp *xdp = &session->deploy.xdp;

	if (check_way(xdp, saved))
		return EXIT_FAILED;
	continue_rules(xdp, &saved->ruleset);
	*mode = xdp->there.mode;
	return session_put(session, &saved->ruleset, rules, lists) ? EXIT_FAILED : 0;
}

/* Lists had none, so somebody added them one by one; a rule that takes such ranges out
 * would lose them when it is next derived, for they are of an image now.
 */
static int has_special(const struct baleen_saved *saved, u32 i, bool *has)
{
	const struct baleen_filter *filter = saved->ruleset.rule[i].filter;
	struct baleen_list special = { 0 }, held = { 0 };
	struct baleen_error error;
	int err = 0;

	*has = false;
	if (saved->ruleset.rule[i].action != BALEEN_ACTION_DROP ||
	    !baleen_spec_is_address(filter->image.key_spec))
		return 0;
	err = baleen_special_list(filter->image.key_spec, &special, &error);
	if (!err)
		err = baleen_filter_held(filter, &special, true, &held, &error);
	*has = !err && !baleen_list_is_empty(&held);
	baleen_list_free(&held);
	baleen_list_free(&special);
	return err ? complain("%s", error.text) : 0;
}

static int find_special(const struct baleen_saved *saved, u32 i, enum rule_special *special)
{
	bool has;
	int err = has_special(saved, i, &has);

	if (err)
		return err;
	*special = has ? SPECIAL_MEANT : saved->removes_special[i] ? SPECIAL_REMOVE : SPECIAL_TOLD;
	if (has && saved->removes_special[i])
		complain("warning: rule '%s': special-purpose addresses that were added one by one "
			 "are in its image: 'special keep' from now on",
			 saved->ruleset.rule[i].name);
	return 0;
}

/* The saved rules as if they had been typed. */
static int name_images(const struct restore *restore, struct baleen_saved *saved,
		       struct rules *rules, char (*path)[PATH_MAX])
{
	int err = 0;

	rules->n = saved->ruleset.n_rules;
	for (u32 i = 0; i < rules->n && !err; i++) {
		struct baleen_ruleset_rule *rule = &saved->ruleset.rule[i];
		char file[BALEEN_SAVED_FILE_BYTES];

		baleen_saved_file(rule->name, file);
		snprintf(path[i], sizeof(path[i]), "%s/%s", restore->directory, file);
		rules->rule[i].path = path[i];
		rules->rule[i].bans = saved->bans[i];
		rules->rule[i].accept_fpp = saved->accept_fpp[i];
		err = find_special(saved, i, &rules->rule[i].special);
		rules->rule[i].ref =
			(struct filter_ref){ .argument = path[i], .filter = *rule->filter };
		rule->filter = &rules->rule[i].ref.filter;
	}
	return err;
}

static int put_on(const struct restore *restore, struct baleen_saved *saved)
{
	char path[BALEEN_MAX_RULES][PATH_MAX];
	struct rules rules = { 0 };
	struct list_options lists;
	struct baleen_device_session session;
	int err;

	list_options_init(&lists);
	err = name_images(restore, saved, &rules, path);
	if (!err)
		err = session_find(&session, restore->device, BALEEN_LOCK_TIMEOUT_MS);
	if (err == -ENOENT)
		return attach(restore, saved, &rules, &lists);
	if (err)
		return err;
	if (session.deploy.xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED) {
		enum baleen_mode mode;

		err = update(restore, &session, saved, &rules, &lists, &mode);
		baleen_device_session_close(&session);
		return err ? err : report(restore, saved, "updated", mode);
	}
	/* A filter that is out of force is replaced, or attach says why not. */
	baleen_device_session_close(&session);
	return attach(restore, saved, &rules, &lists);
}

static int run(int argc, char **argv)
{
	struct restore restore = { 0 };
	struct baleen_saved saved;
	struct baleen_error error;
	int ifindex, err = parse(&restore, &argc, &argv);

	if (err)
		return err;
	if (restore.ifindex && baleen_device_expect(restore.ifindex, argv[0], &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	if (restore.is_boot)
		return restore_boot(argv, argc, restore.wait_ms);
	if (baleen_device_privileges(&error) ||
	    baleen_device_ifindex(restore.device, &ifindex, &error) ||
	    baleen_saved_read(restore.directory, &saved, &error))
		return complain("%s", error.text);
	if (restore.is_mode_given)
		saved.mode = restore.mode;
	if (baleen_device_is_egress(saved.device) != baleen_device_is_egress(restore.device))
		complain("warning: %s: was saved of %s", restore.device, saved.device);
	if (guard_host(&(struct baleen_lockout_check){ .device = restore.device,
						       .ruleset = &saved.ruleset },
		       NULL, restore.force))
		err = EXIT_FAILED;
	else
		err = put_on(&restore, &saved);
	baleen_saved_free(&saved);
	return err;
}

static const struct option_spec options[] = {
	{ "mode", 0, "MODE", parse_mode, .words = "auto native generic",
	  .help = "auto, native or generic instead of the saved mode" },
	FORCE_OPTION(restore, force),
	FLAG("json", 'j', restore, json, "say how it went as JSON"),
	FLAG("boot", 0, restore, is_boot,
	     "devices with a kept state; all of them when none is named"),
	VALUE("wait", 0, "SECONDS", option_wait, restore, wait_ms,
	      "wait so long for devices that are not there yet (10), which are no failure with 0"),
	VALUE("ifindex", 0, "N", option_ifindex, restore, ifindex,
	      "DEV is what udev is about to call the device of this number"),
	{ 0 },
};

const struct command restore_command = {
	.name = "restore",
	.synopsis = "DEV DIR [--mode MODE] [--force] [-j] | --boot [--wait SECONDS] [--ifindex N] "
		    "[DEV...]",
	.help = "Puts on a device what 'baleen save' wrote: rules, their order, actions and qualifiers,\n"
		"and the policy. DIR is checked whole first, and refused when a file is missing, damaged,\n"
		"exchanged, changed by hand or one too many. A device without a filter is attached to in\n"
		"the saved mode; else all changes in one step, each packet sees the old rules or the new\n"
		"ones, and rules that keep name and key keep their counters. Then come single entries,\n"
		"with origin, reason and end, each where it is not there; bans are those of all rules that\n"
		"take some. When anything fails, what is in force stays. DEV may be another device than\n"
		"was saved.\n"
		"Refuses what would cut this host off, as attach does.\n"
		"--boot is what a boot runs: every device that 'baleen apply' configured gets the rules,\n"
		"feeds and entries it had, from the last good copies and without a network. What waited\n"
		"to be confirmed is taken back first.\n",
	.options = options,
	.run = run,
};
