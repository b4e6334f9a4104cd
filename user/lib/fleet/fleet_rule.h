/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules whose bans go out to a fleet.
 */
#ifndef BALEEN_FLEET_RULE_H
#define BALEEN_FLEET_RULE_H

#include "state/rule_store.h"

/**
 * baleen_fleet_rule_is_published() - do bans of a rule mean the same on other hosts?
 * @rule: the rule
 *
 * Return: true for one that drops by source alone.
 */
static inline bool baleen_fleet_rule_is_published(const struct baleen_stored_rule *rule)
{
	return rule->action == BALEEN_ACTION_DROP && rule->key_spec == BALEEN_KEY_SRC;
}

#endif /* BALEEN_FLEET_RULE_H */
