// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Plans: refused rates, sizes, and predicted error rates against measured ones. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/bloom_math.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "tables.h"

#define POISON 0xa5
#define MAX_N 100000000ull

/* --- refused -------------------------------------------------------------- */

static void assert_plan_refused(u32 domain, u32 kind, u64 n, double fpp, int code, const char *text)
{
	struct baleen_table table, poison;
	struct baleen_error error = { "" };

	memset(&table, POISON, sizeof(table));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_plan_table(domain, kind, n, fpp, &table, &error), -code);
	assert_memory_equal(&table, &poison, sizeof(table));
	assert_string_equal(error.text, text);
	assert_int_equal(baleen_plan_table(domain, kind, n, fpp, &table, NULL), -code);
}

static void test_refused(void **state)
{
	static const double wrong[] = { -1e-9, -1, 1, 1.5, INFINITY, -INFINITY, NAN };

	for (u32 i = 0; i < 4 * sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_plan_refused(i % 2, i / 2 % 2 ? BALEEN_KIND_BLOOM : BALEEN_KIND_CUCKOO, 1000,
				    wrong[i / 4], EINVAL,
				    "a false positive rate is 0 or more, below 1");
	assert_plan_refused(BALEEN_IP4, BALEEN_KIND_BLOOM, 1000, 0, EINVAL,
			    "a Bloom filter needs a false positive rate: --fpp");
	assert_plan_refused(BALEEN_IP6, BALEEN_KIND_BLOOM, 1000, 1e-12, EINVAL,
			    "a Bloom filter cannot reach a false positive rate of 1e-12 in 128 "
			    "bits a key: use --kind cuckoo");
	assert_plan_refused(BALEEN_IP4, BALEEN_KIND_CUCKOO, -1ull, 0, E2BIG,
			    "18446744073709551615 keys are too many for one filter");
	assert_plan_refused(BALEEN_IP6, BALEEN_KIND_BLOOM, -1ull, .1, E2BIG,
			    "18446744073709551615 keys are too many for one filter");
	/* 2^31 keys are 64-bit slots of 18 GB. */
	assert_plan_refused(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1ull << 31, 0, E2BIG,
			    "2147483648 keys are too many for one filter");
}

/* An image that has only this table. */
static struct baleen_image image_of(const struct baleen_table *table, u32 domain)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };

	image.table[domain] = *table;
	return image;
}

static bool is_exact(const struct baleen_table *table, u32 domain)
{
	struct baleen_image image = image_of(table, domain);

	return baleen_table_is_exact(&image, domain);
}

static double table_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	struct baleen_image image = image_of(table, domain);

	return baleen_table_fpp(&image, domain, n);
}

/* --- geometry ------------------------------------------------------------- */

/* What the validator says of an image that has only this table. */
static void assert_valid(const struct baleen_table *table, u32 domain, u64 n)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC }, out;
	u8 bytes[BALEEN_HEADER_BYTES];
	const char *reason;

	if (domain == BALEEN_WORD)
		image.key_spec = BALEEN_KEY_DPORT;
	image.table[domain] = *table;
	image.table[domain].first_block = BALEEN_HEADER_BLOCKS;
	image.table[domain].n_entries = n;
	image.n_entries = n;
	image.n_blocks = BALEEN_HEADER_BLOCKS + table->n_blocks;
	baleen_header_write(&image, bytes);
	if (baleen_header_check(bytes, (u64)image.n_blocks * BALEEN_BLOCK_BYTES, &out, &reason))
		fail_msg("%llu keys of domain %u: %s", (unsigned long long)n, domain, reason);
	assert_memory_equal(&out.table[domain], &image.table[domain], sizeof(*table));
}

static struct baleen_table plan(u32 domain, u32 kind, u64 n, double fpp)
{
	struct baleen_table table;
	struct baleen_error error;

	memset(&table, POISON, sizeof(table));
	if (baleen_plan_table(domain, kind, n, fpp, &table, &error))
		fail_msg("%llu keys: %s", (unsigned long long)n, error.text);
	assert_int_equal(table.kind, kind);
	assert_valid(&table, domain, n);
	return table;
}

/* The promise: above 64 KiB at most 1.25 times what 95 % load asks for at the
 * cheapest lossless slot width.
 */
static void assert_small_enough(const struct baleen_table *table, u64 n, u32 slot_bits)
{
	u64 image_bytes = ((u64)table->n_blocks + BALEEN_HEADER_BLOCKS) * BALEEN_BLOCK_BYTES;
	double asked_bytes = n / 0.95 * slot_bits / 8;

	if (image_bytes > 64 << 10 && image_bytes > 1.25 * asked_bytes)
		fail_msg("%llu keys take %llu bytes, %.0f are asked for", (unsigned long long)n,
			 (unsigned long long)image_bytes, asked_bytes);
}

/* No block is wasted: with one less, the table would be fuller than 95 %. */
static void assert_full_enough(const struct baleen_table *table, u64 n)
{
	u32 per_block = baleen_buckets_per_block(table->slot_bits);
	u64 fewer = (u64)(table->n_blocks - 1) * per_block * BALEEN_BUCKET_SLOTS;

	assert_true(n <= (u64)table->n_buckets * BALEEN_BUCKET_SLOTS * 0.95);
	if (n >= 1000 && n <= fewer * 0.95)
		fail_msg("%llu keys in %u blocks", (unsigned long long)n, table->n_blocks);
	assert_true(baleen_table_capacity(table) >= n);
}

static void assert_cuckoo_plan(u64 n)
{
	struct baleen_table table = plan(BALEEN_IP4, BALEEN_KIND_CUCKOO, n, 0);
	u32 cheapest = n / 0.95 / BALEEN_BUCKET_SLOTS < 1 << 18 ? 32 : 16;

	assert_true(is_exact(&table, BALEEN_IP4));
	assert_true(table_fpp(&table, BALEEN_IP4, n) == 0);
	assert_small_enough(&table, n, cheapest);
	/* Wide slots never, where narrow ones are smaller. */
	assert_true(table.slot_bits == 16 || table.n_blocks <= 1 << 15);
	if (table.slot_bits == 32 || table.n_buckets > 1 << 18)
		assert_full_enough(&table, n);

	table = plan(BALEEN_IP6, BALEEN_KIND_CUCKOO, n, 0);
	assert_int_equal(table.slot_bits, 64);
	assert_false(is_exact(&table, BALEEN_IP6));
	assert_true(table_fpp(&table, BALEEN_IP6, n) == ldexp(n, -64));
	assert_small_enough(&table, n, 64);
	if (table.n_buckets > 4)
		assert_full_enough(&table, n);

	/* Four slots of 13 bits a bucket: 13.7 bits a key. */
	table = plan(BALEEN_IP6, BALEEN_KIND_CUCKOO, n, 1e-3);
	assert_true(table_fpp(&table, BALEEN_IP6, n) <= 1e-3);
	assert_true(table.n_blocks <= n * 13 / (n < 1000 ? 0.8 : 0.95) / 512 + 2);
	if (n > 2000) {
		assert_int_equal(table.slot_bits, 13);
		assert_int_equal(table.bucket_slots, 4 | BALEEN_PACKED);
	}
}

static void test_cuckoo(void **state)
{
	struct random random = random_from(1);

	for (u64 n = 1; n <= 5000; n++)
		assert_cuckoo_plan(n);
	for (u32 round = 0; round < 200000; round++)
		assert_cuckoo_plan(1 + random_below(&random, 1ull << random_below(&random, 27)) %
					       MAX_N);
	/* Where the width changes, and both ends of what one image holds. */
	for (u64 n = 498000; n < 499000; n++)
		assert_cuckoo_plan(n);
	for (u64 n = 995000; n < 997000; n++)
		assert_cuckoo_plan(n);
	assert_cuckoo_plan(MAX_N);
}

/* Words are exact in slots that keep them whole, tuples never are. */
static void test_fields(void **state)
{
	for (u64 n = 1; n <= 10000000; n = n * 3 + 1) {
		struct baleen_table table = plan(BALEEN_WORD, BALEEN_KIND_CUCKOO, n, 0);

		assert_int_equal(table.slot_bits, 64);
		assert_true(is_exact(&table, BALEEN_WORD));
		assert_true(table_fpp(&table, BALEEN_WORD, n) == 0);
		assert_small_enough(&table, n, 64);
		assert_false(is_exact(&table, BALEEN_TUPLE));
		assert_true(table_fpp(&table, BALEEN_TUPLE, n) == ldexp(n, -64));
		table = plan(BALEEN_WORD, BALEEN_KIND_CUCKOO, n, 1e-3);
		assert_true(table.slot_bits <= 16);
		assert_false(is_exact(&table, BALEEN_WORD));
	}
}

/* What serves IPv6 prefixes; of images of before trees had low nodes only the rate is asked. */
static void test_prefixes(void **state)
{
	for (u64 n = 1; n <= 10000000; n = n * 3 + 1) {
		struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };
		struct baleen_table *table = &image.table[BALEEN_IP6_PREFIXES];

		*table = (struct baleen_table){ .kind = BALEEN_KIND_PREFIXES,
						.slot_bits = 64,
						.n_buckets = n };
		image.prefix_lengths[0] = 1ull << 63;
		assert_true(baleen_table_is_exact(&image, BALEEN_IP6_PREFIXES));
		assert_true(baleen_table_fpp(&image, BALEEN_IP6_PREFIXES, n) == 0);
		image.prefix_lengths[1] = 1;
		assert_false(baleen_table_is_exact(&image, BALEEN_IP6_PREFIXES));
		assert_true(baleen_table_fpp(&image, BALEEN_IP6_PREFIXES, n) == ldexp(7. * n, -64));
		assert_true(baleen_image_fpp(&image) == ldexp(7. * 4 * n, -64));

		table = &image.table[BALEEN_IP6_ENTRIES];
		assert_int_equal(baleen_plan_table(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, n, 0,
						   table, NULL),
				 0);
		assert_int_equal(table->n_buckets, n);
		assert_true(table->n_blocks * 64ull >= n * 24 &&
			    table->n_blocks * 64ull < n * 24 + 64);
	}
	assert_plan_refused(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, 1ull << 30, 0, E2BIG,
			    "1073741824 keys are too many for one filter");
}

/* ceil(log2(2b/P)) / load bits a key, of Fan et al. 2014, to 1 %, or less: at the planned load
 * not all slots are in use. All other shapes that do it take more.
 */
static void test_cuckoo_rate(void **state)
{
	static const double rates[] = { 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001 };
	static const double loads[] = { 0.45, 0.84, 0.92, 0.95 };
	u64 n = 1000000;

	for (u32 i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct baleen_table best = plan(BALEEN_IP6, BALEEN_KIND_CUCKOO, n, rates[i]);

		for (u32 slots = 1; slots <= 4; slots++) {
			const struct baleen_shape shape = { .bucket_slots = slots };
			double bits = ceil(log2(2 * slots / rates[i])) / loads[slots - 1];
			struct baleen_table table;

			assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, n,
							    rates[i], &shape, &table, NULL),
					 0);
			assert_int_equal(baleen_bucket_slots(&table), slots);
			assert_true(table_fpp(&table, BALEEN_IP6, n) <= rates[i]);
			assert_true(table.n_blocks * 512. / n <= bits * 1.01);
			assert_true(table.n_blocks >= best.n_blocks);
		}
		/* From 0.2 % down it is smaller than the best Bloom filter. */
		assert_true(rates[i] > 0.002 ||
			    best.n_blocks * 512. < baleen_classic_bound(n, rates[i]));
	}
}

/* Keys that look the same and have a slot each crowd narrow slots: one bit more, where it
 * would come out.
 */
static void test_cuckoo_copies(void **state)
{
	const struct baleen_shape shape = { .bucket_slots = 1, .has_copies = true };
	struct baleen_table table;

	assert_int_equal(baleen_plan_shaped(BALEEN_IP6, BALEEN_KIND_CUCKOO, 1000000, 0.03, &shape,
					    &table, NULL),
			 0);
	assert_true(table.slot_bits > 8);
	assert_int_equal(baleen_bucket_slots(&table), 1);
}

/* Reaches the rate, and would not with fewer blocks by those that it was rounded up
 * by, whatever the k.
 */
static void test_bloom(void **state)
{
	static const double rates[] = { 0.9, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6 };
	static const u64 counts[] = { 1, 2, 10, 100, 999, 1000, 123456, 4000000, MAX_N };

	for (u32 i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (u32 j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			u64 n = counts[j];
			struct baleen_table table = plan(j % 2, BALEEN_KIND_BLOOM, n, rates[i]);
			u32 log2 = baleen_log2(table.n_blocks);
			u32 unit = 1u << (log2 > 7 ? log2 - 7 : log2 > 4);

			assert_int_equal(table.n_blocks % unit, 0);
			assert_true(table_fpp(&table, j % 2, n) <= rates[i]);
			assert_true(baleen_table_capacity(&table) == UINT64_MAX);
			assert_false(is_exact(&table, BALEEN_IP4));
			for (u32 k = 2; k <= 8 && table.n_blocks > unit; k += 2)
				assert_true(baleen_bloom_fpp(table.n_blocks - unit, k, n) >
					    rates[i]);
		}
	}
}

static void test_image(void **state)
{
	struct baleen_image image = { .n_blocks = 0 };

	image.table[BALEEN_IP4] = cuckoo_table(32, 1000);
	assert_true(baleen_image_is_exact(&image));
	assert_true(baleen_image_fpp(&image) == 0);
	image.table[BALEEN_IP6] = cuckoo_table(16, 1000);
	image.table[BALEEN_IP6].n_entries = 4000;
	assert_false(baleen_image_is_exact(&image));
	assert_true(baleen_image_fpp(&image) == table_fpp(&image.table[1], 1, 4000));
	image.table[BALEEN_IP4] = bloom_table(2, 10);
	image.table[BALEEN_IP4].n_entries = 4000;
	assert_true(baleen_image_fpp(&image) == baleen_bloom_fpp(10, 2, 4000));
}

/* --- rates ---------------------------------------------------------------- */

/* A rate is measured as the mean of this many filters with seeds of their own;
 * it must be within 3.659 standard errors of the predicted one, the two-sided
 * 99.9 % quantile of Student's distribution with 29 degrees of freedom.
 */
#define N_FILTERS 30
#define STUDENT 3.659

static double measure_once(const struct baleen_table *table, u32 domain, u64 n, u64 n_probes,
			   struct random *random)
{
	struct baleen_filter filter = table_filter(table, domain, random);
	u64 n_hits = 0;

	/* Keys of the list are even, those probed are odd. */
	for (u64 i = 0; i < n; i++) {
		struct baleen_key key = random_key(random, domain);

		key.ip4 &= ~1u;
		key.lo &= ~1ull;
		assert_int_equal(insert_one(&filter, &key), 0);
	}
	for (u64 i = 0; i < n_probes; i++) {
		struct baleen_key key = random_key(random, domain);

		key.ip4 |= 1;
		key.lo |= 1;
		n_hits += baleen_filter_test(&filter, &key);
	}
	baleen_filter_free(&filter);
	return (double)n_hits / n_probes;
}

static void assert_rate(const struct baleen_table *table, u32 domain, u64 n, u64 n_probes,
			struct random *random)
{
	double want = table_fpp(table, domain, n), sum = 0, squares = 0, mean, error;

	for (u32 i = 0; i < N_FILTERS; i++) {
		double rate = measure_once(table, domain, n, n_probes, random);

		sum += rate;
		squares += rate * rate;
	}
	mean = sum / N_FILTERS;
	error = sqrt((squares - sum * mean) / (N_FILTERS - 1) / N_FILTERS);
	printf("# kind %u, k %u, %u-bit slots, %.2f keys a block: predicted %.4g, measured %.4g "
	       "+- %.2g\n",
	       table->kind, table->n_hashes, table->slot_bits, (double)n / table->n_blocks, want,
	       mean, STUDENT * error);
	assert_true(fabs(mean - want) <= STUDENT * error);
	/* An interval that lets everything through says nothing. */
	assert_true(STUDENT * error < want / 5);
}

static void test_bloom_rates(void **state)
{
	static const u32 keys_per_block[] = { 16, 32, 64, 300 };
	struct random random = random_from(2);

	for (u32 i = 0; i < 16; i++) {
		struct baleen_table table = bloom_table(2 + 2 * (i % 4), 500);
		u64 n = 500 * keys_per_block[i / 4];

		if (baleen_bloom_fpp(500, table.n_hashes, n) < 1e-4)
			continue;
		assert_rate(&table, i % 2, n, 100000, &random);
	}
}

static void test_cuckoo_rates(void **state)
{
	struct baleen_table table = cuckoo_table(16, 4001);
	struct random random = random_from(3);

	assert_rate(&table, BALEEN_IP6, 4001 * 4 * 0.95, 200000, &random);
	assert_rate(&table, BALEEN_IP6, 4001 * 4 * 0.5, 200000, &random);
}

/* Monotonic, inside 0 and 1, and done in no time, also for counts out of a
 * header that nobody could have filled.
 */
static void test_bloom_extremes(void **state)
{
	assert_true(baleen_bloom_fpp(1000, 8, 0) == 0);
	for (u32 k = 2; k <= 8; k += 2) {
		double last = 0;

		for (u64 n = 1; n; n *= 2) {
			double fpp = baleen_bloom_fpp(7, k, n);

			assert_true(fpp >= last && fpp <= 1);
			last = fpp;
		}
		assert_true(last == 1);
		assert_true(baleen_bloom_fpp(1, k, -1ull) == 1);
		assert_true(baleen_bloom_fpp(BALEEN_MAX_BLOCKS, k, 1) >= 0);
		assert_true(baleen_bloom_fpp(BALEEN_MAX_BLOCKS, k, 1) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	       cmocka_unit_test(test_cuckoo),
		cmocka_unit_test(test_fields),	       cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_cuckoo_rate),    cmocka_unit_test(test_cuckoo_copies),
		cmocka_unit_test(test_bloom),	       cmocka_unit_test(test_image),
		cmocka_unit_test(test_bloom_rates),    cmocka_unit_test(test_cuckoo_rates),
		cmocka_unit_test(test_bloom_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
