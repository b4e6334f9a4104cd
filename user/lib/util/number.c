// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts, rates and shares as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/number.h"

#define MAX_COUNT (1ull << 40)
#define SECOND_NS 1000000000ull
#define MAX_EVENTS 1000000

static const struct {
	char unit;
	u64 ns;
} units[] = { { 's', SECOND_NS }, { 'm', 60 * SECOND_NS }, { 'h', 3600 * SECOND_NS } };

#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* strtoul() and its kind take blanks and signs; numbers here have none. */
static bool starts_with_digit(const char *text)
{
	return *text >= '0' && *text <= '9';
}

int baleen_count_parse(const char *text, u64 *count)
{
	unsigned long long value, scale = 1;
	char *end;

	if (!starts_with_digit(text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	switch (*end) {
	case 'k': scale = 1000; break;
	case 'M': scale = 1000000; break;
	case 'G': scale = 1000000000; break;
	}
	if (scale > 1)
		end++;
	if (*end || errno || !value || value > MAX_COUNT / scale)
		return -EINVAL;
	*count = value * scale;
	return 0;
}

int baleen_rate_parse(const char *text, double *rate)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno == ERANGE || !(value >= 0 && value < 1))
		return -EINVAL;
	*rate = value;
	return 0;
}

int baleen_percent_parse(const char *text, double *share)
{
	char *end;
	double value;

	if (!starts_with_digit(text))
		return -EINVAL;
	errno = 0;
	value = strtod(text, &end);
	if (end[0] != '%' || end[1] || errno == ERANGE || !(value >= 0 && value <= 100))
		return -EINVAL;
	*share = value / 100;
	return 0;
}

int baleen_interval_parse(const char *text, u64 *interval_ns)
{
	char *end;
	unsigned long n;

	if (!starts_with_digit(text))
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (!n || n > MAX_EVENTS || *end != '/' || !end[1] || end[2])
		return -EINVAL;
	for (size_t i = 0; i < N_UNITS; i++) {
		if (end[1] == units[i].unit) {
			*interval_ns = units[i].ns / n;
			return 0;
		}
	}
	return -EINVAL;
}

const char *baleen_interval_format(u64 interval_ns, char *text)
{
	for (size_t i = 0; i < N_UNITS; i++) {
		u64 n = (units[i].ns + interval_ns / 2) / interval_ns;

		if (!n || units[i].ns / n != interval_ns)
			continue;
		snprintf(text, BALEEN_INTERVAL_TEXT, "%llu/%c", (unsigned long long)n,
			 units[i].unit);
		return text;
	}
	snprintf(text, BALEEN_INTERVAL_TEXT, "1 in %.3g s", (double)interval_ns / SECOND_NS);
	return text;
}

const char *baleen_plural(u64 n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
