/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counting Bloom filter: a Bloom filter that can forget.
 *
 * Idea: beside each bit stands a counter of four bits of how many keys have set
 * it. A key that is deleted counts its bits down, and those that come to zero
 * are cleared. To test only the bits are needed: a packet reads the plane of
 * bits, in one line when it is blocked, and never a counter.
 *
 * Papers: Fan, Cao, Almeida and Broder, "Summary Cache: A Scalable Wide-Area Web
 * Cache Sharing Protocol" (IEEE/ACM ToN 2000), section V-C, has the counters
 * and their bound; Broder and Mitzenmacher 2004.
 *
 *      [ plane: n blocks, as bloom.h or classic.h has it | counters: 4 n blocks ]
 *      counter of position p: bits 4 (p % 16) to 4 (p % 16) + 3 of the word
 *      p / 16 behind the plane
 *
 * A counter that has come to 15 does not know how many keys it stands for. It
 * stays, and so does its bit: it may err like any Bloom filter, but never loses a
 * key that is in. The chance that any of m counters would have to go on, with n keys of k
 * positions, is at most m (e k n / 16 m)^16: with k n = m ln 2, the optimum, 1.37e-15 m, for
 * a billion counters one in a million. Five times as many keys, and it is certain.
 *
 * A key that is added twice counts twice, since nobody can tell whether its bits are
 * its own, and has to be deleted twice. To delete a key that is not in would take
 * bits away from others. Most such keys are refused, since a bit of theirs is zero;
 * one in 1/fpp is not.
 *
 * Two positions of a key may be the same bit. Where the hash is that of a textbook it counts
 * for each of them, as the paper has it; our own hashes count it once, which keeps counters
 * lower and takes no more to undo.
 *
 * Example: positions 3 and 20 of a key in an empty filter: bit 3 and bit 20 of
 * word 0 of the plane; counters: word 0 is 1 << 12, word 1 is 1 << 16.
 */
#ifndef BALEEN_COUNTING_H
#define BALEEN_COUNTING_H

#include <baleen/bloom.h>
#include <baleen/classic.h>

/* A counter that stays what it is. */
#define BALEEN_COUNTER_MAX 15

/* Counters in a word. */
#define BALEEN_WORD_COUNTERS (64 / BALEEN_COUNTER_BITS)

/**
 * baleen_counting_test() - may the key be in the filter?
 * @table: a counting table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe, 0 surely not.
 */
baleen_inline int baleen_counting_test(const struct baleen_table *table,
				       const struct baleen_seed *seed, const void *store,
				       const struct baleen_key *key)
{
	/* One plane of bits, whoever counts beside it. */
	if (table->hash == BALEEN_HASH_BLOCKED)
		return baleen_bloom_test(table, seed, store, key);
	return baleen_classic_test(table, seed, store, key);
}

#endif /* BALEEN_COUNTING_H */
