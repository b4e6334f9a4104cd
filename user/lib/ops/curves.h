/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trade-off between space, rate and load of each kind of filter, as points of curves.
 */
#ifndef BALEEN_CURVES_H
#define BALEEN_CURVES_H

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_CURVE_POINTS 64
#define BALEEN_MAX_CURVES 20

/**
 * enum baleen_curves_of - what over what
 * @BALEEN_CURVES_FPP: bits a key over the false positive rate: what Baleen plans, beside
 *                     the formulas and n log2(1/P), below which no filter is
 * @BALEEN_CURVES_LOAD: the rate over the share of the planned keys that are in
 * @BALEEN_CURVES_HASHES: the rate over k, for some bits a key
 * @BALEEN_N_CURVES_OF: how many
 */
enum baleen_curves_of {
	BALEEN_CURVES_FPP,
	BALEEN_CURVES_LOAD,
	BALEEN_CURVES_HASHES,
	BALEEN_N_CURVES_OF,
};

/**
 * enum baleen_curve_source - where points come from
 * @BALEEN_CURVE_FORMULA: a formula of the literature
 * @BALEEN_CURVE_PLAN: plans of Baleen
 * @BALEEN_CURVE_MEASURED: filters that were built and asked
 */
enum baleen_curve_source {
	BALEEN_CURVE_FORMULA,
	BALEEN_CURVE_PLAN,
	BALEEN_CURVE_MEASURED,
};

/**
 * struct baleen_curve - points of one curve
 * @name: of the kind or formula
 * @source: enum baleen_curve_source
 * @n: points
 * @x: ascending
 * @y: the value at each
 */
struct baleen_curve {
	char name[48];
	enum baleen_curve_source source;
	u32 n;
	double x[BALEEN_CURVE_POINTS];
	double y[BALEEN_CURVE_POINTS];
};

/**
 * struct baleen_curves - curves of one picture
 * @of: enum baleen_curves_of
 * @n: how many
 * @curve: they
 */
struct baleen_curves {
	enum baleen_curves_of of;
	u32 n;
	struct baleen_curve curve[BALEEN_MAX_CURVES];
};

/**
 * baleen_curves_make() - the curves of all kinds
 * @of: enum baleen_curves_of
 * @n_keys: keys of a filter, which are hashed to 64 bits
 * @measures: filters are also built, of that many keys, and asked for a million others
 * @curves: filled in
 * @error: filled in on failure
 *
 * Keys and seeds of what is measured are the same each time.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_curves_make(enum baleen_curves_of of, u64 n_keys, bool measures,
		       struct baleen_curves *curves, struct baleen_error *error);

#endif /* BALEEN_CURVES_H */
