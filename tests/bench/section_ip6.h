/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv6 prefixes: outside and inside of the stems, and the longest way there is.
 */
#ifndef BENCH_SECTION_IP6_H
#define BENCH_SECTION_IP6_H

#include "section_prefixes.h"

static const struct net_lengths lengths_all6[] = { { 33, 128, 1000 } };

static void load_ip6(struct bench *bench, struct column *column)
{
	struct peers peers = { .nets = column->nets };
	struct baleen_filter filter;

	filter_of_nets(column->nets, &filter);
	peers.n_floor_blocks = filter.image.n_blocks;
	bench_add_drop(bench, "Baleen", &filter);
	baleen_filter_free(&filter);
	peers_add(bench, &peers);
}

/* The rows that are compared, as load_ip6() and peers_add() make them. */
enum {
	IP6_BALEEN = 1,
	IP6_TRIE = 4,
};

static void set_rows(struct section *section)
{
	section->load = load_ip6;
	section->n_ratios = 1;
	section->ratio[0] = (struct ratio){ IP6_TRIE, IP6_BALEEN };
}

static void run_ip6(const struct effort *effort, const u32 *sizes, u32 n_sizes)
{
	static struct nets nets[MAX_COLUMNS];
	static struct section section;

	section = (struct section){
		.title = "IPv6 prefixes",
		.n_mixes = 3,
		.mix = { "under no stem", "in a stem, under no prefix", "listed" },
	};
	set_rows(&section);
	printf("\nrandom IPv6 prefixes: 47 %% /48, 14 %% /32, 11 %% /44, 9 %% /40, the rest /36, "
	       "/46, /47, /56, /64; four in a stem\n");
	add_file(&section, true, "country-us", &nets[0]);
	for (u32 i = 0; i < n_sizes; i++)
		add_random(&section, true, "", sizes[i], lengths_ip6, &nets[i + 1]);
	for (u32 i = 0; i < section.n_columns; i++) {
		struct column *column = &section.column[i];

		if (column->is_missing)
			continue;
		column->pool[0] = pool_make(column->nets, NULL, draw_out_of_stems, WANT_UNLISTED);
		column->pool[1] = pool_make(column->nets, NULL, draw_in_stem, WANT_UNLISTED);
		column->pool[2] = pool_make(column->nets, NULL, draw_inside, WANT_LISTED);
	}
	section_run(&section, effort);
	columns_free(&section);
}

/* Every length past /32 occurs, so the search tree is as deep as it can be, and
 * each source takes all of it.
 */
static void run_deepest(const struct effort *effort, const u32 *sizes, u32 n_sizes)
{
	static struct nets nets[MAX_COLUMNS];
	static struct section section;

	section = (struct section){
		.title = "IPv6, 8 probes each",
		.n_mixes = 2,
		.mix = { "listed", "under no prefix" },
	};
	set_rows(&section);
	for (u32 i = 0; i < n_sizes; i++) {
		struct column *column =
			add_random(&section, true, "", sizes[i], lengths_all6, &nets[i]);
		struct baleen_filter filter;

		filter_of_nets(column->nets, &filter);
		column->pool[0] = pool_make(column->nets, &filter, draw_deepest, WANT_LISTED);
		column->pool[1] = pool_make(column->nets, &filter, draw_deepest, WANT_UNLISTED);
		baleen_filter_free(&filter);
	}
	section_run(&section, effort);
	columns_free(&section);
}

#endif /* BENCH_SECTION_IP6_H */
