// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All kinds of filters beside each other and beside exact sets. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "ops/choose.h"
#include "ops/compare_kinds.h"
#include "ops/sample_filter.h"
#include "util/clock.h"

/* Look-ups of a round. */
#define N_LOOKUPS 200000

/* Takes the answers of look-ups, so that the compiler leaves none out. */
static volatile u64 sink;

/**
 * struct contest - what is measured
 * @n_keys: keys of each
 * @fpp: rate allowed
 * @key: the keys, hashed
 * @other: keys that are not in, as filters take them
 * @table: of the kinds, planned for @n_keys
 * @compared: the outcome
 * @lookup_ns: of each, by round
 * @insert_ns: likewise
 */
struct contest {
	u64 n_keys;
	double fpp;
	u64 *key;
	struct baleen_key *other;
	struct baleen_table table[BALEEN_N_PLANNED];
	struct baleen_compared *compared;
	double lookup_ns[BALEEN_COMPARED][BALEEN_COMPARE_ROUNDS];
	double insert_ns[BALEEN_COMPARED][BALEEN_COMPARE_ROUNDS];
};

/* --- computed -------------------------------------------------------------- */

/* Positions that are read until one is not set. */
static double positions_read(const struct baleen_table *table, double n_keys)
{
	double unset = exp(-(double)table->n_hashes * n_keys / baleen_table_bits(table));

	return (1 - pow(1 - unset, table->n_hashes)) / unset;
}

/* Both buckets of a cuckoo table, one block of a Bloom table; of a quotient table the block of
 * the slot, since clusters that reach into another are few.
 */
static double lines_of(const struct baleen_table *table, double n_keys)
{
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO: return 2;
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING: return positions_read(table, n_keys);
	default: return 1;
	}
}

/* A binary search ends among the 8 keys of a line. Unsuccessful probing at load a reads (1 +
 * 1 / (1 - a)^2) / 2 slots (Knuth, The Art of Computer Programming, volume 3, 6.4).
 */
static double baseline_lines(enum baleen_baseline_kind kind, double n_keys, double fpp)
{
	double probes = (1 + 1 / pow(1 - BALEEN_COMPACT_LOAD, 2)) / 2;

	switch (kind) {
	case BALEEN_BASELINE_SORTED: return fmax(1, log2(n_keys / 8) + 1);
	/* The head, and of one key on average the key and its link. */
	case BALEEN_BASELINE_DICTIONARY: return 3;
	default: return 1 + (probes * baleen_compact_bytes(n_keys, fpp) - 1) / 64;
	}
}

static void compute_kind(u64 n_keys, double fpp, u32 kind, struct baleen_compared *compared)
{
	static const struct baleen_shape any;
	struct baleen_image image = { .key_spec = BALEEN_KEY_FLOW };
	struct baleen_cost cost;

	baleen_cost_plan(BALEEN_TUPLE, kind, n_keys, fpp, &any, &cost);
	*compared = (struct baleen_compared){ .name = baleen_kind_name(kind), .err = cost.err };
	if (cost.err) {
		compared->error = cost.error;
		return;
	}
	image.table[BALEEN_TUPLE] = cost.table;
	compared->bits_per_key = cost.bits_per_key;
	compared->fpp = cost.fpp;
	compared->can = baleen_table_can(&image, BALEEN_TUPLE);
	compared->lines = lines_of(&cost.table, n_keys);
}

/* A signature that is forgotten may have been that of another key, too. */
static void compute_baseline(u64 n_keys, double fpp, enum baleen_baseline_kind kind,
			     struct baleen_compared *compared)
{
	bool is_compact = kind == BALEEN_BASELINE_COMPACT;
	u32 bits = 8 * baleen_compact_bytes(n_keys, fpp);

	*compared = (struct baleen_compared){
		.name = baleen_baseline_name(kind),
		.bits_per_key = baleen_baseline_bits(kind, n_keys, fpp),
		.fpp = is_compact ? n_keys / exp2(bits) : 0,
		.can = BALEEN_NEED_MERGE | BALEEN_NEED_RESIZE |
		       (is_compact ? 0 : BALEEN_NEED_DELETE),
		.lines = baseline_lines(kind, n_keys, fpp),
	};
}

/* --- measured -------------------------------------------------------------- */

/* Time of this process: others that have the processor meanwhile do not count. */
static u64 processor_ns(void)
{
	return baleen_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static double ns_since(u64 start_ns, u64 n)
{
	return (double)(processor_ns() - start_ns) / n;
}

static int run_filter(struct contest *contest, u32 i, u32 round, struct baleen_error *error)
{
	struct baleen_compared *compared = &contest->compared[i];
	struct baleen_filter filter;
	u64 start_ns, n_found = 0;
	int err = baleen_sample_filter(&contest->table[i], &filter, error);

	if (err)
		return err;
	start_ns = processor_ns();
	compared->n_measured = baleen_sample_insert(&filter, 0, contest->n_keys);
	contest->insert_ns[i][round] = ns_since(start_ns, contest->n_keys);
	start_ns = processor_ns();
	for (u32 k = 0; k < N_LOOKUPS; k++)
		n_found += baleen_filter_test(&filter, &contest->other[k]);
	contest->lookup_ns[i][round] = ns_since(start_ns, N_LOOKUPS);
	sink = n_found;
	if (!round)
		compared->measured_fpp = baleen_sample_rate(&filter);
	baleen_filter_free(&filter);
	return 0;
}

static double baseline_rate(const struct baleen_baseline *set)
{
	u64 n_found = 0;

	for (u64 i = 0; i < BALEEN_SAMPLE_OTHERS; i++)
		n_found +=
			baleen_baseline_test(set,
					     baleen_sample_key(BALEEN_SAMPLE_FIRST_OTHER + i).hi);
	return (double)n_found / BALEEN_SAMPLE_OTHERS;
}

static int run_baseline(struct contest *contest, u32 i, u32 round, struct baleen_error *error)
{
	struct baleen_compared *compared = &contest->compared[i];
	struct baleen_baseline set;
	u64 start_ns = processor_ns(), n_found = 0;

	if (baleen_baseline_make(i - BALEEN_N_PLANNED, contest->key, contest->n_keys, contest->fpp,
				 &set))
		return baleen_no_memory(error);
	contest->insert_ns[i][round] = ns_since(start_ns, contest->n_keys);
	start_ns = processor_ns();
	for (u32 k = 0; k < N_LOOKUPS; k++)
		n_found += baleen_baseline_test(&set, contest->other[k].hi);
	contest->lookup_ns[i][round] = ns_since(start_ns, N_LOOKUPS);
	sink = n_found;
	compared->n_measured = contest->n_keys;
	if (!round)
		compared->measured_fpp = baseline_rate(&set);
	baleen_baseline_free(&set);
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *figures)
{
	qsort(figures, BALEEN_COMPARE_ROUNDS, sizeof(*figures), compare_doubles);
	return figures[BALEEN_COMPARE_ROUNDS / 2];
}

static int run_rounds(struct contest *contest, struct baleen_error *error)
{
	int err = 0;

	for (u32 round = 0; round < BALEEN_COMPARE_ROUNDS; round++)
		for (u32 i = 0; i < BALEEN_COMPARED && !err; i++)
			if (!contest->compared[i].err)
				err = i < BALEEN_N_PLANNED ? run_filter(contest, i, round, error) :
							     run_baseline(contest, i, round, error);
	for (u32 i = 0; i < BALEEN_COMPARED && !err; i++) {
		contest->compared[i].lookup_ns = median(contest->lookup_ns[i]);
		contest->compared[i].insert_ns = median(contest->insert_ns[i]);
	}
	return err;
}

/* The same kinds for the keys that are measured. */
static void plan_tables(struct contest *contest)
{
	static const struct baleen_shape any;

	for (u32 i = 0; i < BALEEN_N_PLANNED; i++) {
		struct baleen_compared *compared = &contest->compared[i];
		struct baleen_cost cost;

		baleen_cost_plan(BALEEN_TUPLE, baleen_planned_kinds[i], contest->n_keys,
				 contest->fpp, &any, &cost);
		contest->table[i] = cost.table;
		if (!compared->err && cost.err) {
			compared->err = cost.err;
			compared->error = cost.error;
		}
	}
}

static int make_keys(struct contest *contest, struct baleen_error *error)
{
	contest->key = reallocarray(NULL, contest->n_keys, sizeof(*contest->key));
	contest->other = reallocarray(NULL, N_LOOKUPS, sizeof(*contest->other));
	if (!contest->key || !contest->other)
		return baleen_no_memory(error);
	for (u64 i = 0; i < contest->n_keys; i++)
		contest->key[i] = baleen_sample_key(i).hi;
	for (u64 i = 0; i < N_LOOKUPS; i++)
		contest->other[i] = baleen_sample_key(BALEEN_SAMPLE_FIRST_OTHER + i);
	return 0;
}

int baleen_compare_kinds(u64 n_keys, double fpp, struct baleen_compared compared[BALEEN_COMPARED],
			 struct baleen_error *error)
{
	struct contest contest = { .fpp = fpp, .compared = compared };
	int err;

	contest.n_keys = n_keys < BALEEN_COMPARE_KEYS ? n_keys : BALEEN_COMPARE_KEYS;
	for (u32 i = 0; i < BALEEN_N_PLANNED; i++)
		compute_kind(n_keys, fpp, baleen_planned_kinds[i], &compared[i]);
	for (u32 i = 0; i < BALEEN_N_BASELINES; i++)
		compute_baseline(n_keys, fpp, i, &compared[BALEEN_N_PLANNED + i]);
	plan_tables(&contest);
	err = make_keys(&contest, error);
	if (!err)
		err = run_rounds(&contest, error);
	free(contest.key);
	free(contest.other);
	return err;
}
