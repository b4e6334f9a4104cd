// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Curves of the trade-off as a table of tabs, and as JSON. */
#include "cli/file/plan_curves.h"

const struct curve_axes curve_axes[BALEEN_N_CURVES_OF] = {
	[BALEEN_CURVES_FPP] = { "Space over false positive rate", "false positive rate",
				"bits a key", true, false },
	[BALEEN_CURVES_LOAD] = { "False positive rate over load, planned for 1 %",
				 "share of the planned keys", "false positive rate", false, true },
	[BALEEN_CURVES_HASHES] = { "False positive rate over k", "bits set a key, k",
				   "false positive rate", false, true },
};

const char *curve_source_text(enum baleen_curve_source source)
{
	static const char *const text[] = {
		[BALEEN_CURVE_FORMULA] = "formula",
		[BALEEN_CURVE_PLAN] = "plan",
		[BALEEN_CURVE_MEASURED] = "measured",
	};

	return text[source];
}

int print_curves_tsv(const struct baleen_curves *curves)
{
	const struct curve_axes *axes = &curve_axes[curves->of];

	say("curve\tsource\t%s\t%s\n", axes->x, axes->y);
	for (u32 i = 0; i < curves->n; i++) {
		const struct baleen_curve *curve = &curves->curve[i];

		for (u32 j = 0; j < curve->n; j++)
			say("%s\t%s\t%.6g\t%.6g\n", curve->name, curve_source_text(curve->source),
			    curve->x[j], curve->y[j]);
	}
	return finish_output(EXIT_DONE);
}

int print_curves_json(const struct baleen_curves *curves)
{
	json_t *all = json_array();

	for (u32 i = 0; i < curves->n; i++) {
		const struct baleen_curve *curve = &curves->curve[i];
		json_t *points = json_array();

		for (u32 j = 0; j < curve->n; j++)
			json_array_append_new(points, json_pack("[f f]", curve->x[j], curve->y[j]));
		json_array_append_new(all, json_pack("{ss ss so}", "curve", curve->name, "source",
						     curve_source_text(curve->source), "points",
						     points));
	}
	return print_json(all);
}
