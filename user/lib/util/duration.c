// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Spans of time as text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/duration.h"

static const struct {
	const char *name;
	u64 ms;
} units[] = {
	{ "w", 604800000 }, { "d", 86400000 }, { "h", 3600000 },
	{ "m", 60000 },	    { "s", 1000 },     { "ms", 1 },
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* The number at @text, at most BALEEN_DURATION_MAX_MS + 1; moves @text behind it. */
static u64 scan_number(const char **text)
{
	u64 number = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (number <= BALEEN_DURATION_MAX_MS)
			number = number * 10 + (**text - '0');
	return number <= BALEEN_DURATION_MAX_MS ? number : BALEEN_DURATION_MAX_MS + 1;
}

int baleen_duration_parse(const char *text, u64 *ms)
{
	size_t unit = 0;
	u64 sum = 0;

	while (*text) {
		const char *digits = text;
		u64 number = scan_number(&text);
		size_t length = strspn(text, "wdhms");

		while (unit < N_UNITS && (strlen(units[unit].name) != length ||
					  memcmp(units[unit].name, text, length)))
			unit++;
		if (text == digits || unit == N_UNITS)
			return -EINVAL;
		if (number > (BALEEN_DURATION_MAX_MS - sum) / units[unit].ms)
			return -ERANGE;
		sum += number * units[unit++].ms;
		text += length;
	}
	if (!sum)
		return -EINVAL;
	*ms = sum;
	return 0;
}

/* At most so many units one below the other, from the largest that it fills on. */
static const char *format(u64 ms, size_t n_units, char *text)
{
	size_t unit, n = 0;

	/* Weeks are read, but days are what people count in. */
	for (unit = 1; unit < N_UNITS - 1 && ms < units[unit].ms; unit++)
		;
	for (size_t end = unit + n_units; unit < N_UNITS && unit < end; unit++) {
		if (n && ms < units[unit].ms)
			continue;
		n += snprintf(text + n, BALEEN_DURATION_TEXT - n, "%llu%s",
			      (unsigned long long)(ms / units[unit].ms), units[unit].name);
		ms %= units[unit].ms;
	}
	return text;
}

const char *baleen_duration_format(u64 ms, char *text)
{
	return format(ms, 2, text);
}

const char *baleen_duration_format_exact(u64 ms, char *text)
{
	return format(ms, N_UNITS, text);
}
