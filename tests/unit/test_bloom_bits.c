// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whole planes of bits: union, intersection, and half a filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/kind.h"
#include "filter/live.h"
#include "planes.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct geometry {
	u32 kind, hash, n_hashes;
	u64 n_bits;
	u32 domain;
} geometries[] = {
	{ BALEEN_KIND_BLOOM, BALEEN_HASH_BLOCKED, 6, 512 * 44, BALEEN_IP4 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 7, 20004, BALEEN_IP6 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 3, 512 * 21, BALEEN_TUPLE },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_MURMUR3, 5, 20006, BALEEN_IP4 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_MURMUR3_FNV1A, 2, 1 << 14, BALEEN_IP6 },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED, 8, 512 * 44, BALEEN_IP6 },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_KEYED, 7, 20004, BALEEN_IP4 },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_MURMUR3, 3, 20006, BALEEN_IP6 },
	{ BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, 20016, BALEEN_TUPLE },
	{ BALEEN_KIND_COUNTING, BALEEN_HASH_SQUID, 4, 512 * 40, BALEEN_TUPLE },
};

/* An empty filter; of the same @seed are those that fit. */
static struct baleen_filter empty(const struct geometry *geometry, u64 seed)
{
	struct baleen_table table =
		plane_table(geometry->kind, geometry->hash, geometry->n_hashes, geometry->n_bits);
	struct random random = { .state = seed };

	return table_filter(&table, geometry->domain, &random);
}

static void fill(struct baleen_filter *filter, const struct baleen_key *keys, u32 first, u32 last)
{
	size_t n_done;

	assert_int_equal(baleen_filter_insert(filter, keys + first, last - first, &n_done), 0);
	baleen_filter_seal(filter);
}

#define N_KEYS 1500

static void make_keys(const struct geometry *geometry, struct random *random,
		      struct baleen_key *keys)
{
	for (u32 i = 0; i < N_KEYS; i++)
		keys[i] = random_key(random, geometry->domain);
}

/* --- union and intersection --------------------------------------------------------- */

static u64 plane_bytes(const struct baleen_filter *filter, u32 domain)
{
	return filter->image.table[domain].n_buckets * 64ull;
}

/* The OR is the filter of the union of disjoint lists, counters and all. */
static void test_unite(void **state)
{
	struct random random = random_from(1);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter a = empty(&geometries[i], i), b = empty(&geometries[i], i);
		struct baleen_filter all = empty(&geometries[i], i);
		struct baleen_key keys[N_KEYS];
		u32 domain = geometries[i].domain;

		make_keys(&geometries[i], &random, keys);
		fill(&a, keys, 0, 600);
		fill(&b, keys, 600, N_KEYS);
		fill(&all, keys, 0, N_KEYS);
		baleen_bits_unite(&a, &b, domain);
		assert_memory_equal((u8 *)a.bytes + BALEEN_HEADER_BYTES,
				    (u8 *)all.bytes + BALEEN_HEADER_BYTES,
				    a.n_bytes - BALEEN_HEADER_BYTES);
		assert_in_range(a.image.table[domain].n_entries, N_KEYS * 0.9, N_KEYS * 1.1);
		baleen_filter_free(&a);
		baleen_filter_free(&b);
		baleen_filter_free(&all);
	}
}

/* What is in both stays; bits and counters are never more than in either. */
static void test_intersect(void **state)
{
	struct random random = random_from(2);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_filter a = empty(&geometries[i], i), b = empty(&geometries[i], i),
				     old;
		struct baleen_key keys[N_KEYS];
		u32 domain = geometries[i].domain;

		make_keys(&geometries[i], &random, keys);
		fill(&a, keys, 0, 900);
		fill(&b, keys, 600, N_KEYS);
		assert_int_equal(baleen_filter_copy(&a, &old, NULL), 0);
		baleen_bits_intersect(&a, &b, domain);
		for (u64 bit = 0; bit < geometries[i].n_bits; bit++) {
			u32 x, y;

			assert_int_equal(plane_bit(&a, domain, bit),
					 plane_bit(&old, domain, bit) & plane_bit(&b, domain, bit));
			if (geometries[i].kind != BALEEN_KIND_COUNTING)
				continue;
			x = plane_counter(&old, domain, bit);
			y = plane_counter(&b, domain, bit);
			assert_int_equal(plane_counter(&a, domain, bit), x < y ? x : y);
		}
		for (u32 j = 600; j < 900; j++)
			assert_true(baleen_filter_test(&a, &keys[j]));
		baleen_filter_free(&a);
		baleen_filter_free(&b);
		baleen_filter_free(&old);
	}
}

/* All pairs of counters: a sum ends at 15. */
static void test_saturating(void **state)
{
	struct geometry one = { BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED, 2, 512, BALEEN_IP4 };
	struct baleen_filter a = empty(&one, 1), b = empty(&one, 1);
	u8 *x = (u8 *)a.bytes + BALEEN_HEADER_BYTES + 64, *y = (u8 *)b.bytes + (x - (u8 *)a.bytes);

	for (u32 i = 0; i < 256; i++) {
		x[i] = (i % 16) | (15 - i % 16) << 4;
		y[i] = i / 16 | i / 16 << 4;
	}
	baleen_bits_unite(&a, &b, BALEEN_IP4);
	for (u32 i = 0; i < 256; i++) {
		u32 low = i % 16 + i / 16, high = 15 - i % 16 + i / 16;

		assert_int_equal(x[i], (low < 15 ? low : 15) | (high < 15 ? high : 15) << 4);
	}
	baleen_filter_free(&a);
	baleen_filter_free(&b);
}

/* --- half a filter ------------------------------------------------------------------ */

static void test_halve_refused(void **state)
{
	static const struct {
		struct geometry geometry;
		const char *words;
	} odd[] = {
		{ { BALEEN_KIND_BLOOM, 0, 4, 512 * 45, BALEEN_IP4 }, "45 blocks, an odd number" },
		{ { BALEEN_KIND_COUNTING, 0, 4, 512, BALEEN_IP4 }, "1 blocks, an odd number" },
		{ { BALEEN_KIND_CLASSIC, 1, 4, 2001, BALEEN_IP4 }, "2001 bits, an odd number" },
		{ { BALEEN_KIND_COUNTING, 2, 4, 2001, BALEEN_IP4 }, "2001 bits, an odd number" },
	};
	struct baleen_table cuckoo = cuckoo_table(32, 16);
	struct random random = random_from(3);
	struct baleen_filter half, poison, filter;
	struct baleen_error error;

	memset(&half, 0xa5, sizeof(half));
	memset(&poison, 0xa5, sizeof(poison));
	for (u32 i = 0; i < N_OF(odd); i++) {
		filter = empty(&odd[i].geometry, 1);
		assert_int_equal(baleen_filter_halve(&filter, &half, &error), -EOPNOTSUPP);
		assert_non_null(strstr(error.text, odd[i].words));
		assert_memory_equal(&half, &poison, sizeof(half));
		baleen_filter_free(&filter);
	}
	filter = table_filter(&cuckoo, BALEEN_IP4, &random);
	assert_int_equal(baleen_filter_halve(&filter, &half, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "kind cuckoo"));
	assert_memory_equal(&half, &poison, sizeof(half));
	baleen_filter_free(&filter);
}

/* Half a filter is the filter of half the size; of counters that several positions
 * of a key fold onto it may have more.
 */
static void test_halve(void **state)
{
	struct random random = random_from(4);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct geometry small = geometries[i];
		struct baleen_filter big = empty(&geometries[i], i), half, want;
		struct baleen_key keys[N_KEYS];

		small.n_bits /= 2;
		want = empty(&small, i);
		make_keys(&small, &random, keys);
		fill(&big, keys, 0, N_KEYS);
		fill(&want, keys, 0, N_KEYS);
		assert_int_equal(baleen_filter_halve(&big, &half, NULL), 0);
		assert_int_equal(half.n_bytes, want.n_bytes);
		assert_memory_equal(half.image.table, want.image.table, sizeof(want.image.table));
		assert_memory_equal((u8 *)half.bytes + BALEEN_HEADER_BYTES,
				    (u8 *)want.bytes + BALEEN_HEADER_BYTES,
				    plane_bytes(&want, small.domain));
		if (small.kind == BALEEN_KIND_COUNTING)
			for (u64 bit = 0; bit < small.n_bits; bit++)
				assert_in_range(plane_counter(&half, small.domain, bit),
						plane_counter(&want, small.domain, bit), 15);
		if (small.hash == BALEEN_HASH_BLOCKED)
			assert_memory_equal(half.bytes, want.bytes, want.n_bytes);
		if (small.domain <= BALEEN_IP6 || small.hash == BALEEN_HASH_SQUID)
			assert_sealed(&half);
		baleen_filter_free(&big);
		baleen_filter_free(&half);
		baleen_filter_free(&want);
	}
}

/* Keys of a folded counting filter can be deleted, and no other goes with them. */
static void test_halve_del(void **state)
{
	struct random random = random_from(5);

	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct baleen_key keys[N_KEYS];
		struct baleen_filter filter, half;
		bool changed;

		if (geometries[i].kind != BALEEN_KIND_COUNTING)
			continue;
		filter = empty(&geometries[i], i);
		make_keys(&geometries[i], &random, keys);
		fill(&filter, keys, 0, N_KEYS);
		assert_int_equal(baleen_filter_halve(&filter, &half, NULL), 0);
		for (u32 j = 0; j < N_KEYS / 2; j++) {
			assert_int_equal(baleen_live_del(&half, &keys[j], &changed), 0);
			assert_true(changed);
		}
		for (u32 j = N_KEYS / 2; j < N_KEYS; j++)
			assert_true(baleen_filter_test(&half, &keys[j]));
		baleen_filter_free(&filter);
		baleen_filter_free(&half);
	}
}

/* Bits and counters behind the last one, as no filter of ours has them. */
static void test_halve_hostile(void **state)
{
	for (u32 i = 0; i < N_OF(geometries); i++) {
		struct geometry small = geometries[i];
		struct baleen_filter filter, half;

		if (small.hash == BALEEN_HASH_BLOCKED)
			continue;
		small.n_bits = small.hash == BALEEN_HASH_SQUID ? 528 : 514;
		filter = empty(&small, i);
		memset((u8 *)filter.bytes + BALEEN_HEADER_BYTES, 0xff,
		       filter.n_bytes - BALEEN_HEADER_BYTES);
		assert_true(baleen_filter_fpp(&filter, small.domain) == 1);
		assert_int_equal(baleen_filter_halve(&filter, &half, NULL), 0);
		assert_int_equal(baleen_bits_count(&half, small.domain), small.n_bits / 2);
		baleen_filter_free(&filter);
		baleen_filter_free(&half);
	}
}

/* Two families in one image, folded twice: tables move up. */
static void test_halve_two_tables(void **state)
{
	struct random random = random_from(6);
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC, .seed = random_seed(&random) };
	struct baleen_filter filter, half, quarter;
	struct baleen_key keys[1000];

	image.table[BALEEN_IP4] = plane_table(BALEEN_KIND_BLOOM, 0, 4, 512 * 24);
	image.table[BALEEN_IP6] = plane_table(BALEEN_KIND_CLASSIC, 1, 4, 12004);
	image.table[BALEEN_IP6].first_block += 24;
	image.n_blocks = 8 + 24 + 24;
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	for (u32 i = 0; i < 1000; i++) {
		keys[i] = random_key(&random, i % 2);
		assert_int_equal(insert_one(&filter, &keys[i]), 0);
	}
	assert_sealed(&filter);
	assert_int_equal(baleen_filter_halve(&filter, &half, NULL), 0);
	assert_int_equal(baleen_filter_halve(&half, &quarter, NULL), 0);
	assert_sealed(&quarter);
	assert_int_equal(quarter.image.n_blocks, 8 + 6 + 6);
	for (u32 i = 0; i < 1000; i++)
		assert_true(baleen_filter_test(&quarter, &keys[i]));
	baleen_filter_free(&filter);
	baleen_filter_free(&half);
	baleen_filter_free(&quarter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unite),
		cmocka_unit_test(test_intersect),
		cmocka_unit_test(test_saturating),
		cmocka_unit_test(test_halve_refused),
		cmocka_unit_test(test_halve),
		cmocka_unit_test(test_halve_del),
		cmocka_unit_test(test_halve_two_tables),
		cmocka_unit_test(test_halve_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
