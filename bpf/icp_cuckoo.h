/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of a cuckoo table of 64-bit slots, inserted and deleted by several CPUs at a time.
 *
 * A free slot is taken by a swap from zero. Where both buckets are full, a key that is at
 * home there gives way as in search.h: a copy into a free slot of its other bucket, then
 * the new key over it. When the second swap fails, somebody else has deleted or moved that
 * key: the copy is taken back, and the search begins anew. A delete looks at home first and
 * into the other bucket second, so that it finds the copy of who began to move its key
 * before (tests/litmus/icp-delete-after.litmus), and so does an insert. So a key that stays is
 * always in one of its places, and a reader, who looks in that order, finds it.
 *
 * Two things are possible, until the next resync, and take an interrupt between two
 * instructions: a key that one CPU deletes and inserts again between the two swaps of
 * another CPU that moves this very key may be lost; and of two inserts of one key, into
 * both of its buckets, both may stay and count, until the next delete clears both.
 *
 * In 20 fills from empty the first key was refused at a load of 93 to 97 % of 1,080 slots
 * and of 89 to 94 % of 17,248 (tests/tools/icp_change.c).
 */
#ifndef BALEEN_BPF_ICP_CUCKOO_H
#define BALEEN_BPF_ICP_CUCKOO_H

#include "icp_word.h"

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

/* Reads the key in a slot that is its home, so that it may move, and its other bucket.
 * -EAGAIN when the slot has become free: the search begins again.
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
 * struct icp_insertion - a key on its way into a cuckoo table, or out of it
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

	/* clang would know that it is below 2, but kernel 6.1 does not. */
	asm volatile("" : "+r"(n));

	if (!home || !other || way >= ICP_WAYS)
		return 1;
	at = icp_find(home, key->slot[0]);
	other = (u64 *)baleen_after(other, at);
	if (at < BALEEN_BUCKET_SLOTS || icp_has(other, key->slot[1])) {
		key->result = 0;
		return 1;
	}
	at = icp_try(key, way, n);
	key->result = at < 0 ? at : icp_keep_one(key, home, other, n, at);
	if (at == -EAGAIN)
		key->start = i + 1;
	return at >= 0;
}

/* Whether this one cleared it. @seen is made of all that was in the bucket. */
baleen_inline bool icp_clear(u64 *bucket, u64 slot, u64 *seen)
{
	bool was_there = false;

	*seen = 0;
	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++) {
		u64 now = icp_load(&bucket[i]);

		*seen |= now;
		if (now == slot)
			was_there |= icp_swap(&bucket[i], slot, 0);
	}
	return was_there;
}

baleen_inline int icp_delete(const struct icp_insertion *key)
{
	u64 *home = icp_bucket(key->table, key->store, key->bucket[0]);
	u64 *other = icp_bucket(key->table, key->store, key->bucket[1]);
	bool was_there;
	u64 seen;

	if (!home || !other)
		return 0;
	was_there = icp_clear(home, key->slot[0], &seen);
	was_there |= icp_clear((u64 *)baleen_after(other, seen), key->slot[1], &seen);
	return was_there;
}

/* Out of line as icp_positions_of() is. The caller takes the result: where nobody does, clang 19
 * leaves in R0 whatever was there, and the verifier refuses a function that returns a pointer to
 * the stack.
 */
static __noinline u32 icp_locate(struct icp_insertion *insertion, const struct baleen_image *image,
				 u64 hi, u64 lo)
{
	struct baleen_key key = baleen_squid_key(hi, lo);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate_slots(insertion->table, &image->seed, &key, 64);

	insertion->bucket[1] = place.other;
	insertion->slot[0] = place.slot;
	insertion->slot[1] = place.slot | ICP_SIDE;
	return place.home;
}

static __noinline int icp_change_cuckoo(const struct baleen_image *image, void *store, u64 hi,
					u64 lo, u32 event)
{
	struct icp_insertion insertion = {
		.table = &image->table[BALEEN_TUPLE],
		.store = store,
		.result = -ENOSPC,
	};

	insertion.bucket[0] = icp_locate(&insertion, image, hi, lo);
	if (event != BALEEN_STORE_INSERT)
		return icp_delete(&insertion);
	bpf_loop(ICP_TRIES * ICP_WAYS, icp_insert_step, &insertion, 0);
	return insertion.result;
}

#endif /* BALEEN_BPF_ICP_CUCKOO_H */
