/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Directories of 32-bit numbers: planned for runs of numbers, filled, read back.
 *
 * The layout is that of include/baleen/directory.h. IPv4 addresses and IPv6
 * stems differ in the width of a leaf only, and in that a group of addresses
 * may have its few members in the table of hosts.
 */
#ifndef BALEEN_DIRECTORY_TABLE_H
#define BALEEN_DIRECTORY_TABLE_H

#include "filter/filter.h"
#include "list/list.h"

/**
 * struct baleen_run - numbers side by side that are in one state
 * @first: lowest
 * @last: highest
 * @state: enum baleen_group, not BALEEN_GROUP_NONE; of an IPv4 address
 *         BALEEN_GROUP_ALL
 */
struct baleen_run {
	u32 first;
	u32 last;
	u32 state;
};

/**
 * struct baleen_runs - content of a directory
 * @run: in ascending order, disjoint; what is in none of them is in state
 *       BALEEN_GROUP_NONE
 * @n: how many
 */
struct baleen_runs {
	struct baleen_run *run;
	size_t n;
};

/**
 * struct baleen_host_cost - what it costs to have addresses in the table of hosts
 * @kind: BALEEN_KIND_CUCKOO or BALEEN_KIND_BLOOM
 * @fpp: rate of a Bloom table
 */
struct baleen_host_cost {
	u32 kind;
	double fpp;
};

/**
 * struct baleen_directory_plan - how a directory is to be laid out
 * @group_bits: bits of a group's number, 8 to 24
 * @max_hosts: groups with at most so many members, but not all, have them in
 *             the table of hosts; the others have leaves
 * @n_leaves: how many have leaves
 * @n_hosts: addresses in the table of hosts
 * @n_blocks: number of blocks of the directory and the table of hosts together
 */
struct baleen_directory_plan {
	u32 group_bits;
	u32 max_hosts;
	u64 n_leaves;
	u64 n_hosts;
	u64 n_blocks;
};

/**
 * baleen_directory_plan_groups() - the smallest layout with groups of one width
 * @runs: content of the directory
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 * @cost: cost of hosts; NULL for stems, which have none
 * @group_bits: 8 to 24
 *
 * One sweep over the runs; every limit of hosts a group that makes a
 * difference is compared.
 *
 * Return: the layout.
 */
struct baleen_directory_plan baleen_directory_plan_groups(const struct baleen_runs *runs,
							  u32 domain,
							  const struct baleen_host_cost *cost,
							  u32 group_bits);

/**
 * baleen_directory_plan() - the smallest layout of all
 * @runs: content of the directory
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 * @cost: of hosts; NULL for stems
 *
 * Return: the layout.
 */
struct baleen_directory_plan baleen_directory_plan(const struct baleen_runs *runs, u32 domain,
						   const struct baleen_host_cost *cost);

/**
 * baleen_directory_table() - the table of a layout
 * @plan: the layout
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 *
 * Return: kind and geometry; first_block and leaf_block are 0.
 */
struct baleen_table baleen_directory_table(const struct baleen_directory_plan *plan, u32 domain);

/**
 * baleen_directory_fill() - write lines and leaves
 * @filter: has an empty table of this layout in its place
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 * @runs: content of the directory
 * @plan: the layout
 */
void baleen_directory_fill(struct baleen_filter *filter, u32 domain, const struct baleen_runs *runs,
			   const struct baleen_directory_plan *plan);

/**
 * baleen_directory_hosts() - the addresses that belong into the table of hosts
 * @runs: content of the directory
 * @plan: the layout
 * @ip4: filled in with plan->n_hosts addresses in ascending order
 */
void baleen_directory_hosts(const struct baleen_runs *runs,
			    const struct baleen_directory_plan *plan, u32 *ip4);

/**
 * baleen_directory_next() - the next addresses side by side in the directory
 * @filter: has a table BALEEN_IP4_GROUPS, maybe live or damaged
 * @number: where to look from, 0 to 2^32; set behind what was found
 * @net: the addresses, as many as there are side by side; what is in the table
 *       of hosts is not among them
 *
 * Return: false when there are no more.
 */
bool baleen_directory_next(const struct baleen_filter *filter, u64 *number,
			   struct baleen_net4 *net);

/**
 * baleen_net4_prefix() - the widest prefix that begins an interval
 * @net: the interval
 *
 * Return: its length, 0 to 32.
 */
u32 baleen_net4_prefix(const struct baleen_net4 *net);

/**
 * baleen_directory_count() - the fewest prefixes that say the same
 * @filter: has a table BALEEN_IP4_GROUPS, maybe live or damaged
 *
 * Return: how many; the table of hosts is left out.
 */
u64 baleen_directory_count(const struct baleen_filter *filter);

#endif /* BALEEN_DIRECTORY_TABLE_H */
