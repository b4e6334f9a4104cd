// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames that are made of what a question names, read by the packet path's own parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/frame.h"

static const u8 protocols[] = { 0, 1, 2, 6, 17, 33, 43, 44, 47, 50, 51, 58, 60, 132, 136, 255 };

static struct baleen_fields fields_of(bool is_ip6, u8 proto)
{
	struct baleen_fields fields = {
		.is_ip6 = is_ip6,
		.src_lo = 0xc0000201,
		.dst_lo = 0xc6336407,
		.sport = 40000,
		.dport = 443,
		.proto = proto,
	};

	if (is_ip6) {
		fields.src_hi = 0x20010db800000001;
		fields.src_lo = 0x8000000000000002;
		fields.dst_hi = 0x20010db8ffff0003;
		fields.dst_lo = 4;
	}
	return fields;
}

/* What is not written is 0, and what is read is all that was asked for. */
static void check(bool is_ip6, u8 proto, u32 vlan, u8 flags)
{
	struct baleen_fields asked = fields_of(is_ip6, proto), read = { 0 };
	struct baleen_transport transport;
	struct baleen_packet packet;
	struct baleen_frame frame;

	memset(&frame, 0xa5, sizeof(frame));
	baleen_frame_make(&asked, vlan, flags, BALEEN_FRAME_WHOLE, &frame);
	assert_in_range(frame.n_bytes, 60, BALEEN_FRAME_BYTES);
	for (u32 i = frame.n_bytes; i < BALEEN_FRAME_BYTES; i++)
		assert_int_equal(frame.bytes[i], 0);
	assert_int_equal(baleen_packet_parse(frame.bytes, frame.bytes + frame.n_bytes, &packet),
			 is_ip6 ? BALEEN_PARSE_IP6 : BALEEN_PARSE_IP4);
	assert_int_equal(packet.vlan, vlan);
	/* Behind these another header would be looked for. */
	if (is_ip6 && baleen_is_extension(proto))
		return;
	baleen_packet_details(packet.ip, frame.bytes + frame.n_bytes, is_ip6, &transport, &read);
	assert_true(transport.has_proto && transport.has_ports);
	assert_int_equal(read.is_ip6, asked.is_ip6);
	assert_int_equal(read.src_hi, asked.src_hi);
	assert_int_equal(read.src_lo, asked.src_lo);
	assert_int_equal(read.dst_hi, asked.dst_hi);
	assert_int_equal(read.dst_lo, asked.dst_lo);
	assert_int_equal(read.proto, asked.proto);
	assert_int_equal(read.sport, baleen_proto_has_ports(proto) ? asked.sport : 0);
	assert_int_equal(read.dport, baleen_proto_has_ports(proto) ? asked.dport : 0);
	assert_int_equal(transport.tcp_flags, proto == BALEEN_PROTO_TCP ? flags : 0);
	assert_false(baleen_packet_is_vital(frame.bytes, frame.bytes + frame.n_bytes,
					    is_ip6 ? BALEEN_PARSE_IP6 : BALEEN_PARSE_IP4, &packet,
					    &transport));
}

static void test_all(void **state)
{
	static const u8 flags[] = { 0, BALEEN_TCP_SYN, BALEEN_TCP_ACK };
	static const u32 vlans[] = { BALEEN_VLAN_NONE, 1, 4094 };

	for (u32 i = 0; i < sizeof(protocols); i++)
		for (u32 v = 0; v < 3; v++)
			for (u32 f = 0; f < 3; f++) {
				check(false, protocols[i], vlans[v], flags[f]);
				check(true, protocols[i], vlans[v], flags[f]);
			}
}

/* What is asked for is hidden, and nothing else is. */
static void check_shape(bool is_ip6, u8 proto, enum baleen_frame_shape shape, bool has_proto,
			u32 hidden)
{
	struct baleen_fields asked = fields_of(is_ip6, proto), read = { 0 };
	struct baleen_transport transport;
	struct baleen_packet packet;
	struct baleen_frame frame;
	const u8 *end;

	memset(&frame, 0xa5, sizeof(frame));
	baleen_frame_make(&asked, 7, BALEEN_TCP_ACK, shape, &frame);
	end = frame.bytes + frame.n_bytes;
	assert_in_range(frame.n_bytes, 60, BALEEN_FRAME_BYTES);
	assert_int_equal(baleen_packet_parse(frame.bytes, end, &packet),
			 is_ip6 ? BALEEN_PARSE_IP6 : BALEEN_PARSE_IP4);
	baleen_packet_details(packet.ip, end, is_ip6, &transport, &read);
	assert_int_equal(baleen_packet_hidden(&transport), hidden);
	assert_int_equal(transport.has_proto, has_proto);
	assert_int_equal(transport.proto, has_proto ? proto : 0);
	assert_int_equal(transport.has_ports, !baleen_proto_has_ports(proto) && has_proto);
	assert_int_equal(read.src_lo, asked.src_lo);
	assert_int_equal(read.dst_lo, asked.dst_lo);
}

static void test_shapes(void **state)
{
	for (u32 is_ip6 = 0; is_ip6 < 2; is_ip6++) {
		check_shape(is_ip6, BALEEN_PROTO_TCP, BALEEN_FRAME_CUT, true,
			    BALEEN_HIDDEN_PORTS | BALEEN_HIDDEN_FLAGS);
		check_shape(is_ip6, BALEEN_PROTO_UDP, BALEEN_FRAME_CUT, true, BALEEN_HIDDEN_PORTS);
		check_shape(is_ip6, BALEEN_PROTO_TCP, BALEEN_FRAME_FRAGMENT, true, 0);
		check_shape(is_ip6, BALEEN_PROTO_ICMP6, BALEEN_FRAME_FRAGMENT, true, 0);
	}
	check_shape(true, BALEEN_PROTO_TCP, BALEEN_FRAME_DEEP, false, BALEEN_HIDDEN_ALL);
	check_shape(true, BALEEN_PROTO_ICMP6, BALEEN_FRAME_DEEP, false, BALEEN_HIDDEN_ALL);
}

/* The bytes of one, from RFC 791, 9293 and IEEE 802.1Q. */
static void test_bytes(void **state)
{
	static const u8 want[] = {
		0,    0,    0,	  0,	0,    0,    0,	  0,   0,  0, 0,
		0,    0x81, 0x00, 0x00, 0x07, 0x08, 0x00, /* VLAN 7 */
		0x45, 0,    0,	  40,	0,    0,    0,	  0,   64, 6, 0,
		0,    192,  0,	  2,	1,    198,  51,	  100, 7, /* IPv4 */
		0x9c, 0x40, 0x01, 0xbb, 0,    0,    0,	  0,   0,  0, 0,
		0,    0x50, 0x02, 0,	0,    0,    0,	  0,   0,  0, 0,
	};
	struct baleen_fields fields = fields_of(false, BALEEN_PROTO_TCP);
	struct baleen_frame frame;

	baleen_frame_make(&fields, 7, BALEEN_TCP_SYN, BALEEN_FRAME_WHOLE, &frame);
	assert_int_equal(frame.n_bytes, sizeof(want));
	assert_memory_equal(frame.bytes, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
