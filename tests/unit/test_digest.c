// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Squid's cache digests: refused heads and bodies, then bit for bit there and back. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "icp/digest.h"
#include "planes.h"

#define HEAD_BYTES BALEEN_DIGEST_HEAD_BYTES
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What Squid 5.7 wrote for 111 objects, with a mask of any bits: the fields by offset. */
static u8 *make_digest(u32 capacity, u32 bits_per_entry, size_t *n_bytes, struct random *random)
{
	u32 mask_bytes = ((u64)capacity * bits_per_entry + 7) / 8;
	u8 *bytes = calloc(1, HEAD_BYTES + mask_bytes);

	assert_non_null(bytes);
	bytes[1] = 5;
	bytes[3] = 3;
	for (u32 i = 0; i < 4; i++) {
		bytes[4 + i] = capacity >> (24 - 8 * i);
		bytes[8 + i] = 111 >> (24 - 8 * i);
		bytes[16 + i] = mask_bytes >> (24 - 8 * i);
	}
	bytes[20] = bits_per_entry;
	bytes[21] = 4;
	for (u32 i = 0; i < mask_bytes; i++)
		bytes[HEAD_BYTES + i] = random_next(random);
	*n_bytes = HEAD_BYTES + mask_bytes;
	return bytes;
}

/* --- refused ------------------------------------------------------------------- */

static const struct refusal {
	u32 at;
	u8 bytes[4];
	const char *reason;
} refusals[] = {
	{ 2, { 0, 6 }, "asks for a newer version of cache digests than 5" },
	{ 0, { 0, 2 }, "is of an older version of cache digests than 3" },
	{ 4, { 0, 0, 0, 0 }, "its capacity is not 1 to 2^31 - 1 entries" },
	{ 4, { 0x80, 0, 0, 0 }, "its capacity is not 1 to 2^31 - 1 entries" },
	{ 4,
	  { 0x7f, 0xff, 0xff, 0xff },
	  "its mask is not of the size that capacity and bits per entry make" },
	{ 4,
	  { 0, 0, 0, 113 },
	  "its mask is not of the size that capacity and bits per entry make" },
	{ 8, { 0xff, 0xff, 0xff, 0xff }, "its count is not 0 to 2^31 - 1 entries" },
	{ 16, { 0, 0, 0, 0 }, "its mask is not 1 to 2^31 - 1 bytes" },
	{ 16, { 0xff, 0xff, 0xff, 0xff }, "its mask is not 1 to 2^31 - 1 bytes" },
	{ 16,
	  { 0, 0, 0, 69 },
	  "its mask is not of the size that capacity and bits per entry make" },
	{ 16,
	  { 0, 0, 0, 71 },
	  "its mask is not of the size that capacity and bits per entry make" },
	{ 20, { 0, 4, 0, 0 }, "it has 0 bits per entry" },
	{ 20, { 6, 4, 0, 0 }, "its mask is not of the size that capacity and bits per entry make" },
	{ 21, { 3, 0, 0, 0 }, "it does not have 4 hashes" },
	{ 21, { 0, 0, 0, 0 }, "it does not have 4 hashes" },
};

static void refuse(const u8 *bytes, size_t n_bytes, const char *reason)
{
	struct baleen_digest digest, poison;
	struct baleen_filter filter, untouched;
	struct baleen_error error;
	const char *why = NULL;

	memset(&poison, 0xa5, sizeof(poison));
	memset(&untouched, 0xa5, sizeof(untouched));
	digest = poison;
	filter = untouched;
	assert_int_equal(baleen_digest_check(bytes, n_bytes, &digest, &why), -EINVAL);
	assert_string_equal(why, reason);
	assert_memory_equal(&digest, &poison, sizeof(digest));
	assert_int_equal(baleen_digest_decode(bytes, n_bytes, &filter, &digest, &error), -EINVAL);
	assert_non_null(strstr(error.text, reason));
	assert_memory_equal(&digest, &poison, sizeof(digest));
	assert_memory_equal(&filter, &untouched, sizeof(filter));
}

static void test_refused_heads(void **state)
{
	struct random random = random_from(1);
	size_t n_bytes;

	for (size_t i = 0; i < N_OF(refusals); i++) {
		u8 *bytes = make_digest(111, 5, &n_bytes, &random);
		u32 n = refusals[i].at < 4 ? 2 : refusals[i].at == 21 ? 1 : 4;

		assert_int_equal(n_bytes, HEAD_BYTES + 70);
		memcpy(bytes + refusals[i].at, refusals[i].bytes, n);
		refuse(bytes, n_bytes, refusals[i].reason);
		free(bytes);
	}
}

/* 2^31 bits that capacity and size agree on: nothing is allocated for them. */
static void test_refused_huge(void **state)
{
	struct random random = random_from(2);
	size_t n_bytes;
	u8 *bytes = make_digest(111, 8, &n_bytes, &random);

	memcpy(bytes + 4, (u8[]){ 0x10, 0, 0, 0 }, 4);
	memcpy(bytes + 16, (u8[]){ 0x10, 0, 0, 0 }, 4);
	refuse(bytes, n_bytes, "it has 2^31 bits or more, on which Squid aborts");
	memcpy(bytes + 4, (u8[]){ 0x0f, 0xff, 0xff, 0xff }, 4);
	memcpy(bytes + 16, (u8[]){ 0x0f, 0xff, 0xff, 0xff }, 4);
	refuse(bytes, n_bytes, "it has 2^31 bits or more, on which Squid aborts");
	memcpy(bytes + 4, (u8[]){ 0x0f, 0xff, 0xff, 0xfe }, 4);
	memcpy(bytes + 16, (u8[]){ 0x0f, 0xff, 0xff, 0xfe }, 4);
	refuse(bytes, n_bytes, "its mask is cut off");
	free(bytes);
}

static void test_refused_lengths(void **state)
{
	struct random random = random_from(3);
	size_t n_bytes;
	u8 *bytes = make_digest(111, 5, &n_bytes, &random);

	for (size_t n = 0; n < n_bytes; n++) {
		/* As long as it is said to be, so that reading on is seen. */
		u8 *part = malloc(n + 1);

		assert_non_null(part);
		memcpy(part, bytes, n);
		part = realloc(part, n ?: 1);
		refuse(part, n,
		       n < HEAD_BYTES ? "shorter than the head of a cache digest, 128 bytes" :
					"its mask is cut off");
		free(part);
	}
	bytes = realloc(bytes, n_bytes + 1);
	bytes[n_bytes] = 0;
	refuse(bytes, n_bytes + 1, "it is longer than its mask");
	free(bytes);
}

/* --- what cannot be a digest ------------------------------------------------------ */

static void refuse_image(u32 key_spec, struct baleen_table table, const char *why)
{
	struct baleen_image image = { .key_spec = key_spec };
	struct baleen_error error = { "" };

	image.table[BALEEN_TUPLE] = table;
	assert_int_equal(baleen_digest_fits(&image, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, why));
}

static void test_unfit(void **state)
{
	struct baleen_table squid =
		plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, 1000 * 8);
	struct baleen_table table = squid;

	refuse_image(BALEEN_KEY_FLOW, table, "--key squid");
	refuse_image(BALEEN_KEY_SQUID, cuckoo_table(64, 100), "a cuckoo filter");
	table.hash = BALEEN_HASH_KEYED;
	refuse_image(BALEEN_KEY_SQUID, table, "--hash squid");
	table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, 1001);
	refuse_image(BALEEN_KEY_SQUID, table, "--bits 1008");
	table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, 1ull << 31);
	refuse_image(BALEEN_KEY_SQUID, table, "Squid aborts");
	table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, (1ull << 31) - 8);
	refuse_image(BALEEN_KEY_SQUID, table, "Squid aborts");
	table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4, (1ull << 31) - 16);
	{
		struct baleen_image image = { .key_spec = BALEEN_KEY_SQUID };

		image.table[BALEEN_TUPLE] = table;
		assert_int_equal(baleen_digest_fits(&image, NULL), 0);
	}
}

/* --- there and back ----------------------------------------------------------------- */

/* As CacheDigest.cc has it: four numbers of a key, modulo the bits, from the lowest. */
static bool squid_says(const u8 *mask, u32 mask_bytes, const u8 *key)
{
	for (u32 i = 0; i < 16; i += 4) {
		u32 number = (u32)key[i] << 24 | key[i + 1] << 16 | key[i + 2] << 8 | key[i + 3];
		u32 bit = number % (mask_bytes * 8);

		if (!(mask[bit >> 3] & 1 << (bit & 7)))
			return false;
	}
	return true;
}

static void check_keys(const struct baleen_filter *filter, const u8 *digest, u32 mask_bytes,
		       struct random *random)
{
	u32 n_found = 0;

	for (u32 i = 0; i < 20000; i++) {
		u64 hi = random_next(random), lo = random_next(random);
		struct baleen_key key = baleen_squid_key(hi, lo);
		u8 bytes[16];
		bool found;

		for (u32 j = 0; j < 8; j++) {
			bytes[j] = hi >> (56 - 8 * j);
			bytes[8 + j] = lo >> (56 - 8 * j);
		}
		found = squid_says(digest + HEAD_BYTES, mask_bytes, bytes);
		assert_int_equal(baleen_filter_test(filter, &key), found);
		n_found += found;
	}
	/* Half of the bits are set, so one in 16 is found: that none is would test little. */
	assert_true(n_found > 0);
}

static const struct shape {
	u32 capacity, bits_per_entry;
} shapes[] = {
	{ 1, 1 },    { 1, 8 },	  { 111, 5 },	 { 102, 5 },  { 103, 5 },
	{ 1000, 5 }, { 4096, 1 }, { 1000, 255 }, { 9999, 7 }, { 100000, 5 },
};

static void test_round_trip(void **state)
{
	struct random random = random_from(4);

	for (size_t i = 0; i < N_OF(shapes); i++) {
		struct baleen_digest digest, again;
		struct baleen_filter filter;
		struct baleen_image image;
		const char *reason;
		size_t n_bytes, n_made;
		u8 *bytes = make_digest(shapes[i].capacity, shapes[i].bits_per_entry, &n_bytes,
					&random);
		void *made;

		assert_true(baleen_digest_is(bytes, n_bytes));
		assert_int_equal(baleen_digest_decode(bytes, n_bytes, &filter, &digest, NULL), 0);
		assert_int_equal(digest.capacity, shapes[i].capacity);
		assert_int_equal(digest.bits_per_entry, shapes[i].bits_per_entry);
		assert_int_equal(filter.image.n_entries, 111);
		assert_int_equal(baleen_image_check(filter.bytes, filter.n_bytes, &image, &reason),
				 0);
		assert_int_equal(baleen_table_bits(&filter.image.table[BALEEN_TUPLE]),
				 (n_bytes - HEAD_BYTES) * 8);
		if (digest.mask_bytes > 8)
			check_keys(&filter, bytes, digest.mask_bytes, &random);
		assert_int_equal(baleen_digest_encode(&filter, &made, &n_made, &digest, NULL), 0);
		assert_int_equal(n_made, n_bytes);
		assert_memory_equal((u8 *)made + HEAD_BYTES, bytes + HEAD_BYTES,
				    n_bytes - HEAD_BYTES);
		assert_int_equal(baleen_digest_check(made, n_made, &again, &reason), 0);
		assert_memory_equal(&again, &digest, sizeof(again));
		free(made);
		free(bytes);
		baleen_filter_free(&filter);
	}
}

/* Every size of a mask has a head that Squid takes, however many entries are claimed. */
static void test_every_size(void **state)
{
	static const u64 counts[] = { 0, 1, 100, 1000, 100000, 1ull << 40 };

	struct random random = random_from(5);

	for (u32 mask_bytes = 1; mask_bytes <= 600; mask_bytes++) {
		for (size_t i = 0; i < N_OF(counts); i++) {
			struct baleen_table table =
				plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_SQUID, 4,
					    mask_bytes * 8);
			struct baleen_filter filter = table_filter(&table, BALEEN_TUPLE, &random);
			struct baleen_digest digest, again;
			const char *reason;
			size_t n_bytes;
			void *bytes;

			filter.image.key_spec = BALEEN_KEY_SQUID;
			filter.image.table[BALEEN_TUPLE].n_entries = counts[i];
			assert_int_equal(baleen_digest_encode(&filter, &bytes, &n_bytes, &digest,
							      NULL),
					 0);
			assert_int_equal(baleen_digest_check(bytes, n_bytes, &again, &reason), 0);
			assert_int_equal(again.mask_bytes, mask_bytes);
			assert_true(again.capacity >= counts[i] || again.bits_per_entry == 1);
			free(bytes);
			baleen_filter_free(&filter);
		}
	}
}

/* The plane of a counting filter is a digest, and its live image counts no entries. */
static void test_counting(void **state)
{
	struct baleen_table table = plane_table(BALEEN_KIND_COUNTING, BALEEN_HASH_SQUID, 4, 40000);
	struct random random = random_from(6);
	struct baleen_filter filter = table_filter(&table, BALEEN_TUPLE, &random), back;
	struct baleen_key keys[1000];
	struct baleen_digest digest;
	size_t n_done, n_bytes;
	void *bytes;

	filter.image.key_spec = BALEEN_KEY_SQUID;
	for (u32 i = 0; i < N_OF(keys); i++)
		keys[i] = baleen_squid_key(random_next(&random), random_next(&random));
	assert_int_equal(baleen_filter_insert(&filter, keys, N_OF(keys), &n_done), 0);
	filter.image.table[BALEEN_TUPLE].n_entries = 0;
	assert_int_equal(baleen_digest_encode(&filter, &bytes, &n_bytes, &digest, NULL), 0);
	assert_int_equal(digest.mask_bytes, 5000);
	/* Some 0.7 % is the deviation of an estimate from 9.5 % of 40,000 bits. */
	assert_true(abs((int)digest.count - 1000) < 30);
	assert_int_equal(baleen_digest_decode(bytes, n_bytes, &back, &digest, NULL), 0);
	for (u32 i = 0; i < N_OF(keys); i++)
		assert_int_equal(baleen_filter_test(&back, &keys[i]), 1);
	assert_true(baleen_digest_share(&back) == baleen_digest_share(&filter));
	assert_true(baleen_digest_share(&back) > 0.08 && baleen_digest_share(&back) < 0.11);
	free(bytes);
	baleen_filter_free(&back);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_heads),	cmocka_unit_test(test_refused_huge),
		cmocka_unit_test(test_refused_lengths), cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_counting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
