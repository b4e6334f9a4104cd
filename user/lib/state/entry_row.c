// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A row of the database as a single entry. */
#include "state/entry_bytes.h"
#include "state/entry_row.h"

int baleen_entry_row(const struct baleen_rule_store *state, sqlite3_stmt *row, u32 width,
		     struct baleen_rule_entry *entry, struct baleen_error *error)
{
	const u8 *first = sqlite3_column_blob(row, 0), *last = sqlite3_column_blob(row, 1);

	if (!baleen_entry_bytes_read(first, sqlite3_column_bytes(row, 0), last,
				     sqlite3_column_bytes(row, 1), &entry->key) ||
	    !baleen_sql_column(row, 3, entry->origin, sizeof(entry->origin)) ||
	    !baleen_sql_column(row, 4, entry->reason, sizeof(entry->reason)))
		return baleen_sql_damaged(state, "a single entry that cannot be", error);
	baleen_entry_key_fit(&entry->key, width);
	entry->is_exception = sqlite3_column_int(row, 2);
	entry->added_ms = sqlite3_column_int64(row, 5);
	entry->expires_ms = sqlite3_column_int64(row, 6);
	entry->yields = sqlite3_column_int(row, 7);
	entry->is_ban = sqlite3_column_int(row, 8);
	return 0;
}

int baleen_entry_rows_each(struct baleen_sql_rows *rows, u32 width,
			   int (*visit)(const struct baleen_rule_entry *entry, void *data),
			   void *data)
{
	struct baleen_rule_entry entry;

	while (baleen_sql_next(rows)) {
		rows->ret = baleen_entry_row(rows->state, rows->row, width, &entry, rows->error);
		if (!rows->ret)
			rows->ret = visit(&entry, data);
	}
	return baleen_sql_end(rows);
}
