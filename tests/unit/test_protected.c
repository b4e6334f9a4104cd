// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is not to be dropped: read, kept, found. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <state/protected.h>

#include "states.h"

static struct baleen_error error;
static struct baleen_rule_store state;

static void write_never(const char *bytes, size_t n_bytes)
{
	FILE *file = fopen(in_root("never.list"), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

/* A state with one guarded rule, and the path of a never-drop list. */
static int make(void **unused)
{
	static struct baleen_stored_rules rules;

	rules = (struct baleen_stored_rules){ .n_rules = 1 };
	rules.rule[0] = state_rule("drop");
	rules.rule[0].guards_feeds = true;
	snprintf(rules.never_path, sizeof(rules.never_path), "%s", in_root("never.list"));
	return baleen_rule_store_create(&state, DEVICE, true, 1, &error) ||
	       baleen_rule_store_begin(&state, &error) ||
	       baleen_rule_store_set_rules(&state, &rules, &error) ||
	       baleen_rule_store_commit(&state, &error) || baleen_rule_store_begin(&state, &error);
}

static int clean(void **unused)
{
	baleen_rule_store_close(&state);
	unsetenv("BALEEN_CONF_DIR");
	return clean_root(unused);
}

static void refresh(const char *never)
{
	write_never(never, strlen(never));
	assert_int_equal(baleen_protected_refresh(&state, &error), 0);
}

/* What the state withholds of these keys, or "nothing". */
static const char *protected(const char *keys)
{
	static char text[512];
	struct baleen_protected_set set;
	struct baleen_protected found;
	struct baleen_list list;
	u64 n = 0;

	assert_int_equal(baleen_protected_load(&state, &set, &error), 0);
	assert_int_equal(baleen_list_from_text(keys, "keys", BALEEN_KEY_SRC, &list, &error), 0);
	for (u32 role = 0; role < BALEEN_N_WITHHELD && !n; role++)
		assert_int_equal(baleen_protected_meets(&set, role, &list, &n, &found), 0);
	snprintf(text, sizeof(text), "nothing");
	if (n)
		snprintf(text, sizeof(text), "%llu: %s, %s", (unsigned long long)n, found.key,
			 found.what);
	baleen_list_free(&list);
	baleen_protected_free(&set);
	return text;
}

/* --- refused: the last good list stays --- */

static void assert_refused(int code, const char *reason)
{
	assert_int_equal(baleen_protected_refresh(&state, &error), code);
	assert_non_null(strstr(error.text, reason));
	assert_string_equal(protected("192.0.2.7\n"), "1: 192.0.2.7, 192.0.2.0/24");
}

static void bad_line(void **unused)
{
	refresh("192.0.2.0/24 office\n");
	write_never("10.0.0.1\nnonsense\n", 18);
	assert_refused(-EINVAL, "never.list:2: 'nonsense': ");
}

static void nul_byte(void **unused)
{
	refresh("192.0.2.0/24 office\n");
	write_never("10.0.0.1\n\0\n", 11);
	assert_refused(-EINVAL, "never.list: ");
}

static void missing(void **unused)
{
	refresh("192.0.2.0/24 office\n");
	assert_int_equal(unlink(in_root("never.list")), 0);
	assert_refused(-ENOENT, "never.list: ");
}

/* --- taken --- */

static void missing_default(void **unused)
{
	setenv("BALEEN_CONF_DIR", root, 1);
	refresh("192.0.2.0/24 office\n");
	assert_int_equal(unlink(in_root("never.list")), 0);
	assert_int_equal(baleen_protected_refresh(&state, &error), 0);
	assert_string_equal(protected("192.0.2.7\n"), "nothing");
}

static void entries(void **unused)
{
	refresh("192.0.2.0/24 office\n!192.0.2.9\n2001:db8::5\n");
	assert_string_equal(protected("192.0.2.7\n"), "1: 192.0.2.7, 192.0.2.0/24");
	assert_string_equal(protected("192.0.2.9\n"), "nothing");
	assert_string_equal(protected("192.0.0.0/16\n"), "2: 192.0.2.0-192.0.2.8, 192.0.2.0/24");
	assert_string_equal(protected("2001:db8::/64\n"), "1: 2001:db8::5, 2001:db8::5");
	assert_string_equal(protected("2001:db8:0:1::/64\n"), "nothing");
}

/* Texts as the host's addresses are kept. */
static void roles(void **unused)
{
	assert_int_equal(baleen_rule_store_set_text(&state, "host",
						    "192.0.2.1 address\n192.0.2.254 gateway\n",
						    &error),
			 0);
	assert_int_equal(baleen_rule_store_set_text(&state, "peers",
						    "198.51.100.1 peer of a TCP session\n", &error),
			 0);
	assert_string_equal(protected("192.0.2.128/25\n"), "1: 192.0.2.254, gateway");
	assert_string_equal(protected("192.0.2.1\n"), "1: 192.0.2.1, address");
	assert_string_equal(protected("198.51.100.0/24\n"),
			    "1: 198.51.100.1, peer of a TCP session");
}

static void who_is_guarded(void **unused)
{
	struct baleen_stored_rule rule = state_rule("drop");

	/* By hand a list is meant as it is written, but for what is never dropped. */
	assert_true(baleen_protected_applies(&rule));
	assert_true(baleen_protected_of_feeds(&rule, BALEEN_PROTECTED_NEVER));
	assert_false(baleen_protected_of_feeds(&rule, BALEEN_PROTECTED_HOST));
	assert_false(baleen_protected_of_entry(&rule, 0, BALEEN_PROTECTED_HOST));
	assert_true(baleen_protected_of_entry(&rule, BALEEN_YIELDS_HOST, BALEEN_PROTECTED_HOST));
	assert_false(baleen_protected_of_entry(&rule, BALEEN_YIELDS_HOST, BALEEN_PROTECTED_PEER));
	assert_true(baleen_protected_of_entry(&rule, BALEEN_YIELDS_PEERS, BALEEN_PROTECTED_PEER));
	rule.guards_feeds = true;
	assert_true(baleen_protected_of_feeds(&rule, BALEEN_PROTECTED_PEER));
	assert_true(baleen_protected_of_entry(&rule, 0, BALEEN_PROTECTED_HOST));
	assert_false(baleen_protected_of_entry(&rule, 0, BALEEN_PROTECTED_PEER));
	rule.key_spec = BALEEN_KEY_FLOW;
	assert_false(baleen_protected_applies(&rule));
	rule.key_spec = BALEEN_KEY_DST;
	rule.action = BALEEN_ACTION_ALLOW;
	assert_false(baleen_protected_applies(&rule));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_line, make, clean),
		cmocka_unit_test_setup_teardown(nul_byte, make, clean),
		cmocka_unit_test_setup_teardown(missing, make, clean),
		cmocka_unit_test_setup_teardown(missing_default, make, clean),
		cmocka_unit_test_setup_teardown(entries, make, clean),
		cmocka_unit_test_setup_teardown(roles, make, clean),
		cmocka_unit_test(who_is_guarded),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
