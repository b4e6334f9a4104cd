// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adding keys to a cuckoo table in memory. */
#include <errno.h>
#include <stdlib.h>

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
	u64 put;
	u64 evicted;
};

/* The first slot of @bucket that holds @slot, or how many slots it has. */
baleen_inline u32 find_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 n_slots = slots->n_slots, i = 0;

	while (i < n_slots && baleen_slots_get(slots, bucket, i) != slot)
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

/* The slot of a step to undo: where slots ascend, it need not be where it was put. */
baleen_inline u32 find_kicked(const struct baleen_slots *slots, const struct kick *kick)
{
	return slots->is_semi_sorted ? find_slot(slots, kick->bucket, kick->put) : kick->i;
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
		kick->put = slot;
		kick->evicted = baleen_slots_get(slots, bucket, kick->i);
		put(slots, bucket, kick->i, slot, watch);
		slot = kick->evicted ^ side;
		bucket = baleen_slots_other(slots, bucket, slot);
		n++;
	}
	return 0;
undo:
	while (n--)
		put(slots, path[n].bucket, find_kicked(slots, &path[n]), path[n].evicted, watch);
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

/* One key after the other: the first that has no place ends it. */
baleen_inline int insert_in_order(const struct baleen_slots *slots, struct baleen_filter *filter,
				  const struct baleen_key *keys, size_t n, size_t *n_done)
{
	struct baleen_table *table = &filter->image.table[keys[0].domain];
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;
	struct baleen_cuckoo_place ring[AHEAD];

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

/* --- many walks at once ----------------------------------------------------- */

/* Each step of a walk waits for a line of memory, so several walks take turns. Measured
 * with `baleen build` of 10 M keys, in seconds of a processor, reading the list included:
 * key after key 1.6, 4 walks 1.2, 8 and more 1.0.
 */
#define WALKS 16
/* Keys of which those without a free place walk together. */
#define GROUP 1024
/* Writes of a group, to be undone: at 95 % it takes some 4,000; a walk that ends nowhere
 * takes the rest.
 */
#define MAX_WRITES 16384

/* A slot that gave way, on its way to @bucket. */
struct walk {
	u32 bucket;
	u64 slot;
};

struct group {
	struct baleen_cuckoo_place place[GROUP];
	u32 n_places;
	struct walk walk[WALKS];
	u32 n_walks;
	u32 n_writes;
	struct kick write[MAX_WRITES];
};

baleen_inline void write_slot(struct group *group, const struct baleen_slots *slots, u32 bucket,
			      u32 i, u64 slot)
{
	u64 before = baleen_slots_get(slots, bucket, i);

	group->write[group->n_writes++] = (struct kick){ bucket, i, slot, before };
	baleen_slots_set(slots, bucket, i, slot);
}

baleen_inline bool write_if_free(struct group *group, const struct baleen_slots *slots, u32 bucket,
				 u64 slot)
{
	u32 i = find_slot(slots, bucket, 0);

	if (i == slots->n_slots)
		return false;
	write_slot(group, slots, bucket, i, slot);
	return true;
}

/* Whether a slot like this has given way, and is in no bucket now. */
baleen_inline bool is_walking(const struct group *group, const struct baleen_slots *slots,
			      const struct baleen_cuckoo_place *place)
{
	for (u32 i = 0; i < group->n_walks; i++) {
		const struct walk *walk = &group->walk[i];

		if ((walk->bucket == place->home && walk->slot == place->slot) ||
		    (walk->bucket == place->other && walk->slot == (place->slot | slots->side)))
			return true;
	}
	return false;
}

/* Puts keys in whose buckets have a free slot; the others stay in the group. */
baleen_inline u32 put_where_free(struct group *group, const struct baleen_slots *slots,
				 const struct baleen_seed *seed, const struct baleen_key *keys,
				 u32 n)
{
	u32 n_new = 0;

	for (u32 i = 0; i < n + AHEAD; i++) {
		const struct baleen_cuckoo_place *place;

		if (i < n) {
			group->place[i] = baleen_slots_place(slots, seed, &keys[i]);
			prefetch(slots, group->place[i].home);
			prefetch(slots, group->place[i].other);
		}
		if (i < AHEAD)
			continue;
		place = &group->place[i - AHEAD];
		if (has_place(slots, place))
			continue;
		if (write_if_free(group, slots, place->home, place->slot) ||
		    write_if_free(group, slots, place->other, place->slot | slots->side))
			n_new++;
		else
			group->place[group->n_places++] = *place;
	}
	return n_new;
}

/* One step of each walk. */
baleen_inline void step(struct group *group, const struct baleen_slots *slots, u32 *random)
{
	for (u32 i = 0; i < group->n_walks;) {
		struct walk *walk = &group->walk[i];
		u32 at;

		if (write_if_free(group, slots, walk->bucket, walk->slot)) {
			*walk = group->walk[--group->n_walks];
			continue;
		}
		at = next_random(random) % slots->n_slots;
		write_slot(group, slots, walk->bucket, at, walk->slot);
		walk->slot = group->write[group->n_writes - 1].evicted ^ slots->side;
		walk->bucket = baleen_slots_other(slots, walk->bucket, walk->slot);
		prefetch(slots, walk->bucket);
		i++;
	}
}

/* Puts all keys of a group in, by walks side by side, or none. */
baleen_inline bool insert_group(struct group *group, const struct baleen_slots *slots,
				const struct baleen_seed *seed, const struct baleen_key *keys,
				u32 n, u32 *n_new)
{
	u32 random = 1, next = 0;

	group->n_places = 0;
	group->n_walks = 0;
	group->n_writes = 0;
	*n_new = put_where_free(group, slots, seed, keys, n);
	while (next < group->n_places || group->n_walks) {
		while (group->n_walks < WALKS && next < group->n_places) {
			const struct baleen_cuckoo_place *place = &group->place[next++];

			if (has_place(slots, place) || is_walking(group, slots, place))
				continue;
			++*n_new;
			group->walk[group->n_walks++] =
				(struct walk){ place->other, place->slot | slots->side };
		}
		if (group->n_writes + WALKS > MAX_WRITES)
			goto undo;
		step(group, slots, &random);
	}
	return true;
undo:
	while (group->n_writes--) {
		struct kick *write = &group->write[group->n_writes];

		baleen_slots_set(slots, write->bucket, find_kicked(slots, write), write->evicted);
	}
	return false;
}

baleen_inline int insert_keys(const struct baleen_slots *slots, struct baleen_filter *filter,
			      const struct baleen_key *keys, size_t n, size_t *n_done)
{
	struct baleen_table *table = &filter->image.table[keys[0].domain];
	struct group *group = NULL;
	int err = 0;

	*n_done = 0;
	if (n >= GROUP && table->kind == BALEEN_KIND_CUCKOO &&
	    !(filter->image.flags & BALEEN_FLAG_COPIES))
		group = malloc(sizeof(*group));
	for (size_t i = 0, now; i < n && !err; i += now) {
		u32 n_new;

		now = n - i < GROUP ? n - i : GROUP;
		if (group &&
		    insert_group(group, slots, &filter->image.seed, keys + i, now, &n_new)) {
			table->n_entries += n_new;
			*n_done += now;
		} else {
			err = insert_in_order(slots, filter, keys + i, now, n_done);
		}
	}
	free(group);
	return err;
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
			slots.is_semi_sorted = false;
			return insert_keys(&slots, filter, keys, n, n_done);
		}
	}
	return insert_keys(&slots, filter, keys, n, n_done);
}
