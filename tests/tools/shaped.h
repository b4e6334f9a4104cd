/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters of one table whose geometry is asked for, and keys without a list.
 *
 * A key is a bijection of an index: what is below a number is in a set, what is
 * above is not, and nobody has to keep either.
 */
#ifndef BALEEN_TESTS_SHAPED_H
#define BALEEN_TESTS_SHAPED_H

#include <err.h>
#include <stdlib.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"

/* Keys at a time: they stay in the L1 cache. */
#define SHAPED_CHUNK 256

/**
 * struct shaped - a filter to make
 * @name: for people
 * @domain: of its keys: BALEEN_IP4, BALEEN_WORD, or BALEEN_TUPLE for those of Squid
 * @kind: enum baleen_kind
 * @shape: its geometry
 * @fpp: the rate that it is planned for
 */
struct shaped {
	const char *name;
	u32 domain;
	u32 kind;
	struct baleen_shape shape;
	double fpp;
};

static inline struct baleen_seed shaped_seed(u64 number)
{
	struct baleen_seed seed;

	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		seed.word[i] = baleen_mix64(number * BALEEN_SEED_WORDS + i + 1);
	baleen_seed_expand(&seed);
	return seed;
}

/* The header of a filter with room for @n keys. */
static inline struct baleen_image shaped_image(const struct shaped *shaped, u64 n, u64 seed)
{
	struct baleen_image image = {
		.key_spec = shaped->domain == BALEEN_IP4   ? BALEEN_KEY_SRC :
			    shaped->domain == BALEEN_TUPLE ? BALEEN_KEY_SQUID :
							     BALEEN_KEY_FLOW,
		.seed = shaped_seed(seed),
	};
	struct baleen_table *table = &image.table[shaped->domain];
	struct baleen_error error;

	if (baleen_plan_shaped(shaped->domain, shaped->kind, n, shaped->fpp, &shaped->shape, table,
			       &error))
		errx(1, "%s: %s", shaped->name, error.text);
	table->first_block = BALEEN_HEADER_BLOCKS;
	image.n_blocks = BALEEN_HEADER_BLOCKS + table->n_blocks;
	return image;
}

/* An empty filter with room for @n keys. */
static inline struct baleen_filter shaped_filter(const struct shaped *shaped, u64 n, u64 seed)
{
	struct baleen_image image = shaped_image(shaped, n, seed);
	struct baleen_filter filter;
	struct baleen_error error;

	if (baleen_filter_alloc(&filter, &image, &error))
		errx(1, "%s: %s", shaped->name, error.text);
	return filter;
}

/* Source of the 32-bit bijection: fmix32 of MurmurHash3 (Appleby, public domain). */
static inline struct baleen_key shaped_key(u32 domain, u64 index)
{
	u32 x = index;

	if (domain == BALEEN_WORD)
		return (struct baleen_key){ .domain = domain, .lo = baleen_mix64(index + 1) };
	x ^= x >> 16;
	x *= 0x85ebca6b;
	x ^= x >> 13;
	x *= 0xc2b2ae35;
	return (struct baleen_key){ .domain = domain, .ip4 = x ^ x >> 16 };
}

/* The keys of @n indices, SHAPED_CHUNK at most; returns how many. */
static inline size_t shaped_keys(u32 domain, u64 first, u64 n, struct baleen_key *keys)
{
	size_t n_keys = n < SHAPED_CHUNK ? n : SHAPED_CHUNK;

	for (size_t i = 0; i < n_keys; i++)
		keys[i] = shaped_key(domain, first + i);
	return n_keys;
}

/* Inserts the keys of @n indices; returns how many found room. */
static inline u64 shaped_insert(struct baleen_filter *filter, u32 domain, u64 first, u64 n)
{
	struct baleen_key keys[SHAPED_CHUNK];
	size_t n_done;
	u64 at = 0;

	while (at < n) {
		size_t n_keys = shaped_keys(domain, first + at, n - at, keys);
		int err = baleen_filter_insert(filter, keys, n_keys, &n_done);

		at += n_done;
		if (err)
			break;
	}
	return at;
}

/* How many of the keys of @n indices the filter says it holds. */
static inline u64 shaped_test(const struct baleen_filter *filter, u32 domain, u64 first, u64 n)
{
	struct baleen_key keys[SHAPED_CHUNK];
	u8 found[SHAPED_CHUNK];
	u64 n_found = 0;

	for (u64 at = 0; at < n; at += SHAPED_CHUNK)
		n_found += baleen_filter_test_many(filter, keys,
						   shaped_keys(domain, first + at, n - at, keys),
						   found);
	return n_found;
}

#endif /* BALEEN_TESTS_SHAPED_H */
