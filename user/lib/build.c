// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list of keys to a filter. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#include "build.h"

/* Keys converted to canonical form at a time: they stay in the L1 cache. */
#define CHUNK 512

/* Seeds tried before a build gives up. Random sets took the first seed in each
 * of 500 builds of 1,000 entries at 95 %; strided sets took three at most.
 */
#define MAX_SEEDS 64

static size_t list_count(const struct baleen_list *list, u32 domain)
{
	return domain == BALEEN_IP4 ? list->n_ip4 : domain == BALEEN_IP6 ? list->n_ip6 : 0;
}

static struct baleen_key list_key(const struct baleen_list *list, u32 domain, size_t i)
{
	if (domain == BALEEN_IP4)
		return (struct baleen_key){ .domain = domain, .ip4 = list->ip4[i] };
	return (struct baleen_key){ .domain = domain,
				    .hi = list->ip6[i].hi,
				    .lo = list->ip6[i].lo };
}

/* The domain's share of the capacity, at least what is listed. */
static u64 share(const struct baleen_list *list, u32 domain, u64 capacity)
{
	u64 n = list_count(list, domain), all = list->n_ip4 + list->n_ip6;

	if (!all)
		return domain == BALEEN_IP4 ? (capacity ? capacity : 1) : 0;
	if (capacity <= all)
		return n;
	return (u64)((double)capacity * n / all);
}

static int plan_image(const struct baleen_list *list, const struct baleen_build_options *options,
		      double fpp, struct baleen_image *image, struct baleen_error *error)
{
	u64 n_keys = list->n_ip4 + list->n_ip6, next = BALEEN_HEADER_BLOCKS;

	if (options->capacity && n_keys > options->capacity)
		return baleen_fail(error, ENOSPC, "%llu keys do not fit: the capacity is %llu",
				   (unsigned long long)n_keys,
				   (unsigned long long)options->capacity);
	memset(image, 0, sizeof(*image));
	image->key_spec = options->key_spec;
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		struct baleen_table *table = &image->table[domain];
		u64 n = share(list, domain, options->capacity);
		int err;

		if (!n)
			continue;
		err = baleen_plan_table(domain, options->kind, n, fpp, table, error);
		if (err)
			return err;
		table->first_block = next;
		next += table->n_blocks;
	}
	if (next > BALEEN_MAX_BLOCKS)
		return baleen_fail(error, E2BIG, "%llu keys are too many for one filter",
				   (unsigned long long)n_keys);
	image->n_blocks = next;
	return 0;
}

static int copy_geometry(const struct baleen_list *list, const struct baleen_image *like,
			 struct baleen_image *image, struct baleen_error *error)
{
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++)
		if (list_count(list, domain) && like->table[domain].kind == BALEEN_KIND_NONE)
			return baleen_fail(error, EINVAL,
					   "the list has %s keys, the image to be like has no "
					   "table for them",
					   domain == BALEEN_IP4 ? "IPv4" : "IPv6");
	*image = *like;
	image->flags = 0;
	return 0;
}

static int new_seed(struct baleen_seed *seed, struct baleen_error *error)
{
	if (getrandom(seed->word, sizeof(seed->word), 0) != sizeof(seed->word))
		return baleen_fail(error, errno, "no random seed: %m");
	baleen_seed_expand(seed);
	return 0;
}

/* Inserts all keys of one domain; *n_done is how many found room. */
static int fill_domain(const struct baleen_list *list, u32 domain, struct baleen_filter *filter,
		       size_t *n_done)
{
	size_t n = list_count(list, domain);
	struct baleen_key keys[CHUNK];

	*n_done = 0;
	while (*n_done < n) {
		size_t n_chunk = n - *n_done < CHUNK ? n - *n_done : CHUNK, done;
		int err;

		for (size_t i = 0; i < n_chunk; i++)
			keys[i] = list_key(list, domain, *n_done + i);
		err = baleen_filter_insert(filter, keys, n_chunk, &done);
		*n_done += done;
		if (err)
			return err;
	}
	return 0;
}

/* Fills every table, also when one is full: *n_fit tells of all. */
static int fill(const struct baleen_list *list, struct baleen_filter *filter, size_t *n_fit)
{
	int result = 0;

	*n_fit = 0;
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		size_t n_done;
		int err = fill_domain(list, domain, filter, &n_done);

		*n_fit += n_done;
		if (err)
			result = err;
	}
	return result;
}

static int build_once(const struct baleen_list *list, const struct baleen_image *image,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_filter built;
	size_t n_fit;
	int err;

	err = baleen_filter_alloc(&built, image, error);
	if (err)
		return err;
	err = fill(list, &built, &n_fit);
	if (err) {
		baleen_filter_free(&built);
		return baleen_fail(error, ENOSPC, "%zu keys do not fit: %zu did",
				   list->n_ip4 + list->n_ip6, n_fit);
	}
	baleen_filter_seal(&built);
	*filter = built;
	return 0;
}

static void set_name(struct baleen_image *image, const char *name)
{
	memset(image->name, 0, sizeof(image->name));
	if (name)
		snprintf(image->name, sizeof(image->name), "%s", name);
}

static int build_like(const struct baleen_list *list, const struct baleen_build_options *options,
		      struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_image image;
	int err = copy_geometry(list, options->like, &image, error);

	if (err)
		return err;
	set_name(&image, options->name);
	return build_once(list, &image, filter, error);
}

/* One seed may leave a key without room, or put more keys than usual into few
 * Bloom blocks: a new one then, and for Bloom a plan as much stricter as the
 * rate came out too high.
 */
int baleen_build(const struct baleen_list *list, const struct baleen_build_options *options,
		 struct baleen_filter *filter, struct baleen_error *error)
{
	double fpp = options->fpp;
	int err = 0;

	if (options->like)
		return build_like(list, options, filter, error);
	for (int i = 0; i < MAX_SEEDS; i++) {
		struct baleen_filter built;
		struct baleen_image image;
		double worst;

		err = plan_image(list, options, fpp, &image, error);
		if (!err)
			err = new_seed(&image.seed, error);
		if (err)
			return err;
		set_name(&image, options->name);
		err = build_once(list, &image, &built, error);
		if (err == -ENOSPC)
			continue;
		if (err)
			return err;
		/* What a cuckoo table errs is settled by its plan. */
		worst = options->kind == BALEEN_KIND_BLOOM ? baleen_filter_worst_fpp(&built) : 0;
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
