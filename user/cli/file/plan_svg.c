// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Curves of the trade-off as a picture in SVG, readable on light and dark ground. */
#include <math.h>
#include <string.h>

#include "cli/file/plan_curves.h"

/* The frame that the curves are in. */
#define LEFT 70
#define TOP 40
#define WIDTH 600
#define HEIGHT 400
#define LEGEND_X (LEFT + WIDTH + 20)
#define LEGEND_STEP 18

/* Bits a key at the top of the picture. */
#define MOST_BITS 60

/* A table's colours, the same for a kind in all curves of it. */
#define N_COLOURS 6

struct range {
	double low, high;
	bool is_log;
};

static void widen(struct range *range, double value)
{
	if (range->is_log)
		value = log10(value);
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

/* Ends at whole numbers, or at whole powers of ten. */
static struct range range_of(const struct baleen_curves *curves, bool is_y)
{
	const struct curve_axes *axes = &curve_axes[curves->of];
	struct range range = { .low = INFINITY,
			       .high = -INFINITY,
			       .is_log = is_y ? axes->is_y_log : axes->is_x_log };

	for (u32 i = 0; i < curves->n; i++)
		for (u32 j = 0; j < curves->curve[i].n; j++)
			widen(&range, is_y ? curves->curve[i].y[j] : curves->curve[i].x[j]);
	/* A share ends at 1. */
	range.low = range.is_log ? floor(range.low) : 0;
	range.high = ceil(range.high);
	/* Counters take five times as many bits, and would leave the others no room. */
	if (is_y && curves->of == BALEEN_CURVES_FPP)
		range.high = fmin(range.high, MOST_BITS);
	return range;
}

static double place(const struct range *range, double value)
{
	if (range->is_log)
		value = log10(value);
	return (value - range->low) / (range->high - range->low);
}

static double x_of(const struct range *range, double value)
{
	return LEFT + place(range, value) * WIDTH;
}

static double y_of(const struct range *range, double value)
{
	return TOP + HEIGHT - place(range, value) * HEIGHT;
}

/* --- axes ------------------------------------------------------------------ */

/* Between two lines of the grid. */
static double step_of(const struct range *range)
{
	static const double steps[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50 };
	double step = 100;

	for (u32 i = sizeof(steps) / sizeof(steps[0]); i--;)
		if ((range->high - range->low) / steps[i] <= 10)
			step = steps[i];
	return range->is_log ? fmax(1, step) : step;
}

static void print_grid(const struct range *x, const struct range *y)
{
	double step = step_of(x);

	for (double at = x->low; at <= x->high + step / 10; at += step) {
		double value = x->is_log ? pow(10, at) : at;

		say("<path d=\"M%.1f %dv%d\" class=\"g\"/><text x=\"%.1f\" y=\"%d\" "
		    "text-anchor=\"middle\">%g</text>\n",
		    x_of(x, value), TOP, HEIGHT, x_of(x, value), TOP + HEIGHT + 18, value);
	}
	step = step_of(y);
	for (double at = y->low; at <= y->high + step / 10; at += step) {
		double value = y->is_log ? pow(10, at) : at;

		say("<path d=\"M%d %.1fh%d\" class=\"g\"/><text x=\"%d\" y=\"%.1f\" "
		    "text-anchor=\"end\">%g</text>\n",
		    LEFT, y_of(y, value), WIDTH, LEFT - 6, y_of(y, value) + 4, value);
	}
}

static void print_titles(const struct baleen_curves *curves)
{
	const struct curve_axes *axes = &curve_axes[curves->of];

	say("<text x=\"%d\" y=\"24\" class=\"t\">%s</text>\n", LEFT, axes->title);
	say("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", LEFT + WIDTH / 2,
	    TOP + HEIGHT + 38, axes->x);
	say("<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
	    TOP + HEIGHT / 2, axes->y);
}

/* --- curves ---------------------------------------------------------------- */

/* Curves of one name have one colour, and "blocked, 8 bits" that of "8 bits". */
static u32 colour_of(const struct baleen_curves *curves, u32 n)
{
	const char *name = strrchr(curves->curve[n].name, ',');
	u32 colour = 0;

	name = name ? name + 2 : curves->curve[n].name;
	for (u32 i = 0; i < n; i++) {
		bool is_first = true;

		if (!strcmp(curves->curve[i].name, name))
			break;
		for (u32 j = 0; j < i; j++)
			is_first &= strcmp(curves->curve[i].name, curves->curve[j].name) != 0;
		colour += is_first && !strchr(curves->curve[i].name, ',');
	}
	return colour % N_COLOURS;
}

static void print_curve(const struct baleen_curves *curves, u32 n, const struct range *x,
			const struct range *y)
{
	const struct baleen_curve *curve = &curves->curve[n];
	u32 colour = colour_of(curves, n);

	if (curve->source == BALEEN_CURVE_MEASURED) {
		for (u32 i = 0; i < curve->n; i++)
			say("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"c%u\"/>\n",
			    x_of(x, curve->x[i]), y_of(y, curve->y[i]), colour);
		return;
	}
	say("<polyline class=\"c%u%s\" points=\"", colour,
	    curve->source == BALEEN_CURVE_FORMULA ? " f" : "");
	for (u32 i = 0; i < curve->n; i++)
		say("%s%.1f,%.1f", i ? " " : "", x_of(x, curve->x[i]), y_of(y, curve->y[i]));
	puts("\"/>");
}

static void print_legend(const struct baleen_curves *curves)
{
	for (u32 i = 0; i < curves->n; i++) {
		const struct baleen_curve *curve = &curves->curve[i];
		u32 y = TOP + 10 + i * LEGEND_STEP, colour = colour_of(curves, i);

		if (curve->source == BALEEN_CURVE_MEASURED)
			say("<circle cx=\"%d\" cy=\"%u\" r=\"4\" class=\"c%u\"/>", LEGEND_X + 14, y,
			    colour);
		else
			say("<path d=\"M%d %uh28\" class=\"c%u%s\"/>", LEGEND_X, y, colour,
			    curve->source == BALEEN_CURVE_FORMULA ? " f" : "");
		say("<text x=\"%d\" y=\"%u\">%s, %s</text>\n", LEGEND_X + 36, y + 4, curve->name,
		    curve_source_text(curve->source));
	}
}

int print_curves_svg(const struct baleen_curves *curves)
{
	static const char style[] =
		"<style>.w{fill:#fff}text{font:13px sans-serif;fill:#1a1a1a}.t{font-weight:bold}"
		"path,polyline,circle{fill:none;stroke-width:2}.g{stroke:#ddd;stroke-width:1}"
		".f{stroke-dasharray:5 4}.c0{stroke:#555}.c1{stroke:#1f77b4}.c2{stroke:#c0392b}"
		".c3{stroke:#2a8a3a}.c4{stroke:#8e44ad}.c5{stroke:#b9770e}"
		"@media(prefers-color-scheme:dark){.w{fill:#1a1a1a}text{fill:#eee}.g{stroke:#444}"
		".c0{stroke:#bbb}.c1{stroke:#6ab7ff}.c2{stroke:#ff8a80}.c3{stroke:#7bd88f}"
		".c4{stroke:#d7a6ff}.c5{stroke:#ffc66d}}</style>";
	struct range x = range_of(curves, false), y = range_of(curves, true);

	say("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
	    "<title>%s</title>%s\n<rect width=\"100%%\" height=\"100%%\" class=\"w\"/>\n",
	    LEGEND_X + 240, TOP + HEIGHT + 60, curve_axes[curves->of].title, style);
	print_grid(&x, &y);
	print_titles(curves);
	say("<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
	    "</clipPath><g clip-path=\"url(#frame)\">\n",
	    LEFT - 5, TOP - 5, WIDTH + 10, HEIGHT + 10);
	for (u32 i = 0; i < curves->n; i++)
		print_curve(curves, i, &x, &y);
	puts("</g>");
	print_legend(curves);
	puts("</svg>");
	return finish_output(EXIT_DONE);
}
