/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A list split into what goes into each table of a filter, and the plan of
 * these tables.
 */
#ifndef BALEEN_LAYOUT_H
#define BALEEN_LAYOUT_H

#include "filter/directory_table.h"
#include "filter/hashes.h"
#include "filter/prefix_table.h"
#include "ops/build_options.h"

/**
 * struct baleen_layout - a list, as it goes into the tables
 * @list: the list
 * @n: keys of the tables of hosts and keys, by domain
 * @ip4: hosts of the table BALEEN_IP4: those of the list, or @members
 * @groups: IPv4 addresses of the directory; none without prefixes
 * @groups_plan: its layout
 * @members: hosts of a list with prefixes, and what of these is in groups with
 *           few members
 * @entries: IPv6 prefixes: those of the list, or @hosts6
 * @hosts6: IPv6 hosts as prefixes
 * @tree: made of them
 * @kept: hashes that another filter leaves to this one, by domain
 */
struct baleen_layout {
	const struct baleen_list *list;
	u64 n[BALEEN_TUPLE + 1];
	const u32 *ip4;
	struct baleen_runs groups;
	struct baleen_directory_plan groups_plan;
	u32 *members;
	struct baleen_entries entries;
	struct baleen_prefix6 *hosts6;
	struct baleen_tree tree;
	struct baleen_hashes kept[BALEEN_TUPLE + 1];
};

/**
 * baleen_layout_make() - split a list
 * @list: a finished list, which has to stay
 * @options: the filter to build
 * @parts: filled in; to be freed also on failure
 * @error: filled in on failure
 *
 * Return: 0, -ENOMEM, -E2BIG, -ERANGE, or what reading the hashes of options->keep fails with.
 */
int baleen_layout_make(const struct baleen_list *list, const struct baleen_build_options *options,
		       struct baleen_layout *parts, struct baleen_error *error);

/**
 * baleen_layout_free() - free what was allocated
 * @parts: made, or all zeros
 */
void baleen_layout_free(struct baleen_layout *parts);

/**
 * baleen_layout_count() - hosts and keys; those in prefixes do not count
 * @parts: made
 *
 * Return: how many.
 */
u64 baleen_layout_count(const struct baleen_layout *parts);

/**
 * baleen_layout_plan() - the header of a filter that holds them, but for the seed
 * @parts: made
 * @options: the filter to build
 * @fpp: false positive rate to plan for, which may be stricter than asked for
 * @image: filled in: tables in their places, key, name
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a list of other keys or a rate out of reach; -E2BIG; -ERANGE.
 */
int baleen_layout_plan(const struct baleen_layout *parts,
		       const struct baleen_build_options *options, double fpp,
		       struct baleen_image *image, struct baleen_error *error);

#endif /* BALEEN_LAYOUT_H */
