/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The classic Bloom filter: k independent positions anywhere in m bits.
 *
 * Idea: a key is hashed k times, each time to one of m bits, and all of them
 * are set. A key is maybe a member when all its bits are set; one that is not
 * proves that it is none. It takes any m and k and fewer bits than a blocked
 * filter (bloom.h), at the price of up to k cache lines a key.
 *
 * Papers: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors"
 * (CACM 1970); Broder and Mitzenmacher, "Network Applications of Bloom Filters:
 * A Survey" (Internet Mathematics 2004).
 *
 *      position p of 0..m - 1: block p / 512, word p / 64 % 8, bit p % 64; the
 *      bits behind m in the last block are zero:
 *
 *      [ block 0: 512 bits | block 1: 512 bits | 0..m - 1025 | spare, zero ]
 *
 *      keyed:         p_i = mix64(hash + i * odd) * m >> 64
 *      murmur3:       p_i = murmur3(bytes, seed i) % m
 *      murmur3-fnv1a: p_0 = murmur3(bytes, seed 0) % m, p_1 = fnv1a(bytes) % m
 *      squid:         p_i = the i-th 32 bits of the key, an MD5, % m; k = 4
 *      bip37:         p_i = murmur3(bytes, seed i * 0xfba4c795 + tweak) % m, unsigned
 *
 * The bytes of an address are its 4 or 16 in network order. Python's mmh3.hash()
 * returns a signed number, and % there is never negative, so it is the signed
 * number that is taken modulo m. Where m is a power of two that is the textbook's
 * unsigned number modulo m; elsewhere not, and bits that other languages make of
 * the unsigned number are others. Of strings a form says so, and the seed to start from:
 * see enum baleen_form, text_hash.h.
 *
 * The filters of Bitcoin's light clients (BIP 37, "Connection Bloom filtering", Hearn and
 * Corallo 2012) have the last of these hashes; bit p is bit p % 8 of byte p / 8, as here.
 *
 * Example: murmur3(c0 00 02 02, seed 0) = 0x94816774, signed -1803458700: with
 * m = 1000 position 300, while the unsigned number would give 596.
 *
 * Error: after n keys a bit is still zero with (1 - 1/m)^kn, about e^(-kn/m), so
 * the rate is (1 - e^(-kn/m))^k, least where half of the bits are set, k =
 * m/n ln 2. At m/n = 8, k = 6: 2.16 %; 16 and 11: 0.0459 %. The exact rate is a
 * little higher (Bose et al., "On the false-positive rate of Bloom filters",
 * Information Processing Letters 2008), half full by about k^2 / 6m of itself:
 * the share of set bits varies, and its power k gains by that. For k = 8 and m =
 * 10,000 that is 0.1 %.
 */
#ifndef BALEEN_CLASSIC_H
#define BALEEN_CLASSIC_H

#include <baleen/image.h>
#include <baleen/murmur3.h>
#include <baleen/text_hash.h>

/* Between the seeds of two positions of BIP 37. */
#define BALEEN_BIP37_STEP 0xfba4c795u

/**
 * baleen_scale64() - a 64-bit number scaled down to a range
 * @x: any number
 * @n: size of the range
 *
 * By halves, since BPF has no product of 128 bits.
 *
 * Context: any, BPF-safe.
 * Return: floor(@x * @n / 2^64), 0 to @n - 1.
 */
baleen_inline u64 baleen_scale64(u64 x, u64 n)
{
	u64 x_hi = x >> 32, x_lo = (u32)x, n_hi = n >> 32, n_lo = (u32)n;
	u64 middle = baleen_opaque64(x_hi * n_lo + (x_lo * n_lo >> 32));

	return x_hi * n_hi + (middle >> 32) + (((u32)middle + x_lo * n_hi) >> 32);
}

/**
 * baleen_signed_modulo() - a 32-bit hash modulo m, as Python has it
 * @hash: the bits of a signed number
 * @m: 1 to 2^32
 *
 * Context: any, BPF-safe.
 * Return: the remainder, 0 to @m - 1, that floor division leaves.
 */
baleen_inline u64 baleen_signed_modulo(u32 hash, u64 m)
{
	u64 extended = hash | (0 - (u64)(hash >> 31)) << 32;

	/* m << 31 is at least 2^31: the sum is never negative. */
	return (extended + (m << 31)) % m;
}

/**
 * baleen_classic_knows() - can positions be made of such a key?
 * @table: a classic table, or a counting one that is not blocked
 * @domain: domain of the key
 *
 * A BALEEN_TUPLE has only a keyed hash of a string, no bytes. Squid's hash is only for keys
 * of BALEEN_KEY_SQUID; the validator checks this.
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_classic_knows(const struct baleen_table *table, u32 domain)
{
	if (table->hash == BALEEN_HASH_SQUID)
		return domain == BALEEN_TUPLE;
	return table->hash == BALEEN_HASH_KEYED || domain <= BALEEN_IP6;
}

/* One of the four quarters of an MD5; see squid.h. */
baleen_inline u32 baleen_squid_quarter(const struct baleen_key *key, u32 i)
{
	u64 half = i & 2 ? key->lo : key->hi;

	return i & 1 ? half : half >> 32;
}

/* One of the positions that the seed of the filter makes of a 64-bit hash. */
baleen_inline u64 baleen_classic_keyed(const struct baleen_table *table, u64 hash, u32 i)
{
	return baleen_scale64(baleen_mix64(hash + i * 0x9e3779b97f4a7c15ull),
			      baleen_table_bits(table));
}

/**
 * baleen_classic_position() - one of the positions of a key
 * @table: a table that knows keys like @key
 * @hash: baleen_hash64() of @key
 * @key: the key
 * @i: which of the positions, from 0
 *
 * Context: any, BPF-safe.
 * Return: the position, below baleen_table_bits(@table).
 */
baleen_inline u64 baleen_classic_position(const struct baleen_table *table, u64 hash,
					  const struct baleen_key *key, u32 i)
{
	u64 m = baleen_table_bits(table);

	if (table->hash == BALEEN_HASH_KEYED)
		return baleen_classic_keyed(table, hash, i);
	if (table->hash == BALEEN_HASH_SQUID)
		return baleen_squid_quarter(key, i) % m;
	if (table->hash == BALEEN_HASH_MURMUR3_FNV1A && i)
		return baleen_fnv1a_key(key) % m;
	return baleen_signed_modulo(baleen_murmur3_key(key, i), m);
}

/* One of the positions of a string in a form. */
static inline u64 baleen_classic_position_text(const struct baleen_table *table,
					       const struct baleen_seed *seed, const void *bytes,
					       u32 n_bytes, u32 i)
{
	struct baleen_text text = { (const u8 *)bytes, n_bytes, table->form };
	u32 step = table->hash == BALEEN_HASH_BIP37 ? BALEEN_BIP37_STEP : 1, hash;
	u64 m = baleen_table_bits(table);

	if (table->hash == BALEEN_HASH_MURMUR3_FNV1A && i) {
		text.form &= ~BALEEN_FORM_QUOTED;
		return baleen_text_fnv1a(&text) % m;
	}
	hash = baleen_text_murmur3(&text, (u32)seed->word[0] + i * step);
	return table->form & BALEEN_FORM_UNSIGNED ? hash % m : baleen_signed_modulo(hash, m);
}

/**
 * baleen_classic_position_bytes() - one of the positions of a string
 * @table: a table whose hash is not keyed
 * @seed: the filter's seed
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 * @i: which of the positions, from 0
 *
 * Context: any but BPF.
 * Return: the position, below baleen_table_bits(@table).
 */
baleen_inline u64 baleen_classic_position_bytes(const struct baleen_table *table,
						const struct baleen_seed *seed, const void *bytes,
						u32 n_bytes, u32 i)
{
	u64 m = baleen_table_bits(table);

	if (table->form)
		return baleen_classic_position_text(table, seed, bytes, n_bytes, i);
	if (table->hash == BALEEN_HASH_MURMUR3_FNV1A && i)
		return baleen_fnv1a_bytes(bytes, n_bytes) % m;
	return baleen_signed_modulo(baleen_murmur3_bytes(bytes, n_bytes, i), m);
}

/* Is the bit at a position of the plane set? */
baleen_inline bool baleen_classic_is_set(const struct baleen_table *table, const void *store,
					 u64 position)
{
	const struct baleen_block *block =
		baleen_store_block(store, table->first_block + (u32)(position >> 9));

	return block && baleen_le64(block->word[position >> 6 & 7]) >> (position & 63) & 1;
}

/**
 * baleen_classic_test() - may the key be in the filter?
 * @table: a classic table of @key's domain, or a counting one that is not
 *         blocked
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Ends at the first bit that is not set: of a filter half full that is the
 * second in the mean, and each would be a cache miss.
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe, 0 surely not; 0 for a string, see
 * baleen_classic_test_bytes(), where the hash is not keyed.
 */
baleen_inline int baleen_classic_test(const struct baleen_table *table,
				      const struct baleen_seed *seed, const void *store,
				      const struct baleen_key *key)
{
	u64 hash = baleen_hash64(seed, key);

	if (!table->n_hashes || !baleen_classic_knows(table, key->domain))
		return 0;
	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_MAX_POSITIONS; i++) {
		if (i >= table->n_hashes)
			break;
		if (!baleen_classic_is_set(table, store,
					   baleen_classic_position(table, hash, key, i)))
			return 0;
	}
	return 1;
}

/**
 * baleen_classic_test_bytes() - may the string be in the filter?
 * @table: a classic or counting table whose hash is not keyed
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 *
 * Context: any but BPF.
 * Return: 1 maybe, 0 surely not.
 */
baleen_inline int baleen_classic_test_bytes(const struct baleen_table *table,
					    const struct baleen_seed *seed, const void *store,
					    const void *bytes, u32 n_bytes)
{
	for (u32 i = 0; i < table->n_hashes; i++)
		if (!baleen_classic_is_set(table, store,
					   baleen_classic_position_bytes(table, seed, bytes,
									 n_bytes, i)))
			return 0;
	return 1;
}

#endif /* BALEEN_CLASSIC_H */
