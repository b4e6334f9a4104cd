// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames: what each is taken for, where its IP header starts, which VLAN it is
 * in, what stands above IP, which key it has, whether a host needs it.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "slow_packet.h"

#define MAX_FRAME 2600
#define POISON 0xa5

/* --- frames --------------------------------------------------------------- */

/* What a frame must be taken for; @offset is that of the IP header. */
struct sample {
	const char *name;
	enum baleen_parse parse;
	size_t offset;
	const char *hex;
};

#define MAC "0202020202b2 0202020202a1 "
#define Q "8100 0064 "
#define AD "88a8 0065 "
#define QINQ "9100 0066 "
#define PPPOE "8864 1100 0001 0016 "
#define IP4 "4500 0014 0001 0000 4011 0000 c0000201 c6336402 "
#define IP6 "60000000 0000 3b40 20010db8000000000000000000000001 20010db8000000000000000000000002 "

static const struct sample samples[] = {
	/* fail-open, the reason first */
	{ "ARP", BALEEN_PARSE_NOT_IP, 0, MAC "0806 0001 0800 0604 0001" },
	{ "LLDP", BALEEN_PARSE_NOT_IP, 0, MAC "88cc 0207" },
	{ "EAPOL", BALEEN_PARSE_NOT_IP, 0, MAC "888e 0101" },
	{ "802.3 STP", BALEEN_PARSE_NOT_IP, 0, MAC "0026 4242 03 000000" },
	{ "802.3 length of 1500", BALEEN_PARSE_NOT_IP, 0, MAC "05dc aaaa 03 000000 0800" IP4 },
	{ "no more than an Ethernet header", BALEEN_PARSE_NOT_IP, 0, MAC "1234" },
	{ "tagged ARP", BALEEN_PARSE_NOT_IP, 0, MAC Q "0806 0001" },
	{ "four tags, ARP", BALEEN_PARSE_NOT_IP, 0, MAC Q Q Q Q "0806" },
	{ "PPPoE discovery", BALEEN_PARSE_NOT_IP, 0, MAC "8863 1109 0000 0004 0101 0000" },
	{ "PPPoE LCP", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE "c021 0101" },
	{ "PPPoE PPP protocol of an EtherType", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE "0800" IP4 },
	{ "PPPoE in PPPoE", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE PPPOE "0021" IP4 },
	{ "byte order of the EtherType", BALEEN_PARSE_NOT_IP, 0, MAC "0008" IP4 },
	{ "MPLS", BALEEN_PARSE_MPLS, 0, MAC "8847 00064140" IP4 },
	{ "MPLS multicast", BALEEN_PARSE_MPLS, 0, MAC "8848 00064140" IP4 },
	{ "MPLS without a label", BALEEN_PARSE_MPLS, 0, MAC "8847" },
	{ "tagged MPLS", BALEEN_PARSE_MPLS, 0, MAC AD Q "8847" },
	{ "five tags 802.1Q", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q Q "0800" IP4 },
	{ "five tags 802.1ad", BALEEN_PARSE_TAGS, 0, MAC AD AD AD AD AD "0800" IP4 },
	{ "five tags 0x9100", BALEEN_PARSE_TAGS, 0, MAC QINQ QINQ QINQ QINQ QINQ "86dd" IP6 },
	{ "five mixed tags", BALEEN_PARSE_TAGS, 0, MAC AD Q QINQ Q AD "0800" IP4 },
	{ "six tags", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q Q Q "0800" IP4 },
	{ "the fifth tag cut off", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q "8100" },
	{ "version 6 as IPv4", BALEEN_PARSE_VERSION, 0, MAC "0800" IP6 },
	{ "version 4 as IPv6", BALEEN_PARSE_VERSION, 0, MAC "86dd" IP4 IP4 },
	{ "version 0", BALEEN_PARSE_VERSION, 0,
	  MAC "0800 0500 0014 0001 0000 4011 0000 c0000201 c6336402" },
	{ "version 15", BALEEN_PARSE_VERSION, 0,
	  MAC "0800 f500 0014 0001 0000 4011 0000 c0000201 c6336402" },
	{ "tagged version 6 as IPv4", BALEEN_PARSE_VERSION, 0, MAC Q "0800" IP6 },
	{ "PPPoE version 4 as IPv6", BALEEN_PARSE_VERSION, 0, MAC PPPOE "0057" IP4 IP4 },
	{ "nothing", BALEEN_PARSE_SHORT, 0, "" },
	{ "13 bytes", BALEEN_PARSE_SHORT, 0, MAC "08" },
	{ "IPv4 header of 19 bytes", BALEEN_PARSE_SHORT, 0,
	  MAC "0800 4500 0014 0001 0000 4011 0000 c0000201 c63364" },
	{ "IPv6 header of 20 bytes", BALEEN_PARSE_SHORT, 0,
	  MAC "86dd 60000000 0000 3b40 20010db8 00000000 00000000" },
	{ "short and of the wrong version", BALEEN_PARSE_SHORT, 0, MAC "0800 60" },
	{ "half a tag", BALEEN_PARSE_SHORT, 0, MAC "8100 0064 08" },
	{ "tag without a payload", BALEEN_PARSE_SHORT, 0, MAC Q "0800" },
	{ "PPPoE without PPP", BALEEN_PARSE_SHORT, 0, MAC PPPOE },

	/* IPv4 */
	{ "IPv4", BALEEN_PARSE_IP4, 14, MAC "0800" IP4 },
	{ "IPv4, padded", BALEEN_PARSE_IP4, 14, MAC "0800" IP4 "0000000000000000" },
	{ "IPv4, one tag", BALEEN_PARSE_IP4, 18, MAC Q "0800" IP4 },
	{ "IPv4, one 802.1ad tag", BALEEN_PARSE_IP4, 18, MAC AD "0800" IP4 },
	{ "IPv4, one 0x9100 tag", BALEEN_PARSE_IP4, 18, MAC QINQ "0800" IP4 },
	{ "IPv4, priority tag", BALEEN_PARSE_IP4, 18, MAC "8100 e000 0800" IP4 },
	{ "IPv4, two tags", BALEEN_PARSE_IP4, 22, MAC AD Q "0800" IP4 },
	{ "IPv4, three tags", BALEEN_PARSE_IP4, 26, MAC QINQ AD Q "0800" IP4 },
	{ "IPv4, four tags", BALEEN_PARSE_IP4, 30, MAC Q Q Q Q "0800" IP4 },
	{ "IPv4, PPPoE", BALEEN_PARSE_IP4, 22, MAC PPPOE "0021" IP4 },
	{ "IPv4, PPPoE, four tags", BALEEN_PARSE_IP4, 38, MAC QINQ AD Q Q PPPOE "0021" IP4 },
	{ "IPv4, options", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4f00 003c 0001 0000 4011 0000 c0000201 c6336402 83270400" },
	{ "IPv4, header length 0", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4000 0014 0001 0000 4011 0000 c0000201 c6336402" },
	{ "IPv4, header longer than the frame", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4f00 0014 0001 0000 4011 0000 c0000201 c6336402" },
	{ "IPv4, total length 0", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4500 0000 0001 0000 4011 0000 c0000201 c6336402" },
	{ "IPv4, total length 65535", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4500 ffff 0001 0000 4011 0000 c0000201 c6336402" },
	{ "IPv4, first fragment", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4500 0014 0001 2000 4011 0000 c0000201 c6336402" },
	{ "IPv4, last fragment", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4500 0014 0001 1fff 4011 0000 c0000201 c6336402" },
	{ "IPv4, lifetime 0, wrong checksum", BALEEN_PARSE_IP4, 14,
	  MAC "0800 4500 0014 0001 8000 00ff dead c0000201 c6336402" },

	/* IPv6 */
	{ "IPv6", BALEEN_PARSE_IP6, 14, MAC "86dd" IP6 },
	{ "IPv6, one tag", BALEEN_PARSE_IP6, 18, MAC Q "86dd" IP6 },
	{ "IPv6, one 802.1ad tag", BALEEN_PARSE_IP6, 18, MAC AD "86dd" IP6 },
	{ "IPv6, one 0x9100 tag", BALEEN_PARSE_IP6, 18, MAC QINQ "86dd" IP6 },
	{ "IPv6, two tags", BALEEN_PARSE_IP6, 22, MAC AD Q "86dd" IP6 },
	{ "IPv6, three tags", BALEEN_PARSE_IP6, 26, MAC AD Q Q "86dd" IP6 },
	{ "IPv6, four tags", BALEEN_PARSE_IP6, 30, MAC AD AD Q Q "86dd" IP6 },
	{ "IPv6, PPPoE", BALEEN_PARSE_IP6, 22, MAC PPPOE "0057" IP6 },
	{ "IPv6, PPPoE, one tag", BALEEN_PARSE_IP6, 26, MAC Q PPPOE "0057" IP6 },
	{ "IPv4, PPPoE, protocol of one byte", BALEEN_PARSE_IP4, 21, MAC PPPOE "21" IP4 },
	{ "IPv6, PPPoE, protocol of one byte", BALEEN_PARSE_IP6, 21, MAC PPPOE "57" IP6 },
	{ "IPv6, PPPoE of version 0 and length 0", BALEEN_PARSE_IP6, 22,
	  MAC "8864 0000 0000 0000 0057" IP6 },
	{ "IPv6, fragment and hop-by-hop headers", BALEEN_PARSE_IP6, 14,
	  MAC "86dd 6fffffff ffff 0000 20010db8000000000000000000000001 "
	      "20010db8000000000000000000000002 2c00 0104 0000 0000" },
};

#define N_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static size_t from_hex(const char *hex, u8 *bytes)
{
	size_t n = 0;

	while (*hex) {
		unsigned int byte;

		if (isspace((unsigned char)*hex)) {
			hex++;
			continue;
		}
		assert_true(n < MAX_FRAME && sscanf(hex, "%2x", &byte) == 1);
		bytes[n++] = byte;
		hex += 2;
	}
	return n;
}

/* --- comparison ----------------------------------------------------------- */

struct parsed {
	enum baleen_parse parse;
	size_t offset;
	u32 vlan;
	bool is_vital;
	struct baleen_transport transport; /* of IP */
	struct baleen_fields fields;
};

/* Parses a copy that ends where the frame does: ASan watches its end. */
static struct parsed parse_exact(const u8 *frame, size_t n_bytes)
{
	u8 *exact = malloc(n_bytes ? n_bytes : 1);
	struct baleen_packet packet;
	struct parsed parsed = { 0 };

	memcpy(exact, frame, n_bytes);
	parsed.parse = baleen_packet_parse(exact, exact + n_bytes, &packet);
	parsed.vlan = packet.vlan;
	if (parsed.parse == BALEEN_PARSE_IP4 || parsed.parse == BALEEN_PARSE_IP6) {
		parsed.offset = packet.ip - exact;
		memset(&parsed.transport, POISON, sizeof(parsed.transport));
		memset(&parsed.fields, POISON, sizeof(parsed.fields));
		baleen_packet_details(packet.ip, exact + n_bytes, parsed.parse == BALEEN_PARSE_IP6,
				      &parsed.transport, &parsed.fields);
	} else {
		assert_null(packet.ip);
	}
	parsed.is_vital = baleen_packet_is_vital(exact, exact + n_bytes, parsed.parse, &packet,
						 &parsed.transport);
	free(exact);
	return parsed;
}

static u64 slow_64_bits(const u8 *bytes)
{
	u64 x = 0;

	for (u32 i = 0; i < 8; i++)
		x = x * 256 + bytes[i];
	return x;
}

static void assert_fields(const u8 *ip, const struct parsed *parsed)
{
	const struct baleen_transport *transport = &parsed->transport;
	const struct baleen_fields *fields = &parsed->fields;

	assert_int_equal(fields->proto, transport->proto);
	assert_int_equal(fields->sport, transport->sport);
	assert_int_equal(fields->dport, transport->dport);
	assert_int_equal(fields->is_ip6, parsed->parse == BALEEN_PARSE_IP6);
	if (fields->is_ip6) {
		assert_int_equal(fields->src_hi, slow_64_bits(ip + 8));
		assert_int_equal(fields->src_lo, slow_64_bits(ip + 16));
		assert_int_equal(fields->dst_hi, slow_64_bits(ip + 24));
		assert_int_equal(fields->dst_lo, slow_64_bits(ip + 32));
		return;
	}
	assert_int_equal(fields->src_hi, 0);
	assert_int_equal(fields->src_lo, slow_64_bits(ip + 8) % 0x100000000ull);
	assert_int_equal(fields->dst_hi, 0);
	assert_int_equal(fields->dst_lo, slow_64_bits(ip + 12) % 0x100000000ull);
}

/* Fields of what is not known are 0, so that no key is made of chance. */
static void assert_unknown_is_zero(const struct baleen_transport *transport)
{
	if (!transport->has_proto)
		assert_int_equal(transport->proto, 0);
	if (!transport->has_ports) {
		assert_int_equal(transport->sport, 0);
		assert_int_equal(transport->dport, 0);
	}
}

/* The header of TCP begins where its ports are. */
static void assert_tcp_at(const u8 *ip, size_t n_bytes, const struct parsed *parsed)
{
	const struct baleen_transport *transport = &parsed->transport;
	u32 at;

	if (transport->proto != BALEEN_PROTO_TCP || !transport->has_ports)
		return;
	at = baleen_packet_tcp_at(ip, parsed->fields.is_ip6, transport);
	assert_true(at + BALEEN_PORTS_BYTES <= n_bytes);
	assert_int_equal(ip[at] * 256 + ip[at + 1], transport->sport);
	assert_int_equal(ip[at + 2] * 256 + ip[at + 3], transport->dport);
}

static void assert_slow_transport(const char *name, const u8 *frame, size_t n_bytes,
				  const struct parsed *parsed)
{
	struct slow_transport slow = slow_transport_of(frame, n_bytes, parsed->offset);

	if (!slow_transport_agrees(&slow, &parsed->transport))
		fail_msg("%s, %zu bytes: protocol %d, ports %d %d, type %d, flags %d", name,
			 n_bytes, slow.proto, slow.sport, slow.dport, slow.icmp_type,
			 slow.tcp_flags);
	assert_unknown_is_zero(&parsed->transport);
	assert_fields(frame + parsed->offset, parsed);
	assert_tcp_at(frame + parsed->offset, n_bytes - parsed->offset, parsed);
}

static void assert_slow_agrees(const char *name, const u8 *frame, size_t n_bytes)
{
	struct parsed parsed = parse_exact(frame, n_bytes), slow = { 0 };

	slow.parse = slow_packet_parse(frame, n_bytes, &slow.offset);
	if (parsed.parse != slow.parse || parsed.offset != slow.offset)
		fail_msg("%s, %zu bytes: parse %d, offset %zu; slow %d, %zu", name, n_bytes,
			 parsed.parse, parsed.offset, slow.parse, slow.offset);
	slow.vlan = slow_packet_vlan(frame, n_bytes);
	slow.is_vital = slow_is_vital(frame, n_bytes);
	if (parsed.vlan != slow.vlan || parsed.is_vital != slow.is_vital)
		fail_msg("%s, %zu bytes: VLAN %u, vital %u; slow %u, %u", name, n_bytes,
			 parsed.vlan, parsed.is_vital, slow.vlan, slow.is_vital);
	if (parsed.offset)
		assert_slow_transport(name, frame, n_bytes, &parsed);
}

static void test_samples(void **state)
{
	for (size_t i = 0; i < N_SAMPLES; i++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(samples[i].hex, frame);
		struct parsed parsed = parse_exact(frame, n_bytes);

		if (parsed.parse != samples[i].parse || parsed.offset != samples[i].offset)
			fail_msg("%s: parse %d, offset %zu", samples[i].name, parsed.parse,
				 parsed.offset);
		assert_slow_agrees(samples[i].name, frame, n_bytes);
	}
}

static void test_truncated(void **state)
{
	for (size_t i = 0; i < N_SAMPLES; i++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(samples[i].hex, frame);

		for (size_t n = 0; n < n_bytes; n++)
			assert_slow_agrees(samples[i].name, frame, n);
		if (!samples[i].offset)
			continue;
		/* The fixed header is what it takes, to the byte. */
		n_bytes = samples[i].offset + (samples[i].parse == BALEEN_PARSE_IP4 ? 20 : 40);
		assert_int_equal(parse_exact(frame, n_bytes).parse, samples[i].parse);
		assert_int_equal(parse_exact(frame, n_bytes - 1).parse, BALEEN_PARSE_SHORT);
	}
}

/* Samples with some of their 16-bit fields replaced by types that matter. */
static void test_mutated(void **state)
{
	static const u16 types[] = { 0x0800, 0x86dd, 0x8100, 0x88a8, 0x9100, 0x8864,
				     0x8863, 0x8847, 0x8848, 0x0021, 0x0057, 0x4500 };
	struct random random = random_from(1);
	u64 seen[BALEEN_PARSE_SHORT + 1] = { 0 };

	for (u32 round = 0; round < 500000; round++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(samples[round % N_SAMPLES].hex, frame), ignored;

		for (u32 n = random_below(&random, 4); n && n_bytes >= 16; n--) {
			size_t at = 12 + 2 * random_below(&random, (n_bytes - 12) / 2);
			u16 type = types[random_below(&random, sizeof(types) / 2)];

			if (at > 46)
				continue;
			frame[at] = type >> 8;
			frame[at + 1] = type;
		}
		if (n_bytes && random_below(&random, 4) == 0)
			frame[random_below(&random, n_bytes)] = random_next(&random);
		if (random_below(&random, 3) == 0)
			n_bytes = random_below(&random, n_bytes + 1);
		assert_slow_agrees(samples[round % N_SAMPLES].name, frame, n_bytes);
		seen[slow_packet_parse(frame, n_bytes, &ignored)]++;
	}
	/* The mutations reach every result often. */
	for (u32 parse = 0; parse <= BALEEN_PARSE_SHORT; parse++)
		assert_true(seen[parse] > 1000);
}

/* --- above IP ------------------------------------------------------------- */

/* What must be known of a frame; -1 for nothing. */
struct upper {
	const char *name;
	const char *hex;
	struct slow_transport want;
};

#define UNKNOWN -1, -1, -1
#define HIDDEN_PORTS UNKNOWN, -1, BALEEN_HIDDEN_PORTS
#define HIDDEN_FLAGS BALEEN_TCP_HIDDEN, BALEEN_HIDDEN_FLAGS
#define HIDDEN_BOTH UNKNOWN, BALEEN_TCP_HIDDEN, BALEEN_HIDDEN_PORTS | BALEEN_HIDDEN_FLAGS
#define HIDDEN_ALL -1, UNKNOWN, -1, BALEEN_HIDDEN_ALL
/* ports of a protocol that has none */
#define NONE 0, 0, -1, -1
#define IP4_OF(proto) MAC "0800 4500 0400 0001 0000 40" proto " 0000 c0000201 c6336402 "
#define IP4_PART(word) MAC "0800 4500 0400 0001 " word " 4006 0000 c0000201 c6336402 "
#define IP4_IHL(ihl) MAC "0800 4" ihl "00 0400 0001 0000 4006 0000 c0000201 c6336402 "
#define ADDRESSES6 "20010db8000000000000000000000001 20010db8000000000000000000000002 "
#define IP6_OF(proto) MAC "86dd 60000000 0400 " proto "40 " ADDRESSES6
#define PORTS "1234 0016 "
#define TCP PORTS "00000001 00000002 50 12 ffff 0000 0000 "
#define EXT(next) next "00 000000000000 "
#define FRAG(next, word) next "00 " word " 0000 0001 "
#define WANT_PORTS 0x1234, 22, -1

static const struct upper upper_devices[] = {
	{ "TCP", IP4_OF("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "UDP", IP4_OF("11") PORTS, { 17, WANT_PORTS, -1, 0 } },
	{ "DCCP", IP4_OF("21") PORTS, { 33, WANT_PORTS, -1, 0 } },
	{ "SCTP", IP4_OF("84") PORTS, { 132, WANT_PORTS, -1, 0 } },
	{ "UDP-Lite", IP4_OF("88") PORTS, { 136, WANT_PORTS, -1, 0 } },
	{ "ICMP", IP4_OF("01") "0800 f7ff 0001 0001", { 1, NONE, 0 } },
	{ "ICMP without a byte", IP4_OF("01"), { 1, NONE, 0 } },
	{ "ICMPv6 in IPv4", IP4_OF("3a") "80", { 58, 0, 0, 0x80, -1, 0 } },
	{ "protocol 0, no extension header of IPv4", IP4_OF("00") EXT("06") TCP, { 0, NONE, 0 } },
	{ "AH of IPv4", IP4_OF("33") TCP, { 51, NONE, 0 } },
	{ "no port numbers", IP4_OF("06"), { 6, HIDDEN_BOTH } },
	{ "port numbers cut off", IP4_OF("06") "1234 00", { 6, HIDDEN_BOTH } },
	{ "port numbers, nothing else", IP4_OF("06") PORTS, { 6, WANT_PORTS, HIDDEN_FLAGS } },
	{ "TCP cut off before its flags",
	  IP4_OF("06") PORTS "00000001 00000002 50",
	  { 6, WANT_PORTS, HIDDEN_FLAGS } },
	{ "TCP cut off behind its flags",
	  IP4_OF("06") PORTS "00000001 00000002 50 02",
	  { 6, WANT_PORTS, 2, 0 } },
	{ "not fragmented, DF", IP4_PART("4000") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "first fragment", IP4_PART("2000") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "second fragment, which may bring flags",
	  IP4_PART("2001") TCP,
	  { 6, UNKNOWN, HIDDEN_FLAGS } },
	{ "third fragment", IP4_PART("2002") TCP, { 6, UNKNOWN, -1, 0 } },
	{ "total length that ends before the ports",
	  MAC "0800 4500 0017 0001 0000 4006 0000 c0000201 c6336402" TCP,
	  { 6, HIDDEN_BOTH } },
	{ "total length that ends behind the ports, flags in the padding",
	  MAC "0800 4500 001c 0001 2000 4006 0000 c0000201 c6336402" TCP,
	  { 6, WANT_PORTS, HIDDEN_FLAGS } },
	{ "total length that ends behind the flags",
	  MAC "0800 4500 0022 0001 0000 4006 0000 c0000201 c6336402" TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "total length below the header",
	  MAC "0800 4500 0008 0001 0000 4011 0000 c0000201 c6336402" PORTS,
	  { 17, HIDDEN_PORTS } },
	{ "last fragment", IP4_PART("1fff") TCP, { 6, UNKNOWN, -1, 0 } },
	{ "fragment 4096", IP4_PART("1000") TCP, { 6, UNKNOWN, -1, 0 } },
	{ "reserved flag", IP4_PART("8000") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "later fragment of ICMP",
	  MAC "0800 4500 0028 0001 0001 4001 0000 c0000201 c6336402",
	  { 1, NONE, 0 } },
	{ "header of 0 bytes", IP4_IHL("0") TCP, { 6, HIDDEN_BOTH } },
	{ "header of 16 bytes", IP4_IHL("4") TCP, { 6, HIDDEN_BOTH } },
	{ "4 bytes of options", IP4_IHL("6") "01010101" TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "40 bytes of options",
	  IP4_IHL("f") EXT("00") EXT("00") EXT("00") EXT("00") EXT("00") TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "options longer than the frame", IP4_IHL("f") TCP, { 6, HIDDEN_BOTH } },
	{ "header that ends with the frame", IP4_IHL("6") "01010101", { 6, HIDDEN_BOTH } },
	{ "total length 0",
	  MAC "0800 4500 0000 0001 0000 4006 0000 c0000201 c6336402" TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },

	{ "IPv6, TCP", IP6_OF("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, UDP", IP6_OF("11") PORTS, { 17, WANT_PORTS, -1, 0 } },
	{ "IPv6, DCCP", IP6_OF("21") PORTS, { 33, WANT_PORTS, -1, 0 } },
	{ "IPv6, SCTP", IP6_OF("84") PORTS, { 132, WANT_PORTS, -1, 0 } },
	{ "IPv6, UDP-Lite", IP6_OF("88") PORTS, { 136, WANT_PORTS, -1, 0 } },
	{ "IPv6, ICMPv6", IP6_OF("3a") "8800 0000", { 58, 0, 0, 0x88, -1, 0 } },
	{ "IPv6, ICMPv6 cut off", IP6_OF("3a"), { 58, NONE, 0 } },
	{ "IPv6, ICMP", IP6_OF("01") "0800", { 1, NONE, 0 } },
	{ "IPv6, payload that ends behind the ports, flags in the padding",
	  MAC "86dd 60000000 0008 0640 " ADDRESSES6 TCP,
	  { 6, WANT_PORTS, HIDDEN_FLAGS } },
	{ "IPv6, payload that ends before the ports",
	  MAC "86dd 60000000 0003 1140 " ADDRESSES6 PORTS,
	  { 17, HIDDEN_PORTS } },
	{ "IPv6, payload that ends in an extension header",
	  MAC "86dd 60000000 0007 3c40 " ADDRESSES6 EXT("06") TCP,
	  { HIDDEN_ALL } },
	{ "IPv6, payload length 0",
	  MAC "86dd 60000000 0000 0640 " ADDRESSES6 TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, second fragment, which may bring flags",
	  IP6_OF("2c") FRAG("06", "0009") TCP,
	  { 6, UNKNOWN, HIDDEN_FLAGS } },
	{ "IPv6, no next header", IP6_OF("3b") TCP, { 59, NONE, 0 } },
	{ "IPv6, ESP", IP6_OF("32") "00001234 00000001" TCP, { 50, NONE, 0 } },
	{ "IPv6, ports cut off", IP6_OF("11") "1234 00", { 17, HIDDEN_PORTS } },
	{ "IPv6, hop-by-hop", IP6_OF("00") EXT("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, routing", IP6_OF("2b") EXT("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, destination options", IP6_OF("3c") EXT("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, mobility", IP6_OF("87") EXT("06") TCP, { 135, NONE, 0 } },
	{ "IPv6, HIP", IP6_OF("8b") EXT("06") TCP, { 139, NONE, 0 } },
	{ "IPv6, Shim6", IP6_OF("8c") EXT("06") TCP, { 140, NONE, 0 } },
	{ "IPv6, AH",
	  IP6_OF("33") "0604 0000 00000001 00000002 00000003 00000004 00000005 " TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, AH of the least length", IP6_OF("33") EXT("06") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, hop-by-hop of 16 bytes",
	  IP6_OF("00") "0601 000000000000 0000000000000000" TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, extension longer than the frame",
	  IP6_OF("00") "06ff 000000000000" TCP,
	  { 6, HIDDEN_BOTH } },
	{ "IPv6, extensions longer than the frame",
	  IP6_OF("00") "3cff 000000000000" TCP,
	  { HIDDEN_ALL } },
	{ "IPv6, extension of 7 bytes", IP6_OF("00") "0600 0000000000", { HIDDEN_ALL } },
	{ "IPv6, no byte of an extension", IP6_OF("3c"), { HIDDEN_ALL } },
	{ "IPv6, ESP behind an extension", IP6_OF("3c") EXT("32") TCP, { 50, NONE, 0 } },
	{ "IPv6, first fragment", IP6_OF("2c") FRAG("06", "0001") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, only fragment", IP6_OF("2c") FRAG("06", "0000") TCP, { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, reserved bits of a fragment",
	  IP6_OF("2c") FRAG("06", "0006") TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, a fragment header's second byte is no length",
	  IP6_OF("2c") "06ff 0001 0000 0001" TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, second fragment",
	  IP6_OF("2c") FRAG("06", "0008") TCP,
	  { 6, UNKNOWN, HIDDEN_FLAGS } },
	{ "IPv6, last fragment", IP6_OF("2c") FRAG("06", "fff8") TCP, { 6, UNKNOWN, -1, 0 } },
	{ "IPv6, later fragment of ICMPv6", IP6_OF("2c") FRAG("3a", "0008") "88", { 58, NONE, 0 } },
	{ "IPv6, later fragment of more headers",
	  IP6_OF("2c") FRAG("3c", "0008") EXT("06") TCP,
	  { -1, UNKNOWN, -1, 0 } },
	{ "IPv6, first fragment of more headers",
	  IP6_OF("2c") FRAG("3c", "0001") EXT("06") TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
	{ "IPv6, two fragment headers, the second later",
	  IP6_OF("2c") FRAG("2c", "0001") FRAG("06", "0008") TCP,
	  { 6, UNKNOWN, HIDDEN_FLAGS } },
	{ "IPv6, extensions before a later fragment",
	  IP6_OF("00") EXT("2b") EXT("2c") FRAG("06", "0010") TCP,
	  { 6, UNKNOWN, -1, 0 } },
	{ "IPv6, payload length 0, as of a jumbogram",
	  MAC "86dd 60000000 0000 0040" ADDRESSES6 "0600 c204 00010000" TCP,
	  { 6, WANT_PORTS, 0x12, 0 } },
};

#define N_UPPERS (sizeof(upper_devices) / sizeof(upper_devices[0]))

static void assert_upper(const char *name, const u8 *frame, size_t n_bytes,
			 const struct slow_transport *want)
{
	struct parsed parsed = parse_exact(frame, n_bytes);

	assert_true(parsed.parse == BALEEN_PARSE_IP4 || parsed.parse == BALEEN_PARSE_IP6);
	if (!slow_transport_agrees(want, &parsed.transport))
		fail_msg("%s: protocol %d %u, ports %d %u %u, type %u, flags %#x", name,
			 parsed.transport.has_proto, parsed.transport.proto,
			 parsed.transport.has_ports, parsed.transport.sport, parsed.transport.dport,
			 parsed.transport.icmp_type, parsed.transport.tcp_flags);
	assert_slow_agrees(name, frame, n_bytes);
}

static void test_uppers(void **state)
{
	for (size_t i = 0; i < N_UPPERS; i++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(upper_devices[i].hex, frame);

		assert_upper(upper_devices[i].name, frame, n_bytes, &upper_devices[i].want);
		for (size_t n = 0; n < n_bytes; n++)
			assert_slow_agrees(upper_devices[i].name, frame, n);
	}
}

/* Each protocol number, with and without an extension header before it. */
static void test_every_protocol(void **state)
{
	for (u32 proto = 0; proto < 256; proto++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(IP4_OF("00") TCP, frame);
		struct parsed parsed;

		frame[14 + 9] = proto;
		parsed = parse_exact(frame, n_bytes);
		assert_true(parsed.transport.has_proto && parsed.transport.has_ports);
		assert_int_equal(parsed.transport.proto, proto);
		assert_int_equal(parsed.transport.dport, slow_has_ports(proto) ? 22 : 0);
		n_bytes = from_hex(IP6_OF("3c") EXT("00") TCP, frame);
		frame[14 + 40] = proto;
		assert_slow_agrees("a protocol", frame, n_bytes);
		parsed = parse_exact(frame, n_bytes);
		if (!slow_is_extension(proto))
			assert_int_equal(parsed.transport.proto, proto);
	}
}

/* 0 to 10 extension headers of one type and length: up to 8 are followed. */
static void test_chains(void **state)
{
	static const u8 types[] = { 0, 43, 44, 51, 60 };

	for (u32 i = 0; i < sizeof(types) * 11 * 4; i++) {
		u32 type = types[i % sizeof(types)], n_headers = i / sizeof(types) % 11;
		u32 length = i / sizeof(types) / 11 * 3;
		size_t n_header = type == 44 ? 8 : type == 51 ? 4 * (length + 2) : 8 * (length + 1);
		u8 frame[MAX_FRAME] = { 0 };
		size_t at = from_hex(IP6_OF("06"), frame);
		struct slow_transport want = { 6, WANT_PORTS, 0x12, 0 };
		u8 *next = &frame[14 + 6];

		for (u32 n = 0; n < n_headers; n++) {
			*next = type;
			next = &frame[at];
			frame[at + 1] = type == 44 ? 0 : length;
			at += n_header < 8 ? 8 : n_header;
		}
		*next = 6;
		at += from_hex(TCP, frame + at);
		if (n_headers > 8)
			want = (struct slow_transport){ HIDDEN_ALL };
		assert_upper("a chain", frame, at, &want);
	}
}

/* Any byte of an IP header and what follows changed, then cut anywhere. */
static void test_mutated_uppers(void **state)
{
	static const u8 types[] = { 0, 43, 44, 51, 60, 135, 6, 17, 58, 1, 132, 50 };
	struct random random = random_from(2);
	u64 seen[3] = { 0 };

	for (u32 round = 0; round < 400000; round++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(upper_devices[round % N_UPPERS].hex, frame);
		struct parsed parsed;

		for (u32 n = random_below(&random, 6); n; n--) {
			size_t at = 14 + random_below(&random, n_bytes - 14);

			frame[at] = random_below(&random, 2) ?
					    types[random_below(&random, sizeof(types))] :
					    random_next(&random);
		}
		if (random_below(&random, 3) == 0)
			n_bytes = random_below(&random, n_bytes + 1);
		assert_slow_agrees(upper_devices[round % N_UPPERS].name, frame, n_bytes);
		parsed = parse_exact(frame, n_bytes);
		if (parsed.offset)
			seen[parsed.transport.has_proto + parsed.transport.has_ports]++;
	}
	for (u32 i = 0; i < 3; i++)
		assert_true(seen[i] > 10000);
}

/* --- VLAN ----------------------------------------------------------------- */

static void test_vlan(void **state)
{
	static const struct {
		const char *hex;
		u32 vlan;
	} frames[] = {
		{ MAC "0800" IP4, BALEEN_VLAN_NONE },
		{ MAC "8100 0000 0800" IP4, BALEEN_VLAN_NONE },
		{ MAC "8100 e000 88a8 f000 0800" IP4, BALEEN_VLAN_NONE },
		{ MAC "8100 0001 0800" IP4, 1 },
		{ MAC "88a8 ffff 0800" IP4, 4095 },
		{ MAC "9100 2064 86dd" IP6, 100 },
		{ MAC "8100 e000 8100 0064 0800" IP4, 100 },
		{ MAC "8100 e000 8100 e000 8100 0000 8100 0ffe 0800" IP4, 4094 },
		{ MAC "88a8 0065 8100 0064 0800" IP4, 101 },
		{ MAC "88a8 0065 8100 0000 0806", 101 },
		{ MAC "8100 0064" PPPOE "0021" IP4, 100 },
		{ MAC "8100 0064 8847", 100 },
	};

	for (u32 i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(frames[i].hex, frame);

		if (parse_exact(frame, n_bytes).vlan != frames[i].vlan)
			fail_msg("%s", frames[i].hex);
	}
}

/* --- vital ---------------------------------------------------------------- */

#define ICMP6(hop_limit, type) \
	MAC "86dd 60000000 0018 3a" hop_limit " " ADDRESSES6 type "00 0000 00000000 "

static void test_vital(void **state)
{
	static const struct {
		bool is_vital;
		const char *hex;
	} frames[] = {
		{ true, MAC "0806 0001 0800 0604 0001" },
		{ true, MAC "0806" },
		{ true, MAC Q AD "0806" },
		{ true, MAC "88cc 0207" },
		{ true, MAC "8809 0101" },
		{ true, MAC "888e 0101" },
		{ true, MAC "0026 4242 03" },
		{ false, MAC "0026 4242" },
		{ false, MAC "0026 4243 03" },
		{ false, MAC "0026 4342 03" },
		{ false, MAC "05dc aaaa 03" },
		{ true, MAC "05ff 4242 03" },
		{ false, MAC "0600 4242 03" },
		{ false, MAC Q "0026 4242 03" },
		{ false, MAC "0608" },
		{ false, MAC "8808 0001" },
		{ false, MAC "88e5 4242 03" },
		{ false, MAC "8863 1109 0000 0004 0101 0000" },
		{ false, MAC PPPOE "0806" },
		{ false, MAC PPPOE "c021" },
		{ false, MAC "8847 00064140" },
		{ false, MAC Q Q Q Q Q "0806" },
		{ false, MAC "0800" IP4 },
		{ false, MAC "0800" IP6 },
		{ false, MAC "08" },
		{ true, ICMP6("ff", "85") },
		{ true, ICMP6("ff", "86") },
		{ true, ICMP6("ff", "87") },
		{ true, ICMP6("ff", "88") },
		{ true, ICMP6("ff", "89") },
		{ false, ICMP6("ff", "84") },
		{ false, ICMP6("ff", "8a") },
		{ false, ICMP6("ff", "80") },
		{ false, ICMP6("ff", "8f") },
		{ false, ICMP6("fe", "87") },
		{ false, ICMP6("01", "87") },
		{ false, ICMP6("00", "87") },
		{ true, ICMP6("01", "82") },
		{ true, ICMP6("01", "83") },
		{ true, ICMP6("01", "84") },
		{ true, ICMP6("01", "8f") },
		{ false, ICMP6("01", "81") },
		{ false, ICMP6("01", "85") },
		{ false, ICMP6("01", "8e") },
		{ false, ICMP6("01", "90") },
		{ false, ICMP6("00", "82") },
		{ false, ICMP6("02", "82") },
		{ false, ICMP6("ff", "82") },
		/* MLD has the router alert option, RFC 2710 section 3. */
		{ true, MAC "86dd 60000000 0020 0001 " ADDRESSES6 "3a00 05020000 0100 8f00" },
		{ false, MAC "86dd 60000000 0020 0001 " ADDRESSES6 "3a00 05020000 0100" },
		{ false, MAC "86dd 60000000 0020 0001 " ADDRESSES6 "1100 05020000 0100 8f00" },
		{ false, MAC "86dd 60000000 0018 11ff " ADDRESSES6 "8700" },
		{ false, MAC "86dd 60000000 0018 2cff " ADDRESSES6 "3a00 0008 00000001 8700" },
		{ false, MAC "0800 4500 0020 0001 0000 ff3a 0000 c0000201 c6336402 8700" },
	};

	for (u32 i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		u8 frame[MAX_FRAME];
		size_t n_bytes = from_hex(frames[i].hex, frame);

		if (parse_exact(frame, n_bytes).is_vital != frames[i].is_vital)
			fail_msg("%s", frames[i].hex);
		for (size_t n = 0; n <= n_bytes; n++)
			assert_slow_agrees(frames[i].hex, frame, n);
	}
}

/* --- keys ----------------------------------------------------------------- */

static struct baleen_key packet_key(const u8 *ip, u32 key_spec, u32 domain)
{
	return baleen_packet_key(ip, baleen_packet_key_offset(key_spec, domain), domain);
}

static void test_keys(void **state)
{
	u8 frame[MAX_FRAME];
	struct baleen_key key;

	from_hex(IP4, frame);
	key = packet_key(frame, BALEEN_KEY_SRC, BALEEN_IP4);
	assert_int_equal(key.domain, BALEEN_IP4);
	assert_int_equal(key.ip4, 0xc0000201);
	key = packet_key(frame, BALEEN_KEY_DST, BALEEN_IP4);
	assert_int_equal(key.ip4, 0xc6336402);
	from_hex(IP6, frame);
	key = packet_key(frame, BALEEN_KEY_SRC, BALEEN_IP6);
	assert_int_equal(key.domain, BALEEN_IP6);
	assert_int_equal(key.hi, 0x20010db800000000ull);
	assert_int_equal(key.lo, 1);
	key = packet_key(frame, BALEEN_KEY_DST, BALEEN_IP6);
	assert_int_equal(key.hi, 0x20010db800000000ull);
	assert_int_equal(key.lo, 2);
}

/* What a key asks for must be there. */
static void test_has_key(void **state)
{
	for (u32 i = 0; i < 4; i++) {
		struct baleen_transport transport = { .has_proto = i & 1, .has_ports = i >> 1 };

		for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
			bool asks_ports = spec & BALEEN_KEY_SPORT || spec & BALEEN_KEY_DPORT;
			bool asks_proto = spec & BALEEN_KEY_PROTO;

			assert_int_equal(baleen_packet_has_key(&transport, spec),
					 (transport.has_ports || !asks_ports) &&
						 (transport.has_proto || !asks_proto));
		}
	}
}

/* What a key asks for may be hidden: the ports with the protocol, and without it. */
static void test_hides_key(void **state)
{
	for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
		bool asks_ports = spec & BALEEN_KEY_SPORT || spec & BALEEN_KEY_DPORT;
		bool asks_proto = spec & BALEEN_KEY_PROTO;
		struct baleen_transport transport = { .has_proto = true,
						      .proto = 6,
						      .tcp_flags = BALEEN_TCP_HIDDEN };

		assert_int_equal(baleen_packet_hides_key(&transport, spec), asks_ports);
		transport.has_ports = true;
		assert_false(baleen_packet_hides_key(&transport, spec));
		transport = (struct baleen_transport){ 0 };
		assert_int_equal(baleen_packet_hides_key(&transport, spec),
				 asks_ports || asks_proto);
		transport.offset = 1;
		assert_false(baleen_packet_hides_key(&transport, spec));
	}
}

static void test_keys_unaligned(void **state)
{
	for (u32 offset = 0; offset < 8; offset++) {
		u8 *exact = malloc(offset + 16);
		struct baleen_key key;

		for (u32 i = 0; i < 16; i++)
			exact[offset + i] = 0xf0 + i;
		key = baleen_key_ip6(exact + offset);
		assert_int_equal(key.hi, 0xf0f1f2f3f4f5f6f7ull);
		assert_int_equal(key.lo, 0xf8f9fafbfcfdfeffull);
		key = baleen_key_ip4(exact + offset + 12);
		assert_int_equal(key.ip4, 0xfcfdfeff);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	       cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_mutated),	       cmocka_unit_test(test_uppers),
		cmocka_unit_test(test_every_protocol), cmocka_unit_test(test_chains),
		cmocka_unit_test(test_mutated_uppers), cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_vital),	       cmocka_unit_test(test_keys),
		cmocka_unit_test(test_has_key),	       cmocka_unit_test(test_hides_key),
		cmocka_unit_test(test_keys_unaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
