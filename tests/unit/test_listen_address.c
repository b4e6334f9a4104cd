// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The address and port that a server listens on: what is refused, and text there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/listen_address.h"

static void refuse_malformed(void **state)
{
	static const char *const texts[] = {
		"",	      ":",	 "127.0.0.1:",	  "127.0.0.1:65536", "127.0.0.1:+1",
		" 1.2.3.4:1", "1.2.3:1", "host:1",	  "::1:80",	     "[]:1",
		"[::1:80",    "[::1]80", "[127.0.0.1]:1", "127.0.0.1:1x",
	};
	struct sockaddr_storage address;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (baleen_listen_parse(texts[i], "127.0.0.1", &address))
			fail_msg("'%s' is not refused", texts[i]);
	assert_false(baleen_listen_parse("80", NULL, &address));
	assert_false(baleen_listen_parse(
		"[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1", NULL,
		&address));
}

static void read_and_write(void **state)
{
	static const char *const texts[][2] = {
		{ "127.0.0.1:9733", "127.0.0.1:9733" },
		{ "0.0.0.0:0", "0.0.0.0:0" },
		{ "[2001:db8::1]:65535", "[2001:db8::1]:65535" },
		{ "[::]:8129", "[::]:8129" },
		{ "8129", "192.0.2.1:8129" },
	};
	struct sockaddr_storage address;
	char text[BALEEN_LISTEN_TEXT];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(baleen_listen_parse(texts[i][0], "192.0.2.1", &address));
		assert_string_equal(baleen_listen_format(&address, baleen_listen_port(&address),
							 text),
				    texts[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuse_malformed),
		cmocka_unit_test(read_and_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
