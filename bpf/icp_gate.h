/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * May a sibling be answered for: who is asked, by whom, and was it heard of lately?
 *
 * A wrong miss costs nothing, a wrong hit costs the client: so hits have a gate of their own.
 */
#ifndef BALEEN_BPF_ICP_GATE_H
#define BALEEN_BPF_ICP_GATE_H

#include "icp_parse.h"

#define ICP_NOBODY BALEEN_ICP_MAX_SIBLINGS

/* The number of the sibling that has the address, by either family, or ICP_NOBODY. */
baleen_inline u32 icp_find_sibling(u64 hi, u64 lo)
{
	BALEEN_UNROLL
	for (u32 n = 0; n < BALEEN_ICP_MAX_SIBLINGS; n++) {
		const struct baleen_icp_sibling *sibling = &config.sibling[n];

		if (n >= config.n_siblings)
			break;
		/* As baleen_icp_has_address(), which clang would not unroll. */
		if (lo == sibling->address_lo && hi == sibling->address_hi)
			return n;
		if (sibling->other_lo && lo == sibling->other_lo && hi == sibling->other_hi)
			return n;
	}
	return ICP_NOBODY;
}

baleen_inline bool icp_may_ask(const struct icp_datagram *datagram, u32 n)
{
	u64 address_be[2] = { baleen_be64(datagram->source_hi), baleen_be64(datagram->source_lo) };
	struct baleen_icp_asker asker = { .length = 128 };
	const u32 *siblings;

	__builtin_memcpy(asker.address, address_be, sizeof(asker.address));
	siblings = bpf_map_lookup_elem(&baleen_icp_askers, &asker);
	return siblings && *siblings >> n & 1;
}

/* The clock is coarse, and others are a tick ahead of it: what comes is fresh. */
baleen_inline bool icp_is_recent(u64 at_ns, u64 now_ns, u64 most_ns)
{
	return at_ns && (s64)(now_ns - at_ns) < (s64)most_ns;
}

/* Was the sibling seeded, or was each of its feeders heard, within stale_ns? */
__attribute__((minsize)) __noinline int icp_is_fresh(u32 n)
{
	struct baleen_icp_state *state = icp_state();
	u32 feeders;
	u64 now_ns;

	if (!state || n >= BALEEN_ICP_MAX_SIBLINGS)
		return 0;
	if (!config.stale_ns)
		return 1;
	/* 13 ns, half of what the exact clock takes. */
	now_ns = bpf_ktime_get_coarse_ns();
	if (icp_is_recent(*(volatile u64 *)&state->synced_ns[n], now_ns, config.stale_ns))
		return 1;
	feeders = config.sibling[n].feeders;
	if (!feeders)
		return 0;
	BALEEN_LOOP
	for (u32 i = 0; i < BALEEN_ICP_MAX_FEEDERS; i++) {
		if (feeders >> i & 1 && !icp_is_recent(*(volatile u64 *)&state->heard[i].at_ns,
						       now_ns, config.stale_ns))
			return 0;
	}
	return 1;
}

/* May a hit be answered? An asker that gets one waits for the object as long as its client
 * does, so the sibling has to be alive now. Only a hit that it said itself shows that: a
 * miss may be the answer of another instance, on a device in front of it.
 */
baleen_inline bool icp_is_confirmed(u32 n)
{
	struct baleen_icp_state *state = icp_state();

	if (!config.confirm_ns)
		return true;
	return state && n < BALEEN_ICP_MAX_SIBLINGS &&
	       icp_is_recent(*(volatile u64 *)&state->confirmed_ns[n], bpf_ktime_get_coarse_ns(),
			     config.confirm_ns);
}

#endif /* BALEEN_BPF_ICP_GATE_H */
