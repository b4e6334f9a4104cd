/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clocks, in one number.
 */
#ifndef BALEEN_CLOCK_H
#define BALEEN_CLOCK_H

#include <baleen/port.h>
#include <time.h>

/**
 * baleen_clock_ns() - the time of a clock
 * @clock: one that every Linux has
 *
 * Return: nanoseconds.
 */
u64 baleen_clock_ns(clockid_t clock);

/**
 * baleen_monotonic_ms() - milliseconds of a clock that nobody sets
 *
 * Return: since some time in the past.
 */
u64 baleen_monotonic_ms(void);

#endif /* BALEEN_CLOCK_H */
