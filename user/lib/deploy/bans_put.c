// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bans of all rules, changed: one transaction of the book, then each device follows.
 *
 * Above 500 lines, since a ban's whole way is one thought.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "deploy/batch_rows.h"
#include "deploy/batch_rule.h"
#include "state/bans_around.h"
#include "state/book.h"
#include "state/journal.h"

/**
 * struct work - a batch on its way
 * @bans: the rules
 * @batch: what to do
 * @one: the same as each rule sees it
 * @rule: of each rule what becomes of it
 * @asked: the rule that is asked now
 * @n_protected: of each change, how many rules say that it is protected
 * @repeats: of each change, whether one before has its key; NULL when nobody asks
 * @has_exceptions: parts of bans were unbanned
 * @banned: the key of the ban that ends exceptions
 * @may_be_stray: there may be an exception without a ban around it
 * @now_ms: the time
 * @is_changed: a row was changed
 * @is_committed: and is on the disk
 * @refused: the rule that must not have a change
 * @error: the caller's
 */
struct work {
	struct baleen_bans *bans;
	struct baleen_batch *batch;
	struct baleen_batch *one;
	struct baleen_batch_rule *rule;
	size_t asked;
	u32 *n_protected;
	bool *repeats;
	bool has_exceptions;
	const struct baleen_entry_key *banned;
	bool may_be_stray;
	u64 now_ms;
	bool is_changed;
	bool is_committed;
	const struct baleen_ban_rule *refused;
	struct baleen_error *error;
};

/* How many rules have their say. */
static size_t count_in(const struct work *work)
{
	size_t n = 0;

	for (size_t i = 0; i < work->bans->n_rules; i++)
		n += !work->rule[i].is_out;
	return n;
}

static struct baleen_ban_device *device_of(const struct work *work, size_t rule)
{
	return &work->bans->device[work->bans->rule[rule].device];
}

/* A device whose rules cannot be asked keeps the filter that it has, and no ban from the others. */
static int leave_out(struct work *work, size_t rule, int err)
{
	struct baleen_ban_device *device = device_of(work, rule);

	if (!err || err == -ENOMEM)
		return err;
	device->why = *work->error;
	for (size_t i = 0; i < work->bans->n_rules; i++)
		if (device_of(work, i) == device) {
			baleen_batch_rule_end(&work->rule[i]);
			work->rule[i] = (struct baleen_batch_rule){ .is_out = true };
		}
	if (!count_in(work))
		return err;
	baleen_bans_stop_holding(work->bans, device);
	return 0;
}

/* --- the door ------------------------------------------------------------------- */

static int refuse(struct work *work, struct baleen_rule_entry_change *change)
{
	char why[BALEEN_GATE_TEXT];

	change->result = -EPERM;
	if (!work->refused)
		work->refused = &work->bans->rule[work->asked];
	if (!work->batch->is_whole)
		return 0;
	return baleen_fail(work->error, EPERM, "%s: %s",
			   baleen_entry_key_text(&change->entry.key).text,
			   baleen_gate_text(change->answer, &change->protected, why));
}

/* Where one rule protects what another may drop, it is a ban, and yields in the first. */
static int note_answer(void *data, struct baleen_rule_entry_change *change,
		       enum baleen_gate_answer answer, const struct baleen_protected *protected)
{
	struct work *work = data;

	if (answer == BALEEN_GATE_NARROWED && change->answer != BALEEN_GATE_OPEN)
		return 0;
	change->answer = answer;
	change->protected = *protected;
	if (answer == BALEEN_GATE_NARROWED)
		return 0;
	if (answer != BALEEN_GATE_PROTECTED || work->batch->asker == BALEEN_ASKER_TYPED)
		return refuse(work, change);
	work->n_protected[change - work->batch->change]++;
	work->rule[work->asked].is_narrowed = true;
	change->entry.yields |=
		BALEEN_YIELDS_HOST | (work->batch->cuts_sessions ? 0 : BALEEN_YIELDS_PEERS);
	return 0;
}

static void settle_answers(struct work *work)
{
	bool is_any_narrowed = false;

	for (size_t i = 0; i < work->batch->n; i++) {
		struct baleen_rule_entry_change *change = &work->batch->change[i];

		if (work->n_protected[i] == count_in(work))
			change->result = -EPERM;
		else if (work->n_protected[i] && change->result != -EPERM)
			change->answer = BALEEN_GATE_NARROWED;
		is_any_narrowed |=
			change->answer == BALEEN_GATE_NARROWED && change->result != -EPERM;
	}
	for (size_t i = 0; i < work->bans->n_rules; i++)
		work->rule[i].is_narrowed &= is_any_narrowed;
}

static int start_rules(struct work *work)
{
	struct baleen_bans *bans = work->bans;
	int err = 0;

	for (size_t i = 0; i < bans->n_rules && !err; i++) {
		struct baleen_ban_device *device = device_of(work, i);

		if (work->rule[i].is_out)
			continue;
		work->one[i] = *work->batch;
		work->one[i].rule = bans->rule[i].rule.name;
		work->one[i].host = &bans->host;
		work->rule[i].batch = &work->one[i];
		work->rule[i].of_bans = true;
		work->rule[i].is_read_only = !device->is_held;
		work->rule[i].rows.deploy = &device->deploy;
		work->rule[i].rows.error = work->error;
		err = leave_out(work, i,
				baleen_batch_rule_start(&work->rule[i], bans->rule[i].rule.name));
	}
	return err;
}

static int ask_all(struct work *work)
{
	size_t n = work->bans->n_rules;
	int err = 0;

	for (work->asked = 0; work->asked < n && !err; work->asked++) {
		if (work->rule[work->asked].is_out)
			continue;
		err = baleen_batch_rule_ask(&work->rule[work->asked], note_answer, work);
		if (!work->refused || !work->batch->is_whole)
			err = leave_out(work, work->asked, err);
	}
	if (!err)
		settle_answers(work);
	for (size_t i = 0; i < n && !err; i++)
		if (!work->rule[i].is_out)
			err = leave_out(work, i, baleen_batch_rule_protect(&work->rule[i]));
	return err;
}

/* --- rows ----------------------------------------------------------------------- */

/* Each rule has it, or has it no longer. */
static int touch(struct work *work, const struct baleen_rule_entry *entry, bool is_put, bool is_new)
{
	int err = 0;

	work->is_changed = true;
	for (size_t i = 0; i < work->bans->n_rules && !err; i++)
		if (!work->rule[i].is_out)
			err = baleen_deploy_rows_touch(&work->rule[i].rows, entry, is_put, is_new);
	return err;
}

static int find_room(struct work *work, const struct baleen_rule_entry *entry, bool *has_room)
{
	int err = 0;

	*has_room = true;
	for (work->asked = 0; work->asked < work->bans->n_rules; work->asked++) {
		if (work->rule[work->asked].is_out)
			continue;
		err = baleen_gate_has_room(&work->rule[work->asked].gate, entry, has_room);
		if (err || !*has_room)
			break;
	}
	return err;
}

/* Does the door count without the bans of this origin, which are replaced? */
static bool is_replaced(const struct work *work, const char *origin)
{
	const char *replaces = work->batch->snapshot_of ?: work->batch->flush_of;

	return replaces && (!*replaces || (origin && !strcmp(replaces, origin)));
}

/* The ban of all rules; with @also_own what each has of its own, too. */
static int remove_row(struct work *work, const struct baleen_rule_entry *entry, bool also_own,
		      u64 *n)
{
	const char *origin = entry->origin[0] ? entry->origin : NULL;
	u64 n_bans = 0;
	int err = baleen_rule_entries_remove(&work->bans->book, NULL, entry, origin, &n_bans,
					     work->error);

	if (!err && n_bans)
		err = touch(work, entry, false, false);
	/* A lone address has no part. */
	work->may_be_stray |= n_bans && !entry->is_exception &&
			      (entry->key.is_lone || !baleen_entry_key_is_alone(&entry->key));
	*n = n_bans;
	for (size_t i = 0; i < work->bans->n_rules && !err; i++) {
		u64 n_own = 0;

		if (also_own && !work->rule[i].is_out)
			err = baleen_deploy_rows_take(&work->rule[i].rows, entry, &n_own);
		work->rule[i].gate.n_entries -= (is_replaced(work, origin) ? 0 : n_bans) + n_own;
		work->is_changed |= n_own;
		*n += n_own;
	}
	return err;
}

static int remove_exception(const struct baleen_rule_entry *exception, void *data)
{
	struct work *work = data;
	u64 n = 0;

	return remove_row(work, exception, false, &n);
}

/* A lone address was asked for alone: its neighbours stay excepted. */
static int end_exception(const struct baleen_rule_entry *exception, void *data)
{
	struct work *work = data;
	const struct baleen_entry_key *banned = work->banned;
	const struct baleen_span asked = { .is_ip6 = true,
					   .first = banned->asked,
					   .last = banned->asked };

	if (banned->is_lone && !baleen_span_covers(&exception->key.span, &asked))
		return 0;
	return remove_exception(exception, data);
}

/* Somebody who is banned anew is an exception no longer. A ban that is renewed was there when it
 * was made.
 */
static int end_exceptions_in(struct work *work, const struct baleen_rule_entry *entry)
{
	if (!work->has_exceptions)
		return 0;
	work->banned = &entry->key;
	return baleen_bans_each_exception(&work->bans->book, &entry->key.span, end_exception, work,
					  work->error);
}

static int put_row(struct work *work, struct baleen_rule_entry_change *change)
{
	bool is_repeat = work->repeats && work->repeats[change - work->batch->change];
	bool is_new = false, has_room = true;
	int err = 0;

	if (!change->entry.is_exception && !is_repeat)
		err = find_room(work, &change->entry, &has_room);
	if (!err && !has_room) {
		change->answer = BALEEN_GATE_FULL;
		return refuse(work, change);
	}
	/* An exception is of the bans, whoever brings it. */
	if (change->entry.is_exception && work->batch->asker != BALEEN_ASKER_FLEET)
		strcpy(change->entry.origin, BALEEN_ORIGIN_UNBAN);
	if (!err)
		err = baleen_rule_entries_put(&work->bans->book, NULL, &change->entry, &is_new,
					      work->error);
	if (err)
		return err;
	change->result = is_new ? 0 : -EEXIST;
	if (change->entry.is_exception)
		work->may_be_stray = work->has_exceptions = true;
	else if (is_new)
		err = end_exceptions_in(work, &change->entry);
	/* Those that a snapshot replaces were not counted. */
	for (size_t i = 0; i < work->bans->n_rules; i++)
		work->rule[i].gate.n_entries += is_new || (work->repeats && !is_repeat);
	return err ? err : touch(work, &change->entry, true, is_new);
}

/* That which rules have of their own goes by the entry alone: each has another width. */
static int take_row(struct work *work, const struct baleen_rule_entry *entry, u64 *n)
{
	const struct baleen_rule_store book = baleen_bans_book_of(work->bans, entry);
	struct baleen_entry_array meant = { 0 };
	int err = baleen_entry_array_meant(&meant, &book, NULL, entry, work->error);

	for (size_t i = 0; i < meant.n && !err; i++) {
		u64 n_one = 0;

		err = remove_row(work, &meant.entry[i], !i && !work->batch->only_bans, &n_one);
		*n += n_one;
	}
	free(meant.entry);
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
		err = take_row(work, &change->entry, &n);
		change->result = n ? 0 : -ENOENT;
	}
	return err;
}

static int touch_each(const struct baleen_rule_entry *entry, void *data)
{
	return touch(data, entry, false, false);
}

static int flush_rows(struct work *work)
{
	const char *origin = baleen_batch_flushed(work->batch);
	int err;

	if (!work->batch->flush_of)
		return 0;
	work->may_be_stray = true;
	err = baleen_rule_entries_each(&work->bans->book, NULL, origin, touch_each, work,
				       work->error);
	return err ? err :
		     baleen_rule_entries_flush(&work->bans->book, NULL, origin,
					       &work->batch->n_flushed, work->error);
}

static int remove_leftover(const struct baleen_rule_entry *entry, void *data)
{
	struct work *work = data;
	u64 n = 0;
	int err = remove_row(work, entry, false, &n);

	work->batch->n_flushed += n;
	return err;
}

/* Each writer does it. */
static int end_rows(struct work *work)
{
	struct baleen_entry_array ended = { 0 };
	int err = baleen_rule_entries_expired(&work->bans->book, NULL, work->now_ms,
					      baleen_entry_array_keep, &ended, work->error);

	if (err == -ENOMEM)
		baleen_no_memory(work->error);
	for (size_t i = 0; i < ended.n && !err; i++) {
		u64 n = 0;

		err = remove_row(work, &ended.entry[i], false, &n);
	}
	for (u32 i = 0; i < work->bans->n_devices && ended.n && !err; i++)
		if (work->bans->device[i].has_state)
			err = baleen_rule_entries_count_ended(&work->bans->device[i].deploy.state,
							      ended.n, work->error);
	free(ended.entry);
	return err;
}

/* An exception is of the bans around it, and goes with the last of them. */
static int end_strays(struct work *work)
{
	if (!work->may_be_stray || !work->has_exceptions)
		return 0;
	return baleen_bans_each_stray(&work->bans->book, work->now_ms, remove_exception, work,
				      work->error);
}

static bool has_bound(const struct baleen_bans *bans)
{
	for (size_t i = 0; i < bans->n_rules; i++)
		if (bans->rule[i].rule.limits.max_entries)
			return true;
	return false;
}

static int change_book(struct work *work)
{
	int err;

	if (work->batch->snapshot_of)
		baleen_journal_many(&work->bans->book);
	work->has_exceptions =
		baleen_rule_entries_count(&work->bans->book, NULL, BALEEN_ORIGIN_UNBAN);
	err = end_rows(work);
	if (!err)
		err = flush_rows(work);
	if (!err && has_bound(work->bans))
		err = baleen_batch_repeats(work->batch, &work->repeats, work->error);
	if (!err)
		err = change_rows(work);
	if (!err)
		err = baleen_batch_leftovers(work->batch, &work->bans->book, NULL, remove_leftover,
					     work, work->error);
	if (!err)
		err = end_strays(work);
	for (size_t i = 0; i < work->bans->n_rules && !err; i++)
		if (!work->rule[i].is_out)
			err = baleen_batch_rule_widen(&work->rule[i]);
	return err;
}

/* --- follow ----------------------------------------------------------------------- */

/* The rules of a device are beside each other. */
static void follow(struct work *work, struct baleen_ban_device *device)
{
	int err = 0;

	for (size_t i = 0; i < work->bans->n_rules && !err; i++)
		if (device_of(work, i) == device)
			err = baleen_batch_rule_agree(&work->rule[i], &work->bans->rule[i].in_place,
						      &device->why);
	device->is_behind = err;
	/* This mark outlives what may be done to the device while it is held. */
	if (err)
		baleen_rule_store_leave_behind(&device->deploy.state, NULL);
	else
		baleen_rule_store_unmark(&device->deploy.state);
}

static void follow_all(struct work *work)
{
	bool is_first = baleen_book_begin_reading(&work->bans->book);

	for (u32 i = 0; i < work->bans->n_devices; i++)
		if (work->bans->device[i].is_held && work->bans->device[i].deploy.has_xdp)
			follow(work, &work->bans->device[i]);
	baleen_book_end_reading(&work->bans->book, is_first);
}

static void take_results(struct work *work)
{
	for (size_t i = 0; i < work->bans->n_rules; i++) {
		strcpy(work->bans->rule[i].widened, work->rule[i].widened);
		work->bans->rule[i].in_place &= device_of(work, i)->is_held;
		work->batch->in_place &= work->bans->rule[i].in_place;
	}
}

/* --- all ---------------------------------------------------------------------------- */

static int run(struct work *work)
{
	struct baleen_rule_store *book = &work->bans->book;
	int err = baleen_batch_check_origins(work->batch, work->error);

	if (!err)
		err = start_rules(work);
	if (!err)
		err = ask_all(work);
	if (!err)
		err = baleen_book_begin(book, work->error);
	if (err)
		return err;
	err = baleen_book_refused(book, change_book(work));
	/* Nothing of the states is reported but rules, which bans outlive. */
	for (u32 i = 0; i < work->bans->n_devices; i++)
		work->bans->device[i].deploy.state.is_synced = true;
	if (!err && work->is_changed && !work->batch->is_trial) {
		err = baleen_bans_mark(work->bans, work->error);
		err = baleen_book_end(book, err, work->error);
		work->is_committed = !err;
		if (!err)
			follow_all(work);
		return err;
	}
	baleen_book_rollback(book);
	if (!err)
		baleen_book_sync(book);
	return err;
}

/* @is_committed: filled in: there is something to follow */
static int run_batch(struct baleen_bans *bans, struct baleen_batch *batch, bool *is_committed,
		     const struct baleen_ban_rule **refused, struct baleen_error *error)
{
	struct work work = {
		.bans = bans,
		.batch = batch,
		.one = calloc(bans->n_rules, sizeof(*work.one)),
		.rule = calloc(bans->n_rules, sizeof(*work.rule)),
		.n_protected = calloc(batch->n + 1, sizeof(*work.n_protected)),
		.now_ms = baleen_now_ms(),
		.error = error,
	};
	int err;

	for (size_t i = 0; i < bans->n_rules; i++)
		bans->rule[i].in_place = true;
	/* A rule that comes later asks nobody: bans of other hosts yield there, too. */
	for (size_t i = 0; i < batch->n; i++) {
		struct baleen_rule_entry *entry = &batch->change[i].entry;

		baleen_entry_key_fit(&entry->key, bans->book.ban_width);
		if (batch->change[i].op == BALEEN_RULE_ENTRY_PUT)
			entry->yields = batch->asker == BALEEN_ASKER_FLEET ?
						BALEEN_YIELDS_HOST | BALEEN_YIELDS_PEERS :
						0;
	}
	baleen_batch_begin(batch);
	err = work.one && work.rule && work.n_protected ? run(&work) : baleen_no_memory(error);
	if (work.rule)
		take_results(&work);
	for (size_t i = 0; work.rule && i < bans->n_rules; i++)
		baleen_batch_rule_end(&work.rule[i]);
	if (refused)
		*refused = work.refused;
	*is_committed = work.is_committed;
	free(work.one);
	free(work.rule);
	free(work.n_protected);
	free(work.repeats);
	return err;
}

int baleen_bans_put(struct baleen_bans *bans, struct baleen_batch *batch, u64 timeout_ms,
		    const struct baleen_ban_rule **refused, struct baleen_error *error)
{
	bool is_committed;
	int err = run_batch(bans, batch, &is_committed, refused, error);

	if (!batch->is_trial && baleen_book_goes_on(&bans->book, err))
		err = run_batch(bans, batch, &is_committed, refused, error);
	if (is_committed)
		baleen_bans_catch_up(bans, timeout_ms);
	if (!err || err == -EPERM)
		baleen_batch_note_refused(batch, &bans->book, NULL);
	return err;
}
