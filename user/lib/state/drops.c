// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When a source was last seen being dropped. */
#include <errno.h>
#include <stdio.h>

#include "key/key_text.h"
#include "state/database_file.h"
#include "state/drops.h"
#include "state/rule_store_path.h"
#include "state/sql.h"

static const char schema[] = "CREATE TABLE IF NOT EXISTS seen ("
			     "  netns INTEGER, ifindex INTEGER, source TEXT, rule TEXT,"
			     "  last_ms INTEGER, n INTEGER, dport INTEGER, proto INTEGER,"
			     "  PRIMARY KEY (netns, ifindex, source, rule)) WITHOUT ROWID;"
			     "CREATE INDEX IF NOT EXISTS seen_last ON seen (last_ms);";

static int fail(sqlite3 *db, const char *path, struct baleen_error *error)
{
	int err = baleen_fail(error, EIO, "%s: %s", path, db ? sqlite3_errmsg(db) : "no memory");

	sqlite3_close(db);
	return err;
}

int baleen_drops_open(sqlite3 **db, bool for_writing, struct baleen_error *error)
{
	int flags = for_writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	sqlite3 *opened = NULL;
	int err;

	snprintf(path, sizeof(path), "%s/drops.db", baleen_rule_store_root(false));
	err = for_writing ? baleen_rule_store_make_root(false, error) : 0;
	if (!err)
		err = baleen_database_check(path, error);
	if (err)
		return err;
	err = sqlite3_open_v2(path, &opened, flags, NULL);
	if (err == SQLITE_CANTOPEN && !for_writing) {
		sqlite3_close(opened);
		return baleen_fail(error, ENOENT, "%s: not there", path);
	}
	if (err)
		return fail(opened, path, error);
	sqlite3_busy_timeout(opened, 1000);
	/* It ends with the boot: no need to wait for a disk. */
	if (for_writing && (sqlite3_exec(opened, "PRAGMA synchronous = OFF", NULL, NULL, NULL) ||
			    sqlite3_exec(opened, schema, NULL, NULL, NULL)))
		return fail(opened, path, error);
	*db = opened;
	return 0;
}

void baleen_drops_close(sqlite3 *db)
{
	sqlite3_close(db);
}

void baleen_drops_begin(sqlite3 *db)
{
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
}

void baleen_drops_end(sqlite3 *db)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM seen WHERE last_ms < (SELECT last_ms FROM seen "
		 "ORDER BY last_ms DESC LIMIT 1 OFFSET %d)",
		 BALEEN_MAX_DROPS);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

static void source_text(const struct baleen_sighting *sighting, u32 key_spec, char *text)
{
	struct baleen_key key = baleen_key_fields(key_spec, &sighting->fields);

	baleen_key_format(&key, key_spec, text);
}

u32 baleen_drops_key_spec(int ifindex)
{
	return ifindex < 0 ? BALEEN_KEY_DST : BALEEN_KEY_SRC;
}

int baleen_drops_add(sqlite3 *db, u64 netns_cookie, int ifindex,
		     const struct baleen_sighting *sighting)
{
	static const char sql[] =
		"INSERT INTO seen VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7) ON CONFLICT DO UPDATE "
		"SET last_ms = ?5, n = n + 1, dport = ?6, proto = ?7";
	u64 last_ms = sighting->time.tv_sec * 1000ull + sighting->time.tv_nsec / 1000000;
	char source[BALEEN_KEY_TEXT];
	sqlite3_stmt *insert;
	int err;

	if (sighting->parse > BALEEN_PARSE_IP6)
		return 0;
	source_text(sighting, baleen_drops_key_spec(ifindex), source);
	if (sqlite3_prepare_v2(db, sql, -1, &insert, NULL))
		return -EIO;
	sqlite3_bind_int64(insert, 1, netns_cookie);
	sqlite3_bind_int(insert, 2, ifindex);
	sqlite3_bind_text(insert, 3, source, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 4, sighting->rule ? sighting->rule->image.name : "", -1,
			  SQLITE_STATIC);
	sqlite3_bind_int64(insert, 5, last_ms);
	sqlite3_bind_int(insert, 6, sighting->fields.dport);
	sqlite3_bind_int(insert, 7, sighting->fields.proto);
	err = sqlite3_step(insert) == SQLITE_DONE ? 0 : -EIO;
	sqlite3_finalize(insert);
	return err;
}

static void read_row(sqlite3_stmt *row, struct baleen_drop *drop)
{
	snprintf(drop->rule, sizeof(drop->rule), "%s", (const char *)sqlite3_column_text(row, 0));
	drop->last_ms = sqlite3_column_int64(row, 1);
	drop->n = sqlite3_column_int64(row, 2);
	drop->dport = sqlite3_column_int(row, 3);
	drop->proto = sqlite3_column_int(row, 4);
}

int baleen_drops_find(sqlite3 *db, u64 netns_cookie, int ifindex, const struct baleen_key *source,
		      struct baleen_drop *drop)
{
	static const char sql[] =
		"SELECT rule, last_ms, n, dport, proto FROM seen WHERE netns = ?1 "
		"AND ifindex = ?2 AND source = ?3 ORDER BY last_ms DESC LIMIT 1";
	char text[BALEEN_KEY_TEXT];
	sqlite3_stmt *query;
	int err;

	baleen_key_format(source, BALEEN_KEY_SRC, text);
	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL))
		return -EIO;
	sqlite3_bind_int64(query, 1, netns_cookie);
	sqlite3_bind_int(query, 2, ifindex);
	sqlite3_bind_text(query, 3, text, -1, SQLITE_STATIC);
	err = sqlite3_step(query);
	if (err == SQLITE_ROW)
		read_row(query, drop);
	sqlite3_finalize(query);
	return err == SQLITE_ROW ? 1 : err == SQLITE_DONE ? 0 : -EIO;
}

int baleen_drops_each(sqlite3 *db, u64 netns_cookie, int ifindex,
		      int (*visit)(const struct baleen_key *source, const struct baleen_drop *drop,
				   void *data),
		      void *data)
{
	static const char sql[] =
		"SELECT rule, last_ms, n, dport, proto, source FROM seen WHERE netns = ?1 "
		"AND ifindex = ?2 ORDER BY rule";
	struct baleen_drop drop;
	struct baleen_key key;
	sqlite3_stmt *query;
	const char *reason;
	int step, ret = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL))
		return -EIO;
	sqlite3_bind_int64(query, 1, netns_cookie);
	sqlite3_bind_int(query, 2, ifindex);
	while (!ret && (step = sqlite3_step(query)) == SQLITE_ROW) {
		read_row(query, &drop);
		if (!baleen_address_parse((const char *)sqlite3_column_text(query, 5), &key,
					  &reason))
			ret = visit(&key, &drop, data);
	}
	sqlite3_finalize(query);
	return ret || step == SQLITE_DONE ? ret : -EIO;
}
