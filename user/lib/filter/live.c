// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changing the keys of a filter in place, while packet programs read it. */
#include <errno.h>

#include <baleen/inplace.h>

#include "filter/cuckoo_table.h"
#include "filter/kind.h"
#include "filter/live.h"
#include "filter/slots.h"

static bool is_live(const struct baleen_filter *filter)
{
	return filter->is_mapped || filter->image.flags & BALEEN_FLAG_LIVE;
}

static bool has_copies(const struct baleen_filter *filter)
{
	return filter->image.flags & BALEEN_FLAG_COPIES;
}

/* Copies: one that a killed writer left could not be told from one that counts. */
static bool is_built_aside(const struct baleen_filter *filter, const struct baleen_slots *slots)
{
	return is_live(filter) && (has_copies(filter) || !baleen_table_changes_live(slots->table));
}

/* Where there is no way to build it aside with more room, all may move. */
static bool keeps_too_little(const struct baleen_slots *slots, u32 domain)
{
	return !baleen_table_keeps_hashes(slots->table, domain);
}

static bool clear_first(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 i = baleen_slots_find(slots, bucket, slot);

	if (i == slots->n_slots)
		return false;
	baleen_slots_store(slots, bucket, i, 0);
	return true;
}

/* From the stash first: it has the fewest slots. */
static bool del_copy(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	return baleen_stash_del(slots, place->hash) ||
	       clear_first(slots, place->other, place->slot | slots->side) ||
	       clear_first(slots, place->home, place->slot);
}

/* A key in both its places: a move that was not finished. */
static void finish_move(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	u64 side = slots->side;

	if (side && baleen_slots_has(slots, place->other, place->slot | side))
		baleen_slots_clear(slots, place->home, place->slot);
}

int baleen_cuckoo_live_add(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place = baleen_slots_place(&slots, &filter->image.seed, key);
	bool is_new = has_copies(filter);
	struct baleen_search search;
	int err;

	if (is_built_aside(filter, &slots))
		return -EOPNOTSUPP;
	if (has_copies(filter))
		err = baleen_slots_insert_copy(&slots, &place);
	else if (keeps_too_little(&slots, key->domain) && !is_live(filter))
		err = baleen_slots_insert(&slots, &place, &is_new);
	else {
		finish_move(&slots, &place);
		err = baleen_cuckoo_add(&slots, &search, &place, &is_new);
	}
	if (!err)
		*changed = is_new;
	return err;
}

int baleen_cuckoo_live_del(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place = baleen_slots_place(&slots, &filter->image.seed, key);

	if (is_built_aside(filter, &slots))
		return -EOPNOTSUPP;
	*changed =
		has_copies(filter) ? del_copy(&slots, &place) : baleen_cuckoo_del(&slots, &place);
	return 0;
}

static int table_add(void *context, const struct baleen_key *key, bool *changed)
{
	struct baleen_filter *filter = context;
	const struct baleen_table *table = &filter->image.table[key->domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);
	bool ignored;
	int err = 0;

	if (table->kind == BALEEN_KIND_NONE)
		return -ENOSPC;
	/* First, for packets ask it first; one that is full is built anew with all the rest. */
	if (filter->prefilter && key->domain == BALEEN_IP4)
		err = baleen_live_add(filter->prefilter, key, &ignored);
	if (err)
		return err;
	return ops->add ? ops->add(filter, key, changed) : -EOPNOTSUPP;
}

static int table_del(void *context, const struct baleen_key *key, bool *changed)
{
	struct baleen_filter *filter = context;
	const struct baleen_table *table = &filter->image.table[key->domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	if (table->kind == BALEEN_KIND_NONE) {
		*changed = false;
		return 0;
	}
	return ops->del ? ops->del(filter, key, changed) : -EOPNOTSUPP;
}

int baleen_live_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	return baleen_change_add(&filter->image, filter->bytes, key, table_add, filter, changed);
}

int baleen_live_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	return baleen_change_del(&filter->image, filter->bytes, key, table_del, filter, changed);
}

/* --- after writers that were killed --- */

static u64 cuckoo_repair(const struct baleen_slots *slots)
{
	u32 n_slots = slots->n_slots;
	u64 side = slots->side, n = 0;

	for (u32 bucket = 0; bucket < slots->table->n_buckets && side; bucket++) {
		for (u32 i = 0; i < n_slots; i++) {
			u64 slot = baleen_slots_get(slots, bucket, i);

			if (slot & side)
				n += baleen_slots_clear(slots,
							baleen_slots_other(slots, bucket, slot),
							slot & ~side);
		}
	}
	return n;
}

u64 baleen_live_repair(struct baleen_filter *filter)
{
	u64 n = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_slots slots = baleen_slots_of(filter, domain);

		if (slots.table->kind == BALEEN_KIND_CUCKOO && !has_copies(filter))
			n += cuckoo_repair(&slots);
	}
	return n;
}

int baleen_filter_copy(const struct baleen_filter *filter, struct baleen_filter *copy,
		       struct baleen_error *error)
{
	int err = baleen_filter_alloc(copy, &filter->image, error);

	if (err)
		return err;
	/* The copy is counted, which no writer changes; a Bloom table goes by its
	 * header.
	 */
	memcpy(copy->bytes, filter->bytes, filter->n_bytes);
	copy->image = filter->image;
	baleen_live_repair(copy);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		copy->image.table[domain].n_entries = baleen_filter_count(copy, domain);
	baleen_filter_seal(copy);
	return 0;
}
