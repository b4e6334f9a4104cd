// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Points in time as RFC 3339 writes them: what is refused, what is read, and that both ways agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "random.h"
#include "util/utc.h"

static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"2026-11-27",
		"2026-11-27T18:00:00",
		"2026-11-27 18:00:00Z",
		"2026-11-27T18:00:00z",
		"2026-11-27T18:00:00+00:00",
		"2026-11-27T18:00:00Z ",
		" 2026-11-27T18:00:00Z",
		"2026-11-27T18:00:00.Z",
		"2026-11-27T18:00:00,5Z",
		"2026-11-27T18:00:00.1234567890Z",
		"2026-11-27T18:00:00.5",
		"2026-11-27T18:00Z",
		"2026-11-27T24:00:00Z",
		"2026-11-27T18:60:00Z",
		"2026-11-27T18:00:60Z",
		"2026-11-27T18:00:61Z",
		"2026-13-01T00:00:00Z",
		"2026-00-10T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2026-02-31T00:00:00Z",
		"2026-04-31T00:00:00Z",
		"2026-11-00T00:00:00Z",
		"1900-02-29T00:00:00Z",
		"1969-12-31T23:59:59Z",
		"+026-11-27T18:00:00Z",
		"12026-11-27T18:00:00Z",
		"226-11-27T18:00:00.0Z",
		"2026-1-27T18:00:00.00Z",
		"1795802400",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		u64 ms = 77;

		if (baleen_utc_parse(wrong[i], &ms) != -EINVAL || ms != 77)
			fail_msg("'%s' was taken", wrong[i]);
	}
}

static void what_is_one_is_read(void **state)
{
	static const struct {
		const char *text;
		u64 ms;
	} right[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:00.001Z", 1 },
		{ "2000-02-29T12:00:00Z", 951825600000 },
		{ "2038-01-19T03:14:08Z", 2147483648000 },
		{ "2026-11-27T18:00:00.5Z", 1795802400500 },
		{ "2026-11-27T18:00:00.25Z", 1795802400250 },
		{ "2026-11-27T18:00:00.123456789Z", 1795802400123 },
		{ "2106-02-07T06:28:16Z", 4294967296000 },
		{ "9999-12-31T23:59:59.999Z", BALEEN_UTC_MAX_MS },
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		u64 ms = 77;

		if (baleen_utc_parse(right[i].text, &ms) || ms != right[i].ms)
			fail_msg("'%s' is %llu", right[i].text, (unsigned long long)ms);
	}
}

static void both_ways_agree(void **state)
{
	char text[BALEEN_UTC_TEXT], last[BALEEN_UTC_TEXT];
	struct random random = random_from(1);

	for (u32 i = 0; i < 100000; i++) {
		u64 ms = random_below(&random, BALEEN_UTC_MAX_MS + 1), again = 77;

		assert_int_equal(baleen_utc_parse(baleen_utc_format(ms, text), &again), 0);
		assert_true(again == ms);
		assert_int_equal(strlen(text), strlen("2026-11-27T18:00:00.250Z"));
	}
	baleen_utc_format(BALEEN_UTC_MAX_MS, last);
	assert_string_equal(baleen_utc_format(BALEEN_UTC_MAX_MS + 1, text), last);
	assert_string_equal(baleen_utc_format(~0ull, text), last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(what_is_one_is_read),
		cmocka_unit_test(both_ways_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
