/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files compressed by gzip (RFC 1952).
 */
#ifndef BALEEN_UNPACK_H
#define BALEEN_UNPACK_H

#include <baleen/port.h>
#include <zlib.h>

#include "util/error.h"

/* The largest list: a few kilobytes of gzip unpack to gigabytes. */
#define BALEEN_UNPACK_MAX_BYTES (1ull << 30)

/**
 * struct baleen_unpacker - a gzip stream that comes in pieces
 * @zlib: its state
 * @fd: where the unpacked bytes go
 * @n_bytes: written so far
 * @max_bytes: how many may be
 * @is_whole: all that came ended with the end of a member
 */
struct baleen_unpacker {
	z_stream zlib;
	int fd;
	u64 n_bytes;
	u64 max_bytes;
	bool is_whole;
};

/**
 * baleen_unpacker_start() - begin a stream
 * @unpacker: set up; end with baleen_unpacker_end()
 * @fd: open for writing
 * @max_bytes: how many bytes may come out
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_unpacker_start(struct baleen_unpacker *unpacker, int fd, u64 max_bytes);

/**
 * baleen_unpacker_receive() - unpack a piece
 * @unpacker: the stream
 * @bytes: the piece
 * @n_bytes: its length, below 4 GiB
 * @reason: why not, a constant string; untouched on success
 *
 * Several members one after the other are one stream, as for gunzip.
 *
 * Return: 0; -EINVAL for what is no gzip; -E2BIG; -ENOMEM; the negative errno
 * of a failed write.
 */
int baleen_unpacker_receive(struct baleen_unpacker *unpacker, const void *bytes, size_t n_bytes,
			    const char **reason);

/**
 * baleen_unpacker_copy() - write a piece as it is, within the same limit
 * @unpacker: the stream, of which nothing was unpacked
 * @bytes: the piece
 * @n_bytes: its length
 * @reason: why not, a constant string; untouched on success
 *
 * Return: 0; -E2BIG; the negative errno of a failed write.
 */
int baleen_unpacker_copy(struct baleen_unpacker *unpacker, const void *bytes, size_t n_bytes,
			 const char **reason);

/**
 * baleen_unpacker_end() - free the state
 * @unpacker: started
 *
 * Return: 0; -EINVAL when the stream was cut short.
 */
int baleen_unpacker_end(struct baleen_unpacker *unpacker);

/**
 * baleen_unpack() - a file without its compression
 * @fd: descriptor of a file or memfd open for reading; read from its start; stays open
 * @name: name of the file in messages
 * @max_bytes: limit of what comes out, such as BALEEN_UNPACK_MAX_BYTES
 * @out: the bytes, at their start, to be closed by the caller: a memfd, or @fd
 *       duplicated when it is not gzip; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL when the gzip is damaged or cut short; -E2BIG; -ENOMEM;
 * the negative errno of a failed read.
 */
int baleen_unpack(int fd, const char *name, u64 max_bytes, int *out, struct baleen_error *error);

/**
 * baleen_unpack_refuse() - why these bytes can be no list
 * @fd: descriptor of a file open for reading; its position stays
 *
 * Return: what the file is, to stand behind its name in a message, such as "is
 * an HTML page, not a list"; NULL when it may be a list.
 */
const char *baleen_unpack_refuse(int fd);

#endif /* BALEEN_UNPACK_H */
