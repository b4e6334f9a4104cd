// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files compressed by gzip. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/unpack.h"
#include "util/write_file.h"

#define CHUNK_BYTES (64 * 1024)
#define GZIP_ONLY 16 /* added to the window bits of inflateInit2() */

/* --- a stream --- */

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

/* --- a file --- */

static bool is_gzip(int fd)
{
	char magic[2];

	return pread(fd, magic, 2, 0) == 2 && !memcmp(magic, "\x1f\x8b", 2);
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

static int unpack_to(int out, int fd, const char *name, u64 max_bytes, struct baleen_error *error)
{
	struct baleen_unpacker unpacker;
	const char *reason = "no memory to unpack it";
	int err = baleen_unpacker_start(&unpacker, out, max_bytes), cut;

	if (err)
		return baleen_fail(error, -err, "%s: %s", name, reason);
	err = unpack_all(&unpacker, fd, &reason);
	cut = baleen_unpacker_end(&unpacker);
	if (!err && cut) {
		reason = "gzip cut short";
		err = cut;
	}
	if (err == -E2BIG)
		return baleen_fail(error, E2BIG, "%s: %s of %llu bytes when unpacked", name, reason,
				   (unsigned long long)max_bytes);
	if (err == -EINVAL)
		return baleen_fail(error, EINVAL, "%s: %s", name, reason);
	return err ? baleen_fail(error, -err, "%s: %s: %s", name, reason, strerror(-err)) : 0;
}

int baleen_unpack(int fd, const char *name, u64 max_bytes, int *out, struct baleen_error *error)
{
	bool packed = is_gzip(fd);
	int copy = packed ? memfd_create("baleen-unpacked", MFD_CLOEXEC) :
			    fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int err = 0;

	if (copy < 0)
		return baleen_fail(error, errno, "%s: %m", name);
	if (packed)
		err = unpack_to(copy, fd, name, max_bytes, error);
	if (!err && lseek(copy, 0, SEEK_SET) < 0)
		err = baleen_fail(error, errno, "%s: %m", name);
	if (err)
		close(copy);
	else
		*out = copy;
	return err;
}

/* --- what is no list --- */

static bool is_markup(const char *start)
{
	static const char bom[] = "\xef\xbb\xbf";

	if (!strncmp(start, bom, strlen(bom)))
		start += strlen(bom);
	start += strspn(start, " \t\r\n");
	return *start == '<';
}

const char *baleen_unpack_refuse(int fd)
{
	static const struct {
		const char *magic;
		size_t n_bytes;
		const char *text;
	} kinds[] = {
		{ "\x1f\x8b", 2, "is compressed by gzip: unpack it first" },
		{ "BZh", 3, "is compressed by bzip2: unpack it first" },
		{ "\3757zXZ", 5, "is compressed by xz: unpack it first" },
		{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd: unpack it first" },
		{ "PK\x03\x04", 4, "is a zip archive: unpack it first" },
		{ "\xff\xfe", 2, "is UTF-16: convert it to UTF-8" },
		{ "\xfe\xff", 2, "is UTF-16: convert it to UTF-8" },
		{ "{", 1, "is JSON, not a list" },
	};
	char start[256] = "";

	if (pread(fd, start, sizeof(start) - 1, 0) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!memcmp(start, kinds[i].magic, kinds[i].n_bytes))
			return kinds[i].text;
	return is_markup(start) ? "is an HTML or XML page, not a list" : NULL;
}
