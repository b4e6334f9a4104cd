// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Strings: lists of them, each kept once, and what filters make of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/filter_strings.h"
#include "lists.h"
#include "ops/build.h"
#include "random.h"
#include "util/lines.h"

#define N_STRINGS 3000

struct problems {
	u32 n;
	u64 line;
	char text[80];
	char reason[80];
};

static void note(void *data, const struct baleen_list_problem *problem)
{
	struct problems *problems = data;

	problems->n++;
	problems->line = problem->line;
	snprintf(problems->text, sizeof(problems->text), "%s", problem->text);
	snprintf(problems->reason, sizeof(problems->reason), "%s", problem->reason);
}

static void read_bytes(struct baleen_list *list, const void *bytes, size_t n_bytes, bool nul,
		       struct problems *problems)
{
	const struct baleen_list_reader reader = { .on_bad = note,
						   .data = problems,
						   .ends_with_nul = nul };
	int fd = open_bytes(bytes, n_bytes);

	list->key_spec = BALEEN_KEY_STRING;
	assert_int_equal(baleen_list_read(list, fd, "test", &reader, NULL), 0);
	close(fd);
}

static bool is_string(struct baleen_string string, const void *bytes, size_t n_bytes)
{
	return string.n_bytes == n_bytes && !memcmp(string.bytes, bytes, n_bytes);
}

/* A slow look for a string among those of a list. */
static bool has_string(const struct baleen_strings *strings, const void *bytes, size_t n_bytes)
{
	struct baleen_string string;
	size_t at = 0;

	while (baleen_strings_next(strings, &at, &string))
		if (is_string(string, bytes, n_bytes))
			return true;
	return false;
}

static void check_list(const char *bytes, size_t n_bytes, bool nul, const char *const *want,
		       u64 n_want, u64 n_lines)
{
	struct problems problems = { 0 };
	struct baleen_list list = { 0 };
	struct baleen_string string;
	size_t at = 0;

	read_bytes(&list, bytes, n_bytes, nul, &problems);
	assert_int_equal(problems.n, 0);
	assert_int_equal(list.strings.n, n_want);
	assert_int_equal(list.n_listed, n_want);
	assert_int_equal(list.n_lines, n_lines);
	for (u64 i = 0; i < n_want; i++) {
		assert_true(baleen_strings_next(&list.strings, &at, &string));
		assert_true(is_string(string, want[i], strlen(want[i])));
	}
	assert_false(baleen_strings_next(&list.strings, &at, &string));
	baleen_list_free(&list);
}

#define CHECK_LIST(bytes, nul, n_lines, ...)                                                  \
	do {                                                                                  \
		const char *const want[] = { __VA_ARGS__ };                                   \
		check_list(bytes, sizeof(bytes) - 1, nul, want, sizeof(want) / sizeof(*want), \
			   n_lines);                                                          \
	} while (0)

/* --- lists ------------------------------------------------------------------ */

static void test_lines(void **state)
{
	CHECK_LIST("one\ntwo\n", false, 2, "one", "two");
	CHECK_LIST("one\ntwo", false, 2, "one", "two");
	CHECK_LIST("http://a/#b\n;c\n#d\n", false, 3, "http://a/#b", ";c", "#d");
	CHECK_LIST(" a b \n\tc\n!d\n192.0.2.0/24\n", false, 4, " a b ", "\tc", "!d",
		   "192.0.2.0/24");
	CHECK_LIST("\r\na\r\n\nb\r\r\nc\rd\n\n", false, 6, "a", "b\r", "c\rd");
	CHECK_LIST("\xef\xbb\xbf"
		   "a\n\xff\xfe\x01\n",
		   false, 2,
		   "\xef\xbb\xbf"
		   "a",
		   "\xff\xfe\x01");
	CHECK_LIST("a\nb\0c\r\n\0\0d", true, 4, "a\nb", "c\r\n", "d");
}

static void test_nothing(void **state)
{
	check_list("", 0, false, NULL, 0, 0);
	check_list("\n\r\n", 3, false, NULL, 0, 2);
	check_list("\0", 1, true, NULL, 0, 1);
}

static void test_nul_in_line(void **state)
{
	struct problems problems = { 0 };
	struct baleen_list list = { 0 };

	read_bytes(&list, "a\0b\nc\n", 6, false, &problems);
	assert_int_equal(list.strings.n, 2);
	assert_true(has_string(&list.strings, "a\0b", 3));
	assert_false(has_string(&list.strings, "a", 1));
	baleen_list_free(&list);
}

/* The longest line that is one, and one that is a byte longer. */
static void test_long(void **state)
{
	size_t n_bytes = 2 * BALEEN_LINE_MAX + 13;
	char *bytes = malloc(n_bytes);
	struct problems problems = { 0 };
	struct baleen_list list = { 0 };

	assert_non_null(bytes);
	memset(bytes, 'x', n_bytes);
	memcpy(bytes, "first\n", 6);
	bytes[6 + BALEEN_LINE_MAX] = '\n';
	memcpy(bytes + n_bytes - 6, "\nlast\n", 6);
	read_bytes(&list, bytes, n_bytes, false, &problems);
	assert_int_equal(problems.n, 0);
	assert_int_equal(list.strings.n, 4);
	assert_true(has_string(&list.strings, bytes + 6, BALEEN_LINE_MAX));
	baleen_list_free(&list);

	bytes[6 + BALEEN_LINE_MAX] = 'x';
	read_bytes(&list, bytes, n_bytes, false, &problems);
	assert_int_equal(problems.n, 1);
	assert_int_equal(problems.line, 2);
	assert_string_equal(problems.reason, "line longer than 1 MiB");
	assert_int_equal(strlen(problems.text), 67);
	assert_int_equal(list.n_bad, 1);
	assert_int_equal(list.n_lines, 3);
	assert_int_equal(list.strings.n, 2);
	assert_true(has_string(&list.strings, "last", 4));
	baleen_list_free(&list);
	free(bytes);
}

/* Lines of all lengths, also such as fill the buffer of the reader exactly. */
static void test_lengths(void **state)
{
	static const size_t lengths[] = { 1,	 2,	 127,	 128,	 129,	 16383,
					  16384, 65535,	 262143, 262144, 262145, 524287,
					  1000,	 524288, 5,	 100000, 3,	 262144 };
	struct problems problems = { 0 };
	struct baleen_list list = { 0 };
	size_t n_bytes = 0, at = 0, i = 0;
	struct baleen_string string;
	char *bytes = malloc(3 << 20);

	assert_non_null(bytes);
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		memset(bytes + n_bytes, 'a' + i, lengths[i]);
		n_bytes += lengths[i];
		bytes[n_bytes++] = '\n';
	}
	read_bytes(&list, bytes, n_bytes, false, &problems);
	for (i = 0; baleen_strings_next(&list.strings, &at, &string); i++) {
		assert_int_equal(string.n_bytes, lengths[i]);
		assert_int_equal(string.bytes[0], 'a' + i);
		assert_int_equal(string.bytes[lengths[i] - 1], 'a' + i);
	}
	assert_int_equal(i, sizeof(lengths) / sizeof(*lengths));
	assert_int_equal(problems.n, 0);
	baleen_list_free(&list);
	free(bytes);
}

/* --- each only once ---------------------------------------------------------- */

/* Few lengths and few letters, so that many are there already. */
static size_t random_string(struct random *random, u8 *bytes)
{
	size_t n_bytes = 1 + random_below(random, 7);

	for (size_t i = 0; i < n_bytes; i++)
		bytes[i] = random_below(random, 4) * 85;
	return n_bytes;
}

static void test_unique(void **state)
{
	struct random random = random_from(11);
	struct baleen_list list = { .key_spec = BALEEN_KEY_STRING };
	struct baleen_strings want = { 0 };
	struct baleen_string a, b;
	size_t at = 0, at_want = 0;
	u8 bytes[8];

	for (u32 i = 0; i < N_STRINGS; i++) {
		size_t n_bytes = random_string(&random, bytes);

		assert_int_equal(baleen_strings_add(&list.strings, bytes, n_bytes), 0);
		if (!has_string(&want, bytes, n_bytes))
			assert_int_equal(baleen_strings_add(&want, bytes, n_bytes), 0);
	}
	list.n_listed = N_STRINGS;
	assert_true(want.n < N_STRINGS);
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_int_equal(list.strings.n, want.n);
	assert_int_equal(list.n_covered, N_STRINGS - want.n);
	while (baleen_strings_next(&want, &at_want, &a)) {
		assert_true(baleen_strings_next(&list.strings, &at, &b));
		assert_true(is_string(a, b.bytes, b.n_bytes));
	}
	assert_false(baleen_strings_next(&list.strings, &at, &b));
	baleen_strings_free(&want);
	baleen_list_free(&list);
}

static void test_unique_nothing(void **state)
{
	struct baleen_strings strings = { 0 };

	assert_int_equal(baleen_strings_unique(&strings), 0);
	assert_int_equal(strings.n, 0);
	assert_int_equal(baleen_strings_add(&strings, "", 0), 0);
	assert_int_equal(baleen_strings_add(&strings, "a", 1), 0);
	assert_int_equal(baleen_strings_add(&strings, "", 0), 0);
	assert_int_equal(baleen_strings_unique(&strings), 0);
	assert_int_equal(strings.n, 2);
	baleen_strings_free(&strings);
}

/* --- filters ----------------------------------------------------------------- */

static void make_list(struct baleen_list *list, u32 n)
{
	char line[32];
	const char *reason;

	list->key_spec = BALEEN_KEY_STRING;
	for (u32 i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "http://%u.example/%u", i % 7, i);
		assert_int_equal(baleen_list_add(list, line, &reason), 0);
	}
	assert_int_equal(baleen_list_finish(list), 0);
}

static bool test_string(const struct baleen_filter *filter, struct baleen_string string)
{
	struct baleen_key key = baleen_string_key(filter, string);

	return baleen_filter_test(filter, &key);
}

static void check_members(const struct baleen_filter *filter, const struct baleen_list *list)
{
	struct baleen_string string;
	size_t at = 0;

	while (baleen_strings_next(&list->strings, &at, &string))
		assert_true(test_string(filter, string));
}

static u32 count_strangers(const struct baleen_filter *filter, u32 n)
{
	char text[32];
	u32 n_in = 0;

	for (u32 i = 0; i < n; i++) {
		int length = snprintf(text, sizeof(text), "https://%u.example/", i);

		n_in += test_string(filter, (struct baleen_string){ (u8 *)text, length });
	}
	return n_in;
}

static void check_kind(u32 kind, u32 hash, u32 most_strangers)
{
	const struct baleen_build_options options = {
		.key_spec = BALEEN_KEY_STRING, .kind = kind, .shape.hash = hash, .fpp = 0.01
	};
	struct baleen_list list = { 0 };
	struct baleen_filter filter;

	make_list(&list, N_STRINGS);
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_int_equal(filter.image.key_spec, BALEEN_KEY_STRING);
	assert_int_equal(filter.image.n_listed, N_STRINGS);
	check_members(&filter, &list);
	assert_true(count_strangers(&filter, N_STRINGS) <= most_strangers);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* Of 3,000 at 1 % 30 are expected; past 60 is beyond five deviations. */
static void test_kinds(void **state)
{
	check_kind(BALEEN_KIND_CUCKOO, 0, 60);
	check_kind(BALEEN_KIND_BLOOM, 0, 60);
	check_kind(BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 60);
	check_kind(BALEEN_KIND_CLASSIC, BALEEN_HASH_MURMUR3, 60);
	check_kind(BALEEN_KIND_COUNTING, BALEEN_HASH_BLOCKED, 60);
	check_kind(BALEEN_KIND_COUNTING, BALEEN_HASH_MURMUR3, 60);
	check_kind(BALEEN_KIND_COUNTING, BALEEN_HASH_MURMUR3_FNV1A, 60);
	check_kind(BALEEN_KIND_QUOTIENT, 0, 60);
}

static void test_resolve(void **state)
{
	const struct baleen_build_options options = { .key_spec = BALEEN_KEY_STRING,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_list list = { 0 };
	struct baleen_filter filter, again;

	make_list(&list, N_STRINGS);
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_int_equal(baleen_list_resolve(&list, &filter), 0);
	assert_int_equal(list.n_key, N_STRINGS);
	for (size_t i = 0; i < list.n_key; i++)
		assert_true(baleen_filter_test(&filter, &list.key[i]));
	/* Strings and keys of one filter count once in another. */
	assert_int_equal(baleen_build(&list, &options, &again, NULL), 0);
	assert_int_equal(again.image.n_entries, N_STRINGS);
	assert_int_equal(baleen_list_resolve(&list, &again), 0);
	assert_int_equal(list.n_key, N_STRINGS);
	for (size_t i = 0; i < list.n_key; i++)
		assert_true(baleen_filter_test(&again, &list.key[i]));
	baleen_filter_free(&again);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void test_refused(void **state)
{
	struct baleen_build_options options = { .key_spec = BALEEN_KEY_SRC,
						.kind = BALEEN_KIND_CUCKOO };
	struct baleen_list strings = { 0 }, addresses = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_filter filter = { .n_bytes = 77 };
	struct baleen_error error;
	const char *reason = "untouched";
	struct baleen_key key;

	make_list(&strings, 3);
	assert_int_equal(baleen_build(&strings, &options, &filter, &error), -EINVAL);
	assert_string_equal(error.text, "the list has strings, not keys");
	assert_int_equal(baleen_list_add(&addresses, "192.0.2.1", &reason), 0);
	assert_int_equal(baleen_list_finish(&addresses), 0);
	options.key_spec = BALEEN_KEY_STRING;
	assert_int_equal(baleen_build(&addresses, &options, &filter, &error), -EINVAL);
	assert_string_equal(error.text, "the list has other keys than the filter");
	assert_int_equal(filter.n_bytes, 77);
	assert_string_equal(reason, "untouched");
	assert_int_equal(baleen_key_parse("a", 1, BALEEN_KEY_STRING, &key, &reason), -EINVAL);
	assert_string_equal(reason, "a string, whose key depends on the filter");
	baleen_list_free(&strings);
	baleen_list_free(&addresses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_nul_in_line),
		cmocka_unit_test(test_long),	cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_unique),	cmocka_unit_test(test_unique_nothing),
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
