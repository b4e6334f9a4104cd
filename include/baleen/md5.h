/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MD5: the hash that Squid makes its cache keys with.
 *
 * Idea: the message is padded to whole blocks of 64 bytes: a byte 0x80, zeros, and
 * its length in bits as the last eight bytes. Each block is stirred into a state of
 * four words in 64 steps; each step adds a word of the block, the sine of its number
 * and a function of three words to the fourth, and rotates.
 *
 *      message      "\x01http://10.9.0.3/obj/1" | 0x80 | 0 ... 0 | 176 (bits, 64)
 *      state        01234567 89abcdef fedcba98 76543210, as bytes
 *      digest       the four words, little-endian, one behind the other
 *
 * Source: RFC 1321. Collisions are easily made (Wang et al. 2004): two URLs of one key
 * are one object to Squid as well, so nothing is lost here that was not before.
 *
 * Example: MD5 of the message above is 271b10fa47f72704cf53f2c5eacd81b0.
 */
#ifndef BALEEN_MD5_H
#define BALEEN_MD5_H

#include <baleen/port.h>

#define BALEEN_MD5_BYTES 16
#define BALEEN_MD5_BLOCK_BYTES 64
#define BALEEN_MD5_BLOCK_WORDS 16

/* Bytes behind a message: 0x80 and the length. */
#define BALEEN_MD5_PAD_BYTES 9

/**
 * struct baleen_md5 - the state between two blocks
 * @word: four words in host order
 */
struct baleen_md5 {
	u32 word[4];
};

/**
 * baleen_md5_init() - the state before the first block
 *
 * Context: any, BPF-safe.
 * Return: the state.
 */
baleen_inline struct baleen_md5 baleen_md5_init(void)
{
	return (struct baleen_md5){ { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}

/* RFC 1321 section 3.4: floor(2^32 * |sin(i + 1)|). */
static const u32 baleen_md5_sine[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
	0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
	0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
	0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
	0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
	0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
	0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
	0xeb86d391,
};

static const u8 baleen_md5_turn[4][4] = {
	{ 7, 12, 17, 22 },
	{ 5, 9, 14, 20 },
	{ 4, 11, 16, 23 },
	{ 6, 10, 15, 21 },
};

/* The functions F, G, H and I of the four rounds. */
baleen_inline u32 baleen_md5_mix(u32 round, u32 b, u32 c, u32 d)
{
	switch (round) {
	case 0: return d ^ (b & (c ^ d));
	case 1: return c ^ (d & (b ^ c));
	case 2: return b ^ c ^ d;
	default: return c ^ (b | ~d);
	}
}

/* Which word of the block a step takes. */
baleen_inline u32 baleen_md5_pick(u32 i)
{
	switch (i / 16) {
	case 0: return i;
	case 1: return (5 * i + 1) % 16;
	case 2: return (3 * i + 5) % 16;
	default: return 7 * i % 16;
	}
}

/**
 * baleen_md5_block() - stir a block in
 * @state: changed
 * @word_le: the block, aligned to four bytes
 *
 * Context: any, BPF-safe.
 */
baleen_inline void baleen_md5_block(struct baleen_md5 *state,
				    const u32 word_le[BALEEN_MD5_BLOCK_WORDS])
{
	u32 a = state->word[0], b = state->word[1], c = state->word[2], d = state->word[3];

	BALEEN_UNROLL
	for (u32 i = 0; i < 64; i++) {
		u32 turn = baleen_md5_turn[i / 16][i % 4];
		u32 sum = a + baleen_md5_mix(i / 16, b, c, d) +
			  baleen_le32(word_le[baleen_md5_pick(i)]) + baleen_md5_sine[i];

		a = d;
		d = c;
		c = b;
		b += sum << turn | sum >> (32 - turn);
	}
	state->word[0] += a;
	state->word[1] += b;
	state->word[2] += c;
	state->word[3] += d;
}

/**
 * baleen_md5_hi() - the first eight bytes of a digest
 * @state: after the last block
 *
 * Context: any, BPF-safe.
 * Return: them, as a number in network order.
 */
baleen_inline u64 baleen_md5_hi(const struct baleen_md5 *state)
{
	return (u64)__builtin_bswap32(state->word[0]) << 32 | __builtin_bswap32(state->word[1]);
}

/**
 * baleen_md5_lo() - the last eight bytes of a digest
 * @state: after the last block
 *
 * Context: any, BPF-safe.
 * Return: them, as a number in network order.
 */
baleen_inline u64 baleen_md5_lo(const struct baleen_md5 *state)
{
	return (u64)__builtin_bswap32(state->word[2]) << 32 | __builtin_bswap32(state->word[3]);
}

#endif /* BALEEN_MD5_H */
