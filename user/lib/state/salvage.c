// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of a damaged database: as many as can be read. */
#include <stdio.h>
#include <string.h>

#include "state/salvage.h"
#include "state/sql.h"

static u64 copy_rows(sqlite3_stmt *from, sqlite3_stmt *to, int n_columns)
{
	u64 n = 0;

	while (sqlite3_step(from) == SQLITE_ROW) {
		for (int i = 0; i < n_columns; i++)
			sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
		n += sqlite3_step(to) == SQLITE_DONE;
		sqlite3_reset(to);
	}
	return n;
}

/* Row by row, until one cannot be read; one that breaks a rule of the table is left out. */
u64 baleen_salvage(const struct baleen_rule_store *from, const struct baleen_rule_store *to,
		   const char *table)
{
	char ask[64], put[256];
	sqlite3_stmt *source = NULL, *target = NULL;
	int n_columns;
	u64 n = 0;

	snprintf(ask, sizeof(ask), "SELECT * FROM %s", table);
	if (sqlite3_prepare_v2(from->db, ask, -1, &source, NULL))
		return 0;
	n_columns = sqlite3_column_count(source);
	snprintf(put, sizeof(put), "INSERT OR IGNORE INTO %s VALUES (?", table);
	for (int i = 1; i < n_columns && strlen(put) < sizeof(put) - 4; i++)
		strcat(put, ",?");
	strcat(put, ")");
	if (!sqlite3_prepare_v2(to->db, put, -1, &target, NULL))
		n = copy_rows(source, target, n_columns);
	sqlite3_finalize(source);
	sqlite3_finalize(target);
	return n;
}
