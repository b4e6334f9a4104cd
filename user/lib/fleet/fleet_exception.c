// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys that were let go inside wider bans. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_exception.h"
#include "fleet/fleet_rows.h"
#include "fleet/fleet_view.h"
#include "util/array.h"

/**
 * struct covering - the bans that a pardoned key is in
 * @entry: of the pardon
 * @base_ms: of the pardon
 * @by_older: a wider one that was made before counts
 * @by_newer: one that was made since counts
 */
struct covering {
	const struct baleen_fleet_entry *entry;
	u64 base_ms;
	bool by_older;
	bool by_newer;
};

/* An older ban of the very key is out of force by the pardon itself. */
static void look_at(struct covering *covering, u64 base_ms, u32 length)
{
	if (base_ms > covering->base_ms)
		covering->by_newer = true;
	else if (length < covering->entry->key.length)
		covering->by_older = true;
}

static int look_at_found(const struct baleen_fleet_found *found, void *data)
{
	struct covering *covering = data;

	if (found->state == BALEEN_FLEET_COUNTS && !strcmp(found->entry.set, covering->entry->set))
		look_at(covering, found->base_ms, found->entry.key.length);
	return 0;
}

int baleen_fleet_exception_is(const struct baleen_fleet_store *store,
			      const struct baleen_fleet_entry *entry, u64 base_ms, u64 now_ms,
			      struct baleen_error *error)
{
	struct covering covering = { .entry = entry, .base_ms = base_ms };
	int err =
		baleen_fleet_view_find(store, &entry->key, now_ms, look_at_found, &covering, error);

	return err ? err : covering.by_older && !covering.by_newer;
}

/* --- all ------------------------------------------------------------------- */

/**
 * struct wide - a prefix that is banned
 * @entry: it
 * @base_ms: when it was made
 */
struct wide {
	struct baleen_fleet_entry entry;
	u64 base_ms;
};

/**
 * struct sweep - all pardons are looked at
 * @store: the database
 * @now_ms: broker's time
 * @wide: prefixes that are banned and count, in the order of entries
 * @n: how many
 * @has: by length, of IPv4 and IPv6: there is one
 * @error: filled in on failure
 */
struct sweep {
	const struct baleen_fleet_store *store;
	u64 now_ms;
	struct wide *wide;
	size_t n;
	bool has[2][129];
	struct baleen_error *error;
};

static int compare_wide(const void *a, const void *b)
{
	const struct wide *x = a, *y = b;

	return baleen_fleet_entry_compare(&x->entry, &y->entry);
}

static int keep_wide(const struct baleen_fleet_found *found, void *data)
{
	const struct baleen_fleet_key *key = &found->entry.key;
	struct sweep *sweep = data;

	if (found->state != BALEEN_FLEET_COUNTS || key->length == (key->family == 4 ? 32 : 128))
		return 0;
	if (baleen_array_add(&sweep->wide, sweep->n))
		return baleen_no_memory(sweep->error);
	sweep->wide[sweep->n++] = (struct wide){ found->entry, found->base_ms };
	sweep->has[key->family == 6][key->length] = true;
	return 0;
}

/* All that have this key. */
static void look_at_equal(const struct sweep *sweep, const struct wide *like,
			  struct covering *covering)
{
	size_t first = 0, end = sweep->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare_wide(&sweep->wide[middle], like) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < sweep->n && !compare_wide(&sweep->wide[first], like); first++)
		look_at(covering, sweep->wide[first].base_ms, like->entry.key.length);
}

/* Is there a newer one of the key itself, which no sweep has? */
static int is_banned_again(const struct sweep *sweep, const struct covering *covering)
{
	struct covering whole = { .entry = covering->entry, .base_ms = covering->base_ms };
	int err = baleen_fleet_view_exact(sweep->store, &covering->entry->key, sweep->now_ms,
					  look_at_found, &whole, sweep->error);

	return err ? err : whole.by_newer;
}

static int is_exception(const struct sweep *sweep, const struct baleen_fleet_row *pardon)
{
	const struct baleen_fleet_key *key = &pardon->entry.key;
	struct covering covering = { .entry = &pardon->entry, .base_ms = pardon->base_ms };
	struct wide like;
	int ret;

	strcpy(like.entry.set, pardon->entry.set);
	for (u32 length = 0; length < key->length; length++) {
		if (!sweep->has[key->family == 6][length])
			continue;
		like.entry.key = baleen_fleet_key_widen(key, length);
		look_at_equal(sweep, &like, &covering);
	}
	if (!covering.by_older || covering.by_newer)
		return 0;
	ret = is_banned_again(sweep, &covering);
	return ret < 0 ? ret : !ret;
}

/* The newest pardon of a key counts, of two operators, too. */
static int visit_pardons(struct sweep *sweep,
			 int (*visit)(const struct baleen_fleet_entry *pardon, void *data),
			 void *data)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&sweep->store->db,
		"SELECT of_set, family, length, address, MAX(made_ms), MAX(end_ms), MIN(reason), 0,"
		" MAX(base_ms), MAX(force_ms), 0 FROM entry WHERE is_control AND family <> ?"
		" AND hold = 0 AND force_ms > ? GROUP BY of_set, family, address, length",
		sweep->error,
		BALEEN_SQL_VALUES(baleen_sql_number(BALEEN_FLEET_FAMILY_NAME),
				  baleen_sql_number(sweep->now_ms)));
	struct baleen_fleet_row row;

	while (baleen_sql_next(&rows)) {
		rows.ret = baleen_fleet_row_read(sweep->store, rows.row, 0, &row, sweep->error);
		if (!rows.ret)
			rows.ret = is_exception(sweep, &row);
		if (rows.ret > 0)
			rows.ret = visit(&row.entry, data);
	}
	return baleen_sql_end(&rows);
}

int baleen_fleet_exceptions_each(const struct baleen_fleet_store *store, u64 now_ms,
				 int (*visit)(const struct baleen_fleet_entry *pardon, void *data),
				 void *data, struct baleen_error *error)
{
	struct sweep sweep = { .store = store, .now_ms = now_ms, .error = error };
	int err = baleen_fleet_view_wide(store, now_ms, keep_wide, &sweep, error);

	if (!err && sweep.n) {
		qsort(sweep.wide, sweep.n, sizeof(*sweep.wide), compare_wide);
		err = visit_pardons(&sweep, visit, data);
	}
	free(sweep.wide);
	return err;
}
