/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gaps of ascending numbers in few bits (Rice and Plaunt 1971; Golomb 1966).
 *
 * A gap g is written as g >> k ones, a zero, and the k low bits of g, the lowest first. Bits
 * fill bytes from the lowest one on. With the best k, n numbers that are drawn from 2^b take
 * some log2(2^b / n) + 1.5 bits each: a million of IPv4 addresses 13.6 bits.
 *
 * Example, k = 2: the numbers 1, 7, 8 have the gaps 1, 5, 0:
 *
 *      gap     1      5      0
 *      bits    0 10   1 0 10   0 00           as they come
 *      bytes   0x2a 0x00                      the first bit is the lowest of the first byte
 */
#ifndef BALEEN_RICE_H
#define BALEEN_RICE_H

#include "set/numbers.h"

/* Most low bits of a gap. */
#define BALEEN_RICE_MAX 128

/**
 * struct baleen_bits_out - bits that are written
 * @byte: bytes of them; to be freed by the caller
 * @n_bytes: how many
 * @room: allocated
 * @pending: bits that fill no byte yet
 * @n_pending: how many, below 8 between two calls
 */
struct baleen_bits_out {
	u8 *byte;
	size_t n_bytes;
	size_t room;
	u64 pending;
	u32 n_pending;
};

/**
 * struct baleen_bits_in - bits that are read
 * @byte: bytes of them
 * @n_bytes: how many
 * @at: the next bit
 */
struct baleen_bits_in {
	const u8 *byte;
	size_t n_bytes;
	u64 at;
};

/**
 * baleen_rice_choose() - the parameter that takes the fewest bits
 * @numbers: the numbers
 * @n_bits: they are below 2^@n_bits
 *
 * Return: 0 to @n_bits.
 */
u32 baleen_rice_choose(const struct baleen_numbers *numbers, u32 n_bits);

/**
 * baleen_rice_write() - append the gaps of numbers
 * @bits: where to
 * @numbers: the numbers
 * @k: the parameter
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_rice_write(struct baleen_bits_out *bits, const struct baleen_numbers *numbers, u32 k);

/**
 * baleen_rice_close() - fill the last byte with zeros
 * @bits: what was written
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_rice_close(struct baleen_bits_out *bits);

/**
 * baleen_rice_read() - read numbers
 * @bits: the bits; afterwards behind those of the numbers
 * @n: how many
 * @k: the parameter, at most BALEEN_RICE_MAX
 * @n_bits: each is below 2^@n_bits
 * @numbers: empty; filled in
 *
 * No memory is taken for more numbers than there are bits.
 *
 * Return: 0; -EINVAL when there are fewer, or one is too large; -ENOMEM.
 */
int baleen_rice_read(struct baleen_bits_in *bits, u64 n, u32 k, u32 n_bits,
		     struct baleen_numbers *numbers);

/**
 * baleen_rice_is_done() - were all bits read?
 * @bits: the bits
 *
 * Return: true when only zeros of the last byte are left.
 */
bool baleen_rice_is_done(const struct baleen_bits_in *bits);

#endif /* BALEEN_RICE_H */
