// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Single entries: keys in their shortest form, several origins, ends, and which
 * of them hold an address.
 */
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

#include <state/book.h>
#include <state/entries.h>
#include <state/sql.h>

#include "random.h"
#include "states.h"

#define FLOW "tcp,192.0.2.1,198.51.100.2,40000,443"

static struct baleen_error error;
static struct baleen_rule_store state;

/* What a walk saw: keys with ! and origins. */
static char seen[4096];

/* Opened, with rules "drop" and "other" of src and "flow", and a transaction. */
static int open_state(void **unused)
{
	struct baleen_stored_rules rules = { .n_rules = 3 };

	seen[0] = '\0';
	rules.rule[0] = state_rule("drop");
	rules.rule[1] = state_rule("other");
	rules.rule[2] = state_rule("flow");
	rules.rule[2].key_spec = BALEEN_KEY_FLOW;
	if (baleen_rule_store_create(&state, DEVICE, true, 1, &error) ||
	    baleen_rule_store_begin(&state, &error) ||
	    baleen_rule_store_set_rules(&state, &rules, &error) ||
	    baleen_rule_store_commit(&state, &error))
		return -1;
	return baleen_book_begin(&state, &error);
}

static int close_state(void **unused)
{
	baleen_rule_store_close(&state);
	return clean_root(unused);
}

static struct baleen_rule_entry entry(const char *key, const char *origin)
{
	struct baleen_rule_entry made = { .added_ms = 1000 };
	u32 key_spec = strchr(key, ',') ? BALEEN_KEY_FLOW : BALEEN_KEY_SRC;

	assert_int_equal(baleen_rule_entry_parse(key, key_spec, BALEEN_AS_WRITTEN, &made, &error),
			 0);
	strcpy(made.origin, origin);
	return made;
}

static void put(const char *rule, const char *key, const char *origin, u64 expires_ms)
{
	struct baleen_rule_entry made = entry(key, origin);
	bool is_new;

	made.expires_ms = expires_ms;
	assert_int_equal(baleen_rule_entries_put(&state, rule, &made, &is_new, &error), 0);
}

static u64 take_out(const char *rule, const char *key, const char *origin)
{
	struct baleen_rule_entry made = entry(key, "any");
	u64 n = 77;

	assert_int_equal(baleen_rule_entries_remove(&state, rule, &made, origin, &n, &error), 0);
	return n;
}

static int note(const struct baleen_rule_entry *found, void *data)
{
	sprintf(seen + strlen(seen), "%s:%s ", baleen_rule_entry_text(found).text, found->origin);
	return !strcmp(found->origin, "stop") ? 77 : 0;
}

static void assert_seen(const char *want)
{
	assert_string_equal(seen, want);
	seen[0] = '\0';
}

static void find(const char *rule, u32 key_spec, const char *text, u64 now_ms, const char *want)
{
	const char *reason = "";
	struct baleen_key key;

	if (baleen_key_parse(text, strlen(text), key_spec, &key, &reason))
		fail_msg("%s: %s", text, reason);
	assert_int_equal(baleen_rule_entries_find(&state, rule, &key, now_ms, note, NULL, &error),
			 0);
	assert_seen(want);
}

static void each(const char *rule, const char *origin, const char *want)
{
	assert_int_equal(baleen_rule_entries_each(&state, rule, origin, note, NULL, &error), 0);
	assert_seen(want);
}

/* --- keys --- */

static void refused_keys(void **unused)
{
	static const struct {
		const char *text;
		u32 key_spec;
	} refused[] = {
		{ "", BALEEN_KEY_SRC },
		{ "!", BALEEN_KEY_SRC },
		{ "!!192.0.2.1", BALEEN_KEY_SRC },
		{ " 192.0.2.1", BALEEN_KEY_SRC },
		{ "192.0.2.1 ", BALEEN_KEY_SRC },
		{ "192.0.2.1\n", BALEEN_KEY_SRC },
		{ "192.0.2.300", BALEEN_KEY_SRC },
		{ "192.0.2.1/33", BALEEN_KEY_SRC },
		{ "192.0.2.9-192.0.2.1", BALEEN_KEY_SRC },
		{ "192.0.2.1,443", BALEEN_KEY_SRC },
		{ "example.com", BALEEN_KEY_SRC },
		{ "fe80::1%lo", BALEEN_KEY_DST },
		{ "192.0.2.1", BALEEN_KEY_FLOW },
		{ "!" FLOW, BALEEN_KEY_FLOW },
		{ FLOW ",1", BALEEN_KEY_FLOW },
		{ "tcp,192.0.2.0/24,198.51.100.2,40000,443", BALEEN_KEY_FLOW },
		{ "65536", BALEEN_KEY_DPORT },
	};
	struct baleen_rule_entry poison, made;

	memset(&poison, 0x5a, sizeof(poison));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		made = poison;
		if (baleen_rule_entry_parse(refused[i].text, refused[i].key_spec, 64, &made,
					    &error) != -EINVAL)
			fail_msg("accepted: %s", refused[i].text);
		assert_memory_equal(&made, &poison, sizeof(made));
		assert_non_null(strstr(error.text, "': "));
	}
}

static void shortest_keys(void **unused)
{
	static const struct {
		const char *text;
		u32 key_spec;
		const char *key;
		bool is_exception;
		const char *wide;
	} keys[] = {
		{ "192.0.2.1", BALEEN_KEY_SRC, "192.0.2.1", false, NULL },
		{ "192.0.2.1/32", BALEEN_KEY_DST, "192.0.2.1", false, NULL },
		{ "192.0.2.77/24", BALEEN_KEY_SRC, "192.0.2.0/24", false, NULL },
		{ "!192.0.2.77/24", BALEEN_KEY_SRC, "192.0.2.0/24", true, NULL },
		{ "1.2.3.4/0", BALEEN_KEY_SRC, "0.0.0.0/0", false, NULL },
		{ "192.0.2.0-192.0.2.255", BALEEN_KEY_SRC, "192.0.2.0/24", false, NULL },
		{ "192.0.2.1-192.0.2.255", BALEEN_KEY_SRC, "192.0.2.1-192.0.2.255", false, NULL },
		{ "192.0.2.1-192.0.2.1", BALEEN_KEY_SRC, "192.0.2.1", false, NULL },
		{ "0.0.0.0-255.255.255.255", BALEEN_KEY_SRC, "0.0.0.0/0", false, NULL },
		{ "::ffff:192.0.2.1", BALEEN_KEY_SRC, "192.0.2.1", false, NULL },
		{ "::ffff:c000:201/128", BALEEN_KEY_SRC, "192.0.2.1", false, NULL },
		{ "::ffff:1.2.3.4-::ffff:1.2.3.4", BALEEN_KEY_SRC, "1.2.3.4", false, NULL },
		{ "::ffff:0:0/96", BALEEN_KEY_SRC, "::ffff:0.0.0.0/96", false, NULL },
		{ "2001:DB8:0:0::1", BALEEN_KEY_SRC, "2001:db8::1", false, "2001:db8::/64" },
		{ "2001:db8::1/128", BALEEN_KEY_SRC, "2001:db8::1", false, NULL },
		{ "!2001:db8::1", BALEEN_KEY_SRC, "2001:db8::1", true, NULL },
		{ "2001:db8::1/64", BALEEN_KEY_SRC, "2001:db8::/64", false, NULL },
		{ "2001:db8::-2001:db8::1", BALEEN_KEY_SRC, "2001:db8::/127", false, NULL },
		{ "2001:db8::1-2001:db8::2", BALEEN_KEY_SRC, "2001:db8::1-2001:db8::2", false,
		  NULL },
		{ "::/0", BALEEN_KEY_SRC, "::/0", false, NULL },
		{ "6,192.0.2.1,198.51.100.2,40000,443", BALEEN_KEY_FLOW, FLOW, false, NULL },
		{ "443", BALEEN_KEY_DPORT, "443", false, NULL },
		{ "2001:DB8::1,443", BALEEN_KEY_SRC | BALEEN_KEY_DPORT, "2001:db8::1,443", false,
		  NULL },
	};
	struct baleen_rule_entry made, again;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		for (int widens = 0; widens < 2; widens++) {
			const char *want = widens && keys[i].wide ? keys[i].wide : keys[i].key;

			assert_int_equal(baleen_rule_entry_parse(keys[i].text, keys[i].key_spec,
								 widens ? 64 : BALEEN_AS_WRITTEN,
								 &made, &error),
					 0);
			assert_string_equal(baleen_entry_key_text(&made.key).text, want);
			assert_int_equal(made.is_exception, keys[i].is_exception);
			assert_int_equal(made.key.is_lone, widens && keys[i].wide);
			/* It is named again, however wide another rule has it. */
			assert_int_equal(
				baleen_rule_entry_parse(baleen_rule_entry_asked_text(&made).text,
							keys[i].key_spec, 48, &again, &error),
				0);
			assert_int_equal(baleen_rule_entry_compare(&again, &made), 0);
			/* Once more, it stays as it is. */
			assert_int_equal(baleen_rule_entry_parse(want, keys[i].key_spec,
								 BALEEN_AS_WRITTEN, &made, &error),
					 0);
			assert_string_equal(baleen_entry_key_text(&made.key).text, want);
		}
	}
}

static void origins_and_reasons(void **unused)
{
	static const char *const bad_origins[] = {
		"", " ", "a b", "a\tb", "a\n", "\x7f", "\xc3\xa4"
	};
	static const char *const bad_reasons[] = {
		"\n",
		"a\x1b[31m",
		"\x7f",
		"\x80",
		"\xc3",
		"\xc3(",
		"\xc0\xaf",
		"\xe0\x80\xaf",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xc2\x85",
		"\xf0\x82\x82\xac",
		"\xfe",
	};
	char text[512];

	for (size_t i = 0; i < sizeof(bad_origins) / sizeof(bad_origins[0]); i++)
		assert_int_equal(baleen_rule_entry_check(bad_origins[i], "", &error), -EINVAL);
	for (size_t i = 0; i < sizeof(bad_reasons) / sizeof(bad_reasons[0]); i++)
		if (baleen_rule_entry_check("a", bad_reasons[i], &error) != -EINVAL)
			fail_msg("accepted reason %zu", i);
	memset(text, 'x', sizeof(text));
	text[BALEEN_ORIGIN_BYTES] = '\0';
	assert_int_equal(baleen_rule_entry_check(text, "", &error), -EINVAL);
	assert_int_equal(baleen_rule_entry_check(text + 1, "", &error), 0);
	text[BALEEN_ORIGIN_BYTES] = 'x';
	text[BALEEN_REASON_BYTES] = '\0';
	assert_int_equal(baleen_rule_entry_check("a", text, &error), -EINVAL);
	assert_int_equal(baleen_rule_entry_check("a", text + 1, &error), 0);
	assert_int_equal(baleen_rule_entry_check("fail2ban:sshd", "", &error), 0);
	assert_int_equal(baleen_rule_entry_check("~!a",
						 "three times: \xc3\xa4 \xe2\x82\xac "
						 "\xf0\x9f\x90\x8b \xef\xbf\xbd",
						 &error),
			 0);
}

/* --- put and remove --- */

static void no_such_rule(void **unused)
{
	struct baleen_rule_entry made = entry("192.0.2.1", "manual");
	bool is_new = false;
	u64 n = 77;

	assert_int_equal(baleen_rule_entries_put(&state, "none", &made, &is_new, &error), 0);
	assert_true(is_new);
	assert_int_equal(baleen_rule_entries_remove(&state, "none", &made, NULL, &n, &error), 0);
	assert_int_equal(n, 1);
	made.origin[0] = '\0';
	assert_int_equal(baleen_rule_entries_put(&state, "drop", &made, &is_new, &error), -EINVAL);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), 0);
}

static int copy(const struct baleen_rule_entry *found, void *data)
{
	*(struct baleen_rule_entry *)data = *found;
	return 0;
}

static void renewed(void **unused)
{
	struct baleen_rule_entry made = entry("!192.0.2.0/24", "manual"), back;
	bool is_new = false;

	strcpy(made.reason, "first");
	made.added_ms = 1;
	assert_int_equal(baleen_rule_entries_put(&state, "drop", &made, &is_new, &error), 0);
	assert_true(is_new);
	strcpy(made.reason, "second");
	made.added_ms = 2;
	made.expires_ms = 3000;
	assert_int_equal(baleen_rule_entries_put(&state, "drop", &made, &is_new, &error), 0);
	assert_false(is_new);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), 1);
	assert_int_equal(baleen_rule_entries_each(&state, "drop", NULL, copy, &back, &error), 0);
	assert_string_equal(baleen_rule_entry_text(&back).text, "!192.0.2.0/24");
	assert_true(back.is_exception);
	assert_string_equal(back.origin, "manual");
	assert_string_equal(back.reason, "second");
	assert_int_equal(back.added_ms, 1);
	assert_int_equal(back.expires_ms, 3000);
	made.reason[0] = '\0';
	made.expires_ms = 0;
	assert_int_equal(baleen_rule_entries_put(&state, "drop", &made, &is_new, &error), 0);
	assert_int_equal(baleen_rule_entries_each(&state, "drop", NULL, copy, &back, &error), 0);
	assert_string_equal(back.reason, "second");
	assert_int_equal(back.expires_ms, 0);
}

static void several_origins(void **unused)
{
	put("drop", "192.0.2.1", "manual", 0);
	put("drop", "192.0.2.1", "fail2ban", 0);
	put("drop", "!192.0.2.1", "manual", 0);
	put("drop", "192.0.2.0/24", "manual", 0);
	put("drop", "192.0.2.0-192.0.2.1", "manual", 0);
	put("other", "192.0.2.1", "manual", 0);
	put("flow", FLOW, "manual", 0);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), 5);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", "manual"), 4);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", "none"), 0);
	assert_int_equal(take_out("drop", "192.0.2.1", "none"), 0);
	assert_int_equal(take_out("drop", "192.0.2.1", "manual"), 1);
	each("drop", NULL,
	     "192.0.2.1:fail2ban 192.0.2.0/31:manual 192.0.2.0/24:manual !192.0.2.1:manual ");
	put("drop", "192.0.2.1", "manual", 0);
	assert_int_equal(take_out("drop", "192.0.2.1", NULL), 2);
	assert_int_equal(take_out("drop", "192.0.2.1", NULL), 0);
	assert_int_equal(take_out("flow", FLOW, "manual"), 1);
	each("drop", "manual", "192.0.2.0/31:manual 192.0.2.0/24:manual !192.0.2.1:manual ");
	each("other", NULL, "192.0.2.1:manual ");
}

static void forget_all(void)
{
	assert_int_equal(sqlite3_exec(state.book->db, "DELETE FROM single", NULL, NULL, NULL),
			 SQLITE_OK);
}

static void flushed(void **unused)
{
	u64 n = 77;

	put("drop", "192.0.2.1", "a", 0);
	put("drop", "192.0.2.2", "a", 0);
	put("drop", "192.0.2.1", "b", 0);
	put("other", "192.0.2.1", "a", 0);
	assert_int_equal(baleen_rule_entries_flush(&state, "drop", "c", &n, &error), 0);
	assert_int_equal(n, 0);
	assert_int_equal(baleen_rule_entries_flush(&state, "drop", "a", &n, &error), 0);
	assert_int_equal(n, 2);
	each("drop", NULL, "192.0.2.1:b ");
	each("other", NULL, "192.0.2.1:a ");
	assert_int_equal(baleen_rule_entries_flush(&state, "drop", NULL, &n, &error), 0);
	assert_int_equal(n, 1);
	assert_int_equal(baleen_rule_entries_flush(&state, "other", NULL, &n, &error), 0);
	assert_int_equal(n, 1);
}

static int add_up(const char *origin, u64 n, void *data)
{
	sprintf(seen + strlen(seen), "%s=%llu ", origin, (unsigned long long)n);
	return 0;
}

static void origins(void **unused)
{
	put("drop", "192.0.2.1", "b", 0);
	put("drop", "192.0.2.1", "a", 0);
	put("drop", "!192.0.2.1", "b", 0);
	put("other", "192.0.2.1", "c", 0);
	assert_int_equal(baleen_rule_entries_origins(&state, "drop", add_up, NULL, &error), 0);
	assert_seen("a=1 b=2 ");
	assert_int_equal(baleen_rule_entries_origins(&state, "none", add_up, NULL, &error), 0);
	assert_seen("");
}

static void ends(void **unused)
{
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 0);
	put("drop", "192.0.2.1", "a", 0);
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 0);
	put("drop", "192.0.2.2", "a", 3000);
	put("drop", "192.0.2.3", "a", 2000);
	put("other", "192.0.2.4", "a", 1000);
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 1000);
	assert_int_equal(take_out("other", "192.0.2.4", NULL), 1);
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 2000);
	assert_int_equal(baleen_rule_entries_expired(&state, "drop", 1999, note, NULL, &error), 0);
	assert_seen("");
	assert_int_equal(baleen_rule_entries_expired(&state, "drop", 2000, note, NULL, &error), 0);
	assert_seen("192.0.2.3:a ");
	assert_int_equal(baleen_rule_entries_expired(&state, "drop", ~0ull >> 1, note, NULL,
						     &error),
			 0);
	assert_seen("192.0.2.3:a 192.0.2.2:a ");
	put("drop", "192.0.2.2", "a", 0);
	put("drop", "192.0.2.3", "a", 0);
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 0);
}

static void stopped(void **unused)
{
	put("drop", "192.0.2.0/24", "a", 1);
	put("drop", "192.0.2.1", "stop", 1);
	put("drop", "192.0.2.0/30", "z", 1);
	assert_int_equal(baleen_rule_entries_each(&state, "drop", NULL, note, NULL, &error), 77);
	assert_seen("192.0.2.0/24:a 192.0.2.1:stop ");
}

/* --- found --- */

static void found(void **unused)
{
	put("drop", "192.0.2.1", "b", 0);
	put("drop", "192.0.2.1", "a", 0);
	put("drop", "!192.0.2.1", "z", 0);
	put("drop", "192.0.2.0/24", "a", 5000);
	put("drop", "0.0.0.0/0", "a", 0);
	put("drop", "192.0.2.1-192.0.2.6", "a", 0);
	put("drop", "!::/0", "a", 0);
	put("drop", "2001:db8::/32", "a", 0);
	put("drop", "::ffff:0:0/96", "a", 0);
	find("drop", BALEEN_KEY_SRC, "192.0.2.1", 4999,
	     "!192.0.2.1:z 192.0.2.1:a 192.0.2.1-192.0.2.6:a 192.0.2.1:b 192.0.2.0/24:a "
	     "0.0.0.0/0:a ");
	find("drop", BALEEN_KEY_SRC, "192.0.2.1", 5000,
	     "!192.0.2.1:z 192.0.2.1:a 192.0.2.1-192.0.2.6:a 192.0.2.1:b 0.0.0.0/0:a ");
	find("drop", BALEEN_KEY_SRC, "192.0.2.7", 0, "192.0.2.0/24:a 0.0.0.0/0:a ");
	find("drop", BALEEN_KEY_SRC, "2001:db8::1", 0, "2001:db8::/32:a !::/0:a ");
	find("drop", BALEEN_KEY_SRC, "2001:db9::1", 0, "!::/0:a ");
	find("other", BALEEN_KEY_SRC, "192.0.2.1", 0, "");
	find("none", BALEEN_KEY_SRC, "192.0.2.1", 0, "");
	put("flow", FLOW, "a", 0);
	find("flow", BALEEN_KEY_FLOW, FLOW, 0, FLOW ":a ");
	find("flow", BALEEN_KEY_FLOW, "udp,192.0.2.1,198.51.100.2,40000,443", 0, "");
}

/* A small world, so that everything overlaps. */
static void random_entry(struct random *random, char *text)
{
	const char *mark = random_below(random, 4) ? "" : "!";
	u32 a = random_below(random, 64), b = random_below(random, 64);

	switch (random_below(random, 6)) {
	case 0: sprintf(text, "%s192.0.2.%u", mark, a); break;
	case 1: sprintf(text, "%s192.0.2.%u/%u", mark, a, 26 + b % 7); break;
	case 2: sprintf(text, "%s192.0.2.%u-192.0.2.%u", mark, a < b ? a : b, a < b ? b : a); break;
	case 3: sprintf(text, "%s2001:db8::%x", mark, a); break;
	case 4: sprintf(text, "%s2001:db8::%x/%u", mark, a, 122 + b % 7); break;
	case 5:
		sprintf(text, "%s2001:db8::%x-2001:db8::%x", mark, a < b ? a : b, a < b ? b : a);
		break;
	}
}

struct slow {
	char text[BALEEN_RULE_ENTRY_TEXT];
	struct baleen_span span;
	u64 expires_ms;
};

/* Length of the longest of the prefixes of @span that holds the key. */
static u32 slow_length(struct baleen_span span, const struct baleen_key *key)
{
	struct baleen_span prefix;
	u32 length;

	do
		length = baleen_span_split(&span, &prefix);
	while (!baleen_span_holds(&prefix, key));
	return length;
}

/* All that hold it are found, no other, and in order: the first decides as a list
 * of them would.
 */
static void assert_finds(const struct slow *slow, size_t n, const char *text, u64 now_ms)
{
	struct baleen_entry_lists lists = { 0 };
	u32 n_found = 0, n_want = 0, length, last = 999;
	bool holds = false, is_in_list = false;
	const char *reason;
	char *entry, *rest = NULL;
	struct baleen_key key;

	assert_int_equal(baleen_key_parse(text, strlen(text), BALEEN_KEY_SRC, &key, &reason), 0);
	for (size_t i = 0; i < n; i++)
		n_want += (!slow[i].expires_ms || slow[i].expires_ms > now_ms) &&
			  baleen_span_holds(&slow[i].span, &key);
	assert_int_equal(baleen_rule_entries_find(&state, "drop", &key, now_ms, note, NULL, &error),
			 0);
	for (entry = strtok_r(seen, " ", &rest); entry; entry = strtok_r(NULL, " ", &rest)) {
		struct baleen_span span = { 0 };

		*strrchr(entry, ':') = '\0';
		assert_int_equal(baleen_span_parse(entry + (*entry == '!'),
						   strlen(entry) - (*entry == '!'), &span, &reason),
				 0);
		assert_true(baleen_span_holds(&span, &key));
		length = slow_length(span, &key);
		assert_true(length <= last);
		last = length;
		if (!n_found++)
			holds = *entry != '!';
	}
	seen[0] = '\0';
	assert_int_equal(n_found, n_want);
	assert_int_equal(baleen_rule_entries_to_lists(&state, "drop", BALEEN_KEY_SRC, now_ms,
						      &lists, &error),
			 0);
	for (size_t i = 0; i < lists.keys[0].n_ip4 && key.domain == BALEEN_IP4; i++)
		is_in_list |= lists.keys[0].ip4[i] == key.ip4;
	for (size_t i = 0; i < lists.keys[0].n_net4 && key.domain == BALEEN_IP4; i++)
		is_in_list |= lists.keys[0].net4[i].first <= key.ip4 &&
			      key.ip4 <= lists.keys[0].net4[i].last;
	baleen_entry_lists_free(&lists);
	if (key.domain == BALEEN_IP4)
		assert_int_equal(is_in_list, holds);
}

static void random_entries(void **unused)
{
	struct random random = random_from(0x51e5);
	struct slow slow[40];
	char text[64];

	for (int round = 0; round < 30; round++) {
		size_t n = 0;
		u64 ignored;

		baleen_rule_entries_flush(&state, "drop", NULL, &ignored, &error);
		for (int i = 0; i < 40; i++) {
			struct baleen_rule_entry made;
			bool is_new;

			random_entry(&random, text);
			made = entry(text, "a");
			made.expires_ms =
				random_below(&random, 2) ? 0 : 1 + random_below(&random, 9);
			assert_int_equal(baleen_rule_entries_put(&state, "drop", &made, &is_new,
								 &error),
					 0);
			for (size_t j = 0; j < n && !is_new; j++)
				if (!strcmp(slow[j].text, baleen_rule_entry_text(&made).text))
					slow[j].expires_ms = made.expires_ms;
			if (!is_new)
				continue;
			strcpy(slow[n].text, baleen_rule_entry_text(&made).text);
			slow[n].expires_ms = made.expires_ms;
			slow[n++].span = made.key.span;
		}
		assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), n);
		for (u32 i = 0; i < 66; i++) {
			sprintf(text, "192.0.2.%u", i);
			assert_finds(slow, n, text, 1 + random_below(&random, 9));
			sprintf(text, "2001:db8::%x", i);
			assert_finds(slow, n, text, 1 + random_below(&random, 9));
		}
	}
}

/* --- lists --- */

static void lists(void **unused)
{
	struct baleen_entry_lists lists;

	put("drop", "192.0.2.0/30", "a", 0);
	put("drop", "!192.0.2.1", "b", 0);
	put("drop", "!198.51.100.0/24", "b", 0);
	put("drop", "203.0.113.1", "a", 50);
	put("flow", FLOW, "a", 0);
	assert_int_equal(baleen_rule_entries_to_lists(&state, "drop", BALEEN_KEY_SRC, 50, &lists,
						      &error),
			 0);
	assert_int_equal(lists.keys[0].n_ip4, 1);
	assert_int_equal(lists.keys[0].ip4[0], 0xc0000200);
	assert_int_equal(lists.keys[0].n_net4, 1);
	assert_int_equal(lists.keys[0].net4[0].first, 0xc0000202);
	assert_int_equal(lists.exceptions.n_ip4, 1);
	assert_int_equal(lists.exceptions.n_net4, 1);
	baleen_entry_lists_free(&lists);
	assert_int_equal(baleen_rule_entries_to_lists(&state, "flow", BALEEN_KEY_FLOW, 0, &lists,
						      &error),
			 0);
	assert_int_equal(lists.keys[0].n_key, 1);
	baleen_entry_lists_free(&lists);
}

static void damaged_rows(void **unused)
{
	static const char *const damage[] = {
		"UPDATE single SET first = CAST(printf('%.*c', 5000, '1') AS BLOB)",
		"UPDATE single SET first = x''",
		"UPDATE single SET first = x'06c0000201'",
		"UPDATE single SET first = x'04c00002'",
		"UPDATE single SET last = x'04c0000200'",
		"UPDATE single SET last = x'06c0000201c0000201c0000201c0000201'",
		"UPDATE single SET last = CAST('garbage' AS BLOB)",
		"UPDATE single SET origin = printf('%.*c', 5000, '1')",
		"UPDATE single SET reason = CAST(x'610062' AS TEXT)",
	};
	struct baleen_entry_lists lists = { .exceptions.n_ip4 = 77 };

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		put("drop", "192.0.2.1", "a", 0);
		assert_int_equal(sqlite3_exec(state.book->db, damage[i], NULL, NULL, NULL),
				 SQLITE_OK);
		assert_int_equal(baleen_rule_entries_to_lists(&state, "drop", BALEEN_KEY_SRC, 0,
							      &lists, &error),
				 -EINVAL);
		assert_non_null(strstr(error.text, "/book.db: damaged"));
		assert_int_equal(lists.exceptions.n_ip4, 77);
		forget_all();
	}
}

/* --- with their rules --- */

static void set_rules(u32 n, const char *first, u32 key_spec)
{
	struct baleen_stored_rules rules = { .n_rules = n };

	rules.rule[0] = state_rule(first);
	rules.rule[0].key_spec = key_spec;
	rules.rule[1] = state_rule("other");
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
}

static void in_lists(const char *rule, u32 key_spec, size_t n)
{
	struct baleen_entry_lists lists;

	assert_int_equal(baleen_rule_entries_to_lists(&state, rule, key_spec, 0, &lists, &error),
			 0);
	assert_int_equal(lists.keys[0].n_ip4, n);
	baleen_entry_lists_free(&lists);
}

/* Entries wait for a rule of their name, and of their sort of keys. */
static void rules_come_and_go(void **unused)
{
	put("drop", "192.0.2.1", "a", 0);
	put("other", "192.0.2.2", "a", 0);
	set_rules(2, "drop", BALEEN_KEY_DST);
	in_lists("drop", BALEEN_KEY_DST, 1);
	set_rules(2, "drop", BALEEN_KEY_DPORT);
	in_lists("drop", BALEEN_KEY_DPORT, 0);
	set_rules(2, "drop", BALEEN_KEY_SRC);
	in_lists("drop", BALEEN_KEY_SRC, 1);
	set_rules(1, "drop", BALEEN_KEY_SRC);
	each("other", NULL, "192.0.2.2:a ");
	set_rules(2, "drop", BALEEN_KEY_SRC);
	in_lists("other", BALEEN_KEY_SRC, 1);
}

/* Rule "drop" takes bans, "other" does not. */
static void take_bans(void)
{
	struct baleen_stored_rules rules = { .n_rules = 2 };

	rules.rule[0] = state_rule("drop");
	rules.rule[0].takes_bans = true;
	rules.rule[1] = state_rule("other");
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
}

static int note_whose(const struct baleen_rule_entry *found, void *data)
{
	sprintf(seen + strlen(seen), "%s%s ", found->is_ban ? "ban " : "",
		baleen_rule_entry_text(found).text);
	return 0;
}

static int note_origin(const char *origin, u64 n, void *data)
{
	sprintf(seen + strlen(seen), "%s:%llu ", origin, (unsigned long long)n);
	return 0;
}

/* A rule that takes bans reads them beside its own, and writes its own. */
static void bans_of_all(void **unused)
{
	struct baleen_rule_entry banned = entry("192.0.2.1", "a");
	const struct baleen_span span = entry("192.0.2.0/24", "a").key.span;
	struct baleen_rule_store own = baleen_book_of(&state);
	u64 n_keys, end_ms = 0;
	bool disagrees;

	take_bans();
	put(NULL, "192.0.2.1", "a", 0);
	put(NULL, "192.0.2.0/28", "soc", 9);
	put(NULL, "!192.0.2.9", "a", 0);
	put(NULL, "198.51.100.3-198.51.100.9", "a", 0);
	put("drop", "192.0.2.1", "a", 0);
	put("drop", "192.0.2.2", "b", 0);
	put("other", "192.0.2.4", "a", 0);
	each("drop", NULL,
	     "192.0.2.1:a 192.0.2.1:a !192.0.2.9:a 198.51.100.3-198.51.100.9:a 192.0.2.2:b 192.0.2.0/28:soc ");
	each("drop", "b", "192.0.2.2:b ");
	each("drop", "soc", "192.0.2.0/28:soc ");
	each("other", NULL, "192.0.2.4:a ");
	each(NULL, "soc", "192.0.2.0/28:soc ");
	assert_int_equal(baleen_rule_entries_each(&own, "drop", NULL, note, NULL, &error), 0);
	assert_seen("192.0.2.1:a 192.0.2.2:b ");
	find("drop", BALEEN_KEY_SRC, "192.0.2.2", 0, "192.0.2.2:b 192.0.2.0/28:soc ");
	find("drop", BALEEN_KEY_SRC, "198.51.100.7", 0, "198.51.100.3-198.51.100.9:a ");
	find("other", BALEEN_KEY_SRC, "192.0.2.1", 0, "");
	assert_int_equal(baleen_rule_entries_of_key(&state, "drop", &banned, note_whose, NULL,
						    &error),
			 0);
	assert_int_equal(strlen(seen), strlen("192.0.2.1 ban 192.0.2.1 "));
	seen[0] = '\0';
	assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), 6);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", "a"), 4);
	assert_int_equal(baleen_rule_entries_count(&state, NULL, "a"), 3);
	assert_int_equal(baleen_rule_entries_count(&own, "drop", NULL), 2);
	assert_int_equal(baleen_rule_entries_ending(&state, "drop"), 1);
	assert_int_equal(baleen_rule_entries_origins(&state, "drop", note_origin, NULL, &error), 0);
	assert_seen("a:4 b:1 soc:1 ");
	/* One key of two scopes is one. */
	assert_int_equal(baleen_rule_entries_inside(&state, "drop", &span, "none", 0, 3, &n_keys,
						    &end_ms, &error),
			 0);
	assert_int_equal(n_keys, 3);
	assert_int_equal(baleen_rule_entries_disagree(&state, "drop", &span, true, 0, &disagrees,
						      &error),
			 0);
	assert_true(disagrees);
	/* Its time is not the rule's to keep. */
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 0);
	assert_int_equal(baleen_bans_next_expiry(&state), 9);
	assert_int_equal(baleen_rule_entries_expired(&state, "drop", 9, note, NULL, &error), 0);
	assert_seen("");
	assert_int_equal(baleen_rule_entries_expired(&state, NULL, 9, note, NULL, &error), 0);
	assert_seen("192.0.2.0/28:soc ");
	assert_int_equal(take_out("drop", "192.0.2.1", NULL), 1);
	assert_int_equal(take_out(NULL, "192.0.2.1", NULL), 1);
	/* A rule that takes no bans any more has its own alone. */
	set_rules(2, "drop", BALEEN_KEY_SRC);
	each("drop", NULL, "192.0.2.2:b ");
}

/* A longest time is another scope; one that no rule takes is nobody's. */
static void bans_of_fleet(void **unused)
{
	take_bans();
	assert_int_equal(baleen_rule_store_set_text(&state, "fleet drop", "prod 3600", &error), 0);
	put(NULL, "192.0.2.1", "a", 0);
	put("drop", "192.0.2.2", "b", 0);
	state.shared = "feed fleet:prod max-ttl 1h";
	put(NULL, "192.0.2.3", "fleet:x/a", 7);
	state.shared = "feed fleet:prod";
	put(NULL, "192.0.2.4", "fleet:x/a", 5);
	each(NULL, NULL, "192.0.2.4:fleet:x/a ");
	each("drop", NULL, "192.0.2.1:a 192.0.2.2:b 192.0.2.3:fleet:x/a ");
	each("drop", "fleet:x/a", "192.0.2.3:fleet:x/a ");
	find("drop", BALEEN_KEY_SRC, "192.0.2.3", 0, "192.0.2.3:fleet:x/a ");
	find("drop", BALEEN_KEY_SRC, "192.0.2.4", 0, "");
	assert_int_equal(baleen_rule_entries_count(&state, "drop", NULL), 3);
	assert_int_equal(baleen_rule_entries_count(&state, NULL, NULL), 1);
	assert_int_equal(baleen_bans_next_expiry(&state), 5);
	assert_int_equal(take_out("drop", "192.0.2.3", NULL), 0);
	state.shared = NULL;
	each(NULL, NULL, "192.0.2.1:a ");
}

static void undone(void **unused)
{
	put("drop", "192.0.2.1", "a", 0);
	baleen_book_rollback(&state);
	each("drop", NULL, "");
}

/* Nothing is looked for by reading everything, and nothing sorted. */
static void by_index(void **unused)
{
	char sql[2048];
	u32 n = 0;

	static void (*const all[])(void **unused) = { flushed, several_origins, origins,      found,
						      ends,    bans_of_all,	bans_of_fleet };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		forget_all();
		all[i](unused);
	}
	for (u32 i = 0; i < BALEEN_MAX_STATEMENTS && state.book->statements[i].sql; i++) {
		sqlite3_stmt *plan;

		snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", state.book->statements[i].sql);
		assert_int_equal(sqlite3_prepare_v2(state.book->db, sql, -1, &plan, NULL),
				 SQLITE_OK);
		while (sqlite3_step(plan) == SQLITE_ROW) {
			const char *step = (const char *)sqlite3_column_text(plan, 3);

			/* What a rule takes of several scopes is sorted where an order is asked
			 * for.
			 */
			if (strstr(step, "SCAN single") ||
			    (strstr(step, "TEMP B-TREE") &&
			     !strstr(state.book->statements[i].sql, "(?1, ?2, ?3)")))
				fail_msg("%s: %s", state.book->statements[i].sql, step);
			n++;
		}
		sqlite3_finalize(plan);
	}
	assert_true(n > 20);
}

/* Of all statements, since the last time. */
static int n_steps(void)
{
	int n = 0;

	for (u32 i = 0; i < BALEEN_MAX_STATEMENTS && state.book->statements[i].sql; i++)
		n += sqlite3_stmt_status(state.book->statements[i].statement,
					 SQLITE_STMTSTATUS_VM_STEP, 1);
	return n;
}

/* However many entries there are, what finds one takes as long. */
static void steps_of_many(void **unused)
{
	char text[64];
	u64 n;

	for (u32 i = 0; i < 5000; i++) {
		sprintf(text, "10.0.%u.%u", i / 250, i % 250);
		put("drop", text, "a", i);
		sprintf(text, "10.%u.%u.0/24", 1 + i / 250, i % 250);
		put("drop", text, "a", 0);
		put("other", text, "b", i);
	}
	put("drop", "10.0.0.0/8", "b", 0);
	n_steps();
	find("drop", BALEEN_KEY_SRC, "10.20.249.1", 10, "10.20.249.0/24:a 10.0.0.0/8:b ");
	find("drop", BALEEN_KEY_SRC, "10.0.9.9", 10000, "10.0.0.0/8:b ");
	find("drop", BALEEN_KEY_SRC, "2001:db8::1", 10, "");
	assert_int_equal(baleen_rule_entries_next_expiry(&state), 1);
	assert_int_equal(baleen_rule_entries_expired(&state, "drop", 1, note, NULL, &error), 0);
	assert_seen("10.0.0.1:a ");
	each("drop", "b", "10.0.0.0/8:b ");
	assert_int_equal(take_out("drop", "10.0.0.2", "a"), 1);
	put("drop", "10.0.0.2", "a", 7);
	assert_int_equal(baleen_rule_entries_count(&state, "drop", "b"), 1);
	assert_int_equal(baleen_rule_entries_flush(&state, "drop", "b", &n, &error), 0);
	assert_int_equal(n, 1);
	assert_in_range(n_steps(), 100, 2000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_state, close_state)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_keys),
		cmocka_unit_test(shortest_keys),
		cmocka_unit_test(origins_and_reasons),
		TEST(no_such_rule),
		TEST(renewed),
		TEST(several_origins),
		TEST(flushed),
		TEST(origins),
		TEST(ends),
		TEST(stopped),
		TEST(found),
		TEST(random_entries),
		TEST(lists),
		TEST(damaged_rows),
		TEST(rules_come_and_go),
		TEST(bans_of_all),
		TEST(bans_of_fleet),
		TEST(undone),
		TEST(by_index),
		TEST(steps_of_many),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
