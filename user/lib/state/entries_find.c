// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which single entries hold a key: a look for the key itself, one for each length
 * that prefixes of the rule have, and one at its ranges.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "key/key_spec.h"
#include "state/book.h"
#include "state/entries.h"
#include "state/entry_bytes.h"
#include "state/entry_row.h"
#include "state/scope.h"
#include "util/array.h"

#define SELECT(INDEX)                                                                   \
	"SELECT " BALEEN_RULE_ENTRY_COLUMNS " FROM single" INDEX " WHERE " BALEEN_TAKEN \
	" AND (expires_ms = 0 OR expires_ms > ?4)"

struct found {
	struct baleen_rule_entry entry;
	u32 length;
};

/* The key that is looked for, and what was found. */
struct search {
	const struct baleen_rule_store *state;
	struct baleen_scopes_taken taken;
	const char *rule;
	const struct baleen_key *key;
	u64 now_ms;
	struct baleen_error *error;
	struct found *found;
	size_t n;
};

static int keep(struct search *search, const struct baleen_rule_entry *entry, u32 length)
{
	if (baleen_array_add(&search->found, search->n))
		return baleen_fail(search->error, ENOMEM, "no memory for what was found");
	search->found[search->n++] = (struct found){ *entry, length };
	return 0;
}

/* Length of the prefix of a range that holds the key. */
static u32 length_in_range(const struct baleen_span *range, const struct baleen_key *key)
{
	struct baleen_span rest = *range, prefix;
	u32 length;

	if (!baleen_span_holds(&rest, key))
		return 0;
	do
		length = baleen_span_split(&rest, &prefix);
	while (!baleen_span_holds(&prefix, key));
	return length;
}

/* @length: of all of them; 0 to find out */
static int collect(struct search *search, const char *sql, bool is_range, u32 length,
		   const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows =
		baleen_sql_ask(search->state->book, sql, search->error, value, n_values);
	struct baleen_rule_entry entry;

	while (baleen_sql_next(&rows)) {
		rows.ret = baleen_entry_row(search->state->book, rows.row, search->taken.width,
					    &entry, search->error);
		if (!rows.ret && is_range)
			length = length_in_range(&entry.key.span, search->key);
		if (!rows.ret)
			rows.ret = keep(search, &entry, length);
	}
	return baleen_sql_end(&rows);
}

static int collect_exactly(struct search *search, const struct baleen_entry_bytes *key, u32 length)
{
	static const char sql[] = SELECT("") " AND first = ?5 AND last = ?6";

	return collect(search, sql, false, length,
		       BALEEN_TAKEN_VALUES(search->taken, baleen_sql_number(search->now_ms),
					   baleen_sql_blob(key->first, key->n_first),
					   baleen_sql_blob(key->last, key->n_last)));
}

/* The prefix of a length that the key is in. */
static struct baleen_span prefix_of(const struct baleen_key *key, u32 length)
{
	bool is_ip6 = key->domain == BALEEN_IP6;
	u32 n_bits = (is_ip6 ? 128 : 32) - length;
	u64 hi = n_bits <= 64 ? 0 : n_bits == 128 ? ~0ull : (1ull << (n_bits - 64)) - 1;
	u64 lo = n_bits >= 64 ? ~0ull : (1ull << n_bits) - 1;
	struct baleen_ip6 address = { key->hi, key->lo };

	if (!is_ip6)
		address = baleen_span_of_ip4(key->ip4).first;
	return (struct baleen_span){
		.is_ip6 = is_ip6,
		.first = { address.hi & ~hi, address.lo & ~lo },
		.last = { address.hi | hi, address.lo | lo },
	};
}

static int collect_prefix(struct search *search, u32 length)
{
	struct baleen_span span = prefix_of(search->key, length);
	struct baleen_entry_bytes key;

	baleen_entry_bytes_of_span(&span, &key);
	return collect_exactly(search, &key, length);
}

/* The longest below @length that prefixes have, from @shortest on. */
static int next_length(struct search *search, u64 shortest, u64 *length)
{
	/* One seek a scope. */
	static const char sql[] =
		"SELECT max(length) + 1 FROM (SELECT (SELECT length FROM single INDEXED BY single_net"
		" WHERE scope = s.id AND length IS NOT NULL AND length >= ?4 AND length < ?5"
		" ORDER BY length DESC LIMIT 1) AS length FROM scope AS s WHERE name IN (?1, ?2, ?3))";
	u64 behind = 0;
	int ret = baleen_sql_do(search->state->book, sql, &behind, search->error,
				BALEEN_TAKEN_VALUES(search->taken, baleen_sql_number(shortest),
						    baleen_sql_number(*length)));

	if (ret > 0 && !behind)
		ret = 0;
	if (ret > 0)
		*length = behind - 1;
	return ret;
}

static int collect_prefixes(struct search *search)
{
	bool is_ip6 = search->key->domain == BALEEN_IP6;
	u64 shortest = is_ip6 ? BALEEN_RULE_ENTRY_IP6 : 0, length = shortest + (is_ip6 ? 128 : 32);
	int ret;

	while ((ret = next_length(search, shortest, &length)) > 0) {
		ret = collect_prefix(search, length - shortest);
		if (ret)
			break;
	}
	return ret;
}

static int collect_ranges(struct search *search, const struct baleen_entry_bytes *key)
{
	static const char sql[] =
		SELECT(" INDEXED BY single_net") " AND length = -1 AND first <= ?5 AND last >= ?5";

	return collect(search, sql, true, 0,
		       BALEEN_TAKEN_VALUES(search->taken, baleen_sql_number(search->now_ms),
					   baleen_sql_blob(key->first, key->n_first)));
}

/* The `last` of a lone address is a byte of 0. */
#define IS_LONE "last = x'00'"
#define LONE_IN(FIRST, LAST) "first >= " FIRST " AND first <= " LAST " AND " IS_LONE

/* The first and last address of a span, also where they are the same. */
static void ends_of(const struct baleen_span *span, struct baleen_entry_bytes *ends)
{
	baleen_entry_bytes_of_span(span, ends);
	if (!ends->n_last) {
		memcpy(ends->last, ends->first, ends->n_first);
		ends->n_last = ends->n_first;
	}
}

/* Lone addresses stand for the key when they are in its prefix that the rule has them as. */
static int collect_lone(struct search *search)
{
	static const char sql[] = SELECT("") " AND " LONE_IN("?5", "?6");
	const struct baleen_span net = prefix_of(search->key, search->taken.width);
	struct baleen_entry_bytes ends;

	ends_of(&net, &ends);
	return collect(search, sql, false, search->taken.width,
		       BALEEN_TAKEN_VALUES(search->taken, baleen_sql_number(search->now_ms),
					   baleen_sql_blob(ends.first, ends.n_first),
					   baleen_sql_blob(ends.last, ends.n_last)));
}

/* The one that decides first: the longest, of two of a length the exception. */
static int compare(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int order;

	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	if (x->entry.is_exception != y->entry.is_exception)
		return x->entry.is_exception ? -1 : 1;
	order = strcmp(x->entry.origin, y->entry.origin);
	return order ? order : baleen_entry_key_compare(&x->entry.key, &y->entry.key);
}

static int collect_address(struct search *search)
{
	u32 n_bits = search->key->domain == BALEEN_IP6 ? 128 : 32;
	struct baleen_span span = prefix_of(search->key, n_bits);
	struct baleen_entry_bytes alone;
	int err;

	baleen_entry_bytes_of_span(&span, &alone);
	err = collect_exactly(search, &alone, n_bits);
	if (!err && search->key->domain == BALEEN_IP6)
		err = collect_lone(search);
	if (!err)
		err = collect_prefixes(search);
	return err ? err : collect_ranges(search, &alone);
}

/* As text, which takes the fields that the rule has. */
static int collect_fields(struct search *search)
{
	static const char sql[] = "SELECT key_spec FROM rule WHERE name = ?";
	struct baleen_entry_key key = { .fields = "" };
	char fields[BALEEN_KEY_SPEC_TEXT];
	struct baleen_sql_rows rows =
		baleen_sql_ask(search->state, sql, search->error,
			       BALEEN_SQL_VALUES(baleen_sql_text(search->rule)));
	bool is_there = baleen_sql_next(&rows);
	struct baleen_entry_bytes alone;
	u32 key_spec;
	int err;

	if (is_there && (!baleen_sql_column(rows.row, 0, fields, sizeof(fields)) ||
			 baleen_key_spec_parse(fields, &key_spec, NULL)))
		rows.ret =
			baleen_sql_damaged(search->state, "a rule that cannot be", search->error);
	err = baleen_sql_end(&rows);
	if (err || !is_there)
		return err;
	baleen_key_format(search->key, key_spec, key.fields);
	key.key_spec = key_spec;
	baleen_entry_bytes_of(&key, &alone);
	return collect_exactly(search, &alone, 0);
}

int baleen_rule_entries_find(const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_key *key, u64 now_ms,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error)
{
	struct search search = {
		.state = state,
		.rule = rule,
		.key = key,
		.now_ms = now_ms,
		.error = error,
	};
	int ret = baleen_book_read(state, error);

	if (!ret)
		ret = baleen_scopes_of_rule(state, rule, &search.taken, error);
	if (!ret)
		ret = key->domain <= BALEEN_IP6 ? collect_address(&search) :
						  collect_fields(&search);
	if (!ret && search.n)
		qsort(search.found, search.n, sizeof(*search.found), compare);
	for (size_t i = 0; i < search.n && !ret; i++)
		ret = visit(&search.found[i].entry, data);
	free(search.found);
	return ret;
}

int baleen_rule_entries_lone(const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_rule_entry *net, const char *origin,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error)
{
	static const char sql[] =
		"SELECT " BALEEN_RULE_ENTRY_COLUMNS " FROM single WHERE " BALEEN_TAKEN
		" AND " LONE_IN("?4", "?5") " AND (?6 IS NULL OR origin = ?6) ORDER BY first";
	struct baleen_scopes_taken taken;
	struct baleen_entry_bytes ends;
	struct baleen_sql_rows rows;
	int err;

	if (!baleen_entry_key_is_addresses(&net->key) || !net->key.span.is_ip6 ||
	    net->key.is_lone || net->is_exception)
		return 0;
	err = baleen_book_read(state, error);
	if (!err)
		err = baleen_scopes_of_rule(state, rule, &taken, error);
	if (err || baleen_span_length(&net->key.span) != (int)taken.width)
		return err;
	ends_of(&net->key.span, &ends);
	rows = baleen_sql_ask(state->book, sql, error,
			      BALEEN_TAKEN_VALUES(taken, baleen_sql_blob(ends.first, ends.n_first),
						  baleen_sql_blob(ends.last, ends.n_last),
						  baleen_sql_text(origin)));
	return baleen_entry_rows_each(&rows, taken.width, visit, data);
}

/* Lone addresses are no longer than this, which is around them or just as wide. */
static bool has_no_lone_inside(const struct baleen_span *span, u32 width)
{
	return span->is_ip6 && baleen_span_length(span) >= (int)width;
}

/* Those that begin inside; ranges that began before. */
int baleen_rule_entries_disagree(const struct baleen_rule_store *state, const char *rule,
				 const struct baleen_span *span, bool is_exception, u64 now_ms,
				 bool *found, struct baleen_error *error)
{
#define DISAGREES "is_exception = ?7 AND (expires_ms = 0 OR expires_ms > ?4)"
	static const char sql[] =
		"SELECT 1 FROM single WHERE " BALEEN_TAKEN
		" AND first >= ?5 AND first <= ?6 AND NOT (?8 AND " IS_LONE ") AND " DISAGREES
		" AND NOT (first = ?5 AND last >= ?6)"
		" UNION ALL SELECT 1 FROM single INDEXED BY single_net WHERE " BALEEN_TAKEN
		" AND length = -1 AND first < ?5 AND last >= ?5 AND last < ?6 AND " DISAGREES
		" LIMIT 1";
	struct baleen_scopes_taken taken;
	struct baleen_entry_bytes key;
	int ret = baleen_book_read(state, error);

	if (!ret)
		ret = baleen_scopes_of_rule(state, rule, &taken, error);
	if (ret)
		return ret;
	baleen_entry_bytes_of_span(span, &key);
	if (!key.n_last) {
		*found = false;
		return 0;
	}
	ret = baleen_sql_do(state->book, sql, NULL, error,
			    BALEEN_TAKEN_VALUES(taken, baleen_sql_number(now_ms),
						baleen_sql_blob(key.first, key.n_first),
						baleen_sql_blob(key.last, key.n_last),
						baleen_sql_number(is_exception),
						baleen_sql_number(
							has_no_lone_inside(span, taken.width))));
	if (ret >= 0)
		*found = ret;
	return ret < 0 ? ret : 0;
}

int baleen_rule_entries_inside(const struct baleen_rule_store *state, const char *rule,
			       const struct baleen_span *span, const char *but_of, u64 now_ms,
			       u32 n, u64 *n_keys, u64 *end_ms, struct baleen_error *error)
{
	static const char sql[] =
		"WITH inside AS (SELECT max(CASE expires_ms WHEN 0 THEN 9223372036854775807"
		" ELSE expires_ms END) AS end_ms FROM single WHERE " BALEEN_TAKEN
		" AND first >= ?5 AND first <= ?6 AND last <= ?6"
		" AND NOT (first = ?5 AND last = ?6) AND is_exception = 0 AND origin != ?7"
		" AND (expires_ms = 0 OR expires_ms > ?4) AND NOT (?9 AND " IS_LONE ")"
		" GROUP BY CASE WHEN " IS_LONE " THEN net(first, ?10, 0) ELSE first END,"
		" CASE WHEN " IS_LONE " THEN net(first, ?10, 1) ELSE last END)"
		" SELECT (SELECT count(*) FROM inside),"
		" (SELECT end_ms FROM inside ORDER BY end_ms DESC LIMIT 1 OFFSET ?8)";
	struct baleen_scopes_taken taken;
	struct baleen_entry_bytes key;
	struct baleen_sql_rows rows;
	int err = baleen_book_read(state, error);

	if (!err)
		err = baleen_scopes_of_rule(state, rule, &taken, error);
	if (err)
		return err;
	baleen_entry_bytes_of_span(span, &key);
	rows = baleen_sql_ask(state->book, sql, error,
			      BALEEN_TAKEN_VALUES(taken, baleen_sql_number(now_ms),
						  baleen_sql_blob(key.first, key.n_first),
						  baleen_sql_blob(key.last, key.n_last),
						  baleen_sql_text(but_of), baleen_sql_number(n - 1),
						  baleen_sql_number(
							  has_no_lone_inside(span, taken.width)),
						  baleen_sql_number(taken.width)));
	if (baleen_sql_next(&rows)) {
		*n_keys = sqlite3_column_int64(rows.row, 0);
		if (*n_keys >= n)
			*end_ms = sqlite3_column_int64(rows.row, 1);
		if (*n_keys >= n && *end_ms == INT64_MAX)
			*end_ms = 0;
	}
	return baleen_sql_end(&rows);
}

int baleen_rule_entries_wide(const struct baleen_rule_store *state, const char *rule, u32 length,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error)
{
	static const char sql[] =
		"SELECT " BALEEN_RULE_ENTRY_COLUMNS " FROM single INDEXED BY single_net"
		" WHERE " BALEEN_TAKEN " AND length IS NOT NULL AND length >= ?4 AND length <= ?5"
		" AND is_exception = 0";
	struct baleen_scopes_taken taken;
	struct baleen_sql_rows rows;
	int err = baleen_book_read(state, error);

	if (!err)
		err = baleen_scopes_of_rule(state, rule, &taken, error);
	if (err)
		return err;
	rows = baleen_sql_ask(state->book, sql, error,
			      BALEEN_TAKEN_VALUES(taken, baleen_sql_number(BALEEN_RULE_ENTRY_RANGE),
						  baleen_sql_number(length)));
	return baleen_entry_rows_each(&rows, taken.width, visit, data);
}
