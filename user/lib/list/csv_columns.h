/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which columns of a table are meant; the names are described in csv_table.h.
 */
#ifndef BALEEN_CSV_COLUMNS_H
#define BALEEN_CSV_COLUMNS_H

#include <stdio.h>

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_CSV_MAX_COLUMNS 256
#define BALEEN_CSV_NO_COLUMN (~0u)
#define BALEEN_CSV_MAX_WHERE 8

/**
 * struct baleen_csv_options - the columns and rows of a table that are the list
 * @column: column of the key: "network", "1"; or of the first and the last address of
 *          a range: "1-2", "start-end". NULL is 1, or 1-2 of the known tables. One that
 *          begins with a dot is a path of JSON (json_list.h), and "@NAME" a format
 *          (list_format.h)
 * @where: "COLUMN=VALUE": only rows where the column has this value; case and,
 *         before a number, "AS" make no difference
 * @n_where: how many; all must hold
 * @delimiter: between columns; '\0' is a tab when the name ends in .tsv or the first row has
 *             one, else what comes first in that row of , ; and |, outside quotes
 * @is_private: messages do not show what stands in the table
 *
 * All zeros: no table is meant. Strings belong to the caller.
 */
struct baleen_csv_options {
	const char *column;
	const char *where[BALEEN_CSV_MAX_WHERE];
	u32 n_where;
	char delimiter;
	bool is_private;
};

/**
 * struct baleen_csv_columns - the columns that each row is judged by
 * @first: column of the key or of the first address
 * @last: column of the last address, or BALEEN_CSV_NO_COLUMN
 * @where: column of each condition
 */
struct baleen_csv_columns {
	u32 first;
	u32 last;
	u32 where[BALEEN_CSV_MAX_WHERE];
};

/**
 * struct baleen_csv_counts - rows of a table
 * @n_rows: without the one that has the names
 * @n_wanted: of them, those where all of &struct baleen_csv_options.where hold
 */
struct baleen_csv_counts {
	u64 n_rows;
	u64 n_wanted;
};

/**
 * baleen_csv_is_wanted() - do options speak of a table?
 * @options: the options
 *
 * Return: true unless they are all zeros.
 */
static inline bool baleen_csv_is_wanted(const struct baleen_csv_options *options)
{
	return options->column || options->n_where || options->delimiter;
}

/**
 * baleen_csv_is_json() - do options speak of JSON?
 * @options: the options
 *
 * Return: true of a path, and of a format that may be one.
 */
static inline bool baleen_csv_is_json(const struct baleen_csv_options *options)
{
	return options->column && (*options->column == '.' || *options->column == '@');
}

/**
 * baleen_csv_check_column() - is this the number or name of a column?
 * @text: as typed
 * @length: its length
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_csv_check_column(const char *text, size_t length, struct baleen_error *error);

/**
 * baleen_csv_parse_where() - check and add a condition
 * @options: added to; untouched on failure
 * @text: COLUMN=VALUE as typed
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_csv_parse_where(struct baleen_csv_options *options, const char *text,
			   struct baleen_error *error);

/**
 * baleen_csv_parse_delimiter() - check and set the delimiter
 * @options: set; untouched on failure
 * @text: "tab" or one of , ; |
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_csv_parse_delimiter(struct baleen_csv_options *options, const char *text,
			       struct baleen_error *error);

/**
 * baleen_csv_columns_find() - find them by the first row
 * @options: the columns and rows to read
 * @cell: the cells of the first row
 * @n_cells: how many, 1 or more
 * @columns: filled in; untouched on failure
 * @error: filled in on failure, without the name of the table
 *
 * Return: 1 when the row has the names, 0 when it has a key, or -EINVAL.
 */
int baleen_csv_columns_find(const struct baleen_csv_options *options, const char *const *cell,
			    u32 n_cells, struct baleen_csv_columns *columns,
			    struct baleen_error *error);

/**
 * baleen_csv_holds() - has a cell the value of a condition?
 * @where: COLUMN=VALUE
 * @cell: the cell in that column
 *
 * Return: true or false.
 */
bool baleen_csv_holds(const char *where, const char *cell);

/**
 * baleen_csv_put_key() - a cell as the entry of a line
 * @out: written to, without a newline
 * @key: the cell; one that would be no entry, or another one, comes out in quotes
 */
void baleen_csv_put_key(FILE *out, const char *key);

#endif /* BALEEN_CSV_COLUMNS_H */
