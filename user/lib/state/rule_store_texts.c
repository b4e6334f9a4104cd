// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Named texts of a state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/rule_store.h"
#include "state/rule_store_schema.h"
#include "state/sql.h"
#include "util/memory.h"

int baleen_rule_store_get_text(const struct baleen_rule_store *state, const char *name, char **text)
{
	static const char sql[] = "SELECT value FROM text WHERE name = ?";
	struct baleen_sql_rows rows =
		baleen_sql_ask(state, sql, NULL, BALEEN_SQL_VALUES(baleen_sql_text(name)));
	char *copy = NULL;
	int err;

	if (baleen_sql_next(&rows)) {
		const char *found = (const char *)sqlite3_column_text(rows.row, 0);

		copy = found ? strdup(found) : NULL;
		rows.ret = copy ? 0 : -ENOMEM;
	}
	err = baleen_sql_end(&rows);
	if (!err)
		*text = copy;
	return err;
}

int baleen_rule_store_set_text(struct baleen_rule_store *state, const char *name, const char *text,
			       struct baleen_error *error)
{
	if (!text)
		return baleen_sql_do(state, "DELETE FROM text WHERE name = ?", NULL, error,
				     BALEEN_SQL_VALUES(baleen_sql_text(name)));
	/* A text that is there already is no change, for which the state would be written. */
	return baleen_sql_do(state,
			     "INSERT INTO text VALUES (?, ?) ON CONFLICT DO UPDATE"
			     " SET value = excluded.value WHERE value IS NOT excluded.value",
			     NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(name), baleen_sql_text(text)));
}

u64 baleen_rule_store_max_bytes(const struct baleen_rule_store *state)
{
	char *text = NULL;
	u64 asked = 0;

	if (!baleen_rule_store_get_text(state, BALEEN_TEXT_MAX_MEMORY, &text) && text)
		asked = strtoull(text, NULL, 10);
	free(text);
	return asked > baleen_memory_bound(0) ? asked : baleen_memory_bound(0);
}
