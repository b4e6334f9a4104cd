// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lines as baleen export prints them, and as people edit them: a line that is not understood whole
 * refuses the file, and then nothing is handed on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "list/import.h"
#include "lists.h"

/* Of each entry what it has: RULE|!KEY@ORIGIN#REASON+SINCE-END:LINE */
static int add_entry(void *data, const struct baleen_import_entry *entry,
		     struct baleen_error *error)
{
	assert_int_equal(entry->expires_s, 0);
	add_word(data, "%s|%s%s@%s#%s+%llu-%llu:%llu", entry->rule ?: "",
		 entry->is_exception ? "!" : "", entry->key, entry->origin ?: "", entry->comment,
		 (unsigned long long)entry->since_ms, (unsigned long long)entry->end_ms,
		 (unsigned long long)entry->line);
	return 0;
}

static int import_bytes(const char *bytes, size_t n_bytes, struct words *words,
			struct baleen_error *error)
{
	struct baleen_importer importer = {
		.format = BALEEN_IMPORT_JSON,
		.on_entry = add_entry,
		.data = words,
	};
	int fd = open_bytes(bytes, n_bytes), err = baleen_import(&importer, fd, "f", error);

	close(fd);
	words->text[words->used] = '\0';
	return err;
}

static void check_refused(const char *bytes, size_t n_bytes, const char *want)
{
	struct words words = { .used = 0 };
	struct baleen_error error = { "" };
	int err = import_bytes(bytes, n_bytes, &words, &error);

	if (err != -EINVAL || strcmp(error.text, want))
		fail_msg("'%s': %d\n%s\nwant: %s", bytes, err, error.text, want);
	assert_int_equal(words.used, 0);
}

/* As the second line, behind a good one. */
static void check_line(const char *line, const char *want)
{
	char text[1024], told[1024];

	snprintf(text, sizeof(text), "{\"key\": \"192.0.2.9\"}\n%s\n", line);
	snprintf(told, sizeof(told), "f:2: %s", want);
	check_refused(text, strlen(text), told);
}

static void check_read(const char *file, const char *want)
{
	struct words words = { .used = 0 };
	struct baleen_error error = { "" };

	if (import_bytes(file, strlen(file), &words, &error) || strcmp(words.text, want))
		fail_msg("'%s': %s\n%s\nwant: %s", file, words.text, error.text, want);
}

#define KEY "\"key\": \"192.0.2.1\""

static void members_of_a_wrong_type_are_refused(void **state)
{
	static const char *const names[] = { "rule", "key", "origin", "reason", "since", "end" };
	static const char *const values[] = { "1", "1.5", "true", "[]", "{}", "[\"192.0.2.1\"]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			char line[256], want[256];

			snprintf(line, sizeof(line), "{%s\"%s\": %s}", i == 1 ? "" : KEY ", ",
				 names[i], values[j]);
			snprintf(want, sizeof(want), "%s: no text", names[i]);
			check_line(line, want);
		}
}

static void members_that_are_twice_or_unknown_are_refused(void **state)
{
	check_line("{" KEY ", " KEY "}", "not JSON: duplicate object key near '\"key\"'");
	check_line("{" KEY ", \"end\": null, \"end\": null}",
		   "not JSON: duplicate object key near '\"end\"'");
	check_line("{" KEY ", \"until\": null}", "until: not a member that export writes");
	check_line("{" KEY ", \"Key\": \"192.0.2.2\"}", "Key: not a member that export writes");
	check_line("{" KEY ", \"\": 1}", ": not a member that export writes");
	/* as 'baleen list -j' has it */
	check_line("{\"entry\": \"192.0.2.1\"}", "entry: not a member that export writes");
	check_line("{" KEY ", \"x\\u001b[31m\": 1}", "x\\x1b[31m: not a member that export writes");
}

static void a_line_without_a_key_is_refused(void **state)
{
	check_line("{}", "key: is missing");
	check_line("{\"rule\": \"eth0:bans\", \"origin\": \"x\"}", "key: is missing");
	check_line("{\"key\": null}", "key: is missing");
}

static void what_is_no_object_is_refused(void **state)
{
	check_line("[]", "JSON: no object: baleen export prints one a line");
	check_line("[{" KEY "}]", "JSON: no object: baleen export prints one a line");
	check_line("null", "JSON: no object: baleen export prints one a line");
	check_line("\"192.0.2.1\"", "JSON: no object: baleen export prints one a line");
	check_line("7", "JSON: no object: baleen export prints one a line");
	check_line("192.0.2.1", "not JSON: end of file expected near '.'");
	check_line("key,origin,reason", "not JSON: invalid token near 'key'");
	check_line("{" KEY, "not JSON: '}' expected near end of file");
	check_line("{" KEY "} {" KEY "}", "not JSON: end of file expected near '{'");
	check_line("{" KEY "},", "not JSON: end of file expected near ','");
	check_line("{'key': \"192.0.2.1\"}", "not JSON: string or '}' expected near '''");
	/* as -j prints others */
	check_refused("[\n  {\n    " KEY "\n  }\n]\n", strlen("[\n  {\n    " KEY "\n  }\n]\n"),
		      "f:1: JSON: an array: baleen export prints an object a line");
	check_refused("{\n" KEY "\n}\n", strlen("{\n" KEY "\n}\n"),
		      "f:1: not JSON: string or '}' expected near end of file");
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const times[] = {
		"",
		"yesterday",
		"1795802400",
		"2026-11-27",
		"2026-11-27T18:00:00",
		"2026-11-27T18:00:00+01:00",
		"2026-11-27T18:00:00-00:00",
		"2026-11-27t18:00:00z",
		"2026-02-29T00:00:00Z",
		"2026-11-27T18:00:60Z",
		"2026-11-27T18:00:00.Z",
		"2026-11-27T18:00:00Z\\n",
		"10000-01-01T00:00:00Z",
		"1970-01-01T00:00:00Z",
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (int is_end = 0; is_end < 2; is_end++) {
			const char *name = is_end ? "end" : "since";
			char line[256], want[256];

			snprintf(line, sizeof(line), "{" KEY ", \"%s\": \"%s\"}", name, times[i]);
			snprintf(want, sizeof(want), "%s: not a time such as 2026-11-27T18:00:00Z",
				 name);
			check_line(line, want);
		}
}

static void what_is_no_text_is_refused(void **state)
{
	static const char nul[] = "{" KEY "}\n{\"key\": \"192.0.2.1\0\"}\n";
	static const char utf16[] = "{\0\"\0k\0e\0y\0\"\0";

	check_refused(nul, sizeof(nul) - 1, "f:2: NUL byte: is it UTF-16?");
	check_refused(utf16, sizeof(utf16) - 1, "f:1: NUL byte: is it UTF-16?");
	check_line("{\"key\": \"192.0.2.1\\u0000\"}",
		   "not JSON: \\u0000 is not allowed without JSON_ALLOW_NUL near "
		   "'\"192.0.2.1\\u0000\"'");
	check_line("{" KEY ", \"reason\": \"\xff\"}",
		   "not JSON: unable to decode byte 0xff near '\"'");
	check_line("{" KEY ", \"reason\": \"\xc3\"}",
		   "not JSON: unable to decode byte 0xc3 near '\"'");
	/* a character in more bytes than it takes, and half of a pair as bytes */
	check_line("{" KEY ", \"reason\": \"\xc0\xaf\"}",
		   "not JSON: unable to decode byte 0xc0 near '\"'");
	check_line("{" KEY ", \"reason\": \"\xed\xa0\x80\"}",
		   "not JSON: unable to decode byte 0xed near '\"'");
	check_line("{" KEY ", \"reason\": \"\\ud800\"}",
		   "not JSON: invalid Unicode '\\uD800' near '\"\\ud800\"'");
	check_line("{" KEY ", \"reason\": \"\\udc00\"}",
		   "not JSON: invalid Unicode '\\uDC00' near '\"\\udc00\"'");
	check_line("{" KEY ", \"reason\": \"\\ud800\\u0041\"}",
		   "not JSON: invalid Unicode '\\uD800\\u0041' near '\"\\ud800\\u0041\"'");
	check_line("{" KEY ", \"reason\": \"a\tb\"}", "not JSON: control character 0x9 near '\"a'");
}

static void what_is_nested_too_deep_is_refused(void **state)
{
	char text[8192] = "{\"key\": ", *deep = text + strlen(text);

	memset(deep, '[', 4000);
	check_refused(text, strlen(text), "f:1: not JSON: maximum parsing depth reached near '['");
	memset(deep + 500, ']', 500);
	strcpy(deep + 1000, "}");
	check_refused(text, strlen(text), "f:1: key: no text");
}

static void entries_are_read(void **state)
{
	/* 2026-11-27T18:00:00.250Z is 1795802400250 */
	check_read(
		"{\"rule\":\"eth0:bans\",\"key\":\"192.0.2.1\",\"origin\":\"ops\",\"reason\":\"a "
		"\\\"scan\\\"\",\"since\":\"2026-11-27T18:00:00.250Z\",\"end\":null}\n",
		"eth0:bans|192.0.2.1@ops#a \"scan\"+1795802400250-0:1");
	check_read("{\"key\": \"192.0.2.1\"}", "|192.0.2.1@#+0-0:1");
	check_read("{" KEY ", \"rule\": null, \"origin\": null, \"reason\": null, \"since\": null}",
		   "|192.0.2.1@#+0-0:1");
	/* members in any order, with white space */
	check_read(" \t{ \"end\" : \"2026-11-27T18:00:00Z\" , " KEY " } \t\n",
		   "|192.0.2.1@#+0-1795802400000:1");
	/* a clock that was set back: whoever was banned is not let go for it */
	check_read("{" KEY ", \"since\": \"2026-11-27T18:00:01Z\", \"end\": "
		   "\"2026-11-27T18:00:00Z\"}",
		   "|192.0.2.1@#+1795802401000-1795802400000:1");
	check_read("{" KEY ", \"end\": \"9999-12-31T23:59:59.999999999Z\"}",
		   "|192.0.2.1@#+0-253402300799999:1");
	check_read("{" KEY ", \"end\": \"1970-01-01T00:00:00.001Z\"}", "|192.0.2.1@#+0-1:1");
	check_read("{\"key\": \"!198.51.100.0/24\"}", "|!198.51.100.0/24@#+0-0:1");
	check_read("{\"key\": \"!!192.0.2.1\"}", "|!!192.0.2.1@#+0-0:1");
	check_read("{\"key\": \"tcp,192.0.2.1,443\"}", "|tcp,192.0.2.1,443@#+0-0:1");
	/* whoever makes entries says what a key is */
	check_read("{\"key\": \"\"}", "|@#+0-0:1");
	check_read("{" KEY ", \"reason\": \"\\u00fc \xc3\xbc \\ud83d\\udc0b\"}",
		   "|192.0.2.1@#\xc3\xbc \xc3\xbc \xf0\x9f\x90\x8b+0-0:1");
}

static void lines_are_counted(void **state)
{
	check_read("", "");
	check_read("\n\r\n \t\r\n", "");
	check_read("\r\n{" KEY "}\r\n\n{\"key\": \"192.0.2.2\"}\r\n",
		   "|192.0.2.1@#+0-0:2 |192.0.2.2@#+0-0:4");
	check_read("\xef\xbb\xbf{" KEY "}\r\n", "|192.0.2.1@#+0-0:1");
	/* without an end of its line */
	check_read("{" KEY "}\n{\"key\": \"192.0.2.2\"}", "|192.0.2.1@#+0-0:1 |192.0.2.2@#+0-0:2");
	check_refused("\n\n{" KEY "}\n{", strlen("\n\n{" KEY "}\n{"),
		      "f:4: not JSON: string or '}' expected near end of file");
}

static int count_reason(void *data, const struct baleen_import_entry *entry,
			struct baleen_error *error)
{
	*(size_t *)data += strlen(entry->comment);
	return 0;
}

static void a_long_line_is_one_line(void **state)
{
	enum { LONG = 3 << 20 };
	static const char head[] = "{" KEY ", \"reason\": \"";
	char *text = malloc(LONG + 64);
	size_t n = 0;
	struct baleen_importer importer = {
		.format = BALEEN_IMPORT_JSON,
		.on_entry = count_reason,
		.data = &n,
	};
	struct baleen_error error = { "" };
	int fd;

	assert_non_null(text);
	strcpy(text, head);
	memset(text + strlen(head), 'x', LONG);
	strcpy(text + strlen(head) + LONG, "\"}\n");
	fd = open_bytes(text, strlen(text));
	assert_int_equal(baleen_import(&importer, fd, "f", &error), 0);
	assert_int_equal(n, LONG);
	close(fd);
	/* a message shows a part of it */
	text[strlen(text) - 3] = '\n';
	fd = open_bytes(text, strlen(text));
	assert_int_equal(baleen_import(&importer, fd, "f", &error), -EINVAL);
	assert_int_equal(strncmp(error.text, "f:1: not JSON: ", 15), 0);
	close(fd);
	free(text);
}

static int refuse_second(void *data, const struct baleen_import_entry *entry,
			 struct baleen_error *error)
{
	u32 *n = data;

	return ++*n == 2 ? baleen_fail(error, ENOSPC, "no room for %s", entry->key) : 0;
}

static void a_refusal_of_the_caller_ends_it(void **state)
{
	static const char text[] =
		"{" KEY "}\n{\"key\": \"192.0.2.2\"}\n{\"key\": \"192.0.2.3\"}\n";
	u32 n = 0;
	struct baleen_importer importer = {
		.format = BALEEN_IMPORT_JSON,
		.on_entry = refuse_second,
		.data = &n,
	};
	struct baleen_error error;
	int fd = open_bytes(text, sizeof(text) - 1);

	assert_int_equal(baleen_import(&importer, fd, "f", &error), -ENOSPC);
	assert_string_equal(error.text, "no room for 192.0.2.2");
	assert_int_equal(n, 2);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_a_wrong_type_are_refused),
		cmocka_unit_test(members_that_are_twice_or_unknown_are_refused),
		cmocka_unit_test(a_line_without_a_key_is_refused),
		cmocka_unit_test(what_is_no_object_is_refused),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(what_is_no_text_is_refused),
		cmocka_unit_test(what_is_nested_too_deep_is_refused),
		cmocka_unit_test(a_refusal_of_the_caller_ends_it),
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(lines_are_counted),
		cmocka_unit_test(a_long_line_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
