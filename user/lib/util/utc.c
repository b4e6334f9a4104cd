// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Points in time as text that means the same on every host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/utc.h"

const char *baleen_utc_format(u64 ms, char text[static BALEEN_UTC_TEXT])
{
	time_t seconds;
	struct tm parts;
	size_t n;

	if (ms > BALEEN_UTC_MAX_MS)
		ms = BALEEN_UTC_MAX_MS;
	seconds = ms / 1000;
	gmtime_r(&seconds, &parts);
	n = strftime(text, BALEEN_UTC_TEXT, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + n, BALEEN_UTC_TEXT - n, ".%03uZ", (u32)(ms % 1000));
	return text;
}

/* Behind the seconds: .250Z, or Z alone. */
static int parse_fraction(const char *text, u32 *ms)
{
	static const char digits[] = "0123456789";
	size_t n = *text == '.' ? strspn(text + 1, digits) : 0;
	u32 unit = 100;

	*ms = 0;
	if (*text == '.' && (!n || n > 9))
		return -EINVAL;
	for (size_t i = 0; i < n; i++, unit /= 10)
		*ms += (text[1 + i] - '0') * unit;
	text += n ? n + 1 : 0;
	return strcmp(text, "Z") ? -EINVAL : 0;
}

int baleen_utc_parse(const char *text, u64 *ms)
{
	char again[BALEEN_UTC_TEXT];
	struct tm parts = { 0 };
	u32 fraction;
	u64 found;

	/* strptime() takes blanks, signs and years of any length. */
	if (strspn(text, "0123456789-T:") != 19)
		return -EINVAL;
	if (strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) != text + 19 ||
	    parse_fraction(text + 19, &fraction) || parts.tm_year < 70)
		return -EINVAL;
	found = timegm(&parts) * 1000ull + fraction;
	/* The 31st of February makes another text. */
	if (strncmp(baleen_utc_format(found, again), text, 19))
		return -EINVAL;
	*ms = found;
	return 0;
}
