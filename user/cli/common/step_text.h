/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A step by which a key comes into a table, or goes, in words.
 */
#ifndef BALEEN_CLI_STEP_TEXT_H
#define BALEEN_CLI_STEP_TEXT_H

#include "cli/common/picture.h"
#include "filter/steps.h"

#define STEP_TEXT 320

/* A step of the table at hand, into STEP_TEXT bytes; returns @text. */
const char *step_text(const struct picture *picture, const struct baleen_step *step, char *text);

/* Steps of a table that are one, in words: a walk that ends nowhere. Into STEP_TEXT bytes; returns
 * @text, or NULL when each is a step.
 */
const char *steps_undone_text(const struct picture *picture, const struct baleen_steps *steps,
			      char *text);

/* The part of the stash in it; NULL when it has none. */
const char *steps_stash_text(const struct baleen_steps *steps, enum baleen_set_op op);

#endif /* BALEEN_CLI_STEP_TEXT_H */
