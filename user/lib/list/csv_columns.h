/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which columns of a table are meant; the names are described in csv_table.h.
 */
#ifndef BALEEN_CSV_COLUMNS_H
#define BALEEN_CSV_COLUMNS_H

#include "list/csv_table.h"

#define BALEEN_CSV_MAX_COLUMNS 256
#define BALEEN_CSV_NO_COLUMN (~0u)

/**
 * struct baleen_csv_columns - what is looked at in each row
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
 * baleen_csv_columns_find() - find them by the first row
 * @options: what is wanted
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
 * @cell: of that column
 *
 * Return: true or false.
 */
bool baleen_csv_holds(const char *where, const char *cell);

#endif /* BALEEN_CSV_COLUMNS_H */
