// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A row of the database as a single entry. */
#include "state/entry_row.h"

int baleen_entry_row(const struct baleen_rule_store *state, sqlite3_stmt *row,
		     struct baleen_rule_entry *single, struct baleen_error *error)
{
	if (!baleen_sql_column(row, 0, single->key, sizeof(single->key)) ||
	    !baleen_sql_column(row, 2, single->origin, sizeof(single->origin)) ||
	    !baleen_sql_column(row, 3, single->reason, sizeof(single->reason)))
		return baleen_sql_damaged(state, "a single entry that cannot be", error);
	single->is_exception = sqlite3_column_int(row, 1);
	single->added_ms = sqlite3_column_int64(row, 4);
	single->expires_ms = sqlite3_column_int64(row, 5);
	return 0;
}
