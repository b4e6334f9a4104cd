// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Foreign text: no character that moves, turns or hides comes out, and none that reads is changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/error.h"
#include "util/foreign.h"

static void test_texts(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "", "" },
		{ "eth0", "eth0" },
		{ "B\xc3\xbcro, \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x8b",
		  "B\xc3\xbcro, \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x8b" },
		{ "a\\b", "a\\b" },
		{ "\033]0;x\007", "\\x1b]0;x\\x07" },
		{ "two\nlines\ttab\r", "two\\x0alines\\x09tab\\x0d" },
		{ "\x7f", "\\x7f" },
		/* C1: CSI as one character, and as one byte. */
		{ "\xc2\x9b"
		  "31m",
		  "\\u{9b}31m" },
		{ "\x9b"
		  "31m",
		  "\\x9b31m" },
		{ "\xe2\x80\xae"
		  "txt.exe",
		  "\\u{202e}txt.exe" },
		{ "a\xe2\x80\x8b"
		  "b",
		  "a\\u{200b}b" },
		{ "\xe2\x81\xa6", "\\u{2066}" },
		{ "\xd8\x9c\xe2\x80\xa8\xef\xbb\xbf", "\\u{61c}\\u{2028}\\u{feff}" },
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" },
		/* No UTF-8: alone, cut, too long, a surrogate, above the last, a stray byte behind.
		 */
		{ "\xff", "\\xff" },
		{ "\xe2\x80", "\\xe2\\x80" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xc3\xbc\xbc", "\xc3\xbc\\xbc" },
	};
	char shown[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = baleen_foreign_format(shown, sizeof(shown), "%s", cases[i].text);

		assert_string_equal(shown, cases[i].shown);
		assert_int_equal(n, strlen(shown));
		/* Once more is no more. */
		baleen_foreign_format(shown, sizeof(shown), "%s", cases[i].shown);
		assert_string_equal(shown, cases[i].shown);
		assert_true(baleen_foreign_is_plain(shown));
		assert_int_equal(baleen_foreign_is_plain(cases[i].text),
				 !strcmp(cases[i].text, cases[i].shown));
	}
}

/* Bytes with a NUL among them. */
static void test_bytes(void **state)
{
	char shown[32];

	assert_int_equal(baleen_foreign_text(shown, sizeof(shown), "a\0b", 3), 6);
	assert_string_equal(shown, "a\\x00b");
}

/* Each pair of format and arguments as of printf() itself. */
#define same(...)                                                     \
	do {                                                          \
		char got[256], want[256];                             \
		snprintf(want, sizeof(want), __VA_ARGS__);            \
		baleen_foreign_format(got, sizeof(got), __VA_ARGS__); \
		assert_string_equal(got, want);                       \
	} while (0)

static void test_formats(void **state)
{
	const char unended[3] = { 'a', 'b', 'c' };

	same("two\nlines \033[31m%%");
	same("%s|%8s|%-8s|%.2s|%-6.2s|%*s|%-*s|%.*s|%*s", "abc", "abc", "abc", "abc", "abc", 7,
	     "abc", 7, "abc", 2, "abc", -7, "abc");
	same("%.*s|%.3s|%.*s", 2, unended, unended, -1, "whole");
	same("%d|%i|%5d|%-5d|%05d|%+d|% d|%*d|%.3d", -1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	same("%u|%x|%X|%o|%#x|%04x|%hhu|%hu", 1u, 255u, 255u, 8u, 255u, 10u, (unsigned char)200,
	     (unsigned short)65535);
	same("%ld|%lu|%lld|%llu|%llx|%016llx", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX, 1ull,
	     2ull);
	same("%zu|%zd|%jd|%td|%" PRIu64, (size_t)1, (ssize_t)-1, (intmax_t)-2, (ptrdiff_t)3,
	     UINT64_MAX);
	same("%f|%.2f|%8.3g|%.0f|%e|%.*f|%-9.4g|", 1.5, 2.345, 1234567., 2.5, 1e9, 1, 3.25, 7.);
	same("%c|%3c|%-3c|%p", 'x', 'y', 'z', (void *)0x1234);
	errno = ENOENT;
	same("%m|%s", "behind");
}

/* Columns stay columns, and what a precision cuts is no escape. */
static void test_columns(void **state)
{
	char got[64];

	baleen_foreign_format(got, sizeof(got), "%-8s|%8s|", "\033", "\033");
	assert_string_equal(got, "\\x1b    |    \\x1b|");
	baleen_foreign_format(got, sizeof(got), "%.2s|%.3s|%.4s", "a\xc3\xbc", "a\xc3\xbc",
			      "\xf0\x9f\x90\x8b");
	assert_string_equal(got, "a|a\xc3\xbc|\xf0\x9f\x90\x8b");
	baleen_foreign_format(got, sizeof(got), "%.1s|%.3s", "\xff", "ab\xf0\x9f\x90\x8b");
	assert_string_equal(got, "\\xff|ab");
}

/* At any room: ends, within it, and with no half of an escape or character. */
static void test_room(void **state)
{
	static const char text[] = "a\033\xc3\xbc\xe2\x80\xae"
				   "b";
	static const char whole[] = "<a\\x1b\xc3\xbc\\u{202e}b>";
	static const size_t ends[] = { 0, 1, 2, 6, 8, 16, 17, 18 };

	for (size_t room = 1; room < sizeof(whole) + 4; room++) {
		char got[64];
		size_t n, want = 0;

		memset(got, 'X', sizeof(got));
		n = baleen_foreign_format(got, room, "<%s>", text);
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			want = ends[i] < room ? ends[i] : want;
		assert_int_equal(n, want);
		assert_memory_equal(got, whole, n);
		assert_int_equal(got[n], '\0');
		assert_int_equal(got[room], 'X');
	}
}

static void test_error(void **state)
{
	struct baleen_error inner, outer;

	assert_int_equal(baleen_fail(&inner, EINVAL, "%s: bad", "\033\n"), -EINVAL);
	baleen_fail(&outer, EINVAL, "%s", inner.text);
	assert_string_equal(outer.text, "\\x1b\\x0a: bad");
}

static char *written(void (*write)(FILE *stream, const char *text), const char *text)
{
	char *out = NULL;
	size_t n;
	FILE *stream = open_memstream(&out, &n);

	assert_non_null(stream);
	write(stream, text);
	fclose(stream);
	return out;
}

static void test_documents(void **state)
{
	static const struct {
		void (*write)(FILE *stream, const char *text);
		const char *text, *want;
	} cases[] = {
		{ baleen_foreign_json, "{\n  \"a\": \"\\u001b\xc3\xbc\x7f\"\n}",
		  "{\n  \"a\": \"\\u001b\xc3\xbc\\u007f\"\n}" },
		{ baleen_foreign_json, "\"\xe2\x80\xae\xc2\x9b\xf3\xa0\x81\x81\"",
		  "\"\\u202e\\u009b\\udb40\\udc41\"" },
		{ baleen_foreign_script, "[\"</script><!--\xe2\x80\xae\", \"<\"]",
		  "[\"\\u003c/script>\\u003c!--\\u202e\", \"\\u003c\"]" },
		{ baleen_foreign_xml, "<a href=\"x\">&'\033\xe2\x80\xae\xff",
		  "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\\x1b\\u{202e}\\xff" },
		{ baleen_foreign_label, "a\"b\\c\n\033\xff\xc3\xbc",
		  "a\\\"b\\\\c\\\\x0a\\\\x1b\\\\xff\xc3\xbc" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *got = written(cases[i].write, cases[i].text);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),	  cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_formats),	  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_room),	  cmocka_unit_test(test_error),
		cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
