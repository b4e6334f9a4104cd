/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A slow and obvious packet parser, to compare packet.h with.
 *
 * It peels one layer at a time off the front of the frame: what the layer's
 * type is, how long it is, what type follows. Bytes are read one by one, by
 * their offset in the frame.
 */
#ifndef BALEEN_TESTS_SLOW_PACKET_H
#define BALEEN_TESTS_SLOW_PACKET_H

#include <baleen/packet.h>

enum slow_layer { SLOW_ETHER, SLOW_TAG, SLOW_PPPOE, SLOW_IP4, SLOW_IP6, SLOW_MPLS, SLOW_OTHER };

static inline enum slow_layer slow_layer_of_ethertype(u32 ethertype)
{
	switch (ethertype) {
	case 0x8100: /* 802.1Q */
	case 0x88a8: /* 802.1ad */
	case 0x9100: /* QinQ before 802.1ad */ return SLOW_TAG;
	case 0x8864: return SLOW_PPPOE;
	case 0x0800: return SLOW_IP4;
	case 0x86dd: return SLOW_IP6;
	case 0x8847:
	case 0x8848: return SLOW_MPLS;
	default: return SLOW_OTHER;
	}
}

static inline enum slow_layer slow_layer_of_ppp(u32 protocol)
{
	return protocol == 0x0021 ? SLOW_IP4 : protocol == 0x0057 ? SLOW_IP6 : SLOW_OTHER;
}

static inline u32 slow_layer_bytes(enum slow_layer layer)
{
	static const u32 bytes[] = { 14, 4, 8, 20, 40, 0, 0 };

	return bytes[layer];
}

/* *offset is where the IP header starts, set for IPv4 and IPv6 only. */
static inline enum baleen_parse slow_packet_parse(const u8 *frame, size_t n_bytes, size_t *offset)
{
	enum slow_layer layer = SLOW_ETHER;
	size_t at = 0;
	u32 n_tags = 0;

	for (;;) {
		u32 length = slow_layer_bytes(layer), next_type;

		if (layer == SLOW_TAG && ++n_tags > 4)
			return BALEEN_PARSE_TAGS;
		if (length > n_bytes - at)
			return BALEEN_PARSE_SHORT;
		/* The last two bytes of the first three layers. */
		next_type = frame[at + length - 2] * 256 + frame[at + length - 1];
		switch (layer) {
		case SLOW_ETHER:
		case SLOW_TAG: layer = slow_layer_of_ethertype(next_type); break;
		case SLOW_PPPOE:
			/* One byte of protocol when it is odd. */
			if (next_type / 256 % 2) {
				next_type /= 256;
				at--;
			}
			layer = slow_layer_of_ppp(next_type);
			break;
		case SLOW_IP4:
		case SLOW_IP6:
			if (frame[at] / 16 != (layer == SLOW_IP4 ? 4 : 6))
				return BALEEN_PARSE_VERSION;
			*offset = at;
			return layer == SLOW_IP4 ? BALEEN_PARSE_IP4 : BALEEN_PARSE_IP6;
		case SLOW_MPLS: return BALEEN_PARSE_MPLS;
		default: return BALEEN_PARSE_NOT_IP;
		}
		at += length;
	}
}

static inline u32 slow_16_bits(const u8 *frame, size_t at)
{
	return frame[at] * 256 + frame[at + 1];
}

/* The first VLAN that is not 0 in the first four tags that are there whole. */
static inline u32 slow_packet_vlan(const u8 *frame, size_t n_bytes)
{
	for (size_t at = 12; at + 6 <= n_bytes && at < 12 + 4 * 4; at += 4) {
		if (slow_layer_of_ethertype(slow_16_bits(frame, at)) != SLOW_TAG)
			break;
		if (slow_16_bits(frame, at + 2) % 4096)
			return slow_16_bits(frame, at + 2) % 4096;
	}
	return BALEEN_VLAN_NONE;
}

/* --- above IP ------------------------------------------------------------- */

/* -1 where a thing is not known. */
struct slow_transport {
	int proto;
	int sport;
	int dport;
	int icmp_type;
	int tcp_flags;
	int hidden; /* enum baleen_hidden */
};

static inline bool slow_has_ports(u32 proto)
{
	/* TCP, UDP, DCCP, SCTP, UDP-Lite */
	return proto == 6 || proto == 17 || proto == 33 || proto == 132 || proto == 136;
}

static inline bool slow_is_extension(u32 proto)
{
	/* hop-by-hop, routing, fragment, AH, destination */
	return proto == 0 || proto == 43 || proto == 44 || proto == 51 || proto == 60;
}

/* The protocol's own header is at @at, and the packet ends at @packet_end; in a
 * later fragment, @offset times 8 bytes on, it is not there.
 */
static inline void slow_upper(const u8 *frame, size_t n_bytes, size_t at, size_t packet_end,
			      u32 offset, struct slow_transport *slow)
{
	size_t last = packet_end < n_bytes ? packet_end : n_bytes;
	size_t n_there = offset || at > last ? 0 : last - at;

	if (slow->proto == 58 && n_there >= 1)
		slow->icmp_type = frame[at];
	/* Cut off before its flags it counts as SYN, and so does the fragment
	 * that may bring them.
	 */
	if (slow->proto == 6 && offset < 2) {
		slow->tcp_flags = n_there >= 14 ? frame[at + 13] : BALEEN_TCP_HIDDEN;
		slow->hidden |= n_there >= 14 ? 0 : BALEEN_HIDDEN_FLAGS;
	}
	if (!slow_has_ports(slow->proto)) {
		slow->sport = slow->dport = 0;
	} else if (n_there >= 4) {
		slow->sport = slow_16_bits(frame, at);
		slow->dport = slow_16_bits(frame, at + 2);
	} else if (!offset) {
		slow->hidden |= BALEEN_HIDDEN_PORTS;
	}
}

/* Of the IP header at @at: from slow_packet_parse(). */
static inline struct slow_transport slow_transport_ip4(const u8 *frame, size_t n_bytes, size_t at)
{
	struct slow_transport slow = { frame[at + 9], -1, -1, -1, -1, 0 };
	u32 n_header = frame[at] % 16 * 4, fragment = slow_16_bits(frame, at + 6) % 8192;
	u32 total = slow_16_bits(frame, at + 2);
	size_t packet_end = total ? at + total : n_bytes;

	if (n_header < 20)
		packet_end = 0;
	slow_upper(frame, n_bytes, at + n_header, packet_end, fragment, &slow);
	return slow;
}

static inline struct slow_transport slow_transport_ip6(const u8 *frame, size_t n_bytes, size_t at)
{
	struct slow_transport slow = { -1, -1, -1, -1, -1, BALEEN_HIDDEN_ALL };
	u32 type = frame[at + 6], n_headers = 0, fragment = 0;
	u32 payload = slow_16_bits(frame, at + 4);
	size_t packet_end = payload ? at + 40 + payload : n_bytes;

	for (at += 40; slow_is_extension(type); n_headers++) {
		u32 this = type;

		if (fragment)
			slow.hidden = 0;
		if (fragment || n_headers == 8 || at + 8 > n_bytes || at + 8 > packet_end)
			return slow;
		type = frame[at];
		if (this == 44) {
			fragment = slow_16_bits(frame, at + 2) / 8;
			at += 8;
		} else if (this == 51) {
			at += 4 * (frame[at + 1] + 2);
		} else {
			at += 8 * (frame[at + 1] + 1);
		}
	}
	slow.proto = type;
	slow.hidden = 0;
	slow_upper(frame, n_bytes, at, packet_end, fragment, &slow);
	return slow;
}

static inline struct slow_transport slow_transport_of(const u8 *frame, size_t n_bytes, size_t at)
{
	return frame[at] / 16 == 4 ? slow_transport_ip4(frame, n_bytes, at) :
				     slow_transport_ip6(frame, n_bytes, at);
}

static inline bool slow_transport_agrees(const struct slow_transport *slow,
					 const struct baleen_transport *transport)
{
	return (int)baleen_packet_hidden(transport) == slow->hidden &&
	       transport->has_proto == (slow->proto >= 0) &&
	       transport->has_ports == (slow->sport >= 0) &&
	       (slow->proto < 0 || transport->proto == slow->proto) &&
	       (slow->sport < 0 || transport->sport == slow->sport) &&
	       (slow->dport < 0 || transport->dport == slow->dport) &&
	       transport->icmp_type == (slow->icmp_type < 0 ? 0 : slow->icmp_type) &&
	       transport->tcp_flags == (slow->tcp_flags < 0 ? 0 : slow->tcp_flags);
}

/* --- what a host needs to live -------------------------------------------- */

static inline bool slow_is_vital_icmp6(u32 hop_limit, u32 type)
{
	/* Neighbour discovery: router solicitation to redirect. */
	if (type == 133 || type == 134 || type == 135 || type == 136 || type == 137)
		return hop_limit == 255;
	/* MLD: query, report, done; MLDv2 report. */
	if (type == 130 || type == 131 || type == 132 || type == 143)
		return hop_limit == 1;
	return false;
}

static inline bool slow_is_vital(const u8 *frame, size_t n_bytes)
{
	size_t offset = 0, type_at = 12;
	enum baleen_parse parse = slow_packet_parse(frame, n_bytes, &offset);
	struct slow_transport slow;
	u32 type;

	if (parse == BALEEN_PARSE_IP6) {
		slow = slow_transport_ip6(frame, n_bytes, offset);
		return slow.proto == 58 && slow.icmp_type >= 0 &&
		       slow_is_vital_icmp6(frame[offset + 7], slow.icmp_type);
	}
	if (parse != BALEEN_PARSE_NOT_IP)
		return false;
	type = slow_16_bits(frame, 12);
	/* STP: an 802.3 length, then both service access points 0x42. */
	if (type < 0x600)
		return n_bytes >= 17 && frame[14] == 0x42 && frame[15] == 0x42;
	while (slow_layer_of_ethertype(type) == SLOW_TAG)
		type = slow_16_bits(frame, type_at += 4);
	/* ARP, LLDP, slow protocols, EAPOL */
	return type == 0x0806 || type == 0x88cc || type == 0x8809 || type == 0x888e;
}

#endif /* BALEEN_TESTS_SLOW_PACKET_H */
