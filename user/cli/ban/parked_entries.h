/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unban of an address that is parked.
 */
#ifndef BALEEN_CLI_UNBAN_PARKED_H
#define BALEEN_CLI_UNBAN_PARKED_H

#include "cli/open/entries.h"

/* Takes an address out of entries whose rule is not there, and says of which unless it is
 * @quiet; adds how many rules those were of to @n. 0, or EXIT_FAILED after a message.
 */
int unban_parked(const char *address, const struct entry_options *options, bool quiet, size_t *n);

#endif /* BALEEN_CLI_UNBAN_PARKED_H */
