/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where on its way a frame meets the program: an XDP program at the ingress of a device, or
 * a tc program at its egress.
 *
 * An object is of one of the two: the Makefile builds baleen.bpf.c for both.
 */
#ifndef BALEEN_BPF_CONTEXT_H
#define BALEEN_BPF_CONTEXT_H

#include <baleen/packet.h>

/* Where the outermost tag stands in a frame, and where the rest begins then. */
#define CONTEXT_TAG_AT (BALEEN_ETHER_BYTES - 2)
#define CONTEXT_TAGGED_BYTES (CONTEXT_TAG_AT + BALEEN_TAG_BYTES)

#ifdef BALEEN_PROGRAM_EGRESS

#include <linux/pkt_cls.h>

#define context __sk_buff

/* Others at the egress are asked, too. */
#define VERDICT_PASS TC_ACT_UNSPEC
#define VERDICT_DROP TC_ACT_SHOT

/* Ethernet with tags and PPPoE, IPv6 with extension headers, and TCP. */
#define CONTEXT_HEAD_BYTES 256

baleen_inline u32 context_bytes(struct __sk_buff *ctx)
{
	return ctx->len;
}

baleen_inline long context_load(struct __sk_buff *ctx, u32 offset, void *to, u32 n_bytes)
{
	return bpf_skb_load_bytes(ctx, offset, to, n_bytes);
}

/* A tag that the device is to insert does not stand in the frame yet. 0: there is none, or
 * it is a priority tag.
 */
baleen_inline u32 context_vlan(const struct __sk_buff *ctx)
{
	return ctx->vlan_present ? ctx->vlan_tci & 0xfff : 0;
}

/* How much of a frame has to lie in its first buffer, as far as that is known now. */
baleen_inline u32 context_wants(const u8 *frame, const u8 *end, enum baleen_parse parse,
				const struct baleen_packet *packet)
{
	const u8 *ip = packet->ip;
	u32 above = BALEEN_TCP_FLAGS_AT + 1;

	if (parse == BALEEN_PARSE_IP4 && ip + BALEEN_IP4_BYTES <= end)
		return ip - frame + (ip[0] & 15) * 4 +
		       (ip[9] == BALEEN_PROTO_TCP ? above : BALEEN_PORTS_BYTES);
	if (parse == BALEEN_PARSE_IP6 && ip + BALEEN_IP6_BYTES <= end &&
	    !baleen_is_extension(ip[6]))
		return ip - frame + BALEEN_IP6_BYTES +
		       (ip[6] == BALEEN_PROTO_TCP ? above : BALEEN_PORTS_BYTES);
	return CONTEXT_HEAD_BYTES;
}

/* A frame of this host has its headers in the first buffer, and often nothing else. To
 * move more there copies a frame that TCP keeps, too: only where it has to be. Returns true
 * when pointers to the frame are no longer good.
 */
baleen_inline bool context_gather(struct __sk_buff *ctx, const u8 *frame, const u8 *end,
				  enum baleen_parse parse, const struct baleen_packet *packet)
{
	u32 n_wanted = context_wants(frame, end, parse, packet);

	if (n_wanted > CONTEXT_HEAD_BYTES)
		n_wanted = CONTEXT_HEAD_BYTES;
	if (n_wanted > ctx->len)
		n_wanted = ctx->len;
	if (frame + n_wanted <= end)
		return false;
	bpf_skb_pull_data(ctx, n_wanted);
	return true;
}

/* An event shows a frame as it is on the wire: the addresses and the tag that does not stand
 * in it. The rest begins at CONTEXT_TAG_AT. Returns false when there is none.
 */
baleen_inline bool context_capture_tag(struct __sk_buff *ctx, u8 *to)
{
	if (!ctx->vlan_present || bpf_skb_load_bytes(ctx, 0, to, CONTEXT_TAG_AT))
		return false;
	*(u16 *)(to + CONTEXT_TAG_AT) = ctx->vlan_proto;
	*(u16 *)(to + CONTEXT_TAG_AT + 2) = baleen_be16((u16)ctx->vlan_tci);
	return true;
}

#else

#define context xdp_md

#define VERDICT_PASS XDP_PASS
#define VERDICT_DROP XDP_DROP

baleen_inline u32 context_bytes(struct xdp_md *ctx)
{
	return bpf_xdp_get_buff_len(ctx);
}

baleen_inline long context_load(struct xdp_md *ctx, u32 offset, void *to, u32 n_bytes)
{
	return bpf_xdp_load_bytes(ctx, offset, to, n_bytes);
}

baleen_inline u32 context_vlan(const struct xdp_md *ctx)
{
	return 0;
}

baleen_inline bool context_gather(struct xdp_md *ctx, const u8 *frame, const u8 *end,
				  enum baleen_parse parse, const struct baleen_packet *packet)
{
	return false;
}

baleen_inline bool context_capture_tag(struct xdp_md *ctx, u8 *to)
{
	return false;
}

#endif

#endif /* BALEEN_BPF_CONTEXT_H */
