/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The plan of a kind by the formulas of the textbooks, as JSON. */
#ifndef BALEEN_CLI_PLAN_TEXTBOOK_H
#define BALEEN_CLI_PLAN_TEXTBOOK_H

#include <jansson.h>

#include "ops/build_options.h"

/* By the keys, the rate and the shape of @build; null without a rate, and of a dictionary. */
json_t *plan_textbook_json(const struct baleen_build_options *build, u32 kind);

#endif /* BALEEN_CLI_PLAN_TEXTBOOK_H */
