// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of single entries of a rule, in the book and in what packets see. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/batch_rows.h"
#include "deploy/batch_rule.h"
#include "state/book.h"
#include "state/journal.h"

/**
 * struct work - a batch on its way
 * @rule: its rule
 * @batch: what to do
 * @own: the book as the state sees it, but without the bans of all rules
 * @repeats: of each change, whether one before has its key; NULL when nobody asks
 */
struct work {
	struct baleen_batch_rule rule;
	struct baleen_batch *batch;
	struct baleen_rule_store own;
	bool *repeats;
};

static struct baleen_rule_store *state_of(const struct work *work)
{
	return &work->rule.rows.deploy->state;
}

/* --- rows ------------------------------------------------------------------ */

static int put_row(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_repeat = work->repeats && work->repeats[change - work->batch->change];
	struct baleen_gate *gate = &work->rule.gate;
	bool is_new = false, has_room = true;
	int err = 0;

	if (!change->entry.is_exception && !is_repeat)
		err = baleen_gate_has_room(gate, &change->entry, &has_room);
	if (!err && !has_room) {
		change->answer = BALEEN_GATE_FULL;
		change->result = -EPERM;
		return 0;
	}
	if (!err)
		err = baleen_deploy_rows_put(&work->rule.rows, &change->entry, &is_new);
	if (err)
		return err;
	change->result = is_new ? 0 : -EEXIST;
	/* Those that a snapshot replaces were not counted. */
	gate->n_entries += is_new || (work->repeats && !is_repeat);
	return 0;
}

static int change_rows(struct work *work)
{
	int err = 0;

	for (size_t i = 0; i < work->batch->n && !err; i++) {
		struct baleen_rule_entry_change *change = &work->batch->change[i];
		u64 n = 0;

		if (change->result == -EPERM)
			continue;
		if (change->op == BALEEN_RULE_ENTRY_PUT) {
			err = put_row(work, change);
			continue;
		}
		err = baleen_deploy_rows_take(&work->rule.rows, &change->entry, &n);
		change->result = n ? 0 : -ENOENT;
		work->rule.gate.n_entries -= n;
	}
	return err;
}

static int touch_each(const struct baleen_rule_entry *entry, void *data)
{
	return baleen_deploy_rows_touch(data, entry, false, false);
}

static int flush_rows(struct work *work)
{
	const char *origin = baleen_batch_flushed(work->batch);
	struct baleen_deploy_rows *rows = &work->rule.rows;
	int err;

	if (!work->batch->flush_of)
		return 0;
	err = baleen_rule_entries_each(&work->own, work->batch->rule, origin, touch_each, rows,
				       rows->error);
	if (!err)
		err = baleen_rule_entries_flush(&work->own, work->batch->rule, origin,
						&work->batch->n_flushed, rows->error);
	rows->is_changed |= work->batch->n_flushed;
	return err;
}

static int remove_leftover(const struct baleen_rule_entry *entry, void *data)
{
	struct work *work = data;
	u64 n = 0;
	int err = baleen_deploy_rows_remove(&work->rule.rows, entry, &n);

	work->batch->n_flushed += n;
	return err;
}

/* --- batch ----------------------------------------------------------------- */

static int change_book(struct work *work)
{
	struct baleen_deploy_rows *rows = &work->rule.rows;
	int err;

	work->own = baleen_book_of(state_of(work));
	if (work->batch->snapshot_of)
		baleen_journal_many(state_of(work));
	err = flush_rows(work);
	if (!err && baleen_deploy_rows_rule(rows)->limits.max_entries)
		err = baleen_batch_repeats(work->batch, &work->repeats, rows->error);
	if (!err)
		err = change_rows(work);
	if (!err)
		err = baleen_batch_leftovers(work->batch, &work->own, work->batch->rule,
					     remove_leftover, work, rows->error);
	return err ? err : baleen_batch_rule_widen(&work->rule);
}

static int put(void *data, struct baleen_error *error)
{
	struct work *work = data;

	return baleen_batch_rule_agree(&work->rule, &work->batch->in_place, error);
}

static int undo(void *data, bool is_put, struct baleen_error *error)
{
	struct work *work = data;

	work->rule.rows.dirty.error = error;
	return baleen_dirty_keys_undo(&work->rule.rows.dirty, work->batch->in_place);
}

static int note_answer(void *data, struct baleen_rule_entry_change *change,
		       enum baleen_gate_answer answer, const struct baleen_protected *protected)
{
	change->answer = answer;
	change->protected = *protected;
	if (answer != BALEEN_GATE_NARROWED)
		change->result = -EPERM;
	return 0;
}

static int run(struct work *work)
{
	struct baleen_deploy_rows *rows = &work->rule.rows;
	struct baleen_deploy_change change = {
		.put = put,
		.undo = undo,
		.data = work,
		.is_of_book = true,
	};
	int err = baleen_batch_check_origins(work->batch, rows->error);

	if (!err)
		err = baleen_batch_rule_start(&work->rule, work->batch->rule);
	if (!err)
		err = baleen_batch_rule_ask(&work->rule, note_answer, NULL);
	if (!err)
		err = baleen_batch_rule_protect(&work->rule);
	change.keeps_mark = work->rule.is_narrowed;
	if (!err)
		err = baleen_book_begin(state_of(work), rows->error);
	if (err)
		return err;
	err = baleen_book_refused(state_of(work), change_book(work));
	/* Nothing of the state is reported but the rule, which its entries outlive. */
	state_of(work)->is_synced = true;
	if (!err && rows->is_changed && !work->batch->is_trial)
		return baleen_deploy_commit(rows->deploy, &change, rows->error);
	baleen_book_rollback(state_of(work));
	if (!err)
		baleen_book_sync(state_of(work));
	return err;
}

static int run_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
		     struct baleen_error *error)
{
	struct work work = {
		.rule = { .rows = { .deploy = deploy, .error = error }, .batch = batch },
		.batch = batch,
	};
	int err;

	baleen_batch_begin(batch);
	err = run(&work);
	strcpy(batch->widened, work.rule.widened);
	baleen_batch_rule_end(&work.rule);
	free(work.repeats);
	return err;
}

int baleen_deploy_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
			struct baleen_error *error)
{
	struct baleen_error ignored;
	int err = run_batch(deploy, batch, error ? error : &ignored);

	if (!batch->is_trial && baleen_book_goes_on(&deploy->state, err))
		err = run_batch(deploy, batch, error ? error : &ignored);
	if (!err || err == -EPERM)
		baleen_batch_note_refused(batch, &deploy->state, batch->rule);
	return err;
}
