/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a packet belong to a flow that the kernel's conntrack knows?
 *
 * A flow is a connection that this host has let pass, of its own or of others that it
 * forwards. It has two directions: the original one, of its first packet, and that of the
 * replies. A packet of TCP or UDP belongs to it
 *
 *      that replies           always: somebody asked for it
 *      of the original        once there has been a reply; the first packet, and who repeats
 *      direction              it, ask to begin a flow
 *      TCP, a SYN             no, unless it comes in as the first reply (simultaneous open):
 *                             conntrack takes one that comes late for a new flow
 *
 * A filter sees a packet as it is on the wire: what comes in before, what goes out after
 * the translation of addresses. Flows are looked for by the numbers of the packets that
 * come in, which conntrack has of both directions as they are there.
 *
 * Sources: nf_conntrack_in() and nf_conntrack_tcp_packet() in Linux, net/netfilter/;
 * RFC 9293 section 3.5.
 */
#ifndef BALEEN_BPF_CONNTRACK_H
#define BALEEN_BPF_CONNTRACK_H

#include "tuple.h"

#ifdef BALEEN_PROGRAM_CONNTRACK

#include <linux/netfilter/nf_conntrack_common.h>

/* As long as kernel 6.1 has it; later ones, which have more, take it, too. */
struct flow_options {
	__s32 netns;
	__s32 error;
	u8 proto;
	u8 direction;
	u8 reserved[2];
};

/* The kernel's own, as far as it is read. */
struct nf_conn {
	unsigned long status;
} __attribute__((preserve_access_index));

#ifdef BALEEN_PROGRAM_EGRESS
extern struct nf_conn *bpf_skb_ct_lookup(struct __sk_buff *ctx, struct bpf_sock_tuple *tuple,
					 u32 tuple__sz, struct flow_options *options,
					 u32 options__sz) __ksym;
#define flow_lookup bpf_skb_ct_lookup
#define GOES_OUT 1
#else
extern struct nf_conn *bpf_xdp_ct_lookup(struct xdp_md *ctx, struct bpf_sock_tuple *tuple,
					 u32 tuple__sz, struct flow_options *options,
					 u32 options__sz) __ksym;
#define flow_lookup bpf_xdp_ct_lookup
#define GOES_OUT 0
#endif

extern void bpf_ct_release(struct nf_conn *flow) __ksym;

/* Linux, enum ip_conntrack_dir. */
#define DIRECTION_REPLY 1

/* @is_quoted: an error quotes it, so it went the other way: 0 or 1 */
__noinline int has_flow(struct context *ctx, const struct details *details, u32 is_quoted)
{
	struct flow_options options = { .netns = BPF_F_CURRENT_NETNS };
	const struct baleen_transport *transport;
	struct bpf_sock_tuple tuple = {};
	bool opens, replies, is_answered;
	struct nf_conn *flow;
	u32 n_bytes;

	if (!(config.established & BALEEN_ESTABLISHED_CONNTRACK) || !details)
		return 0;
	transport = &details->transport;
	if (!transport->has_proto || !transport->has_ports ||
	    (transport->proto != BALEEN_PROTO_TCP && transport->proto != BALEEN_PROTO_UDP))
		return 0;
	options.proto = transport->proto;
	n_bytes = make_tuple(&details->fields, is_quoted != GOES_OUT, &tuple);
	flow = flow_lookup(ctx, &tuple, n_bytes, &options, sizeof(options));
	if (!flow)
		return 0;
	is_answered = flow->status & IPS_SEEN_REPLY;
	bpf_ct_release(flow);
	replies = (options.direction == DIRECTION_REPLY) != GOES_OUT;
	opens = transport->proto == BALEEN_PROTO_TCP && !is_quoted &&
		(transport->tcp_flags & (BALEEN_TCP_SYN | BALEEN_TCP_ACK)) == BALEEN_TCP_SYN;
	if (opens)
		return replies && !is_answered && !GOES_OUT;
	return replies || is_answered;
}

#else

baleen_inline int has_flow(struct context *ctx, const struct details *details, u32 is_quoted)
{
	return 0;
}

#endif

#endif /* BALEEN_BPF_CONNTRACK_H */
