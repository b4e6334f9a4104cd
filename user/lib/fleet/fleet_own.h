/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This host publishes: changes with numbers, and the messages that carry them.
 *
 * Entries that this host has are compared with those that it has published; each difference
 * becomes a change with the next number, in one transaction. So whoever is killed in between
 * publishes it the next time. Changes wait in the outbox until the stream has acknowledged them.
 */
#ifndef BALEEN_FLEET_OWN_H
#define BALEEN_FLEET_OWN_H

#include "fleet/fleet_keys.h"
#include "fleet/fleet_rows.h"
#include "fleet/fleet_store.h"

/**
 * struct baleen_fleet_local - an entry that this host has
 * @set: the set that it belongs to
 * @key: as a single entry has it; what is no prefix is left out
 * @made_ms: when it was added, by this host's clock. One that is new counts from then, so that a
 *           pardon of meanwhile holds; from now when that is BALEEN_FLEET_TTL_MS ago or more
 * @end_ms: when it ends, by this host's clock; 0 for never, which the fleet ends after
 *          BALEEN_FLEET_TTL_MS
 * @reason: its reason
 */
struct baleen_fleet_local {
	char set[BALEEN_FLEET_NAME_BYTES];
	char key[BALEEN_FLEET_KEY_TEXT];
	u64 made_ms;
	u64 end_ms;
	char reason[BALEEN_FLEET_REASON_BYTES];
};

/**
 * struct baleen_fleet_sync - what came of it
 * @n_put: entries that are new, or have another end or reason
 * @n_del: entries that are gone
 * @n_skipped: entries that no fleet can have: ranges, and more than BALEEN_FLEET_LIVE_MAX
 */
struct baleen_fleet_sync {
	u64 n_put;
	u64 n_del;
	u64 n_skipped;
};

/**
 * baleen_fleet_own_sync() - publish what has changed
 * @store: opened for writing, without a transaction
 * @publisher: HOST/ORIGIN; made when it is new
 * @local: all entries of the origin, in any order; it is sorted. Of a key that is there twice
 *         the one that ends last counts
 * @n: how many
 * @now_ms: the time of this host's clock
 * @sync: filled in
 * @error: filled in on failure
 *
 * Ends are kept in the broker's time by the offset of the store. An entry that was published
 * and has ended everywhere is not published again while this host has it.
 *
 * Return: 0 or a negative errno, then nothing has changed.
 */
int baleen_fleet_own_sync(struct baleen_fleet_store *store, const char *publisher,
			  struct baleen_fleet_local *local, size_t n, u64 now_ms,
			  struct baleen_fleet_sync *sync, struct baleen_error *error);

/**
 * baleen_fleet_own_sync_but() - publish what has changed, but for what is elsewhere
 * @store: as of baleen_fleet_own_sync()
 * @publisher: likewise
 * @local: likewise
 * @n: likewise
 * @now_ms: likewise
 * @is_kept: called with what is published, and not in @local: 1 when it is not to be taken back, 0,
 * or a negative errno
 * @data: passed to @is_kept
 * @sync: filled in
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno, then nothing has changed.
 */
int baleen_fleet_own_sync_but(struct baleen_fleet_store *store, const char *publisher,
			      struct baleen_fleet_local *local, size_t n, u64 now_ms,
			      int (*is_kept)(const struct baleen_fleet_entry *entry, void *data),
			      void *data, struct baleen_fleet_sync *sync,
			      struct baleen_error *error);

/**
 * baleen_fleet_own_account() - a publisher of this host
 * @store: with a transaction
 * @name: HOST/ORIGIN; made when it is new
 * @now_ms: broker's time
 * @account: filled in
 * @error: filled in on failure
 *
 * Return: 0; -EEXIST when another host publishes under this name; a negative errno.
 */
int baleen_fleet_own_account(struct baleen_fleet_store *store, const char *name, u64 now_ms,
			     struct baleen_fleet_account *account, struct baleen_error *error);

/**
 * baleen_fleet_own_put() - the next change puts an entry
 * @store: with a transaction
 * @account: of a publisher of this host; the caller saves it
 * @row: the entry
 * @old: what is there of its key; NULL for nothing
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_put(struct baleen_fleet_store *store, struct baleen_fleet_account *account,
			 const struct baleen_fleet_row *row, const struct baleen_fleet_entry *old,
			 struct baleen_error *error);

/**
 * baleen_fleet_own_del() - the next change takes one back
 * @store: with a transaction
 * @account: of a publisher of this host; the caller saves it
 * @old: the entry
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_del(struct baleen_fleet_store *store, struct baleen_fleet_account *account,
			 const struct baleen_fleet_entry *old, struct baleen_error *error);

/**
 * struct baleen_fleet_signer - who signs messages, and for which fleet
 * @fleet: name of the fleet
 * @keys: of this host
 * @now_ms: broker's time
 */
struct baleen_fleet_signer {
	const char *fleet;
	const struct baleen_fleet_keys *keys;
	u64 now_ms;
};

/**
 * baleen_fleet_own_batch() - the next changes, as a signed batch
 * @store: opened
 * @publisher: own one
 * @signer: who signs
 * @after: number of the last change that was sent
 * @writer: the message, to be freed by the caller; untouched unless 1 is returned
 * @last: number of the last change in it; untouched unless 1 is returned
 * @error: filled in on failure
 *
 * Return: 1; 0 when the outbox has no more; a negative errno.
 */
int baleen_fleet_own_batch(const struct baleen_fleet_store *store, const char *publisher,
			   const struct baleen_fleet_signer *signer, u64 after,
			   struct baleen_fleet_writer *writer, u64 *last,
			   struct baleen_error *error);

/**
 * baleen_fleet_own_acknowledge() - the stream has these changes
 * @store: opened for writing, in a transaction or without
 * @publisher: own one
 * @sequence: number of the last of them; they leave the outbox
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_acknowledge(struct baleen_fleet_store *store, const char *publisher,
				 u64 sequence, struct baleen_error *error);

/**
 * baleen_fleet_own_head() - where an own publisher is, as a signed head
 * @store: opened
 * @publisher: own one
 * @signer: who signs
 * @writer: the message, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT; a negative errno.
 */
int baleen_fleet_own_head(const struct baleen_fleet_store *store, const char *publisher,
			  const struct baleen_fleet_signer *signer,
			  struct baleen_fleet_writer *writer, struct baleen_error *error);

/**
 * baleen_fleet_own_snapshot() - all entries of an own publisher, as a signed snapshot
 * @store: opened; not in a transaction that has changed it
 * @publisher: own one
 * @signer: who signs
 * @writer: the message, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT; a negative errno.
 */
int baleen_fleet_own_snapshot(const struct baleen_fleet_store *store, const char *publisher,
			      const struct baleen_fleet_signer *signer,
			      struct baleen_fleet_writer *writer, struct baleen_error *error);

/**
 * enum baleen_fleet_standing - how the head of an own publisher at the broker stands to its own
 * @BALEEN_FLEET_SAME: it is where this host is
 * @BALEEN_FLEET_BEHIND: it lacks changes, or is of an incarnation before: publish again
 * @BALEEN_FLEET_CLONE: same incarnation, and numbers that this host has not made, or made
 *                      otherwise: this host is a copy, or went back in time: renew
 * @BALEEN_FLEET_OTHER: it is of an incarnation that was signed after this one was made: while
 *                      such heads still come, another host publishes under this name, and this
 *                      one should not; else renew
 */
enum baleen_fleet_standing {
	BALEEN_FLEET_SAME,
	BALEEN_FLEET_BEHIND,
	BALEEN_FLEET_CLONE,
	BALEEN_FLEET_OTHER,
};

/**
 * baleen_fleet_own_compare() - compare a head at the broker with its own
 * @store: opened
 * @head: decoded and verified, of an own publisher
 * @standing: enum baleen_fleet_standing, filled in
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT; a negative errno.
 */
int baleen_fleet_own_compare(const struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *head, u32 *standing,
			     struct baleen_error *error);

/**
 * baleen_fleet_own_renew() - a later incarnation, whose numbers go on
 * @store: opened for writing, without a transaction
 * @publisher: HOST/ORIGIN
 * @after: an incarnation that it is to be later than, too; NULL for none
 * @now_ms: broker's time
 * @error: filled in on failure
 *
 * All entries are published anew, by a snapshot.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_renew(struct baleen_fleet_store *store, const char *publisher, const u8 *after,
			   u64 now_ms, struct baleen_error *error);

/**
 * baleen_fleet_own_known() - the broker was asked what it has of a publisher
 * @store: opened for writing
 * @publisher: HOST/ORIGIN
 * @now_ms: broker's time
 * @error: filled in on failure
 *
 * Before that nothing of it is sent: it may have been published before, by a database that is lost.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_known(struct baleen_fleet_store *store, const char *publisher, u64 now_ms,
			   struct baleen_error *error);

/**
 * baleen_fleet_own_inherit() - entries of an operator that were published before
 * @store: opened for writing, without a transaction
 * @message: a snapshot that this host has signed
 * @now_ms: broker's time
 * @n: filled in: entries that were not there
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_inherit(struct baleen_fleet_store *store,
			     const struct baleen_fleet_message *message, u64 now_ms, u64 *n,
			     struct baleen_error *error);

/**
 * baleen_fleet_own_move() - the broker's clock was set: ends of this host's bans move along
 * @store: opened for writing, without a transaction
 * @delta_ms: how far it was set ahead; below 0: back
 * @now_ms: broker's time, by the clock as it was set
 * @error: filled in on failure
 *
 * So bans last as long as they were to. When something was made stays: of a ban and a pardon that
 * is an order, which each log keeps by being later than what its host has heard of. Each publisher
 * of this host begins a later incarnation, whose heads are heard though they are signed before those
 * of the one before; those of others are moved by others.
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_move(struct baleen_fleet_store *store, s64 delta_ms, u64 now_ms,
			  struct baleen_error *error);

/**
 * baleen_fleet_own_control() - a signed question, signal or answer
 * @signer: who signs
 * @message: publisher, control, and what it needs of set, key, topic, subject and reason
 * @writer: the message, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_own_control(const struct baleen_fleet_signer *signer,
			     const struct baleen_fleet_message *message,
			     struct baleen_fleet_writer *writer, struct baleen_error *error);

#endif /* BALEEN_FLEET_OWN_H */
