/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of each kind of filter, without making one.
 *
 * Beside the plan of Baleen stands the one of the textbooks, by their formulas
 * alone, term by term; of n keys at a rate of P:
 *
 *   any filter   n log2(1/P) bits at least (Carter et al. 1978)
 *   Bloom        m = -n ln P / ln2 2, k = m/n ln 2, both rounded down (Bloom 1970;
 *                Mitzenmacher and Broder 2004): 10 keys at 1 % are 95 bits and k = 6.
 *                From P = 1/2 on k is 0: a filter that says yes to every key
 *   quotient     2^q > n, r = ceil(log2(-n / 2^q / ln(1 - P))), 2^q (r + 3) bits,
 *                rate 1 - e^(-n / 2^(q + r)) (Bender et al. 2012); r may be 0 or less
 *   cuckoo       buckets of b slots, m >= ceil(n / b) of them, of which the examples take
 *                the next power of two; slots of p = ceil(log2(2b / P)) bits, rate
 *                1 - (1 - 2^-p)^2b; 50, 84, 95 % full for b = 1, 2, 4 (Fan et al. 2014)
 *   compact      l = ceil(log2(n / P)) bits a key and nothing else, rate n / 2^l (Wolper and
 *                Leroy 1993)
 *
 * A billion keys at 2 %: any filter 5.64e9 bits; Bloom 8.14e9; quotient q = 30,
 * r = 6, 9 x 2^30; cuckoo with b = 2: 2^29 buckets of 2 x 8 bits. That many are 93 %
 * full, past the threshold of 89.7 %, so that it cannot be built; at 84 % it has
 * 2^29.15 buckets; Baleen takes any number of them.
 */
#ifndef BALEEN_PLAN_KINDS_H
#define BALEEN_PLAN_KINDS_H

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"

/* Kinds that a user may choose, in the order that they are shown. */
#define BALEEN_N_PLANNED 5
extern const u32 baleen_planned_kinds[BALEEN_N_PLANNED];

/**
 * struct baleen_cost - the cost of a kind
 * @err: 0, or why it cannot be: a negative errno value
 * @error: the same in words
 * @table: kind and geometry; only the kind when it cannot be
 * @n_bytes: length of the table
 * @n_bits: of what can hold keys; of a classic table m, else as many as bytes hold
 * @bits_per_key: @n_bits over the keys
 * @fpp: expected rate with all the keys in it; 0 when it is exact
 * @is_exact: it has no false positives at all
 */
struct baleen_cost {
	int err;
	struct baleen_error error;
	struct baleen_table table;
	u64 n_bytes;
	u64 n_bits;
	double bits_per_key;
	double fpp;
	bool is_exact;
};

/**
 * baleen_cost_plan() - the cost of the smallest table of a kind
 * @domain: enum baleen_domain, of keys
 * @kind: enum baleen_kind, one that a user may choose
 * @n: keys, 1 or more
 * @fpp: false positive rate allowed; 0 for the least the kind has
 * @shape: geometry that was asked for
 * @cost: filled in
 */
void baleen_cost_plan(u32 domain, u32 kind, u64 n, double fpp, const struct baleen_shape *shape,
		      struct baleen_cost *cost);

/**
 * baleen_cost_fill() - the least rate that a kind has in so many bits
 * @domain: as for baleen_cost_plan()
 * @kind: as for baleen_cost_plan()
 * @n: as for baleen_cost_plan()
 * @bits_per_key: bits that a key may cost, above 0
 * @shape: as for baleen_cost_plan()
 * @cost: filled in
 */
void baleen_cost_fill(u32 domain, u32 kind, u64 n, double bits_per_key,
		      const struct baleen_shape *shape, struct baleen_cost *cost);

/**
 * baleen_any_bound() - bits of any filter at least
 * @n: keys
 * @fpp: rate, above 0 and below 1
 *
 * Return: n log2(1/fpp).
 * Source: Carter, Floyd, Gill, Markowsky and Wegman, "Exact and approximate
 * membership testers", STOC 1978.
 */
double baleen_any_bound(double n, double fpp);

/**
 * struct baleen_textbook - a filter as the textbooks plan it
 * @n_bits: in all
 * @fpp: rate with all the keys in it
 * @load: quotient, cuckoo: share of the slots in use
 * @n_hashes: Bloom: k; 0: none, so the filter says yes to every key
 * @log2_buckets: quotient: q; cuckoo: binary logarithm of the buckets
 * @bucket_slots: cuckoo: b
 * @slot_bits: quotient: r, 0 or less where no remainder is left; cuckoo: p; compact: l
 * @n_buckets_least: cuckoo: ceil(n / b)
 * @load_limit: cuckoo: share of the slots that can be in use; 0: the texts tell none
 * @n_buckets_loaded: cuckoo: buckets at @load_limit, whatever number that is; 0: none told
 */
struct baleen_textbook {
	double n_bits;
	double fpp;
	double load;
	u32 n_hashes;
	u32 log2_buckets;
	u32 bucket_slots;
	int slot_bits;
	double n_buckets_least;
	double load_limit;
	double n_buckets_loaded;
};

/**
 * baleen_textbook_plan() - a filter as the textbooks plan it
 * @kind: enum baleen_kind, one that a user may choose, but a dictionary, which has no rate
 * @n: keys, 1 or more
 * @fpp: rate, above 0 and below 1
 * @bucket_slots: cuckoo: b, 1 to 4; 0: 2
 *
 * Counting: a Bloom filter with four bits in the place of each.
 *
 * Return: the plan.
 */
struct baleen_textbook baleen_textbook_plan(u32 kind, double n, double fpp, u32 bucket_slots);

#endif /* BALEEN_PLAN_KINDS_H */
