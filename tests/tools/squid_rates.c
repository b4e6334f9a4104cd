// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * False hits of each kind in as many bytes, with keys of Squid.
 *
 * Usage: squid_rates: prints TAP, and a table
 *
 * A column is a number of bits an entry, a row a kind in the geometry that errs least in
 * no more than these, to a block of 64 bytes. N_KEYS fills 2^16 slots to 90 %, so that the
 * quotient filter, which comes in powers of two, wastes little. A kind that cannot hold
 * the keys in these bytes has to refuse some of them.
 *
 * Expected are the formulas, written once more here where they are short. Rates are
 * judged as in rate_sample.h; members and strangers are the same for all.
 */
#include <stdio.h>
#include <string.h>

#include "key/squid_key.h"
#include "rate_sample.h"
#include "shaped.h"

#define N_KEYS 59000ull
#define N_STRANGERS 250000ull
#define BLOCK_BITS (BALEEN_BLOCK_BYTES * 8)

#define N_SIZES 4

static const u32 bits_of[N_SIZES] = { 4, 5, 8, 10 };

/* Whole blocks of bits in so many bits an entry. */
#define WHOLE(bits) (N_KEYS * (bits) / BLOCK_BITS * BLOCK_BITS)

/* A counter of four bits beside each bit. */
#define PLANE(bits) (WHOLE(bits) / (5 * BLOCK_BITS) * BLOCK_BITS)

/**
 * struct row - a kind in all sizes
 * @name: for people
 * @kind: enum baleen_kind
 * @shape: of each size
 * @n_room: keys that it is planned for, of each size: fewer than N_KEYS where these do
 *          not fit; 0: all
 * @sample: of each size
 * @n_most: keys that found room where not all did, of any number
 */
struct row {
	const char *name;
	u32 kind;
	struct baleen_shape shape[N_SIZES];
	u64 n_room[N_SIZES];
	struct sample sample[N_SIZES];
	u64 n_most[N_SIZES];
};

#define BITS(how, k, bits)                                       \
	{                                                        \
		.hash = (how), .n_hashes = (k), .n_bits = (bits) \
	}
#define SLOTS(b, of)                                              \
	{                                                         \
		.slot_bits = 8, .bucket_slots = (b), .load = (of) \
	}
/* The most that a plan fills of four slots a bucket. */
#define FULL 0.98

#define REMAINDERS(r, of)                           \
	{                                           \
		.remainder_bits = (r), .load = (of) \
	}

static struct row rows[] = {
	{ .name = "Bloom, as Squid's digests",
	  .kind = BALEEN_KIND_CLASSIC,
	  .shape = { BITS(BALEEN_HASH_SQUID, 4, 4 * N_KEYS), BITS(BALEEN_HASH_SQUID, 4, 5 * N_KEYS),
		     BITS(BALEEN_HASH_SQUID, 4, 8 * N_KEYS),
		     BITS(BALEEN_HASH_SQUID, 4, 10 * N_KEYS) } },
	{ .name = "Bloom, best k",
	  .kind = BALEEN_KIND_CLASSIC,
	  .shape = { BITS(BALEEN_HASH_KEYED, 3, 4 * N_KEYS), BITS(BALEEN_HASH_KEYED, 3, 5 * N_KEYS),
		     BITS(BALEEN_HASH_KEYED, 6, 8 * N_KEYS),
		     BITS(BALEEN_HASH_KEYED, 7, 10 * N_KEYS) } },
	{ .name = "Bloom, one cache line",
	  .kind = BALEEN_KIND_BLOOM,
	  .shape = { BITS(0, 0, WHOLE(4)), BITS(0, 0, WHOLE(5)), BITS(0, 0, WHOLE(8)),
		     BITS(0, 0, WHOLE(10)) } },
	{ .name = "counting, as Squid's digests",
	  .kind = BALEEN_KIND_COUNTING,
	  .shape = { BITS(BALEEN_HASH_SQUID, 4, PLANE(4)), BITS(BALEEN_HASH_SQUID, 4, PLANE(5)),
		     BITS(BALEEN_HASH_SQUID, 4, PLANE(8)),
		     BITS(BALEEN_HASH_SQUID, 4, PLANE(10)) } },
	{ .name = "counting, best k",
	  .kind = BALEEN_KIND_COUNTING,
	  .shape = { BITS(BALEEN_HASH_KEYED, 1, PLANE(4)), BITS(BALEEN_HASH_KEYED, 1, PLANE(5)),
		     BITS(BALEEN_HASH_KEYED, 1, PLANE(8)),
		     BITS(BALEEN_HASH_KEYED, 1, PLANE(10)) } },
	/* Slots have 8 bits at least, and two of a bucket fill to 80 %. */
	{ .name = "cuckoo",
	  .kind = BALEEN_KIND_CUCKOO,
	  .shape = { SLOTS(4, FULL), SLOTS(4, FULL), SLOTS(4, FULL), SLOTS(2, 0.8) },
	  .n_room = { N_KEYS * 4 / 8 * FULL, N_KEYS * 5 / 8 * FULL, N_KEYS *FULL } },
	/* A slot has 3 + r bits, r is 1 at least: with 4 bits an entry there are no 2^16 slots. */
	{ .name = "quotient",
	  .kind = BALEEN_KIND_QUOTIENT,
	  .shape = { REMAINDERS(4, 1), REMAINDERS(1, 1), REMAINDERS(4, 1), REMAINDERS(6, 1) },
	  .n_room = { 32768 } },
};

/* Sizes whose bytes do not hold the keys: bit i of bits_of[i]. */
static const u32 refuses[] = {
	[BALEEN_KIND_CUCKOO] = 1 << 0 | 1 << 1 | 1 << 2,
	[BALEEN_KIND_QUOTIENT] = 1 << 0,
	[BALEEN_N_KINDS] = 0,
};

#define N_ROWS (sizeof(rows) / sizeof(*rows))

static struct baleen_key members[N_KEYS], strangers[N_STRANGERS];
static u8 found[N_STRANGERS];
static u32 n_tests, n_bad;

static bool does_refuse(const struct row *row, u32 size)
{
	return refuses[row->kind] >> size & 1;
}

static void result(bool is_good, const struct row *row, u32 size, const char *what)
{
	printf("%s %u - %s, %u bits an entry: %s\n", is_good ? "ok" : "not ok", ++n_tests,
	       row->name, bits_of[size], what);
	n_bad += !is_good;
}

/* --- filters --------------------------------------------------------------- */

/* URLs of @n objects, of which no two sets have one in common. */
static void make_keys(struct baleen_key *keys, u64 n, const char *set, u32 number)
{
	char url[64];

	for (u64 i = 0; i < n; i++)
		baleen_squid_key_url(url,
				     snprintf(url, sizeof(url), "http://10.9.0.3/%s/%u/%llu", set,
					      number, (unsigned long long)i),
				     &keys[i]);
}

static struct baleen_filter make_filter(const struct row *row, u32 size, u32 number)
{
	struct shaped shaped = {
		.name = row->name,
		.domain = BALEEN_TUPLE,
		.kind = row->kind,
		.shape = row->shape[size],
		.fpp = 0.999,
	};
	u64 n_room = row->n_room[size] ? row->n_room[size] : N_KEYS;
	struct baleen_filter filter = shaped_filter(&shaped, n_room, number);
	const struct baleen_table *table = &filter.image.table[BALEEN_TUPLE];

	if (table->n_blocks > N_KEYS * bits_of[size] / BLOCK_BITS + 1)
		errx(1, "%s: %u blocks are more than %u bits an entry", row->name, table->n_blocks,
		     bits_of[size]);
	return filter;
}

/* By the formula; a cuckoo table in which keys share slots errs by its slots. */
static double expected_rate(const struct baleen_filter *filter)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_TUPLE];
	double n = N_KEYS, k = table->n_hashes;

	switch (table->kind) {
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING: return pow(1 - exp(-k * n / baleen_table_bits(table)), k);
	case BALEEN_KIND_CUCKOO:
		return 2. * baleen_filter_used(filter, BALEEN_TUPLE) / (255. * table->n_buckets);
	case BALEEN_KIND_QUOTIENT: return 1 - exp(-n / table->n_buckets / (1 << table->slot_bits));
	default: return baleen_bloom_fpp(table->n_buckets, table->n_hashes, n);
	}
}

static void measure(struct row *row, u32 size, u32 number)
{
	struct baleen_filter filter = make_filter(row, size, number);
	struct sample *sample = &row->sample[size];
	size_t n_done, n_positive;
	double expected;

	if (baleen_filter_insert(&filter, members, N_KEYS, &n_done)) {
		row->n_most[size] = n_done > row->n_most[size] ? n_done : row->n_most[size];
	} else {
		if (baleen_filter_test_many(&filter, members, N_KEYS, found) != N_KEYS)
			errx(1, "%s: a member is missing", row->name);
		expected = expected_rate(&filter);
		n_positive = baleen_filter_test_many(&filter, strangers, N_STRANGERS, found);
		sample->n_positive += n_positive;
		sample->n_expected += expected * N_STRANGERS;
		sample->difference[number] = (double)n_positive / N_STRANGERS - expected;
	}
	baleen_filter_free(&filter);
}

/* --- results --------------------------------------------------------------- */

static void judge(const struct row *row, u32 size)
{
	struct judged judged = sample_judge(&row->sample[size], N_STRANGERS);
	char what[160];

	if (does_refuse(row, size)) {
		snprintf(what, sizeof(what), "refused, %llu of %llu keys found room",
			 (unsigned long long)row->n_most[size], N_KEYS);
		result(row->n_most[size] && !row->sample[size].n_expected, row, size, what);
		return;
	}
	snprintf(what, sizeof(what), "%.4g expected, %.4g came, within %.1f %%", judged.expected,
		 judged.measured, 100 * judged.width / judged.expected);
	result(judged.is_good && !row->n_most[size], row, size, what);
}

static void print_table(void)
{
	printf("\n%-30s", "false hits in %, bits an entry");
	for (u32 i = 0; i < N_SIZES; i++)
		printf("%16u", bits_of[i]);
	printf("\n%-30s", "");
	for (u32 i = 0; i < N_SIZES; i++)
		printf("%16s", "formula  came");
	for (u32 i = 0; i < N_ROWS; i++) {
		printf("\n%-30s", rows[i].name);
		for (u32 size = 0; size < N_SIZES; size++) {
			struct judged judged = sample_judge(&rows[i].sample[size], N_STRANGERS);

			if (does_refuse(&rows[i], size))
				printf("%16s", "no room");
			else
				printf("%10.2f%6.2f", 100 * judged.expected, 100 * judged.measured);
		}
	}
	printf("\n\n");
}

int main(void)
{
	for (u32 number = 0; number < N_FILTERS; number++) {
		make_keys(members, N_KEYS, "in", number);
		make_keys(strangers, N_STRANGERS, "out", number);
		for (u32 i = 0; i < N_ROWS; i++)
			for (u32 size = 0; size < N_SIZES; size++)
				measure(&rows[i], size, number);
	}
	for (u32 i = 0; i < N_ROWS; i++)
		for (u32 size = 0; size < N_SIZES; size++)
			judge(&rows[i], size);
	print_table();
	printf("1..%u\n", n_tests);
	return n_bad != 0;
}
