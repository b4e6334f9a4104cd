/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The body of a filter: an image in the kernel, with the memory that it takes.
 *
 * The memory of all bodies together is limited. A body that readers may still use is
 * freed by a worker after a grace period of RCU.
 */
#ifndef BALEEN_KMOD_BODY_H
#define BALEEN_KMOD_BODY_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include <baleen/image_check.h>

/**
 * struct baleen_body - an image in the kernel
 * @image: its decoded header
 * @bytes: the image, aligned to a page
 * @n_bytes: size of the image
 * @cost: bytes of memory that it takes of the limit
 * @work: frees the body
 */
struct baleen_body {
	struct baleen_image image;
	void *bytes;
	size_t n_bytes;
	size_t cost;
	struct rcu_work work;
};

/**
 * baleen_body_create() - memory for an image
 * @image: its checked header
 * @body: set on success; the bytes are not
 *
 * Context: may sleep; waits for retired bodies when there is no room.
 * Return: 0; -ENOSPC above the limit; -ENOMEM.
 */
int baleen_body_create(const struct baleen_image *image, struct baleen_body **body);

/**
 * baleen_body_free() - give an image's memory back
 * @body: one that no reader can have seen, or after a grace period; NULL is none
 *
 * Context: may sleep.
 */
void baleen_body_free(struct baleen_body *body);

/**
 * baleen_body_retire() - free a body when no reader has it any more
 * @body: no longer published
 *
 * Context: any but interrupts.
 */
void baleen_body_retire(struct baleen_body *body);

/**
 * baleen_retire() - run a work after a grace period, among those that free bodies
 * @work: initialised
 *
 * Context: any but interrupts.
 */
void baleen_retire(struct rcu_work *work);

/* Sets the limit, when the module's parameter does not, and starts the worker. */
int baleen_bodies_init(void);

/* All users are gone; waits until all that was retired is freed. */
void baleen_bodies_exit(void);

#endif /* BALEEN_KMOD_BODY_H */
