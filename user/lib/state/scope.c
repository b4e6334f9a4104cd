// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The scopes of the book whose entries a rule has. */
#include "state/scope.h"
#include "state/sql.h"

int baleen_scopes_of_rule(const struct baleen_rule_store *state, const char *rule,
			  struct baleen_scopes_taken *taken, struct baleen_error *error)
{
	static const char sql[] = "SELECT 1 FROM text WHERE name = 'bans ' || ?";
	int ret = rule && state->db ? baleen_sql_do(state, sql, NULL, error,
						    BALEEN_SQL_VALUES(baleen_sql_text(rule))) :
				      0;

	*taken = (struct baleen_scopes_taken){ .own = baleen_scope_of(state, rule),
					       .bans = ret > 0 ? BALEEN_SCOPE_BANS : NULL };
	return ret < 0 ? ret : 0;
}
