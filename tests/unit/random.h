/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random numbers from a fixed seed, which every test prints.
 */
#ifndef BALEEN_TESTS_RANDOM_H
#define BALEEN_TESTS_RANDOM_H

#include <stdio.h>

#include <baleen/hash.h>

struct random {
	u64 state;
};

/* The seed is a diagnostic of the test, so that a failure shows it. */
static inline struct random random_from(u64 seed)
{
	printf("# seed 0x%llx\n", (unsigned long long)seed);
	return (struct random){ .state = seed };
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
static inline u64 random_next(struct random *random)
{
	u64 x = random->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* 0 to @n - 1; @n is far below 2^64, so the bias does not matter. */
static inline u64 random_below(struct random *random, u64 n)
{
	return random_next(random) % n;
}

static inline struct baleen_seed random_seed(struct random *random)
{
	struct baleen_seed seed;

	for (int i = 0; i < BALEEN_SEED_WORDS; i++)
		seed.word[i] = random_next(random);
	baleen_seed_expand(&seed);
	return seed;
}

static inline struct baleen_key random_key(struct random *random, u32 domain)
{
	struct baleen_key key = { .domain = domain };

	if (domain == BALEEN_IP4) {
		key.ip4 = random_next(random);
		return key;
	}
	key.lo = random_next(random);
	if (domain == BALEEN_WORD)
		return key;
	key.hi = random_next(random);
	if (domain == BALEEN_IP6)
		return key;
	key.dst_hi = random_next(random);
	key.dst_lo = random_next(random);
	key.rest = random_next(random) >> 24;
	return key;
}

#endif /* BALEEN_TESTS_RANDOM_H */
