// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries of all rules of a device: those that end, and those that stay or go with it. */
#include <stdio.h>
#include <string.h>

#include "state/book.h"
#include "state/entries.h"
#include "state/journal.h"
#include "state/rule_store_commit.h"
#include "state/rule_scopes.h"
#include "state/sql.h"

/* The scopes of a device: a ';' follows the ':' behind its name. */
#define OF_DEVICE "name >= ?1 || ':' AND name < ?1 || ';'"
#define ALL_OF_DEVICE "scope IN (SELECT id FROM scope WHERE " OF_DEVICE ")"

/* --- that end --- */

/* For who counts over months: the book outlives all processes. */
int baleen_rule_entries_count_ended(const struct baleen_rule_store *state, u64 n,
				    struct baleen_error *error)
{
	static const char sql[] = "INSERT INTO ended VALUES (?, ?)"
				  " ON CONFLICT (device) DO UPDATE SET n = n + excluded.n";

	return baleen_sql_do(state->book, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(state->scope),
					       baleen_sql_number(n)));
}

int baleen_rule_entries_expire(const struct baleen_rule_store *state, u64 now_ms, u64 *n,
			       struct baleen_error *error)
{
	int err = baleen_journal_remove(
		state, BALEEN_JOURNAL_EXPIRE,
		BALEEN_JOURNAL_ENTRIES("expires_ms > 0 AND expires_ms <= ?2 AND " ALL_OF_DEVICE),
		error, BALEEN_SQL_VALUES(baleen_sql_text(state->scope), baleen_sql_number(now_ms)));

	if (!err)
		*n += sqlite3_changes64(state->book->db);
	return err ? err : baleen_rule_entries_count_ended(state, *n, error);
}

u64 baleen_rule_entries_n_ended(const struct baleen_rule_store *state)
{
	static const char sql[] = "SELECT n FROM ended WHERE device = ?";
	u64 n = 0;

	if (!baleen_book_read(state, NULL))
		baleen_sql_do(state->book, sql, &n, NULL,
			      BALEEN_SQL_VALUES(baleen_sql_text(state->scope)));
	return n;
}

u64 baleen_rule_entries_next_expiry(const struct baleen_rule_store *state)
{
	static const char sql[] = "SELECT min((SELECT min(expires_ms) FROM single"
				  " WHERE scope = s.id AND expires_ms > 0)) FROM scope AS s"
				  " WHERE " OF_DEVICE;
	u64 next_ms = 0;

	if (!baleen_book_read(state, NULL))
		baleen_sql_do(state->book, sql, &next_ms, NULL,
			      BALEEN_SQL_VALUES(baleen_sql_text(state->scope)));
	return next_ms;
}

u64 baleen_bans_next_expiry(const struct baleen_rule_store *state)
{
	static const char sql[] =
		"SELECT min((SELECT min(expires_ms) FROM single INDEXED BY single_end"
		" WHERE scope = s.id AND expires_ms > 0)) FROM scope AS s"
		" WHERE name = '" BALEEN_SCOPE_BANS "' OR name GLOB '" BALEEN_SCOPE_FLEET "*'";
	u64 next_ms = 0;

	if (!baleen_book_read(state, NULL))
		baleen_sql_do(state->book, sql, &next_ms, NULL, NULL, 0);
	return next_ms;
}

/* --- of a fleet that is taken otherwise --- */

/* Return: 1 when another scope of the set has entries; 0; a negative errno. */
static int find_other(const struct baleen_rule_store *state, const struct baleen_rule_fleet *fleet,
		      struct baleen_scope *other, struct baleen_error *error)
{
	static const char sql[] =
		"SELECT name FROM scope AS s WHERE (name = ?1 OR name GLOB ?1 || ' *') AND EXISTS"
		" (SELECT 1 FROM single WHERE single.scope = s.id) ORDER BY name LIMIT 1";
	struct baleen_rule_fleet without = *fleet;
	struct baleen_scope scope;
	struct baleen_sql_rows rows;

	without.max_ttl_s = 0;
	scope = baleen_scope_of_fleet(&without);
	rows = baleen_sql_ask(state->book, sql, error,
			      BALEEN_SQL_VALUES(baleen_sql_text(scope.name)));
	other->name[0] = '\0';
	if (baleen_sql_next(&rows) &&
	    !baleen_sql_column(rows.row, 0, other->name, sizeof(other->name)))
		rows.ret = baleen_sql_damaged(state->book, "a scope that cannot be", error);
	return baleen_sql_end(&rows) ?: *other->name != 0;
}

static int copy_scope(const struct baleen_rule_store *state, const char *from, const char *to,
		      u64 max_ttl_ms, struct baleen_error *error)
{
	static const char make[] = "INSERT OR IGNORE INTO scope (name) VALUES (?)";
	static const char copy[] =
		"INSERT OR IGNORE INTO single (scope, first, last, is_exception, origin, length, reason,"
		" added_ms, expires_ms, yields, until_boot) SELECT (SELECT id FROM scope WHERE name = ?2),"
		" first, last, is_exception, origin, length, reason, added_ms,"
		" CASE ?3 WHEN 0 THEN expires_ms ELSE min(expires_ms, added_ms + ?3) END, yields,"
		" until_boot FROM single WHERE scope = (SELECT id FROM scope WHERE name = ?1)";
	struct baleen_rule_entry all = { .origin = "" };
	int err = baleen_sql_do(state->book, make, NULL, error,
				BALEEN_SQL_VALUES(baleen_sql_text(to)));

	if (!err)
		err = baleen_sql_do(state->book, copy, NULL, error,
				    BALEEN_SQL_VALUES(baleen_sql_text(from), baleen_sql_text(to),
						      baleen_sql_number(max_ttl_ms)));
	return err ? err :
		     baleen_journal_note(state, BALEEN_JOURNAL_PUT, to, &all,
					 sqlite3_changes64(state->book->db), error);
}

int baleen_rule_entries_seed(const struct baleen_rule_store *state,
			     const struct baleen_rule_fleet *fleet, struct baleen_error *error)
{
	static const char is_there[] = "SELECT 1 FROM single WHERE scope ="
				       " (SELECT id FROM scope WHERE name = ?) LIMIT 1";
	const struct baleen_scope scope = baleen_scope_of_fleet(fleet);
	struct baleen_scope other;
	int ret;

	if (!*scope.name)
		return 0;
	ret = baleen_book_read(state, error);
	if (!ret)
		ret = baleen_sql_do(state->book, is_there, NULL, error,
				    BALEEN_SQL_VALUES(baleen_sql_text(scope.name)));
	if (ret)
		return ret < 0 ? ret : 0;
	ret = find_other(state, fleet, &other, error);
	if (ret > 0)
		ret = (state->is_draft ? baleen_book_draft(state, error) : baleen_book_begin(state, error)) ?:
			      1;
	if (ret <= 0)
		return ret;
	ret = copy_scope(state, other.name, scope.name, fleet->max_ttl_s * 1000ull, error);
	return state->is_draft ? ret : baleen_book_end(state, ret, error);
}

/* --- of a device that has another name, or goes --- */

static int move_rule(const struct baleen_rule_store *state, const char *rule,
		     struct baleen_error *error)
{
	static const char *const sql[] = {
		"INSERT OR IGNORE INTO scope (name) SELECT ?2 FROM scope WHERE name = ?1",
		"UPDATE OR IGNORE single SET scope = (SELECT id FROM scope WHERE name = ?2)"
		" WHERE scope = (SELECT id FROM scope WHERE name = ?1)",
		/* The new name had these, too. */
		"DELETE FROM single WHERE scope = (SELECT id FROM scope WHERE name = ?1) AND ?2 <> ?1",
	};
	struct baleen_scope from = baleen_scope_of(state, rule), to;
	int err = 0;

	snprintf(to.name, sizeof(to.name), "%s:%s", state->device, rule);
	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]) && !err; i++)
		err = baleen_sql_do(state->book, sql[i], NULL, error,
				    BALEEN_SQL_VALUES(baleen_sql_text(from.name),
						      baleen_sql_text(to.name)));
	return err;
}

/* Others of the old name are parked for whoever has it next. */
static int move(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_stored_rules rules;
	int err = baleen_rule_store_get_rules(state, &rules, error);

	for (u32 i = 0; !err && i < rules.n_rules; i++)
		err = move_rule(state, rules.rule[i].name, error);
	return err;
}

int baleen_rule_entries_follow(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err;

	if (!strcmp(state->scope, state->device))
		return 0;
	err = baleen_book_begin(state, error);
	if (err)
		return err;
	err = baleen_book_end(state, move(state, error), error);
	/* A commit of the state writes down the name. */
	if (!err)
		err = baleen_rule_store_begin(state, error);
	if (!err)
		err = baleen_rule_store_commit(state, error);
	if (!err)
		strcpy(state->scope, state->device);
	return err;
}

int baleen_rule_entries_count_device(const char *device, u64 *n, struct baleen_error *error)
{
	static const char sql[] = "SELECT count(*) FROM single WHERE " ALL_OF_DEVICE
				  " AND (expires_ms = 0 OR expires_ms > ?2)";
	struct baleen_rule_store state;
	int ret = baleen_book_open(&state, error);

	if (ret)
		return ret;
	ret = baleen_sql_do(state.book, sql, n, error,
			    BALEEN_SQL_VALUES(baleen_sql_text(device),
					      baleen_sql_number(baleen_now_ms())));
	baleen_book_close(&state);
	return ret < 0 ? ret : 0;
}

void baleen_rule_entries_keep(const struct baleen_rule_store *state)
{
	static const char sql[] =
		"UPDATE single SET until_boot = 0 WHERE until_boot = 1 AND " ALL_OF_DEVICE;
	u64 n = 0;

	if (baleen_rule_entries_count_device(state->scope, &n, NULL) || !n ||
	    baleen_book_begin(state, NULL))
		return;
	baleen_book_end(state,
			baleen_sql_do(state->book, sql, NULL, NULL,
				      BALEEN_SQL_VALUES(baleen_sql_text(state->scope))),
			NULL);
}

int baleen_rule_entries_forget_device(const char *device, u64 *n, struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_entries_count_device(device, n, error);

	if (err || !*n)
		return err;
	err = baleen_book_open(&state, error);
	if (err)
		return err;
	err = baleen_book_begin(&state, error);
	if (!err)
		err = baleen_journal_remove(&state, BALEEN_JOURNAL_TAKE,
					    BALEEN_JOURNAL_ENTRIES(ALL_OF_DEVICE), error,
					    BALEEN_SQL_VALUES(baleen_sql_text(device)));
	err = baleen_book_end(&state, err, error);
	baleen_book_close(&state);
	return err ? err : 1;
}
