// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen swap: another image for a live rule. */
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/device_edit.h"
#include "cli/open/filter_name.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/rule_images.h"
#include "net/device.h"
#include "util/number.h"
#include "util/shell.h"

struct swap {
	char device[BALEEN_POINT_BYTES];
	const char *rule;
	bool is_named;	    /* kmod:RULE, a filter of the module; no rule */
	struct rules rules; /* one: the image */
	struct list_options lists;
	int action; /* enum baleen_action that the rule has to have, or -1 */
	bool force;
	bool dry_run;
	bool json;
	/* Entries that the rule took out, or kept, and one of the protected addresses. */
	u64 n_special, n_special_kept, n_protected;
	struct baleen_protected first_protected;
};

static int parse_action(const struct option_use *use)
{
	*(int *)use->to = use->spec->value;
	return 0;
}

static int parse(struct swap *swap, int argc, char **argv)
{
	int err = options_parse(&swap_command, swap, &argc, &argv);

	if (err)
		return err;
	swap->is_named = split_kmod(argv[0], &swap->rule);
	if (swap->is_named)
		strcpy(swap->device, "kmod");
	else if (!split_live(argv[0], swap->device, sizeof(swap->device), &swap->rule))
		return complain_usage(&swap_command, "'%s' is neither DEV:RULE nor kmod:NAME",
				      argv[0]);
	if (swap->is_named && swap->action >= 0)
		return complain_usage(&swap_command, "--allow, --drop and --count are for rules");
	list_options_of(&swap->lists, swap->device);
	swap->rules.rule[0].path = argv[1];
	/* Its rule is not known before the device is held. */
	swap->rules.rule[0].action = BALEEN_ACTION_COUNT;
	swap->rules.n = 1;
	return list_options_check(&swap_command, &swap->lists);
}

static int check_action(const struct swap *swap, u32 action)
{
	static const char *const text[] = { "a drop", "an allow", "a count" };

	if (swap->action < 0 || action == (u32)swap->action)
		return 0;
	return complain("%s:%s is %s rule: 'baleen rule' deletes it and adds another", swap->device,
			swap->rule, text[action]);
}

/* An image of an empty list would disarm the rule without a word. */
static int check_empty(const struct swap *swap, const struct baleen_filter *filter)
{
	if (swap->lists.allow_empty || counted_image(filter).n_entries)
		return 0;
	return complain("%s: holds not a single key: refused (--allow-empty takes it)",
			swap->rules.rule[0].path);
}

/* Gives the rule another filter; 0, or EXIT_FAILED after a message. */
static int edit(const struct swap *swap, struct baleen_ruleset *ruleset)
{
	const struct rule_argument *argument = &swap->rules.rule[0];
	const struct baleen_filter *filter = &argument->ref.filter;
	int place = baleen_ruleset_find(ruleset, swap->rule);
	struct baleen_ruleset_rule *rule;

	if (place < 0)
		return complain_no_rule(swap->device, swap->rule);
	rule = &ruleset->rule[place];
	if (check_empty(swap, filter) || check_action(swap, rule->action))
		return EXIT_FAILED;
	rule->filter = filter;
	rules_share(argument, rule);
	return 0;
}

/* Others may ask the filter with a name that this rule asks. */
static int refuse_shared(const struct swap *swap, const struct baleen_kmod_rules *now)
{
	int index = baleen_kmod_rules_find(now, swap->rule);
	const char *shared = index < 0 ? "" : (const char *)now->rule[index].filter;
	const char *other;

	if (!*shared || split_kmod(swap->rules.rule[0].path, &other))
		return 0;
	return complain(
		"%s:%s asks kmod:%s, as others may: 'baleen swap kmod:%s' changes that, 'baleen "
		"rule' deletes the rule and adds another",
		swap->device, swap->rule, shared, baleen_shell_word(shared).text);
}

static int edit_rule(const struct baleen_kmod_rules *now, struct baleen_ruleset *ruleset,
		     const void *data)
{
	const struct swap *swap = data;

	return now && refuse_shared(swap, now) ? EXIT_FAILED : edit(swap, ruleset);
}

static int swap_named(const struct swap *swap)
{
	const struct baleen_filter *filter = &swap->rules.rule[0].ref.filter;
	char argument[sizeof("kmod:") + BALEEN_DEV_NAME_BYTES];
	struct baleen_dev_info info;
	struct baleen_image before;
	struct kmod_filter kmod;
	int err;

	if (check_empty(swap, filter))
		return EXIT_FAILED;
	snprintf(argument, sizeof(argument), "kmod:%s", swap->rule);
	if (kmod_open(&kmod, argument, swap->rule, true))
		return EXIT_FAILED;
	err = kmod_head(&kmod, &before, &info);
	/* It drops no packets while no rule asks it. */
	if (!err && info.n_rules)
		err = guard_rate(argument, BALEEN_ACTION_DROP, filter, swap->lists.accept_fpp);
	if (!err && !swap->force)
		err = kmod_guard_image(&kmod, filter);
	if (!err && !swap->dry_run)
		err = kmod_swap(&kmod, filter);
	kmod_close(&kmod);
	return err;
}

static bool drops(const struct swap *swap, const struct baleen_ruleset *after)
{
	int place = baleen_ruleset_find(after, swap->rule);

	return !swap->is_named && place >= 0 && after->rule[place].action == BALEEN_ACTION_DROP;
}

/* The operator means it when a configuration says keep, so there is nothing to tell. */
static void print_special(struct swap *swap, const struct device_edit *edit)
{
	struct rule_argument *rule = &swap->rules.rule[0];

	if (edit->n_special)
		return;
	swap->n_special_kept = rule->ref.n_special;
	rule->action = BALEEN_ACTION_DROP;
	rule->special = edit->is_configured ? SPECIAL_KEEP : SPECIAL_TOLD;
	snprintf(rule->name, sizeof(rule->name), "%s", swap->rule);
	rules_print_special(&swap->rules);
}

static int swap_rule(struct swap *swap)
{
	struct device_edit edit = { .edit = edit_rule,
				    .data = swap,
				    .rules = &swap->rules,
				    .lists = &swap->lists,
				    .is_forced = swap->force,
				    .is_trial = swap->dry_run };

	int err = swap->is_named ? swap_named(swap) : device_edit(swap->device, &edit);

	swap->n_special = edit.n_special;
	if (!err && drops(swap, &edit.after))
		print_special(swap, &edit);
	swap->n_protected = edit.n_protected;
	swap->first_protected = edit.first_protected;
	return err;
}

static int report(const struct swap *swap)
{
	const struct baleen_filter *filter = &swap->rules.rule[0].ref.filter;
	const char *done = swap->dry_run ? "would be swapped" : "swapped";
	char text[ENTRIES_TEXT], special[NUMBER_TEXT];
	json_t *json;

	if (swap->json) {
		json = describe_filter(filter);
		json_object_set_new(json, "name", json_string(swap->rule));
		json_object_set_new(json, "special", json_integer(swap->n_special));
		json_object_set_new(json, "special_kept", json_integer(swap->n_special_kept));
		json_object_set_new(json, "never_dropped", json_integer(swap->n_protected));
		json_object_set_new(json, "dry_run", json_boolean(swap->dry_run));
		return print_json(json);
	}
	if (is_uncounted(filter)) {
		say("%s:%s: %s\n", swap->device, swap->rule, done);
		return finish_output(EXIT_DONE);
	}
	say("%s:%s: %s, %s", swap->device, swap->rule, done,
	    entries_text(filter, written_entries(filter), text));
	if (swap->n_special)
		say(", without %s special-purpose", format_count(swap->n_special, special));
	if (swap->n_protected)
		say(", without %s never dropped (%s, %s)", format_count(swap->n_protected, special),
		    swap->first_protected.key, swap->first_protected.what);
	putchar('\n');
	return finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
	struct swap swap = { .action = -1 };
	int err;

	list_options_init(&swap.lists);
	err = parse(&swap, argc, argv);
	if (err)
		return err;
	if (!swap.is_named && device_edit_check(swap.device))
		return EXIT_FAILED;
	if (rules_open(&swap.rules, &swap.lists))
		return EXIT_FAILED;
	err = swap_rule(&swap);
	if (!err)
		err = report(&swap);
	rules_close(&swap.rules);
	return err;
}

static const struct option_spec options[] = {
	{ "allow", 0, NULL, parse_action, offsetof(struct swap, action),
	  .value = BALEEN_ACTION_ALLOW, .help = "refuse unless this is an allow rule" },
	{ "drop", 0, NULL, parse_action, offsetof(struct swap, action), .value = BALEEN_ACTION_DROP,
	  .help = "refuse unless it is a drop rule" },
	{ "count", 0, NULL, parse_action, offsetof(struct swap, action),
	  .value = BALEEN_ACTION_COUNT, .help = "refuse unless it is a count rule" },
	ACCEPT_FPP_OPTION(swap, lists.accept_fpp),
	FORCE_OPTION(swap, force),
	FLAG("dry-run", 0, swap, dry_run, "judge it as if, and change nothing"),
	FLAG("json", 'j', swap, json, "describe the new image as JSON"),
	{ .table = list_option_table, .at = offsetof(struct swap, lists) },
	{ 0 },
};

const struct command swap_command = {
	.name = "swap",
	.synopsis = "DEV:RULE|kmod:NAME IMAGE [OPTION...]",
	.help = "Replaces the image of a live rule by one of any size or kind, atomically: each packet\n"
		"sees the old set or the new one, and the counters go on. Another key is refused.\n"
		"When anything fails the old set stays in force. kmod:NAME is a filter of the kernel\n"
		"module, for all who ask it.\n",
	.options = options,
	.asks = { 2, 2, "DEV:RULE or kmod:NAME and one IMAGE are asked for" },
	.run = run,
};
