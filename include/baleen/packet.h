/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a frame to its IP header and its ports, where keys come from. (Above 500 lines:
 * one walk over the frame, from Ethernet to the ports.)
 *
 * An address key is taken from any frame whose fixed IP header is present.
 * Header lengths, options, extension headers, fragment offsets and checksums
 * are not looked at, so none of them can turn a listed source into a pass.
 *
 *      Ethernet | up to four VLAN tags | [PPPoE session] | IPv4 or IPv6
 *
 * Protocol and ports, for keys and rules that ask for them:
 *
 *      IPv4                      the Protocol field
 *      IPv6                      the Next Header behind up to eight extension
 *                                headers; hidden when one is cut off, or when
 *                                there are more
 *      TCP, UDP, UDP-Lite,       ports from the first four bytes; hidden when the
 *      SCTP, DCCP                packet ends before them: the lengths of IP cut, too
 *      their later fragments     the protocol, but no ports. No protocol in IPv6
 *                                when its headers go on in what it does not hold
 *      other protocols           have the ports 0 and 0, as flow keys of ICMP do
 *
 * A host may find what is hidden here: see enum baleen_hidden. What a later fragment
 * does not have was judged in its first.
 *
 * Sources: IEEE 802.3 and 802.1Q (tags 0x8100, 0x88a8; 0x9100 is the QinQ
 * tag of before 802.1ad), RFC 894, RFC 2464, RFC 2516 section 4 (PPPoE),
 * RFC 791 section 3.1, RFC 8200 sections 3 and 4, RFC 4302 section 2.2 (AH).
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
#define BALEEN_ETHERTYPE_ARP 0x0806
#define BALEEN_ETHERTYPE_LLDP 0x88cc
#define BALEEN_ETHERTYPE_SLOW 0x8809 /* LACP, IEEE 802.3 annex 57A */
#define BALEEN_ETHERTYPE_EAPOL 0x888e
#define BALEEN_ETHERTYPE_MIN 0x0600 /* below: a length, IEEE 802.3 */
#define BALEEN_LSAP_STP 0x4242
#define BALEEN_PPP_IP4 0x0021
#define BALEEN_PPP_IP6 0x0057

#define BALEEN_MAX_TAGS 4
#define BALEEN_ETHER_BYTES 14
#define BALEEN_TAG_BYTES 4
#define BALEEN_PPPOE_BYTES 8 /* six of the PPPoE header, two of PPP */
#define BALEEN_IP4_BYTES 20
#define BALEEN_IP6_BYTES 40
#define BALEEN_PORTS_BYTES 4
#define BALEEN_TCP_BYTES 20
#define BALEEN_TCP_SEQ_AT 4
#define BALEEN_TCP_ACK_AT 8
#define BALEEN_TCP_LENGTH_AT 12
#define BALEEN_TCP_FLAGS_AT 13
#define BALEEN_TCP_SYN 0x02 /* RFC 9293 section 3.1 */
#define BALEEN_TCP_ACK 0x10
/* Behind all flags; with SYN, so that nobody takes the segment for one of a connection. */
#define BALEEN_TCP_HIDDEN 0x102
#define BALEEN_MAX_EXTENSIONS 8
#define BALEEN_VLAN_NONE 0xffffu

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

/**
 * struct baleen_packet - a frame, as far as it has been looked at
 * @ip: the fixed IP header; set when the result is BALEEN_PARSE_IP4 or IP6
 * @type_be: the EtherType behind the tags, as it stands in the frame; set when
 *           the result is BALEEN_PARSE_NOT_IP
 * @vlan: number of the outermost VLAN, past priority tags (number 0);
 *        BALEEN_VLAN_NONE when there is none
 */
struct baleen_packet {
	const u8 *ip;
	u32 type_be;
	u32 vlan;
};

/**
 * enum baleen_hidden - what a packet should have here, and cannot be read
 * @BALEEN_HIDDEN_PROTO: the protocol, and all above it
 * @BALEEN_HIDDEN_PORTS: the ports
 * @BALEEN_HIDDEN_FLAGS: the flags of TCP; also in the fragment that may bring others than
 *                       the first one showed (RFC 1858 section 4)
 * @BALEEN_HIDDEN_ALL: all of them, as a mask
 *
 * Not of a protocol that is known and has none of them, nor the ports of a later fragment.
 * Any sender can hide them, so baleen_qualifies() has it that no rule is evaded by it.
 */
enum baleen_hidden {
	BALEEN_HIDDEN_PROTO = 1,
	BALEEN_HIDDEN_PORTS = 2,
	BALEEN_HIDDEN_FLAGS = 4,
	BALEEN_HIDDEN_ALL = 7,
};

/**
 * struct baleen_transport - what stands above IP, as far as it is known
 * @has_proto: @proto is known
 * @has_ports: @sport and @dport are known
 * @proto: protocol above IP
 * @icmp_type: the byte that holds it, when @proto is ICMPv6 and it is there
 * @tcp_flags: the byte that holds them, when @proto is TCP; BALEEN_TCP_HIDDEN when
 *             it cannot be read
 * @sport: source port
 * @dport: destination port
 * @n_bytes: behind the headers of IP, when @has_proto, as IP has it; of what is longer
 *           than it can say, as if it were BALEEN_LENGTH_UNKNOWN behind the first header
 * @offset: of a fragment but the first, in 8 bytes
 */
struct baleen_transport {
	bool has_proto;
	bool has_ports;
	u8 proto;
	u8 icmp_type;
	u16 tcp_flags;
	u16 sport;
	u16 dport;
	int n_bytes;
	u16 offset;
};

baleen_inline enum baleen_parse baleen_parse_ip4(const u8 *ip, const u8 *end,
						 struct baleen_packet *packet)
{
	if (ip + BALEEN_IP4_BYTES > end)
		return BALEEN_PARSE_SHORT;
	if (ip[0] >> 4 != 4)
		return BALEEN_PARSE_VERSION;
	packet->ip = ip;
	return BALEEN_PARSE_IP4;
}

baleen_inline enum baleen_parse baleen_parse_ip6(const u8 *ip, const u8 *end,
						 struct baleen_packet *packet)
{
	if (ip + BALEEN_IP6_BYTES > end)
		return BALEEN_PARSE_SHORT;
	if (ip[0] >> 4 != 6)
		return BALEEN_PARSE_VERSION;
	packet->ip = ip;
	return BALEEN_PARSE_IP6;
}

/* Everything that may stand between the addresses and an IP header: @p is
 * behind the EtherType @type_be.
 */
baleen_inline enum baleen_parse baleen_parse_any(const u8 *p, const u8 *end, u32 type_be,
						 struct baleen_packet *packet)
{
	for (int i = 0; i < BALEEN_MAX_TAGS; i++) {
		u32 vlan;

		if (!baleen_is_tag(type_be))
			break;
		if (p + BALEEN_TAG_BYTES > end)
			return BALEEN_PARSE_SHORT;
		vlan = baleen_be16(BALEEN_LOAD(u16, p)) & 0xfff;
		if (packet->vlan == BALEEN_VLAN_NONE && vlan)
			packet->vlan = vlan;
		type_be = BALEEN_LOAD(u16, p + 2);
		p += BALEEN_TAG_BYTES;
	}
	if (baleen_is_tag(type_be))
		return BALEEN_PARSE_TAGS;
	packet->type_be = type_be;
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_PPPOE)) {
		if (p + BALEEN_PPPOE_BYTES > end)
			return BALEEN_PARSE_SHORT;
		type_be = BALEEN_LOAD(u16, p + 6);
		p += BALEEN_PPPOE_BYTES;
		/* RFC 1661 section 6.5: an odd first byte is all of the
		 * protocol. Linux takes it whatever was negotiated.
		 */
		if (p[-2] & 1) {
			type_be = baleen_be16((u16)p[-2]);
			p--;
		}
		if (baleen_is_type(type_be, BALEEN_PPP_IP4))
			return baleen_parse_ip4(p, end, packet);
		if (baleen_is_type(type_be, BALEEN_PPP_IP6))
			return baleen_parse_ip6(p, end, packet);
		return BALEEN_PARSE_NOT_IP;
	}
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_IP4))
		return baleen_parse_ip4(p, end, packet);
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_IP6))
		return baleen_parse_ip6(p, end, packet);
	if (baleen_is_type(type_be, BALEEN_ETHERTYPE_MPLS) ||
	    baleen_is_type(type_be, BALEEN_ETHERTYPE_MPLS_MULTICAST))
		return BALEEN_PARSE_MPLS;
	return BALEEN_PARSE_NOT_IP;
}

/**
 * baleen_packet_parse() - find the IP header of an Ethernet frame
 * @frame: first byte of the destination MAC address
 * @end: one past the last byte that may be read
 * @packet: filled in
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_parse.
 */
baleen_inline enum baleen_parse baleen_packet_parse(const u8 *frame, const u8 *end,
						    struct baleen_packet *packet)
{
	const u8 *p = frame + BALEEN_ETHER_BYTES;

	*packet = (struct baleen_packet){ .vlan = BALEEN_VLAN_NONE };
	/* Untagged IPv4, most frames of most networks, by one bounds check. */
	if (p + BALEEN_IP4_BYTES <= end &&
	    baleen_is_type(BALEEN_LOAD(u16, frame + 12), BALEEN_ETHERTYPE_IP4))
		return baleen_parse_ip4(p, end, packet);
	if (p > end)
		return BALEEN_PARSE_SHORT;
	return baleen_parse_any(p, end, BALEEN_LOAD(u16, frame + 12), packet);
}

/**
 * baleen_packet_parse_ip() - the same of what begins with its IP header
 * @ip: first byte
 * @end: one past the last byte that may be read
 * @packet: filled in
 *
 * Frames of devices without Ethernet: tun, WireGuard, tunnels of IP.
 *
 * Context: any, BPF-safe.
 * Return: BALEEN_PARSE_IP4, _IP6, _SHORT or _VERSION.
 */
baleen_inline enum baleen_parse baleen_packet_parse_ip(const u8 *ip, const u8 *end,
						       struct baleen_packet *packet)
{
	*packet = (struct baleen_packet){ .vlan = BALEEN_VLAN_NONE };
	if (ip + BALEEN_IP4_BYTES > end)
		return BALEEN_PARSE_SHORT;
	if (ip[0] >> 4 == 6)
		return baleen_parse_ip6(ip, end, packet);
	return baleen_parse_ip4(ip, end, packet);
}

/* IANA protocol numbers. */
enum {
	BALEEN_PROTO_HOPOPT = 0,
	BALEEN_PROTO_TCP = 6,
	BALEEN_PROTO_UDP = 17,
	BALEEN_PROTO_DCCP = 33,
	BALEEN_PROTO_ROUTING = 43,
	BALEEN_PROTO_FRAGMENT = 44,
	BALEEN_PROTO_AH = 51,
	BALEEN_PROTO_ICMP6 = 58,
	BALEEN_PROTO_DSTOPTS = 60,
	BALEEN_PROTO_SCTP = 132,
	BALEEN_PROTO_UDPLITE = 136,
};

/**
 * baleen_proto_has_ports() - do the ports stand in the first four bytes?
 * @proto: IANA protocol number
 *
 * Context: any, BPF-safe.
 * Return: true for TCP, UDP, UDP-Lite, SCTP and DCCP.
 */
baleen_inline bool baleen_proto_has_ports(u32 proto)
{
	return proto == BALEEN_PROTO_TCP || proto == BALEEN_PROTO_UDP ||
	       proto == BALEEN_PROTO_SCTP || proto == BALEEN_PROTO_UDPLITE ||
	       proto == BALEEN_PROTO_DCCP;
}

/* RFC 8200 section 4 without ESP, behind which nothing can be read, as Linux
 * has it in ipv6_ext_hdr(): mobility, HIP and Shim6 are protocols there.
 */
baleen_inline bool baleen_is_extension(u32 proto)
{
	return proto == BALEEN_PROTO_HOPOPT || proto == BALEEN_PROTO_ROUTING ||
	       proto == BALEEN_PROTO_FRAGMENT || proto == BALEEN_PROTO_AH ||
	       proto == BALEEN_PROTO_DSTOPTS;
}

baleen_inline u32 baleen_extension_bytes(u32 proto, u32 length_field)
{
	if (proto == BALEEN_PROTO_FRAGMENT)
		return 8;
	return proto == BALEEN_PROTO_AH ? (length_field + 2) * 4 : (length_field + 1) * 8;
}

/* The lengths of IP are 0 in what is longer than they can say (RFC 2675, and
 * the kernel's merged packets): then only the frame limits it.
 */
#define BALEEN_LENGTH_UNKNOWN 0x100000

/* The bytes behind the IP header: @n_claimed of them belong to the packet; the rest is
 * padding of the frame, and a sender may put anything there.
 */
baleen_inline void baleen_transport_at(const u8 *p, const u8 *end, int n_claimed,
				       struct baleen_transport *transport)
{
	if (!baleen_proto_has_ports(transport->proto)) {
		transport->has_ports = true;
		if (transport->proto == BALEEN_PROTO_ICMP6 && n_claimed >= 1 && p + 1 <= end)
			transport->icmp_type = p[0];
		return;
	}
	if (transport->proto == BALEEN_PROTO_TCP)
		transport->tcp_flags =
			n_claimed > BALEEN_TCP_FLAGS_AT && p + BALEEN_TCP_FLAGS_AT < end ?
				p[BALEEN_TCP_FLAGS_AT] :
				BALEEN_TCP_HIDDEN;
	if (n_claimed < BALEEN_PORTS_BYTES || p + BALEEN_PORTS_BYTES > end)
		return;
	transport->sport = baleen_be16(BALEEN_LOAD(u16, p));
	transport->dport = baleen_be16(BALEEN_LOAD(u16, p + 2));
	transport->has_ports = true;
}

/* A fragment but the first, @offset times 8 bytes into the packet: no ports,
 * but the second 8 bytes of TCP hold its flags, and may overwrite those that
 * the first fragment showed (RFC 1858 section 4).
 */
baleen_inline void baleen_transport_later(u32 offset, struct baleen_transport *transport)
{
	if (!baleen_proto_has_ports(transport->proto))
		transport->has_ports = true;
	else if (transport->proto == BALEEN_PROTO_TCP && offset == 1)
		transport->tcp_flags = BALEEN_TCP_HIDDEN;
}

baleen_inline void baleen_transport_ip4(const u8 *ip, const u8 *end,
					struct baleen_transport *transport)
{
	int header_bytes = (ip[0] & 15) * 4, total_bytes = baleen_be16(BALEEN_LOAD(u16, ip + 2));
	u32 offset = baleen_be16(BALEEN_LOAD(u16, ip + 6)) & 0x1fff;
	int n_claimed = total_bytes ? total_bytes - header_bytes : BALEEN_LENGTH_UNKNOWN;

	transport->proto = ip[9];
	transport->has_proto = true;
	transport->offset = offset;
	/* A header that claims less than it has says nothing of what follows. */
	if (header_bytes < BALEEN_IP4_BYTES)
		n_claimed = 0;
	transport->n_bytes = n_claimed;
	if (offset)
		baleen_transport_later(offset, transport);
	else
		baleen_transport_at(ip + header_bytes, end, n_claimed, transport);
}

baleen_inline void baleen_transport_ip6(const u8 *ip, const u8 *end,
					struct baleen_transport *transport)
{
	const u8 *p = ip + BALEEN_IP6_BYTES;
	int payload_bytes = baleen_be16(BALEEN_LOAD(u16, ip + 4));
	int n_claimed = payload_bytes ? payload_bytes : BALEEN_LENGTH_UNKNOWN;
	u32 proto = ip[6], offset = 0;

	BALEEN_LOOP
	for (int i = 0; i < BALEEN_MAX_EXTENSIONS; i++) {
		u32 next, n_bytes;

		if (offset || !baleen_is_extension(proto))
			break;
		if (n_claimed < 8 || p + 8 > end)
			return;
		next = p[0];
		if (proto == BALEEN_PROTO_FRAGMENT)
			transport->offset = offset = baleen_be16(BALEEN_LOAD(u16, p + 2)) >> 3;
		n_bytes = baleen_extension_bytes(proto, p[1]);
		p += n_bytes;
		n_claimed -= n_bytes;
		proto = next;
	}
	if (baleen_is_extension(proto))
		return;
	transport->proto = proto;
	transport->has_proto = true;
	transport->n_bytes = n_claimed;
	if (offset)
		baleen_transport_later(offset, transport);
	else
		baleen_transport_at(p, end, n_claimed, transport);
}

/**
 * baleen_packet_tcp_at() - where the header of TCP begins
 * @ip: a fixed IP header
 * @is_ip6: its family
 * @transport: of the packet, which has ports of TCP
 *
 * A parser that kept this, too, would cost the verifier more on each of its many paths.
 *
 * Context: any, BPF-safe.
 * Return: bytes from @ip on.
 */
baleen_inline u32 baleen_packet_tcp_at(const u8 *ip, bool is_ip6,
				       const struct baleen_transport *transport)
{
	int payload_bytes;

	if (!is_ip6)
		return (ip[0] & 15) * 4;
	payload_bytes = baleen_be16(BALEEN_LOAD(u16, ip + 4));
	return BALEEN_IP6_BYTES + (payload_bytes ? payload_bytes : BALEEN_LENGTH_UNKNOWN) -
	       transport->n_bytes;
}

/**
 * baleen_packet_transport() - find protocol and ports
 * @ip: a fixed IP header
 * @end: one past the last byte that may be read
 * @is_ip6: its family
 * @transport: filled in
 *
 * Context: any, BPF-safe.
 */
baleen_inline void baleen_packet_transport(const u8 *ip, const u8 *end, bool is_ip6,
					   struct baleen_transport *transport)
{
	*transport = (struct baleen_transport){ .has_proto = false };
	if (is_ip6)
		baleen_transport_ip6(ip, end, transport);
	else
		baleen_transport_ip4(ip, end, transport);
}

/**
 * baleen_packet_hidden() - what a packet should have, and does not show
 * @transport: of the packet
 *
 * Told from what the walk has found: to note it there would cost the verifier of kernel 6.1
 * a tenth more, since it follows each way out of the extension headers by itself.
 *
 * Context: any, BPF-safe.
 * Return: enum baleen_hidden.
 */
baleen_inline u32 baleen_packet_hidden(const struct baleen_transport *transport)
{
	u32 hidden = transport->tcp_flags == BALEEN_TCP_HIDDEN ? BALEEN_HIDDEN_FLAGS : 0;

	if (transport->offset)
		return hidden;
	if (!transport->has_proto)
		return BALEEN_HIDDEN_ALL;
	return transport->has_ports ? hidden : hidden | BALEEN_HIDDEN_PORTS;
}

/**
 * baleen_packet_is_vital() - does a host need this frame to live?
 * @frame: first byte of the frame
 * @end: one past the last byte that may be read
 * @parse: what baleen_packet_parse() made of it
 * @packet: parsed
 * @transport: of an IPv6 packet
 *
 * ARP, LLDP, LACP, EAPOL, STP; neighbour discovery with the hop limit 255 that
 * only the link can produce (RFC 4861 section 6.1); MLD with hop limit 1
 * (RFC 2710 section 3, RFC 3810 section 5).
 *
 * Context: any, BPF-safe.
 * Return: true when it passes under `--default drop` though no rule allows it.
 */
baleen_inline bool baleen_packet_is_vital(const u8 *frame, const u8 *end, enum baleen_parse parse,
					  const struct baleen_packet *packet,
					  const struct baleen_transport *transport)
{
	if (parse == BALEEN_PARSE_IP6) {
		u32 hop_limit = packet->ip[7], type = transport->icmp_type;

		if (!transport->has_proto || transport->proto != BALEEN_PROTO_ICMP6)
			return false;
		if (hop_limit == 255)
			return type >= 133 && type <= 137;
		return hop_limit == 1 && ((type >= 130 && type <= 132) || type == 143);
	}
	if (parse != BALEEN_PARSE_NOT_IP)
		return false;
	if (baleen_is_type(packet->type_be, BALEEN_ETHERTYPE_ARP) ||
	    baleen_is_type(packet->type_be, BALEEN_ETHERTYPE_LLDP) ||
	    baleen_is_type(packet->type_be, BALEEN_ETHERTYPE_SLOW) ||
	    baleen_is_type(packet->type_be, BALEEN_ETHERTYPE_EAPOL))
		return true;
	/* Spanning tree frames of 802.1D are never tagged. */
	return frame + 17 <= end &&
	       baleen_be16(BALEEN_LOAD(u16, frame + 12)) < BALEEN_ETHERTYPE_MIN &&
	       BALEEN_LOAD(u16, frame + 14) == BALEEN_LSAP_STP;
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
 * baleen_packet_key() - the key of a packet that is one address
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

/**
 * baleen_packet_has_key() - does a packet have what a key is made of?
 * @transport: of the packet
 * @key_spec: enum baleen_key_spec
 *
 * Context: any, BPF-safe.
 * Return: false when it asks for ports or a protocol that are not to be had.
 */
baleen_inline bool baleen_packet_has_key(const struct baleen_transport *transport, u32 key_spec)
{
	if (key_spec & BALEEN_KEY_PORTS && !transport->has_ports)
		return false;
	return !(key_spec & BALEEN_KEY_PROTO) || transport->has_proto;
}

/**
 * baleen_packet_hides_key() - is some of what a key is made of hidden in a packet?
 * @transport: of the packet
 * @key_spec: enum baleen_key_spec
 *
 * Context: any, BPF-safe.
 * Return: true when baleen_packet_has_key() is false, and not of a later fragment.
 */
baleen_inline bool baleen_packet_hides_key(const struct baleen_transport *transport, u32 key_spec)
{
	/* A protocol that is hidden hides the ports, too. */
	u32 asked = (key_spec & BALEEN_KEY_PORTS ? BALEEN_HIDDEN_PORTS : 0) |
		    (key_spec & BALEEN_KEY_PROTO ? BALEEN_HIDDEN_PROTO : 0);

	return baleen_packet_hidden(transport) & asked;
}

/**
 * baleen_packet_details() - all that keys of several fields are made of
 * @ip: a fixed IP header
 * @end: one past the last byte that may be read
 * @is_ip6: its family
 * @transport: filled in
 * @fields: filled in; ports and protocol as far as @transport knows them
 *
 * The key is baleen_key_fields() of @fields, where baleen_packet_has_key() is
 * true of @transport.
 *
 * Context: any, BPF-safe.
 */
baleen_inline void baleen_packet_details(const u8 *ip, const u8 *end, bool is_ip6,
					 struct baleen_transport *transport,
					 struct baleen_fields *fields)
{
	baleen_packet_transport(ip, end, is_ip6, transport);
	*fields = (struct baleen_fields){
		.is_ip6 = is_ip6,
		.sport = transport->sport,
		.dport = transport->dport,
		.proto = transport->proto,
	};
	if (is_ip6) {
		fields->src_hi = baleen_load_be64(ip + 8);
		fields->src_lo = baleen_load_be64(ip + 16);
		fields->dst_hi = baleen_load_be64(ip + 24);
		fields->dst_lo = baleen_load_be64(ip + 32);
	} else {
		fields->src_lo = baleen_load_be32(ip + 12);
		fields->dst_lo = baleen_load_be32(ip + 16);
	}
}

#endif /* BALEEN_PACKET_H */
