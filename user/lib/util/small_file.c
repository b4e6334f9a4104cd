// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Small files, made and read whole. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/output.h"
#include "util/small_file.h"
#include "util/write_file.h"

static int sync_name(const char *path)
{
	char *copy = strdup(path);
	int err;

	if (!copy)
		return -ENOMEM;
	err = baleen_sync_dir_at(dirname(copy));
	free(copy);
	return err;
}

/* Closes it. */
static int fill(int fd, u32 mode, const void *bytes, size_t n_bytes)
{
	int err = fchmod(fd, mode) ? -errno : baleen_write_all(fd, bytes, n_bytes);

	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int baleen_small_file_make(const char *path, u32 mode, const void *bytes, size_t n_bytes,
			   struct baleen_error *error)
{
	int fd = baleen_output_make(AT_FDCWD, path, mode), err;

	if (fd < 0)
		return baleen_fail(error, -fd, "%s: %s", path, strerror(-fd));
	err = fill(fd, mode, bytes, n_bytes);
	if (!err)
		err = sync_name(path);
	if (!err)
		return 0;
	unlink(path);
	return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
}

/* As far as the end, which is to come before the buffer is full. */
static int read_all(int fd, char *bytes, size_t room, size_t *n_bytes)
{
	size_t n = 0;

	while (n < room) {
		ssize_t got = read(fd, bytes + n, room - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) {
			*n_bytes = n;
			return 0;
		}
		n += got;
	}
	return -EFBIG;
}

int baleen_small_file_read(const char *path, enum baleen_input kind, size_t most, char **bytes,
			   size_t *n_bytes, u32 *mode, struct baleen_error *error)
{
	int fd = baleen_input_open(path, kind, error), err = 0;
	char *buffer = NULL;
	struct stat file;
	size_t n = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &file))
		err = -errno;
	else if ((u64)file.st_size > most)
		err = -EFBIG;
	if (!err) {
		buffer = malloc(file.st_size + 2);
		err = buffer ? read_all(fd, buffer, file.st_size + 1, &n) : -ENOMEM;
	}
	close(fd);
	if (err) {
		free(buffer);
		return baleen_fail(error, -err, "%s: %s", path, strerror(-err));
	}
	buffer[n] = '\0';
	*bytes = buffer;
	*n_bytes = n;
	if (mode)
		*mode = file.st_mode & 07777;
	return 0;
}
