// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Control messages that were applied, as they were signed. */
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_kept.h"
#include "fleet/fleet_keys.h"
#include "state/sql.h"

char *baleen_fleet_kept_name(const struct baleen_fleet_message *message,
			     char name[BALEEN_FLEET_KEPT_NAME_BYTES])
{
	*name = '\0';
	if (message->control == BALEEN_FLEET_SIGNAL)
		snprintf(name, BALEEN_FLEET_KEPT_NAME_BYTES, "signal %s %s %s", message->topic,
			 message->subject, message->publisher);
	return name;
}

int baleen_fleet_kept_put(struct baleen_fleet_store *store,
			  const struct baleen_fleet_message *message, const void *bytes,
			  size_t n_bytes, struct baleen_error *error)
{
	char name[BALEEN_FLEET_KEPT_NAME_BYTES];

	if (!*baleen_fleet_kept_name(message, name) || n_bytes > BALEEN_FLEET_CONTROL_MAX)
		return 0;
	return baleen_sql_do(
		&store->db,
		"INSERT INTO kept (name, made_ms, end_ms, bytes) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT DO UPDATE SET made_ms = ?2, end_ms = ?3, bytes = ?4"
		" WHERE made_ms < ?2",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_text(name), baleen_sql_number(message->made_ms),
				  baleen_sql_number(message->made_ms + BALEEN_FLEET_MAX_TTL_MS),
				  baleen_sql_blob(bytes, n_bytes)));
}

static int read_kept(const struct baleen_fleet_store *store, sqlite3_stmt *row, u64 now_ms,
		     struct baleen_fleet_kept *kept, struct baleen_error *error)
{
	int n_bytes = sqlite3_column_bytes(row, 3);
	u64 end_ms = sqlite3_column_int64(row, 2);

	memset(kept, 0, sizeof(*kept));
	if (!baleen_sql_column(row, 0, kept->name, sizeof(kept->name)) || n_bytes <= 0 ||
	    n_bytes > BALEEN_FLEET_CONTROL_MAX)
		return baleen_sql_damaged(&store->db, "a control message", error);
	kept->made_ms = sqlite3_column_int64(row, 1);
	kept->is_over = end_ms < now_ms;
	kept->n_bytes = n_bytes;
	memcpy(kept->bytes, sqlite3_column_blob(row, 3), n_bytes);
	return 0;
}

int baleen_fleet_kept_next(const struct baleen_fleet_store *store, const char *after, u64 now_ms,
			   struct baleen_fleet_kept *kept, size_t max, size_t *n,
			   struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT name, made_ms, end_ms, bytes FROM kept WHERE name > ?"
			       " ORDER BY name LIMIT ?",
			       error,
			       BALEEN_SQL_VALUES(baleen_sql_text(after), baleen_sql_number(max)));

	*n = 0;
	while (baleen_sql_next(&rows) && *n < max)
		rows.ret = read_kept(store, rows.row, now_ms, &kept[(*n)++], error);
	return baleen_sql_end(&rows);
}

int baleen_fleet_kept_forget(struct baleen_fleet_store *store, const struct baleen_fleet_kept *kept,
			     struct baleen_error *error)
{
	return baleen_sql_do(&store->db, "DELETE FROM kept WHERE name = ? AND made_ms = ?", NULL,
			     error,
			     BALEEN_SQL_VALUES(baleen_sql_text(kept->name),
					       baleen_sql_number(kept->made_ms)));
}

bool baleen_fleet_kept_is_news(const struct baleen_fleet_store *store, const char *name,
			       const void *bytes, size_t n_bytes)
{
	char about[BALEEN_FLEET_KEPT_NAME_BYTES];
	struct baleen_fleet_message message;
	const char *why;
	u64 known_ms = 0;

	if (baleen_fleet_decode(bytes, n_bytes, &message, &why) ||
	    message.type != BALEEN_FLEET_CONTROL ||
	    strcmp(baleen_fleet_kept_name(&message, about), name))
		return false;
	if (baleen_sql_do(&store->db, "SELECT made_ms FROM kept WHERE name = ?", &known_ms, NULL,
			  BALEEN_SQL_VALUES(baleen_sql_text(name))) < 0)
		return false;
	return *about && message.made_ms > known_ms;
}

u64 baleen_fleet_kept_counts(const struct baleen_fleet_policy *policy, const char *name,
			     const void *bytes, size_t n_bytes)
{
	char about[BALEEN_FLEET_KEPT_NAME_BYTES];
	const struct baleen_fleet_grant *grant;
	struct baleen_fleet_message message;
	const char *why;
	const u8 *key;

	if (baleen_fleet_decode(bytes, n_bytes, &message, &why) ||
	    message.type != BALEEN_FLEET_CONTROL || strcmp(message.fleet, policy->fleet) ||
	    strcmp(baleen_fleet_kept_name(&message, about), name))
		return 0;
	key = baleen_fleet_policy_key(policy, message.publisher);
	grant = baleen_fleet_policy_grant(policy, message.publisher);
	if (!key || !grant || !baleen_fleet_verify(bytes, n_bytes, key))
		return 0;
	return baleen_fleet_grant_may(grant, message.control) ? message.made_ms : 0;
}
