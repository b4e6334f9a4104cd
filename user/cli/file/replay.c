// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen replay: what rules would do with the frames of a capture. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/replay.h"
#include "cli/open/conf_goal.h"
#include "cli/open/rule_images.h"
#include "deploy/conf_derive.h"
#include "deploy/conf_find.h"
#include "kmod/kmod_rules.h"
#include "net/device.h"
#include "util/shell.h"
#include "xdp/qualifiers.h"

/* --- what cannot be judged ------------------------------------------------------ */

/* All frames of a capture come at once, and the connections are those of now. */
static void warn_of_qualifiers(const struct baleen_config *config)
{
	for (u32 i = 0; i < config->n_rules; i++) {
		const char *name = config->rule[i].image.name;
		u32 established = config->rule[i].qualifiers.established;

		if (config->limit[i].typed.rate)
			complain("warning: rule '%s' matches nothing: a replay does not simulate "
				 "time, so nobody is over its limit",
				 name);
		if (established & BALEEN_ESTABLISHED_SOCKET)
			complain("warning: rule '%s': established asks for the sockets of this "
				 "host now, not for those of the capture",
				 name);
		if (established & BALEEN_ESTABLISHED_CONNTRACK)
			complain("warning: rule '%s': conntrack asks for the flows of this host "
				 "now, not for those of the capture",
				 name);
	}
}

static void warn_of_dry_run(const struct replay *replay, bool is_dry_run)
{
	if (is_dry_run)
		complain("warning: %s: a dry run, which drops nothing: here is what it would drop",
			 replay->conf_path ? replay->conf_path : replay->device);
}

/* --- rules ---------------------------------------------------------------------- */

/* These load the rules: 0, or EXIT_FAILED after a message. */

static int load_ruleset(struct replay *replay, const struct baleen_ruleset *ruleset)
{
	struct baleen_error error;
	bool is_egress = replay->device && baleen_device_is_egress(replay->device);

	if (baleen_replay_open(&replay->program, ruleset, is_egress, &error))
		return complain("%s", error.text);
	return 0;
}

static int load_typed(struct replay *replay)
{
	struct baleen_ruleset ruleset = { 0 };
	int err = rules_open(&replay->rules, &replay->lists);

	if (!err)
		err = rules_insert(&replay->rules, &ruleset, 0);
	if (err)
		return err;
	policy_apply(&replay->policy, &ruleset);
	rules_warn_dead(&replay->rules, &ruleset);
	return load_ruleset(replay, &ruleset);
}

/* @goal: NULL for what the state of the device says */
static int load_derived(struct replay *replay, const struct baleen_conf_goal *goal)
{
	struct baleen_conf_derived derived;
	struct baleen_error error;
	int err;

	if (baleen_conf_derive(goal, replay->device, &derived, &error))
		return complain("%s", error.text);
	if (derived.plan.rules.n_rules)
		err = load_ruleset(replay, &derived.step.ruleset);
	else
		err = complain("%s has no rules", goal ? replay->conf_path : replay->device);
	if (!err)
		warn_of_dry_run(replay, derived.plan.rules.dry_run);
	baleen_conf_derived_free(&derived);
	return err;
}

static int load_conf(struct replay *replay)
{
	struct conf_goal wanted = { .device = replay->device,
				    .path = replay->conf_path,
				    .looks = true,
				    .is_offline = replay->is_offline };
	char device[BALEEN_POINT_BYTES];
	struct baleen_conf_goal goal;
	int err;

	conf_goal_device_of(wanted.path, device, sizeof(device), &wanted.is_default);
	if (!baleen_device_index(wanted.device))
		complain("warning: %s: no such device here: this host's own addresses are not "
			 "known, and not taken out of lists",
			 wanted.device);
	err = conf_goal_read(&wanted);
	goal = conf_goal_of(&wanted);
	if (!err)
		err = load_derived(replay, &goal);
	conf_goal_free(&wanted);
	return err;
}

static int complain_no_filter(const struct replay *replay)
{
	const char *device = replay->device;
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_kmod_rules module;
	bool is_default;

	if (!baleen_kmod_rules_open(&module, device, false, NULL)) {
		baleen_kmod_rules_close(&module);
		return complain("%s has rules of the kernel module: each of its filters can be "
				"asked as %s:RULE",
				device, device);
	}
	if (baleen_conf_find(device, path, sizeof(path), &is_default, NULL) || access(path, R_OK))
		return complain("%s has no filter and no configuration: -c FILE asks one", device);
	return complain("%s has no filter: 'baleen replay -c %s %s %s' asks its configuration",
			device, baleen_shell_word(path).text, baleen_shell_word(device).text,
			baleen_shell_word(replay->rules.waiting).text);
}

/* A device that has no filter now may have had one, or get it back. */
static int load_device(struct replay *replay)
{
	const char *device = replay->device;
	struct baleen_error error;
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, device, true, &error);

	if (err && err != -ENOENT && err != -ENODEV)
		return complain("%s", error.text);
	if (err && baleen_rule_store_is_there(device)) {
		complain("warning: %s has no filter now: here is what its rules would do", device);
		return load_derived(replay, NULL);
	}
	if (err)
		return complain_no_filter(replay);
	if (xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		complain("warning: the filter of %s is not in force (%s)", device,
			 baleen_attach_status_text(xdp.attach_status));
	err = baleen_replay_open_copy(&replay->program, &xdp, &error);
	if (!err)
		warn_of_dry_run(replay, xdp.config.dry_run);
	baleen_xdp_close(&xdp);
	return err ? complain("%s", error.text) : 0;
}

static int load_rules(struct replay *replay)
{
	int err = replay->conf_path ? load_conf(replay) :
		  replay->device    ? load_device(replay) :
				      load_typed(replay);

	if (!err)
		warn_of_qualifiers(&replay->program.config);
	return err;
}

/* --- arguments ------------------------------------------------------------------ */

/* A leading ./ or / always means a file. */
static bool is_device(const char *word)
{
	return *word != '.' && baleen_device_is_name(word) &&
	       (baleen_device_index(word) || baleen_device_is_egress(word) ||
		(access(word, F_OK) && baleen_rule_store_is_there(word)));
}

/* A word without an option is a drop rule, but the last one is the capture: so each
 * waits for the next. Two words may be a device and the capture.
 */
static int parse_word(const struct option_use *use)
{
	struct replay *replay = use->to;
	struct rules *rules = &replay->rules;
	int err = 0;

	if (!replay->n_words++)
		replay->first = use->argument;
	if (replay->device)
		return complain_usage(use->command,
				      "%s is a device, and has its rules: behind it comes the "
				      "capture alone (./%s is a file)",
				      replay->device, replay->device);
	if (replay->n_words == 2 && !rules->n && rules->waiting && is_device(rules->waiting)) {
		replay->device = rules->waiting;
		rules->waiting = use->argument;
		return 0;
	}
	if (baleen_is_qualifier(use->argument) >= 0)
		err = rules_end_wait(use->command, rules);
	if (!err && !rules->waiting) {
		err = rules_word_parse(use->command, rules, use->argument);
		if (err != -ENOENT)
			return err;
		err = 0;
	}
	if (!err)
		err = rules_end_wait(use->command, rules);
	rules->waiting = use->argument;
	return err;
}

/* Options of rules that are typed. */
static bool has_rule_options(const struct replay *replay)
{
	struct list_options none;

	list_options_init(&none);
	return replay->rules.n || replay->policy.is_default_given ||
	       memcmp(&replay->lists, &none, sizeof(none));
}

/* Finds the device that -c is of. */
static int parse_conf(struct replay *replay)
{
	static char of_file[BALEEN_POINT_BYTES];
	struct rules *rules = &replay->rules;
	bool is_default;

	/* A word that is no device here. */
	if (rules->n == 1 && replay->n_words == 2 && rules->rule[0].argument == replay->first) {
		replay->device = replay->first;
		rules->n = 0;
	}
	if (has_rule_options(replay))
		return complain_usage(&replay_command,
				      "-c %s has rules of its own: other rules, --default and "
				      "options of lists do not go with it",
				      replay->conf_path);
	if (replay->device && !baleen_device_is_name(replay->device))
		return complain_usage(&replay_command, "'%s' is no name of a device",
				      replay->device);
	if (!replay->device &&
	    conf_goal_device_of(replay->conf_path, of_file, sizeof(of_file), &is_default))
		replay->device = of_file;
	if (!replay->device)
		return complain_usage(&replay_command,
				      "-c %s: of which device? its name is not DEV.conf",
				      replay->conf_path);
	return 0;
}

static int parse_typed(struct replay *replay)
{
	const struct rules *rules = &replay->rules;

	if (replay->is_offline)
		return complain_usage(&replay_command, "--offline is for -c");
	if (replay->device && has_rule_options(replay))
		return complain_usage(&replay_command,
				      "%s has rules of its own: other rules, --default and options "
				      "of lists do not go with it",
				      replay->device);
	if (replay->device)
		return 0;
	if (!rules->n)
		return complain_usage(&replay_command,
				      "no DEV, -c FILE or IMAGE given before the capture '%s'",
				      rules->waiting);
	for (u32 i = 0; i < rules->n; i++)
		if (!strcmp(rules->rule[i].path, "-") && !strcmp(rules->waiting, "-"))
			return complain_usage(&replay_command,
					      "standard input cannot be both list and capture");
	return list_options_check(&replay_command, &replay->lists);
}

static int parse(struct replay *replay, int argc, char **argv)
{
	int err = options_parse(&replay_command, replay, &argc, &argv);

	if (!err)
		err = rules_check(&replay_command, &replay->rules);
	if (err)
		return err;
	if (!replay->rules.waiting)
		return complain_usage(&replay_command, "the capture comes last: none is given");
	return replay->conf_path ? parse_conf(replay) : parse_typed(replay);
}

static int run(int argc, char **argv)
{
	struct replay replay = { .key_width = sizeof("255.255.255.255") - 1 };
	struct baleen_trace trace;
	struct baleen_error error;
	int err;

	list_options_init(&replay.lists);
	err = parse(&replay, argc, argv);
	if (err)
		return err;
	/* Say what is missing before a long list is read. */
	if (baleen_device_privileges(&error) ||
	    baleen_trace_open(&trace, replay.rules.waiting, &error))
		return complain("%s", error.text);
	err = load_rules(&replay);
	if (!err) {
		err = replay_print(&replay, &trace);
		baleen_replay_close(&replay.program);
	}
	rules_close(&replay.rules);
	baleen_trace_close(&trace);
	return err;
}

static const struct option_spec options[] = {
	VALUE("conf", 'c', "FILE", option_text, replay, conf_path,
	      "the rules of this configuration, as apply would put them on DEV now; of DEV.conf it need "
	      "not be said"),
	FLAG("offline", 0, replay, is_offline,
	     "with -c: ask no server: take what a device has of a URL, or fail"),
	{ .table = rule_option_table, .at = offsetof(struct replay, rules) },
	VALUE("default", 0, "V", policy_default, replay, policy,
	      "what no rule decides: pass (default) or drop, but for what a host needs to live",
	      .words = "pass drop"),
	FLAG("frames", 'v', replay, shows_frames,
	     "print each frame: its number, key, verdict, and the rule that decides or why none does"),
	FLAG("json", 'j', replay, json, "an object of the totals; with -v an array of the frames"),
	{ .table = list_option_table, .at = offsetof(struct replay, lists) },
	{ 0 },
};

const struct command replay_command = {
	.name = "replay",
	.synopsis =
		"[-jv] {[-c FILE] DEV|[NAME=]IMAGE|{--allow|--drop|--count} [NAME=]IMAGE [QUALIFIER...]...} TRACE",
	.help = "Prints what rules would have done to a capture: how many frames each rule decides, and\n"
		"how many the default; with -v each frame. The rules are those that DEV has, those of a\n"
		"configuration, with its feeds, bans and what is protected as an apply would have them now,\n"
		"or those that are typed: an IMAGE without an option is dropped.\n"
		"The verdicts are those of the XDP program itself, which the kernel runs over maps and\n"
		"counters of its own: nothing is attached or changed, and no counter of DEV moves.\n"
		"TRACE is a pcap or pcapng file of Ethernet frames, raw IP or Linux cooked packets;\n"
		"- is standard input.\n",
	.options = options,
	.word = parse_word,
	.run = run,
};
