/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hosts: Baleen's two kinds of tables, the kernel's two kinds of maps.
 */
#ifndef BENCH_SECTION_HOSTS_H
#define BENCH_SECTION_HOSTS_H

#include "table.h"

/* The rows that are compared, as load_hosts() and peers_add() make them. */
enum {
	HOSTS_CUCKOO = 1,
	HOSTS_BPF_BLOOM = 5,
	HOSTS_BPF_HASH = 6,
};

static void load_hosts(struct bench *bench, struct column *column)
{
	struct peers peers = { .n_hosts = column->n };
	struct baleen_filter filter;

	bench->n_listed = column->n;
	filter_of_hosts(column->is_ip6, 0, column->n, BALEEN_KIND_CUCKOO, &filter);
	peers.n_floor_blocks = filter.image.n_blocks;
	bench_add_drop(bench, "Baleen, cuckoo", &filter);
	baleen_filter_free(&filter);
	filter_of_hosts(column->is_ip6, 0, column->n, BALEEN_KIND_BLOOM, &filter);
	bench_add_drop(bench, "Baleen, Bloom, error 0.2 %", &filter)->judge = JUDGE_LOSSY;
	baleen_filter_free(&filter);
	peers_add(bench, &peers);
}

static void run_hosts(const struct effort *effort, bool is_ip6, const u32 *sizes, u32 n_sizes)
{
	static struct section section;

	section = (struct section){
		.title = is_ip6 ? "IPv6 hosts" : "IPv4 hosts",
		.load = load_hosts,
		.n_mixes = 2,
		.mix = { "none listed", "half listed" },
		.n_columns = n_sizes,
		.n_ratios = 2,
		.ratio = { { HOSTS_BPF_HASH, HOSTS_CUCKOO }, { HOSTS_BPF_BLOOM, HOSTS_CUCKOO } },
	};
	for (u32 i = 0; i < n_sizes; i++) {
		struct column *column = &section.column[i];

		*column = (struct column){ .is_ip6 = is_ip6, .n = sizes[i], .share = { 0, .5 } };
		name_of_size(sizes[i], column->name);
	}
	section_run(&section, effort);
}

#endif /* BENCH_SECTION_HOSTS_H */
