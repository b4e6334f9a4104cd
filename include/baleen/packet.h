/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a frame to its IP header: what an address key is taken from.
 *
 * An address key is taken from any frame whose fixed IP header is present.
 * Header lengths, options, extension headers, fragment offsets and checksums
 * are not looked at, so none of them can turn a listed source into a pass.
 *
 *      Ethernet | up to four VLAN tags | [PPPoE session] | IPv4 or IPv6
 *
 * Sources: IEEE 802.3 and 802.1Q (tags 0x8100, 0x88a8; 0x9100 is the QinQ
 * tag of before 802.1ad), RFC 894, RFC 2464, RFC 2516 section 4 (PPPoE),
 * RFC 791 section 3.1, RFC 8200 section 3.
 */
#ifndef BALEEN_PACKET_H
#define BALEEN_PACKET_H

#include <baleen/key.h>

#define BALEEN_ETHERTYPE_IP4 0x0800
#define BALEEN_ETHERTYPE_IP6 0x86dd
#define BALEEN_ETHERTYPE_8021Q 0x8100
#define BALEEN_ETHERTYPE_8021AD 0x88a8
#define BALEEN_ETHERTYPE_QINQ 0x9100
#define BALEEN_ETHERTYPE_PPPOE 0x8864
#define BALEEN_ETHERTYPE_MPLS 0x8847
#define BALEEN_ETHERTYPE_MPLS_MULTICAST 0x8848
#define BALEEN_PPP_IP4 0x0021
#define BALEEN_PPP_IP6 0x0057

#define BALEEN_MAX_TAGS 4
#define BALEEN_ETHER_BYTES 14
#define BALEEN_TAG_BYTES 4
#define BALEEN_PPPOE_BYTES 8 /* six of the PPPoE header, two of PPP */
#define BALEEN_IP4_BYTES 20
#define BALEEN_IP6_BYTES 40

/**
 * enum baleen_parse - what a frame turned out to be
 * @BALEEN_PARSE_IP4: fixed IPv4 header found
 * @BALEEN_PARSE_IP6: fixed IPv6 header found
 * @BALEEN_PARSE_NOT_IP: another protocol: ARP, LLDP, PPPoE control, 802.3 ...
 * @BALEEN_PARSE_MPLS: labelled; what is inside is not looked at
 * @BALEEN_PARSE_TAGS: more than BALEEN_MAX_TAGS VLAN tags
 * @BALEEN_PARSE_VERSION: the IP version contradicts the EtherType
 * @BALEEN_PARSE_SHORT: ends before its headers do
 */
enum baleen_parse {
	BALEEN_PARSE_IP4,
	BALEEN_PARSE_IP6,
	BALEEN_PARSE_NOT_IP,
	BALEEN_PARSE_MPLS,
	BALEEN_PARSE_TAGS,
	BALEEN_PARSE_VERSION,
	BALEEN_PARSE_SHORT,
};

/* EtherTypes are compared as they stand in the frame: no swap on the way. */
baleen_inline bool baleen_is_type(u32 type_be, u16 type)
{
	return type_be == baleen_be16(type);
}

baleen_inline bool baleen_is_tag(u32 type_be)
{
	return baleen_is_type(type_be, BALEEN_ETHERTYPE_8021Q) ||
	       baleen_is_type(type_be, BALEEN_ETHERTYPE_8021AD) ||
	       baleen_is_type(type_be, BALEEN_ETHERTYPE_QINQ);
}

baleen_inline enum baleen_parse baleen_parse_ip4(const u8 *ip, const u8 *end, const u8 **out)
{
	if (ip + BALEEN_IP4_BYTES > end)
		return BALEEN_PARSE_SHORT;
	if (ip[0] >> 4 != 4)
		return BALEEN_PARSE_VERSION;
	*out = ip;
	return BALEEN_PARSE_IP4;
}

baleen_inline enum baleen_parse baleen_parse_ip6(const u8 *ip, const u8 *end, const u8 **out)
{
	if (ip + BALEEN_IP6_BYTES > end)
		return BALEEN_PARSE_SHORT;
	if (ip[0] >> 4 != 6)
		return BALEEN_PARSE_VERSION;
	*out = ip;
	return BALEEN_PARSE_IP6;
}

/* Everything that may stand between the addresses and an IP header: @p is
 * behind the EtherType @type_be.
 */
baleen_inline enum baleen_parse baleen_parse_any(const u8 *p, const u8 *end, u32 type_be,
						 const u8 **out)
{
	for (int i = 0; i < BALEEN_MAX_TAGS; i++) {
		if (!baleen_is_tag(type_be))
			break;
		if (p + BALEEN_TAG_BYTES > end)
			return BALEEN_PARSE_SHORT;
		type_be = BALEEN_LOAD(u16, p + 2);
		p += BALEEN_TAG_BYTES;
	}
	if (baleen_is_tag(type_be))
		return BALEEN_PARSE_TAGS;
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_PPPOE)) {
		if (p + BALEEN_PPPOE_BYTES > end)
			return BALEEN_PARSE_SHORT;
		type_be = BALEEN_LOAD(u16, p + 6);
		p += BALEEN_PPPOE_BYTES;
		if (baleen_is_type(type_be, BALEEN_PPP_IP4))
			return baleen_parse_ip4(p, end, out);
		if (baleen_is_type(type_be, BALEEN_PPP_IP6))
			return baleen_parse_ip6(p, end, out);
		return BALEEN_PARSE_NOT_IP;
	}
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_IP4))
		return baleen_parse_ip4(p, end, out);
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_IP6))
		return baleen_parse_ip6(p, end, out);
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_MPLS) ||
	    baleen_is_type(type_be, BALEEN_ETHERTYPE_MPLS_MULTICAST))
		return BALEEN_PARSE_MPLS;
	return BALEEN_PARSE_NOT_IP;
}

/**
 * baleen_packet_parse() - find the IP header of an Ethernet frame
 * @frame: first byte of the destination MAC address
 * @end: one past the last byte that may be read
 * @out: the fixed IP header, all of it before @end; set only when the result
 *       is BALEEN_PARSE_IP4 or BALEEN_PARSE_IP6
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_parse.
 */
baleen_inline enum baleen_parse baleen_packet_parse(const u8 *frame, const u8 *end, const u8 **out)
{
	const u8 *p = frame + BALEEN_ETHER_BYTES;

	/* Untagged IPv4, most frames of most networks, by one bounds check. */
	if (p + BALEEN_IP4_BYTES <= end &&
	    baleen_is_type(BALEEN_LOAD(u16, frame + 12), BALEEN_ETHERTYPE_IP4))
		return baleen_parse_ip4(p, end, out);
	if (p > end)
		return BALEEN_PARSE_SHORT;
	return baleen_parse_any(p, end, BALEEN_LOAD(u16, frame + 12), out);
}

/**
 * baleen_packet_key_offset() - where the key stands in the fixed IP header
 * @key_spec: enum baleen_key_spec
 * @domain: BALEEN_IP4 or BALEEN_IP6
 *
 * Context: any.
 * Return: bytes from the start of the header.
 */
baleen_inline u32 baleen_packet_key_offset(u32 key_spec, u32 domain)
{
	if (domain == BALEEN_IP4)
		return key_spec == BALEEN_KEY_DST ? 16 : 12;
	return key_spec == BALEEN_KEY_DST ? 24 : 8;
}

/**
 * baleen_packet_key() - the key of a packet
 * @ip: a fixed IP header of the family of @domain
 * @offset: from baleen_packet_key_offset(); a packet path has it as a
 *          constant of its load
 * @domain: BALEEN_IP4 or BALEEN_IP6
 *
 * Context: any, BPF-safe.
 * Return: the key.
 */
baleen_inline struct baleen_key baleen_packet_key(const u8 *ip, u32 offset, u32 domain)
{
	return domain == BALEEN_IP4 ? baleen_key_ip4(ip + offset) : baleen_key_ip6(ip + offset);
}

#endif /* BALEEN_PACKET_H */
