/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of baleen restore that a boot needs.
 */
#ifndef BALEEN_CLI_RESTORE_H
#define BALEEN_CLI_RESTORE_H

#include "cli/common/cli.h"

/* Puts on what the kept states of these devices say, of all when there are none;
 * waits for those that are not there yet. Returns an exit code.
 */
int restore_boot(char **devices, int n, u64 wait_ms);

#endif /* BALEEN_CLI_RESTORE_H */
