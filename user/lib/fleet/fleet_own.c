// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Entries of this host become changes with numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_control.h"
#include "fleet/fleet_own.h"
#include "fleet/fleet_pardon.h"
#include "fleet/fleet_rows.h"
#include "state/entries.h"
#include "util/array.h"

/* Older changes than so many leave the outbox: who lacks them takes a snapshot. */
#define OUTBOX_MAX 100000

/**
 * struct wanted - an entry that is to be published
 * @entry: its set, key and reason, when it was made, if it is new, and when it ends
 * @added_ms: when it was added, by this host's clock
 * @local_ms: its end as it was given
 */
struct wanted {
	struct baleen_fleet_entry entry;
	u64 added_ms;
	u64 local_ms;
};

/**
 * struct difference - a change that is to be made
 * @is_del: it takes back
 * @wanted: of one that is put
 * @old: entry that there is, when @has_old
 */
struct difference {
	bool is_del;
	bool has_old;
	const struct wanted *wanted;
	struct baleen_fleet_entry old;
};

/**
 * struct sync - a comparison on its way
 * @store: the database
 * @account: of the publisher
 * @wanted: sorted
 * @n_wanted: how many
 * @next: of them, the next one
 * @difference: found
 * @n: how many
 * @made_ms: broker's time
 * @pardons: of operators
 * @is_kept: may be NULL; 1 of an entry that is gone, and is not to be taken back
 * @data: passed to it
 * @out: what is told
 * @error: filled in on failure
 */
struct sync {
	struct baleen_fleet_store *store;
	struct baleen_fleet_account account;
	struct wanted *wanted;
	size_t n_wanted;
	size_t next;
	struct difference *difference;
	size_t n;
	u64 made_ms;
	struct baleen_fleet_pardons pardons;
	int (*is_kept)(const struct baleen_fleet_entry *entry, void *data);
	void *data;
	struct baleen_fleet_sync *out;
	struct baleen_error *error;
};

/* --- wanted ---------------------------------------------------------------- */

/* Never is the latest end. Of two that end at the same time the reason decides, so that it does
 * not matter which one comes first.
 */
static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;
	int order = baleen_fleet_entry_compare(&x->entry, &y->entry);

	if (order)
		return order;
	if (x->local_ms != y->local_ms)
		return x->local_ms - 1 < y->local_ms - 1 ? -1 : 1;
	return strcmp(x->entry.reason, y->entry.reason);
}

static bool take_local(const struct baleen_fleet_local *local, struct wanted *wanted)
{
	if (baleen_fleet_key_parse(local->key, &wanted->entry.key) ||
	    !baleen_fleet_name_is(local->set) ||
	    baleen_rule_entry_check(BALEEN_ORIGIN_MANUAL, local->reason, NULL))
		return false;
	strcpy(wanted->entry.set, local->set);
	strcpy(wanted->entry.reason, local->reason);
	wanted->local_ms = local->end_ms;
	wanted->added_ms = local->made_ms;
	return true;
}

/* Broker's time. */
static u64 find_made(const struct sync *sync, const struct baleen_fleet_local *local, s64 offset)
{
	u64 made_ms = local->made_ms + offset;

	return made_ms < sync->made_ms && made_ms > sync->made_ms - BALEEN_FLEET_TTL_MS ?
		       made_ms :
		       sync->made_ms;
}

/* The last one of a key counts. */
static void drop_doubles(struct sync *sync)
{
	size_t n = 0;

	for (size_t i = 0; i < sync->n_wanted; i++) {
		if (n &&
		    !baleen_fleet_entry_compare(&sync->wanted[n - 1].entry, &sync->wanted[i].entry))
			n--;
		sync->wanted[n++] = sync->wanted[i];
	}
	if (n > BALEEN_FLEET_LIVE_MAX) {
		sync->out->n_skipped += n - BALEEN_FLEET_LIVE_MAX;
		n = BALEEN_FLEET_LIVE_MAX;
	}
	sync->n_wanted = n;
}

static int take_wanted(struct sync *sync, const struct baleen_fleet_local *local, size_t n,
		       u64 now_ms)
{
	s64 offset = (s64)(sync->made_ms - now_ms);

	sync->wanted = calloc(n + 1, sizeof(*sync->wanted));
	if (!sync->wanted)
		return baleen_no_memory(sync->error);
	for (size_t i = 0; i < n; i++) {
		struct wanted *wanted = &sync->wanted[sync->n_wanted];
		u64 most;

		if (local[i].end_ms && local[i].end_ms <= now_ms)
			continue;
		if (!take_local(&local[i], wanted)) {
			sync->out->n_skipped++;
			continue;
		}
		wanted->entry.made_ms = find_made(sync, &local[i], offset);
		wanted->entry.end_ms = wanted->local_ms ?
					       wanted->local_ms + offset :
					       wanted->entry.made_ms + BALEEN_FLEET_TTL_MS;
		most = wanted->entry.made_ms + BALEEN_FLEET_MAX_TTL_MS;
		if (wanted->entry.end_ms > most)
			wanted->entry.end_ms = most;
		sync->n_wanted++;
	}
	qsort(sync->wanted, sync->n_wanted, sizeof(*sync->wanted), compare_wanted);
	drop_doubles(sync);
	return 0;
}

/* --- compare --------------------------------------------------------------- */

static int add_difference(struct sync *sync, const struct wanted *wanted,
			  const struct baleen_fleet_entry *old)
{
	struct difference *difference;

	if (baleen_array_add(&sync->difference, sync->n))
		return baleen_no_memory(sync->error);
	difference = &sync->difference[sync->n++];
	*difference = (struct difference){ .is_del = !wanted, .has_old = old, .wanted = wanted };
	if (old)
		difference->old = *old;
	return 0;
}

static int compare_row(const struct baleen_fleet_row *row, void *data)
{
	struct sync *sync = data;
	int order = 1, err = 0;

	while (sync->next < sync->n_wanted && !err) {
		const struct wanted *wanted = &sync->wanted[sync->next];

		order = baleen_fleet_entry_compare(&wanted->entry, &row->entry);
		if (order > 0)
			break;
		sync->next++;
		if (order < 0) {
			err = add_difference(sync, wanted, NULL);
			continue;
		}
		if (wanted->local_ms != row->local_ms ||
		    strcmp(wanted->entry.reason, row->entry.reason))
			err = add_difference(sync, wanted, &row->entry);
		return err;
	}
	if (!err && sync->is_kept) {
		int ret = sync->is_kept(&row->entry, sync->data);

		if (ret)
			return ret < 0 ? ret : 0;
	}
	return err ? err : add_difference(sync, NULL, &row->entry);
}

static int compare(struct sync *sync)
{
	int err = 0;

	if (sync->account.publisher.id)
		err = baleen_fleet_rows_each(sync->store, sync->account.publisher.id, compare_row,
					     sync, sync->error);
	while (sync->next < sync->n_wanted && !err)
		err = add_difference(sync, &sync->wanted[sync->next++], NULL);
	return err;
}

/* --- write ----------------------------------------------------------------- */

static int add_to_outbox(struct baleen_fleet_store *store,
			 const struct baleen_fleet_publisher *publisher,
			 const struct baleen_fleet_entry *entry, bool is_del,
			 struct baleen_error *error)
{
	return baleen_sql_do(
		&store->db,
		"INSERT INTO outbox (publisher, of_set, family, length, address, sequence, is_del,"
		" made_ms, end_ms, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		NULL, error,
		BALEEN_SQL_VALUES(baleen_sql_number(publisher->id), BALEEN_FLEET_KEY_VALUES(entry),
				  baleen_sql_number(publisher->sequence), baleen_sql_number(is_del),
				  baleen_sql_number(entry->made_ms),
				  baleen_sql_number(entry->end_ms),
				  baleen_sql_text(entry->reason)));
}

int baleen_fleet_own_del(struct baleen_fleet_store *store, struct baleen_fleet_account *account,
			 const struct baleen_fleet_entry *old, struct baleen_error *error)
{
	struct baleen_fleet_publisher *publisher = &account->publisher;
	int err;

	publisher->sequence++;
	publisher->n--;
	baleen_fleet_digest_take(&publisher->digest, old);
	err = baleen_fleet_row_remove(store, publisher->id, old, error);
	return err ? err : add_to_outbox(store, publisher, old, true, error);
}

int baleen_fleet_own_put(struct baleen_fleet_store *store, struct baleen_fleet_account *account,
			 const struct baleen_fleet_row *row, const struct baleen_fleet_entry *old,
			 struct baleen_error *error)
{
	struct baleen_fleet_publisher *publisher = &account->publisher;
	int err;

	publisher->sequence++;
	if (old)
		baleen_fleet_digest_take(&publisher->digest, old);
	else
		publisher->n++;
	baleen_fleet_digest_add(&publisher->digest, &row->entry);
	if (publisher->agreed_ms < row->entry.made_ms)
		publisher->agreed_ms = row->entry.made_ms;
	err = baleen_fleet_row_put(store, publisher->id, row, 0, error);
	return err ? err : add_to_outbox(store, publisher, &row->entry, false, error);
}

/* A ban that was made before this host heard of a pardon, and is published after it, goes as those
 * of before. One that was made since is later, whatever clocks say.
 */
static int heed_pardons(struct sync *sync, const struct difference *difference,
			struct baleen_fleet_entry *entry)
{
	struct baleen_fleet_pardons *pardons = &sync->pardons;

	if (!baleen_fleet_pardons_hold(pardons, entry, entry->made_ms))
		return pardons->ret;
	if (!difference->has_old && difference->wanted->added_ms <= pardons->heard_ms)
		return baleen_fleet_control_let_go(sync->store, sync->error);
	entry->end_ms += pardons->made_ms + 1 - entry->made_ms;
	entry->made_ms = pardons->made_ms + 1;
	return 0;
}

static int write_one(struct sync *sync, const struct difference *difference)
{
	struct baleen_fleet_row row = { .force_ms = 0 };
	int err;

	if (difference->is_del) {
		sync->out->n_del++;
		return baleen_fleet_own_del(sync->store, &sync->account, &difference->old,
					    sync->error);
	}
	row.entry = difference->wanted->entry;
	/* One that was changed counts from now. */
	if (difference->has_old)
		row.entry.made_ms = sync->made_ms;
	err = heed_pardons(sync, difference, &row.entry);
	row.base_ms = row.entry.made_ms;
	row.force_ms = row.entry.end_ms;
	row.local_ms = difference->wanted->local_ms;
	sync->out->n_put++;
	return err ? err :
		     baleen_fleet_own_put(sync->store, &sync->account, &row,
					  difference->has_old ? &difference->old : NULL,
					  sync->error);
}

static int shorten_outbox(struct sync *sync)
{
	const struct baleen_fleet_publisher *publisher = &sync->account.publisher;

	if (publisher->sequence <= OUTBOX_MAX)
		return 0;
	return baleen_sql_do(&sync->store->db,
			     "DELETE FROM outbox WHERE publisher = ? AND sequence <= ?", NULL,
			     sync->error,
			     BALEEN_SQL_VALUES(baleen_sql_number(publisher->id),
					       baleen_sql_number(publisher->sequence -
								 OUTBOX_MAX)));
}

/* Its row comes first: entries name its id. */
int baleen_fleet_own_account(struct baleen_fleet_store *store, const char *name, u64 now_ms,
			     struct baleen_fleet_account *account, struct baleen_error *error)
{
	struct baleen_fleet_publisher *publisher = &account->publisher;
	int ret = baleen_fleet_account_find(store, name, account, error);

	if (ret < 0 || (ret && publisher->is_own))
		return ret < 0 ? ret : 0;
	if (ret)
		return baleen_fail(error, EEXIST, "%s: another host publishes under this name",
				   name);
	publisher->is_own = true;
	publisher->signed_ms = now_ms;
	if (baleen_fleet_incarnation_next(publisher->incarnation, now_ms))
		return baleen_fail(error, EIO, "libsodium finds no random numbers");
	return baleen_fleet_account_save(store, account, error);
}

static int write_all(struct sync *sync)
{
	int err = baleen_fleet_own_account(sync->store, sync->account.publisher.name, sync->made_ms,
					   &sync->account, sync->error);

	if (!err)
		err = baleen_fleet_pardons_open(sync->store, sync->made_ms, &sync->pardons,
						sync->error);
	for (size_t i = 0; i < sync->n && !err; i++)
		err = write_one(sync, &sync->difference[i]);
	if (!err && sync->n)
		err = shorten_outbox(sync);
	return err ? err : baleen_fleet_account_save(sync->store, &sync->account, sync->error);
}

int baleen_fleet_own_sync(struct baleen_fleet_store *store, const char *publisher,
			  struct baleen_fleet_local *local, size_t n, u64 now_ms,
			  struct baleen_fleet_sync *out, struct baleen_error *error)
{
	return baleen_fleet_own_sync_but(store, publisher, local, n, now_ms, NULL, NULL, out,
					 error);
}

int baleen_fleet_own_sync_but(struct baleen_fleet_store *store, const char *publisher,
			      struct baleen_fleet_local *local, size_t n, u64 now_ms,
			      int (*is_kept)(const struct baleen_fleet_entry *entry, void *data),
			      void *data, struct baleen_fleet_sync *out, struct baleen_error *error)
{
	struct sync sync = {
		.store = store, .is_kept = is_kept, .data = data, .out = out, .error = error
	};
	bool is_new;
	int err;

	memset(out, 0, sizeof(*out));
	if (!baleen_fleet_publisher_is(publisher))
		return baleen_fail(error, EINVAL, "'%.64s': not the name of a publisher",
				   publisher);
	err = baleen_fleet_store_begin(store, error);
	if (err)
		return err;
	sync.made_ms = now_ms + baleen_fleet_store_offset(store);
	err = baleen_fleet_account_find(store, publisher, &sync.account, error);
	is_new = !err;
	if (err >= 0)
		err = take_wanted(&sync, local, n, now_ms);
	if (!err)
		err = compare(&sync);
	if (!err && (is_new || sync.n))
		err = write_all(&sync);
	if (!err)
		err = baleen_fleet_store_commit(store, error);
	else
		baleen_fleet_store_rollback(store);
	free(sync.wanted);
	free(sync.difference);
	return err;
}

/* --- published before ------------------------------------------------------ */

int baleen_fleet_own_known(struct baleen_fleet_store *store, const char *publisher, u64 now_ms,
			   struct baleen_error *error)
{
	return baleen_sql_do(
		&store->db, "UPDATE publisher SET head_ms = ?2 WHERE name = ?1 AND is_own", NULL,
		error, BALEEN_SQL_VALUES(baleen_sql_text(publisher), baleen_sql_number(now_ms)));
}

static int inherit_one(struct baleen_fleet_store *store, struct baleen_fleet_account *account,
		       const struct baleen_fleet_entry *entry, u64 *n, struct baleen_error *error)
{
	const struct baleen_fleet_row row = { .entry = *entry,
					      .base_ms = entry->made_ms,
					      .force_ms = entry->end_ms };
	struct baleen_fleet_row old;
	int ret = baleen_fleet_row_find(store, account->publisher.id, entry, &old, error);

	if (ret)
		return ret < 0 ? ret : 0;
	++*n;
	return baleen_fleet_own_put(store, account, &row, NULL, error);
}

int baleen_fleet_own_inherit(struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *message, u64 now_ms, u64 *n,
			     struct baleen_error *error)
{
	struct baleen_fleet_account account;
	struct baleen_fleet_change change;
	size_t at = 0;
	int err = baleen_fleet_store_begin(store, error);

	if (err)
		return err;
	err = baleen_fleet_own_account(store, message->publisher, now_ms, &account, error);
	while (!err && baleen_fleet_next(message, &at, &change))
		err = inherit_one(store, &account, &change.entry, n, error);
	if (!err)
		err = baleen_fleet_account_save(store, &account, error);
	/* Own bans that it lets go. */
	if (!err)
		err = baleen_fleet_control_let_go(store, error);
	if (!err)
		return baleen_fleet_store_commit(store, error);
	baleen_fleet_store_rollback(store);
	return err;
}
