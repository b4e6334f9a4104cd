// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen plan: what each kind of filter would cost. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/list_options.h"
#include "cli/file/plan_compare.h"
#include "cli/file/plan_curves.h"
#include "cli/file/plan_textbook.h"
#include "filter/bloom_math.h"
#include "ops/choose.h"
#include "ops/plan_kinds.h"

/**
 * struct plan - what is asked for
 * @lists: kind, key, rate, capacity and shape
 * @bits_per_key: --bits-per-key: the rate is sought; 0: it is given
 * @is_ipv6: keys of addresses are IPv6
 * @json: print JSON
 * @compares: --compare
 * @curve: --curve: enum baleen_curves_of; N_CURVES: not given
 * @measures: --measure
 * @svg: --svg
 * @tsv: --tsv
 * @domain: domain of the keys
 */
struct plan {
	struct list_options lists;
	double bits_per_key;
	bool is_ipv6;
	bool json;
	bool compares;
	u32 curve;
	bool measures;
	bool svg;
	bool tsv;
	u32 domain;
};

/* Keys of the filters of a curve where nobody says how many. */
#define CURVE_KEYS 100000

/**
 * struct planned - a kind in one way
 * @way: the way
 * @cost: what comes out
 */
struct planned {
	struct baleen_way way;
	struct baleen_cost cost;
};

/* In this order; the last two only where they are named. */
static const u32 shown[] = { BALEEN_KIND_CUCKOO,   BALEEN_KIND_BLOOM,	 BALEEN_KIND_CLASSIC,
			     BALEEN_KIND_COUNTING, BALEEN_KIND_QUOTIENT, BALEEN_KIND_CHAINED,
			     BALEEN_KIND_COMPACT };

static void find_cost(const struct plan *plan, u32 kind, struct planned *planned)
{
	const struct baleen_build_options *build = &plan->lists.build;
	struct baleen_cost *cost = &planned->cost;
	struct baleen_shape shape = build->shape;

	*cost = (struct baleen_cost){ .table.kind = kind };
	shape.has_copies = planned->way.copies;
	shape.may_err = planned->way.may_err;
	shape.most_fpp = build->fpp;
	cost->err = baleen_shape_for_keys(build->key_spec, kind, &shape, &cost->error);
	if (cost->err)
		return;
	if (plan->bits_per_key)
		baleen_cost_fill(plan->domain, kind, build->capacity, plan->bits_per_key, &shape,
				 cost);
	else
		baleen_cost_plan(plan->domain, kind, build->capacity, planned->way.fpp, &shape,
				 cost);
}

static u32 can(const struct plan *plan, const struct planned *planned)
{
	struct baleen_image image = { .key_spec = plan->lists.build.key_spec,
				      .flags = planned->way.copies ? BALEEN_FLAG_COPIES : 0 };

	image.table[plan->domain] = planned->cost.table;
	return baleen_table_can(&image, plan->domain);
}

/* Plans a kind in this way; false when it cannot be, or not do what is needed. */
static bool try_way(const struct plan *plan, u32 kind, struct planned *planned)
{
	struct baleen_cost *cost = &planned->cost;
	char what[64] = "";
	u32 missing;

	find_cost(plan, kind, planned);
	if (cost->err)
		return false;
	missing = plan->lists.needs & ~can(plan, planned);
	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (missing & 1u << i)
			snprintf(what + strlen(what), sizeof(what) - strlen(what), "%s%s",
				 *what ? ", " : "", baleen_need_name(i));
	if (missing)
		cost->err = baleen_fail(&cost->error, EOPNOTSUPP, "cannot %s", what);
	return !missing;
}

/* The smallest that a kind has for what is needed, as baleen_choose() finds it. */
static void find_planned(const struct plan *plan, u32 kind, struct planned *found)
{
	const struct baleen_way asked = { .fpp = plan->lists.build.fpp,
					  .copies = plan->lists.build.copies };
	struct baleen_way ways[BALEEN_MAX_WAYS];
	u32 n = baleen_ways(kind, plan->lists.needs, asked, ways);
	bool any = false;

	for (u32 i = 0; i < n; i++) {
		struct planned planned = { .way = ways[i] };
		bool fits = try_way(plan, kind, &planned);

		if (!i || (fits && (!any || planned.cost.n_bytes < found->cost.n_bytes)))
			*found = planned;
		any |= fits;
	}
}

/* Why a kind cannot be, in few words. */
static const char *reason_of(const struct baleen_cost *cost)
{
	switch (cost->err) {
	case -E2BIG: return "over 16 GiB";
	case -EOVERFLOW: return "over 2^31 buckets";
	default: return cost->error.text;
	}
}

/* --- JSON ------------------------------------------------------------------ */

static void set_real(json_t *json, const char *name, double value)
{
	json_object_set_new(json, name, json_real(value));
}

static void set_integer(json_t *json, const char *name, double value)
{
	json_object_set_new(json, name, json_integer((json_int_t)value));
}

static void describe_geometry(json_t *json, const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		set_integer(json, "buckets", table->n_buckets);
		set_integer(json, "bucket_slots", baleen_bucket_slots(table));
		set_integer(json, "slot_bits", table->slot_bits);
		json_object_set_new(json, "packed", json_boolean(baleen_table_is_packed(table)));
		json_object_set_new(json, "semi_sorted",
				    json_boolean(baleen_table_is_semi_sorted(table)));
		break;
	case BALEEN_KIND_QUOTIENT:
		set_integer(json, "slots", table->n_buckets);
		set_integer(json, "quotient_bits", table->log2_buckets);
		set_integer(json, "remainder_bits", table->slot_bits);
		break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT:
		set_integer(json, "buckets", table->n_buckets);
		set_integer(json, "value_bits", table->slot_bits);
		break;
	case BALEEN_KIND_COUNTING: set_integer(json, "counter_bits", BALEEN_COUNTER_BITS);
	/* fall through */
	default:
		set_integer(json, "positions", baleen_table_bits(table));
		set_integer(json, "hashes", table->n_hashes);
	}
}

/* Bits a key are given: the best k of the textbooks, and its rate. */
static json_t *describe_best(const struct plan *plan)
{
	u32 k = baleen_classic_hashes(plan->bits_per_key, 1);
	json_t *json = json_object();

	set_real(json, "bits_per_key", plan->bits_per_key);
	set_integer(json, "hashes", k);
	set_real(json, "fpp", baleen_classic_fpp(plan->bits_per_key, k, 1));
	return json;
}

static json_t *describe_can(u32 needs)
{
	json_t *json = json_array();

	for (u32 i = 0; i < BALEEN_N_NEEDS; i++)
		if (needs & 1u << i)
			json_array_append_new(json, json_string(baleen_need_name(i)));
	return json;
}

static json_t *describe_cost(const struct plan *plan, u32 kind)
{
	bool is_classic = kind == BALEEN_KIND_CLASSIC;
	json_t *json = json_object();
	const struct baleen_cost *cost;
	struct planned planned;

	find_planned(plan, kind, &planned);
	cost = &planned.cost;
	json_object_set_new(json, "kind", json_string(baleen_kind_name(kind)));
	json_object_set_new(json, "reason", cost->err ? json_string(reason_of(cost)) : json_null());
	if (!cost->err) {
		set_integer(json, "bits", cost->n_bits);
		set_integer(json, "bytes", cost->n_bytes);
		set_real(json, "bits_per_key", cost->bits_per_key);
		set_real(json, "fpp", cost->fpp);
		json_object_set_new(json, "exact", json_boolean(cost->is_exact));
		json_object_set_new(json, "copies", json_boolean(planned.way.copies));
		json_object_set_new(json, "can", describe_can(can(plan, &planned)));
		describe_geometry(json, &cost->table);
	}
	json_object_set_new(json, "textbook",
			    plan->bits_per_key && is_classic ?
				    describe_best(plan) :
				    plan_textbook_json(&plan->lists.build, kind));
	return json;
}

static json_t *describe_bound(const struct plan *plan, const char *of, double n_bits)
{
	json_t *json = json_object();

	json_object_set_new(json, "bound", json_string(of));
	set_integer(json, "bits", ceil(n_bits));
	set_real(json, "bits_per_key", n_bits / plan->lists.build.capacity);
	return json;
}

static int print_costs_json(const struct plan *plan)
{
	double n = plan->lists.build.capacity, fpp = plan->lists.build.fpp;
	json_t *all = json_array();

	for (u32 i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (plan->lists.kinds & 1u << shown[i])
			json_array_append_new(all, describe_cost(plan, shown[i]));
	if (fpp) {
		json_array_append_new(all,
				      describe_bound(plan, "any filter", baleen_any_bound(n, fpp)));
		json_array_append_new(all, describe_bound(plan, "Bloom filter",
							  baleen_classic_bound(n, fpp)));
	}
	return print_json(all);
}

/* --- text ------------------------------------------------------------------ */

static const char *geometry_text(const struct baleen_table *table, char *text, size_t bytes)
{
	char count[NUMBER_TEXT];

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		snprintf(text, bytes, "%s x %u x %u bits%s", format_count(table->n_buckets, count),
			 baleen_bucket_slots(table), table->slot_bits,
			 baleen_table_is_semi_sorted(table) ? ", semi-sorted" : "");
		break;
	case BALEEN_KIND_QUOTIENT:
		snprintf(text, bytes, "q = %u, r = %u", table->log2_buckets, table->slot_bits);
		break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT:
		snprintf(text, bytes, "%s chains, l = %u", format_count(table->n_buckets, count),
			 table->slot_bits);
		break;
	default:
		snprintf(text, bytes, "k = %u%s%s", table->n_hashes,
			 table->kind == BALEEN_KIND_BLOOM ? ", blocked" : "",
			 table->kind == BALEEN_KIND_COUNTING ? ", 4-bit counters" : "");
	}
	return text;
}

static void print_cost(const struct plan *plan, u32 kind)
{
	char bits[NUMBER_TEXT], bytes[NUMBER_TEXT], rate[NUMBER_TEXT], geometry[80];
	const struct baleen_cost *cost;
	struct planned planned;

	find_planned(plan, kind, &planned);
	cost = &planned.cost;
	if (cost->err) {
		say("%-11s%s\n", baleen_kind_name(kind), reason_of(cost));
		return;
	}
	snprintf(rate, sizeof(rate), "%.2g", cost->fpp);
	say("%-11s%15s%8s %7.3g  %-9s%s%s\n", baleen_kind_name(kind),
	    format_count(cost->n_bits, bits), format_bytes(cost->n_bytes, bytes),
	    cost->bits_per_key, cost->is_exact ? "exact" : rate,
	    geometry_text(&cost->table, geometry, sizeof(geometry)),
	    planned.way.copies ? ", copies" : "");
}

static void print_bound(const struct plan *plan, const char *of, double n_bits, const char *formula)
{
	char bits[NUMBER_TEXT], bytes[NUMBER_TEXT];

	say("%-11s%15s%8s %7.3g  %s\n", of, format_count(ceil(n_bits), bits),
	    format_bytes(ceil(n_bits / 8), bytes), n_bits / plan->lists.build.capacity, formula);
}

static int print_costs(const struct plan *plan)
{
	double n = plan->lists.build.capacity, fpp = plan->lists.build.fpp;

	say("%-11s%15s%8s%8s  %-9s%s\n", "", "bits", "size", "per key", "rate", "geometry");
	for (u32 i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		if (plan->lists.kinds & 1u << shown[i])
			print_cost(plan, shown[i]);
	if (fpp) {
		print_bound(plan, "any filter", baleen_any_bound(n, fpp), "at least n log2(1/P)");
		print_bound(plan, "any Bloom", baleen_classic_bound(n, fpp),
			    "at least n log2(e) log2(1/P)");
	}
	return finish_output(EXIT_DONE);
}

static int print_curves(const struct plan *plan)
{
	u64 n_keys = plan->lists.build.capacity ? plan->lists.build.capacity : CURVE_KEYS;
	struct baleen_curves curves;
	struct baleen_error error;

	if (baleen_curves_make(plan->curve, n_keys, plan->measures, &curves, &error))
		return complain("%s", error.text);
	if (plan->svg)
		return print_curves_svg(&curves);
	return plan->json ? print_curves_json(&curves) : print_curves_tsv(&curves);
}

static int print_comparison(const struct plan *plan)
{
	const struct baleen_build_options *build = &plan->lists.build;
	struct baleen_compared compared[BALEEN_COMPARED];
	struct baleen_error error;

	if (baleen_compare_kinds(build->capacity, build->fpp, compared, &error))
		return complain("%s", error.text);
	if (plan->json)
		return print_compared_json(compared);
	if (plan->tsv)
		return print_compared_tsv(compared);
	return print_compared(compared, build->capacity);
}

/* --- command --------------------------------------------------------------- */

static int parse_bits_per_key(const struct option_use *use)
{
	double *bits_per_key = use->to;
	char *end;

	*bits_per_key = strtod(use->argument, &end);
	if (end != use->argument && !*end && *bits_per_key > 0 && *bits_per_key <= 1024)
		return 0;
	return option_refuse(use, "not a number above 0, up to 1024");
}

static int parse(struct plan *plan, int argc, char **argv)
{
	struct list_options *lists = &plan->lists;
	int err;

	list_options_init(lists);
	err = options_parse(&plan_command, plan, &argc, &argv);
	if (err)
		return err;
	if (argc)
		return complain_usage(&plan_command, "'%s': a plan is made of numbers, not lists",
				      *argv);
	if (plan->svg + plan->tsv + plan->json > 1)
		return complain_usage(&plan_command, "--svg, --tsv and --json: one of them");
	if (plan->curve == BALEEN_N_CURVES_OF &&
	    (plan->svg || plan->measures || (plan->tsv && !plan->compares)))
		return complain_usage(&plan_command, "--svg, --tsv and --measure are for --curve");
	if (plan->curve != BALEEN_N_CURVES_OF && plan->compares)
		return complain_usage(&plan_command, "--curve and --compare: one of them");
	if (plan->curve != BALEEN_N_CURVES_OF)
		return 0;
	if (!lists->build.capacity)
		return complain_usage(&plan_command, "--capacity N is missing");
	if (plan->bits_per_key && lists->build.fpp)
		return complain_usage(&plan_command, "--bits-per-key and --fpp: each follows from "
						     "the other");
	if (plan->compares && !lists->build.fpp)
		return complain_usage(&plan_command, "--compare needs --fpp P");
	if (plan->is_ipv6 && !baleen_spec_is_address(lists->build.key_spec))
		return complain_usage(&plan_command, "-6: the key is not an address");
	plan->domain = baleen_spec_domain(lists->build.key_spec, plan->is_ipv6);
	return list_options_find_kinds(&plan_command, lists);
}

static int run(int argc, char **argv)
{
	struct plan plan = { .curve = BALEEN_N_CURVES_OF };
	int err = parse(&plan, argc, argv);

	if (err)
		return err;
	if (plan.curve != BALEEN_N_CURVES_OF)
		return print_curves(&plan);
	if (plan.compares)
		return print_comparison(&plan);
	return plan.json ? print_costs_json(&plan) : print_costs(&plan);
}

static const struct option_spec options[] = {
	{ .table = shape_option_table, .at = offsetof(struct plan, lists) },
	VALUE("need", 0, "WHAT", list_need, plan, lists,
	      "only what can do that, with copies where it takes them: delete, merge, resize, with "
	      "commas between",
	      .words = "delete merge resize"),
	VALUE("bits-per-key", 0, "C", parse_bits_per_key, plan, bits_per_key,
	      "seek the least rate in C bits a key"),
	FLAG("ipv6", '6', plan, is_ipv6, "IPv6 addresses; without it IPv4"),
	FLAG("compare", 0, plan, compares,
	     "a table of all kinds, and of exact sets beside them: also what a look-up and an insert "
	     "of 64-bit keys take here; of a million keys at most"),
	VALUE("curve", 0, "WHAT", option_choice, plan, curve,
	      "print curves of all kinds: bits a key over fpp, or the rate over load or hashes (k)",
	      .words = "fpp load hashes"),
	FLAG("measure", 0, plan, measures,
	     "curve: also build filters of N keys, 100,000 without --capacity, and ask them"),
	FLAG("tsv", 0, plan, tsv,
	     "curve, compare: a table with tabs; of a curve that is the default"),
	FLAG("svg", 0, plan, svg, "curve: a picture in SVG"),
	FLAG("json", 'j', plan, json,
	     "an array with an object for each kind, beside the plan of the textbooks, and one "
	     "for each bound"),
	{ 0 },
};

const struct command plan_command = {
	.name = "plan",
	.synopsis =
		"--capacity N [--fpp P | --bits-per-key C] [--compare] [OPTION...] | --curve WHAT [OPTION...]",
	.help = "Prints what each kind of filter of N keys would cost: bits, size, expected false\n"
		"positive rate and geometry, and the least that any could do with. Nothing is made.\n",
	.options = options,
	.run = run,
};
