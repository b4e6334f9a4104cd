// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The seed that a text stands for. */
#include <errno.h>
#include <stdlib.h>

#include "ops/seed.h"

#define FNV_OFFSET 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

static u64 fnv1a(const char *text)
{
	u64 hash = FNV_OFFSET;

	for (; *text; text++)
		hash = (hash ^ (u8)*text) * FNV_PRIME;
	return hash;
}

static u64 splitmix64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static u64 first_state(const char *text)
{
	u64 number;

	if (!*text || text[strspn(text, "0123456789")])
		return fnv1a(text);
	errno = 0;
	number = strtoull(text, NULL, 10);
	return errno ? fnv1a(text) : number;
}

void baleen_seed_from_text(const char *text, struct baleen_seed *seed)
{
	u64 state = first_state(text);

	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		seed->word[i] = splitmix64(&state);
	baleen_seed_expand(seed);
}
