// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen attach: rules onto a device. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open/policy.h"
#include "cli/open/device_session.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/rule_images.h"
#include "xdp/attach.h"

enum {
	OPTION_MODE = OPTION_OF_POLICY_COMMAND,
	OPTION_NO_LINK,
	OPTION_CHAIN,
	OPTION_NO_STATE,
	OPTION_FORCE,
	OPTION_ACCEPT_FPP,
	OPTION_BACKEND,
	OPTION_PRIORITY,
};

/**
 * struct attach - what is asked for
 * @device: where
 * @rules: the rules
 * @policy: of them
 * @lists: how lists are read
 * @mode: of XDP
 * @attach_type: of XDP
 * @xdp_only: an option that only XDP has, or NULL
 * @is_kmod: rules of the kernel module, not of XDP
 * @priority: of its hook
 * @has_priority: it was given
 * @accept_fpp: highest rate of a rule
 * @no_state: remember nothing
 * @force: also what would cut this host off
 * @json: report as JSON
 */
struct attach {
	const char *device;
	struct rules rules;
	struct policy policy;
	struct list_options lists;
	enum baleen_mode mode;
	enum baleen_attach_type attach_type;
	const char *xdp_only;
	bool is_kmod;
	int priority;
	bool has_priority;
	double accept_fpp;
	bool no_state;
	bool force;
	bool json;
};

static int take_place(struct attach *attach, enum baleen_attach_type attach_type)
{
	if (attach->attach_type != BALEEN_ATTACH_TYPE_LINK && attach->attach_type != attach_type)
		return complain_usage(&attach_command, "--no-link and --chain exclude each other");
	attach->attach_type = attach_type;
	attach->xdp_only = attach_type == BALEEN_ATTACH_TYPE_CHAIN ? "--chain" : "--no-link";
	return 0;
}

static int take_backend(struct attach *attach, const char *argument)
{
	if (strcmp(argument, "xdp") && strcmp(argument, "kmod"))
		return complain_usage(&attach_command, "--backend '%s': not xdp or kmod", argument);
	attach->is_kmod = !strcmp(argument, "kmod");
	return 0;
}

static int take_priority(struct attach *attach, const char *argument)
{
	char *end;
	long priority;

	errno = 0;
	priority = strtol(argument, &end, 10);
	if (end == argument || *end || errno || priority < INT_MIN || priority > INT_MAX)
		return complain_usage(&attach_command, "--priority '%s': not a number of 32 bits",
				      argument);
	attach->priority = priority;
	attach->has_priority = true;
	return 0;
}

static int take_word(struct attach *attach, const char *word)
{
	int err = rules_word_take(&attach_command, &attach->rules, word);

	if (err != -ENOENT)
		return err;
	if (!attach->device) {
		attach->device = word;
		return 0;
	}
	if (attach->rules.n)
		return complain_usage(&attach_command,
				      "'%s' is neither an option nor a qualifier of rule '%s': "
				      "proto, dport, tcp-syn or vlan",
				      word, attach->rules.rule[attach->rules.n - 1].name);
	return complain_usage(&attach_command, "'%s' is a second device: did you mean --drop %s?",
			      word, word);
}

static int take_option(struct attach *attach, int option, const char *argument)
{
	int err;

	switch (option) {
	case 1: return take_word(attach, argument);
	case OPTION_BACKEND: return take_backend(attach, argument);
	case OPTION_PRIORITY: return take_priority(attach, argument);
	case OPTION_MODE:
		attach->xdp_only = "--mode";
		return take_mode(&attach_command, argument, &attach->mode);
	case OPTION_NO_LINK: return take_place(attach, BALEEN_ATTACH_TYPE_NETLINK);
	case OPTION_CHAIN: return take_place(attach, BALEEN_ATTACH_TYPE_CHAIN);
	case OPTION_ACCEPT_FPP:
		return take_accept_fpp(&attach_command, argument, &attach->accept_fpp);
	case OPTION_NO_STATE: attach->no_state = true; return 0;
	case OPTION_FORCE: attach->force = true; return 0;
	case 'j': attach->json = true; return 0;
	}
	err = rules_option_take(&attach_command, &attach->rules, option, argument);
	if (err == -ENOENT)
		err = policy_option_take(&attach_command, &attach->policy, option, argument);
	if (err == -ENOENT)
		err = list_option_take(&attach_command, &attach->lists, option, argument);
	return err;
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
	static const struct option long_options[] = {
		LIST_OPTIONS,
		RULE_OPTIONS,
		POLICY_OPTIONS,
		{ "backend", required_argument, NULL, OPTION_BACKEND },
		{ "priority", required_argument, NULL, OPTION_PRIORITY },
		{ "mode", required_argument, NULL, OPTION_MODE },
		{ "no-link", no_argument, NULL, OPTION_NO_LINK },
		{ "chain", no_argument, NULL, OPTION_CHAIN },
		{ "no-state", no_argument, NULL, OPTION_NO_STATE },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "accept-fpp", required_argument, NULL, OPTION_ACCEPT_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "-j", long_options, NULL)) != -1)
		err = take_option(attach, option, optarg);
	for (; !err && optind < argc; optind++)
		err = take_word(attach, argv[optind]);
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
	return list_options_check(&attach_command, &attach->lists);
}

static int report(const struct attach *attach, const struct baleen_attempts *attempts)
{
	json_t *failed, *json;

	if (!attach->json) {
		printf("%s: attached, %s%s%s\n", attach->device, baleen_mode_text(attempts->mode),
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

static int attach_ruleset(const struct attach *attach, const struct baleen_ruleset *ruleset)
{
	struct baleen_attempts attempts;
	struct baleen_error error;
	int err = baleen_xdp_attach(attach->device, ruleset, attach->mode, attach->attach_type,
				    &attempts, &error);

	for (u32 i = 0; i < attempts.n_failed; i++)
		complain("%s: %s failed: %s", attach->device, attempts.failed[i].what,
			 attempts.failed[i].reason);
	if (err) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report(attach, &attempts);
}

/* The state is on disk before the filter is there, so no filter lacks its own. */
static int attach_with_state(const struct attach *attach, const struct baleen_ruleset *ruleset)
{
	struct device_session session;
	int err = session_create(&session, attach->device, ruleset, attach->mode,
				 attach->attach_type, &attach->rules, &attach->lists);

	if (err)
		return err;
	err = attach_ruleset(attach, ruleset);
	if (err)
		session_undo(&session);
	else
		session_close(&session);
	return err;
}

static int report_kmod(const struct attach *attach)
{
	json_t *json;

	if (!attach->json) {
		printf("%s: attached, kmod, priority %d%s\n", attach->device, attach->priority,
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

	if (session_remove_old(attach->device, &error) ||
	    baleen_kmod_attach(attach->device, ruleset, attach->priority, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report_kmod(attach);
}

static int attach_rules(struct attach *attach)
{
	struct baleen_ruleset ruleset = { 0 };

	if (rules_open(&attach->rules, &attach->lists) || rules_insert(&attach->rules, &ruleset, 0))
		return EXIT_FAILED;
	policy_apply(&attach->policy, &ruleset);
	if (guard_rates(&attach->rules, attach->accept_fpp) ||
	    (!attach->force && guard_ruleset(attach->device, NULL, &ruleset, &attach->rules)))
		return EXIT_FAILED;
	rules_warn_dead(&attach->rules, &ruleset);
	if (attach->is_kmod)
		return attach_kmod(attach, &ruleset);
	rules_warn_vlan(&attach->rules, attach->device);
	if (attach->no_state)
		return attach_ruleset(attach, &ruleset);
	return attach_with_state(attach, &ruleset);
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
	struct attach attach = { .accept_fpp = DEFAULT_ACCEPT_FPP };
	struct baleen_error error;
	int err;

	list_options_init(&attach.lists);
	err = parse(&attach, argc, argv);
	if (err)
		return err;
	if (check_device(&attach, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	err = attach_rules(&attach);
	rules_close(&attach.rules);
	return err;
}

const struct command attach_command = {
	.name = "attach",
	.synopsis = "DEV {--allow|--drop|--count} [NAME=]IMAGE [QUALIFIER...]... [OPTION...]",
	.help = "Puts rules on a device, evaluated in the order typed; the first --allow or --drop that\n"
		"matches decides. The filter outlives this command. A rule is named after its file\n"
		"unless given as NAME=IMAGE; 16 rules at most.\n"
		"Refuses rules that would drop the addresses of the device or of a bridge, bond or\n"
		"VLAN on it, its gateways, the resolvers, or the peer of a TCP session.\n\n" RULE_OPTIONS_HELP
		"\n" POLICY_OPTIONS_HELP
		"  --mode MODE      auto (default): native with multi-buffer frames, native, generic;\n"
		"                   native: never generic; generic: behind the driver, slower\n" ACCEPT_FPP_HELP
		"  --no-link        as other tools do, so that they can remove or replace it:\n"
		"                   'ip link set DEV xdp off'; status tells\n"
		"  --chain          in libxdp's dispatcher, at priority 10, beside other programs; a\n"
		"                   change asks old and new rules for a moment, and counts twice\n"
		"  --backend B      xdp (default), or kmod: the hook of netfilter in the kernel module,\n"
		"                   for devices without XDP; IMAGE kmod:NAME is asked itself there,\n"
		"                   not copied. No state, no --mode, --no-link, --chain, --sample\n"
		"  --priority N     of that hook among others on the device, lower ones first (0)\n"
		"  --no-state       remember nothing of the lists: no single entries beside them, no\n"
		"                   'why'; add and del then change the filter alone\n"
		"  --force          also when this host would cut itself off\n"
		"  -j, --json       say how it went as JSON\n\n" LIST_OPTIONS_HELP,
	.run = run,
};
