// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* URLs as they may be shown, and their hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/url.h"

/* Each secret has the word in it, so that a case that was added without thought fails. */
static void test_name(void **state)
{
	static const struct {
		const char *url;
		const char *name;
	} cases[] = {
		{ "https://example.net/list.txt", "https://example.net/list.txt" },
		{ "http://example.net", "http://example.net" },
		{ "https://u:p%40SECRET@example.net/l.txt?key=SECRET#SECRET",
		  "https://example.net/l.txt" },
		{ "http://SECRET@SECRET@example.net:80", "http://example.net:80" },
		{ "https://example.net?key=SECRET", "https://example.net" },
		{ "https://example.net#SECRET?x", "https://example.net" },
		{ "https://example.net/a@b/c", "https://example.net/a@b/c" },
		{ "https://SECRET:SECRET@[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x" },
		{ "ftp://SECRET:SECRET@h/x", "ftp://h/x" },
		/* No URL at all: what is before the @ may be a password. */
		{ "https://", "malformed URL" },
		{ "https:///SECRET:SECRET@example.net/", "malformed URL" },
		{ "https://user:SE/CRET@example.net/", "malformed URL" },
		{ "https://user:SECRET\\@example.net/", "malformed URL" },
		{ "https://user:SECRET@/", "malformed URL" },
		{ "https://example.net:123456/", "malformed URL" },
		{ "https://example.net/\033[2J", "malformed URL" },
		{ "https://example.net/a b", "malformed URL" },
		{ "https:/user:SECRET@example.net", "malformed URL" },
		{ "SECRET", "malformed URL" },
		{ "", "malformed URL" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(baleen_url_name(cases[i].url).text, cases[i].name);
		assert_null(strstr(baleen_url_name(cases[i].url).text, "SECRET"));
	}
}

static void test_long(void **state)
{
	struct baleen_url_name name;
	char url[2048] = "https://example.net/";

	memset(url + strlen(url), 'x', sizeof(url) - 1 - strlen(url));
	url[sizeof(url) - 1] = '\0';
	name = baleen_url_name(url);
	assert_int_equal(strlen(name.text), sizeof(name.text) - 1);
	assert_memory_equal(name.text, url, sizeof(name.text) - 1);
}

static void test_is(void **state)
{
	assert_true(baleen_url_is("http://h") && baleen_url_is("HTTPS://h"));
	assert_false(baleen_url_is("ftp://h") || baleen_url_is("/http://h") || baleen_url_is(""));
	assert_true(baleen_url_is_https("Https://h"));
	assert_false(baleen_url_is_https("http://h"));
}

static void test_host(void **state)
{
	static const struct {
		const char *url;
		const char *host;
	} cases[] = {
		{ "http://192.0.2.1/x", "192.0.2.1" },
		{ "http://u:p@192.0.2.1:8080", "192.0.2.1" },
		{ "https://[2001:db8::1]:8443/x", "[2001:db8::1]" },
		{ "https://[2001:db8::1]", "[2001:db8::1]" },
		{ "https://example.net?x", "example.net" },
		{ "ftp://192.0.2.1/", NULL },
		{ "http://:80/", NULL },
		{ "192.0.2.1", NULL },
		{ "http://a.host.of.24.letters.", NULL },
	};
	char host[20];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(host, "untouched");
		assert_int_equal(baleen_url_host(cases[i].url, host, sizeof(host)),
				 cases[i].host != NULL);
		assert_string_equal(host, cases[i].host ?: "untouched");
	}
}

static void test_file(void **state)
{
	static const struct {
		const char *url;
		const char *path;
	} cases[] = {
		{ "file:///etc/drop.txt", "/etc/drop.txt" },
		{ "FILE://LocalHost/etc/x", "/etc/x" },
		{ "file:///a%20b%2fc", "/a b/c" },
		{ "file:///24.letters.are.too.many", NULL },
		{ "file:///19.letters.fit.in", "/19.letters.fit.in" },
		{ "file:///a%0", NULL },
		{ "file:///a%00b", NULL },
		{ "file:///a%0afeed", NULL },
		{ "file:///a%08b", NULL },
		{ "file:///a%7fb", NULL },
		{ "file:///a%c3%b6", "/a\xc3\xb6" },
		{ "file:///a%zz", NULL },
		{ "file:///a?b", NULL },
		{ "file:///a#b", NULL },
		{ "file://", NULL },
		{ "file://host/etc/x", NULL },
		{ "file://localhost", NULL },
		{ "file:/etc/x", NULL },
		{ "file:etc/x", NULL },
		{ "http:///etc/x", NULL },
		{ "/etc/x", NULL },
	};
	char path[20];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(path, "untouched");
		assert_int_equal(baleen_url_file(cases[i].url, path, sizeof(path)),
				 cases[i].path != NULL);
		assert_string_equal(path, cases[i].path ?: "untouched");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name), cmocka_unit_test(test_long), cmocka_unit_test(test_is),
		cmocka_unit_test(test_host), cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
