// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bans of a fleet that are in force on this host. */
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_rows.h"
#include "fleet/fleet_view.h"

#define SUSPENDED "(SELECT s.id FROM publisher s WHERE " BALEEN_FLEET_SUSPENDED("s.name") ")"

/* Columns before those of an entry: the first asks for each row, the other once for all. */
#define FOUND_COLUMNS \
	"p.name, p.is_own, " BALEEN_FLEET_SUSPENDED("p.name") ", " BALEEN_FLEET_ROW_COLUMNS
#define FOUND_OF_ALL "p.name, p.is_own, p.id IN " SUSPENDED ", " BALEEN_FLEET_ROW_COLUMNS
#define N_BEFORE 3

/**
 * struct looking - a question on its way
 * @store: the database
 * @now_ms: broker's time
 * @pardons: of operators
 * @visit: called with what is found
 * @data: passed to @visit
 * @error: filled in on failure
 */
struct looking {
	const struct baleen_fleet_store *store;
	u64 now_ms;
	struct baleen_fleet_pardons pardons;
	int (*visit)(const struct baleen_fleet_found *found, void *data);
	void *data;
	struct baleen_error *error;
};

const char *baleen_fleet_state_text(u32 state, u32 hold, char *text, size_t room)
{
	static const char *const words[] = {
		[BALEEN_FLEET_COUNTS] = "in force",
		[BALEEN_FLEET_IS_HELD] = "held",
		[BALEEN_FLEET_IS_SUSPENDED] = "its publisher is suspended",
		[BALEEN_FLEET_IS_PARDONED] = "pardoned",
		[BALEEN_FLEET_HAS_ENDED] = "ended",
	};

	if (state == BALEEN_FLEET_IS_HELD)
		snprintf(text, room, "held: %s", baleen_fleet_hold_name(hold));
	else
		snprintf(text, room, "%s", words[state]);
	return text;
}

static u32 state_of(struct looking *looking, const struct baleen_fleet_row *row, bool is_suspended)
{
	if (row->force_ms <= looking->now_ms)
		return BALEEN_FLEET_HAS_ENDED;
	if (is_suspended)
		return BALEEN_FLEET_IS_SUSPENDED;
	if (baleen_fleet_pardons_hold(&looking->pardons, &row->entry, row->base_ms))
		return BALEEN_FLEET_IS_PARDONED;
	return row->hold == BALEEN_FLEET_IN_FORCE ? BALEEN_FLEET_COUNTS : BALEEN_FLEET_IS_HELD;
}

/* All rows of a statement; ends it. */
static int visit_rows(struct looking *looking, struct baleen_sql_rows *rows)
{
	struct baleen_fleet_found found;
	struct baleen_fleet_row row;

	while (baleen_sql_next(rows)) {
		memset(&found, 0, sizeof(found));
		rows->ret = baleen_fleet_row_read(looking->store, rows->row, N_BEFORE, &row,
						  looking->error);
		if (rows->ret)
			continue;
		if (!baleen_sql_column(rows->row, 0, found.publisher, sizeof(found.publisher))) {
			rows->ret = baleen_sql_damaged(&looking->store->db, "a publisher",
						       looking->error);
			continue;
		}
		found.is_own = sqlite3_column_int(rows->row, 1);
		found.state = state_of(looking, &row, sqlite3_column_int(rows->row, 2));
		found.hold = row.hold;
		found.base_ms = row.base_ms;
		found.entry = row.entry;
		found.entry.end_ms = row.force_ms;
		rows->ret = looking->visit(&found, looking->data);
	}
	if (!rows->ret)
		rows->ret = looking->pardons.ret;
	return baleen_sql_end(rows);
}

/* --- all ------------------------------------------------------------------- */

/**
 * struct telling - what counts, for somebody else
 * @visit: called with each
 * @data: passed to @visit
 */
struct telling {
	int (*visit)(const struct baleen_fleet_effect *effect, void *data);
	void *data;
};

static int tell(const struct baleen_fleet_found *found, void *data)
{
	struct telling *telling = data;
	struct baleen_fleet_effect effect = { .is_in_force = true, .entry = found->entry };

	if (found->state != BALEEN_FLEET_COUNTS)
		return 0;
	strcpy(effect.publisher, found->publisher);
	return telling->visit(&effect, telling->data);
}

int baleen_fleet_view_each(const struct baleen_fleet_store *store, const char *publisher,
			   u64 now_ms,
			   int (*visit)(const struct baleen_fleet_effect *effect, void *data),
			   void *data, struct baleen_error *error)
{
	struct telling telling = { .visit = visit, .data = data };
	struct looking looking = {
		.store = store, .now_ms = now_ms, .visit = tell, .data = &telling, .error = error
	};
	struct baleen_sql_rows rows;
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	if (ret)
		return ret;
	rows = baleen_sql_ask(
		&store->db,
		"SELECT " FOUND_OF_ALL " FROM publisher p JOIN entry ON publisher = p.id"
		" WHERE (?1 IS NULL AND NOT p.is_own OR p.name = ?1) AND NOT p.is_control AND hold = 0"
		" AND force_ms > ?2 AND p.id NOT IN " SUSPENDED
		" ORDER BY p.name, of_set, family, address, length",
		error, BALEEN_SQL_VALUES(baleen_sql_text(publisher), baleen_sql_number(now_ms)));
	ret = visit_rows(&looking, &rows);
	return ret;
}

/* --- one key --------------------------------------------------------------- */

static int find_wide(struct looking *looking, const struct baleen_fleet_key *key, int shortest)
{
	int ret = 0;

	for (int length = key->length; length >= shortest && !ret; length--) {
		struct baleen_fleet_key wide = baleen_fleet_key_widen(key, length);
		struct baleen_sql_rows rows = baleen_sql_ask(
			&looking->store->db,
			"SELECT " FOUND_COLUMNS " FROM entry JOIN publisher p ON publisher = p.id"
			" WHERE family = ? AND length = ? AND address = ? AND NOT entry.is_control"
			" ORDER BY p.name, of_set",
			looking->error,
			BALEEN_SQL_VALUES(baleen_sql_number(wide.family), baleen_sql_number(length),
					  baleen_sql_blob(wide.address,
							  baleen_fleet_key_bytes(&wide))));

		ret = visit_rows(looking, &rows);
	}
	return ret;
}

int baleen_fleet_view_find(const struct baleen_fleet_store *store,
			   const struct baleen_fleet_key *key, u64 now_ms,
			   int (*visit)(const struct baleen_fleet_found *found, void *data),
			   void *data, struct baleen_error *error)
{
	struct looking looking = {
		.store = store, .now_ms = now_ms, .visit = visit, .data = data, .error = error
	};
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	if (!ret)
		ret = find_wide(&looking, key, 0);
	return ret;
}

int baleen_fleet_view_exact(const struct baleen_fleet_store *store,
			    const struct baleen_fleet_key *key, u64 now_ms,
			    int (*visit)(const struct baleen_fleet_found *found, void *data),
			    void *data, struct baleen_error *error)
{
	struct looking looking = {
		.store = store, .now_ms = now_ms, .visit = visit, .data = data, .error = error
	};
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	return ret ? ret : find_wide(&looking, key, key->length);
}

/* The last address of a prefix. */
static struct baleen_fleet_key last_of(const struct baleen_fleet_key *key)
{
	struct baleen_fleet_key last = *key;

	for (u32 i = key->length; i < 8 * baleen_fleet_key_bytes(key); i++)
		last.address[i / 8] |= 0x80 >> i % 8;
	return last;
}

static int find_inside(struct looking *looking, const char *set, const struct baleen_fleet_key *key)
{
	struct baleen_fleet_key last = last_of(key);
	struct baleen_sql_rows rows = baleen_sql_ask(
		&looking->store->db,
		"SELECT " FOUND_COLUMNS " FROM entry JOIN publisher p ON publisher = p.id"
		" WHERE family = ? AND address BETWEEN ? AND ? AND length >= ? AND of_set = ?"
		" AND NOT entry.is_control"
		" ORDER BY p.name, address, length",
		looking->error,
		BALEEN_SQL_VALUES(baleen_sql_number(key->family),
				  baleen_sql_blob(key->address, baleen_fleet_key_bytes(key)),
				  baleen_sql_blob(last.address, baleen_fleet_key_bytes(key)),
				  baleen_sql_number(key->length), baleen_sql_text(set)));

	return visit_rows(looking, &rows);
}

int baleen_fleet_view_inside(const struct baleen_fleet_store *store, const char *set,
			     const struct baleen_fleet_key *key, u64 now_ms,
			     int (*visit)(const struct baleen_fleet_found *found, void *data),
			     void *data, struct baleen_error *error)
{
	struct looking looking = {
		.store = store, .now_ms = now_ms, .visit = visit, .data = data, .error = error
	};
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	if (!ret)
		ret = find_inside(&looking, set, key);
	return ret;
}

int baleen_fleet_view_has_pardons(const struct baleen_fleet_store *store,
				  const struct baleen_fleet_entry *entry,
				  struct baleen_error *error)
{
	const struct baleen_fleet_key *key = &entry->key;
	struct baleen_fleet_key last = last_of(key);
	u64 has = 0;
	int ret;

	if (key->length == 8 * baleen_fleet_key_bytes(key))
		return 0;
	ret = baleen_sql_do(
		&store->db,
		"SELECT EXISTS (SELECT 1 FROM entry WHERE is_control AND of_set = ?"
		" AND family = ? AND address BETWEEN ? AND ? AND length > ?)",
		&has, error,
		BALEEN_SQL_VALUES(baleen_sql_text(entry->set), baleen_sql_number(key->family),
				  baleen_sql_blob(key->address, baleen_fleet_key_bytes(key)),
				  baleen_sql_blob(last.address, baleen_fleet_key_bytes(key)),
				  baleen_sql_number(key->length)));
	return ret < 0 ? ret : has != 0;
}

int baleen_fleet_view_wide(const struct baleen_fleet_store *store, u64 now_ms,
			   int (*visit)(const struct baleen_fleet_found *found, void *data),
			   void *data, struct baleen_error *error)
{
	struct looking looking = {
		.store = store, .now_ms = now_ms, .visit = visit, .data = data, .error = error
	};
	struct baleen_sql_rows rows;
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	if (ret)
		return ret;
	rows = baleen_sql_ask(&store->db,
			      "SELECT " FOUND_OF_ALL
			      " FROM entry JOIN publisher p ON publisher = p.id"
			      " WHERE NOT entry.is_control AND hold = 0 AND force_ms > ?"
			      " AND length < CASE family WHEN 4 THEN 32 ELSE 128 END",
			      error, BALEEN_SQL_VALUES(baleen_sql_number(now_ms)));
	return visit_rows(&looking, &rows);
}

/* --- own bans that were let go --------------------------------------------- */

/**
 * struct taking_back - own entries that pardons are about
 * @visit: called with each
 * @data: passed to @visit
 */
struct taking_back {
	int (*visit)(const struct baleen_fleet_found *found, void *data);
	void *data;
};

static int look_at_own(const struct baleen_fleet_found *found, void *data)
{
	struct taking_back *back = data;

	if (!found->is_own || found->state != BALEEN_FLEET_IS_PARDONED)
		return 0;
	return back->visit(found, back->data);
}

int baleen_fleet_view_taken_back(const struct baleen_fleet_store *store, u64 now_ms,
				 int (*visit)(const struct baleen_fleet_found *found, void *data),
				 void *data, struct baleen_error *error)
{
	struct taking_back back = { .visit = visit, .data = data };
	struct looking looking = { .store = store,
				   .now_ms = now_ms,
				   .visit = look_at_own,
				   .data = &back,
				   .error = error };
	struct baleen_sql_rows rows;
	int ret = baleen_fleet_pardons_open(store, now_ms, &looking.pardons, error);

	if (ret)
		return ret;
	rows = baleen_sql_ask(&store->db,
			      "SELECT " FOUND_OF_ALL
			      " FROM publisher p JOIN entry ON publisher = p.id"
			      " WHERE p.is_own AND NOT p.is_control",
			      error, NULL, 0);
	return visit_rows(&looking, &rows);
}

u64 baleen_fleet_view_next_end(const struct baleen_fleet_store *store, u64 now_ms)
{
	u64 next_ms = 0;

	baleen_sql_do(&store->db,
		      "SELECT force_ms FROM entry JOIN publisher p ON publisher = p.id"
		      " WHERE force_ms > ? AND hold = 0 AND NOT p.is_own AND NOT p.is_control"
		      " ORDER BY force_ms LIMIT 1",
		      &next_ms, NULL, BALEEN_SQL_VALUES(baleen_sql_number(now_ms)));
	return next_ms;
}

/* --- for people ------------------------------------------------------------- */

int baleen_fleet_view_newest(const struct baleen_fleet_store *store, u64 most,
			     int (*visit)(const struct baleen_fleet_found *found, void *data),
			     void *data, struct baleen_error *error)
{
	struct looking looking = { .store = store, .visit = visit, .data = data, .error = error };
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT p.name, p.is_own, 0, " BALEEN_FLEET_ROW_COLUMNS
		" FROM entry JOIN publisher p ON publisher = p.id"
		" ORDER BY made_ms DESC, p.name, of_set, family, address, length LIMIT ?",
		error, BALEEN_SQL_VALUES(baleen_sql_number(most)));

	return visit_rows(&looking, &rows);
}

int baleen_fleet_view_holds(const struct baleen_fleet_store *store, const char *publisher,
			    u64 now_ms, u64 *n, struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT hold, count(*) FROM entry WHERE publisher ="
		" (SELECT id FROM publisher WHERE name = ?) AND force_ms > ? GROUP BY hold",
		error, BALEEN_SQL_VALUES(baleen_sql_text(publisher), baleen_sql_number(now_ms)));

	memset(n, 0, BALEEN_FLEET_N_HOLDS * sizeof(*n));
	while (baleen_sql_next(&rows)) {
		u32 hold = sqlite3_column_int(rows.row, 0);

		if (hold < BALEEN_FLEET_N_HOLDS)
			n[hold] = sqlite3_column_int64(rows.row, 1);
	}
	return baleen_sql_end(&rows);
}
