/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a device's program sits: found, taken, given to another program, left.
 *
 *      enum baleen_attach_type       on the device by      the switch is
 *      BALEEN_ATTACH_TYPE_LINK       a pinned BPF link     an update of the link
 *      BALEEN_ATTACH_TYPE_NETLINK    the device            a replacement of this program
 *      BALEEN_ATTACH_TYPE_CHAIN      libxdp's dispatcher   one more, then one less: chain.h
 *
 * What goes out by a device has a link of tcx, since kernel 6.6, or a filter of tc: see
 * clsact.h. Its attach type is one of the first two.
 *
 * Without a link, the program that is in force is the newest of those pinned for
 * the device that is really there. Nothing of that can be asked from another
 * network namespace.
 */
#ifndef BALEEN_ATTACHMENT_H
#define BALEEN_ATTACHMENT_H

#include <baleen/stats.h>

#include "net/device.h"
#include "xdp/load.h"
#include "xdp/pins.h"

/**
 * struct baleen_attachment - a attachment, as found
 * @attach_type: how it is attached
 * @program_id: id of the program that sits there, or did last
 * @is_taken: it sees the packets of a device; also when that cannot be asked
 * @link_fd: the link; -1 of another kind
 * @link_id: the kernel's number of the link; 0 of another kind
 */
struct baleen_attachment {
	enum baleen_attach_type attach_type;
	u32 program_id;
	bool is_taken;
	int link_fd;
	u32 link_id;
};

/**
 * baleen_attach_type_text() - the attach type as a word
 * @attach_type: the attach type
 *
 * Return: "link", "netlink" or "chain".
 */
const char *baleen_attach_type_text(enum baleen_attach_type attach_type);

/**
 * baleen_attachment_type() - what a kernel has for what is asked for
 * @ifindex: the device, or what goes out by it
 * @asked: what is asked for
 *
 * Return: @asked; BALEEN_ATTACH_TYPE_NETLINK when the kernel has no links for what goes out.
 */
enum baleen_attach_type baleen_attachment_type(int ifindex, enum baleen_attach_type asked);

/**
 * baleen_attachment_look() - the device and the program that is there now
 * @pins: pins of the device
 * @attachment: found
 * @device: filled in, of BALEEN_POINT_BYTES: its name
 * @program: filled in but for its name, whosever it is; of what goes out only ours is found; id 0:
 *           none
 *
 * Return: 0; -ENODEV; a negative errno.
 */
int baleen_attachment_look(const struct baleen_pins *pins,
			   const struct baleen_attachment *attachment, char *device,
			   struct baleen_program *program);

/**
 * baleen_attachment_init() - a attachment that nobody has found
 * @attachment: filled in
 */
void baleen_attachment_init(struct baleen_attachment *attachment);

/**
 * baleen_attachment_close() - let go of what was found
 * @attachment: found or init
 */
void baleen_attachment_close(struct baleen_attachment *attachment);

/**
 * baleen_attachment_find() - find the attachment of a device's program
 * @pins: pins of the device
 * @attachment: filled in; close with baleen_attachment_close()
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_attachment_find(const struct baleen_pins *pins, struct baleen_attachment *attachment);

/**
 * baleen_attachment_fail() - say why no attachment can be found
 * @pins: pins of the device
 * @err: of baleen_attachment_find(); -EXDEV when a program may be in a chain, and libxdp finds
 *       no bpffs in this mount namespace
 * @error: filled in
 *
 * Return: @err.
 */
int baleen_attachment_fail(const struct baleen_pins *pins, int err, struct baleen_error *error);

/**
 * baleen_attachment_find_link() - find the pinned link of a device
 * @pins: pins of the device
 * @attachment: filled in; close with baleen_attachment_close()
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_attachment_find_link(const struct baleen_pins *pins,
				struct baleen_attachment *attachment);

/**
 * baleen_attachment_is_same() - are two findings alike?
 * @a: found
 * @b: found
 *
 * Return: true when they are.
 */
bool baleen_attachment_is_same(const struct baleen_attachment *a,
			       const struct baleen_attachment *b);

/**
 * baleen_attachment_tidy() - remove what killed commands left behind
 * @attachment: found, or init for a device that has no filter
 * @pins: pins of the device, locked
 */
void baleen_attachment_tidy(const struct baleen_attachment *attachment,
			    const struct baleen_pins *pins);

/**
 * baleen_attachment_link() - put a program on a device by a link
 * @ifindex: the device, or what goes out by it
 * @program_fd: the program
 * @mode: native or generic
 * @link_fd: filled in: as long as nobody pins it, the link ends with its descriptor
 * @error: filled in on failure: the driver's or kernel's reason and no more
 *
 * Return: 0 or a negative errno.
 */
int baleen_attachment_link(int ifindex, int program_fd, enum baleen_mode mode, int *link_fd,
			   struct baleen_error *error);

/**
 * baleen_attachment_attach() - put a program on a device
 * @attach_type: how
 * @pins: pins of the device, locked, without another program
 * @loaded: loaded for the attach type, and pinned
 * @mode: native or generic
 * @error: filled in on failure: the driver's or kernel's reason and no more
 *
 * When this is done the program outlives the process.
 *
 * Return: 0 or a negative errno; on failure it is not on the device.
 */
int baleen_attachment_attach(enum baleen_attach_type attach_type, const struct baleen_pins *pins,
			     const struct baleen_loaded *loaded, enum baleen_mode mode,
			     struct baleen_error *error);

/**
 * baleen_attachment_replace() - put another program there
 * @attachment: found, taken; is given the new program
 * @pins: pins of the device, locked
 * @loaded: loaded for the attach type, and pinned
 * @mode: that of the program on the device
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0; a negative errno, and the old program goes on. -EEXIST when another
 * one is there by now.
 */
int baleen_attachment_replace(struct baleen_attachment *attachment, const struct baleen_pins *pins,
			      const struct baleen_loaded *loaded, enum baleen_mode mode,
			      struct baleen_error *error);

/**
 * baleen_attachment_leave() - take the program off the device
 * @attachment: found
 * @pins: pins of the device, locked
 * @error: filled in on failure
 *
 * Does nothing for a program that is not attached; another program on the device stays.
 *
 * Return: 0 or a negative errno.
 */
int baleen_attachment_leave(const struct baleen_attachment *attachment,
			    const struct baleen_pins *pins, struct baleen_error *error);

#endif /* BALEEN_ATTACHMENT_H */
