/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scopes: the name that entries of the book belong to.
 */
#ifndef BALEEN_SCOPE_H
#define BALEEN_SCOPE_H

#include <stdio.h>

#include "state/rule_store_handle.h"

/* The scope of the bans of all rules that take some: for want of a colon it is that of no rule. */
#define BALEEN_SCOPE_BANS "bans"

/* Room for DEV:RULE. */
#define BALEEN_SCOPE_BYTES (BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 1)

/**
 * struct baleen_scope - the name of a scope
 * @name: DEV:RULE, or BALEEN_SCOPE_BANS
 */
struct baleen_scope {
	char name[BALEEN_SCOPE_BYTES];
};

/**
 * baleen_scope_of() - the scope of a rule
 * @state: its device's
 * @rule: name of the rule; NULL for the bans of all rules
 *
 * Return: the scope.
 */
static inline struct baleen_scope baleen_scope_of(const struct baleen_rule_store *state,
						  const char *rule)
{
	struct baleen_scope scope;

	snprintf(scope.name, sizeof(scope.name), rule ? "%s:%s" : BALEEN_SCOPE_BANS, state->scope,
		 rule);
	return scope;
}

/**
 * struct baleen_scopes_taken - the scopes whose entries a rule has
 * @own: its own
 * @bans: BALEEN_SCOPE_BANS when it takes bans, else NULL
 */
struct baleen_scopes_taken {
	struct baleen_scope own;
	const char *bans;
};

/**
 * baleen_scopes_of_rule() - the scopes whose entries a rule has
 * @state: its device's; without rules, as of baleen_book_open(), no rule takes bans
 * @rule: name of the rule; NULL for the bans of all rules
 * @taken: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_scopes_of_rule(const struct baleen_rule_store *state, const char *rule,
			  struct baleen_scopes_taken *taken, struct baleen_error *error);

#endif /* BALEEN_SCOPE_H */
