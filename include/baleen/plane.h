/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bits of a key in a plane of bits, as a list of positions: what everything
 * but the packet path does with them.
 *
 * Position p is bit p % 64 of word p / 64 of the plane, whether it is blocked or
 * classic. See bloom.h and classic.h. Positions come from the hash of a key, never
 * from the body, and are below baleen_table_bits(): the bit and its counter are
 * inside the table, whatever that holds.
 */
#ifndef BALEEN_PLANE_H
#define BALEEN_PLANE_H

#include <baleen/counting.h>

/**
 * struct baleen_positions - the bits of one key
 * @n: how many
 * @bit: the positions, in no order; each once, unless baleen_table_counts_each()
 */
struct baleen_positions {
	u32 n;
	u64 bit[BALEEN_MAX_POSITIONS];
};

/**
 * baleen_table_counts_each() - how positions of a key that are the same bit count
 * @table: a Bloom, classic or counting table
 *
 * The hashes of textbooks (Fan et al. 2000, section V-C) count for each hash function.
 *
 * Context: any but BPF.
 * Return: true where the bit counts for each of them; false where it counts once.
 */
static inline bool baleen_table_counts_each(const struct baleen_table *table)
{
	return table->kind == BALEEN_KIND_COUNTING &&
	       (table->hash == BALEEN_HASH_MURMUR3 || table->hash == BALEEN_HASH_MURMUR3_FNV1A);
}

/**
 * baleen_positions_times() - how often a bit is among the first positions of a key
 * @positions: the positions
 * @n: so many of them
 * @bit: the bit
 *
 * Context: any but BPF.
 * Return: 0 to @n.
 */
static inline u32 baleen_positions_times(const struct baleen_positions *positions, u32 n, u64 bit)
{
	u32 times = 0;

	for (u32 i = 0; i < n; i++)
		times += positions->bit[i] == bit;
	return times;
}

static inline void baleen_positions_append(const struct baleen_table *table,
					   struct baleen_positions *positions, u64 bit)
{
	if (baleen_table_counts_each(table) ||
	    !baleen_positions_times(positions, positions->n, bit))
		positions->bit[positions->n++] = bit;
}

static inline void baleen_positions_make_blocked(const struct baleen_table *table,
						 const struct baleen_seed *seed,
						 const struct baleen_key *key,
						 struct baleen_positions *positions)
{
	struct baleen_bloom_place place = baleen_bloom_locate(table, seed, key);
	u64 block = (u64)(place.block - table->first_block) * BALEEN_BLOCK_WORDS;

	for (u32 half = 0; half < 2; half++)
		for (u64 mask = place.mask[half]; mask; mask &= mask - 1)
			baleen_positions_append(table, positions,
						(block + place.word[half]) * 64 +
							baleen_lowest64(mask));
}

/**
 * baleen_positions_make() - the bits of a key
 * @table: a Bloom, classic or counting table of @key's domain
 * @seed: the filter's seed
 * @key: the key
 * @positions: filled in; untouched on failure
 *
 * Context: any but BPF.
 * Return: 0; -EOPNOTSUPP where the hash is not keyed and @key is not an address.
 */
static inline int baleen_positions_make(const struct baleen_table *table,
					const struct baleen_seed *seed,
					const struct baleen_key *key,
					struct baleen_positions *positions)
{
	u64 hash;

	if (table->hash != BALEEN_HASH_BLOCKED && !baleen_classic_knows(table, key->domain))
		return -EOPNOTSUPP;
	positions->n = 0;
	if (table->hash == BALEEN_HASH_BLOCKED) {
		baleen_positions_make_blocked(table, seed, key, positions);
		return 0;
	}
	hash = baleen_hash64(seed, key);
	for (u32 i = 0; i < table->n_hashes; i++)
		baleen_positions_append(table, positions,
					baleen_classic_position(table, hash, key, i));
	return 0;
}

/* --- planes and counters ---------------------------------------------------- */

static inline u64 *baleen_plane_word(const struct baleen_table *table, void *bytes, u64 position)
{
	return (u64 *)bytes + (u64)table->first_block * BALEEN_BLOCK_WORDS + position / 64;
}

static inline bool baleen_plane_get(const struct baleen_table *table, void *bytes, u64 position)
{
	return baleen_le64(*baleen_plane_word(table, bytes, position)) >> position % 64 & 1;
}

/* There is one writer, so that each store needs to be whole, and no more. */
static inline void baleen_plane_put(const struct baleen_table *table, void *bytes, u64 position,
				    bool value)
{
	u64 mask = baleen_le64(1ull << position % 64);
	u64 *word = baleen_plane_word(table, bytes, position);

	baleen_store_word(word, value ? *word | mask : *word & ~mask);
}

static inline u64 *baleen_counter_word(const struct baleen_table *table, void *bytes, u64 position)
{
	u64 first = (u64)table->first_block + table->n_buckets;

	return (u64 *)bytes + first * BALEEN_BLOCK_WORDS + position / BALEEN_WORD_COUNTERS;
}

static inline u32 baleen_counter_shift(u64 position)
{
	return position % BALEEN_WORD_COUNTERS * BALEEN_COUNTER_BITS;
}

/**
 * baleen_counter_get() - how many keys have set a bit
 * @table: a counting table
 * @bytes: the image
 * @position: the bit
 *
 * Context: any but BPF.
 * Return: 0 to BALEEN_COUNTER_MAX, which stands for that many or more.
 */
static inline u32 baleen_counter_get(const struct baleen_table *table, void *bytes, u64 position)
{
	u64 word = baleen_le64(*baleen_counter_word(table, bytes, position));

	return word >> baleen_counter_shift(position) & BALEEN_COUNTER_MAX;
}

/* No counter comes out of its four bits: callers see to that. */
static inline void baleen_counter_step(const struct baleen_table *table, void *bytes, u64 position,
				       bool is_up)
{
	u64 *at = baleen_counter_word(table, bytes, position);
	u64 one = 1ull << baleen_counter_shift(position), word = baleen_le64(*at);

	baleen_store_word(at, baleen_le64(is_up ? word + one : word - one));
}

/* --- changes ----------------------------------------------------------------- */

/**
 * baleen_plane_test() - are all these bits set?
 * @table: a Bloom, classic or counting table
 * @bytes: the image
 * @positions: the bits, at least one
 *
 * Context: any but BPF.
 * Return: true or false.
 */
static inline bool baleen_plane_test(const struct baleen_table *table, void *bytes,
				     const struct baleen_positions *positions)
{
	for (u32 i = 0; i < positions->n; i++)
		if (!baleen_plane_get(table, bytes, positions->bit[i]))
			return false;
	return true;
}

/**
 * baleen_plane_add() - set bits, and count them where the table counts
 * @table: a Bloom, classic or counting table
 * @bytes: the image
 * @positions: the bits of one key
 *
 * Counters first, then bits, each store atomic: a writer that is killed leaves
 * counters that are too high at the worst, so that a bit stays set for longer.
 *
 * A key is counted also when its bits are all set: they may be those of other keys,
 * and a key that had not counted would go when they do.
 *
 * Context: any but BPF; one writer at a time.
 * Return: whether the table changed: a bit was not set before, or it counts.
 */
static inline bool baleen_plane_add(const struct baleen_table *table, void *bytes,
				    const struct baleen_positions *positions)
{
	bool is_counting = table->kind == BALEEN_KIND_COUNTING;
	bool is_new = is_counting;

	for (u32 i = 0; is_counting && i < positions->n; i++)
		if (baleen_counter_get(table, bytes, positions->bit[i]) < BALEEN_COUNTER_MAX)
			baleen_counter_step(table, bytes, positions->bit[i], true);
	for (u32 i = 0; i < positions->n; i++) {
		is_new |= !baleen_plane_get(table, bytes, positions->bit[i]);
		baleen_plane_put(table, bytes, positions->bit[i], true);
	}
	return is_new;
}

/**
 * baleen_plane_del() - count bits down, and clear those that come to zero
 * @table: a counting table
 * @bytes: the image
 * @positions: the bits of one key
 *
 * Does nothing unless all of them are set. Bits that only this key has are cleared
 * first: a writer killed after that leaves counters that are too high, but a second try
 * finds the key gone, and counts nothing down twice. A key without such a bit is a false
 * positive from then on, and nobody can tell. A killed writer leaves a bit without a
 * count, which is cleared.
 *
 * Context: any but BPF; one writer at a time.
 * Return: whether all of them were set.
 */
static inline bool baleen_plane_del(const struct baleen_table *table, void *bytes,
				    const struct baleen_positions *positions)
{
	if (!baleen_plane_test(table, bytes, positions))
		return false;
	for (u32 i = 0; i < positions->n; i++) {
		u32 count = baleen_counter_get(table, bytes, positions->bit[i]);

		if (count < BALEEN_COUNTER_MAX &&
		    count <= baleen_positions_times(positions, positions->n, positions->bit[i]))
			baleen_plane_put(table, bytes, positions->bit[i], false);
	}
	for (u32 i = 0; i < positions->n; i++) {
		u32 count = baleen_counter_get(table, bytes, positions->bit[i]);

		if (count && count < BALEEN_COUNTER_MAX)
			baleen_counter_step(table, bytes, positions->bit[i], false);
	}
	return true;
}

/**
 * baleen_bloom_add() - set the bits of a key in its block
 * @table: a Bloom table of @key's domain
 * @seed: the filter's seed
 * @bytes: the image
 * @key: the key
 *
 * Context: any but BPF; one writer at a time.
 * Return: whether a bit was not set before.
 */
static inline bool baleen_bloom_add(const struct baleen_table *table,
				    const struct baleen_seed *seed, void *bytes,
				    const struct baleen_key *key)
{
	struct baleen_bloom_place place = baleen_bloom_locate(table, seed, key);
	struct baleen_block *block = (struct baleen_block *)bytes + place.block;
	u64 missing = 0;

	for (u32 half = 0; half < 2; half++) {
		u64 mask = baleen_le64(place.mask[half]);
		u64 *word = &block->word[place.word[half]];

		missing |= mask & ~*word;
		baleen_store_word(word, *word | mask);
	}
	return missing;
}

#endif /* BALEEN_PLANE_H */
