/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame made of what a question names: addresses, protocol, ports.
 *
 *      Ethernet | [VLAN tag] | IPv4 or IPv6 | [extensions] | TCP, UDP, ICMP or zeros
 *
 * For the packet path to judge, not to be sent: the MAC addresses and the
 * checksums, which nothing there looks at, are zero.
 */
#ifndef BALEEN_FRAME_H
#define BALEEN_FRAME_H

#include <baleen/packet.h>

/* More extension headers than the packet path reads. */
#define BALEEN_FRAME_EXTENSIONS (BALEEN_MAX_EXTENSIONS + 1)

/* Ethernet, a tag, IPv6, extension headers and TCP are 150. */
#define BALEEN_FRAME_BYTES 160

/**
 * enum baleen_frame_shape - how much of its protocol a packet shows
 * @BALEEN_FRAME_WHOLE: all of it
 * @BALEEN_FRAME_CUT: it ends before its ports
 * @BALEEN_FRAME_DEEP: not even which it is: it stands behind BALEEN_FRAME_EXTENSIONS
 *                     extension headers of IPv6
 * @BALEEN_FRAME_FRAGMENT: which it is, in a fragment but the first
 */
enum baleen_frame_shape {
	BALEEN_FRAME_WHOLE,
	BALEEN_FRAME_CUT,
	BALEEN_FRAME_DEEP,
	BALEEN_FRAME_FRAGMENT,
};

/**
 * struct baleen_frame - a frame
 * @n_bytes: its length, 60 or more
 * @bytes: from its destination MAC address on
 */
struct baleen_frame {
	u32 n_bytes;
	u8 bytes[BALEEN_FRAME_BYTES];
};

/**
 * baleen_frame_make() - make a frame
 * @fields: addresses, protocol and ports; ports are written where the protocol
 *          has them, IANA's numbers say what stands above IP
 * @vlan: number of its VLAN, 1 to 4094; BALEEN_VLAN_NONE for no tag
 * @tcp_flags: of a TCP segment: BALEEN_TCP_SYN opens a connection,
 *             BALEEN_TCP_ACK is of an established one
 * @shape: enum baleen_frame_shape; BALEEN_FRAME_CUT is of protocols with ports, and
 *         BALEEN_FRAME_DEEP of IPv6
 * @frame: filled in. ICMP and ICMPv6 are echo requests, with the hop limit 64
 */
void baleen_frame_make(const struct baleen_fields *fields, u32 vlan, u8 tcp_flags,
		       enum baleen_frame_shape shape, struct baleen_frame *frame);

#endif /* BALEEN_FRAME_H */
