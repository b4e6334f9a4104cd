// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen swap: another image for a live rule. */
#include <getopt.h>
#include <string.h>

#include "describe.h"
#include "guard.h"
#include "hold.h"

enum {
	OPTION_FORCE = OPTION_OF_RULE_COMMAND,
	OPTION_ACCEPT_FPP,
};

struct swap {
	char device[IF_NAMESIZE];
	const char *rule;
	struct rules rules; /* one: the image */
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
		{ "count", no_argument, NULL, OPTION_COUNT },
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
		case OPTION_COUNT: swap->action = BALEEN_ACTION_COUNT; break;
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
	swap->rules.rule[0].path = argv[optind + 1];
	swap->rules.n = 1;
	return list_options_check(&swap_command, &swap->lists);
}

static int check_action(const struct swap *swap, const struct baleen_xdp *xdp, u32 index)
{
	static const char *const text[] = { "a drop", "an allow", "a count" };

	if (swap->action < 0 || xdp->config.rule[index].action == (u32)swap->action)
		return 0;
	complain("%s:%s is %s rule: 'baleen rule' deletes it and adds another", xdp->device,
		 swap->rule, text[xdp->config.rule[index].action]);
	return EXIT_FAILED;
}

/* An image of an empty list would disarm the rule without a word. */
static int check_empty(const struct swap *swap, const struct baleen_filter *filter)
{
	if (swap->lists.allow_empty || counted_image(filter).n_entries)
		return 0;
	complain("%s: holds not a single key: refused (--allow-empty takes it)",
		 swap->rules.rule[0].path);
	return EXIT_FAILED;
}

static int check(const struct swap *swap, const struct baleen_xdp *xdp, int index)
{
	const struct baleen_rule *rule = &xdp->config.rule[index];
	const struct input *input = &swap->rules.rule[0].input;

	if (check_empty(swap, &input->filter) || check_action(swap, xdp, index) ||
	    guard_rate(swap->rule, rule->action, &input->filter, swap->accept_fpp))
		return EXIT_FAILED;
	return 0;
}

static int swap_rule(const struct swap *swap, struct hold *hold)
{
	const struct input *input = &swap->rules.rule[0].input;
	const struct baleen_xdp *xdp = &hold->deploy.xdp;
	int index = baleen_xdp_rule_index(xdp, swap->rule);
	struct baleen_ruleset ruleset;

	if (index < 0) {
		complain("%s has no rule '%s': see 'baleen status %s'", swap->device, swap->rule,
			 swap->device);
		return EXIT_FAILED;
	}
	if (check(swap, xdp, index))
		return EXIT_FAILED;
	baleen_ruleset_from_xdp(xdp, &ruleset);
	ruleset.rule[index].filter = &input->filter;
	if (xdp->state == BALEEN_XDP_ATTACHED && !swap->force &&
	    guard_ruleset(xdp->device, xdp, &ruleset, &swap->rules))
		return EXIT_FAILED;
	return hold_put(hold, &ruleset, &swap->rules, &swap->lists);
}

static int report(const struct swap *swap)
{
	const struct baleen_filter *filter = &swap->rules.rule[0].input.filter;
	char entries[NUMBER_TEXT];
	u64 n;

	if (swap->json)
		return print_json(describe_filter(filter));
	if (is_uncounted(filter)) {
		printf("%s:%s: swapped\n", swap->device, swap->rule);
		return finish_output(EXIT_DONE);
	}
	n = counted_image(filter).n_entries;
	printf("%s:%s: swapped, %s entr%s\n", swap->device, swap->rule, format_count(n, entries),
	       n == 1 ? "y" : "ies");
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct swap swap = { .action = -1, .accept_fpp = DEFAULT_ACCEPT_FPP };
	struct baleen_error error;
	struct hold hold;
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
	if (rules_open(&swap.rules, &swap.lists))
		return EXIT_FAILED;
	err = hold_open(&hold, swap.device, BALEEN_LOCK_TIMEOUT_MS);
	if (err == -ENOENT) {
		err = complain_not_attached(swap.device);
	} else if (!err) {
		err = swap_rule(&swap, &hold);
		hold_close(&hold);
	}
	if (!err)
		err = report(&swap);
	rules_close(&swap.rules);
	return err;
}

const struct command swap_command = {
	.name = "swap",
	.synopsis = "DEV:RULE IMAGE [OPTION...]",
	.help = "Replaces the image of a live rule by one of any size or kind, atomically: each packet\n"
		"sees the old set or the new one, and the counters go on. Another key is refused.\n"
		"When anything fails the old set stays in force.\n\n"
		"  --allow          refuse unless this is an allow rule\n"
		"  --drop           refuse unless it is a drop rule\n"
		"  --count          refuse unless it is a count rule\n" ACCEPT_FPP_HELP
		"  --force          also when this host would cut itself off\n"
		"  -j, --json       describe the new image as JSON\n\n" LIST_OPTIONS_HELP,
	.run = run,
};
