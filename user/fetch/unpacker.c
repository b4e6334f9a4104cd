// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A gzip stream that comes in pieces. */
#include <errno.h>
#include <unistd.h>

#include "fetch/unpacker.h"
#include "util/write_file.h"

#define CHUNK_BYTES (64 * 1024)
#define GZIP_ONLY 16 /* added to the window bits of inflateInit2() */

int baleen_unpacker_start(struct baleen_unpacker *unpacker, int fd, u64 max_bytes)
{
	*unpacker = (struct baleen_unpacker){ .fd = fd, .max_bytes = max_bytes };
	return inflateInit2(&unpacker->zlib, MAX_WBITS + GZIP_ONLY) == Z_OK ? 0 : -ENOMEM;
}

int baleen_unpacker_copy(struct baleen_unpacker *unpacker, const void *bytes, size_t n_bytes,
			 const char **reason)
{
	int err;

	if (n_bytes > unpacker->max_bytes - unpacker->n_bytes) {
		*reason = "is larger than the limit";
		return -E2BIG;
	}
	err = baleen_write_all(unpacker->fd, bytes, n_bytes);
	if (err)
		*reason = "cannot be stored";
	else
		unpacker->n_bytes += n_bytes;
	return err;
}

/* Takes input until there is none or a buffer is full. */
static int step(struct baleen_unpacker *unpacker, const char **reason)
{
	z_stream *zlib = &unpacker->zlib;
	u8 buffer[CHUNK_BYTES];
	int ret;

	if (unpacker->is_whole) {
		inflateReset(zlib);
		unpacker->is_whole = false;
	}
	zlib->next_out = buffer;
	zlib->avail_out = sizeof(buffer);
	ret = inflate(zlib, Z_NO_FLUSH);
	if (ret == Z_MEM_ERROR) {
		*reason = "no memory to unpack it";
		return -ENOMEM;
	}
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR) {
		*reason = "damaged gzip";
		return -EINVAL;
	}
	unpacker->is_whole = ret == Z_STREAM_END;
	return baleen_unpacker_copy(unpacker, buffer, sizeof(buffer) - zlib->avail_out, reason);
}

int baleen_unpacker_receive(struct baleen_unpacker *unpacker, const void *bytes, size_t n_bytes,
			    const char **reason)
{
	z_stream *zlib = &unpacker->zlib;
	int err = 0;

	zlib->next_in = (void *)bytes;
	zlib->avail_in = n_bytes;
	while (!err && (zlib->avail_in || (!zlib->avail_out && !unpacker->is_whole)))
		err = step(unpacker, reason);
	return err;
}

int baleen_unpacker_end(struct baleen_unpacker *unpacker)
{
	inflateEnd(&unpacker->zlib);
	return unpacker->is_whole ? 0 : -EINVAL;
}

static int unpack_all(struct baleen_unpacker *unpacker, int fd, const char **reason)
{
	u8 chunk[CHUNK_BYTES];
	off_t at = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		err = baleen_unpacker_receive(unpacker, chunk, n, reason);
		at += n;
	}
	if (!err && n < 0) {
		*reason = "cannot be read";
		err = -errno;
	}
	return err;
}

int baleen_unpacker_file(int fd, int out, u64 max_bytes, const char **reason)
{
	struct baleen_unpacker unpacker;
	int err = baleen_unpacker_start(&unpacker, out, max_bytes), cut;

	if (err) {
		*reason = "no memory to unpack it";
		return err;
	}
	err = unpack_all(&unpacker, fd, reason);
	cut = baleen_unpacker_end(&unpacker);
	if (!err && cut) {
		*reason = "gzip cut short";
		err = cut;
	}
	return err;
}
