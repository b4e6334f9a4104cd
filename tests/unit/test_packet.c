// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames: what each is taken for, where its IP header starts, which key it has. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "slow_packet.h"

#define MAX_FRAME 256

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
	{"ARP", BALEEN_PARSE_NOT_IP, 0, MAC "0806 0001 0800 0604 0001"},
	{"LLDP", BALEEN_PARSE_NOT_IP, 0, MAC "88cc 0207"},
	{"EAPOL", BALEEN_PARSE_NOT_IP, 0, MAC "888e 0101"},
	{"802.3 STP", BALEEN_PARSE_NOT_IP, 0, MAC "0026 4242 03 000000"},
	{"802.3 length of 1500", BALEEN_PARSE_NOT_IP, 0, MAC "05dc aaaa 03 000000 0800" IP4},
	{"no more than an Ethernet header", BALEEN_PARSE_NOT_IP, 0, MAC "1234"},
	{"tagged ARP", BALEEN_PARSE_NOT_IP, 0, MAC Q "0806 0001"},
	{"four tags, ARP", BALEEN_PARSE_NOT_IP, 0, MAC Q Q Q Q "0806"},
	{"PPPoE discovery", BALEEN_PARSE_NOT_IP, 0, MAC "8863 1109 0000 0004 0101 0000"},
	{"PPPoE LCP", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE "c021 0101"},
	{"PPPoE PPP protocol of an EtherType", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE "0800" IP4},
	{"PPPoE in PPPoE", BALEEN_PARSE_NOT_IP, 0, MAC PPPOE PPPOE "0021" IP4},
	{"byte order of the EtherType", BALEEN_PARSE_NOT_IP, 0, MAC "0008" IP4},
	{"MPLS", BALEEN_PARSE_MPLS, 0, MAC "8847 00064140" IP4},
	{"MPLS multicast", BALEEN_PARSE_MPLS, 0, MAC "8848 00064140" IP4},
	{"MPLS without a label", BALEEN_PARSE_MPLS, 0, MAC "8847"},
	{"tagged MPLS", BALEEN_PARSE_MPLS, 0, MAC AD Q "8847"},
	{"five tags 802.1Q", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q Q "0800" IP4},
	{"five tags 802.1ad", BALEEN_PARSE_TAGS, 0, MAC AD AD AD AD AD "0800" IP4},
	{"five tags 0x9100", BALEEN_PARSE_TAGS, 0, MAC QINQ QINQ QINQ QINQ QINQ "86dd" IP6},
	{"five mixed tags", BALEEN_PARSE_TAGS, 0, MAC AD Q QINQ Q AD "0800" IP4},
	{"six tags", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q Q Q "0800" IP4},
	{"the fifth tag cut off", BALEEN_PARSE_TAGS, 0, MAC Q Q Q Q "8100"},
	{"version 6 as IPv4", BALEEN_PARSE_VERSION, 0, MAC "0800" IP6},
	{"version 4 as IPv6", BALEEN_PARSE_VERSION, 0, MAC "86dd" IP4 IP4},
	{"version 0", BALEEN_PARSE_VERSION, 0,
	 MAC "0800 0500 0014 0001 0000 4011 0000 c0000201 c6336402"},
	{"version 15", BALEEN_PARSE_VERSION, 0,
	 MAC "0800 f500 0014 0001 0000 4011 0000 c0000201 c6336402"},
	{"tagged version 6 as IPv4", BALEEN_PARSE_VERSION, 0, MAC Q "0800" IP6},
	{"PPPoE version 4 as IPv6", BALEEN_PARSE_VERSION, 0, MAC PPPOE "0057" IP4 IP4},
	{"nothing", BALEEN_PARSE_SHORT, 0, ""},
	{"13 bytes", BALEEN_PARSE_SHORT, 0, MAC "08"},
	{"IPv4 header of 19 bytes", BALEEN_PARSE_SHORT, 0,
	 MAC "0800 4500 0014 0001 0000 4011 0000 c0000201 c63364"},
	{"IPv6 header of 20 bytes", BALEEN_PARSE_SHORT, 0,
	 MAC "86dd 60000000 0000 3b40 20010db8 00000000 00000000"},
	{"short and of the wrong version", BALEEN_PARSE_SHORT, 0, MAC "0800 60"},
	{"half a tag", BALEEN_PARSE_SHORT, 0, MAC "8100 0064 08"},
	{"tag without a payload", BALEEN_PARSE_SHORT, 0, MAC Q "0800"},
	{"PPPoE without PPP", BALEEN_PARSE_SHORT, 0, MAC PPPOE},

	/* IPv4 */
	{"IPv4", BALEEN_PARSE_IP4, 14, MAC "0800" IP4},
	{"IPv4, padded", BALEEN_PARSE_IP4, 14, MAC "0800" IP4 "0000000000000000"},
	{"IPv4, one tag", BALEEN_PARSE_IP4, 18, MAC Q "0800" IP4},
	{"IPv4, one 802.1ad tag", BALEEN_PARSE_IP4, 18, MAC AD "0800" IP4},
	{"IPv4, one 0x9100 tag", BALEEN_PARSE_IP4, 18, MAC QINQ "0800" IP4},
	{"IPv4, priority tag", BALEEN_PARSE_IP4, 18, MAC "8100 e000 0800" IP4},
	{"IPv4, two tags", BALEEN_PARSE_IP4, 22, MAC AD Q "0800" IP4},
	{"IPv4, three tags", BALEEN_PARSE_IP4, 26, MAC QINQ AD Q "0800" IP4},
	{"IPv4, four tags", BALEEN_PARSE_IP4, 30, MAC Q Q Q Q "0800" IP4},
	{"IPv4, PPPoE", BALEEN_PARSE_IP4, 22, MAC PPPOE "0021" IP4},
	{"IPv4, PPPoE, four tags", BALEEN_PARSE_IP4, 38, MAC QINQ AD Q Q PPPOE "0021" IP4},
	{"IPv4, options", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4f00 003c 0001 0000 4011 0000 c0000201 c6336402 83270400"},
	{"IPv4, header length 0", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4000 0014 0001 0000 4011 0000 c0000201 c6336402"},
	{"IPv4, header longer than the frame", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4f00 0014 0001 0000 4011 0000 c0000201 c6336402"},
	{"IPv4, total length 0", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4500 0000 0001 0000 4011 0000 c0000201 c6336402"},
	{"IPv4, total length 65535", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4500 ffff 0001 0000 4011 0000 c0000201 c6336402"},
	{"IPv4, first fragment", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4500 0014 0001 2000 4011 0000 c0000201 c6336402"},
	{"IPv4, last fragment", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4500 0014 0001 1fff 4011 0000 c0000201 c6336402"},
	{"IPv4, lifetime 0, wrong checksum", BALEEN_PARSE_IP4, 14,
	 MAC "0800 4500 0014 0001 8000 00ff dead c0000201 c6336402"},

	/* IPv6 */
	{"IPv6", BALEEN_PARSE_IP6, 14, MAC "86dd" IP6},
	{"IPv6, one tag", BALEEN_PARSE_IP6, 18, MAC Q "86dd" IP6},
	{"IPv6, one 802.1ad tag", BALEEN_PARSE_IP6, 18, MAC AD "86dd" IP6},
	{"IPv6, one 0x9100 tag", BALEEN_PARSE_IP6, 18, MAC QINQ "86dd" IP6},
	{"IPv6, two tags", BALEEN_PARSE_IP6, 22, MAC AD Q "86dd" IP6},
	{"IPv6, three tags", BALEEN_PARSE_IP6, 26, MAC AD Q Q "86dd" IP6},
	{"IPv6, four tags", BALEEN_PARSE_IP6, 30, MAC AD AD Q Q "86dd" IP6},
	{"IPv6, PPPoE", BALEEN_PARSE_IP6, 22, MAC PPPOE "0057" IP6},
	{"IPv6, PPPoE, one tag", BALEEN_PARSE_IP6, 26, MAC Q PPPOE "0057" IP6},
	{"IPv6, PPPoE of version 0 and length 0", BALEEN_PARSE_IP6, 22,
	 MAC "8864 0000 0000 0000 0057" IP6},
	{"IPv6, fragment and hop-by-hop headers", BALEEN_PARSE_IP6, 14,
	 MAC "86dd 6fffffff ffff 0000 20010db8000000000000000000000001 "
	     "20010db8000000000000000000000002 2c00 0104 0000 0000"},
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
};

/* Parses a copy that ends where the frame does: ASan watches its end. */
static struct parsed parse_exact(const u8 *frame, size_t n_bytes)
{
	u8 *exact = malloc(n_bytes ? n_bytes : 1);
	struct baleen_packet packet;
	struct parsed parsed = {0};

	memcpy(exact, frame, n_bytes);
	parsed.parse = baleen_packet_parse(exact, exact + n_bytes, &packet);
	if (parsed.parse == BALEEN_PARSE_IP4 || parsed.parse == BALEEN_PARSE_IP6)
		parsed.offset = packet.ip - exact;
	else
		assert_null(packet.ip);
	free(exact);
	return parsed;
}

static void assert_slow_agrees(const char *name, const u8 *frame, size_t n_bytes)
{
	struct parsed parsed = parse_exact(frame, n_bytes), slow = {0};

	slow.parse = slow_packet_parse(frame, n_bytes, &slow.offset);
	if (parsed.parse != slow.parse || parsed.offset != slow.offset)
		fail_msg("%s, %zu bytes: parse %d, offset %zu; slow %d, %zu", name, n_bytes,
			 parsed.parse, parsed.offset, slow.parse, slow.offset);
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
	static const u16 types[] = {0x0800, 0x86dd, 0x8100, 0x88a8, 0x9100, 0x8864,
				    0x8863, 0x8847, 0x8848, 0x0021, 0x0057, 0x4500};
	struct random random = random_from(1);
	u64 seen[BALEEN_PARSE_SHORT + 1] = {0};

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
		cmocka_unit_test(test_mutated),	       cmocka_unit_test(test_keys),
		cmocka_unit_test(test_keys_unaligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
