// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of single entries, in the state and in what packets see. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/deploy_rows.h"
#include "deploy/protect.h"
#include "state/book.h"
#include "state/journal.h"
#include "util/array.h"

/**
 * struct work - a batch on its way
 * @rows: what it does to rows
 * @batch: what to do
 * @gate: the door to the rule
 * @prefix_gate: the same for prefixes that nobody asked for
 * @has_prefix_gate: it is open
 * @own_host: addresses of this host, when the caller has none
 * @at: the next change that the door is asked about
 * @repeats: of each change, whether one before has its key; NULL when nobody asks
 * @is_narrowed: an entry is taken without what is protected in it
 * @plan: the rules that are derived anew for that
 */
struct work {
	struct baleen_deploy_rows rows;
	struct baleen_batch *batch;
	struct baleen_gate gate;
	struct baleen_gate prefix_gate;
	bool has_prefix_gate;
	struct baleen_host own_host;
	size_t at;
	bool *repeats;
	bool is_narrowed;
	struct baleen_deploy_plan plan;
};

static struct baleen_rule_store *state_of(const struct work *work)
{
	return &work->rows.deploy->state;
}

/* --- the door --------------------------------------------------------------- */

static struct baleen_gate make_gate(struct work *work)
{
	const struct baleen_batch *batch = work->batch;

	return (struct baleen_gate){
		.state = state_of(work),
		.rule = baleen_deploy_rows_rule(&work->rows),
		.asker = batch->asker,
		.forces = batch->forces,
		.narrows = batch->narrows,
		.replaces = batch->snapshot_of ?: batch->flush_of,
		.cuts_sessions = batch->cuts_sessions,
		.sessions = work->rows.rules.guard_sessions,
		.host = batch->host ? batch->host : &work->own_host,
		.error = work->rows.error,
	};
}

static bool is_addition(const struct baleen_rule_entry_change *change)
{
	return change->op == BALEEN_RULE_ENTRY_PUT && !change->entry.is_exception;
}

static const struct baleen_rule_entry *next_addition(void *data)
{
	struct work *work = data;

	while (work->at < work->batch->n) {
		const struct baleen_rule_entry_change *change = &work->batch->change[work->at++];

		if (is_addition(change))
			return &change->entry;
	}
	return NULL;
}

static int ask(struct work *work, struct baleen_rule_entry_change *change)
{
	enum baleen_gate_answer answer;
	int err = baleen_gate_ask(&work->gate, &change->entry, &answer, &change->protected);

	if (err)
		return err;
	change->answer = answer;
	if (answer == BALEEN_GATE_NARROWED)
		work->is_narrowed = true;
	else if (answer != BALEEN_GATE_OPEN)
		change->result = -EPERM;
	return 0;
}

/* Entries are narrowed by the addresses of now, which the state has from here on. Who dies before
 * the filter has them, too, leaves the mark.
 */
static int protect(struct work *work)
{
	struct baleen_rule_store *state = state_of(work);
	int err = baleen_rule_store_mark(state, work->rows.error);

	if (!err)
		err = baleen_rule_store_begin(state, work->rows.error);
	if (!err)
		err = baleen_protect(state, &work->plan, NULL, work->rows.error);
	if (!err)
		return baleen_rule_store_commit(state, work->rows.error);
	baleen_rule_store_rollback(state);
	return err;
}

static int ask_all(struct work *work)
{
	bool meets;
	int err;

	work->gate = make_gate(work);
	err = baleen_gate_open(&work->gate);
	if (!err)
		err = baleen_gate_meets(&work->gate, next_addition, work, &meets);
	for (size_t i = 0; i < work->batch->n && !err && meets; i++)
		if (is_addition(&work->batch->change[i]))
			err = ask(work, &work->batch->change[i]);
	return !err && work->is_narrowed && !work->batch->is_trial ? protect(work) : err;
}

/* A prefix is banned by nobody's order: what is withheld in it, peers among it whatever the
 * batch says of them, saves all of it.
 */
static int refuse_prefix(void *data, const struct baleen_rule_entry *entry, bool *is_refused)
{
	struct work *work = data;
	struct baleen_rule_entry asked = *entry;
	enum baleen_gate_answer answer;
	struct baleen_protected ignored;
	bool has_room = true;
	int err = 0;

	if (!work->has_prefix_gate) {
		work->prefix_gate = make_gate(work);
		work->prefix_gate.asker = BALEEN_ASKER_TYPED;
		work->prefix_gate.forces = work->prefix_gate.narrows = false;
		work->prefix_gate.cuts_sessions = false;
		work->prefix_gate.replaces = NULL;
		err = baleen_gate_open(&work->prefix_gate);
		work->has_prefix_gate = !err;
	}
	if (!err)
		err = baleen_gate_ask(&work->prefix_gate, &asked, &answer, &ignored);
	if (!err)
		err = baleen_gate_has_room(&work->prefix_gate, &asked, &has_room);
	if (err)
		return err;
	*is_refused = answer != BALEEN_GATE_OPEN || !has_room;
	work->prefix_gate.n_entries += !*is_refused;
	if (!*is_refused)
		strcpy(work->batch->widened, baleen_entry_key_text(&entry->key).text);
	return 0;
}

/* --- rows ------------------------------------------------------------------ */

static int compare_changes(const void *a, const void *b)
{
	const struct baleen_rule_entry_change *x =
		*(const struct baleen_rule_entry_change *const *)a;
	const struct baleen_rule_entry_change *y =
		*(const struct baleen_rule_entry_change *const *)b;
	int order = baleen_rule_entry_compare(&x->entry, &y->entry);

	return order ? order : (x > y) - (x < y);
}

/* A snapshot may name a key twice, which is one entry. */
static int mark_repeats(struct work *work)
{
	const struct baleen_rule_entry_change *change = work->batch->change;
	const struct baleen_rule_entry_change **sorted;
	size_t n = work->batch->n;

	if (!work->batch->snapshot_of || !n ||
	    !baleen_deploy_rows_rule(&work->rows)->limits.max_entries)
		return 0;
	work->repeats = calloc(n, sizeof(*work->repeats));
	sorted = calloc(n, sizeof(*sorted));
	if (!work->repeats || !sorted) {
		free(sorted);
		return baleen_no_memory(work->rows.error);
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = &change[i];
	qsort(sorted, n, sizeof(*sorted), compare_changes);
	for (size_t i = 1; i < n; i++)
		work->repeats[sorted[i] - change] =
			!baleen_rule_entry_compare(&sorted[i]->entry, &sorted[i - 1]->entry);
	free(sorted);
	return 0;
}

static int put_row(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_repeat = work->repeats && work->repeats[change - work->batch->change];
	bool is_new = false, has_room = true;
	int err = 0;

	if (!change->entry.is_exception && !is_repeat)
		err = baleen_gate_has_room(&work->gate, &change->entry, &has_room);
	if (!err && !has_room) {
		change->answer = BALEEN_GATE_FULL;
		change->result = -EPERM;
		return 0;
	}
	if (!err)
		err = baleen_deploy_rows_put(&work->rows, &change->entry, &is_new);
	if (err)
		return err;
	change->result = is_new ? 0 : -EEXIST;
	/* Those that a snapshot replaces were not counted. */
	work->gate.n_entries += is_new || (work->repeats && !is_repeat);
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
		err = baleen_deploy_rows_remove(&work->rows, &change->entry, &n);
		change->result = n ? 0 : -ENOENT;
		work->gate.n_entries -= n;
	}
	return err;
}

static int touch_each(const struct baleen_rule_entry *entry, void *data)
{
	return baleen_deploy_rows_touch(data, entry, false, false);
}

static int flush_rows(struct work *work)
{
	const char *origin =
		work->batch->flush_of && work->batch->flush_of[0] ? work->batch->flush_of : NULL;
	struct baleen_rule_store *state = state_of(work);
	int err;

	if (!work->batch->flush_of)
		return 0;
	err = baleen_rule_entries_each(state, work->batch->rule, origin, touch_each, &work->rows,
				       work->rows.error);
	if (!err)
		err = baleen_rule_entries_flush(state, work->batch->rule, origin,
						&work->batch->n_flushed, work->rows.error);
	work->rows.is_changed |= work->batch->n_flushed;
	return err;
}

/* --- snapshots ------------------------------------------------------------- */

/**
 * struct leftovers - entries of an origin that a snapshot does not name
 * @put: the entries that it names, sorted
 * @n_put: how many
 * @entry: those that it does not
 * @n: how many
 */
struct leftovers {
	const struct baleen_rule_entry **put;
	size_t n_put;
	struct baleen_rule_entry *entry;
	size_t n;
};

static int compare_entries(const void *a, const void *b)
{
	return baleen_rule_entry_compare(*(const struct baleen_rule_entry *const *)a,
					 *(const struct baleen_rule_entry *const *)b);
}

static int keep_leftover(const struct baleen_rule_entry *entry, void *data)
{
	struct leftovers *left = data;

	if (left->n_put &&
	    bsearch(&entry, left->put, left->n_put, sizeof(*left->put), compare_entries))
		return 0;
	if (baleen_array_add(&left->entry, left->n))
		return -ENOMEM;
	left->entry[left->n++] = *entry;
	return 0;
}

static void sort_put(const struct work *work, struct leftovers *left)
{
	for (size_t i = 0; i < work->batch->n; i++) {
		const struct baleen_rule_entry_change *change = &work->batch->change[i];

		if (change->op == BALEEN_RULE_ENTRY_PUT && change->result != -EPERM &&
		    !strcmp(change->entry.origin, work->batch->snapshot_of))
			left->put[left->n_put++] = &change->entry;
	}
	qsort(left->put, left->n_put, sizeof(*left->put), compare_entries);
}

static int remove_leftovers(struct work *work, const struct leftovers *left, u64 *n_removed)
{
	int err = 0;

	for (size_t i = 0; i < left->n && !err; i++) {
		u64 n = 0;

		err = baleen_deploy_rows_remove(&work->rows, &left->entry[i], &n);
		*n_removed += n;
	}
	return err;
}

static int finish_snapshot(struct work *work)
{
	struct leftovers left = { 0 };
	int err;

	if (!work->batch->snapshot_of)
		return 0;
	left.put = calloc(work->batch->n + 1, sizeof(*left.put));
	if (!left.put)
		return baleen_no_memory(work->rows.error);
	sort_put(work, &left);
	err = baleen_rule_entries_each(state_of(work), work->batch->rule, work->batch->snapshot_of,
				       keep_leftover, &left, work->rows.error);
	if (err == -ENOMEM)
		baleen_no_memory(work->rows.error);
	if (!err)
		err = remove_leftovers(work, &left, &work->batch->n_flushed);
	free(left.entry);
	free(left.put);
	return err;
}

/* --- batch ----------------------------------------------------------------- */

static int check_origins(const struct work *work)
{
	const struct baleen_batch *batch = work->batch;
	bool may_have_any = batch->asker == BALEEN_ASKER_UNDO || batch->asker == BALEEN_ASKER_FLEET;

	for (size_t i = 0; i < batch->n && !may_have_any; i++)
		if (batch->change[i].op == BALEEN_RULE_ENTRY_PUT &&
		    baleen_origin_is_reserved(batch->change[i].entry.origin))
			return baleen_fail(work->rows.error, EINVAL,
					   "the origin '%s' is Baleen's own",
					   batch->change[i].entry.origin);
	return 0;
}

/* Whoever read a key by what the rule was before must not be told that it is in force. */
static int check_keys(const struct work *work)
{
	const struct baleen_rule_entry_change *change = work->batch->change;
	u32 key_spec = baleen_deploy_rows_rule(&work->rows)->key_spec;

	for (size_t i = 0; i < work->batch->n; i++)
		if (change[i].op == BALEEN_RULE_ENTRY_PUT &&
		    !baleen_entry_key_is_of(&change[i].entry.key, key_spec))
			return baleen_fail(work->rows.error, EINVAL, "'%s' has other keys by now",
					   work->batch->rule);
	return 0;
}

static int start_batch(struct work *work)
{
	int err = baleen_rule_store_get_rules(state_of(work), &work->rows.rules, work->rows.error);
	int index;

	if (!err)
		err = check_origins(work);
	if (err)
		return err;
	work->plan.rules = work->rows.rules;
	work->rows.rebuild = work->plan.rebuild;
	index = baleen_rule_store_find_rule(&work->rows.rules, work->batch->rule);
	if (index < 0)
		return baleen_fail(work->rows.error, ENOENT, "%s has no rule '%s'",
				   state_of(work)->device, work->batch->rule);
	baleen_deploy_rows_start(&work->rows, index, baleen_now_ms());
	return check_keys(work);
}

static int change_book(struct work *work)
{
	int err;

	if (work->batch->snapshot_of)
		baleen_journal_many(state_of(work));
	err = flush_rows(work);
	if (!err)
		err = mark_repeats(work);
	if (!err)
		err = change_rows(work);
	if (!err)
		err = finish_snapshot(work);
	return err ? err : baleen_deploy_rows_widen(&work->rows, refuse_prefix, work);
}

static int put(void *data, struct baleen_error *error)
{
	struct work *work = data;

	work->rows.dirty.error = error;
	return baleen_dirty_keys_agree(&work->rows.dirty, work->batch->atomic || work->is_narrowed,
				       &work->batch->in_place);
}

static int undo(void *data, bool is_put, struct baleen_error *error)
{
	struct work *work = data;

	work->rows.dirty.error = error;
	return baleen_dirty_keys_undo(&work->rows.dirty, work->batch->in_place);
}

static int run(struct work *work)
{
	struct baleen_deploy_change change = {
		.put = put,
		.undo = undo,
		.data = work,
		.is_of_book = true,
	};
	int err = start_batch(work);

	if (!err)
		err = ask_all(work);
	change.keeps_mark = work->is_narrowed;
	if (!err)
		err = baleen_book_begin(state_of(work), work->rows.error);
	if (err)
		return err;
	err = baleen_book_refused(state_of(work), change_book(work));
	/* Nothing of the state is reported but the rule, which its entries outlive. */
	state_of(work)->is_synced = true;
	if (!err && work->rows.is_changed && !work->batch->is_trial)
		return baleen_deploy_commit(work->rows.deploy, &change, work->rows.error);
	baleen_book_rollback(state_of(work));
	if (!err)
		baleen_book_sync(state_of(work));
	return err;
}

static int run_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
		     struct baleen_error *error)
{
	struct work work = { .rows = { .deploy = deploy, .error = error }, .batch = batch };
	int err;

	for (size_t i = 0; i < batch->n; i++) {
		batch->change[i].result = 0;
		batch->change[i].answer = BALEEN_GATE_OPEN;
	}
	batch->n_flushed = 0;
	batch->in_place = true;
	batch->widened[0] = '\0';
	err = run(&work);
	baleen_deploy_rows_end(&work.rows);
	baleen_gate_close(&work.gate);
	baleen_gate_close(&work.prefix_gate);
	free(work.repeats);
	baleen_host_free(&work.own_host);
	return err;
}

int baleen_deploy_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
			struct baleen_error *error)
{
	struct baleen_error ignored;
	int err = run_batch(deploy, batch, error ? error : &ignored);

	return !batch->is_trial && baleen_book_goes_on(&deploy->state, err) ?
		       run_batch(deploy, batch, error ? error : &ignored) :
		       err;
}
