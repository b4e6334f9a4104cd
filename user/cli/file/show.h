/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The forms in which `baleen show` prints a filter.
 */
#ifndef BALEEN_CLI_SHOW_H
#define BALEEN_CLI_SHOW_H

#include "cli/common/cli.h"
#include "cli/common/picture.h"

/* A table for a terminal; in colour when stdout is one. */
void show_text(const struct picture *picture);

/* Print the answers of the filter about the keys. */
void show_text_keys(const struct picture *picture);

/* The tables of a filter as one picture; an exit code. */
int show_svg(struct picture *picture, const char *title);

/* The tables of a filter as a page, and each step by which the keys are looked up; an exit code.
 * @description: what -j prints, freed here.
 */
int show_html(const struct picture *picture, const char *title, json_t *description);

#endif /* BALEEN_CLI_SHOW_H */
