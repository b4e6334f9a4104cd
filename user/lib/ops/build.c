// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list of keys to a filter. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

#include "filter/cuckoo_fill.h"
#include "filter/estimate.h"
#include "filter/filter_strings.h"
#include "ops/build.h"
#include "ops/layout.h"

/* Keys converted to canonical form at a time: they stay in the L1 cache. */
#define CHUNK 1024

/* Seeds tried before a build gives up. Random sets took the first seed in each
 * of 500 builds of 1,000 entries at 95 %; strided sets took three at most.
 */
#define MAX_SEEDS 64

/* Seeds by which keys find no room, or err at more than is allowed, before a table gets larger
 * than it was planned. Of classic filters that are planned for just that rate each second one
 * errs at more.
 */
#define SEEDS_WITHOUT_ROOM 8
#define SEEDS_ABOVE_RATE 16

/* --- fill ----------------------------------------------------------------- */

static size_t next_strings(const struct baleen_strings *strings, const struct baleen_filter *filter,
			   size_t *at, struct baleen_key *keys)
{
	struct baleen_string string;
	size_t n = 0;

	while (n < CHUNK && baleen_strings_next(strings, at, &string))
		keys[n++] = baleen_string_key(filter, string);
	return n;
}

/* The next keys of one domain, at most CHUNK of them. */
static size_t next_keys(const struct baleen_layout *parts, const struct baleen_filter *filter,
			u32 domain, size_t *at, struct baleen_key *keys)
{
	const struct baleen_list *list = parts->list;
	size_t n = 0;

	if (domain == BALEEN_TUPLE && list->strings.n)
		return next_strings(&list->strings, filter, at, keys);
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

/* Puts all keys of one domain into an empty table in one pass. */
static int fill_sorted(const struct baleen_layout *parts, u32 domain, struct baleen_filter *filter,
		       u64 *n_fit)
{
	const struct baleen_hashes *kept = &parts->kept[domain];
	const struct baleen_seed *seed = &filter->image.seed;
	size_t room = parts->n[domain], at = 0, n;
	struct baleen_hashes all = { .hash = malloc((room + 1) * sizeof(*all.hash)) };
	struct baleen_key keys[CHUNK];
	int err;

	if (!all.hash)
		return -ENOMEM;
	for (; all.n < kept->n; all.n++)
		all.hash[all.n] = kept->hash[all.n];
	while ((n = next_keys(parts, filter, domain, &at, keys)))
		for (size_t i = 0; i < n && all.n < room; i++)
			all.hash[all.n++] = domain == BALEEN_IP4 ?
						    baleen_permute32(seed, keys[i].ip4) :
						    baleen_hash64(seed, &keys[i]);
	err = baleen_hashes_insert(filter, domain, &all);
	if (!err)
		*n_fit += all.n;
	free(all.hash);
	return err;
}

/* Keys of one domain, one behind the other in an array. */
struct indexed {
	const struct baleen_layout *parts;
	const struct baleen_seed *seed;
	u32 domain;
};

static void hash_indexed(const void *data, size_t at, size_t n, u64 *hash)
{
	const struct indexed *indexed = data;
	const struct baleen_list *list = indexed->parts->list;

	for (size_t i = 0; i < n; i++) {
		struct baleen_key key = { .domain = indexed->domain };

		if (indexed->domain == BALEEN_IP4) {
			hash[i] = baleen_permute32(indexed->seed, indexed->parts->ip4[at + i]);
		} else if (indexed->domain == BALEEN_IP6) {
			key.hi = list->ip6[at + i].hi;
			key.lo = list->ip6[at + i].lo;
			hash[i] = baleen_hash64(indexed->seed, &key);
		} else {
			hash[i] = baleen_hash64(indexed->seed, &list->key[at + i]);
		}
	}
}

/* Puts all keys of one domain into an empty table by all threads. */
static int fill_at_once(const struct baleen_layout *parts, u32 domain, struct baleen_filter *filter,
			u64 *n_fit)
{
	const struct indexed indexed = { parts, &filter->image.seed, domain };
	const struct baleen_fill fill = { parts->n[domain], hash_indexed, &indexed };
	int err;

	if (parts->kept[domain].n || parts->list->strings.n ||
	    (domain > BALEEN_IP6 && parts->n[domain] != parts->list->n_key))
		return -EOPNOTSUPP;
	err = baleen_kind_ops(filter->image.table[domain].kind)->fill(filter, domain, &fill);
	if (!err)
		*n_fit += fill.n;
	return err;
}

/* Inserts all keys of one domain; adds to *n_fit how many found room. */
static int fill_domain(const struct baleen_layout *parts, u32 domain, struct baleen_filter *filter,
		       u64 *n_fit)
{
	struct baleen_key keys[CHUNK];
	const struct baleen_kind_ops *ops = baleen_kind_ops(filter->image.table[domain].kind);
	size_t at = 0, n, n_done;
	int err = 0;

	/* Where they do not fit, or memory does not suffice, one by one tells how many. */
	if (parts->n[domain] && ops->sorts && !fill_sorted(parts, domain, filter, n_fit))
		return 0;
	if (parts->n[domain] && ops->fill && !fill_at_once(parts, domain, filter, n_fit))
		return 0;
	if (parts->kept[domain].n)
		err = baleen_hashes_insert(filter, domain, &parts->kept[domain]);
	while (!err && (n = next_keys(parts, filter, domain, &at, keys))) {
		err = baleen_filter_insert(filter, keys, n, &n_done);
		*n_fit += n_done;
	}
	return err;
}

/* Fills every table of keys, also when one is full: *n_fit tells of all. */
static int fill_keys(const struct baleen_layout *parts, struct baleen_filter *filter, u64 *n_fit)
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

static void fill_prefixes(const struct baleen_layout *parts, struct baleen_filter *filter)
{
	if (parts->groups.n) {
		baleen_directory_fill(filter, BALEEN_IP4_GROUPS, &parts->groups,
				      &parts->groups_plan);
		filter->image.table[BALEEN_IP4_GROUPS].n_entries =
			baleen_filter_count(filter, BALEEN_IP4_GROUPS);
	}
	if (!parts->entries.n)
		return;
	baleen_tree_fill(filter, &parts->tree);
	baleen_entries_fill(filter, &parts->entries);
}

static int build_once(const struct baleen_layout *parts, const struct baleen_image *image,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_filter built;
	u64 n_fit;
	int err;

	err = baleen_strings_check(&parts->list->strings, image, error);
	if (!err)
		err = baleen_filter_alloc(&built, image, error);
	if (err)
		return err;
	if (fill_keys(parts, &built, &n_fit))
		err = baleen_fail(error, ENOSPC, "%llu keys do not fit: %llu did",
				  (unsigned long long)baleen_layout_count(parts),
				  (unsigned long long)n_fit);
	if (err) {
		baleen_filter_free(&built);
		return err;
	}
	fill_prefixes(parts, &built);
	baleen_filter_seal(&built);
	*filter = built;
	return 0;
}

/* --- build ---------------------------------------------------------------- */

static bool is_public(const struct baleen_image *image)
{
	u32 forms = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		forms |= image->table[domain].form;
	return forms;
}

/* The seed that was given, the only one that there is, or a new one. */
static int choose_seed(const struct baleen_build_options *options, struct baleen_image *image,
		       struct baleen_error *error)
{
	struct baleen_seed *seed = &image->seed;

	if (is_public(image)) {
		*seed = (struct baleen_seed){ .word = { options->shape.hash_seed } };
		baleen_seed_expand(seed);
		return 0;
	}
	if (options->seed) {
		*seed = *options->seed;
		return 0;
	}
	if (getrandom(seed->word, sizeof(seed->word), 0) != sizeof(seed->word))
		return baleen_fail(error, errno, "no random seed: %m");
	baleen_seed_expand(seed);
	return 0;
}

/* Keys of a family that the image to be like knows nothing of. */
static int check_like(const struct baleen_layout *parts, const struct baleen_image *like,
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

/* Room for the keys of a few unlucky buckets, where seed and buckets are given. */
static void give_stash(struct baleen_image *like)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		struct baleen_table *table = &like->table[domain];

		if (table->kind == BALEEN_KIND_CUCKOO && !table->n_stash && !table->form) {
			table->n_stash = BALEEN_STASH_SLOTS;
			table->n_blocks++;
		}
	}
}

static int build_like(const struct baleen_layout *parts, const struct baleen_build_options *options,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options planned = *options;
	struct baleen_image like = *options->like, image;
	int err = check_like(parts, options->like, error);

	if (err)
		return err;
	/* Tables that the image to be like does not have are exact. */
	planned.kind = BALEEN_KIND_CUCKOO;
	planned.shape = (struct baleen_shape){ 0 };
	planned.like = &like;
	for (int i = 0; i < 2; i++) {
		err = baleen_layout_plan(parts, &planned, 0, &image, error);
		if (err)
			return err;
		image.seed = like.seed;
		err = build_once(parts, &image, filter, error);
		if (err != -ENOSPC)
			return err;
		give_stash(&like);
	}
	return err;
}

/* Room for keys that find none, unless the number of buckets was asked for. */
static void give_room(const struct baleen_layout *parts, struct baleen_build_options *options)
{
	if (!options->shape.n_buckets)
		options->capacity = fmax(options->capacity, baleen_layout_count(parts)) * 1.05 + 1;
}

static int build_kept(const struct baleen_layout *parts, const struct baleen_build_options *options,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options roomier = *options;
	struct baleen_image image;
	int err = -ENOSPC;

	for (int i = 0; i < MAX_SEEDS && err == -ENOSPC; i++) {
		err = baleen_layout_plan(parts, &roomier, options->fpp, &image, error);
		if (err)
			return err;
		image.seed = options->keep->image.seed;
		err = build_once(parts, &image, filter, error);
		give_room(parts, &roomier);
	}
	return err;
}

/* Whether another seed sets other bits. */
static bool is_keyed(const struct baleen_image *image)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (baleen_table_is_bit_array(&image->table[domain]) &&
		    image->table[domain].hash > BALEEN_HASH_KEYED)
			return false;
	return true;
}

/* The highest rate of the tables in which keys share bits; the plan settles the rate
 * of the others.
 */
static double worst_measured(const struct baleen_filter *filter)
{
	double worst = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (baleen_kind_ops(filter->image.table[domain].kind)->measure)
			worst = fmax(worst, baleen_filter_fpp(filter, domain));
	return worst;
}

/* A shape that was asked for keeps the rate that comes out; so do filters of one seed and one
 * plan, which shall merge.
 */
static bool may_err(const struct baleen_build_options *options, const struct baleen_filter *built)
{
	return !options->fpp || options->shape.n_bits || options->shape.remainder_bits ||
	       options->seed || is_public(&built->image) || worst_measured(built) <= options->fpp;
}

/* One seed may leave a key without room, or put more keys than usual into few Bloom blocks: a
 * new one then. Where no seed helps, or one is given, more room; for Bloom kinds a plan as much
 * stricter as the rate came out too high.
 */
static int build_new(const struct baleen_layout *parts, const struct baleen_build_options *options,
		     struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options roomier = *options;
	struct baleen_image planned;
	double fpp = options->fpp;
	u32 n_full = 0, n_high = 0;
	int err = 0;

	for (int i = 0; i < MAX_SEEDS; i++) {
		struct baleen_filter built;
		struct baleen_image image;

		err = baleen_layout_plan(parts, &roomier, fpp, &image, error);
		if (!err)
			err = choose_seed(options, &image, error);
		if (err)
			return err;
		if (!i)
			planned = image;
		err = build_once(parts, &image, &built, error);
		if (err == -ENOSPC) {
			if (options->seed || is_public(&image) ||
			    ++n_full % SEEDS_WITHOUT_ROOM == 0)
				give_room(parts, &roomier);
			continue;
		}
		if (err)
			return err;
		if (may_err(options, &built)) {
			*filter = built;
			if (options->planned)
				*options->planned = planned;
			return 0;
		}
		if (++n_high % SEEDS_ABOVE_RATE == 0 || !is_keyed(&image))
			fpp *= options->fpp / worst_measured(&built);
		baleen_filter_free(&built);
		err = baleen_fail(error, EINVAL, "a false positive rate of %g is out of reach",
				  options->fpp);
	}
	return err;
}

int baleen_build(const struct baleen_list *list, const struct baleen_build_options *options,
		 struct baleen_filter *filter, struct baleen_error *error)
{
	u64 n_keys = list->n_ip4 + list->n_ip6 + (list->strings.n ? list->strings.n : list->n_key);
	struct baleen_layout parts;
	int err;

	if (options->capacity && n_keys > options->capacity)
		return baleen_fail(error, ENOSPC, "%llu keys do not fit: the capacity is %llu",
				   (unsigned long long)n_keys,
				   (unsigned long long)options->capacity);
	err = baleen_layout_make(list, options, &parts, error);
	if (!err && options->like)
		err = build_like(&parts, options, filter, error);
	else if (!err && options->keep)
		err = build_kept(&parts, options, filter, error);
	else if (!err)
		err = build_new(&parts, options, filter, error);
	baleen_layout_free(&parts);
	return err;
}
