/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The addresses of the benchmark. Those of hosts are a bijection from an index,
 * so that indices below the size of a set are its members, all others are not,
 * and nobody has to keep a list of either.
 */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <baleen/hash.h>

/* Sources that were made in userspace, which the driver goes through. */
#define BENCH_POOL (1u << 18)

/* An IPv6 address as two numbers; an IPv4 address is in @lo. */
struct bench_source {
	u64 hi;
	u64 lo;
};

/* Source: fmix32 of MurmurHash3 (Appleby, public domain). */
baleen_inline u32 bench_ip4(u32 index)
{
	index ^= index >> 16;
	index *= 0x85ebca6b;
	index ^= index >> 13;
	index *= 0xc2b2ae35;
	return index ^ index >> 16;
}

baleen_inline u64 bench_ip6_hi(u32 index)
{
	return 0x20010db800000000ull | bench_ip4(index);
}

baleen_inline u64 bench_ip6_lo(u32 index)
{
	return baleen_mix64(index);
}

#endif /* BENCH_KEYS_H */
