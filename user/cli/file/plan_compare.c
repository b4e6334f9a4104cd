// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All kinds of filters beside exact sets, as a table, with tabs, or as JSON. */
#include <string.h>

#include "cli/file/plan_compare.h"
#include "ops/choose.h"

static const char *needs_text(u32 needs, char *text, size_t bytes)
{
	text[0] = '\0';
	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (needs & 1u << i)
			snprintf(text + strlen(text), bytes - strlen(text), "%s%s",
				 *text ? "," : "", baleen_need_name(i));
	return *text ? text : "-";
}

int print_compared(const struct baleen_compared compared[BALEEN_COMPARED], u64 n_keys)
{
	char n[NUMBER_TEXT], can[64], fpp[16], measured[16];
	u64 n_measured = 0;

	say("%-11s%8s  %-8s %-8s %5s %8s %8s  %s\n", "", "per key", "rate", "measured", "lines",
	    "look-up", "insert", "can");
	for (u32 i = 0; i < BALEEN_COMPARED; i++) {
		const struct baleen_compared *row = &compared[i];

		if (row->err) {
			say("%-11s%s\n", row->name, row->error.text);
			continue;
		}
		n_measured = row->n_measured;
		snprintf(fpp, sizeof(fpp), "%.2g", row->fpp);
		snprintf(measured, sizeof(measured), "%.2g", row->measured_fpp);
		say("%-11s%8.4g  %-8s %-8s %5.1f %5.1f ns %5.1f ns  %s\n", row->name,
		    row->bits_per_key, row->fpp ? fpp : "exact", measured, row->lines,
		    row->lookup_ns, row->insert_ns, needs_text(row->can, can, sizeof(can)));
	}
	if (n_measured && n_measured != n_keys)
		say("measured with %s keys\n", format_count(n_measured, n));
	return finish_output(EXIT_DONE);
}

int print_compared_tsv(const struct baleen_compared compared[BALEEN_COMPARED])
{
	char can[64];

	puts("kind\tbits a key\trate\tkeys measured\trate measured\tcache lines\tlook-up ns\t"
	     "insert ns\tcan");
	for (u32 i = 0; i < BALEEN_COMPARED; i++) {
		const struct baleen_compared *row = &compared[i];

		if (!row->err)
			say("%s\t%.6g\t%.6g\t%llu\t%.6g\t%.3g\t%.4g\t%.4g\t%s\n", row->name,
			    row->bits_per_key, row->fpp, (unsigned long long)row->n_measured,
			    row->measured_fpp, row->lines, row->lookup_ns, row->insert_ns,
			    needs_text(row->can, can, sizeof(can)));
	}
	return finish_output(EXIT_DONE);
}

static json_t *describe(const struct baleen_compared *row)
{
	json_t *json = json_pack("{s:s, s:s?}", "kind", row->name, "reason",
				 row->err ? row->error.text : NULL);
	json_t *can = json_array();

	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (row->can & 1u << i)
			json_array_append_new(can, json_string(baleen_need_name(i)));
	if (row->err) {
		json_decref(can);
		return json;
	}
	json_object_update_new(json,
			       json_pack("{s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:o}", "bits_per_key",
					 row->bits_per_key, "fpp", row->fpp, "lines", row->lines,
					 "measured_keys", (json_int_t)row->n_measured,
					 "measured_fpp", row->measured_fpp, "lookup_ns",
					 row->lookup_ns, "insert_ns", row->insert_ns, "can", can));
	return json;
}

int print_compared_json(const struct baleen_compared compared[BALEEN_COMPARED])
{
	json_t *all = json_array();

	for (u32 i = 0; i < BALEEN_COMPARED; i++)
		json_array_append_new(all, describe(&compared[i]));
	return print_json(all);
}
