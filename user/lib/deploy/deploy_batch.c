// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of single entries, in the state and in what packets see. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/dirty_keys.h"
#include "state/unkept.h"
#include "util/array.h"

/**
 * struct work - a batch on its way
 * @deploy: device and state
 * @batch: what to do; NULL when entries end
 * @rules: rules of the state
 * @touched: keys of changed rows
 * @is_changed: a row was changed
 * @guards: additions are asked about
 * @own_host: addresses of this host, when the caller has none
 * @withheld: keys that must not be added
 * @error: the caller's
 */
struct work {
	struct baleen_deploy *deploy;
	struct baleen_batch *batch;
	struct baleen_stored_rules rules;
	struct baleen_dirty_keys touched;
	bool is_changed;
	bool guards;
	struct baleen_host own_host;
	struct baleen_protected_set withheld;
	struct baleen_error *error;
};

static const struct baleen_stored_rule *rule_of(const struct work *work)
{
	return &work->rules.rule[work->touched.index];
}

static int touch(struct work *work, const struct baleen_rule_entry *single, bool is_new)
{
	return baleen_dirty_keys_add(&work->touched, single, is_new);
}

/* Keys of rows are of this rule from now on. */
static int start(struct work *work, u32 index, u64 now_ms)
{
	work->touched = (struct baleen_dirty_keys){ .deploy = work->deploy,
						    .rules = &work->rules,
						    .index = index,
						    .now_ms = now_ms,
						    .error = work->error };
	return baleen_dirty_keys_start(&work->touched);
}

/* --- what must not be added ------------------------------------------------- */

static int start_guard(struct work *work)
{
	const struct baleen_stored_rule *rule = rule_of(work);
	struct baleen_host *host = work->batch->host ? work->batch->host : &work->own_host;

	work->guards = rule->action == BALEEN_ACTION_DROP &&
		       baleen_spec_is_address(rule->key_spec) &&
		       (rule->guards_feeds || !work->batch->forces);
	if (!work->guards)
		return 0;
	return baleen_protected_load_now(&work->deploy->state,
					 work->batch->cuts_sessions ? BALEEN_GUARD_NONE :
								      work->rules.guard_sessions,
					 host, &work->withheld, work->error);
}

/* The first part of what is withheld that a set of keys meets. */
static int find_withheld(struct work *work, const struct baleen_list *keys, bool *is_found,
			 struct baleen_protected *withheld)
{
	u32 n_roles = work->batch->cuts_sessions ? BALEEN_PROTECTED_PEER : BALEEN_N_WITHHELD;
	u64 n = 0;

	for (u32 role = 0; role < n_roles && !n; role++)
		if (baleen_protected_meets(&work->withheld, role, keys, &n, withheld))
			return baleen_no_memory(work->error);
	*is_found = n;
	return 0;
}

static bool is_addition(const struct baleen_rule_entry_change *change)
{
	return change->op == BALEEN_RULE_ENTRY_PUT && !change->single.is_exception;
}

/* The same of the keys that some changes add. */
static int find_withheld_in(struct work *work, const struct baleen_rule_entry_change *change,
			    size_t n, bool *is_found, struct baleen_protected *withheld)
{
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	const char *reason = "";
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (is_addition(&change[i]))
			err = baleen_list_add(&keys, change[i].single.key, &reason);
	if (!err)
		err = baleen_list_finish(&keys);
	if (err == -ENOMEM)
		err = baleen_no_memory(work->error);
	else if (err)
		err = baleen_fail(work->error, -err, "a key of an entry: %s", reason);
	else
		err = find_withheld(work, &keys, is_found, withheld);
	baleen_list_free(&keys);
	return err;
}

static int refuse_one(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_found = false;
	int err = find_withheld_in(work, change, 1, &is_found, &change->withheld);

	if (!err && is_found)
		change->result = -EPERM;
	return err;
}

/* Most batches hold nothing of it: asked as a whole first. */
static int refuse_withheld(struct work *work)
{
	struct baleen_batch *batch = work->batch;
	struct baleen_protected ignored;
	bool is_found = false;
	int err = start_guard(work);

	if (!err && work->guards)
		err = find_withheld_in(work, batch->change, batch->n, &is_found, &ignored);
	for (size_t i = 0; i < batch->n && !err && is_found; i++)
		err = refuse_one(work, &batch->change[i]);
	return err;
}

/* --- rows ------------------------------------------------------------------ */

static int put_row(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_new = false;
	int err = baleen_rule_entries_put(&work->deploy->state, work->batch->rule, &change->single,
					  &is_new, work->error);

	if (err)
		return err;
	change->result = is_new ? 0 : -EEXIST;
	work->is_changed = true;
	return touch(work, &change->single, is_new);
}

static int remove_row(struct work *work, const struct baleen_rule_entry *single, u64 *n)
{
	int err = baleen_rule_entries_remove(&work->deploy->state, rule_of(work)->name, single,
					     single->origin[0] ? single->origin : NULL, n,
					     work->error);

	if (err || !*n)
		return err;
	work->is_changed = true;
	return touch(work, single, false);
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
		err = remove_row(work, &change->single, &n);
		change->result = n ? 0 : -ENOENT;
	}
	return err;
}

static int touch_each(const struct baleen_rule_entry *single, void *data)
{
	return touch(data, single, false);
}

static int flush_rows(struct work *work)
{
	const char *origin =
		work->batch->flush_of && work->batch->flush_of[0] ? work->batch->flush_of : NULL;
	struct baleen_rule_store *state = &work->deploy->state;
	int err;

	if (!work->batch->flush_of)
		return 0;
	err = baleen_rule_entries_each(state, work->batch->rule, origin, touch_each, work,
				       work->error);
	if (!err)
		err = baleen_rule_entries_flush(state, work->batch->rule, origin,
						&work->batch->n_flushed, work->error);
	work->is_changed |= work->batch->n_flushed;
	return err;
}

/* --- snapshots ------------------------------------------------------------- */

/**
 * struct leftovers - entries of an origin that a snapshot does not name
 * @put: the entries that it names, sorted
 * @n_put: how many
 * @single: those that it does not
 * @n: how many
 */
struct leftovers {
	const struct baleen_rule_entry **put;
	size_t n_put;
	struct baleen_rule_entry *single;
	size_t n;
};

static int compare_single(const void *a, const void *b)
{
	const struct baleen_rule_entry *x = *(const struct baleen_rule_entry *const *)a;
	const struct baleen_rule_entry *y = *(const struct baleen_rule_entry *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : x->is_exception - y->is_exception;
}

static int keep_leftover(const struct baleen_rule_entry *single, void *data)
{
	struct leftovers *left = data;

	if (left->n_put &&
	    bsearch(&single, left->put, left->n_put, sizeof(*left->put), compare_single))
		return 0;
	if (baleen_array_add(&left->single, left->n))
		return -ENOMEM;
	left->single[left->n++] = *single;
	return 0;
}

static void sort_put(const struct work *work, struct leftovers *left)
{
	for (size_t i = 0; i < work->batch->n; i++) {
		const struct baleen_rule_entry_change *change = &work->batch->change[i];

		if (change->op == BALEEN_RULE_ENTRY_PUT && change->result != -EPERM &&
		    !strcmp(change->single.origin, work->batch->snapshot_of))
			left->put[left->n_put++] = &change->single;
	}
	qsort(left->put, left->n_put, sizeof(*left->put), compare_single);
}

static int remove_leftovers(struct work *work, const struct leftovers *left, u64 *n_removed)
{
	int err = 0;

	for (size_t i = 0; i < left->n && !err; i++) {
		u64 n = 0;

		err = remove_row(work, &left->single[i], &n);
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
		return baleen_no_memory(work->error);
	sort_put(work, &left);
	err = baleen_rule_entries_each(&work->deploy->state, work->batch->rule,
				       work->batch->snapshot_of, keep_leftover, &left, work->error);
	if (err == -ENOMEM)
		baleen_no_memory(work->error);
	if (!err)
		err = remove_leftovers(work, &left, &work->batch->n_flushed);
	free(left.single);
	free(left.put);
	return err;
}

/* --- batch ----------------------------------------------------------------- */

static int start_batch(struct work *work)
{
	int err = baleen_rule_store_get_rules(&work->deploy->state, &work->rules, work->error);
	int index;

	if (err)
		return err;
	index = baleen_rule_store_find_rule(&work->rules, work->batch->rule);
	if (index >= 0)
		return start(work, index, baleen_now_ms());
	return baleen_fail(work->error, ENOENT, "%s has no rule '%s'", work->deploy->state.device,
			   work->batch->rule);
}

static int change_state(struct work *work)
{
	int err = refuse_withheld(work);

	if (!err)
		err = flush_rows(work);
	if (!err)
		err = change_rows(work);
	return err ? err : finish_snapshot(work);
}

static int put(void *data, struct baleen_error *error)
{
	struct work *work = data;

	work->touched.error = error;
	return baleen_dirty_keys_agree(&work->touched, work->batch->atomic, &work->batch->in_place);
}

static int undo(void *data, bool is_put, struct baleen_error *error)
{
	struct work *work = data;

	work->touched.error = error;
	return baleen_dirty_keys_undo(&work->touched, work->batch->in_place);
}

static int run(struct work *work)
{
	const struct baleen_deploy_change change = { .put = put, .undo = undo, .data = work };
	int err = start_batch(work);

	if (!err)
		err = baleen_rule_store_begin(&work->deploy->state, work->error);
	if (err)
		return err;
	err = baleen_rule_store_refused(&work->deploy->state, change_state(work));
	if (!err && work->is_changed && !work->batch->is_trial)
		return baleen_deploy_commit(work->deploy, &change, work->error);
	baleen_rule_store_rollback(&work->deploy->state);
	if (!err)
		baleen_rule_store_sync(&work->deploy->state);
	return err;
}

static int run_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
		     struct baleen_error *error)
{
	struct work work = { .deploy = deploy, .batch = batch, .error = error };
	int err;

	for (size_t i = 0; i < batch->n; i++)
		batch->change[i].result = 0;
	batch->n_flushed = 0;
	batch->in_place = true;
	err = run(&work);
	baleen_dirty_keys_end(&work.touched);
	baleen_protected_free(&work.withheld);
	baleen_host_free(&work.own_host);
	return err;
}

/* Where the disk has no room, the state goes on in memory, and nobody is protected less. */
static bool goes_on(struct baleen_rule_store *state, int err)
{
	return err && state->lacks_room && !baleen_unkept_start(state, NULL);
}

int baleen_deploy_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
			struct baleen_error *error)
{
	struct baleen_error ignored;
	int err = run_batch(deploy, batch, error ? error : &ignored);

	return !batch->is_trial && goes_on(&deploy->state, err) ?
		       run_batch(deploy, batch, error ? error : &ignored) :
		       err;
}

/* --- expiry ---------------------------------------------------------------- */

static int remove_expired(struct work *work, u64 *n_removed)
{
	struct leftovers expired = { 0 };
	int err = baleen_rule_entries_expired(&work->deploy->state, rule_of(work)->name,
					      work->touched.now_ms, keep_leftover, &expired,
					      work->error);

	if (err == -ENOMEM)
		baleen_no_memory(work->error);
	if (!err)
		err = remove_leftovers(work, &expired, n_removed);
	free(expired.single);
	return err;
}

static int expire_rule(struct work *work, u32 index, u64 now_ms, u64 *n_removed)
{
	bool ignored;
	int err = start(work, index, now_ms);

	work->is_changed = false;
	if (!err)
		err = baleen_rule_store_refused(&work->deploy->state,
						remove_expired(work, n_removed));
	if (!err && work->is_changed)
		err = baleen_dirty_keys_agree(&work->touched, false, &ignored);
	baleen_dirty_keys_end(&work->touched);
	return err;
}

/* For who counts over months: the state outlives all processes. */
static int note_expired(struct work *work, u64 n)
{
	struct baleen_rule_store *state = &work->deploy->state;
	char *text = NULL, sum[24];
	int err = baleen_rule_store_get_text(state, "expired", &text);

	if (err)
		return baleen_fail(work->error, -err, "%s: %s", state->path, strerror(-err));
	snprintf(sum, sizeof(sum), "%llu", (text ? strtoull(text, NULL, 10) : 0) + n);
	free(text);
	return baleen_rule_store_set_text(state, "expired", sum, work->error);
}

/* An expired entry is no longer in the set, whatever becomes of its row: so there is
 * no mark, and a map that was changed is not changed back.
 */
static int expire(struct baleen_deploy *deploy, u64 now_ms, u64 *n, struct baleen_error *error)
{
	struct work work = { .deploy = deploy, .error = error };
	u64 n_removed = 0;
	int err;

	err = baleen_rule_store_get_rules(&deploy->state, &work.rules, work.error);
	if (!err)
		err = baleen_rule_store_begin(&deploy->state, work.error);
	if (err)
		return err;
	for (u32 i = 0; i < work.rules.n_rules && !err; i++)
		err = expire_rule(&work, i, now_ms, &n_removed);
	if (!err)
		err = note_expired(&work, n_removed);
	if (!err)
		err = baleen_rule_store_commit(&deploy->state, work.error);
	if (err)
		baleen_rule_store_rollback(&deploy->state);
	else
		*n = n_removed;
	return err;
}

int baleen_deploy_expire(struct baleen_deploy *deploy, u64 now_ms, u64 *n,
			 struct baleen_error *error)
{
	u64 next = baleen_rule_entries_next_expiry(&deploy->state);
	struct baleen_error ignored;
	int err;

	*n = 0;
	if (!next || next > now_ms)
		return 0;
	err = expire(deploy, now_ms, n, error ? error : &ignored);
	return goes_on(&deploy->state, err) ? expire(deploy, now_ms, n, error ? error : &ignored) :
					      err;
}
