// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys of Squid: as text and back, in lists, and as bits of a digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "key/key_spec.h"
#include "key/squid_key.h"
#include "list/list.h"
#include "ops/build.h"
#include "planes.h"
#include "slow_md5.h"

#define URL "http://10.9.0.3/obj/1"
#define HEX "271B10FA47F72704CF53F2C5EACD81B0"
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct baleen_key key_of(const char *text)
{
	const char *reason = "accepted";
	struct baleen_key key;

	if (baleen_squid_key_text(text, strlen(text), &key, &reason))
		fail_msg("'%.64s': %s", text, reason);
	return key;
}

/* --- text ------------------------------------------------------------------- */

static void test_refused(void **state)
{
	static const char neither[] = "neither a URL, which has ://, nor 32 hexadecimal digits";
	static const char digits[] = "not 32 hexadecimal digits";
	static const char scheme[] = "a URL without a scheme", blank[] = "white space in a URL";
	static const char *const wrong[][2] = {
		{ "", neither },
		{ "foo", neither },
		{ "www.example.org/", neither },
		{ "http:/example.org/", neither },
		{ "192.0.2.1", neither },
		{ "abc", digits },
		{ "271B10FA47F72704CF53F2C5EACD81B", digits },
		{ HEX "0", digits },
		{ "271B10FA47F72704CF53F2C5EACD81BG", neither },
		{ "0x271B10FA47F72704CF53F2C5EACD81", neither },
		{ "271B10FA47F72704 CF53F2C5EACD81B", neither },
		{ "://", scheme },
		{ "://example.org/", scheme },
		{ "1http://example.org/", scheme },
		{ "#http://example.org/", scheme },
		{ "/x?u=http://example.org/", scheme },
		{ "ht tp://example.org/", scheme },
		{ "http://example.org/a b", blank },
		{ "http://example.org/ ", blank },
		{ "http://example.org/\t", blank },
		{ "http://example.org/\n", blank },
		{ "http://example.org/\x7f", blank },
	};

	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct baleen_key key, poison;
		const char *reason = "accepted";

		memset(&key, 0xa5, sizeof(key));
		memset(&poison, 0xa5, sizeof(poison));
		assert_int_equal(baleen_squid_key_text(wrong[i][0], strlen(wrong[i][0]), &key,
						       &reason),
				 -EINVAL);
		assert_string_equal(reason, wrong[i][1]);
		assert_memory_equal(&key, &poison, sizeof(key));
		assert_int_equal(baleen_squid_key_hex(wrong[i][0], strlen(wrong[i][0]), &key),
				 -EINVAL);
		assert_memory_equal(&key, &poison, sizeof(key));
	}
}

/* A NUL is no end of a URL, and 8,191 bytes are what Squid takes. */
static void test_ends(void **state)
{
	char url[BALEEN_SQUID_MAX_URL + 1];
	const char *reason = "accepted";
	struct baleen_key key;

	assert_int_equal(baleen_squid_key_text("http://a\0b/", 11, &key, &reason), -EINVAL);
	assert_string_equal(reason, "white space in a URL");
	memset(url, 'a', sizeof(url));
	memcpy(url, "http://", 7);
	assert_int_equal(baleen_squid_key_text(url, sizeof(url) - 1, &key, &reason), 0);
	assert_int_equal(baleen_squid_key_text(url, sizeof(url), &key, &reason), -EINVAL);
	assert_string_equal(reason, "URL above 8191 bytes, which Squid refuses");
}

static void assert_hex(const struct baleen_key *key, const char *hex)
{
	char text[BALEEN_KEY_TEXT];

	baleen_key_format(key, BALEEN_KEY_SQUID, text);
	assert_string_equal(text, hex);
}

static void test_text(void **state)
{
	static const char *const same[] = { URL, HEX, "271b10fa47f72704cf53f2c5eacd81b0",
					    "271b10FA47f72704CF53F2C5EACD81b0" };
	const struct baleen_key want = { .domain = BALEEN_TUPLE,
					 .hi = 0x271b10fa47f72704,
					 .lo = 0xcf53f2c5eacd81b0 };
	char spec[BALEEN_KEY_SPEC_TEXT];
	u32 parsed;

	for (size_t i = 0; i < N_OF(same); i++) {
		struct baleen_key key = key_of(same[i]), parsed_key;
		const char *reason;

		assert_int_equal(baleen_key_compare(&key, &want), 0);
		assert_int_equal(baleen_key_parse(same[i], strlen(same[i]), BALEEN_KEY_SQUID,
						  &parsed_key, &reason),
				 0);
		assert_int_equal(baleen_key_compare(&parsed_key, &want), 0);
		assert_hex(&key, HEX);
	}
	assert_int_equal(baleen_key_spec_parse("squid", &parsed, NULL), 0);
	assert_int_equal(parsed, BALEEN_KEY_SQUID);
	assert_string_equal(baleen_key_spec_text(BALEEN_KEY_SQUID, spec), "squid");
	assert_int_equal(baleen_key_spec_parse("squid,src", &parsed, NULL), -EINVAL);
	assert_int_equal(baleen_key_spec_parse("src,squid", &parsed, NULL), -EINVAL);
}

/* The method byte and the URL as it stands, of every length. */
static void test_urls(void **state)
{
	struct random random = random_from(1);
	u8 message[1 + BALEEN_SQUID_MAX_URL] = { 1 }, digest[16];
	char hex[33], *url = (char *)message + 1;

	for (size_t n = 0; n < 800; n++) {
		size_t n_bytes = n < 600 ? n : 600 + random_below(&random, 7591);
		struct baleen_key key, again;

		for (size_t i = 0; i < n_bytes; i++)
			url[i] = '!' + random_below(&random, 94);
		slow_md5(message, n_bytes + 1, digest);
		for (u32 i = 0; i < 16; i++)
			sprintf(hex + 2 * i, "%02X", digest[i]);
		baleen_squid_key_url(url, n_bytes, &key);
		assert_hex(&key, hex);
		assert_int_equal(baleen_squid_key_hex(hex, 32, &again), 0);
		assert_int_equal(baleen_key_compare(&key, &again), 0);
	}
}

/* --- lists ------------------------------------------------------------------- */

static char bad_lines[512];

static void note_bad(void *data, const struct baleen_list_problem *problem)
{
	sprintf(bad_lines + strlen(bad_lines), "%llu '%s' %s\n", (unsigned long long)problem->line,
		problem->text, problem->reason);
}

static struct baleen_list read_text(const char *text, size_t n_bytes)
{
	const struct baleen_list_reader reader = { .on_bad = note_bad };
	struct baleen_list list = { .key_spec = BALEEN_KEY_SQUID };
	int fd = memfd_create("list", MFD_CLOEXEC);

	*bad_lines = '\0';
	assert_int_equal(write(fd, text, n_bytes), n_bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(baleen_list_read(&list, fd, "l", &reader, NULL), 0);
	close(fd);
	return list;
}

static bool has_key(const struct baleen_list *list, const char *text)
{
	struct baleen_key key = key_of(text);

	for (size_t i = 0; i < list->n_key; i++)
		if (!baleen_key_compare(&list->key[i], &key))
			return true;
	return false;
}

static void test_list(void **state)
{
	static const char text[] = "\xef\xbb\xbf" URL "\r\n"
				   "# http://a.example/comment\n"
				   "; http://b.example/comment\n"
				   "\n \t\n"
				   " \t" HEX " \t\r\n"
				   "http://c.example/;p?q#f!\n"
				   "add://d.example/\n"
				   "ftp://e.example/-x";
	struct baleen_list list = read_text(text, sizeof(text) - 1);

	assert_string_equal(bad_lines, "");
	assert_int_equal(list.n_lines, 9);
	assert_int_equal(list.n_key, 5);
	assert_int_equal(list.n_listed, 5);
	assert_true(has_key(&list, URL) && has_key(&list, "http://c.example/;p?q#f!"));
	assert_true(has_key(&list, "add://d.example/") && has_key(&list, "ftp://e.example/-x"));
	/* The URL and its MD5 are one. */
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_int_equal(list.n_key, 4);
	assert_int_equal(list.n_covered, 1);
	baleen_list_free(&list);
}

static void test_bad_lines(void **state)
{
	static const char text[] = "192.0.2.1\n" URL " a score\n!" URL "\nadd NAME " URL "\n"
				   "http://a\0b/\nhttp://a/\rb\n" HEX "\n";
	struct baleen_list list = read_text(text, sizeof(text) - 1);

	assert_string_equal(
		bad_lines, "1 '192.0.2.1' neither a URL, which has ://, nor 32 hexadecimal digits\n"
			   "2 '" URL " a score' white space in a URL\n"
			   "3 '!" URL "' a URL without a scheme\n"
			   "4 'add NAME " URL "' a URL without a scheme\n"
			   "5 'http://a\\x00b/' NUL byte\n"
			   "6 'http://a/\\x0db' carriage return in the line\n");
	assert_int_equal(list.n_bad, 6);
	assert_int_equal(list.n_key, 1);
	baleen_list_free(&list);
}

/* A URL may be longer than a line of other lists, and a line longer than the buffer. */
static void test_long_lines(void **state)
{
	static char text[1 << 20];
	struct baleen_list list;
	size_t n = 0;

	for (u32 i = 0; i < 3; i++) {
		size_t lengths[] = { 8191, 8192, 600000 };

		memset(text + n, 'a', lengths[i]);
		memcpy(text + n, "http://", 7);
		n += lengths[i];
		text[n++] = '\n';
	}
	list = read_text(text, n);
	assert_int_equal(list.n_key, 1);
	assert_int_equal(list.n_bad, 2);
	assert_non_null(strstr(bad_lines, "2 'http://aaa"));
	assert_non_null(strstr(bad_lines, "3 'http://aaa"));
	assert_non_null(strstr(bad_lines, "URL above 8191 bytes"));
	baleen_list_free(&list);
}

/* --- the bits of a digest ------------------------------------------------------- */

/* Bit p is bit p % 8 of byte p / 8; its number, 32 bits of the MD5 as they stand. */
static void set_slowly(u8 *mask, u64 n_bits, const u8 *digest)
{
	for (u32 i = 0; i < 16; i += 4) {
		u64 number = ((u64)digest[i] << 24 | (u64)digest[i + 1] << 16 |
			      (u64)digest[i + 2] << 8 | digest[i + 3]) %
			     n_bits;

		mask[number / 8] |= 1 << number % 8;
	}
}

static struct baleen_filter build(const struct baleen_list *list, u32 kind,
				  struct baleen_shape shape, double fpp)
{
	const struct baleen_build_options options = {
		.key_spec = BALEEN_KEY_SQUID, .kind = kind, .shape = shape, .fpp = fpp
	};
	struct baleen_filter filter;
	struct baleen_error error;

	if (baleen_build(list, &options, &filter, &error))
		fail_msg("%s", error.text);
	return filter;
}

static void check_digest(u32 kind, u64 n_bits)
{
	struct baleen_shape shape = { .n_bits = n_bits };
	struct baleen_list list = { .key_spec = BALEEN_KEY_SQUID };
	u8 *mask = calloc(n_bits / 8, 1), digest[16], message[64] = { 1 };
	char *url = (char *)message + 1;
	struct baleen_filter filter;
	const char *reason;

	for (u32 i = 0; i < 1000; i++) {
		sprintf(url, "http://10.9.0.3/obj/%u", i);
		slow_md5(message, 1 + strlen(url), digest);
		set_slowly(mask, n_bits, digest);
		assert_int_equal(baleen_list_add(&list, url, &reason), 0);
	}
	assert_int_equal(baleen_list_finish(&list), 0);
	filter = build(&list, kind, shape, 0);
	assert_int_equal(filter.image.table[BALEEN_TUPLE].hash, BALEEN_HASH_SQUID);
	assert_int_equal(filter.image.table[BALEEN_TUPLE].n_hashes, 4);
	assert_int_equal(baleen_table_bits(&filter.image.table[BALEEN_TUPLE]), n_bits);
	assert_memory_equal((u8 *)filter.bytes + BALEEN_HEADER_BYTES, mask, n_bits / 8);
	for (size_t i = 0; i < list.n_key; i++)
		assert_true(baleen_filter_test(&filter, &list.key[i]));
	assert_sealed(&filter);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(mask);
}

static void test_digest(void **state)
{
	check_digest(BALEEN_KIND_CLASSIC, 8);
	check_digest(BALEEN_KIND_CLASSIC, 5000);
	check_digest(BALEEN_KIND_CLASSIC, 8008);
	check_digest(BALEEN_KIND_CLASSIC, 1 << 16);
	check_digest(BALEEN_KIND_COUNTING, 5000);
	check_digest(BALEEN_KIND_COUNTING, 512 * 20);
}

/* The four bits of the example, of which each can be looked up by hand. */
static void test_example(void **state)
{
	static const u32 quarters[] = { 0x271b10fa, 0x47f72704, 0xcf53f2c5, 0xeacd81b0 };
	struct baleen_list list = { .key_spec = BALEEN_KEY_SQUID };
	struct baleen_filter filter;
	const char *reason;

	assert_int_equal(baleen_list_add(&list, URL, &reason), 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	filter = build(&list, BALEEN_KIND_CLASSIC, (struct baleen_shape){ .n_bits = 10000 }, 0);
	assert_int_equal(baleen_bits_count(&filter, BALEEN_TUPLE), 4);
	for (u32 i = 0; i < 4; i++)
		assert_true(plane_bit(&filter, BALEEN_TUPLE, quarters[i] % 10000));
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* --- plans ------------------------------------------------------------------- */

static void test_shapes(void **state)
{
	static const struct {
		u32 key_spec, kind;
		struct baleen_shape shape;
		int err;
		u32 hash;
	} shapes[] = {
		{ BALEEN_KEY_SQUID, BALEEN_KIND_CLASSIC, { 0 }, 0, BALEEN_HASH_SQUID },
		{ BALEEN_KEY_SQUID, BALEEN_KIND_COUNTING, { 0 }, 0, BALEEN_HASH_SQUID },
		{ BALEEN_KEY_SQUID, BALEEN_KIND_COUNTING, { .is_blocked = true }, 0, 0 },
		{ BALEEN_KEY_SQUID, BALEEN_KIND_CUCKOO, { 0 }, 0, 0 },
		{ BALEEN_KEY_SQUID,
		  BALEEN_KIND_CLASSIC,
		  { .hash = BALEEN_HASH_KEYED },
		  0,
		  BALEEN_HASH_KEYED },
		{ BALEEN_KEY_SRC, BALEEN_KIND_CLASSIC, { 0 }, 0, 0 },
		{ BALEEN_KEY_STRING, BALEEN_KIND_COUNTING, { 0 }, 0, 0 },
		{ BALEEN_KEY_SRC,
		  BALEEN_KIND_CLASSIC,
		  { .hash = BALEEN_HASH_SQUID },
		  -EINVAL,
		  BALEEN_HASH_SQUID },
		{ BALEEN_KEY_STRING,
		  BALEEN_KIND_COUNTING,
		  { .hash = BALEEN_HASH_SQUID },
		  -EINVAL,
		  BALEEN_HASH_SQUID },
		{ BALEEN_KEY_SQUID,
		  BALEEN_KIND_CLASSIC,
		  { .hash = BALEEN_HASH_MURMUR3 },
		  -EINVAL,
		  BALEEN_HASH_MURMUR3 },
		{ BALEEN_KEY_SQUID, BALEEN_KIND_CLASSIC, { .is_blocked = true }, -EINVAL, 0 },
	};

	for (size_t i = 0; i < N_OF(shapes); i++) {
		struct baleen_shape shape = shapes[i].shape;
		struct baleen_error error;

		assert_int_equal(baleen_shape_for_keys(shapes[i].key_spec, shapes[i].kind, &shape,
						       &error),
				 shapes[i].err);
		assert_int_equal(shape.hash, shapes[i].hash);
	}
}

static void test_plan(void **state)
{
	static const struct {
		u32 domain;
		u64 n;
		double fpp;
		struct baleen_shape shape;
		const char *word;
	} wrong[] = {
		{ BALEEN_IP4, 9, 0.1, { 0 }, "for keys of Squid" },
		{ BALEEN_TUPLE, 9, 0.1, { .n_hashes = 5 }, "4 positions, not 5" },
		{ BALEEN_TUPLE, 9, 0, { .n_bits = 1001 }, "whole bytes, which 1001 bits" },
		{ BALEEN_TUPLE, 9, 0, { .n_bits = (1ull << 32) + 8 }, "2^32 at most" },
		{ BALEEN_TUPLE, 1 << 30, 0.01, { 0 }, "too little for 1073741824 keys" },
		{ BALEEN_TUPLE, 9, 0, { 0 }, "--fpp or --bits" },
	};
	static const struct baleen_shape squid = { .hash = BALEEN_HASH_SQUID };
	struct baleen_error error;
	struct baleen_table table;

	for (size_t i = 0; i < 2 * N_OF(wrong); i++) {
		u32 kind = i % 2 ? BALEEN_KIND_COUNTING : BALEEN_KIND_CLASSIC;
		struct baleen_shape shape = wrong[i / 2].shape;

		shape.hash = BALEEN_HASH_SQUID;
		assert_int_equal(baleen_plan_shaped(wrong[i / 2].domain, kind, wrong[i / 2].n,
						    wrong[i / 2].fpp, &shape, &table, &error),
				 -EINVAL);
		assert_non_null(strstr(error.text, wrong[i / 2].word));
	}
	for (double fpp = 0.5; fpp > 1e-6; fpp /= 3) {
		struct baleen_image image = { .key_spec = BALEEN_KEY_SQUID };

		assert_int_equal(baleen_plan_shaped(BALEEN_TUPLE, BALEEN_KIND_CLASSIC, 100000, fpp,
						    &squid, &table, &error),
				 0);
		image.table[BALEEN_TUPLE] = table;
		assert_int_equal(table.n_hashes, 4);
		assert_true(baleen_table_fpp(&image, BALEEN_TUPLE, 100000) <= fpp);
		/* A block less would not do. */
		image.table[BALEEN_TUPLE].n_buckets--;
		assert_true(baleen_table_fpp(&image, BALEEN_TUPLE, 100000) > fpp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_ends),
		cmocka_unit_test(test_text),	   cmocka_unit_test(test_urls),
		cmocka_unit_test(test_list),	   cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_long_lines), cmocka_unit_test(test_digest),
		cmocka_unit_test(test_example),	   cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
