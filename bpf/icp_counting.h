/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys of a counting table, inserted and deleted by several CPUs at a time.
 *
 * The counters are what is true, and a bit follows its counter. Who has counted up or down
 * sets the bit where there is a count and clears it where there is none, then looks at the
 * counter again: the last one to look sees the last count, so bits and counters agree once
 * all are done. A key that is in is missed by readers only for the instant between a bit
 * that was cleared and the second look, when it came at that very moment, or when two
 * CPUs delete another key at once that is in but once.
 *
 * A delete first counts all of the key's counters down. When one is zero already, another
 * CPU has deleted the key, and what was counted down is counted up again before any bit is
 * looked at. A counter that has come to 15 stays, as in counting.h.
 */
#ifndef BALEEN_BPF_ICP_COUNTING_H
#define BALEEN_BPF_ICP_COUNTING_H

#include "icp_word.h"

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
 * @word: what positions are made of where the table is not blocked: the hash of the key,
 *        or both halves of the key
 * @position: of each hash; ICP_NO_POSITION where it is that of an earlier one
 */
struct icp_positions {
	const struct baleen_table *table;
	void *store;
	u8 is_up;
	u8 n_done;
	short err;
	u64 word[2];
	u64 position[BALEEN_ICP_MAX_HASHES];
};

/* Out of line: the constants in it are many. */
static __noinline u64 icp_lowest(u64 mask)
{
	return baleen_lowest64(mask);
}

/* Up to four bits of one word. */
baleen_inline void icp_positions_word(u64 *position, u64 first, u64 mask)
{
	BALEEN_UNROLL
	for (u32 i = 0; i < ICP_BLOCKED_HASHES / 2; i++, mask &= mask - 1)
		position[i] = (first + icp_lowest(mask)) | icp_if_zero(mask);
}

baleen_inline void icp_positions_blocked(struct icp_positions *positions,
					 const struct baleen_seed *seed,
					 const struct baleen_key *key)
{
	struct baleen_bloom_place place = baleen_bloom_locate(positions->table, seed, key);
	u64 block = (u64)(place.block - positions->table->first_block) * BALEEN_BLOCK_WORDS;

	icp_positions_word(positions->position, (block + place.word[0]) * 64, place.mask[0]);
	icp_positions_word(positions->position + ICP_BLOCKED_HASHES / 2,
			   (block + place.word[1]) * 64, place.mask[1]);
}

/* For bpf_loop(), since kernel 6.1 refuses the loop that clang makes of it. Positions that
 * are still to come are ICP_NO_POSITION.
 */
static long icp_classic_one(u32 i, struct icp_positions *positions)
{
	struct baleen_key key = baleen_squid_key(positions->word[0], positions->word[1]);
	u64 position = baleen_classic_position(positions->table, positions->word[0], &key, i);
	u64 again = 0;

	BALEEN_UNROLL
	for (u32 k = 0; k < BALEEN_ICP_MAX_HASHES; k++)
		again |= icp_if_zero(positions->position[k] ^ position);
	positions->position[i & (BALEEN_ICP_MAX_HASHES - 1)] = position | again;
	return 0;
}

baleen_inline void icp_positions_classic(struct icp_positions *positions,
					 const struct baleen_seed *seed,
					 const struct baleen_key *key)
{
	bool is_keyed = positions->table->hash == BALEEN_HASH_KEYED;

	positions->word[0] = is_keyed ? baleen_hash64(seed, key) : key->hi;
	positions->word[1] = key->lo;
	BALEEN_UNROLL
	for (u32 i = 0; i < BALEEN_ICP_MAX_HASHES; i++)
		positions->position[i] = ICP_NO_POSITION;
	bpf_loop(positions->table->n_hashes, icp_classic_one, positions, 0);
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
		u64 was;

		if (counts == !!(icp_load(word) & mask))
			return;
		/* With a result they are full barriers, without one they order nothing:
		 * tests/litmus/settle-fetching.litmus.
		 */
		if (counts)
			was = __sync_fetch_and_or(word, baleen_le64(mask));
		else
			was = __sync_fetch_and_and(word, baleen_le64(~mask));
		asm volatile("" : : "r"(was));
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

static long icp_test_one(u32 i, struct icp_positions *positions)
{
	u64 position = positions->position[i & (BALEEN_ICP_MAX_HASHES - 1)];

	if (position == ICP_NO_POSITION ||
	    baleen_classic_is_set(positions->table, positions->store, position))
		return 0;
	positions->err = -ENOENT;
	return 1;
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

/* How many positions there are. Out of line, so that what it takes to compute them is off
 * the stack when they are counted.
 */
static __noinline u32 icp_positions_of(struct icp_positions *positions,
				       const struct baleen_image *image, u64 hi, u64 lo)
{
	struct baleen_key key = baleen_squid_key(hi, lo);

	if (positions->table->hash == BALEEN_HASH_BLOCKED) {
		icp_positions_blocked(positions, &image->seed, &key);
		return ICP_BLOCKED_HASHES;
	}
	icp_positions_classic(positions, &image->seed, &key);
	return positions->table->n_hashes;
}

/* A key is counted also when its bits are all set: see baleen_plane_add(). */
static __noinline int icp_change_counting(const struct baleen_image *image, void *store, u64 hi,
					  u64 lo, u32 event)
{
	struct icp_positions positions = {
		.table = &image->table[BALEEN_TUPLE],
		.store = store,
		.is_up = event == BALEEN_STORE_INSERT,
	};
	u32 n_hashes = icp_positions_of(&positions, image, hi, lo);
	int err;

	if (!positions.is_up)
		bpf_loop(n_hashes, icp_test_one, &positions, 0);
	err = positions.err;
	if (!err)
		err = icp_count_all(&positions, n_hashes);
	return err == -ENOENT ? 0 : err ? err : 1;
}

#endif /* BALEEN_BPF_ICP_COUNTING_H */
