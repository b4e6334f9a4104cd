// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Two machines that publish under one name. */
#include <sodium.h>
#include <string.h>

#include "fleet/fleet_clone.h"
#include "state/sql.h"

#define HASH_BYTES 8

/* Those of the changes of a batch, one behind the other. */
static size_t hash_all(const struct baleen_fleet_message *message, u8 *hashes)
{
	struct baleen_fleet_change change;
	size_t at = 0, before = 0, n = 0;

	while (n < BALEEN_FLEET_BATCH_MAX && baleen_fleet_next(message, &at, &change)) {
		u8 hash[crypto_generichash_BYTES_MIN];

		crypto_generichash(hash, sizeof(hash), message->body + before, at - before, NULL,
				   0);
		memcpy(hashes + n++ * HASH_BYTES, hash, HASH_BYTES);
		before = at;
	}
	return n;
}

int baleen_fleet_clone_remember(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_store *store = work->receiver->store;
	u8 hashes[BALEEN_FLEET_BATCH_MAX * HASH_BYTES];
	u64 id = work->account.publisher.id;
	size_t n = hash_all(message, hashes);
	int err = baleen_sql_do(&store->db, "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", NULL,
				work->error,
				BALEEN_SQL_VALUES(baleen_sql_number(id),
						  baleen_sql_number(message->first),
						  baleen_sql_number(message->last),
						  baleen_sql_blob(hashes, n * HASH_BYTES)));

	if (err || message->last <= BALEEN_FLEET_REMEMBERED)
		return err;
	return baleen_sql_do(&store->db, "DELETE FROM seen WHERE publisher = ? AND last < ?", NULL,
			     work->error,
			     BALEEN_SQL_VALUES(baleen_sql_number(id),
					       baleen_sql_number(message->last -
								 BALEEN_FLEET_REMEMBERED)));
}

int baleen_fleet_clone_forget(struct baleen_fleet_work *work)
{
	return baleen_sql_do(&work->receiver->store->db, "DELETE FROM seen WHERE publisher = ?",
			     NULL, work->error,
			     BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id)));
}

/* Numbers that both have. */
static bool differs(const struct baleen_fleet_message *message, const u8 *hashes, sqlite3_stmt *row,
		    u64 *number)
{
	u64 first = sqlite3_column_int64(row, 0);
	const u8 *seen = sqlite3_column_blob(row, 1);
	u64 end = first + sqlite3_column_bytes(row, 1) / HASH_BYTES;
	u64 at = message->first > first ? message->first : first;

	for (; at < end && at <= message->last; at++)
		if (memcmp(hashes + (at - message->first) * HASH_BYTES,
			   seen + (at - first) * HASH_BYTES, HASH_BYTES)) {
			*number = at;
			return true;
		}
	return false;
}

int baleen_fleet_clone_find(struct baleen_fleet_work *work, u64 *number)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_sql_rows rows = baleen_sql_ask(
		&work->receiver->store->db,
		"SELECT first, hashes FROM seen WHERE publisher = ? AND first <= ? AND last >= ?"
		" ORDER BY first",
		work->error,
		BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id),
				  baleen_sql_number(message->last),
				  baleen_sql_number(message->first)));
	u8 hashes[BALEEN_FLEET_BATCH_MAX * HASH_BYTES];
	bool is_found = false;
	int err;

	hash_all(message, hashes);
	while (!is_found && baleen_sql_next(&rows))
		is_found = differs(message, hashes, rows.row, number);
	err = baleen_sql_end(&rows);
	return err ? err : is_found;
}
