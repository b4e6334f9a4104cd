/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv6 prefixes: outside and inside of the stems, and the longest way there is.
 */
#ifndef BENCH_SECTION_IP6_H
#define BENCH_SECTION_IP6_H

#include "section_prefixes.h"

static const struct net_lengths lengths_bgp6[] = {
	{ 32, 32, 120 }, { 36, 36, 50 }, { 40, 40, 100 }, { 44, 44, 120 }, { 48, 48, 460 },
	{ 33, 35, 30 },	 { 37, 39, 30 }, { 41, 43, 40 },  { 45, 47, 50 },
};
static const struct net_lengths lengths_bans6[] = { { 64, 64, 1000 } };
static const struct net_lengths lengths_upper6[] = { { 33, 64, 1000 } };
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

/* Beside the table of random prefixes: lengths as BGP announces them; bans, which are
 * /64; and all lengths past a stem that the upper half decides.
 */
static void run_lengths(const struct effort *effort, u32 n)
{
	static struct nets nets[3];
	static struct section section;
	struct column *column;

	section = (struct section){
		.title = "IPv6 prefixes by length",
		.n_mixes = 3,
		.mix = { "any source", "in a stem, under no prefix", "listed" },
	};
	set_rows(&section);
	printf("\nBGP: 46 %% /48, 12 %% /32, 12 %% /44, 10 %% /40, 5 %% /36, the rest between\n");
	add_random(&section, true, " BGP", n, lengths_bgp6, &nets[0]);
	add_random(&section, true, " /64", n, lengths_bans6, &nets[1]);
	add_random(&section, true, " /33-/64", n, lengths_upper6, &nets[2]);
	for (u32 i = 0; i < section.n_columns; i++) {
		column = &section.column[i];
		column->pool[0] = pool_make(column->nets, NULL, draw_any, WANT_ANY);
		column->pool[1] = pool_make(column->nets, NULL, draw_in_stem, WANT_UNLISTED);
		column->pool[2] = pool_make(column->nets, NULL, draw_inside, WANT_LISTED);
	}
	section_run(&section, effort);
	columns_free(&section);
}

static void add_deepest(struct section *section, const char *suffix, u32 n,
			const struct net_lengths *lengths, bool is_dense, struct nets *nets)
{
	struct column *column = add_random(section, true, suffix, n, lengths, nets);
	struct baleen_filter filter;

	if (is_dense) {
		nets_free(nets);
		*nets = nets_draw_dense(n, lengths);
	}
	filter_of_nets(column->nets, &filter);
	column->pool[0] = pool_make(column->nets, &filter, draw_deepest, WANT_LISTED);
	column->pool[1] = pool_make(column->nets, &filter, draw_deepest, WANT_UNLISTED);
	baleen_filter_free(&filter);
}

/* The longest way through lists of all lengths: of upper halves, of these in one /32, and of
 * lower halves, too.
 */
static void run_deepest(const struct effort *effort, u32 n)
{
	static struct nets nets[3];
	static struct section section;

	section = (struct section){
		.title = "IPv6, the longest way",
		.n_mixes = 2,
		.mix = { "listed", "under no prefix" },
	};
	set_rows(&section);
	add_deepest(&section, " /33-/64", n, lengths_upper6, false, &nets[0]);
	add_deepest(&section, " in a /32", n, lengths_upper6, true, &nets[1]);
	add_deepest(&section, " /33-/128", n, lengths_all6, false, &nets[2]);
	section_run(&section, effort);
	columns_free(&section);
}

#endif /* BENCH_SECTION_IP6_H */
