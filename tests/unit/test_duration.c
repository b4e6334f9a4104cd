// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Spans of time: what is refused, what is read, and that both ways agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/duration.h"

static void what_is_no_span_is_refused(void **state)
{
	static const char *const wrong[] = { "",     "5",   "s",    "0",   "0s",    "0d0s", "1x",
					     "1 s",  "-1s", "+1s",  "1s ", "1.5h",  "1h5",  "5s1h",
					     "1s1s", "1sm", "1mss", "h1",  "0x10s", "1S" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		u64 ms = 77;

		if (baleen_duration_parse(wrong[i], &ms) != -EINVAL || ms != 77)
			fail_msg("'%s' was taken", wrong[i]);
	}
}

static void too_long_is_refused(void **state)
{
	static const char *const wrong[] = { "31557600001s", "31557600000s1ms", "365251d",
					     "99999999999999999999999s", "18446744073709551617ms" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		u64 ms = 77;

		if (baleen_duration_parse(wrong[i], &ms) != -ERANGE || ms != 77)
			fail_msg("'%s' was taken", wrong[i]);
	}
}

static void spans_are_read(void **state)
{
	static const struct {
		const char *text;
		u64 ms;
	} right[] = {
		{ "1ms", 1 },	      { "30s", 30000 },
		{ "5m", 300000 },     { "1h", 3600000 },
		{ "2d", 172800000 },  { "1w", 604800000 },
		{ "1h30m", 5400000 }, { "1w2d3h4m5s6ms", 788645006 },
		{ "007s", 7000 },     { "90m", 5400000 },
		{ "0h1s", 1000 },     { "31557600000s", BALEEN_DURATION_MAX_MS },
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		u64 ms = 0;

		assert_int_equal(baleen_duration_parse(right[i].text, &ms), 0);
		assert_int_equal(ms, right[i].ms);
	}
}

static void spans_are_shown(void **state)
{
	static const struct {
		u64 ms;
		const char *text;
	} right[] = {
		{ 0, "0ms" },
		{ 999, "999ms" },
		{ 1000, "1s" },
		{ 1500, "1s500ms" },
		{ 60000, "1m" },
		{ 3599999, "59m59s" },
		{ 5400000, "1h30m" },
		{ 3605000, "1h" },
		{ 604800000, "7d" },
		{ 90000000, "1d1h" },
		{ BALEEN_DURATION_MAX_MS, "365250d" },
	};
	char text[BALEEN_DURATION_TEXT];

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_string_equal(baleen_duration_format(right[i].ms, text), right[i].text);
	assert_string_equal(baleen_duration_format(UINT64_MAX, text), "213503982334d14h");
}

static void two_units_come_back(void **state)
{
	char text[BALEEN_DURATION_TEXT];

	for (u64 minutes = 1; minutes < 1440; minutes++) {
		u64 ms;

		assert_int_equal(
			baleen_duration_parse(baleen_duration_format(minutes * 60000, text), &ms),
			0);
		assert_int_equal(ms, minutes * 60000);
	}
}

static void all_units_come_back(void **state)
{
	static const struct {
		u64 ms;
		const char *text;
	} right[] = {
		{ 3600000, "1h" },
		{ 3605000, "1h5s" },
		{ 93784005, "1d2h3m4s5ms" },
		{ 86400001, "1d1ms" },
		{ BALEEN_DURATION_MAX_MS - 1, "365249d23h59m59s999ms" },
	};
	char text[BALEEN_DURATION_TEXT];
	u64 ms;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_string_equal(baleen_duration_format_exact(right[i].ms, text), right[i].text);
		assert_int_equal(baleen_duration_parse(text, &ms), 0);
		assert_int_equal(ms, right[i].ms);
	}
	/* The longest text there can be. */
	assert_string_equal(baleen_duration_format_exact(UINT64_MAX, text),
			    "213503982334d14h25m51s615ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_span_is_refused),
		cmocka_unit_test(too_long_is_refused),
		cmocka_unit_test(spans_are_read),
		cmocka_unit_test(spans_are_shown),
		cmocka_unit_test(two_units_come_back),
		cmocka_unit_test(all_units_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
