/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the broker's time to be believed?
 *
 * Ends of bans go by it, so whoever sets the broker's clock a year on would lift all bans. Clocks
 * of hosts may be off, also by an hour, but not by days; and the clock of a broker may be set, but
 * then it goes on from there.
 */
#ifndef BALEEN_FLEET_CLOCK_H
#define BALEEN_FLEET_CLOCK_H

#include <baleen/port.h>

/* A broker that is further from this host's time is not believed. */
#define BALEEN_FLEET_CLOCK_FAR_MS (2 * 3600000ll)
/* A broker whose time moves by more, between two measurements, has been set ... */
#define BALEEN_FLEET_CLOCK_JUMP_MS 60000ll
/* ... and is believed again when it has gone on from there for so long. */
#define BALEEN_FLEET_CLOCK_STEADY_MS 600000ull

/**
 * struct baleen_fleet_clock - the broker's clock, as it was measured; all zeros at first
 * @broker_ms: the last time that was believed; 0 for none
 * @boot_ms: CLOCK_BOOTTIME of this host then
 * @jump_ms: how far the clock has been set since
 * @jumped_ms: CLOCK_BOOTTIME when that was seen first; 0 for never
 * @moved_ms: how far it was set, when it is believed that it was
 */
struct baleen_fleet_clock {
	u64 broker_ms;
	u64 boot_ms;
	s64 jump_ms;
	u64 jumped_ms;
	s64 moved_ms;
};

/**
 * enum baleen_fleet_trust - is a measurement believed?
 * @BALEEN_FLEET_CLOCK_RIGHT: yes; the clock of this host may have been set
 * @BALEEN_FLEET_CLOCK_MOVED: yes: the broker's clock was set, and has gone on from there for long
 * @BALEEN_FLEET_CLOCK_JUMPED: no: the broker's clock has been set
 * @BALEEN_FLEET_CLOCK_FAR: no: it is too far from this host's
 */
enum baleen_fleet_trust {
	BALEEN_FLEET_CLOCK_RIGHT,
	BALEEN_FLEET_CLOCK_MOVED,
	BALEEN_FLEET_CLOCK_JUMPED,
	BALEEN_FLEET_CLOCK_FAR,
};

/**
 * baleen_fleet_clock_judge() - judge a measurement
 * @clock: what is known; with this measurement afterwards
 * @broker_ms: the broker's time
 * @local_ms: this host's
 * @boot_ms: CLOCK_BOOTTIME, which nobody sets
 *
 * Return: enum baleen_fleet_trust.
 */
u32 baleen_fleet_clock_judge(struct baleen_fleet_clock *clock, u64 broker_ms, u64 local_ms,
			     u64 boot_ms);

#endif /* BALEEN_FLEET_CLOCK_H */
