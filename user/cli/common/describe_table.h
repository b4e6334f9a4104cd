/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The geometry of a table of keys in words and in JSON.
 */
#ifndef BALEEN_CLI_DESCRIBE_TABLE_H
#define BALEEN_CLI_DESCRIBE_TABLE_H

#include "cli/common/cli.h"
#include "filter/filter.h"

/* Has the table keys that nobody counted? One of bits that is live has. */
bool is_uncounted_table(const struct baleen_filter *filter, u32 domain);

/* Sets what a table of keys, or one of prefixes, has of slots or bits. */
void describe_geometry(json_t *json, const struct baleen_filter *filter, u32 domain);

/* The same in words that end with a comma. */
void print_geometry(FILE *stream, const struct baleen_filter *filter, u32 domain);

#endif /* BALEEN_CLI_DESCRIBE_TABLE_H */
