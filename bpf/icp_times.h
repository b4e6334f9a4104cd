/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Until when the objects of siblings are fresh: a filter cannot know, and a Squid says miss
 * to what it has no longer fresh.
 *
 *      block   | slot 0 | slot 1 | ... | slot 7 |         by half of the key and the sibling
 *      slot    | other half of the key, 32 bits | second of CLOCK_MONOTONIC, 32 bits |
 *
 * A block that is full forgets what is stale first. What is not found is left to the sibling
 * as what is stale is, so to forget costs a query, and no lock is needed: each slot is
 * written at once.
 */
#ifndef BALEEN_BPF_ICP_TIMES_H
#define BALEEN_BPF_ICP_TIMES_H

#include "icp.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct baleen_icp_times);
} baleen_icp_times SEC(".maps");

/* All ones but the highest bit: -1, where that says how wide it is. */
#define ICP_NO_DATE (~0ull >> 1)

baleen_inline u32 icp_now_s(void)
{
	return bpf_ktime_get_coarse_ns() / 1000000000;
}

baleen_inline struct baleen_icp_times *icp_times_of(u32 n, u64 lo)
{
	u32 at = baleen_icp_times_at(n, lo, config.n_times);

	return bpf_map_lookup_elem(&baleen_icp_times, &at);
}

/* Is an object of sibling @n fresh, and not about to be stale? Out of line: the path of a
 * packet that is no hit has none of it.
 */
__attribute__((minsize)) __noinline int icp_is_object_fresh(u32 n, u64 hi, u64 lo)
{
	struct baleen_icp_times *times = icp_times_of(n, lo);
	u32 least_s = icp_now_s() + BALEEN_SQUID_MARGIN_S, tag = hi, found = 0;

	if (!times)
		return 0;
	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_ICP_TIMES; i++) {
		u64 slot = baleen_le64(*(volatile u64 *)&times->slot_le[i]);

		found |= (u32)(slot >> 32) == tag && (u32)slot > least_s;
	}
	return found;
}

/* An object of sibling @n is fresh until second @until_s; 0: nobody knows. */
__attribute__((minsize)) __noinline int icp_set_fresh(u32 n, u64 hi, u64 lo, u32 until_s)
{
	struct baleen_icp_times *times = icp_times_of(n, lo);
	u32 tag = hi, place = 0, least = ~0u;

	if (!times)
		return 0;
	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_ICP_TIMES; i++) {
		u64 slot = baleen_le64(*(volatile u64 *)&times->slot_le[i]);
		/* Its own slot comes before all others. */
		u32 rank = (u32)(slot >> 32) == tag ? 0 : (u32)slot;

		if (rank < least || !i) {
			least = rank;
			place = i;
		}
	}
	*(volatile u64 *)&times->slot_le[place & (BALEEN_ICP_TIMES - 1)] =
		baleen_le64((u64)tag << 32 | until_s);
	return 0;
}

/* The date at @at, and in bit 63 whether it is of ten digits. The loop is in a global function,
 * which the verifier looks at once, not for each width of the dates before it.
 */
__attribute__((minsize)) __noinline u64 icp_read_date(struct xdp_md *ctx, u32 at)
{
	u8 date[BALEEN_STORE_DATE_DIGITS] = { 0 };
	u64 is_wide;

	if (bpf_xdp_load_bytes(ctx, at, date, sizeof(date)))
		return ICP_NO_DATE;
	is_wide = baleen_store_date_bytes(date) - BALEEN_STORE_DATE_DIGITS;
	return is_wide << 63 | ((u64)baleen_store_date(date) & ICP_NO_DATE);
}

/* -1 for none. */
baleen_inline s64 icp_date_of(u64 date)
{
	return (s64)(date << 1) >> 1;
}

baleen_inline u32 icp_date_bytes(u64 date)
{
	return BALEEN_STORE_DATE_DIGITS + (date >> 63);
}

/* Seconds for which an object is fresh from when the line at @at was written, by its dates; 0:
 * none, or nobody knows.
 */
__attribute__((minsize)) __noinline u32 icp_read_times(struct xdp_md *ctx, u32 at)
{
	u64 date = icp_read_date(ctx, at + BALEEN_STORE_DATES_AT), modified, expires, now;

	now = icp_read_date(ctx, at);
	at += BALEEN_STORE_DATES_AT + icp_date_bytes(date);
	modified = icp_read_date(ctx, at);
	expires = icp_read_date(ctx, at + icp_date_bytes(modified));
	return baleen_squid_fresh_s(icp_date_of(now), icp_date_of(date), icp_date_of(modified),
				    icp_date_of(expires));
}

struct icp_dated {
	u64 hi;
	u64 lo;
	u32 siblings;
	u32 until_s;
};

/* For bpf_loop(): one sibling. */
static long icp_date_one(u32 n, struct icp_dated *dated)
{
	n &= BALEEN_ICP_MAX_SIBLINGS - 1;
	if (dated->siblings >> n & 1)
		icp_set_fresh(n, dated->hi, dated->lo, dated->until_s);
	return 0;
}

/* Not static, so that R0 has its result: see icp_record(). */
__attribute__((minsize)) __noinline int icp_date_siblings(u32 siblings, u64 hi, u64 lo, u32 fresh_s)
{
	struct icp_dated dated = {
		.hi = hi,
		.lo = lo,
		.siblings = siblings,
		.until_s = fresh_s ? icp_now_s() + fresh_s : 0,
	};

	bpf_loop(config.n_siblings ? config.n_siblings : 1, icp_date_one, &dated, 0);
	return 0;
}

#endif /* BALEEN_BPF_ICP_TIMES_H */
