// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words of an operator on this host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_control.h"
#include "fleet/fleet_own.h"
#include "fleet/fleet_word.h"
#include "state/sql.h"

/* --- posted ---------------------------------------------------------------- */

int baleen_fleet_word_time(const struct baleen_fleet_store *store, u64 now_ms, u64 *made_ms,
			   struct baleen_error *error)
{
	u64 last_ms;
	int err = baleen_fleet_store_latest(store, &last_ms, error);

	if (err)
		return err;
	*made_ms = now_ms > last_ms ? now_ms : last_ms + 1;
	return 0;
}

int baleen_fleet_word_post(struct baleen_fleet_store *store, const struct baleen_fleet_entry *entry,
			   struct baleen_error *error)
{
	return baleen_sql_do(&store->db,
			     "INSERT INTO asked (of_set, family, length, address, made_ms, reason)"
			     " VALUES (?, ?, ?, ?, ?, ?)",
			     NULL, error,
			     BALEEN_SQL_VALUES(BALEEN_FLEET_KEY_VALUES(entry),
					       baleen_sql_number(entry->made_ms),
					       baleen_sql_text(entry->reason)));
}

/* --- taken ----------------------------------------------------------------- */

/**
 * struct taking - words on their way into the log of this host
 * @work: of its publisher
 * @n: taken
 */
struct taking {
	struct baleen_fleet_work work;
	u64 n;
};

/* The host itself holds to the policy, too. */
static u32 judge(const struct baleen_fleet_work *work, const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_usage usage = { .n = work->account.publisher.n, .is_control = true };

	return baleen_fleet_judge(work->grant, &usage, entry, 0);
}

static int put_entry(struct taking *taking, const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_work *work = &taking->work;
	struct baleen_fleet_row old, row = { .entry = *entry,
					     .base_ms = entry->made_ms,
					     .force_ms = entry->end_ms,
					     .local_ms = work->receiver->local_ms };
	int ret = baleen_fleet_row_find(work->receiver->store, work->account.publisher.id, entry,
					&old, work->error);
	bool is_there = ret > 0;

	if (ret < 0)
		return ret;
	/* It is said after all that was said of the same key. */
	if (is_there && old.entry.made_ms >= entry->made_ms)
		row.entry.made_ms = row.base_ms = old.entry.made_ms + 1;
	taking->n++;
	row.hold = judge(work, entry);
	ret = baleen_fleet_control_changes(work, is_there ? &old : NULL, &row);
	if (ret)
		return ret;
	return baleen_fleet_own_put(work->receiver->store, &work->account, &row,
				    is_there ? &old.entry : NULL, work->error);
}

static int take_back(struct taking *taking, const struct baleen_fleet_row *row)
{
	struct baleen_fleet_work *work = &taking->work;
	int err = baleen_fleet_control_changes(work, row, NULL);

	taking->n++;
	return err ? err :
		     baleen_fleet_own_del(work->receiver->store, &work->account, &row->entry,
					  work->error);
}

/* The last word that this host has said on a publisher stays. */
static int take_back_opposite(struct taking *taking, const struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_work *work = &taking->work;
	struct baleen_fleet_entry opposite = *entry;
	struct baleen_fleet_row old;
	int ret;

	if (!baleen_fleet_is_word(entry))
		return 0;
	strcpy(opposite.set, strcmp(entry->set, BALEEN_FLEET_SUSPENDS) ? BALEEN_FLEET_SUSPENDS :
									 BALEEN_FLEET_RESUMES);
	ret = baleen_fleet_row_find(work->receiver->store, work->account.publisher.id, &opposite,
				    &old, work->error);
	return ret > 0 ? take_back(taking, &old) : ret;
}

static int read_asked(const struct baleen_fleet_store *store, struct baleen_fleet_row *row, u64 *id,
		      struct baleen_error *error)
{
	struct baleen_sql_rows rows = baleen_sql_ask(
		&store->db,
		"SELECT id, of_set, family, length, address, made_ms,"
		" CASE family WHEN 1 THEN ?1 ELSE made_ms + ?2 END, reason, 0, 0, 0, 0"
		" FROM asked ORDER BY id LIMIT 1",
		error,
		BALEEN_SQL_VALUES(baleen_sql_number(BALEEN_FLEET_NEVER_MS),
				  baleen_sql_number(BALEEN_FLEET_MAX_TTL_MS)));
	bool is_there = baleen_sql_next(&rows);
	int err;

	if (is_there) {
		*id = sqlite3_column_int64(rows.row, 0);
		rows.ret = baleen_fleet_row_read(store, rows.row, 1, row, error);
	}
	err = baleen_sql_end(&rows);
	return err ? err : is_there;
}

static int take_asked(struct taking *taking)
{
	struct baleen_fleet_work *work = &taking->work;
	struct baleen_fleet_store *store = work->receiver->store;
	struct baleen_fleet_row row;
	u64 id = 0;
	int ret = 1;

	for (u32 i = 0; i < BALEEN_FLEET_WORDS_AT_ONCE && ret > 0; i++) {
		ret = read_asked(store, &row, &id, work->error);
		if (ret <= 0)
			break;
		ret = baleen_sql_do(&store->db, "DELETE FROM asked WHERE id = ?", NULL, work->error,
				    BALEEN_SQL_VALUES(baleen_sql_number(id)));
		if (!ret)
			ret = take_back_opposite(taking, &row.entry);
		if (!ret)
			ret = put_entry(taking, &row.entry);
		ret = ret ? ret : 1;
	}
	return ret < 0 ? ret : 0;
}

/* Pardons that are over leave the log. */
static int take_back_ended(struct taking *taking)
{
	struct baleen_fleet_work *work = &taking->work;
	struct baleen_fleet_store *store = work->receiver->store;
	int ret = 1;

	for (u32 i = 0; i < BALEEN_FLEET_WORDS_AT_ONCE && ret > 0; i++) {
		struct baleen_sql_rows rows = baleen_sql_ask(
			&store->db,
			"SELECT " BALEEN_FLEET_ROW_COLUMNS " FROM entry WHERE publisher = ?"
			" AND is_control AND force_ms <= ? ORDER BY force_ms LIMIT 1",
			work->error,
			BALEEN_SQL_VALUES(baleen_sql_number(work->account.publisher.id),
					  baleen_sql_number(work->receiver->now_ms)));
		struct baleen_fleet_row row;

		ret = baleen_sql_next(&rows);
		if (ret)
			rows.ret = baleen_fleet_row_read(store, rows.row, 0, &row, work->error);
		if (baleen_sql_end(&rows))
			return -EIO;
		if (ret > 0 && take_back(taking, &row))
			return -EIO;
	}
	return 0;
}

int baleen_fleet_word_is_posted(const struct baleen_fleet_store *store, struct baleen_error *error)
{
	u64 is_posted = 0;
	int ret = baleen_sql_do(&store->db, "SELECT EXISTS (SELECT 1 FROM asked)", &is_posted,
				error, NULL, 0);

	return ret < 0 ? ret : is_posted != 0;
}

int baleen_fleet_words_take(const struct baleen_fleet_receiver *receiver,
			    struct baleen_fleet_result *result, struct baleen_error *error)
{
	struct taking taking = { .work = {
					 .receiver = receiver, .result = result, .error = error } };
	struct baleen_fleet_work *work = &taking.work;
	char publisher[BALEEN_FLEET_PUBLISHER_BYTES];
	int ret;

	memset(result, 0, sizeof(*result));
	snprintf(publisher, sizeof(publisher), "%s/" BALEEN_FLEET_CONTROL_ORIGIN, receiver->host);
	strcpy(result->about, publisher);
	work->grant = baleen_fleet_policy_key(receiver->policy, publisher) ?
			      baleen_fleet_policy_grant(receiver->policy, publisher) :
			      NULL;
	ret = baleen_fleet_word_is_posted(receiver->store, error);
	if (ret < 0)
		return ret;
	if (!ret) {
		ret = baleen_fleet_account_find(receiver->store, publisher, &work->account, error);
		if (ret <= 0)
			return ret;
	} else {
		ret = baleen_fleet_own_account(receiver->store, publisher, receiver->now_ms,
					       &work->account, error);
		if (ret < 0)
			return ret;
	}
	ret = take_asked(&taking);
	if (!ret)
		ret = take_back_ended(&taking);
	if (!ret && taking.n)
		ret = baleen_fleet_account_save(receiver->store, &work->account, error);
	return ret ? ret : taking.n > 0;
}
