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

/* Where the IP header stands in the frame. */
u32 ip_offset;

/* The IP header, or NULL. */
baleen_inline u8 *ip_header(struct xdp_md *ctx, u32 n_bytes)
{
	u8 *ip = (u8 *)(long)ctx->data + (ip_offset & 31);

	return ip + n_bytes > (u8 *)(long)ctx->data_end ? NULL : ip;
}

baleen_inline int drive_ip4(struct xdp_md *ctx, u32 source)
{
	u8 *ip = ip_header(ctx, 20);

	if (ip) {
		*(u32 *)(ip + 12) = baleen_be32(source);
		bpf_tail_call(ctx, &bench_target, 0);
	}
	return XDP_ABORTED;
}

baleen_inline int drive_ip6(struct xdp_md *ctx, u64 hi, u64 lo)
{
	u8 *ip = ip_header(ctx, 40);

	if (ip) {
		*(u64 *)(ip + 8) = baleen_be64(hi);
		*(u64 *)(ip + 16) = baleen_be64(lo);
		bpf_tail_call(ctx, &bench_target, 0);
	}
	return XDP_ABORTED;
}

SEC("xdp")
int drive_index_ip4(struct xdp_md *ctx)
{
	return drive_ip4(ctx, bench_ip4(next_index()));
}

SEC("xdp")
int drive_index_ip6(struct xdp_md *ctx)
{
	u32 index = next_index();

	return drive_ip6(ctx, bench_ip6_hi(index), bench_ip6_lo(index));
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BENCH_POOL);
	__type(key, u32);
	__type(value, u64);
} pool_ip4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BENCH_POOL);
	__type(key, u32);
	__type(value, struct bench_source);
} pool_ip6 SEC(".maps");

u32 pool_next;

/* In their order: the hardware fetches them ahead. */
baleen_inline u32 next_in_pool(void)
{
	u32 i = pool_next;

	pool_next = (i + 1) & (BENCH_POOL - 1);
	return i;
}

SEC("xdp")
int drive_pool_ip4(struct xdp_md *ctx)
{
	u32 i = next_in_pool();
	const u64 *source = bpf_map_lookup_elem(&pool_ip4, &i);

	return source ? drive_ip4(ctx, *source) : XDP_ABORTED;
}

SEC("xdp")
int drive_pool_ip6(struct xdp_md *ctx)
{
	u32 i = next_in_pool();
	const struct bench_source *source = bpf_map_lookup_elem(&pool_ip6, &i);

	return source ? drive_ip6(ctx, source->hi, source->lo) : XDP_ABORTED;
}

SEC("xdp")
int noop(void *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
