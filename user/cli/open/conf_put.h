/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration onto its device, with messages: of apply and of restore.
 */
#ifndef BALEEN_CLI_CONF_PUT_H
#define BALEEN_CLI_CONF_PUT_H

#include "deploy/conf_apply.h"

/* baleen_conf_apply(); 0, or EXIT_FAILED after a message. */
int conf_put(struct baleen_conf_apply *apply);

/* Answers for caches as the state of a device says; 0, or EXIT_FAILED after a message. */
int conf_follow_icp(const char *device);

/* Sets a damaged state aside, and says so; true when there is another one now. */
bool conf_set_aside(const char *device);

#endif /* BALEEN_CLI_CONF_PUT_H */
