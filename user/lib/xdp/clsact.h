/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program of tc on what leaves a device, as a filter of its clsact.
 *
 * The clsact is made when there is none, and goes with its last filter if it was made so.
 */
#ifndef BALEEN_CLSACT_H
#define BALEEN_CLSACT_H

#include "xdp/pins.h"

/**
 * struct baleen_clsact - one place at the egress of a device
 * @handle: number of the filter, by which it is told from others; all have the first priority
 * @pin: the pin of its program in the directory of each program
 */
struct baleen_clsact {
	u32 handle;
	const char *pin;
};

/**
 * baleen_clsact_put() - put a program there
 * @place: the place
 * @pins: pins of the device, locked; remembers whether its clsact is ours
 * @program_fd: the program; replaces one of ours, as a single step
 * @error: filled in on failure
 *
 * It comes before what others have there with a later priority.
 *
 * Return: 0; -EBUSY when somebody else has its place; a negative errno.
 */
int baleen_clsact_put(const struct baleen_clsact *place, const struct baleen_pins *pins,
		      int program_fd, struct baleen_error *error);

/**
 * baleen_clsact_id() - the program that is there
 * @place: the place
 * @ifindex: the device, or what goes out by it
 *
 * Return: its number; 0 when there is none.
 */
u32 baleen_clsact_id(const struct baleen_clsact *place, int ifindex);

/**
 * baleen_clsact_remove() - the opposite of baleen_clsact_put()
 * @place: the place
 * @pins: pins of the device, locked
 *
 * Removes the program there if it belongs to these pins, and our clsact with it unless
 * somebody uses it meanwhile.
 */
void baleen_clsact_remove(const struct baleen_clsact *place, const struct baleen_pins *pins);

#endif /* BALEEN_CLSACT_H */
