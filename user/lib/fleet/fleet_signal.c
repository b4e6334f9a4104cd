// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signals of hosts. */
#include <errno.h>
#include <string.h>

#include "fleet/fleet_signal.h"
#include "state/entries.h"
#include "state/sql.h"

#define MAX_NUMBER (1ull << 62)

static u64 oldest(u64 now_ms)
{
	return now_ms > BALEEN_FLEET_MAX_TTL_MS ? now_ms - BALEEN_FLEET_MAX_TTL_MS : 0;
}

/* Columns: topic, subject, number, digest, value, reason. */
static int read_signal(const struct baleen_fleet_store *store, sqlite3_stmt *row, int first,
		       struct baleen_fleet_signal *signal, struct baleen_error *error)
{
	memset(signal, 0, sizeof(*signal));
	if (!baleen_sql_column(row, first, signal->topic, sizeof(signal->topic)) ||
	    !baleen_sql_column(row, first + 1, signal->subject, sizeof(signal->subject)) ||
	    !baleen_sql_column(row, first + 5, signal->reason, sizeof(signal->reason)))
		return baleen_sql_damaged(&store->db, "a signal", error);
	signal->number = sqlite3_column_int64(row, first + 2);
	signal->digest = sqlite3_column_int64(row, first + 3);
	signal->value = sqlite3_column_int(row, first + 4);
	return 0;
}

/* --- to others ------------------------------------------------------------- */

int baleen_fleet_signal_post(struct baleen_fleet_store *store,
			     const struct baleen_fleet_signal *signal, struct baleen_error *error)
{
	if (!baleen_fleet_name_is(signal->topic) || !baleen_fleet_subject_is(signal->subject))
		return baleen_fail(error, EINVAL, "'%.31s' on '%.63s': not a topic and a subject",
				   signal->topic, signal->subject);
	if (signal->number >= MAX_NUMBER || signal->value > 255 ||
	    baleen_rule_entry_check(BALEEN_ORIGIN_MANUAL, signal->reason, NULL))
		return baleen_fail(error, EINVAL,
				   "a signal on %s has a number, a value or a reason that none has",
				   signal->subject);
	/* A row that is replaced gets another id. */
	return baleen_sql_do(
		&store->db,
		"INSERT OR REPLACE INTO posted (topic, subject, number, digest, value, reason)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_text(signal->topic), baleen_sql_text(signal->subject),
				  baleen_sql_number(signal->number),
				  baleen_sql_number(signal->digest),
				  baleen_sql_number(signal->value),
				  baleen_sql_text(signal->reason)));
}

int baleen_fleet_signal_next(const struct baleen_fleet_store *store,
			     struct baleen_fleet_signal *signal, u64 *id,
			     struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT id, topic, subject, number, digest, value, reason FROM posted"
		" ORDER BY id LIMIT 1",
		error, NULL, 0);
	bool is_there = baleen_sql_next(&rows);
	int err;

	if (is_there) {
		*id = sqlite3_column_int64(rows.row, 0);
		rows.ret = read_signal(store, rows.row, 1, signal, error);
	}
	err = baleen_sql_end(&rows);
	return err ? err : is_there;
}

int baleen_fleet_signal_sent(struct baleen_fleet_store *store, u64 id, struct baleen_error *error)
{
	return baleen_sql_do(&store->db, "DELETE FROM posted WHERE id = ?", NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_number(id)));
}

/* --- of others ------------------------------------------------------------- */

int baleen_fleet_signal_has_room(struct baleen_fleet_store *store,
				 const struct baleen_fleet_message *message, u64 now_ms,
				 struct baleen_error *error)
{
	u64 n = 0;
	int err = baleen_sql_do(&store->db, "DELETE FROM signal WHERE made_ms < ?", NULL, error,
				BALEEN_SQL_VALUES(baleen_sql_number(oldest(now_ms))));

	if (!err)
		err = baleen_sql_do(&store->db,
				    "SELECT COUNT(*) FROM signal WHERE publisher = ?1"
				    " AND (topic <> ?2 OR subject <> ?3)",
				    &n, error,
				    BALEEN_SQL_VALUES(baleen_sql_text(message->publisher),
						      baleen_sql_text(message->topic),
						      baleen_sql_text(message->subject)));
	return err < 0 ? err : n < BALEEN_FLEET_MAX_SIGNALS;
}

int baleen_fleet_signal_put(struct baleen_fleet_store *store,
			    const struct baleen_fleet_message *message, bool *is_new,
			    struct baleen_error *error)
{
	int err = baleen_sql_do(
		&store->db,
		"INSERT INTO signal (publisher, topic, subject, number, digest, value, reason, made_ms)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET number = ?4,"
		" digest = ?5, value = ?6, reason = ?7, made_ms = ?8 WHERE made_ms < ?8",
		NULL, error,
		BALEEN_SQL_VALUES(
			baleen_sql_text(message->publisher), baleen_sql_text(message->topic),
			baleen_sql_text(message->subject), baleen_sql_number(message->number),
			baleen_sql_number(message->about), baleen_sql_number(message->value),
			baleen_sql_text(message->reason), baleen_sql_number(message->made_ms)));

	if (!err)
		*is_new = sqlite3_changes(store->db.db);
	return err;
}

int baleen_fleet_signals_each(const struct baleen_fleet_store *store, const char *topic,
			      const char *subject, u64 now_ms,
			      int (*visit)(const struct baleen_fleet_signal *signal, void *data),
			      void *data, struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT publisher, made_ms, topic, subject, number, digest, value, reason FROM signal"
		" WHERE (?1 IS NULL OR topic = ?1) AND (?2 IS NULL OR subject = ?2)"
		" AND made_ms >= ?3 ORDER BY topic, subject, publisher",
		error,
		BALEEN_SQL_VALUES(baleen_sql_text(topic), baleen_sql_text(subject),
				  baleen_sql_number(oldest(now_ms))));
	struct baleen_fleet_signal signal;

	while (baleen_sql_next(&rows)) {
		rows.ret = read_signal(store, rows.row, 2, &signal, error);
		signal.made_ms = sqlite3_column_int64(rows.row, 1);
		if (!rows.ret &&
		    !baleen_sql_column(rows.row, 0, signal.publisher, sizeof(signal.publisher)))
			rows.ret = baleen_sql_damaged(&store->db, "a signal", error);
		if (!rows.ret)
			rows.ret = visit(&signal, data);
	}
	return baleen_sql_end(&rows);
}
