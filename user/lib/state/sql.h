/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The database of a state: the one place that knows how SQLite is asked.
 */
#ifndef BALEEN_RULE_STORE_SQL_H
#define BALEEN_RULE_STORE_SQL_H

#include <sqlite3.h>
#include <string.h>

#include "state/rule_store_handle.h"

/* Statements that are kept prepared at a time. */
#define BALEEN_MAX_STATEMENTS 48

/**
 * struct baleen_rule_store_statement - a prepared statement that waits for its next use
 * @sql: its text, a constant: known by its address
 * @statement: the statement; NULL while it is used
 */
struct baleen_rule_store_statement {
	const char *sql;
	sqlite3_stmt *statement;
};

/**
 * struct baleen_sql_value - a value of a statement
 * @type: SQLITE_TEXT, SQLITE_BLOB, SQLITE_INTEGER, SQLITE_FLOAT or SQLITE_NULL
 * @bytes: bytes of a text or a blob
 * @n_bytes: size of @bytes
 * @number: an integer
 * @real: a real number
 */
struct baleen_sql_value {
	int type;
	const void *bytes;
	size_t n_bytes;
	u64 number;
	double real;
};

static inline struct baleen_sql_value baleen_sql_number(u64 number)
{
	return (struct baleen_sql_value){ .type = SQLITE_INTEGER, .number = number };
}

static inline struct baleen_sql_value baleen_sql_real(double real)
{
	return (struct baleen_sql_value){ .type = SQLITE_FLOAT, .real = real };
}

static inline struct baleen_sql_value baleen_sql_blob(const void *bytes, size_t n_bytes)
{
	return (struct baleen_sql_value){ .type = SQLITE_BLOB, .bytes = bytes, .n_bytes = n_bytes };
}

/* NULL for NULL. */
static inline struct baleen_sql_value baleen_sql_text(const char *text)
{
	return (struct baleen_sql_value){
		.type = text ? SQLITE_TEXT : SQLITE_NULL,
		.bytes = text,
		.n_bytes = text ? strlen(text) : 0,
	};
}

/* The last two arguments of baleen_sql_ask() and baleen_sql_do(). */
#define BALEEN_SQL_VALUES(...)                                             \
	(const struct baleen_sql_value[]){ __VA_ARGS__ },                  \
		sizeof((const struct baleen_sql_value[]){ __VA_ARGS__ }) / \
			sizeof(struct baleen_sql_value)

/**
 * baleen_sql_write() - write the state of a device to a file that waits for the name of its own
 * @state: opened, without a transaction
 * @error: filled in on failure: the state is what its own file has then
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_write(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_sql_name() - give what was written the name
 * @state: baleen_sql_write() has succeeded
 * @error: filled in on failure: the state is what its own file has then
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_name(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_sql_drop() - leave what was written, if anything is: the state is what its own file has
 * @state: opened
 */
void baleen_sql_drop(struct baleen_rule_store *state);

/**
 * baleen_sql_open() - open a database
 * @state: path, is_kept and file are set; db and statements are filled in
 * @error: filled in on failure
 *
 * The state of a device is read as a whole, and is what it was then until it is saved. Of others
 * readers open it as writers do, since they may become writers; where its disk is only for reading
 * it is only read.
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_open(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_sql_open_memory() - open a database that ends with this
 * @state: as for baleen_sql_open()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_open_memory(struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_sql_begin_reading() - let what is read from here on be of one commit
 * @state: opened
 * @is_first: filled in for baleen_sql_end_reading(): no transaction was there
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_begin_reading(const struct baleen_rule_store *state, bool *is_first,
			     struct baleen_error *error);

/**
 * baleen_sql_end_reading() - of one commit up to here
 * @state: opened
 * @is_first: what baleen_sql_begin_reading() filled in
 */
void baleen_sql_end_reading(const struct baleen_rule_store *state, bool is_first);

/**
 * baleen_sql_close() - close it and its book, if they are open
 * @state: without a database afterwards
 */
void baleen_sql_close(struct baleen_rule_store *state);

/**
 * baleen_sql_n_written() - pages written since the database was opened
 * @state: opened
 *
 * A commit of rows as they were writes none, and syncs nothing.
 *
 * Return: how many.
 */
u64 baleen_sql_n_written(const struct baleen_rule_store *state);

/**
 * baleen_sql_sync() - what others have written to the log comes to the disk
 * @state: opened
 *
 * A writer that was killed may have left a whole transaction that nobody has synced.
 */
void baleen_sql_sync(const struct baleen_rule_store *state);

/**
 * baleen_sql_drop_failed() - what a commit that failed has written does not come back
 * @state: opened for writing, without a transaction
 *
 * A commit whose sync failed is whole in the log, and who opens the database next would
 * find it there.
 */
void baleen_sql_drop_failed(const struct baleen_rule_store *state);

/**
 * baleen_sql_empty_log() - all of it is in the database, if nobody reads the log now
 * @state: opened for writing, without a transaction
 *
 * For what is new as a whole: its log would stay so long.
 */
void baleen_sql_empty_log(const struct baleen_rule_store *state);

/**
 * baleen_sql_copy() - all pages of a database, its log included, in one transaction
 * @from: opened
 * @to: opened for writing
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno, then @to is as it was.
 */
int baleen_sql_copy(const struct baleen_rule_store *from, const struct baleen_rule_store *to,
		    struct baleen_error *error);

/**
 * baleen_sql_copy_into() - the same, to a new database
 * @from: opened
 * @directory: path of a directory that has none
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_sql_copy_into(const struct baleen_rule_store *from, const char *directory,
			 struct baleen_error *error);

/**
 * baleen_sql_fail() - say what the last failure was
 * @state: opened
 * @error: filled in: names the file
 *
 * Return: a negative errno: -ENOSPC on a full disk, -EINVAL for what is damaged.
 */
int baleen_sql_fail(const struct baleen_rule_store *state, struct baleen_error *error);

/**
 * baleen_sql_damaged() - refuse a row that nobody wrote like this
 * @state: opened
 * @what: it is about
 * @error: filled in
 *
 * Return: -EINVAL.
 */
int baleen_sql_damaged(const struct baleen_rule_store *state, const char *what,
		       struct baleen_error *error);

/**
 * struct baleen_sql_rows - the rows of a statement, one after the other
 * @row: the row at hand
 * @ret: 0, a negative errno, or what the caller has set: anything else than 0 ends the rows
 * @state: private
 * @sql: private
 * @error: private
 */
struct baleen_sql_rows {
	sqlite3_stmt *row;
	int ret;
	const struct baleen_rule_store *state;
	const char *sql;
	struct baleen_error *error;
};

/**
 * baleen_sql_ask() - begin a statement
 * @state: opened
 * @sql: one statement, a constant
 * @error: filled in by any failure until baleen_sql_end()
 * @value: its values, which must stay until then
 * @n_values: how many
 *
 * Return: its rows, for baleen_sql_next(); baleen_sql_end() tells a failure.
 */
struct baleen_sql_rows baleen_sql_ask(const struct baleen_rule_store *state, const char *sql,
				      struct baleen_error *error,
				      const struct baleen_sql_value *value, size_t n_values);

/**
 * baleen_sql_next() - the next row
 * @rows: begun
 *
 * Return: false when there is none, after a failure, and once @rows->ret is set.
 */
bool baleen_sql_next(struct baleen_sql_rows *rows);

/**
 * baleen_sql_end() - end a statement
 * @rows: begun
 *
 * Return: @rows->ret.
 */
int baleen_sql_end(struct baleen_sql_rows *rows);

/**
 * baleen_sql_do() - a statement that gives one number or none
 * @state: opened
 * @sql: one statement, a constant
 * @number: first column of its first row, 0 without one; may be NULL
 * @error: filled in on failure
 * @value: its values
 * @n_values: how many
 *
 * Return: 1 when there was a row; 0 when there was none; a negative errno.
 */
int baleen_sql_do(const struct baleen_rule_store *state, const char *sql, u64 *number,
		  struct baleen_error *error, const struct baleen_sql_value *value,
		  size_t n_values);

/**
 * baleen_sql_column() - text of the row
 * @statement: at a row
 * @column: from 0
 * @text: filled in, with a NUL byte
 * @n_bytes: size of @text
 *
 * Return: false when it does not fit, or holds a NUL byte: somebody else wrote
 * it.
 */
bool baleen_sql_column(sqlite3_stmt *statement, int column, char *text, size_t n_bytes);

#endif /* BALEEN_RULE_STORE_SQL_H */
