// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A single entry as a line of JSON, and the entry that a line or an element of a set stands for:
 * what is refused, and that both ways agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key/key_spec.h"
#include "list/import.h"
#include "lists.h"
#include "state/entry_import.h"
#include "state/entry_json.h"

/* 2026-11-27T18:00:00Z */
#define NOW 1795802400000ull

static const struct baleen_entry_importing lines = {
	.key_spec = BALEEN_KEY_SRC,
	.origin = "import",
	.keeps_origins = true,
	.now_ms = NOW,
};

static const struct baleen_entry_importing sets = {
	.key_spec = BALEEN_KEY_SRC,
	.origin = "ipset",
	.cleans_comments = true,
	.now_ms = NOW,
};

static void check_refused(const struct baleen_entry_importing *as,
			  const struct baleen_import_entry *from, const char *want)
{
	struct baleen_rule_entry entry = { .added_ms = 77 };
	struct baleen_error error = { "" };
	bool has_ended = true;

	assert_int_equal(baleen_entry_import(as, from, &entry, &has_ended, &error), -EINVAL);
	assert_string_equal(error.text, want);
	assert_int_equal(entry.added_ms, 77);
	assert_true(has_ended);
}

static void what_is_no_entry_is_refused(void **state)
{
	static const struct {
		struct baleen_import_entry from;
		const char *want;
	} wrong[] = {
		{ { .key = "", .comment = "" }, "'': not an address" },
		{ { .key = "192.0.2.300", .comment = "" }, "'192.0.2.300': octet above 255" },
		{ { .key = "!192.0.2.1", .is_exception = true, .comment = "" },
		  "'!!192.0.2.1': not an address" },
		{ { .key = "192.0.2.1 ", .comment = "" }, "'192.0.2.1 ': text behind the address" },
		{ { .key = "tcp,192.0.2.1,443", .comment = "" },
		  "'tcp,192.0.2.1,443': a host name, not an address" },
		{ { .key = "192.0.2.1", .origin = "", .comment = "" },
		  "an origin has 1 to 63 bytes" },
		{ { .key = "192.0.2.1", .origin = "a b", .comment = "" },
		  "an origin is printable ASCII without blanks" },
		{ { .key = "192.0.2.1", .comment = "a\nb" },
		  "a reason is UTF-8 without control characters" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_refused(&lines, &wrong[i].from, wrong[i].want);
}

/* What has no room would be read in part. */
static void what_is_too_long_is_refused(void **state)
{
	struct baleen_import_entry from = { .key = "192.0.2.1" };
	char text[1024], want[256];

	memset(text, 'x', sizeof(text));
	text[BALEEN_REASON_BYTES] = '\0';
	from.comment = text;
	check_refused(&lines, &from, "a reason has 255 bytes at most");
	from.comment = "";
	text[BALEEN_ORIGIN_BYTES] = '\0';
	from.origin = text;
	check_refused(&lines, &from, "an origin has 1 to 63 bytes");
	from.origin = NULL;
	memset(text, '0', sizeof(text));
	strcpy(text, "192.0.2.1");
	text[9] = '/';
	strcpy(text + sizeof(text) - 4, "24");
	from.key = text;
	snprintf(want, sizeof(want), "'%.64s...': longer than any key", text);
	check_refused(&lines, &from, want);
}

static struct baleen_rule_entry make(const struct baleen_entry_importing *as,
				     const struct baleen_import_entry *from, bool want_ended)
{
	struct baleen_rule_entry entry;
	struct baleen_error error = { "" };
	bool has_ended;

	if (baleen_entry_import(as, from, &entry, &has_ended, &error))
		fail_msg("%s: %s", from->key, error.text);
	assert_int_equal(has_ended, want_ended);
	return entry;
}

static void origins_are_those_of_the_lines(void **state)
{
	struct baleen_import_entry from = { .key = "192.0.2.1", .comment = "", .origin = "cron" };
	struct baleen_entry_importing moved = lines;

	assert_string_equal(make(&lines, &from, false).origin, "cron");
	moved.origin = "moved";
	moved.keeps_origins = false;
	assert_string_equal(make(&moved, &from, false).origin, "moved");
	from.origin = NULL;
	assert_string_equal(make(&lines, &from, false).origin, "import");
}

static void times_are_of_the_past_or_to_come(void **state)
{
	struct baleen_import_entry from = { .key = "192.0.2.1", .comment = "" };
	struct baleen_rule_entry entry = make(&lines, &from, false);

	assert_int_equal(entry.added_ms, NOW);
	assert_int_equal(entry.expires_ms, 0);
	from.since_ms = NOW - 1;
	from.end_ms = NOW + 1;
	entry = make(&lines, &from, false);
	assert_int_equal(entry.added_ms, NOW - 1);
	assert_int_equal(entry.expires_ms, NOW + 1);
	/* of a clock that goes before this one */
	from.since_ms = NOW + 5;
	assert_int_equal(make(&lines, &from, false).added_ms, NOW);
	from.end_ms = NOW;
	make(&lines, &from, true);
	from.end_ms = 1;
	make(&lines, &from, true);
	from.end_ms = 0;
	from.expires_s = 60;
	assert_int_equal(make(&sets, &from, false).expires_ms, NOW + 60000);
}

static void comments_of_sets_are_cut(void **state)
{
	struct baleen_import_entry from = { .key = "192.0.2.1", .comment = "a\tb\x7f" };
	char text[300];

	assert_string_equal(make(&sets, &from, false).reason, "a b ");
	memset(text, 'x', sizeof(text));
	/* 254 bytes, then a character of two, which has no room as a whole */
	memcpy(text + BALEEN_REASON_BYTES - 2, "\xc3\xbc", 2);
	text[sizeof(text) - 1] = '\0';
	from.comment = text;
	assert_int_equal(strlen(make(&sets, &from, false).reason), BALEEN_REASON_BYTES - 2);
}

/* --- lines --- */

static void check_line(const struct baleen_rule_entry *entry, const char *scope, const char *want)
{
	char *text = NULL;
	size_t n = 0;
	FILE *stream = open_memstream(&text, &n);

	assert_non_null(stream);
	assert_int_equal(baleen_entry_json_write(stream, entry, scope), 0);
	assert_int_equal(fclose(stream), 0);
	assert_string_equal(text, want);
	free(text);
}

static void a_line_has_all_of_an_entry(void **state)
{
	struct baleen_import_entry from = {
		.key = "198.51.100.64/26",
		.is_exception = true,
		.comment = "",
		.since_ms = NOW - 750,
	};
	struct baleen_rule_entry entry = make(&lines, &from, false);

	check_line(&entry, NULL,
		   "{\"key\":\"!198.51.100.64/26\",\"origin\":\"import\",\"reason\":\"\","
		   "\"since\":\"2026-11-27T17:59:59.250Z\",\"end\":null}\n");
	entry.expires_ms = NOW + 1;
	check_line(&entry, "eth0:bans",
		   "{\"rule\":\"eth0:bans\",\"key\":\"!198.51.100.64/26\",\"origin\":\"import\","
		   "\"reason\":\"\",\"since\":\"2026-11-27T17:59:59.250Z\","
		   "\"end\":\"2026-11-27T18:00:00.001Z\"}\n");
	/* nothing turns a terminal round, and whoever reads it gets the same */
	strcpy(entry.reason, "\"\\ \xe2\x80\xae \xc3\xbc");
	entry.added_ms = 0;
	check_line(&entry, NULL,
		   "{\"key\":\"!198.51.100.64/26\",\"origin\":\"import\",\"reason\":\"\\\"\\\\ "
		   "\\u202e \xc3\xbc\",\"since\":null,\"end\":\"2026-11-27T18:00:00.001Z\"}\n");
	/* of a database that somebody else has written */
	strcpy(entry.reason, "\xff");
	check_line(&entry, NULL,
		   "{\"key\":\"!198.51.100.64/26\",\"origin\":\"import\",\"reason\":\"\\\\xff\","
		   "\"since\":null,\"end\":\"2026-11-27T18:00:00.001Z\"}\n");
}

static int import_again(void *data, const struct baleen_import_entry *from,
			struct baleen_error *error)
{
	bool has_ended;

	return baleen_entry_import(&lines, from, data, &has_ended, error);
}

static void check_again(const struct baleen_rule_entry *entry)
{
	struct baleen_rule_entry again = { .added_ms = 77 };
	struct baleen_importer importer = {
		.format = BALEEN_IMPORT_JSON,
		.on_entry = import_again,
		.data = &again,
	};
	struct baleen_error error = { "" };
	char *text = NULL;
	size_t n = 0;
	FILE *stream = open_memstream(&text, &n);
	int fd;

	assert_non_null(stream);
	assert_int_equal(baleen_entry_json_write(stream, entry, "eth0:bans"), 0);
	assert_int_equal(fclose(stream), 0);
	fd = open_bytes(text, n);
	if (baleen_import(&importer, fd, "f", &error))
		fail_msg("%s: %s", text, error.text);
	close(fd);
	free(text);
	assert_int_equal(baleen_rule_entry_compare(entry, &again), 0);
	assert_string_equal(again.origin, entry->origin);
	assert_string_equal(again.reason, entry->reason);
	assert_int_equal(again.added_ms, entry->added_ms);
	assert_int_equal(again.expires_ms, entry->expires_ms);
}

static void a_line_is_read_as_the_same_entry(void **state)
{
	static const char *const keys[] = {
		"192.0.2.1",	 "0.0.0.0/0", "203.0.113.4-203.0.113.9",    "2001:db8::1",
		"2001:db8::/48", "::/0",      "2001:db8::1-2001:db8::ff:7", "::ffff:192.0.2.1",
	};

	for (size_t i = 0; i < 4 * sizeof(keys) / sizeof(keys[0]); i++) {
		struct baleen_import_entry from = {
			.key = keys[i / 4],
			.is_exception = i & 1,
			.comment = i & 2 ? "a \"scan\", \xe2\x80\xae twice" : "",
			.origin = "fail2ban-sshd",
			.since_ms = NOW - i,
			.end_ms = i & 2 ? NOW + 1 + i : 0,
		};
		struct baleen_rule_entry entry = make(&lines, &from, false);

		check_again(&entry);
	}
}

static void keys_of_several_fields_come_again(void **state)
{
	struct baleen_entry_importing flows = lines;
	struct baleen_import_entry from = { .key = "192.0.2.1,443", .comment = "" };
	struct baleen_rule_entry entry;
	u32 key_spec;

	assert_int_equal(baleen_key_spec_parse("src,dport", &key_spec, NULL), 0);
	flows.key_spec = key_spec;
	entry = make(&flows, &from, false);
	check_line(&entry, NULL,
		   "{\"key\":\"192.0.2.1,443\",\"origin\":\"import\",\"reason\":\"\","
		   "\"since\":\"2026-11-27T18:00:00.000Z\",\"end\":null}\n");
	from.is_exception = true;
	check_refused(&flows, &from, "'!192.0.2.1,443': exception from keys of several fields");
	from = (struct baleen_import_entry){ .key = "192.0.2.1", .comment = "" };
	assert_int_equal(baleen_entry_import(&flows, &from, &entry, &(bool){ 0 },
					     &(struct baleen_error){ "" }),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_entry_is_refused),
		cmocka_unit_test(what_is_too_long_is_refused),
		cmocka_unit_test(origins_are_those_of_the_lines),
		cmocka_unit_test(times_are_of_the_past_or_to_come),
		cmocka_unit_test(comments_of_sets_are_cut),
		cmocka_unit_test(a_line_has_all_of_an_entry),
		cmocka_unit_test(a_line_is_read_as_the_same_entry),
		cmocka_unit_test(keys_of_several_fields_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
