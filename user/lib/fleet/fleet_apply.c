// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of a publisher, applied under the policy. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_apply.h"
#include "fleet/fleet_control.h"
#include "fleet/fleet_view.h"
#include "util/array.h"

/* --- what is told ---------------------------------------------------------- */

static void tell_held(struct baleen_fleet_work *work, u32 hold)
{
	if (!baleen_fleet_is_held(hold))
		return;
	work->account.publisher.n_held++;
	if (!work->result->n_held++)
		work->result->hold = hold;
}

/* --- one entry ------------------------------------------------------------- */

u64 baleen_fleet_row_end(const struct baleen_fleet_grant *grant, bool is_control,
			 const struct baleen_fleet_row *row)
{
	u64 most_ms = row->base_ms + (grant ? grant->max_ttl_ms : BALEEN_FLEET_MAX_TTL_MS);

	if (is_control)
		return row->entry.end_ms;
	return row->entry.end_ms < most_ms ? row->entry.end_ms : most_ms;
}

static bool is_same(const struct baleen_fleet_entry *a, const struct baleen_fleet_entry *b)
{
	return a->made_ms == b->made_ms && a->end_ms == b->end_ms && !strcmp(a->reason, b->reason);
}

/* A publisher that says it was made later than it was signed has it made then: all hosts have the
 * same time of it.
 */
static struct baleen_fleet_row make_row(const struct baleen_fleet_work *work,
					const struct baleen_fleet_entry *entry,
					const struct baleen_fleet_row *old)
{
	struct baleen_fleet_row row = { .entry = *entry,
					.base_ms = entry->made_ms,
					.local_ms = work->receiver->local_ms };

	if (row.base_ms > work->message->made_ms)
		row.base_ms = work->message->made_ms;
	if (old && is_same(&old->entry, entry)) {
		row.base_ms = old->base_ms;
		row.local_ms = old->local_ms;
	}
	row.force_ms = baleen_fleet_row_end(work->grant, work->account.publisher.is_control, &row);
	return row;
}

/* @at_ms: the time that the rate counts; 0 when it does not. */
static u32 judge(struct baleen_fleet_work *work, const struct baleen_fleet_row *row, u64 at_ms)
{
	if (row->force_ms <= work->receiver->now_ms)
		return BALEEN_FLEET_HOLD_ENDED;
	if (!work->account.publisher.is_control &&
	    baleen_fleet_policy_never(work->receiver->policy, &row->entry.key))
		return BALEEN_FLEET_HOLD_NEVER;
	return baleen_fleet_judge(work->grant, &work->account.usage, &row->entry, at_ms);
}

static void take_away(struct baleen_fleet_work *work, const struct baleen_fleet_row *row)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;

	baleen_fleet_digest_take(&publisher->digest, &row->entry);
	publisher->n--;
	if (row->hold == BALEEN_FLEET_IN_FORCE)
		baleen_fleet_usage_take(&work->account.usage, &row->entry.key);
	else if (baleen_fleet_is_held(row->hold))
		publisher->n_held--;
}

/* A prefix around what was let go: the book has to leave that out of it. */
static int tell_wide(struct baleen_fleet_work *work, const struct baleen_fleet_entry *entry)
{
	const struct baleen_fleet_policy *policy = work->receiver->policy;
	int ret = baleen_fleet_view_has_pardons(work->receiver->store, entry, work->error);

	for (size_t i = 0; i < policy->n_never && !ret; i++)
		ret = baleen_fleet_key_covers(&entry->key, &policy->never[i]);
	if (ret > 0)
		work->result->is_whole = true;
	return ret < 0 ? ret : 0;
}

static int apply_put(struct baleen_fleet_work *work, const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct baleen_fleet_row old, row;
	bool counted = false, counts;
	int ret = baleen_fleet_row_find(work->receiver->store, publisher->id, entry, &old,
					work->error);
	bool was_in_force = ret > 0 && old.hold == BALEEN_FLEET_IN_FORCE;

	if (ret < 0)
		return ret;
	row = make_row(work, entry, ret ? &old : NULL);
	if (ret) {
		counted = baleen_fleet_row_counts(work, &old);
		take_away(work, &old);
	}
	/* Whoever renews a ban that is in force is not too fast. */
	row.hold = judge(work, &row, was_in_force ? 0 : work->receiver->now_ms);
	tell_held(work, row.hold);
	baleen_fleet_digest_add(&publisher->digest, entry);
	publisher->n++;
	counts = baleen_fleet_row_counts(work, &row);
	if (publisher->is_control)
		ret = baleen_fleet_control_changes(work, ret ? &old : NULL, &row);
	else
		ret = counts ? tell_wide(work, entry) : 0;
	if (!ret)
		ret = baleen_fleet_row_put(work->receiver->store, publisher->id, &row, 0,
					   work->error);
	if (!ret && (counted || counts))
		ret = baleen_fleet_effect_add(work, publisher->name, &row, counts);
	return ret;
}

static int apply_del(struct baleen_fleet_work *work, const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct baleen_fleet_row old;
	bool counted;
	int ret = baleen_fleet_row_find(work->receiver->store, publisher->id, entry, &old,
					work->error);

	/* Without one the digests will tell. */
	if (ret <= 0)
		return ret;
	counted = baleen_fleet_row_counts(work, &old);
	take_away(work, &old);
	ret = publisher->is_control ? baleen_fleet_control_changes(work, &old, NULL) : 0;
	if (!ret)
		ret = baleen_fleet_row_remove(work->receiver->store, publisher->id, entry,
					      work->error);
	if (!ret && counted)
		ret = baleen_fleet_effect_add(work, publisher->name, &old, false);
	return ret;
}

/* --- batches --------------------------------------------------------------- */

int baleen_fleet_apply_batch(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct baleen_fleet_change change;
	u64 sequence = message->first - 1;
	size_t at = 0;
	int err = 0;

	while (!err && baleen_fleet_next(message, &at, &change)) {
		if (++sequence <= publisher->sequence)
			continue;
		err = change.is_del ? apply_del(work, &change.entry) :
				      apply_put(work, &change.entry);
		publisher->sequence = sequence;
	}
	return err;
}

/* --- snapshots ------------------------------------------------------------- */

struct baleen_fleet_digest baleen_fleet_digest_of(const struct baleen_fleet_message *message)
{
	struct baleen_fleet_digest digest = { 0 };
	struct baleen_fleet_change change;
	size_t at = 0;

	while (baleen_fleet_next(message, &at, &change))
		baleen_fleet_digest_add(&digest, &change.entry);
	return digest;
}

/**
 * struct pending - an entry of a snapshot that is not in force
 * @made_ms: when it was made
 * @at: where it is in the message
 */
struct pending {
	u64 made_ms;
	size_t at;
};

static int compare_pending(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->made_ms != y->made_ms)
		return x->made_ms < y->made_ms ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int put_of_snapshot(struct baleen_fleet_work *work, const struct baleen_fleet_row *row,
			   u64 generation)
{
	tell_held(work, row->hold);
	return baleen_fleet_row_put(work->receiver->store, work->account.publisher.id, row,
				    generation, work->error);
}

/* Those that are in force are put; the others are kept for later. */
static int put_those_in_force(struct baleen_fleet_work *work, u64 generation,
			      struct pending *pending, size_t *n_pending)
{
	struct baleen_fleet_change change;
	struct baleen_fleet_row old, row;
	size_t at = 0, before = 0;
	int ret = 0;

	while (ret >= 0 && baleen_fleet_next(work->message, &at, &change)) {
		ret = baleen_fleet_row_find(work->receiver->store, work->account.publisher.id,
					    &change.entry, &old, work->error);
		if (ret > 0 && old.hold == BALEEN_FLEET_IN_FORCE) {
			row = make_row(work, &change.entry, &old);
			row.hold = judge(work, &row, 0);
			ret = put_of_snapshot(work, &row, generation);
		} else if (ret >= 0) {
			pending[(*n_pending)++] = (struct pending){ change.entry.made_ms, before };
		}
		before = at;
	}
	return ret < 0 ? ret : 0;
}

/* The rate counts as if they had come when they were made, so who was away takes what the others
 * have taken.
 */
static int put_pending(struct baleen_fleet_work *work, u64 generation,
		       const struct pending *pending, size_t n)
{
	struct baleen_fleet_change change;
	struct baleen_fleet_row old, row;
	int ret = 0;

	for (size_t i = 0; i < n && ret >= 0; i++) {
		size_t at = pending[i].at;

		baleen_fleet_next(work->message, &at, &change);
		ret = baleen_fleet_row_find(work->receiver->store, work->account.publisher.id,
					    &change.entry, &old, work->error);
		if (ret < 0)
			break;
		row = make_row(work, &change.entry, ret ? &old : NULL);
		row.hold = judge(work, &row, row.base_ms ? row.base_ms : 1);
		ret = put_of_snapshot(work, &row, generation);
	}
	return ret < 0 ? ret : 0;
}

static int remove_others(struct baleen_fleet_work *work, u64 generation)
{
	return baleen_sql_do(&work->receiver->store->db,
			     "DELETE FROM entry WHERE publisher = ? AND generation <> ?", NULL,
			     work->error,
			     BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id),
					       baleen_sql_number(generation)));
}

static int next_generation(const struct baleen_fleet_work *work, u64 *generation)
{
	int ret = baleen_sql_do(
		&work->receiver->store->db,
		"SELECT IFNULL(MAX(generation), 0) + 1 FROM entry WHERE publisher = ?", generation,
		work->error, BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id)));

	return ret < 0 ? ret : 0;
}

int baleen_fleet_apply_snapshot(struct baleen_fleet_work *work)
{
	const struct baleen_fleet_message *message = work->message;
	struct baleen_fleet_publisher *publisher = &work->account.publisher;
	struct pending *pending = calloc(message->n_entries + 1, sizeof(*pending));
	size_t n_pending = 0;
	u64 generation;
	int err;

	if (!pending)
		return baleen_no_memory(work->error);
	publisher->n_held = 0;
	work->account.usage.n = work->account.usage.n_ip4 = work->account.usage.n_ip6 = 0;
	err = next_generation(work, &generation);
	if (!err)
		err = put_those_in_force(work, generation, pending, &n_pending);
	qsort(pending, n_pending, sizeof(*pending), compare_pending);
	if (!err)
		err = put_pending(work, generation, pending, n_pending);
	if (!err)
		err = remove_others(work, generation);
	if (!err && publisher->is_control)
		err = baleen_fleet_control_let_go(work->receiver->store, work->error);
	publisher->digest = baleen_fleet_digest_of(message);
	publisher->n = message->n_entries;
	publisher->sequence = message->last;
	memcpy(publisher->incarnation, message->incarnation, sizeof(publisher->incarnation));
	free(pending);
	return err;
}
