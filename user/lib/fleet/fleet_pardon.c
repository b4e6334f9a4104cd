// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys that were let go. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_pardon.h"
#include "state/sql.h"
#include "util/array.h"

static int read_pardon(const struct baleen_fleet_store *store, sqlite3_stmt *row,
		       struct baleen_fleet_pardon *pardon, struct baleen_error *error)
{
	int n_address = sqlite3_column_bytes(row, 3);

	memset(pardon, 0, sizeof(*pardon));
	pardon->key.family = sqlite3_column_int(row, 1);
	pardon->key.length = sqlite3_column_int(row, 2);
	pardon->made_ms = sqlite3_column_int64(row, 4);
	if (n_address == (int)baleen_fleet_key_bytes(&pardon->key))
		memcpy(pardon->key.address, sqlite3_column_blob(row, 3), n_address);
	if (!baleen_sql_column(row, 0, pardon->set, sizeof(pardon->set)) ||
	    !baleen_sql_column(row, 5, pardon->by, sizeof(pardon->by)) ||
	    !baleen_sql_column(row, 6, pardon->reason, sizeof(pardon->reason)) ||
	    n_address != (int)baleen_fleet_key_bytes(&pardon->key) ||
	    !baleen_fleet_key_check(&pardon->key))
		return baleen_sql_damaged(&store->db, "a pardon", error);
	return 0;
}

/* Whatever was made that long ago has ended. */
static u64 oldest(u64 now_ms)
{
	return now_ms > BALEEN_FLEET_MAX_TTL_MS ? now_ms - BALEEN_FLEET_MAX_TTL_MS : 0;
}

int baleen_fleet_pardons_load(const struct baleen_fleet_store *store, u64 now_ms,
			      struct baleen_fleet_pardons *pardons, struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT of_set, family, length, address, made_ms, by, reason FROM pardon"
		" WHERE made_ms >= ? ORDER BY of_set, family, length, address",
		error, BALEEN_SQL_VALUES(baleen_sql_number(oldest(now_ms))));
	struct baleen_fleet_pardons read = { 0 };
	int err;

	while (baleen_sql_next(&rows)) {
		if (baleen_array_add(&read.pardon, read.n))
			rows.ret = baleen_no_memory(error);
		else
			rows.ret = read_pardon(store, rows.row, &read.pardon[read.n++], error);
		if (!rows.ret)
			read.has[read.pardon[read.n - 1].key.family == 6]
				[read.pardon[read.n - 1].key.length] = true;
	}
	err = baleen_sql_end(&rows);
	if (err)
		baleen_fleet_pardons_free(&read);
	else
		*pardons = read;
	return err;
}

void baleen_fleet_pardons_free(struct baleen_fleet_pardons *pardons)
{
	free(pardons->pardon);
	memset(pardons, 0, sizeof(*pardons));
}

static void free_shared(void *shared)
{
	baleen_fleet_pardons_free(shared);
	free(shared);
}

int baleen_fleet_pardons_share(struct baleen_fleet_store *store, u64 now_ms,
			       const struct baleen_fleet_pardons **pardons,
			       struct baleen_error *error)
{
	struct baleen_fleet_pardons *read;
	u64 version = 0;
	/* It tells of what others have written; after its own changes nothing is cached. */
	int err = baleen_sql_do(&store->db, "PRAGMA data_version", &version, error, NULL, 0);

	if (err < 0)
		return err;
	if (!store->cache || store->cache_version != version) {
		read = calloc(1, sizeof(*read));
		if (!read)
			return baleen_no_memory(error);
		err = baleen_fleet_pardons_load(store, now_ms, read, error);
		if (err) {
			free(read);
			return err;
		}
		baleen_fleet_store_uncache(store);
		store->cache = read;
		store->free_cache = free_shared;
		store->cache_version = version;
	}
	*pardons = store->cache;
	return 0;
}

/* In the order of baleen_fleet_pardons_load(). */
static int compare(const char *set, const struct baleen_fleet_key *key,
		   const struct baleen_fleet_pardon *pardon)
{
	int order = strcmp(set, pardon->set);

	if (!order)
		order = key->family - pardon->key.family;
	if (!order)
		order = key->length - pardon->key.length;
	return order ? order :
		       memcmp(key->address, pardon->key.address, baleen_fleet_key_bytes(key));
}

static const struct baleen_fleet_pardon *find(const struct baleen_fleet_pardons *pardons,
					      const char *set, const struct baleen_fleet_key *key)
{
	size_t first = 0, end = pardons->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = compare(set, key, &pardons->pardon[middle]);

		if (!order)
			return &pardons->pardon[middle];
		if (order > 0)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

bool baleen_fleet_pardons_hold(const struct baleen_fleet_pardons *pardons,
			       const struct baleen_fleet_entry *entry, u64 base_ms)
{
	const bool *has = pardons->has[entry->key.family == 6];

	for (u32 length = 0; pardons->n && length <= entry->key.length; length++) {
		const struct baleen_fleet_pardon *pardon;
		struct baleen_fleet_key wide;

		if (!has[length])
			continue;
		wide = baleen_fleet_key_widen(&entry->key, length);
		pardon = find(pardons, entry->set, &wide);
		if (pardon && base_ms <= pardon->made_ms)
			return true;
	}
	return false;
}

int baleen_fleet_pardons_put(struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *message, bool *is_new,
			     struct baleen_error *error)
{
	const struct baleen_fleet_key *key = &message->key;
	int err = baleen_sql_do(
		&store->db,
		"INSERT INTO pardon (of_set, family, length, address, made_ms, by, reason)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
		" made_ms = ?5, by = ?6, reason = ?7 WHERE made_ms < ?5",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_text(message->set), baleen_sql_number(key->family),
				  baleen_sql_number(key->length),
				  baleen_sql_blob(key->address, baleen_fleet_key_bytes(key)),
				  baleen_sql_number(message->made_ms),
				  baleen_sql_text(message->publisher),
				  baleen_sql_text(message->reason)));

	baleen_fleet_store_uncache(store);
	if (err)
		return err;
	*is_new = sqlite3_changes(store->db.db);
	return baleen_sql_do(&store->db, "DELETE FROM pardon WHERE made_ms < ?", NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_number(oldest(message->made_ms))));
}
