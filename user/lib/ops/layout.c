// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A list split into what goes into each table, and the plan of these tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/plan.h"
#include "ops/layout.h"
#include "util/memory.h"

/* --- split ---------------------------------------------------------------- */

void baleen_layout_free(struct baleen_layout *parts)
{
	free(parts->groups.run);
	free(parts->members);
	free(parts->hosts6);
	baleen_tree_free(&parts->tree);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		free(parts->kept[domain].hash);
}

u64 baleen_layout_count(const struct baleen_layout *parts)
{
	u64 n = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		n += parts->n[domain];
	return n;
}

/* The domain's share of the capacity, at least what is to be stored. IPv4
 * intervals count as hosts here: who listed them may add more.
 */
static u64 share(const struct baleen_layout *parts, u32 domain, u64 capacity)
{
	u64 n_keys = baleen_layout_count(parts), n_net4 = parts->list->n_net4, n = parts->n[domain],
	    part;

	if (capacity <= n_keys || !(n_keys + n_net4))
		return n;
	part = n + (domain == BALEEN_IP4 ? n_net4 : 0);
	part = (double)capacity * part / (n_keys + n_net4);
	return part > n ? part : n;
}

/* Intervals and hosts of a list in one ascending order. */
static int make_groups(const struct baleen_list *list, struct baleen_runs *runs)
{
	size_t i = 0, j = 0;

	runs->run = malloc((list->n_net4 + list->n_ip4) * sizeof(*runs->run));
	if (!runs->run)
		return -ENOMEM;
	while (i < list->n_net4 || j < list->n_ip4) {
		struct baleen_run *run = &runs->run[runs->n++];

		run->state = BALEEN_GROUP_ALL;
		if (j == list->n_ip4 || (i < list->n_net4 && list->net4[i].first < list->ip4[j])) {
			run->first = list->net4[i].first;
			run->last = list->net4[i++].last;
		} else {
			run->first = list->ip4[j];
			run->last = list->ip4[j++];
		}
	}
	return 0;
}

static int plan_groups(struct baleen_layout *parts, const struct baleen_build_options *options)
{
	struct baleen_host_cost cost = { .kind = options->kind, .fpp = options->fpp };
	int err = make_groups(parts->list, &parts->groups);

	if (err)
		return err;
	parts->groups_plan = baleen_directory_plan(&parts->groups, BALEEN_IP4_GROUPS, &cost);
	parts->n[BALEEN_IP4] = parts->groups_plan.n_hosts;
	if (!parts->n[BALEEN_IP4])
		return 0;
	parts->members = malloc(parts->n[BALEEN_IP4] * sizeof(*parts->members));
	if (!parts->members)
		return -ENOMEM;
	baleen_directory_hosts(&parts->groups, &parts->groups_plan, parts->members);
	parts->ip4 = parts->members;
	return 0;
}

static int hosts_as_prefixes(struct baleen_layout *parts)
{
	const struct baleen_list *list = parts->list;

	parts->hosts6 = malloc(list->n_ip6 * sizeof(*parts->hosts6));
	if (!parts->hosts6)
		return -ENOMEM;
	for (size_t i = 0; i < list->n_ip6; i++)
		parts->hosts6[i] = (struct baleen_prefix6){ .hi = list->ip6[i].hi,
							    .lo = list->ip6[i].lo,
							    .length = 128 };
	parts->entries = (struct baleen_entries){ parts->hosts6, list->n_ip6 };
	parts->n[BALEEN_IP6] = 0;
	return 0;
}

static int make_tree(struct baleen_layout *parts, u64 max_bytes)
{
	u64 max_blocks = BALEEN_TREE_LINES;
	struct baleen_bounds bounds;
	int err = baleen_bounds_make(&parts->entries, &bounds);

	if (err)
		return err;
	if (max_bytes && max_bytes / BALEEN_BLOCK_BYTES < max_blocks)
		max_blocks = max_bytes / BALEEN_BLOCK_BYTES;
	err = baleen_tree_make(&bounds, max_blocks, &parts->tree);
	baleen_bounds_free(&bounds);
	return err;
}

static int split(const struct baleen_list *list, const struct baleen_build_options *options,
		 struct baleen_layout *parts)
{
	const struct baleen_image *like = options->like;
	int err = 0;

	*parts = (struct baleen_layout){
		.list = list,
		.n = { [BALEEN_IP4] = list->n_ip4, [BALEEN_IP6] = list->n_ip6 },
		.ip4 = list->ip4,
		.entries = { list->prefix6, list->n_prefix6 },
	};
	/* The keys of strings are made for each filter anew. */
	for (size_t i = 0; !list->strings.n && i < list->n_key; i++)
		parts->n[list->key[i].domain]++;
	parts->n[BALEEN_TUPLE] += list->strings.n;
	if (list->n_net4)
		err = plan_groups(parts, options);
	if (!err && list->n_ip6 && like && like->table[BALEEN_IP6_STEMS].kind)
		err = hosts_as_prefixes(parts);
	if (!err && parts->entries.n)
		err = make_tree(parts, options->max_bytes);
	return err;
}

/* The new filter takes over the hashes of @keep. */
static int keep_hashes(const struct baleen_filter *keep, struct baleen_layout *parts,
		       struct baleen_error *error)
{
	static const u32 hashed[] = { BALEEN_IP6, BALEEN_TUPLE };
	int err = 0;

	if (keep->image.table[BALEEN_IP6].kind && parts->entries.n)
		return baleen_fail(error, EOPNOTSUPP,
				   "its IPv6 hosts are stored as hashes, which prefixes cannot "
				   "stand beside: build it again from its lists");
	for (u32 i = 0; i < sizeof(hashed) / sizeof(hashed[0]) && !err; i++) {
		err = baleen_hashes_read(keep, hashed[i], &parts->kept[hashed[i]], error);
		parts->n[hashed[i]] += parts->kept[hashed[i]].n;
	}
	return err;
}

static int refuse_bytes(const struct baleen_build_options *options, u64 n_bytes,
			struct baleen_error *error)
{
	char what[BALEEN_NAME_BYTES + sizeof("rule ''")];

	snprintf(what, sizeof(what), "rule '%.*s'", BALEEN_NAME_BYTES - 1,
		 options->name ? options->name : "");
	return baleen_memory_refuse(what, n_bytes, options->max_bytes, error);
}

int baleen_layout_make(const struct baleen_list *list, const struct baleen_build_options *options,
		       struct baleen_layout *parts, struct baleen_error *error)
{
	int err = split(list, options, parts);
	u64 n_bytes = parts->tree.n_blocks * BALEEN_BLOCK_BYTES;

	if (err == -E2BIG && options->max_bytes && n_bytes > options->max_bytes)
		return refuse_bytes(options, n_bytes, error);
	if (err == -E2BIG)
		return baleen_fail(error, E2BIG, "too many IPv6 prefixes for one filter");
	if (err)
		return baleen_no_memory(error);
	return options->keep ? keep_hashes(options->keep, parts, error) : 0;
}

/* --- plan ----------------------------------------------------------------- */

/* Can the table of the image to be like be taken? How many hosts there are in
 * a list with IPv4 prefixes is up to the plan: that they find no room is no
 * fault of the list. IPv6 prefixes stand beside no hosts.
 */
static bool is_fit(const struct baleen_layout *parts, u32 domain, const struct baleen_table *table)
{
	if (domain == BALEEN_IP4 && parts->groups.n)
		return parts->n[domain] <= baleen_table_capacity(table) && table->kind;
	if (domain == BALEEN_IP6 && parts->entries.n)
		return false;
	return table->kind != BALEEN_KIND_NONE;
}

/* The domain's table, without its place; of kind BALEEN_KIND_NONE where none
 * is needed.
 */
static int plan_table(const struct baleen_layout *parts, const struct baleen_build_options *options,
		      double fpp, u32 domain, struct baleen_table *table,
		      struct baleen_error *error)
{
	const struct baleen_image *like = options->like;
	u64 n;

	if (like && is_fit(parts, domain, &like->table[domain])) {
		*table = like->table[domain];
		return 0;
	}
	n = share(parts, domain, options->capacity);
	return n ? baleen_plan_shaped(domain, options->kind, n, fpp, &options->shape, table,
				      error) :
		   0;
}

/* An empty list makes a filter in which nothing is. */
static int plan_empty(const struct baleen_build_options *options, double fpp,
		      struct baleen_image *image, struct baleen_error *error)
{
	u32 domain = baleen_spec_domain(image->key_spec, false);

	for (u32 i = 0; i < BALEEN_N_DOMAINS; i++)
		if (image->table[i].kind != BALEEN_KIND_NONE)
			return 0;
	return baleen_plan_shaped(domain, options->kind, options->capacity ? options->capacity : 1,
				  fpp, &options->shape, &image->table[domain], error);
}

static int plan_tables(const struct baleen_layout *parts,
		       const struct baleen_build_options *options, double fpp,
		       struct baleen_image *image, struct baleen_error *error)
{
	struct baleen_table *table = image->table;
	int err = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE && !err; domain++)
		err = plan_table(parts, options, fpp, domain, &table[domain], error);
	if (parts->groups.n)
		table[BALEEN_IP4_GROUPS] =
			baleen_directory_table(&parts->groups_plan, BALEEN_IP4_GROUPS);
	if (!parts->entries.n || err)
		return err;
	table[BALEEN_IP6_STEMS] = baleen_tree_table(&parts->tree);
	return baleen_plan_table(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, parts->entries.n, 0,
				 &table[BALEEN_IP6_ENTRIES], error);
}

static const char *set_key(const struct baleen_layout *parts, u32 key_spec,
			   struct baleen_image *image)
{
	const struct baleen_list *list = parts->list;

	image->key_spec = key_spec;
	if (list->strings.n)
		return key_spec == BALEEN_KEY_STRING ? NULL : "the list has strings, not keys";
	if (list->n_key ? baleen_spec_is_address(key_spec) ||
				  (list->key_spec && list->key_spec != key_spec) :
			  !baleen_spec_is_address(key_spec) &&
				  (list->n_ip4 || list->n_net4 || list->n_ip6 || list->n_prefix6))
		return "the list has other keys than the filter";
	return NULL;
}

static void set_name(struct baleen_image *image, const char *name)
{
	if (name)
		snprintf(image->name, sizeof(image->name), "%s", name);
}

int baleen_layout_plan(const struct baleen_layout *parts,
		       const struct baleen_build_options *options, double fpp,
		       struct baleen_image *image, struct baleen_error *error)
{
	u32 key_spec = options->like ? options->like->key_spec : options->key_spec;
	struct baleen_build_options shaped = *options;
	const char *reason;
	int err;

	memset(image, 0, sizeof(*image));
	if (options->like ? options->like->flags & BALEEN_FLAG_COPIES : options->copies)
		image->flags = BALEEN_FLAG_COPIES;
	reason = set_key(parts, key_spec, image);
	if (reason)
		return baleen_fail(error, EINVAL, "%s", reason);
	/* A list that was made in memory may say nothing of this. */
	image->n_listed = parts->list->n_listed;
	if (parts->list->n_covered <= image->n_listed)
		image->n_covered = parts->list->n_covered;
	set_name(image, options->name);
	shaped.shape.has_copies = options->copies;
	err = baleen_shape_for_keys(key_spec, options->kind, &shaped.shape, error);
	if (!err)
		err = plan_tables(parts, &shaped, fpp, image, error);
	if (!err)
		err = plan_empty(&shaped, fpp, image, error);
	if (!err)
		err = baleen_tables_place(image, error);
	if (!err && options->max_bytes &&
	    (u64)image->n_blocks * BALEEN_BLOCK_BYTES > options->max_bytes)
		err = refuse_bytes(options, (u64)image->n_blocks * BALEEN_BLOCK_BYTES, error);
	return err;
}
