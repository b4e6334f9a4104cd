// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The trade-off between space, rate and load of each kind of filter, as points of curves. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "filter/bloom_math.h"
#include "filter/quotient_table.h"
#include "ops/curves.h"
#include "ops/plan_kinds.h"
#include "ops/sample_filter.h"

/* Rates from 1/2 on, each 2^-0.5 of the one before. */
#define N_RATES 41

/* Loads from 5 % on, by 5 %. */
#define N_LOADS 20

/* Positions a key. */
#define MOST_HASHES 16

static struct baleen_curve *add_curve(struct baleen_curves *curves, enum baleen_curve_source source,
				      const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static struct baleen_curve *add_curve(struct baleen_curves *curves, enum baleen_curve_source source,
				      const char *format, ...)
{
	struct baleen_curve *curve = &curves->curve[curves->n++];
	va_list args;

	va_start(args, format);
	vsnprintf(curve->name, sizeof(curve->name), format, args);
	va_end(args);
	curve->source = source;
	curve->n = 0;
	return curve;
}

static void add_point(struct baleen_curve *curve, double x, double y)
{
	curve->x[curve->n] = x;
	curve->y[curve->n++] = y;
}

/* --- measuring ------------------------------------------------------------- */

/* The rates of one table as it fills up: at each of @n shares of the keys. */
static int measure(const struct baleen_table *table, u64 n_keys, const double *shares, u32 n,
		   double *rates, u32 *n_measured, struct baleen_error *error)
{
	struct baleen_filter filter;
	u64 n_in = 0;
	int err = baleen_sample_filter(table, &filter, error);

	*n_measured = 0;
	if (err)
		return err;
	for (u32 i = 0; i < n; i++) {
		u64 wanted = n_keys * shares[i];

		n_in += baleen_sample_insert(&filter, n_in, wanted);
		/* Full: with another seed there might have been room. */
		if (n_in < wanted)
			break;
		rates[(*n_measured)++] = baleen_sample_rate(&filter);
	}
	baleen_filter_free(&filter);
	return 0;
}

/* --- bits a key over the rate ------------------------------------------------ */

static double rate_of(u32 i)
{
	return exp2(-0.5 * (N_RATES + 1 - i));
}

/* The best of 1, 2 and 4 slots a bucket, each as full as it can be (Fan et al. 2014). */
static double cuckoo_formula(double fpp)
{
	static const double loads[] = { 0.5, 0.84, 0.95 };
	double least = INFINITY;

	for (u32 i = 0; i < 3; i++)
		least = fmin(least, ceil(log2((2 << i) / fpp)) / loads[i]);
	return least;
}

static int measure_kind(struct baleen_curves *curves, u32 kind, u64 n_keys,
			struct baleen_error *error)
{
	static const double rates[] = { 1e-4, 1e-3, 1e-2, 0.03, 0.1 };
	static const struct baleen_shape any;
	struct baleen_curve *curve =
		add_curve(curves, BALEEN_CURVE_MEASURED, "%s", baleen_kind_name(kind));
	const double all = 1;
	int err = 0;

	for (u32 i = 0; i < sizeof(rates) / sizeof(rates[0]) && !err; i++) {
		struct baleen_cost cost;
		double rate;
		u32 n;

		baleen_cost_plan(BALEEN_TUPLE, kind, n_keys, rates[i], &any, &cost);
		if (cost.err)
			continue;
		err = measure(&cost.table, n_keys, &all, 1, &rate, &n, error);
		if (!err && n && rate)
			add_point(curve, rate, cost.bits_per_key);
	}
	return err;
}

static int make_fpp(u64 n_keys, bool measures, struct baleen_curves *curves,
		    struct baleen_error *error)
{
	struct baleen_curve *bound = add_curve(curves, BALEEN_CURVE_FORMULA, "any filter");
	struct baleen_curve *bloom = add_curve(curves, BALEEN_CURVE_FORMULA, "Bloom");
	struct baleen_curve *cuckoo = add_curve(curves, BALEEN_CURVE_FORMULA, "cuckoo");
	struct baleen_curve *quotient = add_curve(curves, BALEEN_CURVE_FORMULA, "quotient");
	static const struct baleen_shape any;
	int err = 0;

	for (u32 i = 0; i < N_RATES; i++) {
		double fpp = rate_of(i);

		add_point(bound, fpp, baleen_any_bound(1, fpp));
		add_point(bloom, fpp, baleen_classic_bound(1, fpp));
		add_point(cuckoo, fpp, cuckoo_formula(fpp));
		add_point(quotient, fpp,
			  (ceil(log2(1 / fpp)) + BALEEN_QUOTIENT_META) / BALEEN_QUOTIENT_LOAD);
	}
	for (u32 k = 0; k < BALEEN_N_PLANNED; k++) {
		struct baleen_curve *curve = add_curve(curves, BALEEN_CURVE_PLAN, "%s",
						       baleen_kind_name(baleen_planned_kinds[k]));

		for (u32 i = 0; i < N_RATES; i++) {
			struct baleen_cost cost;

			baleen_cost_plan(BALEEN_TUPLE, baleen_planned_kinds[k], n_keys, rate_of(i),
					 &any, &cost);
			if (!cost.err)
				add_point(curve, rate_of(i), cost.bits_per_key);
		}
	}
	for (u32 k = 0; k < BALEEN_N_PLANNED && measures && !err; k++)
		err = measure_kind(curves, baleen_planned_kinds[k], n_keys, error);
	return err;
}

/* --- the rate over the load -------------------------------------------------- */

/* By the formulas of the literature for this shape; 0: there is none. */
static double formula_rate(const struct baleen_table *table, double n)
{
	switch (table->kind) {
	case BALEEN_KIND_CLASSIC:
		return baleen_classic_fpp(baleen_table_bits(table), table->n_hashes, n);
	case BALEEN_KIND_CUCKOO:
		return -expm1(2 * n / table->n_buckets * log1p(-ldexp(1, -(int)table->slot_bits)));
	case BALEEN_KIND_QUOTIENT:
		return -expm1(-ldexp(n / table->n_buckets, -(int)table->slot_bits));
	default: return 0;
	}
}

static void add_formula(struct baleen_curves *curves, const struct baleen_table *table, u64 n_keys)
{
	struct baleen_curve *curve;

	if (!formula_rate(table, n_keys))
		return;
	curve = add_curve(curves, BALEEN_CURVE_FORMULA, "%s", baleen_kind_name(table->kind));
	for (u32 i = 1; i <= N_LOADS; i++)
		add_point(curve, (double)i / N_LOADS,
			  formula_rate(table, (double)n_keys * i / N_LOADS));
}

static int make_load(u64 n_keys, bool measures, struct baleen_curves *curves,
		     struct baleen_error *error)
{
	static const double shares[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 };
	static const struct baleen_shape any;
	const u32 n_shares = sizeof(shares) / sizeof(shares[0]);
	int err = 0;

	for (u32 k = 0; k < BALEEN_N_PLANNED && !err; k++) {
		struct baleen_image image = { 0 };
		double rates[sizeof(shares) / sizeof(shares[0])];
		struct baleen_curve *curve;
		struct baleen_cost cost;
		u32 n_measured = 0;

		baleen_cost_plan(BALEEN_TUPLE, baleen_planned_kinds[k], n_keys, 0.01, &any, &cost);
		if (cost.err)
			continue;
		image.table[BALEEN_TUPLE] = cost.table;
		add_formula(curves, &cost.table, n_keys);
		curve = add_curve(curves, BALEEN_CURVE_PLAN, "%s",
				  baleen_kind_name(baleen_planned_kinds[k]));
		for (u32 i = 1; i <= N_LOADS; i++)
			add_point(curve, (double)i / N_LOADS,
				  baleen_table_fpp(&image, BALEEN_TUPLE, n_keys * i / N_LOADS));
		if (!measures)
			continue;
		err = measure(&cost.table, n_keys, shares, n_shares, rates, &n_measured, error);
		curve = add_curve(curves, BALEEN_CURVE_MEASURED, "%s",
				  baleen_kind_name(baleen_planned_kinds[k]));
		for (u32 i = 0; i < n_measured; i++)
			if (rates[i])
				add_point(curve, shares[i], rates[i]);
	}
	return err;
}

/* --- the rate over k --------------------------------------------------------- */

static int measure_hashes(struct baleen_curves *curves, u64 n_keys, double bits_per_key,
			  struct baleen_error *error)
{
	struct baleen_curve *curve =
		add_curve(curves, BALEEN_CURVE_MEASURED, "%g bits a key", bits_per_key);
	const double all = 1;
	int err = 0;

	for (u32 k = 1; k <= MOST_HASHES && !err; k++) {
		const struct baleen_shape shape = { .n_bits = bits_per_key * n_keys,
						    .n_hashes = k };
		struct baleen_cost cost;
		double rate;
		u32 n;

		baleen_cost_plan(BALEEN_TUPLE, BALEEN_KIND_CLASSIC, n_keys, 0, &shape, &cost);
		if (cost.err)
			continue;
		err = measure(&cost.table, n_keys, &all, 1, &rate, &n, error);
		if (!err && n && rate)
			add_point(curve, k, rate);
	}
	return err;
}

static int make_hashes(u64 n_keys, bool measures, struct baleen_curves *curves,
		       struct baleen_error *error)
{
	static const double bits[] = { 6, 8, 12, 16 };
	int err = 0;

	for (u32 i = 0; i < 4 && !err; i++) {
		struct baleen_curve *curve =
			add_curve(curves, BALEEN_CURVE_FORMULA, "%g bits a key", bits[i]);

		for (u32 k = 1; k <= MOST_HASHES; k++)
			add_point(curve, k, baleen_classic_fpp(bits[i], k, 1));
		curve = add_curve(curves, BALEEN_CURVE_PLAN, "blocked, %g bits a key", bits[i]);
		for (u32 k = 2; k <= 8; k += 2)
			add_point(curve, k,
				  baleen_bloom_fpp(ceil(bits[i] * n_keys / 512), k, n_keys));
		if (measures)
			err = measure_hashes(curves, n_keys, bits[i], error);
	}
	return err;
}

int baleen_curves_make(enum baleen_curves_of of, u64 n_keys, bool measures,
		       struct baleen_curves *curves, struct baleen_error *error)
{
	curves->of = of;
	curves->n = 0;
	switch (of) {
	case BALEEN_CURVES_LOAD: return make_load(n_keys, measures, curves, error);
	case BALEEN_CURVES_HASHES: return make_hashes(n_keys, measures, curves, error);
	default: return make_fpp(n_keys, measures, curves, error);
	}
}
