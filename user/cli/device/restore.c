// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen restore: onto a device what was saved. */
#include <errno.h>

#include "cli/device/restore.h"
#include "cli/open/conf_put.h"
#include "cli/open/guard.h"
#include "cli/open/policy.h"
#include "cli/open/session.h"
#include "deploy/conf_apply.h"
#include "deploy/saved.h"
#include "deploy/saved_entries.h"
#include "state/rule_store_mend.h"
#include "util/number.h"
#include "util/rlimit.h"
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

/**
 * struct putting - what is to be put on
 * @restore: the command
 * @saved: read
 */
struct putting {
	const struct restore *restore;
	const struct baleen_saved *saved;
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
	u32 n = saved->conf.rules.n_rules;
	json_t *json;

	if (!restore->json) {
		say("%s: restored %u rule%s, %s, %s%s%s", restore->device, n, n == 1 ? "" : "s",
		    how, baleen_mode_text(mode),
		    mode == BALEEN_MODE_GENERIC ? ": degraded, behind the driver" : "",
		    saved->conf.rules.dry_run ? ", DRY RUN: drops nothing" : "");
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
	json_object_set_new(json, "dry_run", json_boolean(saved->conf.rules.dry_run));
	json_object_set_new(json, "entries", json_integer(counts.n_put));
	json_object_set_new(json, "entries_there", json_integer(counts.n_there));
	json_object_set_new(json, "entries_ended", json_integer(counts.n_ended));
	json_object_set_new(json, "entries_refused", json_integer(counts.n_refused));
	print_json(json);
	return err;
}

static int check(void *data, const struct baleen_xdp *xdp, const struct baleen_ruleset *ruleset)
{
	const struct putting *putting = data;

	return guard_conf(putting->restore->device, &putting->saved->conf.rules, xdp, ruleset,
			  putting->restore->force);
}

static enum baleen_mode mode_now(const char *device)
{
	enum baleen_mode mode = BALEEN_MODE_AUTO;
	struct baleen_xdp xdp;

	if (!baleen_xdp_open(&xdp, device, false, NULL)) {
		mode = xdp.there.mode;
		baleen_xdp_close(&xdp);
	}
	return mode;
}

static bool was_attached(const struct baleen_conf_plan *plan)
{
	for (size_t i = 0; i < plan->n_changes; i++)
		if (plan->change[i].kind == BALEEN_CONF_ATTACH)
			return false;
	return true;
}

static int receive(const struct putting *putting, struct baleen_feed_versions *versions)
{
	struct baleen_rule_store state;
	struct baleen_error error;
	int err = baleen_rule_store_open(&state, putting->restore->device, 0, &error);
	bool has_state = !err;

	if (!err || err == -ENOENT)
		err = baleen_saved_receive(putting->saved, has_state ? &state : NULL, versions,
					   &error);
	if (has_state)
		baleen_rule_store_close(&state);
	if (!err)
		return 0;
	complain("%s", error.text);
	suggest_mend(putting->restore->device);
	return EXIT_FAILED;
}

static int put_on(const struct restore *restore, struct baleen_saved *saved)
{
	struct putting putting = { .restore = restore, .saved = saved };
	struct baleen_feed_versions versions = { 0 };
	struct baleen_conf_apply work = { .device = restore->device,
					  .goal = { .conf = &saved->conf,
						    .versions = &versions,
						    .answers = &saved->answers,
						    .device = restore->device,
						    .is_volatile = !saved->is_kept },
					  .timeout_ms = BALEEN_LOCK_TIMEOUT_MS,
					  .check = check,
					  .data = &putting };
	int err = receive(&putting, &versions);

	if (!err)
		err = conf_put(&work);
	if (!err) {
		int caches = conf_follow_icp(restore->device);

		err = report(restore, saved, was_attached(&work.plan) ? "updated" : "attached",
			     mode_now(restore->device)) ||
		      caches;
	}
	baleen_conf_plan_free(&work.plan);
	baleen_feed_versions_free(&versions);
	return err;
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
	baleen_rlimit_raise(RLIMIT_NOFILE);
	if (baleen_device_privileges(&error) ||
	    baleen_device_ifindex(restore.device, &ifindex, &error) ||
	    baleen_saved_read(restore.directory, &saved, &error))
		return complain("%s", error.text);
	if (baleen_rule_store_is_damaged(restore.device) && !conf_set_aside(restore.device)) {
		baleen_saved_free(&saved);
		return EXIT_FAILED;
	}
	if (restore.is_mode_given)
		saved.conf.rules.mode = restore.mode;
	if (baleen_device_is_egress(saved.device) != baleen_device_is_egress(restore.device))
		complain("warning: %s: was saved of %s", restore.device, saved.device);
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
	.help = "Puts on a device what 'baleen save' wrote, as 'baleen apply' puts on a configuration: rules,\n"
		"their order, actions and qualifiers, the policy, and feeds, which go on from their saved\n"
		"copies; no server is asked. DIR is checked whole first, and refused when a file is\n"
		"missing, damaged, exchanged, changed by hand or one too many. A device without a filter is\n"
		"attached to in the saved mode; else all changes in one step, each packet sees the old\n"
		"rules or the new ones, and rules that keep name and key keep their counters. Then come\n"
		"single entries, with origin, reason and end, each where it is not there; bans are those of\n"
		"all rules that take some. When anything fails, what is in force stays. DEV may be another\n"
		"device than was saved. What was put on again at boot is from now on, too.\n"
		"Refuses what would cut this host off, as attach does.\n"
		"--boot is what a boot runs: every device that 'baleen apply' configured gets the rules,\n"
		"feeds and entries it had, from the last good copies and without a network. What waited\n"
		"to be confirmed is taken back first.\n",
	.options = options,
	.run = run,
};
