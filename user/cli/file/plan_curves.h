/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Curves of the trade-off as a table, as JSON or as a picture in SVG.
 */
#ifndef BALEEN_CLI_PLAN_CURVES_H
#define BALEEN_CLI_PLAN_CURVES_H

#include "cli/common/cli.h"
#include "ops/curves.h"

/* Each prints the curves, and returns an exit code. */
int print_curves_tsv(const struct baleen_curves *curves);
int print_curves_json(const struct baleen_curves *curves);
int print_curves_svg(const struct baleen_curves *curves);

/* "formula", "plan" or "measured". */
const char *curve_source_text(enum baleen_curve_source source);

/* The title of a picture and the names of its axes. */
struct curve_axes {
	const char *title, *x, *y;
	bool is_x_log, is_y_log;
};

extern const struct curve_axes curve_axes[BALEEN_N_CURVES_OF];

#endif /* BALEEN_CLI_PLAN_CURVES_H */
