// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An XDP program that drops packets of listed sources, and counts them. */
#include <baleen/packet.h>
#include <baleen/program.h>

BALEEN_FILTER(blocked);

__u64 n_passed, n_dropped;

/* Is the source of this packet listed? */
static bool is_blocked(const __u8 *frame, const __u8 *end)
{
	struct baleen_packet packet;
	struct baleen_key key;

	switch (baleen_packet_parse(frame, end, &packet)) {
	case BALEEN_PARSE_IP4:
		key = baleen_key_ip4(packet.ip + 12);
		return BALEEN_FILTER_TEST(blocked, &key);
	case BALEEN_PARSE_IP6:
		key = baleen_key_ip6(packet.ip + 8);
		return BALEEN_FILTER_TEST(blocked, &key);
	default:
		return false;
	}
}

SEC("xdp")
int block(struct xdp_md *ctx)
{
	const __u8 *frame = (const __u8 *)(long)ctx->data;
	const __u8 *end = (const __u8 *)(long)ctx->data_end;

	if (is_blocked(frame, end)) {
		__sync_fetch_and_add(&n_dropped, 1);
		return XDP_DROP;
	}
	__sync_fetch_and_add(&n_passed, 1);
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
