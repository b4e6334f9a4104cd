/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inserting keys into a filter that is read meanwhile, and deleting them, from several
 * CPUs at a time.
 *
 * Nobody waits for anybody: each step is one compare-and-swap of a 64-bit word, or one
 * atomic or and and of a bit. Alone they do to the bytes what live.h does.
 *
 * A counting table: the counters are what is true, and a bit follows its counter. Who has
 * counted up or down sets the bit where there is a count and clears it where there is
 * none, then looks at the counter again: the last one to look sees the last count, so
 * bits and counters agree once all are done. A key whose counts are above zero is missed
 * by readers for the instant between a bit that was cleared and the second look, and
 * only when it came at that very moment. A delete first counts all of the key's counters
 * down; when one is zero already, another CPU has deleted the key, and what was counted
 * down is counted up again before any bit is looked at.
 *
 * A cuckoo table of 64-bit slots: a free slot is taken by a swap from zero. Where both
 * buckets are full, a key that is at home there gives way as in search.h: a copy into a
 * free slot of its other bucket, then the new key over it. When the second swap fails,
 * somebody else has deleted or moved that key: the copy is taken back, and the search
 * begins anew. A delete looks at home first and into the other bucket second, so that it
 * finds the copy of who began to move its key before. So a key that stays is always in
 * one of its places, and a reader, who looks in that order, finds it.
 *
 * Two things are possible, until the next resync, and take an interrupt between two
 * instructions: a key that one CPU deletes and inserts again between the two swaps of
 * another CPU that moves this very key may be lost; and of two inserts of one key, with
 * a delete or a move in its home bucket between them, both may stay, of which the next
 * delete clears both.
 *
 * Of 20 fills from empty the first key was refused at a load of 93 to 97 % of 1,080 slots
 * and of 89 to 94 % of 17,248.
 */
#ifndef BALEEN_BPF_ICP_CHANGE_H
#define BALEEN_BPF_ICP_CHANGE_H

#include "icp.h"

/* Tries before a change is given up: each that fails is one that another CPU made to
 * the same word.
 */
#define ICP_TRIES 16

baleen_inline u64 icp_load(const u64 *word)
{
	return baleen_le64(*(const volatile u64 *)word);
}

baleen_inline bool icp_swap(u64 *word, u64 from, u64 to)
{
	return __sync_val_compare_and_swap(word, baleen_le64(from), baleen_le64(to)) ==
	       baleen_le64(from);
}

/* All ones when @x is 0, else 0; without a branch, since the verifier would follow all
 * combinations of those of a key.
 */
baleen_inline u64 icp_if_zero(u64 x)
{
	u64 any = x | -x;

	/* clang would know it for a comparison. */
	asm volatile("" : "+r"(any));
	return (any >> 63) - 1;
}

/* --- counting ------------------------------------------------------------------ */

/* In place of a position that is there twice. */
#define ICP_NO_POSITION (~0ull)

/* Bits of a blocked table's key, at the most. */
#define ICP_BLOCKED_HASHES 8

/**
 * struct icp_positions - the bits of one key, and what is being done to their counters
 * @table: a constant of the load
 * @store: the sibling's map
 * @is_up: counting up
 * @n_done: counters that are done, from the first on
 * @err: why no more are
 * @position: of each hash; ICP_NO_POSITION where it is that of an earlier one
 */
struct icp_positions {
	const struct baleen_table *table;
	void *store;
	u32 is_up;
	u32 n_done;
	int err;
	u64 position[BALEEN_ICP_MAX_HASHES];
};

baleen_inline void icp_positions_blocked(struct icp_positions *positions,
					 const struct baleen_seed *seed,
					 const struct baleen_key *key)
{
	struct baleen_bloom_place place = baleen_bloom_locate(positions->table, seed, key);
	u64 block = (u64)(place.block - positions->table->first_block) * BALEEN_BLOCK_WORDS;

	BALEEN_UNROLL
	for (u32 i = 0; i < ICP_BLOCKED_HASHES; i++) {
		u64 mask = place.mask[i / 4];

		positions->position[i] =
			((block + place.word[i / 4]) * 64 + baleen_lowest64(mask)) |
			icp_if_zero(mask);
		place.mask[i / 4] = mask & (mask - 1);
	}
}

baleen_inline void icp_positions_classic(struct icp_positions *positions,
					 const struct baleen_seed *seed,
					 const struct baleen_key *key)
{
	u64 hash = baleen_hash64(seed, key);

	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_ICP_MAX_HASHES; i++) {
		u64 position, again = 0;

		if (i >= positions->table->n_hashes)
			break;
		position = baleen_classic_position(positions->table, hash, key, i);
		BALEEN_LOOP
		for (u32 k = 0; k < i; k++)
			again |= icp_if_zero(positions->position[k] ^ position);
		positions->position[i] = position | again;
	}
}

/* A word of the plane of bits, or behind it of the counters. */
baleen_inline u64 *icp_word(const struct icp_positions *positions, u64 first_block, u64 word)
{
	const struct baleen_block *block =
		baleen_store_block(positions->store, (u32)(first_block + (word >> 3)));

	return block ? (u64 *)&block->word[word & 7] : NULL;
}

baleen_inline u64 *icp_counter(const struct icp_positions *positions, u64 position)
{
	const struct baleen_table *table = positions->table;

	return icp_word(positions, (u64)table->first_block + table->n_buckets,
			position / BALEEN_WORD_COUNTERS);
}

/* One counter up or down: 0; -ENOENT when there is nothing to count down. */
baleen_inline int icp_step(const struct icp_positions *positions, u64 position, bool is_up)
{
	u32 shift = position % BALEEN_WORD_COUNTERS * BALEEN_COUNTER_BITS;
	u64 *word = icp_counter(positions, position);

	if (!word)
		return -ENOENT;
	BALEEN_LOOP
	for (u32 i = 0; i < ICP_TRIES; i++) {
		u64 old = icp_load(word), count = old >> shift & BALEEN_COUNTER_MAX;

		if (count == BALEEN_COUNTER_MAX)
			return 0;
		if (!is_up && !count)
			return -ENOENT;
		if (icp_swap(word, old, is_up ? old + (1ull << shift) : old - (1ull << shift)))
			return 0;
	}
	return -EBUSY;
}

/* The bit follows its counter. */
baleen_inline void icp_settle(const struct icp_positions *positions, u64 position)
{
	u32 shift = position % BALEEN_WORD_COUNTERS * BALEEN_COUNTER_BITS;
	u64 *counter = icp_counter(positions, position), mask = 1ull << (position & 63);
	u64 *word = icp_word(positions, positions->table->first_block, position / 64);

	if (!counter || !word)
		return;
	BALEEN_LOOP
	for (u32 i = 0; i < ICP_TRIES; i++) {
		bool counts = icp_load(counter) >> shift & BALEEN_COUNTER_MAX;

		if (counts == !!(icp_load(word) & mask))
			return;
		if (counts)
			__sync_fetch_and_or(word, baleen_le64(mask));
		else
			__sync_fetch_and_and(word, baleen_le64(~mask));
	}
}

/* Functions for bpf_loop(): the verifier follows each once, whatever the table has. */
static long icp_count_one(u32 i, struct icp_positions *positions)
{
	u64 position = positions->position[i & (BALEEN_ICP_MAX_HASHES - 1)];

	if (position != ICP_NO_POSITION) {
		positions->err = icp_step(positions, position, positions->is_up);
		if (positions->err)
			return 1;
	}
	positions->n_done = i + 1;
	return 0;
}

static long icp_settle_one(u32 i, struct icp_positions *positions)
{
	u64 position = positions->position[i & (BALEEN_ICP_MAX_HASHES - 1)];

	if (position != ICP_NO_POSITION)
		icp_settle(positions, position);
	return 0;
}

/* Counts all of a key or, where one cannot be, none. */
baleen_inline int icp_count_all(struct icp_positions *positions, u32 n_hashes)
{
	int err;

	bpf_loop(n_hashes, icp_count_one, positions, 0);
	err = positions->err;
	if (err) {
		u32 n_done = positions->n_done;

		positions->is_up = !positions->is_up;
		bpf_loop(n_done, icp_count_one, positions, 0);
	}
	bpf_loop(n_hashes, icp_settle_one, positions, 0);
	return err;
}

/* A key is counted also when its bits are all set: see baleen_plane_add(). */
static __noinline int icp_change_counting(const struct baleen_image *image, void *store, u64 hi,
					  u64 lo, u32 event)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];
	struct baleen_key key = baleen_squid_key(hi, lo);
	struct icp_positions positions = {
		.table = table,
		.store = store,
		.is_up = event == BALEEN_STORE_INSERT,
	};
	u32 n_hashes = table->n_hashes;
	int err;

	if (!positions.is_up && !baleen_counting_test(table, &image->seed, store, &key))
		return 0;
	if (table->hash == BALEEN_HASH_BLOCKED) {
		icp_positions_blocked(&positions, &image->seed, &key);
		n_hashes = ICP_BLOCKED_HASHES;
	} else {
		icp_positions_classic(&positions, &image->seed, &key);
	}
	err = icp_count_all(&positions, n_hashes);
	return err == -ENOENT ? 0 : err ? err : 1;
}

/* --- cuckoo --------------------------------------------------------------------- */

#define ICP_SIDE (1ull << 62)

baleen_inline u64 *icp_bucket(const struct baleen_table *table, void *store, u32 bucket)
{
	return (u64 *)baleen_bucket_get(table, store, bucket, 64, BALEEN_TUPLE);
}

/* The first slot of a bucket that holds this, or 4; without a branch, of which the
 * verifier would follow each way, with all that comes behind it.
 */
baleen_inline u32 icp_find(const u64 *bucket, u64 slot)
{
	u32 at = BALEEN_BUCKET_SLOTS;

	BALEEN_UNROLL
	for (int i = BALEEN_BUCKET_SLOTS - 1; i >= 0; i--) {
		u32 is_it = icp_if_zero(icp_load(&bucket[i]) ^ slot);

		at = (at & ~is_it) | (i & is_it);
	}
	return at;
}

baleen_inline bool icp_has(const u64 *bucket, u64 slot)
{
	return icp_find(bucket, slot) < BALEEN_BUCKET_SLOTS;
}

/* Puts a copy of @slot into @bucket: the index of the slot that it is in. -ENOSPC when
 * there is no room, -EAGAIN when somebody else was there first.
 */
baleen_inline int icp_room(const struct baleen_table *table, void *store, u32 bucket, u64 slot)
{
	u64 *words = icp_bucket(table, store, bucket);
	u32 at;

	if (!words)
		return -ENOSPC;
	at = icp_find(words, 0);
	if (at >= BALEEN_BUCKET_SLOTS)
		return -ENOSPC;
	return icp_swap(&words[at], 0, slot) ? (int)at : -EAGAIN;
}

/* The key in a slot, when it is at home there and may give way, and its other bucket.
 * Of a slot that has become free the search begins anew.
 */
baleen_inline int icp_read_home(const struct baleen_table *table, const u64 *word, u32 bucket,
				u64 *old, u32 *other)
{
	*old = icp_load(word);
	*other = baleen_cuckoo_other(table, bucket, *old & (ICP_SIDE - 1));
	if (!*old)
		return -EAGAIN;
	return *old & ICP_SIDE ? -ENOSPC : 0;
}

/* The second half of a move: @slot over a key, whose copy is at @at of its other bucket.
 * Where that fails the copy is taken back: 0 or -EAGAIN.
 */
baleen_inline int icp_replace(const struct baleen_table *table, void *store, u64 *word, u64 old,
			      u64 slot, u32 other, u32 at)
{
	u64 *words;

	if (icp_swap(word, old, slot))
		return 0;
	words = icp_bucket(table, store, other);
	if (words)
		icp_swap(&words[at & 3], old | ICP_SIDE, 0);
	return -EAGAIN;
}

/* @slot over the key in slot @i of a bucket, and this into a free slot: 0, -ENOSPC or
 * -EAGAIN.
 */
baleen_inline int icp_push_one(const struct baleen_table *table, void *store, u32 bucket, u32 i,
			       u64 slot)
{
	u64 *words = icp_bucket(table, store, bucket), old;
	u32 other;
	int at;

	if (!words)
		return -ENOSPC;
	words += i & 3;
	at = icp_read_home(table, words, bucket, &old, &other);
	if (!at)
		at = icp_room(table, store, other, old | ICP_SIDE);
	return at < 0 ? at : icp_replace(table, store, words, old, slot, other, at);
}

/* The same, where the key goes over the one in slot @j of its other bucket. */
baleen_inline int icp_push_two(const struct baleen_table *table, void *store, u32 bucket, u32 i,
			       u32 j, u64 slot)
{
	u64 *words = icp_bucket(table, store, bucket), old;
	u32 other;
	int err;

	if (!words)
		return -ENOSPC;
	words += i & 3;
	err = icp_read_home(table, words, bucket, &old, &other);
	if (!err)
		err = icp_push_one(table, store, other, j, old | ICP_SIDE);
	return err ? err : icp_replace(table, store, words, old, slot, other, j);
}

/* The same with a third key. */
baleen_inline int icp_push_three(const struct baleen_table *table, void *store, u32 bucket, u32 i,
				 u32 j, u32 k, u64 slot)
{
	u64 *words = icp_bucket(table, store, bucket), old;
	u32 other;
	int err;

	if (!words)
		return -ENOSPC;
	words += i & 3;
	err = icp_read_home(table, words, bucket, &old, &other);
	if (!err)
		err = icp_push_two(table, store, other, j, k, old | ICP_SIDE);
	return err ? err : icp_replace(table, store, words, old, slot, other, j);
}

/**
 * struct icp_insertion - a key on its way into a cuckoo table
 * @table: a constant of the load
 * @store: the sibling's map
 * @bucket: its home and its other one
 * @slot: what a slot of either holds
 * @start: round of the loop in which the search began
 * @result: 1 it is in, 0 it was, or a negative errno
 */
struct icp_insertion {
	const struct baleen_table *table;
	void *store;
	u32 bucket[2];
	u64 slot[2];
	u32 start;
	int result;
};

/* Ways to put a key, the shortest first: into either bucket, or over one of its four
 * keys, which goes into or over one of the four of its other bucket, and so on.
 */
#define ICP_WAYS_1 2
#define ICP_WAYS_2 (ICP_WAYS_1 + 2 * 4)
#define ICP_WAYS_3 (ICP_WAYS_2 + 2 * 16)
#define ICP_WAYS (ICP_WAYS_3 + 2 * 64)

/* The index of the slot that the key is in, or a negative errno. */
baleen_inline int icp_try(const struct icp_insertion *key, u32 way, u32 n)
{
	const struct baleen_table *table = key->table;
	u32 bucket = key->bucket[n & 1], i;
	u64 slot = key->slot[n & 1];
	int err;

	if (way < ICP_WAYS_1)
		return icp_room(table, key->store, bucket, slot);
	if (way < ICP_WAYS_2) {
		i = (way - ICP_WAYS_1) & 3;
		err = icp_push_one(table, key->store, bucket, i, slot);
	} else if (way < ICP_WAYS_3) {
		way -= ICP_WAYS_2;
		i = way >> 2 & 3;
		err = icp_push_two(table, key->store, bucket, i, way, slot);
	} else {
		way -= ICP_WAYS_3;
		i = way >> 4 & 3;
		err = icp_push_three(table, key->store, bucket, i, way >> 2, way, slot);
	}
	return err ? err : (int)i;
}

/* Which of the key's two buckets a way leads to. */
baleen_inline u32 icp_way_bucket(u32 way)
{
	if (way < ICP_WAYS_1)
		return way;
	if (way < ICP_WAYS_2)
		return (way - ICP_WAYS_1) >> 2 & 1;
	return way < ICP_WAYS_3 ? (way - ICP_WAYS_2) >> 4 & 1 : (way - ICP_WAYS_3) >> 6 & 1;
}

/* The key is in slot @at of bucket @n, but another CPU may have put it somewhere else
 * since it was looked for. One of both stays: that at home, or that in the first slot,
 * and whoever clears the other one has not inserted it. In the other bucket of a key that
 * is at home nothing is cleared: it may be a copy of who moves it.
 */
baleen_inline int icp_keep_one(const struct icp_insertion *key, u64 *home, u64 *other, u32 n,
			       u32 at)
{
	u64 *words = n & 1 ? other : home, slot = key->slot[n & 1];
	int is_new = 1;

	if ((n & 1 && icp_has(home, key->slot[0])) || icp_find(words, slot) < at)
		return !icp_swap(&words[at & 3], slot, 0);
	BALEEN_UNROLL
	for (u32 i = 1; i < BALEEN_BUCKET_SLOTS; i++)
		if (i > at && icp_load(&words[i]) == slot && icp_swap(&words[i], slot, 0))
			is_new = 0;
	return is_new;
}

/* For bpf_loop(), which the verifier follows once. Another CPU may have inserted this
 * very key since the last step, so it is looked for in each.
 */
static long icp_insert_step(u32 i, struct icp_insertion *key)
{
	u64 *home = icp_bucket(key->table, key->store, key->bucket[0]);
	u64 *other = icp_bucket(key->table, key->store, key->bucket[1]);
	u32 way = i - key->start, n = icp_way_bucket(way);
	int at;

	if (!home || !other || way >= ICP_WAYS)
		return 1;
	if (icp_has(home, key->slot[0]) || icp_has(other, key->slot[1])) {
		key->result = 0;
		return 1;
	}
	at = icp_try(key, way, n);
	key->result = at < 0 ? at : icp_keep_one(key, home, other, n, at);
	if (at == -EAGAIN)
		key->start = i + 1;
	return at >= 0;
}

/* Whether this one cleared it. */
baleen_inline bool icp_clear(u64 *bucket, u64 slot)
{
	bool was_there = false;

	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++)
		if (icp_load(&bucket[i]) == slot)
			was_there |= icp_swap(&bucket[i], slot, 0);
	return was_there;
}

baleen_inline int icp_delete(const struct baleen_table *table, void *store,
			     const struct baleen_cuckoo_place *place)
{
	u64 *home = icp_bucket(table, store, place->home);
	u64 *other = icp_bucket(table, store, place->other);
	bool was_there;

	if (!home || !other)
		return 0;
	was_there = icp_clear(home, place->slot);
	was_there |= icp_clear(other, place->slot | ICP_SIDE);
	return was_there;
}

static __noinline int icp_change_cuckoo(const struct baleen_image *image, void *store, u64 hi,
					u64 lo, u32 event)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];
	struct baleen_key key = baleen_squid_key(hi, lo);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate_slots(table, &image->seed, &key, 64);
	struct icp_insertion insertion = {
		.table = table,
		.store = store,
		.bucket = { place.home, place.other },
		.slot = { place.slot, place.slot | ICP_SIDE },
		.result = -ENOSPC,
	};

	if (event != BALEEN_STORE_INSERT)
		return icp_delete(table, store, &place);
	bpf_loop(ICP_TRIES * ICP_WAYS, icp_insert_step, &insertion, 0);
	return insertion.result;
}

/* --- any ------------------------------------------------------------------------ */

/* As sibling_change(). A filter that the loader should have refused does not change. */
baleen_inline int icp_change(const struct baleen_image *image, void *store, u64 hi, u64 lo,
			     u32 event)
{
	if (!baleen_icp_may_feed(image))
		return 0;
	if (image->table[BALEEN_TUPLE].kind == BALEEN_KIND_COUNTING)
		return icp_change_counting(image, store, hi, lo, event);
	return icp_change_cuckoo(image, store, hi, lo, event);
}

#endif /* BALEEN_BPF_ICP_CHANGE_H */
