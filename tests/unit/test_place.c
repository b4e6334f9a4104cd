// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files in directories that others write to: links, FIFOs, and what belongs to somebody else. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/input.h"
#include "util/output.h"

/* Neither root's nor this test's. */
#define BOB 54321
#define EVE 54322

static char directory[] = "/tmp/baleen-place.XXXXXX";
static struct baleen_error error;

static void make(const char *path, const char *text)
{
	int fd = baleen_output_make(AT_FDCWD, path, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void give(const char *path, uid_t uid)
{
	assert_int_equal(lchown(path, uid, -1), 0);
}

static void link_of(uid_t uid, const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
	give(path, uid);
}

static void assert_text(const char *path, const char *want)
{
	char text[64] = "";
	FILE *file = baleen_input_stream(path, BALEEN_INPUT_TYPED_FILE, &error);

	if (!file)
		fail_msg("%s", error.text);
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	fclose(file);
	assert_string_equal(text, want);
}

static void assert_input(const char *path, enum baleen_input kind, int want)
{
	int fd = baleen_input_open(path, kind, &error);

	if (fd >= 0)
		close(fd);
	assert_int_equal(fd < 0 ? fd : 0, want);
}

static void assert_output(const char *path, enum baleen_output_kind kind, int want)
{
	assert_int_equal(baleen_output_write(path, kind, 0644, "new", 3, &error), want);
}

static int enter(void **state)
{
	return mkdtemp(directory) && !chdir(directory) && !chmod(".", 0777) ? 0 : -1;
}

static int leave(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	return chdir("/") || system(command);
}

/* A FIFO without a writer, a socket, a device: nothing waits, and the error is one line. */
static void is_no_file(void **state)
{
	static const enum baleen_input kinds[] = { BALEEN_INPUT_TYPED_FILE, BALEEN_INPUT_NAMED,
						   BALEEN_INPUT_PART, BALEEN_INPUT_OWN };

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_input("fifo", kinds[i], -EINVAL);
		assert_string_equal(error.text, "fifo: not a regular file");
		assert_input("/dev/zero", kinds[i], -EINVAL);
		assert_input("dir", kinds[i], -EINVAL);
		assert_input("none", kinds[i], -ENOENT);
		assert_string_equal(error.text, "none: No such file or directory");
	}
	assert_output("fifo", BALEEN_OUTPUT_NAMED, -EINVAL);
	assert_output("/dev/null", BALEEN_OUTPUT_NAMED, -EINVAL);
	assert_output("/dev/null", BALEEN_OUTPUT_TYPED, 0);
	assert_int_equal(baleen_output_own("fifo", &error), -EINVAL);
	assert_int_equal(baleen_output_own("dir", &error), -EISDIR);
	assert_int_equal(baleen_input_check("fifo", &error), -EINVAL);
}

/* What a user types may be a pipe. */
static void is_typed(void **state)
{
	char path[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	assert_input(path, BALEEN_INPUT_TYPED, 0);
	assert_input(path, BALEEN_INPUT_NAMED, -EINVAL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	assert_output(path, BALEEN_OUTPUT_TYPED, 0);
	assert_output(path, BALEEN_OUTPUT_NAMED, -EINVAL);
	close(fds[0]);
	close(fds[1]);
	assert_input("/proc/self/status", BALEEN_INPUT_NAMED, 0);
}

/* Links of one's own are followed, also through directories and in chains. */
static void links(void **state)
{
	assert_int_equal(mkdir("real", 0700), 0);
	make("real/file", "old");
	assert_int_equal(symlink("real", "dir"), 0);
	assert_int_equal(symlink("../dir/./file", "real/link"), 0);
	assert_int_equal(symlink("real/link", "link"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("nowhere", "void"), 0);
	assert_input("link", BALEEN_INPUT_NAMED, 0);
	assert_input(".//dir///link", BALEEN_INPUT_NAMED, 0);
	assert_input("dir/file/", BALEEN_INPUT_NAMED, -ENOTDIR);
	assert_input("link", BALEEN_INPUT_PART, -ELOOP);
	assert_input("link", BALEEN_INPUT_OWN, -ELOOP);
	assert_input("dir/file", BALEEN_INPUT_OWN, 0);
	assert_int_equal(baleen_input_check("link", &error), -ELOOP);
	assert_int_equal(baleen_output_own("link", &error), -ELOOP);
	assert_input("loop", BALEEN_INPUT_NAMED, -ELOOP);
	assert_input("void", BALEEN_INPUT_NAMED, -ENOENT);
	assert_output("void", BALEEN_OUTPUT_NAMED, -ENOENT);
	assert_output("link", BALEEN_OUTPUT_NAMED, 0);
	assert_text("real/file", "new");
	assert_input("link", BALEEN_INPUT_NAMED, 0);
}

/* Links of others lead to what is theirs, and nowhere else. */
static void links_of_others(void **state)
{
	if (geteuid()) {
		print_message("only root gives files away\n");
		skip();
	}
	make("secret", "secret");
	make("bobs", "bobs");
	give("bobs", BOB);
	link_of(BOB, "secret", "to-secret");
	link_of(BOB, "bobs", "to-bobs");
	link_of(EVE, "to-bobs", "chain");
	link_of(BOB, ".", "to-dir");
	link_of(BOB, "new", "to-nothing");
	link_of(0, "to-bobs", "roots");
	link_of(BOB, "roots", "back");
	link_of(BOB, "/dev/null", "to-device");
	assert_input("to-secret", BALEEN_INPUT_NAMED, -EPERM);
	assert_string_equal(error.text, "to-secret: a symbolic link of another user's leads to "
					"what is not theirs: not followed");
	assert_input("to-secret", BALEEN_INPUT_TYPED, 0);
	assert_input("chain", BALEEN_INPUT_NAMED, -EPERM);
	assert_input("to-dir/secret", BALEEN_INPUT_NAMED, -EPERM);
	assert_input("to-device", BALEEN_INPUT_NAMED, -EPERM);
	assert_input("to-bobs", BALEEN_INPUT_NAMED, 0);
	assert_input("roots", BALEEN_INPUT_NAMED, 0);
	assert_input("back", BALEEN_INPUT_NAMED, 0);
	assert_input("bobs", BALEEN_INPUT_NAMED, 0);
	assert_input("bobs", BALEEN_INPUT_PART, 0);
	assert_input("bobs", BALEEN_INPUT_OWN, -EPERM);
	assert_int_equal(baleen_output_own("bobs", &error), -EPERM);
	assert_output("to-secret", BALEEN_OUTPUT_NAMED, -EPERM);
	assert_output("to-secret", BALEEN_OUTPUT_TYPED, -EPERM);
	assert_output("to-dir/secret", BALEEN_OUTPUT_TYPED, -EPERM);
	assert_output("to-device", BALEEN_OUTPUT_TYPED, -EPERM);
	assert_output("to-nothing", BALEEN_OUTPUT_TYPED, -ENOENT);
	assert_text("secret", "secret");
	assert_int_equal(access("new", F_OK), -1);
	assert_output("to-bobs", BALEEN_OUTPUT_NAMED, 0);
	assert_text("bobs", "new");
	assert_int_equal(mkfifo("fifo", 0666), 0);
	give("fifo", BOB);
	assert_output("fifo", BALEEN_OUTPUT_TYPED, -EPERM);
	assert_output("fifo", BALEEN_OUTPUT_NAMED, -EINVAL);
}

/* Somebody prepares the name that a new file has meanwhile. */
static void prepared(void **state)
{
	make("file", "old");
	make("victim", "safe");
	assert_int_equal(symlink("victim", ".file.baleen-new"), 0);
	assert_output("file", BALEEN_OUTPUT_NAMED, 0);
	assert_text("file", "new");
	assert_text("victim", "safe");
	assert_int_equal(link("file", "other"), 0);
	assert_int_equal(baleen_output_write("file", BALEEN_OUTPUT_NAMED, 0600, "3rd", 3, &error),
			 0);
	assert_text("other", "new");
	assert_int_equal(baleen_output_make(AT_FDCWD, "file", 0600), -EEXIST);
	assert_int_equal(symlink("nowhere", "void"), 0);
	assert_int_equal(baleen_output_make(AT_FDCWD, "void", 0600), -EEXIST);
}

/* A name that becomes something else after it was looked at. */
static void changed_meanwhile(void **state)
{
	struct baleen_place place;

	make("file", "old");
	assert_int_equal(baleen_place_find(AT_FDCWD, "file", true, &place), 0);
	assert_int_equal(rename("file", "aside"), 0);
	assert_int_equal(mkfifo("file", 0600), 0);
	assert_int_equal(baleen_place_open(&place, O_RDONLY | O_NONBLOCK), -ESTALE);
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(symlink("aside", "file"), 0);
	assert_int_equal(baleen_place_open(&place, O_RDONLY | O_NONBLOCK), -ELOOP);
	baleen_place_close(&place);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_no_file),      TEST(is_typed), TEST(links),
		TEST(links_of_others), TEST(prepared), TEST(changed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
