// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From feeds and single entries to a filter, against what each entry says. */
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

#include <ops/build.h>
#include <deploy/derive.h>
#include <ops/edit.h>

#include "lists.h"
#include "random.h"
#include "states.h"

#define NOW_MS 1000000

static struct baleen_error error;
static struct baleen_rule_store state;
static struct baleen_stored_rules rules;
static struct baleen_stored_rule *rule = &rules.rule[0];

/* A state with one guarded rule that drops. */
static int make(void **unused)
{
	rules = (struct baleen_stored_rules){ .n_rules = 1 };
	*rule = state_rule("drop");
	rule->guards_feeds = true;
	return baleen_rule_store_create(&state, DEVICE, true, 1, &error) ||
	       baleen_rule_store_begin(&state, &error) ||
	       baleen_rule_store_set_rules(&state, &rules, &error) ||
	       baleen_book_begin(&state, &error);
}

static int clean(void **unused)
{
	baleen_rule_store_close(&state);
	return clean_root(unused);
}

static void add_copy(struct baleen_feed *feed, const void *bytes, size_t n_bytes)
{
	int fd = open_bytes(bytes, n_bytes);

	snprintf(feed->rule, sizeof(feed->rule), "drop");
	snprintf(feed->wanted.source, sizeof(feed->wanted.source), "test");
	assert_int_equal(baleen_feeds_put(&state, feed, &error), 0);
	assert_int_equal(baleen_feed_accept(&state, feed, fd, &error), 0);
	assert_int_equal(baleen_feeds_put(&state, feed, &error), 0);
	close(fd);
}

static void add_feed(const char *text)
{
	struct baleen_feed feed = { .format = BALEEN_FEED_LIST };

	add_copy(&feed, text, strlen(text));
}

static void add_single(const char *text, const char *origin, u64 expires_ms)
{
	struct baleen_rule_entry entry = { .expires_ms = expires_ms };
	bool is_new;

	assert_int_equal(baleen_rule_entry_parse(text, rule->key_spec, BALEEN_AS_WRITTEN, &entry,
						 &error),
			 0);
	snprintf(entry.origin, sizeof(entry.origin), "%s", origin);
	assert_int_equal(baleen_rule_entries_put(&state, "drop", &entry, &is_new, &error), 0);
}

static void remove_protected(const char *name, const char *text)
{
	assert_int_equal(baleen_rule_store_set_text(&state, name, text, &error), 0);
}

static struct baleen_key key_of(const char *text)
{
	struct baleen_key key;
	const char *reason;

	assert_int_equal(baleen_key_parse(text, strlen(text), rule->key_spec, &key, &reason), 0);
	return key;
}

/* The keys of a line that are in the filter, which has to agree with what is
 * said without building it.
 */
static void assert_held(const char *keys, const char *want)
{
	struct baleen_filter filter = { 0 };
	char line[512], held[512] = "";
	char *rest = NULL;

	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, NULL, &error), 0);
	snprintf(line, sizeof(line), "%s", keys);
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		struct baleen_key key = key_of(word);
		bool is_held = baleen_filter_test(&filter, &key), holds = !is_held;

		assert_int_equal(baleen_derive_holds(&state, rule, &key, NOW_MS, &holds, &error),
				 0);
		assert_int_equal(holds, is_held);
		if (is_held)
			sprintf(held + strlen(held), "%s%s", *held ? " " : "", word);
	}
	assert_string_equal(held, want);
	baleen_filter_free(&filter);
}

static void assert_refused(int code, const char *reason)
{
	struct baleen_filter filter = { .n_bytes = 77 };
	struct baleen_derived derived = { .n_feeds = 77 };

	error.text[0] = '\0';
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, &derived, &error), code);
	assert_int_equal(filter.n_bytes, 77);
	assert_int_equal(derived.n_feeds, 77);
	if (!strstr(error.text, reason))
		assert_string_equal(error.text, reason);
}

/* --- lists ----------------------------------------------------------------- */

static void nothing(void **unused)
{
	assert_held("1.2.3.4 2400::1", "");
}

static void feeds(void **unused)
{
	add_feed("20.1.0.0/16\n!20.1.2.0/24\n2400::/32\n");
	add_feed("20.1.2.3\n21.0.0.1\n");
	assert_held("20.1.1.1 20.1.2.1 20.1.2.3 21.0.0.1 21.0.0.2 2400::1 2401::1",
		    "20.1.1.1 20.1.2.3 21.0.0.1 2400::1");
}

static void many_feeds(void **unused)
{
	char text[64];

	for (u32 i = 0; i < 70; i++) {
		snprintf(text, sizeof(text), "20.1.%u.1\n20.1.%u.2\n", i, i + 1);
		add_feed(text);
	}
	assert_held("20.1.0.1 20.1.0.2 20.1.33.1 20.1.69.1 20.1.69.2 20.1.70.1 20.1.70.2",
		    "20.1.0.1 20.1.33.1 20.1.69.1 20.1.69.2 20.1.70.2");
}

static void without_copy(void **unused)
{
	struct baleen_feed feed = { .format = BALEEN_FEED_LIST };

	snprintf(feed.rule, sizeof(feed.rule), "drop");
	assert_int_equal(baleen_feeds_put(&state, &feed, &error), 0);
	add_feed("20.1.2.3\n");
	assert_held("20.1.2.3 20.1.2.4", "20.1.2.3");
}

static void bad_copy(void **unused)
{
	add_feed("20.1.2.3\nnonsense\n");
	/* Its line is not quoted: who may read the feed is not known. */
	assert_refused(-EINVAL, "test:2: a host name, not an address");
}

static void singles(void **unused)
{
	add_feed("20.1.0.0/16\n");
	add_single("!20.1.2.0/24", "manual", 0);
	add_single("20.1.2.3", "manual", 0);
	add_single("20.1.5.5", "manual", 0);
	add_single("!20.1.5.5", "other", 0);
	add_single("30.0.0.0/8", "manual", 0);
	add_single("!2400::/16", "manual", 0);
	add_single("2400::/64", "manual", 0);
	assert_held("20.1.1.1 20.1.2.1 20.1.2.3 20.1.5.5 30.1.1.1 2400::5 2400:0:0:1::1",
		    "20.1.1.1 20.1.2.3 30.1.1.1 2400::5");
}

static void ended(void **unused)
{
	add_single("20.1.1.1", "manual", NOW_MS);
	add_single("20.1.1.2", "manual", NOW_MS + 1);
	add_single("20.1.1.3", "manual", 1);
	add_single("20.1.1.3", "other", 0);
	assert_held("20.1.1.1 20.1.1.2 20.1.1.3", "20.1.1.2 20.1.1.3");
}

static void every_address(void **unused)
{
	rule->is_any = true;
	add_single("!20.1.1.1", "manual", 0);
	remove_protected("never", "9.9.9.9\n");
	remove_protected("peers", "8.8.8.8\n");
	assert_held("20.1.1.1 9.9.9.9 8.8.8.8 10.0.0.1 2400::1 fe80::1",
		    "20.1.1.1 8.8.8.8 10.0.0.1 2400::1 fe80::1");
}

/* --- withheld -------------------------------------------------------------- */

static void add_guarded(void)
{
	add_feed("10.0.0.0/8\n9.9.9.9\n8.8.8.8\n7.7.7.7\n20.0.0.1\nfe80::1\n2400::1\n");
	remove_protected("never", "9.9.9.9 dns\n");
	remove_protected("host", "7.7.7.7 gateway\n2400::1 address\n");
	remove_protected("peers", "8.8.8.8 peer of a TCP session\n");
}

#define GUARDED "10.1.1.1 9.9.9.9 8.8.8.8 7.7.7.7 20.0.0.1 fe80::1 2400::1"

static void guarded(void **unused)
{
	struct baleen_filter filter;
	struct baleen_derived derived;

	add_guarded();
	assert_held(GUARDED, "20.0.0.1");
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, &derived, &error), 0);
	assert_int_equal(derived.n_protected, 4);
	assert_int_equal(derived.first_protected.role, BALEEN_PROTECTED_PEER);
	assert_string_equal(derived.first_protected.key, "8.8.8.8");
	assert_int_equal(derived.n_feeds, 1);
	baleen_filter_free(&filter);
}

static void keeps_special(void **unused)
{
	add_guarded();
	rule->limits.keep_special = true;
	assert_held(GUARDED, "10.1.1.1 20.0.0.1 fe80::1");
}

static void by_hand(void **unused)
{
	add_guarded();
	rule->guards_feeds = false;
	rule->limits.keep_special = true;
	assert_held(GUARDED, "10.1.1.1 8.8.8.8 7.7.7.7 20.0.0.1 fe80::1 2400::1");
	rule->limits.keep_special = false;
	assert_held(GUARDED, "8.8.8.8 7.7.7.7 20.0.0.1 2400::1");
}

static void allows(void **unused)
{
	add_guarded();
	rule->action = BALEEN_ACTION_ALLOW;
	assert_held(GUARDED, GUARDED);
}

/* Who is named is meant: but for the never-drop list and this host. */
static void named(void **unused)
{
	add_guarded();
	add_single("10.1.1.1", "manual", 0);
	add_single("8.8.8.0/24", "manual", 0);
	add_single("9.9.9.9", "manual", 0);
	add_single("7.7.0.0/16", "manual", 0);
	assert_held(GUARDED " 7.7.7.8", "10.1.1.1 8.8.8.8 20.0.0.1 7.7.7.8");
}

static void assert_withheld(const char *text, const char *what)
{
	struct baleen_key key = key_of(text);
	struct baleen_protected found = { .what = "nothing" };

	assert_int_equal(baleen_protected_find(&state, rule, &key, &found),
			 strcmp(what, "nothing") != 0);
	assert_string_equal(found.what, what);
}

static void found(void **unused)
{
	add_guarded();
	assert_withheld("9.9.9.9", "9.9.9.9");
	assert_withheld("7.7.7.7", "gateway");
	assert_withheld("8.8.8.8", "peer of a TCP session");
	assert_withheld("10.9.9.9", "private use");
	assert_withheld("20.0.0.1", "nothing");
	add_single("8.8.8.8", "manual", 0);
	assert_withheld("8.8.8.8", "nothing");
}

/* --- images ---------------------------------------------------------------- */

static void add_image(const char *text, u32 kind, double fpp)
{
	const struct baleen_build_options options = {
		.name = "image", .key_spec = rule->key_spec, .kind = kind, .fpp = fpp
	};
	struct baleen_feed feed = { .format = BALEEN_FEED_IMAGE };
	struct baleen_filter filter;
	struct baleen_list list;

	assert_int_equal(baleen_list_from_text(text, "image", rule->key_spec, &list, &error), 0);
	assert_int_equal(baleen_build(&list, &options, &filter, &error), 0);
	add_copy(&feed, filter.bytes, filter.n_bytes);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void image_alone(void **unused)
{
	struct baleen_filter first, second;

	remove_protected("never", "9.9.9.9\n20.3.0.0/16\n");
	add_image("20.1.0.0/16\n21.0.0.1\n2400::1\n", BALEEN_KIND_CUCKOO, 0);
	assert_held("20.1.1.1 21.0.0.1 21.0.0.2 2400::1 2400::2", "20.1.1.1 21.0.0.1 2400::1");
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &first, NULL, &error), 0);
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &second, NULL, &error), 0);
	assert_int_equal(first.n_bytes, second.n_bytes);
	assert_memory_equal(first.bytes, second.bytes, first.n_bytes);
	baleen_filter_free(&first);
	baleen_filter_free(&second);
}

static void image_edited(void **unused)
{
	remove_protected("never", "9.9.9.9\n20.1.7.0/24\n");
	remove_protected("peers", "21.0.0.2\n");
	add_image("20.1.0.0/16\n21.0.0.1\n21.0.0.2\n9.9.9.9\n10.0.0.1\n", BALEEN_KIND_CUCKOO, 0);
	add_image("22.0.0.1\n", BALEEN_KIND_CUCKOO, 0);
	add_feed("23.0.0.1\n10.0.0.2\n");
	add_single("!20.1.2.0/24", "manual", 0);
	add_single("20.1.2.3", "manual", 0);
	assert_held("20.1.1.1 20.1.2.1 20.1.2.3 20.1.7.7 21.0.0.1 21.0.0.2 9.9.9.9 10.0.0.1 "
		    "22.0.0.1 23.0.0.1 10.0.0.2",
		    "20.1.1.1 20.1.2.3 21.0.0.1 22.0.0.1 23.0.0.1");
}

static void image_of_hashes(void **unused)
{
	add_image("2400::1\n2400::2\n21.0.0.1\n", BALEEN_KIND_CUCKOO, 0);
	add_single("!2400::2", "manual", 0);
	add_single("2400::3", "manual", 0);
	assert_held("2400::1 2400::2 2400::3 21.0.0.1", "2400::1 2400::3 21.0.0.1");
	add_single("!2400::/64", "manual", 0);
	assert_refused(-EOPNOTSUPP, "rule 'drop': its image: ");
}

static void image_that_cannot_forget(void **unused)
{
	add_image("21.0.0.1\n21.0.0.2\n9.9.9.9\n", BALEEN_KIND_BLOOM, 1e-6);
	assert_held("21.0.0.1 9.9.9.9", "21.0.0.1 9.9.9.9");
	remove_protected("never", "9.9.9.9\n");
	assert_refused(-EOPNOTSUPP, "rule 'drop': its image: a Bloom filter cannot forget");
	remove_protected("never", "9.9.0.0/16\n");
	assert_refused(-EOPNOTSUPP, "rule 'drop': its image: a Bloom filter cannot forget");
}

static void image_of_other_keys(void **unused)
{
	rule->key_spec = BALEEN_KEY_DST;
	add_image("21.0.0.1\n", BALEEN_KIND_CUCKOO, 0);
	rule->key_spec = BALEEN_KEY_SRC;
	assert_refused(-EINVAL, "its keys are other ones");
}

/* --- keys of several fields, kinds, reasons --------------------------------- */

static void several_fields(void **unused)
{
	rule->key_spec = BALEEN_KEY_SRC | BALEEN_KEY_DPORT;
	assert_int_equal(baleen_rule_store_set_rules(&state, &rules, &error), 0);
	add_feed("20.0.0.1,22\n2400::1,22\n");
	add_single("20.0.0.1,80", "manual", 0);
	assert_held("20.0.0.1,22 20.0.0.1,80 20.0.0.1,81 2400::1,22",
		    "20.0.0.1,22 20.0.0.1,80 2400::1,22");
}

static void bloom(void **unused)
{
	struct baleen_filter filter;

	rule->kind = BALEEN_KIND_BLOOM;
	rule->fpp = 1e-6;
	add_feed("20.0.0.1\n");
	add_single("20.0.0.2", "manual", 0);
	assert_held("20.0.0.1 20.0.0.2 20.0.0.3", "20.0.0.1 20.0.0.2");
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, NULL, &error), 0);
	assert_int_equal(filter.image.table[BALEEN_IP4].kind, BALEEN_KIND_BLOOM);
	assert_true(baleen_filter_worst_fpp(&filter) <= 1e-6);
	baleen_filter_free(&filter);
}

/* As much room as was asked for, or as is needed. */
static void room(void **unused)
{
	struct baleen_filter filter;

	add_feed("20.0.0.1\n20.0.0.2\n");
	rule->capacity = 100000;
	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, NULL, &error), 0);
	assert_true(baleen_filter_room(&filter) >= 100000);
	baleen_filter_free(&filter);
	rule->capacity = 1;
	assert_held("20.0.0.1 20.0.0.2", "20.0.0.1 20.0.0.2");
	assert_int_equal(baleen_derive_roomy(&state, rule, NOW_MS, &filter, &error), 0);
	baleen_filter_free(&filter);
}

static int note(const struct baleen_reason *reason, void *data)
{
	char *text = data;

	if (reason->is_feed)
		sprintf(text + strlen(text), "%llu:%s ", (unsigned long long)reason->line,
			reason->text);
	else
		sprintf(text + strlen(text), "%s@%s ", baleen_rule_entry_text(&reason->entry).text,
			reason->entry.origin);
	return 0;
}

static void reasons(void **unused)
{
	struct baleen_key key = key_of("20.1.2.3");
	char text[512] = "";

	add_feed("# first\n20.0.0.0/8\n20.1.0.0/16\n");
	add_feed("20.1.2.3\n!20.1.2.3\n");
	add_feed("21.0.0.0/8\n20.1.2.0/24\n");
	add_single("20.1.2.0/25", "ban", 0);
	add_single("!20.1.2.0/26", "manual", 0);
	add_single("20.1.2.3", "old", 5);
	assert_int_equal(baleen_derive_reasons(&state, rule, &key, NOW_MS, note, text, &error), 0);
	assert_string_equal(text, "!20.1.2.0/26@manual 20.1.2.0/25@ban 3:20.1.0.0/16 "
				  "2:20.0.0.0/8 2:20.1.2.0/24 2:!20.1.2.3 1:20.1.2.3 ");
}

/* --- random entries against what each says ---------------------------------- */

#define HISTORIES 60
#define MAX_FEEDS 4
#define MAX_ENTRIES 12

struct entry {
	struct baleen_key key;
	u32 length;
	bool is_exception;
	u64 expires_ms;
};

struct entries {
	struct entry entry[MAX_ENTRIES];
	u32 n;
};

/* Few bits, so that entries meet; none of them special. */
static struct baleen_key any_key(struct random *random)
{
	u64 bits = random_next(random);

	if (bits & 1)
		return (struct baleen_key){ .domain = BALEEN_IP4,
					    .ip4 = 20u << 24 | (bits >> 1 & 1) << 23 |
						   (bits >> 3 & 63) };
	return (struct baleen_key){ .domain = BALEEN_IP6,
				    .hi = 0x24ull << 56 | (bits >> 1 & 3) << 52 | (bits >> 3 & 3),
				    .lo = (bits >> 5 & 3) << 62 | (bits >> 7 & 7) };
}

static bool bit_of(const struct baleen_key *key, u32 i)
{
	if (key->domain == BALEEN_IP4)
		return key->ip4 >> (31 - i) & 1;
	return i < 64 ? key->hi >> (63 - i) & 1 : key->lo >> (127 - i) & 1;
}

static bool covers(const struct entry *entry, const struct baleen_key *key)
{
	if (entry->key.domain != key->domain || (entry->expires_ms && entry->expires_ms <= NOW_MS))
		return false;
	for (u32 i = 0; i < entry->length; i++)
		if (bit_of(&entry->key, i) != bit_of(key, i))
			return false;
	return true;
}

/* 1 in, 0 out, -1 not covered at all */
static int slow_decides(const struct entries *entries, const struct baleen_key *key)
{
	int longest = -1, in = -1;

	for (u32 i = 0; i < entries->n; i++) {
		const struct entry *entry = &entries->entry[i];
		int length = entry->length;

		if (!covers(entry, key) || length < longest)
			continue;
		in = length == longest ? in && !entry->is_exception : !entry->is_exception;
		longest = length;
	}
	return in;
}

static void write_entry(const struct entry *entry, char *text)
{
	char key[BALEEN_KEY_TEXT];

	baleen_key_format(&entry->key, BALEEN_KEY_SRC, key);
	sprintf(text, "%s%s/%u", entry->is_exception ? "!" : "", key, entry->length);
}

static struct entries any_entries(struct random *random)
{
	static const u32 lengths4[] = { 8, 9, 26, 28, 30, 31, 32, 32 };
	static const u32 lengths6[] = { 8, 12, 62, 64, 66, 125, 127, 128 };
	struct entries entries = { .n = random_below(random, MAX_ENTRIES + 1) };

	for (u32 i = 0; i < entries.n; i++) {
		struct entry *entry = &entries.entry[i];
		u64 bits = random_next(random);

		entry->key = any_key(random);
		entry->length =
			entry->key.domain == BALEEN_IP4 ? lengths4[bits & 7] : lengths6[bits & 7];
		entry->is_exception = (bits >> 3 & 3) == 0;
	}
	return entries;
}

static void add_random_feed(const struct entries *entries)
{
	char text[MAX_ENTRIES * 2 * BALEEN_KEY_TEXT] = "";

	for (u32 i = 0; i < entries->n; i++) {
		write_entry(&entries->entry[i], text + strlen(text));
		strcat(text, "\n");
	}
	add_feed(text);
}

/* An origin each, so that all of them stay. */
static void add_random_singles(struct entries *entries, struct random *random)
{
	char text[2 * BALEEN_KEY_TEXT], origin[32];

	for (u32 i = 0; i < entries->n; i++) {
		struct entry *entry = &entries->entry[i];

		entry->expires_ms =
			random_below(random, 4) ? 0 : NOW_MS - 1 + random_below(random, 3);
		write_entry(entry, text);
		snprintf(origin, sizeof(origin), "o%u", i);
		add_single(text, origin, entry->expires_ms);
	}
}

struct world {
	struct entries feed[MAX_FEEDS];
	u32 n_feeds;
	struct entries singles;
	struct entries never;
};

static bool slow_holds(const struct world *world, const struct baleen_key *key)
{
	int decision = slow_decides(&world->singles, key);

	if (slow_decides(&world->never, key) == 1)
		return false;
	if (decision >= 0)
		return decision;
	for (u32 i = 0; i < world->n_feeds; i++)
		if (slow_decides(&world->feed[i], key) == 1)
			return true;
	return false;
}

static struct world any_world(struct random *random)
{
	struct world world = { .n_feeds = random_below(random, MAX_FEEDS + 1) };
	char text[MAX_ENTRIES * 2 * BALEEN_KEY_TEXT] = "";

	for (u32 i = 0; i < world.n_feeds; i++) {
		world.feed[i] = any_entries(random);
		add_random_feed(&world.feed[i]);
	}
	world.singles = any_entries(random);
	add_random_singles(&world.singles, random);
	world.never = any_entries(random);
	world.never.n /= 3;
	for (u32 i = 0; i < world.never.n; i++) {
		write_entry(&world.never.entry[i], text + strlen(text));
		strcat(text, "\n");
	}
	remove_protected("never", text);
	return world;
}

static void check_world(const struct world *world, struct random *random)
{
	struct baleen_filter filter;

	assert_int_equal(baleen_derive(&state, rule, NOW_MS, &filter, NULL, &error), 0);
	for (u32 i = 0; i < 400; i++) {
		struct baleen_key key = any_key(random);
		bool want = slow_holds(world, &key), holds = !want;

		assert_int_equal(baleen_filter_test(&filter, &key), want);
		if (i % 8)
			continue;
		assert_int_equal(baleen_derive_holds(&state, rule, &key, NOW_MS, &holds, &error),
				 0);
		assert_int_equal(holds, want);
	}
	baleen_filter_free(&filter);
}

static void random_worlds(void **unused)
{
	struct random random = random_from(20261122);

	for (u32 i = 0; i < HISTORIES; i++) {
		struct world world = any_world(&random);

		check_world(&world, &random);
		clean(NULL);
		assert_int_equal(make(NULL), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_copy),
		TEST(image_of_other_keys),
		TEST(image_that_cannot_forget),
		TEST(image_of_hashes),
		TEST(nothing),
		TEST(feeds),
		TEST(many_feeds),
		TEST(without_copy),
		TEST(singles),
		TEST(ended),
		TEST(every_address),
		TEST(guarded),
		TEST(keeps_special),
		TEST(by_hand),
		TEST(allows),
		TEST(named),
		TEST(found),
		TEST(image_alone),
		TEST(image_edited),
		TEST(several_fields),
		TEST(bloom),
		TEST(room),
		TEST(reasons),
		TEST(random_worlds),
	};

	return cmocka_run_group_tests(tests, make_roots, remove_roots);
}
