// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Until when the objects of a sibling are fresh. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "icp/icp_times.h"
#include "util/clock.h"

#define NS_PER_S 1000000000ull

/* Objects to a block, of BALEEN_ICP_TIMES slots. */
#define OBJECTS_PER_BLOCK 6

/* 1 MiB: a resync may make a filter larger, and its times keep their place. */
#define LEAST_BLOCKS 16384

u32 baleen_icp_times_blocks(u64 n_objects)
{
	u64 n_blocks = n_objects / OBJECTS_PER_BLOCK + 1;

	if (n_blocks < LEAST_BLOCKS)
		n_blocks = LEAST_BLOCKS;
	return n_blocks < ~0u / sizeof(struct baleen_icp_times) ?
		       n_blocks :
		       ~0u / sizeof(struct baleen_icp_times);
}

/* Into its own slot where that is stale, else into the one that is stale first: never over
 * an object that is fresh for longer.
 */
static void put_one(struct baleen_icp_times *times, u32 tag, u32 now_s, u32 until_s)
{
	u32 place = 0, least = ~0u;

	for (u32 i = 0; i < BALEEN_ICP_TIMES; i++) {
		u64 slot = baleen_le64(__atomic_load_n(&times->slot_le[i], __ATOMIC_RELAXED));

		if ((u32)(slot >> 32) == tag && (u32)slot > now_s)
			return;
		if ((u32)slot < least) {
			least = slot;
			place = i;
		}
	}
	if (least < until_s)
		__atomic_store_n(&times->slot_le[place], baleen_le64((u64)tag << 32 | until_s),
				 __ATOMIC_RELAXED);
}

static void put_all(struct baleen_icp_times *times, u32 n_times, u32 n,
		    const struct baleen_squid_set *set)
{
	s64 now_s = baleen_clock_ns(CLOCK_MONOTONIC) / NS_PER_S;
	s64 wall_s = baleen_clock_ns(CLOCK_REALTIME) / NS_PER_S;

	for (size_t i = 0; i < set->n; i++) {
		const struct baleen_squid_object *object = &set->object[i];
		s64 left_s = object->until > wall_s ? object->until - wall_s : 0;

		if (left_s > BALEEN_SQUID_FOREVER_S)
			left_s = BALEEN_SQUID_FOREVER_S;
		if (left_s)
			put_one(&times[baleen_icp_times_at(n, object->lo, n_times)],
				(u32)object->hi, now_s, now_s + left_s);
	}
}

int baleen_icp_times_put(const struct baleen_icp_loaded *loaded, u32 n,
			 const struct baleen_squid_set *set, struct baleen_error *error)
{
	size_t n_bytes = (size_t)loaded->config.n_times * sizeof(struct baleen_icp_times);
	void *times;

	if (!n_bytes)
		return 0;
	times = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, loaded->times_fd, 0);
	if (times == MAP_FAILED)
		return baleen_fail(error, errno, "cannot map the times of objects: %m");
	put_all(times, loaded->config.n_times, n, set);
	munmap(times, n_bytes);
	return 0;
}
