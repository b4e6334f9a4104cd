// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen attach: rules onto a device. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/open/policy.h"
#include "cli/open/session.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/rule_images.h"
#include "net/device.h"

/**
 * struct attach - what is asked for
 * @device: where
 * @is_egress: what goes out by it
 * @egress: storage for its name then
 * @rules: the rules
 * @policy: of them
 * @lists: how lists are read
 * @mode: XDP mode
 * @attach_type: XDP attach type
 * @xdp_only: an option that only XDP has, or NULL
 * @is_kmod: rules of the kernel module, not of XDP
 * @priority: priority of its hook
 * @has_priority: it was given
 * @no_state: remember nothing
 * @force: also what would cut this host off
 * @json: report as JSON
 */
struct attach {
	const char *device;
	bool is_egress;
	char egress[BALEEN_POINT_BYTES];
	struct rules rules;
	struct policy policy;
	struct list_options lists;
	enum baleen_mode mode;
	enum baleen_attach_type attach_type;
	const char *xdp_only;
	u32 is_kmod;
	int priority;
	bool has_priority;
	bool no_state;
	bool force;
	bool json;
};

static int parse_mode(const struct option_use *use)
{
	struct attach *attach = use->to;
	int mode = option_word(use);

	attach->xdp_only = "--mode";
	attach->mode = mode;
	return mode < 0 ? EXIT_USAGE : 0;
}

static int parse_place(const struct option_use *use)
{
	struct attach *attach = use->to;

	if (attach->attach_type != BALEEN_ATTACH_TYPE_LINK &&
	    attach->attach_type != use->spec->value)
		return complain_usage(use->command, "--no-link and --chain exclude each other");
	attach->attach_type = use->spec->value;
	attach->xdp_only = use->spec->value == BALEEN_ATTACH_TYPE_CHAIN ? "--chain" : "--no-link";
	return 0;
}

static int parse_priority(const struct option_use *use)
{
	struct attach *attach = use->to;
	char *end;
	long priority;

	errno = 0;
	priority = strtol(use->argument, &end, 10);
	if (end == use->argument || *end || errno || priority < INT_MIN || priority > INT_MAX)
		return option_refuse(use, "not a number of 32 bits");
	attach->priority = priority;
	attach->has_priority = true;
	return 0;
}

static int parse_word(const struct option_use *use)
{
	struct attach *attach = use->to;
	int err = rules_word_parse(use->command, &attach->rules, use->argument);

	if (err != -ENOENT)
		return err;
	if (!attach->device) {
		attach->device = use->argument;
		return 0;
	}
	if (attach->rules.n)
		return complain_usage(use->command,
				      "'%s' is neither an option nor a qualifier of rule '%s': "
				      "proto, dport, tcp-syn, vlan, established, conntrack or "
				      "limit",
				      use->argument, attach->rules.rule[attach->rules.n - 1].name);
	return complain_usage(use->command, "'%s' is a second device: did you mean --drop %s?",
			      use->argument, use->argument);
}

static int check_backend(const struct attach *attach)
{
	const char *xdp_only = attach->policy.is_sample_given ? "--sample" : attach->xdp_only;

	if (attach->is_kmod && xdp_only)
		return complain_usage(&attach_command,
				      "%s is for rules of XDP, not for --backend kmod", xdp_only);
	if (!attach->is_kmod && attach->has_priority)
		return complain_usage(&attach_command, "--priority is for --backend kmod");
	return 0;
}

static int parse(struct attach *attach, int argc, char **argv)
{
	int err = options_parse(&attach_command, attach, &argc, &argv);

	if (!err)
		err = rules_check(&attach_command, &attach->rules);
	if (!err)
		err = check_backend(attach);
	if (err)
		return err;
	if (!attach->device)
		return complain_usage(&attach_command, "one device is asked for");
	if (!attach->rules.n)
		return complain_usage(&attach_command, "no --drop, --allow or --count given");
	if (attach->is_egress && baleen_device_egress(attach->device, attach->egress))
		return complain_usage(&attach_command, "'%s': no device can be called so",
				      attach->device);
	if (attach->is_egress)
		attach->device = attach->egress;
	list_options_of(&attach->lists, attach->device);
	return list_options_check(&attach_command, &attach->lists);
}

static int report(const struct attach *attach, const struct baleen_attempts *attempts)
{
	json_t *failed, *json;

	if (!attach->json) {
		say("%s: attached, %s%s%s\n", attach->device, baleen_mode_text(attempts->mode),
		    attempts->mode == BALEEN_MODE_GENERIC ? ": degraded, behind the driver" : "",
		    attach->policy.dry_run ? ", DRY RUN: drops nothing" : "");
		return finish_output(EXIT_DONE);
	}
	failed = json_array();
	for (u32 i = 0; i < attempts->n_failed; i++)
		json_array_append_new(failed,
				      json_pack("{s:s, s:o}", "tried", attempts->failed[i].what,
						"reason", json_text(attempts->failed[i].reason)));
	json = json_object();
	json_object_set_new(json, "device", json_text(attach->device));
	json_object_set_new(json, "mode", json_string(baleen_mode_text(attempts->mode)));
	json_object_set_new(json, "place",
			    json_string(baleen_attach_type_text(attach->attach_type)));
	json_object_set_new(json, "degraded", json_boolean(attempts->mode == BALEEN_MODE_GENERIC));
	json_object_set_new(json, "frags", json_boolean(attempts->frags));
	json_object_set_new(json, "dry_run", json_boolean(attach->policy.dry_run));
	json_object_set_new(json, "failed", failed);
	return print_json(json);
}

static int attach_xdp(const struct attach *attach, const struct baleen_ruleset *ruleset)
{
	struct baleen_attempts attempts;
	struct baleen_device_attach asked = { .device = attach->device,
					      .ruleset = ruleset,
					      .mode = attach->mode,
					      .attach_type = attach->attach_type,
					      .is_forgetful = attach->no_state };

	if (session_attach(&asked, &attach->rules, &attach->lists, &attempts))
		return EXIT_FAILED;
	return report(attach, &attempts);
}

static int report_kmod(const struct attach *attach)
{
	json_t *json;

	if (!attach->json) {
		say("%s: attached, kmod, priority %d%s\n", attach->device, attach->priority,
		    attach->policy.dry_run ? ", DRY RUN: drops nothing" : "");
		return finish_output(EXIT_DONE);
	}
	json = json_object();
	json_object_set_new(json, "device", json_text(attach->device));
	json_object_set_new(json, "mode", json_string("kmod"));
	json_object_set_new(json, "place", json_string("netfilter"));
	json_object_set_new(json, "priority", json_integer(attach->priority));
	json_object_set_new(json, "degraded", json_false());
	json_object_set_new(json, "dry_run", json_boolean(attach->policy.dry_run));
	json_object_set_new(json, "failed", json_array());
	return print_json(json);
}

/* A state of rules of XDP would be taken for one of these. */
static int attach_kmod(const struct attach *attach, const struct baleen_ruleset *ruleset)
{
	struct baleen_error error;

	if (guard_rates(&attach->rules, attach->lists.accept_fpp) ||
	    guard_never(
		    &(struct baleen_lockout_check){ .device = attach->device, .ruleset = ruleset }))
		return EXIT_FAILED;
	if (baleen_device_session_forget(attach->device, &error) ||
	    baleen_kmod_attach(attach->device, ruleset, attach->priority, &error))
		return complain("%s", error.text);
	return report_kmod(attach);
}

static int attach_rules(struct attach *attach)
{
	struct baleen_ruleset ruleset = { 0 };

	if ((attach->is_kmod || attach->no_state) &&
	    rules_refuse_words(&attach->rules, attach->device))
		return EXIT_FAILED;
	if (rules_open(&attach->rules, &attach->lists) || rules_insert(&attach->rules, &ruleset, 0))
		return EXIT_FAILED;
	policy_apply(&attach->policy, &ruleset);
	if (guard_host(&(struct baleen_lockout_check){ .device = attach->device,
						       .ruleset = &ruleset },
		       &attach->rules, attach->force))
		return EXIT_FAILED;
	rules_print_special(&attach->rules);
	rules_warn_dead(&attach->rules, &ruleset);
	if (attach->is_kmod)
		return attach_kmod(attach, &ruleset);
	rules_warn_vlan(&attach->rules, attach->device);
	return attach_xdp(attach, &ruleset);
}

/* Says what is missing before a long list is read. */
static int check_device(const struct attach *attach, struct baleen_error *error)
{
	int ifindex;

	if (attach->is_kmod)
		return baleen_kmod_attach_check(attach->device, error);
	if (baleen_device_privileges(error))
		return -EPERM;
	return baleen_device_ifindex(attach->device, &ifindex, error);
}

static int run(int argc, char **argv)
{
	struct attach attach = { 0 };
	struct baleen_error error;
	int err;

	list_options_init(&attach.lists);
	err = parse(&attach, argc, argv);
	if (err)
		return err;
	if (check_device(&attach, &error))
		return complain("%s", error.text);
	err = attach_rules(&attach);
	rules_close(&attach.rules);
	return err;
}

static const struct option_spec options[] = {
	{ .table = rule_option_table, .at = offsetof(struct attach, rules) },
	{ .table = policy_option_table, .at = offsetof(struct attach, policy) },
	{ "mode", 0, "MODE", parse_mode, .words = "auto native generic",
	  .help = "auto (default): native with multi-buffer frames, native, generic; native: never "
		  "generic; generic: behind the driver, slower" },
	FLAG("egress", 0, attach, is_egress,
	     "what goes out by DEV, by a program of tc; other commands call it DEV@egress. Keys are "
	     "destinations unless --key says otherwise"),
	ACCEPT_FPP_OPTION(attach, lists.accept_fpp),
	{ "no-link", 0, NULL, parse_place, .value = BALEEN_ATTACH_TYPE_NETLINK,
	  .help = "as other tools do, so that they can remove or replace it: 'ip link set DEV xdp "
		  "off'; status tells" },
	{ "chain", 0, NULL, parse_place, .value = BALEEN_ATTACH_TYPE_CHAIN,
	  .help = "in libxdp's dispatcher, at priority 10, beside other programs; a change asks old "
		  "and new rules for a moment, and counts twice" },
	VALUE("backend", 0, "B", option_choice, attach, is_kmod,
	      "xdp (default), or kmod: the hook of netfilter in the kernel module, for devices "
	      "without XDP; IMAGE kmod:NAME is asked itself there, not copied. No state, no "
	      "--mode, --no-link, --chain, --sample",
	      .words = "xdp kmod"),
	{ "priority", 0, "N", parse_priority,
	  .help = "of that hook among others on the device, lower ones first (0)" },
	FLAG("no-state", 0, attach, no_state,
	     "remember nothing of the lists: no single entries beside them, no 'why'; add and del "
	     "then change the filter alone"),
	FORCE_OPTION(attach, force),
	FLAG("json", 'j', attach, json, "say how it went as JSON"),
	{ .table = list_option_table, .at = offsetof(struct attach, lists) },
	{ 0 },
};

const struct command attach_command = {
	.name = "attach",
	.synopsis = "DEV {--allow|--drop|--count} [NAME=]IMAGE [QUALIFIER...]... [OPTION...]",
	.help = "Puts rules on a device, evaluated in the order typed; the first --allow or --drop that\n"
		"matches decides. The filter outlives this command. A rule is named after its file\n"
		"unless given as NAME=IMAGE; 16 rules at most.\n"
		"Refuses rules that would drop the addresses of the device or of a bridge, bond or\n"
		"VLAN on it, its gateways, the resolvers, or the peer of a TCP session that this host\n"
		"opened or somebody is logged in by.\n",
	.options = options,
	.word = parse_word,
	.run = run,
};
