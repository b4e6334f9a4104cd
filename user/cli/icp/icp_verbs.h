/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The verbs of `baleen icp`.
 */
#ifndef BALEEN_CLI_ICP_VERBS_H
#define BALEEN_CLI_ICP_VERBS_H

#include "cli/common/cli.h"

/* Their names are "icp attach" and so on. */
extern const struct command icp_attach_command;
extern const struct command icp_seed_command;
extern const struct command icp_resync_command;
extern const struct command icp_serve_command;
extern const struct command icp_status_command;
extern const struct command icp_detach_command;
extern const struct command icp_ask_command;
extern const struct command icp_demo_command;

#endif /* BALEEN_CLI_ICP_VERBS_H */
