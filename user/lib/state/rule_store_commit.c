// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Transactions of a state, what a commit makes go, and the mark of a change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state/rule_store_commit.h"
#include "state/book.h"
#include "state/rule_store_schema.h"
#include "state/sql.h"
#include "util/announce.h"
#include "util/output.h"

/* --- feeds that no row speaks of --- */

static bool is_copy_wanted(const struct baleen_rule_store *state, const char *name)
{
	u64 id, generation;

	if (!baleen_rule_store_is_feed_name(name, &id, &generation))
		return true;
	return baleen_sql_do(state, "SELECT 1 FROM feed WHERE id = ? AND generation = ?", NULL,
			     NULL,
			     BALEEN_SQL_VALUES(baleen_sql_number(id),
					       baleen_sql_number(generation))) != 0;
}

/* Those of before the last commit, and of one that never came. */
static void sweep(const struct baleen_rule_store *state)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_FEEDS, state->path);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (!is_copy_wanted(state, entry->d_name))
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
}

void baleen_rule_store_tidy(const struct baleen_rule_store *state)
{
	unlinkat(state->lock_fd, BALEEN_RULE_STORE_UNFINISHED, 0);
	/* The writer of this copy was killed, maybe before its name was synced. */
	if (!unlinkat(state->lock_fd, BALEEN_RULE_STORE_COPY_MARK, 0) && state->is_kept)
		baleen_rule_store_sync_parent(state->path);
	sweep(state);
}

/* --- whose it is --- */

int baleen_rule_store_read_owner(const struct baleen_rule_store *state,
				 struct baleen_rule_store_owner *owner, struct baleen_error *error)
{
	static const char sql[] = "SELECT boot, netns_cookie, ifindex, device FROM owner";
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, NULL, 0);

	if (baleen_sql_next(&rows)) {
		if (!baleen_sql_column(rows.row, 0, owner->boot, sizeof(owner->boot)) ||
		    !baleen_sql_column(rows.row, 3, owner->device, sizeof(owner->device)))
			rows.ret = baleen_sql_damaged(state, "owner", error);
		owner->netns_cookie = sqlite3_column_int64(rows.row, 1);
		owner->ifindex = sqlite3_column_int(rows.row, 2);
	}
	return baleen_sql_end(&rows);
}

/* --- transactions --- */

/* Records the device's boot, network namespace and number. A command that commits runs in
 * that namespace; a device that is not there keeps the owner it had.
 */
static int put_owner(const struct baleen_rule_store *state, struct baleen_error *error)
{
	static const char sql[] = "INSERT OR REPLACE INTO owner VALUES (1, ?, ?, ?, ?)";
	struct baleen_rule_store_owner was = { .ifindex = 0 }, is = state->is;
	int err = baleen_rule_store_read_owner(state, &was, error);

	if (!err && !is.ifindex)
		err = baleen_rule_store_owner(state->device, &is, error);
	if (err || (!is.ifindex && *was.boot) ||
	    (!strcmp(was.boot, is.boot) && was.netns_cookie == is.netns_cookie &&
	     was.ifindex == is.ifindex && !strcmp(was.device, state->device)))
		return err;
	return baleen_sql_do(state, sql, NULL, error,
			     BALEEN_SQL_VALUES(baleen_sql_text(state->device),
					       baleen_sql_text(is.boot),
					       baleen_sql_number(is.netns_cookie),
					       baleen_sql_number(is.ifindex)));
}

static int begin_to_write(struct baleen_rule_store *state, struct baleen_error *error)
{
	static const char sql[] = "PRAGMA user_version = " BALEEN_RULE_STORE_SCHEMA_TEXT;
	int err = baleen_sql_do(state, "BEGIN IMMEDIATE", NULL, error, NULL, 0);

	state->n_changes = sqlite3_total_changes64(state->db);
	if (!err && state->is_new)
		err = baleen_sql_do(state, sql, NULL, error, NULL, 0);
	if (!err)
		err = put_owner(state, error);
	if (err)
		baleen_rule_store_rollback(state);
	return err;
}

int baleen_rule_store_begin(struct baleen_rule_store *state, struct baleen_error *error)
{
	/* The transaction that it was opened with. */
	if (sqlite3_txn_state(state->db, NULL) != SQLITE_TXN_WRITE)
		baleen_rule_store_rollback(state);
	if (state->lock_fd < 0)
		return baleen_sql_do(state, "BEGIN", NULL, error, NULL, 0);
	return begin_to_write(state, error);
}

int baleen_rule_store_prepare(struct baleen_rule_store *state, struct baleen_error *error)
{
	bool is_changed =
		state->is_new || (u64)sqlite3_total_changes64(state->db) != state->n_changes;
	int err = baleen_sql_do(state, "COMMIT", NULL, error, NULL, 0);

	if (!err && state->lock_fd >= 0 && is_changed)
		err = baleen_sql_write(state, error);
	if (err)
		baleen_rule_store_rollback(state);
	return err;
}

int baleen_rule_store_commit(struct baleen_rule_store *state, struct baleen_error *error)
{
	bool is_changed;
	int err = sqlite3_get_autocommit(state->db) ? 0 : baleen_rule_store_prepare(state, error);

	if (err || state->lock_fd < 0)
		return err;
	is_changed = state->is_written;
	if (is_changed)
		err = baleen_sql_name(state, error);
	if (err)
		return err;
	if (is_changed)
		state->is_synced = true;
	else
		baleen_rule_store_sync(state);
	if (state->is_new)
		unlinkat(state->lock_fd, BALEEN_RULE_STORE_UNFINISHED, 0);
	state->is_new = false;
	if (state->drops_copies)
		sweep(state);
	state->drops_copies = false;
	baleen_announce();
	return 0;
}

/* A command that changes nothing reports as done what it saw: a power cut must not undo that. */
void baleen_rule_store_sync(struct baleen_rule_store *state)
{
	if (state->db && state->lock_fd >= 0 && state->is_kept && !state->is_new &&
	    !state->is_synced)
		baleen_sql_sync(state);
	state->is_synced = true;
}

void baleen_rule_store_rollback(struct baleen_rule_store *state)
{
	if (state->db && !sqlite3_get_autocommit(state->db))
		baleen_sql_do(state, "ROLLBACK", NULL, NULL, NULL, 0);
	if (state->db)
		baleen_sql_drop(state);
}

/* --- marks --- */

static int make_mark(const struct baleen_rule_store *state, const char *mark,
		     struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];
	int err = baleen_rule_store_mark_name(state, mark, path, error);
	int fd;

	if (err)
		return err == -ENODEV ? 0 : err;
	fd = baleen_output_own(path, error);
	if (fd == -ENOENT) {
		err = baleen_rule_store_make_root(false, error);
		fd = err ? err : baleen_output_own(path, error);
	}
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void take_mark(const struct baleen_rule_store *state, const char *mark)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	if (!baleen_rule_store_mark_name(state, mark, path, NULL))
		unlink(path);
}

static bool has_mark(const struct baleen_rule_store *state, const char *mark)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	return !baleen_rule_store_mark_name(state, mark, path, NULL) && !access(path, F_OK);
}

int baleen_rule_store_mark(const struct baleen_rule_store *state, struct baleen_error *error)
{
	return make_mark(state, BALEEN_MARK_CHANGING, error);
}

void baleen_rule_store_unmark(const struct baleen_rule_store *state)
{
	take_mark(state, BALEEN_MARK_CHANGING);
}

bool baleen_rule_store_is_marked(const struct baleen_rule_store *state)
{
	return has_mark(state, BALEEN_MARK_CHANGING);
}

int baleen_rule_store_leave_behind(const struct baleen_rule_store *state,
				   struct baleen_error *error)
{
	return make_mark(state, BALEEN_MARK_BEHIND, error);
}

void baleen_rule_store_catch_up(const struct baleen_rule_store *state)
{
	take_mark(state, BALEEN_MARK_BEHIND);
	/* One that cannot be waited for is left as it was left. */
	if (baleen_book_wait(NULL))
		baleen_rule_store_leave_behind(state, NULL);
}

void baleen_rule_store_take_marks(const struct baleen_rule_store *state)
{
	take_mark(state, BALEEN_MARK_CHANGING);
	take_mark(state, BALEEN_MARK_BEHIND);
}

bool baleen_rule_store_is_behind(const struct baleen_rule_store *state)
{
	return has_mark(state, BALEEN_MARK_BEHIND);
}
