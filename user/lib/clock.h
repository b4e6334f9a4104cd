/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock that waits are counted by.
 */
#ifndef BALEEN_CLOCK_H
#define BALEEN_CLOCK_H

#include <baleen/port.h>

/**
 * baleen_monotonic_ms() - milliseconds of a clock that nobody sets
 *
 * Return: since some time in the past.
 */
u64 baleen_monotonic_ms(void);

#endif /* BALEEN_CLOCK_H */
