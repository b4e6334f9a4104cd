/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a packet belong to a connection of this host?
 *
 * The sockets of the kernel are the table. For a packet that comes in:
 *
 *      TCP            its four numbers lead to a socket that does not listen; to one
 *                     that waits for a SYN (simultaneous open), if it is a SYN
 *      UDP            they lead to a socket that is connected to its sender, or whose
 *                     port the kernel chose: only who sends first has such a port
 *      DHCP           a server's port to a client's: clients read by packet sockets,
 *                     which no port leads to
 *      ICMP           echo replies: who pings has no port either; errors, if the
 *                     packet that they quote is one of those, on its way out
 *      later          have no ports, so there is nothing to look for: no. ICMPv6
 *      fragments      behind extension headers is not looked into: no.
 *
 * Sources: bpf_skc_lookup_tcp() and bpf_sk_lookup_udp() in bpf-helpers(7), RFC 9293
 * section 3.5 (simultaneous open), RFC 792, RFC 4443, RFC 2131 section 4.1 and RFC 8415
 * section 7.2 (ports), SOCK_BINDPORT_LOCK in Linux, include/net/sock.h.
 */
#ifndef BALEEN_BPF_ESTABLISHED_H
#define BALEEN_BPF_ESTABLISHED_H

#include "rule.h"

enum {
	PROTO_ICMP = 1,
	ICMP_ECHO_REPLY = 0,
	ICMP_UNREACHABLE = 3,
	ICMP_ECHO_REQUEST = 8,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER_PROBLEM = 12,
	ICMP6_UNREACHABLE = 1,
	ICMP6_PARAMETER_PROBLEM = 4, /* packet too big and time exceeded are between */
	ICMP6_ECHO_REQUEST = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP_BYTES = 8,
	DHCP_SERVER = 67,
	DHCP_CLIENT = 68,
	DHCP6_CLIENT = 546,
	DHCP6_SERVER = 547,
};

/* The tuple of a packet that comes in; both ends swapped for one that an error quotes. */
baleen_inline u32 make_tuple(const struct baleen_fields *fields, bool is_quoted,
			     struct bpf_sock_tuple *tuple)
{
	u64 source[2] = { fields->src_hi, fields->src_lo },
	    dest[2] = { fields->dst_hi, fields->dst_lo };
	const u64 *from = is_quoted ? dest : source, *to = is_quoted ? source : dest;
	u16 sport = is_quoted ? fields->dport : fields->sport;
	u16 dport = is_quoted ? fields->sport : fields->dport;

	if (!fields->is_ip6) {
		tuple->ipv4.saddr = baleen_be32((u32)from[1]);
		tuple->ipv4.daddr = baleen_be32((u32)to[1]);
		tuple->ipv4.sport = baleen_be16(sport);
		tuple->ipv4.dport = baleen_be16(dport);
		return sizeof(tuple->ipv4);
	}
	for (u32 i = 0; i < 2; i++) {
		tuple->ipv6.saddr[2 * i] = baleen_be32((u32)(from[i] >> 32));
		tuple->ipv6.saddr[2 * i + 1] = baleen_be32((u32)from[i]);
		tuple->ipv6.daddr[2 * i] = baleen_be32((u32)(to[i] >> 32));
		tuple->ipv6.daddr[2 * i + 1] = baleen_be32((u32)to[i]);
	}
	tuple->ipv6.sport = baleen_be16(sport);
	tuple->ipv6.dport = baleen_be16(dport);
	return sizeof(tuple->ipv6);
}

/* The state of the socket that the four numbers lead to; 0 for none. */
baleen_inline u32 tcp_state(struct xdp_md *ctx, struct bpf_sock_tuple *tuple, u32 n_bytes)
{
	struct bpf_sock *sk = bpf_skc_lookup_tcp(ctx, tuple, n_bytes, BPF_F_CURRENT_NETNS, 0);
	u32 state;

	if (!sk)
		return 0;
	state = sk->state;
	bpf_sk_release(sk);
	return state;
}

baleen_inline bool tcp_is_established(struct xdp_md *ctx, struct bpf_sock_tuple *tuple, u32 n_bytes,
				      u32 flags)
{
	u32 state = tcp_state(ctx, tuple, n_bytes);
	bool opens = (flags & (BALEEN_TCP_SYN | BALEEN_TCP_ACK)) == BALEEN_TCP_SYN;

	if (!state)
		return false;
	return opens ? state == BPF_TCP_SYN_SENT : state != BPF_TCP_LISTEN;
}

/* A struct sock is larger than what programs may see of it: its address, laundered on
 * the stack into a number, is read as any memory of the kernel.
 */
baleen_inline bool kernel_chose_port(const struct bpf_sock *sk)
{
	u32 bit = config.port_lock_bit;
	u64 address = 0;
	u8 byte = 0;

	if (!bit || bpf_probe_read_kernel(&address, sizeof(address), &sk) ||
	    bpf_probe_read_kernel(&byte, sizeof(byte), (const void *)(address + bit / 8)))
		return false;
	return !(byte >> (bit & 7) & 1);
}

baleen_inline bool udp_is_established(struct xdp_md *ctx, struct bpf_sock_tuple *tuple, u32 n_bytes)
{
	struct bpf_sock *sk = bpf_sk_lookup_udp(ctx, tuple, n_bytes, BPF_F_CURRENT_NETNS, 0);
	bool is_established;

	if (!sk)
		return false;
	/* Linux has no name of its own for a UDP socket that is connected. */
	is_established = sk->state == BPF_TCP_ESTABLISHED || kernel_chose_port(sk);
	bpf_sk_release(sk);
	return is_established;
}

baleen_inline bool is_dhcp_reply(const struct baleen_fields *fields)
{
	return fields->is_ip6 ? fields->sport == DHCP6_SERVER && fields->dport == DHCP6_CLIENT :
				fields->sport == DHCP_SERVER && fields->dport == DHCP_CLIENT;
}

/* Is there a socket for this packet? */
__noinline int has_socket(struct xdp_md *ctx, const struct details *details, u32 is_quoted)
{
	const struct baleen_transport *transport;
	struct bpf_sock_tuple tuple = {};
	u32 n_bytes;

	if (!config.established || !details)
		return 0;
	transport = &details->transport;
	if (!transport->has_proto || !transport->has_ports)
		return 0;
	n_bytes = make_tuple(&details->fields, is_quoted, &tuple);
	if (transport->proto == BALEEN_PROTO_TCP)
		return tcp_is_established(ctx, &tuple, n_bytes,
					  is_quoted ? BALEEN_TCP_ACK : transport->tcp_flags);
	if (transport->proto != BALEEN_PROTO_UDP)
		return 0;
	return (!is_quoted && is_dhcp_reply(&details->fields)) ||
	       udp_is_established(ctx, &tuple, n_bytes);
}

/**
 * struct icmp - what stands in an ICMP packet
 * @type: its type
 * @quoted_at: of an error, where in the frame the packet begins that it quotes
 */
struct icmp {
	u8 type;
	u32 quoted_at;
};

/* Not in a later fragment, nor behind extension headers. */
baleen_inline bool icmp_read(struct xdp_md *ctx, u32 ip_offset, bool is_ip6, struct icmp *icmp)
{
	u32 at = ip_offset + BALEEN_IP6_BYTES;
	u8 head[BALEEN_IP4_BYTES];

	if (bpf_xdp_load_bytes(ctx, ip_offset, head, sizeof(head)))
		return false;
	if (is_ip6) {
		if (head[6] != BALEEN_PROTO_ICMP6)
			return false;
	} else {
		if ((head[6] & 0x1f) || head[7])
			return false;
		at = ip_offset + (head[0] & 15) * 4;
	}
	icmp->quoted_at = at + ICMP_BYTES;
	return !bpf_xdp_load_bytes(ctx, at, &icmp->type, sizeof(icmp->type));
}

baleen_inline bool is_error(u32 type, bool is_ip6)
{
	return is_ip6 ? type >= ICMP6_UNREACHABLE && type <= ICMP6_PARAMETER_PROBLEM :
			type == ICMP_UNREACHABLE || type == ICMP_TIME_EXCEEDED ||
				type == ICMP_PARAMETER_PROBLEM;
}

/* Does it quote what a socket of this host, or its ping, has sent? */
baleen_inline int quotes_ours(struct xdp_md *ctx, u32 at, bool is_ip6)
{
	struct details quoted = {};
	struct icmp icmp = {};

	/* find_details() looks no further. */
	if (at > 0xff || !find_details(ctx, at, is_ip6, &quoted) || !quoted.transport.has_proto)
		return 0;
	if (quoted.transport.proto == (is_ip6 ? BALEEN_PROTO_ICMP6 : PROTO_ICMP))
		return icmp_read(ctx, at, is_ip6, &icmp) &&
		       icmp.type == (is_ip6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO_REQUEST);
	return has_socket(ctx, &quoted, true);
}

__noinline int icmp_is_established(struct xdp_md *ctx, u32 ip_offset, u32 is_ip6)
{
	struct icmp icmp = {};

	if (!config.established || ip_offset > 0xff || !icmp_read(ctx, ip_offset, is_ip6, &icmp))
		return 0;
	if (icmp.type == (is_ip6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY))
		return 1;
	return is_error(icmp.type, is_ip6) && quotes_ours(ctx, icmp.quoted_at, is_ip6);
}

/* Once a frame, however many rules ask for it. */
baleen_inline void look_for_connection(const struct frame *frame, bool is_ip6)
{
	struct details *details = frame->details;
	u32 icmp = is_ip6 ? BALEEN_PROTO_ICMP6 : PROTO_ICMP;

	details->is_established =
		details->transport.has_proto && details->transport.proto == icmp ?
			icmp_is_established(frame->ctx, frame->packet.ip - frame->start, is_ip6) :
			has_socket(frame->ctx, details, false);
}

#endif /* BALEEN_BPF_ESTABLISHED_H */
