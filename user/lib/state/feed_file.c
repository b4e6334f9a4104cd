// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Feeds as files: copied, and compared. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/feed_file.h"
#include "util/fd.h"
#include "util/fetch.h"
#include "util/input.h"
#include "util/write_file.h"

static int copy_bytes(int from, int to, const char *path, struct baleen_error *error)
{
	char bytes[65536];
	u64 n_bytes = 0;
	ssize_t n;
	int err;

	while ((n = read(from, bytes, sizeof(bytes))) > 0) {
		n_bytes += n;
		if (n_bytes > BALEEN_FETCH_MAX_BYTES)
			return baleen_fail(error, EFBIG, "%s: larger than %llu MB", path,
					   BALEEN_FETCH_MAX_BYTES >> 20);
		err = baleen_write_all(to, bytes, n);
		if (err)
			return baleen_fail(error, -err, "%s: cannot copy it: %s", path,
					   strerror(-err));
	}
	if (n < 0)
		return baleen_fail(error, errno, "%s: %m", path);
	return 0;
}

/* May everybody read this file, and go through the directories above it? A link of somebody
 * else's may lead to one of root's.
 */
static bool is_public(int fd, const struct stat *file)
{
	char link[32], path[PATH_MAX];
	struct stat directory;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || *path != '/' || !(file->st_mode & S_IROTH))
		return false;
	while (n > 1) {
		while (path[n - 1] != '/')
			n--;
		path[n] = '\0';
		if (stat(path, &directory) || !(directory.st_mode & S_IXOTH))
			return false;
		n--;
	}
	return true;
}

int baleen_feed_copy_file(const char *path, bool *is_for_all, struct baleen_error *error)
{
	int from = baleen_input_open(path, BALEEN_INPUT_NAMED, error), to = -1, err;
	struct stat file;

	if (from < 0)
		return from;
	if ((to = memfd_create("baleen-feed", MFD_CLOEXEC)) < 0)
		err = baleen_fail(error, errno, "%s: memfd: %m", path);
	else
		err = copy_bytes(from, to, path, error);
	if (!err)
		*is_for_all = !fstat(from, &file) && is_public(from, &file);
	baleen_close_fd(&from);
	if (err && to >= 0)
		close(to);
	return err ? err : to;
}

/**
 * struct wanted_copy - a copy that any rule of the device may have
 * @name: its source
 * @feed: the feed; no id when there is none
 */
struct wanted_copy {
	const char *name;
	struct baleen_feed feed;
};

static int look_for_copy(const struct baleen_feed *feed, void *data)
{
	struct wanted_copy *copy = data;

	if (strcmp(feed->wanted.source, copy->name) || !baleen_feed_has_copy(feed))
		return 0;
	copy->feed = *feed;
	return 1;
}

int baleen_feed_copy_open(const struct baleen_rule_store *state, const char *name,
			  struct baleen_error *error)
{
	struct wanted_copy copy = { .name = name };
	int err = state ? baleen_feeds_each(state, NULL, look_for_copy, &copy, error) : 0;

	if (err < 0)
		return err;
	if (!copy.feed.id)
		return baleen_fail(error, ENOENT, "%s: the device has no such copy", name);
	return baleen_feed_open(state, &copy.feed, error);
}

bool baleen_feed_is_same_file(int a, int b)
{
	char bytes_a[16384], bytes_b[sizeof(bytes_a)];
	struct stat stat_a, stat_b;
	off_t at = 0;

	if (fstat(a, &stat_a) || fstat(b, &stat_b) || stat_a.st_size != stat_b.st_size)
		return false;
	while (at < stat_a.st_size) {
		ssize_t n = pread(a, bytes_a, sizeof(bytes_a), at);

		if (n <= 0 || pread(b, bytes_b, n, at) != n || memcmp(bytes_a, bytes_b, n))
			return false;
		at += n;
	}
	return true;
}
