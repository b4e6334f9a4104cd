/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All kinds of filters beside each other and beside exact sets: what a key takes, what the
 * set can do, and what a look-up and an insert take on this machine.
 *
 * Bits and lines are computed for the number of keys asked for. Rates and times are measured
 * on real ones of as many keys, or of BALEEN_COMPARE_KEYS at most: keys of 64 bits, one
 * after the other. Look-ups are of keys that are not in. Each figure is the median of
 * BALEEN_COMPARE_ROUNDS rounds, in each of which all take their turn.
 */
#ifndef BALEEN_COMPARE_KINDS_H
#define BALEEN_COMPARE_KINDS_H

#include "ops/baselines.h"
#include "ops/plan_kinds.h"

#define BALEEN_COMPARE_KEYS 1000000
#define BALEEN_COMPARE_ROUNDS 5
#define BALEEN_COMPARED (BALEEN_N_PLANNED + BALEEN_N_BASELINES)

/**
 * struct baleen_compared - a kind, or a baseline
 * @name: its name
 * @err: 0, or why it cannot be
 * @error: the same in words
 * @bits_per_key: bits a key
 * @fpp: expected rate; 0 of an exact set
 * @can: enum baleen_need, those that it can do
 * @lines: cache lines that the look-up of an absent key reads, on average
 * @n_measured: keys of the one that was measured
 * @measured_fpp: rate of it
 * @lookup_ns: of a look-up of an absent key
 * @insert_ns: of a key, while all are put in
 */
struct baleen_compared {
	const char *name;
	int err;
	struct baleen_error error;
	double bits_per_key;
	double fpp;
	u32 can;
	double lines;
	u64 n_measured;
	double measured_fpp;
	double lookup_ns;
	double insert_ns;
};

/**
 * baleen_compare_kinds() - all kinds and baselines
 * @n_keys: keys, 1 or more
 * @fpp: rate allowed, above 0 and below 1
 * @compared: filled in: kinds first
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_compare_kinds(u64 n_keys, double fpp, struct baleen_compared compared[BALEEN_COMPARED],
			 struct baleen_error *error);

#endif /* BALEEN_COMPARE_KINDS_H */
