// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is the broker's time to be believed? */
#include "fleet/fleet_clock.h"

static bool is_more(s64 difference, s64 most)
{
	return difference > most || difference < -most;
}

/* Has the clock that was set gone on from there for long enough? */
static bool is_steady(struct baleen_fleet_clock *clock, s64 jump_ms, u64 boot_ms)
{
	if (!clock->jumped_ms || is_more(jump_ms - clock->jump_ms, BALEEN_FLEET_CLOCK_JUMP_MS)) {
		clock->jump_ms = jump_ms;
		clock->jumped_ms = boot_ms;
	}
	return boot_ms >= clock->jumped_ms + BALEEN_FLEET_CLOCK_STEADY_MS;
}

u32 baleen_fleet_clock_judge(struct baleen_fleet_clock *clock, u64 broker_ms, u64 local_ms,
			     u64 boot_ms)
{
	s64 jump_ms = broker_ms - (clock->broker_ms + (boot_ms - clock->boot_ms));
	bool is_set = clock->broker_ms && is_more(jump_ms, BALEEN_FLEET_CLOCK_JUMP_MS);

	if (is_more(broker_ms - local_ms, BALEEN_FLEET_CLOCK_FAR_MS))
		return BALEEN_FLEET_CLOCK_FAR;
	if (is_set && !is_steady(clock, jump_ms, boot_ms))
		return BALEEN_FLEET_CLOCK_JUMPED;
	*clock = (struct baleen_fleet_clock){ .broker_ms = broker_ms,
					      .boot_ms = boot_ms,
					      .moved_ms = is_set ? jump_ms : 0 };
	return is_set ? BALEEN_FLEET_CLOCK_MOVED : BALEEN_FLEET_CLOCK_RIGHT;
}
