// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bytes into files, whole, and names of files onto the disk. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/write_file.h"

int baleen_write_all(int fd, const void *bytes, size_t n_bytes)
{
	size_t n = 0;

	while (n < n_bytes) {
		ssize_t put = write(fd, (const char *)bytes + n, n_bytes - n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		n += put;
	}
	return 0;
}

int baleen_sync_dir(int fd)
{
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}

int baleen_sync_dir_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = baleen_sync_dir(fd);
	close(fd);
	return err;
}
