// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Statements of a database: prepared once, asked with values, row by row. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "state/sql.h"

/* The one that waits for its next use, or else a free place, or NULL. */
static struct baleen_rule_store_statement *find(const struct baleen_rule_store *state,
						const char *sql)
{
	struct baleen_rule_store_statement *entry = state->statements;
	u32 i = 0;

	while (i < BALEEN_MAX_STATEMENTS && entry[i].sql && entry[i].sql != sql)
		i++;
	return i < BALEEN_MAX_STATEMENTS ? &entry[i] : NULL;
}

static int prepare(const struct baleen_rule_store *state, const char *sql, sqlite3_stmt **statement,
		   struct baleen_error *error)
{
	struct baleen_rule_store_statement *entry = find(state, sql);

	if (entry && entry->statement) {
		*statement = entry->statement;
		entry->statement = NULL;
		return 0;
	}
	if (sqlite3_prepare_v3(state->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL))
		return baleen_sql_fail(state, error);
	return 0;
}

/* A second one of the same text, of a walk inside a walk, is not kept. */
static void give_back(const struct baleen_rule_store *state, const char *sql,
		      sqlite3_stmt *statement)
{
	struct baleen_rule_store_statement *entry = find(state, sql);

	if (!entry || entry->statement) {
		sqlite3_finalize(statement);
		return;
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	entry->sql = sql;
	entry->statement = statement;
}

static int bind_value(sqlite3_stmt *statement, int i, const struct baleen_sql_value *value)
{
	switch (value->type) {
	case SQLITE_INTEGER: return sqlite3_bind_int64(statement, i, value->number);
	case SQLITE_FLOAT: return sqlite3_bind_double(statement, i, value->real);
	case SQLITE_TEXT:
		return sqlite3_bind_text(statement, i, value->bytes, value->n_bytes, SQLITE_STATIC);
	case SQLITE_BLOB:
		return sqlite3_bind_blob(statement, i, value->bytes, value->n_bytes, SQLITE_STATIC);
	default: return sqlite3_bind_null(statement, i);
	}
}

struct baleen_sql_rows baleen_sql_ask(const struct baleen_rule_store *state, const char *sql,
				      struct baleen_error *error,
				      const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows = { .state = state, .sql = sql, .error = error };

	rows.ret = prepare(state, sql, &rows.row, error);
	for (size_t i = 0; i < n_values && !rows.ret; i++)
		if (bind_value(rows.row, i + 1, &value[i]))
			rows.ret = baleen_sql_fail(state, error);
	return rows;
}

bool baleen_sql_next(struct baleen_sql_rows *rows)
{
	int step = rows->ret ? SQLITE_DONE : sqlite3_step(rows->row);

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		rows->ret = baleen_sql_fail(rows->state, rows->error);
	return step == SQLITE_ROW;
}

int baleen_sql_end(struct baleen_sql_rows *rows)
{
	if (rows->row)
		give_back(rows->state, rows->sql, rows->row);
	return rows->ret;
}

int baleen_sql_do(const struct baleen_rule_store *state, const char *sql, u64 *number,
		  struct baleen_error *error, const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, value, n_values);
	bool is_there = baleen_sql_next(&rows);
	u64 first = is_there ? sqlite3_column_int64(rows.row, 0) : 0;
	int err = baleen_sql_end(&rows);

	if (!err && number)
		*number = first;
	return err ? err : is_there;
}

bool baleen_sql_column(sqlite3_stmt *statement, int column, char *text, size_t n_bytes)
{
	const void *found = sqlite3_column_text(statement, column);
	size_t n = sqlite3_column_bytes(statement, column);

	if (n >= n_bytes || (n && memchr(found, '\0', n)))
		return false;
	if (n)
		memcpy(text, found, n);
	text[n] = '\0';
	return true;
}

int baleen_sql_begin_reading(const struct baleen_rule_store *state, bool *is_first,
			     struct baleen_error *error)
{
	*is_first = sqlite3_get_autocommit(state->db);
	return *is_first ? baleen_sql_do(state, "BEGIN", NULL, error, NULL, 0) : 0;
}

void baleen_sql_end_reading(const struct baleen_rule_store *state, bool is_first)
{
	if (is_first && !sqlite3_get_autocommit(state->db))
		baleen_sql_do(state, "COMMIT", NULL, NULL, NULL, 0);
}
