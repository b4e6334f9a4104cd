// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The journal of the book: which entries came and went, when, by whom. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state/entry_bytes.h"
#include "state/journal.h"
#include "state/sql.h"
#include "util/clock.h"
#include "util/input.h"

/* Each so many records it is looked for what is old. */
#define TRIM_EACH 1000

/* An origin has no more, so that one program does not make others forgotten. */
#define MAX_OF_ORIGIN (BALEEN_JOURNAL_MAX / 5)

const char *baleen_journal_text(enum baleen_journal_what what)
{
	static const char *const text[] = {
		[BALEEN_JOURNAL_PUT] = "added",	     [BALEEN_JOURNAL_RENEW] = "renewed",
		[BALEEN_JOURNAL_TAKE] = "deleted",   [BALEEN_JOURNAL_EXPIRE] = "ended",
		[BALEEN_JOURNAL_REFUSE] = "refused",
	};

	return what < BALEEN_N_JOURNAL ? text[what] : "?";
}

/* --- who ------------------------------------------------------------------- */

static char who[BALEEN_JOURNAL_BY];

static void read_name(pid_t process, char *name, size_t n_bytes)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", process);
	file = baleen_input_stream(path, BALEEN_INPUT_SYSTEM, NULL);
	if (!file || !fgets(name, n_bytes, file))
		snprintf(name, n_bytes, "process %d", process);
	name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* Whoever became root by sudo is named. */
static unsigned int user_id(void)
{
	const char *sudo = getenv("SUDO_UID");

	return !getuid() && sudo && *sudo ? strtoul(sudo, NULL, 10) : getuid();
}

void baleen_journal_by(const char *command)
{
	char name[32];

	read_name(getppid(), name, sizeof(name));
	snprintf(who, sizeof(who), "%s, uid %u: %s", name, user_id(), command);
}

static const char *find_who(void)
{
	char name[32];

	if (!*who) {
		read_name(getpid(), name, sizeof(name));
		snprintf(who, sizeof(who), "%s, uid %u", name, user_id());
	}
	return who;
}

/* --- write ------------------------------------------------------------------- */

static int insert(const struct baleen_rule_store *state, enum baleen_journal_what what,
		  const char *scope, const struct baleen_rule_entry *entry, u64 n,
		  struct baleen_error *error)
{
	static const char sql[] =
		"INSERT INTO change (at_ms, what, scope, first, last, is_exception, origin, reason,"
		" expires_ms, n, by) VALUES (?, ?, (SELECT id FROM scope WHERE name = ?),"
		" ?, ?, ?, ?, ?, ?, ?, ?)";
	struct baleen_entry_bytes key = { .n_first = 0 };

	if (!n)
		baleen_entry_bytes_of(&entry->key, &key);
	return baleen_sql_do(state->book, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_number(baleen_clock_ns(CLOCK_REALTIME) /
								 1000000),
					       baleen_sql_number(what), baleen_sql_text(scope),
					       baleen_sql_blob(key.first, key.n_first),
					       baleen_sql_blob(key.last, key.n_last),
					       baleen_sql_number(entry->is_exception && !n),
					       baleen_sql_text(entry->origin),
					       baleen_sql_text(n ? "" : entry->reason),
					       baleen_sql_number(n ? 0 : entry->expires_ms),
					       baleen_sql_number(n), baleen_sql_text(find_who())));
}

void baleen_journal_many(const struct baleen_rule_store *state)
{
	state->book->n_noted = BALEEN_JOURNAL_EACH;
}

/* A table in memory adds them up. */
static int count(const struct baleen_rule_store *state, enum baleen_journal_what what,
		 const char *scope, const char *origin, u64 n, struct baleen_error *error)
{
	static const char make[] = "CREATE TABLE IF NOT EXISTS temp.many (what INTEGER, scope TEXT,"
				   " origin TEXT, n INTEGER, PRIMARY KEY (what, scope, origin))";
	static const char add[] = "INSERT INTO temp.many VALUES (?, ?, ?, ?)"
				  " ON CONFLICT DO UPDATE SET n = n + excluded.n";
	int err = state->book->n_counted++ ? 0 :
					     baleen_sql_do(state->book, make, NULL, error, NULL, 0);

	return err ? err :
		     baleen_sql_do(state->book, add, NULL, error,
				   BALEEN_SQL_VALUES(baleen_sql_number(what),
						     baleen_sql_text(scope),
						     baleen_sql_text(origin),
						     baleen_sql_number(n)));
}

int baleen_journal_note(const struct baleen_rule_store *state, enum baleen_journal_what what,
			const char *scope, const struct baleen_rule_entry *entry, u64 n,
			struct baleen_error *error)
{
	if (n || state->book->n_noted >= BALEEN_JOURNAL_EACH)
		return count(state, what, scope, entry->origin, n ? n : 1, error);
	state->book->n_noted++;
	return insert(state, what, scope, entry, 0, error);
}

int baleen_journal_refuse(const struct baleen_rule_store *state, const char *scope,
			  const struct baleen_rule_entry *entry, const char *why,
			  enum baleen_journal_repeat repeat, u64 *n_noted,
			  struct baleen_error *error)
{
	static const char note[] =
		"INSERT INTO refusal (at_ms, scope, first, last, origin, reason, by)"
		" SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM refusal WHERE"
		" at_ms > ?8 AND at_ms <= ?1 AND scope = ?2 AND origin = ?5"
		" AND (?9 > 0 OR (first = ?3 AND last = ?4)) AND (?9 > 1 OR reason = ?6))";
	/* An origin has a fifth, so that one program does not make others forgotten. */
	static const char forget[] =
		"DELETE FROM refusal WHERE id <= (SELECT max(id) FROM refusal) - ?1"
		" OR (origin = ?2 AND id NOT IN"
		" (SELECT id FROM refusal WHERE origin = ?2 ORDER BY id DESC LIMIT ?1 / 5))";
	u64 now_ms = baleen_clock_ns(CLOCK_REALTIME) / 1000000;
	struct baleen_entry_bytes key;
	int err;

	baleen_entry_bytes_of(&entry->key, &key);
	err = baleen_sql_do(state->book, note, NULL, error,
			    BALEEN_SQL_VALUES(baleen_sql_number(now_ms), baleen_sql_text(scope),
					      baleen_sql_blob(key.first, key.n_first),
					      baleen_sql_blob(key.last, key.n_last),
					      baleen_sql_text(entry->origin), baleen_sql_text(why),
					      baleen_sql_text(find_who()),
					      baleen_sql_number(now_ms -
								BALEEN_JOURNAL_REPEAT_S * 1000ull),
					      baleen_sql_number(repeat)));
	if (err || !sqlite3_changes(state->book->db))
		return err;
	++*n_noted;
	return baleen_sql_do(state->book, forget, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_number(BALEEN_JOURNAL_REFUSED),
					       baleen_sql_text(entry->origin)));
}

int baleen_journal_remove(const struct baleen_rule_store *state, enum baleen_journal_what what,
			  const char *select, const char *delete, struct baleen_error *error,
			  const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows = baleen_sql_ask(state->book, select, error, value, n_values);
	struct baleen_rule_entry entry = { .expires_ms = 0 };
	char scope[BALEEN_SCOPE_BYTES];
	int err;

	while (baleen_sql_next(&rows))
		if (baleen_sql_column(rows.row, 0, scope, sizeof(scope)) &&
		    baleen_sql_column(rows.row, 1, entry.origin, sizeof(entry.origin)))
			rows.ret = baleen_journal_note(state, what, scope, &entry, 1, error);
	err = baleen_sql_end(&rows);
	return err ? err : baleen_sql_do(state->book, delete, NULL, error, value, n_values);
}

static int note_many(const struct baleen_rule_store *state, struct baleen_error *error)
{
	static const char sql[] =
		"SELECT what, scope, origin, n FROM temp.many ORDER BY scope, what";
	struct baleen_sql_rows rows = baleen_sql_ask(state->book, sql, error, NULL, 0);
	struct baleen_rule_entry entry = { .expires_ms = 0 };
	char scope[BALEEN_SCOPE_BYTES];
	int err;

	while (baleen_sql_next(&rows)) {
		if (baleen_sql_column(rows.row, 1, scope, sizeof(scope)) &&
		    baleen_sql_column(rows.row, 2, entry.origin, sizeof(entry.origin)))
			rows.ret = insert(state, sqlite3_column_int(rows.row, 0), scope, &entry,
					  sqlite3_column_int64(rows.row, 3), error);
	}
	err = baleen_sql_end(&rows);
	return err ? err :
		     baleen_sql_do(state->book, "DELETE FROM temp.many", NULL, error, NULL, 0);
}

/* The records of many count as the entries of one do: by origin, then all, then by their age. */
static int trim(const struct baleen_rule_store *state, struct baleen_error *error)
{
	static const char by_number[] =
		"DELETE FROM change WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER"
		" (PARTITION BY origin ORDER BY id DESC) AS place FROM change) WHERE place > ?1)"
		" OR id <= (SELECT max(id) FROM change) - ?2";
	static const char by_age[] = "DELETE FROM change WHERE at_ms < ?";
	u64 now_ms = baleen_clock_ns(CLOCK_REALTIME) / 1000000;
	int err = baleen_sql_do(state->book, by_number, NULL, error,
				BALEEN_SQL_VALUES(baleen_sql_number(MAX_OF_ORIGIN),
						  baleen_sql_number(BALEEN_JOURNAL_MAX)));

	return err ? err :
		     baleen_sql_do(state->book, by_age, NULL, error,
				   BALEEN_SQL_VALUES(baleen_sql_number(
					   now_ms - BALEEN_JOURNAL_DAYS * 86400000ull)));
}

int baleen_journal_end(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book;
	u64 last = sqlite3_last_insert_rowid(book->db);
	int err = book->n_counted ? note_many(state, error) : 0;

	if (!err && book->n_noted && last % TRIM_EACH < book->n_noted)
		err = trim(state, error);
	book->n_noted = 0;
	book->n_counted = 0;
	return err;
}

/* --- read ------------------------------------------------------------------- */

static int read_record(const struct baleen_rule_store *book, sqlite3_stmt *row,
		       struct baleen_journal_record *record, struct baleen_error *error)
{
	const u8 *first = sqlite3_column_blob(row, 4), *last = sqlite3_column_blob(row, 5);

	*record = (struct baleen_journal_record){ .id = sqlite3_column_int64(row, 0),
						  .at_ms = sqlite3_column_int64(row, 1),
						  .what = sqlite3_column_int(row, 2),
						  .n = sqlite3_column_int64(row, 10) };
	if (!baleen_sql_column(row, 3, record->scope, sizeof(record->scope)) ||
	    !baleen_sql_column(row, 7, record->entry.origin, sizeof(record->entry.origin)) ||
	    !baleen_sql_column(row, 8, record->entry.reason, sizeof(record->entry.reason)) ||
	    !baleen_sql_column(row, 11, record->by, sizeof(record->by)) ||
	    (!record->n &&
	     !baleen_entry_bytes_read(first, sqlite3_column_bytes(row, 4), last,
				      sqlite3_column_bytes(row, 5), &record->entry.key)))
		return baleen_sql_damaged(book, "a record of the journal that cannot be", error);
	record->entry.is_exception = sqlite3_column_int(row, 6);
	record->entry.expires_ms = sqlite3_column_int64(row, 9);
	return 0;
}

/* Return: 1 with the next record; 0 at the end; a negative errno. */
static int next_record(const struct baleen_rule_store *book, struct baleen_sql_rows *rows,
		       struct baleen_journal_record *record)
{
	if (!baleen_sql_next(rows))
		return rows->ret;
	rows->ret = read_record(book, rows->row, record, rows->error);
	return rows->ret ? rows->ret : 1;
}

/* Changes as they were made, whatever the clock has done; what was refused by its time. */
int baleen_journal_each(const struct baleen_rule_store *state, u64 since_ms,
			int (*visit)(const struct baleen_journal_record *record, void *data),
			void *data, struct baleen_error *error)
{
	static const char of_changes[] =
		"SELECT change.id, at_ms, what, ifnull(scope.name, ''), first, last, is_exception,"
		" origin, reason, expires_ms, n, by FROM change"
		" LEFT JOIN scope ON scope.id = change.scope WHERE at_ms >= ? ORDER BY change.id";
	static const char of_refusals[] =
		"SELECT id, at_ms, 4, scope, first, last, 0, origin, reason, 0, 0, by"
		" FROM refusal WHERE at_ms >= ? ORDER BY id";
	u64 oldest_ms =
		baleen_clock_ns(CLOCK_REALTIME) / 1000000 - BALEEN_JOURNAL_DAYS * 86400000ull;
	/* A later writer forgets older ones. */
	u64 from_ms = since_ms > oldest_ms ? since_ms : oldest_ms;
	struct baleen_sql_rows changes =
		baleen_sql_ask(state->book, of_changes, error,
			       BALEEN_SQL_VALUES(baleen_sql_number(from_ms)));
	struct baleen_sql_rows refusals =
		baleen_sql_ask(state->book, of_refusals, error,
			       BALEEN_SQL_VALUES(baleen_sql_number(from_ms)));
	struct baleen_journal_record change, refusal;
	int has_refusal = next_record(state->book, &refusals, &refusal), has_change, ret = 0;

	_Static_assert(BALEEN_JOURNAL_REFUSE == 4, "as the statement says");
	do {
		has_change = next_record(state->book, &changes, &change);
		while (!ret && has_refusal > 0 && has_change >= 0 &&
		       (!has_change || refusal.at_ms <= change.at_ms)) {
			ret = visit(&refusal, data);
			has_refusal = next_record(state->book, &refusals, &refusal);
		}
		if (!ret && has_change > 0)
			ret = visit(&change, data);
	} while (!ret && has_change > 0);
	has_change = baleen_sql_end(&changes);
	has_refusal = baleen_sql_end(&refusals);
	return ret ? ret : has_change ? has_change : has_refusal;
}
