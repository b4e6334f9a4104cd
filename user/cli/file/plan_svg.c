// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Curves of the trade-off as a picture in SVG, readable on light and dark ground. */
#include <math.h>
#include <string.h>

#include "cli/common/palette.h"
#include "cli/file/plan_curves.h"

/* The frame that the curves are in. */
#define LEFT 70
#define TOP 40
#define WIDTH 600
#define HEIGHT 400
#define LEGEND_X (LEFT + WIDTH + 20)
#define LEGEND_STEP 18
#define LEGEND_CHARACTER 8

/* Bits a key at the top of the picture. */
#define MOST_BITS 60

/* A label beside a curve. */
#define LABEL_CHARACTER 7.5
#define LABEL_HEIGHT 15

/* Lines that are drawn later are thinner, so that where two are the same both can be seen. */
#define WIDEST 7
#define THINNEST 1.5

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

/* That of its kind; curves over k are of classic filters, or of blocked ones. */
static const char *class_of(const struct baleen_curves *curves, const struct baleen_curve *curve)
{
	if (curves->of != BALEEN_CURVES_HASHES)
		return palette_class(curve->name);
	return strchr(curve->name, ',') ? "bloom" : "classic";
}

static double line_width(const struct baleen_curves *curves, u32 n)
{
	u32 n_lines = 0, n_before = 0;

	for (u32 i = 0; i < curves->n; i++) {
		n_lines += curves->curve[i].source != BALEEN_CURVE_MEASURED;
		n_before += i < n && curves->curve[i].source != BALEEN_CURVE_MEASURED;
	}
	return WIDEST - (WIDEST - THINNEST) * n_before / (n_lines > 1 ? n_lines - 1 : 1);
}

static void print_curve(const struct baleen_curves *curves, u32 n, const struct range *x,
			const struct range *y)
{
	const struct baleen_curve *curve = &curves->curve[n];
	const char *class = class_of(curves, curve);

	if (curve->source == BALEEN_CURVE_MEASURED) {
		for (u32 i = 0; i < curve->n; i++)
			say("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"%s\"/>\n",
			    x_of(x, curve->x[i]), y_of(y, curve->y[i]), class);
		return;
	}
	say("<polyline class=\"%s%s\" style=\"stroke-width:%.1f\" points=\"", class,
	    curve->source == BALEEN_CURVE_FORMULA ? " f" : "", line_width(curves, n));
	for (u32 i = 0; i < curve->n; i++)
		say("%s%.1f,%.1f", i ? " " : "", x_of(x, curve->x[i]), y_of(y, curve->y[i]));
	puts("\"/>");
}

/* --- labels beside curves -------------------------------------------------- */

struct box {
	double left, top, right, bottom;
};

struct labels {
	const struct baleen_curves *curves;
	const struct range *x, *y;
	struct box box[BALEEN_MAX_CURVES];
	u32 n;
};

static struct box box_at(double x, double y, const char *name)
{
	return (struct box){ x, y - LABEL_HEIGHT - 3, x + strlen(name) * LABEL_CHARACTER, y - 3 };
}

static bool overlap(const struct box *a, const struct box *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* How much a label would cover: points of curves, and a label or the frame, which are worse. */
static u32 cost_of(const struct labels *labels, const struct box *box)
{
	u32 cost = 0;

	if (box->left < LEFT || box->right > LEFT + WIDTH || box->top < TOP ||
	    box->bottom > TOP + HEIGHT)
		cost += 1000;
	for (u32 i = 0; i < labels->n; i++)
		cost += overlap(box, &labels->box[i]) ? 1000 : 0;
	for (u32 i = 0; i < labels->curves->n; i++) {
		const struct baleen_curve *curve = &labels->curves->curve[i];

		for (u32 j = 0; j < curve->n; j++) {
			double x = x_of(labels->x, curve->x[j]), y = y_of(labels->y, curve->y[j]);

			cost += overlap(box, &(struct box){ x - 4, y - 4, x + 4, y + 4 });
		}
	}
	return cost;
}

/* At the point where it covers least, above it or below. */
static void print_label(struct labels *labels, const struct baleen_curve *curve)
{
	struct box best = { 0 };
	u32 least = ~0u;

	for (u32 j = 0; j < 2 * curve->n; j++) {
		double x = x_of(labels->x, curve->x[j / 2]), y = y_of(labels->y, curve->y[j / 2]);
		struct box box = box_at(x, y + (j % 2 ? LABEL_HEIGHT + 8 : 0), curve->name);
		u32 cost = cost_of(labels, &box);

		if (cost < least) {
			least = cost;
			best = box;
		}
	}
	labels->box[labels->n++] = best;
	say("<text x=\"%.1f\" y=\"%.1f\" class=\"l %s\">%s</text>\n", best.left, best.bottom - 3,
	    class_of(labels->curves, curve), curve->name);
}

/* One for each name. */
static void print_labels(const struct baleen_curves *curves, const struct range *x,
			 const struct range *y)
{
	struct labels labels = { curves, x, y, .n = 0 };

	for (u32 i = 0; i < curves->n; i++) {
		bool is_first = curves->curve[i].n > 0;

		for (u32 j = 0; j < i; j++)
			is_first &= strcmp(curves->curve[i].name, curves->curve[j].name) != 0;
		if (is_first)
			print_label(&labels, &curves->curve[i]);
	}
}

/* --- the legend ------------------------------------------------------------ */

static void print_legend(const struct baleen_curves *curves)
{
	for (u32 i = 0; i < curves->n; i++) {
		const struct baleen_curve *curve = &curves->curve[i];
		const char *class = class_of(curves, curve);
		u32 y = TOP + 10 + i * LEGEND_STEP;

		if (curve->source == BALEEN_CURVE_MEASURED)
			say("<circle cx=\"%d\" cy=\"%u\" r=\"5\" class=\"%s\"/>", LEGEND_X + 14, y,
			    class);
		else
			say("<path d=\"M%d %uh28\" class=\"%s%s\" style=\"stroke-width:%.1f\"/>",
			    LEGEND_X, y, class, curve->source == BALEEN_CURVE_FORMULA ? " f" : "",
			    line_width(curves, i));
		say("<text x=\"%d\" y=\"%u\">%s, %s</text>\n", LEGEND_X + 36, y + 4, curve->name,
		    curve_source_text(curve->source));
	}
}

static u32 legend_width(const struct baleen_curves *curves)
{
	size_t longest = 0;

	for (u32 i = 0; i < curves->n; i++) {
		const struct baleen_curve *curve = &curves->curve[i];
		size_t n = strlen(curve->name) + 2 + strlen(curve_source_text(curve->source));

		longest = n > longest ? n : longest;
	}
	return 36 + longest * LEGEND_CHARACTER;
}

static void print_style(void)
{
	fputs("<style>\n", stdout);
	palette_print(stdout);
	puts("text{font:13px sans-serif}.t{font-weight:bold}"
	     "path,polyline,circle{fill:none;stroke:currentColor;stroke-width:2}"
	     ".g{color:#ddd;stroke-width:1}.f{stroke-dasharray:6 5}"
	     ".l{font-weight:bold;fill:currentColor;stroke:#fff;stroke-width:3;paint-order:stroke}"
	     "@media(prefers-color-scheme:dark){.g{color:#444}.l{stroke:#1a1a1a}}</style>");
}

int print_curves_svg(const struct baleen_curves *curves)
{
	struct range x = range_of(curves, false), y = range_of(curves, true);
	u32 width = LEGEND_X + legend_width(curves), height = TOP + HEIGHT + 60;

	say("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
	    "height=\"%u\" role=\"img\">\n<title>%s</title>",
	    width, height, width, height, curve_axes[curves->of].title);
	print_style();
	puts("<rect width=\"100%\" height=\"100%\" class=\"ground\"/>");
	print_grid(&x, &y);
	print_titles(curves);
	say("<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
	    "</clipPath><g clip-path=\"url(#frame)\">\n",
	    LEFT - 5, TOP - 5, WIDTH + 10, HEIGHT + 10);
	for (u32 i = 0; i < curves->n; i++)
		print_curve(curves, i, &x, &y);
	puts("</g>");
	print_labels(curves, &x, &y);
	print_legend(curves);
	puts("</svg>");
	return finish_output(EXIT_DONE);
}
