// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adding keys to a cuckoo table in memory. */
#include <errno.h>

#include "filter/cuckoo_table.h"
#include "filter/slots.h"

/* At 95 % of a table of 4 M keys a walk takes 4 steps in the mean, 331 at the
 * most of 2.9 million walks; a build that fails all the same takes a new seed.
 */
#define MAX_KICKS 2048

/* Keys whose places are computed, and lines asked for, ahead of insertion.
 * Measured at 20 M keys: 1: 2 to 4 M/s, 4: 6 M/s, 8, 16 and 32: 7 to 9 M/s.
 */
#define AHEAD 16

struct kick {
	u32 bucket;
	u32 i;
	u64 evicted;
};

/* The answer of a prefix is no part of what it is. */
baleen_inline u64 slot_mask(const struct baleen_slots *slots)
{
	return slots->table->kind == BALEEN_KIND_PREFIXES ? ~BALEEN_PREFIX_ANSWER : ~0ull;
}

/* The first slot of @bucket that holds @slot, or how many slots it has. */
baleen_inline u32 find_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 n_slots = slots->n_slots, i = 0;
	u64 mask = slot_mask(slots);

	while (i < n_slots && (baleen_slots_get(slots, bucket, i) ^ slot) & mask)
		i++;
	return i;
}

baleen_inline bool has_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return find_slot(slots, bucket, slot) < slots->n_slots;
}

/* Hot callers pass no @watch as a constant: it costs them nothing. */
baleen_inline void put(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot,
		       const struct baleen_slots_watch *watch)
{
	if (watch)
		watch->put(watch->data, bucket, i, baleen_slots_get(slots, bucket, i), slot);
	baleen_slots_set(slots, bucket, i, slot);
}

baleen_inline bool put_if_free(const struct baleen_slots *slots, u32 bucket, u64 slot,
			       const struct baleen_slots_watch *watch)
{
	u32 i = find_slot(slots, bucket, 0);

	if (i == slots->n_slots)
		return false;
	put(slots, bucket, i, slot, watch);
	return true;
}

/* Xorshift (Marsaglia 2003): which slot gives way needs no secret. */
static u32 next_random(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Random walk: the new slot takes the place of another, which moves to its
 * other bucket, and so on. A walk that ends nowhere is undone step by step.
 */
baleen_inline int kick_in(const struct baleen_slots *slots, u32 bucket, u64 slot,
			  const struct baleen_slots_watch *watch)
{
	u32 n_slots = slots->n_slots;
	u64 side = slots->side;
	struct kick path[MAX_KICKS];
	u32 random = bucket + (u32)slot * 2 + 1;
	int n = 0;

	while (!put_if_free(slots, bucket, slot, watch)) {
		struct kick *kick = &path[n];

		if (n == MAX_KICKS)
			goto undo;
		kick->bucket = bucket;
		kick->i = next_random(&random) % n_slots;
		kick->evicted = baleen_slots_get(slots, bucket, kick->i);
		put(slots, bucket, kick->i, slot, watch);
		slot = kick->evicted ^ side;
		bucket = baleen_slots_other(slots, bucket, slot);
		n++;
	}
	return 0;
undo:
	while (n--)
		put(slots, path[n].bucket, path[n].i, path[n].evicted, watch);
	return -ENOSPC;
}

/* Whether the key is in its buckets or in the stash. */
baleen_inline bool has_place(const struct baleen_slots *slots,
			     const struct baleen_cuckoo_place *place)
{
	return has_slot(slots, place->home, place->slot) ||
	       has_slot(slots, place->other, place->slot | slots->side) ||
	       baleen_stash_holds(slots, place->hash);
}

baleen_inline int put_in(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
			 const struct baleen_slots_watch *watch)
{
	u64 away = place->slot | slots->side;

	if (put_if_free(slots, place->home, place->slot, watch) ||
	    !kick_in(slots, place->other, away, watch))
		return 0;
	return baleen_stash_add(slots, place->hash);
}

baleen_inline int insert_new(const struct baleen_slots *slots,
			     const struct baleen_cuckoo_place *place,
			     const struct baleen_slots_watch *watch, bool *is_new)
{
	int err;

	if (has_place(slots, place))
		return 0;
	err = put_in(slots, place, watch);
	if (!err)
		*is_new = true;
	return err;
}

int baleen_slots_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
			bool *is_new)
{
	return insert_new(slots, place, NULL, is_new);
}

static u32 count_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 n = 0;

	for (u32 i = 0; i < slots->n_slots; i++)
		n += baleen_slots_get(slots, bucket, i) == slot;
	return n;
}

u32 baleen_slots_copies(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	u64 side = slots->side;
	u32 n = count_slot(slots, place->home, place->slot);

	if (side || place->other != place->home)
		n += count_slot(slots, place->other, place->slot | side);
	return n + baleen_slots_stashed(slots, place->hash);
}

baleen_inline int insert_copy(const struct baleen_slots *slots,
			      const struct baleen_cuckoo_place *place,
			      const struct baleen_slots_watch *watch)
{
	u32 most = slots->n_slots << (place->home != place->other);

	if (baleen_slots_copies(slots, place) >= most)
		return -ENOSPC;
	return put_in(slots, place, watch);
}

int baleen_slots_insert_copy(const struct baleen_slots *slots,
			     const struct baleen_cuckoo_place *place)
{
	return insert_copy(slots, place, NULL);
}

int baleen_slots_insert_watched(const struct baleen_slots *slots,
				const struct baleen_cuckoo_place *place, bool is_copy,
				const struct baleen_slots_watch *watch)
{
	bool is_new;

	return is_copy ? insert_copy(slots, place, watch) :
			 insert_new(slots, place, watch, &is_new);
}

baleen_inline void prefetch(const struct baleen_slots *slots, u32 bucket)
{
	__builtin_prefetch(slots->start + baleen_slots_bit(slots, bucket, 0) / 8);
}

baleen_inline int insert_keys(const struct baleen_slots *slots, struct baleen_filter *filter,
			      const struct baleen_key *keys, size_t n, size_t *n_done)
{
	struct baleen_table *table = &filter->image.table[keys[0].domain];
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;
	struct baleen_cuckoo_place ring[AHEAD];

	*n_done = 0;
	for (size_t i = 0; i < n + AHEAD; i++) {
		struct baleen_cuckoo_place *place = &ring[i % AHEAD];

		if (i >= AHEAD) {
			bool is_new = has_copies;
			int err = has_copies ? baleen_slots_insert_copy(slots, place) :
					       insert_new(slots, place, NULL, &is_new);

			if (err)
				return err;
			table->n_entries += is_new;
			++*n_done;
		}
		if (i < n) {
			*place = baleen_slots_place(slots, &filter->image.seed, &keys[i]);
			prefetch(slots, place->home);
			prefetch(slots, place->other);
		}
	}
	return 0;
}

int baleen_cuckoo_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done)
{
	struct baleen_slots slots = baleen_slots_of(filter, keys[0].domain);
	bool is_packed = baleen_table_is_packed(slots.table);
	static const u32 widths[] = { 8, 16, 32, 64 };

	/* Most tables have this geometry: a constant makes it up to twice as fast. */
#pragma GCC unroll 4
	for (u32 i = 0; i < 4; i++) {
		if (!is_packed && slots.n_slots == 4 && slots.slot_bits == widths[i] &&
		    !slots.table->form) {
			slots.n_slots = 4;
			slots.slot_bits = widths[i];
			slots.side = baleen_cuckoo_side(widths[i]);
			return insert_keys(&slots, filter, keys, n, n_done);
		}
	}
	return insert_keys(&slots, filter, keys, n, n_done);
}
