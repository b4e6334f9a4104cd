// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rule of a trial among the rules of a device. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "deploy/trial_rule.h"

int baleen_trial_rule_find(const struct baleen_stored_rules *rules, u64 feed)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (rules->rule[i].trial_of == feed)
			return i;
	return -ENOENT;
}

static void choose_name(const struct baleen_stored_rules *rules, const struct baleen_feed *feed,
			char *name)
{
	snprintf(name, BALEEN_NAME_BYTES, "next.%.26s", feed->rule);
	if (strlen(feed->rule) > 26 || baleen_rule_store_find_rule(rules, name) >= 0)
		snprintf(name, BALEEN_NAME_BYTES, "next.%llu", (unsigned long long)feed->id);
}

/* The plan of the rules from @place on moves by @by. */
static void move(struct baleen_deploy_plan *plan, u32 place, int by)
{
	struct baleen_stored_rules *rules = &plan->rules;
	u32 n = rules->n_rules - place - (by < 0);
	u32 from = by < 0 ? place + 1 : place, to = by < 0 ? place : place + 1;

	memmove(&rules->rule[to], &rules->rule[from], n * sizeof(rules->rule[0]));
	memmove(&plan->rebuild[to], &plan->rebuild[from], n * sizeof(plan->rebuild[0]));
	memmove(&plan->renamed_from[to], &plan->renamed_from[from],
		n * sizeof(plan->renamed_from[0]));
	rules->n_rules += by;
}

int baleen_trial_rule_put(struct baleen_deploy_plan *plan, const struct baleen_feed *feed)
{
	int at = baleen_trial_rule_find(&plan->rules, feed->id);
	struct baleen_stored_rule rule;

	if (at >= 0) {
		plan->rebuild[at] = true;
		return 0;
	}
	at = baleen_rule_store_find_rule(&plan->rules, feed->rule);
	if (at < 0)
		return -ENOENT;
	if (plan->rules.n_rules == BALEEN_MAX_RULES)
		return -E2BIG;
	rule = (struct baleen_stored_rule){
		.action = BALEEN_ACTION_COUNT,
		.qualifiers = plan->rules.rule[at].qualifiers,
		.key_spec = plan->rules.rule[at].key_spec,
		.kind = plan->rules.rule[at].kind,
		.fpp = plan->rules.rule[at].fpp,
		.accept_fpp = plan->rules.rule[at].accept_fpp,
		.limits = plan->rules.rule[at].limits,
		.guards_feeds = plan->rules.rule[at].guards_feeds,
		.trial_of = feed->id,
	};
	choose_name(&plan->rules, feed, rule.name);
	move(plan, at, 1);
	plan->rules.rule[at] = rule;
	plan->rebuild[at] = true;
	plan->renamed_from[at][0] = '\0';
	return 0;
}

bool baleen_trial_rule_remove(struct baleen_deploy_plan *plan, u64 feed)
{
	int at = baleen_trial_rule_find(&plan->rules, feed);

	if (at < 0)
		return false;
	move(plan, at, -1);
	return true;
}
