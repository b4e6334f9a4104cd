// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a fresh random source into the packet, then tail-calls whatever
 * program is under test; the no-op program is the zero of the scale.
 */
#include "keys.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} bench_target SEC(".maps");

/* Set to the same number, not zero, for every program of a round. */
u64 random_state;
/* Share of the packets whose source is listed, times 2^32. */
u64 listed_share;
u64 n_listed;

/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003). The low half decides
 * whether the source is listed, the high half which one it is. No branch
 * (clang would make one of the mask if it were not hidden): the driver's
 * mispredictions would hide those of the program under test.
 */
baleen_inline u32 next_index(void)
{
	u64 x = random_state, listed, first, range;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	random_state = x;
	listed = (u64)((long long)((u32)x - listed_share) >> 63);
	asm volatile("" : "+r"(listed));
	first = n_listed & ~listed;
	range = (n_listed & listed) + ((0x100000000ull - n_listed) & ~listed);
	return first + ((x >> 32) * range >> 32);
}

SEC("xdp")
int drive_ip4(struct xdp_md *ctx)
{
	u8 *frame = (u8 *)(long)ctx->data;

	if (frame + 34 > (u8 *)(long)ctx->data_end)
		return XDP_ABORTED;
	*(u32 *)(frame + 26) = baleen_be32(bench_ip4(next_index()));
	bpf_tail_call(ctx, &bench_target, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int drive_ip6(struct xdp_md *ctx)
{
	u8 *frame = (u8 *)(long)ctx->data;
	u32 index;

	if (frame + 54 > (u8 *)(long)ctx->data_end)
		return XDP_ABORTED;
	index = next_index();
	*(u64 *)(frame + 22) = baleen_be64(bench_ip6_hi(index));
	*(u64 *)(frame + 30) = baleen_be64(bench_ip6_lo(index));
	bpf_tail_call(ctx, &bench_target, 0);
	return XDP_ABORTED;
}

SEC("xdp")
int noop(void *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
