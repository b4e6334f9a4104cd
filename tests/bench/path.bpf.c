// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The sender of bench-path: writes a fresh random source into a live frame
 * and sends it through a veth pair.
 */
#include "path.h"

/* Where the frame goes; 0: nowhere, which is what the sender alone costs. */
u32 out_ifindex;
/* Set to the same number, not zero, for every device of a round. */
u64 random_state;
/* Share of the packets whose source is listed, times 2^32. */
u64 listed_share;
u64 n_listed;
/* The sum of the 16-bit words of the IP header without source and checksum. */
u32 header_sum;

u64 sent;
u64 sent_listed;

/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003). The low half decides
 * whether the source is listed, the high half which one it is, without a
 * branch, as in drive.bpf.c.
 */
baleen_inline u32 next_index(u64 *listed)
{
	u64 x = random_state, mask, first, range;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	random_state = x;
	mask = (u64)((long long)((u32)x - listed_share) >> 63);
	asm volatile("" : "+r"(mask));
	*listed = mask & 1;
	first = n_listed & ~mask;
	range = (n_listed & mask) + ((PATH_N_SOURCES - n_listed) & ~mask);
	return first + ((x >> 32) * range >> 32);
}

/* Source: RFC 1071, section 2: the sum does not depend on the byte order. */
baleen_inline u16 checksum(u32 saddr_be)
{
	u32 sum = header_sum + (saddr_be & 0xffff) + (saddr_be >> 16);

	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

SEC("xdp")
int path_send(struct xdp_md *ctx)
{
	u8 *frame = (u8 *)(long)ctx->data;
	u64 listed;
	u32 saddr_be;

	if (frame + 38 > (u8 *)(long)ctx->data_end)
		return XDP_ABORTED;
	saddr_be = baleen_be32(path_source(next_index(&listed)));
	*(u16 *)(frame + 24) = checksum(saddr_be);
	*(u32 *)(frame + 26) = saddr_be;
	*(u16 *)(frame + 36) = baleen_be16(PATH_PORT + listed);
	sent++;
	sent_listed += listed;
	return out_ifindex ? bpf_redirect(out_ifindex, 0) : XDP_DROP;
}

/* The floor of every filter: all that arrives is dropped unseen. */
SEC("xdp")
int path_drop(void *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
