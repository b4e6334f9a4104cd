/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keys that occur most often in a stream, in memory of a fixed size.
 *
 * Idea: m counters. A key that has one adds to it. Another takes the smallest,
 * and goes on from its count, as if it had been that one all along: what it
 * took over is its error.
 *
 *      a b a c a d, m = 2       a:1          add a
 *                               a:1 b:1      add b
 *                               a:2 b:1      add a
 *                               a:2 c:2 (1)  c takes b's counter
 *                               a:3 c:2 (1)  add a
 *                               a:3 d:3 (2)  d takes c's
 *
 * Bound: the counts sum up to the N events, so the smallest is at most N / m.
 * Hence a count is never too low, and too high by its error, which is N / m or
 * less; and a key that occurred more than N / m times is among them. With 256
 * counters that is 0.4 % of the events.
 *
 * Source: Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and
 * Top-k Elements in Data Streams, ICDT 2005 (Space-Saving; lemma 3, theorem 2).
 */
#ifndef BALEEN_TOP_K_H
#define BALEEN_TOP_K_H

#include <baleen/key.h>

#define BALEEN_TOP_K 256

/**
 * struct baleen_top_key - a key that was seen often
 * @key: the key
 * @key_spec: the fields that it is made of
 * @slot: slot of the rule that matched it; BALEEN_EVENT_DEFAULT or _UNPARSED
 * @count: how often at most
 * @error: less than that by this at most
 */
struct baleen_top_key {
	struct baleen_key key;
	u32 key_spec;
	u32 slot;
	u64 count;
	u64 error;
};

/**
 * struct baleen_top_k - the counters
 * @n: in use
 * @n_events: keys that were added
 * @hash: hash of each counter's key
 * @hitter: the counters
 *
 * All zeros is empty. Looking for a key reads all hashes, which fit in 32
 * cache lines: cheaper than what brought the event here.
 */
struct baleen_top_k {
	u32 n;
	u64 n_events;
	u64 hash[BALEEN_TOP_K];
	struct baleen_top_key hitter[BALEEN_TOP_K];
};

/**
 * baleen_top_k_add() - a key was seen
 * @top_k: the counters
 * @key: the key
 * @key_spec: the fields that it is made of
 * @slot: slot of the rule that matched it
 */
void baleen_top_k_add(struct baleen_top_k *top_k, const struct baleen_key *key, u32 key_spec,
		      u32 slot);

/**
 * baleen_top_k_top() - those that were seen most often
 * @top_k: the counters
 * @top: filled in, the most frequent first; valid until the next is added
 * @n: how many are asked for
 *
 * Return: how many there are.
 */
u32 baleen_top_k_top(const struct baleen_top_k *top_k, const struct baleen_top_key **top, u32 n);

/**
 * baleen_top_k_bound() - how much too high a count can be
 * @top_k: the counters
 *
 * Return: no more than this; 0 as long as each key has had a counter.
 */
u64 baleen_top_k_bound(const struct baleen_top_k *top_k);

#endif /* BALEEN_TOP_K_H */
