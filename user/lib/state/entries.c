// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries of a rule: added, taken back, listed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state/book.h"
#include "state/entries.h"
#include "state/entry_bytes.h"
#include "state/entry_row.h"
#include "state/journal.h"
#include "state/scope.h"
#include "util/clock.h"
#include "util/foreign.h"

/* A million hosts of one origin in one transaction: 10 us each, 0.3 s for the commit,
 * 81 bytes on disk, 121 with an end; one among them is found in 32 us.
 */

#define SCOPE "(SELECT id FROM scope WHERE name = ?1)"

u64 baleen_now_ms(void)
{
	return baleen_clock_ns(CLOCK_REALTIME) / 1000000;
}

/* --- what may be written --- */

/* Whoever shows it escapes what else has no place on a terminal. */
static bool is_printable(const char *text)
{
	u32 character = ' ';
	size_t n = 1;

	for (; *text && n; text += n) {
		n = baleen_foreign_character(text, strlen(text), &character);
		if (character < ' ' || (character >= 0x7f && character < 0xa0))
			return false;
	}
	return n;
}

static bool is_graphic_ascii(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

int baleen_rule_entry_check(const char *origin, const char *reason, struct baleen_error *error)
{
	if (!*origin || strlen(origin) >= BALEEN_ORIGIN_BYTES)
		return baleen_fail(error, EINVAL, "an origin has 1 to %d bytes",
				   BALEEN_ORIGIN_BYTES - 1);
	if (!is_graphic_ascii(origin))
		return baleen_fail(error, EINVAL, "an origin is printable ASCII without blanks");
	if (strlen(reason) >= BALEEN_REASON_BYTES)
		return baleen_fail(error, EINVAL, "a reason has %d bytes at most",
				   BALEEN_REASON_BYTES - 1);
	if (!is_printable(reason))
		return baleen_fail(error, EINVAL, "a reason is UTF-8 without control characters");
	return 0;
}

bool baleen_origin_is_of_fleet(const char *origin)
{
	return !strncmp(origin, BALEEN_ORIGIN_FLEET, sizeof(BALEEN_ORIGIN_FLEET) - 1);
}

bool baleen_origin_is_reserved(const char *origin)
{
	return !strcmp(origin, BALEEN_ORIGIN_WIDEN) || baleen_origin_is_of_fleet(origin);
}

/* --- changes --- */

/* Entries by hand of a rule that ends with the boot end with it; a ban is of no rule. */
static bool is_until_boot(const struct baleen_rule_store *state, const char *scope)
{
	return !state->is_kept && !baleen_scope_is_shared(scope);
}

static int insert(const struct baleen_rule_store *state, const char *scope,
		  const struct baleen_rule_entry *entry, const struct baleen_entry_bytes *key,
		  struct baleen_error *error)
{
	static const char sql[] =
		"INSERT OR IGNORE INTO single (scope, first, last, is_exception, origin,"
		" length, reason, added_ms, expires_ms, yields, until_boot)"
		" VALUES (" SCOPE ", ?, ?, ?, ?, NULLIF(?, -2), ?, ?, ?, ?, ?)";

	return baleen_sql_do(state->book, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(scope),
					       baleen_sql_blob(key->first, key->n_first),
					       baleen_sql_blob(key->last, key->n_last),
					       baleen_sql_number(entry->is_exception),
					       baleen_sql_text(entry->origin),
					       baleen_sql_number(key->length),
					       baleen_sql_text(entry->reason),
					       baleen_sql_number(entry->added_ms),
					       baleen_sql_number(entry->expires_ms),
					       baleen_sql_number(entry->yields),
					       baleen_sql_number(is_until_boot(state, scope))));
}

static int renew(const struct baleen_rule_store *state, const char *scope,
		 const struct baleen_rule_entry *entry, const struct baleen_entry_bytes *key,
		 struct baleen_error *error)
{
	static const char sql[] =
		"UPDATE single SET reason = ifnull(nullif(?6, ''), reason), expires_ms = ?7,"
		" yields = ?8, until_boot = until_boot AND ?9 WHERE scope = " SCOPE
		" AND first = ?2 AND last = ?3 AND is_exception = ?4 AND origin = ?5";

	return baleen_sql_do(state->book, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(scope),
					       baleen_sql_blob(key->first, key->n_first),
					       baleen_sql_blob(key->last, key->n_last),
					       baleen_sql_number(entry->is_exception),
					       baleen_sql_text(entry->origin),
					       baleen_sql_text(entry->reason),
					       baleen_sql_number(entry->expires_ms),
					       baleen_sql_number(entry->yields),
					       baleen_sql_number(is_until_boot(state, scope))));
}

static int add_scope(const struct baleen_rule_store *state, const char *scope,
		     struct baleen_error *error)
{
	static const char sql[] = "INSERT OR IGNORE INTO scope (name) VALUES (?)";

	return baleen_sql_do(state->book, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(scope)));
}

int baleen_rule_entries_put(const struct baleen_rule_store *state, const char *rule,
			    const struct baleen_rule_entry *entry, bool *is_new,
			    struct baleen_error *error)
{
	const struct baleen_scope scope = baleen_scope_of(state, rule);
	int err = baleen_rule_entry_check(entry->origin, entry->reason, error);
	struct baleen_entry_bytes key;
	bool added;

	if (!err)
		err = add_scope(state, scope.name, error);
	if (err)
		return err;
	baleen_entry_bytes_of(&entry->key, &key);
	err = insert(state, scope.name, entry, &key, error);
	added = !err && sqlite3_changes(state->book->db);
	if (!err && !added)
		err = renew(state, scope.name, entry, &key, error);
	if (!err)
		err = baleen_journal_note(state, added ? BALEEN_JOURNAL_PUT : BALEEN_JOURNAL_RENEW,
					  scope.name, entry, 0, error);
	if (!err)
		*is_new = added;
	return err;
}

/* An entry of several origins is as many. */
static int note_taken(const struct baleen_rule_store *state, const char *scope,
		      const struct baleen_rule_entry *entry, const char *origin, u64 n,
		      struct baleen_error *error)
{
	u64 now_ms = baleen_now_ms();
	struct baleen_rule_entry taken = *entry;
	bool has_ended = entry->expires_ms && entry->expires_ms <= now_ms;

	snprintf(taken.origin, sizeof(taken.origin), "%s", origin ? origin : "");
	for (; n; n--) {
		int err =
			baleen_journal_note(state,
					    has_ended ? BALEEN_JOURNAL_EXPIRE : BALEEN_JOURNAL_TAKE,
					    scope, &taken, 0, error);
		if (err)
			return err;
	}
	return 0;
}

int baleen_rule_entries_remove(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_rule_entry *entry, const char *origin, u64 *n,
			       struct baleen_error *error)
{
	static const char sql[] =
		"DELETE FROM single WHERE scope = " SCOPE " AND first = ?2 AND last = ?3"
		" AND is_exception = ?4 AND (?5 IS NULL OR origin = ?5)";
	const struct baleen_scope scope = baleen_scope_of(state, rule);
	struct baleen_entry_bytes key;
	int err;

	baleen_entry_bytes_of(&entry->key, &key);
	err = baleen_sql_do(state->book, sql, NULL, error,
			    BALEEN_SQL_VALUES(baleen_sql_text(scope.name),
					      baleen_sql_blob(key.first, key.n_first),
					      baleen_sql_blob(key.last, key.n_last),
					      baleen_sql_number(entry->is_exception),
					      baleen_sql_text(origin)));
	if (err)
		return err;
	*n = sqlite3_changes64(state->book->db);
	return *n ? note_taken(state, scope.name, entry, origin, *n, error) : 0;
}

int baleen_rule_entries_flush(const struct baleen_rule_store *state, const char *rule,
			      const char *origin, u64 *n, struct baleen_error *error)
{
	static const char all[] = "DELETE FROM single WHERE scope = " SCOPE;
	static const char one[] = "DELETE FROM single INDEXED BY single_origin"
				  " WHERE scope = " SCOPE " AND origin = ?2";
	const struct baleen_scope scope = baleen_scope_of(state, rule);
	struct baleen_rule_entry flushed = { .expires_ms = 0 };
	int err = origin ? baleen_sql_do(state->book, one, NULL, error,
					 BALEEN_SQL_VALUES(baleen_sql_text(scope.name),
							   baleen_sql_text(origin))) :
			   baleen_sql_do(state->book, all, NULL, error,
					 BALEEN_SQL_VALUES(baleen_sql_text(scope.name)));

	if (err)
		return err;
	*n = sqlite3_changes64(state->book->db);
	snprintf(flushed.origin, sizeof(flushed.origin), "%s", origin ? origin : "");
	return *n ? baleen_journal_note(state, BALEEN_JOURNAL_TAKE, scope.name, &flushed, *n,
					error) :
		    0;
}

/* --- walks --- */

static int walk(const struct baleen_rule_store *state, u32 width, const char *sql,
		int (*visit)(const struct baleen_rule_entry *entry, void *data), void *data,
		struct baleen_error *error, const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows;
	int err = baleen_book_read(state, error);

	if (err)
		return err;
	rows = baleen_sql_ask(state->book, sql, error, value, n_values);
	return baleen_entry_rows_each(&rows, width, visit, data);
}

/* The index is named where SQLite, which keeps no statistics, would rather read all
 * entries of the rule than sort a few.
 */
#define SELECT(INDEX, CONDITION) \
	"SELECT " BALEEN_RULE_ENTRY_COLUMNS " FROM single" INDEX " WHERE " CONDITION
#define BY_ORIGIN " INDEXED BY single_origin"

int baleen_rule_entries_expired(const struct baleen_rule_store *state, const char *rule, u64 now_ms,
				int (*visit)(const struct baleen_rule_entry *entry, void *data),
				void *data, struct baleen_error *error)
{
	static const char sql[] =
		SELECT(" INDEXED BY single_end",
		       "scope = " SCOPE) " AND expires_ms > 0 AND expires_ms <= ?2"
					 " ORDER BY expires_ms";
	struct baleen_scopes_taken taken;
	int err = baleen_scopes_of_rule(state, rule, &taken, error);

	return err ? err :
		     walk(state, taken.width, sql, visit, data, error,
			  BALEEN_SQL_VALUES(baleen_sql_text(taken.own.name),
					    baleen_sql_number(now_ms)));
}

int baleen_rule_entries_each(const struct baleen_rule_store *state, const char *rule,
			     const char *origin,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error)
{
#define ORDER " ORDER BY origin, first, last, is_exception"
	/* The index of one scope has the order, and nothing is to be sorted. */
	static const char all[] = SELECT(BY_ORIGIN, "scope = " SCOPE) ORDER;
	static const char one[] = SELECT(BY_ORIGIN, "scope = " SCOPE " AND origin = ?2") ORDER;
	static const char all_taken[] = SELECT(BY_ORIGIN, BALEEN_TAKEN) ORDER;
	static const char one_taken[] = SELECT(BY_ORIGIN, BALEEN_TAKEN " AND origin = ?4") ORDER;
	struct baleen_scopes_taken taken;
	int err = baleen_scopes_of_rule(state, rule, &taken, error);

	if (err)
		return err;
	/* Without an origin there is one value less. */
	if (baleen_scopes_share(&taken))
		return walk(state, taken.width, origin ? one_taken : all_taken, visit, data, error,
			    BALEEN_TAKEN_VALUES(taken, baleen_sql_text(origin)) - !origin);
	return walk(state, taken.width, origin ? one : all, visit, data, error,
		    BALEEN_SQL_VALUES(baleen_sql_text(taken.own.name), baleen_sql_text(origin)) -
			    !origin);
}

int baleen_rule_entries_of_key(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_rule_entry *entry,
			       int (*visit)(const struct baleen_rule_entry *entry, void *data),
			       void *data, struct baleen_error *error)
{
	static const char sql[] = SELECT(
		"",
		BALEEN_TAKEN) " AND first = ?4 AND last = ?5 AND is_exception = ?6 ORDER BY origin";
	struct baleen_scopes_taken taken;
	struct baleen_entry_bytes key;
	int err = baleen_scopes_of_rule(state, rule, &taken, error);

	if (err)
		return err;
	baleen_entry_bytes_of(&entry->key, &key);
	return walk(state, taken.width, sql, visit, data, error,
		    BALEEN_TAKEN_VALUES(taken, baleen_sql_blob(key.first, key.n_first),
					baleen_sql_blob(key.last, key.n_last),
					baleen_sql_number(entry->is_exception)));
}

/* The one number that a statement about a rule, or an origin of it, gives; 0 on failure. */
static u64 ask_number(const struct baleen_rule_store *state, const char *sql, const char *rule,
		      const char *origin)
{
	struct baleen_scopes_taken taken;
	u64 n = 0;

	if (!baleen_book_read(state, NULL) && !baleen_scopes_of_rule(state, rule, &taken, NULL))
		baleen_sql_do(state->book, sql, &n, NULL,
			      BALEEN_TAKEN_VALUES(taken, baleen_sql_text(origin)) - !origin);
	return n;
}

u64 baleen_rule_entries_count(const struct baleen_rule_store *state, const char *rule,
			      const char *origin)
{
	static const char all[] = "SELECT count(*) FROM single" BY_ORIGIN " WHERE " BALEEN_TAKEN;
	static const char one[] =
		"SELECT count(*) FROM single" BY_ORIGIN " WHERE " BALEEN_TAKEN " AND origin = ?4";

	return ask_number(state, origin ? one : all, rule, origin);
}

u64 baleen_rules_count_entries(const struct baleen_rule_store *state,
			       const struct baleen_stored_rules *rules)
{
	u64 n = 0;

	for (u32 i = 0; i < rules->n_rules; i++)
		n += baleen_rule_entries_count(state, rules->rule[i].name, NULL);
	return n;
}

u64 baleen_rule_entries_ending(const struct baleen_rule_store *state, const char *rule)
{
	static const char sql[] =
		"SELECT count(*) FROM single WHERE " BALEEN_TAKEN " AND expires_ms > 0";

	return ask_number(state, sql, rule, NULL);
}

bool baleen_rule_entries_yield(const struct baleen_rule_store *state, const char *rule)
{
	static const char sql[] =
		"SELECT EXISTS (SELECT 1 FROM single WHERE " BALEEN_TAKEN " AND yields > 0)";

	return ask_number(state, sql, rule, NULL);
}

int baleen_rule_entries_origins(const struct baleen_rule_store *state, const char *rule,
				int (*visit)(const char *origin, u64 n, void *data), void *data,
				struct baleen_error *error)
{
	static const char sql[] = "SELECT origin, count(*) FROM single" BY_ORIGIN
				  " WHERE scope = " SCOPE " GROUP BY origin ORDER BY origin";
	/* Counted scope by scope, by the index; origins are few. */
	static const char sum[] = "SELECT origin, sum(n) FROM (SELECT origin, count(*) AS n"
				  " FROM single" BY_ORIGIN " WHERE " BALEEN_TAKEN
				  " GROUP BY scope, origin) GROUP BY origin ORDER BY origin";
	char origin[BALEEN_ORIGIN_BYTES];
	struct baleen_scopes_taken taken;
	struct baleen_sql_rows rows;
	int err = baleen_book_read(state, error);

	if (!err)
		err = baleen_scopes_of_rule(state, rule, &taken, error);
	if (err)
		return err;
	rows = baleen_scopes_share(&taken) ?
		       baleen_sql_ask(state->book, sum, error, BALEEN_TAKEN_VALUES(taken)) :
		       baleen_sql_ask(state->book, sql, error,
				      BALEEN_SQL_VALUES(baleen_sql_text(taken.own.name)));
	while (baleen_sql_next(&rows))
		rows.ret =
			baleen_sql_column(rows.row, 0, origin, sizeof(origin)) ?
				visit(origin, sqlite3_column_int64(rows.row, 1), data) :
				baleen_sql_damaged(state->book, "an origin that cannot be", error);
	return baleen_sql_end(&rows);
}

/* --- the set --- */

struct lists {
	const struct baleen_rule_store *state;
	struct baleen_error *error;
	struct baleen_entry_lists made;
};

static int add_to_list(struct lists *lists, struct baleen_list *list,
		       const struct baleen_rule_entry *entry, bool is_exception)
{
	int err = baleen_entry_key_add(&entry->key, is_exception, list);

	return err && err != -EINVAL ? baleen_no_memory(lists->error) : 0;
}

/* An exception takes its addresses out of all that entries around it hold; one of the rule itself
 * takes them out of feeds, too.
 */
static int add_to_lists(const struct baleen_rule_entry *entry, void *data)
{
	struct lists *lists = data;
	int err = 0;

	if (!baleen_entry_key_is_of(&entry->key, lists->made.exceptions.key_spec))
		return 0;
	for (u32 yields = 0; yields < BALEEN_N_YIELDS && !err; yields++)
		if (entry->is_exception || yields == entry->yields)
			err = add_to_list(lists, &lists->made.keys[yields], entry,
					  entry->is_exception);
	if (!err && entry->is_exception && !entry->is_ban)
		err = add_to_list(lists, &lists->made.exceptions, entry, false);
	return err;
}

void baleen_entry_lists_free(struct baleen_entry_lists *lists)
{
	for (u32 yields = 0; yields < BALEEN_N_YIELDS; yields++)
		baleen_list_free(&lists->keys[yields]);
	baleen_list_free(&lists->exceptions);
}

int baleen_rule_entries_to_lists(const struct baleen_rule_store *state, const char *rule,
				 u32 key_spec, u64 now_ms, struct baleen_entry_lists *made,
				 struct baleen_error *error)
{
	static const char sql[] =
		SELECT("", BALEEN_TAKEN) " AND (expires_ms = 0 OR expires_ms > ?4)";
	struct baleen_scopes_taken taken;
	struct lists lists = { .state = state,
			       .error = error,
			       .made.exceptions.key_spec = key_spec };
	bool is_bad;
	int err;

	for (u32 yields = 0; yields < BALEEN_N_YIELDS; yields++)
		lists.made.keys[yields].key_spec = key_spec;
	err = baleen_scopes_of_rule(state, rule, &taken, error);
	if (!err)
		err = walk(state, taken.width, sql, add_to_lists, &lists, error,
			   BALEEN_TAKEN_VALUES(taken, baleen_sql_number(now_ms)));
	is_bad = !err && baleen_list_finish(&lists.made.exceptions);
	for (u32 yields = 0; yields < BALEEN_N_YIELDS && !err; yields++)
		is_bad |= baleen_list_finish(&lists.made.keys[yields]);
	if (is_bad)
		err = baleen_fail(error, ENOMEM, "no memory for the single entries of '%s'", rule);
	if (err)
		baleen_entry_lists_free(&lists.made);
	else
		*made = lists.made;
	return err;
}
