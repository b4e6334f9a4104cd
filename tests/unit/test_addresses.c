// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that a server may not lead to. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fetch/addresses.h"

static struct sockaddr_storage parse(const char *text)
{
	struct sockaddr_storage address = { .ss_family = strchr(text, ':') ? AF_INET6 : AF_INET };
	struct sockaddr_in6 *ip6 = (void *)&address;
	struct sockaddr_in *ip4 = (void *)&address;

	assert_int_equal(inet_pton(address.ss_family, text,
				   address.ss_family == AF_INET ? (void *)&ip4->sin_addr :
								  (void *)&ip6->sin6_addr),
			 1);
	return address;
}

static void test_class(void **state)
{
	static const struct {
		const char *address;
		enum address_class want;
	} cases[] = {
		{ "127.0.0.1", ADDRESS_THIS_HOST },
		{ "127.255.0.9", ADDRESS_THIS_HOST },
		{ "0.0.0.0", ADDRESS_THIS_HOST },
		{ "::1", ADDRESS_THIS_HOST },
		{ "::", ADDRESS_THIS_HOST },
		{ "::ffff:127.0.0.1", ADDRESS_THIS_HOST },
		{ "64:ff9b::7f00:1", ADDRESS_THIS_HOST },
		{ "2002:7f00:1::1", ADDRESS_THIS_HOST },
		{ "2001::80ff:fffe", ADDRESS_THIS_HOST },
		{ "169.254.169.254", ADDRESS_LINK_LOCAL },
		{ "::ffff:169.254.169.254", ADDRESS_LINK_LOCAL },
		{ "64:ff9b::a9fe:a9fe", ADDRESS_LINK_LOCAL },
		{ "2002:a9fe:a9fe::", ADDRESS_LINK_LOCAL },
		{ "fe80::1", ADDRESS_LINK_LOCAL },
		{ "febf::1", ADDRESS_LINK_LOCAL },
		{ "224.0.0.1", ADDRESS_LINK_LOCAL },
		{ "255.255.255.255", ADDRESS_LINK_LOCAL },
		{ "ff02::1", ADDRESS_LINK_LOCAL },
		{ "fd00:ec2::254", ADDRESS_LINK_LOCAL },
		{ "fd20:ce::254", ADDRESS_LINK_LOCAL },
		{ "fd00:42::42", ADDRESS_LINK_LOCAL },
		{ "100.100.100.200", ADDRESS_LINK_LOCAL },
		{ "192.0.0.192", ADDRESS_LINK_LOCAL },
		{ "168.63.129.16", ADDRESS_LINK_LOCAL },
		{ "::ffff:168.63.129.16", ADDRESS_LINK_LOCAL },
		{ "10.1.2.3", ADDRESS_PRIVATE },
		{ "172.16.0.1", ADDRESS_PRIVATE },
		{ "172.31.255.255", ADDRESS_PRIVATE },
		{ "192.168.1.1", ADDRESS_PRIVATE },
		{ "100.64.0.1", ADDRESS_PRIVATE },
		{ "198.18.0.1", ADDRESS_PRIVATE },
		{ "198.51.100.1", ADDRESS_PRIVATE },
		{ "::ffff:10.1.2.3", ADDRESS_PRIVATE },
		{ "64:ff9b::a01:203", ADDRESS_PRIVATE },
		{ "64:ff9b:1::1", ADDRESS_PRIVATE },
		{ "2002:a01:203::1", ADDRESS_PRIVATE },
		{ "2001::f5fe:fdfc", ADDRESS_PRIVATE },
		{ "::10.1.2.3", ADDRESS_PRIVATE },
		{ "fd00:ec2::253", ADDRESS_PRIVATE },
		{ "fc00::1", ADDRESS_PRIVATE },
		{ "fec0::1", ADDRESS_PRIVATE },
		{ "2001:db8::1", ADDRESS_PRIVATE },
		{ "4000::1", ADDRESS_PRIVATE },
		{ "9.255.255.255", ADDRESS_PUBLIC },
		{ "11.0.0.0", ADDRESS_PUBLIC },
		{ "172.32.0.1", ADDRESS_PUBLIC },
		{ "168.63.129.17", ADDRESS_PUBLIC },
		{ "::ffff:8.8.8.8", ADDRESS_PUBLIC },
		{ "64:ff9b::808:808", ADDRESS_PUBLIC },
		{ "2002:808:808::1", ADDRESS_PUBLIC },
		{ "2a00::1", ADDRESS_PUBLIC },
		{ "3ffe::1", ADDRESS_PUBLIC },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_storage address = parse(cases[i].address);

		if (address_class((const struct sockaddr *)&address) != cases[i].want)
			fail_msg("%s: not %d", cases[i].address, cases[i].want);
	}
}

static void test_said(void **state)
{
	static const struct {
		const char *host;
		const char *address;
		bool want;
	} cases[] = {
		{ "localhost", "127.0.0.1", true },
		{ "LocalHost.", "::1", true },
		{ "a.localhost", "127.0.0.2", true },
		{ "localhost", "10.1.2.3", false },
		{ "127.0.0.1", "::1", true },
		{ "[::1]", "127.0.0.1", true },
		{ "127.0.0.1", "169.254.169.254", false },
		{ "10.1.2.3", "10.1.2.3", true },
		{ "10.1.2.3", "::ffff:10.1.2.3", true },
		{ "10.1.2.3", "10.1.2.4", false },
		{ "10.1.2.3", "127.0.0.1", false },
		{ "[fd00:ec2::254]", "fd00:ec2::254", true },
		{ "[fe80::1%25eth0]", "fe80::1", true },
		{ "[fd00::1]", "fd00:ec2::254", false },
		{ "169.254.1.1", "169.254.169.254", false },
		{ "mylocalhost", "127.0.0.1", false },
		{ "127.0.0.1.example.net", "127.0.0.1", false },
		{ "", "127.0.0.1", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_storage address = parse(cases[i].address);

		if (address_is_said(cases[i].host, (const struct sockaddr *)&address) !=
		    cases[i].want)
			fail_msg("%s: %s: not %d", cases[i].host, cases[i].address, cases[i].want);
	}
}

static void test_format(void **state)
{
	struct sockaddr_storage address = parse("10.1.2.3");
	char text[ADDRESS_TEXT];

	assert_string_equal(address_format((const struct sockaddr *)&address, text),
			    "10.1.2.3 (private use)");
	address = parse("fd00:ec2::254");
	assert_string_equal(address_format((const struct sockaddr *)&address, text),
			    "fd00:ec2::254 (unique local)");
	address = parse("168.63.129.16");
	assert_string_equal(address_format((const struct sockaddr *)&address, text),
			    "168.63.129.16");
}

static void test_other_family(void **state)
{
	const struct sockaddr local = { .sa_family = AF_UNIX };

	assert_int_equal(address_class(&local), ADDRESS_THIS_HOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_other_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
