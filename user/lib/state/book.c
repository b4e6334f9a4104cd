// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The book as a database: found, opened, made, written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/book.h"
#include "state/book_schema.h"
#include "state/journal.h"
#include "state/rule_store_path.h"
#include "state/sql.h"
#include "state/unkept.h"
#include "util/announce.h"
#include "util/fd.h"
#include "util/lock.h"
#include "util/output.h"
#include "xdp/pins.h"

/* In its directory once there is a book: what is then missing, or empty, is damaged. */
#define MADE "made"

static int fail_at(const struct baleen_rule_store *book, const char *name, int err,
		   struct baleen_error *error)
{
	return baleen_fail(error, -err, "%s%s: %s", book->path, name, strerror(-err));
}

static bool has(const struct baleen_rule_store *book, const char *name)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", book->path, name);
	return !access(path, F_OK);
}

/* --- open ------------------------------------------------------------------ */

static const struct baleen_rule_store closed_book = {
	.file = BALEEN_BOOK_DB, .device = "book", .is_kept = true, .lock_fd = -1
};

static int name_book(struct baleen_rule_store *book, struct baleen_error *error)
{
	const char *root = baleen_rule_store_root(true);

	*book = closed_book;
	if (snprintf(book->path, sizeof(book->path), "%s/" BALEEN_BOOK_DIRECTORY, root) >=
	    (int)sizeof(book->path))
		return baleen_fail(error, ENAMETOOLONG, "%.200s...: name too long", root);
	return 0;
}

/* @is_finished: filled in; a database without a version was never finished */
static int check_version(const struct baleen_rule_store *book, bool *is_finished,
			 struct baleen_error *error)
{
	u64 version;
	int ret = baleen_sql_do(book, "PRAGMA user_version", &version, error, NULL, 0);

	if (ret < 0)
		return ret;
	*is_finished = version;
	if (version > BALEEN_BOOK_SCHEMA)
		return baleen_fail(error, EPROTO,
				   "%s/" BALEEN_BOOK_DB ": made by a newer release of Baleen",
				   book->path);
	if (version && version < BALEEN_BOOK_SCHEMA)
		return baleen_fail(error, EPROTO,
				   "%s/" BALEEN_BOOK_DB
				   ": made by a build of before the first release: move it away",
				   book->path);
	return version || !has(book, MADE) ? 0 : baleen_sql_damaged(book, "it is empty", error);
}

/* Return: 0; -ENOENT when there is none, or it was never finished. */
static int open_database(struct baleen_rule_store *book, struct baleen_error *error)
{
	bool is_finished = false;
	int err;

	if (!baleen_unkept_find(book) && !has(book, BALEEN_BOOK_DB))
		return has(book, MADE) ?
			       baleen_fail(error, EINVAL, "%s/" BALEEN_BOOK_DB ": is missing",
					   book->path) :
			       -ENOENT;
	err = baleen_sql_open(book, error);
	if (err)
		return err;
	err = check_version(book, &is_finished, error);
	if (err || !is_finished)
		baleen_sql_close(book);
	return err || is_finished ? err : -ENOENT;
}

static int make_tables(const struct baleen_rule_store *book, const char *mode,
		       struct baleen_error *error)
{
	char *sql = NULL;
	int err = 0;

	if (asprintf(&sql, "%s BEGIN; %s COMMIT;", mode, BALEEN_BOOK_TABLES) < 0)
		return baleen_fail(error, ENOMEM, "no memory for %s", book->path);
	if (sqlite3_exec(book->db, sql, NULL, NULL, NULL))
		err = baleen_sql_fail(book, error);
	free(sql);
	return err;
}

/* Where there is no book: the same tables, without rows. */
static int open_empty(struct baleen_rule_store *book, struct baleen_error *error)
{
	int err = baleen_sql_open_memory(book, error);

	if (err)
		return err;
	book->is_new = true;
	err = make_tables(book, "", error);
	if (err)
		baleen_sql_close(book);
	return err;
}

/* A reader holds no lock: the book may have gone to memory, or to the disk, or have been set
 * aside meanwhile.
 */
static int open_to_read(struct baleen_rule_store *book, struct baleen_error *error)
{
	for (;;) {
		int fd = open(book->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		bool is_same, was_unkept;
		int err;

		if (fd < 0 && errno != ENOENT)
			return fail_at(book, "", -errno, error);
		err = open_database(book, error);
		was_unkept = book->unkept[0];
		is_same = baleen_unkept_find(book) == was_unkept &&
			  (fd < 0 ? access(book->path, F_OK) : baleen_lock_is_of(fd, book->path));
		baleen_close_fd(&fd);
		if (is_same)
			return err == -ENOENT ? open_empty(book, error) : err;
		baleen_sql_close(book);
	}
}

int baleen_book_read(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book;
	struct baleen_error why;
	int err;

	if (book->db)
		return 0;
	err = name_book(book, error);
	if (err)
		return err;
	err = open_to_read(book, &why);
	if (err == -EINVAL || err == -EIO)
		return baleen_fail(error, -err, "%.700s: 'baleen apply' sets it aside", why.text);
	return err ? baleen_fail(error, -err, "%s", why.text) : 0;
}

int baleen_book_do_without(const struct baleen_rule_store *state, struct baleen_error *error)
{
	baleen_sql_close(state->book);
	return open_empty(state->book, error);
}

int baleen_book_open(struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store opened = { .lock_fd = -1 };
	int err;

	opened.book = calloc(1, sizeof(*opened.book));
	if (!opened.book)
		return baleen_no_memory(error);
	opened.book->lock_fd = -1;
	err = baleen_book_read(&opened, error);
	if (err)
		baleen_sql_close(&opened);
	else
		*state = opened;
	return err;
}

void baleen_book_close(struct baleen_rule_store *state)
{
	baleen_sql_close(state);
}

/* --- write ----------------------------------------------------------------- */

/* Its directory may have got another name while it was waited for. */
static int lock_book(struct baleen_rule_store *book, struct baleen_error *error)
{
	int err = 0;

	while (!err && book->lock_fd < 0) {
		int fd = open(book->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT) {
			err = baleen_rule_store_make_root(true, error);
			if (!err && mkdir(book->path, 0700) && errno != EEXIST)
				err = fail_at(book, "", -errno, error);
			continue;
		}
		if (fd < 0)
			return fail_at(book, "", -errno, error);
		err = baleen_lock_within(fd, BALEEN_LOCK_TIMEOUT_MS);
		if (!err && baleen_lock_is_of(fd, book->path))
			book->lock_fd = fd;
		else
			close(fd);
		if (err == -ETIMEDOUT)
			return baleen_fail(error, ETIMEDOUT,
					   "%s: another command has been writing it for %d s",
					   book->path, BALEEN_LOCK_TIMEOUT_MS / 1000);
		if (err)
			return fail_at(book, "", err, error);
	}
	return err;
}

int baleen_book_lock(char *path, int *fd, struct baleen_error *error)
{
	struct baleen_rule_store book;
	int err = name_book(&book, error);

	if (!err && access(book.path, F_OK))
		return -ENOENT;
	if (!err)
		err = lock_book(&book, error);
	if (err)
		return err;
	strcpy(path, book.path);
	*fd = book.lock_fd;
	return 0;
}

static void release(struct baleen_rule_store *book)
{
	baleen_close_fd(&book->lock_fd);
}

/* Whoever dies before the tables are there leaves what was never finished. */
static int make_book(struct baleen_rule_store *book, struct baleen_error *error)
{
	int err;

	unlinkat(book->lock_fd, BALEEN_BOOK_DB, 0);
	unlinkat(book->lock_fd, BALEEN_BOOK_DB "-wal", 0);
	unlinkat(book->lock_fd, BALEEN_BOOK_DB "-shm", 0);
	err = baleen_rule_store_make_file(book, BALEEN_BOOK_DB, error);
	if (!err && baleen_rule_store_sync_parent(book->path))
		err = fail_at(book, "", -errno, error);
	if (!err)
		err = baleen_sql_open(book, error);
	if (!err)
		err = make_tables(book, "PRAGMA journal_mode = WAL;", error);
	if (!err)
		baleen_sql_empty_log(book);
	if (err)
		baleen_sql_close(book);
	return err ? err : baleen_rule_store_make_file(book, MADE, error);
}

int baleen_book_make(const char *path, struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store made = { .lock_fd = -1 };
	int err = 0;

	made.book = calloc(1, sizeof(*made.book));
	if (!made.book)
		return baleen_no_memory(error);
	*made.book = closed_book;
	snprintf(made.book->path, sizeof(made.book->path), "%s", path);
	if (mkdir(path, 0700))
		err = fail_at(made.book, "", -errno, error);
	if (!err)
		err = lock_book(made.book, error);
	if (!err)
		err = make_book(made.book, error);
	if (!err)
		err = baleen_sql_do(made.book, "BEGIN IMMEDIATE", NULL, error, NULL, 0);
	if (err) {
		release(made.book);
		baleen_book_close(&made);
		return err;
	}
	*state = made;
	return 0;
}

/* Behind the lock: is what was opened to be read still the book? */
static bool is_still_it(struct baleen_rule_store *book)
{
	bool was_unkept = book->unkept[0];
	int has_moved = 1;

	return book->db && !book->is_new && baleen_unkept_find(book) == was_unkept &&
	       !sqlite3_db_readonly(book->db, "main") &&
	       !sqlite3_file_control(book->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) &&
	       !has_moved;
}

static int reopen(struct baleen_rule_store *book, struct baleen_error *error)
{
	int err;

	baleen_sql_close(book);
	book->is_new = false;
	err = open_database(book, error);
	return err == -ENOENT ? make_book(book, error) : err;
}

/* Opened to write, and locked. */
static int hold(struct baleen_rule_store *book, struct baleen_error *error)
{
	int err = lock_book(book, error);

	if (!err && !is_still_it(book))
		err = reopen(book, error);
	if (!err && book->unkept[0])
		err = baleen_unkept_keep(book, error);
	if (err)
		release(book);
	return err;
}

/* Return: 1 when this boot has written it already, 0 or a negative errno. */
static int is_of_boot(const struct baleen_rule_store *book, char *boot, struct baleen_error *error)
{
	int err = baleen_boot_id(boot, error);

	return err ? err :
		     baleen_sql_do(book, "SELECT 1 FROM meta WHERE boot = ?", NULL, error,
				   BALEEN_SQL_VALUES(baleen_sql_text(boot)));
}

/* Entries that were to stay until the boot. */
static int forget_boot(const struct baleen_rule_store *state, struct baleen_error *error)
{
	const struct baleen_rule_store *book = state->book;
	char boot[BALEEN_BOOT_ID];
	int ret = is_of_boot(book, boot, error);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = baleen_journal_remove(state, BALEEN_JOURNAL_EXPIRE,
				    BALEEN_JOURNAL_ENTRIES("until_boot = 1"), error, NULL, 0);
	return ret ? ret :
		     baleen_sql_do(book, "INSERT OR REPLACE INTO meta VALUES (1, ?)", NULL, error,
				   BALEEN_SQL_VALUES(baleen_sql_text(boot)));
}

static void undo(struct baleen_rule_store *book)
{
	book->n_noted = book->n_counted = 0;
	if (book->db && !sqlite3_get_autocommit(book->db))
		baleen_sql_do(book, "ROLLBACK", NULL, NULL, NULL, 0);
}

int baleen_book_refused(const struct baleen_rule_store *state, int err)
{
	struct baleen_rule_store *book = state->book;

	book->lacks_room = !book->unkept[0] &&
			   (err == -ENOSPC || err == -EDQUOT || err == -EFBIG || err == -EROFS);
	return err;
}

int baleen_book_begin(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book;
	int err = book->db ? 0 : name_book(book, error);

	if (!err)
		err = hold(book, error);
	if (err)
		return baleen_book_refused(state, err);
	err = baleen_sql_do(book, "BEGIN IMMEDIATE", NULL, error, NULL, 0);
	if (!err)
		err = forget_boot(state, error);
	if (err) {
		undo(book);
		release(book);
	}
	return baleen_book_refused(state, err);
}

int baleen_book_commit(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book;
	u64 n_written = baleen_sql_n_written(book);
	int err = baleen_journal_end(state, error);

	if (!err)
		err = baleen_sql_do(book, "COMMIT", NULL, error, NULL, 0);

	if (err) {
		undo(book);
		baleen_sql_drop_failed(book);
	} else if (baleen_sql_n_written(book) > n_written) {
		book->is_synced = true;
	} else {
		/* A commit that had nothing to write has synced nothing, either. */
		baleen_book_sync(state);
	}
	release(book);
	if (!err)
		baleen_announce();
	return baleen_book_refused(state, err);
}

static void write_nothing(const struct baleen_rule_store *state)
{
	if (!baleen_book_begin(state, NULL))
		baleen_book_commit(state, NULL);
}

void baleen_book_follow_boot(const struct baleen_rule_store *state)
{
	char boot[BALEEN_BOOT_ID];

	if (!baleen_book_read(state, NULL) && !state->book->is_new &&
	    is_of_boot(state->book, boot, NULL) != 1)
		write_nothing(state);
}

void baleen_book_be_there(const struct baleen_rule_store *state)
{
	if (baleen_book_read(state, NULL) || !state->book->is_new)
		return;
	write_nothing(state);
	/* Each ban reads the log from its start. */
	if (state->book->db && !state->book->is_new)
		baleen_sql_empty_log(state->book);
}

void baleen_book_rollback(const struct baleen_rule_store *state)
{
	undo(state->book);
	release(state->book);
}

int baleen_book_end(const struct baleen_rule_store *state, int err, struct baleen_error *error)
{
	if (!err)
		return baleen_book_commit(state, error);
	baleen_book_rollback(state);
	return err;
}

void baleen_book_sync(const struct baleen_rule_store *state)
{
	struct baleen_rule_store *book = state->book;

	if (book && book->db && !book->is_new && !book->is_synced)
		baleen_sql_sync(book);
	if (book)
		book->is_synced = true;
}

/* --- no room --------------------------------------------------------------- */

bool baleen_book_goes_on(const struct baleen_rule_store *state, int err)
{
	struct baleen_rule_store *book = state->book;
	bool goes_on;

	if (!err || !book->lacks_room || hold(book, NULL))
		return false;
	goes_on = book->unkept[0] || baleen_unkept_goes_on(book, err);
	release(book);
	return goes_on;
}

int baleen_book_keep(const struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store *book = state->book;
	int err = baleen_book_read(state, error);

	if (err || !book->unkept[0])
		return err;
	if (!baleen_unkept_has_room(book))
		return baleen_fail(error, ENOSPC, "%s: %s", baleen_unkept_why(book), book->path);
	err = hold(book, error);
	if (!err)
		release(book);
	return err;
}

const char *baleen_book_unkept_why(const struct baleen_rule_store *state)
{
	return baleen_book_read(state, NULL) ? NULL : baleen_unkept_why(state->book);
}
