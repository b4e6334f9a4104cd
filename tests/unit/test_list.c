// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists: what is refused, what is held, and how bytes come in. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lists.h"
#include "util/threads.h"

#define IPSUM "../shared/data/lists/ipsum.txt"
#define SECOND_FIELD "more fields than the key has"
#define LEADING_ZERO "octet with a leading zero: decimal or octal?"
#define HOST_NAME "a host name, not an address"
#define NETMASK "netmask behind the address: write it ADDR/LEN"
#define WILDCARD "wildcard mask behind the address: write it ADDR/LEN"
#define SECOND_ADDRESS "a second address behind the address: a range is A-B, --column reads a table"
#define PASSES "a word that lets it pass: '!' makes an exception" HAS_COMMAND
#define OTHER_WORDS "an address behind other words or signs" HAS_COMMAND
#define SPACED_RANGE "range with white space: write it A-B"
#define SHORT_PREFIX "short prefix: write all four octets"
#define TABLE "columns of a table, which --column reads"
#define HAS_COMMAND "; baleen-lists(5) has the command for it"

/* --- helpers --- */

/* What the reader was told about bad lines. */
struct complaints {
	size_t n;
	u64 line[16];
	char text[16][80];
	const char *reason[16];
};

static void complain(void *data, const struct baleen_list_problem *problem)
{
	struct complaints *seen = data;

	assert_string_equal(problem->file, "some.txt");
	if (seen->n < 16) {
		seen->line[seen->n] = problem->line;
		seen->reason[seen->n] = problem->reason;
		snprintf(seen->text[seen->n], sizeof(seen->text[0]), "%s", problem->text);
	}
	seen->n++;
}

static void read_bytes(struct baleen_list *list, const void *bytes, size_t n_bytes,
		       struct complaints *seen)
{
	const struct baleen_list_reader reader = {.on_bad = complain, .data = seen};
	int fd = open_bytes(bytes, n_bytes);

	assert_int_equal(baleen_list_read(list, fd, "some.txt", seen ? &reader : NULL, NULL), 0);
	close(fd);
}

static void read_text(struct baleen_list *list, const char *text, struct complaints *seen)
{
	read_bytes(list, text, strlen(text), seen);
}

/* --- refused --- */

struct refused {
	const char *line;
	const char *text;
	const char *reason;
};

static const struct refused refused_lines[] = {
	{"10.0.0.300", "10.0.0.300", "octet above 255"},
	{"256.0.0.1", "256.0.0.1", "octet above 255"},
	{"1.2.3.4294967297", "1.2.3.4294967297", "octet above 255"},
	{"1.2.3.1000", "1.2.3.1000", "octet above 255"},
	{"1000.2.3.4", "1000.2.3.4", "octet above 255"},
	{"010.0.0.1", "010.0.0.1", LEADING_ZERO},
	{"10.0.0.00", "10.0.0.00", LEADING_ZERO},
	{"10.0.0.01/24", "10.0.0.01/24", LEADING_ZERO},
	{"1", "1", "fewer than four octets"},
	{"1.2.3", "1.2.3", "fewer than four octets"},
	{"1.2.3.", "1.2.3.", "fewer than four octets"},
	{"10/8", "10/8", SHORT_PREFIX},
	{"1.2..4", "1.2..4", "empty octet"},
	{".1.2.3.4", ".1.2.3.4", "empty octet"},
	{"1.2.3.4.5", "1.2.3.4.5", "more than four octets"},
	{"1.2.3.4.", "1.2.3.4.", "more than four octets"},
	{"1.2.3.4x", "1.2.3.4x", "text behind the address"},
	{"1.2.3.4%eth0", "1.2.3.4%eth0", "text behind the address"},
	{"0x7f.0.0.1", "0x7f.0.0.1", HOST_NAME},
	{"example.com", "example.com", HOST_NAME},
	{"4chan.example 1.2.3.4", "4chan.example", OTHER_WORDS},
	{"<html lang=\"en\">", "<html", "not an address"},
	{"-1.2.3.4", "-1.2.3.4", "not an address"},
	{"/24", "/24", "not an address"},
	{"http://192.0.2.1/", "http://192.0.2.1/", "not an address"},
	{"\x1b[31m1.2.3.4", "\\x1b[31m1.2.3.4", "not an address"},
	{"\xef\xbb\xbf"
	 "1.2.3.4",
	 "\\u{feff}1.2.3.4", "a byte order mark: another file begins here"},
	{"1.2.3.4\xc2\xa0", "1.2.3.4\xc2\xa0", "a blank or sign that is not ASCII"},
	{"// x", "//", "a comment stands behind '#' or ';'"},
	{"table inet f {", "table", "nft's text: 'nft -j' prints what 'baleen import' reads"},
	{"table <bad> {", "table", "a table of pf: 'pfctl -t NAME -T show' prints a list"},
	{"10.0.0.1 OK", "10.0.0.1", PASSES},
	{"!10.0.0.0/8\tdunno # x", "!10.0.0.0/8", PASSES},
	{"10.0.0.1 - - [27/Nov/2026:18:00:00 +0000] \"GET / HTTP/1.1\" 200 612", "10.0.0.1",
	 "a line of an access log" HAS_COMMAND},
	{"10.0.0.1,10.0.0.2,2001:db8::1", "10.0.0.1,10.0.0.2,2001:db8::1",
	 "addresses with commas between" HAS_COMMAND},
	{"2026-11-27 18:00:00,10.0.0.1,443", "2026-11-27", TABLE},
	{"10.0.0.0/33", "10.0.0.0/33", "prefix length above 32"},
	{"10.0.0.0/4294967320", "10.0.0.0/4294967320", "prefix length above 32"},
	{"2001:db8::/129", "2001:db8::/129", "prefix length above 128"},
	{"10.0.0.0/", "10.0.0.0/", "prefix length is not a number"},
	{"10.0.0.0/-1", "10.0.0.0/-1", "text behind the address"},
	{"10.0.0.0/+8", "10.0.0.0/+8", "prefix length is not a number"},
	{"10.0.0.0/24/8", "10.0.0.0/24/8", "prefix length is not a number"},
	{"10.0.0.0/255.0.0.0", "10.0.0.0/255.0.0.0", NETMASK},
	{"10.0.0.0/08", "10.0.0.0/08", "prefix length with a leading zero"},
	{"::ffff:10.0.0.0/129", "::ffff:10.0.0.0/129", "prefix length above 128"},
	{"10.0.0.2-10.0.0.1", "10.0.0.2-10.0.0.1", "range ends before it begins"},
	{"2001:db8:1::-2001:db8::", "2001:db8:1::-2001:db8::", "range ends before it begins"},
	{"10.0.0.1-2001:db8::", "10.0.0.1-2001:db8::",
	 "range from one address family to the other"},
	{"10.0.0.1-::ffff:10.0.0.9", "10.0.0.1-::ffff:10.0.0.9",
	 "range from one address family to the other"},
	{"::ffff:10.0.0.2-::ffff:10.0.0.1", "::ffff:10.0.0.2-::ffff:10.0.0.1",
	 "range ends before it begins"},
	{"10.0.0.0/30-10.0.0.9", "10.0.0.0/30-10.0.0.9", "text behind the address"},
	{"10.0.0.1-", "10.0.0.1-", "not an address"},
	{"10.0.0.1 - 10.0.0.9", "10.0.0.1", "range with white space: write it A-B"},
	{"10.0.0.1\t-10.0.0.9,x", "10.0.0.1", "range with white space: write it A-B"},
	{"10.0.0.1 to 10.0.0.9", "10.0.0.1", SPACED_RANGE},
	{"10.0.0.1 10.0.0.9 24", "10.0.0.1", SECOND_ADDRESS},
	{"10.0.0.1\tUS\t10.0.0.9", "10.0.0.1", SECOND_ADDRESS},
	{"10.0.0.1;10.0.0.9;US", "10.0.0.1", SECOND_ADDRESS},
	{"10.0.0.1 ; 10.0.0.9", "10.0.0.1", SECOND_ADDRESS},
	{"10.0.0.1 2001:db8::/32", "10.0.0.1", SECOND_ADDRESS},
	{"2001:db8::1 !2001:db8::2", "2001:db8::1", SECOND_ADDRESS},
	{"10.0.0.0/8 10.0.0.0/9", "10.0.0.0/8", SECOND_ADDRESS},
	{"10.0.0.0 255.255.255.0", "10.0.0.0", NETMASK},
	{"10.0.0.0 mask 128.0.0.0", "10.0.0.0", NETMASK},
	{"10.0.0.0 255.255.0.255", "10.0.0.0", SECOND_ADDRESS},
	{"10.0.0.0 0.0.0.255", "10.0.0.0", WILDCARD},
	{"10.0.0.0 0.0.0.0", "10.0.0.0", WILDCARD},
	{"10.0.0.0 / 24", "10.0.0.0", "prefix length behind white space: write it ADDR/LEN"},
	{"12 10.0.0.1", "12", "a count before the address" HAS_COMMAND},
	{"1234 2001:db8::/32", "1234", "a count before the address" HAS_COMMAND},
	{"ipset add bad 10.0.0.1", "ipset", OTHER_WORDS},
	{"bad=\"10.0.0.1\"", "bad=\"10.0.0.1\"", OTHER_WORDS},
	{"x # 10.0.0.1", "x", HOST_NAME},
	{"10.0.0.0 /24", "10.0.0.0", "prefix length behind white space: write it ADDR/LEN"},
	{"0.0.0.0 ads.example.com", "0.0.0.0", "a line of a hosts file" HAS_COMMAND},
	{"3221225985", "3221225985", "an integer" HAS_COMMAND},
	{"1.2.3.*", "1.2.3.*", "wildcard: write it ADDR/LEN"},
	{"1.2.3.0-255", "1.2.3.0-255", "range with a part of its end: write it A-B"},
	{"10.0.0.1|x", "10.0.0.1|x", TABLE},
	{"10.0.0.1,10.0.0.9", "10.0.0.1,10.0.0.9", TABLE},
	{"10.0.0.1,5", "10.0.0.1,5", TABLE},
	{"fe80::1%eth0", "fe80::1%eth0", "IPv6 zones are not supported"},
	{"2001:db8::1::", "2001:db8::1::", "malformed IPv6 address"},
	{"2001:db8:::1", "2001:db8:::1", "malformed IPv6 address"},
	{"::10.0.0.300", "::10.0.0.300", "malformed IPv6 address"},
	{"52:54:00:12:34:56", "52:54:00:12:34:56", "malformed IPv6 address"},
	{"[2001:db8::1]", "[2001:db8::1]", OTHER_WORDS},
	{"192.0.2.1:80", "192.0.2.1:80", "port behind the address"},
	{"192.0.2.1,tcp:80", "192.0.2.1,tcp:80", SECOND_FIELD},
	{"192.0.2.0/24,eth0", "192.0.2.0/24,eth0", SECOND_FIELD},
	{"ip,score", "ip,score", TABLE},
	{" ! 192.0.2.1", "!", "not an address"},
	{"!!192.0.2.1", "!!192.0.2.1", "not an address"},
	{"!10.0.0.300", "!10.0.0.300", "octet above 255"},
	{"!10.0.0.1 - 10.0.0.9", "!10.0.0.1", "range with white space: write it A-B"},
	{"add foo !10.0.0.1", "!10.0.0.1", "not an address"},
	{"add foo !10.0.0.1 nomatch", "!10.0.0.1", "not an address"},
	{"add foo 192.0.2.0/24 comment \"x nomatch", "192.0.2.0/24", "quote without its end"},
	{"add foo 192.0.2.1,tcp:80", "192.0.2.1,tcp:80", SECOND_FIELD},
	{"add foo 10.0.0.300", "10.0.0.300", "octet above 255"},
	{"add foo", "add foo", "ipset line without a key"},
	{"add -exist foo # 10.0.0.1", "add -exist foo # 10.0.0.1", "ipset line without a key"},
	{"del foo 10.0.0.1", "del", OTHER_WORDS},
	{"-exist del foo 10.0.0.1", "del", OTHER_WORDS},
	{"add foo 10.0.0.1 limit 5", "limit", "no option of an entry of ipset"},
	{"add foo 10.0.0.1 timeout", "timeout", "without its value"},
	{"add foo address=10.0.0.1", "address=10.0.0.1", "a line of MikroTik's RouterOS" HAS_COMMAND},
	{"create foo hash:ip bitmask 255.0.0.255", "bitmask",
	 "an option of a set that Baleen does not support"},
	{"create foo hash:ip netmask 33", "create foo hash:ip netmask 33",
	 "netmask longer than an address"},
	{"create foo hash:ip netmask 24", "create foo hash:ip netmask 24",
	 "a set with a netmask or timeout behind other lines: put it first"},
	{"create foo", "create foo", "create without a name and a type"},
	{"10.0.0.1\r10.0.0.2\r", "10.0.0.1\\x0d10.0.0.2", "carriage return in the line"},
	{"# 10.0.0.1\r10.0.0.2", "# 10.0.0.1\\x0d10.0.0.2", "carriage return in the line"},
	{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	 "aaaaaaaaaaa"
	 "aaaaaaaaaaaaaaaaaaaaa",
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", "not an address"},
};

/* Line 3 is bad; what the list held before is still there. */
static void check_refused(const char *line, size_t length, const char *text, const char *reason)
{
	struct complaints seen = {0};
	struct baleen_list list = {0};
	char file[8192] = "192.0.2.77\n# two\n";
	size_t start = strlen(file);

	assert_true(start + length < sizeof(file));
	memcpy(file + start, line, length);
	file[start + length] = '\n';
	read_bytes(&list, file, start + length + 1, &seen);
	if (seen.n != 1)
		fail_msg("'%.*s': %zu bad lines instead of one", (int)length, line, seen.n);
	assert_int_equal(seen.line[0], 3);
	assert_string_equal(seen.text[0], text);
	assert_string_equal(seen.reason[0], reason);
	assert_int_equal(list.n_bad, 1);
	assert_int_equal(list.n_lines, 3);
	assert_keys(&list, "192.0.2.77");
	baleen_list_free(&list);
}

static void test_refused_lines(void **state)
{
	for (size_t i = 0; i < sizeof(refused_lines) / sizeof(refused_lines[0]); i++) {
		const struct refused *refused = &refused_lines[i];

		check_refused(refused->line, strlen(refused->line), refused->text, refused->reason);
	}
}

/* A count is none, but a range is. */
static void test_refused_ports(void **state)
{
	struct baleen_list list = {.key_spec = BALEEN_KEY_PROTO | BALEEN_KEY_DPORT};
	struct complaints seen = {0};

	read_text(&list, "tcp,22 tcp,25\ntcp,80 - tcp,90\ntcp,443 7\n", &seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.line[0], 2);
	assert_string_equal(seen.reason[0], SPACED_RANGE);
	assert_int_equal(list.n_listed, 2);
	baleen_list_free(&list);
}

/* Keys of several fields. */
static void test_refused_fields(void **state)
{
	static const struct refused refused[] = {
		{"192.0.2.1", "192.0.2.1", "fewer fields than the key has"},
		{"!192.0.2.1,443", "!192.0.2.1,443", "exception from keys of several fields"},
		{"add x 192.0.2.1,443 nomatch", "192.0.2.1,443",
		 "exception from keys of several fields"},
		{"192.0.2.1,443-445", "192.0.2.1,443-445", "range of ports in a key"},
		{"192.0.2.1,443 - 192.0.2.1,445", "192.0.2.1,443",
		 "range with white space: write it A-B"},
		{"192.0.2.1,443 192.0.2.1,445", "192.0.2.1,443", "a second key behind the key"},
		{"192.0.2.1 ,443", "192.0.2.1", "fewer fields than the key has"},
		{"192.0.2.1, 443", "192.0.2.1,", "port is not a number"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct baleen_list list = {.key_spec = BALEEN_KEY_SRC | BALEEN_KEY_DPORT};
		struct complaints seen = {0};

		read_text(&list, refused[i].line, &seen);
		assert_int_equal(seen.n, 1);
		assert_string_equal(seen.text[0], refused[i].text);
		assert_string_equal(seen.reason[0], refused[i].reason);
		assert_int_equal(list.n_listed, 0);
		baleen_list_free(&list);
	}
}

static void test_refused_nul(void **state)
{
	static const char in_key[] = "10.0.0.1\0"
				     "0",
			  behind[] = "10.0.0.1 \0", utf16[] = "1\0.\0";

	check_refused(in_key, sizeof(in_key) - 1, "10.0.0.1\\x000", "NUL byte");
	check_refused(behind, sizeof(behind) - 1, "10.0.0.1 \\x00", "NUL byte");
	check_refused(utf16, sizeof(utf16) - 1, "1\\x00.\\x00", "NUL byte");
}

static void test_refused_long(void **state)
{
	struct baleen_list list = {0};
	char line[4097];

	memset(line, ' ', sizeof(line));
	memcpy(line, "10.0.0.1", 8);
	read_bytes(&list, line, 4096, NULL);
	assert_int_equal(list.n_bad, 0);
	assert_keys(&list, "10.0.0.1");
	baleen_list_free(&list);
	check_refused(line, 4097,
		      "10.0.0.1                                                        ...",
		      "line longer than 4096 bytes");
}

/* The lines behind it keep their numbers. */
static void check_very_long(size_t n_long)
{
	static const char start[] = "\xef\xbb\xbf# ", after[] = "\n10.0.0.2\nbad\n";
	struct complaints seen = {0};
	struct baleen_list list = {0};
	char *file = malloc(n_long + sizeof(after));

	assert_non_null(file);
	memset(file, ' ', n_long);
	memcpy(file, start, strlen(start));
	memcpy(file + n_long, after, strlen(after));
	read_bytes(&list, file, n_long + strlen(after), &seen);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.line[0], 1);
	assert_string_equal(seen.reason[0], "line longer than 4096 bytes");
	assert_int_equal(seen.line[1], 3);
	assert_keys(&list, "10.0.0.2");
	baleen_list_free(&list);
	free(file);
}

/* About once and much longer than the buffer of 256 KiB. */
static void test_refused_very_long(void **state)
{
	for (size_t n_long = 256 * 1024 - 16; n_long <= 256 * 1024 + 16; n_long++)
		check_very_long(n_long);
	check_very_long(512 * 1024);
	check_very_long(3 * 1024 * 1024 + 17);
}

static void test_refused_key(void **state)
{
	static const char *const text[] = {
		"",	      " 10.0.0.1",	   "10.0.0.1 ",	 "10.0.0.1\n",
		"10.0.0.0/8", "10.0.0.1-10.0.0.2", "10.0.0.300", "::g",
		"::1%lo",     "10.0.0.1,80",	   "!10.0.0.1",	 "10.0.0.1#x",
	};
	struct baleen_key key, poison;

	memset(&poison, 0xa5, sizeof(poison));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		const char *reason = NULL;

		key = poison;
		assert_int_equal(baleen_key_parse(text[i], strlen(text[i]), BALEEN_KEY_SRC, &key,
						  &reason),
				 -EINVAL);
		assert_memory_equal(&key, &poison, sizeof(key));
		assert_non_null(reason);
	}
	assert_int_equal(baleen_key_parse("1.2.3.4\0", 8, BALEEN_KEY_SRC, &key,
					  &(const char *){NULL}),
			 -EINVAL);
	assert_memory_equal(&key, &poison, sizeof(key));
}

static void test_refused_span(void **state)
{
	static const char *const text[] = {"10.0.0.0/33", "10.0.0.2-10.0.0.1", "10.0.0.1,80"};
	struct baleen_span span, poison;

	memset(&poison, 0xa5, sizeof(poison));
	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		const char *reason = NULL;

		span = poison;
		assert_int_equal(baleen_span_parse(text[i], strlen(text[i]), &span, &reason),
				 -EINVAL);
		assert_memory_equal(&span, &poison, sizeof(span));
		assert_non_null(reason);
	}
}

static void check_read_fails(int fd, int want)
{
	struct baleen_error error = {""};
	struct baleen_list list = {0};
	char want_text[256], text[8] = "poison";
	struct baleen_key key = {0};
	u64 line = 77;

	read_text(&list, "10.0.0.1\n", NULL);
	snprintf(want_text, sizeof(want_text), "some.txt: %s", strerror(-want));
	assert_int_equal(baleen_list_read(&list, fd, "some.txt", NULL, &error), want);
	assert_string_equal(error.text, want_text);
	assert_keys(&list, "10.0.0.1");
	assert_int_equal(baleen_list_find(fd, BALEEN_KEY_SRC, &key, &line, text, sizeof(text)),
			 want);
	assert_int_equal(line, 77);
	assert_string_equal(text, "poison");
	baleen_list_free(&list);
}

static void test_refused_file(void **state)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	assert_true(fd >= 0);
	check_read_fails(fd, -EISDIR);
	close(fd);
	check_read_fails(-1, -EBADF);
}

/* Sizes that no allocation is even tried for. */
static void check_no_memory(u32 key_spec, const char *line, size_t full)
{
	struct baleen_list before = {
		.key_spec = key_spec,
		.n_ip4 = full,
		.room_ip4 = full,
		.n_prefix4 = full,
		.room_prefix4 = full,
		.n_ip6 = full,
		.room_ip6 = full,
		.n_prefix6 = full,
		.room_prefix6 = full,
		.n_key = full,
		.room_key = full,
	};
	struct baleen_list list = before;
	int fd = open_bytes(line, strlen(line));

	assert_int_equal(baleen_list_read(&list, fd, "some.txt", NULL, NULL), -ENOMEM);
	list.n_lines = 0;
	assert_memory_equal(&list, &before, sizeof(list));
	close(fd);
}

static void test_refused_memory(void **state)
{
	static const size_t full[] = {PTRDIFF_MAX / sizeof(u32), SIZE_MAX / 2, SIZE_MAX};

	for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		check_no_memory(BALEEN_KEY_SRC, "10.0.0.1\n", full[i]);
		check_no_memory(BALEEN_KEY_SRC, "10.0.0.0/24\n", full[i]);
		check_no_memory(BALEEN_KEY_SRC, "!10.0.0.1\n", full[i]);
		check_no_memory(BALEEN_KEY_SRC, "2001:db8::1\n", full[i]);
		check_no_memory(BALEEN_KEY_SRC, "2001:db8::/32\n", full[i]);
		check_no_memory(BALEEN_KEY_DPORT, "443\n", full[i]);
	}
}

/* --- held --- */

static void test_held_lines(void **state)
{
	static const char *const line[][2] = {
		{"", ""},
		{"\n\n  \n\t\n\r\n", ""},
		{"# 10.0.0.1\n; 10.0.0.1\n  # 10.0.0.1", ""},
		{"10.0.0.1", "10.0.0.1"},
		{"0.0.0.0\n255.255.255.255\n", "0.0.0.0 255.255.255.255"},
		{" \t10.0.0.1", "10.0.0.1"},
		{"10.0.0.1\r\n10.0.0.2\r\r\n", "10.0.0.1 10.0.0.2"},
		{"10.0.0.1#x\n10.0.0.2;x\n10.0.0.3 # x", "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"10.0.0.1 a # 10.0.0.9\n10.0.0.2 b ;a 10.0.0.9\n10.0.0.3 :: 24 at 1:2:3 by a.b, v1.2.3",
		 "10.0.0.1 10.0.0.2 10.0.0.3"},
		{"10.0.0.1\t10\n10.0.0.2 -5\n10.0.0.3 - why\n10.0.0.4 ,",
		 "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4"},
		{"\xef\xbb\xbf"
		 "10.0.0.1\n",
		 "10.0.0.1"},
		{"\xef\xbb\xbf# x\n10.0.0.1\n", "10.0.0.1"},
		{"10.0.0.1/32", "10.0.0.1"},
		{"10.0.0.7/30", "10.0.0.4/30"},
		{"255.255.255.255/31", "255.255.255.254/31"},
		{"1.2.3.4/0 x", "0.0.0.0/0"},
		{"10.0.0.255-10.0.1.1", "10.0.0.255/32 10.0.1.0/31"},
		{"0.0.0.0-255.255.255.255", "0.0.0.0/0"},
		{"0.0.0.1-255.255.255.254 10",
		 "0.0.0.1/32 0.0.0.2/31 0.0.0.4/30 0.0.0.8/29 0.0.0.16/28 0.0.0.32/27 0.0.0.64/26 "
		 "0.0.0.128/25 0.0.1.0/24 0.0.2.0/23 0.0.4.0/22 0.0.8.0/21 0.0.16.0/20 0.0.32.0/19 "
		 "0.0.64.0/18 0.0.128.0/17 0.1.0.0/16 0.2.0.0/15 0.4.0.0/14 0.8.0.0/13 0.16.0.0/12 "
		 "0.32.0.0/11 0.64.0.0/10 0.128.0.0/9 1.0.0.0/8 2.0.0.0/7 4.0.0.0/6 8.0.0.0/5 "
		 "16.0.0.0/4 32.0.0.0/3 64.0.0.0/2 128.0.0.0/2 192.0.0.0/3 224.0.0.0/4 240.0.0.0/5 "
		 "248.0.0.0/6 252.0.0.0/7 254.0.0.0/8 255.0.0.0/9 255.128.0.0/10 255.192.0.0/11 "
		 "255.224.0.0/12 255.240.0.0/13 255.248.0.0/14 255.252.0.0/15 255.254.0.0/16 "
		 "255.255.0.0/17 255.255.128.0/18 255.255.192.0/19 255.255.224.0/20 "
		 "255.255.240.0/21 255.255.248.0/22 255.255.252.0/23 255.255.254.0/24 "
		 "255.255.255.0/25 255.255.255.128/26 255.255.255.192/27 255.255.255.224/28 "
		 "255.255.255.240/29 255.255.255.248/30 255.255.255.252/31 255.255.255.254/32"},
		{"!10.0.0.1\n!10.0.0.9/8#x\n!10.0.0.2-10.0.0.4",
		 "!10.0.0.1/32 !10.0.0.0/8 !10.0.0.2/31 !10.0.0.4/32"},
		{"!::1\n!2001:db8::f/32\n!::ffff:10.0.0.1", "!10.0.0.1/32 !::1/128 !2001:db8::/32"},
		{"10.0.0.1-10.0.0.1", "10.0.0.1"},
		{"2001:DB8:0:0::1 x", "2001:db8::1"},
		{"::", "::"},
		{"2001:db8::f/127", "2001:db8::e/127"},
		{"2001:db8::f/63", "2001:db8::/63"},
		{"2001:db8:1:2:3::f/64", "2001:db8:1:2::/64"},
		{"2001:db8:1:2:ffff::f/65", "2001:db8:1:2:8000::/65"},
		{"2001:db8::1/128", "2001:db8::1"},
		{"::1/0", "::/0"},
		{"::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/0"},
		{"::-7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::/1"},
		{"0:0:0:1::-0:0:0:2:ffff:ffff:ffff:ffff", "0:0:0:1::/64 0:0:0:2::/64"},
		{"::fffe:ffff:ffff-::fffe:ffff:ffff", "::fffe:ffff:ffff"},
		{"::1:ffff:ffff:ffff:ffff-0:0:0:2::", "::1:ffff:ffff:ffff:ffff 0:0:0:2::"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"::FFFF:c000:0201", "192.0.2.1"},
		{"::ffff:192.0.2.1/128", "192.0.2.1"},
		{"::ffff:192.0.2.1/127", "::ffff:192.0.2.0/127"},
		{"::ffff:0:0/96", "::ffff:0.0.0.0/96"},
		{"::ffff:192.0.2.1/95", "::fffe:0:0/95"},
		{"!::ffff:10.0.0.0/111", "!::ffff:10.0.0.0/111"},
		{"::ffff:192.0.2.2-::ffff:192.0.2.5",
		 "::ffff:192.0.2.2/127 ::ffff:192.0.2.4/127"},
		{"::fffe:ffff:fffe-::ffff:0.0.0.1", "::fffe:ffff:fffe/127 ::ffff:0.0.0.0/127"},
		{"::192.0.2.1", "::192.0.2.1"},
	};

	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		struct baleen_list list = {0};

		read_text(&list, line[i][0], NULL);
		assert_int_equal(list.n_bad, 0);
		assert_keys(&list, line[i][1]);
		baleen_list_free(&list);
	}
}

/* As `ipset save` of ipset 7.17 prints sets, with the options of `restore`. */
static void test_held_ipset(void **state)
{
	static const char save[] =
		"create bad hash:net family inet hashsize 1024 maxelem 65536 timeout 600 comment "
		"bucketsize 12 initval 0x6dbc8a4f\n"
		"add bad 192.0.2.4/31 timeout 587 comment \"scans # and; probes\"\n"
		"add bad 192.0.2.1 timeout 0 comment \"said nomatch here\"\n"
		"create bad6 hash:ip family inet6 hashsize 1024 maxelem 65536 counters -exist\n"
		"add bad6 2001:db8::1 packets 0 bytes 0\n"
		"-exist add bad 192.0.2.7\n"
		"add -exist bad 192.0.2.8\n"
		"add -! bad# 192.0.2.9 # nomatch\n"
		"add bad 192.0.2.10#x -exist\n"
		"add nomatch 192.0.2.16/29\n"
		"add bad 192.0.2.18/31 timeout 9 comment \"a b\" nomatch\n"
		"add bad 192.0.2.20 timeout 9 nomatch comment \"a b\"\n"
		"add bad 192.0.2.18 nomatch -exist\n";
	struct baleen_list list = {0};

	read_text(&list, save, NULL);
	baleen_list_finish(&list);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_lines, 13);
	assert_int_equal(list.n_covered, 1);
	assert_keys(&list, "192.0.2.1 192.0.2.7 192.0.2.8 192.0.2.9 192.0.2.10 192.0.2.4-192.0.2.5 "
			   "192.0.2.16-192.0.2.17 192.0.2.21-192.0.2.23 2001:db8::1");
	baleen_list_free(&list);
}

/* A host of a set with a netmask is its network, as `ipset test` says. */
static void test_held_netmask(void **state)
{
	static const char save[] =
		"# saved\n"
		"create plain hash:ip family inet hashsize 1024 maxelem 65536\n"
		"create masked hash:ip family inet hashsize 1024 maxelem 65536 netmask 24\n"
		"create six hash:ip family inet6 netmask 64 timeout 60 # x\n"
		"add plain 192.0.2.1\n"
		"add masked 198.51.100.0 timeout 5\n"
		"add masked 203.0.113.7/32\n"
		"add six 2001:db8::1 timeout 0\n"
		"add six 2001:db8:0:1::1\n"
		"add maskedtoo 192.0.2.9 timeout 7 nomatch\n";
	struct baleen_list list = {0};
	struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = 0xc6336463};
	char text[BALEEN_KEY_TEXT];
	u64 line;
	int fd = open_bytes(save, strlen(save));

	read_text(&list, save, NULL);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_ends, 3);
	assert_keys(&list, "192.0.2.1 203.0.113.7 198.51.100.0/24 !192.0.2.9/32 2001:db8::/64 "
			   "2001:db8:0:1::/64");
	assert_int_equal(baleen_list_find(fd, BALEEN_KEY_SRC, &key, &line, text, sizeof(text)), 0);
	assert_int_equal(line, 6);
	assert_string_equal(text, "198.51.100.0");
	close(fd);
	baleen_list_free(&list);
}

/* Long enough for threads, which would not know of the first line. */
static void test_held_netmask_long(void **state)
{
	static const char create[] = "create m hash:ip netmask 16\n";
	enum { N = 65536, LINE = 16 };
	char *save = malloc(sizeof(create) + N * 4 * LINE), *p = save;
	struct baleen_list list = {0};

	assert_non_null(save);
	p += sprintf(p, "%s", create);
	for (u32 i = 0; i < N; i++)
		p += sprintf(p, "add m 10.%u.%u.0 comment \"%s\"\n", i >> 8, i & 255,
			     "as long as it is");
	baleen_threads_set(4);
	read_text(&list, save, NULL);
	baleen_threads_set(0);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_prefix4, N);
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_keys(&list, "10.0.0.0-10.255.255.255");
	baleen_list_free(&list);
	free(save);
}

static void test_held_fields(void **state)
{
	static const char text[] =
		"\xef\xbb\xbf# head\r\n tcp,192.0.2.1,443 # x\r\n2001:db8::1,udp:53\n"
		"add x 192.0.2.2,tcp:80 timeout 9 comment \"a\"\n6,192.0.2.1,25 - why\n";
	struct baleen_list list = {
		.key_spec = BALEEN_KEY_PROTO | BALEEN_KEY_DST | BALEEN_KEY_DPORT,
	};

	read_text(&list, text, NULL);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_listed, 4);
	assert_keys(&list,
		    "tcp,192.0.2.1,443 udp,2001:db8::1,53 tcp,192.0.2.2,80 tcp,192.0.2.1,25");
	baleen_list_free(&list);
}

static void test_format(void **state)
{
	static const char *const text[][2] = {
		{"0.0.0.0", "0.0.0.0"},
		{"255.255.255.255", "255.255.255.255"},
		{"9.10.99.100", "9.10.99.100"},
		{"199.200.249.250", "199.200.249.250"},
		{"2001:0DB8::0001", "2001:db8::1"},
		/* RFC 5952, sections 4.2.2 and 4.2.3 */
		{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
		{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
		{"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
		{"::FFFF:192.0.2.1", "192.0.2.1"},
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		const char *reason = "untouched";
		char got[BALEEN_KEY_TEXT];
		struct baleen_key key;

		assert_int_equal(baleen_key_parse(text[i][0], strlen(text[i][0]), BALEEN_KEY_SRC,
						  &key, &reason),
				 0);
		assert_string_equal(reason, "untouched");
		baleen_key_format(&key, BALEEN_KEY_SRC, got);
		assert_string_equal(got, text[i][1]);
	}
}

static void test_format_octets(void **state)
{
	for (u32 octet = 0; octet < 256; octet++) {
		struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = octet * 0x01000100};
		struct in_addr address = {htonl(key.ip4)};
		char got[BALEEN_KEY_TEXT], want[INET_ADDRSTRLEN];

		baleen_key_format(&key, BALEEN_KEY_SRC, got);
		inet_ntop(AF_INET, &address, want, sizeof(want));
		assert_string_equal(got, want);
	}
}

/* --- how the bytes come in --- */

static const char small_list[] =
	"\xef\xbb\xbf# "
	"head\r\n10.0.0.1\r\nbad\n2001:db8::1\t5\n\n10.0.0.8/31;x\n10.0.0.300\n10.0.0.2";

static void check_small_list(struct baleen_list *list, const struct complaints *seen)
{
	assert_int_equal(seen->n, 2);
	assert_int_equal(seen->line[0], 3);
	assert_int_equal(seen->line[1], 7);
	assert_int_equal(list->n_lines, 8);
	baleen_list_finish(list);
	assert_keys(list, "10.0.0.1 10.0.0.2 10.0.0.8-10.0.0.9 2001:db8::1");
	baleen_list_free(list);
}

/* A pipe in packet mode hands out each byte by a read() of its own. */
static void test_byte_by_byte(void **state)
{
	struct complaints seen = {0};
	const struct baleen_list_reader reader = {.on_bad = complain, .data = &seen};
	struct baleen_list list = {0};
	int end[2];

	assert_int_equal(pipe2(end, O_CLOEXEC | O_DIRECT), 0);
	assert_true(fcntl(end[1], F_SETPIPE_SZ, 1024 * 1024) >= 1024 * 1024);
	for (size_t i = 0; i < strlen(small_list); i++)
		assert_int_equal(write(end[1], &small_list[i], 1), 1);
	close(end[1]);
	assert_int_equal(baleen_list_read(&list, end[0], "some.txt", &reader, NULL), 0);
	close(end[0]);
	check_small_list(&list, &seen);
}

static int alarm_pipe;

static void on_alarm(int signal)
{
	static u32 n_alarms;

	if (++n_alarms == 10 && write(alarm_pipe, small_list, strlen(small_list)) > 0)
		close(alarm_pipe);
}

/* The tenth of the signals that interrupt read() brings the list and its end. */
static void test_interrupted(void **state)
{
	const struct sigaction action = {.sa_handler = on_alarm}, ignore = {.sa_handler = SIG_IGN};
	const struct itimerval often = {{.tv_usec = 2000}, {.tv_usec = 2000}}, never = {0};
	struct complaints seen = {0};
	const struct baleen_list_reader reader = {.on_bad = complain, .data = &seen};
	struct baleen_list list = {0};
	int end[2];

	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	alarm_pipe = end[1];
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(baleen_list_read(&list, end[0], "some.txt", &reader, NULL), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &ignore, NULL);
	close(end[0]);
	check_small_list(&list, &seen);
}

static size_t count_lines(const char *path, char first_low, char first_high)
{
	FILE *file = fopen(path, "r");
	char line[256];
	size_t n = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		n += line[0] >= first_low && line[0] <= first_high;
	fclose(file);
	return n;
}

static void test_ipsum(void **state)
{
	struct baleen_list list = {0};
	struct complaints seen = {0};
	const struct baleen_list_reader reader = {.on_bad = complain, .data = &seen};
	int fd = open(IPSUM, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(baleen_list_read(&list, fd, "some.txt", &reader, NULL), 0);
	close(fd);
	baleen_list_finish(&list);
	assert_int_equal(seen.n, 0);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(list.n_ip4 + list.n_covered, count_lines(IPSUM, '0', '9'));
	assert_int_equal(list.n_lines, count_lines(IPSUM, '\0', '\x7f'));
	assert_int_equal(list.n_ip4, 120430);
	assert_int_equal(list.n_ip6, 0);
	baleen_list_free(&list);
}

/* --- find --- */

struct found {
	const char *key;
	u64 line;
	const char *text;
};

static void check_found(const char *file, u32 key_spec, const struct found *want)
{
	int fd = open_bytes(file, strlen(file));
	char text[64] = "poison";
	struct baleen_key key;
	const char *reason;
	u64 line = 77;
	int ret;

	assert_int_equal(baleen_key_parse(want->key, strlen(want->key), key_spec, &key, &reason),
			 0);
	ret = baleen_list_find(fd, key_spec, &key, &line, text, sizeof(text));
	assert_int_equal(ret, want->line ? 0 : -ENOENT);
	assert_int_equal(line, want->line ? want->line : 77);
	assert_string_equal(text, want->line ? want->text : "poison");
	close(fd);
}

static void test_find(void **state)
{
	static const char file[] =
		"# x\n10.0.0.300\n10.0.0.0/15\n10.0.0.1\n10.0.0.4-10.0.0.6 # why\n"
		"10.0.0.0/24\nadd x 2001:db8::/120 timeout 5\n::ffff:192.0.2.1\n"
		"add x 10.1.0.0/24 nomatch\n10.1.0.9\n10.0.0.0/24\n!10.0.0.1/32\n"
		"10.0.0.0/24\n!2001:db8::80/121\n2001:db8::81-2001:db8::83\n"
		"10.1.2.0/24\n!10.1.2.0/24\n10.1.2.0/24\n!192.0.2.0/24\n::ffff:0:0/96";
	static const struct found want[] = {
		{"10.2.0.0", 0, NULL},
		{"2001:db8::100", 0, NULL},
		{"::", 0, NULL},
		{"192.0.2.2", 0, NULL},
		{"10.1.1.0", 3, "10.0.0.0/15"},
		{"10.0.0.1", 0, NULL},
		{"10.0.0.4", 5, "10.0.0.4-10.0.0.6"},
		{"10.0.0.6", 5, "10.0.0.4-10.0.0.6"},
		{"10.0.0.7", 6, "10.0.0.0/24"},
		{"10.1.0.8", 0, NULL},
		{"10.1.0.9", 10, "10.1.0.9"},
		{"10.1.2.3", 0, NULL},
		{"2001:db8::7f", 7, "2001:db8::/120"},
		{"2001:db8::80", 0, NULL},
		{"2001:db8::81", 15, "2001:db8::81-2001:db8::83"},
		{"2001:db8::84", 0, NULL},
		{"192.0.2.1", 8, "::ffff:192.0.2.1"},
		{"198.51.100.1", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		check_found(file, BALEEN_KEY_SRC, &want[i]);
}

static void test_find_fields(void **state)
{
	static const char file[] = "443\n192.0.2.1,80\n192.0.2.1,443\n192.0.2.1,443 # again\n";
	static const struct found want[] = {
		{"192.0.2.1,80", 2, "192.0.2.1,80"},
		{"192.0.2.1,443", 3, "192.0.2.1,443"},
		{"192.0.2.2,443", 0, NULL},
		{"::c000:201,443", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		check_found(file, BALEEN_KEY_SRC | BALEEN_KEY_DPORT, &want[i]);
}

static void test_find_cuts(void **state)
{
	struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = 0x0a000001};
	int fd = open_bytes("10.0.0.1\n", 9);
	char text[8] = "poison";
	u64 line;

	assert_int_equal(baleen_list_find(fd, BALEEN_KEY_SRC, &key, &line, text, 5), 0);
	assert_string_equal(text, "10.0");
	close(fd);
}

/* cmocka's own skip() prints `not ok`. */
static int run_ipsum(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipsum),
	};

	if (!access(IPSUM, R_OK))
		return cmocka_run_group_tests(tests, NULL, NULL);
	print_message("ok - test_ipsum # SKIP no " IPSUM "\n");
	return 0;
}

/* --- a bound ---------------------------------------------------------------- */

/* Entries that are held when reading ends; @err is how it ends. */
static u64 read_bounded(const char *text, size_t n_bytes, u64 max_entries, int err)
{
	const struct baleen_list_reader reader = { .max_entries = max_entries };
	struct baleen_list list = { 0 };
	struct baleen_error error = { "" };
	int fd = open_bytes(text, n_bytes);
	u64 n;

	assert_int_equal(baleen_list_read(&list, fd, "some.txt", &reader, &error), err);
	assert_int_equal(strncmp(error.text, "some.txt: more than ", 20) == 0, err == -E2BIG);
	close(fd);
	n = list.n_listed;
	baleen_list_free(&list);
	return n;
}

static void test_bound(void **state)
{
	static const char few[] = "192.0.2.1\n192.0.2.1\n# no entry\nbad\n2001:db8::/32\n";
	static const char range[] = "0.0.0.1-255.255.255.254\n";
	size_t n_bytes = 0, n_lines = 600000;
	char *many = malloc(n_lines * 16);

	assert_int_equal(read_bounded(few, strlen(few), 3, 0), 3);
	assert_int_equal(read_bounded(few, strlen(few), 2, -E2BIG), 3);
	assert_int_equal(read_bounded(few, strlen(few), 0, 0), 3);
	/* 62 prefixes */
	assert_int_equal(read_bounded(range, strlen(range), 62, 0), 62);
	read_bounded(range, strlen(range), 61, -E2BIG);
	assert_non_null(many);
	for (size_t i = 0; i < n_lines; i++)
		n_bytes +=
			sprintf(many + n_bytes, "10.%zu.%zu.%zu\n", i >> 16, i >> 8 & 255, i & 255);
	for (u32 n_threads = 1; n_threads <= 3; n_threads += 2) {
		baleen_threads_set(n_threads);
		assert_int_equal(read_bounded(many, n_bytes, n_lines, 0), n_lines);
		read_bounded(many, n_bytes, n_lines - 1, -E2BIG);
		/* What comes behind the bound is not held: each thread may have been at a block. */
		assert_in_range(read_bounded(many, n_bytes, 1000, -E2BIG), 1000, 3 * 1001);
	}
	baleen_threads_set(0);
	free(many);
}

static void test_host_bits(void **state)
{
	static const char *const with[] = { "10.1.2.3/8", "172.20.0.0/12", "0.0.0.1/0",
					    "2001:db8::1/64", "::ffff:1.2.3.4/96" };
	static const char *const without[] = { "10.0.0.0/8",
					       "10.1.2.3",
					       "10.1.2.3/32",
					       "10.1.2.3-10.1.2.9",
					       "2001:db8::1",
					       "2001:db8::/64",
					       "10.1.2.300/8",
					       "10.1.2.3/33",
					       "2001:db8::1/128",
					       "",
					       "/8" };

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		if (!baleen_span_has_host_bits(with[i]))
			fail_msg("%s", with[i]);
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (baleen_span_has_host_bits(without[i]))
			fail_msg("%s", without[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_refused_fields),
		cmocka_unit_test(test_refused_ports),
		cmocka_unit_test(test_refused_nul),
		cmocka_unit_test(test_refused_long),
		cmocka_unit_test(test_refused_very_long),
		cmocka_unit_test(test_refused_key),
		cmocka_unit_test(test_refused_span),
		cmocka_unit_test(test_refused_file),
		cmocka_unit_test(test_refused_memory),
		cmocka_unit_test(test_held_lines),
		cmocka_unit_test(test_held_ipset),
		cmocka_unit_test(test_held_netmask),
		cmocka_unit_test(test_held_netmask_long),
		cmocka_unit_test(test_held_fields),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_octets),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_fields),
		cmocka_unit_test(test_find_cuts),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_host_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) + run_ipsum();
}
