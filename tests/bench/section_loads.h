/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random loads: how low can a table of one line a key come, and one of two?
 */
#ifndef BENCH_SECTION_LOADS_H
#define BENCH_SECTION_LOADS_H

#include "table.h"

static void load_loads(struct bench *bench, struct column *column)
{
	struct peers peers = {};
	struct baleen_filter filter;

	bench->n_listed = column->n;
	filter_of_hosts(false, 0, column->n, BALEEN_KIND_CUCKOO, &filter);
	peers.n_floor_blocks = filter.image.n_blocks;
	bench_add_drop(bench, "Baleen, cuckoo", &filter);
	baleen_filter_free(&filter);
	peers_add(bench, &peers);
	set_peer(bench, bench_add(bench, "two random loads", JUDGE_BLIND),
		 bench->peers->progs.peer_floor_two, NULL);
	set_peer(bench, bench_add(bench, "two random loads of one page", JUDGE_BLIND),
		 bench->peers->progs.peer_floor_page, NULL);
	set_peer(bench, bench_add(bench, "two, and 128 additions", JUDGE_BLIND),
		 bench->peers->progs.peer_floor_busy, NULL);
}

static void run_loads(const struct effort *effort)
{
	static const u32 hosts[] = { 500000, 2000000, 8000000, 32000000 };
	static struct section section;

	section = (struct section){
		.title = "Random loads, by hosts",
		.load = load_loads,
		.n_mixes = 1,
		.mix = { "none listed" },
		.n_columns = sizeof(hosts) / sizeof(hosts[0]),
	};
	for (u32 i = 0; i < section.n_columns; i++) {
		struct column *column = &section.column[i];

		*column = (struct column){ .n = hosts[i] };
		name_of_size(hosts[i], column->name);
	}
	section_run(&section, effort);
}

#endif /* BENCH_SECTION_LOADS_H */
