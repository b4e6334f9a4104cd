// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Feeds that are too poor or too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lists.h"
#include "state/feed_guard.h"

/* --- measuring --- */

#define NET6 (1 / BALEEN_ALLOCATED_NET6)

struct counted {
	const char *list;
	u64 n_entries;
	u64 n_ip4;
	double ip6_share;
};

static void test_count(void **state)
{
	static const struct counted counted[] = {
		{ "", 0, 0, 0 },
		{ "8.8.8.8\n8.8.8.8\n9.0.0.0/24", 2, 257, 0 },
		/* exceptions count as entries, and leave what they leave */
		{ "9.0.0.0/24\n!9.0.0.1", 2, 255, 0 },
		{ "9.0.0.0/24\n!9.0.0.0/24", 0, 0, 0 },
		{ "0.0.0.0/0", 1, 1ull << 32, 0 },
		{ "2000::/3", 1, 0, 64 },
		{ "::/0", 1, 0, 64 },
		{ "::/1", 1, 0, 64 },
		{ "8000::/1", 1, 0, 0 },
		{ "3000::/4", 1, 0, 32 },
		{ "2000::/3\n!3000::/4\n3000::/5", 3, 0, 48 },
		{ "fe80::/10", 1, 0, 0 },
		/* a registry has one of eight /12s */
		{ "2a00::/12", 1, 0, 0.125 },
		/* a /64 is one, whatever of it is listed */
		{ "2a00:1:2:3::/64", 1, 0, 1 * NET6 },
		{ "2a00:1:2:3::1", 1, 0, 1 * NET6 },
		{ "2a00:1:2:3::1\n2a00:1:2:3::5\n2a00:1:2:4::1", 3, 0, 2 * NET6 },
		{ "2a00:1:2:3::/80\n2a00:1:2:3:8000::/96\n2a00:1:2:4::/65", 3, 0, 2 * NET6 },
		{ "2a00:1:2:3::/64\n!2a00:1:2:3::1", 2, 0, 1 * NET6 },
		{ "2a00:1:2::/48\n!2a00:1:2:3::/64", 2, 0, 65535 * NET6 },
		{ "fd00::1", 1, 0, 0 },
	};
	struct baleen_feed_counts counts;

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		struct baleen_list list = { 0 };
		int fd = open_bytes(counted[i].list, strlen(counted[i].list));

		assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
		close(fd);
		assert_int_equal(baleen_list_finish(&list), 0);
		counts = baleen_feed_count(&list);
		if (counts.n_entries != counted[i].n_entries || counts.n_ip4 != counted[i].n_ip4 ||
		    counts.ip6_share != counted[i].ip6_share)
			fail_msg("'%s': %llu entries, %llu addresses, %g", counted[i].list,
				 (unsigned long long)counts.n_entries,
				 (unsigned long long)counts.n_ip4, counts.ip6_share);
		baleen_list_free(&list);
	}
}

static void test_widest(void **state)
{
	static const char text[] = "8.8.8.8\n9.0.0.0/24\n11.0.0.0/16\n!11.0.0.0/24\n3000::/4\n"
				   "!3000::/5\n2a00::/12\n2a00::1";
	struct baleen_feed_widest widest[2];
	struct baleen_list list = { 0 };
	int fd = open_bytes(text, strlen(text));

	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	close(fd);
	assert_int_equal(baleen_list_finish(&list), 0);
	baleen_feed_find_widest(&list, widest);
	assert_true(widest[0].share == 65280 / 4294967296.0);
	assert_int_equal(widest[0].key.ip4, 0x0b000100);
	assert_true(widest[1].share == 32);
	assert_true(widest[1].key.hi == 0x3000000000000000);
	baleen_list_free(&list);
	baleen_feed_find_widest(&list, widest);
	assert_true(!widest[0].share && !widest[1].share);
}

/* --- judging --- */

struct judged {
	struct baleen_feed_limits limits;
	struct baleen_feed_counts before; /* all zeros: none */
	struct baleen_feed_counts now;
	const char *refusal;		/* NULL: taken */
	enum baleen_feed_excess excess; /* when it is one */
};

#define LIMITS(min, shrink, coverage, growth, max)                                        \
	{                                                                                 \
		.min_entries = (min), .max_shrink = (shrink), .max_coverage = (coverage), \
		.max_growth = (growth), .max_entries = (max)                              \
	}
#define DEFAULT LIMITS(1, 0.5, 0.25, 0.001, 0)
#define COUNTS(entries, ip4, ip6)                                          \
	{                                                                  \
		.n_entries = (entries), .n_ip4 = (ip4), .ip6_share = (ip6) \
	}
#define QUARTER (1ull << 30)

static void test_check(void **state)
{
	static const struct judged judged[] = {
		{ .limits = DEFAULT, .refusal = "0 entries: fewer than min-entries 1 asks for" },
		{ .limits = DEFAULT, .now = COUNTS(1, 1, 0) },
		{ .limits = LIMITS(2, 1, 1, 1, 0),
		  .now = COUNTS(1, 1, 0),
		  .refusal = "1 entry: fewer than min-entries 2 asks for" },
		{ .limits = DEFAULT,
		  .now = { .n_special = 3 },
		  .refusal =
			  "0 entries, without 3 in special-purpose ranges (special keep keeps all but 0.0.0.0, :: and 255.255.255.255): fewer "
			  "than min-entries 1 asks for" },
		{ .limits = LIMITS(0, 1, 1, 1, 0) },
		/* at the limit is within it */
		{ .limits = DEFAULT, .before = COUNTS(100, 100, 0), .now = COUNTS(50, 50, 0) },
		{ .limits = DEFAULT,
		  .before = COUNTS(100, 100, 0),
		  .now = COUNTS(49, 50, 0),
		  .refusal =
			  "entries fell by 51.0 %, from 100 to 49: more than max-shrink 50% allows" },
		{ .limits = DEFAULT,
		  .before = COUNTS(1000, 70000, 0),
		  .now = COUNTS(999, 7000, 0),
		  .refusal =
			  "IPv4 addresses fell by 90.0 %, from 70000 to 7000: more than max-shrink 50% allows" },
		{ .limits = DEFAULT, .before = COUNTS(1, 1, 0), .now = COUNTS(1000, 70000, 0) },
		{ .limits = LIMITS(1, 0, 1, 1, 0),
		  .before = COUNTS(2, 2, 0),
		  .now = COUNTS(1, 2, 0),
		  .refusal = "entries fell by 50.0 %, from 2 to 1: more "
			     "than max-shrink 0% allows" },
		{ .limits = LIMITS(0, 1, 1, 1, 0), .before = COUNTS(2, 2, 0) },
		{ .limits = DEFAULT, .now = COUNTS(1, QUARTER, 0) },
		{ .limits = DEFAULT,
		  .now = COUNTS(1, QUARTER + QUARTER / 100, 0),
		  .refusal = "covers 25.2 % of the IPv4 space: more than max-coverage 25% allows",
		  .excess = BALEEN_EXCESS_IP4 },
		{ .limits = LIMITS(1, 0.5, 1, 1, 0), .now = COUNTS(1, 4 * QUARTER, 1) },
		{ .limits = LIMITS(1, 0.5, 0.005, 1, 0),
		  .now = COUNTS(9, 9, 0.5),
		  .refusal =
			  "covers 50.0 % of the allocated IPv6 space: more than max-coverage 0.5% allows",
		  .excess = BALEEN_EXCESS_IP6 },
		/* what swallows all other entries is told as what it is */
		{ .limits = DEFAULT,
		  .before = COUNTS(1000, 1000, 0),
		  .now = COUNTS(1, 4 * QUARTER, 0),
		  .refusal = "covers 100.0 % of the IPv4 space: more than max-coverage 25% allows",
		  .excess = BALEEN_EXCESS_IP4 },
		/* 51 /8s more; a /10 and the hosts of a big list; a /9 */
		{ .limits = DEFAULT,
		  .before = COUNTS(1000, 1000, 0),
		  .now = COUNTS(1051, 1000 + (51ull << 24), 0),
		  .refusal =
			  "covers 19.9 % of the IPv4 space more than before: more than max-growth 0.1% allows",
		  .excess = BALEEN_EXCESS_GROWN_IP4 },
		{ .limits = DEFAULT,
		  .before = COUNTS(1, 1, 0),
		  .now = COUNTS(100000, 100000 + (1 << 22), 0) },
		{ .limits = DEFAULT,
		  .before = COUNTS(9, QUARTER / 2, 0),
		  .now = COUNTS(9, QUARTER / 2 + (1 << 23), 0),
		  .refusal =
			  "covers 0.195 % of the IPv4 space more than before: more than max-growth 0.1% allows",
		  .excess = BALEEN_EXCESS_GROWN_IP4 },
		{ .limits = LIMITS(1, 0.5, 1, 1, 0),
		  .before = COUNTS(1, 1, 0),
		  .now = COUNTS(1, 4 * QUARTER, 1) },
		{ .limits = DEFAULT,
		  .before = COUNTS(1, 1, 0.001),
		  .now = COUNTS(2, 1, 0.003),
		  .refusal =
			  "covers 0.2 % of the allocated IPv6 space more than before: more than max-growth 0.1% "
			  "allows",
		  .excess = BALEEN_EXCESS_GROWN_IP6 },
		{ .limits = DEFAULT, .before = COUNTS(9, 9, 0.2), .now = COUNTS(9, 9, 0.1) },
		/* all of 2000::/3 is 64 times what is allocated: no more than all */
		{ .limits = LIMITS(1, 0.5, 1, 1, 0),
		  .before = COUNTS(1, 1, 0),
		  .now = COUNTS(1, 1, 64) },
		{ .limits = DEFAULT,
		  .now = COUNTS(1, 0, 64),
		  .refusal =
			  "covers 100.0 % of the allocated IPv6 space: more than max-coverage 25% allows",
		  .excess = BALEEN_EXCESS_IP6 },
		/* ten times as many, or 100,000 */
		{ .limits = DEFAULT, .before = COUNTS(1, 1, 0), .now = COUNTS(100000, 1, 0) },
		{ .limits = DEFAULT,
		  .before = COUNTS(1, 1, 0),
		  .now = COUNTS(100001, 1, 0),
		  .refusal =
			  "100001 entries after 1: more than 100000 (max-entries 100001 allows them)" },
		{ .limits = DEFAULT, .before = COUNTS(20000, 1, 0), .now = COUNTS(200000, 1, 0) },
		{ .limits = DEFAULT,
		  .before = COUNTS(20000, 1, 0),
		  .now = COUNTS(200001, 1, 0),
		  .refusal =
			  "200001 entries after 20000: more than ten times as many (max-entries 200001 "
			  "allows them)" },
		{ .limits = LIMITS(1, 0.5, 1, 1, 200001),
		  .before = COUNTS(1, 1, 0),
		  .now = COUNTS(200001, 1, 0) },
		{ .limits = LIMITS(1, 0.5, 1, 1, 5), .now = COUNTS(5, 5, 0) },
		{ .limits = LIMITS(1, 0.5, 1, 1, 5),
		  .now = COUNTS(6, 6, 0),
		  .refusal = "6 entries: more than max-entries 5 allows" },
	};

	for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]); i++) {
		const struct judged *j = &judged[i];
		struct baleen_error error = { "untouched" };
		enum baleen_feed_excess excess, want = j->excess;
		int err = baleen_feed_check(&j->limits, j->before.n_entries ? &j->before : NULL,
					    &j->now, &excess, &error);

		if (!j->refusal || !strstr(j->refusal, "covers"))
			want = BALEEN_N_EXCESSES;
		assert_int_equal(excess, want);
		assert_int_equal(err, j->refusal ? -ERANGE : 0);
		assert_string_equal(error.text, j->refusal ?: "untouched");
	}
}

static void test_defaults(void **state)
{
	struct baleen_feed_limits limits = baleen_feed_limits_default();

	assert_int_equal(limits.min_entries, 1);
	assert_true(limits.max_shrink == 0.5);
	assert_true(limits.max_coverage == 0.25);
	assert_true(limits.max_growth == 0.001);
	assert_false(limits.keep_special);
	/* An entry for each KiB of memory. */
	assert_int_equal(baleen_feed_max_entries(&limits, 1ull << 32), 1 << 22);
	limits.max_entries = 7;
	assert_int_equal(baleen_feed_max_entries(&limits, 1ull << 32), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_widest),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
