// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of `baleen feed`: refused ones, in pieces, too long, cut off. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "state/entry_line.h"

static struct baleen_entry_line line;
static struct baleen_error error;
static char text[BALEEN_ENTRY_LINE_BYTES];

static int parse(const char *from)
{
	strcpy(text, from);
	error.text[0] = '\0';
	return baleen_entry_line_parse(text, &line, &error);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "put 192.0.2.1", "not add, ban, del, unban, flush, begin or commit: put" },
		{ "begin\rcommit", "not add, ban, del, unban, flush, begin or commit: begin\\x0dcommit" },
		{ "adds", "not add, ban, del, unban, flush, begin or commit: adds" },
		{ "add", "no key" },
		{ "del \t ", "no key" },
		{ "unban", "no key" },
		{ "unban k origin=o", "unban is of every origin: KEY alone" },
		{ "unban k ttl=1h", "unban is of every origin: KEY alone" },
		{ "flush reason=x origin=o", "flush takes origin= alone" },
		{ "flush 192.0.2.1", "not ttl=, origin= or reason=" },
		{ "add 192.0.2.1 x", "not ttl=, origin= or reason=" },
		{ "add 192.0.2.1 reason", "not ttl=, origin= or reason=" },
		{ "add 192.0.2.1 ttl=0s", "ttl= is not a time such as 30s, 1h or 2d" },
		{ "add 192.0.2.1 ttl=", "ttl= is not a time such as 30s, 1h or 2d" },
	};
	const struct baleen_entry_line untouched = { .verb = BALEEN_ENTRY_COMMIT, .ttl_ms = 7 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		line = untouched;
		assert_int_equal(parse(cases[i].text), -EINVAL);
		assert_string_equal(error.text, cases[i].why);
		assert_memory_equal(&line, &untouched, sizeof(line));
	}
}

static void test_verbs(void **state)
{
	static const struct {
		const char *text;
		enum baleen_entry_verb verb;
	} cases[] = {
		{ "", BALEEN_ENTRY_NOTHING },	       { "\r", BALEEN_ENTRY_NOTHING },
		{ "  # add", BALEEN_ENTRY_NOTHING },   { "begin", BALEEN_ENTRY_BEGIN },
		{ "\tcommit\r", BALEEN_ENTRY_COMMIT }, { "add k", BALEEN_ENTRY_ADD },
		{ "del k", BALEEN_ENTRY_DEL },	       { "ban k", BALEEN_ENTRY_ADD },
		{ "unban k", BALEEN_ENTRY_UNBAN },     { "flush", BALEEN_ENTRY_FLUSH },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text), 0);
		assert_int_equal(line.verb, cases[i].verb);
	}
}

static void test_values(void **state)
{
	assert_int_equal(parse("add  192.0.2.1\tttl=1m  origin=o reason=\"a \"b\" c\"\r"), 0);
	assert_string_equal(line.key, "192.0.2.1");
	assert_string_equal(line.origin, "o");
	assert_string_equal(line.reason, "a \"b\" c");
	assert_int_equal(line.ttl_ms, 60000);
	assert_int_equal(parse("flush origin=o"), 0);
	assert_string_equal(line.origin, "o");
	assert_null(line.key);
	assert_int_equal(parse("add k reason=\""), 0);
	assert_string_equal(line.reason, "\"");
	assert_null(line.origin);
	assert_int_equal(line.ttl_ms, 0);
	/* A carriage return that is not at the end is a character of the reason, which is refused.
	 */
	assert_int_equal(parse("add k reason=a\rb"), 0);
	assert_string_equal(line.reason, "a\rb");
}

/* --- lines ----------------------------------------------------------------- */

static struct baleen_entry_lines lines;
static int ends[2];

static int begin(void **state)
{
	memset(&lines, 0, sizeof(lines));
	return pipe(ends);
}

static int end(void **state)
{
	close(ends[0]);
	return close(ends[1]);
}

/* Comes, and is read. */
static void come(const void *bytes, size_t n_bytes)
{
	assert_int_equal(write(ends[1], bytes, n_bytes), n_bytes);
	for (size_t n = 0; n < n_bytes;) {
		ssize_t got = baleen_entry_lines_read(&lines, ends[0]);

		assert_true(got > 0);
		n += got;
	}
}

static void come_many(size_t n_bytes)
{
	static char many[65536];

	memset(many, 'x', n_bytes);
	come(many, n_bytes);
}

static void expect(const char *want)
{
	char *got;

	assert_int_equal(baleen_entry_lines_next(&lines, &got), 1);
	assert_string_equal(got, want);
}

static void expect_result(int want)
{
	char *got;

	assert_int_equal(baleen_entry_lines_next(&lines, &got), want);
}

static void test_pieces(void **state)
{
	come("ad", 2);
	expect_result(0);
	come("d k\nde", 6);
	expect("add k");
	expect_result(0);
	come("l k\n\nx", 6);
	expect("del k");
	expect("");
	expect_result(0);
	assert_true(baleen_entry_lines_is_cut(&lines));
	come("\n", 1);
	expect("x");
	assert_false(baleen_entry_lines_is_cut(&lines));
}

static void test_bad(void **state)
{
	come("a\0b\nc\n", 6);
	expect_result(-EINVAL);
	expect("c");
	come_many(BALEEN_ENTRY_LINE_BYTES - 1);
	come("\n", 1);
	expect_result(1);
	come_many(BALEEN_ENTRY_LINE_BYTES);
	come("\nc\n", 3);
	expect_result(-EINVAL);
	expect("c");
}

/* More than is kept: its rest is no line of its own, and it is missed when it has no end. */
static void test_long(void **state)
{
	come_many(65536);
	expect_result(0);
	assert_true(baleen_entry_lines_is_cut(&lines));
	come_many(65536);
	expect_result(0);
	come("add k\nc\n", 8);
	expect_result(-EINVAL);
	expect("c");
	assert_false(baleen_entry_lines_is_cut(&lines));
	come_many(65536);
	expect_result(0);
	close(ends[1]);
	assert_int_equal(baleen_entry_lines_read(&lines, ends[0]), 0);
	assert_true(baleen_entry_lines_is_cut(&lines));
	ends[1] = dup(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_values),
		cmocka_unit_test_setup_teardown(test_pieces, begin, end),
		cmocka_unit_test_setup_teardown(test_bad, begin, end),
		cmocka_unit_test_setup_teardown(test_long, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
