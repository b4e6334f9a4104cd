/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of the database of a fleet.
 */
#ifndef BALEEN_FLEET_ROWS_H
#define BALEEN_FLEET_ROWS_H

#include "fleet/fleet_policy.h"
#include "fleet/fleet_store.h"
#include "state/sql.h"

/**
 * struct baleen_fleet_account - a publisher, and how much of the policy it has used
 * @publisher: id 0 when it has no row
 * @usage: of one that is not an own one
 */
struct baleen_fleet_account {
	struct baleen_fleet_publisher publisher;
	struct baleen_fleet_usage usage;
};

/**
 * struct baleen_fleet_row - an entry of a publisher
 * @entry: as it was published
 * @hold: enum baleen_fleet_hold
 * @base_ms: when it was made, or when it came if that was before
 * @force_ms: when it ends on this host: the policy may end it before
 * @local_ms: of a ban of this host: its end as it was synced; of what an operator says: when this
 *            host heard of it; by this host's clock
 */
struct baleen_fleet_row {
	struct baleen_fleet_entry entry;
	u32 hold;
	u64 base_ms;
	u64 force_ms;
	u64 local_ms;
};

/* Is a publisher suspended? The newest word counts, on it or on all of its host: HOST/ and a star.
 */
#define BALEEN_FLEET_SUSPENDED(name)                                                         \
	"IFNULL((SELECT word.of_set = '" BALEEN_FLEET_SUSPENDS "' FROM entry word"           \
	" WHERE word.is_control AND word.of_set IN ('" BALEEN_FLEET_SUSPENDS                 \
	"', '" BALEEN_FLEET_RESUMES "') AND word.family = 1 AND word.address IN (CAST(" name \
	" AS BLOB), CAST(substr(" name ", 1, instr(" name ", '/')) || '*' AS BLOB))"         \
	" AND word.hold = 0 ORDER BY word.base_ms DESC, word.of_set DESC LIMIT 1), 0)"

/* Columns that baleen_fleet_row_read() reads. */
#define BALEEN_FLEET_ROW_COLUMNS \
	"of_set, family, length, address, made_ms, end_ms, reason, hold, base_ms, force_ms, local_ms"

/* Values that find a key: ?2 to ?5 of a statement whose ?1 is the publisher. */
#define BALEEN_FLEET_KEY_VALUES(entry)                                         \
	baleen_sql_text((entry)->set), baleen_sql_number((entry)->key.family), \
		baleen_sql_number((entry)->key.length),                        \
		baleen_sql_blob((entry)->key.address, baleen_fleet_key_bytes(&(entry)->key))

/**
 * baleen_fleet_account_find() - a publisher
 * @store: opened
 * @name: HOST/ORIGIN
 * @account: filled in; all zeros but its name when there is none
 * @error: filled in on failure
 *
 * Return: 1; 0 when there is none; a negative errno.
 */
int baleen_fleet_account_find(const struct baleen_fleet_store *store, const char *name,
			      struct baleen_fleet_account *account, struct baleen_error *error);

/**
 * baleen_fleet_account_share() - count what other publishers of its host have, too
 * @store: opened
 * @policy: the policy: those under the same pattern count
 * @account: found; @usage gets theirs, and the rate that they have left
 * @is_snapshot: the rate goes by when entries were made, and is not shared
 * @error: filled in on failure
 *
 * Else a host had the limits of a pattern as many times as it thinks of names.
 *
 * Return: how many publishers the host has, or a negative errno.
 */
int baleen_fleet_account_share(const struct baleen_fleet_store *store,
			       const struct baleen_fleet_policy *policy,
			       struct baleen_fleet_account *account, bool is_snapshot,
			       struct baleen_error *error);

/**
 * baleen_fleet_account_save() - write a publisher
 * @store: with a transaction
 * @account: its id is filled in when it has no row
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_account_save(struct baleen_fleet_store *store,
			      struct baleen_fleet_account *account, struct baleen_error *error);

/**
 * baleen_fleet_row_read() - an entry of a statement
 * @store: opened
 * @statement: at a row
 * @first: number of the first of BALEEN_FLEET_ROW_COLUMNS
 * @row: filled in
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL for a row that nobody wrote like this.
 */
int baleen_fleet_row_read(const struct baleen_fleet_store *store, sqlite3_stmt *statement,
			  int first, struct baleen_fleet_row *row, struct baleen_error *error);

/**
 * baleen_fleet_row_find() - an entry of a publisher
 * @store: opened
 * @publisher: its id
 * @entry: set and key count
 * @row: filled in when there is one
 * @error: filled in on failure
 *
 * Return: 1; 0 when there is none; a negative errno.
 */
int baleen_fleet_row_find(const struct baleen_fleet_store *store, s64 publisher,
			  const struct baleen_fleet_entry *entry, struct baleen_fleet_row *row,
			  struct baleen_error *error);

/**
 * baleen_fleet_row_put() - write an entry
 * @store: with a transaction
 * @publisher: its id
 * @row: the entry
 * @generation: of a snapshot: which rows are of it; else 0
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_row_put(struct baleen_fleet_store *store, s64 publisher,
			 const struct baleen_fleet_row *row, u64 generation,
			 struct baleen_error *error);

/**
 * baleen_fleet_row_remove() - forget an entry
 * @store: with a transaction
 * @publisher: its id
 * @entry: set and key count
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_fleet_row_remove(struct baleen_fleet_store *store, s64 publisher,
			    const struct baleen_fleet_entry *entry, struct baleen_error *error);

/**
 * baleen_fleet_rows_each() - all entries of a publisher, in the order of a snapshot
 * @store: opened; @visit changes no rows
 * @publisher: its id
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, what @visit returned, or a negative errno.
 */
int baleen_fleet_rows_each(const struct baleen_fleet_store *store, s64 publisher,
			   int (*visit)(const struct baleen_fleet_row *row, void *data), void *data,
			   struct baleen_error *error);

#endif /* BALEEN_FLEET_ROWS_H */
