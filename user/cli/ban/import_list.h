/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * baleen import --format list: the keys of a list, a table or JSON, as single entries.
 */
#ifndef BALEEN_CLI_IMPORT_LIST_H
#define BALEEN_CLI_IMPORT_LIST_H

#include "cli/open/entries.h"
#include "list/csv_columns.h"

/**
 * import_list() - append the keys of a file as single entries
 * @path: the file; "-" is standard input
 * @csv: how it is read, if it is a table or JSON
 * @key_spec: fields of the keys
 * @options: origin, reason and end of each
 * @entries: appended to
 *
 * A bad line refuses all of it, and so does what ipset save prints, which has ends of its own.
 *
 * Return: 0, or EXIT_FAILED after a message.
 */
int import_list(const char *path, const struct baleen_csv_options *csv, u32 key_spec,
		const struct entry_options *options, struct entries *entries);

#endif /* BALEEN_CLI_IMPORT_LIST_H */
