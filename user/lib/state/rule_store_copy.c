// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A state as it is, put aside and taken back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/rule_store.h"
#include "state/sql.h"
#include "util/announce.h"
#include "util/fd.h"
#include "util/input.h"
#include "util/lock.h"
#include "util/musl.h"
#include "util/output.h"

static int fail_at(struct baleen_error *error, const char *path, int err)
{
	return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
}

static int make_file(const char *directory, const char *name, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = baleen_output_make(AT_FDCWD, path, 0600);
	if (fd < 0)
		return fail_at(error, path, fd);
	close(fd);
	return 0;
}

/* --- putting aside --- */

/* To another file system. */
static int copy_file(const char *from, const char *to)
{
	int from_fd = baleen_input_open(from, BALEEN_INPUT_OWN, NULL), to_fd, err;
	u64 n_bytes;

	if (from_fd < 0)
		return from_fd;
	to_fd = baleen_output_make(AT_FDCWD, to, 0600);
	err = to_fd < 0 ? to_fd : baleen_rule_store_copy_bytes(from_fd, to_fd, &n_bytes);
	if (!err && fsync(to_fd))
		err = -errno;
	baleen_close_fd(&to_fd);
	close(from_fd);
	return err;
}

/* Files of feeds never change, so a second name is a copy. */
static int copy_feed(const struct baleen_rule_store *state, const char *aside, const char *name,
		     struct baleen_error *error)
{
	char from[BALEEN_RULE_STORE_NAME_BYTES + 64], to[BALEEN_RULE_STORE_NAME_BYTES + 64];
	int err = 0;

	snprintf(from, sizeof(from), "%s/" BALEEN_RULE_STORE_FEEDS "/%s", state->path, name);
	snprintf(to, sizeof(to), "%s/" BALEEN_RULE_STORE_FEEDS "/%s", aside, name);
	if (link(from, to))
		err = errno == EXDEV ? copy_file(from, to) : -errno;
	return err ? fail_at(error, from, err) : 0;
}

static int copy_feeds(const struct baleen_rule_store *state, const char *aside,
		      struct baleen_error *error)
{
	static const char sql[] = "SELECT id || '.' || generation FROM feed WHERE generation > 0";
	char feeds[BALEEN_RULE_STORE_NAME_BYTES], name[64];
	struct baleen_sql_rows rows;

	snprintf(feeds, sizeof(feeds), "%s/" BALEEN_RULE_STORE_FEEDS, aside);
	if (mkdir(feeds, 0700))
		return fail_at(error, feeds, -errno);
	rows = baleen_sql_ask(state, sql, error, NULL, 0);
	while (baleen_sql_next(&rows))
		rows.ret = baleen_sql_column(rows.row, 0, name, sizeof(name)) ?
				   copy_feed(state, aside, name, error) :
				   baleen_sql_damaged(state, "a feed that cannot be", error);
	return baleen_sql_end(&rows);
}

/* All files are of one moment; a reader that a writer overtakes misses a feed. */
static int copy_inside(const struct baleen_rule_store *state, const char *aside,
		       struct baleen_error *error)
{
	bool is_first;
	int err = baleen_sql_begin_reading(state, &is_first, error);

	if (!err)
		err = copy_feeds(state, aside, error);
	if (!err)
		err = baleen_sql_copy_into(state, aside, error);
	baleen_sql_end_reading(state, is_first);
	return err ? err : make_file(aside, BALEEN_RULE_STORE_COPY_MARK, error);
}

static int sync_tree(const char *aside)
{
	char inside[BALEEN_RULE_STORE_NAME_BYTES + 64];
	int err;

	snprintf(inside, sizeof(inside), "%s/" BALEEN_RULE_STORE_FEEDS "/.", aside);
	err = baleen_rule_store_sync_parent(inside);
	snprintf(inside, sizeof(inside), "%s/" BALEEN_RULE_STORE_FEEDS, aside);
	return err ? err : baleen_rule_store_sync_parent(inside);
}

/* The old one is removed once the new one is there. */
static int put_in_place(const char *aside, const char *path, struct baleen_error *error)
{
	int err = renameat2(AT_FDCWD, aside, AT_FDCWD, path, RENAME_EXCHANGE);

	if (!err)
		baleen_rule_store_remove_tree(aside);
	else if (errno == ENOENT)
		err = rename(aside, path);
	if (err)
		return fail_at(error, path, -errno);
	err = baleen_rule_store_sync_parent(path);
	return err ? fail_at(error, path, err) : 0;
}

int baleen_rule_store_copy(const struct baleen_rule_store *state, const char *path,
			   struct baleen_error *error)
{
	char aside[BALEEN_RULE_STORE_PATH_BYTES];
	int err;

	if (snprintf(aside, sizeof(aside), "%s" BALEEN_RULE_STORE_ASIDE, path) >=
	    (int)sizeof(aside))
		return fail_at(error, path, -ENAMETOOLONG);
	baleen_rule_store_remove_tree(aside);
	if (mkdir(aside, 0700))
		return fail_at(error, aside, -errno);
	err = copy_inside(state, aside, error);
	if (!err && sync_tree(aside))
		err = fail_at(error, aside, -errno);
	if (!err)
		err = put_in_place(aside, path, error);
	if (err)
		baleen_rule_store_remove_tree(aside);
	return err;
}

/* --- taking back --- */

bool baleen_rule_store_is_copy(const char *path)
{
	char mark[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(mark, sizeof(mark), "%s/" BALEEN_RULE_STORE_COPY_MARK, path);
	return !access(mark, F_OK);
}

/* Locked before it gets the name, so that nobody comes in between. */
static int open_copy(const char *path, int *fd, struct baleen_error *error)
{
	int opened, err;

	if (!baleen_rule_store_is_copy(path))
		return baleen_fail(error, ENOENT, "%s: is no copy of a state", path);
	opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (opened < 0)
		return fail_at(error, path, -errno);
	err = baleen_lock_within(opened, 0);
	if (err) {
		close(opened);
		return fail_at(error, path, err);
	}
	*fd = opened;
	return 0;
}

/* The mark moves with the copy. The old state gets the copy's name, and a kill may leave it
 * there; without a mark nothing takes it for a copy. No database is open while directories
 * change names, because SQLite finds its log by name.
 */
int baleen_rule_store_replace(struct baleen_rule_store *state, const char *path,
			      struct baleen_error *error)
{
	int fd = -1, err = open_copy(path, &fd, error);

	if (err)
		return err;
	baleen_sql_close(state);
	if (renameat2(AT_FDCWD, path, AT_FDCWD, state->path, RENAME_EXCHANGE)) {
		err = fail_at(error, path, -errno);
		close(fd);
		baleen_sql_open(state, NULL);
		return err;
	}
	close(state->lock_fd);
	state->lock_fd = fd;
	err = baleen_rule_store_sync_parent(state->path);
	unlinkat(fd, BALEEN_RULE_STORE_COPY_MARK, 0);
	baleen_rule_store_remove_tree(path);
	baleen_announce();
	return err ? fail_at(error, state->path, err) : baleen_sql_open(state, error);
}
