// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of the database of a fleet. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_rows.h"

#define ACCOUNT_COLUMNS                                                                         \
	"id, name, is_own, incarnation, sequence, acknowledged, n, n_held, digest_hi, "         \
	"digest_lo, signed_ms, agreed_ms, lacks, is_cloned, used, used_ip4, used_ip6, tokens, " \
	"tokens_ms, head_ms, heard_ms, " BALEEN_FLEET_SUSPENDED("publisher.name") ", is_control"

/* --- publishers ------------------------------------------------------------ */

static int read_account(const struct baleen_fleet_store *store, sqlite3_stmt *row,
			struct baleen_fleet_account *account, struct baleen_error *error)
{
	struct baleen_fleet_publisher *publisher = &account->publisher;

	memset(account, 0, sizeof(*account));
	if (!baleen_sql_column(row, 1, publisher->name, sizeof(publisher->name)) ||
	    sqlite3_column_bytes(row, 3) != sizeof(publisher->incarnation))
		return baleen_sql_damaged(&store->db, "a publisher", error);
	publisher->id = sqlite3_column_int64(row, 0);
	publisher->is_own = sqlite3_column_int(row, 2);
	memcpy(publisher->incarnation, sqlite3_column_blob(row, 3), sizeof(publisher->incarnation));
	publisher->sequence = sqlite3_column_int64(row, 4);
	publisher->acknowledged = sqlite3_column_int64(row, 5);
	publisher->n = sqlite3_column_int64(row, 6);
	publisher->n_held = sqlite3_column_int64(row, 7);
	publisher->digest.hi = sqlite3_column_int64(row, 8);
	publisher->digest.lo = sqlite3_column_int64(row, 9);
	publisher->signed_ms = sqlite3_column_int64(row, 10);
	publisher->agreed_ms = sqlite3_column_int64(row, 11);
	publisher->lacks = sqlite3_column_int64(row, 12);
	publisher->is_cloned = sqlite3_column_int(row, 13);
	account->usage.n = sqlite3_column_int64(row, 14);
	account->usage.n_ip4 = sqlite3_column_int64(row, 15);
	account->usage.n_ip6 = sqlite3_column_int64(row, 16);
	account->usage.tokens = sqlite3_column_double(row, 17);
	account->usage.tokens_ms = sqlite3_column_int64(row, 18);
	publisher->head_ms = sqlite3_column_int64(row, 19);
	publisher->heard_ms = sqlite3_column_int64(row, 20);
	publisher->is_suspended = sqlite3_column_int(row, 21);
	publisher->is_control = sqlite3_column_int(row, 22);
	account->usage.is_control = publisher->is_control;
	return 0;
}

int baleen_fleet_account_find(const struct baleen_fleet_store *store, const char *name,
			      struct baleen_fleet_account *account, struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT " ACCOUNT_COLUMNS " FROM publisher WHERE name = ?", error,
			       BALEEN_SQL_VALUES(baleen_sql_text(name)));
	struct baleen_fleet_account found = { 0 };
	bool is_there = baleen_sql_next(&rows);
	int err;

	snprintf(found.publisher.name, sizeof(found.publisher.name), "%s", name);
	found.publisher.is_control = found.usage.is_control = baleen_fleet_is_control(name);
	if (is_there)
		rows.ret = read_account(store, rows.row, &found, error);
	err = baleen_sql_end(&rows);
	if (err)
		return err;
	*account = found;
	return is_there;
}

/* A bucket of tokens is the one that was used last. */
static void share(struct baleen_fleet_usage *usage, const struct baleen_fleet_account *other,
		  bool is_snapshot)
{
	const struct baleen_fleet_usage *theirs = &other->usage;

	usage->others.n += theirs->n;
	usage->others.n_ip4 += theirs->n_ip4;
	usage->others.n_ip6 += theirs->n_ip6;
	usage->others.n_stored += other->publisher.n;
	if (is_snapshot || !theirs->tokens_ms || theirs->tokens_ms < usage->tokens_ms ||
	    (theirs->tokens_ms == usage->tokens_ms && theirs->tokens >= usage->tokens))
		return;
	usage->tokens = theirs->tokens;
	usage->tokens_ms = theirs->tokens_ms;
}

int baleen_fleet_account_share(const struct baleen_fleet_store *store,
			       const struct baleen_fleet_policy *policy,
			       struct baleen_fleet_account *account, bool is_snapshot,
			       struct baleen_error *error)
{
	const struct baleen_fleet_grant *grant =
		baleen_fleet_policy_grant(policy, account->publisher.name);
	struct baleen_fleet_account other;
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT " ACCOUNT_COLUMNS " FROM publisher WHERE NOT is_own AND"
			       " substr(name, 1, instr(name, '/')) = substr(?1, 1, instr(?1, '/'))",
			       error, BALEEN_SQL_VALUES(baleen_sql_text(account->publisher.name)));
	int n = 0, err;

	while (baleen_sql_next(&rows)) {
		rows.ret = read_account(store, rows.row, &other, error);
		n++;
		if (!rows.ret && strcmp(other.publisher.name, account->publisher.name) &&
		    baleen_fleet_policy_grant(policy, other.publisher.name) == grant)
			share(&account->usage, &other, is_snapshot);
	}
	err = baleen_sql_end(&rows);
	return err ? err : n;
}

int baleen_fleet_store_find(const struct baleen_fleet_store *store, const char *name,
			    struct baleen_fleet_publisher *publisher, struct baleen_error *error)
{
	struct baleen_fleet_account account;
	int ret = baleen_fleet_account_find(store, name, &account, error);

	if (ret > 0)
		*publisher = account.publisher;
	return ret;
}

int baleen_fleet_store_each(const struct baleen_fleet_store *store,
			    int (*visit)(const struct baleen_fleet_publisher *publisher,
					 void *data),
			    void *data, struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT " ACCOUNT_COLUMNS " FROM publisher ORDER BY name", error,
			       NULL, 0);
	struct baleen_fleet_account account;

	while (baleen_sql_next(&rows)) {
		rows.ret = read_account(store, rows.row, &account, error);
		if (!rows.ret)
			rows.ret = visit(&account.publisher, data);
	}
	return baleen_sql_end(&rows);
}

int baleen_fleet_account_save(struct baleen_fleet_store *store,
			      struct baleen_fleet_account *account, struct baleen_error *error)
{
	static const char sql[] =
		"INSERT OR REPLACE INTO publisher (id, name, is_own, incarnation, sequence,"
		" acknowledged, n, n_held, digest_hi, digest_lo, signed_ms, agreed_ms, lacks,"
		" is_cloned, used, used_ip4, used_ip6, tokens, tokens_ms, head_ms, heard_ms,"
		" is_control) VALUES (NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	struct baleen_fleet_publisher *publisher = &account->publisher;
	const struct baleen_fleet_usage *usage = &account->usage;
	int err = baleen_sql_do(
		&store->db, sql, NULL, error,
		BALEEN_SQL_VALUES(
			baleen_sql_number(publisher->id), baleen_sql_text(publisher->name),
			baleen_sql_number(publisher->is_own),
			baleen_sql_blob(publisher->incarnation, sizeof(publisher->incarnation)),
			baleen_sql_number(publisher->sequence),
			baleen_sql_number(publisher->acknowledged), baleen_sql_number(publisher->n),
			baleen_sql_number(publisher->n_held),
			baleen_sql_number(publisher->digest.hi),
			baleen_sql_number(publisher->digest.lo),
			baleen_sql_number(publisher->signed_ms),
			baleen_sql_number(publisher->agreed_ms),
			baleen_sql_number(publisher->lacks),
			baleen_sql_number(publisher->is_cloned), baleen_sql_number(usage->n),
			baleen_sql_number(usage->n_ip4), baleen_sql_number(usage->n_ip6),
			baleen_sql_real(usage->tokens), baleen_sql_number(usage->tokens_ms),
			baleen_sql_number(publisher->head_ms),
			baleen_sql_number(publisher->heard_ms),
			baleen_sql_number(publisher->is_control)));

	if (!err)
		publisher->id = sqlite3_last_insert_rowid(store->db.db);
	return err;
}

/* --- entries --------------------------------------------------------------- */

int baleen_fleet_row_read(const struct baleen_fleet_store *store, sqlite3_stmt *statement,
			  int first, struct baleen_fleet_row *row, struct baleen_error *error)
{
	struct baleen_fleet_entry *entry = &row->entry;
	int n_address = sqlite3_column_bytes(statement, first + 3);

	memset(row, 0, sizeof(*row));
	entry->key.family = sqlite3_column_int(statement, first + 1);
	entry->key.length = sqlite3_column_int(statement, first + 2);
	if (n_address == (int)baleen_fleet_key_bytes(&entry->key))
		memcpy(entry->key.address, sqlite3_column_blob(statement, first + 3), n_address);
	entry->made_ms = sqlite3_column_int64(statement, first + 4);
	entry->end_ms = sqlite3_column_int64(statement, first + 5);
	if (!baleen_sql_column(statement, first, entry->set, sizeof(entry->set)) ||
	    !baleen_sql_column(statement, first + 6, entry->reason, sizeof(entry->reason)) ||
	    n_address != (int)baleen_fleet_key_bytes(&entry->key) ||
	    baleen_fleet_entry_check(entry))
		return baleen_sql_damaged(&store->db, "an entry of a publisher", error);
	row->hold = sqlite3_column_int(statement, first + 7);
	row->base_ms = sqlite3_column_int64(statement, first + 8);
	row->force_ms = sqlite3_column_int64(statement, first + 9);
	row->local_ms = sqlite3_column_int64(statement, first + 10);
	return 0;
}

int baleen_fleet_row_find(const struct baleen_fleet_store *store, s64 publisher,
			  const struct baleen_fleet_entry *entry, struct baleen_fleet_row *row,
			  struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT " BALEEN_FLEET_ROW_COLUMNS " FROM entry WHERE publisher = ?1 AND"
		" of_set = ?2 AND family = ?3 AND length = ?4 AND address = ?5",
		error,
		BALEEN_SQL_VALUES(baleen_sql_number(publisher), BALEEN_FLEET_KEY_VALUES(entry)));
	bool is_there = baleen_sql_next(&rows);
	int err;

	if (is_there)
		rows.ret = baleen_fleet_row_read(store, rows.row, 0, row, error);
	err = baleen_sql_end(&rows);
	return err ? err : is_there;
}

int baleen_fleet_row_put(struct baleen_fleet_store *store, s64 publisher,
			 const struct baleen_fleet_row *row, u64 generation,
			 struct baleen_error *error)
{
	const struct baleen_fleet_entry *entry = &row->entry;

	return baleen_sql_do(
		&store->db,
		"INSERT OR REPLACE INTO entry (publisher, of_set, family, length, address, made_ms,"
		" end_ms, reason, hold, base_ms, force_ms, local_ms, generation, is_control)"
		" VALUES (?1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" (SELECT is_control FROM publisher WHERE id = ?1))",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_number(publisher), BALEEN_FLEET_KEY_VALUES(entry),
				  baleen_sql_number(entry->made_ms),
				  baleen_sql_number(entry->end_ms), baleen_sql_text(entry->reason),
				  baleen_sql_number(row->hold), baleen_sql_number(row->base_ms),
				  baleen_sql_number(row->force_ms),
				  baleen_sql_number(row->local_ms), baleen_sql_number(generation)));
}

int baleen_fleet_row_remove(struct baleen_fleet_store *store, s64 publisher,
			    const struct baleen_fleet_entry *entry, struct baleen_error *error)
{
	return baleen_sql_do(
		&store->db,
		"DELETE FROM entry WHERE publisher = ?1 AND of_set = ?2 AND family = ?3"
		" AND length = ?4 AND address = ?5",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_number(publisher), BALEEN_FLEET_KEY_VALUES(entry)));
}

int baleen_fleet_rows_each(const struct baleen_fleet_store *store, s64 publisher,
			   int (*visit)(const struct baleen_fleet_row *row, void *data), void *data,
			   struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT " BALEEN_FLEET_ROW_COLUMNS " FROM entry WHERE publisher = ?"
			       " ORDER BY of_set, family, address, length",
			       error, BALEEN_SQL_VALUES(baleen_sql_number(publisher)));
	struct baleen_fleet_row row;

	while (baleen_sql_next(&rows)) {
		rows.ret = baleen_fleet_row_read(store, rows.row, 0, &row, error);
		if (!rows.ret)
			rows.ret = visit(&row, data);
	}
	return baleen_sql_end(&rows);
}
