// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen attach: rules onto a device. */
#include <getopt.h>
#include <string.h>

#include "attach.h"
#include "guard.h"
#include "rules.h"

enum {
	OPTION_ALLOW = OPTION_OF_COMMAND,
	OPTION_DROP,
	OPTION_MODE,
	OPTION_FORCE,
	OPTION_ACCEPT_FPP,
};

struct attach {
	const char *device;
	struct rules rules;
	struct list_options lists;
	enum baleen_mode mode;
	double accept_fpp;
	bool force;
	bool json;
};

static int take_mode(struct attach *attach, const char *argument)
{
	for (enum baleen_mode mode = BALEEN_MODE_AUTO; mode <= BALEEN_MODE_GENERIC; mode++) {
		if (!strcmp(argument, baleen_mode_text(mode))) {
			attach->mode = mode;
			return 0;
		}
	}
	return complain_usage(&attach_command, "--mode '%s': not auto, native or generic",
			      argument);
}

static int parse(struct attach *attach, int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "allow", required_argument, NULL, OPTION_ALLOW },
		{ "drop", required_argument, NULL, OPTION_DROP },
		{ "mode", required_argument, NULL, OPTION_MODE },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "accept-fpp", required_argument, NULL, OPTION_ACCEPT_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_ALLOW:
			err = rules_add(&attach_command, &attach->rules, BALEEN_ACTION_ALLOW,
					optarg);
			break;
		case OPTION_DROP:
			err = rules_add(&attach_command, &attach->rules, BALEEN_ACTION_DROP,
					optarg);
			break;
		case OPTION_MODE: err = take_mode(attach, optarg); break;
		case OPTION_ACCEPT_FPP:
			err = take_accept_fpp(&attach_command, optarg, &attach->accept_fpp);
			break;
		case OPTION_FORCE: attach->force = true; break;
		case 'j': attach->json = true; break;
		default: err = list_option_take(&attach_command, &attach->lists, option, optarg);
		}
	}
	if (err)
		return err;
	if (argc - optind > 1)
		return complain_usage(&attach_command,
				      "'%s' is a second device: did you mean --drop %s?",
				      argv[optind + 1], argv[optind + 1]);
	if (argc == optind)
		return complain_usage(&attach_command, "one device is asked for");
	if (!attach->rules.n)
		return complain_usage(&attach_command, "no --drop or --allow given");
	attach->device = argv[optind];
	return list_options_check(&attach_command, &attach->lists);
}

static int check(const struct attach *attach)
{
	struct guarded_rule guarded[BALEEN_MAX_RULES];

	for (u32 i = 0; i < attach->rules.n; i++) {
		const struct rule_argument *rule = &attach->rules.rule[i];

		guarded[i] = (struct guarded_rule){ .name = rule->name,
						    .action = rule->action,
						    .filter = &rule->input.filter,
						    .input = &rule->input };
		if (guard_rate(rule->name, rule->action, &rule->input.filter, attach->accept_fpp))
			return EXIT_FAILED;
	}
	return attach->force ? 0 : guard_host(attach->device, guarded, attach->rules.n);
}

static int report(const struct attach *attach, const struct baleen_attempts *attempts)
{
	json_t *failed, *json;

	if (!attach->json) {
		printf("%s: attached, %s%s\n", attach->device, baleen_mode_text(attempts->mode),
		       attempts->mode == BALEEN_MODE_GENERIC ? ": degraded, behind the driver" :
							       "");
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
	json_object_set_new(json, "degraded", json_boolean(attempts->mode == BALEEN_MODE_GENERIC));
	json_object_set_new(json, "frags", json_boolean(attempts->frags));
	json_object_set_new(json, "failed", failed);
	return print_json(json);
}

static int attach_rules(const struct attach *attach)
{
	struct baleen_ruleset ruleset = { .n_rules = attach->rules.n };
	struct baleen_attempts attempts;
	struct baleen_error error;
	int err;

	for (u32 i = 0; i < attach->rules.n; i++) {
		const struct rule_argument *rule = &attach->rules.rule[i];

		memcpy(ruleset.rule[i].name, rule->name, sizeof(rule->name));
		ruleset.rule[i].action = rule->action;
		ruleset.rule[i].filter = &rule->input.filter;
		ruleset.rule[i].live = BALEEN_RULE_NEW;
	}
	err = baleen_xdp_attach(attach->device, &ruleset, attach->mode, &attempts, &error);
	for (u32 i = 0; i < attempts.n_failed; i++)
		complain("%s: %s failed: %s", attach->device, attempts.failed[i].what,
			 attempts.failed[i].reason);
	if (err) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return report(attach, &attempts);
}

static int run(int argc, char **argv)
{
	struct attach attach = { .accept_fpp = DEFAULT_ACCEPT_FPP };
	struct baleen_error error;
	int err, ifindex;

	list_options_init(&attach.lists);
	err = parse(&attach, argc, argv);
	if (err)
		return err;
	/* Say what is missing before a long list is read. */
	if (baleen_device_privileges(&error) ||
	    baleen_device_ifindex(attach.device, &ifindex, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	err = rules_open(&attach.rules, &attach.lists);
	if (!err)
		err = check(&attach);
	if (!err)
		err = attach_rules(&attach);
	rules_close(&attach.rules);
	return err;
}

const struct command attach_command = {
	.name = "attach",
	.synopsis = "DEV [--allow [NAME=]IMAGE]... [--drop [NAME=]IMAGE]... [OPTION...]",
	.help = "Puts rules on a device, evaluated in the order typed; the first that matches\n"
		"decides, and what matches none passes. The filter outlives this command. A rule is\n"
		"named after its file unless given as NAME=IMAGE.\n"
		"Refuses rules that would drop the addresses of the device or of a bridge, bond or\n"
		"VLAN on it, its gateways, the resolvers, or the peer of a TCP session.\n\n"
		"  --drop IMAGE     drop what IMAGE lists\n"
		"  --allow IMAGE    let pass what IMAGE lists; later rules are not asked\n"
		"  --mode MODE      auto (default): native with multi-buffer frames, native, generic;\n"
		"                   native: never generic; generic: behind the driver, slower\n" ACCEPT_FPP_HELP
		"  --force          also when this host would cut itself off\n"
		"  -j, --json       say how it went as JSON\n\n" LIST_OPTIONS_HELP,
	.run = run,
};
