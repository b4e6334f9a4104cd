/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats of publishers that are known by a name: @aws stands for the columns, or the path of
 * JSON, that AWS has its prefixes in.
 */
#ifndef BALEEN_LIST_FORMAT_H
#define BALEEN_LIST_FORMAT_H

#include "list/csv_columns.h"

/**
 * struct baleen_list_format - a format
 * @name: its name
 * @column: of the key: see &struct baleen_csv_options
 * @delimiter: between columns, or '\0'
 */
struct baleen_list_format {
	const char *name;
	const char *column;
	char delimiter;
};

/**
 * baleen_list_format_find() - a format by its name
 * @name: the name
 * @error: filled in on failure: has all names
 *
 * Return: the format, or NULL.
 */
const struct baleen_list_format *baleen_list_format_find(const char *name,
							 struct baleen_error *error);

/**
 * baleen_list_format_resolve() - options with what the name of a format stands for
 * @options: the options; a column of "@NAME" is a format
 * @resolved: filled in
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_list_format_resolve(const struct baleen_csv_options *options,
			       struct baleen_csv_options *resolved, struct baleen_error *error);

#endif /* BALEEN_LIST_FORMAT_H */
