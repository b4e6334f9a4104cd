// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pardons and words on publishers, applied. */
#include <string.h>

#include "fleet/fleet_control.h"
#include "fleet/fleet_exception.h"
#include "fleet/fleet_view.h"
#include "state/sql.h"

/* In meta: a number that each pardon of an own ban makes larger. */
#define LET_GO "let-go"

int baleen_fleet_control_let_go(struct baleen_fleet_store *store, struct baleen_error *error)
{
	return baleen_sql_do(&store->db,
			     "INSERT INTO meta VALUES (?1, '1') ON CONFLICT DO UPDATE SET"
			     " value = CAST(value AS INTEGER) + 1",
			     NULL, error, BALEEN_SQL_VALUES(baleen_sql_text(LET_GO)));
}

int baleen_fleet_control_is_due(const struct baleen_fleet_store *store, u64 *mark,
				struct baleen_error *error)
{
	int ret;

	*mark = 0;
	ret = baleen_sql_do(&store->db, "SELECT CAST(value AS INTEGER) FROM meta WHERE name = ?",
			    mark, error, BALEEN_SQL_VALUES(baleen_sql_text(LET_GO)));
	return ret < 0 ? ret : 0;
}

int baleen_fleet_control_is_done(struct baleen_fleet_store *store, u64 mark,
				 struct baleen_error *error)
{
	return baleen_sql_do(&store->db,
			     "DELETE FROM meta WHERE name = ? AND CAST(value AS INTEGER) = ?", NULL,
			     error,
			     BALEEN_SQL_VALUES(baleen_sql_text(LET_GO), baleen_sql_number(mark)));
}

/* --- pardons --------------------------------------------------------------- */

/**
 * struct letting - a key on its way out of force
 * @work: is told
 * @pardon: of it
 * @is_own: a ban of this host is in it
 */
struct letting {
	struct baleen_fleet_work *work;
	const struct baleen_fleet_row *pardon;
	bool is_own;
};

/* It counted before the pardon, for nothing else keeps it out of force. */
static int tell_let_go(const struct baleen_fleet_found *found, void *data)
{
	struct letting *letting = data;
	const struct baleen_fleet_row row = { .entry = found->entry,
					      .force_ms = found->entry.end_ms };

	if (found->state != BALEEN_FLEET_COUNTS || found->base_ms > letting->pardon->base_ms)
		return 0;
	letting->is_own |= found->is_own;
	if (found->is_own)
		return 0;
	return baleen_fleet_effect_add(letting->work, found->publisher, &row, false);
}

/* A wider ban stays, without the key. */
static int tell_exception(struct baleen_fleet_work *work, const struct baleen_fleet_row *pardon)
{
	struct baleen_fleet_result *result = work->result;
	int ret = baleen_fleet_exception_is(work->receiver->store, &pardon->entry, pardon->base_ms,
					    work->receiver->now_ms, work->error);

	if (ret <= 0)
		return ret;
	ret = baleen_fleet_effect_add(work, work->account.publisher.name, pardon, true);
	if (!ret)
		result->effect[result->n_effects - 1].is_exception = true;
	return ret;
}

static int let_go(struct baleen_fleet_work *work, const struct baleen_fleet_row *pardon)
{
	struct letting letting = { .work = work, .pardon = pardon };
	struct baleen_fleet_store *store = work->receiver->store;
	const struct baleen_fleet_entry *entry = &pardon->entry;
	int err = baleen_fleet_view_inside(store, entry->set, &entry->key, work->receiver->now_ms,
					   tell_let_go, &letting, work->error);

	if (!err)
		err = tell_exception(work, pardon);
	if (!err && letting.is_own)
		err = baleen_fleet_control_let_go(store, work->error);
	return err;
}

/* --- both -------------------------------------------------------------------- */

static bool is_in_force(const struct baleen_fleet_work *work, const struct baleen_fleet_row *row)
{
	return row && row->hold == BALEEN_FLEET_IN_FORCE && row->force_ms > work->receiver->now_ms;
}

int baleen_fleet_control_changes(struct baleen_fleet_work *work, const struct baleen_fleet_row *old,
				 const struct baleen_fleet_row *row)
{
	bool was = is_in_force(work, old), is = is_in_force(work, row);
	const struct baleen_fleet_row *any = row ? row : old;

	if (!was && !is)
		return 0;
	/* Bans that did not count may count again. */
	if (baleen_fleet_is_word(&any->entry) || !is) {
		work->result->is_whole = true;
		return 0;
	}
	return let_go(work, row);
}
