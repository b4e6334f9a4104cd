// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters of made keys, to measure what a plan promises. */
#include <errno.h>

#include "filter/plan.h"
#include "ops/sample_filter.h"

/* Keys that are inserted or asked for at a time. */
#define CHUNK 512

static size_t make_keys(u64 first, u64 end, struct baleen_key *keys)
{
	size_t n = 0;

	for (; n < CHUNK && first + n < end; n++)
		keys[n] = baleen_sample_key(first + n);
	return n;
}

int baleen_sample_filter(const struct baleen_table *table, struct baleen_filter *filter,
			 struct baleen_error *error)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_FLOW };

	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image.seed.word[i] = baleen_mix64(i + 1);
	baleen_seed_expand(&image.seed);
	image.table[BALEEN_TUPLE] = *table;
	if (baleen_tables_place(&image, error))
		return -E2BIG;
	return baleen_filter_alloc(filter, &image, error);
}

u64 baleen_sample_insert(struct baleen_filter *filter, u64 first, u64 end)
{
	struct baleen_key keys[CHUNK];
	size_t n, n_done;
	u64 at = first;

	while ((n = make_keys(at, end, keys))) {
		int err = baleen_filter_insert(filter, keys, n, &n_done);

		at += n_done;
		if (err)
			break;
	}
	return at - first;
}

double baleen_sample_rate(const struct baleen_filter *filter)
{
	const u64 first = BALEEN_SAMPLE_FIRST_OTHER;
	struct baleen_key keys[CHUNK];
	u64 at = first, n_positive = 0;
	u8 found[CHUNK];
	size_t n;

	for (; (n = make_keys(at, first + BALEEN_SAMPLE_OTHERS, keys)); at += n)
		n_positive += baleen_filter_test_many(filter, keys, n, found);
	return (double)n_positive / BALEEN_SAMPLE_OTHERS;
}
