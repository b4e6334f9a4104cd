// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The library's side of /dev/baleen, as far as it needs no module. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kmod/kmod.h"

#define POISON 0x5a

static const struct baleen_error poisoned = { .text = "untouched" };

static void test_names(void **state)
{
	char longest[BALEEN_DEV_NAME_BYTES + 1];
	static const char *const good[] = { "a", "drop", "a b=c/d", "..", "~", "kmod:x" };
	static const char *const bad[] = { "", "\n", "a\tb", "\x7f", "\xc3\xa9" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(baleen_kmod_name_check(bad[i]));
	memset(longest, 'x', sizeof(longest));
	longest[BALEEN_DEV_NAME_BYTES] = '\0';
	assert_non_null(baleen_kmod_name_check(longest));
	longest[BALEEN_DEV_NAME_BYTES - 1] = '\0';
	assert_null(baleen_kmod_name_check(longest));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_null(baleen_kmod_name_check(good[i]));
}

static void test_target(void **state)
{
	struct baleen_dev_target target = baleen_kmod_target("drop", 7);
	static const u8 zeros[BALEEN_DEV_NAME_BYTES];
	char longest[BALEEN_DEV_NAME_BYTES + 1];

	assert_int_equal(target.ifindex, 7);
	assert_int_equal(target.reserved, 0);
	assert_string_equal((char *)target.name, "drop");
	assert_memory_equal(target.name + 4, zeros, sizeof(zeros) - 4);
	/* One that is too long is cut, never unterminated. */
	memset(longest, 'x', sizeof(longest));
	longest[BALEEN_DEV_NAME_BYTES] = '\0';
	target = baleen_kmod_target(longest, 0);
	assert_int_equal(target.name[BALEEN_DEV_NAME_BYTES - 1], 0);
	assert_int_equal(strlen((char *)target.name), BALEEN_DEV_NAME_BYTES - 1);
}

static void test_explain(void **state)
{
	static const int errors[] = {
		EBADF,	EBADMSG, EBUSY,	 EEXIST, EINTR,	     EMSGSIZE, ENODEV,
		ENOENT, ENOMEM,	 ENOSPC, ENOTTY, EOPNOTSUPP, EPERM,    ESTALE
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const char *text = baleen_kmod_explain(-errors[i]);

		assert_true(*text);
		assert_string_not_equal(text, strerror(errors[i]));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(text, baleen_kmod_explain(-errors[j]));
	}
	assert_string_equal(baleen_kmod_explain(-EIO), strerror(EIO));
}

static void test_no_module(void **state)
{
	struct baleen_error error = poisoned;
	int fd = POISON;

	if (!access("/dev/baleen", F_OK))
		skip();
	for (int for_writing = 0; for_writing < 2; for_writing++) {
		assert_int_equal(baleen_kmod_open(for_writing, &fd, &error), -ENODEV);
		assert_int_equal(fd, POISON);
		assert_string_equal(error.text,
				    "the kernel module is not loaded: 'modprobe baleen'");
	}
	assert_int_equal(baleen_kmod_open(false, &fd, NULL), -ENODEV);
}

/* What is no device of the module knows none of its commands. */
static void test_other_file(void **state)
{
	struct baleen_dev_target target = baleen_kmod_target("drop", 0);
	int fd = open("/dev/null", O_RDWR);
	struct baleen_filter filter, before;
	struct baleen_key key = { .domain = BALEEN_IP4 };
	struct baleen_dev_info *infos = NULL;
	struct baleen_error error = poisoned;
	u64 version = POISON;
	size_t n = POISON;
	u8 answer = POISON;

	assert_true(fd >= 0);
	memset(&filter, POISON, sizeof(filter));
	before = filter;
	assert_int_equal(baleen_kmod_read(fd, &target, &filter, &version, &error), -ENOTTY);
	assert_memory_equal(&filter, &before, sizeof(filter));
	assert_int_equal(version, POISON);
	assert_string_equal(error.text, baleen_kmod_explain(-ENOTTY));
	assert_int_equal(baleen_kmod_list(fd, &infos, &n, &error), -ENOTTY);
	assert_null(infos);
	assert_int_equal(n, POISON);
	assert_int_equal(baleen_kmod_destroy(fd, "drop", &error), -ENOTTY);
	assert_int_equal(baleen_kmod_keys(fd, &target, BALEEN_DEV_QUERY, &key, 1, &answer, &n),
			 -ENOTTY);
	assert_int_equal(n, 0);
	assert_int_equal(answer, POISON);
	assert_int_equal(baleen_kmod_keys(fd, &target, BALEEN_DEV_QUERY, &key, 0, &answer, &n), 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	   cmocka_unit_test(test_target),
		cmocka_unit_test(test_explain),	   cmocka_unit_test(test_no_module),
		cmocka_unit_test(test_other_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
