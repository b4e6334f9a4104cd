/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The seed that a text stands for.
 *
 * Two hosts whose filters have the same seed and geometry can merge them. They share
 * a text when neither has an image of the other. The text gives the 12 words of the
 * seed:
 *
 *   state = the number, when the text is decimal digits below 2^64 and nothing
 *           else; otherwise FNV-1a of 64 bits over the bytes of the text
 *   word[0], word[1], ... = the outputs of SplitMix64 from that state
 *
 * For example of "1": 910a2dec89025cc1, beeb8da1658eec67, f893a2eefb32555e, ...
 *
 * Such a seed is as secret as its text: a guess of the text gives the seed.
 */
#ifndef BALEEN_SEED_H
#define BALEEN_SEED_H

#include <baleen/hash.h>

/**
 * baleen_seed_from_text() - the seed that a text stands for
 * @text: any bytes
 * @seed: filled in, expanded
 *
 * Source: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014) with the finalizer that Java and Vigna's C have;
 * FNV-1a (Fowler, Noll, Vo; RFC 9923).
 */
void baleen_seed_from_text(const char *text, struct baleen_seed *seed);

#endif /* BALEEN_SEED_H */
