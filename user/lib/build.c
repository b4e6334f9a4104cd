// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list of keys to a filter. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "build.h"
#include "hashes.h"
#include "prefix_table.h"

/* Keys converted to canonical form at a time: they stay in the L1 cache. */
#define CHUNK 512

/* Seeds tried before a build gives up. Random sets took the first seed in each
 * of 500 builds of 1,000 entries at 95 %; strided sets took three at most.
 */
#define MAX_SEEDS 64

/**
 * struct parts - a list, as it goes into the tables
 * @list: the list
 * @n: keys of the tables of hosts and keys, by domain
 * @ip4: hosts of the table BALEEN_IP4: those of the list, or @members
 * @groups: IPv4 addresses of the directory; none without prefixes
 * @groups_plan: its layout
 * @members: hosts of a list with prefixes, and what of these is in groups with
 *           few members
 * @entries: IPv6 prefixes: those of the list, or @hosts6
 * @hosts6: IPv6 hosts as prefixes
 * @stems: what they leave to the directory
 * @stems_plan: its layout
 * @kept: hashes that another filter leaves to this one, by domain
 */
struct parts {
	const struct baleen_list *list;
	u64 n[BALEEN_TUPLE + 1];
	const u32 *ip4;
	struct baleen_runs groups;
	struct baleen_directory_plan groups_plan;
	u32 *members;
	struct baleen_entries entries;
	struct baleen_prefix6 *hosts6;
	struct baleen_runs stems;
	struct baleen_directory_plan stems_plan;
	struct baleen_hashes kept[BALEEN_TUPLE + 1];
};

static int no_memory(struct baleen_error *error)
{
	return baleen_fail(error, ENOMEM, "no memory for the plan of a filter");
}

/* --- parts ---------------------------------------------------------------- */

static void parts_free(struct parts *parts)
{
	free(parts->groups.run);
	free(parts->members);
	free(parts->hosts6);
	free(parts->stems.run);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		free(parts->kept[domain].hash);
}

/* Hosts and keys; those in prefixes do not count. */
static u64 count_keys(const struct parts *parts)
{
	u64 n = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		n += parts->n[domain];
	return n;
}

/* The domain's share of the capacity, at least what is to be stored. IPv4
 * intervals count as hosts here: who listed them may add more.
 */
static u64 share(const struct parts *parts, u32 domain, u64 capacity)
{
	u64 n_keys = count_keys(parts), n_net4 = parts->list->n_net4, n = parts->n[domain], part;

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

static int plan_groups(struct parts *parts, const struct baleen_build_options *options)
{
	struct baleen_host_cost cost = { .kind = options->kind, .fpp = options->fpp };
	int err = make_groups(parts->list, &parts->groups);

	if (err)
		return err;
	cost.room = share(parts, BALEEN_IP4, options->capacity);
	if (cost.room <= parts->n[BALEEN_IP4])
		cost.room = 0;
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

static int hosts_as_prefixes(struct parts *parts)
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

static int plan_stems(struct parts *parts)
{
	int err = baleen_stems_make(&parts->entries, &parts->stems);

	if (!err)
		parts->stems_plan = baleen_directory_plan(&parts->stems, BALEEN_IP6_STEMS, NULL);
	return err;
}

/* @parts is to be freed on failure, too. */
static int make_parts(const struct baleen_list *list, const struct baleen_build_options *options,
		      struct parts *parts)
{
	const struct baleen_image *like = options->like;
	int err = 0;

	*parts = (struct parts){
		.list = list,
		.n = { [BALEEN_IP4] = list->n_ip4, [BALEEN_IP6] = list->n_ip6 },
		.ip4 = list->ip4,
		.entries = { list->prefix6, list->n_prefix6 },
	};
	for (size_t i = 0; i < list->n_key; i++)
		parts->n[list->key[i].domain]++;
	if (list->n_net4)
		err = plan_groups(parts, options);
	if (!err && list->n_ip6 && like && like->table[BALEEN_IP6_STEMS].kind)
		err = hosts_as_prefixes(parts);
	if (!err && parts->entries.n)
		err = plan_stems(parts);
	return err;
}

/* What @keep leaves to the new filter. */
static int keep_hashes(const struct baleen_filter *keep, struct parts *parts,
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

/* --- plan ----------------------------------------------------------------- */

/* Can the table of the image to be like be taken? How many hosts there are in
 * a list with IPv4 prefixes is up to the plan: that they find no room is no
 * fault of the list. IPv6 prefixes stand beside no hosts.
 */
static bool is_fit(const struct parts *parts, u32 domain, const struct baleen_table *table)
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
static int plan_table(const struct parts *parts, const struct baleen_build_options *options,
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
	return n ? baleen_plan_table(domain, options->kind, n, fpp, table, error) : 0;
}

/* An empty list makes a filter in which nothing is. */
static int plan_empty(const struct baleen_build_options *options, double fpp,
		      struct baleen_image *image, struct baleen_error *error)
{
	u32 domain = baleen_spec_domain(image->key_spec, false);

	for (u32 i = 0; i < BALEEN_N_DOMAINS; i++)
		if (image->table[i].kind != BALEEN_KIND_NONE)
			return 0;
	return baleen_plan_table(domain, options->kind, options->capacity ? options->capacity : 1,
				 fpp, &image->table[domain], error);
}

static int plan_tables(const struct parts *parts, const struct baleen_build_options *options,
		       double fpp, struct baleen_image *image, struct baleen_error *error)
{
	struct baleen_table *table = image->table;
	u64 n_slots = baleen_prefixes_plan(&parts->entries, image);
	int err = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE && !err; domain++)
		err = plan_table(parts, options, fpp, domain, &table[domain], error);
	if (parts->groups.n)
		table[BALEEN_IP4_GROUPS] =
			baleen_directory_table(&parts->groups_plan, BALEEN_IP4_GROUPS);
	if (!parts->entries.n || err)
		return err;
	table[BALEEN_IP6_STEMS] = baleen_directory_table(&parts->stems_plan, BALEEN_IP6_STEMS);
	if (n_slots)
		err = baleen_plan_table(BALEEN_IP6_PREFIXES, BALEEN_KIND_PREFIXES, n_slots, 0,
					&table[BALEEN_IP6_PREFIXES], error);
	if (!err)
		err = baleen_plan_table(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, parts->entries.n,
					0, &table[BALEEN_IP6_ENTRIES], error);
	return err;
}

/* In the order of the domains, without gaps. */
static int place_tables(struct baleen_image *image, struct baleen_error *error)
{
	u64 next = BALEEN_HEADER_BLOCKS;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table *table = &image->table[domain];

		if (table->kind == BALEEN_KIND_NONE)
			continue;
		if (table->n_blocks > BALEEN_MAX_BLOCKS - next)
			return baleen_fail(error, E2BIG, "the list is too long for one filter");
		table->first_block = next;
		if (table->kind == BALEEN_KIND_DIRECTORY)
			table->leaf_block = next + baleen_directory_lines(table->group_bits);
		next += table->n_blocks;
	}
	image->n_blocks = next;
	return 0;
}

static const char *set_key(const struct parts *parts, u32 key_spec, struct baleen_image *image)
{
	const struct baleen_list *list = parts->list;

	image->key_spec = key_spec;
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

/* Everything but the seed. */
static int plan_image(const struct parts *parts, const struct baleen_build_options *options,
		      double fpp, struct baleen_image *image, struct baleen_error *error)
{
	u32 key_spec = options->like ? options->like->key_spec : options->key_spec;
	const char *reason;
	int err;

	memset(image, 0, sizeof(*image));
	reason = set_key(parts, key_spec, image);
	if (reason)
		return baleen_fail(error, EINVAL, "%s", reason);
	/* A list that was made in memory may say nothing of this. */
	image->n_listed = parts->list->n_listed;
	if (parts->list->n_covered <= image->n_listed)
		image->n_covered = parts->list->n_covered;
	set_name(image, options->name);
	err = plan_tables(parts, options, fpp, image, error);
	if (!err)
		err = plan_empty(options, fpp, image, error);
	return err ? err : place_tables(image, error);
}

/* --- fill ----------------------------------------------------------------- */

/* The next keys of one domain, at most CHUNK of them. */
static size_t next_keys(const struct parts *parts, u32 domain, size_t *at, struct baleen_key *keys)
{
	const struct baleen_list *list = parts->list;
	size_t n = 0;

	if (domain > BALEEN_IP6) {
		for (; n < CHUNK && *at < list->n_key; ++*at)
			if (list->key[*at].domain == domain)
				keys[n++] = list->key[*at];
		return n;
	}
	for (; n < CHUNK && *at < parts->n[domain] - parts->kept[domain].n; ++*at, n++) {
		keys[n] = (struct baleen_key){ .domain = domain };
		if (domain == BALEEN_IP4) {
			keys[n].ip4 = parts->ip4[*at];
		} else {
			keys[n].hi = list->ip6[*at].hi;
			keys[n].lo = list->ip6[*at].lo;
		}
	}
	return n;
}

/* Inserts all keys of one domain; adds to *n_fit how many found room. */
static int fill_domain(const struct parts *parts, u32 domain, struct baleen_filter *filter,
		       u64 *n_fit)
{
	struct baleen_key keys[CHUNK];
	size_t at = 0, n, n_done;
	int err = 0;

	if (parts->kept[domain].n)
		err = baleen_hashes_insert(filter, domain, &parts->kept[domain]);
	while (!err && (n = next_keys(parts, domain, &at, keys))) {
		err = baleen_filter_insert(filter, keys, n, &n_done);
		*n_fit += n_done;
	}
	return err;
}

/* Fills every table of keys, also when one is full: *n_fit tells of all. */
static int fill_keys(const struct parts *parts, struct baleen_filter *filter, u64 *n_fit)
{
	int result = 0;

	*n_fit = 0;
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		int err = fill_domain(parts, domain, filter, n_fit);

		if (err)
			result = err;
	}
	return result;
}

static int fill_prefixes(const struct parts *parts, struct baleen_filter *filter)
{
	if (parts->groups.n) {
		baleen_directory_fill(filter, BALEEN_IP4_GROUPS, &parts->groups,
				      &parts->groups_plan);
		filter->image.table[BALEEN_IP4_GROUPS].n_entries =
			baleen_filter_count(filter, BALEEN_IP4_GROUPS);
	}
	if (!parts->entries.n)
		return 0;
	baleen_directory_fill(filter, BALEEN_IP6_STEMS, &parts->stems, &parts->stems_plan);
	baleen_entries_fill(filter, &parts->entries);
	return filter->image.table[BALEEN_IP6_PREFIXES].kind ?
		       baleen_prefixes_fill(filter, &parts->entries) :
		       0;
}

static int build_once(const struct parts *parts, const struct baleen_image *image,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_filter built;
	u64 n_fit;
	int err;

	err = baleen_filter_alloc(&built, image, error);
	if (err)
		return err;
	if (fill_keys(parts, &built, &n_fit))
		err = baleen_fail(error, ENOSPC, "%llu keys do not fit: %llu did",
				  (unsigned long long)count_keys(parts), (unsigned long long)n_fit);
	else if (fill_prefixes(parts, &built))
		err = baleen_fail(error, ENOSPC, "the IPv6 prefixes do not fit");
	if (err) {
		baleen_filter_free(&built);
		return err;
	}
	baleen_filter_seal(&built);
	*filter = built;
	return 0;
}

/* --- build ---------------------------------------------------------------- */

static int new_seed(struct baleen_seed *seed, struct baleen_error *error)
{
	if (getrandom(seed->word, sizeof(seed->word), 0) != sizeof(seed->word))
		return baleen_fail(error, errno, "no random seed: %m");
	baleen_seed_expand(seed);
	return 0;
}

/* Keys of a family that the image to be like knows nothing of. */
static int check_like(const struct parts *parts, const struct baleen_image *like,
		      struct baleen_error *error)
{
	const struct baleen_table *table = like->table;
	const char *family = NULL;

	if ((parts->n[BALEEN_IP4] || parts->groups.n) && !table[BALEEN_IP4].kind &&
	    !table[BALEEN_IP4_GROUPS].kind)
		family = "IPv4";
	if ((parts->n[BALEEN_IP6] || parts->entries.n) && !table[BALEEN_IP6].kind &&
	    !table[BALEEN_IP6_STEMS].kind)
		family = "IPv6";
	if (parts->n[BALEEN_WORD] && !table[BALEEN_WORD].kind)
		family = "short";
	if (parts->n[BALEEN_TUPLE] && !table[BALEEN_TUPLE].kind)
		family = "long";
	if (!family)
		return 0;
	return baleen_fail(error, EINVAL,
			   "the list has %s keys, the image to be like has no table for them",
			   family);
}

static int build_like(const struct parts *parts, const struct baleen_build_options *options,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options planned = *options;
	struct baleen_image image;
	int err = check_like(parts, options->like, error);

	/* What the image to be like has no table for is exact. */
	planned.kind = BALEEN_KIND_CUCKOO;
	if (!err)
		err = plan_image(parts, &planned, 0, &image, error);
	if (err)
		return err;
	image.seed = options->like->seed;
	return build_once(parts, &image, filter, error);
}

/* The seed is given: what finds no room needs more of it. */
static int build_kept(const struct parts *parts, const struct baleen_build_options *options,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options roomier = *options;
	u64 n_keys = count_keys(parts);
	struct baleen_image image;
	int err = -ENOSPC;

	for (int i = 0; i < MAX_SEEDS && err == -ENOSPC; i++) {
		err = plan_image(parts, &roomier, options->fpp, &image, error);
		if (err)
			return err;
		image.seed = options->keep->image.seed;
		err = build_once(parts, &image, filter, error);
		roomier.capacity = fmax(roomier.capacity, n_keys) * 1.05 + 1;
	}
	return err;
}

/* What the other tables err is settled by their plan. */
static double worst_bloom(const struct baleen_filter *filter)
{
	double worst = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (filter->image.table[domain].kind == BALEEN_KIND_BLOOM)
			worst = fmax(worst, baleen_filter_fpp(filter, domain));
	return worst;
}

/* One seed may leave a key without room, or put more keys than usual into few
 * Bloom blocks: a new one then, and for Bloom a plan as much stricter as the
 * rate came out too high.
 */
static int build_new(const struct parts *parts, const struct baleen_build_options *options,
		     struct baleen_filter *filter, struct baleen_error *error)
{
	double fpp = options->fpp;
	int err = 0;

	for (int i = 0; i < MAX_SEEDS; i++) {
		struct baleen_filter built;
		struct baleen_image image;
		double worst;

		err = plan_image(parts, options, fpp, &image, error);
		if (!err)
			err = new_seed(&image.seed, error);
		if (err)
			return err;
		err = build_once(parts, &image, &built, error);
		if (err == -ENOSPC)
			continue;
		if (err)
			return err;
		worst = worst_bloom(&built);
		if (worst <= options->fpp) {
			*filter = built;
			return 0;
		}
		baleen_filter_free(&built);
		fpp *= options->fpp / worst;
		err = baleen_fail(error, EINVAL, "a false positive rate of %g is out of reach",
				  options->fpp);
	}
	return err;
}

int baleen_build(const struct baleen_list *list, const struct baleen_build_options *options,
		 struct baleen_filter *filter, struct baleen_error *error)
{
	u64 n_keys = list->n_ip4 + list->n_ip6 + list->n_key;
	struct parts parts;
	int err;

	if (options->capacity && n_keys > options->capacity)
		return baleen_fail(error, ENOSPC, "%llu keys do not fit: the capacity is %llu",
				   (unsigned long long)n_keys,
				   (unsigned long long)options->capacity);
	if (make_parts(list, options, &parts))
		err = no_memory(error);
	else if (options->keep)
		err = keep_hashes(options->keep, &parts, error);
	else
		err = 0;
	if (!err && options->like)
		err = build_like(&parts, options, filter, error);
	else if (!err && options->keep)
		err = build_kept(&parts, options, filter, error);
	else if (!err)
		err = build_new(&parts, options, filter, error);
	parts_free(&parts);
	return err;
}
