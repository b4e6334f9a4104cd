/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts in every kind of table that there is.
 */
#ifndef BENCH_SECTION_KINDS_H
#define BENCH_SECTION_KINDS_H

#include "table.h"

/**
 * struct kind_row - a table that is timed
 * @name: what is printed
 * @kind: enum baleen_kind
 * @fpp: false positive rate asked for
 * @shape: geometry asked for
 * @judge: of IPv4 addresses; of others it is JUDGE_LOSSY
 */
struct kind_row {
	const char *name;
	u32 kind;
	double fpp;
	struct baleen_shape shape;
	enum judge judge;
};

static const struct kind_row kind_rows[] = {
	{ "cuckoo", BALEEN_KIND_CUCKOO, 0, {}, JUDGE_EXACT },
	{ "cuckoo, a stash", BALEEN_KIND_CUCKOO, 0, { .has_stash = true }, JUDGE_EXACT },
	{ "cuckoo, 2 slots of 12 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 12, .bucket_slots = 2 },
	  JUDGE_LOSSY },
	{ "cuckoo, 3 slots of 11 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 11, .bucket_slots = 3 },
	  JUDGE_LOSSY },
	{ "cuckoo, 4 slots of 12 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 12, .bucket_slots = 4 },
	  JUDGE_LOSSY },
	{ "cuckoo, 4 slots of 17 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 17, .bucket_slots = 4 },
	  JUDGE_LOSSY },
	{ "cuckoo, 4 slots of 19 bits, three loads",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 19, .bucket_slots = 4 },
	  JUDGE_LOSSY },
	{ "cuckoo, 4 slots of 20 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 20, .bucket_slots = 4 },
	  JUDGE_LOSSY },
	{ "cuckoo, 4 semi-sorted slots of 13 bits",
	  BALEEN_KIND_CUCKOO,
	  .1,
	  { .slot_bits = 13, .is_semi_sorted = true },
	  JUDGE_LOSSY },
	{ "Bloom, error 0.2 %", BALEEN_KIND_BLOOM, BLOOM_FPP, {}, JUDGE_LOSSY },
	{ "counting, error 0.2 %", BALEEN_KIND_COUNTING, BLOOM_FPP, {}, JUDGE_LOSSY },
	{ "classic, error 0.2 %", BALEEN_KIND_CLASSIC, BLOOM_FPP, {}, JUDGE_LOSSY },
	{ "classic, murmur3, error 0.2 %",
	  BALEEN_KIND_CLASSIC,
	  BLOOM_FPP,
	  { .hash = BALEEN_HASH_MURMUR3 },
	  JUDGE_LOSSY },
	{ "quotient", BALEEN_KIND_QUOTIENT, 0, {}, JUDGE_EXACT },
	{ "quotient, error 0.2 %", BALEEN_KIND_QUOTIENT, BLOOM_FPP, {}, JUDGE_LOSSY },
};

static void load_kinds(struct bench *bench, struct column *column)
{
	struct baleen_filter filter;
	struct baleen_error error;
	struct baleen_list list;

	bench->n_listed = column->n;
	list_of_hosts(column->is_ip6, 0, column->n, &list);
	for (u32 i = 0; i < sizeof(kind_rows) / sizeof(*kind_rows); i++) {
		const struct kind_row *row = &kind_rows[i];
		const struct baleen_build_options options = { .name = "bench",
							      .key_spec = BALEEN_KEY_SRC,
							      .kind = row->kind,
							      .fpp = row->fpp,
							      .shape = row->shape };

		if (baleen_build(&list, &options, &filter, &error))
			errx(1, "%s: %s", row->name, error.text);
		bench_add_drop(bench, row->name, &filter)->judge =
			column->is_ip6 ? JUDGE_LOSSY : row->judge;
		baleen_filter_free(&filter);
	}
	baleen_list_free(&list);
}

static void run_kinds(const struct effort *effort)
{
	static struct section section;

	section = (struct section){
		.title = "kinds",
		.load = load_kinds,
		.n_mixes = 2,
		.mix = { "none listed", "half listed" },
		.n_columns = 2,
		.column = { { .name = "1 M IPv4", .n = 1000000, .share = { 0, .5 } },
			    { .name = "1 M IPv6",
			      .is_ip6 = true,
			      .n = 1000000,
			      .share = { 0, .5 } } },
	};
	section_run(&section, effort);
}

#endif /* BENCH_SECTION_KINDS_H */
