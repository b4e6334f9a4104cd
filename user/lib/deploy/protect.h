/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finding out anew what is withheld, and which rules have to be derived for it.
 */
#ifndef BALEEN_PROTECT_H
#define BALEEN_PROTECT_H

#include "deploy/deploy_step.h"
#include "state/never_names.h"

/**
 * baleen_protect() - refresh what is withheld
 * @state: with a transaction, that has the rules of @plan
 * @plan: rules from which something is withheld are to be derived anew, if that is
 *        not what it was
 * @answers: of its never-names; NULL for none, so the last ones stay
 * @error: filled in on failure
 *
 * Return: 0; as baleen_protected_refresh().
 */
int baleen_protect(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
		   const struct baleen_never_answers *answers, struct baleen_error *error);

/**
 * baleen_protect_never() - read the never-drop list again
 * @state: with a transaction, that has the rules of @plan
 * @plan: rules that it concerns are to be derived anew
 * @error: filled in on failure; the last good list stays
 *
 * Return: 0; as baleen_protected_refresh_never().
 */
int baleen_protect_never(struct baleen_rule_store *state, struct baleen_deploy_plan *plan,
			 struct baleen_error *error);

#endif /* BALEEN_PROTECT_H */
