/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans of time as text: 500ms, 30s, 5m, 1h30m, 2d, 1w.
 */
#ifndef BALEEN_DURATION_H
#define BALEEN_DURATION_H

#include <baleen/port.h>

/* A thousand years: sums with the time of day do not overflow. */
#define BALEEN_DURATION_MAX_MS 31557600000000ull

/* All units with their numbers, and the NUL byte. */
#define BALEEN_DURATION_TEXT 32

/**
 * baleen_duration_parse() - a span of time from text
 * @text: numbers with a unit each (w, d, h, m, s, ms), the larger unit first and
 *        each once, without blanks; a number alone has no meaning
 * @ms: milliseconds, 1 to BALEEN_DURATION_MAX_MS; untouched on failure
 *
 * Return: 0; -EINVAL for what is no span of time, and for none at all (0s);
 * -ERANGE for more than BALEEN_DURATION_MAX_MS.
 */
int baleen_duration_parse(const char *text, u64 *ms);

/**
 * baleen_duration_format() - a span of time as text
 * @ms: milliseconds
 * @text: at least BALEEN_DURATION_TEXT bytes: the largest unit that it fills and
 *        the next one, such as 1h30m; what is left of it is cut off
 *
 * Return: @text.
 */
const char *baleen_duration_format(u64 ms, char *text);

/**
 * baleen_duration_format_exact() - a span of time as text that reads back the same
 * @ms: milliseconds
 * @text: at least BALEEN_DURATION_TEXT bytes: all units that are not zero, such as
 *        1d2h5s
 *
 * Return: @text.
 */
const char *baleen_duration_format_exact(u64 ms, char *text);

#endif /* BALEEN_DURATION_H */
