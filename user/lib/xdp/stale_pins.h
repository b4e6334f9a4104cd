/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters that are left of devices which no longer exist, in any namespace.
 */
#ifndef BALEEN_STALE_PINS_H
#define BALEEN_STALE_PINS_H

#include <baleen/port.h>

#include "net/device.h"
#include "util/error.h"

struct baleen_instance_type;

/**
 * struct baleen_stale_pins - what a filter was attached to
 * @device: the device's name at attach; empty when another version of Baleen
 *          attached it
 * @ifindex: the device's number
 * @netns_cookie: cookie of its network namespace, which may be gone, too
 * @is_link: by a link
 */
struct baleen_stale_pins {
	char device[BALEEN_POINT_BYTES];
	int ifindex;
	u64 netns_cookie;
	bool is_link;
};

/**
 * baleen_stale_pins_forget() - remove the pins of every link that has no device
 * @on_stale: called with each filter after it was forgotten
 * @data: passed to @on_stale
 * @error: filled in on failure
 *
 * A link loses its device when that is deleted, be it with its namespace, or
 * when somebody detaches the link. What a killed command left without a link
 * is removed, too, and not told.
 *
 * Return: 0; -ETIMEDOUT when a writer held on to a directory; a negative
 * errno. On failure those told are forgotten, others may be left.
 */
int baleen_stale_pins_forget(void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
			     void *data, struct baleen_error *error);

/**
 * baleen_stale_pins_forget_of() - the same of instances of a type
 * @type: type of the instances
 * @on_stale: called with each instance after it was forgotten
 * @data: passed to @on_stale
 * @error: filled in on failure
 *
 * Return: as baleen_stale_pins_forget().
 */
int baleen_stale_pins_forget_of(const struct baleen_instance_type *type,
				void (*on_stale)(const struct baleen_stale_pins *gone, void *data),
				void *data, struct baleen_error *error);

/**
 * baleen_stale_pins_forget_deleted() - remove the pins of devices of this namespace that are not
 *                                      there
 * @goes: asked of each; may be called without anything being removed
 * @on_gone: called with each filter after it was forgotten; may be NULL
 * @data: passed to both
 *
 * Only a link tells that its device was deleted: without one it may be in another namespace, and
 * filtered still. What another command holds is left.
 */
void baleen_stale_pins_forget_deleted(
	bool (*goes)(const struct baleen_stale_pins *gone, void *data),
	void (*on_gone)(const struct baleen_stale_pins *gone, void *data), void *data);

/**
 * baleen_stale_pins_forget_name() - remove the pins of a device that is gone
 * @device: its name at attach, in this network namespace
 *
 * For one that has come back under another number. What another command holds is
 * left.
 */
void baleen_stale_pins_forget_name(const char *device);

#endif /* BALEEN_STALE_PINS_H */
