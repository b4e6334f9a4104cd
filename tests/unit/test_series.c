// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rates of a counter over time, and their picture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <util/series.h>
#include <util/sparkline.h>

#define S 1000000000ull

static void rates(void **state)
{
	struct baleen_series series = { 0 };
	double rate[4] = { -1, -1, -1, -1 };

	assert_int_equal(baleen_series_get(&series, rate, 4), 0);
	assert_true(baleen_series_last(&series) == 0);
	baleen_series_add(&series, 5 * S, 1000);
	assert_int_equal(baleen_series_get(&series, rate, 4), 0);
	assert_true(rate[0] == -1);
	baleen_series_add(&series, 6 * S, 1500);
	baleen_series_add(&series, 8 * S, 1500);
	baleen_series_add(&series, 8 * S + S / 2, 1501);
	assert_int_equal(baleen_series_get(&series, rate, 4), 3);
	assert_true(rate[0] == 500 && rate[1] == 0 && rate[2] == 2 && rate[3] == -1);
	assert_int_equal(baleen_series_get(&series, rate, 2), 2);
	assert_true(rate[0] == 0 && rate[1] == 2);
	assert_true(baleen_series_last(&series) == 2);
}

/* Another program starts from zero; the same moment is no time. */
static void restarts(void **state)
{
	struct baleen_series series = { 0 };

	baleen_series_add(&series, 1 * S, UINT64_MAX);
	baleen_series_add(&series, 2 * S, 10);
	assert_true(baleen_series_last(&series) == 10);
	baleen_series_add(&series, 2 * S, 20);
	assert_int_equal(series.n, 1);
	baleen_series_add(&series, 3 * S, 20);
	assert_true(baleen_series_last(&series) == 10);
}

static void full(void **state)
{
	struct baleen_series series = { 0 };
	double rate[BALEEN_SERIES_LENGTH + 1];

	for (u32 i = 0; i < 3 * BALEEN_SERIES_LENGTH + 7; i++)
		baleen_series_push(&series, i);
	assert_int_equal(baleen_series_get(&series, rate, BALEEN_SERIES_LENGTH + 1),
			 BALEEN_SERIES_LENGTH);
	for (u32 i = 0; i < BALEEN_SERIES_LENGTH; i++)
		assert_true(rate[i] == 2 * BALEEN_SERIES_LENGTH + 7 + i);
}

/* --- pictures -------------------------------------------------------------- */

static void assert_drawn(const double *values, u32 n, bool utf8, const char *want)
{
	char text[64 * BALEEN_SPARK_BYTES + 1];

	memset(text, 0x5a, sizeof(text));
	baleen_sparkline(values, n, utf8, text);
	assert_string_equal(text, want);
	assert_true(strlen(want) <= n * BALEEN_SPARK_BYTES);
}

static void pictures(void **state)
{
	const double stairs[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, zeros[] = { 0, 0, 0 };
	const double one[] = { 1e-300 }, spike[] = { 1, 1e18, 0, 1e18 };

	assert_drawn(stairs, 0, true, "");
	assert_drawn(stairs, 9, true, " ▁▂▃▄▅▆▇█");
	assert_drawn(stairs, 8, false, " _.-=+*#");
	assert_drawn(zeros, 3, true, "   ");
	assert_drawn(zeros, 3, false, "   ");
	assert_drawn(one, 1, true, "█");
	/* What is not zero can be seen. */
	assert_drawn(spike, 4, true, "▁█ █");
	assert_drawn(spike, 4, false, "_# #");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(restarts),
		cmocka_unit_test(full),
		cmocka_unit_test(pictures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
