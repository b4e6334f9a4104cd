// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stores what the rules of a device were made of: a directory with a database. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/bpffs.h"
#include "net/device.h"
#include "state/draft_copies.h"
#include "state/rule_store.h"
#include "state/rule_store_schema.h"
#include "state/sql.h"
#include "util/announce.h"
#include "util/fd.h"
#include "util/lock.h"
#include "util/output.h"

static bool has(const struct baleen_rule_store *state, const char *name)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", state->path, name);
	return !access(path, F_OK);
}

/* Return: whether it was there. */
static bool unlink_in(const struct baleen_rule_store *state, const char *name)
{
	char path[BALEEN_RULE_STORE_NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", state->path, name);
	return !unlink(path);
}

/* --- locks --- */

static int lock_failed(const char *path, u64 timeout_ms, int err, struct baleen_error *error)
{
	if (err == -ETIMEDOUT)
		return baleen_fail(error, ETIMEDOUT,
				   "%s: another command has been changing it for %llu s", path,
				   (unsigned long long)timeout_ms / 1000);
	return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
}

/* Another state may have got the name while this one was waited for. */
static int lock(struct baleen_rule_store *state, u64 timeout_ms, bool makes,
		struct baleen_error *error)
{
	for (;;) {
		int fd, err;

		if (makes && mkdir(state->path, 0700) && errno != EEXIST)
			return baleen_fail(error, errno, "%s: %m", state->path);
		fd = open(state->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && makes)
			continue;
		if (fd < 0)
			return baleen_fail(error, errno, "%s: %m", state->path);
		err = baleen_lock_within(fd, timeout_ms);
		if (!err && baleen_lock_is_of(fd, state->path)) {
			state->lock_fd = fd;
			return 0;
		}
		close(fd);
		if (err)
			return lock_failed(state->path, timeout_ms, err, error);
	}
}

static void unlock(struct baleen_rule_store *state)
{
	baleen_close_fd(&state->lock_fd);
}

/* --- the end --- */

static void remove_directory(struct baleen_rule_store *state)
{
	if (!baleen_rule_store_remove_whole(state->path) && state->is_kept)
		baleen_rule_store_sync_parent(state->path);
}

/* --- open and close --- */

int baleen_rule_store_check_place(struct baleen_error *error)
{
	char path[BALEEN_BPFFS_BYTES];

	return baleen_bpffs_find(path, error);
}

static bool has_state(const char *device, bool is_kept)
{
	struct baleen_rule_store other = { .is_kept = is_kept };

	return !baleen_rule_store_name(device, is_kept, other.path, NULL) &&
	       has(&other, BALEEN_RULE_STORE_DB);
}

/* A device keeps its number when it is renamed. The state goes with it, unless the new name has
 * one: of two that change one filter, each would undo what the other does.
 */
static void find_name(struct baleen_rule_store *state, const struct baleen_rule_store_owner *was)
{
	struct baleen_rule_store_owner *is = &state->is;
	char now[BALEEN_POINT_BYTES];

	if (is->ifindex || !was->ifindex || strcmp(was->boot, is->boot) ||
	    was->netns_cookie != is->netns_cookie || !baleen_device_name(was->ifindex, now) ||
	    has_state(now, true) || (state->is_kept && has_state(now, false)))
		return;
	strcpy(state->now, now);
	is->ifindex = was->ifindex;
}

/* Return: 0; -EXDEV when another network namespace's device of this name has it. */
static int check_owner(struct baleen_rule_store *state, struct baleen_error *error)
{
	struct baleen_rule_store_owner was = { .ifindex = 0 };
	int err = baleen_rule_store_read_owner(state, &was, error);

	strcpy(state->now, state->device);
	/* A volatile one is of the device whose number it has in its name. */
	if (!err && state->is_kept)
		err = baleen_rule_store_owner(state->device, &state->is, error);
	if (!err && *was.device)
		strcpy(state->scope, was.device);
	if (!err)
		find_name(state, &was);
	if (err || !state->is_kept || !baleen_rule_store_is_foreign(&was, &state->is))
		return err;
	return baleen_fail(error, EXDEV, "%s: is of the %s of another network namespace",
			   state->path, state->device);
}

static int check_version(const struct baleen_rule_store *state, struct baleen_error *error)
{
	u64 version;
	int ret = baleen_sql_do(state, "PRAGMA user_version", &version, error, NULL, 0);

	if (ret < 0)
		return ret;
	if (version > BALEEN_RULE_STORE_SCHEMA)
		return baleen_fail(error, EPROTO,
				   "%s/" BALEEN_RULE_STORE_DB ": made by a newer release of Baleen",
				   state->path);
	if (version == BALEEN_RULE_STORE_SCHEMA)
		return 0;
	if (version)
		return baleen_fail(error, EINVAL,
				   "%s/" BALEEN_RULE_STORE_DB ": made by an older Baleen",
				   state->path);
	if (!has(state, BALEEN_RULE_STORE_UNFINISHED))
		return baleen_sql_damaged(state, "it is empty", error);
	return baleen_fail(error, ENOENT, "%s: was never finished", state->path);
}

/* A database without its directory's other half, or the other way round, is no
 * state that was never there.
 */
static int check_there(struct baleen_rule_store *state, struct baleen_error *error)
{
	state->stamp = baleen_rule_store_stamp(state->path);
	if (state->stamp.inode)
		return 0;
	if (has(state, BALEEN_RULE_STORE_FEEDS) && !has(state, BALEEN_RULE_STORE_UNFINISHED))
		return baleen_fail(error, EINVAL, "%s/" BALEEN_RULE_STORE_DB ": is missing",
				   state->path);
	return baleen_fail(error, ENOENT, "%s: no state", state->path);
}

/* As of one moment, and at the price of one lock. A writer goes on so: nobody else writes. */
static int check_opened(struct baleen_rule_store *state, struct baleen_error *error)
{
	bool is_first;
	int err = baleen_sql_begin_reading(state, &is_first, error);

	if (!err)
		err = check_version(state, error);
	if (!err)
		err = check_owner(state, error);
	if (!err)
		err = baleen_sql_do(state,
				    state->lock_fd < 0 ? "PRAGMA query_only = ON" :
							 "PRAGMA query_only = OFF",
				    NULL, error, NULL, 0);
	baleen_sql_end_reading(state, is_first && state->lock_fd < 0);
	if (err)
		baleen_sql_close(state);
	return err;
}

static int open_database(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err = check_there(state, error);

	if (!err)
		err = baleen_sql_open(state, error);
	return err ? err : check_opened(state, error);
}

/* Whoever was killed, or lost its power, before the first commit may have left
 * anything.
 */
static int open_finished(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err = open_database(state, error);

	if ((err == -EINVAL || err == -EROFS) && has(state, BALEEN_RULE_STORE_UNFINISHED))
		return baleen_fail(error, ENOENT, "%s: was never finished", state->path);
	return err;
}

/* A reader holds no lock: when another directory came into place meanwhile, it could have the
 * database of the one and the log of the other.
 */
static int open_to_read(struct baleen_rule_store *state, struct baleen_error *error)
{
	for (;;) {
		int fd = open(state->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		bool is_same;
		int err;

		if (fd < 0)
			return baleen_fail(error, errno, "%s: %m", state->path);
		err = open_finished(state, error);
		is_same = baleen_lock_is_of(fd, state->path);
		close(fd);
		if (is_same)
			return err;
		baleen_sql_close(state);
	}
}

/* Behind the lock. @err: of opening it */
static int start_writing(struct baleen_rule_store *state, int err)
{
	if (err)
		unlock(state);
	else
		baleen_rule_store_tidy(state);
	return err;
}

static int open_to_write(struct baleen_rule_store *state, u64 timeout_ms,
			 struct baleen_error *error)
{
	int err = lock(state, timeout_ms, false, error);

	if (err)
		return err;
	return start_writing(state, open_finished(state, error));
}

static void call_state(struct baleen_rule_store *state, const char *device, bool is_kept)
{
	*state = (struct baleen_rule_store){ .is_kept = is_kept, .lock_fd = -1 };
	snprintf(state->device, sizeof(state->device), "%s", device);
	strcpy(state->now, state->device);
	strcpy(state->scope, state->device);
}

static int name_state(struct baleen_rule_store *state, const char *device, bool is_kept,
		      struct baleen_error *error)
{
	int err;

	call_state(state, device, is_kept);
	err = baleen_rule_store_name(device, is_kept, state->path, error);
	return err || is_kept ? err : baleen_rule_store_owner(device, &state->is, error);
}

static int open_one(struct baleen_rule_store *state, const char *device, bool is_kept,
		    u64 timeout_ms, struct baleen_error *error)
{
	int err = name_state(state, device, is_kept, error);

	if (err)
		return err;
	return timeout_ms ? open_to_write(state, timeout_ms, error) : open_to_read(state, error);
}

int baleen_rule_store_read(struct baleen_rule_store *state, const char *device, bool is_kept,
			   struct baleen_error *error)
{
	return open_one(state, device, is_kept, 0, error);
}

int baleen_rule_store_read_at(struct baleen_rule_store *state, const char *path, const char *device,
			      const struct baleen_rule_store_owner *is, struct baleen_error *error)
{
	call_state(state, device, !is);
	strcpy(state->path, path);
	if (is)
		state->is = *is;
	return open_to_read(state, error);
}

static int open_either(struct baleen_rule_store *state, const char *device, u64 timeout_ms,
		       struct baleen_error *error)
{
	int err = open_one(state, device, true, timeout_ms, error);
	bool is_beside = err == -EXDEV;

	if (err != -ENOENT && err != -EXDEV)
		return err;
	err = open_one(state, device, false, timeout_ms, error);
	state->is_beside = is_beside;
	return err;
}

/* An apply may turn a volatile state into a kept one while this looks for it or waits for
 * its lock. A second look finds the kept one; changes to the volatile one would be lost.
 */
int baleen_rule_store_open(struct baleen_rule_store *state, const char *device, u64 timeout_ms,
			   struct baleen_error *error)
{
	struct baleen_rule_store opened;
	int err = baleen_rule_store_check_place(error);
	bool is_second;

	if (err)
		return err;
	err = open_either(&opened, device, timeout_ms, error);
	is_second = err == -ENOENT || (!err && !opened.is_kept && !opened.is_beside);
	if (is_second && has_state(device, true)) {
		if (!err)
			baleen_rule_store_close(&opened);
		err = open_either(&opened, device, timeout_ms, error);
	}
	if (err == -ENOENT || err == -ENODEV)
		return baleen_fail(error, ENOENT, "%s: has no state", device);
	if (!err)
		*state = opened;
	return err;
}

/* Behind the lock: is what was read still what there is? */
static bool is_still_it(const struct baleen_rule_store *state)
{
	struct baleen_file_stamp now = baleen_rule_store_stamp(state->path);

	return state->db && state->stamp.inode && now.inode == state->stamp.inode &&
	       now.changed_ns == state->stamp.changed_ns;
}

int baleen_rule_store_write(struct baleen_rule_store *state, u64 timeout_ms,
			    struct baleen_error *error)
{
	char device[BALEEN_POINT_BYTES];
	int err = lock(state, timeout_ms, false, error);

	strcpy(device, state->device);
	/* An apply may have made a kept one of it. */
	if (!err && !state->is_kept && has_state(device, true))
		err = -ENOENT;
	if (!err && is_still_it(state))
		return start_writing(state, check_opened(state, error));
	if (!err) {
		baleen_sql_close(state);
		return start_writing(state, open_finished(state, error));
	}
	unlock(state);
	baleen_rule_store_close(state);
	return err != -ENOENT ? err : baleen_rule_store_open(state, device, timeout_ms, error);
}

bool baleen_rule_store_is_kept(const char *device)
{
	struct baleen_rule_store state;
	bool is_kept;

	if (baleen_rule_store_open(&state, device, 0, NULL))
		return false;
	is_kept = state.is_kept;
	baleen_rule_store_close(&state);
	return is_kept;
}

bool baleen_rule_store_is_there(const char *device)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device, 0, NULL);

	if (!err)
		baleen_rule_store_close(&state);
	return err != -ENOENT;
}

static int make_files(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err = baleen_rule_store_make_file(state, BALEEN_RULE_STORE_UNFINISHED, error);

	/* The mark of a state that was never finished stays until this one is: without it
	 * the rest would be a damaged one.
	 */
	if (err && err != -EEXIST)
		return err;
	unlink_in(state, BALEEN_RULE_STORE_DB);
	if (mkdirat(state->lock_fd, BALEEN_RULE_STORE_FEEDS, 0700) && errno != EEXIST)
		return baleen_fail(error, errno, "%s/" BALEEN_RULE_STORE_FEEDS ": %m", state->path);
	err = 0;
	if (state->is_kept && baleen_rule_store_sync_parent(state->path))
		err = baleen_fail(error, errno, "%s: %m", state->path);
	return err;
}

static int make_tables(struct baleen_rule_store *state, struct baleen_error *error)
{
	if (sqlite3_exec(state->db, "BEGIN;" BALEEN_RULE_STORE_TABLES "COMMIT;", NULL, NULL, NULL))
		return baleen_sql_fail(state, error);
	return 0;
}

/* In a locked directory that holds nothing, or what was never finished. */
static int make_state(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err;

	state->is_new = true;
	err = make_files(state, error);
	if (!err)
		err = baleen_sql_open_memory(state, error);
	return err ? err : make_tables(state, error);
}

/* @err: of opening it as if it were there */
static int make_unless_there(struct baleen_rule_store *state, int err, struct baleen_error *error)
{
	if (!err)
		return baleen_fail(error, EEXIST, "%s: there is a state already", state->path);
	return err == -ENOENT ? make_state(state, error) : err;
}

int baleen_rule_store_create(struct baleen_rule_store *state, const char *device, bool is_kept,
			     u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_error why = { "" };
	struct baleen_rule_store made;
	int err = baleen_rule_store_check_place(error);

	if (!err)
		err = name_state(&made, device, is_kept, error);
	if (!err)
		err = baleen_rule_store_make_root(is_kept, error);
	if (!err)
		err = lock(&made, timeout_ms, true, error);
	if (err)
		return err;
	baleen_rule_store_remove_gone(made.path);
	err = open_finished(&made, &why);
	if (!err)
		baleen_sql_close(&made);
	err = make_unless_there(&made, err, &why);
	if (err) {
		baleen_rule_store_close(&made);
		return baleen_fail(error, -err, "%s", why.text);
	}
	*state = made;
	return 0;
}

void baleen_rule_store_close(struct baleen_rule_store *state)
{
	baleen_rule_store_sync(state);
	baleen_sql_close(state);
	baleen_draft_drop_copies(state);
	if (state->is_new)
		remove_directory(state);
	unlock(state);
}

void baleen_rule_store_remove(struct baleen_rule_store *state)
{
	baleen_rule_store_take_marks(state);
	baleen_sql_close(state);
	remove_directory(state);
	unlock(state);
	baleen_announce();
}
