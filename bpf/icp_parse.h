/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a frame to the datagram for one of the two ports that are listened to.
 */
#ifndef BALEEN_BPF_ICP_PARSE_H
#define BALEEN_BPF_ICP_PARSE_H

#include "icp.h"

#define ICP_UDP_BYTES 8

/* RFC 4291 section 2.5.5.2: how the addresses of siblings and feeders have IPv4. */
#define ICP_MAPPED 0xffff00000000ull

/**
 * struct icp_datagram - a UDP datagram to config.port or config.feed_port
 * @source_hi: bits 127..64 of the address that it is from
 * @source_lo: bits 63..0; IPv4 is mapped
 * @dest_hi: bits 127..64 of the address that it is for
 * @dest_lo: bits 63..0; IPv4 is mapped
 * @sport: source port
 * @dport: destination port
 * @ip_at: bytes of the frame in front of the IP header
 * @payload_at: bytes of the frame in front of what UDP carries; 0: not known, behind
 *              extension headers of IPv6
 * @payload_bytes: how many there are by the length of IP, in this frame; 0 when that
 *                 cannot be
 * @udp_bytes: length in the UDP header, itself included
 * @ip_id: the identification of IPv4
 * @is_ip6: its family
 * @is_fragment: the first of several; later ones have no ports, so they are nobody's
 * @has_options: IPv4 options or extension headers of IPv6
 * @is_whole: the lengths of IP and UDP agree, and the frame is no shorter
 * @is_pppoe: inside a PPPoE session, whose header has a length as well
 */
struct icp_datagram {
	u64 source_hi;
	u64 source_lo;
	u64 dest_hi;
	u64 dest_lo;
	u32 sport;
	u32 dport;
	u32 ip_at;
	u32 payload_at;
	u32 payload_bytes;
	u32 udp_bytes;
	u32 ip_id;
	bool is_ip6;
	bool is_fragment;
	bool has_options;
	bool is_whole;
	bool is_pppoe;
};

baleen_inline bool icp_is_port(u32 dport)
{
	return dport == config.port || (config.feed_port && dport == config.feed_port);
}

/* Sets the lengths that IP states for the part behind @payload_at. */
baleen_inline void icp_set_lengths(struct xdp_md *ctx, u32 ip_bytes, const u8 *udp,
				   struct icp_datagram *datagram)
{
	u32 at = datagram->payload_at, end = datagram->ip_at + ip_bytes;
	u32 frame_bytes = bpf_xdp_get_buff_len(ctx);

	datagram->udp_bytes = baleen_be16(BALEEN_LOAD(u16, udp + 4));
	datagram->payload_bytes = end >= at && end <= frame_bytes ? end - at : 0;
	datagram->is_whole =
		end >= at && end <= frame_bytes && datagram->udp_bytes == end - at + ICP_UDP_BYTES;
}

baleen_inline bool icp_parse_ip4(struct xdp_md *ctx, const u8 *ip, const u8 *end,
				 struct icp_datagram *datagram)
{
	u32 header_bytes = (ip[0] & 15) * 4, flags = baleen_be16(BALEEN_LOAD(u16, ip + 6));
	const u8 *udp = ip + header_bytes;

	if (ip[9] != BALEEN_PROTO_UDP || flags & 0x1fff || header_bytes < BALEEN_IP4_BYTES ||
	    udp + ICP_UDP_BYTES > end)
		return false;
	datagram->dport = baleen_be16(BALEEN_LOAD(u16, udp + 2));
	if (!icp_is_port(datagram->dport))
		return false;
	datagram->sport = baleen_be16(BALEEN_LOAD(u16, udp));
	datagram->source_hi = 0;
	datagram->source_lo = ICP_MAPPED | baleen_load_be32(ip + 12);
	datagram->dest_hi = 0;
	datagram->dest_lo = ICP_MAPPED | baleen_load_be32(ip + 16);
	datagram->payload_at = datagram->ip_at + header_bytes + ICP_UDP_BYTES;
	datagram->ip_id = baleen_be16(BALEEN_LOAD(u16, ip + 4));
	datagram->is_ip6 = false;
	datagram->is_fragment = flags >> 13 & 1;
	datagram->has_options = header_bytes > BALEEN_IP4_BYTES;
	icp_set_lengths(ctx, baleen_be16(BALEEN_LOAD(u16, ip + 2)), udp, datagram);
	return true;
}

/* The port behind extension headers; above 65535: there is none. */
__attribute__((minsize)) __noinline u32 icp_find_port(struct xdp_md *ctx, u32 ip_at)
{
	const u8 *ip = (const u8 *)(long)ctx->data + (ip_at & 0xff);
	const u8 *end = (const u8 *)(long)ctx->data_end;
	struct baleen_transport transport;

	if (ip + BALEEN_IP6_BYTES > end)
		return 0x10000;
	baleen_packet_transport(ip, end, true, &transport);
	return transport.proto == BALEEN_PROTO_UDP && transport.has_ports ? (u32)transport.dport :
									    0x10000;
}

baleen_inline void icp_set_addresses(const u8 *ip, struct icp_datagram *datagram)
{
	datagram->source_hi = baleen_load_be64(ip + 8);
	datagram->source_lo = baleen_load_be64(ip + 16);
	datagram->dest_hi = baleen_load_be64(ip + 24);
	datagram->dest_lo = baleen_load_be64(ip + 32);
	datagram->is_ip6 = true;
}

baleen_inline bool icp_parse_extended(struct xdp_md *ctx, const u8 *ip,
				      struct icp_datagram *datagram)
{
	if (!baleen_is_extension(ip[6]))
		return false;
	datagram->dport = icp_find_port(ctx, datagram->ip_at);
	if (!icp_is_port(datagram->dport))
		return false;
	datagram->has_options = true;
	icp_set_addresses(ip, datagram);
	return true;
}

baleen_inline bool icp_parse_ip6(struct xdp_md *ctx, const u8 *ip, const u8 *end,
				 struct icp_datagram *datagram)
{
	const u8 *udp = ip + BALEEN_IP6_BYTES;

	if (ip[6] != BALEEN_PROTO_UDP)
		return icp_parse_extended(ctx, ip, datagram);
	if (udp + ICP_UDP_BYTES > end)
		return false;
	datagram->dport = baleen_be16(BALEEN_LOAD(u16, udp + 2));
	if (!icp_is_port(datagram->dport))
		return false;
	datagram->sport = baleen_be16(BALEEN_LOAD(u16, udp));
	icp_set_addresses(ip, datagram);
	datagram->payload_at = datagram->ip_at + BALEEN_IP6_BYTES + ICP_UDP_BYTES;
	icp_set_lengths(ctx, BALEEN_IP6_BYTES + baleen_be16(BALEEN_LOAD(u16, ip + 4)), udp,
			datagram);
	return true;
}

/* Returns false for whatever is not for these ports; then @datagram means nothing. */
baleen_inline bool icp_parse(struct xdp_md *ctx, struct icp_datagram *datagram)
{
	const u8 *start = (const u8 *)(long)ctx->data, *end = (const u8 *)(long)ctx->data_end;
	struct baleen_packet packet;
	enum baleen_parse parse;

	*datagram = (struct icp_datagram){ 0 };
	parse = baleen_packet_parse(start, end, &packet);
	if (parse != BALEEN_PARSE_IP4 && parse != BALEEN_PARSE_IP6)
		return false;
	datagram->ip_at = packet.ip - start;
	datagram->is_pppoe = baleen_is_type(packet.type_be, BALEEN_ETHERTYPE_PPPOE);
	return parse == BALEEN_PARSE_IP4 ? icp_parse_ip4(ctx, packet.ip, end, datagram) :
					   icp_parse_ip6(ctx, packet.ip, end, datagram);
}

#endif /* BALEEN_BPF_ICP_PARSE_H */
