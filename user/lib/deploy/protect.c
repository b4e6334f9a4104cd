// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finding out anew what is withheld. */
#include <string.h>

#include "deploy/protect.h"
#include "state/protected.h"

static bool is_same(const struct baleen_withheld_set *a, const struct baleen_withheld_set *b)
{
	for (u32 role = 0; role < BALEEN_N_WITHHELD; role++)
		if (!a->text[role] != !b->text[role] ||
		    (a->text[role] && strcmp(a->text[role], b->text[role])))
			return false;
	return true;
}

int baleen_withhold(struct baleen_state *state, struct baleen_deploy_plan *plan,
		    struct baleen_error *error)
{
	struct baleen_withheld_set before = { 0 }, now = { 0 };
	int err = baleen_withheld_load(state, &before, error);

	if (!err)
		err = baleen_withheld_refresh(state, error);
	if (!err)
		err = baleen_withheld_load(state, &now, error);
	for (u32 i = 0; i < plan->rules.n_rules && !err; i++)
		if (!is_same(&before, &now) && baleen_withheld_applies(&plan->rules.rule[i]))
			plan->rebuild[i] = true;
	baleen_withheld_free(&before);
	baleen_withheld_free(&now);
	return err;
}
