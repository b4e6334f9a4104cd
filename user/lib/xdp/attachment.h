/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a device's program sits: found, taken, given to another program, left.
 *
 *      enum baleen_place       on the device by      the switch is
 *      BALEEN_PLACE_LINK       a pinned BPF link     an update of the link
 *      BALEEN_PLACE_NETLINK    the device            a replacement of this program
 *      BALEEN_PLACE_CHAIN      libxdp's dispatcher   one more, then one less: chain.h
 *
 * Without a link, the program that is in force is the newest of those pinned for
 * the device that is really there. Nothing of that can be asked from another
 * network namespace.
 */
#ifndef BALEEN_SEAT_H
#define BALEEN_SEAT_H

#include <baleen/stats.h>

#include "net/device.h"
#include "xdp/load.h"
#include "xdp/pins.h"

/**
 * struct baleen_seat - a seat, as found
 * @place: what kind it is
 * @program_id: of the program that sits there, or did last
 * @is_taken: it sees the packets of a device; also when that cannot be asked
 * @link_fd: the link; -1 of another kind
 * @link_id: the kernel's number of the link; 0 of another kind
 */
struct baleen_seat {
	enum baleen_place place;
	u32 program_id;
	bool is_taken;
	int link_fd;
	u32 link_id;
};

/**
 * baleen_place_text() - the place as a word
 * @place: the place
 *
 * Return: "link", "netlink" or "chain".
 */
const char *baleen_place_text(enum baleen_place place);

/**
 * baleen_seat_init() - a seat that nobody has found
 * @seat: filled in
 */
void baleen_seat_init(struct baleen_seat *seat);

/**
 * baleen_seat_close() - let go of what was found
 * @seat: found or init
 */
void baleen_seat_close(struct baleen_seat *seat);

/**
 * baleen_seat_find() - find the seat of a device's program
 * @pins: of the device
 * @seat: filled in; close with baleen_seat_close()
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_seat_find(const struct baleen_pins *pins, struct baleen_seat *seat);

/**
 * baleen_seat_is_same() - are two findings alike?
 * @a: found
 * @b: found
 *
 * Return: true when they are.
 */
bool baleen_seat_is_same(const struct baleen_seat *a, const struct baleen_seat *b);

/**
 * baleen_seat_tidy() - remove what killed commands left behind
 * @seat: found, or init for a device that has no filter
 * @pins: of the device, locked
 */
void baleen_seat_tidy(const struct baleen_seat *seat, const struct baleen_pins *pins);

/**
 * baleen_seat_link() - put a program on a device by a link
 * @ifindex: the device
 * @program_fd: the program
 * @mode: native or generic
 * @link_fd: filled in: as long as nobody pins it, the link ends with its descriptor
 * @error: filled in on failure: the driver's or kernel's reason and no more
 *
 * Return: 0 or a negative errno.
 */
int baleen_seat_link(int ifindex, int program_fd, enum baleen_mode mode, int *link_fd,
		     struct baleen_error *error);

/**
 * baleen_seat_take() - put a program on a device
 * @place: where
 * @pins: of the device, locked, without another program
 * @loaded: loaded for the place, and pinned
 * @mode: native or generic
 * @error: filled in on failure: the driver's or kernel's reason and no more
 *
 * When this is done the program outlives the process.
 *
 * Return: 0 or a negative errno; on failure it is not on the device.
 */
int baleen_seat_take(enum baleen_place place, const struct baleen_pins *pins,
		     const struct baleen_loaded *loaded, enum baleen_mode mode,
		     struct baleen_error *error);

/**
 * baleen_seat_replace() - put another program there
 * @seat: found, taken; is given the new program
 * @pins: of the device, locked
 * @loaded: loaded for the place, and pinned
 * @mode: that of the program on the device
 * @error: filled in on failure: the reason and no more
 *
 * Return: 0; a negative errno, and the old program goes on. -EEXIST when another
 * one is there by now.
 */
int baleen_seat_replace(struct baleen_seat *seat, const struct baleen_pins *pins,
			const struct baleen_loaded *loaded, enum baleen_mode mode,
			struct baleen_error *error);

/**
 * baleen_seat_leave() - take the program off the device
 * @seat: found
 * @pins: of the device, locked
 * @error: filled in on failure
 *
 * What is not taken has nothing to leave, and what is there now is not touched.
 *
 * Return: 0 or a negative errno.
 */
int baleen_seat_leave(const struct baleen_seat *seat, const struct baleen_pins *pins,
		      struct baleen_error *error);

#endif /* BALEEN_SEAT_H */
