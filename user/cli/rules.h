/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of an attach, collected in the order they are typed.
 */
#ifndef BALEEN_CLI_RULES_H
#define BALEEN_CLI_RULES_H

#include "input.h"

/**
 * struct rule_argument - one --allow or --drop
 * @argument: [NAME=]IMAGE as typed
 * @path: its IMAGE part
 * @name: the rule's
 * @action: enum baleen_action
 * @input: opened by rules_open()
 */
struct rule_argument {
	const char *argument;
	const char *path;
	char name[BALEEN_NAME_BYTES];
	u32 action;
	struct input input;
};

/**
 * struct rules - all of them
 * @n: how many
 * @rule: in the order typed
 */
struct rules {
	u32 n;
	struct rule_argument rule[BALEEN_MAX_RULES];
};

/* Takes one --allow or --drop; 0, or EXIT_USAGE after a message. */
int rules_add(const struct command *command, struct rules *rules, u32 action, const char *argument);

/* Opens every rule's image; 0, or EXIT_FAILED after a message. Warns of rules
 * that can never match.
 */
int rules_open(struct rules *rules, struct list_options *options);

void rules_close(struct rules *rules);

#endif /* BALEEN_CLI_RULES_H */
