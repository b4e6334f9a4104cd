/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points in time as text that means the same on every host: RFC 3339, of UTC.
 */
#ifndef BALEEN_UTC_H
#define BALEEN_UTC_H

#include <baleen/port.h>

/* 9999-12-31T23:59:59.999Z: what comes later has no such text. */
#define BALEEN_UTC_MAX_MS 253402300799999ull

#define BALEEN_UTC_TEXT 32

/**
 * baleen_utc_format() - a point in time as text
 * @ms: since the epoch; what is later than BALEEN_UTC_MAX_MS is that
 * @text: filled in: 2026-11-27T18:00:00.250Z
 *
 * Return: @text.
 */
const char *baleen_utc_format(u64 ms, char text[static BALEEN_UTC_TEXT]);

/**
 * baleen_utc_parse() - a point in time from text
 * @text: as baleen_utc_format() writes it; the fraction may be missing, or have 1 to 9 digits
 * @ms: filled in; untouched on failure
 *
 * Return: 0 or -EINVAL, also for a day that no month has.
 */
int baleen_utc_parse(const char *text, u64 *ms);

#endif /* BALEEN_UTC_H */
