/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The three forms in which `baleen show` prints a filter.
 */
#ifndef BALEEN_CLI_SHOW_H
#define BALEEN_CLI_SHOW_H

#include "cli/common/cli.h"
#include "cli/common/picture.h"

/* A table for a terminal; in colour when stdout is one. */
void show_text(const struct picture *picture);

/* Print the answers of the filter about the keys. */
void show_text_keys(const struct picture *picture);

/* A table as JSON: summary and the places of the range. */
json_t *show_json(const struct picture *picture);

/* Where a table is asked for the keys. */
json_t *show_json_key(const struct picture *picture, const struct picture_key *key);

/* The tables of a filter as one picture; an exit code. */
int show_svg(struct picture *picture, const char *title);

#endif /* BALEEN_CLI_SHOW_H */
