// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One step of a device: from what it enforces to what its state says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "deploy/deploy_step.h"
#include "deploy/gate_live.h"
#include "state/book.h"

/* How long to wait for the pins that were just let go of. */
#define REOPEN_TIMEOUT_MS BALEEN_LOCK_TIMEOUT_MS

/* --- prepare --------------------------------------------------------------- */

/* The rule of the device that this one continues. */
static int live_of(const struct baleen_deploy *deploy, const struct baleen_deploy_plan *plan, u32 i)
{
	const struct baleen_stored_rule *rule = &plan->rules.rule[i];
	const char *name = plan->renamed_from[i][0] ? plan->renamed_from[i] : rule->name;
	int live = deploy->has_xdp ? baleen_xdp_rule_index(&deploy->xdp, name) : -ENOENT;

	if (live < 0 || deploy->xdp.config.rule[live].image.key_spec != rule->key_spec)
		return BALEEN_RULE_NEW;
	return live;
}

static int derive_rule(const struct baleen_deploy *deploy, struct baleen_deploy_step *step, u32 i,
		       bool is_roomy, struct baleen_error *error)
{
	const struct baleen_rule_store *state = &deploy->state;
	const struct baleen_stored_rule *rule = &step->plan->rules.rule[i];
	struct baleen_filter *filter = &step->filter[i];
	int err = is_roomy ? baleen_derive_roomy(state, rule, step->now_ms, filter, error) :
			     baleen_derive(state, rule, step->now_ms, filter, NULL, error);

	return err ? err : baleen_gate_derived(state->device, rule, filter, error);
}

static int prepare_rule(const struct baleen_deploy *deploy, struct baleen_deploy_step *step, u32 i,
			struct baleen_error *error)
{
	const struct baleen_stored_rule *rule = &step->plan->rules.rule[i];
	struct baleen_ruleset_rule *out = &step->ruleset.rule[i];
	int err;

	memcpy(out->name, rule->name, sizeof(out->name));
	out->action = rule->action;
	out->qualifiers = rule->qualifiers;
	out->rate_limit = rule->rate_limit;
	out->live = live_of(deploy, step->plan, i);
	if (out->live != BALEEN_RULE_NEW && !step->plan->rebuild[i])
		return 0;
	out->filter = &step->filter[i];
	err = derive_rule(deploy, step, i, step->is_roomy, error);
	/* A rate is what is to be expected, and chance may put it a little above: keys that are
	 * known are built larger then.
	 */
	if (err == -EPERM && step->filter[i].bytes && !step->is_roomy) {
		baleen_filter_free(&step->filter[i]);
		err = derive_rule(deploy, step, i, true, error);
	}
	return err;
}

int baleen_deploy_prepare(const struct baleen_deploy *deploy, struct baleen_deploy_step *step,
			  struct baleen_error *error)
{
	const struct baleen_stored_rules *rules = &step->plan->rules;
	int err = 0;

	step->ruleset = (struct baleen_ruleset){ .n_rules = rules->n_rules,
						 .default_drop = rules->default_drop,
						 .dry_run = rules->dry_run,
						 .sample_interval_ns = rules->sample_interval_ns,
						 .max_bytes = rules->max_bytes };
	memset(step->filter, 0, sizeof(step->filter));
	for (u32 i = 0; i < rules->n_rules && !err; i++)
		err = prepare_rule(deploy, step, i, error);
	/* Here already, so that a trial is told, and no map is made. */
	return err ? err :
		     baleen_ruleset_fits(&step->ruleset,
					 deploy->has_xdp ? &deploy->xdp.config : NULL, error);
}

void baleen_deploy_step_free(struct baleen_deploy_step *step)
{
	for (u32 i = 0; i < BALEEN_MAX_RULES; i++)
		baleen_filter_free(&step->filter[i]);
}

int baleen_deploy_note_times(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			     struct baleen_error *error)
{
	char name[BALEEN_NAME_BYTES + sizeof("image_time ")], time[24];
	int err = 0;

	snprintf(time, sizeof(time), "%llu", (unsigned long long)step->now_ms / 1000);
	for (u32 i = 0; i < step->ruleset.n_rules && !err; i++) {
		if (!step->ruleset.rule[i].filter)
			continue;
		snprintf(name, sizeof(name), "image_time %s", step->ruleset.rule[i].name);
		err = baleen_rule_store_set_text(&deploy->state, name, time, error);
	}
	return err;
}

/* --- switch ---------------------------------------------------------------- */

int baleen_deploy_switch(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			 struct baleen_error *error)
{
	return baleen_xdp_update(&deploy->xdp, &step->ruleset, error);
}

int baleen_deploy_attach(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			 struct baleen_attempts *attempts, struct baleen_error *error)
{
	const struct baleen_stored_rules *rules = &step->plan->rules;
	int err = baleen_xdp_attach(deploy->state.now, &step->ruleset, rules->mode,
				    rules->attach_type, attempts, error);

	/* It is on, whether we can look at it or not. */
	if (!err)
		deploy->has_xdp = !baleen_xdp_open_within(&deploy->xdp, deploy->state.now,
							  REOPEN_TIMEOUT_MS, NULL);
	return err;
}

/* --- commit ---------------------------------------------------------------- */

static int commit(struct baleen_deploy *deploy, bool is_of_book, struct baleen_error *error)
{
	return is_of_book ? baleen_book_commit(&deploy->state, error) :
			    baleen_rule_store_commit(&deploy->state, error);
}

static void roll_back(struct baleen_deploy *deploy, bool is_of_book)
{
	if (is_of_book)
		baleen_book_rollback(&deploy->state);
	else
		baleen_rule_store_rollback(&deploy->state);
}

int baleen_deploy_commit(struct baleen_deploy *deploy, const struct baleen_deploy_change *change,
			 struct baleen_error *error)
{
	struct baleen_error first = { .text = "" }, second = { .text = "" };
	bool is_put, is_unsure;
	/* A full disk refuses it before the device has changed. */
	int err = change->is_of_book ? 0 : baleen_rule_store_prepare(&deploy->state, error);

	if (!err)
		err = baleen_rule_store_mark(&deploy->state, error);
	if (err) {
		roll_back(deploy, change->is_of_book);
		return err;
	}
	err = change->put(change->data, &first);
	is_put = !err;
	if (is_put)
		err = commit(deploy, change->is_of_book, &first);
	is_unsure = err && (is_put || change->keeps_mark);
	if (err) {
		roll_back(deploy, change->is_of_book);
		if (change->undo(change->data, is_put, &second)) {
			is_unsure = true;
			baleen_fail(error, -err, "%.500s; nor is there a way back: %.400s",
				    first.text, second.text);
		} else {
			baleen_fail(error, -err, "%s", first.text);
		}
	}
	if (!is_unsure && (err || !change->stays_marked))
		baleen_rule_store_unmark(&deploy->state);
	return err;
}

/* --- follow ---------------------------------------------------------------- */

int baleen_deploy_follow(struct baleen_deploy *deploy, u64 now_ms, struct baleen_error *error)
{
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_deploy_step step = { .plan = &plan, .now_ms = now_ms };
	int err = baleen_rule_store_get_rules(&deploy->state, &plan.rules, error);

	if (err || !plan.rules.n_rules)
		return err;
	memset(plan.rebuild, true, sizeof(plan.rebuild));
	err = baleen_deploy_prepare(deploy, &step, error);
	if (!err)
		err = baleen_deploy_switch(deploy, &step, error);
	baleen_deploy_step_free(&step);
	return err;
}

static bool rule_differs(const struct baleen_rule *live, const struct baleen_limit *limit,
			 const struct baleen_stored_rule *rule)
{
	return strcmp(live->image.name, rule->name) || live->action != rule->action ||
	       live->image.key_spec != rule->key_spec ||
	       memcmp(&live->qualifiers, &rule->qualifiers, sizeof(rule->qualifiers)) ||
	       memcmp(&limit->typed, &rule->rate_limit, sizeof(rule->rate_limit));
}

bool baleen_deploy_differs(const struct baleen_deploy *deploy,
			   const struct baleen_stored_rules *rules)
{
	const struct baleen_config *config = &deploy->xdp.config;

	if (config->n_rules != rules->n_rules || !config->default_drop != !rules->default_drop ||
	    !config->dry_run != !rules->dry_run ||
	    config->sample_interval_ns != rules->sample_interval_ns)
		return true;
	for (u32 i = 0; i < rules->n_rules; i++)
		if (rule_differs(&config->rule[i], &config->limit[i], &rules->rule[i]))
			return true;
	return false;
}
