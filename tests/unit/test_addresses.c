// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that a server may not lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fetch/addresses.h"

static void test_class(void **state)
{
	static const struct {
		const char *host;
		enum address_class want;
	} cases[] = {
		{ "127.0.0.1", ADDRESS_THIS_HOST },
		{ "127.255.0.9", ADDRESS_THIS_HOST },
		{ "0.0.0.0", ADDRESS_THIS_HOST },
		{ "::1", ADDRESS_THIS_HOST },
		{ "[::1]", ADDRESS_THIS_HOST },
		{ "::", ADDRESS_THIS_HOST },
		{ "::ffff:127.0.0.1", ADDRESS_THIS_HOST },
		{ "[64:ff9b::7f00:1]", ADDRESS_THIS_HOST },
		{ "localhost", ADDRESS_THIS_HOST },
		{ "LocalHost.", ADDRESS_THIS_HOST },
		{ "a.localhost", ADDRESS_THIS_HOST },
		{ "169.254.169.254", ADDRESS_LINK_LOCAL },
		{ "::ffff:169.254.169.254", ADDRESS_LINK_LOCAL },
		{ "64:ff9b::a9fe:a9fe", ADDRESS_LINK_LOCAL },
		{ "[fe80::1%25eth0]", ADDRESS_LINK_LOCAL },
		{ "febf::1", ADDRESS_LINK_LOCAL },
		{ "224.0.0.1", ADDRESS_LINK_LOCAL },
		{ "ff02::1", ADDRESS_LINK_LOCAL },
		{ "198.51.100.1", ADDRESS_ANY },
		{ "10.1.2.3", ADDRESS_ANY },
		{ "2001:db8::1", ADDRESS_ANY },
		{ "fec0::1", ADDRESS_ANY },
		{ "mylocalhost", ADDRESS_ANY },
		{ "127.0.0.1.example.net", ADDRESS_ANY },
		{ "", ADDRESS_ANY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(address_class_of_host(cases[i].host), cases[i].want);
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
		cmocka_unit_test(test_other_family),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
