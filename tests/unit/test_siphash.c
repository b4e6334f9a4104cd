// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* SipHash against published values, CPython's, and the paper's steps one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/siphash.h>

#include "random.h"

#define MAX_BYTES 80

/* The key 00 01 .. 0f, and SipHash-2-4 of nothing, 00, 00 01 and so on: the last
 * is the example of appendix A, all are in the authors' reference code.
 */
static void test_published(void **state)
{
	static const u64 want[] = {
		0x726fdb47dd0e0e31ull, 0x74f839c593dc67fdull, 0x0d6c8009d9a94f5aull,
		0x85676696d7fb7e2dull, 0xcf2794e0277187b7ull, 0x18765564cd99a68dull,
		0xcbc9466e58fee3ceull, 0xab0200f58b01d137ull, 0x93f5f5799a932462ull,
		0x9e0082df0ba9e4b0ull, 0x7a5dbbc594ddb9f3ull, 0xf4b32f46226bada7ull,
		0x751e8fbc860ee5fbull, 0x14ea5627c0843d90ull, 0xf723ca908e7af2eeull,
		0xa129ca6149be45e5ull,
	};
	u8 bytes[16];

	for (u32 n = 0; n < 16; n++) {
		bytes[n] = n;
		assert_int_equal(baleen_siphash(0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull, bytes,
						n, 2, 4),
				 want[n]);
	}
}

/* PYTHONHASHSEED=0 python3.11 -c 'print(hash(bytes((i * 7 + n) & 255 for i in
 * range(n))) & 2**64 - 1)', which is SipHash-1-3 under a key of zeros.
 */
static void test_python(void **state)
{
	static const struct {
		u32 n;
		u64 hash;
	} want[] = {
		{ 1, 0x44bc103b1f8540edull },  { 2, 0x59c293a98a99f70bull },
		{ 3, 0x711b47561b9b33e2ull },  { 4, 0xd18e60eb59380f69ull },
		{ 5, 0x4983680039fb2f34ull },  { 6, 0xb646f9a3ed9bf441ull },
		{ 7, 0x9fff4ac9ef420232ull },  { 8, 0xcaf590d4e8867659ull },
		{ 9, 0xdbc958e03a783083ull },  { 10, 0x0940e301a509d222ull },
		{ 11, 0x55e4be449d0a4167ull }, { 12, 0xedf2e77f22f2c675ull },
		{ 13, 0x776c61d049da5825ull }, { 14, 0x9997e340c31a8aa6ull },
		{ 15, 0xade679b8aedd64c4ull }, { 16, 0xd16eb79de4d128d0ull },
		{ 17, 0x64aa3c973ae91df5ull }, { 63, 0x1bc1438de96eb7e0ull },
		{ 64, 0x5567a64c7eaaba34ull }, { 65, 0x3b943bb372c85590ull },
	};
	u8 bytes[MAX_BYTES];

	for (u32 i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		for (u32 j = 0; j < want[i].n; j++)
			bytes[j] = j * 7 + want[i].n;
		assert_int_equal(baleen_siphash(0, 0, bytes, want[i].n, 1, 3), want[i].hash);
	}
}

static u64 rotate(u64 x, int n)
{
	return x << n | x >> (64 - n);
}

/* Figure 2.1 of the paper. */
static void slow_round(u64 v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13);
	v[1] ^= v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16);
	v[3] ^= v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21);
	v[3] ^= v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17);
	v[1] ^= v[2];
	v[2] = rotate(v[2], 32);
}

/* Section 2: the words of the padded string, byte by byte. */
static u64 slow_siphash(u64 k0, u64 k1, const u8 *bytes, size_t n, int c, int d)
{
	u64 v[4] = { k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
		     k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull };

	for (size_t word = 0; word <= n / 8; word++) {
		u64 m = word == n / 8 ? (u64)(n % 256) << 56 : 0;

		for (size_t i = 8 * word; i < 8 * word + 8 && i < n; i++)
			m |= (u64)bytes[i] << (8 * (i % 8));
		v[3] ^= m;
		for (int i = 0; i < c; i++)
			slow_round(v);
		v[0] ^= m;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < d; i++)
		slow_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Each in memory of its own, so that a byte too far is found. */
static void test_paper(void **state)
{
	struct random random = random_from(5);

	for (size_t n = 0; n <= 300; n++) {
		u64 k0 = random_next(&random), k1 = random_next(&random);
		u8 *bytes = malloc(n + 1), *start = bytes + 1;

		assert_non_null(bytes);
		for (size_t i = 0; i < n; i++)
			start[i] = random_next(&random);
		assert_int_equal(baleen_siphash(k0, k1, start, n, 1, 3),
				 slow_siphash(k0, k1, start, n, 1, 3));
		assert_int_equal(baleen_siphash(k0, k1, start, n, 2, 4),
				 slow_siphash(k0, k1, start, n, 2, 4));
		free(bytes);
	}
}

static void test_seed(void **state)
{
	struct baleen_seed a = { .word = { 1, 2 } }, b = { .word = { 1, 3 } },
			   c = { .word = { 0, 2 } };
	u64 hash = baleen_hash_string(&a, "whale", 5);

	assert_int_equal(hash, slow_siphash(2, 1, (const u8 *)"whale", 5, 1, 3));
	assert_true(hash != baleen_hash_string(&b, "whale", 5));
	assert_true(hash != baleen_hash_string(&c, "whale", 5));
	assert_true(hash != baleen_hash_string(&a, "whale\0", 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_paper),
		cmocka_unit_test(test_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
