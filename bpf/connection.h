/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does a packet belong to a connection?
 *
 * By its ports the sockets of this host know (established.h), or the flows of the kernel's
 * conntrack (conntrack.h), whichever of them rules ask for. Without ports there are
 *
 *      ICMP           echo replies: yes, since a ping has no port to be found by; errors:
 *                     if the packet that they quote belongs to a connection, or is an
 *                     echo request
 *      later          have no ports, so there is nothing to look for: no. ICMPv6
 *      fragments      behind extension headers is not looked into: no.
 *
 * Sources: RFC 792, RFC 4443.
 */
#ifndef BALEEN_BPF_CONNECTION_H
#define BALEEN_BPF_CONNECTION_H

#include "conntrack.h"
#include "established.h"

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
};

/* By its ports: enum baleen_established, of all who know the connection of a packet. */
baleen_inline int known_by(struct context *ctx, const struct details *details, u32 is_quoted)
{
	return (has_socket(ctx, details, is_quoted) ? BALEEN_ESTABLISHED_SOCKET : 0) |
	       (has_flow(ctx, details, is_quoted) ? BALEEN_ESTABLISHED_CONNTRACK : 0);
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
baleen_inline bool icmp_read(struct context *ctx, u32 ip_offset, bool is_ip6, struct icmp *icmp)
{
	u32 at = ip_offset + BALEEN_IP6_BYTES;
	u8 head[BALEEN_IP4_BYTES];

	if (context_load(ctx, ip_offset, head, sizeof(head)))
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
	return !context_load(ctx, at, &icmp->type, sizeof(icmp->type));
}

baleen_inline bool is_error(u32 type, bool is_ip6)
{
	return is_ip6 ? type >= ICMP6_UNREACHABLE && type <= ICMP6_PARAMETER_PROBLEM :
			type == ICMP_UNREACHABLE || type == ICMP_TIME_EXCEEDED ||
				type == ICMP_PARAMETER_PROBLEM;
}

/* Does it quote what belongs to a connection, or a ping? */
baleen_inline int quotes_ours(struct context *ctx, u32 at, bool is_ip6)
{
	struct details quoted = {};
	struct icmp icmp = {};

	/* find_details() looks no further. */
	if (at > 0xff || !find_details(ctx, at, is_ip6, &quoted) || !quoted.transport.has_proto)
		return 0;
	if (quoted.transport.proto == (is_ip6 ? BALEEN_PROTO_ICMP6 : PROTO_ICMP))
		return icmp_read(ctx, at, is_ip6, &icmp) &&
				       icmp.type ==
					       (is_ip6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO_REQUEST) ?
			       config.established :
			       0;
	return known_by(ctx, &quoted, true);
}

/* The same of an ICMP packet, which has no ports. */
__noinline int icmp_known_by(struct context *ctx, u32 ip_offset, u32 is_ip6)
{
	struct icmp icmp = {};

	if (!config.established || ip_offset > 0xff || !icmp_read(ctx, ip_offset, is_ip6, &icmp))
		return 0;
	if (icmp.type == (is_ip6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY))
		return config.established;
	return is_error(icmp.type, is_ip6) ? quotes_ours(ctx, icmp.quoted_at, is_ip6) : 0;
}

/* Once a frame, however many rules ask for it. */
baleen_inline void look_for_connection(const struct frame *frame, bool is_ip6)
{
	struct details *details = frame->details;
	u32 icmp = is_ip6 ? BALEEN_PROTO_ICMP6 : PROTO_ICMP;

	details->established =
		details->transport.has_proto && details->transport.proto == icmp ?
			icmp_known_by(frame->ctx, frame->packet.ip - frame->start, is_ip6) :
			known_by(frame->ctx, details, false);
}

#endif /* BALEEN_BPF_CONNECTION_H */
