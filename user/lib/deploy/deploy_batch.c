// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of single entries, in the state and in what packets see. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/deploy_rows.h"
#include "state/unkept.h"
#include "util/array.h"

/**
 * struct work - a batch on its way
 * @rows: what it does to rows
 * @batch: what to do
 * @guards: additions are asked about
 * @own_host: addresses of this host, when the caller has none
 * @protected: keys that must not be added
 * @all: the same with all peers, for prefixes; loaded when one is asked about
 * @has_all: it is
 */
struct work {
	struct baleen_deploy_rows rows;
	struct baleen_batch *batch;
	bool guards;
	struct baleen_host own_host;
	struct baleen_protected_set protected;
	struct baleen_protected_set all;
	bool has_all;
};

static struct baleen_rule_store *state_of(const struct work *work)
{
	return &work->rows.deploy->state;
}

/* --- what must not be added ------------------------------------------------- */

static int start_guard(struct work *work)
{
	const struct baleen_stored_rule *rule = baleen_deploy_rows_rule(&work->rows);
	struct baleen_host *host = work->batch->host ? work->batch->host : &work->own_host;

	work->guards = rule->action == BALEEN_ACTION_DROP &&
		       baleen_spec_is_address(rule->key_spec) &&
		       (rule->guards_feeds || !work->batch->forces);
	if (!work->guards)
		return 0;
	return baleen_protected_load_now(state_of(work),
					 work->batch->cuts_sessions ?
						 BALEEN_GUARD_NONE :
						 work->rows.rules.guard_sessions,
					 host, &work->protected, work->rows.error);
}

/* The first part of what is withheld that a set of keys meets. */
static int find_protected(struct work *work, const struct baleen_list *keys, bool *is_found,
			  struct baleen_protected *protected)
{
	u32 n_roles = work->batch->cuts_sessions ? BALEEN_PROTECTED_PEER : BALEEN_N_WITHHELD;
	u64 n = 0;

	for (u32 role = 0; role < n_roles && !n; role++)
		if (baleen_protected_meets(&work->protected, role, keys, &n, protected))
			return baleen_no_memory(work->rows.error);
	*is_found = n;
	return 0;
}

static bool is_addition(const struct baleen_rule_entry_change *change)
{
	return change->op == BALEEN_RULE_ENTRY_PUT && !change->entry.is_exception;
}

/* The same of the keys that some changes add. */
static int find_protected_in(struct work *work, const struct baleen_rule_entry_change *change,
			     size_t n, bool *is_found, struct baleen_protected *protected)
{
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	const char *reason = "";
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (is_addition(&change[i]))
			err = baleen_list_add(&keys, change[i].entry.key, &reason);
	if (!err)
		err = baleen_list_finish(&keys);
	if (err == -ENOMEM)
		err = baleen_no_memory(work->rows.error);
	else if (err)
		err = baleen_fail(work->rows.error, -err, "a key of an entry: %s", reason);
	else
		err = find_protected(work, &keys, is_found, protected);
	baleen_list_free(&keys);
	return err;
}

static int refuse_one(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_found = false;
	int err = find_protected_in(work, change, 1, &is_found, &change->protected);

	if (!err && is_found)
		change->result = -EPERM;
	return err;
}

/* Most batches hold nothing of it: asked as a whole first. */
static int refuse_protected(struct work *work)
{
	struct baleen_batch *batch = work->batch;
	struct baleen_protected ignored;
	bool is_found = false;
	int err = start_guard(work);

	if (!err && work->guards)
		err = find_protected_in(work, batch->change, batch->n, &is_found, &ignored);
	for (size_t i = 0; i < batch->n && !err && is_found; i++)
		err = refuse_one(work, &batch->change[i]);
	return err;
}

/* A prefix is banned by nobody's order: what is withheld in it, peers among it whatever the
 * batch says of them, saves all of it.
 */
static int refuse_prefix(void *data, const struct baleen_rule_entry *entry, bool *is_refused)
{
	struct work *work = data;
	struct baleen_host *host = work->batch->host ? work->batch->host : &work->own_host;
	struct baleen_list keys = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_protected protected;
	const char *reason;
	u64 n = 0;
	int err = 0;

	if (!work->has_all)
		err = baleen_protected_load_now(state_of(work), work->rows.rules.guard_sessions,
						host, &work->all, work->rows.error);
	work->has_all = !err;
	if (!err && (baleen_list_add(&keys, entry->key, &reason) || baleen_list_finish(&keys)))
		err = baleen_no_memory(work->rows.error);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !n && !err; role++)
		err = baleen_protected_meets(&work->all, role, &keys, &n, &protected);
	baleen_list_free(&keys);
	*is_refused = n;
	if (!err && !n)
		strcpy(work->batch->widened, entry->key);
	return err;
}

/* --- rows ------------------------------------------------------------------ */

static int put_row(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_new = false;
	int err = baleen_deploy_rows_put(&work->rows, &change->entry, &is_new);

	if (!err)
		change->result = is_new ? 0 : -EEXIST;
	return err;
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
	const struct baleen_rule_entry *x = *(const struct baleen_rule_entry *const *)a;
	const struct baleen_rule_entry *y = *(const struct baleen_rule_entry *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : x->is_exception - y->is_exception;
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

/* Entries of widen.h come by the bans that they stand on, those of a fleet by its messages. */
static bool is_reserved(const char *origin)
{
	return !strcmp(origin, BALEEN_ORIGIN_WIDEN) ||
	       !strncmp(origin, BALEEN_ORIGIN_FLEET, sizeof(BALEEN_ORIGIN_FLEET) - 1);
}

static int check_origins(const struct work *work)
{
	const struct baleen_batch *batch = work->batch;

	for (size_t i = 0; i < batch->n && !batch->puts_back; i++)
		if (batch->change[i].op == BALEEN_RULE_ENTRY_PUT &&
		    is_reserved(batch->change[i].entry.origin))
			return baleen_fail(work->rows.error, EINVAL,
					   "the origin '%s' is Baleen's own",
					   batch->change[i].entry.origin);
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
	index = baleen_rule_store_find_rule(&work->rows.rules, work->batch->rule);
	if (index >= 0)
		return baleen_deploy_rows_start(&work->rows, index, baleen_now_ms());
	return baleen_fail(work->rows.error, ENOENT, "%s has no rule '%s'", state_of(work)->device,
			   work->batch->rule);
}

static int change_state(struct work *work)
{
	int err = refuse_protected(work);

	if (!err)
		err = flush_rows(work);
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
	return baleen_dirty_keys_agree(&work->rows.dirty, work->batch->atomic,
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
	const struct baleen_deploy_change change = { .put = put, .undo = undo, .data = work };
	int err = start_batch(work);

	if (!err)
		err = baleen_rule_store_begin(state_of(work), work->rows.error);
	if (err)
		return err;
	err = baleen_rule_store_refused(state_of(work), change_state(work));
	if (!err && work->rows.is_changed && !work->batch->is_trial)
		return baleen_deploy_commit(work->rows.deploy, &change, work->rows.error);
	baleen_rule_store_rollback(state_of(work));
	if (!err)
		baleen_rule_store_sync(state_of(work));
	return err;
}

static int run_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
		     struct baleen_error *error)
{
	struct work work = { .rows = { .deploy = deploy, .error = error }, .batch = batch };
	int err;

	for (size_t i = 0; i < batch->n; i++)
		batch->change[i].result = 0;
	batch->n_flushed = 0;
	batch->in_place = true;
	batch->widened[0] = '\0';
	err = run(&work);
	baleen_deploy_rows_end(&work.rows);
	baleen_protected_free(&work.protected);
	baleen_protected_free(&work.all);
	baleen_host_free(&work.own_host);
	return err;
}

int baleen_deploy_batch(struct baleen_deploy *deploy, struct baleen_batch *batch,
			struct baleen_error *error)
{
	struct baleen_error ignored;
	int err = run_batch(deploy, batch, error ? error : &ignored);

	return !batch->is_trial && baleen_unkept_goes_on(&deploy->state, err) ?
		       run_batch(deploy, batch, error ? error : &ignored) :
		       err;
}
