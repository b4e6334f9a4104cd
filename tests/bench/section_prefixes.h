/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IPv4 prefixes: what Baleen chooses, what it could have chosen, and the LPM
 * trie of the kernel.
 */
#ifndef BENCH_SECTION_PREFIXES_H
#define BENCH_SECTION_PREFIXES_H

#include "table.h"

#define LISTS "../shared/data/lists/"
#define LAYOUT_MAX_BYTES (64u << 20)

static const struct net_lengths lengths_even4[] = { { 16, 32, 1000 } };

/* The rows that are compared, as load_prefixes() and peers_add() make them. */
enum {
	PREFIXES_BALEEN = 1,
	PREFIXES_TRIE = 7,
};

static void add_groups(struct bench *bench, const char *name, const struct nets *nets, u32 bits)
{
	struct baleen_filter filter;

	if (!filter_of_groups(nets, bits, LAYOUT_MAX_BYTES, &filter)) {
		bench_add(bench, name, JUDGE_BLIND);
		return;
	}
	bench_add_drop(bench, name, &filter);
	baleen_filter_free(&filter);
}

static void load_prefixes(struct bench *bench, struct column *column)
{
	struct peers peers = { .nets = column->nets };
	struct baleen_filter filter;

	filter_of_nets(column->nets, &filter);
	peers.n_floor_blocks = filter.image.n_blocks;
	column->group_bits = filter.image.table[BALEEN_IP4_GROUPS].group_bits;
	bench_add_drop(bench, "Baleen", &filter);
	baleen_filter_free(&filter);
	add_groups(bench, "  with groups of /16", column->nets, 16);
	add_groups(bench, "  with groups of /24", column->nets, 24);
	peers_add(bench, &peers);
}

/* A list that is not there leaves a column without figures. */
static struct column *add_file(struct section *section, bool is_ip6, const char *name,
			       struct nets *nets)
{
	struct column *column = &section->column[section->n_columns++];
	char path[128];

	snprintf(path, sizeof(path), LISTS "%s.%s.cidr", name, is_ip6 ? "ipv6" : "ipv4");
	*column = (struct column){ .is_ip6 = is_ip6, .nets = nets };
	snprintf(column->name, sizeof(column->name), "%s", name);
	column->is_missing = !nets_read(path, is_ip6, nets);
	if (column->is_missing)
		printf("\nno column %s: there is no %s\n", name, path);
	else
		column->n = nets->n;
	return column;
}

static struct column *add_random(struct section *section, bool is_ip6, const char *suffix, u32 n,
				 const struct net_lengths *lengths, struct nets *nets)
{
	struct column *column = &section->column[section->n_columns++];
	char size[24];

	*nets = nets_draw(is_ip6, n, lengths);
	*column = (struct column){ .is_ip6 = is_ip6, .n = n, .nets = nets };
	name_of_size(n, size);
	snprintf(column->name, sizeof(column->name), "%.12s%.10s", size, suffix);
	return column;
}

static void columns_free(struct section *section)
{
	for (u32 i = 0; i < section->n_columns; i++) {
		for (u32 mix = 0; mix < MAX_MIXES; mix++)
			free(section->column[i].pool[mix]);
		nets_free(section->column[i].nets);
	}
}

static double figure_group_bits(const struct section *section, const struct column *column, u32 mix,
				u32 row)
{
	return column->group_bits;
}

static void run_prefixes(const struct effort *effort, const u32 *sizes, u32 n_sizes)
{
	static struct nets nets[MAX_COLUMNS];
	static struct section section;

	section = (struct section){
		.title = "IPv4 prefixes",
		.load = load_prefixes,
		.n_mixes = 2,
		.mix = { "any source", "half of them inside" },
		.n_ratios = 1,
		.ratio = { { PREFIXES_TRIE, PREFIXES_BALEEN } },
	};
	printf("\nrandom IPv4 prefixes: 53 %% /24, 37 %% /16 to /23, 10 %% /25 to /32; even: as many "
	       "of each of /16 to /32\n");
	add_file(&section, false, "country-us", &nets[0]);
	for (u32 i = 0; i < n_sizes; i++)
		add_random(&section, false, "", sizes[i], lengths_ip4, &nets[i + 1]);
	add_random(&section, false, " even", 100000, lengths_even4, &nets[n_sizes + 1]);
	for (u32 i = 0; i < section.n_columns; i++) {
		struct column *column = &section.column[i];

		if (column->is_missing)
			continue;
		column->pool[0] = pool_make(column->nets, NULL, draw_any, WANT_ANY);
		column->pool[1] = pool_make(column->nets, NULL, draw_half, WANT_ANY);
	}
	section_run(&section, effort);
	print_figures(&section, "bits of a group's number, as Baleen chose", 0, 0,
		      figure_group_bits, 0);
	columns_free(&section);
}

#endif /* BENCH_SECTION_PREFIXES_H */
