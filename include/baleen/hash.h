/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keyed hashes: the 32-bit permutation of IPv4 keys, and 64-bit hashes.
 *
 * The permutation loses nothing, which is what makes an IPv4 filter exact
 * (see cuckoo.h). The IPv6 hash is Multilinear-HM (Lemire and Kaser,
 * "Strongly universal string hashing is fast", The Computer Journal 2014,
 * section 3): over the choice of the secret seed, two different addresses
 * collide with probability 2^-64 whatever the addresses are, so nobody
 * without the seed can construct a collision. Its result is mixed by a
 * bijection, because cuckoo hashing needs more than pairwise independence
 * (Dietzfelbinger and Schellbach 2009) and consecutive addresses are what
 * lists are made of.
 */
#ifndef BALEEN_HASH_H
#define BALEEN_HASH_H

#include <baleen/key.h>

#define BALEEN_SEED_WORDS 12
#define BALEEN_TUPLE_WORDS 22

/**
 * struct baleen_seed - the secret of one filter, from getrandom()
 * @word: 0 and 1 key the permutations, 2 to 11 the IPv6 hash; all but 1 the
 *        keys of the hash of tuples
 * @tuple: keys of the hash of tuples, made of @word by baleen_seed_expand();
 *         not part of the image
 *
 * An attacker who knows the seed can craft keys that fill a bucket: keep images 0600.
 *
 * A public seed has no secret: @word[0] is the seed of another hash, of 32 bits, the other
 * words are zero. Under it the hash of a key of baleen_public_key() is the number that the
 * key was made of, so that tables can show what textbooks and other programs hash.
 */
struct baleen_seed {
	u64 word[BALEEN_SEED_WORDS];
	u64 tuple[BALEEN_TUPLE_WORDS];
};

/**
 * baleen_permute32() - keyed bijection on 32 bits
 * @seed: the filter's seed
 * @x: any 32-bit value
 *
 * Context: any, BPF-safe.
 * Return: the image of @x; baleen_unpermute32() takes it back.
 * Source: multiply, xor-shift, multiply as in MurmurHash3's fmix32 (Appleby),
 * with keyed odd multipliers.
 */
baleen_inline u32 baleen_permute32(const struct baleen_seed *seed, u32 x)
{
	/* A third multiplication bought nothing: random, consecutive, strided
	 * and bit-reversed sets of 1,000 to 996,147 keys filled 95 % with the
	 * first seed as often, and it costs 2 ns.
	 */
	x ^= (u32)seed->word[0];
	x *= (u32)(seed->word[0] >> 32) | 1;
	x ^= x >> 16;
	x *= (u32)seed->word[1] | 1;
	return x;
}

/* Inverse of an odd number modulo 2^32 by Newton's iteration: each step
 * doubles the number of right bits, and x itself is right to 3 bits.
 */
baleen_inline u32 baleen_inverse32(u32 x)
{
	u32 y = x;

	y *= 2 - x * y;
	y *= 2 - x * y;
	y *= 2 - x * y;
	y *= 2 - x * y;
	return y;
}

/**
 * baleen_unpermute32() - inverse of baleen_permute32()
 * @seed: the filter's seed
 * @x: a result of baleen_permute32() with the same seed
 *
 * Context: any.
 * Return: the value that was permuted.
 */
baleen_inline u32 baleen_unpermute32(const struct baleen_seed *seed, u32 x)
{
	x *= baleen_inverse32((u32)seed->word[1] | 1);
	x ^= x >> 16;
	x *= baleen_inverse32((u32)(seed->word[0] >> 32) | 1);
	return x ^ (u32)seed->word[0];
}

/* Bijection on 64 bits; the two multipliers are those of SplitMix64 (Steele,
 * Lea and Flood 2014, variant 13 of Stafford).
 */
baleen_inline u64 baleen_mix64(u64 x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Inverse of baleen_mix64(). */
baleen_inline u64 baleen_unmix64(u64 x)
{
	x ^= x >> 31 ^ x >> 62;
	x *= 0x319642b2d24d8ec3ull;
	x ^= x >> 27 ^ x >> 54;
	x *= 0x96de1b173f119089ull;
	return x ^ x >> 30 ^ x >> 60;
}

/**
 * baleen_seed_is_public() - has the seed no secret?
 * @seed: its words are set
 *
 * Context: any.
 * Return: true or false.
 */
baleen_inline bool baleen_seed_is_public(const struct baleen_seed *seed)
{
	u64 others = seed->word[0] >> 32;

	for (u32 i = 1; i < BALEEN_SEED_WORDS; i++)
		others |= seed->word[i];
	return !others;
}

/**
 * baleen_public_key() - the key whose hash is a number of choice
 * @hash: the number
 *
 * Context: any.
 * Return: a BALEEN_TUPLE of which baleen_hash64() is @hash under a public seed.
 */
baleen_inline struct baleen_key baleen_public_key(u64 hash)
{
	u64 word = baleen_unmix64(hash);

	return (struct baleen_key){
		.domain = BALEEN_TUPLE,
		.hi = word & 0xffffffff00000000ull,
		.lo = word << 32,
	};
}

/**
 * baleen_seed_expand() - make the keys of the tuple hash
 * @seed: its words are set
 *
 * A SplitMix64 stream (Steele, Lea and Flood 2014) that starts at a secret,
 * each word hidden by one of the secret words: as good as more of them for who
 * cannot see them. Of a public seed those that let the upper halves of hi and lo through:
 * x = 2^32 (hi >> 32) and y = 2^32 (lo >> 32) in baleen_hash_tuple().
 *
 * Context: any.
 */
baleen_inline void baleen_seed_expand(struct baleen_seed *seed)
{
	u64 state = baleen_mix64(seed->word[0]) ^ seed->word[2];

	if (baleen_seed_is_public(seed)) {
		for (u32 i = 0; i < BALEEN_TUPLE_WORDS; i++)
			seed->tuple[i] = i == 2 || i == 15 ? 1ull << 32 : 0;
		return;
	}
	for (u32 i = 0; i < BALEEN_TUPLE_WORDS; i++) {
		state += 0x9e3779b97f4a7c15ull;
		seed->tuple[i] = baleen_mix64(state) ^ seed->word[2 + i % 10];
	}
}

/**
 * baleen_permute64() - keyed bijection on 64 bits
 * @seed: the filter's seed
 * @x: any 64-bit value
 *
 * Context: any, BPF-safe.
 * Return: the image of @x; baleen_unpermute64() takes it back.
 */
baleen_inline u64 baleen_permute64(const struct baleen_seed *seed, u64 x)
{
	return baleen_mix64((seed->word[0] ^ x) * (seed->word[1] | 1));
}

/**
 * baleen_unpermute64() - inverse of baleen_permute64()
 * @seed: the filter's seed
 * @x: a result of baleen_permute64() with the same seed
 *
 * Context: any.
 * Return: the value that was permuted.
 */
baleen_inline u64 baleen_unpermute64(const struct baleen_seed *seed, u64 x)
{
	u64 odd = seed->word[1] | 1, inverse = odd;

	/* Newton's iteration, as in baleen_inverse32(), one step more. */
	for (int i = 0; i < 5; i++)
		inverse *= 2 - odd * inverse;
	return baleen_unmix64(x) * inverse ^ seed->word[0];
}

/**
 * baleen_hash_ip6() - 64-bit keyed hash of an IPv6 key
 * @seed: the filter's seed
 * @hi: the upper half of the address as a number
 * @lo: the lower half
 *
 * Context: any, BPF-safe.
 * Return: the hash; two addresses collide with probability 2^-64.
 * Source: Lemire and Kaser 2014, Multilinear-HM with 64-bit keys, twice.
 */
baleen_inline u64 baleen_hash_ip6(const struct baleen_seed *seed, u64 hi, u64 lo)
{
	const u64 *k = &seed->word[2];
	u64 a0 = (u32)(hi >> 32), a1 = (u32)hi;
	u64 a2 = (u32)(lo >> 32), a3 = (u32)lo;
	u64 x = k[0] + (k[1] + a0) * (k[2] + a1) + (k[3] + a2) * (k[4] + a3);
	u64 y = k[5] + (k[6] + a0) * (k[7] + a1) + (k[8] + a2) * (k[9] + a3);

	return baleen_mix64((x & 0xffffffff00000000ull) | y >> 32);
}

/**
 * baleen_hash_tuple() - 64-bit keyed hash of a key of several fields
 * @seed: the filter's seed
 * @key: a BALEEN_TUPLE
 *
 * Context: any, BPF-safe.
 * Return: the hash; two keys collide with probability 2^-64, as far as the
 * expanded seed is as good as a random one.
 * Source: Lemire and Kaser 2014, Multilinear-HM with 64-bit keys, twice.
 */
baleen_inline u64 baleen_hash_tuple(const struct baleen_seed *seed, const struct baleen_key *key)
{
	const u64 word[] = { key->hi, key->lo, key->dst_hi, key->dst_lo, key->rest };
	const u64 *k = seed->tuple;
	u64 x = k[0], y = k[11];

#pragma GCC unroll 5
	for (u32 i = 0; i < 5; i++) {
		u64 high = word[i] >> 32, low = (u32)word[i];

		x += (k[1 + 2 * i] + high) * (k[2 + 2 * i] + low);
		y += (k[12 + 2 * i] + high) * (k[13 + 2 * i] + low);
	}
	return baleen_mix64((x & 0xffffffff00000000ull) | y >> 32);
}

/**
 * baleen_hash64() - the 64-bit hash of a key of any domain
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: the hash; of a BALEEN_IP4 or BALEEN_WORD key a bijection.
 */
baleen_inline u64 baleen_hash64(const struct baleen_seed *seed, const struct baleen_key *key)
{
	switch (key->domain) {
	case BALEEN_IP4: return baleen_permute64(seed, key->ip4);
	case BALEEN_IP6: return baleen_hash_ip6(seed, key->hi, key->lo);
	case BALEEN_WORD: return baleen_permute64(seed, key->lo);
	default: return baleen_hash_tuple(seed, key);
	}
}

#endif /* BALEEN_HASH_H */
