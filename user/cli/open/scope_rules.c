// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rules that scopes of the book belong to. */
#include <errno.h>
#include <string.h>

#include "cli/open/scope_rules.h"
#include "state/parked.h"

bool scope_rules_are_of(const struct scope_rules *rules, const char *device)
{
	return rules->has_state && !strcmp(rules->state.scope, device);
}

/* A device whose state cannot be read has rules that are not known. */
int scope_rules_open(struct scope_rules *rules, const char *device, struct baleen_error *error)
{
	int err;

	scope_rules_close(rules);
	err = baleen_rule_store_open(&rules->state, device, 0, error);
	if (err)
		return err == -ENOENT ? 0 : err;
	rules->has_state = true;
	err = baleen_rule_store_get_rules(&rules->state, &rules->rules, error);
	if (err)
		scope_rules_close(rules);
	return err;
}

const struct baleen_stored_rule *scope_rules_find(const struct scope_rules *rules, const char *name)
{
	int index = baleen_rule_store_find_rule(&rules->rules, name);

	return index < 0 ? NULL : &rules->rules.rule[index];
}

u32 scope_ban_width(struct scope_rules *rules, const struct baleen_scope *scope)
{
	const struct baleen_stored_rule *found;
	char device[BALEEN_POINT_BYTES];
	struct baleen_takers takers;
	const char *rule = baleen_scopes_split(scope, device);

	if (!rule)
		return baleen_scope_takers(scope->name, &takers, NULL) ? BALEEN_BAN_WIDTH :
									 takers.ban_width;
	if (!scope_rules_are_of(rules, device))
		scope_rules_open(rules, device, NULL);
	found = scope_rules_find(rules, rule);
	return found ? baleen_rule_ban_width(found) : BALEEN_BAN_WIDTH;
}

void scope_rules_close(struct scope_rules *rules)
{
	if (rules->has_state)
		baleen_rule_store_close(&rules->state);
	rules->has_state = false;
	rules->rules.n_rules = 0;
}
