/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Until when the objects of a sibling are fresh, as a source has it: bpf/icp_times.h says
 * what the program does with that.
 */
#ifndef BALEEN_ICP_TIMES_H
#define BALEEN_ICP_TIMES_H

#include "icp/icp_load.h"
#include "icp/squid_set.h"

/**
 * baleen_icp_times_blocks() - blocks for the times of so many objects
 * @n_objects: of all siblings
 *
 * Filled to three quarters: then a block of 8 is full for one object in 20.
 *
 * Return: how many, at least for 98,304 objects.
 */
u32 baleen_icp_times_blocks(u64 n_objects);

/**
 * baleen_icp_times_put() - note until when objects are fresh
 * @loaded: a generation; all share the times
 * @n: the sibling
 * @set: finished; objects that are stale are left out
 * @error: filled in on failure
 *
 * What the feed told of an object since it was read is later, and stays.
 *
 * Return: 0 or a negative errno.
 */
int baleen_icp_times_put(const struct baleen_icp_loaded *loaded, u32 n,
			 const struct baleen_squid_set *set, struct baleen_error *error);

#endif /* BALEEN_ICP_TIMES_H */
