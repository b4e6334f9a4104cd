// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The database of a state: opened, written and copied. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "state/database_file.h"
#include "state/entry_bytes.h"
#include "state/sql.h"
#include "util/fd.h"
#include "util/input.h"
#include "util/output.h"
#include "util/write_file.h"

/* Writers have the lock of the directory; what is waited for is a reader that
 * reads the log after a power cut, or a writer that closes.
 */
#define BUSY_MS 10000

/* So many pages of the log are moved into the database at once. Until then a commit is one
 * sync; who opens the database when nobody else has it reads the log, page by page.
 */
#define LOG_PAGES 64

/* Settings of each new connection. A commit of a kept state is on
 * disk when it returns; a log that a big batch made does not stay big.
 */
#define SETTINGS                                                                              \
	"PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;" \
	"PRAGMA journal_size_limit = 1048576; PRAGMA cache_size = -65536;"                    \
	"PRAGMA temp_store = MEMORY;"
#define SETTINGS_KEPT SETTINGS "PRAGMA synchronous = FULL;"
#define SETTINGS_VOLATILE SETTINGS "PRAGMA synchronous = NORMAL;"

/* The directory that the database is in. */
static const char *directory_of(const struct baleen_rule_store *state)
{
	return state->unkept[0] ? state->unkept : state->path;
}

static const char *file_of(const struct baleen_rule_store *state)
{
	return state->file ? state->file : BALEEN_RULE_STORE_DB;
}

static int errno_of(sqlite3 *db)
{
	int last_errno = errno, system_errno = sqlite3_system_errno(db);

	/* SQLite forgets that of a COMMIT. Of the two that mean no room, none is an old one. */
	if (!system_errno && (last_errno == EFBIG || last_errno == EDQUOT))
		system_errno = last_errno;
	switch (sqlite3_errcode(db)) {
	case SQLITE_FULL: return ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return EINVAL;
	case SQLITE_NOMEM: return ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return EBUSY;
	case SQLITE_READONLY: return EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR: return system_errno ? system_errno : EIO;
	default: return EIO;
	}
}

int baleen_sql_fail(const struct baleen_rule_store *state, struct baleen_error *error)
{
	int code = state->db ? errno_of(state->db) : ENOMEM;
	const char *why = state->db ? sqlite3_errmsg(state->db) : strerror(ENOMEM);

	if (code == EINVAL)
		return baleen_fail(error, code, "%s/%s: damaged: %s", directory_of(state),
				   file_of(state), why);
	/* SQLite's own words are "disk I/O error". */
	if (state->db && sqlite3_errcode(state->db) == SQLITE_IOERR && code != EIO)
		why = strerror(code);
	return baleen_fail(error, code, "%s/%s: %s", directory_of(state), file_of(state), why);
}

int baleen_sql_damaged(const struct baleen_rule_store *state, const char *what,
		       struct baleen_error *error)
{
	return baleen_fail(error, EINVAL, "%s/%s: damaged: %s", directory_of(state), file_of(state),
			   what);
}

/* The database of a state as a URI: any path, with or without parameters. */
static void name_database(const struct baleen_rule_store *state, const char *parameters, char *uri)
{
	const char *path = directory_of(state);
	char *end = uri + sprintf(uri, "file:");

	for (; *path; path++)
		end += sprintf(end, isalnum((unsigned char)*path) || *path == '/' ? "%c" : "%%%02x",
			       (unsigned char)*path);
	sprintf(end, "/%s%s", file_of(state), parameters);
}

/* Changes nothing, but writes a page to the log. */
#define BEGIN_ANEW "PRAGMA application_id = 0"

/* Only memory knows which pages have been moved, while somebody has the log open. So a change
 * that changes nothing begins the log anew at once, over the pages that it has.
 */
static int shorten_log(void *data, sqlite3 *db, const char *name, int n_pages)
{
	if (n_pages >= LOG_PAGES &&
	    !sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL))
		sqlite3_exec(db, BEGIN_ANEW, NULL, NULL, NULL);
	return SQLITE_OK;
}

/* net(first, length, is_last): an end of the prefix that an IPv6 address is in, as the database has
 * it.
 */
static void find_net(sqlite3_context *context, int n_values, sqlite3_value **value)
{
	struct baleen_entry_bytes ends;
	struct baleen_entry_key key;

	if (!baleen_entry_bytes_read(sqlite3_value_blob(value[0]), sqlite3_value_bytes(value[0]),
				     NULL, 0, &key) ||
	    !key.span.is_ip6) {
		sqlite3_result_error(context, "no address", -1);
		return;
	}
	key.span = baleen_span_prefix(&key.span, sqlite3_value_int(value[1]));
	baleen_entry_bytes_of(&key, &ends);
	if (sqlite3_value_int(value[2]))
		sqlite3_result_blob(context, ends.last, ends.n_last, SQLITE_TRANSIENT);
	else
		sqlite3_result_blob(context, ends.first, ends.n_first, SQLITE_TRANSIENT);
}

/* Without the guarantee a statement is prepared anew for each value that is compared with a column
 * of which an index holds a part: 5 times as long for a snapshot.
 */
static int prepare_database(sqlite3 *db)
{
	int err = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);

	return err ? err :
		     sqlite3_create_function(db, "net", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
					     find_net, NULL, NULL);
}

/* The log stays when a connection ends: to remove it and to make it again costs four syncs. */
static int keep_log(sqlite3 *db)
{
	int is_on = 1;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &is_on);
	sqlite3_wal_hook(db, shorten_log, NULL);
	return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/* Looks into the database, too: whether that is possible shows only then. */
static int open_with(struct baleen_rule_store *state, int flags, const char *parameters,
		     const char *locking)
{
	char uri[BALEEN_RULE_STORE_PATH_BYTES * 3 + 64];
	int err;

	name_database(state, parameters, uri);
	err = sqlite3_open_v2(uri, &state->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
	if (!err)
		err = keep_log(state->db);
	if (!err)
		err = prepare_database(state->db);
	if (!err)
		err = sqlite3_busy_timeout(state->db, BUSY_MS);
	if (!err)
		err = sqlite3_exec(state->db, locking, NULL, NULL, NULL);
	if (!err)
		err = sqlite3_exec(state->db, state->is_kept ? SETTINGS_KEPT : SETTINGS_VOLATILE,
				   NULL, NULL, NULL);
	if (!err)
		err = sqlite3_exec(state->db, "PRAGMA user_version", NULL, NULL, NULL);
	return err;
}

/* --- a database that is read and written as a whole ------------------------- */

/* The state of a device is small, is read by each command, and is written by few: to read the
 * file takes 4 system calls, to open it in place with its log and what its users share 70.
 */
static bool is_whole(const struct baleen_rule_store *state)
{
	return !state->file;
}

static int load_whole(const struct baleen_rule_store *state, const char *path,
		      struct baleen_error *error)
{
	int ret = baleen_database_load(state->db, path, error);

	if (!ret && sqlite3_exec(state->db, SETTINGS "PRAGMA user_version", NULL, NULL, NULL))
		ret = 1;
	return ret > 0 ? baleen_sql_fail(state, error) : ret;
}

static void name_whole(const struct baleen_rule_store *state, char *path, size_t n_bytes)
{
	snprintf(path, n_bytes, "%s/%s", directory_of(state), file_of(state));
}

#define LOG_PATH_BYTES (BALEEN_RULE_STORE_PATH_BYTES + 64)

static void name_log(const struct baleen_rule_store *state, char *log)
{
	snprintf(log, LOG_PATH_BYTES, "%s/%s-wal", directory_of(state), file_of(state));
}

/* On a file system that is read-only, and without what a writer left undone. */
static bool is_immutable(const struct baleen_rule_store *state)
{
	char log[LOG_PATH_BYTES];
	struct statvfs disk;

	name_log(state, log);
	return !statvfs(directory_of(state), &disk) && disk.f_flag & ST_RDONLY && access(log, F_OK);
}

static int make_room(struct baleen_rule_store *state, struct baleen_error *error)
{
	bool is_book = state->file && !strcmp(state->file, BALEEN_BOOK_DB);

	state->statements = calloc(BALEEN_MAX_STATEMENTS, sizeof(*state->statements));
	state->book = is_book ? NULL : calloc(1, sizeof(*state->book));
	if (state->book)
		state->book->lock_fd = -1;
	if (state->statements && (is_book || state->book))
		return 0;
	baleen_sql_close(state);
	return baleen_fail(error, ENOMEM, "no memory for %s", state->path);
}

int baleen_sql_open_memory(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err = make_room(state, error);

	if (!err &&
	    (sqlite3_open_v2(":memory:", &state->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			     NULL) ||
	     prepare_database(state->db) || sqlite3_exec(state->db, SETTINGS, NULL, NULL, NULL))) {
		err = baleen_sql_fail(state, error);
		baleen_sql_close(state);
	}
	return err;
}

static int open_whole(struct baleen_rule_store *state, struct baleen_error *error)
{
	char path[LOG_PATH_BYTES];
	int err = baleen_sql_open_memory(state, error);

	if (err)
		return err;
	name_whole(state, path, sizeof(path));
	err = load_whole(state, path, error);
	if (err)
		baleen_sql_close(state);
	return err;
}

/* The disk decides. */
static void load_again(struct baleen_rule_store *state, const char *path)
{
	if (!state->is_new)
		load_whole(state, path, NULL);
}

int baleen_sql_write(struct baleen_rule_store *state, struct baleen_error *error)
{
	char path[LOG_PATH_BYTES];
	int err;

	name_whole(state, path, sizeof(path));
	err = baleen_database_write(state->db, path, &state->next, error);
	state->is_written = !err;
	if (err)
		load_again(state, path);
	return err;
}

void baleen_sql_drop(struct baleen_rule_store *state)
{
	char path[LOG_PATH_BYTES];

	if (!state->is_written)
		return;
	baleen_output_drop(&state->next);
	state->is_written = false;
	name_whole(state, path, sizeof(path));
	load_again(state, path);
}

int baleen_sql_name(struct baleen_rule_store *state, struct baleen_error *error)
{
	int err = baleen_output_swap(&state->next);

	if (err) {
		baleen_sql_drop(state);
		return baleen_fail(error, -err, "%s/%s: %s", directory_of(state), file_of(state),
				   strerror(-err));
	}
	baleen_output_drop(&state->next);
	state->is_written = false;
	return 0;
}

int baleen_sql_open(struct baleen_rule_store *state, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES + 64];
	int err;

	if (is_whole(state))
		return open_whole(state, error);

	snprintf(path, sizeof(path), "%s/%s", directory_of(state), file_of(state));
	err = baleen_database_check(path, error);
	if (err)
		return err;
	err = make_room(state, error);
	if (err)
		return err;
	err = open_with(state, SQLITE_OPEN_READWRITE, "", "");
	/* On a full disk there is no room for what its users share in memory: then it
	 * is for one alone. A filter is to be restored on a full disk, too.
	 */
	if (err && (errno_of(state->db) == ENOSPC || errno_of(state->db) == EFBIG)) {
		sqlite3_close(state->db);
		err = open_with(state, SQLITE_OPEN_READWRITE, "",
				"PRAGMA locking_mode = EXCLUSIVE");
	} else if (err && is_immutable(state)) {
		sqlite3_close(state->db);
		err = open_with(state, SQLITE_OPEN_READONLY, "?immutable=1", "");
	}
	if (!err)
		return 0;
	err = baleen_sql_fail(state, error);
	baleen_sql_close(state);
	return err;
}

void baleen_sql_close(struct baleen_rule_store *state)
{
	for (u32 i = 0; state->statements && i < BALEEN_MAX_STATEMENTS; i++)
		sqlite3_finalize(state->statements[i].statement);
	free(state->statements);
	state->statements = NULL;
	sqlite3_close(state->db);
	state->db = NULL;
	if (state->book && !state->shares_book) {
		baleen_sql_close(state->book);
		baleen_close_fd(&state->book->lock_fd);
		free(state->book);
	}
	state->book = NULL;
	state->shares_book = false;
}

u64 baleen_sql_n_written(const struct baleen_rule_store *state)
{
	int n = 0, highest;

	sqlite3_db_status(state->db, SQLITE_DBSTATUS_CACHE_WRITE, &n, &highest, false);
	return n;
}

void baleen_sql_sync(const struct baleen_rule_store *state)
{
	char log[LOG_PATH_BYTES];
	int fd;

	if (is_whole(state)) {
		baleen_sync_dir_at(state->path);
		return;
	}
	name_log(state, log);
	fd = baleen_input_open(log, BALEEN_INPUT_OWN, NULL);
	if (fd < 0)
		return;
	fdatasync(fd);
	close(fd);
}

/* The log is read from its start until the checksums no longer follow, so whatever is written
 * over the first page of what failed ends it.
 */
void baleen_sql_drop_failed(const struct baleen_rule_store *state)
{
	baleen_sql_do(state, BEGIN_ANEW, NULL, NULL, NULL, 0);
}

void baleen_sql_empty_log(const struct baleen_rule_store *state)
{
	sqlite3_wal_checkpoint_v2(state->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

int baleen_sql_copy(const struct baleen_rule_store *from, const struct baleen_rule_store *to,
		    struct baleen_error *error)
{
	sqlite3_backup *backup = sqlite3_backup_init(to->db, "main", from->db, "main");

	if (backup) {
		sqlite3_backup_step(backup, -1);
		sqlite3_backup_finish(backup);
	}
	if (sqlite3_errcode(to->db) != SQLITE_OK)
		return baleen_sql_fail(to, error);
	baleen_sql_empty_log(to);
	return 0;
}

int baleen_sql_copy_into(const struct baleen_rule_store *from, const char *directory,
			 struct baleen_error *error)
{
	struct baleen_rule_store to = { .is_kept = true, .lock_fd = -1, .file = from->file };
	char path[BALEEN_RULE_STORE_PATH_BYTES + 64];
	int fd, err;

	snprintf(to.path, sizeof(to.path), "%s", directory);
	snprintf(path, sizeof(path), "%s/%s", to.path, file_of(&to));
	if (is_whole(from))
		return baleen_database_save(from->db, path, error);
	fd = baleen_output_make(AT_FDCWD, path, 0600);
	if (fd < 0)
		return baleen_fail(error, -fd, "%s: %s", path, strerror(-fd));
	close(fd);
	err = baleen_sql_open(&to, error);
	if (err)
		return err;
	err = baleen_sql_copy(from, &to, error);
	baleen_sql_close(&to);
	return err;
}
