// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How many keys a Bloom filter holds, from its bits. */
#include <math.h>

#include "filter/estimate.h"

bool baleen_table_is_bit_array(const struct baleen_table *table)
{
	return table->kind == BALEEN_KIND_BLOOM || table->kind == BALEEN_KIND_CLASSIC ||
	       table->kind == BALEEN_KIND_COUNTING;
}

u64 baleen_bits_count(const struct baleen_filter *filter, u32 domain)
{
	const u64 *word = baleen_plane(filter, domain);
	u64 n_words = baleen_plane_words(filter, domain), n = 0;

	for (u64 i = 0; i < n_words; i++)
		n += baleen_popcount64(word[i]);
	return n;
}

u64 baleen_counters_stuck(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const u64 *word = baleen_plane(filter, domain) + baleen_plane_words(filter, domain);
	u64 n_words = baleen_plane_words(filter, domain) * BALEEN_COUNTER_BITS, n = 0;

	if (table->kind != BALEEN_KIND_COUNTING)
		return 0;
	/* The lowest bit of each counter of which all four are set. */
	for (; n_words; n_words--, word++) {
		u64 pairs = *word & *word >> 1;

		n += baleen_popcount64(pairs & pairs >> 2 & 0x1111111111111111ull);
	}
	return n;
}

/* Bits that are set in any of two planes whose tables are compatible. */
static u64 count_either(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain)
{
	const u64 *x = baleen_plane(a, domain), *y = baleen_plane(b, domain);
	u64 n_words = baleen_plane_words(a, domain), n = 0;

	for (u64 i = 0; i < n_words; i++)
		n += baleen_popcount64(x[i] | y[i]);
	return n;
}

double baleen_estimate_bits(u64 m, u32 k, u64 n_set)
{
	if (n_set < k)
		return 0;
	if (n_set == k)
		return 1;
	if (n_set >= m)
		return (double)m / k;
	return -((double)m / k) * log1p(-(double)n_set / m);
}

static double estimate_blocked(const struct baleen_table *table, u64 n_set)
{
	u64 m = baleen_table_bits(table);
	double dirty = 1 - pow(63. / 64, table->n_hashes / 2);

	if (n_set >= m)
		return (double)m / table->n_hashes;
	return log1p(-(double)n_set / m) / log1p(-dirty / (4. * table->n_buckets));
}

double baleen_estimate_table(const struct baleen_table *table, u64 n_set)
{
	if (table->hash == BALEEN_HASH_BLOCKED)
		return estimate_blocked(table, n_set);
	return baleen_estimate_bits(baleen_table_bits(table), table->n_hashes, n_set);
}

double baleen_estimate_keys(const struct baleen_filter *filter, u32 domain)
{
	return baleen_estimate_table(&filter->image.table[domain],
				     baleen_bits_count(filter, domain));
}

void baleen_estimate_overlap(const struct baleen_filter *a, const struct baleen_filter *b,
			     u32 domain, struct baleen_overlap *overlap)
{
	const struct baleen_table *table = &a->image.table[domain];

	overlap->a = baleen_estimate_keys(a, domain);
	overlap->b = baleen_estimate_keys(b, domain);
	overlap->either = baleen_estimate_table(table, count_either(a, b, domain));
	overlap->both = fmax(0, overlap->a + overlap->b - overlap->either);
	overlap->only_a = fmax(0, overlap->either - overlap->b);
	overlap->only_b = fmax(0, overlap->either - overlap->a);
}
