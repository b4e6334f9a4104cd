/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A gzip stream (RFC 1952) that comes in pieces.
 */
#ifndef BALEEN_UNPACKER_H
#define BALEEN_UNPACKER_H

#include <baleen/port.h>
#include <zlib.h>

/**
 * struct baleen_unpacker - the stream
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
 * baleen_unpacker_file() - unpack a file
 * @fd: read from its start
 * @out: open for writing
 * @max_bytes: how many bytes may come out
 * @reason: why not, a constant string; untouched on success
 *
 * Return: 0; -EINVAL when the gzip is damaged or cut short; -E2BIG; -ENOMEM; the negative
 * errno of a failed read or write.
 */
int baleen_unpacker_file(int fd, int out, u64 max_bytes, const char **reason);

#endif /* BALEEN_UNPACKER_H */
