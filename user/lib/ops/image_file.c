// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files: images read whole and checked, outputs replaced atomically. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/image_file.h"
#include "util/write_file.h"

/* Times a file is written again because another writer came in between. */
#define MAX_TRIES 100

/* A page of any file system, or several. */
#define HOLE_BYTES 65536

#define MAGIC_BYTES (sizeof(BALEEN_MAGIC) - 1)

/* Wrong bytes with which a magic is still one, damaged, and not text. */
#define MAX_WRONG_BYTES 2

bool baleen_image_file_is(int fd)
{
	char magic[MAGIC_BYTES];
	ssize_t n = pread(fd, magic, sizeof(magic), 0);
	ssize_t n_wrong = 0;

	for (ssize_t i = 0; i < n; i++)
		n_wrong += magic[i] != BALEEN_MAGIC[i];
	return n > 0 && n_wrong <= (n == MAGIC_BYTES ? MAX_WRONG_BYTES : 0);
}

bool baleen_file_may_replace(const char *path, const char *magic, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char start[16];
	struct stat stat;
	bool may = true;

	if (fd < 0)
		return true;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size)
		may = pread(fd, start, n_bytes, 0) == (ssize_t)n_bytes &&
		      !memcmp(start, magic, n_bytes);
	close(fd);
	return may;
}

static int read_all(int fd, void *bytes, size_t n_bytes)
{
	size_t n = 0;

	while (n < n_bytes) {
		ssize_t got = read(fd, (char *)bytes + n, n_bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -ENODATA;
		n += got;
	}
	return 0;
}

static bool is_zero(const u8 *bytes, size_t n_bytes)
{
	return !*bytes && !memcmp(bytes, bytes + 1, n_bytes - 1);
}

/* Into an empty file. Room for keys to come is left as holes: gigabytes of it
 * need no time and no disk.
 */
static int write_new(int fd, const u8 *bytes, size_t n_bytes)
{
	size_t at = 0, size;
	int err = 0;

	if (ftruncate(fd, n_bytes))
		return -errno;
	for (; at < n_bytes && !err; at += size) {
		size = n_bytes - at < HOLE_BYTES ? n_bytes - at : HOLE_BYTES;
		if (!is_zero(bytes + at, size))
			err = baleen_write_all(fd, bytes + at, size);
		else if (lseek(fd, size, SEEK_CUR) < 0)
			err = -errno;
	}
	return err;
}

int baleen_image_file_read(int fd, const char *name, struct baleen_filter *filter,
			   struct baleen_error *error)
{
	struct baleen_filter read = { 0 };
	const char *reason = "not a regular file";
	u8 header[BALEEN_HEADER_BYTES];
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return baleen_fail(error, errno, "%s: %m", name);
	if (!S_ISREG(stat.st_mode))
		goto bad;
	reason = "shorter than a header";
	if (stat.st_size < BALEEN_HEADER_BYTES)
		goto bad;
	/* The header is checked alone first: a damaged size allocates nothing. */
	err = read_all(fd, header, sizeof(header));
	if (err)
		return baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	if (baleen_header_check(header, stat.st_size, &read.image, &reason))
		goto bad;
	reason = "the bytes of a live map: no counts, no checksum";
	if (read.image.flags & BALEEN_FLAG_LIVE)
		goto bad;
	read.n_bytes = stat.st_size;
	read.bytes = aligned_alloc(BALEEN_BLOCK_BYTES, read.n_bytes);
	if (!read.bytes)
		return baleen_fail(error, ENOMEM, "%s: no memory for %zu bytes", name,
				   read.n_bytes);
	memcpy(read.bytes, header, sizeof(header));
	err = read_all(fd, (u8 *)read.bytes + sizeof(header), read.n_bytes - sizeof(header));
	if (err) {
		baleen_filter_free(&read);
		return baleen_fail(error, -err, "%s: %s", name, strerror(-err));
	}
	if (baleen_image_check(read.bytes, read.n_bytes, &read.image, &reason)) {
		baleen_filter_free(&read);
		goto bad;
	}
	*filter = read;
	return 0;
bad:
	return baleen_fail(error, EINVAL, "%s: %s", name, reason);
}

/* A name in the directory of @path that does not end as @path does, so that no
 * pattern for images matches it; always the same one, so that the next writer
 * removes what a killed one left.
 */
static void name_beside(const char *path, char *beside, size_t bytes)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? slash + 1 - path : 0;

	/* Cut, so that the longest legal name has room for what is added. */
	snprintf(beside, bytes, "%.*s.%.200s.baleen-new", length, path, path + length);
}

/* Gives an unnamed file a name beside @path, then the name of @path. -EAGAIN
 * when another writer of @path came in between: a file that has lost its only
 * name cannot be given another.
 */
static int name_file(int fd, const char *path)
{
	char proc[64], beside[PATH_MAX + 32];
	int err;

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	name_beside(path, beside, sizeof(beside));
	unlink(beside);
	if (linkat(AT_FDCWD, proc, AT_FDCWD, beside, AT_SYMLINK_FOLLOW))
		return errno == EEXIST ? -EAGAIN : -errno;
	if (!rename(beside, path))
		return 0;
	err = -errno;
	if (err == -ENOENT)
		return -EAGAIN;
	unlink(beside);
	return err;
}

/* A file without a name vanishes with the process that writes it, so neither
 * Ctrl-C nor a kill leaves half a file behind. -EAGAIN as for name_file().
 */
static int replace_unnamed(const char *path, const char *directory, const void *bytes,
			   size_t n_bytes, unsigned int mode)
{
	int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	int err;

	if (fd < 0)
		return -errno;
	err = write_new(fd, bytes, n_bytes);
	if (!err && (fchmod(fd, mode) || fsync(fd)))
		err = -errno;
	if (!err)
		err = name_file(fd, path);
	close(fd);
	return err;
}

/* For file systems without O_TMPFILE (NFS, some FUSE). The name is this
 * process's own, since half a file must not be shared: a kill leaves it.
 */
static int replace_named(const char *path, const void *bytes, size_t n_bytes, unsigned int mode)
{
	char beside[PATH_MAX + 32];
	int fd, err;

	snprintf(beside, sizeof(beside), "%s.%d.tmp", path, getpid());
	fd = open(beside, O_CREAT | O_TRUNC | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = write_new(fd, bytes, n_bytes);
	if (!err && (fchmod(fd, mode) || fsync(fd)))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

static int write_directly(const char *path, const void *bytes, size_t n_bytes)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = baleen_write_all(fd, bytes, n_bytes);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

/* The file behind the links. A target that is not a regular file, or has no name to
 * rename to, such as /dev/stdout of a pipe or of a deleted file, is written in place.
 */
static int find_target(const char *path, char *target, bool *in_place)
{
	struct stat there;
	bool has_name = realpath(path, target);

	if (!has_name && (errno != ENOENT || !*path))
		return -errno;
	if (!stat(path, &there)) {
		*in_place = !has_name || !S_ISREG(there.st_mode);
		return S_ISDIR(there.st_mode) ? -EISDIR : 0;
	}
	/* A link into the void is an error, not a name to be taken. */
	if (!lstat(path, &there))
		return -ENOENT;
	strcpy(target, path);
	return 0;
}

int baleen_file_write(const char *path, const void *bytes, size_t n_bytes, unsigned int mode,
		      struct baleen_error *error)
{
	char target[PATH_MAX], parent[PATH_MAX];
	const char *directory;
	bool in_place = false;
	u32 n_tries = 0;
	int err;

	if (strlen(path) >= sizeof(target))
		return baleen_fail(error, ENAMETOOLONG, "%s: %s", path, strerror(ENAMETOOLONG));
	err = find_target(path, target, &in_place);
	if (err)
		goto out;
	if (in_place) {
		err = write_directly(path, bytes, n_bytes);
		goto out;
	}
	strcpy(parent, target);
	directory = dirname(parent);
	do {
		err = replace_unnamed(target, directory, bytes, n_bytes, mode);
	} while (err == -EAGAIN && n_tries++ < MAX_TRIES);
	if (err == -EOPNOTSUPP || err == -EISDIR || err == -ENOENT)
		err = replace_named(target, bytes, n_bytes, mode);
	if (!err)
		err = baleen_sync_dir_at(directory);
out:
	if (err)
		return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
	return 0;
}
