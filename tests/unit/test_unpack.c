// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files compressed by gzip, whole, damaged, cut and far too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists.h"
#include "random.h"
#include "fetch/unpacker.h"
#include "util/unpack.h"

#define SEED 0x756e7061636bull
#define LARGE 200000

/* @bytes as gzip does it, behind what @packed has already. */
static size_t pack(const void *bytes, size_t n_bytes, u8 *packed, size_t room)
{
	z_stream zlib = { 0 };

	assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	zlib.next_in = (void *)bytes;
	zlib.avail_in = n_bytes;
	zlib.next_out = packed;
	zlib.avail_out = room;
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	deflateEnd(&zlib);
	return zlib.total_out;
}

static int unpack(const void *bytes, size_t n_bytes, u64 max_bytes, int *out,
		  struct baleen_error *error)
{
	int fd = open_bytes(bytes, n_bytes), err;

	/* Where the descriptor stands does not matter. */
	assert_int_equal(lseek(fd, 0, SEEK_END), n_bytes);
	err = baleen_unpack(fd, "f", max_bytes, out, error);
	close(fd);
	return err;
}

static void assert_unpacked(const void *packed, size_t n_packed, const void *bytes, size_t n_bytes)
{
	u8 *got = malloc(n_bytes + 1);
	int out;

	assert_non_null(got);
	assert_int_equal(unpack(packed, n_packed, n_bytes, &out, NULL), 0);
	assert_int_equal(read(out, got, n_bytes + 1), n_bytes);
	assert_memory_equal(got, bytes, n_bytes);
	close(out);
	free(got);
}

static void assert_refused(const void *bytes, size_t n_bytes, u64 max_bytes, int want,
			   const char *message)
{
	struct baleen_error error = { "" };
	int out = -7;

	assert_int_equal(unpack(bytes, n_bytes, max_bytes, &out, &error), want);
	assert_string_equal(error.text, message);
	assert_int_equal(out, -7);
}

static void test_cut(void **state)
{
	const char list[] = "192.0.2.1\n192.0.2.2\n198.51.100.0/24\n";
	u8 packed[256];
	size_t n = pack(list, strlen(list), packed, sizeof(packed));

	for (size_t i = 2; i < n; i++)
		assert_refused(packed, i, 1000, -EINVAL, "f: gzip cut short");
	assert_unpacked(packed, n, list, strlen(list));
}

static void test_damaged(void **state)
{
	const char list[] = "192.0.2.1\n192.0.2.2\n198.51.100.0/24\n";
	u8 packed[256];
	size_t n = pack(list, strlen(list), packed, sizeof(packed));

	/* The method; the checksum and the length at the end. */
	for (size_t i = 2; i < n; i = i == 2 ? n - 8 : i + 1) {
		packed[i] ^= 0xff;
		assert_refused(packed, n, 1000, -EINVAL, "f: damaged gzip");
		packed[i] ^= 0xff;
	}
	packed[n] = 'x';
	assert_refused(packed, n + 1, 1000, -EINVAL, "f: gzip cut short");
	memset(packed + n, 'x', 20);
	assert_refused(packed, n + 20, 1000, -EINVAL, "f: damaged gzip");
}

static void test_large(void **state)
{
	struct random random = random_from(SEED);
	u8 *bytes = malloc(LARGE), *packed = malloc(2 * LARGE);
	size_t n;

	assert_non_null(bytes);
	assert_non_null(packed);
	memset(bytes, '\n', LARGE);
	n = pack(bytes, LARGE, packed, 2 * LARGE);
	assert_unpacked(packed, n, bytes, LARGE);
	assert_refused(packed, n, LARGE - 1, -E2BIG,
		       "f: is larger than the limit of 199999 bytes when unpacked");
	/* What does not compress; and two members one after the other. */
	for (u32 i = 0; i < LARGE; i++)
		bytes[i] = random_next(&random);
	n = pack(bytes, LARGE, packed, 2 * LARGE);
	assert_unpacked(packed, n, bytes, LARGE);
	n = pack(bytes, LARGE / 2, packed, 2 * LARGE);
	n += pack(bytes + LARGE / 2, LARGE / 2, packed + n, 2 * LARGE - n);
	assert_unpacked(packed, n, bytes, LARGE);
	free(packed);
	free(bytes);
}

/* What is not gzip is handed on, whatever its size. */
static void test_plain(void **state)
{
	assert_unpacked("", 0, "", 0);
	assert_unpacked("\x1f", 1, "\x1f", 1);
	assert_unpacked("192.0.2.1\n", 10, "192.0.2.1\n", 10);
}

/* Byte by byte, as a network may have it. */
static void test_pieces(void **state)
{
	const char list[] = "192.0.2.1\n192.0.2.2\n";
	struct baleen_unpacker unpacker;
	const char *reason = "untouched";
	u8 packed[256], got[64];
	size_t n = pack(list, strlen(list), packed, sizeof(packed));
	int fd = open_bytes("", 0);

	assert_int_equal(baleen_unpacker_start(&unpacker, fd, 100), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(baleen_unpacker_receive(&unpacker, packed + i, 1, &reason), 0);
	assert_int_equal(baleen_unpacker_end(&unpacker), 0);
	assert_string_equal(reason, "untouched");
	assert_int_equal(unpacker.n_bytes, strlen(list));
	assert_int_equal(pread(fd, got, sizeof(got), 0), strlen(list));
	assert_memory_equal(got, list, strlen(list));
	close(fd);
}

#define JSON \
	"is JSON, not a list: --column reads it by a path such as .[].ip, see baleen-lists(5)"

static void test_refuse(void **state)
{
	static const struct {
		const char *bytes;
		size_t n_bytes;
		const char *text;
	} kinds[] = {
		{ "\x1f\x8b\x08", 3, "is compressed by gzip: unpack it first" },
		{ "BZh9", 4, "is compressed by bzip2: unpack it first" },
		{ "\3757zXZ", 6, "is compressed by xz: unpack it first" },
		{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unpack it first" },
		{ "PK\x03\x04", 4, "is a zip archive: unpack it first" },
		{ "\xff\xfe"
		  "1",
		  3, "is UTF-16: convert it to UTF-8" },
		{ "{\"prefixes\":[", 13, JSON },
		{ "\n[ {", 4, JSON },
		{ "[\"192.0.2.1\"]", 13, JSON },
		{ "[2001:db8::1]", 13, NULL },
		{ "<!DOCTYPE html>", 15, "is an HTML or XML page, not a list" },
		{ "\xef\xbb\xbf\r\n  <html>", 13, "is an HTML or XML page, not a list" },
		{ "", 0, NULL },
		{ "192.0.2.1\n<html>", 16, NULL },
		{ "# <html>", 8, NULL },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = open_bytes(kinds[i].bytes, kinds[i].n_bytes);
		const char *text = baleen_unpack_refuse(fd, false);

		if (!kinds[i].text)
			assert_null(text);
		else
			assert_string_equal(text, kinds[i].text);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
		if (kinds[i].text && !strcmp(kinds[i].text, JSON))
			assert_null(baleen_unpack_refuse(fd, true));
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),    cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_large),  cmocka_unit_test(test_plain),
		cmocka_unit_test(test_pieces), cmocka_unit_test(test_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
