/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The images of rules as they are typed.
 */
#ifndef BALEEN_CLI_RULE_IMAGES_H
#define BALEEN_CLI_RULE_IMAGES_H

#include "cli/open/rules.h"

/* Opens every rule's image; 0, or EXIT_FAILED after a message. */
int rules_open(struct rules *rules, struct list_options *options);

void rules_close(struct rules *rules);

#endif /* BALEEN_CLI_RULE_IMAGES_H */
