// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Image files, read whole and checked. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ops/image_file.h"
#include "util/input.h"

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
	int fd = baleen_input_open(path, BALEEN_INPUT_TYPED_FILE, NULL);
	char start[16];
	struct stat stat;
	bool may = true;

	if (fd < 0)
		return true;
	if (!fstat(fd, &stat) && stat.st_size)
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
