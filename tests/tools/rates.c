// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measured false positive rates and load factors against what is promised.
 *
 * Usage: rates [KIND]...: prints TAP
 *
 * A rate: 10 M keys that are in none of 20 filters of other seeds and other
 * members, half a million for each, judged as in sample.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rate_sample.h"
#include "shaped.h"

#define N_KEYS 50000
#define N_PROBES 500000ull
/* In `make check-all`, which sets TEST_ALL, and in `make check`. */
#define N_EXACT_PROBES 10000000ull
#define N_EXACT_PROBES_SOME 1000000ull

/* Indices of a filter's members and of its probes, away from those of others. */
#define FILTER_INDICES (1ull << 27)
#define PROBES_AT (1ull << 26)

#define BLOOM(k)                                                                    \
	{                                                                           \
		"bloom k=" #k, BALEEN_WORD, BALEEN_KIND_BLOOM, { .n_hashes = (k) }, \
			(k) == 2 ? 0.08 : 0.16 / (k),                               \
	}
#define CLASSIC(what, where, how, k)                                                        \
	{                                                                                   \
		"classic " what " k=" #k, where, BALEEN_KIND_CLASSIC,                       \
			{ .hash = (how), .n_hashes = (k), .n_bits = N_KEYS * 6 + 77 }, 0.5, \
	}
#define CUCKOO(b, w)                                                                           \
	{                                                                                      \
		"cuckoo " #b "x" #w, BALEEN_WORD, BALEEN_KIND_CUCKOO,                          \
			{ .bucket_slots = (b), .slot_bits = (w), .has_stash = (b) == 1 }, 0.5, \
	}
#define QUOTIENT(r)                                                                             \
	{                                                                                       \
		"quotient r=" #r, BALEEN_WORD, BALEEN_KIND_QUOTIENT, { .remainder_bits = (r) }, \
			0.5,                                                                    \
	}

static const struct shaped lossy[] = {
	BLOOM(2),
	BLOOM(4),
	BLOOM(6),
	BLOOM(8),
	CLASSIC("keyed", BALEEN_WORD, BALEEN_HASH_KEYED, 4),
	CLASSIC("murmur3", BALEEN_IP4, BALEEN_HASH_MURMUR3, 4),
	CLASSIC("murmur3-fnv1a", BALEEN_IP4, BALEEN_HASH_MURMUR3_FNV1A, 2),
	{ "counting blocked", BALEEN_WORD, BALEEN_KIND_COUNTING, { 0 }, 0.02 },
	{ "counting keyed",
	  BALEEN_WORD,
	  BALEEN_KIND_COUNTING,
	  { .hash = BALEEN_HASH_KEYED },
	  0.02 },
	CUCKOO(1, 8),
	CUCKOO(1, 12),
	CUCKOO(1, 16),
	CUCKOO(1, 32),
	CUCKOO(2, 8),
	CUCKOO(2, 12),
	CUCKOO(2, 16),
	CUCKOO(2, 32),
	CUCKOO(4, 8),
	CUCKOO(4, 12),
	CUCKOO(4, 16),
	CUCKOO(4, 32),
	QUOTIENT(4),
	QUOTIENT(8),
	QUOTIENT(12),
};

static const struct shaped exact[] = {
	{ "cuckoo 4x16 of IPv4", BALEEN_IP4, BALEEN_KIND_CUCKOO, { .slot_bits = 16 }, 0 },
	{ "cuckoo 4x32 of IPv4", BALEEN_IP4, BALEEN_KIND_CUCKOO, { .slot_bits = 32 }, 0 },
	{ "cuckoo 4x64 of words", BALEEN_WORD, BALEEN_KIND_CUCKOO, { .slot_bits = 64 }, 0 },
	{ "quotient of IPv4", BALEEN_IP4, BALEEN_KIND_QUOTIENT, { 0 }, 0 },
};

static const double fills[] = { 0.5, 0.75, 1 };

#define N_LOSSY (sizeof(lossy) / sizeof(*lossy))
#define N_EXACT (sizeof(exact) / sizeof(*exact))
#define N_FILLS (sizeof(fills) / sizeof(*fills))

static u32 n_tests, n_bad;

static void result(bool is_good, const char *name, const char *what)
{
	printf("%s %u - %s: %s\n", is_good ? "ok" : "not ok", ++n_tests, name, what);
	fflush(stdout);
	n_bad += !is_good;
}

/* --- rates ----------------------------------------------------------------- */

static void judge(const char *name, double fill, const struct sample *sample)
{
	struct judged judged = sample_judge(sample, N_PROBES);
	char what[160];

	if (judged.is_few)
		snprintf(what, sizeof(what), "%.0f %% full, %.2f expected of 10 M, %llu came",
			 fill * 100, sample->n_expected, (unsigned long long)sample->n_positive);
	else
		snprintf(what, sizeof(what),
			 "%.0f %% full, %.4g expected, %.4g came, within %.1f %%", fill * 100,
			 judged.expected, judged.measured, 100 * judged.width / judged.expected);
	result(judged.is_good, name, what);
}

/* Where slots are lossy and keys share them, the rate of a cuckoo table is one of
 * slots, that of a quotient table one of keys.
 */
static double expected_rate(const struct baleen_filter *filter, const struct shaped *shaped, u64 n)
{
	if (shaped->kind == BALEEN_KIND_CUCKOO)
		n = baleen_filter_used(filter, shaped->domain);
	return baleen_table_fpp(&filter->image, shaped->domain, n);
}

/* Fills a filter in steps, and probes it after each. */
static void probe_filter(const struct shaped *shaped, u32 number, struct sample *samples)
{
	struct baleen_filter filter = shaped_filter(shaped, N_KEYS, number);
	u64 first = number * FILTER_INDICES, n = 0;

	for (u32 i = 0; i < N_FILLS; i++) {
		u64 wanted = N_KEYS * fills[i], n_positive;
		double expected;

		n += shaped_insert(&filter, shaped->domain, first + n, wanted - n);
		if (n < wanted)
			errx(1, "%s: full with %llu of %u keys", shaped->name,
			     (unsigned long long)n, N_KEYS);
		expected = expected_rate(&filter, shaped, n);
		n_positive = shaped_test(&filter, shaped->domain, first + PROBES_AT, N_PROBES);
		samples[i].n_positive += n_positive;
		samples[i].n_expected += expected * N_PROBES;
		samples[i].difference[number] = (double)n_positive / N_PROBES - expected;
	}
	if (shaped_test(&filter, shaped->domain, first, n) != n)
		errx(1, "%s: a member is missing", shaped->name);
	baleen_filter_free(&filter);
}

static void check_rate(const struct shaped *shaped)
{
	struct sample samples[N_FILLS] = { 0 };

	for (u32 number = 0; number < N_FILTERS; number++)
		probe_filter(shaped, number, samples);
	for (u32 i = 0; i < N_FILLS; i++)
		judge(shaped->name, fills[i], &samples[i]);
}

/* At a rate that slots of as many bits with a side bit do not reach. */
static void check_width(u32 bucket_slots, u32 slot_bits)
{
	char name[40];
	struct shaped shaped = {
		.name = name,
		.domain = BALEEN_WORD,
		.kind = BALEEN_KIND_CUCKOO,
		.shape = { .bucket_slots = bucket_slots,
			   .slot_bits = slot_bits,
			   .has_stash = bucket_slots == 1 },
		.fpp = fmin(0.9, 2. * bucket_slots / ((1ull << slot_bits) - 1)),
	};

	snprintf(name, sizeof(name), "width %ux%u", bucket_slots, slot_bits);
	check_rate(&shaped);
}

static void check_semi_sorted(u32 slot_bits)
{
	char name[40];
	const struct shaped shaped = {
		.name = name,
		.domain = BALEEN_WORD,
		.kind = BALEEN_KIND_CUCKOO,
		.shape = { .slot_bits = slot_bits, .is_semi_sorted = true },
		.fpp = 0.9,
	};

	snprintf(name, sizeof(name), "width 4x%u, semi-sorted", slot_bits);
	check_rate(&shaped);
}

/* All, or a third of the widths, each with another number of slots. */
static void check_widths(void)
{
	bool is_all = getenv("TEST_ALL");

	for (u32 width = BALEEN_MIN_PACKED_BITS; width <= BALEEN_MAX_PACKED_BITS; width++)
		for (u32 slots = 1; slots <= 4; slots++)
			if (is_all || (width % 3 == 1 && slots == 1 + width % 4))
				check_width(slots, width);
	for (u32 width = BALEEN_MIN_PACKED_BITS + 1; width <= BALEEN_MAX_PACKED_BITS; width++)
		if (is_all || width % 6 == 1)
			check_semi_sorted(width);
}

static void check_exact(const struct shaped *shaped)
{
	struct baleen_filter filter = shaped_filter(shaped, N_KEYS, 1);
	bool is_exact = baleen_table_is_exact(&filter.image, shaped->domain);
	u64 n = shaped_insert(&filter, shaped->domain, 0, N_KEYS);
	u64 n_found = shaped_test(&filter, shaped->domain, 0, N_KEYS);
	u64 n_probes = getenv("TEST_ALL") ? N_EXACT_PROBES : N_EXACT_PROBES_SOME;
	u64 n_positive = shaped_test(&filter, shaped->domain, PROBES_AT, n_probes);
	char what[160];

	snprintf(what, sizeof(what), "exact: its keys and none of %llu M others, of 10 M",
		 (unsigned long long)n_probes / 1000000);
	result(is_exact && n == N_KEYS && n_found == n && !n_positive, shaped->name, what);
	baleen_filter_free(&filter);
}

/* --- load ------------------------------------------------------------------ */

/* A table takes the keys that it is planned for, whatever the seed. */
static void check_load(u32 bucket_slots, u32 slot_bits, double load)
{
	struct shaped shaped = {
		.name = "cuckoo",
		.domain = BALEEN_WORD,
		.kind = BALEEN_KIND_CUCKOO,
		.shape = { .bucket_slots = bucket_slots,
			   .slot_bits = slot_bits,
			   .has_stash = bucket_slots == 1,
			   .load = load },
		.fpp = 0.5,
	};
	double least = 1, slots = 0;
	u32 n_full = 0;
	char what[160];

	for (u32 number = 0; number < N_FILTERS; number++) {
		struct baleen_filter filter = shaped_filter(&shaped, N_KEYS, number);
		u64 first = number * FILTER_INDICES;
		u64 n = shaped_insert(&filter, shaped.domain, first, N_KEYS);

		slots = (double)filter.image.table[shaped.domain].n_buckets * bucket_slots;
		n_full += n < N_KEYS;
		n += shaped_insert(&filter, shaped.domain, first + n, 2 * N_KEYS);
		least = fmin(least, n / slots);
		baleen_filter_free(&filter);
	}
	snprintf(what, sizeof(what),
		 "%u slots of %u bits a bucket: %.1f %% planned, taken by %u of %u seeds, first "
		 "refusal at %.1f %% or later",
		 bucket_slots, slot_bits, 100 * N_KEYS / slots, N_FILTERS - n_full, N_FILTERS,
		 100 * least);
	result(!n_full && N_KEYS / slots > load * 0.99, "load", what);
}

static void check_loads(void)
{
	static const u32 widths[] = { 8, 12, 16, 32, 64 };

	for (u32 i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		check_load(1, widths[i], 0.50);
		check_load(2, widths[i], 0.84);
		check_load(4, widths[i], 0.95);
	}
	for (u32 width = 5; width <= 13; width += 4)
		check_load(3, width, 0.92);
}

static bool is_asked(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(name, argv[i], strlen(argv[i])))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	for (u32 i = 0; i < N_LOSSY; i++)
		if (is_asked(argc, argv, lossy[i].name))
			check_rate(&lossy[i]);
	for (u32 i = 0; i < N_EXACT; i++)
		if (is_asked(argc, argv, exact[i].name))
			check_exact(&exact[i]);
	if (is_asked(argc, argv, "width"))
		check_widths();
	if (is_asked(argc, argv, "load"))
		check_loads();
	printf("1..%u\n", n_tests);
	return n_bad != 0;
}
