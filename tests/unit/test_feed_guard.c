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
		{ "2000::/3", 1, 0, 1 },
		{ "::/0", 1, 0, 1 },
		{ "::/1", 1, 0, 1 },
		{ "8000::/1", 1, 0, 0 },
		{ "3000::/4", 1, 0, 0.5 },
		{ "2000::/3\n!3000::/4\n3000::/5", 3, 0, 0.75 },
		{ "fe80::/10", 1, 0, 0 },
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

/* --- judging --- */

struct judged {
	struct baleen_feed_limits limits;
	struct baleen_feed_counts before; /* all zeros: none */
	struct baleen_feed_counts now;
	const char *refusal; /* NULL: taken */
};

#define DEFAULT                     \
	{                           \
		1, 0.5, 0.25, false \
	}
#define QUARTER (1ull << 30)

static void test_check(void **state)
{
	static const struct judged judged[] = {
		{ DEFAULT, { 0 }, { 0 }, "0 entries: fewer than min-entries 1 asks for" },
		{ DEFAULT, { 0 }, { 1, 1, 0 }, NULL },
		{ { 2, 1, 1, false },
		  { 0 },
		  { 1, 1, 0 },
		  "1 entry: fewer than min-entries 2 asks for" },
		{ { 0, 1, 1, false }, { 0 }, { 0 }, NULL },
		/* at the limit is within it */
		{ DEFAULT, { 100, 100, 0 }, { 50, 50, 0 }, NULL },
		{ DEFAULT,
		  { 100, 100, 0 },
		  { 49, 50, 0 },
		  "entries fell by 51.0 %, from 100 to 49: more than max-shrink 50% allows" },
		{ DEFAULT,
		  { 1000, 70000, 0 },
		  { 999, 7000, 0 },
		  "IPv4 addresses fell by 90.0 %, from 70000 to 7000: more than max-shrink 50% allows" },
		{ DEFAULT, { 1, 1, 0 }, { 1000, 70000, 0 }, NULL },
		{ { 1, 0, 1, false },
		  { 2, 2, 0 },
		  { 1, 2, 0 },
		  "entries fell by 50.0 %, from 2 to 1: more "
		  "than max-shrink 0% allows" },
		{ { 0, 1, 1, false }, { 2, 2, 0 }, { 0, 0, 0 }, NULL },
		{ DEFAULT, { 0 }, { 1, QUARTER, 0 }, NULL },
		{ DEFAULT,
		  { 0 },
		  { 1, QUARTER + QUARTER / 100, 0 },
		  "covers 25.2 % of the IPv4 space: more than max-coverage 25% allows" },
		{ { 1, 0.5, 1, false }, { 0 }, { 1, 4 * QUARTER, 1 }, NULL },
		{ { 1, 0.5, 0.005, false },
		  { 0 },
		  { 9, 9, 0.5 },
		  "covers 50.0 % of the global IPv6 space: more than max-coverage 0.5% allows" },
	};

	for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]); i++) {
		const struct judged *j = &judged[i];
		struct baleen_error error = { "untouched" };
		int err = baleen_feed_check(&j->limits, j->before.n_entries ? &j->before : NULL,
					    &j->now, &error);

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
	assert_false(limits.keep_special);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
