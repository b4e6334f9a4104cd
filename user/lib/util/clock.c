// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Clocks, in one number. */
#include "util/clock.h"

u64 baleen_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

u64 baleen_monotonic_ms(void)
{
	return baleen_clock_ns(CLOCK_MONOTONIC) / 1000000;
}
