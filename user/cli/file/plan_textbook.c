// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The plan of a kind by the formulas of the textbooks, as JSON. */
#include <math.h>

#include "cli/common/cli.h"
#include "cli/file/plan_textbook.h"
#include "ops/plan_kinds.h"

static void set_real(json_t *json, const char *name, double value)
{
	json_object_set_new(json, name, json_real(value));
}

static void set_integer(json_t *json, const char *name, double value)
{
	json_object_set_new(json, name, json_integer((json_int_t)value));
}

/* Why the plan of the textbooks is none. */
static const char *textbook_reason(const struct baleen_textbook *textbook, u32 kind)
{
	if (kind == BALEEN_KIND_QUOTIENT)
		return textbook->slot_bits < 1 ? "r < 1: no bits are left for a remainder" : NULL;
	if (kind == BALEEN_KIND_CUCKOO)
		return textbook->load_limit && textbook->load > textbook->load_limit ?
			       "fuller than buckets of so many slots can be" :
			       NULL;
	if (kind == BALEEN_KIND_COMPACT)
		return NULL;
	return textbook->n_hashes ? NULL : "k = 0: without hashes it says yes to every key";
}

static void describe_textbook_cuckoo(json_t *json, const struct baleen_textbook *textbook)
{
	char name[32];

	set_integer(json, "buckets", ldexp(1, textbook->log2_buckets));
	set_integer(json, "bucket_slots", textbook->bucket_slots);
	set_integer(json, "slot_bits", textbook->slot_bits);
	if (textbook->load_limit) {
		snprintf(name, sizeof(name), "buckets_at_%.0f_percent", 100 * textbook->load_limit);
		set_integer(json, name, textbook->n_buckets_loaded);
	}
	set_integer(json, "least_buckets", textbook->n_buckets_least);
}

json_t *plan_textbook_json(const struct baleen_build_options *build, u32 kind)
{
	double n = build->capacity, fpp = build->fpp;
	struct baleen_textbook textbook;
	const char *reason;
	json_t *json;

	if (!fpp || kind == BALEEN_KIND_CHAINED)
		return json_null();
	textbook = baleen_textbook_plan(kind, n, fpp, build->shape.bucket_slots);
	reason = textbook_reason(&textbook, kind);
	json = json_object();
	set_integer(json, "bits", textbook.n_bits);
	set_real(json, "bits_per_key", textbook.n_bits / n);
	set_real(json, "fpp", textbook.fpp);
	switch (kind) {
	case BALEEN_KIND_QUOTIENT:
		set_real(json, "load", textbook.load);
		set_integer(json, "quotient_bits", textbook.log2_buckets);
		set_integer(json, "remainder_bits", textbook.slot_bits);
		break;
	case BALEEN_KIND_CUCKOO:
		set_real(json, "load", textbook.load);
		describe_textbook_cuckoo(json, &textbook);
		break;
	case BALEEN_KIND_COMPACT: set_integer(json, "value_bits", textbook.slot_bits); break;
	default: set_integer(json, "hashes", textbook.n_hashes);
	}
	json_object_set_new(json, "reason", reason ? json_string(reason) : json_null());
	return json;
}
