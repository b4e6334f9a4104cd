/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame made of what a question names: addresses, protocol, ports.
 *
 *      Ethernet | [VLAN tag] | IPv4 or IPv6 | TCP, UDP, ICMP or zeros
 *
 * For the packet path to judge, not to be sent: the MAC addresses and the
 * checksums, which nothing there looks at, are zero.
 */
#ifndef BALEEN_FRAME_H
#define BALEEN_FRAME_H

#include <baleen/packet.h>

/* Ethernet, a tag, IPv6 and TCP are 78. */
#define BALEEN_FRAME_BYTES 96

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
 * @frame: filled in. ICMP and ICMPv6 are echo requests, with the hop limit 64
 */
void baleen_frame_make(const struct baleen_fields *fields, u32 vlan, u8 tcp_flags,
		       struct baleen_frame *frame);

#endif /* BALEEN_FRAME_H */
