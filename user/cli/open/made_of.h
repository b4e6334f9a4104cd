/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The feeds that a rule is made of and the origins with entries in it, for status.
 */
#ifndef BALEEN_CLI_MADE_OF_H
#define BALEEN_CLI_MADE_OF_H

#include "cli/common/cli.h"
#include "state/rule_store.h"

/* Prints a line for the entries and one for each feed that is not well; nothing
 * without a state.
 */
void print_made_of(const struct baleen_rule_store *state, const char *rule);

/* Adds "feeds" and "origins" to the JSON of a rule. */
void describe_made_of(const struct baleen_rule_store *state, const char *rule, json_t *json);

/* Prints a line when the device goes back to what was unless that is confirmed. */
void print_confirm(const struct baleen_rule_store *state, const char *device);

/* Prints a line when what it enforces, or its configuration, was edited since that was applied. */
void print_edits(const struct baleen_rule_store *state, const char *device);

/* Adds "made_of" to the JSON of a device: where it is, when it was applied, and until
 * when that has to be confirmed.
 */
void describe_state(const struct baleen_rule_store *state, const char *device, json_t *json);

#endif /* BALEEN_CLI_MADE_OF_H */
