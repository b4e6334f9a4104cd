// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finding out anew what is withheld. */
#include <string.h>

#include "deploy/protect.h"
#include "state/protected.h"

/* Bits of enum baleen_protected_role. */
static u32 compare(const struct baleen_protected_set *a, const struct baleen_protected_set *b)
{
	u32 differ = 0;

	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if (!a->text[role] != !b->text[role] ||
		    (a->text[role] && strcmp(a->text[role], b->text[role])))
			differ |= 1u << role;
	return differ;
}

/* Would a rule be another one? Entries that yield are few, and rules by hand that have some. */
static bool is_concerned(const struct baleen_rule_store *state,
			 const struct baleen_stored_rule *rule, u32 differ)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if (differ & 1u << role &&
		    (baleen_protected_of_feeds(rule, role) ||
		     (baleen_protected_of_entry(rule, BALEEN_N_YIELDS - 1, role) &&
		      baleen_rule_entries_yield(state, rule->name))))
			return true;
	return false;
}

static int load_and_compare(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
			    struct baleen_protected_set *before, struct baleen_error *error)
{
	struct baleen_protected_set now = { 0 };
	int err = baleen_protected_load(state, &now, error);

	for (u32 i = 0; i < plan->rules.n_rules && !err; i++)
		if (is_concerned(state, &plan->rules.rule[i], compare(before, &now)))
			plan->rebuild[i] = true;
	baleen_protected_free(&now);
	return err;
}

int baleen_protect(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
		   const struct baleen_never_answers *answers, struct baleen_error *error)
{
	struct baleen_protected_set before = { 0 };
	int err = baleen_protected_load(state, &before, error);

	if (!err)
		err = baleen_never_names_update(state, plan->rules.never_names, answers, error);
	if (!err)
		err = baleen_protected_refresh(state, error);
	if (!err)
		err = load_and_compare(state, plan, &before, error);
	baleen_protected_free(&before);
	return err;
}

int baleen_protect_never(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
			 struct baleen_error *error)
{
	struct baleen_protected_set before = { 0 };
	int err = baleen_protected_load(state, &before, error);

	if (!err)
		err = baleen_protected_refresh_never(state, plan->rules.never_path, error);
	if (!err)
		err = load_and_compare(state, plan, &before, error);
	baleen_protected_free(&before);
	return err;
}
