// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets as ipset save and nft -j print them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list/import.h"
#include "lists.h"

/* @entries: KEY[/exception]@SECONDS#COMMENT:LINE of each, or the error */
struct import {
	enum baleen_import_format format;
	const char *file;
	const char *set;
	const char *entries;
};

static int add_entry(void *data, const struct baleen_import_entry *entry,
		     struct baleen_error *error)
{
	add_word(data, "%s%s@%llu#%s:%llu", entry->is_exception ? "!" : "", entry->key,
		 (unsigned long long)entry->expires_s, entry->comment,
		 (unsigned long long)entry->line);
	return 0;
}

static void check_import(const struct import *import, int want)
{
	struct words words = { .used = 0 };
	struct baleen_importer importer = {
		.format = import->format,
		.set = import->set,
		.on_entry = add_entry,
		.data = &words,
	};
	int fd = open_bytes(import->file, strlen(import->file)), err;
	struct baleen_error error = { "" };

	err = baleen_import(&importer, fd, "f", &error);
	close(fd);
	words.text[words.used] = '\0';
	if (err != want || strcmp(err ? error.text : words.text, import->entries))
		fail_msg("'%s': %d\n%s\n%s", import->file, err, words.text, error.text);
	/* Before all is understood nothing is handed on. */
	if (err)
		assert_int_equal(words.used, 0);
}

/* --- ipset --- */

/* As ipset 7.17 prints it, of a real set. */
#define IPSET_A                                                                                  \
	"create a hash:net family inet hashsize 1024 maxelem 65536 timeout 60 counters comment " \
	"bucketsize 12 initval 0xef71dac1\n"                                                     \
	"add a 10.0.0.0/8 timeout 59 packets 0 bytes 0 comment \"x y\"\n"                        \
	"add a 10.1.0.0/16 timeout 0 nomatch packets 0 bytes 0\n"
#define IPSET_B                                                                            \
	"create b hash:ip family inet6 hashsize 1024 maxelem 65536 bucketsize 12 initval " \
	"0x097e3eab\nadd b 2001:db8::1\n"
#define IPSET_C                                                                              \
	"create c hash:ip family inet hashsize 1024 maxelem 65536 netmask 24 bucketsize 12 " \
	"initval 0xa4aa727f\nadd c 192.0.2.0\n"
#define IPSET_D "create d bitmap:ip range 192.0.2.0-192.0.2.255 netmask 28\nadd d 192.0.2.16\n"
#define IPSET_E "create e hash:ip,port family inet hashsize 1024\nadd e 192.0.2.1,tcp:80\n"
#define IPSET_F "create f hash:ip family inet skbinfo forceadd\nadd f 192.0.2.1 skbmark 0x1\n"
#define IPSET_MAC "create m hash:mac hashsize 1024\nadd m 02:00:00:00:00:01\n"

static void test_ipset(void **state)
{
	static const struct import imports[] = {
		{ 0, IPSET_A, NULL, "10.0.0.0/8@59#x y:2 !10.1.0.0/16@0#:3" },
		{ 0, IPSET_B, NULL, "2001:db8::1@0#:2" },
		/* the netmask makes a network of each address */
		{ 0, IPSET_C, NULL, "192.0.2.0/24@0#:2" },
		{ 0, IPSET_D, NULL, "192.0.2.16/28@0#:2" },
		{ 0, IPSET_E, NULL, "192.0.2.1,tcp:80@0#:2" },
		{ 0, IPSET_F, NULL, "192.0.2.1@0#:2" },
		{ 0, IPSET_A IPSET_B IPSET_MAC, "b", "2001:db8::1@0#:5" },
		{ 0, "# x\n\n  add a 192.0.2.1\r\n", NULL, "192.0.2.1@0#:3" },
		{ 0, "add a -exist 192.0.2.1 timeout 5 -!", NULL, "192.0.2.1@5#:1" },
		{ 0, "create a hash:ip timeout 300\nadd a 192.0.2.1\nadd a 192.0.2.2 timeout 0",
		  "a", "192.0.2.1@300#:2 192.0.2.2@0#:3" },
		{ 0, "create a hash:ip", NULL, "" },
		{ 0, "add a 192.0.2.1 comment \"\"\nadd a 192.0.2.2 comment ssh", NULL,
		  "192.0.2.1@0#:1 192.0.2.2@0#ssh:2" },
		{ 0, "add a 192.0.2.1-192.0.2.9", NULL, "192.0.2.1-192.0.2.9@0#:1" },
	};

	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		check_import(&imports[i], 0);
}

static void test_ipset_refused(void **state)
{
	static const struct import imports[] = {
		{ 0, IPSET_A IPSET_B, NULL, "f: 2 sets: choose one of a, b" },
		{ 0, "192.0.2.1\n", NULL, "f:1: '192.0.2.1' is neither create nor add" },
		{ 0, "add a 192.0.2.1\nflush a\n", NULL, "f:2: 'flush' is neither create nor add" },
		{ 0, "add a 192.0.2.1\nswap a b\n", "a", "f:2: 'swap' is neither create nor add" },
		{ 0, "add a\n", NULL, "f:1: add without a set and a key" },
		{ 0, "add\n", NULL, "f:1: add without a set and a key" },
		{ 0, "add a \"&\ti\"\n", NULL, "f:1: '\"&\\x09i\"': not an address" },
		{ 0, "create a\n", NULL, "f:1: create without a name and a type" },
		{ 0, "create a hash:ip\ncreate a hash:ip\n", NULL,
		  "f:2: set 'a' is created twice" },
		{ 0, IPSET_MAC, NULL,
		  "f:1: set 'm' is of type hash:mac, whose keys Baleen does not support" },
		{ 0, "create a list:set\n", NULL,
		  "f:1: set 'a' is of type list:set, whose keys Baleen does not support" },
		{ 0, "create a hash:ip family inet6\nadd a 192.0.2.1\n", NULL,
		  "f:2: '192.0.2.1': not of the family of set 'a'" },
		{ 0, "create a hash:ip\nadd a 2001:db8::1\n", NULL,
		  "f:2: '2001:db8::1': not of the family of set 'a'" },
		{ 0, "create a hash:ip family inet8\n", NULL,
		  "f:1: 'inet8': a family that is neither inet nor inet6" },
		{ 0, "create a hash:ip bitmask 255.0.0.255\n", NULL,
		  "f:1: 'bitmask': an option of a set that Baleen does not support" },
		{ 0, "create a hash:ip,port netmask 24\n", NULL,
		  "f:1: 'netmask': an option of a set that Baleen does not support" },
		{ 0, "create a hash:ip\nadd a 192.0.2.300\n", NULL,
		  "f:2: '192.0.2.300': octet above 255" },
		{ 0, "create a hash:ip netmask 99\nadd a 192.0.2.1\n", NULL,
		  "f:1: netmask longer than an address" },
		{ 0, "add a 192.0.2.1 timeout\n", NULL, "f:1: 'timeout': without its value" },
		{ 0, "add a 192.0.2.1 timeout -1\n", NULL, "f:1: '-1': not a number of seconds" },
		{ 0, "add a 192.0.2.1 timeout 99999999999\n", NULL,
		  "f:1: '99999999999': not a number of seconds" },
		{ 0, "add a 192.0.2.1 limit 5\n", NULL, "f:1: 'limit' is no option of an entry" },
		{ 0, "add a 192.0.2.1 comment \"x\n", NULL, "f:1: quote without its end" },
		{ 0, "add a 192.0.2.1 comment \"x\"y\n", NULL, "f:1: text right behind a quote" },
		{ 0, "add a !192.0.2.1\n", NULL, "f:1: '!192.0.2.1': not an address" },
		/* the second line is bad: the first is not handed on */
		{ 0, "create a hash:ip\nadd a 192.0.2.1\nadd a x\x1b[0m\n", NULL,
		  "f:3: 'x\\x1b[0m': not an address" },
	};
	static const struct import missing[] = {
		{ 0, "", NULL, "f: no set in it" },
		{ 0, IPSET_A IPSET_B, "c", "f: no set 'c': there are a, b" },
	};

	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		check_import(&imports[i], -EINVAL);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		check_import(&missing[i], -ENOENT);
}

/* --- nft --- */

/* As nft 1.0.6 prints it, of real sets. */
#define NFT(sets)                                                                      \
	"{\"nftables\": [{\"metainfo\": {\"version\": \"1.0.6\", \"release_name\": "   \
	"\"Lester Gooch #5\", \"json_schema_version\": 1}}, {\"table\": {\"family\": " \
	"\"inet\", \"name\": \"f\", \"handle\": 1}}, " sets "]}\n"
#define NFT_A                                                                            \
	"{\"set\": {\"family\": \"inet\", \"name\": \"a\", \"table\": \"f\", \"type\": " \
	"\"ipv4_addr\", \"handle\": 1, \"flags\": [\"interval\", \"timeout\"], "         \
	"\"timeout\": 3600, \"elem\": [{\"elem\": {\"val\": {\"prefix\": {\"addr\": "    \
	"\"10.0.0.0\", \"len\": 8}}, \"timeout\": 300, \"expires\": 299, \"comment\": "  \
	"\"x y\", \"counter\": {\"packets\": 0, \"bytes\": 0}}}, {\"elem\": {\"val\": "  \
	"{\"range\": [\"192.0.2.1\", \"192.0.2.9\"]}, \"expires\": 3599, \"counter\": "  \
	"{\"packets\": 0, \"bytes\": 0}}}, {\"elem\": {\"val\": \"198.51.100.1\", "      \
	"\"expires\": 0}}], \"stmt\": [{\"counter\": null}]}}"
#define NFT_B                                                                            \
	"{\"set\": {\"family\": \"inet\", \"name\": \"b\", \"table\": \"f\", \"type\": " \
	"\"ipv6_addr\", \"handle\": 2, \"elem\": [\"2001:db8::1\"]}}"
#define NFT_C                                                                            \
	"{\"set\": {\"family\": \"inet\", \"name\": \"c\", \"table\": \"f\", \"type\": " \
	"[\"ipv4_addr\", \"inet_service\"], \"handle\": 3, \"elem\": [{\"concat\": "     \
	"[\"192.0.2.1\", 80]}]}}"
#define NFT_B_OF_G                                                                     \
	"{\"set\": {\"family\": \"ip\", \"name\": \"b\", \"table\": \"g\", \"type\": " \
	"\"ipv4_addr\", \"handle\": 2}}"
/* Of ipv4_addr, with these elements. */
#define NFT_OF(elements)                                                                   \
	NFT("{\"set\": {\"family\": \"ip\", \"name\": \"s\", \"table\": \"t\", \"type\": " \
	    "\"ipv4_addr\", \"elem\": [" elements "]}}")

static void test_nft(void **state)
{
	static const struct import imports[] = {
		{ 1, NFT(NFT_A), NULL,
		  "10.0.0.0/8@299#x y:0 192.0.2.1-192.0.2.9@3599#:0 198.51.100.1@1#:0" },
		{ 1, NFT(NFT_B), NULL, "2001:db8::1@0#:0" },
		{ 1, NFT(NFT_A ", " NFT_B ", " NFT_C), "b", "2001:db8::1@0#:0" },
		{ 1, NFT(NFT_A ", " NFT_B ", " NFT_C), "inet/f/b", "2001:db8::1@0#:0" },
		{ 1, NFT(NFT_B ", " NFT_B_OF_G), "ip/g/b", "" },
		{ 1, NFT_OF("{\"elem\": {\"val\": \"192.0.2.1\", \"timeout\": 60}}"), NULL,
		  "192.0.2.1@60#:0" },
		{ 1, NFT_OF(""), NULL, "" },
	};

	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		check_import(&imports[i], 0);
}

static void test_nft_refused(void **state)
{
	static const struct import imports[] = {
		{ 1, "", NULL, "f:1: not JSON: '[' or '{' expected near end of file" },
		{ 1, "{\"nftables\": [", NULL, "f:1: not JSON: ']' expected near end of file" },
		{ 1, "{}", NULL, "f: not what nft -j prints" },
		{ 1, NFT(NFT_A ", " NFT_B), NULL, "f: 2 sets: choose one of inet/f/a, inet/f/b" },
		{ 1, NFT(NFT_B ", " NFT_B_OF_G), "b",
		  "f: 2 sets 'b': choose one of inet/f/b, ip/g/b" },
		{ 1, NFT(NFT_C), NULL,
		  "f: set inet/f/c: [\"ipv4_addr\",\"inet_service\"]: concatenations, which Baleen "
		  "does not support" },
		{ 1, NFT("{\"set\": {\"type\": \"ether_addr\"}}"), NULL,
		  "f: set ?/?/?: \"ether_addr\": keys that are no addresses" },
		{ 1, NFT_OF("\"2001:db8::1\""), NULL,
		  "f: set ip/t/s: \"2001:db8::1\": not of the type of the set" },
		{ 1, NFT_OF("\"*\""), NULL, "f: set ip/t/s: \"*\": not an address" },
		{ 1, NFT_OF("7"), NULL, "f: set ip/t/s: 7: not an address, prefix or range" },
		{ 1, NFT_OF("{\"prefix\": {\"addr\": \"10.0.0.0\", \"len\": 33}}"), NULL,
		  "f: set ip/t/s: {\"prefix\":{\"addr\":\"10.0.0.0\",\"len\":33}}: prefix length "
		  "above 32" },
		{ 1, NFT_OF("{\"prefix\": 7}"), NULL,
		  "f: set ip/t/s: {\"prefix\":7}: not an address, prefix or range" },
		{ 1, NFT_OF("{\"range\": [\"10.0.0.1\"]}"), NULL,
		  "f: set ip/t/s: {\"range\":[\"10.0.0.1\"]}: not an address, prefix or range" },
		{ 1, NFT_OF("{\"concat\": [\"10.0.0.1\", 80]}"), NULL,
		  "f: set ip/t/s: {\"concat\":[\"10.0.0.1\",80]}: a concatenation, which Baleen does "
		  "not support" },
		{ 1, NFT_OF("{\"elem\": {\"timeout\": 60}}"), NULL,
		  "f: set ip/t/s: ?: not an address, prefix or range" },
		{ 1, NFT_OF("{\"elem\": {\"val\": \"10.0.0.1\", \"expires\": -1}}"), NULL,
		  "f: set ip/t/s: -1: not a number of seconds" },
		{ 1, NFT_OF("{\"elem\": {\"val\": \"10.0.0.1\", \"comment\": 1}}"), NULL,
		  "f: set ip/t/s: {\"val\":\"10.0.0.1\",\"comment\":1}: its comment is no text" },
		{ 1, NFT_OF("{\"elem\": {\"val\": \"10.0.0.1\", \"limit\": {\"rate\": 1}}}"), NULL,
		  "f: set ip/t/s: {\"val\":\"10.0.0.1\",\"limit\":{\"rate\":1}}: has more than an "
		  "address, a time and a comment" },
		{ 1, NFT_OF("\"10.0.0.1\", \"x\""), NULL,
		  "f: set ip/t/s: \"x\": a host name, not an address" },
	};
	static const struct import missing[] = {
		{ 1, NFT("{}"), NULL, "f: no set in it" },
		{ 1, NFT(NFT_A), "inet/g/a", "f: no set 'inet/g/a': there are inet/f/a" },
	};

	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		check_import(&imports[i], -EINVAL);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		check_import(&missing[i], -ENOENT);
}

/* --- both --- */

static int refuse_second(void *data, const struct baleen_import_entry *entry,
			 struct baleen_error *error)
{
	u32 *n = data;

	return ++*n == 2 ? baleen_fail(error, ENOSPC, "no room for %s", entry->key) : 0;
}

static void test_refusal_of_caller(void **state)
{
	static const char *const files[] = {
		"add a 192.0.2.1\nadd a 192.0.2.2\nadd a 192.0.2.3\n",
		NFT_OF("\"192.0.2.1\", \"192.0.2.2\", \"192.0.2.3\""),
	};

	for (u32 format = 0; format < 2; format++) {
		u32 n = 0;
		struct baleen_importer importer = {
			.format = format,
			.on_entry = refuse_second,
			.data = &n,
		};
		struct baleen_error error;
		int fd = open_bytes(files[format], strlen(files[format]));

		assert_int_equal(baleen_import(&importer, fd, "f", &error), -ENOSPC);
		assert_string_equal(error.text, "no room for 192.0.2.2");
		assert_int_equal(n, 2);
		close(fd);
	}
}

static void test_nul(void **state)
{
	struct baleen_importer importer = { .on_entry = add_entry };
	struct baleen_error error;
	int fd = open_bytes("add a 192.0.2.1\0\n", 17);

	assert_int_equal(baleen_import(&importer, fd, "f", &error), -EINVAL);
	assert_string_equal(error.text, "f:1: NUL byte: is it UTF-16?");
	close(fd);
	assert_int_equal(baleen_import(&importer, -1, "f", &error), -EBADF);
}

static void test_format(void **state)
{
	enum baleen_import_format format = 77;

	assert_int_equal(baleen_import_format_parse("", &format), -EINVAL);
	assert_int_equal(baleen_import_format_parse("IPSET", &format), -EINVAL);
	assert_int_equal(format, 77);
	assert_int_equal(baleen_import_format_parse("nft", &format), 0);
	assert_int_equal(format, BALEEN_IMPORT_NFT);
	assert_int_equal(baleen_import_format_parse("ipset", &format), 0);
	assert_int_equal(format, BALEEN_IMPORT_IPSET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipset_refused),
		cmocka_unit_test(test_nft_refused),
		cmocka_unit_test(test_refusal_of_caller),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_ipset),
		cmocka_unit_test(test_nft),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
