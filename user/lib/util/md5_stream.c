// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* MD5 of messages of any length, which come in parts. */
#include <string.h>

#include "util/md5_stream.h"

/* Bytes of the last block before the length of the message. */
#define TEXT_BYTES (BALEEN_MD5_BLOCK_BYTES - 8)

void baleen_md5_start(struct baleen_md5_stream *stream)
{
	*stream = (struct baleen_md5_stream){ .state = baleen_md5_init() };
}

void baleen_md5_update(struct baleen_md5_stream *stream, const void *bytes, size_t n_bytes)
{
	const u8 *from = bytes;

	while (n_bytes) {
		size_t at = stream->n_bytes % BALEEN_MD5_BLOCK_BYTES;
		size_t n = BALEEN_MD5_BLOCK_BYTES - at;

		if (n > n_bytes)
			n = n_bytes;
		memcpy((u8 *)stream->word_le + at, from, n);
		from += n;
		n_bytes -= n;
		stream->n_bytes += n;
		if (at + n == BALEEN_MD5_BLOCK_BYTES)
			baleen_md5_block(&stream->state, stream->word_le);
	}
}

struct baleen_md5 baleen_md5_end(struct baleen_md5_stream *stream)
{
	static const u8 padding[BALEEN_MD5_BLOCK_BYTES] = { 0x80 };
	u64 n_bits_le = baleen_le64(stream->n_bytes * 8);
	size_t at = stream->n_bytes % BALEEN_MD5_BLOCK_BYTES;

	/* At least the 0x80, up to where the length belongs. */
	baleen_md5_update(stream, padding,
			  (at < TEXT_BYTES ? TEXT_BYTES : TEXT_BYTES + BALEEN_MD5_BLOCK_BYTES) -
				  at);
	baleen_md5_update(stream, &n_bits_le, sizeof(n_bits_le));
	return stream->state;
}
