/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MurmurHash3_x86_32 and FNV-1a: the hashes of other people's Bloom filters.
 *
 * Neither has a secret: who may choose keys can choose them so that they
 * collide. They are here to read and make the bits that others make.
 *
 * MurmurHash3_x86_32 (Appleby 2011) takes four bytes at a time, little-endian,
 * mixes each into the state and the length at the end; what is left over of the
 * last four is mixed in without stirring. FNV-1a (Fowler, Noll and Vo 1991):
 * each byte is xored in, then the state multiplied by a prime.
 *
 * Example: murmur3("") with seed 0 is 0, with seed 1 0x514e28b7; FNV-1a of "" is
 * 0x811c9dc5, of "a" 0xe40c292c.
 */
#ifndef BALEEN_MURMUR3_H
#define BALEEN_MURMUR3_H

#include <baleen/key.h>

#define BALEEN_FNV1A_BASIS 0x811c9dc5u
#define BALEEN_FNV1A_PRIME 0x01000193u

baleen_inline u32 baleen_rotate32(u32 x, u32 n)
{
	return x << n | x >> (32 - n);
}

/* Four bytes before they meet the state. */
baleen_inline u32 baleen_murmur3_scramble(u32 four)
{
	return baleen_rotate32(four * 0xcc9e2d51, 15) * 0x1b873593;
}

baleen_inline u32 baleen_murmur3_mix(u32 state, u32 four)
{
	return baleen_rotate32(state ^ baleen_murmur3_scramble(four), 13) * 5 + 0xe6546b64;
}

baleen_inline u32 baleen_murmur3_finish(u32 state, u32 n_bytes)
{
	state ^= n_bytes;
	state ^= state >> 16;
	state *= 0x85ebca6b;
	state ^= state >> 13;
	state *= 0xc2b2ae35;
	return state ^ state >> 16;
}

/* The four bytes of a number in network order, read as a little-endian one. */
baleen_inline u32 baleen_murmur3_mix_be(u32 state, u32 number)
{
	return baleen_murmur3_mix(state, __builtin_bswap32(number));
}

/**
 * baleen_murmur3_key() - MurmurHash3_x86_32 of the bytes of an address
 * @key: a BALEEN_IP4 or BALEEN_IP6: 4 or 16 bytes in network order
 * @seed: seed of the hash, not of a filter
 *
 * Context: any, BPF-safe.
 * Return: the hash.
 */
baleen_inline u32 baleen_murmur3_key(const struct baleen_key *key, u32 seed)
{
	if (key->domain == BALEEN_IP4)
		return baleen_murmur3_finish(baleen_murmur3_mix_be(seed, key->ip4), 4);
	seed = baleen_murmur3_mix_be(seed, key->hi >> 32);
	seed = baleen_murmur3_mix_be(seed, key->hi);
	seed = baleen_murmur3_mix_be(seed, key->lo >> 32);
	seed = baleen_murmur3_mix_be(seed, key->lo);
	return baleen_murmur3_finish(seed, 16);
}

/**
 * baleen_murmur3_bytes() - MurmurHash3_x86_32 of any bytes
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 * @seed: seed of the hash, not of a filter
 *
 * Context: any but BPF.
 * Return: the hash.
 */
baleen_inline u32 baleen_murmur3_bytes(const void *bytes, u32 n_bytes, u32 seed)
{
	const u8 *at = (const u8 *)bytes;
	u32 left = n_bytes, tail = 0;

	for (; left >= 4; left -= 4, at += 4)
		seed = baleen_murmur3_mix_be(seed, baleen_load_be32(at));
	while (left)
		tail = tail << 8 | at[--left];
	/* Nothing left scrambles to 0. */
	return baleen_murmur3_finish(seed ^ baleen_murmur3_scramble(tail), n_bytes);
}

/* The lowest @n_bytes of a number in network order. */
baleen_inline u32 baleen_fnv1a_number(u32 state, u64 number, u32 n_bytes)
{
#pragma GCC unroll 8
	for (u32 i = n_bytes; i; i--)
		state = (state ^ (u8)(number >> (8 * i - 8))) * BALEEN_FNV1A_PRIME;
	return state;
}

/**
 * baleen_fnv1a_key() - 32-bit FNV-1a of the bytes of an address
 * @key: a BALEEN_IP4 or BALEEN_IP6: 4 or 16 bytes in network order
 *
 * Context: any, BPF-safe.
 * Return: the hash.
 */
baleen_inline u32 baleen_fnv1a_key(const struct baleen_key *key)
{
	u32 state = BALEEN_FNV1A_BASIS;

	if (key->domain == BALEEN_IP4)
		return baleen_fnv1a_number(state, key->ip4, 4);
	return baleen_fnv1a_number(baleen_fnv1a_number(state, key->hi, 8), key->lo, 8);
}

/**
 * baleen_fnv1a_bytes() - 32-bit FNV-1a of any bytes
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 *
 * Context: any but BPF.
 * Return: the hash.
 */
baleen_inline u32 baleen_fnv1a_bytes(const void *bytes, u32 n_bytes)
{
	const u8 *at = (const u8 *)bytes;
	u32 state = BALEEN_FNV1A_BASIS;

	for (u32 i = 0; i < n_bytes; i++)
		state = (state ^ at[i]) * BALEEN_FNV1A_PRIME;
	return state;
}

#endif /* BALEEN_MURMUR3_H */
