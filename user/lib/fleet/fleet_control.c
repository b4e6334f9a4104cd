// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages of operators, applied. */
#include <string.h>

#include "fleet/fleet_control.h"
#include "fleet/fleet_signal.h"
#include "fleet/fleet_view.h"

/* It counted before the pardon, for nothing else keeps it out of force. */
static int tell_let_go(const struct baleen_fleet_found *found, void *data)
{
	struct baleen_fleet_work *work = data;
	const struct baleen_fleet_row row = { .entry = found->entry,
					      .force_ms = found->entry.end_ms };

	if (found->is_own || found->state != BALEEN_FLEET_COUNTS ||
	    found->base_ms > work->message->made_ms)
		return 0;
	return baleen_fleet_effect_add(work, found->publisher, &row, false);
}

static int apply_pardon(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_store *store = work->receiver->store;
	bool is_new;
	int err = baleen_fleet_view_inside(store, message->set, &message->key,
					   work->receiver->now_ms, tell_let_go, work, work->error);

	if (!err)
		err = baleen_fleet_pardons_put(store, message, &is_new, work->error);
	if (err)
		return err;
	if (!is_new) {
		baleen_fleet_result_free(work->result);
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
	}
	return 0;
}

static int apply_suspension(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_store *store = work->receiver->store;
	bool is_suspended = message->control == BALEEN_FLEET_SUSPEND;
	int err = baleen_sql_do(
		&store->db,
		"INSERT INTO suspended VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET"
		" is_suspended = ?2, made_ms = ?3, by = ?4, reason = ?5 WHERE made_ms < ?3",
		NULL, work->error,
		BALEEN_SQL_VALUES(baleen_sql_text(message->target), baleen_sql_number(is_suspended),
				  baleen_sql_number(message->made_ms),
				  baleen_sql_text(message->publisher),
				  baleen_sql_text(message->reason)));

	if (err)
		return err;
	work->result->is_whole = sqlite3_changes(store->db.db);
	if (!work->result->is_whole)
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
	return 0;
}

static int apply_signal(struct baleen_fleet_work *work)
{
	bool is_new;
	int err =
		baleen_fleet_signal_put(work->receiver->store, work->message, &is_new, work->error);

	if (!err && !is_new)
		work->result->verdict = BALEEN_FLEET_DUPLICATE;
	return err;
}

int baleen_fleet_control_apply(struct baleen_fleet_work *work)
{
	switch (work->message->control) {
	case BALEEN_FLEET_PARDON: return apply_pardon(work);
	case BALEEN_FLEET_SUSPEND:
	case BALEEN_FLEET_RESUME: return apply_suspension(work);
	case BALEEN_FLEET_SIGNAL: return apply_signal(work);
	default: return 0;
	}
}
