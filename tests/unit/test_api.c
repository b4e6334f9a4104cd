// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The public library: what it refuses, and that it answers as the lists say. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "libbaleen.h"

#define POISON ((void *)0x5a5a5a5a)

static char directory[] = "/tmp/baleen-api-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static struct baleen_keys *keys_of(const char *spec, const char *const *entries)
{
	struct baleen_keys *keys;

	assert_int_equal(baleen_keys_new(spec, &keys), 0);
	for (; *entries; entries++)
		assert_int_equal(baleen_keys_add(keys, *entries), 0);
	return keys;
}

#define KEYS(...) keys_of("src", (const char *const[]){ __VA_ARGS__, NULL })

static struct baleen_set *set_of(struct baleen_keys *keys, const struct baleen_set_options *options)
{
	struct baleen_set *set;

	assert_int_equal(baleen_set_build(keys, options, &set), 0);
	baleen_keys_free(keys);
	return set;
}

static struct baleen_set_info info_of(const struct baleen_set *set)
{
	struct baleen_set_info info = { .size = sizeof(info) };

	assert_int_equal(baleen_set_info(set, &info), 0);
	return info;
}

/* How many entries these keys make. */
static uint64_t count(struct baleen_keys *keys)
{
	struct baleen_set *set = set_of(keys, NULL);
	uint64_t n = info_of(set).n_entries;

	baleen_set_close(set);
	return n;
}

static int test_address(const struct baleen_set *set, int family, const char *text)
{
	uint8_t address[17];

	/* At an odd place: no alignment is asked for. */
	assert_int_equal(inet_pton(family, text, address + 1), 1);
	return baleen_set_test_address(set, family, address + 1);
}

static int add_address(struct baleen_keys *keys, int family, const char *text, unsigned int length)
{
	uint8_t address[16];

	assert_int_equal(inet_pton(family, text, address), 1);
	return baleen_keys_add_address(keys, family, address, length);
}

/* --- refused --------------------------------------------------------------- */

static void test_keys_refused(void **state)
{
	static const char *const bad[] = {
		"",  " ",	   "#",		  "10.0.0.300", "10.0.0.1 score",
		"x", "10.0.0.1\n", "10.0.0.1,80", "!",		"create x"
	};
	struct baleen_keys *keys = POISON;

	assert_int_equal(baleen_keys_new("src,nonsense", &keys), -EINVAL);
	assert_ptr_equal(keys, POISON);
	assert_non_null(strstr(baleen_error_text(), "nonsense"));
	keys = KEYS("192.0.2.1");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(baleen_keys_add(keys, bad[i]), -EINVAL);
	assert_int_equal(add_address(keys, AF_INET, "192.0.2.1", 33), -EINVAL);
	assert_int_equal(add_address(keys, AF_INET6, "2001:db8::", 129), -EINVAL);
	assert_int_equal(baleen_keys_add_address(keys, AF_UNIX, "", 0), -EINVAL);
	assert_int_equal(baleen_keys_read(keys, "/nonexistent"), -ENOENT);
	assert_int_equal(count(keys), 1);
	keys = keys_of("src,dport", (const char *const[]){ "192.0.2.1,443", NULL });
	assert_int_equal(add_address(keys, AF_INET, "192.0.2.1", 32), -EINVAL);
	baleen_keys_free(keys);
	baleen_keys_free(NULL);
}

static void test_bad_list(void **state)
{
	struct baleen_keys *keys = KEYS("192.0.2.9");
	const char *path = path_of("bad.txt");
	FILE *list = fopen(path, "w");

	fputs("192.0.2.1\n192.0.2.256\n192.0.2.2\n192.0.2.1000\n", list);
	fclose(list);
	assert_int_equal(baleen_keys_read(keys, path), -EINVAL);
	assert_non_null(strstr(baleen_error_text(), "bad.txt:2: '192.0.2.256'"));
	assert_int_equal(count(keys), 3);
}

static void test_options_refused(void **state)
{
	static const struct baleen_set_options bad[] = {
		{ .size = 8 },
		{ .size = sizeof(bad[0]), .kind = "quotient" },
		{ .size = sizeof(bad[0]), .kind = "bloom" },
		{ .size = sizeof(bad[0]), .fpp = 1 },
		{ .size = sizeof(bad[0]), .fpp = -0.1 },
		{ .size = sizeof(bad[0]), .name = "12345678901234567890123456789012" },
		{ .size = sizeof(bad[0]), .name = "a\nb" },
	};
	const struct baleen_set_options small = { .size = sizeof(small), .capacity = 1 };
	struct baleen_keys *keys = KEYS("192.0.2.1", "192.0.2.2");
	struct baleen_set *set = POISON;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(baleen_set_build(keys, &bad[i], &set), -EINVAL);
	assert_int_equal(baleen_set_build(keys, &small, &set), -ENOSPC);
	assert_ptr_equal(set, POISON);
	assert_int_equal(baleen_keys_add(keys, "192.0.2.3"), -EBUSY);
	assert_int_equal(baleen_keys_read(keys, "/dev/null"), -EBUSY);
	assert_int_equal(count(keys), 2);
}

static void test_open_refused(void **state)
{
	static const char *const bad[] = {
		"", "eth0", ":list", "eth0:", "a-long-device-name:x", "eth0:a b"
	};
	struct baleen_set *set = POISON;
	FILE *list = fopen(path_of("list.txt"), "w");

	fputs("192.0.2.1\n", list);
	fclose(list);
	assert_int_equal(baleen_set_open("/nonexistent", &set), -ENOENT);
	assert_int_equal(baleen_set_open(path_of("list.txt"), &set), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(baleen_set_open_rule(bad[i], &set), -EINVAL);
	assert_in_range(-baleen_set_open_rule("no-device:list", &set), 1, 4095);
	assert_ptr_equal(set, POISON);
	baleen_set_close(NULL);
}

static void test_rule_refused(void **state)
{
	static const struct baleen_entry_options bad[] = {
		{ .size = 8 },
		{ .size = sizeof(bad[0]), .origin = "" },
		{ .size = sizeof(bad[0]), .origin = "two words" },
		{ .size = sizeof(bad[0]), .reason = "a\nb" },
		{ .size = sizeof(bad[0]), .ttl_s = UINT64_MAX },
		{ .size = sizeof(bad[0]), .flags = 2 },
	};
	static const char *const entries[] = { "192.0.2.1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(baleen_rule_add("no-device:list", entries, 1, &bad[i]), -EINVAL);
	assert_int_equal(baleen_rule_add("no-device", entries, 1, NULL), -EINVAL);
	assert_int_equal(baleen_rule_add("no-device:list", entries, 1, NULL), -ENOENT);
	assert_int_equal(baleen_rule_del("no-device:list", entries, 1, ""), -EINVAL);
	assert_int_equal(baleen_rule_del("no-device:list", entries, 1, NULL), -ENOENT);
	assert_int_equal(baleen_rule_flush(":list", NULL), -EINVAL);
}

/* --- asked ----------------------------------------------------------------- */

static void test_ask(void **state)
{
	struct baleen_set *set =
		set_of(KEYS("192.0.2.1", "10.0.0.0/8", "!10.1.0.0/16", "2001:db8::/32"), NULL);
	struct baleen_set_info info = info_of(set);

	assert_int_equal(baleen_set_test(set, "192.0.2.1"), 1);
	assert_int_equal(baleen_set_test(set, "192.0.2.2"), 0);
	assert_int_equal(baleen_set_test(set, "10.2.0.1"), 1);
	assert_int_equal(baleen_set_test(set, "10.1.0.1"), 0);
	assert_int_equal(baleen_set_test(set, "2001:db8::1"), 1);
	assert_int_equal(baleen_set_test(set, "10.0.0.0/8"), -EINVAL);
	assert_int_equal(baleen_set_test(set, "host.example"), -EINVAL);
	assert_int_equal(test_address(set, AF_INET, "192.0.2.1"), 1);
	assert_int_equal(test_address(set, AF_INET, "10.1.0.1"), 0);
	assert_int_equal(test_address(set, AF_INET6, "2001:db8:1::"), 1);
	assert_int_equal(test_address(set, AF_INET6, "2001:db9::"), 0);
	assert_int_equal(test_address(set, AF_INET6, "::ffff:192.0.2.1"), 1);
	assert_int_equal(baleen_set_test_address(set, AF_UNIX, ""), -EAFNOSUPPORT);
	assert_true(info.is_exact && !info.is_live && info.fpp == 0);
	assert_string_equal(info.kind, "prefixes");
	assert_string_equal(info.key, "src");
	assert_int_equal(baleen_set_refresh(set), 0);
	baleen_set_close(set);
}

static void test_binary_keys(void **state)
{
	struct baleen_keys *keys;
	struct baleen_set *set;

	assert_int_equal(baleen_keys_new(NULL, &keys), 0);
	assert_int_equal(add_address(keys, AF_INET, "192.0.2.1", 32), 0);
	assert_int_equal(add_address(keys, AF_INET, "10.1.2.3", 8), 0);
	assert_int_equal(add_address(keys, AF_INET6, "2001:db8::5", 128), 0);
	assert_int_equal(add_address(keys, AF_INET6, "fd00::", 8), 0);
	set = set_of(keys, NULL);
	assert_int_equal(baleen_set_test(set, "192.0.2.1"), 1);
	assert_int_equal(baleen_set_test(set, "10.255.255.255"), 1);
	assert_int_equal(baleen_set_test(set, "2001:db8::5"), 1);
	assert_int_equal(baleen_set_test(set, "2001:db8::6"), 0);
	assert_int_equal(baleen_set_test(set, "fd12:3456::"), 1);
	baleen_set_close(set);
}

/* Many at once: the answers of one after the other; nothing is written behind them. */
static void test_many_addresses(void **state)
{
	struct baleen_set *set = set_of(KEYS("192.0.2.1", "192.0.2.77", "2001:db8::5"), NULL);
	uint8_t address[1 + 700 * 16], found[701];
	const int families[] = { AF_INET, AF_INET6 };

	memset(found, 0xa5, sizeof(found));
	assert_int_equal(baleen_set_test_addresses(set, AF_UNIX, address, 1, found), -EAFNOSUPPORT);
	assert_int_equal(baleen_set_test_addresses(set, AF_INET, address, 0, found), 0);
	assert_int_equal(found[0], 0xa5);
	for (int f = 0; f < 2; f++) {
		size_t bytes = f ? 16 : 4, n_in = 0;

		for (size_t i = 0; i < 700; i++) {
			uint8_t *at = address + 1 + i * bytes;

			inet_pton(families[f], f ? "2001:db8::" : "192.0.2.0", at);
			at[bytes - 1] = i;
		}
		if (f)
			inet_pton(AF_INET6, "::ffff:192.0.2.77", address + 1 + 300 * 16);
		assert_int_equal(baleen_set_test_addresses(set, families[f], address + 1, 700,
							   found),
				 0);
		for (size_t i = 0; i < 700; i++) {
			assert_int_equal(found[i],
					 baleen_set_test_address(set, families[f],
								 address + 1 + i * bytes));
			n_in += found[i];
		}
		assert_int_equal(n_in, f ? 4 : 6);
		assert_int_equal(found[700], 0xa5);
	}
	baleen_set_close(set);
}

static void test_many_keys(void **state)
{
	static const char *const keys[] = { "192.0.2.1", "192.0.2.2", "2001:db8::5", "192.0.2.1" };
	static const char *const bad[] = { "192.0.2.1", "nonsense" };
	struct baleen_set *set = set_of(KEYS("192.0.2.1", "2001:db8::5"), NULL);
	uint8_t found[5] = { 7, 7, 7, 7, 7 };

	assert_int_equal(baleen_set_test_many(set, bad, 2, found), -EINVAL);
	assert_non_null(strstr(baleen_error_text(), "nonsense"));
	assert_int_equal(found[0], 7);
	assert_int_equal(baleen_set_test_many(set, keys, 0, found), 0);
	assert_int_equal(baleen_set_test_many(set, keys, 4, found), 0);
	assert_memory_equal(found, ((uint8_t[]){ 1, 0, 1, 1, 7 }), 5);
	baleen_set_close(set);
}

static void test_fields(void **state)
{
	struct baleen_set *set =
		set_of(keys_of("dport,proto", (const char *const[]){ "tcp,443", "udp,53", NULL }),
		       NULL);

	assert_int_equal(baleen_set_test(set, "tcp,443"), 1);
	assert_int_equal(baleen_set_test(set, "udp,443"), 0);
	assert_int_equal(test_address(set, AF_INET, "192.0.2.1"), -EINVAL);
	assert_string_equal(info_of(set).key, "proto,dport");
	baleen_set_close(set);
}

static void test_strings(void **state)
{
	struct baleen_keys *more = keys_of("string", (const char *const[]){ "squid\n", NULL });
	struct baleen_set *set;

	set = set_of(keys_of("string", (const char *const[]){ "krill", "# shrimp", "krill", NULL }),
		     NULL);
	assert_string_equal(info_of(set).key, "string");
	assert_int_equal(info_of(set).n_entries, 2);
	assert_int_equal(baleen_set_test(set, "krill"), 1);
	assert_int_equal(baleen_set_test(set, "# shrimp"), 1);
	assert_int_equal(baleen_set_test(set, "shrimp"), 0);
	assert_int_equal(baleen_set_test(set, "squid\n"), 0);
	assert_int_equal(baleen_set_add(set, more), 0);
	assert_int_equal(baleen_set_test(set, "squid\n"), 1);
	assert_int_equal(baleen_set_del(set, more), 0);
	assert_int_equal(baleen_set_test(set, "squid\n"), 0);
	assert_int_equal(baleen_set_test(set, "krill"), 1);
	baleen_keys_free(more);
	baleen_set_close(set);
}

static void test_squid(void **state)
{
	char url[8000] = "http://a.example/";
	struct baleen_keys *keys, *more;
	struct baleen_set *set;

	memset(url + 17, 'x', sizeof(url) - 18);
	url[sizeof(url) - 1] = '\0';
	keys = keys_of("squid", (const char *const[]){ "http://10.9.0.3/obj/1", url, NULL });
	more = keys_of("squid", (const char *const[]){ "http://b.example/;#!", NULL });
	assert_int_equal(baleen_keys_add(keys, "krill"), -EINVAL);
	assert_string_equal(baleen_error_text(),
			    "'krill': neither a URL, which has ://, nor 32 hexadecimal digits");
	assert_int_equal(baleen_keys_add(keys, "# http://a/"), -EINVAL);
	assert_int_equal(baleen_keys_add(keys, " http://a/"), -EINVAL);
	set = set_of(keys, NULL);
	assert_string_equal(info_of(set).key, "squid");
	assert_int_equal(info_of(set).n_entries, 2);
	assert_int_equal(baleen_set_test(set, "http://10.9.0.3/obj/1"), 1);
	assert_int_equal(baleen_set_test(set, "271b10fa47f72704cf53f2c5eacd81b0"), 1);
	assert_int_equal(baleen_set_test(set, url), 1);
	assert_int_equal(baleen_set_test(set, "http://b.example/;#!"), 0);
	assert_int_equal(baleen_set_test(set, "krill"), -EINVAL);
	assert_int_equal(test_address(set, AF_INET, "192.0.2.1"), -EINVAL);
	assert_int_equal(baleen_set_add(set, more), 0);
	assert_int_equal(baleen_set_test(set, "http://b.example/;#!"), 1);
	assert_int_equal(baleen_set_del(set, more), 0);
	assert_int_equal(baleen_set_test(set, "http://b.example/;#!"), 0);
	baleen_keys_free(more);
	baleen_set_close(set);
}

static void test_bloom(void **state)
{
	const struct baleen_set_options options = {
		.size = sizeof(options), .name = "some", .kind = "bloom", .fpp = 1e-3
	};
	struct baleen_set *set = set_of(KEYS("192.0.2.1", "192.0.2.2"), &options);
	struct baleen_keys *one = KEYS("192.0.2.1");
	struct baleen_set_info info = info_of(set);

	assert_int_equal(baleen_set_test(set, "192.0.2.2"), 1);
	assert_true(!info.is_exact && info.fpp < 1e-3);
	assert_string_equal(info.kind, "bloom");
	assert_string_equal(info.name, "some");
	assert_int_equal(baleen_set_del(set, one), -EOPNOTSUPP);
	assert_int_equal(baleen_set_test(set, "192.0.2.1"), 1);
	baleen_keys_free(one);
	baleen_set_close(set);
}

/* --- changed --------------------------------------------------------------- */

static void test_change(void **state)
{
	struct baleen_set *set = set_of(KEYS("192.0.2.1", "10.0.0.0/8"), NULL);
	struct baleen_keys *more = KEYS("192.0.2.1", "198.51.100.0/24", "203.0.113.9");
	struct baleen_keys *less = KEYS("10.1.0.0/16", "192.0.2.1", "172.16.0.1");
	struct baleen_keys *except = KEYS("192.0.2.0/24", "!192.0.2.7");
	struct baleen_keys *flows =
		keys_of("src,dport", (const char *const[]){ "192.0.2.1,443", NULL });

	assert_int_equal(baleen_set_add(set, except), -EINVAL);
	assert_int_equal(baleen_set_add(set, flows), -EINVAL);
	assert_int_equal(baleen_set_test(set, "192.0.2.5"), 0);
	assert_int_equal(baleen_set_add(set, more), 0);
	assert_int_equal(baleen_set_add(set, more), 0);
	assert_int_equal(baleen_set_test(set, "198.51.100.200"), 1);
	assert_int_equal(baleen_set_test(set, "203.0.113.9"), 1);
	assert_int_equal(baleen_set_del(set, less), 0);
	assert_int_equal(baleen_set_test(set, "192.0.2.1"), 0);
	assert_int_equal(baleen_set_test(set, "10.1.2.3"), 0);
	assert_int_equal(baleen_set_test(set, "10.2.2.3"), 1);
	baleen_keys_free(more);
	baleen_keys_free(less);
	baleen_keys_free(except);
	baleen_keys_free(flows);
	baleen_set_close(set);
}

/* Far more than there was room for. */
static void test_grow(void **state)
{
	struct baleen_set *set = set_of(KEYS("192.0.2.1"), NULL);
	struct baleen_keys *keys;
	uint8_t address[4];

	assert_int_equal(baleen_keys_new("src", &keys), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		memcpy(address, (uint8_t[]){ 100, i >> 8, i, i * 7 }, 4);
		assert_int_equal(baleen_keys_add_address(keys, AF_INET, address, 32), 0);
	}
	assert_int_equal(baleen_set_add(set, keys), 0);
	assert_int_equal(info_of(set).n_entries, 20001);
	for (unsigned int i = 0; i < 20000; i++) {
		memcpy(address, (uint8_t[]){ 100, i >> 8, i, i * 7 }, 4);
		assert_int_equal(baleen_set_test_address(set, AF_INET, address), 1);
		address[3]++;
		assert_int_equal(baleen_set_test_address(set, AF_INET, address), 0);
	}
	baleen_keys_free(keys);
	baleen_set_close(set);
}

/* --- saved ----------------------------------------------------------------- */

static void test_save(void **state)
{
	struct baleen_set *set = set_of(KEYS("192.0.2.1", "2001:db8::/48"), NULL), *again;
	FILE *list = fopen(path_of("mine.txt"), "w");

	fputs("192.0.2.1\n", list);
	fclose(list);
	assert_int_equal(baleen_set_save(set, path_of("mine.txt"), 0600), -EEXIST);
	assert_int_equal(baleen_set_save(set, path_of("no/such.bln"), 0600), -ENOENT);
	assert_int_equal(baleen_set_save(set, path_of("set.bln"), 0600), 0);
	assert_int_equal(baleen_set_save(set, path_of("set.bln"), 0600), 0);
	assert_int_equal(baleen_set_open(path_of("set.bln"), &again), 0);
	assert_int_equal(baleen_set_test(again, "192.0.2.1"), 1);
	assert_int_equal(baleen_set_test(again, "2001:db8::9"), 1);
	assert_int_equal(baleen_set_test(again, "2001:db8:1::9"), 0);
	assert_int_equal(info_of(again).n_entries, info_of(set).n_entries);
	baleen_set_close(again);
	baleen_set_close(set);
}

static void test_info_refused(void **state)
{
	struct baleen_set *set = set_of(KEYS("192.0.2.1"), NULL);
	struct baleen_set_info info = { .size = sizeof(info) - 1, .n_entries = 77 };

	assert_int_equal(baleen_set_info(set, &info), -EINVAL);
	assert_int_equal(info.n_entries, 77);
	baleen_set_close(set);
}

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	static const char *const files[] = { "bad.txt", "list.txt", "mine.txt", "set.bln" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_of(files[i]));
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_refused),
		cmocka_unit_test(test_bad_list),
		cmocka_unit_test(test_options_refused),
		cmocka_unit_test(test_open_refused),
		cmocka_unit_test(test_rule_refused),
		cmocka_unit_test(test_ask),
		cmocka_unit_test(test_binary_keys),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_squid),
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_save),
		cmocka_unit_test(test_info_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
