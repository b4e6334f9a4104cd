// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The clock that waits are counted by. */
#include <time.h>

#include "clock.h"

u64 baleen_monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}
