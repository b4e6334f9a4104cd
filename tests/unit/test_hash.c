// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Hashes: inverses, slow references, and values that images depend on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/hash.h>

#include "random.h"

#define N_SEEDS 64
#define N_VALUES 50000

/* --- IPv4 ----------------------------------------------------------------- */

/* Seeds of the edges first, then random ones. */
static struct baleen_seed seed_at(struct random *random, u32 i)
{
	struct baleen_seed seed;

	if (i >= 2)
		return random_seed(random);
	memset(&seed, i ? 0xff : 0, sizeof(seed));
	baleen_seed_expand(&seed);
	return seed;
}

static void assert_inverse(const struct baleen_seed *seed, u32 x)
{
	u32 there = baleen_permute32(seed, x);
	u32 back = baleen_unpermute32(seed, there);

	if (back != x)
		fail_msg("%#x became %#x and came back as %#x", x, there, back);
}

static void test_permute_inverse(void **state)
{
	static const u32 edges[] = { 0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	struct random random = random_from(1);

	for (u32 s = 0; s < N_SEEDS; s++) {
		struct baleen_seed seed = seed_at(&random, s);

		for (u32 i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
			assert_inverse(&seed, edges[i]);
		for (u32 bit = 0; bit < 32; bit++)
			assert_inverse(&seed, 1u << bit);
		for (u32 i = 0; i < N_VALUES; i++)
			assert_inverse(&seed, random_next(&random));
	}
}

static void test_inverse32(void **state)
{
	struct random random = random_from(2);

	assert_int_equal(baleen_inverse32(1), 1);
	assert_int_equal(baleen_inverse32(0xffffffff), 0xffffffff);
	for (u32 i = 0; i < N_VALUES; i++) {
		u32 x = random_next(&random) | 1;

		if (x * baleen_inverse32(x) != 1)
			fail_msg("%#x", x);
	}
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void test_permute64_distinct(void **state)
{
	const u32 n = 1 << 18;
	struct random random = random_from(3);
	u64 *hash = malloc(n * sizeof(*hash));

	for (u32 s = 0; s < 4; s++) {
		struct baleen_seed seed = seed_at(&random, s);

		for (u32 i = 0; i < n; i++)
			hash[i] = baleen_permute64(&seed, 0x0a000000 + i);
		qsort(hash, n, sizeof(*hash), compare_u64);
		for (u32 i = 1; i < n; i++)
			assert_true(hash[i - 1] != hash[i]);
	}
	free(hash);
}

/* --- IPv6 ----------------------------------------------------------------- */

/* The formula of the paper as it stands there, in wide arithmetic: sums of
 * products modulo 2^64, of which the upper half is kept.
 */
static u32 slow_multilinear(const u64 *k, const u32 *a)
{
	unsigned __int128 sum = k[0], modulus = (unsigned __int128)1 << 64;

	for (int i = 0; i < 4; i += 2) {
		unsigned __int128 left = ((unsigned __int128)k[i + 1] + a[i]) % modulus;
		unsigned __int128 right = ((unsigned __int128)k[i + 2] + a[i + 1]) % modulus;

		sum = (sum + left * right) % modulus;
	}
	return (u64)sum >> 32;
}

static u64 slow_hash_ip6(const struct baleen_seed *seed, u64 hi, u64 lo)
{
	const u32 a[4] = { hi >> 32, hi, lo >> 32, lo };
	u64 x = slow_multilinear(&seed->word[2], a);
	u64 y = slow_multilinear(&seed->word[7], a);

	return baleen_mix64(x << 32 | y);
}

static void test_hash_ip6(void **state)
{
	struct random random = random_from(4);

	for (u32 s = 0; s < N_SEEDS; s++) {
		struct baleen_seed seed = seed_at(&random, s);

		for (u32 i = 0; i < N_VALUES / 10; i++) {
			/* Zero and all ones in each half, too. */
			u64 hi = random_next(&random) | -(u64)(i % 7 == 1);
			u64 lo = random_next(&random) & -(u64)(i % 5 != 1);

			if (baleen_hash_ip6(&seed, hi, lo) != slow_hash_ip6(&seed, hi, lo))
				fail_msg("hi %#llx lo %#llx", (unsigned long long)hi,
					 (unsigned long long)lo);
		}
	}
}

/* --- values --------------------------------------------------------------- */

/* Computed by a program in another language from the text of hash.h: who
 * changes them makes every image on a disk unreadable.
 */
static void test_values(void **state)
{
	struct baleen_seed seed;

	for (u64 i = 0; i < BALEEN_SEED_WORDS; i++)
		seed.word[i] = 0x0123456789abcdefull * (2 * i + 1);
	assert_int_equal(baleen_mix64(0x9e3779b97f4a7c15ull), 0xe220a8397b1dcdafull);
	assert_int_equal(baleen_permute32(&seed, 0), 0x45ef147b);
	assert_int_equal(baleen_permute32(&seed, 1), 0x80327395);
	assert_int_equal(baleen_permute32(&seed, 0xc0000201), 0xf56dae4b);
	assert_int_equal(baleen_permute32(&seed, 0xffffffff), 0xc7f60666);
	assert_int_equal(baleen_permute64(&seed, 0), 0x623324d8f393afa9ull);
	assert_int_equal(baleen_permute64(&seed, 0xc0000201), 0x035cc90af89f683eull);
	assert_int_equal(baleen_permute64(&seed, 0xffffffff), 0x65370bd3158efc19ull);
	assert_int_equal(baleen_hash_ip6(&seed, 0, 0), 0x94f7bffc14327ad8ull);
	assert_int_equal(baleen_hash_ip6(&seed, 0x20010db800000000ull, 1), 0x4f1932f110c935e4ull);
	assert_int_equal(baleen_hash_ip6(&seed, -1ull, -1ull), 0xf0c4e5fb4dbc8360ull);
}

/* --- CRC-32C -------------------------------------------------------------- */

static u32 slow_crc32c(u32 crc, const u8 *bytes, size_t n_bytes)
{
	crc = ~crc;
	for (size_t i = 0; i < n_bytes * 8; i++) {
		u32 bit = (crc ^ bytes[i / 8] >> i % 8) & 1;

		crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* RFC 3720, appendix B.4, and the check value of the CRC catalogues. */
static void test_crc_values(void **state)
{
	u8 bytes[32];

	assert_int_equal(baleen_crc32c(0, "", 0), 0);
	assert_int_equal(baleen_crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(baleen_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(baleen_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_int_equal(baleen_crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
	for (u32 i = 0; i < sizeof(bytes); i++)
		bytes[i] = 31 - i;
	assert_int_equal(baleen_crc32c(0, bytes, sizeof(bytes)), 0x113fdb5c);
}

/* Lengths and alignments at random, in a buffer that ends where they do. */
static void test_crc_same(void **state)
{
	struct random random = random_from(5);

	for (u32 round = 0; round < 2000; round++) {
		size_t n = random_below(&random, 300), offset = random_below(&random, 16);
		size_t cut = random_below(&random, n + 1);
		u8 *bytes = malloc(offset + n), *start = bytes + offset;
		u32 crc;

		for (size_t i = 0; i < n; i++)
			start[i] = random_next(&random);
		crc = slow_crc32c(0, start, n);
		assert_int_equal(baleen_crc32c_portable(0, start, n), crc);
		assert_int_equal(baleen_crc32c(0, start, n), crc);
		assert_int_equal(baleen_crc32c(baleen_crc32c(0, start, cut), start + cut, n - cut),
				 crc);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permute_inverse),
		cmocka_unit_test(test_inverse32),
		cmocka_unit_test(test_permute64_distinct),
		cmocka_unit_test(test_hash_ip6),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_crc_values),
		cmocka_unit_test(test_crc_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
