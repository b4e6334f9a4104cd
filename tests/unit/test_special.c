// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The special-purpose ranges: the table, and taking them out of a set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list/special.h"
#include "lists.h"
#include "random.h"

#define SEED 0x7370656369616cull

static void read_list(struct baleen_list *list, u32 key_spec, const char *text)
{
	int fd = open_bytes(text, strlen(text));

	*list = (struct baleen_list){ .key_spec = key_spec };
	assert_int_equal(baleen_list_read(list, fd, "list", NULL, NULL), 0);
	assert_int_equal(list->n_bad, 0);
	assert_int_equal(baleen_list_finish(list), 0);
	close(fd);
}

static struct baleen_span span_of(u32 i)
{
	const char *text = baleen_special[i].prefix, *reason;
	struct baleen_span span;

	assert_int_equal(baleen_span_parse(text, strlen(text), &span, &reason), 0);
	return span;
}

/* --- the table --- */

static void test_table(void **state)
{
	struct baleen_span before = { 0 };

	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++) {
		struct baleen_span span = span_of(i), rest = span, prefix;

		assert_non_null(baleen_special[i].name);
		assert_memory_equal(baleen_special[i].source, "RFC ", 4);
		/* A prefix as written, behind the one before it. */
		baleen_span_split(&rest, &prefix);
		assert_int_equal(baleen_ip6_compare(prefix.last, span.last), 0);
		if (i && span.is_ip6 == before.is_ip6)
			assert_true(baleen_ip6_compare(before.last, span.first) < 0);
		assert_true(span.is_ip6 >= before.is_ip6);
		before = span;
	}
}

static void assert_found(const char *address, const char *name)
{
	const struct baleen_special *found;
	struct baleen_key key;
	const char *reason;

	assert_int_equal(baleen_address_parse(address, &key, &reason), 0);
	found = baleen_special_find(&key);
	if (!name)
		assert_null(found);
	else if (!found)
		fail_msg("%s is in no range", address);
	else
		assert_string_equal(found->name, name);
}

static void test_find(void **state)
{
	assert_found("0.0.0.0", "this network");
	assert_found("1.0.0.0", NULL);
	assert_found("10.255.255.255", "private use");
	assert_found("11.0.0.0", NULL);
	assert_found("100.63.255.255", NULL);
	assert_found("100.64.0.0", "shared address space");
	assert_found("172.32.0.0", NULL);
	assert_found("255.255.255.255", "reserved, with limited broadcast");
	/* of RFC 8190: reachable, though in registries */
	assert_found("192.31.196.1", NULL);
	assert_found("192.52.193.1", NULL);
	assert_found("::", "unspecified address");
	assert_found("::2", NULL);
	assert_found("fe80::1", "link local");
	assert_found("fdff:ffff::1", "unique local");
	assert_found("2001:db8::1", "documentation");
	/* an IPv4 host each */
	assert_found("64:ff9b::8.8.8.8", "IPv4/IPv6 translation");
	assert_found("64:ff9b::1:0:0", NULL);
	assert_found("2002:0808:0808::1", NULL);
	assert_found("2001::1", NULL);
	assert_found("2606:4700::1111", NULL);
}

/* --- removing --- */

struct removing {
	const char *list;
	const char *left;
	u32 n_ranges;
	const char *range; /* of the counts below */
	u64 n_entries;
	u64 n_ip4;
};

static u32 index_of(const char *prefix)
{
	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++)
		if (!strcmp(baleen_special[i].prefix, prefix))
			return i;
	fail_msg("%s is not in the table", prefix);
	return 0;
}

static void test_remove(void **state)
{
	static const struct removing removing[] = {
		{ "", "", 0, "10.0.0.0/8", 0, 0 },
		{ "8.8.8.8\n2606:4700::1111", "8.8.8.8 2606:4700::1111", 0, "10.0.0.0/8", 0, 0 },
		{ "10.0.0.0/8", "", 1, "10.0.0.0/8", 1, 1 << 24 },
		{ "8.8.8.8\n10.1.2.3\n10.1.2.9\n10.8.0.0/16", "8.8.8.8", 1, "10.0.0.0/8", 3,
		  65538 },
		{ "10.0.0.0/7", "11.0.0.0-11.255.255.255", 1, "10.0.0.0/8", 1, 1 << 24 },
		{ "9.255.255.255-11.0.0.0", "9.255.255.255 11.0.0.0", 1, "10.0.0.0/8", 1, 1 << 24 },
		/* two ranges side by side are counted apart */
		{ "239.0.0.0/8\n240.0.0.0/8", "", 2, "240.0.0.0/4", 1, 1 << 24 },
		{ "255.255.255.255", "", 1, "240.0.0.0/4", 1, 1 },
		{ "fe80::1\nfe80::/64\n2a00::/16", "2a00::/16", 1, "fe80::/10", 1, 0 },
		{ "::\n::1\n::2", "::2", 2, "::1/128", 1, 0 },
		{ "::/127", "", 2, "::/128", 1, 0 },
		{ "fe80::/9", "", 2, "fec0::/10", 1, 0 },
		{ "2001:db8::/31", "2001:db8::/31 !2001:db8::/32", 1, "2001:db8::/32", 1, 0 },
		/* what a list excepts was not there */
		{ "10.0.0.0/8\n!10.0.0.0/9", "", 1, "10.0.0.0/8", 1, 1 << 23 },
		{ "fd00::/8\n!fd00::/16", "", 1, "fc00::/7", 1, 0 },
	};
	struct baleen_special_removed removed;
	struct baleen_list list;

	for (size_t i = 0; i < sizeof(removing) / sizeof(removing[0]); i++) {
		const struct removing *r = &removing[i];
		u32 range = index_of(r->range);
		u64 n_listed;

		memset(&removed, 0xa5, sizeof(removed));
		read_list(&list, BALEEN_KEY_SRC, r->list);
		n_listed = list.n_listed;
		assert_int_equal(baleen_special_remove(&list, &removed), 0);
		assert_keys(&list, r->left);
		assert_int_equal(list.n_listed, n_listed);
		if (removed.n_ranges != r->n_ranges || removed.n_entries[range] != r->n_entries ||
		    removed.n_ip4[range] != r->n_ip4)
			fail_msg("'%s': %u ranges, %llu entries, %llu addresses", r->list,
				 removed.n_ranges, (unsigned long long)removed.n_entries[range],
				 (unsigned long long)removed.n_ip4[range]);
		baleen_list_free(&list);
	}
}

static void test_everything(void **state)
{
	struct baleen_special_removed removed;
	struct baleen_list list;
	u64 n_ip4 = 0;

	read_list(&list, BALEEN_KEY_SRC, "0.0.0.0/0\n::/0");
	assert_int_equal(baleen_special_remove(&list, &removed), 0);
	assert_int_equal(removed.n_ranges, BALEEN_N_SPECIAL);
	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++) {
		struct baleen_span span = span_of(i);

		assert_int_equal(removed.n_entries[i], 1);
		assert_int_equal(removed.n_ip4[i],
				 span.is_ip6 ? 0 : span.last.lo - span.first.lo + 1);
		n_ip4 += removed.n_ip4[i];
	}
	for (size_t i = 0; i < list.n_net4; i++)
		n_ip4 += (u64)list.net4[i].last - list.net4[i].first + 1;
	assert_int_equal(n_ip4 + list.n_ip4, 1ull << 32);
	/* A second time there is nothing. */
	assert_int_equal(baleen_special_remove(&list, &removed), 0);
	assert_int_equal(removed.n_ranges, 0);
	baleen_list_free(&list);
}

static void test_count(void **state)
{
	struct baleen_special_removed counted, removed;
	struct baleen_list list;

	read_list(&list, BALEEN_KEY_SRC, "10.0.0.1\n10.0.0.3\n9.0.0.0/7\n8.8.8.8\nfe80::1");
	assert_int_equal(baleen_special_count(&list, &counted), 0);
	assert_int_equal(baleen_special_total(&counted), 3);
	assert_null(baleen_special_whole(&counted));
	/* What is counted stays. */
	assert_int_equal(baleen_special_remove(&list, &removed), 0);
	assert_memory_equal(&counted, &removed, sizeof(counted));
	assert_int_equal(baleen_special_count(&list, &counted), 0);
	assert_int_equal(baleen_special_total(&counted), 0);
	baleen_list_free(&list);
}

/* Of 192.0.2.0/24 nobody is told: it is small. */
static void test_whole(void **state)
{
	static const char *const lists[][2] = {
		{ "192.0.2.0/24\n10.0.0.0/9\nfe80::/10", NULL },
		{ "192.0.2.0/24\n10.0.0.0/9\n10.128.0.0/9", "10.0.0.0/8" },
		{ "192.168.0.0-192.168.255.255", "192.168.0.0/16" },
		{ "0.0.0.0/0", "0.0.0.0/8" },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct baleen_special_removed counted;
		const struct baleen_special *whole;
		struct baleen_list list;

		read_list(&list, BALEEN_KEY_SRC, lists[i][0]);
		assert_int_equal(baleen_special_count(&list, &counted), 0);
		whole = baleen_special_whole(&counted);
		assert_int_equal(!whole, !lists[i][1]);
		if (whole)
			assert_string_equal(whole->prefix, lists[i][1]);
		baleen_list_free(&list);
	}
}

static void test_several_fields(void **state)
{
	struct baleen_special_removed removed;
	struct baleen_list list;

	read_list(&list, BALEEN_KEY_SRC | BALEEN_KEY_DPORT, "10.0.0.1,443");
	assert_int_equal(baleen_special_remove(&list, &removed), 0);
	assert_int_equal(removed.n_ranges, 0);
	assert_int_equal(list.n_key, 1);
	baleen_list_free(&list);
}

/* Host by host: what the table finds is gone, and nothing else. */
static void test_random_hosts(void **state)
{
	struct random random = random_from(SEED);
	struct baleen_special_removed removed;
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	u32 n = 4096, n_left = 0;
	u32 *kept;

	list.ip4 = calloc(n, sizeof(u32));
	kept = calloc(n, sizeof(u32));
	assert_non_null(list.ip4);
	assert_non_null(kept);
	list.room_ip4 = n;
	for (u32 i = 0; i < n; i++)
		list.ip4[list.n_ip4++] = random_next(&random);
	assert_int_equal(baleen_list_finish(&list), 0);
	for (size_t i = 0; i < list.n_ip4; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = list.ip4[i] };

		if (!baleen_special_find(&key))
			kept[n_left++] = list.ip4[i];
	}
	assert_int_equal(baleen_special_remove(&list, &removed), 0);
	assert_int_equal(list.n_ip4, n_left);
	assert_memory_equal(list.ip4, kept, n_left * sizeof(u32));
	/* An eighth and some of the addresses are special: else nothing was shown. */
	assert_in_range(n_left, 1, n - n / 10);
	free(kept);
	baleen_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	       cmocka_unit_test(test_find),
		cmocka_unit_test(test_remove),	       cmocka_unit_test(test_everything),
		cmocka_unit_test(test_several_fields), cmocka_unit_test(test_random_hosts),
		cmocka_unit_test(test_count),	       cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
