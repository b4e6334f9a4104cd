/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sender of bench-path writes into a packet.
 */
#ifndef BENCH_PATH_H
#define BENCH_PATH_H

#include <baleen/port.h>

#define PATH_N_SOURCES (1u << 30)
/* Of the UDP packets; one more when the source is listed. */
#define PATH_PORT 9000

/* A bijection from an index, as in keys.h, but to 128.0.0.0/2: a source that
 * IP finds fault with (loopback, multicast) would not come through.
 */
baleen_inline u32 path_source(u32 index)
{
	index ^= index >> 15;
	index = (index * 0x85ebca6b) % PATH_N_SOURCES;
	index ^= index >> 13;
	index = (index * 0xc2b2ae35) % PATH_N_SOURCES;
	return 0x80000000 | (index ^ index >> 16);
}

#endif /* BENCH_PATH_H */
