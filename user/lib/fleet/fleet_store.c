// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The database of a host in a fleet: opened, and its texts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/fleet_store.h"
#include "state/rule_store_path.h"
#include "state/sql.h"
#include "util/output.h"

#define SCHEMA 5

/* An entry is found by its key, too, whoever has published it, and by its end. Numbers of
 * publishers mean nothing elsewhere. What operators say has indexes of its own: what one of them
 * costs does not grow with their number. Numbers of refused rows tell which ones are old.
 */
static const char schema[] =
	"CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE publisher ("
	"	id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_own INTEGER NOT NULL,"
	"	is_control INTEGER NOT NULL,"
	"	incarnation BLOB NOT NULL, sequence INTEGER NOT NULL,"
	"	acknowledged INTEGER NOT NULL, n INTEGER NOT NULL, n_held INTEGER NOT NULL,"
	"	digest_hi INTEGER NOT NULL, digest_lo INTEGER NOT NULL,"
	"	signed_ms INTEGER NOT NULL, agreed_ms INTEGER NOT NULL, lacks INTEGER NOT NULL,"
	"	is_cloned INTEGER NOT NULL, used INTEGER NOT NULL, used_ip4 INTEGER NOT NULL,"
	"	used_ip6 INTEGER NOT NULL, tokens REAL NOT NULL, tokens_ms INTEGER NOT NULL,"
	"	head_ms INTEGER NOT NULL, heard_ms INTEGER NOT NULL);"
	"CREATE TABLE entry ("
	"	publisher INTEGER NOT NULL, of_set TEXT NOT NULL,"
	"	family INTEGER NOT NULL, address BLOB NOT NULL, length INTEGER NOT NULL,"
	"	made_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, reason TEXT NOT NULL,"
	"	hold INTEGER NOT NULL, base_ms INTEGER NOT NULL, force_ms INTEGER NOT NULL,"
	"	local_ms INTEGER NOT NULL, generation INTEGER NOT NULL, is_control INTEGER NOT NULL,"
	"	PRIMARY KEY (publisher, of_set, family, address, length)) WITHOUT ROWID;"
	"CREATE INDEX entry_key ON entry (family, address, length);"
	"CREATE INDEX entry_end ON entry (force_ms);"
	"CREATE INDEX control_key ON entry (of_set, family, address, length) WHERE is_control;"
	"CREATE INDEX control_length ON entry (family, length) WHERE is_control;"
	"CREATE INDEX control_end ON entry (publisher, force_ms) WHERE is_control;"
	"CREATE TABLE outbox ("
	"	publisher INTEGER NOT NULL, sequence INTEGER NOT NULL,"
	"	is_del INTEGER NOT NULL, of_set TEXT NOT NULL, family INTEGER NOT NULL,"
	"	length INTEGER NOT NULL, address BLOB NOT NULL, made_ms INTEGER NOT NULL,"
	"	end_ms INTEGER NOT NULL, reason TEXT NOT NULL,"
	"	PRIMARY KEY (publisher, sequence)) WITHOUT ROWID;"
	"CREATE TABLE asked ("
	"	id INTEGER PRIMARY KEY AUTOINCREMENT, of_set TEXT NOT NULL, family INTEGER NOT NULL,"
	"	length INTEGER NOT NULL, address BLOB NOT NULL, made_ms INTEGER NOT NULL,"
	"	reason TEXT NOT NULL);"
	"CREATE TABLE refusal ("
	"	name TEXT NOT NULL, cause INTEGER NOT NULL, n INTEGER NOT NULL,"
	"	last_ms INTEGER NOT NULL, PRIMARY KEY (name, cause)) WITHOUT ROWID;"
	"CREATE TABLE refused (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE);"
	"CREATE TABLE kept ("
	"	name TEXT PRIMARY KEY, made_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL,"
	"	bytes BLOB NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE signal ("
	"	topic TEXT NOT NULL, subject TEXT NOT NULL, publisher TEXT NOT NULL,"
	"	number INTEGER NOT NULL, digest INTEGER NOT NULL, value INTEGER NOT NULL,"
	"	reason TEXT NOT NULL, made_ms INTEGER NOT NULL, PRIMARY KEY (topic, subject, publisher)) WITHOUT ROWID;"
	"CREATE INDEX signal_publisher ON signal (publisher);"
	"CREATE TABLE posted ("
	"	id INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, subject TEXT NOT NULL,"
	"	number INTEGER NOT NULL, digest INTEGER NOT NULL, value INTEGER NOT NULL,"
	"	reason TEXT NOT NULL, UNIQUE (topic, subject));"
	"CREATE TABLE seen ("
	"	publisher INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
	"	hashes BLOB NOT NULL, PRIMARY KEY (publisher, first)) WITHOUT ROWID;"
	"PRAGMA user_version = 5;";

/* --- open ------------------------------------------------------------------ */

static int make_file(const struct baleen_fleet_store *store, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES + sizeof("/" BALEEN_FLEET_STORE_FILE)];
	int fd;

	snprintf(path, sizeof(path), "%s/" BALEEN_FLEET_STORE_FILE, store->db.path);
	fd = baleen_output_own(path, error);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int get_version(const struct baleen_fleet_store *store, u64 *version,
		       struct baleen_error *error)
{
	int err = baleen_sql_do(&store->db, "PRAGMA user_version", version, error, NULL, 0);

	return err < 0 ? err : 0;
}

/* Two may make it: the second finds it made. */
static int make_tables(struct baleen_fleet_store *store, struct baleen_error *error)
{
	u64 version;
	int err;

	if (sqlite3_exec(store->db.db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL))
		return baleen_sql_fail(&store->db, error);
	err = baleen_fleet_store_begin(store, error);
	if (err)
		return err;
	err = get_version(store, &version, error);
	if (!err && !version && sqlite3_exec(store->db.db, schema, NULL, NULL, NULL))
		err = baleen_sql_fail(&store->db, error);
	if (!err)
		return baleen_fleet_store_commit(store, error);
	baleen_fleet_store_rollback(store);
	return err;
}

static int check_version(struct baleen_fleet_store *store, bool for_writing,
			 struct baleen_error *error)
{
	u64 version;
	int err = get_version(store, &version, error);

	if (!err && !version && for_writing) {
		err = make_tables(store, error);
		if (!err)
			err = get_version(store, &version, error);
	}
	if (err)
		return err;
	if (!version)
		return baleen_fail(error, ENOENT, "%s/" BALEEN_FLEET_STORE_FILE ": is empty",
				   store->db.path);
	if (version != SCHEMA)
		return baleen_fail(
			error, EPROTO,
			"%s/" BALEEN_FLEET_STORE_FILE
			": made by another release of Baleen: remove it, and all of it comes anew",
			store->db.path);
	return 0;
}

int baleen_fleet_store_open(struct baleen_fleet_store *store, const char *directory,
			    bool for_writing, struct baleen_error *error)
{
	int err = 0;

	memset(store, 0, sizeof(*store));
	store->db.is_kept = true;
	store->db.lock_fd = -1;
	store->db.file = BALEEN_FLEET_STORE_FILE;
	if (!directory) {
		directory = baleen_rule_store_root(true);
		if (for_writing)
			err = baleen_rule_store_make_root(true, error);
	}
	if (err)
		return err;
	if (snprintf(store->db.path, sizeof(store->db.path), "%s", directory) >=
	    (int)sizeof(store->db.path))
		return baleen_fail(error, ENAMETOOLONG, "%s: too long a path", directory);
	if (for_writing)
		err = make_file(store, error);
	if (!err)
		err = baleen_sql_open(&store->db, error);
	if (err)
		return err;
	err = check_version(store, for_writing, error);
	if (err)
		baleen_fleet_store_close(store);
	return err;
}

void baleen_fleet_store_close(struct baleen_fleet_store *store)
{
	baleen_sql_close(&store->db);
}

int baleen_fleet_store_begin(struct baleen_fleet_store *store, struct baleen_error *error)
{
	return baleen_sql_do(&store->db, "BEGIN IMMEDIATE", NULL, error, NULL, 0);
}

int baleen_fleet_store_commit(struct baleen_fleet_store *store, struct baleen_error *error)
{
	int err = baleen_sql_do(&store->db, "COMMIT", NULL, error, NULL, 0);

	if (!err)
		return 0;
	baleen_fleet_store_rollback(store);
	baleen_sql_drop_failed(&store->db);
	return err;
}

/* SQLite has undone it already where the disk is full. */
void baleen_fleet_store_rollback(struct baleen_fleet_store *store)
{
	if (!sqlite3_get_autocommit(store->db.db))
		baleen_sql_do(&store->db, "ROLLBACK", NULL, NULL, NULL, 0);
}

/* --- texts ----------------------------------------------------------------- */

int baleen_fleet_store_get(const struct baleen_fleet_store *store, const char *name, char *text,
			   struct baleen_error *error)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db, "SELECT value FROM meta WHERE name = ?", error,
			       BALEEN_SQL_VALUES(baleen_sql_text(name)));
	char found[BALEEN_FLEET_TEXT_BYTES] = "";
	int err;

	if (baleen_sql_next(&rows) &&
	    !baleen_sql_column(rows.row, 0, found, BALEEN_FLEET_TEXT_BYTES))
		rows.ret = baleen_sql_damaged(&store->db, name, error);
	err = baleen_sql_end(&rows);
	if (!err)
		strcpy(text, found);
	return err;
}

int baleen_fleet_store_set(struct baleen_fleet_store *store, const char *name, const char *text,
			   struct baleen_error *error)
{
	return baleen_sql_do(
		&store->db, "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
		NULL, error, BALEEN_SQL_VALUES(baleen_sql_text(name), baleen_sql_text(text)));
}

s64 baleen_fleet_store_offset(const struct baleen_fleet_store *store)
{
	char text[BALEEN_FLEET_TEXT_BYTES];

	if (baleen_fleet_store_get(store, BALEEN_FLEET_TEXT_OFFSET, text, NULL))
		return 0;
	return strtoll(text, NULL, 10);
}

int baleen_fleet_store_latest(const struct baleen_fleet_store *store, u64 *latest_ms,
			      struct baleen_error *error)
{
	int ret;

	*latest_ms = 0;
	ret = baleen_sql_do(&store->db,
			    "SELECT MAX(IFNULL((SELECT MAX(signed_ms) FROM publisher), 0),"
			    " IFNULL((SELECT MAX(agreed_ms) FROM publisher), 0),"
			    " IFNULL((SELECT MAX(made_ms) FROM asked), 0))",
			    latest_ms, error, NULL, 0);
	return ret < 0 ? ret : 0;
}
