// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JSON as a list: what is refused, and what paths and conditions find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "list/csv_table.h"
#include "list/list_format.h"
#include "lists.h"

struct read {
	const char *text;
	const char *path;
	const char *where;
	const char *list; /* or the message */
};

static int read_json(const struct read *read, bool is_private, char *list, size_t bytes)
{
	struct baleen_csv_options options = { .column = read->path, .is_private = is_private };
	int fd = open_bytes(read->text, strlen(read->text)), out = -7, err;
	struct baleen_csv_counts counts = { 77, 77 };
	struct baleen_error error = { "" };
	ssize_t n;

	if (read->where)
		assert_int_equal(baleen_csv_parse_where(&options, read->where, NULL), 0);
	err = baleen_csv_read(fd, "f", &options, &counts, &out, &error);
	close(fd);
	if (err) {
		assert_int_equal(out, -7);
		assert_int_equal(counts.n_rows, 77);
		snprintf(list, bytes, "%s", error.text);
		return err;
	}
	n = pread(out, list, bytes - 1, 0);
	assert_in_range(n, 0, bytes - 1);
	list[n] = '\0';
	close(out);
	return 0;
}

static void check_read(const struct read *read, int want)
{
	char list[2048];
	int err = read_json(read, false, list, sizeof(list));

	if (err != want || strcmp(list, read->list))
		fail_msg("'%s' by %s: %d\n%s\nwant:\n%s", read->text, read->path, err, list,
			 read->list);
}

static void test_refused(void **state)
{
	static const struct read reads[] = {
		{ "[1", ".[]", NULL, "f:1: not JSON: ']' expected near end of file" },
		{ "{}\n{\"a\": x}", ".a", NULL, "f:2: not JSON: invalid token near 'x'" },
		{ "{\"a\":\"1\",\"a\":\"2\"}", ".a", NULL,
		  "f:1: not JSON: duplicate object key near '\"a\"'" },
		{ "{\"a\": [\"x\"]}", ".b[]", NULL, "f: nothing at .b[]" },
		{ "{\"a\": [\"x\"]}", ".a[],.b", NULL, "f: nothing at .b" },
		{ "", ".a", NULL, "f: nothing at .a" },
		{ "{\"a\": null}", ".a", NULL, "f: nothing at .a" },
		{ "{\"a\": [\"x\", 1]}", ".a[]", NULL, "f:1: .a[]: a value is no string" },
		{ "{\"a\": \"x\"}", ".a[]", NULL, "f:1: .a[]: [] stands for no array or object" },
		{ "[\"x\"]", ".[].a,.[]", NULL, "f:1: .[].a: a member of what is no object" },
		{ "\n\n[\"x\"]", ".a", NULL, "f:3: .a: a member of what is no object" },
		{ "{\"a\": \"x\", \"b\": 1}", ".a", "c=1",
		  "f: no member 'c' beside or around a key" },
	};
	static const struct read secret = { "[\"192.0.2.1", ".[]", NULL, NULL };
	char text[256];

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], -EINVAL);
	assert_int_equal(read_json(&secret, true, text, sizeof(text)), -EINVAL);
	assert_string_equal(text, "f:1: not JSON");
}

static void test_refused_paths(void **state)
{
	static const char *const paths[] = {
		".",
		"..a",
		".a.",
		".a[",
		".a[0]",
		".a[]b",
		".a,",
		".a,b",
		"[]",
		".a\"b",
		".a.b.c.d.e.f.g.h.i.j.k.l.m",
		".a,.a,.a,.a,.a,.a,.a,.a,.a",
	};
	struct baleen_csv_options options = { 0 };
	struct baleen_error error;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		/* what begins with no dot is the name of a column */
		if (*paths[i] == '.')
			assert_int_equal(baleen_csv_parse_column(&options, paths[i], &error),
					 -EINVAL);
	assert_null(options.column);
	assert_int_equal(baleen_csv_parse_column(&options, "@nix", &error), -EINVAL);
	assert_memory_equal(error.text, "no format 'nix': there are abuseipdb, atlassian, aws", 50);
	assert_null(options.column);
}

static void test_found(void **state)
{
	static const struct read reads[] = {
		{ "[\"a\",\"b\"]", ".[]", NULL, "a\nb\n" },
		{ "\xef\xbb\xbf{\"x\": \"a\"}", ".x", NULL, "a\n" },
		{ "{\"x\": {\"k\": [\"a\"], \"l\": [\"b\", \"c\"]}}", ".x[][]", NULL, "a\nb\nc\n" },
		{ "{\"x\": [{\"v\": \"a\"}, {\"w\": \"b\"}, {\"v\": null}, {\"v\": \"c\"}]}",
		  ".x[].v", NULL, "a\nc\n" },
		{ "{\"x\": [{\"v\": \"a\", \"w\": \"b\"}]}", ".x[].w,.x[].v", NULL, "b\na\n" },
		/* an empty array is an answer */
		{ "{\"x\": []}", ".x[]", NULL, "" },
		/* a line each: the line of the list is that of the file */
		{ "{\"x\": \"a\"}\n\n{\"y\": 1}\n{\"x\": \"b\"}\n", ".x", NULL, "a\n\n\nb\n" },
		/* two in a line push the others on */
		{ "[\"a\", \"b\"]\n[\"c\"]", ".[]", NULL, "a\nb\nc\n" },
		{ "{\"v\": \"a\", \"n\": 1}{\"v\": \"b\", \"n\": 2}", ".v", "n=2", "b\n" },
		{ "{\"v\": \"a\", \"n\": true}", ".v", "n=TRUE", "a\n" },
		{ "[{\"n\": \"x\", \"p\": {\"a\": [\"1\"]}}, {\"n\": \"y\", \"p\": {\"a\": [\"2\"]}}]",
		  ".[].p.a[]", "n=y", "2\n" },
		/* the closest object with the member */
		{ "{\"n\": \"x\", \"l\": [{\"n\": \"y\", \"v\": \"1\"}, {\"v\": \"2\"}]}", ".l[].v",
		  "n=x", "2\n" },
		/* what is no entry is a bad line of the list */
		{ "[\"192.0.2.1 # x\", \"\", \"create\"]", ".[]", NULL,
		  "\"192.0.2.1???x\"\n\"\"\n\"create\"\n" },
	};

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		check_read(&reads[i], 0);
}

static void test_formats(void **state)
{
	static const struct read aws = {
		"{\"prefixes\": [{\"ip_prefix\": \"a\"}], \"ipv6_prefixes\": []}", "@aws", NULL,
		"a\n"
	};
	struct baleen_csv_options options = { .column = "@dshield", .delimiter = ';' }, resolved;

	check_read(&aws, 0);
	assert_int_equal(baleen_list_format_resolve(&options, &resolved, NULL), 0);
	assert_string_equal(resolved.column, "1-2");
	assert_int_equal(resolved.delimiter, ';');
	options = (struct baleen_csv_options){ .column = "@nix" };
	assert_int_equal(baleen_list_format_resolve(&options, &resolved, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_paths),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
