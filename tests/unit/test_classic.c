// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The classic Bloom filter: its plan, where the bits of a key are, what is found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/bloom_math.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/positions.h"
#include "planes.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define N_KEYS 3000

/* --- plan ------------------------------------------------------------------- */

static void assert_plan_refused(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
				int want, const char *word)
{
	struct baleen_error error = { .text = "" };
	struct baleen_table table, poison;

	memset(&table, 0xa5, sizeof(table));
	memset(&poison, 0xa5, sizeof(poison));
	assert_int_equal(baleen_plan_shaped(domain, BALEEN_KIND_CLASSIC, n, fpp, shape, &table,
					    &error),
			 want);
	if (!strstr(error.text, word))
		fail_msg("'%s' does not name '%s'", error.text, word);
	assert_memory_equal(&table, &poison, sizeof(table));
}

static void test_plan_refused(void **state)
{
	static const struct {
		u32 domain;
		u64 n;
		double fpp;
		struct baleen_shape shape;
		int err;
		const char *word;
	} plans[] = {
		{ 0, 9, 0, { 0 }, -EINVAL, "--fpp or --bits" },
		{ 0, 9, 0, { .n_hashes = 4 }, -EINVAL, "--fpp or --bits" },
		{ 0, 9, 0.1, { .n_hashes = 33 }, -EINVAL, "1 to 32 hashes, not 33" },
		{ 0,
		  9,
		  0.1,
		  { .n_hashes = 3, .hash = BALEEN_HASH_MURMUR3_FNV1A },
		  -EINVAL,
		  "2 hashes, not 3" },
		{ 2, 9, 0.1, { .hash = BALEEN_HASH_MURMUR3 }, -EINVAL, "several fields" },
		{ 0,
		  9,
		  0,
		  { .n_bits = (1ull << 32) + 1, .hash = BALEEN_HASH_MURMUR3 },
		  -EINVAL,
		  "not of 4294967297: use --hash keyed" },
		{ 0, 9, 0, { .n_bits = (1ull << 37) + 1 }, -E2BIG, "137438953473 bits" },
		{ 0, 1ull << 30, 0.02, { .hash = BALEEN_HASH_MURMUR3 }, -EINVAL, "too little" },
		{ 0, 1ull << 33, 1e-9, { 0 }, -E2BIG, "8589934592 keys" },
		{ 0, 9, 1, { .n_bits = 100 }, -EINVAL, "below 1" },
	};

	for (u32 i = 0; i < N_OF(plans); i++)
		assert_plan_refused(plans[i].domain, plans[i].n, plans[i].fpp, &plans[i].shape,
				    plans[i].err, plans[i].word);
}

static struct baleen_table plan(u64 n, double fpp, struct baleen_shape shape)
{
	struct baleen_error error;
	struct baleen_table table;

	if (baleen_plan_shaped(BALEEN_IP4, BALEEN_KIND_CLASSIC, n, fpp, &shape, &table, &error))
		fail_msg("%s", error.text);
	assert_int_equal(table.kind, BALEEN_KIND_CLASSIC);
	assert_int_equal(table.n_blocks, table.n_buckets);
	return table;
}

static void test_plan(void **state)
{
	struct baleen_table table = plan(1000000, 0.0215, (struct baleen_shape){ 0 });

	assert_int_equal(table.hash, BALEEN_HASH_KEYED);
	assert_true(table.n_hashes == 5 || table.n_hashes == 6);
	assert_in_range(baleen_table_bits(&table), 7990000, 8010000);
	/* What is asked for is what there is. */
	table = plan(1000, 0, (struct baleen_shape){ .n_bits = 1001, .n_hashes = 32 });
	assert_int_equal(baleen_table_bits(&table), 1001);
	assert_int_equal(table.n_hashes, 32);
	table = plan(1000, 0, (struct baleen_shape){ .n_bits = 8000 });
	assert_int_equal(table.n_hashes, 6);
	table = plan(1000, 0.01, (struct baleen_shape){ .hash = BALEEN_HASH_MURMUR3_FNV1A });
	assert_int_equal(table.n_hashes, 2);
	assert_int_equal(table.hash, BALEEN_HASH_MURMUR3_FNV1A);
	assert_true(baleen_classic_fpp(baleen_table_bits(&table), 2, 1000) <= 0.01);
	table = plan(7, 0, (struct baleen_shape){ .n_bits = 1ull << 37 });
	assert_int_equal(baleen_table_bits(&table), 1ull << 37);
}

/* --- formulas --------------------------------------------------------------- */

static void test_formulas(void **state)
{
	static const struct {
		double fpp, last_digit;
		u32 bits_per_key, k;
	} rows[] = { { 0.0561, 1e-4, 6, 4 },
		     { 0.0215, 1e-4, 8, 6 },
		     { 0.00314, 1e-5, 12, 8 },
		     { 0.000458, 1e-6, 16, 11 } };

	for (u32 i = 0; i < N_OF(rows); i++) {
		double fpp = baleen_classic_fpp(rows[i].bits_per_key, rows[i].k, 1);

		assert_int_equal(baleen_classic_hashes(rows[i].bits_per_key, 1), rows[i].k);
		/* Three digits are given, cut off or rounded. */
		assert_true(fabs(fpp - rows[i].fpp) < rows[i].last_digit);
	}
	assert_true(fabs(baleen_classic_bound(1e9, 0.02) / 8.14e9 - 1) < 0.001);
	assert_true(baleen_classic_bits(1e9, 0.02, 0) >= baleen_classic_bound(1e9, 0.02));
	assert_true(baleen_classic_bits(1e9, 0.02, 0) < 1.002 * baleen_classic_bound(1e9, 0.02));
	assert_true(fabs(baleen_counting_overflow(1e9, 7, 1e9 * log(2) / 7) / 1.37e-6 - 1) < 0.01);
	assert_true(baleen_counting_overflow(1e30, 7, 1e30 * log(2) / 7) == 1);
	/* Beyond the optimum it grows with the 16th power, up to certainty. */
	assert_true(fabs(baleen_counting_overflow(1e9, 7, 1e9 * log(2) / 14) / 1.37e-6 * 65536 -
			 1) < 0.01);
	assert_true(baleen_counting_overflow(1000, 8, 5000) == 1);
}

/* The best k and the fewest bits, by trying all. */
static void test_optimum(void **state)
{
	for (u32 tenths = 1; tenths <= 600; tenths++) {
		double m = tenths / 10., fpp;
		u32 best = 1;

		for (u32 k = 2; k <= BALEEN_MAX_POSITIONS; k++)
			if (baleen_classic_fpp(m, k, 1) < baleen_classic_fpp(m, best, 1))
				best = k;
		assert_int_equal(baleen_classic_hashes(m, 1), best);
		fpp = baleen_classic_fpp(m, best, 1);
		assert_true(fabs(baleen_classic_bits(1, fpp, best) / m - 1) < 1e-9);
		assert_true(fabs(baleen_classic_bits(1, fpp, 0) / m - 1) < 1e-9);
	}
}

/* --- hashes ----------------------------------------------------------------- */

/* The verification value of SMHasher: the hashes of 0, 01, 0102, ... with seeds 256
 * minus their length, hashed once more.
 */
static void test_murmur3(void **state)
{
	static const struct {
		const char *text;
		u32 seed, hash;
	} known[] = {
		{ "", 0, 0 },
		{ "", 1, 0x514e28b7 },
		{ "", 0xffffffff, 0x81f16f39 },
		{ "aaaa", 0x9747b28c, 0x5a97808a },
		{ "Hello, world!", 0x9747b28c, 0x24884cba },
	};
	u8 bytes[256], hashes[1024];

	for (u32 i = 0; i < 256; i++) {
		u32 hash = baleen_murmur3_bytes(bytes, i, 256 - i);

		bytes[i] = i;
		for (u32 j = 0; j < 4; j++)
			hashes[4 * i + j] = hash >> 8 * j;
	}
	assert_int_equal(baleen_murmur3_bytes(hashes, sizeof(hashes), 0), 0xb0f57ee3);
	for (u32 i = 0; i < N_OF(known); i++)
		assert_int_equal(baleen_murmur3_bytes(known[i].text, strlen(known[i].text),
						      known[i].seed),
				 known[i].hash);
	assert_int_equal(baleen_fnv1a_bytes("", 0), 0x811c9dc5);
	assert_int_equal(baleen_fnv1a_bytes("a", 1), 0xe40c292c);
	assert_int_equal(baleen_fnv1a_bytes("foobar", 6), 0xbf9cf968);
}

static u32 address_bytes(const struct baleen_key *key, u8 *bytes)
{
	if (key->domain == BALEEN_IP4) {
		for (u32 i = 0; i < 4; i++)
			bytes[i] = key->ip4 >> (24 - 8 * i);
		return 4;
	}
	for (u32 i = 0; i < 8; i++) {
		bytes[i] = key->hi >> (56 - 8 * i);
		bytes[8 + i] = key->lo >> (56 - 8 * i);
	}
	return 16;
}

static void test_addresses_are_bytes(void **state)
{
	struct random random = random_from(1);

	for (u32 i = 0; i < 10000; i++) {
		struct baleen_key key = random_key(&random, i % 2);
		u32 seed = random_next(&random), n;
		u8 bytes[16];

		n = address_bytes(&key, bytes);
		assert_int_equal(baleen_murmur3_key(&key, seed),
				 baleen_murmur3_bytes(bytes, n, seed));
		assert_int_equal(baleen_fnv1a_key(&key), baleen_fnv1a_bytes(bytes, n));
	}
}

/* As Python has it: the sign of the remainder is that of the divisor. */
static u64 slow_modulo(u32 hash, u64 m)
{
	long long remainder = (long long)(int)hash % (long long)m;

	return remainder < 0 ? remainder + (long long)m : remainder;
}

static void test_arithmetic(void **state)
{
	static const u32 hashes[] = { 0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff };
	struct random random = random_from(2);

	/* The example on top of classic.h. */
	assert_int_equal(baleen_signed_modulo(0x94816774, 1000), 300);
	for (u32 i = 0; i < 40000; i++) {
		u64 m = 1 + (random_next(&random) >> (32 + i % 32)), x = random_next(&random);
		u32 hash = i % 2 ? hashes[i / 2 % N_OF(hashes)] : (u32)random_next(&random);
		u64 n = 1 + (random_next(&random) >> (27 + i % 37));

		assert_int_equal(baleen_signed_modulo(hash, m), slow_modulo(hash, m));
		if (!(m & (m - 1)))
			assert_int_equal(baleen_signed_modulo(hash, m), hash % m);
		assert_int_equal(baleen_scale64(x, n), (u64)((unsigned __int128)x * n >> 64));
	}
	assert_int_equal(baleen_scale64(-1ull, 1ull << 37), (1ull << 37) - 1);
}

/* --- keys -------------------------------------------------------------------- */

/* Position i of a key, as the picture on top of classic.h has it. */
static u64 slow_position(const struct baleen_filter *filter, const struct baleen_key *key, u32 i)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	u64 m = table->n_buckets * 512ull - table->n_spare_bits;
	u8 bytes[16];
	u32 n;

	/* Bytes 4 i to 4 i + 3 of the MD5, as a number in network order. */
	if (table->hash == BALEEN_HASH_SQUID)
		return (u32)((i < 2 ? key->hi : key->lo) >> (i % 2 ? 0 : 32)) % m;
	if (table->hash == BALEEN_HASH_KEYED) {
		u64 x = baleen_hash64(&filter->image.seed, key) + i * 0x9e3779b97f4a7c15ull;

		return (unsigned __int128)baleen_mix64(x) * m >> 64;
	}
	n = address_bytes(key, bytes);
	if (table->hash == BALEEN_HASH_MURMUR3_FNV1A && i)
		return baleen_fnv1a_bytes(bytes, n) % m;
	return slow_modulo(baleen_murmur3_bytes(bytes, n, i), m);
}

static void try_table(u32 domain, u32 hash, u32 n_hashes, u64 m, struct random *random)
{
	struct baleen_table table = plane_table(BALEEN_KIND_CLASSIC, hash, n_hashes, m);
	struct baleen_filter filter = table_filter(&table, domain, random);
	struct baleen_key *keys = malloc(N_KEYS * sizeof(*keys));
	bool *want = calloc(table.n_buckets, 512 * sizeof(*want));
	u32 n_yes = 0;

	for (u32 i = 0; i < N_KEYS; i++) {
		keys[i] = random_key(random, domain);
		assert_int_equal(insert_one(&filter, &keys[i]), 0);
		for (u32 j = 0; j < n_hashes; j++)
			want[slow_position(&filter, &keys[i], j)] = true;
	}
	for (u64 bit = 0; bit < table.n_buckets * 512ull; bit++)
		assert_int_equal(plane_bit(&filter, domain, bit), want[bit]);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_true(baleen_filter_test(&filter, &keys[i]));
	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key other = random_key(random, domain);
		bool yes = true;

		for (u32 j = 0; j < n_hashes; j++)
			yes &= want[slow_position(&filter, &other, j)];
		assert_int_equal(baleen_filter_test(&filter, &other), yes);
		n_yes += yes;
	}
	assert_true(n_yes < N_KEYS / 2);
	assert_int_equal(filter.image.table[domain].n_entries, N_KEYS);
	if (domain <= BALEEN_IP6 || hash == BALEEN_HASH_SQUID)
		assert_sealed(&filter);
	free(want);
	free(keys);
	baleen_filter_free(&filter);
}

static void test_keys(void **state)
{
	struct random random = random_from(3);

	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		try_table(domain, BALEEN_HASH_KEYED, 7, 30001, &random);
		try_table(domain, BALEEN_HASH_KEYED, 32, 512 * 300, &random);
	}
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		try_table(domain, BALEEN_HASH_MURMUR3, 7, 30011, &random);
		try_table(domain, BALEEN_HASH_MURMUR3, 1, 1 << 15, &random);
		try_table(domain, BALEEN_HASH_MURMUR3_FNV1A, 2, 30011, &random);
	}
	try_table(BALEEN_TUPLE, BALEEN_HASH_SQUID, 4, 30008, &random);
	try_table(BALEEN_TUPLE, BALEEN_HASH_SQUID, 4, 1 << 15, &random);
}

/* A string has no key that murmur3 could hash, and its bytes can. */
static void test_strings(void **state)
{
	struct baleen_table table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_MURMUR3, 5, 20011);
	struct random random = random_from(4);
	struct baleen_filter filter = table_filter(&table, BALEEN_TUPLE, &random);
	struct baleen_key key = random_key(&random, BALEEN_TUPLE);
	struct baleen_positions positions;
	size_t n_done = 7;

	memset((u8 *)filter.bytes + BALEEN_HEADER_BYTES, 0xff, 64);
	assert_int_equal(baleen_filter_insert(&filter, &key, 1, &n_done), -EOPNOTSUPP);
	assert_int_equal(n_done, 0);
	assert_int_equal(baleen_filter_test(&filter, &key), 0);
	memset((u8 *)filter.bytes + BALEEN_HEADER_BYTES, 0, 64);
	for (u32 i = 0; i < 1000; i++) {
		u64 text[3] = { random_next(&random), i, 5 };

		baleen_positions_of_bytes(&table, &filter.image.seed, text, i % 25, &positions);
		baleen_plane_add(&filter.image.table[BALEEN_TUPLE], filter.bytes, &positions);
		assert_true(baleen_classic_test_bytes(&table, &filter.image.seed, filter.bytes,
						      text, i % 25));
		assert_true(baleen_plane_test(&filter.image.table[BALEEN_TUPLE], filter.bytes,
					      &positions));
	}
	assert_false(
		baleen_classic_test_bytes(&table, &filter.image.seed, filter.bytes, "absent", 6));
	baleen_filter_free(&filter);
}

/* A table without hashes holds nothing, not everything. */
static void test_no_hashes(void **state)
{
	struct baleen_table table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 0, 512);
	struct random random = random_from(5);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_key key = random_key(&random, BALEEN_IP4);

	assert_int_equal(baleen_filter_test(&filter, &key), 0);
	baleen_filter_free(&filter);
}

static void test_add(void **state)
{
	struct baleen_table table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 4, 100000);
	struct random random = random_from(6);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);
	struct baleen_key key = random_key(&random, BALEEN_IP6);
	bool changed;

	assert_int_equal(baleen_classic_ops.add(&filter, &key, &changed), 0);
	assert_true(changed);
	assert_true(baleen_filter_test(&filter, &key));
	assert_int_equal(baleen_classic_ops.add(&filter, &key, &changed), 0);
	assert_false(changed);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_refused), cmocka_unit_test(test_plan),
		cmocka_unit_test(test_formulas),     cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_murmur3),	     cmocka_unit_test(test_addresses_are_bytes),
		cmocka_unit_test(test_arithmetic),   cmocka_unit_test(test_keys),
		cmocka_unit_test(test_strings),	     cmocka_unit_test(test_no_hashes),
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
