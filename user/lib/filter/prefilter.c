// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The IPv4 addresses of several rules in one table, which packets ask before them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "filter/cuckoo_fill.h"
#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/prefilter.h"
#include "list/list_set.h"

/* Slots of all tables: to read, sort and fill so many takes a second. */
#define MOST_SLOTS (1u << 24)

/* A change in place that finds no room builds all anew. */
#define LEAST_ROOM 1024

/* Seeds that are tried; at this load the first one does. */
#define MAX_SEEDS 8

#define CHUNK 1024

bool baleen_prefilter_covers(const struct baleen_image *image)
{
	const struct baleen_table *table = &image->table[BALEEN_IP4];

	if (!baleen_spec_is_address(image->key_spec) || image->table[BALEEN_IP4_GROUPS].kind ||
	    image->flags & BALEEN_FLAG_COPIES)
		return false;
	return !table->kind ||
	       (table->kind == BALEEN_KIND_CUCKOO && baleen_table_is_fast_path(table) &&
		baleen_table_is_exact(image, BALEEN_IP4));
}

/* --- addresses ------------------------------------------------------------ */

static int collect(const struct baleen_filter *filter, struct baleen_list *list)
{
	struct baleen_hashes hashes = { 0 };
	int err = baleen_hashes_read(filter, BALEEN_IP4, &hashes, NULL);

	for (size_t i = 0; i < hashes.n && !err; i++)
		err = baleen_list_add_ip4(list,
					  baleen_unpermute32(&filter->image.seed, hashes.hash[i]));
	free(hashes.hash);
	return err;
}

static int collect_all(const struct baleen_filter *filters, u32 n, struct baleen_list *list)
{
	u64 n_slots = 0;
	int err = 0;

	for (u32 i = 0; i < n; i++) {
		const struct baleen_table *table = &filters[i].image.table[BALEEN_IP4];

		n_slots += table->n_blocks * (8ull * BALEEN_BLOCK_BYTES) /
			   (table->kind ? table->slot_bits : 1);
	}
	if (n_slots > MOST_SLOTS)
		return -E2BIG;
	for (u32 i = 0; i < n && !err; i++)
		err = collect(&filters[i], list);
	/* Sorts, and drops what several of them have. */
	return err ? err : baleen_list_finish(list);
}

/* --- fill ----------------------------------------------------------------- */

struct source {
	const struct baleen_list *list;
	const struct baleen_seed *seed;
};

static void permute(const void *data, size_t at, size_t n, u64 *hash)
{
	const struct source *source = data;

	for (size_t i = 0; i < n; i++)
		hash[i] = baleen_permute32(source->seed, source->list->ip4[at + i]);
}

static int insert(const struct baleen_list *list, struct baleen_filter *filter)
{
	struct baleen_key keys[CHUNK];
	size_t n, n_done;
	int err = 0;

	for (size_t at = 0; at < list->n_ip4 && !err; at += n) {
		n = list->n_ip4 - at < CHUNK ? list->n_ip4 - at : CHUNK;
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct baleen_key){ .domain = BALEEN_IP4,
						       .ip4 = list->ip4[at + i] };
		err = baleen_filter_insert(filter, keys, n, &n_done);
	}
	return err;
}

static int fill(const struct baleen_list *list, struct baleen_filter *filter)
{
	const struct source source = { list, &filter->image.seed };
	const struct baleen_fill all = { list->n_ip4, permute, &source };
	int err = baleen_cuckoo_fill(filter, BALEEN_IP4, &all);

	return err == -EOPNOTSUPP ? insert(list, filter) : err;
}

static int build_once(const struct baleen_list *list, struct baleen_image *image,
		      struct baleen_filter *prefilter)
{
	struct baleen_filter built;
	int err;

	if (getrandom(image->seed.word, sizeof(image->seed.word), 0) != sizeof(image->seed.word))
		return -errno;
	baleen_seed_expand(&image->seed);
	err = baleen_filter_alloc(&built, image, NULL);
	if (err)
		return err;
	err = fill(list, &built);
	if (err)
		baleen_filter_free(&built);
	else
		*prefilter = built;
	return err;
}

int baleen_prefilter_build(const struct baleen_filter *filters, u32 n,
			   struct baleen_filter *prefilter)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };
	int err = collect_all(filters, n, &list);

	if (!err)
		err = baleen_plan_table(BALEEN_IP4, BALEEN_KIND_CUCKOO,
					list.n_ip4 + list.n_ip4 / 4 + LEAST_ROOM, 0,
					&image.table[BALEEN_IP4], NULL);
	if (!err)
		err = baleen_tables_place(&image, NULL);
	if (!err)
		err = -ENOSPC;
	for (int i = 0; i < MAX_SEEDS && err == -ENOSPC; i++)
		err = build_once(&list, &image, prefilter);
	baleen_list_free(&list);
	return err;
}
