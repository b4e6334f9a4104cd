/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a packet that comes in belong to a connection of this host?
 *
 * The sockets of the kernel are the table:
 *
 *      TCP            its four numbers lead to a socket that does not listen; to one
 *                     that waits for a SYN (simultaneous open), if it is a SYN
 *      UDP            they lead to a socket that is connected to its sender, or whose
 *                     port the kernel chose: only who sends first has such a port
 *      DHCP           a server's port to a client's: clients read by packet sockets,
 *                     which no port leads to
 *
 * Sources: bpf_skc_lookup_tcp() and bpf_sk_lookup_udp() in bpf-helpers(7), RFC 9293
 * section 3.5 (simultaneous open), RFC 2131 section 4.1 and RFC 8415 section 7.2 (ports),
 * SOCK_BINDPORT_LOCK in Linux, include/net/sock.h.
 */
#ifndef BALEEN_BPF_ESTABLISHED_H
#define BALEEN_BPF_ESTABLISHED_H

#include "tuple.h"

#ifdef BALEEN_PROGRAM_EGRESS

/* Nobody replies to what goes out: user/lib/xdp/load.c refuses to ask. */
baleen_inline int has_socket(struct __sk_buff *ctx, const struct details *details, u32 is_quoted)
{
	return 0;
}

#else

enum {
	DHCP_SERVER = 67,
	DHCP_CLIENT = 68,
	DHCP6_CLIENT = 546,
	DHCP6_SERVER = 547,
};

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

	if (!(config.established & BALEEN_ESTABLISHED_SOCKET) || !details)
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

#endif

#endif /* BALEEN_BPF_ESTABLISHED_H */
