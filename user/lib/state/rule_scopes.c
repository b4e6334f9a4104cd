// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The scopes of the book whose entries a rule has. */
#include <stdio.h>
#include <string.h>

#include "state/rule_scopes.h"
#include "state/sql.h"

bool baleen_rule_fleet_read(const char *text, struct baleen_rule_fleet *fleet)
{
	int n = 0;

	return sscanf(text, "%31s %9u%n", fleet->set, &fleet->max_ttl_s, &n) == 2 && !text[n];
}

struct baleen_scope baleen_scope_of_fleet(const struct baleen_rule_fleet *fleet)
{
	struct baleen_scope scope = { "" };
	char text[BALEEN_RULE_FLEET_TEXT];

	_Static_assert(BALEEN_SCOPE_BYTES > sizeof("feed ") + BALEEN_RULE_FLEET_TEXT, "room");
	if (*baleen_rule_fleet_format(fleet, text))
		snprintf(scope.name, sizeof(scope.name), "feed %s", text);
	return scope;
}

bool baleen_rule_takes(const struct baleen_stored_rule *rule, const char *scope)
{
	if (!scope)
		return rule->takes_bans || *rule->fleet.set;
	if (!strcmp(scope, BALEEN_SCOPE_BANS))
		return rule->takes_bans;
	return *rule->fleet.set && !strcmp(scope, baleen_scope_of_fleet(&rule->fleet).name);
}

bool baleen_rules_take(const struct baleen_stored_rules *rules, const char *scope)
{
	for (u32 i = 0; i < rules->n_rules; i++)
		if (baleen_rule_takes(&rules->rule[i], scope))
			return true;
	return false;
}

bool baleen_rules_take_same(const struct baleen_stored_rule *a, const struct baleen_stored_rule *b)
{
	return a->takes_bans == b->takes_bans && !strcmp(baleen_scope_of_fleet(&a->fleet).name,
							 baleen_scope_of_fleet(&b->fleet).name);
}

static bool read_taken(sqlite3_stmt *row, struct baleen_scopes_taken *taken)
{
	const struct baleen_stored_rule rule = { .key_spec = BALEEN_KEY_SRC,
						 .action = sqlite3_column_int(row, 2),
						 .ban_width = sqlite3_column_int(row, 3) };
	struct baleen_rule_fleet fleet = { .max_ttl_s = 0 };
	char text[BALEEN_RULE_FLEET_TEXT];

	taken->width = baleen_rule_ban_width(&rule);
	if (sqlite3_column_int(row, 0))
		strcpy(taken->bans.name, BALEEN_SCOPE_BANS);
	if (sqlite3_column_type(row, 1) == SQLITE_NULL)
		return true;
	if (!baleen_sql_column(row, 1, text, sizeof(text)) || !baleen_rule_fleet_read(text, &fleet))
		return false;
	taken->fleet = baleen_scope_of_fleet(&fleet);
	return true;
}

int baleen_scopes_of_rule(const struct baleen_rule_store *state, const char *rule,
			  struct baleen_scopes_taken *taken, struct baleen_error *error)
{
	static const char sql[] = "SELECT EXISTS (SELECT 1 FROM text WHERE name = 'bans ' || ?1),"
				  " (SELECT value FROM text WHERE name = 'fleet ' || ?1),"
				  " (SELECT action FROM rule WHERE name = ?1),"
				  " (SELECT value FROM text WHERE name = 'ban-width ' || ?1)";
	struct baleen_sql_rows rows;

	*taken = (struct baleen_scopes_taken){ .own = baleen_scope_of(state, rule),
					       .width = state->ban_width ?: BALEEN_BAN_WIDTH };
	if (!rule || !state->db)
		return 0;
	rows = baleen_sql_ask(state, sql, error, BALEEN_SQL_VALUES(baleen_sql_text(rule)));
	if (baleen_sql_next(&rows) && !read_taken(rows.row, taken))
		rows.ret = baleen_sql_damaged(state, "a set of a fleet that cannot be", error);
	return baleen_sql_end(&rows);
}
