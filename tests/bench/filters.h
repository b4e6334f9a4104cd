/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters under test, made of what the benchmark lists.
 */
#ifndef BENCH_FILTERS_H
#define BENCH_FILTERS_H

#include "filter/directory_table.h"
#include "nets.h"
#include "ops/build.h"

#define BLOOM_FPP 0.002

static void filter_build(const struct baleen_list *list, u32 key_spec, u32 kind,
			 struct baleen_filter *filter)
{
	const struct baleen_build_options options = {
		.name = "bench",
		.key_spec = key_spec,
		.kind = kind,
		.fpp = kind == BALEEN_KIND_BLOOM ? BLOOM_FPP : 0,
	};
	struct baleen_error error;

	if (baleen_build(list, &options, filter, &error))
		errx(1, "%s", error.text);
}

/* The hosts with the indices from @first on. */
static void list_of_hosts(bool is_ip6, u32 first, u32 n, struct baleen_list *list)
{
	*list = (struct baleen_list){ .n_listed = n };
	if (is_ip6) {
		list->ip6 = malloc(n * sizeof(*list->ip6));
		list->n_ip6 = list->room_ip6 = n;
	} else {
		list->ip4 = malloc(n * sizeof(*list->ip4));
		list->n_ip4 = list->room_ip4 = n;
	}
	if (!list->ip4 && !list->ip6)
		err(1, "memory");
	for (u32 i = 0; is_ip6 && i < n; i++)
		list->ip6[i] =
			(struct baleen_ip6){ bench_ip6_hi(first + i), bench_ip6_lo(first + i) };
	for (u32 i = 0; !is_ip6 && i < n; i++)
		list->ip4[i] = bench_ip4(first + i);
	if (baleen_list_finish(list))
		errx(1, "memory");
}

static void filter_of_hosts(bool is_ip6, u32 first, u32 n, u32 kind, struct baleen_filter *filter)
{
	struct baleen_list list;

	list_of_hosts(is_ip6, first, n, &list);
	filter_build(&list, BALEEN_KEY_SRC, kind, filter);
	baleen_list_free(&list);
}

static void filter_of_nets(const struct nets *nets, struct baleen_filter *filter)
{
	struct baleen_list list;

	nets_to_list(nets, &list);
	filter_build(&list, BALEEN_KEY_SRC, BALEEN_KIND_CUCKOO, filter);
	baleen_list_free(&list);
}

/* --- other layouts of IPv4 prefixes, to be compared with the one chosen ---- */

static int compare_run(const void *a, const void *b)
{
	const struct baleen_run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static struct baleen_runs runs_of_list(const struct baleen_list *list)
{
	struct baleen_runs runs = { .n = list->n_net4 + list->n_ip4 };
	struct baleen_run *run = malloc((runs.n + 1) * sizeof(*run));

	if (!run)
		err(1, "memory");
	runs.run = run;
	for (size_t i = 0; i < list->n_net4; i++)
		*run++ = (struct baleen_run){ list->net4[i].first, list->net4[i].last,
					      BALEEN_GROUP_ALL };
	for (size_t i = 0; i < list->n_ip4; i++)
		*run++ = (struct baleen_run){ list->ip4[i], list->ip4[i], BALEEN_GROUP_ALL };
	qsort(runs.run, runs.n, sizeof(*runs.run), compare_run);
	return runs;
}

static void set_geometry(const struct baleen_directory_plan *plan, struct baleen_image *image)
{
	struct baleen_table *hosts = &image->table[BALEEN_IP4];
	struct baleen_table *groups = &image->table[BALEEN_IP4_GROUPS];
	struct baleen_error error;
	u32 next = BALEEN_HEADER_BLOCKS;

	if (plan->n_hosts) {
		if (baleen_plan_table(BALEEN_IP4, BALEEN_KIND_CUCKOO, plan->n_hosts, 0, hosts,
				      &error))
			errx(1, "%s", error.text);
		hosts->first_block = next;
		next += hosts->n_blocks;
	}
	*groups = baleen_directory_table(plan, BALEEN_IP4_GROUPS);
	groups->first_block = next;
	groups->leaf_block = next + baleen_directory_lines(plan->group_bits);
	image->n_blocks = next + groups->n_blocks;
}

static void insert_hosts(struct baleen_filter *filter, const struct baleen_runs *runs,
			 const struct baleen_directory_plan *plan)
{
	u32 *ip4 = malloc((plan->n_hosts + 1) * sizeof(*ip4));
	size_t n_done;

	if (!ip4)
		err(1, "memory");
	baleen_directory_hosts(runs, plan, ip4);
	for (u64 i = 0; i < plan->n_hosts; i++) {
		const struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = ip4[i] };

		if (baleen_filter_insert(filter, &key, 1, &n_done))
			errx(1, "no room for a host");
	}
	free(ip4);
}

/**
 * filter_of_groups() - a directory with groups of a width that nobody would choose
 * @nets: an IPv4 list
 * @group_bits: 8 to 24
 * @max_bytes: the most it may take
 * @filter: filled in
 *
 * Return: false when it would take more.
 */
static bool filter_of_groups(const struct nets *nets, u32 group_bits, u64 max_bytes,
			     struct baleen_filter *filter)
{
	const struct baleen_host_cost cost = { .kind = BALEEN_KIND_CUCKOO };
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_directory_plan plan;
	struct baleen_error error;
	struct baleen_runs runs;
	struct baleen_list list;
	bool fits;

	nets_to_list(nets, &list);
	runs = runs_of_list(&list);
	plan = baleen_directory_plan_groups(&runs, BALEEN_IP4_GROUPS, &cost, group_bits);
	fits = plan.n_blocks * BALEEN_BLOCK_BYTES <= max_bytes;
	if (fits) {
		for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
			image.seed.word[i] = baleen_mix64(i + 1);
		baleen_seed_expand(&image.seed);
		set_geometry(&plan, &image);
		if (baleen_filter_alloc(filter, &image, &error))
			errx(1, "%s", error.text);
		insert_hosts(filter, &runs, &plan);
		baleen_directory_fill(filter, BALEEN_IP4_GROUPS, &runs, &plan);
		baleen_filter_seal(filter);
	}
	free(runs.run);
	baleen_list_free(&list);
	return fits;
}

#define BITMAP_BLOCKS ((1u << 24) / 512)

static void add_hosts(struct baleen_list *list, u32 first, u32 n)
{
	if (list->n_ip4 + n > list->room_ip4) {
		list->room_ip4 = 2 * list->room_ip4 + n;
		list->ip4 = reallocarray(list->ip4, list->room_ip4, sizeof(*list->ip4));
		if (!list->ip4)
			err(1, "memory");
	}
	for (u32 i = 0; i < n; i++)
		list->ip4[list->n_ip4++] = first + i;
}

/**
 * bitmap_of_nets() - a bit for each /24 that is all listed, and a filter of the rest
 * @nets: an IPv4 list
 * @bitmap: BITMAP_BLOCKS of zeros, filled in
 * @rest: filled in
 */
static void bitmap_of_nets(const struct nets *nets, struct baleen_block *bitmap,
			   struct baleen_filter *rest)
{
	struct baleen_list hosts = {};

	for (u32 i = 0; i < nets->n_spans; i++) {
		u64 last = nets->span[i].last, next;

		for (u64 at = nets->span[i].first; at <= last; at = next) {
			u32 group = at >> 8;

			next = (at | 255) + 1;
			if (!(at & 255) && next <= last + 1) {
				bitmap[group >> 9].word[group >> 6 & 7] |= 1ull << (group & 63);
				continue;
			}
			if (next > last + 1)
				next = last + 1;
			add_hosts(&hosts, at, next - at);
		}
	}
	if (baleen_list_finish(&hosts))
		errx(1, "memory");
	filter_build(&hosts, BALEEN_KEY_SRC, BALEEN_KIND_CUCKOO, rest);
	baleen_list_free(&hosts);
}

#endif /* BENCH_FILTERS_H */
