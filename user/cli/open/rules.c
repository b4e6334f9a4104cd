// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rules as they are typed. */
#include <errno.h>
#include <string.h>

#include "cli/common/describe.h"
#include "cli/open/filter_name.h"
#include "cli/open/rules.h"
#include "net/device.h"
#include "net/ethtool.h"
#include "ops/nobody.h"
#include "util/number.h"
#include "util/shell.h"
#include "xdp/qualifiers.h"

/* NAME=IMAGE, where NAME has no slash; otherwise the name of the file. */
static const char *split_name(const char *argument, const char **path, char *name)
{
	const char *equals = strchr(argument, '=');
	const char *slash = strchr(argument, '/');
	char device[BALEEN_POINT_BYTES];
	const char *rule;

	*path = argument;
	if (equals && (!slash || equals < slash)) {
		*path = equals + 1;
		if ((size_t)(equals - argument) >= BALEEN_NAME_BYTES)
			return "a rule's name has at most 31 characters";
		memcpy(name, argument, equals - argument);
		name[equals - argument] = '\0';
		return baleen_rule_name_check(name);
	}
	if (split_kmod(argument, &rule) || split_live(argument, device, sizeof(device), &rule)) {
		snprintf(name, BALEEN_NAME_BYTES, "%s", rule);
		return baleen_rule_name_check(name);
	}
	return rule_name_from_path(argument, name);
}

/* --- arguments ------------------------------------------------------------ */

static int complain_of_value(const struct command *command, const char *word)
{
	return complain_usage(command, "%s: its value is missing", word);
}

static int add_rule(const struct command *command, struct rules *rules, u32 action,
		    const char *argument)
{
	int err = rules_end_wait(command, rules);
	struct rule_argument *rule = &rules->rule[rules->n];
	const char *reason;

	if (err)
		return err;
	if (rules->word)
		return complain_of_value(command, rules->word);
	if (rules->n == BALEEN_MAX_RULES)
		return complain_usage(command, "more than %d rules", BALEEN_MAX_RULES);
	*rule = (struct rule_argument){ .argument = argument, .action = action };
	reason = split_name(argument, &rule->path, rule->name);
	if (reason)
		return complain_usage(command, "'%s': %s", argument, reason);
	if (!*rule->path)
		return complain_usage(command, "'%s': no file after the name", argument);
	for (u32 i = 0; i < rules->n; i++)
		if (!strcmp(rules->rule[i].name, rule->name))
			return complain_usage(command, "two rules are called '%s': say NAME=%s",
					      rule->name, rule->path);
	rules->n++;
	return 0;
}

int rules_end_wait(const struct command *command, struct rules *rules)
{
	const char *argument = rules->waiting;

	rules->waiting = NULL;
	return argument ? add_rule(command, rules, BALEEN_ACTION_DROP, argument) : 0;
}

static int parse_rule(const struct option_use *use)
{
	return add_rule(use->command, use->to, use->spec->value, use->argument);
}

const struct option_spec rule_option_table[] = {
	{ "drop", 0, "IMAGE", parse_rule, .value = BALEEN_ACTION_DROP,
	  .help = "drop what IMAGE lists" },
	{ "allow", 0, "IMAGE", parse_rule, .value = BALEEN_ACTION_ALLOW,
	  .help = "let pass what IMAGE lists; later rules are not asked" },
	{ "count", 0, "IMAGE", parse_rule, .value = BALEEN_ACTION_COUNT,
	  .help = "only count what IMAGE lists; later rules are asked" },
	{ .help = "IMAGE 'any' lists every address. Words behind a rule restrict it to packets with\n"
		  "  proto P          this protocol, by name or number\n"
		  "  dport A,B-C      one of these destination ports, 8 ports and ranges at most; a port\n"
		  "                   may be the name of its service, such as ssh\n"
		  "  tcp-syn          a TCP connection that is opened; established ones go on\n"
		  "  vlan N           this VLAN as the outermost\n"
		  "  established      what belongs to a connection of this host: replies\n"
		  "  conntrack        what belongs to a flow of the kernel's conntrack: a router's\n"
		  "  limit 50/s burst 200 per src/24 ban 10m cap 500 unverified\n"
		  "                   sources that send more; baleend bans them. TCP counts if its numbers\n"
		  "                   fit its connection, all packets if unverified; burst, per and cap may\n"
		  "                   be left out\n"
		  "The word bans marks a rule that drops as one that 'baleen ban' adds to. The words\n"
		  "special remove take special-purpose ranges (10/8, 127/8, fe80::/10, multicast ...)\n"
		  "out of the list of a rule that drops by an address; special keep, which is usual,\n"
		  "leaves them in.\n\n" },
	{ 0 },
};

static int parse_special(const struct command *command, struct rule_argument *rule,
			 const char *value)
{
	bool keeps = !strcmp(value, "keep");

	if (!keeps && strcmp(value, "remove"))
		return complain_usage(command, "rule '%s': special '%s': not keep or remove",
				      rule->name, value);
	rule->special = keeps ? SPECIAL_KEEP : SPECIAL_REMOVE;
	return 0;
}

static int add_qualifier(const struct command *command, struct rule_argument *rule,
			 const char *word, const char *value)
{
	struct baleen_error error;

	if (baleen_qualifier_add(&rule->qualifiers, &rule->rate_limit, word, value, &error))
		return complain_usage(command, "rule '%s': %s", rule->name, error.text);
	return 0;
}

int rules_word_parse(const struct command *command, struct rules *rules, const char *word)
{
	struct rule_argument *last;
	const char *begun = rules->word;
	int takes;

	if (!rules->n)
		return -ENOENT;
	last = &rules->rule[rules->n - 1];
	if (begun) {
		rules->word = NULL;
		return strcmp(begun, "special") ? add_qualifier(command, last, begun, word) :
						  parse_special(command, last, word);
	}
	if (!strcmp(word, "bans")) {
		last->bans.takes_bans = true;
		return 0;
	}
	takes = strcmp(word, "special") ? baleen_is_qualifier(word) : true;
	if (takes < 0)
		return -ENOENT;
	if (!takes)
		return add_qualifier(command, last, word, NULL);
	rules->word = word;
	return 0;
}

int rules_check(const struct command *command, const struct rules *rules)
{
	struct baleen_error error;

	if (rules->word)
		return complain_of_value(command, rules->word);
	for (u32 i = 0; i < rules->n; i++) {
		const struct rule_argument *rule = &rules->rule[i];

		if (baleen_qualifiers_check(&rule->qualifiers, &rule->rate_limit, &error))
			return complain_usage(command, "rule '%s': %s", rule->name, error.text);
		if (rule->special && rule->action != BALEEN_ACTION_DROP)
			return complain_usage(command,
					      "rule '%s': special is for a rule that drops",
					      rule->name);
		if (rule->special && is_any_argument(rule))
			return complain_usage(command,
					      "rule '%s': any and special exclude each other",
					      rule->name);
	}
	return 0;
}

int rules_refuse_words(const struct rules *rules, const char *device)
{
	for (u32 i = 0; rules && i < rules->n; i++) {
		const struct rule_argument *rule = &rules->rule[i];
		const char *what = rule->rate_limit.rate	   ? "a limit bans, which is" :
				   rule->bans.takes_bans	   ? "bans are" :
				   rule->special == SPECIAL_REMOVE ? "special remove is" :
								     NULL;

		if (what)
			return complain("%s: rule '%s': %s for a device that remembers entries, "
					"not for --no-state or --backend kmod",
					device, rule->name, what);
	}
	return 0;
}

/* --- rulesets ------------------------------------------------------------- */

/* Rules of XDP have copies of the module's filters, those of the module ask them. */
void rules_share(const struct rule_argument *argument, struct baleen_ruleset_rule *rule)
{
	const char *shared;

	if (!split_kmod(argument->path, &shared))
		shared = "";
	snprintf(rule->shared, sizeof(rule->shared), "%s", shared);
}

int rules_insert(const struct rules *rules, struct baleen_ruleset *ruleset, u32 place)
{
	struct baleen_error error;

	for (u32 i = 0; i < rules->n; i++) {
		const struct rule_argument *argument = &rules->rule[i];
		struct baleen_ruleset_rule rule = { .action = argument->action,
						    .qualifiers = argument->qualifiers,
						    .rate_limit = argument->rate_limit,
						    .filter = &argument->ref.filter,
						    .live = BALEEN_RULE_NEW };

		memcpy(rule.name, argument->name, sizeof(rule.name));
		rules_share(argument, &rule);
		if (baleen_ruleset_insert(ruleset, place + i, &rule, &error))
			return complain("%s", error.text);
	}
	return 0;
}

const struct rule_argument *rules_find(const struct rules *rules,
				       const struct baleen_ruleset_rule *rule)
{
	for (u32 i = 0; i < rules->n; i++)
		if (rule->filter == &rules->rule[i].ref.filter)
			return &rules->rule[i];
	return NULL;
}

int rule_leave_nobody(struct filter_ref *ref)
{
	struct baleen_error error;

	if (baleen_filter_leave_nobody(&ref->filter, &ref->n_nobody, &error))
		return complain("%s: %s", ref->argument, error.text);
	return 0;
}

int rules_leave_nobody(struct rules *rules, const struct baleen_ruleset *ruleset)
{
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && rules && !err; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];

		for (u32 j = 0; j < rules->n && !err; j++)
			if (rule->action == BALEEN_ACTION_DROP && rule->filter &&
			    rule->filter == &rules->rule[j].ref.filter &&
			    !is_any_argument(&rules->rule[j]))
				err = rule_leave_nobody(&rules->rule[j].ref);
	}
	return err;
}

/* --- warnings ------------------------------------------------------------- */

bool is_any_argument(const struct rule_argument *argument)
{
	return argument && !strcmp(argument->path, ANY_IMAGE);
}

static bool is_unqualified(const struct baleen_ruleset_rule *rule)
{
	static const struct baleen_qualifiers none;

	return !rule->rate_limit.rate && !memcmp(&rule->qualifiers, &none, sizeof(none));
}

/* Live rules do not tell what they were made of. */
static bool is_same_image(const struct rule_argument *a, const struct rule_argument *b)
{
	return a && b && !strcmp(a->path, b->path) && strcmp(a->path, "-");
}

static bool hides(const struct rules *rules, const struct baleen_ruleset_rule *earlier,
		  const struct baleen_ruleset_rule *rule)
{
	const struct rule_argument *from = rules_find(rules, earlier);

	if (earlier->action == BALEEN_ACTION_COUNT)
		return false;
	if (is_unqualified(earlier))
		return is_any_argument(from) || is_same_image(from, rules_find(rules, rule));
	return !earlier->rate_limit.rate && is_same_image(from, rules_find(rules, rule)) &&
	       !memcmp(&earlier->qualifiers, &rule->qualifiers, sizeof(rule->qualifiers));
}

static void warn_if_hidden(const struct rules *rules, const struct baleen_ruleset *ruleset,
			   u32 place)
{
	const struct baleen_ruleset_rule *rule = &ruleset->rule[place];

	for (u32 i = 0; i < place; i++) {
		if (!hides(rules, &ruleset->rule[i], rule))
			continue;
		complain("warning: rule '%s' can never match: rule '%s' before it lists %s",
			 rule->name, ruleset->rule[i].name,
			 is_any_argument(rules_find(rules, &ruleset->rule[i])) ? "every address" :
										 "the same");
		return;
	}
}

static void warn_if_dead(const struct rules *rules, const struct baleen_ruleset *ruleset, u32 place)
{
	const struct rule_argument *argument = rules_find(rules, &ruleset->rule[place]);

	if (argument && !argument->ref.filter.image.n_entries)
		complain("warning: rule '%s' can never match: it is empty", argument->name);
	else
		warn_if_hidden(rules, ruleset, place);
}

static void warn_of_vlan(const struct rule_argument *rule, const char *device)
{
	if (rule->qualifiers.has_vlan && baleen_ethtool_strips_tags(device))
		complain("warning: rule '%s' may never match: %s takes VLAN tags off before the "
			 "filter sees them; 'ethtool -K %s rxvlan off' mends it",
			 rule->name, device, baleen_shell_word(device).text);
}

void rules_print_special(const struct rules *rules)
{
	char count[NUMBER_TEXT];

	for (u32 i = 0; i < rules->n; i++) {
		const struct rule_argument *rule = &rules->rule[i];

		if (rule->action != BALEEN_ACTION_DROP)
			continue;
		if (rule->ref.n_nobody)
			complain("rule '%s': without %s of 0.0.0.0, :: and 255.255.255.255, which "
				 "no list drops",
				 rule->name, format_count(rule->ref.n_nobody, count));
		if (!rule->ref.n_special)
			continue;
		if (rule->special == SPECIAL_REMOVE)
			complain("rule '%s': without %s special-purpose", rule->name,
				 format_count(rule->ref.n_special, count));
		else if (rule->special == SPECIAL_TOLD && rule->ref.special)
			complain("warning: rule '%s': all of %s (%s) is in it: 'special remove' "
				 "behind the rule takes such ranges out, 'special keep' says that "
				 "they are meant",
				 rule->name, rule->ref.special->prefix, rule->ref.special->name);
	}
}

void rules_warn_dead(const struct rules *rules, const struct baleen_ruleset *ruleset)
{
	for (u32 i = 0; i < ruleset->n_rules; i++)
		warn_if_dead(rules, ruleset, i);
}

void rules_warn_vlan(const struct rules *rules, const char *device)
{
	for (u32 i = 0; i < rules->n; i++)
		warn_of_vlan(&rules->rule[i], device);
}
