/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MD5 as section 3 of RFC 1321 tells it: byte by byte, with its table from the sine,
 * and nothing of md5.h.
 */
#ifndef BALEEN_TESTS_SLOW_MD5_H
#define BALEEN_TESTS_SLOW_MD5_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <baleen/port.h>

static inline u32 slow_md5_turn(u32 x, u32 n)
{
	return x << n | x >> (32 - n);
}

static inline void slow_md5_block(u32 state[4], const u8 *block)
{
	static const u32 turns[4][4] = {
		{ 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
	};
	u32 a = state[0], b = state[1], c = state[2], d = state[3], f, k;

	for (u32 i = 0; i < 64; i++) {
		if (i < 16) {
			f = (b & c) | (~b & d);
			k = i;
		} else if (i < 32) {
			f = (b & d) | (c & ~d);
			k = (5 * i + 1) % 16;
		} else if (i < 48) {
			f = b ^ c ^ d;
			k = (3 * i + 5) % 16;
		} else {
			f = c ^ (b | ~d);
			k = 7 * i % 16;
		}
		f += a + (u32)floor(4294967296. * fabs(sin(i + 1)));
		f += (u32)block[4 * k] | (u32)block[4 * k + 1] << 8 | (u32)block[4 * k + 2] << 16 |
		     (u32)block[4 * k + 3] << 24;
		a = d;
		d = c;
		c = b;
		b += slow_md5_turn(f, turns[i / 16][i % 4]);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

static inline void slow_md5(const void *message, size_t n_bytes, u8 digest[16])
{
	u32 state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	size_t n_padded = (n_bytes + 8) / 64 * 64 + 64;
	u8 *padded = calloc(n_padded, 1);

	if (n_bytes)
		memcpy(padded, message, n_bytes);
	padded[n_bytes] = 0x80;
	for (u32 i = 0; i < 8; i++)
		padded[n_padded - 8 + i] = (u64)n_bytes * 8 >> 8 * i;
	for (size_t at = 0; at < n_padded; at += 64)
		slow_md5_block(state, padded + at);
	for (u32 i = 0; i < 16; i++)
		digest[i] = state[i / 4] >> i % 4 * 8;
	free(padded);
}

#endif /* BALEEN_TESTS_SLOW_MD5_H */
