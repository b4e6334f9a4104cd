/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The database of a host in a fleet: what it publishes, and what others have published.
 *
 * One file, with a log (WAL). Commits are on disk when they return, so the cursor in the stream
 * and the entries that came before it change in one transaction. Several processes may have it
 * open; a writer waits for another one.
 *
 *      meta         cursor, epoch ...: named texts
 *      publisher    each publisher: incarnation, number of its last change, count and digest of
 *                   its entries; own ones among them
 *      entry        their entries, also those that are held, and those that have ended, until the
 *                   publisher takes them back
 *      outbox       own changes that have not been acknowledged
 *      pardon       keys that were let go, and when
 *      suspended    publishers whose entries do not count
 *      seen         hashes of the changes that were applied last
 *      refusal      how often something was refused or held, by publisher and cause
 *      refused      hashes of the messages that were refused last, which count once
 *      kept         pardons, suspensions and signals as they were signed
 *      signal       the last one of each publisher on each subject
 *      posted       signals of this host that are to be sent
 *
 * fleet_own.h publishes, fleet_receive.h applies, fleet_view.h reads.
 */
#ifndef BALEEN_FLEET_STORE_H
#define BALEEN_FLEET_STORE_H

#include "fleet/fleet_batch.h"
#include "state/rule_store_handle.h"

/* In the directory of all states. */
#define BALEEN_FLEET_STORE_FILE "fleet.db"
#define BALEEN_FLEET_TEXT_BYTES 256

/**
 * struct baleen_fleet_store - an open database
 * @db: private
 */
struct baleen_fleet_store {
	struct baleen_rule_store db;
};

/**
 * baleen_fleet_store_open() - open the database of a host
 * @store: filled in; close with baleen_fleet_store_close()
 * @directory: that it is in; NULL for /var/lib/baleen, or BALEEN_STATE_DIR of the environment
 * @for_writing: make it when it is not there; else for reading only
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is none to read; -EPROTO when a newer release made it; -EINVAL
 * when it is damaged; a negative errno.
 */
int baleen_fleet_store_open(struct baleen_fleet_store *store, const char *directory,
			    bool for_writing, struct baleen_error *error);

/**
 * baleen_fleet_store_close() - close it
 * @store: opened, or all zeros; a transaction that is open is undone
 */
void baleen_fleet_store_close(struct baleen_fleet_store *store);

/**
 * baleen_fleet_store_begin() - begin a transaction, as the only writer
 * @store: opened for writing, without one
 * @error: filled in on failure
 *
 * Return: 0; -EBUSY when another writer has kept it for 10 seconds; a negative errno.
 */
int baleen_fleet_store_begin(struct baleen_fleet_store *store, struct baleen_error *error);

/**
 * baleen_fleet_store_commit() - end it: all is on disk
 * @store: with a transaction, and without afterwards
 * @error: filled in on failure
 *
 * Return: 0; a negative errno (-ENOSPC on a full disk), then all is as it was before.
 */
int baleen_fleet_store_commit(struct baleen_fleet_store *store, struct baleen_error *error);

/**
 * baleen_fleet_store_rollback() - end it: all is as it was before
 * @store: with a transaction, or without
 */
void baleen_fleet_store_rollback(struct baleen_fleet_store *store);

/* Names of texts; others may have their own. */
#define BALEEN_FLEET_TEXT_CURSOR "cursor"
#define BALEEN_FLEET_TEXT_EPOCH "epoch"
#define BALEEN_FLEET_TEXT_REPLICATION "replication"
#define BALEEN_FLEET_TEXT_OFFSET "offset-ms"
#define BALEEN_FLEET_TEXT_SERIAL "policy-serial"

/**
 * baleen_fleet_store_get() - a named text
 * @store: opened
 * @name: its name
 * @text: BALEEN_FLEET_TEXT_BYTES bytes, filled in; empty when there is none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_store_get(const struct baleen_fleet_store *store, const char *name, char *text,
			   struct baleen_error *error);

/**
 * baleen_fleet_store_set() - set a named text
 * @store: opened for writing, in a transaction or without
 * @name: its name
 * @text: below BALEEN_FLEET_TEXT_BYTES bytes
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_store_set(struct baleen_fleet_store *store, const char *name, const char *text,
			   struct baleen_error *error);

/**
 * baleen_fleet_store_offset() - how far the broker's clock is ahead of this host's
 * @store: opened
 *
 * Return: milliseconds; 0 when nobody has measured it (BALEEN_FLEET_TEXT_OFFSET, a number).
 */
s64 baleen_fleet_store_offset(const struct baleen_fleet_store *store);

/**
 * baleen_fleet_store_latest() - the latest time that this host has heard of, or said
 * @store: opened
 * @latest_ms: filled in: broker's time; 0 for none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_store_latest(const struct baleen_fleet_store *store, u64 *latest_ms,
			      struct baleen_error *error);

/**
 * struct baleen_fleet_publisher - a publisher, as this host has it
 * @id: private
 * @name: HOST/ORIGIN
 * @is_own: this host publishes it
 * @is_control: its entries are what an operator says, and ban nobody
 * @incarnation: its incarnation; all zeros when nothing has been applied
 * @sequence: number of the last change that was applied, or made
 * @acknowledged: of an own one: number of the last change that the stream has
 * @n: entries, those that are held or have ended among them
 * @n_held: that are held
 * @digest: of all its entries
 * @signed_ms: when the newest message that was applied was signed, broker's time
 * @agreed_ms: when the head that last agreed was signed, broker's time; 0 for never; of an own one:
 * when the last of its entries was made
 * @head_ms: when its newest head was signed, broker's time; 0 for none
 * @heard_ms: when that came, this host's time
 * @is_suspended: its entries do not count
 * @lacks: above @sequence when a snapshot is needed: number of the last change that is known of, or
 *         the next one when all of another incarnation is missing
 * @is_cloned: two hosts publish under its name
 */
struct baleen_fleet_publisher {
	s64 id;
	char name[BALEEN_FLEET_PUBLISHER_BYTES];
	bool is_own;
	bool is_control;
	u8 incarnation[BALEEN_FLEET_INCARNATION_BYTES];
	u64 sequence;
	u64 acknowledged;
	u64 n;
	u64 n_held;
	struct baleen_fleet_digest digest;
	u64 signed_ms;
	u64 agreed_ms;
	u64 head_ms;
	u64 heard_ms;
	bool is_suspended;
	u64 lacks;
	bool is_cloned;
};

/**
 * baleen_fleet_store_find() - a publisher
 * @store: opened
 * @name: HOST/ORIGIN
 * @publisher: filled in
 * @error: filled in on failure
 *
 * Return: 1; 0 when there is none; a negative errno.
 */
int baleen_fleet_store_find(const struct baleen_fleet_store *store, const char *name,
			    struct baleen_fleet_publisher *publisher, struct baleen_error *error);

/**
 * baleen_fleet_store_each() - all publishers, by name
 * @store: opened
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_store_each(const struct baleen_fleet_store *store,
			    int (*visit)(const struct baleen_fleet_publisher *publisher,
					 void *data),
			    void *data, struct baleen_error *error);

#endif /* BALEEN_FLEET_STORE_H */
