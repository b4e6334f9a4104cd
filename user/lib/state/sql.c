// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The database of a state: the one place that knows how SQLite is asked. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "state/sql.h"
#include "util/input.h"
#include "util/output.h"

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
	"PRAGMA journal_size_limit = 1048576; PRAGMA cache_size = -65536;"
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

int baleen_sql_check_files(const char *path, struct baleen_error *error)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char file[BALEEN_RULE_STORE_PATH_BYTES + 64];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		int err;

		snprintf(file, sizeof(file), "%s%s", path, suffixes[i]);
		err = baleen_input_check(file, error);
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

int baleen_sql_open(struct baleen_rule_store *state, struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES + 64];
	int err;

	snprintf(path, sizeof(path), "%s/%s", directory_of(state), file_of(state));
	err = baleen_sql_check_files(path, error);
	if (err)
		return err;
	state->statements = calloc(BALEEN_MAX_STATEMENTS, sizeof(*state->statements));
	if (!state->statements)
		return baleen_fail(error, ENOMEM, "no memory for %s", state->path);
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
	struct baleen_rule_store to = { .is_kept = true, .lock_fd = -1 };
	char path[BALEEN_RULE_STORE_PATH_BYTES + sizeof("/" BALEEN_RULE_STORE_DB)];
	int fd, err;

	snprintf(to.path, sizeof(to.path), "%s", directory);
	snprintf(path, sizeof(path), "%s/" BALEEN_RULE_STORE_DB, to.path);
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

/* The one that waits for its next use, or else a free place, or NULL. */
static struct baleen_rule_store_statement *find(const struct baleen_rule_store *state,
						const char *sql)
{
	struct baleen_rule_store_statement *entry = state->statements;
	u32 i = 0;

	while (i < BALEEN_MAX_STATEMENTS && entry[i].sql && entry[i].sql != sql)
		i++;
	return i < BALEEN_MAX_STATEMENTS ? &entry[i] : NULL;
}

static int prepare(const struct baleen_rule_store *state, const char *sql, sqlite3_stmt **statement,
		   struct baleen_error *error)
{
	struct baleen_rule_store_statement *entry = find(state, sql);

	if (entry && entry->statement) {
		*statement = entry->statement;
		entry->statement = NULL;
		return 0;
	}
	if (sqlite3_prepare_v3(state->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL))
		return baleen_sql_fail(state, error);
	return 0;
}

/* A second one of the same text, of a walk inside a walk, is not kept. */
static void give_back(const struct baleen_rule_store *state, const char *sql,
		      sqlite3_stmt *statement)
{
	struct baleen_rule_store_statement *entry = find(state, sql);

	if (!entry || entry->statement) {
		sqlite3_finalize(statement);
		return;
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	entry->sql = sql;
	entry->statement = statement;
}

static int bind_value(sqlite3_stmt *statement, int i, const struct baleen_sql_value *value)
{
	switch (value->type) {
	case SQLITE_INTEGER: return sqlite3_bind_int64(statement, i, value->number);
	case SQLITE_FLOAT: return sqlite3_bind_double(statement, i, value->real);
	case SQLITE_TEXT:
		return sqlite3_bind_text(statement, i, value->bytes, value->n_bytes, SQLITE_STATIC);
	case SQLITE_BLOB:
		return sqlite3_bind_blob(statement, i, value->bytes, value->n_bytes, SQLITE_STATIC);
	default: return sqlite3_bind_null(statement, i);
	}
}

struct baleen_sql_rows baleen_sql_ask(const struct baleen_rule_store *state, const char *sql,
				      struct baleen_error *error,
				      const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows = { .state = state, .sql = sql, .error = error };

	rows.ret = prepare(state, sql, &rows.row, error);
	for (size_t i = 0; i < n_values && !rows.ret; i++)
		if (bind_value(rows.row, i + 1, &value[i]))
			rows.ret = baleen_sql_fail(state, error);
	return rows;
}

bool baleen_sql_next(struct baleen_sql_rows *rows)
{
	int step = rows->ret ? SQLITE_DONE : sqlite3_step(rows->row);

	if (step != SQLITE_ROW && step != SQLITE_DONE)
		rows->ret = baleen_sql_fail(rows->state, rows->error);
	return step == SQLITE_ROW;
}

int baleen_sql_end(struct baleen_sql_rows *rows)
{
	if (rows->row)
		give_back(rows->state, rows->sql, rows->row);
	return rows->ret;
}

int baleen_sql_do(const struct baleen_rule_store *state, const char *sql, u64 *number,
		  struct baleen_error *error, const struct baleen_sql_value *value, size_t n_values)
{
	struct baleen_sql_rows rows = baleen_sql_ask(state, sql, error, value, n_values);
	bool is_there = baleen_sql_next(&rows);
	u64 first = is_there ? sqlite3_column_int64(rows.row, 0) : 0;
	int err = baleen_sql_end(&rows);

	if (!err && number)
		*number = first;
	return err ? err : is_there;
}

bool baleen_sql_column(sqlite3_stmt *statement, int column, char *text, size_t n_bytes)
{
	const void *found = sqlite3_column_text(statement, column);
	size_t n = sqlite3_column_bytes(statement, column);

	if (n >= n_bytes || (n && memchr(found, '\0', n)))
		return false;
	if (n)
		memcpy(text, found, n);
	text[n] = '\0';
	return true;
}

int baleen_sql_begin_reading(const struct baleen_rule_store *state, bool *is_first,
			     struct baleen_error *error)
{
	*is_first = sqlite3_get_autocommit(state->db);
	return *is_first ? baleen_sql_do(state, "BEGIN", NULL, error, NULL, 0) : 0;
}

void baleen_sql_end_reading(const struct baleen_rule_store *state, bool is_first)
{
	if (is_first && !sqlite3_get_autocommit(state->db))
		baleen_sql_do(state, "COMMIT", NULL, NULL, NULL, 0);
}
