// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a frame: nothing behind its end is read, the IP header found is
 * inside, and a slow parser finds the same, above IP too.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/slow_packet.h"
#include "target.h"

/* Source and destination, to the last byte of the fixed header. */
static void check_addresses(enum baleen_parse parse, const u8 *ip)
{
	struct baleen_key src, dst;

	if (parse == BALEEN_PARSE_IP4) {
		src = baleen_key_ip4(ip + 12);
		dst = baleen_key_ip4(ip + 16);
		check(src.ip4 >> 24 == ip[12] && (u8)dst.ip4 == ip[19]);
		check(ip[0] >> 4 == 4);
	} else {
		src = baleen_key_ip6(ip + 8);
		dst = baleen_key_ip6(ip + 24);
		check(src.hi >> 56 == ip[8] && (u8)dst.lo == ip[39]);
		check(ip[0] >> 4 == 6);
	}
}

/* Each key that can be made is made of the bytes that the fields stand in. */
static void check_keys(const struct baleen_transport *transport, const struct baleen_fields *fields)
{
	for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
		struct baleen_key key;

		if (!baleen_packet_has_key(transport, spec))
			continue;
		key = baleen_key_fields(spec, fields);
		check(key.domain == baleen_spec_domain(spec, fields->is_ip6));
		if (key.domain == BALEEN_WORD && spec & BALEEN_KEY_DPORT)
			check((u16)key.lo == transport->dport);
		if (key.domain == BALEEN_TUPLE && spec & BALEEN_KEY_PROTO)
			check((u8)(key.rest >> 32) == transport->proto);
	}
}

static void check_transport(const u8 *frame, size_t n_bytes, size_t offset, bool is_ip6,
			    struct baleen_transport *transport)
{
	struct slow_transport slow = slow_transport_of(frame, n_bytes, offset);
	struct baleen_fields fields;

	memset(transport, 0xa5, sizeof(*transport));
	memset(&fields, 0xa5, sizeof(fields));
	baleen_packet_details(frame + offset, frame + n_bytes, is_ip6, transport, &fields);
	check(slow_transport_agrees(&slow, transport));
	check(fields.is_ip6 == is_ip6 && fields.proto == transport->proto);
	check(fields.sport == transport->sport && fields.dport == transport->dport);
	check_keys(transport, &fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct baleen_transport transport = { .has_proto = false };
	u8 *frame = malloc(n_bytes ? n_bytes : 1);
	struct baleen_packet packet;
	enum baleen_parse parse, slow;
	size_t offset = 0;

	if (n_bytes)
		memcpy(frame, bytes, n_bytes);
	parse = baleen_packet_parse(frame, frame + n_bytes, &packet);
	slow = slow_packet_parse(frame, n_bytes, &offset);
	check(parse == slow);
	if (parse == BALEEN_PARSE_IP4 || parse == BALEEN_PARSE_IP6) {
		check(packet.ip == frame + offset);
		check_addresses(parse, packet.ip);
		check_transport(frame, n_bytes, offset, parse == BALEEN_PARSE_IP6, &transport);
	} else {
		check(!packet.ip);
	}
	check(packet.vlan == slow_packet_vlan(frame, n_bytes));
	check(baleen_packet_is_vital(frame, frame + n_bytes, parse, &packet, &transport) ==
	      slow_is_vital(frame, n_bytes));
	free(frame);
	return 0;
}
