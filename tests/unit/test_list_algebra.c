// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finished lists as sets: of text, asked, united, taken from each other. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <list/list_algebra.h>

#include "lists.h"
#include "random.h"

#define SETS 200
#define PROBES 300

static struct baleen_error error;

static struct baleen_list set_of(const char *text)
{
	struct baleen_list set;

	assert_int_equal(baleen_list_from_text(text, "test", BALEEN_KEY_SRC, &set, &error), 0);
	return set;
}

static void bad_text(void **unused)
{
	struct baleen_list set = { .n_lines = 77 };

	error.text[0] = '\0';
	assert_int_equal(baleen_list_from_text("10.0.0.1\nnonsense\n10.0.0.300\n", "test",
					       BALEEN_KEY_SRC, &set, &error),
			 -EINVAL);
	assert_int_equal(set.n_lines, 77);
	assert_ptr_equal(strstr(error.text, "test:2: 'nonsense': "), error.text);
}

static void no_text(void **unused)
{
	struct baleen_list set = set_of(NULL);

	assert_true(baleen_list_is_empty(&set));
	assert_int_equal(set.key_spec, BALEEN_KEY_SRC);
	baleen_list_free(&set);
	set = set_of("# nothing\n");
	assert_true(baleen_list_is_empty(&set));
	baleen_list_free(&set);
}

static void hosts_stay_hosts(void **unused)
{
	struct baleen_list set = set_of("192.0.2.1\n192.0.2.2\n192.0.2.3\n10.1.2.3\n"
					"2001:db8::1\nfe80::7\n");
	struct baleen_list out = set_of("10.0.0.0/8\n192.0.2.2\nfe80::/10\n");

	assert_int_equal(baleen_list_subtract(&set, &out), 0);
	assert_keys(&set, "192.0.2.1 192.0.2.3 2001:db8::1");
	baleen_list_free(&out);
	baleen_list_free(&set);
}

static void other_keys(void **unused)
{
	struct baleen_list set = set_of("192.0.2.1\n"), other = { .key_spec = BALEEN_KEY_DST };

	assert_int_equal(baleen_list_subtract(&set, &other), -EINVAL);
	assert_int_equal(baleen_list_unite(&set, &other), -EINVAL);
	assert_keys(&set, "192.0.2.1");
	baleen_list_free(&set);
}

static void meets(void **unused)
{
	static const struct {
		const char *a, *b, *text;
		u64 n;
	} cases[] = {
		{ "10.0.0.0/8\n", "10.1.2.3\n10.4.0.0/16\n", "10.4.0.0-10.4.255.255", 2 },
		{ "10.0.0.0/8\n", "10.1.2.3\n11.0.0.1\n", "10.1.2.3", 1 },
		{ "192.0.2.1\n", "192.0.2.0/24\n!192.0.2.1\n", "none", 0 },
		{ "2001:db8::/64\n", "2001:db8::5\n", "2001:db8::5", 1 },
		{ "2001:db8::/32\n", "2001:db8:1::/48\n", "2001:db8:1::/48", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct baleen_list a = set_of(cases[i].a), b = set_of(cases[i].b);
		char text[BALEEN_LIST_TEXT] = "none";
		struct baleen_key first;
		u64 n = 77;

		assert_int_equal(baleen_list_meets(&a, &b, &n, text, &first), 0);
		assert_int_equal(n, cases[i].n);
		assert_string_equal(text, cases[i].text);
		baleen_list_free(&a);
		baleen_list_free(&b);
	}
}

static void has_keys(void **unused)
{
	struct baleen_key key = { .domain = BALEEN_WORD, .lo = 6 };
	struct baleen_list set = { .key_spec = BALEEN_KEY_DPORT };

	assert_false(baleen_list_has(&set, &key));
	assert_int_equal(baleen_list_from_text("5\n6\n7\n", "ports", BALEEN_KEY_DPORT, &set,
					       &error),
			 0);
	assert_true(baleen_list_has(&set, &key));
	key.lo = 8;
	assert_false(baleen_list_has(&set, &key));
	baleen_list_free(&set);
}

/* --- random sets: has() says of the result what it says of its parts -------- */

static struct baleen_key any_key(struct random *random)
{
	u64 bits = random_next(random);

	if (bits & 1)
		return (struct baleen_key){ .domain = BALEEN_IP4,
					    .ip4 = (bits >> 1 & 3) << 30 | (bits >> 3 & 63) };
	return (struct baleen_key){ .domain = BALEEN_IP6,
				    .hi = (bits >> 1 & 3) << 62 | (bits >> 3 & 3),
				    .lo = (bits >> 5 & 3) << 62 | (bits >> 7 & 7) };
}

static struct baleen_list any_set(struct random *random)
{
	bool hosts_only = random_next(random) % 3 == 0;
	char text[64 * BALEEN_KEY_TEXT], key_text[BALEEN_KEY_TEXT];
	u32 n = random_next(random) % 30;
	size_t used = 0;

	text[0] = '\0';
	for (u32 i = 0; i < n; i++) {
		struct baleen_key key = any_key(random);
		u32 bits = key.domain == BALEEN_IP4 ? 32 : 128;

		baleen_key_format(&key, BALEEN_KEY_SRC, key_text);
		if (hosts_only)
			used += sprintf(text + used, "%s\n", key_text);
		else
			used += sprintf(text + used, "%s%s/%u\n",
					random_next(random) % 3 ? "" : "!", key_text,
					(u32)(random_next(random) % (bits + 1)));
	}
	return set_of(text);
}

static void check_probes(const struct baleen_list *a, const struct baleen_list *b,
			 struct random *random)
{
	struct baleen_list none = set_of(NULL), less = { 0 }, both = { 0 };

	assert_int_equal(baleen_list_combine(a, &none, BALEEN_SET_UNION, &less), 0);
	assert_int_equal(baleen_list_combine(a, &none, BALEEN_SET_UNION, &both), 0);
	assert_int_equal(baleen_list_subtract(&less, b), 0);
	assert_int_equal(baleen_list_unite(&both, b), 0);
	for (u32 i = 0; i < PROBES; i++) {
		struct baleen_key key = any_key(random);
		bool in_a = baleen_list_has(a, &key), in_b = baleen_list_has(b, &key);

		assert_int_equal(baleen_list_has(&less, &key), in_a && !in_b);
		assert_int_equal(baleen_list_has(&both, &key), in_a || in_b);
	}
	baleen_list_free(&less);
	baleen_list_free(&both);
	baleen_list_free(&none);
}

static void random_sets(void **unused)
{
	struct random random = random_from(20261121);

	for (u32 i = 0; i < SETS; i++) {
		struct baleen_list a = any_set(&random), b = any_set(&random);

		check_probes(&a, &b, &random);
		baleen_list_free(&a);
		baleen_list_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_text),    cmocka_unit_test(no_text),
		cmocka_unit_test(other_keys),  cmocka_unit_test(hosts_stay_hosts),
		cmocka_unit_test(meets),       cmocka_unit_test(has_keys),
		cmocka_unit_test(random_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
