/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of icp.bpf.c share this: constants, counters, and the filter of each
 * sibling, by number.
 */
#ifndef BALEEN_BPF_ICP_H
#define BALEEN_BPF_ICP_H

#include <baleen/icp.h>
#include <baleen/packet.h>
#include <baleen/probe.h>

/* Constant for the kernel, but not for clang: see baleen.bpf.c. */
extern struct baleen_icp_config config;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_icp_stats);
} baleen_icp_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_icp_state);
} baleen_icp_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, struct baleen_icp_asker);
	__type(value, u32);
} baleen_icp_askers SEC(".maps");

/* Events while a resync builds a filter: 32 bytes each, and 8 of the ring. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} baleen_icp_log SEC(".maps");

baleen_inline struct baleen_icp_stats *icp_stats(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&baleen_icp_stats, &zero);
}

baleen_inline struct baleen_icp_state *icp_state(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&baleen_icp_state, &zero);
}

/* Is the key in the filter of sibling @n? 1 maybe, 0 surely not. */
static int sibling_test(u32 n, u64 hi, u64 lo);

/* Inserts or deletes a key: enum baleen_store_event. Returns 1 when the filter changed,
 * 0 when not, -ENOSPC for lack of room.
 */
static int sibling_change(u32 n, u64 hi, u64 lo, u32 event);

#endif /* BALEEN_BPF_ICP_H */
