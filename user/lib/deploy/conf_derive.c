// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filters of a configuration, put on nothing. */
#include "deploy/conf_apply.h"
#include "deploy/conf_derive.h"
#include "state/rule_store_draft.h"

/* Writes what apply writes to the state. */
static int draft(const struct baleen_conf_goal *goal, struct baleen_rule_store *state,
		 struct baleen_deploy_plan *plan, struct baleen_error *error)
{
	int err;

	if (!goal)
		return baleen_rule_store_get_rules(state, &plan->rules, error);
	plan->rules = goal->conf->rules;
	err = baleen_rule_store_begin(state, error);
	return err ? err : baleen_conf_put(goal, state, plan, error);
}

int baleen_conf_derive(const struct baleen_conf_goal *goal, const char *device,
		       struct baleen_conf_derived *derived, struct baleen_error *error)
{
	struct baleen_deploy deploy = { .has_xdp = false };
	struct baleen_deploy_plan *plan = &derived->plan;
	int err;

	*derived =
		(struct baleen_conf_derived){ .step = { .plan = plan, .now_ms = baleen_now_ms() } };
	err = baleen_rule_store_draft(&deploy.state, device, error);
	if (err)
		return err;
	err = draft(goal, &deploy.state, plan, error);
	/* Where that fails they come from the fleet. */
	for (u32 i = 0; i < plan->rules.n_rules && !err; i++)
		baleen_rule_entries_seed(&deploy.state, &plan->rules.rule[i].fleet, NULL);
	if (!err)
		err = baleen_deploy_prepare(&deploy, &derived->step, error);
	baleen_rule_store_close(&deploy.state);
	if (err)
		baleen_conf_derived_free(derived);
	return err;
}

void baleen_conf_derived_free(struct baleen_conf_derived *derived)
{
	baleen_deploy_step_free(&derived->step);
}
