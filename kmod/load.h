/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An image on its way into the kernel, in pieces of any size.
 *
 * The header is checked as soon as it is there, and only then memory is allocated for
 * the rest; the checksum is compared after the last piece. All images come in here,
 * from writes and from ioctls.
 */
#ifndef BALEEN_KMOD_LOAD_H
#define BALEEN_KMOD_LOAD_H

#include "body.h"

/**
 * struct baleen_load - an image that is coming in
 * @body: NULL until the header is there
 * @header: as far as it is there
 * @n_done: bytes of the image that are there
 * @crc: CRC of the body so far
 * @n_total: bytes that the image has to have; 0 for as many as its header says
 * @needs_name: an image without a name is refused (-EINVAL)
 *
 * All zeros at first, but for the last two, which stay.
 */
struct baleen_load {
	struct baleen_body *body;
	u8 header[BALEEN_HEADER_BYTES];
	size_t n_done;
	u32 crc;
	u64 n_total;
	bool needs_name;
};

/**
 * baleen_load_feed() - copy the next bytes
 * @load: where it is kept
 * @from: the bytes
 * @n_bytes: how many there are
 * @n_taken: set to how many were taken, which are fewer when the image ends before
 * @body: set to the image when it is complete, else to NULL; the caller's then,
 *        and @load is as at first
 *
 * Context: may sleep.
 * Return: 0; -EBADMSG for a refused image, -EINVAL, -EOPNOTSUPP, -ENOSPC, -ENOMEM,
 * -EFAULT, -EINTR when the process is being killed: nothing of the image stays, and @load is as at
 * first.
 */
int baleen_load_feed(struct baleen_load *load, const void __user *from, size_t n_bytes,
		     size_t *n_taken, struct baleen_body **body);

/**
 * baleen_load_whole() - copy an image that is in one piece
 * @from: the image
 * @n_bytes: its size; -EBADMSG when its header says another, -EINVAL when no image has
 *           that size
 * @body: set on success
 *
 * Context: may sleep.
 * Return: as baleen_load_feed().
 */
int baleen_load_whole(const void __user *from, u64 n_bytes, struct baleen_body **body);

/**
 * baleen_load_drop() - forget an image that never became complete
 * @load: as at first afterwards
 */
void baleen_load_drop(struct baleen_load *load);

#endif /* BALEEN_KMOD_LOAD_H */
