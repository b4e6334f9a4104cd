/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands that are demonstrations: a script in network namespaces of its own.
 */
#ifndef BALEEN_CLI_DEMO_H
#define BALEEN_CLI_DEMO_H

#include "cli/common/cli.h"

/* Becomes the script @helper of libexec, which gets the path of this program as its only
 * argument. Returns only when that fails, after a message.
 */
int become_demo(const struct command *command, const char *helper, int argc, char **argv);

#endif /* BALEEN_CLI_DEMO_H */
