/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strings of JSON as a list of keys, found by a path.
 *
 *      .prefixes[].ip_prefix      {"prefixes": [{"ip_prefix": "192.0.2.0/24"}, ...]}
 *      .[].value                  [{"value": "192.0.2.1"}, ...]
 *      .cidr                      {"cidr": "192.0.2.0/24"}, a line each
 *      .a[],.b[]                  both
 *
 * A file may hold several texts, one behind the other. `[]` goes to each element of an array, or
 * to each value of an object. An object that lacks the member, or has null for it, is passed over;
 * but a path that leads nowhere in the whole file is an error, and so is a value that is no
 * string.
 *
 * A condition COLUMN=VALUE asks the member of that name of the closest object around the key that
 * has one.
 *
 * Line N of the list is the Nth key; where the texts of the file have a line and not more than one
 * key each, it is the line of the file.
 */
#ifndef BALEEN_JSON_LIST_H
#define BALEEN_JSON_LIST_H

#include <stdio.h>

#include "list/csv_columns.h"

/* It takes some ten times as much memory. */
#define BALEEN_JSON_MAX_BYTES (64u << 20)

/**
 * baleen_json_check() - is a path well formed?
 * @path: the path or paths
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_json_check(const char *path, struct baleen_error *error);

/**
 * baleen_json_read() - the list in a file of JSON
 * @fd: descriptor of a file or memfd open for reading; read from its start; stays open
 * @name: name of the file in messages
 * @options: the path as @column, and the conditions
 * @counts: filled in; untouched on failure
 * @out: the list is written to it
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for what is no JSON, or has no such values; -EFBIG; -ENOMEM; the negative
 * errno of a failed read.
 */
int baleen_json_read(int fd, const char *name, const struct baleen_csv_options *options,
		     struct baleen_csv_counts *counts, FILE *out, struct baleen_error *error);

#endif /* BALEEN_JSON_LIST_H */
