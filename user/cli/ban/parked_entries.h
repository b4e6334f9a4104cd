/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ways to entries whose rule is not there: they are parked.
 */
#ifndef BALEEN_CLI_PARKED_ENTRIES_H
#define BALEEN_CLI_PARKED_ENTRIES_H

#include "cli/open/entries.h"

/* Takes an address out of entries whose rule is not there, and says of which unless it is
 * @quiet; adds how many rules those were of to @n. 0, or EXIT_FAILED after a message.
 */
int unban_parked(const char *address, const struct entry_options *options, bool quiet, size_t *n);

/* Opens the book at the entries of DEV:RULE when they are parked; close with
 * baleen_book_close(). 1 when it is open, and @rule is filled in; 0 when nothing of that name
 * is parked; below 0 after a message.
 */
int open_parked(const char *target, struct baleen_rule_store *book, const char **rule);

/* Deletes entries of these keys, as typed, which are parked, and reports it; an exit code, or
 * -ENOENT when those of DEV:RULE are not. @exist: what is not there is fine.
 */
int del_parked(const char *target, char **keys, int n_keys, const struct entry_options *options,
	       bool exist, bool json);

#endif /* BALEEN_CLI_PARKED_ENTRIES_H */
