/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scopes: the name that entries of the book belong to.
 */
#ifndef BALEEN_SCOPE_H
#define BALEEN_SCOPE_H

#include <stdio.h>

#include "state/rule_store_handle.h"

/* Room for DEV:RULE. */
#define BALEEN_SCOPE_BYTES (BALEEN_POINT_BYTES + BALEEN_NAME_BYTES + 1)

/**
 * struct baleen_scope - the name of a scope
 * @name: DEV:RULE
 */
struct baleen_scope {
	char name[BALEEN_SCOPE_BYTES];
};

/**
 * baleen_scope_of() - the scope of a rule
 * @state: its device's
 * @rule: name of the rule
 *
 * Return: the scope.
 */
static inline struct baleen_scope baleen_scope_of(const struct baleen_rule_store *state,
						  const char *rule)
{
	struct baleen_scope scope;

	snprintf(scope.name, sizeof(scope.name), "%s:%s", state->scope, rule);
	return scope;
}

#endif /* BALEEN_SCOPE_H */
