/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of Baleen on devices, for any purpose: filters (xdp.h), answers to caches
 * (icp/icp.h). How they are found and opened.
 */
#ifndef BALEEN_INSTANCE_H
#define BALEEN_INSTANCE_H

#include "net/device.h"
#include "xdp/attachment.h"
#include "xdp/pins.h"

/**
 * enum baleen_attach_status - what has become of an attached filter
 * @BALEEN_ATTACH_STATUS_ATTACHED: it sees the device's packets
 * @BALEEN_ATTACH_STATUS_GONE: the device was deleted; without a link, or moved to another
 *                   network namespace
 * @BALEEN_ATTACH_STATUS_MOVED: it sees the device's packets, in another network namespace
 * @BALEEN_ATTACH_STATUS_DETACHED: somebody detached it; nothing is there
 * @BALEEN_ATTACH_STATUS_REPLACED: somebody detached it; another program is there
 */
enum baleen_attach_status {
	BALEEN_ATTACH_STATUS_ATTACHED,
	BALEEN_ATTACH_STATUS_GONE,
	BALEEN_ATTACH_STATUS_MOVED,
	BALEEN_ATTACH_STATUS_DETACHED,
	BALEEN_ATTACH_STATUS_REPLACED,
};

/**
 * struct baleen_instance_type - instances of one purpose
 * @purpose: of their pins, see baleen_pins_root()
 * @find: finds the attachment that pins hold; -ENOENT when there is none
 * @open: opens what the attached program has pinned; -ENOENT when a pin is missing
 * @close: closes the attachment and what @open has opened
 * @identify: the device's name at attach, of BALEEN_POINT_BYTES, and the status; a lock stays
 * @forget: takes the programs off and removes the pins; a lock stays
 * @fail_absent: says that a device has no such instance; -ENOENT
 */
struct baleen_instance_type {
	const char *purpose;
	int (*find)(const struct baleen_pins *pins, struct baleen_attachment *attachment);
	int (*open)(void *instance);
	void (*close)(void *instance);
	int (*identify)(const struct baleen_pins *pins, char *device,
			enum baleen_attach_status *status);
	void (*forget)(const struct baleen_pins *pins);
	int (*fail_absent)(const char *device, struct baleen_error *error);
};

/**
 * baleen_attach_status_text() - the status as a word
 * @attach_status: the status
 *
 * Return: "attached", "gone", "moved", "detached" or "replaced".
 */
const char *baleen_attach_status_text(enum baleen_attach_status attach_status);

/**
 * baleen_attach_status_find() - what has become of an attachment
 * @attachment: found
 * @pins: pins of its device
 * @old_name: the device's name at attach
 * @device: filled in, of BALEEN_POINT_BYTES: the name now, or @old_name
 * @there: filled in: the program on the device now; of our own without its name
 * @status: filled in
 *
 * Return: 0, or a negative errno when the device cannot be asked.
 */
int baleen_attach_status_find(const struct baleen_attachment *attachment,
			      const struct baleen_pins *pins, const char *old_name, char *device,
			      struct baleen_program *there, enum baleen_attach_status *status);

/**
 * baleen_instance_open() - open what is attached, as of one moment
 * @type: type of the instance
 * @pins: its pins
 * @attachment: that of @instance, filled in
 * @instance: passed to @type, everything in it closed
 * @error: filled in on failure
 *
 * Return: 0; -ENOENT when there is no attachment; -EPROTO when another version of
 * Baleen made it; a negative errno. On failure everything is closed.
 */
int baleen_instance_open(const struct baleen_instance_type *type, const struct baleen_pins *pins,
			 struct baleen_attachment *attachment, void *instance,
			 struct baleen_error *error);

/**
 * baleen_instance_each() - visit the devices of this namespace that have an instance
 * @type: type of the instances
 * @visit: called with each; a nonzero return ends the walk
 * @data: passed to @visit
 * @error: filled in on failure
 *
 * Return: 0, the return of @visit, or a negative errno.
 */
int baleen_instance_each(const struct baleen_instance_type *type,
			 int (*visit)(const struct baleen_pins *pins, void *data), void *data,
			 struct baleen_error *error);

/**
 * baleen_instance_find() - the pins of a device
 * @type: type of the instance
 * @device: its name now, or at attach
 * @pins: filled in; their directory exists
 * @error: filled in on failure
 *
 * Return: 0; -ENODEV; -ENOENT of @type; a negative errno.
 */
int baleen_instance_find(const struct baleen_instance_type *type, const char *device,
			 struct baleen_pins *pins, struct baleen_error *error);

/**
 * baleen_instance_find_at() - the same, of a device whose number is known
 * @type: as for baleen_instance_find()
 * @device: as there
 * @ifindex: its number; 0 when there is no such device
 * @pins: as there
 * @error: as there
 *
 * Return: as there.
 */
int baleen_instance_find_at(const struct baleen_instance_type *type, const char *device,
			    int ifindex, struct baleen_pins *pins, struct baleen_error *error);

#endif /* BALEEN_INSTANCE_H */
