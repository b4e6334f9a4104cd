// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A book that is damaged: set aside, and what can be read of it is in another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state/book.h"
#include "state/book_mend.h"
#include "state/salvage.h"
#include "state/sql.h"
#include "util/announce.h"
#include "util/clock.h"
#include "util/musl.h"

const char *baleen_book_aside_text(const struct baleen_book_aside *aside, char *text)
{
	snprintf(text, BALEEN_BOOK_ASIDE_TEXT,
		 "the book of single entries is damaged, and is set aside: %s: %llu of its entries "
		 "could be read",
		 aside->path, (unsigned long long)aside->n_entries);
	return text;
}

/* A disk that cannot read it will not read it later, either. */
static bool is_damage(int err)
{
	return err == -EINVAL || err == -EIO;
}

bool baleen_book_is_damaged(void)
{
	struct baleen_rule_store state;
	struct baleen_sql_rows rows;
	bool is_sound = false;
	int err = baleen_book_open(&state, NULL);

	if (err)
		return is_damage(err);
	rows = baleen_sql_ask(state.book, "PRAGMA quick_check(1)", NULL, NULL, 0);
	if (baleen_sql_next(&rows))
		is_sound = !strcmp((const char *)sqlite3_column_text(rows.row, 0) ?: "", "ok");
	err = baleen_sql_end(&rows);
	baleen_book_close(&state);
	return is_damage(err) || (!err && !is_sound);
}

/* Rows of a scope whose name could not be read are nobody's. */
static int drop_nameless(const struct baleen_rule_store *to, u64 *n_entries,
			 struct baleen_error *error)
{
	int err = baleen_sql_do(to->book,
				"DELETE FROM single WHERE scope NOT IN (SELECT id FROM scope)",
				NULL, error, NULL, 0);

	if (!err)
		err = baleen_sql_do(to->book, "SELECT count(*) FROM single", n_entries, error, NULL,
				    0);
	return err < 0 ? err : 0;
}

/* Into a book beside it: whoever dies before that is done leaves the damaged one as it is. */
static int salvage(const char *path, const char *beside, u64 *n_entries, struct baleen_error *error)
{
	struct baleen_rule_store from = { .file = BALEEN_BOOK_DB, .is_kept = true, .lock_fd = -1 };
	struct baleen_rule_store to;
	int err = baleen_book_make(beside, &to, error);

	if (err)
		return err;
	snprintf(from.path, sizeof(from.path), "%s", path);
	if (!baleen_sql_open(&from, NULL)) {
		baleen_salvage(&from, to.book, "meta");
		baleen_salvage(&from, to.book, "scope");
		baleen_salvage(&from, to.book, "ended");
		baleen_salvage(&from, to.book, "change");
		baleen_salvage(&from, to.book, "refusal");
		baleen_salvage(&from, to.book, "single");
		baleen_sql_close(&from);
	}
	err = drop_nameless(&to, n_entries, error);
	err = baleen_book_end(&to, err, error);
	baleen_book_close(&to);
	return err;
}

static int fail(const char *path, struct baleen_error *error)
{
	return baleen_fail(error, errno, "%s: %m", path);
}

/* The new one is there at once, where the file system can exchange names. */
static int put_in_place(const char *path, const char *beside, const char *aside,
			struct baleen_error *error)
{
	if (renameat2(AT_FDCWD, beside, AT_FDCWD, path, RENAME_EXCHANGE)) {
		if (errno != EINVAL && errno != ENOSYS)
			return fail(path, error);
		if (rename(path, aside) || rename(beside, path))
			return fail(path, error);
	} else if (rename(beside, aside)) {
		return fail(beside, error);
	}
	return baleen_rule_store_sync_parent(path) ? fail(path, error) : 0;
}

static int set_aside(const char *path, struct baleen_book_aside *aside, struct baleen_error *error)
{
	char beside[BALEEN_RULE_STORE_PATH_BYTES + 16], lost[sizeof(beside) + 32];
	u64 now_ms = baleen_clock_ns(CLOCK_REALTIME) / 1000000;
	int err;

	snprintf(beside, sizeof(beside), "%s.new", path);
	snprintf(lost, sizeof(lost), "%s.left-%llu", path, (unsigned long long)now_ms);
	snprintf(aside->path, sizeof(aside->path), "%s.damaged-%llu", path,
		 (unsigned long long)now_ms);
	/* One that died has left half a book there, or the damaged one. */
	if (rename(beside, lost) && errno != ENOENT)
		return fail(beside, error);
	err = salvage(path, beside, &aside->n_entries, error);
	return err ? err : put_in_place(path, beside, aside->path, error);
}

int baleen_book_set_aside(struct baleen_book_aside *aside, struct baleen_error *error)
{
	struct baleen_book_aside set = { .n_entries = 0 };
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	int fd, err = baleen_book_lock(path, &fd, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	/* Another command may have done it meanwhile. */
	if (!baleen_book_is_damaged()) {
		close(fd);
		return 0;
	}
	err = set_aside(path, &set, error);
	close(fd);
	if (err)
		return err;
	*aside = set;
	baleen_announce();
	return 1;
}
