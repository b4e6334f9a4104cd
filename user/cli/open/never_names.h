/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Never-names and their answers, as commands tell them.
 */
#ifndef CLI_NEVER_NAMES_H
#define CLI_NEVER_NAMES_H

#include "cli/common/cli.h"
#include "state/never_names.h"

/* Complains of names without an answer. Returns EXIT_FAILED when there is one, or 0. */
int never_names_complain(const char *device, const struct baleen_never_answers *answers);

/* Tells all answers, in words or into @json. Returns @result with theirs added. */
int never_names_report(const char *device, const struct baleen_never_answers *answers, json_t *json,
		       int result);

/* Prints a line for each name of a state, or adds them to the object of its device. */
void never_names_print(const struct baleen_rule_store *state);
void never_names_describe(const struct baleen_rule_store *state, json_t *json);

#endif /* CLI_NEVER_NAMES_H */
