/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formulas of the classic and the counting Bloom filter.
 *
 * With m bits, k positions a key and n keys; see classic.h and counting.h for
 * where they come from. The blocked filter has its own in plan.h.
 */
#ifndef BALEEN_BLOOM_MATH_H
#define BALEEN_BLOOM_MATH_H

#include <baleen/counting.h>

/**
 * baleen_classic_fpp() - expected false positive rate
 * @m: bits
 * @k: positions a key
 * @n: keys
 *
 * Return: (1 - e^(-kn/m))^k.
 */
double baleen_classic_fpp(double m, u32 k, double n);

/**
 * baleen_classic_hashes() - the best number of positions
 * @m: bits
 * @n: keys
 *
 * Return: the k of 1 to BALEEN_MAX_POSITIONS with the least rate, beside
 * m/n ln 2.
 */
u32 baleen_classic_hashes(double m, double n);

/**
 * baleen_classic_bits() - bits for a rate
 * @n: keys
 * @fpp: rate, above 0 and below 1
 * @k: positions a key; 0 for the best number of them
 *
 * Return: m; with integer k a little more than baleen_classic_bound().
 */
double baleen_classic_bits(double n, double fpp, u32 k);

/**
 * baleen_classic_bound() - bits of any Bloom filter at least
 * @n: keys
 * @fpp: rate, above 0 and below 1
 *
 * Return: n log2(e) log2(1/fpp), which is reached with k = log2(1/fpp).
 */
double baleen_classic_bound(double n, double fpp);

/**
 * baleen_counting_overflow() - chance that any counter comes to its end
 * @m: counters
 * @k: positions a key
 * @n: keys
 *
 * Return: at most this, m (e k n / 16 m)^16, not above 1. With k n = m ln 2, where the rate
 * is least, that is 1.37e-15 m.
 * Source: Fan, Cao, Almeida and Broder 2000, section V-C.
 */
double baleen_counting_overflow(double m, u32 k, double n);

#endif /* BALEEN_BLOOM_MATH_H */
