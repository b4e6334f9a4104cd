// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen rule: add, remove and reorder the rules of a device. */
#include <errno.h>
#include <string.h>

#include "cli/open/device_edit.h"
#include "cli/open/filter_name.h"
#include "cli/open/guard.h"
#include "cli/open/rule_images.h"
#include "net/device.h"
#include "util/shell.h"

enum place { PLACE_NONE, PLACE_FIRST, PLACE_LAST, PLACE_BEFORE, PLACE_AFTER };

struct change;

static int add(const struct change *change, struct baleen_ruleset *ruleset);
static int del(const struct change *change, struct baleen_ruleset *ruleset);
static int move(const struct change *change, struct baleen_ruleset *ruleset);

/* Each edits the ruleset of the device: 0, or EXIT_FAILED after a message. */
static const struct verb {
	const char *name;
	const char *done;
	int (*edit)(const struct change *change, struct baleen_ruleset *ruleset);
} verbs[] = {
	{ "add", "added", add },
	{ "del", "deleted", del },
	{ "move", "moved", move },
};

/**
 * struct change - what is asked for
 * @verb: first word
 * @device: the device argument of add; the DEV of DEV:RULE for the others
 * @target: the rules of DEV:RULE, for del and move
 * @n_targets: how many
 * @rules: for add
 * @place: where to, if it was said
 * @anchor: its rule
 * @lists: how lists are read
 * @force: also what would cut this host off
 * @json: report as JSON
 */
struct change {
	const struct verb *verb;
	char device[BALEEN_POINT_BYTES];
	const char *target[BALEEN_MAX_RULES];
	u32 n_targets;
	struct rules rules;
	enum place place;
	const char *anchor;
	struct list_options lists;
	bool force;
	bool json;
};

/* --- arguments ------------------------------------------------------------ */

static int parse_verb(struct change *change, const char *word)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(word, verbs[i].name)) {
			change->verb = &verbs[i];
			return 0;
		}
	}
	return complain_usage(&rule_command, "'%s': not add, del or move", word);
}

static int parse_device(struct change *change, const char *word)
{
	if (strlen(word) >= sizeof(change->device) || strchr(word, ':'))
		return complain_usage(&rule_command, "'%s' is not DEV", word);
	snprintf(change->device, sizeof(change->device), "%s", word);
	return 0;
}

static int parse_target(struct change *change, const char *word)
{
	char device[BALEEN_POINT_BYTES];
	const char *rule;

	if (!split_live(word, device, sizeof(device), &rule))
		return complain_usage(&rule_command, "'%s' is not DEV:RULE", word);
	if (change->device[0] && strcmp(change->device, device))
		return complain_usage(&rule_command, "'%s' is of another device than %s", word,
				      change->device);
	if (change->n_targets == BALEEN_MAX_RULES)
		return complain_usage(&rule_command, "more than %d rules", BALEEN_MAX_RULES);
	memcpy(change->device, device, sizeof(device));
	change->target[change->n_targets++] = rule;
	return 0;
}

static int parse_word(const struct option_use *use)
{
	struct change *change = use->to;
	int err;

	if (!change->verb)
		return parse_verb(change, use->argument);
	err = rules_word_parse(&rule_command, &change->rules, use->argument);
	if (err != -ENOENT)
		return err;
	if (change->verb->edit != add)
		return parse_target(change, use->argument);
	if (!change->device[0])
		return parse_device(change, use->argument);
	return complain_usage(&rule_command,
			      "'%s' is neither an option nor a qualifier: proto, dport, tcp-syn, "
			      "vlan, established, conntrack or limit",
			      use->argument);
}

static int parse_place(const struct option_use *use)
{
	struct change *change = use->to;

	if (change->place)
		return complain_usage(&rule_command, "one place is asked for: --first, --last, "
						     "--before RULE or --after RULE");
	change->place = use->spec->value;
	change->anchor = use->argument;
	return 0;
}

static int check_arguments(const struct change *change)
{
	bool is_add = change->verb && change->verb->edit == add;
	bool is_move = change->verb && change->verb->edit == move;

	if (!change->verb)
		return complain_usage(&rule_command, "add, del or move is asked for");
	if (is_add && !change->device[0])
		return complain_usage(&rule_command, "one device is asked for");
	if (is_add && !change->rules.n)
		return complain_usage(&rule_command, "no --drop, --allow or --count given");
	if (!is_add && change->rules.n)
		return complain_usage(&rule_command, "--drop, --allow and --count are for add");
	if (!is_add && !change->n_targets)
		return complain_usage(&rule_command, "DEV:RULE is asked for");
	if (is_move && change->n_targets > 1)
		return complain_usage(&rule_command, "one DEV:RULE is asked for");
	if (is_move && !change->place)
		return complain_usage(&rule_command, "where to? --first, --last, --before RULE or "
						     "--after RULE");
	if (!is_add && !is_move && change->place)
		return complain_usage(&rule_command, "a place is for add and move");
	return 0;
}

static int parse(struct change *change, int argc, char **argv)
{
	int err = options_parse(&rule_command, change, &argc, &argv);

	if (!err)
		err = rules_check(&rule_command, &change->rules);
	if (!err)
		err = check_arguments(change);
	if (err)
		return err;
	list_options_of(&change->lists, change->device);
	return list_options_check(&rule_command, &change->lists);
}

/* --- edits ---------------------------------------------------------------- */

/* The place of a rule, or -ENOENT after a message. */
static int find(const struct change *change, const struct baleen_ruleset *ruleset, const char *name)
{
	int place = baleen_ruleset_find(ruleset, name);

	if (place < 0)
		complain_no_rule(change->device, name);
	return place;
}

/* Before which rule of the ruleset, or -ENOENT after a message. */
static int find_place(const struct change *change, const struct baleen_ruleset *ruleset)
{
	int anchor = 0;

	if (change->anchor)
		anchor = find(change, ruleset, change->anchor);
	if (anchor < 0)
		return anchor;
	switch (change->place) {
	case PLACE_FIRST: return 0;
	case PLACE_BEFORE: return anchor;
	case PLACE_AFTER: return anchor + 1;
	default: return ruleset->n_rules;
	}
}

static int add(const struct change *change, struct baleen_ruleset *ruleset)
{
	int place = find_place(change, ruleset);

	return place < 0 ? EXIT_FAILED : rules_insert(&change->rules, ruleset, place);
}

static int del(const struct change *change, struct baleen_ruleset *ruleset)
{
	for (u32 i = 0; i < change->n_targets; i++) {
		int place = find(change, ruleset, change->target[i]);

		if (place < 0)
			return EXIT_FAILED;
		baleen_ruleset_remove(ruleset, place);
	}
	if (ruleset->n_rules)
		return 0;
	return complain("%s would have no rule left: 'baleen detach %s' takes the filter off",
			change->device, baleen_shell_word(change->device).text);
}

static int move(const struct change *change, struct baleen_ruleset *ruleset)
{
	int from = find(change, ruleset, change->target[0]);
	int place = from < 0 ? from : find_place(change, ruleset);

	if (place < 0)
		return EXIT_FAILED;
	/* The rules behind it have moved up by one. */
	baleen_ruleset_move(ruleset, from, place > from ? place - 1 : place);
	return 0;
}

/* --- the command ---------------------------------------------------------- */

static int report(const struct change *change, const struct baleen_ruleset *ruleset)
{
	json_t *names = json_array();

	for (u32 i = 0; i < ruleset->n_rules; i++)
		json_array_append_new(names, json_string(ruleset->rule[i].name));
	if (change->json)
		return print_json(json_pack("{s:o, s:o}", "device", json_text(change->device),
					    "rules", names));
	json_decref(names);
	say("%s: %s, rules now:", change->device, change->verb->done);
	for (u32 i = 0; i < ruleset->n_rules; i++)
		say(" %s", ruleset->rule[i].name);
	putchar('\n');
	return finish_output(EXIT_DONE);
}

static int edit_rules(const struct baleen_kmod_rules *now, struct baleen_ruleset *ruleset,
		      const void *data)
{
	const struct change *change = data;

	return change->verb->edit(change, ruleset);
}

static int change_device(struct change *change)
{
	struct device_edit edit = { .edit = edit_rules,
				    .data = change,
				    .rules = &change->rules,
				    .lists = &change->lists,
				    .is_forced = change->force };

	if (device_edit_check(change->device) || rules_open(&change->rules, &change->lists) ||
	    device_edit(change->device, &edit))
		return EXIT_FAILED;
	rules_print_special(&change->rules);
	rules_warn_dead(&change->rules, &edit.after);
	return report(change, &edit.after);
}

static int run(int argc, char **argv)
{
	struct change change = { 0 };
	int err;

	list_options_init(&change.lists);
	err = parse(&change, argc, argv);
	if (err)
		return err;
	err = change_device(&change);
	rules_close(&change.rules);
	return err;
}

static const struct option_spec options[] = {
	{ .help = "\nPLACE, of add by default --last:\n" },
	{ "first", 0, NULL, parse_place, .value = PLACE_FIRST, .help = "before all others" },
	{ "last", 0, NULL, parse_place, .value = PLACE_LAST, .help = "behind all others" },
	{ "before", 0, "RULE", parse_place, .value = PLACE_BEFORE, .help = "before this one" },
	{ "after", 0, "RULE", parse_place, .value = PLACE_AFTER, .help = "behind this one" },
	{ .help = "\n" },
	{ .table = rule_option_table, .at = offsetof(struct change, rules) },
	ACCEPT_FPP_OPTION(change, lists.accept_fpp),
	FORCE_OPTION(change, force),
	FLAG("json", 'j', change, json, "the rules in their order as JSON"),
	{ .table = list_option_table, .at = offsetof(struct change, lists) },
	{ 0 },
};

const struct command rule_command = {
	.name = "rule",
	.synopsis =
		"add DEV [PLACE] {--allow|--drop|--count} [NAME=]IMAGE [QUALIFIER...]... [OPTION...]\n"
		"  baleen rule del DEV:RULE... [OPTION...]\n"
		"  baleen rule move DEV:RULE PLACE [OPTION...]",
	.help = "Adds, deletes or moves rules of a device that has a filter, atomically: each packet\n"
		"sees the old rules or the new ones. Counters of the others go on. Refuses what would\n"
		"cut this host off, as attach does. When anything fails the old rules stay in force.\n",
	.options = options,
	.word = parse_word,
	.run = run,
};
