// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* MD5: the vectors of RFC 1321, and random messages beside a slow one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random.h"
#include "slow_md5.h"
#include "util/md5_stream.h"

#define N_MESSAGES 10000
#define MAX_BYTES 1500

static void take_whole(const void *bytes, size_t n_bytes, u64 *hi, u64 *lo)
{
	struct baleen_md5_stream stream;
	struct baleen_md5 md5;

	baleen_md5_start(&stream);
	baleen_md5_update(&stream, bytes, n_bytes);
	md5 = baleen_md5_end(&stream);
	*hi = baleen_md5_hi(&md5);
	*lo = baleen_md5_lo(&md5);
}

/* RFC 1321 section A.5. */
static void test_vectors(void **state)
{
	static const char *const vectors[][2] = {
		{ "", "d41d8cd98f00b204e9800998ecf8427e" },
		{ "a", "0cc175b9c0f1b6a831c399e269772661" },
		{ "abc", "900150983cd24fb0d6963f7d28e17f72" },
		{ "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
		{ "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
		  "d174ab98d277d9f5a5611c2c9f419d9f" },
		{ "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
		  "57edf4a22be3c955ac49da2e2107b67a" },
		/* md5.h and squid.h */
		{ "\x01http://10.9.0.3/obj/1", "271b10fa47f72704cf53f2c5eacd81b0" },
	};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		size_t n_bytes = strlen(vectors[i][0]);
		char text[33], slow[33];
		u8 digest[16];
		u64 hi, lo;

		take_whole(vectors[i][0], n_bytes, &hi, &lo);
		sprintf(text, "%016llx%016llx", (unsigned long long)hi, (unsigned long long)lo);
		assert_string_equal(text, vectors[i][1]);
		slow_md5(vectors[i][0], n_bytes, digest);
		for (u32 j = 0; j < 16; j++)
			sprintf(slow + 2 * j, "%02x", digest[j]);
		assert_string_equal(slow, vectors[i][1]);
	}
}

static u64 from_be(const u8 *bytes)
{
	u64 x = 0;

	for (u32 i = 0; i < 8; i++)
		x = x << 8 | bytes[i];
	return x;
}

static void check_message(const u8 *message, size_t n_bytes, struct random *random)
{
	struct baleen_md5_stream stream;
	struct baleen_md5 md5;
	size_t at = 0, part;
	u8 digest[16];
	u64 hi, lo;

	slow_md5(message, n_bytes, digest);
	take_whole(message, n_bytes, &hi, &lo);
	if (hi != from_be(digest) || lo != from_be(digest + 8))
		fail_msg("MD5 of a message of %zu bytes differs", n_bytes);
	/* The same in parts, some of them empty. */
	baleen_md5_start(&stream);
	while (at < n_bytes) {
		part = random_below(random, 3) ? random_below(random, 80) : 0;
		if (part > n_bytes - at)
			part = n_bytes - at;
		baleen_md5_update(&stream, message + at, part);
		at += part;
	}
	md5 = baleen_md5_end(&stream);
	assert_true(baleen_md5_hi(&md5) == hi && baleen_md5_lo(&md5) == lo);
}

static void test_messages(void **state)
{
	struct random random = random_from(1);
	u8 message[MAX_BYTES + 8];

	for (u32 i = 0; i < N_MESSAGES; i++) {
		/* Every length around the ends of the first blocks, then any. */
		size_t n_bytes = i < 4 * 131 ? i % 131 : random_below(&random, MAX_BYTES);
		u8 *start = message + i % 8;

		for (size_t j = 0; j < n_bytes; j++)
			start[j] = random_next(&random);
		check_message(start, n_bytes, &random);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
