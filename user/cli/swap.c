// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen swap: another image for a live rule. */
#include <getopt.h>
#include <string.h>

#include "describe.h"
#include "guard.h"
#include "update.h"

enum {
	OPTION_ALLOW = OPTION_OF_COMMAND,
	OPTION_DROP,
	OPTION_FORCE,
	OPTION_ACCEPT_FPP,
};

struct swap {
	char device[IF_NAMESIZE];
	const char *rule;
	const char *argument;
	struct list_options lists;
	int action; /* enum baleen_action that the rule has to have, or -1 */
	double accept_fpp;
	bool force;
	bool json;
};

static int parse(struct swap *swap, int argc, char **argv)
{
	static const struct option long_options[] = {
		LIST_OPTIONS,
		{ "allow", no_argument, NULL, OPTION_ALLOW },
		{ "drop", no_argument, NULL, OPTION_DROP },
		{ "force", no_argument, NULL, OPTION_FORCE },
		{ "accept-fpp", required_argument, NULL, OPTION_ACCEPT_FPP },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, err = 0;

	while (!err && (option = getopt_long(argc, argv, "j", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_ALLOW: swap->action = BALEEN_ACTION_ALLOW; break;
		case OPTION_DROP: swap->action = BALEEN_ACTION_DROP; break;
		case OPTION_FORCE: swap->force = true; break;
		case 'j': swap->json = true; break;
		case OPTION_ACCEPT_FPP:
			err = take_accept_fpp(&swap_command, optarg, &swap->accept_fpp);
			break;
		default: err = list_option_take(&swap_command, &swap->lists, option, optarg);
		}
	}
	if (err)
		return err;
	if (argc - optind != 2)
		return complain_usage(&swap_command, "DEV:RULE and one IMAGE are asked for");
	if (!split_live(argv[optind], swap->device, sizeof(swap->device), &swap->rule))
		return complain_usage(&swap_command, "'%s' is not DEV:RULE", argv[optind]);
	swap->argument = argv[optind + 1];
	return list_options_check(&swap_command, &swap->lists);
}

static int check_action(const struct swap *swap, const struct baleen_xdp *xdp, u32 index)
{
	if (swap->action < 0 || xdp->config.rule[index].action == (u32)swap->action)
		return 0;
	complain("%s:%s is %s rule: attach again to change that", xdp->device, swap->rule,
		 swap->action == BALEEN_ACTION_ALLOW ? "a drop" : "an allow");
	return EXIT_FAILED;
}

static int check_key(const struct swap *swap, const struct baleen_rule *rule,
		     const struct input *input)
{
	if (input->filter.image.key_spec == rule->image.key_spec)
		return 0;
	complain("%s:%s is keyed by %s, the new image by %s", swap->device, swap->rule,
		 key_spec_text(rule->image.key_spec), key_spec_text(input->filter.image.key_spec));
	return EXIT_FAILED;
}

/* The rules as they would be: all but one stay, as views of their live maps. */
static int check_host(const struct baleen_xdp *xdp, u32 index, const struct input *input)
{
	struct guarded_rule guarded[BALEEN_MAX_RULES];
	struct baleen_filter live[BALEEN_MAX_RULES] = { 0 };
	struct baleen_error error;
	int err = 0;

	for (u32 i = 0; i < xdp->config.n_rules && !err; i++) {
		guarded[i] = (struct guarded_rule){
			.name = xdp->config.rule[i].image.name,
			.action = xdp->config.rule[i].action,
			.filter = i == index ? &input->filter : &live[i],
			.input = i == index ? input : NULL,
		};
		if (i != index && baleen_xdp_map_rule(xdp, i, &live[i], &error)) {
			complain("%s", error.text);
			err = EXIT_FAILED;
		}
	}
	if (!err)
		err = guard_host(xdp->device, guarded, xdp->config.n_rules);
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		baleen_filter_free(&live[i]);
	return err;
}

static int swap_rule(const struct swap *swap, struct baleen_xdp *xdp, const struct input *input)
{
	int index = baleen_xdp_rule_index(xdp, swap->rule);
	struct baleen_ruleset ruleset;
	struct baleen_error error;

	if (index < 0) {
		complain("%s has no rule '%s': see 'baleen status %s'", swap->device, swap->rule,
			 swap->device);
		return EXIT_FAILED;
	}
	if (check_action(swap, xdp, index) || check_key(swap, &xdp->config.rule[index], input) ||
	    guard_rate(swap->rule, xdp->config.rule[index].action, &input->filter,
		       swap->accept_fpp))
		return EXIT_FAILED;
	if (xdp->state == BALEEN_XDP_ATTACHED && !swap->force && check_host(xdp, index, input))
		return EXIT_FAILED;
	baleen_ruleset_from_xdp(xdp, &ruleset);
	ruleset.rule[index].filter = &input->filter;
	if (baleen_xdp_update(xdp, &ruleset, &error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	struct swap swap = { .action = -1, .accept_fpp = DEFAULT_ACCEPT_FPP };
	struct baleen_error error;
	struct baleen_xdp xdp;
	struct input input;
	int err;

	list_options_init(&swap.lists);
	err = parse(&swap, argc, argv);
	if (err)
		return err;
	if (baleen_device_privileges(&error)) {
		complain("%s", error.text);
		return EXIT_FAILED;
	}
	/* The list is read before the lock is taken: reading may wait. */
	if (input_open(&input, swap.argument, &swap.lists))
		return EXIT_FAILED;
	if (baleen_xdp_open(&xdp, swap.device, true, &error)) {
		complain("%s", error.text);
		err = EXIT_FAILED;
	} else {
		err = swap_rule(&swap, &xdp, &input);
		baleen_xdp_close(&xdp);
	}
	if (!err && swap.json)
		err = print_json(describe_filter(&input.filter));
	input_close(&input);
	return err;
}

const struct command swap_command = {
	.name = "swap",
	.synopsis = "DEV:RULE IMAGE [OPTION...]",
	.help = "Replaces the image of a live rule by one of any size or kind, atomically: each packet\n"
		"sees the old set or the new one, and the counters go on. Another key is refused.\n"
		"When anything fails the old set stays in force.\n\n"
		"  --allow, --drop  refuse unless this is what the rule does\n" ACCEPT_FPP_HELP
		"  --force          also when this host would cut itself off\n"
		"  -j, --json       describe the new image as JSON\n\n" LIST_OPTIONS_HELP,
	.run = run,
};
