/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table of separated values as a list of keys.
 *
 * Line N of the list is made of line N of the table: the key, or nothing when
 * the row is not wanted. So what is said of a line of the list is true of the
 * table. A row whose quoted field has newlines in it stands in its first line.
 *
 * Commas, semicolons and `|`: RFC 4180. Tabs: no quotes, as in IANA's
 * text/tab-separated-values. Lines that start with '#' between rows, blank
 * lines and a UTF-8 byte order mark are passed over.
 *
 * A column is called by its number, from 1, or by its name in the first row, in
 * any case; where no row has names, "start", "end", "country", "asn" and
 * "as_name" are known of the tables of DB-IP and iptoasn by their shape. "asn"
 * and "country" also find columns that are called autonomous_system_number,
 * as_number, country_iso_code or country_code.
 *
 * The first row has the names when what it has for a key holds no digit, or
 * neither '.' nor ':'; else it is the first key.
 *
 * A key that is no address, prefix or range comes out so that it is a bad line
 * of the list. Rows that lack a column that is asked for, and bad quotes, are
 * errors of the table.
 */
#ifndef BALEEN_CSV_TABLE_H
#define BALEEN_CSV_TABLE_H

#include "list/csv_columns.h"

/**
 * baleen_csv_parse_column() - check and set the column of the key
 * @options: set; untouched on failure
 * @text: as typed
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_csv_parse_column(struct baleen_csv_options *options, const char *text,
			    struct baleen_error *error);

/**
 * baleen_csv_read() - the list in a table, or in JSON (json_list.h)
 * @fd: descriptor of a file or memfd open for reading; read from its start; stays open
 * @name: name of the table in messages; tells .tsv
 * @options: the columns and rows to read
 * @counts: counts of the rows; may be NULL
 * @out: a memfd of the list, at its start, to be closed by the caller
 * @error: filled in on failure: names the line and, where there is one, the
 *         column
 *
 * Outputs are untouched on failure.
 *
 * Return: 0; -EINVAL for a table that is damaged or lacks a column; -EFBIG; -ENOMEM;
 * the negative errno of a failed read or write.
 */
int baleen_csv_read(int fd, const char *name, const struct baleen_csv_options *options,
		    struct baleen_csv_counts *counts, int *out, struct baleen_error *error);

#endif /* BALEEN_CSV_TABLE_H */
