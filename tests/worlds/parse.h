/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What parity.c compares: all that a world makes of a frame.
 */
#ifndef BALEEN_TESTS_PARSE_H
#define BALEEN_TESTS_PARSE_H

#include <baleen/packet.h>

/**
 * struct answer - what a frame was taken for
 * @parse: enum baleen_parse
 * @vlan: as in struct baleen_packet
 * @is_vital: a host needs it
 * @has_key: it has what the key asked for is made of; the rest is of IP frames
 * @transport: hidden << 2 | has_proto << 1 | has_ports
 * @icmp_type: as in struct baleen_transport
 * @tcp_flags: likewise
 * @proto: likewise
 * @ports: source port << 16 | destination port
 * @ip_offset: where the IP header starts
 * @address: the key that is one address: the destination when only it was asked
 *           for, else the source
 * @key: the key asked for
 */
struct answer {
	u32 parse;
	u32 vlan;
	u32 is_vital;
	u32 has_key;
	u32 transport;
	u32 icmp_type;
	u32 tcp_flags;
	u32 proto;
	u32 ports;
	u32 ip_offset;
	struct baleen_key address;
	struct baleen_key key;
};

baleen_inline void answer_key(struct answer *answer, u32 spec, const u8 *ip, bool is_ip6,
			      const struct baleen_transport *transport,
			      const struct baleen_fields *fields)
{
	u32 domain = is_ip6 ? BALEEN_IP6 : BALEEN_IP4;

	answer->transport = baleen_packet_hidden(transport) << 2 | transport->has_proto << 1 |
			    transport->has_ports;
	answer->icmp_type = transport->icmp_type;
	answer->tcp_flags = transport->tcp_flags;
	answer->proto = transport->proto;
	answer->ports = (u32)transport->sport << 16 | transport->dport;
	/* The offset is a constant of each load, as it is in a rule. */
	if (spec == BALEEN_KEY_DST)
		answer->address =
			baleen_packet_key(ip, baleen_packet_key_offset(BALEEN_KEY_DST, domain),
					  domain);
	else
		answer->address =
			baleen_packet_key(ip, baleen_packet_key_offset(BALEEN_KEY_SRC, domain),
					  domain);
	answer->has_key = baleen_packet_has_key(transport, spec);
	if (answer->has_key)
		answer->key = baleen_key_fields(spec, fields);
}

#endif /* BALEEN_TESTS_PARSE_H */
