// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules of an attach, collected in the order they are typed. */
#include <string.h>

#include "describe.h"
#include "rules.h"

/* NAME=IMAGE, where NAME has no slash; otherwise the name of the file. */
static const char *split_name(const char *argument, const char **path, char *name)
{
	const char *equals = strchr(argument, '=');
	const char *slash = strchr(argument, '/');
	char device[IF_NAMESIZE];
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
	if (split_live(argument, device, sizeof(device), &rule)) {
		snprintf(name, BALEEN_NAME_BYTES, "%s", rule);
		return baleen_rule_name_check(name);
	}
	return rule_name_from_path(argument, name);
}

int rules_add(const struct command *command, struct rules *rules, u32 action, const char *argument)
{
	struct rule_argument *rule = &rules->rule[rules->n];
	const char *reason;

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

static void warn_if_dead(const struct rules *rules, u32 index)
{
	const struct rule_argument *rule = &rules->rule[index];

	if (!rule->input.filter.image.n_entries && !rule->input.is_live)
		complain("warning: rule '%s' can never match: it is empty", rule->name);
	for (u32 i = 0; i < index; i++) {
		const struct rule_argument *earlier = &rules->rule[i];

		if (!strcmp(earlier->path, rule->path) && strcmp(rule->path, "-"))
			complain("warning: rule '%s' can never match: rule '%s' before it lists "
				 "the same",
				 rule->name, earlier->name);
	}
}

int rules_open(struct rules *rules, struct list_options *options)
{
	for (u32 i = 0; i < rules->n; i++) {
		if (input_open(&rules->rule[i].input, rules->rule[i].path, options))
			return EXIT_FAILED;
		warn_if_dead(rules, i);
	}
	return 0;
}

void rules_close(struct rules *rules)
{
	for (u32 i = 0; i < rules->n; i++)
		input_close(&rules->rule[i].input);
}
