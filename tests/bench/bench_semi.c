// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a semi-sorted bucket costs a probe (Fan et al. 2014, section 5.2), beside a plain
 * one of the same bytes: slots of 13 and of 12 bits, buckets of 48. Buckets hold random bits,
 * which cost what others do.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <baleen/packed.h>
#include <baleen/semi.h>

#include "util/clock.h"

#define N_PROBES (1u << 22)
#define N_ROUNDS 5
#define BUCKET_BITS 48

static u32 plain_has(const struct baleen_table *table, const void *store, u32 bucket, u64 print)
{
	return baleen_packed_has(table, store, bucket, print & 0xfff, 4, table->slot_bits);
}

static u32 sorted_has(const struct baleen_table *table, const void *store, u32 bucket, u64 print)
{
	return baleen_semi_has(table, store, bucket, print);
}

static double seconds(void)
{
	return baleen_clock_ns(CLOCK_MONOTONIC) * 1e-9;
}

/* ns a probe of two buckets. */
static double time_probe(u32 (*has)(const struct baleen_table *, const void *, u32, u64),
			 const struct baleen_table *table, const void *store)
{
	volatile u32 n_found = 0;
	double start = seconds();

	for (u64 i = 0; i < N_PROBES; i++) {
		u64 hash = baleen_mix64(i);
		u32 home = (hash >> 32) * table->n_buckets >> 32;
		u32 other = (home ^ (u32)hash) & (table->n_buckets - 1);
		u64 print = 1 | (hash & 0x1fff);

		n_found += has(table, store, home, print) | has(table, store, other, print);
	}
	return (seconds() - start) / N_PROBES * 1e9;
}

int main(void)
{
	for (u32 log2 = 14; log2 <= 24; log2 += 5) {
		const struct baleen_table plain_table = { .n_buckets = 1u << log2,
							  .slot_bits = 12 };
		const struct baleen_table table = { .n_buckets = 1u << log2, .slot_bits = 13 };
		size_t n_words = ((size_t)table.n_buckets * BUCKET_BITS + 511) / 512 * 8 + 8;
		u64 *words = malloc(n_words * sizeof(*words));

		if (!words)
			err(1, "malloc");
		for (size_t i = 0; i < n_words; i++)
			words[i] = baleen_mix64(~i);
		printf("%zu kB:", n_words * sizeof(*words) / 1000);
		for (u32 round = 0; round < N_ROUNDS; round++) {
			double plain = time_probe(plain_has, &plain_table, words);
			double sorted = time_probe(sorted_has, &table, words);

			printf("  %.1f and %.1f ns (%.2f)", plain, sorted, sorted / plain);
		}
		printf("\n");
		free(words);
	}
	return 0;
}
