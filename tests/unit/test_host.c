// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reading resolv.conf, and the set that the addresses of a host go into.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <net/address_set.h>
#include <net/host_survey.h>

/* A file with this text; the caller removes it. */
static void make_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_ip4(const struct baleen_host_address *address, u32 ip4)
{
	assert_int_equal(address->role, BALEEN_HOST_RESOLVER);
	assert_int_equal(address->key.domain, BALEEN_IP4);
	assert_int_equal(address->key.ip4, ip4);
}

static void assert_ip6(const struct baleen_host_address *address, u64 hi, u64 lo)
{
	assert_int_equal(address->role, BALEEN_HOST_RESOLVER);
	assert_int_equal(address->key.domain, BALEEN_IP6);
	assert_int_equal(address->key.hi, hi);
	assert_int_equal(address->key.lo, lo);
}

static void unreadable(void **state)
{
	struct baleen_host_address poison, *out = &poison;
	struct baleen_error error = { "" };
	size_t n = 77;

	assert_int_equal(baleen_host_resolvers("/", &out, &n, &error), -EISDIR);
	assert_ptr_equal(out, &poison);
	assert_int_equal(n, 77);
	assert_string_equal(error.text, "/: Is a directory");
	assert_int_equal(baleen_host_resolvers("/", &out, &n, NULL), -EISDIR);
}

static void missing(void **state)
{
	struct baleen_host_address *out = (void *)1;
	size_t n = 77;

	assert_int_equal(baleen_host_resolvers("/nonexistent", &out, &n, NULL), 0);
	assert_int_equal(n, 0);
	free(out);
	out = (void *)1;
	assert_int_equal(baleen_host_resolvers("/dev/null/file", &out, &n, NULL), 0);
	assert_int_equal(n, 0);
	free(out);
}

static void no_nameservers(void **state)
{
	char path[] = "/tmp/baleen-resolv.XXXXXX";
	struct baleen_host_address *out;
	size_t n = 77;

	make_file(path, "# nameserver 192.0.2.1\n"
			"; nameserver 192.0.2.2\n"
			" nameserver 192.0.2.3\n"
			"nameserver192.0.2.4\n"
			"nameservers 192.0.2.5\n"
			"Nameserver 192.0.2.6\n"
			"nameserver\n"
			"nameserver \n"
			"nameserver dns.example\n"
			"nameserver 192.0.2.256\n"
			"nameserver 127.0.0.53\n"
			"nameserver 0.0.0.0\n"
			"nameserver ::1\n"
			"nameserver ::\n"
			"nameserver ::ffff:127.0.0.1\n"
			"search 192.0.2.7\n"
			"options edns0\n");
	assert_int_equal(baleen_host_resolvers(path, &out, &n, NULL), 0);
	unlink(path);
	assert_int_equal(n, 0);
	free(out);
}

static void nameservers(void **state)
{
	char path[] = "/tmp/baleen-resolv.XXXXXX";
	struct baleen_host_address *out;
	size_t n;

	make_file(path, "nameserver fe80::1%eth0\n"
			"nameserver\t \t192.0.2.2 and more\n"
			"nameserver 192.0.2.1\r\n"
			"nameserver 2001:db8::53\n"
			"nameserver 192.0.2.2\n"
			"nameserver ::ffff:192.0.2.3\n"
			"nameserver 192.0.2.4");
	assert_int_equal(baleen_host_resolvers(path, &out, &n, NULL), 0);
	unlink(path);
	assert_int_equal(n, 6);
	assert_ip4(&out[0], 0xc0000201);
	assert_ip4(&out[1], 0xc0000202);
	assert_ip4(&out[2], 0xc0000203);
	assert_ip4(&out[3], 0xc0000204);
	assert_ip6(&out[4], 0x20010db800000000, 0x53);
	assert_ip6(&out[5], 0xfe80000000000000, 1);
	free(out);
}

/* Each role and address once, whatever came in; and room for no more. */
static void set_is_distinct(void **state)
{
	struct baleen_address_set set = { 0 };
	struct baleen_host_address address = { .key.domain = BALEEN_IP4 };

	for (u32 i = 0; i < 100000; i++) {
		address.role = i % 3;
		address.key.ip4 = 0x0a000000 + i * 7 % 100;
		assert_int_equal(baleen_address_set_add(&set, &address), 0);
	}
	assert_in_range(set.room, 300, 1024);
	baleen_address_set_sort(&set);
	assert_int_equal(set.n, 300);
	for (u32 i = 0; i < 300; i++) {
		assert_int_equal(set.address[i].role, i / 100);
		assert_int_equal(set.address[i].key.ip4, 0x0a000000 + i % 100);
	}
	free(set.address);
}

static void set_grows(void **state)
{
	struct baleen_address_set set = { 0 };
	struct baleen_host_address address = {
		.role = BALEEN_HOST_PEER,
		.key = { .domain = BALEEN_IP6, .hi = 0xfd00000000000000 },
	};

	for (address.key.lo = 100000; address.key.lo; address.key.lo--)
		assert_int_equal(baleen_address_set_add(&set, &address), 0);
	baleen_address_set_sort(&set);
	assert_int_equal(set.n, 100000);
	for (u32 i = 0; i < set.n; i++)
		assert_int_equal(set.address[i].key.lo, i + 1);
	free(set.address);
}

static void key_of_other_families(void **state)
{
	static const u8 bytes[20];
	struct baleen_key key = { .domain = 99 };

	for (size_t n = 0; n <= sizeof(bytes); n++)
		if (n != 4 && n != 16)
			assert_false(baleen_address_key(bytes, n, &key));
	assert_int_equal(key.domain, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unreadable),
		cmocka_unit_test(missing),
		cmocka_unit_test(no_nameservers),
		cmocka_unit_test(nameservers),
		cmocka_unit_test(set_is_distinct),
		cmocka_unit_test(set_grows),
		cmocka_unit_test(key_of_other_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
