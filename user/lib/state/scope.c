// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of scopes of the book. */
#include <stdio.h>
#include <string.h>

#include "state/scope.h"

struct baleen_scope baleen_scope_of(const struct baleen_rule_store *state, const char *rule)
{
	struct baleen_scope scope;

	if (rule)
		snprintf(scope.name, sizeof(scope.name), "%s:%s", state->scope, rule);
	else
		snprintf(scope.name, sizeof(scope.name), "%s",
			 state->shared ? state->shared : BALEEN_SCOPE_BANS);
	return scope;
}

bool baleen_scope_is_of_fleet(const char *scope)
{
	return !strncmp(scope, BALEEN_SCOPE_FLEET, sizeof(BALEEN_SCOPE_FLEET) - 1);
}

bool baleen_scope_is_shared(const char *scope)
{
	return !strchr(scope, ':') || baleen_scope_is_of_fleet(scope);
}

bool baleen_scope_is_called(const char *scope, const char *word)
{
	size_t length = strlen(word);

	if (!strcmp(scope, BALEEN_SCOPE_BANS))
		return !strcmp(word, BALEEN_SCOPE_BANS);
	return baleen_scope_is_shared(scope) && !strncmp(scope + strlen("feed "), word, length) &&
	       (!scope[strlen("feed ") + length] || scope[strlen("feed ") + length] == ' ');
}
