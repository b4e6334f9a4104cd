// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Signed messages of this host. */
#include <errno.h>
#include <string.h>

#include "fleet/fleet_own.h"
#include "fleet/fleet_rows.h"

/**
 * struct making - a message that is being made
 * @store: the database
 * @account: of the publisher
 * @writer: the message
 * @error: filled in on failure
 */
struct making {
	const struct baleen_fleet_store *store;
	struct baleen_fleet_account account;
	struct baleen_fleet_writer writer;
	struct baleen_error *error;
};

static int fail(struct making *making, int err)
{
	if (err == -ENOMEM)
		return baleen_no_memory(making->error);
	return baleen_fail(making->error, -err, "%s: no message can be made of what is stored",
			   making->account.publisher.name);
}

static int find_own(struct making *making, const char *name)
{
	int ret = baleen_fleet_account_find(making->store, name, &making->account, making->error);

	if (ret < 0)
		return ret;
	if (!ret || !making->account.publisher.is_own)
		return baleen_fail(making->error, ENOENT, "%s: not published here", name);
	return 0;
}

static int start(struct making *making, u32 type, const struct baleen_fleet_signer *signer,
		 u64 first)
{
	const struct baleen_fleet_publisher *publisher = &making->account.publisher;
	struct baleen_fleet_message message = { .type = type,
						.first = first,
						.last = publisher->sequence,
						.made_ms = signer->now_ms,
						.n_entries = publisher->n,
						.digest = publisher->digest };
	int err;

	/* It may have been made after the clock, that was set back since: it is not signed before.
	 * A head has nothing that was made: it says that somebody is there now.
	 */
	if (type != BALEEN_FLEET_HEAD && publisher->agreed_ms > message.made_ms)
		message.made_ms = publisher->agreed_ms;
	strcpy(message.publisher, publisher->name);
	strncpy(message.fleet, signer->fleet, sizeof(message.fleet) - 1);
	memcpy(message.incarnation, publisher->incarnation, sizeof(message.incarnation));
	err = baleen_fleet_writer_start(&making->writer, &message);
	return err ? fail(making, err) : 0;
}

/* @err so far; the message is the caller's when all is well. */
static int finish(struct making *making, int err, const struct baleen_fleet_signer *signer,
		  struct baleen_fleet_writer *writer)
{
	if (!err) {
		err = baleen_fleet_writer_sign(&making->writer, signer->keys->secret_key);
		if (err)
			fail(making, err);
	}
	if (err)
		baleen_fleet_writer_free(&making->writer);
	else
		*writer = making->writer;
	return err;
}

/* --- batches --------------------------------------------------------------- */

static int read_change(struct making *making, sqlite3_stmt *row, struct baleen_fleet_change *change)
{
	struct baleen_fleet_row found;
	int err;

	/* hold is is_del here, and times behind it are none. */
	err = baleen_fleet_row_read(making->store, row, 1, &found, making->error);
	change->is_del = found.hold;
	change->entry = found.entry;
	return err;
}

int baleen_fleet_own_batch(const struct baleen_fleet_store *store, const char *publisher,
			   const struct baleen_fleet_signer *signer, u64 after,
			   struct baleen_fleet_writer *writer, u64 *last,
			   struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	struct baleen_fleet_change change;
	struct baleen_sql_rows rows;
	u64 first = 0;
	int err = find_own(&making, publisher);

	if (err)
		return err;
	rows = baleen_sql_ask(
		&store->db,
		"SELECT sequence, of_set, family, length, address, made_ms, end_ms, reason, is_del,"
		" 0, 0, 0 FROM outbox WHERE publisher = ? AND sequence > ? ORDER BY sequence LIMIT ?",
		error,
		BALEEN_SQL_VALUES(baleen_sql_number(making.account.publisher.id),
				  baleen_sql_number(after),
				  baleen_sql_number(BALEEN_FLEET_BATCH_MAX)));
	while (baleen_sql_next(&rows)) {
		if (!first) {
			first = sqlite3_column_int64(rows.row, 0);
			rows.ret = start(&making, BALEEN_FLEET_BATCH, signer, first);
		}
		if (!rows.ret)
			rows.ret = read_change(&making, rows.row, &change);
		if (!rows.ret) {
			err = baleen_fleet_writer_add(&making.writer, &change);
			rows.ret = err ? fail(&making, err) : 0;
		}
	}
	err = baleen_sql_end(&rows);
	if (!err && !first)
		return 0;
	after = first + making.writer.n_entries - 1;
	err = finish(&making, err, signer, writer);
	if (err)
		return err;
	*last = after;
	return 1;
}

int baleen_fleet_own_acknowledge(struct baleen_fleet_store *store, const char *publisher,
				 u64 sequence, struct baleen_error *error)
{
	int err = baleen_sql_do(&store->db,
				"DELETE FROM outbox WHERE publisher = (SELECT id FROM publisher"
				" WHERE name = ? AND is_own) AND sequence <= ?",
				NULL, error,
				BALEEN_SQL_VALUES(baleen_sql_text(publisher),
						  baleen_sql_number(sequence)));

	if (err < 0)
		return err;
	return baleen_sql_do(&store->db,
			     "UPDATE publisher SET acknowledged = MAX(acknowledged, ?2)"
			     " WHERE name = ?1 AND is_own",
			     NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(publisher),
					       baleen_sql_number(sequence)));
}

/* --- heads and snapshots --------------------------------------------------- */

int baleen_fleet_own_head(const struct baleen_fleet_store *store, const char *publisher,
			  const struct baleen_fleet_signer *signer,
			  struct baleen_fleet_writer *writer, struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	int err = find_own(&making, publisher);

	if (!err)
		err = start(&making, BALEEN_FLEET_HEAD, signer, 0);
	return finish(&making, err, signer, writer);
}

static int add_row(const struct baleen_fleet_row *row, void *data)
{
	const struct baleen_fleet_change change = { .entry = row->entry };
	struct making *making = data;
	int err = baleen_fleet_writer_add(&making->writer, &change);

	return err ? fail(making, err) : 0;
}

/* Publisher and entries are of one moment: of one transaction. */
int baleen_fleet_own_snapshot(const struct baleen_fleet_store *store, const char *publisher,
			      const struct baleen_fleet_signer *signer,
			      struct baleen_fleet_writer *writer, struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	int err = baleen_sql_do(&store->db, "SAVEPOINT snapshot", NULL, error, NULL, 0);

	if (err)
		return err;
	err = find_own(&making, publisher);
	if (!err)
		err = start(&making, BALEEN_FLEET_SNAPSHOT, signer, 0);
	if (!err)
		err = baleen_fleet_rows_each(store, making.account.publisher.id, add_row, &making,
					     error);
	baleen_sql_do(&store->db, "RELEASE snapshot", NULL, NULL, NULL, 0);
	return finish(&making, err, signer, writer);
}

/* --- the head at the broker ------------------------------------------------ */

int baleen_fleet_own_compare(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *head, u32 *standing,
			     struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	const struct baleen_fleet_publisher *own = &making.account.publisher;
	int err = find_own(&making, head->publisher);

	if (err)
		return err;
	if (memcmp(own->incarnation, head->incarnation, sizeof(own->incarnation)))
		*standing =
			baleen_fleet_incarnation_compare(head->incarnation, own->incarnation) > 0 ?
				BALEEN_FLEET_OTHER :
				BALEEN_FLEET_BEHIND;
	else if (head->last < own->sequence)
		*standing = BALEEN_FLEET_BEHIND;
	else if (head->last > own->sequence || head->n_entries != own->n ||
		 !baleen_fleet_digest_is(&head->digest, &own->digest))
		*standing = BALEEN_FLEET_CLONE;
	else
		*standing = BALEEN_FLEET_SAME;
	return 0;
}

/* Numbers go on; the outbox is of the incarnation before. */
static int renew(struct making *making, struct baleen_fleet_store *store, const u8 *after,
		 u64 now_ms)
{
	struct baleen_fleet_publisher *own = &making->account.publisher;
	int err;

	if (after && baleen_fleet_incarnation_compare(after, own->incarnation) > 0)
		memcpy(own->incarnation, after, sizeof(own->incarnation));
	if (baleen_fleet_incarnation_next(own->incarnation, now_ms))
		return baleen_fail(making->error, EIO, "libsodium finds no random numbers");
	own->signed_ms = now_ms;
	own->acknowledged = own->sequence;
	err = baleen_sql_do(&store->db, "DELETE FROM outbox WHERE publisher = ?", NULL,
			    making->error, BALEEN_SQL_VALUES(baleen_sql_number(own->id)));
	return err ? err : baleen_fleet_account_save(store, &making->account, making->error);
}

static int end(struct baleen_fleet_store *store, int err, struct baleen_error *error)
{
	if (!err)
		return baleen_fleet_store_commit(store, error);
	baleen_fleet_store_rollback(store);
	return err;
}

int baleen_fleet_own_renew(struct baleen_fleet_store *store, const char *publisher, const u8 *after,
			   u64 now_ms, struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	int err = baleen_fleet_store_begin(store, error);

	if (err)
		return err;
	err = find_own(&making, publisher);
	if (!err)
		err = renew(&making, store, after, now_ms);
	return end(store, err, error);
}

/* --- another clock ----------------------------------------------------------- */

static int add_to_digest(const struct baleen_fleet_row *row, void *data)
{
	baleen_fleet_digest_add(data, &row->entry);
	return 0;
}

static int move_one(struct baleen_fleet_store *store, const char *name, s64 delta_ms, u64 now_ms,
		    struct baleen_error *error)
{
	struct making making = { .store = store, .error = error };
	struct baleen_fleet_publisher *own = &making.account.publisher;
	int err = find_own(&making, name);

	/* It was made before it ends. What an operator says goes by its order alone. */
	if (!err && !own->is_control)
		err = baleen_sql_do(
			&store->db,
			"UPDATE entry SET made_ms = MIN(made_ms, end_ms + ?2 - 1),"
			" base_ms = MIN(base_ms, end_ms + ?2 - 1), end_ms = end_ms + ?2,"
			" force_ms = force_ms + ?2 WHERE publisher = ?1",
			NULL, error,
			BALEEN_SQL_VALUES(baleen_sql_number(own->id), baleen_sql_number(delta_ms)));
	own->digest = (struct baleen_fleet_digest){ 0 };
	if (!err)
		err = baleen_fleet_rows_each(store, own->id, add_to_digest, &own->digest, error);
	return err ? err : renew(&making, store, NULL, now_ms);
}

int baleen_fleet_own_move(struct baleen_fleet_store *store, s64 delta_ms, u64 now_ms,
			  struct baleen_error *error)
{
	struct baleen_sql_rows rows;
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	u64 id = 0;
	bool is_there = true;
	int err = baleen_fleet_store_begin(store, error);

	if (err)
		return err;
	while (!err && is_there) {
		rows = baleen_sql_ask(&store->db,
				      "SELECT id, name FROM publisher WHERE is_own AND id > ?"
				      " ORDER BY id LIMIT 1",
				      error, BALEEN_SQL_VALUES(baleen_sql_number(id)));
		is_there = baleen_sql_next(&rows);
		if (is_there) {
			id = sqlite3_column_int64(rows.row, 0);
			if (!baleen_sql_column(rows.row, 1, name, sizeof(name)))
				rows.ret = baleen_sql_damaged(&store->db, "a publisher", error);
		}
		err = baleen_sql_end(&rows);
		if (!err && is_there)
			err = move_one(store, name, delta_ms, now_ms, error);
	}
	return end(store, err, error);
}

/* --- control messages ------------------------------------------------------ */

int baleen_fleet_own_control(const struct baleen_fleet_signer *signer,
			     const struct baleen_fleet_message *message,
			     struct baleen_fleet_writer *writer, struct baleen_error *error)
{
	struct making making = { .error = error };
	struct baleen_fleet_message whole = *message, read;
	const char *why;
	int err;

	whole.type = BALEEN_FLEET_CONTROL;
	whole.made_ms = signer->now_ms;
	strcpy(making.account.publisher.name, message->publisher);
	memset(whole.fleet, 0, sizeof(whole.fleet));
	strncpy(whole.fleet, signer->fleet, sizeof(whole.fleet) - 1);
	if (baleen_fleet_random(whole.incarnation))
		return baleen_fail(error, EIO, "libsodium finds no random numbers");
	err = baleen_fleet_writer_start(&making.writer, &whole);
	if (err)
		fail(&making, err);
	err = finish(&making, err, signer, writer);
	/* Nobody takes what cannot be read. */
	if (!err && baleen_fleet_decode(writer->bytes, writer->n_bytes, &read, &why)) {
		baleen_fleet_writer_free(writer);
		return baleen_fail(error, EINVAL, "%s", why);
	}
	return err;
}
