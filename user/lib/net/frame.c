// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A frame made of what a question names. */
#include <string.h>

#include "net/frame.h"

#define HOP_LIMIT 64
#define ETHER_MIN_BYTES 60 /* IEEE 802.3, without the FCS */
#define TCP_BYTES 20
#define UDP_BYTES 8
#define CUT_BYTES 2
#define EXTENSION_BYTES 8  /* the shortest, and the fragment header of IPv6 */
#define FRAGMENT_OFFSET 64 /* in 8 bytes, as IP has it */
#define OPTION_PADN 1	   /* RFC 8200 section 4.2 */
#define PROTO_ICMP 1
#define ICMP_ECHO 8    /* RFC 792 */
#define ICMP6_ECHO 128 /* RFC 4443 section 4.1 */

static u8 *put16(u8 *p, u32 value)
{
	p[0] = value >> 8;
	p[1] = value;
	return p + 2;
}

static u8 *put32(u8 *p, u32 value)
{
	return put16(put16(p, value >> 16), value);
}

static u8 *put64(u8 *p, u64 value)
{
	return put32(put32(p, value >> 32), value);
}

static u8 *put_ether(u8 *p, u32 vlan, bool is_ip6)
{
	p += BALEEN_ETHER_BYTES - 2;
	if (vlan != BALEEN_VLAN_NONE)
		p = put16(put16(p, BALEEN_ETHERTYPE_8021Q), vlan);
	return put16(p, is_ip6 ? BALEEN_ETHERTYPE_IP6 : BALEEN_ETHERTYPE_IP4);
}

/* Bytes of the protocol; of a whole one at least as many as the parser reads. */
static u32 transport_bytes(u8 proto, enum baleen_frame_shape shape)
{
	if (shape == BALEEN_FRAME_CUT)
		return CUT_BYTES;
	return proto == BALEEN_PROTO_TCP ? TCP_BYTES : UDP_BYTES;
}

static u8 *put_ip4(u8 *p, const struct baleen_fields *fields, enum baleen_frame_shape shape)
{
	u32 n_bytes = BALEEN_IP4_BYTES + transport_bytes(fields->proto, shape);

	p = put32(p, 4u << 28 | BALEEN_IP4_BYTES / 4 << 24 | n_bytes);
	p = put32(p, shape == BALEEN_FRAME_FRAGMENT ? FRAGMENT_OFFSET : 0);
	p = put32(p, HOP_LIMIT << 24 | (u32)fields->proto << 16);
	return put32(put32(p, fields->src_lo), fields->dst_lo);
}

/* With its extension headers: each says what follows it. */
static u8 *put_ip6(u8 *p, const struct baleen_fields *fields, enum baleen_frame_shape shape)
{
	u8 type = shape == BALEEN_FRAME_FRAGMENT ? BALEEN_PROTO_FRAGMENT : BALEEN_PROTO_DSTOPTS;
	u32 n_extensions = shape == BALEEN_FRAME_FRAGMENT ? 1 :
			   shape == BALEEN_FRAME_DEEP	  ? BALEEN_FRAME_EXTENSIONS :
							    0;
	u32 n_bytes = n_extensions * EXTENSION_BYTES + transport_bytes(fields->proto, shape);

	p = put16(put32(p, 6u << 28), n_bytes);
	p = put16(p, (u32)(n_extensions ? type : fields->proto) << 8 | HOP_LIMIT);
	p = put64(put64(p, fields->src_hi), fields->src_lo);
	p = put64(put64(p, fields->dst_hi), fields->dst_lo);
	while (n_extensions--) {
		p[0] = n_extensions ? type : fields->proto;
		if (shape == BALEEN_FRAME_FRAGMENT)
			put16(p + 2, FRAGMENT_OFFSET << 3);
		else
			put16(p + 2, OPTION_PADN << 8 | (EXTENSION_BYTES - 4));
		p += EXTENSION_BYTES;
	}
	return p;
}

static void put_transport(u8 *p, const struct baleen_fields *fields, u8 tcp_flags)
{
	if (baleen_proto_has_ports(fields->proto))
		put16(put16(p, fields->sport), fields->dport);
	if (fields->proto == BALEEN_PROTO_TCP) {
		p[12] = TCP_BYTES / 4 << 4;
		p[BALEEN_TCP_FLAGS_AT] = tcp_flags;
	} else if (fields->proto == BALEEN_PROTO_UDP) {
		put16(p + 4, UDP_BYTES);
	} else if (fields->proto == PROTO_ICMP) {
		p[0] = ICMP_ECHO;
	} else if (fields->proto == BALEEN_PROTO_ICMP6) {
		p[0] = ICMP6_ECHO;
	}
}

void baleen_frame_make(const struct baleen_fields *fields, u32 vlan, u8 tcp_flags,
		       enum baleen_frame_shape shape, struct baleen_frame *frame)
{
	u8 *p = frame->bytes;

	memset(frame, 0, sizeof(*frame));
	p = put_ether(p, vlan, fields->is_ip6);
	p = fields->is_ip6 ? put_ip6(p, fields, shape) : put_ip4(p, fields, shape);
	if (shape == BALEEN_FRAME_WHOLE || shape == BALEEN_FRAME_DEEP)
		put_transport(p, fields, tcp_flags);
	frame->n_bytes = p + transport_bytes(fields->proto, shape) - frame->bytes;
	if (frame->n_bytes < ETHER_MIN_BYTES)
		frame->n_bytes = ETHER_MIN_BYTES;
}
