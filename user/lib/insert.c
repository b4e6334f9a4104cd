// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adding keys to a cuckoo table in memory. */
#include <errno.h>

#include "cuckoo_table.h"
#include "slots.h"

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

/* The first slot of @bucket that holds @slot, or BALEEN_BUCKET_SLOTS. The answer
 * of a prefix is no part of what it is.
 */
static u32 find_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u64 mask = slots->table->kind == BALEEN_KIND_PREFIXES ? ~BALEEN_PREFIX_ANSWER : ~0ull;
	u32 i = 0;

	while (i < BALEEN_BUCKET_SLOTS && (baleen_slots_get(slots, bucket, i) ^ slot) & mask)
		i++;
	return i;
}

static bool put_if_free(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 i = find_slot(slots, bucket, 0);

	if (i == BALEEN_BUCKET_SLOTS)
		return false;
	baleen_slots_set(slots, bucket, i, slot);
	return true;
}

/* Xorshift (Marsaglia 2003): which of four slots gives way needs no secret. */
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
static int kick_in(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits);
	struct kick path[MAX_KICKS];
	u32 random = bucket + (u32)slot * 2 + 1;
	int n = 0;

	while (!put_if_free(slots, bucket, slot)) {
		struct kick *kick = &path[n];

		if (n == MAX_KICKS)
			goto undo;
		kick->bucket = bucket;
		kick->i = next_random(&random) % BALEEN_BUCKET_SLOTS;
		kick->evicted = baleen_slots_get(slots, bucket, kick->i);
		baleen_slots_set(slots, bucket, kick->i, slot);
		slot = kick->evicted ^ side;
		bucket = baleen_cuckoo_other(slots->table, bucket,
					     baleen_slot_tag(slots->table, slot));
		n++;
	}
	return 0;
undo:
	while (n--)
		baleen_slots_set(slots, path[n].bucket, path[n].i, path[n].evicted);
	return -ENOSPC;
}

int baleen_slots_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
			bool *is_new)
{
	u64 away = place->slot | baleen_cuckoo_side(slots->table->slot_bits);
	int err;

	if (find_slot(slots, place->home, place->slot) < BALEEN_BUCKET_SLOTS ||
	    find_slot(slots, place->other, away) < BALEEN_BUCKET_SLOTS)
		return 0;
	if (!put_if_free(slots, place->home, place->slot)) {
		err = kick_in(slots, place->other, away);
		if (err)
			return err;
	}
	*is_new = true;
	return 0;
}

int baleen_cuckoo_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done)
{
	u32 domain = keys[0].domain;
	struct baleen_table *table = &filter->image.table[domain];
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	struct baleen_cuckoo_place ring[AHEAD];
	u32 bucket_bytes = BALEEN_BUCKET_SLOTS * table->slot_bits / 8;

	*n_done = 0;
	for (size_t i = 0; i < n + AHEAD; i++) {
		struct baleen_cuckoo_place *place = &ring[i % AHEAD];

		if (i >= AHEAD) {
			bool is_new = false;
			int err = baleen_slots_insert(&slots, place, &is_new);

			if (err)
				return err;
			table->n_entries += is_new;
			++*n_done;
		}
		if (i < n) {
			*place = baleen_cuckoo_locate(table, &filter->image.seed, &keys[i]);
			__builtin_prefetch(slots.start + (size_t)place->home * bucket_bytes);
			__builtin_prefetch(slots.start + (size_t)place->other * bucket_bytes);
		}
	}
	return 0;
}
