// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finding out anew what is withheld. */
#include <string.h>

#include "deploy/protect.h"
#include "state/protected.h"

static bool is_same(const struct baleen_protected_set *a, const struct baleen_protected_set *b)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if (!a->text[role] != !b->text[role] ||
		    (a->text[role] && strcmp(a->text[role], b->text[role])))
			return false;
	return true;
}

int baleen_protect(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
		   const struct baleen_never_answers *answers, struct baleen_error *error)
{
	struct baleen_protected_set before = { 0 }, now = { 0 };
	int err = baleen_protected_load(state, &before, error);

	if (!err)
		err = baleen_never_names_update(state, plan->rules.never_names, answers, error);
	if (!err)
		err = baleen_protected_refresh(state, error);
	if (!err)
		err = baleen_protected_load(state, &now, error);
	for (u32 i = 0; i < plan->rules.n_rules && !err; i++)
		if (!is_same(&before, &now) && baleen_protected_applies(&plan->rules.rule[i]))
			plan->rebuild[i] = true;
	baleen_protected_free(&before);
	baleen_protected_free(&now);
	return err;
}
