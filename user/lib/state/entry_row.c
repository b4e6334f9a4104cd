// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A row of the database as a single entry. */
#include "state/entry_row.h"

int baleen_entry_row(const struct baleen_rule_store *state, sqlite3_stmt *row,
		     struct baleen_rule_entry *entry, struct baleen_error *error)
{
	if (!baleen_sql_column(row, 0, entry->key, sizeof(entry->key)) ||
	    !baleen_sql_column(row, 2, entry->origin, sizeof(entry->origin)) ||
	    !baleen_sql_column(row, 3, entry->reason, sizeof(entry->reason)))
		return baleen_sql_damaged(state, "a single entry that cannot be", error);
	entry->is_exception = sqlite3_column_int(row, 1);
	entry->added_ms = sqlite3_column_int64(row, 4);
	entry->expires_ms = sqlite3_column_int64(row, 5);
	entry->yields = sqlite3_column_int(row, 6);
	return 0;
}
