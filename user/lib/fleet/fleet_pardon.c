// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys that were let go. */
#include <string.h>

#include "fleet/fleet_pardon.h"
#include "fleet/fleet_rows.h"
#include "state/sql.h"

/* From one length to the next one by an index: SQLite's DISTINCT would read all rows. */
static int read_lengths(const struct baleen_fleet_store *store, bool is_ip6, bool *has,
			struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"WITH RECURSIVE lengths(x) AS ("
		"SELECT MIN(length) FROM entry WHERE is_control AND family = ?1 UNION ALL"
		" SELECT (SELECT MIN(length) FROM entry WHERE is_control AND family = ?1"
		" AND length > x) FROM lengths WHERE x IS NOT NULL)"
		" SELECT x FROM lengths WHERE x IS NOT NULL",
		error, BALEEN_SQL_VALUES(baleen_sql_number(is_ip6 ? 6 : 4)));

	while (baleen_sql_next(&rows)) {
		u32 length = sqlite3_column_int(rows.row, 0);

		if (length > 128)
			rows.ret = baleen_sql_damaged(&store->db, "a pardon", error);
		else
			has[length] = true;
	}
	return baleen_sql_end(&rows);
}

int baleen_fleet_pardons_open(const struct baleen_fleet_store *store, u64 now_ms,
			      struct baleen_fleet_pardons *pardons, struct baleen_error *error)
{
	int err;

	*pardons =
		(struct baleen_fleet_pardons){ .store = store, .now_ms = now_ms, .error = error };
	err = read_lengths(store, false, pardons->has[0], error);
	if (!err)
		err = read_lengths(store, true, pardons->has[1], error);
	pardons->ret = err;
	return err;
}

/* Return: 1 when there is one, and the latest is kept; 0; a negative errno. */
static int find(struct baleen_fleet_pardons *pardons, const struct baleen_fleet_entry *wide,
		u64 base_ms)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&pardons->store->db,
		"SELECT base_ms, local_ms FROM entry WHERE is_control AND of_set = ? AND family = ?"
		" AND length = ? AND address = ? AND hold = 0 AND base_ms >= ? AND force_ms > ?"
		" ORDER BY base_ms DESC LIMIT 1",
		pardons->error,
		BALEEN_SQL_VALUES(BALEEN_FLEET_KEY_VALUES(wide), baleen_sql_number(base_ms),
				  baleen_sql_number(pardons->now_ms)));
	bool is_there = baleen_sql_next(&rows);
	u64 made_ms = is_there ? sqlite3_column_int64(rows.row, 0) : 0;
	int err;

	if (made_ms > pardons->made_ms) {
		pardons->made_ms = made_ms;
		pardons->heard_ms = sqlite3_column_int64(rows.row, 1);
	}
	err = baleen_sql_end(&rows);
	return err ? err : is_there;
}

bool baleen_fleet_pardons_hold(struct baleen_fleet_pardons *pardons,
			       const struct baleen_fleet_entry *entry, u64 base_ms)
{
	const bool *has = pardons->has[entry->key.family == 6];
	struct baleen_fleet_entry wide;
	bool is_held = false;

	strcpy(wide.set, entry->set);
	pardons->made_ms = pardons->heard_ms = 0;
	for (u32 length = 0; length <= entry->key.length && !pardons->ret; length++) {
		int ret;

		if (!has[length])
			continue;
		wide.key = baleen_fleet_key_widen(&entry->key, length);
		ret = find(pardons, &wide, base_ms);
		is_held |= ret > 0;
		if (ret < 0)
			pardons->ret = ret;
	}
	return is_held && !pardons->ret;
}
