// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A kept state whose disk takes no more: its database goes on in memory. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "state/rule_store_path.h"
#include "state/sql.h"
#include "state/unkept.h"

/* A page in the log. */
#define LOG_PAGE_BYTES (4096 + 24)
/* Room that a transaction needs besides its pages. */
#define SPARE_BYTES (256 << 10)

/* --- where it is ----------------------------------------------------------- */

/* By inode: another directory of this name is another state. */
static int name_it(const struct baleen_rule_store *state, char *path)
{
	struct stat directory;

	if (!state->is_kept || stat(state->path, &directory))
		return -ENOENT;
	return baleen_rule_store_unkept_name(state->device, directory.st_ino, path);
}

bool baleen_unkept_find(struct baleen_rule_store *state)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];

	state->unkept[0] = '\0';
	if (!name_it(state, path) && !access(path, F_OK))
		strcpy(state->unkept, path);
	return state->unkept[0];
}

static void forget(struct baleen_rule_store *state)
{
	if (baleen_unkept_find(state))
		baleen_rule_store_remove_whole(state->unkept);
	state->unkept[0] = '\0';
}

const char *baleen_unkept_why(const struct baleen_rule_store *state)
{
	struct statvfs disk;

	if (!state->unkept[0])
		return NULL;
	return !statvfs(state->path, &disk) && disk.f_flag & ST_RDONLY ? "read-only file system" :
									 "disk full";
}

/* --- to memory ------------------------------------------------------------- */

static int fail_at(const char *path, int err, struct baleen_error *error)
{
	return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
}

static int make_parent(const char *path, struct baleen_error *error)
{
	char copy[BALEEN_RULE_STORE_PATH_BYTES];
	int err = baleen_rule_store_make_root(false, error);

	if (err)
		return err;
	strcpy(copy, path);
	return mkdir(dirname(copy), 0700) && errno != EEXIST ? fail_at(path, -errno, error) : 0;
}

static int copy_to(const struct baleen_rule_store *state, const char *path,
		   struct baleen_error *error)
{
	char aside[BALEEN_RULE_STORE_NAME_BYTES];
	int err;

	snprintf(aside, sizeof(aside), "%s" BALEEN_RULE_STORE_ASIDE, path);
	baleen_rule_store_remove_tree(aside);
	if (mkdir(aside, 0700))
		return fail_at(aside, -errno, error);
	err = baleen_sql_copy_into(state, aside, error);
	if (!err && rename(aside, path))
		err = fail_at(path, -errno, error);
	if (err)
		baleen_rule_store_remove_tree(aside);
	return err;
}

/* Goes on in memory; on failure without @db the state is to be closed. */
static int start(struct baleen_rule_store *state, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	int err = name_it(state, path);

	if (err)
		return fail_at(state->path, err, error);
	err = make_parent(path, error);
	if (!err)
		err = copy_to(state, path, error);
	if (err)
		return err;
	baleen_sql_close(state);
	strcpy(state->unkept, path);
	return baleen_sql_open(state, error);
}

/* --- to the disk ----------------------------------------------------------- */

/* All pages go to the log before they go to the database. */
bool baleen_unkept_goes_on(struct baleen_rule_store *state, int err)
{
	return err && state->lacks_room && !start(state, NULL);
}

bool baleen_unkept_has_room(const struct baleen_rule_store *state)
{
	struct statvfs disk;
	u64 n_pages;

	return baleen_sql_do(state, "PRAGMA page_count", &n_pages, NULL, NULL, 0) > 0 &&
	       !statvfs(state->path, &disk) && !(disk.f_flag & ST_RDONLY) &&
	       (u64)disk.f_bfree * disk.f_frsize > n_pages * LOG_PAGE_BYTES + SPARE_BYTES;
}

static int write_to_disk(const struct baleen_rule_store *state)
{
	struct baleen_rule_store disk = { .is_kept = true, .lock_fd = -1, .file = state->file };
	int err;

	strcpy(disk.path, state->path);
	err = baleen_sql_open(&disk, NULL);
	if (err)
		return err;
	err = baleen_sql_copy(state, &disk, NULL);
	baleen_sql_close(&disk);
	return err;
}

int baleen_unkept_keep(struct baleen_rule_store *state, struct baleen_error *error)
{
	if (!baleen_unkept_has_room(state) || write_to_disk(state))
		return 0;
	baleen_sql_close(state);
	forget(state);
	return baleen_sql_open(state, error);
}
