/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MD5 of messages of any length, which come in parts.
 */
#ifndef BALEEN_MD5_STREAM_H
#define BALEEN_MD5_STREAM_H

#include <baleen/md5.h>

/**
 * struct baleen_md5_stream - a message, as far as it has come
 * @state: after its whole blocks
 * @n_bytes: its length
 * @word_le: the block that is not whole yet
 */
struct baleen_md5_stream {
	struct baleen_md5 state;
	u64 n_bytes;
	u32 word_le[BALEEN_MD5_BLOCK_WORDS];
};

/**
 * baleen_md5_start() - begin a message
 * @stream: filled in
 */
void baleen_md5_start(struct baleen_md5_stream *stream);

/**
 * baleen_md5_update() - the next part of it
 * @stream: changed
 * @bytes: at any alignment
 * @n_bytes: how many, may be 0
 */
void baleen_md5_update(struct baleen_md5_stream *stream, const void *bytes, size_t n_bytes);

/**
 * baleen_md5_end() - the digest
 * @stream: not to be used any more
 *
 * Return: the state of which baleen_md5_hi() and baleen_md5_lo() are the digest.
 */
struct baleen_md5 baleen_md5_end(struct baleen_md5_stream *stream);

#endif /* BALEEN_MD5_STREAM_H */
