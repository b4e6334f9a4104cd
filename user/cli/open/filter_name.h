/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of DEV:RULE and kmod:NAME.
 */
#ifndef BALEEN_CLI_FILTER_NAME_H
#define BALEEN_CLI_FILTER_NAME_H

#include "cli/common/cli.h"
#include "util/error.h"

/* Splits DEV:RULE; false when @argument is a file, or kmod:NAME. */
bool split_live(const char *argument, char *device, size_t device_bytes, const char **rule);

/* The NAME of kmod:NAME, which may be empty; false for any other argument. */
bool split_kmod(const char *argument, const char **name);

/* Is it bans, or fleet:SET: what several rules share? */
bool is_shared_name(const char *argument);

/* Is it DEV:RULE or kmod:NAME, and not a file? */
bool is_live_name(const char *argument);

/* Says how a rule comes to take bans, where none does; returns EXIT_FAILED. */
int complain_no_bans(const struct baleen_error *error);

/* Says that the device has no such rule, and which may be meant; returns EXIT_FAILED. */
int complain_no_rule(const char *device, const char *rule);

#endif /* BALEEN_CLI_FILTER_NAME_H */
