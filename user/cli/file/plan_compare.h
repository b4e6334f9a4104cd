/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All kinds of filters beside exact sets, as a table, with tabs, or as JSON.
 */
#ifndef BALEEN_CLI_PLAN_COMPARE_H
#define BALEEN_CLI_PLAN_COMPARE_H

#include "cli/common/cli.h"
#include "ops/compare_kinds.h"

/* Each prints all of @compared, and returns an exit code. */
int print_compared(const struct baleen_compared compared[BALEEN_COMPARED], u64 n_keys);
int print_compared_tsv(const struct baleen_compared compared[BALEEN_COMPARED]);
int print_compared_json(const struct baleen_compared compared[BALEEN_COMPARED]);

#endif /* BALEEN_CLI_PLAN_COMPARE_H */
