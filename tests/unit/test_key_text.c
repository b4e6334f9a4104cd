// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keys of several fields, their specs and protocols, as text and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <baleen/hash.h>

#include "key/key_spec.h"
#include "key/key_text.h"
#include "random.h"
#include "util/protocol.h"

#define SEED 0x7761746572ull

/* --- specs --- */

static void test_refused_specs(void **state)
{
	static const char *const refused[][2] = {
		{"", "'' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"source", "'source' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"src,", "'' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{",src", "'' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"src, dst", "' dst' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"SRC", "'SRC' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"sr", "'sr' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"dst,srcs", "'srcs' is none of proto, src, dst, sport, dport, flow, string, squid, fingerprint"},
		{"src,dst,src", "'src' is there already"},
		{"flow,src", "'src' is there already"},
		{"proto,flow", "'flow' is there already"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct baleen_error error = {""};
		u32 spec = 77;

		assert_int_equal(baleen_key_spec_parse(refused[i][0], &spec, &error), -EINVAL);
		assert_int_equal(spec, 77);
		assert_string_equal(error.text, refused[i][1]);
		assert_int_equal(baleen_key_spec_parse(refused[i][0], &spec, NULL), -EINVAL);
	}
}

static void test_specs(void **state)
{
	static const char *const shown[][2] = {
		{"src", "src"},
		{"dport,sport,dst,src", "src,dst,sport,dport"},
		{"dst,proto", "proto,dst"},
		{"flow", "flow"},
		{"src,dst,sport,dport,proto", "flow"},
	};
	char text[BALEEN_KEY_SPEC_TEXT];
	u32 spec;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		assert_int_equal(baleen_key_spec_parse(shown[i][0], &spec, NULL), 0);
		assert_string_equal(baleen_key_spec_text(spec, text), shown[i][1]);
	}
	for (u32 want = 1; want <= BALEEN_KEY_FLOW; want++) {
		baleen_key_spec_text(want, text);
		assert_int_equal(baleen_key_spec_parse(text, &spec, NULL), 0);
		assert_int_equal(spec, want);
	}
	assert_string_equal(baleen_key_spec_text(0, text), "");
}

/* --- protocols --- */

static void test_refused_protocols(void **state)
{
	static const char *const text[] = {"",	 "tcpx", "tc", "256", "1000",  "06",
					   "-1", "6 ",	 " 6", "6x",  "icmp6", "http"};
	u8 protocol = 77;

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		assert_int_equal(baleen_protocol_parse(text[i], &protocol), -EINVAL);
		assert_int_equal(protocol, 77);
	}
}

static void test_protocols(void **state)
{
	static const struct {
		const char *text;
		u8 number;
		const char *shown;
	} named[] = {
		{"icmp", 1, "icmp"},
		{"igmp", 2, "igmp"},
		{"TCP", 6, "tcp"},
		{"6", 6, "tcp"},
		{"udp", 17, "udp"},
		{"dccp", 33, "dccp"},
		{"gre", 47, "gre"},
		{"esp", 50, "esp"},
		{"ah", 51, "ah"},
		{"icmpv6", 58, "icmpv6"},
		{"ospf", 89, "ospf"},
		{"sctp", 132, "sctp"},
		{"IPv6-ICMP", 58, "icmpv6"},
		{"0", 0, "0"},
		{"255", 255, "255"},
		{"udplite", 136, "udplite"},
	};
	char text[BALEEN_PROTOCOL_TEXT];
	u8 protocol;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		assert_int_equal(baleen_protocol_parse(named[i].text, &protocol), 0);
		assert_int_equal(protocol, named[i].number);
		assert_string_equal(baleen_protocol_text(protocol, text), named[i].shown);
	}
	for (u32 number = 0; number < 256; number++) {
		baleen_protocol_text(number, text);
		assert_int_equal(baleen_protocol_parse(text, &protocol), 0);
		assert_int_equal(protocol, number);
	}
}

/* --- keys --- */

static u32 spec_of(const char *text)
{
	u32 spec;

	assert_int_equal(baleen_key_spec_parse(text, &spec, NULL), 0);
	return spec;
}

static void test_refused_keys(void **state)
{
	static const char FEWER[] = "fewer fields than the key has";
	static const char MORE[] = "more fields than the key has";
	static const char NO_RANGE[] = "prefix or range in a key of several fields";
	static const char *const refused[][3] = {
		{"src", "192.0.2.1,443", MORE},
		{"src", "192.0.2.1,", MORE},
		{"fingerprint", "", "a fingerprint without a digit"},
		{"fingerprint", ":", "a fingerprint without a digit"},
		{"fingerprint", "102", "a fingerprint is binary digits"},
		{"fingerprint", "10 1", "a fingerprint is binary digits"},
		{"fingerprint", "100000000000000000000000000000000",
		 "a fingerprint of more than 32 bits"},
		{"dport", "", "port is not a number"},
		{"dport", "65536", "port above 65535"},
		{"dport", "100000000000", "port above 65535"},
		{"dport", "0443", "port with a leading zero"},
		{"dport", "https", "port is not a number"},
		{"dport", "80-90", "range of ports in a key"},
		{"dport", "tcp:80", "a protocol, but the key has none"},
		{"dport", "80,81", MORE},
		{"dport", "-80", "port is not a number"},
		{"proto", "tcpx", "protocol is no known name or number up to 255"},
		{"proto", "256", "protocol is no known name or number up to 255"},
		{"proto", "", "protocol is no known name or number up to 255"},
		{"src,dport", "192.0.2.1", FEWER},
		{"src,dport", "192.0.2.1,", "port is not a number"},
		{"src,dport", ",443", "not an address"},
		{"src,dport", "443,192.0.2.1", "octet above 255"},
		{"src,dport", "192.0.2.1,443,", MORE},
		{"src,dport", "192.0.2.1,443,1,2,3,4,5,6,7,8,9", MORE},
		{"src,dport", "192.0.2.1, 443", "port is not a number"},
		{"src,dport", "192.0.2.0/24,443", NO_RANGE},
		{"src,dport", "192.0.2.1-192.0.2.9,443", NO_RANGE},
		{"src,dport", "2001:db8::/32,443", NO_RANGE},
		{"src,dport", "my-host,443", "not an address"},
		{"src,dport", "/24,443", "not an address"},
		{"src,dport", "!192.0.2.1,443", "not an address"},
		{"src,dport", "192.0.2.1:443,443", "port behind the address"},
		{"src,dport", "192.0.2.300,443", "octet above 255"},
		/* tcp and udp would be one: a guess */
		{"src,dport", "192.0.2.1,tcp:443", "a protocol, but the key has none"},
		{"src,sport,dport", "192.0.2.1,tcp:443", "a protocol, but the key has none"},
		{"flow", "192.0.2.1,tcp:443", "protocol is no known name or number up to 255"},
		{"flow", "tcp,192.0.2.1,198.51.100.2,1,2,3", MORE},
		{"proto,src,sport,dport", "192.0.2.1,tcp:443",
		 "protocol is no known name or number up to 255"},
		{"proto,src,dst,dport", "192.0.2.1,tcp:443",
		 "protocol is no known name or number up to 255"},
		{"proto,src", "192.0.2.1,tcp:443", "protocol is no known name or number up to 255"},
		{"proto,src,dport", "192.0.2.1,tcp:443,9",
		 "protocol is no known name or number up to 255"},
		{"proto,src,dport", "192.0.2.1,tcp",
		 "protocol is no known name or number up to 255"},
		{"proto,src,dport", "192.0.2.1,tcp:", "port is not a number"},
		{"proto,src,dport", "192.0.2.1,:443",
		 "protocol is no known name or number up to 255"},
		{"proto,src,dport", "192.0.2.1,icmp:8/0", "port is not a number"},
		{"proto,src,dport", "icmp,192.0.2.1,443",
		 "protocol without ports: 0 stands for them"},
		{"proto,sport", "50,1", "protocol without ports: 0 stands for them"},
		{"src,dst", "192.0.2.1,2001:db8::1", "addresses of two families"},
		{"src,dst", "2001:db8::1,::ffff:192.0.2.1", "addresses of two families"},
		{"src,dst", "192.0.2.1", FEWER},
	};
	struct baleen_key key, poison;

	memset(&poison, 0xa5, sizeof(poison));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const char *text = refused[i][1], *reason = NULL;

		key = poison;
		if (!baleen_key_parse(text, strlen(text), spec_of(refused[i][0]), &key, &reason))
			fail_msg("'%s' is taken for %s", text, refused[i][0]);
		assert_memory_equal(&key, &poison, sizeof(key));
		if (strcmp(reason, refused[i][2]))
			fail_msg("'%s' for %s: %s", text, refused[i][0], reason);
	}
}

static void test_refused_bytes(void **state)
{
	char text[4096];
	struct baleen_key key;
	const char *reason;

	memset(text, '1', sizeof(text));
	assert_int_equal(baleen_key_parse(text, sizeof(text), BALEEN_KEY_DPORT, &key, &reason),
			 -EINVAL);
	assert_string_equal(reason, "not a key");
	assert_int_equal(baleen_key_parse("44\0003", 4, BALEEN_KEY_DPORT, &key, &reason), -EINVAL);
	assert_string_equal(reason, "NUL byte");
}

static void test_shown(void **state)
{
	static const char *const shown[][3] = {
		{"dport", "443", "443"},
		{"dport", "0", "0"},
		{"sport,dport", "65535,1", "65535,1"},
		{"proto", "17", "udp"},
		{"proto,dport", "TCP,443", "tcp,443"},
		{"proto,dport", "icmp,0", "icmp,0"},
		{"src,dport", "192.0.2.1,443", "192.0.2.1,443"},
		{"src,dport", "2001:0DB8::1,443", "2001:db8::1,443"},
		{"dst,dport", "::ffff:192.0.2.1,443", "192.0.2.1,443"},
		{"src,dst", "192.0.2.1,198.51.100.2", "192.0.2.1,198.51.100.2"},
		{"src,dst", "::ffff:192.0.2.1,198.51.100.2", "192.0.2.1,198.51.100.2"},
		{"src,dst", "::,::1", "::,::1"},
		{"proto,src,dport", "192.0.2.1,tcp:443", "tcp,192.0.2.1,443"},
		{"proto,src,sport", "2001:db8::1,udp:53", "udp,2001:db8::1,53"},
		{"proto,dst,dport", "192.0.2.1,99:0", "99,192.0.2.1,0"},
		{"flow", "tcp,192.0.2.1,198.51.100.2,40000,443",
		 "tcp,192.0.2.1,198.51.100.2,40000,443"},
		{"flow",
		 "ipv6-icmp,2001:db8:1111:2222:3333:4444:5555:6666,"
		 "2001:db8:1111:2222:3333:4444:5555:6667,0,0",
		 "icmpv6,2001:db8:1111:2222:3333:4444:5555:6666,"
		 "2001:db8:1111:2222:3333:4444:5555:6667,0,0"},
	};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		u32 spec = spec_of(shown[i][0]);
		const char *reason = "untouched";
		char text[BALEEN_KEY_TEXT];
		struct baleen_key key;

		if (baleen_key_parse(shown[i][1], strlen(shown[i][1]), spec, &key, &reason))
			fail_msg("'%s': %s", shown[i][1], reason);
		assert_string_equal(reason, "untouched");
		baleen_key_format(&key, spec, text);
		assert_string_equal(text, shown[i][2]);
	}
}

/* --- every spec and family: what was put together by fields comes back --- */

static u64 random_word(struct random *random)
{
	u64 word = random_next(random);

	return random_below(random, 4) ? word : word >> random_below(random, 64);
}

static struct baleen_fields random_fields(struct random *random)
{
	static const u8 with_ports[] = {6, 17, 33, 132, 136};
	struct baleen_fields fields = {
		.is_ip6 = random_below(random, 2),
		.src_lo = random_word(random),
		.dst_lo = random_word(random),
		.proto = random_below(random, 256),
	};

	if (fields.is_ip6) {
		fields.src_hi = random_word(random);
		fields.dst_hi = random_word(random);
	} else {
		fields.src_lo = (u32)fields.src_lo;
		fields.dst_lo = (u32)fields.dst_lo;
	}
	if (random_below(random, 2)) {
		fields.proto = with_ports[random_below(random, sizeof(with_ports))];
		fields.sport = random_word(random);
		fields.dport = random_word(random);
	}
	return fields;
}

static bool is_mapped(u64 hi, u64 lo)
{
	return !hi && lo >> 32 == 0xffff;
}

static void test_round_trip(void **state)
{
	struct random random = random_from(SEED);

	for (u32 i = 0; i < 31 * 2000; i++) {
		u32 spec = i % 31 + 1;
		struct baleen_fields fields = random_fields(&random);
		struct baleen_key key = baleen_key_fields(spec, &fields), again;
		char text[BALEEN_KEY_TEXT];
		const char *reason;

		/* No list can say these: they are read as IPv4. */
		if (fields.is_ip6 && (is_mapped(fields.src_hi, fields.src_lo) ||
				      is_mapped(fields.dst_hi, fields.dst_lo)))
			continue;
		memset(text, 'x', sizeof(text));
		baleen_key_format(&key, spec, text);
		if (baleen_key_parse(text, strlen(text), spec, &again, &reason))
			fail_msg("'%s': %s", text, reason);
		assert_memory_equal(&key, &again, sizeof(key));
		assert_int_equal(baleen_key_compare(&key, &again), 0);
	}
}

/* A packet may have such an address; a list that had it would mean IPv4. */
static void test_mapped(void **state)
{
	const struct baleen_fields fields = {
		.is_ip6 = true,
		.src_lo = 0xffffc0000201,
		.dst_hi = 0x20010db800000000,
		.dst_lo = 1,
	};
	u32 spec = BALEEN_KEY_SRC | BALEEN_KEY_DST;
	struct baleen_key key = baleen_key_fields(spec, &fields);
	char text[BALEEN_KEY_TEXT];

	baleen_key_format(&key, spec, text);
	assert_string_equal(text, "::ffff:192.0.2.1,2001:db8::1");
}

/* A change of any field is a change of the order, one way or the other. */
static void test_compare(void **state)
{
	struct baleen_key base = {BALEEN_TUPLE, 0, 7, 7, 7, 7, 7}, more[6];

	for (u32 i = 0; i < 6; i++)
		more[i] = base;
	more[0].domain++;
	more[1].hi++;
	more[2].lo++;
	more[3].dst_hi++;
	more[4].dst_lo++;
	more[5].rest++;
	for (u32 i = 0; i < 6; i++) {
		assert_int_equal(baleen_key_compare(&base, &more[i]), -1);
		assert_int_equal(baleen_key_compare(&more[i], &base), 1);
		if (i)
			assert_int_equal(baleen_key_compare(&more[i], &more[i - 1]), -1);
	}
	base = (struct baleen_key){.domain = BALEEN_IP4, .ip4 = 0x7fffffff};
	more[0] = (struct baleen_key){.domain = BALEEN_IP4, .ip4 = 0x80000000};
	assert_int_equal(baleen_key_compare(&base, &more[0]), -1);
	assert_int_equal(baleen_key_compare(&more[0], &base), 1);
	assert_int_equal(baleen_key_compare(&base, &base), 0);
}

/* The digits stand in the highest bits of the hash under a public seed, and come back. */
static void test_fingerprints(void **state)
{
	static const struct {
		const char *text, *shown;
		u32 upper;
	} fingerprints[] = {
		{ "0", "0", 0 },
		{ "1", "1", 0x80000000 },
		{ "10001:001010", "10001001010", 0x89400000 },
		{ "01000:0", "010000", 0x40000000 },
		{ "11111111111111111111111111111110", "11111111111111111111111111111110",
		  0xfffffffe },
	};
	struct baleen_seed seed = {0};
	char text[BALEEN_KEY_TEXT];
	struct baleen_key key;
	const char *reason;

	baleen_seed_expand(&seed);
	for (size_t i = 0; i < sizeof(fingerprints) / sizeof(fingerprints[0]); i++) {
		assert_int_equal(baleen_key_parse(fingerprints[i].text,
						  strlen(fingerprints[i].text),
						  BALEEN_KEY_FINGERPRINT, &key, &reason),
				 0);
		assert_false(baleen_key_is_bad(&key));
		assert_int_equal(key.domain, baleen_spec_domain(BALEEN_KEY_FINGERPRINT, false));
		assert_int_equal(baleen_hash64(&seed, &key) >> 32, fingerprints[i].upper);
		baleen_key_format(&key, BALEEN_KEY_FINGERPRINT, text);
		assert_string_equal(text, fingerprints[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_specs),
		cmocka_unit_test(test_refused_protocols),
		cmocka_unit_test(test_refused_keys),
		cmocka_unit_test(test_refused_bytes),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_protocols),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_fingerprints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
