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

static void assert_inverse64(const struct baleen_seed *seed, u64 x)
{
	u64 there = baleen_permute64(seed, x);
	u64 back = baleen_unpermute64(seed, there);

	if (back != x)
		fail_msg("%#llx became %#llx and came back as %#llx", (unsigned long long)x,
			 (unsigned long long)there, (unsigned long long)back);
	assert_int_equal(baleen_permute64(seed, baleen_unpermute64(seed, x)), x);
	assert_int_equal(baleen_unmix64(baleen_mix64(x)), x);
}

static void test_permute64_inverse(void **state)
{
	struct random random = random_from(6);

	for (u32 s = 0; s < N_SEEDS; s++) {
		struct baleen_seed seed = seed_at(&random, s);

		assert_inverse64(&seed, 0);
		assert_inverse64(&seed, -1ull);
		for (u32 bit = 0; bit < 64; bit++) {
			assert_inverse64(&seed, 1ull << bit);
			assert_inverse64(&seed, ~(1ull << bit));
		}
		for (u32 i = 0; i < N_VALUES / 10; i++)
			assert_inverse64(&seed, random_next(&random));
	}
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

/* --- tuples --------------------------------------------------------------- */

/* Product modulo 2^64 by adding and doubling. */
static u64 slow_times(u64 a, u64 b)
{
	u64 product = 0;

	for (; b; b /= 2, a += a)
		if (b % 2)
			product += a;
	return product;
}

/* The formula of the paper over any even number of 32-bit words. */
static u32 slow_words(const u64 *k, const u32 *a, u32 n)
{
	u64 sum = k[0];

	for (u32 i = 0; i < n; i += 2)
		sum += slow_times(k[i + 1] + a[i], k[i + 2] + a[i + 1]);
	return sum / 0x100000000ull;
}

static u64 slow_hash_tuple(const struct baleen_seed *seed, const struct baleen_key *key)
{
	const u64 word[5] = { key->hi, key->lo, key->dst_hi, key->dst_lo, key->rest };
	u64 k[22], state = baleen_mix64(seed->word[0]) ^ seed->word[2];
	u32 a[10];

	for (u32 i = 0; i < 10; i++)
		a[i] = i % 2 ? word[i / 2] % 0x100000000ull : word[i / 2] / 0x100000000ull;
	for (u32 i = 0; i < 22; i++) {
		state += 0x9e3779b97f4a7c15ull;
		k[i] = baleen_mix64(state) ^ seed->word[i < 10 ? 2 + i : i < 20 ? i - 8 : i - 18];
	}
	return baleen_mix64((u64)slow_words(k, a, 10) * 0x100000000ull + slow_words(k + 11, a, 10));
}

static void test_hash_tuple(void **state)
{
	struct random random = random_from(7);

	for (u32 s = 0; s < N_SEEDS; s++) {
		struct baleen_seed seed = seed_at(&random, s);

		/* All zeros are public: see test_public(). */
		seed.word[11] |= !s;
		baleen_seed_expand(&seed);
		for (u32 i = 0; i < N_VALUES / 50; i++) {
			struct baleen_key key = random_key(&random, BALEEN_TUPLE);

			/* Zero and all ones in a word, too. */
			if (i % 7 < 5)
				*(&key.hi + i % 7) = -(u64)(i % 2);
			assert_int_equal(baleen_hash_tuple(&seed, &key),
					 slow_hash_tuple(&seed, &key));
			assert_int_equal(baleen_hash64(&seed, &key), slow_hash_tuple(&seed, &key));
		}
	}
}

/* Each bit of the key counts. */
static void test_hash_tuple_bits(void **state)
{
	struct random random = random_from(8);
	struct baleen_seed seed = random_seed(&random);
	struct baleen_key key = random_key(&random, BALEEN_TUPLE);
	u64 hash = baleen_hash_tuple(&seed, &key);

	for (u32 bit = 0; bit < 5 * 64; bit++) {
		struct baleen_key other = key;

		*(&other.hi + bit / 64) ^= 1ull << bit % 64;
		assert_true(baleen_hash_tuple(&seed, &other) != hash);
	}
}

/* Under a public seed the hash is the number that the key was made of. */
static void test_public(void **state)
{
	struct random random = random_from(10);
	struct baleen_seed seed = { .word = { 0xffffffff } };

	assert_true(baleen_seed_is_public(&seed));
	baleen_seed_expand(&seed);
	for (u32 i = 0; i < 1000; i++) {
		u64 hash = i < 3 ? i - 1ull : random_next(&random);
		struct baleen_key key = baleen_public_key(hash);

		assert_false(baleen_key_is_bad(&key));
		assert_int_equal(baleen_hash64(&seed, &key), hash);
	}
	seed.word[0]++;
	assert_false(baleen_seed_is_public(&seed));
	seed = (struct baleen_seed){ .word = { [11] = 1 } };
	assert_false(baleen_seed_is_public(&seed));
}

static void test_hash64(void **state)
{
	struct random random = random_from(9);
	struct baleen_seed seed = random_seed(&random);

	for (u32 i = 0; i < 1000; i++) {
		struct baleen_key key = random_key(&random, BALEEN_IP4);

		assert_int_equal(baleen_hash64(&seed, &key), baleen_permute64(&seed, key.ip4));
		key = random_key(&random, BALEEN_WORD);
		assert_int_equal(baleen_hash64(&seed, &key), baleen_permute64(&seed, key.lo));
		key = random_key(&random, BALEEN_IP6);
		assert_int_equal(baleen_hash64(&seed, &key),
				 baleen_hash_ip6(&seed, key.hi, key.lo));
	}
}

/* --- values --------------------------------------------------------------- */

/* Computed by a program in another language from the text of hash.h: who
 * changes them makes every image on a disk unreadable.
 */
static void test_values(void **state)
{
	struct baleen_key tuple = { .domain = BALEEN_TUPLE };
	struct baleen_seed seed;

	for (u64 i = 0; i < BALEEN_SEED_WORDS; i++)
		seed.word[i] = 0x0123456789abcdefull * (2 * i + 1);
	baleen_seed_expand(&seed);
	assert_int_equal(seed.tuple[0], 0x6a3446150f72d8a1ull);
	assert_int_equal(seed.tuple[9], 0x78bd20c3ed566453ull);
	assert_int_equal(seed.tuple[10], 0x7ce6962914568453ull);
	assert_int_equal(seed.tuple[21], 0xcf0f2db22ceff56bull);
	assert_int_equal(baleen_hash_tuple(&seed, &tuple), 0x7dbb5c88ca55ba95ull);
	tuple = (struct baleen_key){ .domain = BALEEN_TUPLE,
				     .lo = 0xffffc0000201,
				     .dst_lo = 0xffffc6336402,
				     .rest = 0x0612340016 };
	assert_int_equal(baleen_hash_tuple(&seed, &tuple), 0x243ecfef42e59ca1ull);
	tuple = (struct baleen_key){ .domain = BALEEN_TUPLE,
				     .hi = 0x20010db800000000ull,
				     .lo = 1,
				     .dst_hi = 0x20010db800000000ull,
				     .dst_lo = 2,
				     .rest = 0x10611223344 };
	assert_int_equal(baleen_hash_tuple(&seed, &tuple), 0x56585d425f4884e4ull);
	tuple = (struct baleen_key){ BALEEN_TUPLE, 0, -1ull, -1ull, -1ull, -1ull, -1ull };
	assert_int_equal(baleen_hash_tuple(&seed, &tuple), 0x1f2df617ca8b0577ull);
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
		cmocka_unit_test(test_permute64_inverse),
		cmocka_unit_test(test_hash_ip6),
		cmocka_unit_test(test_hash_tuple),
		cmocka_unit_test(test_hash_tuple_bits),
		cmocka_unit_test(test_public),
		cmocka_unit_test(test_hash64),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_crc_values),
		cmocka_unit_test(test_crc_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
