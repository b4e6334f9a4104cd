// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files: images refused and read, outputs written whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/image_file.h"
#include "util/output.h"
#include "tables.h"

#define POISON 0xa5
#define FILE_BYTES 200000

/* Each test has an empty directory of its own as working directory. */
static char directory[] = "/tmp/baleen-unit.XXXXXX";

static int enter_directory(void **state)
{
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	umask(022);
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int leave_directory(void **state)
{
	DIR *dir = opendir(".");
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (unlinkat(dirfd(dir), entry->d_name, 0))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
	return chdir("/") || rmdir(directory);
}

static u32 count_files(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	u32 n = 0;

	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return n;
}

/* --- reading -------------------------------------------------------------- */

static int open_bytes(const void *bytes, size_t n_bytes)
{
	int fd = open("image", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct baleen_filter make_filter(struct random *random)
{
	struct baleen_table table = cuckoo_table(32, 1000);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, random);

	for (u32 i = 0; i < 3000; i++) {
		struct baleen_key key = random_key(random, BALEEN_IP4);

		assert_int_equal(insert_one(&filter, &key), 0);
	}
	assert_sealed(&filter);
	return filter;
}

/* Closes @fd. */
static void assert_read_refused(int fd, int code, const char *text)
{
	struct baleen_filter filter, poison;
	struct baleen_error error = { "" };

	memset(&filter, POISON, sizeof(filter));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_image_file_read(fd, "x.bln", &filter, &error), -code);
	assert_memory_equal(&filter, &poison, sizeof(filter));
	assert_string_equal(error.text, text);
	if (fd >= 0)
		close(fd);
}

static void assert_bytes_refused(const void *bytes, size_t n_bytes, const char *text)
{
	assert_read_refused(open_bytes(bytes, n_bytes), EINVAL, text);
}

static void test_read_refused_live(void **state)
{
	struct random random = random_from(31);
	struct baleen_filter filter = make_filter(&random);

	filter.image.flags = BALEEN_FLAG_LIVE;
	filter.image.body_crc = 0;
	filter.image.n_entries = filter.image.table[BALEEN_IP4].n_entries = 0;
	baleen_header_write(&filter.image, filter.bytes);
	assert_bytes_refused(filter.bytes, filter.n_bytes,
			     "x.bln: the bytes of a live map: no counts, no checksum");
	baleen_filter_free(&filter);
}

static void test_read_refused_kind(void **state)
{
	int pipe_fds[2];

	assert_read_refused(-1, EBADF, "x.bln: Bad file descriptor");
	assert_read_refused(open(".", O_RDONLY), EINVAL, "x.bln: not a regular file");
	assert_read_refused(open("/dev/zero", O_RDONLY), EINVAL, "x.bln: not a regular file");
	assert_int_equal(pipe(pipe_fds), 0);
	assert_read_refused(pipe_fds[0], EINVAL, "x.bln: not a regular file");
	close(pipe_fds[1]);
}

static void test_read_refused_bytes(void **state)
{
	struct random random = random_from(1);
	struct baleen_filter filter = make_filter(&random);
	size_t n = filter.n_bytes;
	u8 *bytes = calloc(1, n + BALEEN_BLOCK_BYTES);

	memcpy(bytes, filter.bytes, n);
	assert_bytes_refused(bytes, 0, "x.bln: shorter than a header");
	assert_bytes_refused(bytes, 1, "x.bln: shorter than a header");
	assert_bytes_refused(bytes, 511, "x.bln: shorter than a header");
	assert_bytes_refused(bytes, 512, "x.bln: truncated");
	assert_bytes_refused(bytes, n - BALEEN_BLOCK_BYTES, "x.bln: truncated");
	assert_bytes_refused(bytes, n - 1, "x.bln: truncated");
	assert_bytes_refused(bytes, n + 1, "x.bln: longer than its header says");
	assert_bytes_refused(bytes, n + BALEEN_BLOCK_BYTES, "x.bln: longer than its header says");
	bytes[0] ^= 1;
	assert_bytes_refused(bytes, n, "x.bln: not a Baleen image");
	bytes[0] ^= 1;
	bytes[100] ^= 1;
	assert_bytes_refused(bytes, n, "x.bln: header checksum does not match: damaged");
	bytes[100] ^= 1;
	bytes[n - 1] ^= 0x80;
	assert_bytes_refused(bytes, n, "x.bln: body checksum does not match: damaged");
	free(bytes);
	baleen_filter_free(&filter);
}

static void test_read_refused_access(void **state)
{
	struct random random = random_from(2);
	struct baleen_filter filter = make_filter(&random);

	close(open_bytes(filter.bytes, filter.n_bytes));
	assert_read_refused(open("image", O_WRONLY), EBADF, "x.bln: Bad file descriptor");
	baleen_filter_free(&filter);
}

/* A header may say 16 GiB: without the file for it nothing is allocated. */
static void test_read_refused_large(void **state)
{
	struct baleen_image image = { .n_blocks = BALEEN_MAX_BLOCKS, .key_spec = BALEEN_KEY_SRC };
	u8 bytes[BALEEN_HEADER_BYTES];
	struct rusage before, after;

	baleen_header_write(&image, bytes);
	getrusage(RUSAGE_SELF, &before);
	assert_bytes_refused(bytes, sizeof(bytes), "x.bln: truncated");
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 1 << 16);
}

static void test_read(void **state)
{
	struct random random = random_from(3);
	struct baleen_filter filter = make_filter(&random), read;
	struct baleen_error error = { "untouched" };
	int fd = open_bytes(filter.bytes, filter.n_bytes);

	memset(&read, POISON, sizeof(read));
	assert_int_equal(baleen_image_file_read(fd, "x.bln", &read, &error), 0);
	assert_string_equal(error.text, "untouched");
	assert_memory_equal(&read.image, &filter.image, sizeof(read.image));
	assert_int_equal(read.n_bytes, filter.n_bytes);
	assert_memory_equal(read.bytes, filter.bytes, filter.n_bytes);
	assert_int_equal((uintptr_t)read.bytes % BALEEN_BLOCK_BYTES, 0);
	assert_false(read.is_mapped);
	close(fd);
	baleen_filter_free(&read);
	baleen_filter_free(&filter);
}

static void assert_is(const void *bytes, size_t n_bytes, bool want)
{
	int fd = open_bytes(bytes, n_bytes);

	assert_int_equal(baleen_image_file_is(fd), want);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

static void test_is(void **state)
{
	char magic[] = BALEEN_MAGIC " and more";
	int pipe_fds[2];

	assert_is("", 0, false);
	assert_is("10.0.0.1\n10.0.0.2\n", 18, false);
	assert_is("# BALEEN\n", 9, false);
	assert_is("\0\0\0\0\0\0\0\0\0\0", 10, false);
	assert_is(magic, sizeof(magic), true);
	/* Damaged or cut short it is a bad image, never a list. */
	for (size_t n = 1; n <= 8; n++)
		assert_is(magic, n, true);
	for (u32 i = 0; i < 8; i++) {
		magic[i] ^= 0x10;
		assert_is(magic, sizeof(magic), true);
		magic[i] ^= 0x10;
	}
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(write(pipe_fds[1], magic, sizeof(magic)), sizeof(magic));
	assert_false(baleen_image_file_is(pipe_fds[0]));
	/* Nothing was taken out of it. */
	assert_int_equal(read(pipe_fds[0], magic, sizeof(magic)), sizeof(magic));
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_false(baleen_image_file_is(-1));
}

/* --- writing -------------------------------------------------------------- */

static u8 *make_bytes(u8 value)
{
	u8 *bytes = malloc(FILE_BYTES);

	memset(bytes, value, FILE_BYTES);
	return bytes;
}

static void write_value(const char *path, u8 value, size_t n_bytes, unsigned int mode)
{
	u8 *bytes = make_bytes(value);
	struct baleen_error error;

	if (baleen_output_write(path, BALEEN_OUTPUT_TYPED, mode, bytes, n_bytes, &error))
		fail_msg("%s", error.text);
	free(bytes);
}

/* All of @path is @value, FILE_BYTES times; -1 when it is not. */
static int whole_value(const char *path)
{
	u8 *bytes = malloc(FILE_BYTES + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC), value = -1;

	if (fd >= 0 && read(fd, bytes, FILE_BYTES + 1) == FILE_BYTES &&
	    !memcmp(bytes, bytes + 1, FILE_BYTES - 1))
		value = bytes[0];
	if (fd >= 0)
		close(fd);
	free(bytes);
	return value;
}

static unsigned int mode_of(const char *path)
{
	struct stat stat_;

	assert_int_equal(lstat(path, &stat_), 0);
	return stat_.st_mode;
}

static void assert_write_refused(const char *path, int code)
{
	u8 *bytes = make_bytes(2);
	struct baleen_error error = { "" };
	char want[PATH_MAX + 100];

	assert_int_equal(baleen_output_write(path, BALEEN_OUTPUT_TYPED, 0600, bytes, FILE_BYTES,
					     &error),
			 -code);
	snprintf(want, sizeof(want), "%s: %s", path, strerror(code));
	want[sizeof(error.text) - 1] = '\0';
	assert_string_equal(error.text, want);
	assert_int_equal(baleen_output_write(path, BALEEN_OUTPUT_TYPED, 0600, bytes, FILE_BYTES,
					     NULL),
			 -code);
	free(bytes);
}

static void test_write_refused(void **state)
{
	char *long_path = malloc(PATH_MAX + 10);

	memset(long_path, 'x', PATH_MAX + 10);
	long_path[PATH_MAX + 9] = '\0';
	assert_write_refused(long_path, ENAMETOOLONG);
	long_path[300] = '\0';
	assert_write_refused(long_path, ENAMETOOLONG);
	assert_write_refused("", ENOENT);
	assert_write_refused("missing/file", ENOENT);
	assert_write_refused(".", EISDIR);
	assert_write_refused("/", EISDIR);
	assert_write_refused("/dev/full", ENOSPC);
	assert_int_equal(count_files(), 0);
	write_value("file", 1, FILE_BYTES, 0600);
	assert_write_refused("file/file", ENOTDIR);
	assert_int_equal(whole_value("file"), 1);
	assert_int_equal(count_files(), 1);
	free(long_path);
}

static void test_write_refused_links(void **state)
{
	char target[32] = "";

	assert_int_equal(symlink("loop", "loop"), 0);
	assert_write_refused("loop", ELOOP);
	assert_int_equal(symlink("nowhere", "void"), 0);
	assert_write_refused("void", ENOENT);
	assert_int_equal(readlink("void", target, sizeof(target)), 7);
	assert_string_equal(target, "nowhere");
	assert_int_equal(count_files(), 2);
}

/* The disk is full in the middle: the old file stays, nothing else does. */
static void test_write_fails_midway(void **state)
{
	struct rlimit unlimited, limit;
	u8 *bytes = make_bytes(2);
	int err, err_new;

	write_value("old", 1, FILE_BYTES, 0640);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	limit = (struct rlimit){ .rlim_cur = FILE_BYTES / 2, .rlim_max = unlimited.rlim_max };
	setrlimit(RLIMIT_FSIZE, &limit);
	err = baleen_output_write("old", BALEEN_OUTPUT_TYPED, 0600, bytes, FILE_BYTES, NULL);
	err_new = baleen_output_write("new", BALEEN_OUTPUT_TYPED, 0600, bytes, FILE_BYTES, NULL);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(err_new, -EFBIG);
	assert_int_equal(whole_value("old"), 1);
	assert_int_equal(mode_of("old"), S_IFREG | 0640);
	assert_int_equal(count_files(), 1);
	free(bytes);
}

static void test_write_mode(void **state)
{
	umask(0);
	write_value("open", 1, FILE_BYTES, 0600);
	umask(0777);
	write_value("closed", 1, FILE_BYTES, 0644);
	umask(022);
	assert_int_equal(mode_of("open"), S_IFREG | 0600);
	assert_int_equal(mode_of("closed"), S_IFREG | 0644);
	/* A replaced file gets the mode asked for, not the one it had. */
	assert_int_equal(chmod("open", 0666), 0);
	write_value("open", 2, FILE_BYTES, 0600);
	assert_int_equal(mode_of("open"), S_IFREG | 0600);
	assert_int_equal(count_files(), 2);
}

/* Who has the old file open goes on reading the old file. */
static void test_write_replaces(void **state)
{
	u8 byte = 0;
	int fd;

	write_value("file", 1, FILE_BYTES, 0600);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	write_value("file", 2, FILE_BYTES, 0600);
	assert_int_equal(whole_value("file"), 2);
	assert_int_equal(pread(fd, &byte, 1, FILE_BYTES - 1), 1);
	assert_int_equal(byte, 1);
	close(fd);
	write_value("file", 3, 0, 0600);
	fd = open("file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	assert_int_equal(count_files(), 1);
}

static void test_write_link(void **state)
{
	assert_int_equal(mkdir("sub", 0700), 0);
	write_value("sub/target", 1, FILE_BYTES, 0600);
	assert_int_equal(symlink("sub/target", "first"), 0);
	assert_int_equal(symlink("first", "second"), 0);
	write_value("second", 2, FILE_BYTES, 0600);
	assert_true(S_ISLNK(mode_of("first")) && S_ISLNK(mode_of("second")));
	assert_true(S_ISREG(mode_of("sub/target")));
	assert_int_equal(whole_value("sub/target"), 2);
	assert_int_equal(count_files(), 3);
	assert_int_equal(unlink("sub/target"), 0);
	assert_int_equal(rmdir("sub"), 0);
}

/* What is no regular file is written to, not replaced. */
static void test_write_in_place(void **state)
{
	char path[64];
	u8 bytes[4] = { 0 };
	int fds[2];

	write_value("/dev/null", 1, FILE_BYTES, 0600);
	assert_true(S_ISCHR(mode_of("/dev/null")));
	assert_int_equal(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	write_value(path, 7, sizeof(bytes), 0600);
	assert_int_equal(read(fds[0], bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(bytes[3], 7);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(count_files(), 0);
}

static void write_often(u8 value)
{
	u8 *bytes = make_bytes(value);
	int err = 0;

	for (u32 round = 0; round < 15 && !err; round++)
		err = baleen_output_write("file", BALEEN_OUTPUT_TYPED, 0600, bytes, FILE_BYTES,
					  NULL);
	_exit(!!err);
}

/* Two writers and a reader: each look shows one of the files, whole. */
static void test_write_together(void **state)
{
	int status, n_running = 2;

	write_value("file", 1, FILE_BYTES, 0600);
	fflush(NULL);
	for (u8 value = 1; value <= 2; value++)
		if (!fork())
			write_often(value);
	while (n_running) {
		int value = whole_value("file");

		assert_true(value == 1 || value == 2);
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			n_running--;
		}
	}
	assert_int_equal(count_files(), 1);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(test_read_refused_live),
		IN_DIRECTORY(test_read_refused_kind),
		IN_DIRECTORY(test_read_refused_bytes),
		IN_DIRECTORY(test_read_refused_access),
		IN_DIRECTORY(test_read_refused_large),
		IN_DIRECTORY(test_read),
		IN_DIRECTORY(test_is),
		IN_DIRECTORY(test_write_refused),
		IN_DIRECTORY(test_write_refused_links),
		IN_DIRECTORY(test_write_fails_midway),
		IN_DIRECTORY(test_write_mode),
		IN_DIRECTORY(test_write_replaces),
		IN_DIRECTORY(test_write_link),
		IN_DIRECTORY(test_write_in_place),
		IN_DIRECTORY(test_write_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
