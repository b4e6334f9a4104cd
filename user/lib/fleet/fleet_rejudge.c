// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries of a publisher that are judged anew. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_apply.h"
#include "fleet/fleet_clone.h"
#include "fleet/fleet_control.h"
#include "fleet/fleet_receive.h"
#include "util/array.h"

/**
 * struct judging - the entries of a publisher
 * @work: its account, grant and pardons
 * @row: entries, those in force first, so that others get what they leave; then by age
 * @n: how many
 */
struct judging {
	struct baleen_fleet_work work;
	struct baleen_fleet_row *row;
	size_t n;
};

static int load(struct judging *judging)
{
	const struct baleen_fleet_store *store = judging->work.receiver->store;
	struct baleen_sql_rows rows =
		baleen_sql_ask(&store->db,
			       "SELECT " BALEEN_FLEET_ROW_COLUMNS " FROM entry WHERE publisher = ?"
			       " ORDER BY hold <> 0, base_ms, of_set, family, address, length",
			       judging->work.error,
			       BALEEN_SQL_VALUES(
				       baleen_sql_number(judging->work.account.publisher.id)));

	while (baleen_sql_next(&rows)) {
		if (baleen_array_add(&judging->row, judging->n))
			rows.ret = baleen_no_memory(judging->work.error);
		else
			rows.ret = baleen_fleet_row_read(store, rows.row, 0,
							 &judging->row[judging->n++],
							 judging->work.error);
	}
	return baleen_sql_end(&rows);
}

static int write(struct judging *judging, const struct baleen_fleet_row *row,
		 const struct baleen_fleet_row *old)
{
	struct baleen_fleet_work *work = &judging->work;
	bool counted = baleen_fleet_row_counts(work, old);
	bool counts = baleen_fleet_row_counts(work, row);
	int err = work->account.publisher.is_control ?
			  baleen_fleet_control_changes(work, old, row) :
			  0;

	if (!err)
		err = baleen_sql_do(
			&work->receiver->store->db,
			"UPDATE entry SET hold = ?6, force_ms = ?7 WHERE publisher = ?1 AND of_set = ?2"
			" AND family = ?3 AND length = ?4 AND address = ?5",
			NULL, work->error,
			BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id),
					  BALEEN_FLEET_KEY_VALUES(&row->entry),
					  baleen_sql_number(row->hold),
					  baleen_sql_number(row->force_ms)));

	if (!err && (counted || counts))
		err = baleen_fleet_effect_add(work, work->account.publisher.name, row, counts);
	return err;
}

static int judge_one(struct judging *judging, struct baleen_fleet_row *row, bool is_all)
{
	struct baleen_fleet_work *work = &judging->work;
	const struct baleen_fleet_row old = *row;
	u64 now_ms = work->receiver->now_ms;

	if (is_all)
		row->force_ms =
			baleen_fleet_row_end(work->grant, work->account.publisher.is_control, row);
	if (row->force_ms <= now_ms)
		row->hold = BALEEN_FLEET_HOLD_ENDED;
	else if (!work->account.publisher.is_control &&
		 baleen_fleet_policy_never(work->receiver->policy, &row->entry.key))
		row->hold = BALEEN_FLEET_HOLD_NEVER;
	else
		row->hold = baleen_fleet_judge(work->grant, &work->account.usage, &row->entry,
					       old.hold == BALEEN_FLEET_IN_FORCE ? 0 : now_ms);
	if (baleen_fleet_is_held(row->hold)) {
		work->account.publisher.n_held++;
		if (!work->result->n_held++)
			work->result->hold = row->hold;
	}
	if (row->hold == old.hold && row->force_ms == old.force_ms)
		return 0;
	return write(judging, row, &old);
}

static int judge_all(struct judging *judging, bool is_all)
{
	struct baleen_fleet_work *work = &judging->work;
	int err = 0;

	baleen_fleet_usage_hold(&work->account.usage, work->receiver->now_ms);
	work->account.publisher.n_held = 0;
	work->account.usage.n = work->account.usage.n_ip4 = work->account.usage.n_ip6 = 0;
	for (size_t i = 0; i < judging->n && !err; i++)
		err = judge_one(judging, &judging->row[i], is_all);
	return err ? err :
		     baleen_fleet_account_save(work->receiver->store, &work->account, work->error);
}

static int remove_of(struct judging *judging, const char *sql)
{
	struct baleen_fleet_work *work = &judging->work;

	return baleen_sql_do(&work->receiver->store->db, sql, NULL, work->error,
			     BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id)));
}

/* None of its messages is taken any more, so nobody misses what it had. */
static int forget(struct judging *judging)
{
	struct baleen_fleet_work *work = &judging->work;
	int err = 0;

	work->result->is_whole |= work->account.publisher.is_control;
	for (size_t i = 0; i < judging->n && !err; i++)
		if (baleen_fleet_row_counts(work, &judging->row[i]))
			err = baleen_fleet_effect_add(work, work->account.publisher.name,
						      &judging->row[i], false);
	if (!err)
		err = remove_of(judging, "DELETE FROM entry WHERE publisher = ?");
	if (!err)
		err = baleen_fleet_clone_forget(work);
	return err ? err : remove_of(judging, "DELETE FROM publisher WHERE id = ?");
}

int baleen_fleet_rejudge_due(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_publisher *publisher, u64 now_ms,
			     struct baleen_error *error)
{
	u64 is_due = 0;
	int ret;

	if (publisher->is_own || publisher->n_held)
		return !publisher->is_own;
	ret = baleen_sql_do(&store->db,
			    "SELECT EXISTS (SELECT 1 FROM entry WHERE publisher = ? AND hold = ?"
			    " AND force_ms > ?)",
			    &is_due, error,
			    BALEEN_SQL_VALUES(baleen_sql_number(publisher->id),
					      baleen_sql_number(BALEEN_FLEET_HOLD_ENDED),
					      baleen_sql_number(now_ms)));
	return ret < 0 ? ret : is_due != 0;
}

int baleen_fleet_rejudge(const struct baleen_fleet_receiver *receiver, const char *publisher,
			 bool is_all, struct baleen_fleet_result *result,
			 struct baleen_error *error)
{
	struct judging judging = { .work = { .receiver = receiver,
					     .grant = baleen_fleet_policy_grant(receiver->policy,
										publisher),
					     .result = result,
					     .error = error } };
	struct baleen_fleet_work *work = &judging.work;
	struct baleen_fleet_pardons pardons = { .ret = 0 };
	int ret;

	memset(result, 0, sizeof(*result));
	strcpy(result->about, publisher);
	ret = baleen_fleet_account_find(receiver->store, publisher, &work->account, error);
	if (ret <= 0)
		return ret;
	/* This host has its own bans, whatever the policy says; what its operator says goes by it.
	 */
	if (work->account.publisher.is_own && !work->account.publisher.is_control)
		return 0;
	if (!baleen_fleet_policy_key(receiver->policy, publisher))
		work->grant = NULL;
	ret = baleen_fleet_account_share(receiver->store, receiver->policy, &work->account, false,
					 error);
	if (ret >= 0)
		ret = baleen_fleet_pardons_open(receiver->store, receiver->now_ms, &pardons, error);
	work->pardons = &pardons;
	if (!ret)
		ret = load(&judging);
	if (!ret)
		ret = work->grant || work->account.publisher.is_own ? judge_all(&judging, is_all) :
								      forget(&judging);
	free(judging.row);
	return ret ? ret : pardons.ret;
}
