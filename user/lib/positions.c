// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bits of a key in a plane of bits, as a list of positions. */
#include <errno.h>

#include "positions.h"
#include "string_keys.h"

/* Keys whose bits are computed, and lines asked for, ahead of insertion. */
#define AHEAD 16

/* Two positions of a key may be the same bit, which is counted once. */
static void append(struct baleen_positions *positions, u64 bit)
{
	for (u32 i = 0; i < positions->n; i++)
		if (positions->bit[i] == bit)
			return;
	positions->bit[positions->n++] = bit;
}

static void append_blocked(const struct baleen_table *table, const struct baleen_seed *seed,
			   const struct baleen_key *key, struct baleen_positions *positions)
{
	struct baleen_bloom_place place = baleen_bloom_locate(table, seed, key);
	u64 block = (u64)(place.block - table->first_block) * BALEEN_BLOCK_WORDS;

	for (u32 half = 0; half < 2; half++)
		for (u64 mask = place.mask[half]; mask; mask &= mask - 1)
			append(positions, (block + place.word[half]) * 64 + __builtin_ctzll(mask));
}

int baleen_positions_of(const struct baleen_image *image, const struct baleen_key *key,
			struct baleen_positions *positions)
{
	const struct baleen_table *table = &image->table[key->domain];
	u64 hash;

	if (table->hash == BALEEN_HASH_BLOCKED) {
		positions->n = 0;
		append_blocked(table, &image->seed, key, positions);
		return 0;
	}
	if (!baleen_classic_knows(table, key->domain)) {
		struct baleen_string string = baleen_key_string(key);

		if (image->key_spec != BALEEN_KEY_STRING)
			return -EOPNOTSUPP;
		baleen_positions_of_bytes(table, string.bytes, string.n_bytes, positions);
		return 0;
	}
	positions->n = 0;
	hash = baleen_hash64(&image->seed, key);
	for (u32 i = 0; i < table->n_hashes; i++)
		append(positions, baleen_classic_position(table, hash, key, i));
	return 0;
}

void baleen_positions_of_bytes(const struct baleen_table *table, const void *bytes, u32 n_bytes,
			       struct baleen_positions *positions)
{
	positions->n = 0;
	for (u32 i = 0; i < table->n_hashes; i++)
		append(positions, baleen_classic_position_bytes(table, bytes, n_bytes, i));
}

/* --- planes and counters ---------------------------------------------------- */

static u64 *plane_word(const struct baleen_filter *filter, u32 domain, u64 position)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return (u64 *)filter->bytes + (u64)table->first_block * BALEEN_BLOCK_WORDS + position / 64;
}

static bool bit_get(const struct baleen_filter *filter, u32 domain, u64 position)
{
	return baleen_le64(*plane_word(filter, domain, position)) >> position % 64 & 1;
}

/* There is one writer, so that each store needs to be whole, and no more. */
static bool bit_set(struct baleen_filter *filter, u32 domain, u64 position)
{
	u64 mask = baleen_le64(1ull << position % 64);
	u64 *at = plane_word(filter, domain, position), word = *at;

	__atomic_store_n(at, word | mask, __ATOMIC_RELEASE);
	return word & mask;
}

static void bit_clear(struct baleen_filter *filter, u32 domain, u64 position)
{
	u64 mask = baleen_le64(1ull << position % 64);
	u64 *at = plane_word(filter, domain, position);

	__atomic_store_n(at, *at & ~mask, __ATOMIC_RELEASE);
}

static u64 *counter_word(const struct baleen_filter *filter, u32 domain, u64 position)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u64 first = (u64)table->first_block + table->n_buckets;

	return (u64 *)filter->bytes + first * BALEEN_BLOCK_WORDS + position / BALEEN_WORD_COUNTERS;
}

static u32 counter_shift(u64 position)
{
	return position % BALEEN_WORD_COUNTERS * BALEEN_COUNTER_BITS;
}

u32 baleen_counter_get(const struct baleen_filter *filter, u32 domain, u64 position)
{
	u64 word = baleen_le64(*counter_word(filter, domain, position));

	return word >> counter_shift(position) & BALEEN_COUNTER_MAX;
}

/* No counter comes out of its four bits: callers see to that. */
static void counter_step(struct baleen_filter *filter, u32 domain, u64 position, bool is_up)
{
	u64 *at = counter_word(filter, domain, position);
	u64 one = 1ull << counter_shift(position), word = baleen_le64(*at);

	__atomic_store_n(at, baleen_le64(is_up ? word + one : word - one), __ATOMIC_RELEASE);
}

/* --- changes ----------------------------------------------------------------- */

bool baleen_positions_test(const struct baleen_filter *filter, u32 domain,
			   const struct baleen_positions *positions)
{
	for (u32 i = 0; i < positions->n; i++)
		if (!bit_get(filter, domain, positions->bit[i]))
			return false;
	return true;
}

bool baleen_positions_add(struct baleen_filter *filter, u32 domain,
			  const struct baleen_positions *positions)
{
	bool is_counting = filter->image.table[domain].kind == BALEEN_KIND_COUNTING;
	bool is_new = false;

	for (u32 i = 0; is_counting && i < positions->n; i++)
		if (baleen_counter_get(filter, domain, positions->bit[i]) < BALEEN_COUNTER_MAX)
			counter_step(filter, domain, positions->bit[i], true);
	for (u32 i = 0; i < positions->n; i++)
		is_new |= !bit_set(filter, domain, positions->bit[i]);
	return is_new;
}

bool baleen_positions_del(struct baleen_filter *filter, u32 domain,
			  const struct baleen_positions *positions)
{
	if (!baleen_positions_test(filter, domain, positions))
		return false;
	for (u32 i = 0; i < positions->n; i++)
		if (baleen_counter_get(filter, domain, positions->bit[i]) <= 1)
			bit_clear(filter, domain, positions->bit[i]);
	for (u32 i = 0; i < positions->n; i++) {
		u32 count = baleen_counter_get(filter, domain, positions->bit[i]);

		if (count && count < BALEEN_COUNTER_MAX)
			counter_step(filter, domain, positions->bit[i], false);
	}
	return true;
}

static void prefetch(const struct baleen_filter *filter, u32 domain,
		     const struct baleen_positions *positions)
{
	bool is_counting = filter->image.table[domain].kind == BALEEN_KIND_COUNTING;

	for (u32 i = 0; i < positions->n; i++) {
		__builtin_prefetch(plane_word(filter, domain, positions->bit[i]), 1);
		if (is_counting)
			__builtin_prefetch(counter_word(filter, domain, positions->bit[i]), 1);
	}
}

int baleen_positions_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			    size_t *n_done)
{
	struct baleen_positions ring[AHEAD];
	u32 domain = keys[0].domain;

	*n_done = 0;
	for (size_t i = 0; i < n + AHEAD; i++) {
		struct baleen_positions *positions = &ring[i % AHEAD];
		int err;

		if (i >= AHEAD) {
			baleen_positions_add(filter, domain, positions);
			filter->image.table[domain].n_entries++;
			++*n_done;
		}
		if (i >= n)
			continue;
		/* What the first key is refused for holds for all. */
		err = baleen_positions_of(&filter->image, &keys[i], positions);
		if (err)
			return err;
		prefetch(filter, domain, positions);
	}
	return 0;
}
