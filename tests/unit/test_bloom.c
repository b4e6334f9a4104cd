// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The blocked Bloom filter: where the bits of a key are, and what is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "tables.h"

#define N_KEYS 20000

/* The bits of a key as the picture on top of bloom.h has them, from the
 * left: a bit array of the whole block, one bit number after the other.
 */
static u32 slow_locate(const struct baleen_table *table, const struct baleen_seed *seed,
		       const struct baleen_key *key, bool *block)
{
	u64 hash = key->domain == BALEEN_IP4 ? baleen_permute64(seed, key->ip4) :
					       baleen_hash_ip6(seed, key->hi, key->lo);
	u64 g = hash * 0x9e3779b97f4a7c15ull;
	u32 word[2];

	g ^= g / 0x100000000ull;
	word[0] = g % 8;
	word[1] = word[0] ^ (1 + (u32)(g / 8 % 256) * 7 / 256);
	memset(block, 0, 512 * sizeof(*block));
	for (u32 i = 0; i < table->n_hashes; i++) {
		u32 half = i / (table->n_hashes / 2), n = i % (table->n_hashes / 2);

		block[64 * word[half] + (g >> (11 + 24 * half + 6 * n)) % 64] = true;
	}
	return table->first_block +
	       (u32)((unsigned __int128)(hash >> 32) * table->n_blocks / 0x100000000ull);
}

static void assert_place(const struct baleen_table *table, const struct baleen_seed *seed,
			 const struct baleen_key *key)
{
	struct baleen_bloom_place place = baleen_bloom_locate(table, seed, key);
	bool slow[512];

	assert_int_equal(place.block, slow_locate(table, seed, key, slow));
	assert_in_range(place.block, table->first_block, table->first_block + table->n_blocks - 1);
	assert_true(place.word[0] < 8 && place.word[1] < 8 && place.word[0] != place.word[1]);
	for (u32 bit = 0; bit < 512; bit++) {
		u64 got = 0;

		for (u32 half = 0; half < 2; half++)
			if (place.word[half] == bit / 64)
				got = place.mask[half] >> bit % 64 & 1;
		if (got != slow[bit])
			fail_msg("bit %u is %u", bit, slow[bit]);
	}
}

static void test_locate(void **state)
{
	static const u32 n_blocks[] = { 1, 2, 3, 7, 4096, 15625, BALEEN_MAX_BLOCKS - 8 };
	struct random random = random_from(1);

	for (u32 i = 0; i < 4 * sizeof(n_blocks) / sizeof(n_blocks[0]); i++) {
		struct baleen_table table = bloom_table(2 + 2 * (i % 4), n_blocks[i / 4]);
		struct baleen_seed seed = random_seed(&random);

		for (u32 round = 0; round < 1000; round++) {
			struct baleen_key key = random_key(&random, round % 2);

			assert_place(&table, &seed, &key);
		}
	}
}

/* Each key sets its own bits and no other, and is found from then on. */
static void try_table(u32 domain, u32 n_hashes, u32 n_blocks, struct random *random)
{
	struct baleen_table table = bloom_table(n_hashes, n_blocks);
	struct baleen_filter filter = table_filter(&table, domain, random);
	bool *want = calloc(n_blocks, 512 * sizeof(*want)), block[512];
	struct baleen_key *keys = malloc(N_KEYS * sizeof(*keys));
	const u8 *body = (u8 *)filter.bytes + BALEEN_HEADER_BYTES;

	for (u32 i = 0; i < N_KEYS; i++) {
		u32 at;

		keys[i] = random_key(random, domain);
		assert_int_equal(insert_one(&filter, &keys[i]), 0);
		assert_true(baleen_filter_test(&filter, &keys[i]));
		at = slow_locate(&table, &filter.image.seed, &keys[i], block) - table.first_block;
		for (u32 bit = 0; bit < 512; bit++)
			want[at * 512 + bit] |= block[bit];
	}
	for (u32 bit = 0; bit < n_blocks * 512; bit++)
		assert_int_equal(body[bit / 8] >> bit % 8 & 1, want[bit]);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_true(baleen_filter_test(&filter, &keys[i]));
	assert_int_equal(baleen_filter_count(&filter, domain), N_KEYS);
	assert_sealed(&filter);
	free(keys);
	free(want);
	baleen_filter_free(&filter);
}

static void test_insert(void **state)
{
	struct random random = random_from(2);

	for (u32 k = 2; k <= 8; k += 2) {
		try_table(BALEEN_IP4, k, 625, &random);
		try_table(BALEEN_IP6, k, 313, &random);
	}
}

/* The answer is yes exactly when all bits of the key are set. */
static void test_test(void **state)
{
	struct random random = random_from(3);
	u64 n_yes = 0;

	for (u32 k = 2; k <= 8; k += 2) {
		struct baleen_table table = bloom_table(k, 97);
		struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);
		u8 *body = (u8 *)filter.bytes + BALEEN_HEADER_BYTES;

		/* Three of four bits set. */
		for (u32 i = 0; i < 97 * 64; i++)
			body[i] = random_next(&random) | random_next(&random);
		for (u32 round = 0; round < N_KEYS; round++) {
			struct baleen_key key = random_key(&random, BALEEN_IP6);
			bool bits[512], want = true;
			u32 at = slow_locate(&table, &filter.image.seed, &key, bits) - 8;

			for (u32 bit = 0; bit < 512; bit++)
				want &= !bits[bit] || body[at * 64 + bit / 8] >> bit % 8 & 1;
			assert_int_equal(baleen_filter_test(&filter, &key), want);
			n_yes += want;
		}
		baleen_filter_free(&filter);
	}
	assert_in_range(n_yes, N_KEYS / 2, 2 * N_KEYS);
}

static void test_empty(void **state)
{
	struct random random = random_from(4);
	struct baleen_table table = bloom_table(2, 3);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);

	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key key = random_key(&random, i % 2);

		/* Of IPv6 there is not even a table. */
		assert_int_equal(baleen_filter_test(&filter, &key), 0);
	}
	baleen_filter_free(&filter);
}

/* The example on top of bloom.h. */
static void test_example(void **state)
{
	assert_int_equal(baleen_bloom_mask(0x8005 >> 11, 1), 1ull << 16);
	assert_int_equal(baleen_bloom_mask(0x8005ull >> 35, 1), 1);
	assert_int_equal(baleen_bloom_mask(0, 4), 1);
	assert_int_equal(baleen_bloom_mask(63 << 18 | 3 << 12 | 2 << 6 | 1, 3), 0xe);
	assert_int_equal(baleen_bloom_mask(63 << 18 | 3 << 12 | 2 << 6 | 1, 4), 0xe | 1ull << 63);
}

/* --- plan -------------------------------------------------------------------- */

static void test_plan_refused(void **state)
{
	static const struct {
		double fpp;
		struct baleen_shape shape;
		int err;
		const char *word;
	} plans[] = {
		{ 0, { 0 }, -EINVAL, "--fpp" },
		{ 0, { .n_hashes = 4 }, -EINVAL, "--fpp" },
		{ 0.01, { .n_hashes = 3 }, -EINVAL, "not 3: use --kind classic" },
		{ 0.01, { .n_hashes = 10 }, -EINVAL, "not 10" },
		{ 1e-30, { 0 }, -EINVAL, "128 bits a key" },
		{ 0, { .n_bits = (1ull << 37) + 1 }, -E2BIG, "137438953473 bits" },
	};
	struct baleen_table table, poison;

	memset(&table, 0xa5, sizeof(table));
	memset(&poison, 0xa5, sizeof(poison));
	for (u32 i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		struct baleen_error error;

		assert_int_equal(baleen_plan_shaped(BALEEN_IP4, BALEEN_KIND_BLOOM, 1000,
						    plans[i].fpp, &plans[i].shape, &table, &error),
				 plans[i].err);
		if (!strstr(error.text, plans[i].word))
			fail_msg("'%s' does not name '%s'", error.text, plans[i].word);
		assert_memory_equal(&table, &poison, sizeof(table));
	}
}

/* The hashes and the size that are asked for, and the best of what is not. */
static void test_plan(void **state)
{
	struct baleen_table best, table;

	assert_int_equal(baleen_plan_table(0, BALEEN_KIND_BLOOM, 100000, 0.01, &best, NULL), 0);
	for (u32 k = 2; k <= 8; k += 2) {
		struct baleen_shape shape = { .n_hashes = k };

		assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_BLOOM, 100000, 0.01, &shape,
						    &table, NULL),
				 0);
		assert_int_equal(table.n_hashes, k);
		assert_true(baleen_bloom_fpp(table.n_buckets, k, 100000) <= 0.01);
		/* 2,048 blocks and more are a multiple of 16. */
		assert_int_equal(table.n_buckets % (table.n_buckets < 2048 ? 8 : 16), 0);
		assert_true(baleen_bloom_fpp(table.n_buckets - 32, k, 100000) > 0.01);
		assert_true(table.n_blocks >= best.n_blocks);
		shape = (struct baleen_shape){ .n_bits = 512 * 2000 - 5 };
		assert_int_equal(baleen_plan_shaped(0, BALEEN_KIND_BLOOM, 100000, 0, &shape, &table,
						    NULL),
				 0);
		assert_int_equal(table.n_blocks, 2000);
		assert_true(baleen_bloom_fpp(2000, table.n_hashes, 100000) <=
			    baleen_bloom_fpp(2000, k, 100000));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locate),	cmocka_unit_test(test_insert),
		cmocka_unit_test(test_test),	cmocka_unit_test(test_empty),
		cmocka_unit_test(test_example), cmocka_unit_test(test_plan_refused),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
