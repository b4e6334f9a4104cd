/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance of ICP behind the filter of its device: that hands on what it lets pass.
 *
 *      frame --> baleen_xdp --drop--> gone
 *                    |
 *                    | pass: tail call, slot 0 of its map `next`
 *                    v
 *                baleen_icp --> answered, or on to the host
 *
 * The pin `behind` of the instance is that map. A filter that is detached takes the way to the
 * instance with it; another ruleset of the filter keeps it.
 */
#ifndef BALEEN_ICP_BEHIND_H
#define BALEEN_ICP_BEHIND_H

#include "xdp/attachment.h"
#include "xdp/pins.h"

#define BALEEN_ICP_BEHIND "behind"

/**
 * baleen_icp_behind_open() - the map that an instance is in
 * @pins: pins of the instance
 *
 * Return: a descriptor; -ENOENT of an instance that is not behind a filter; a negative errno.
 */
int baleen_icp_behind_open(const struct baleen_pins *pins);

/**
 * baleen_icp_behind_put() - put a program into the map, in place of another
 * @map_fd: the map
 * @program_fd: the program
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_icp_behind_put(int map_fd, int program_fd, struct baleen_error *error);

/**
 * baleen_icp_behind_remove() - take the program out, and the pin away
 * @pins: pins of the instance, locked
 */
void baleen_icp_behind_remove(const struct baleen_pins *pins);

/**
 * baleen_icp_find() - where an instance sits: by its own link, or behind a filter
 * @pins: pins of the instance
 * @attachment: filled in; close with baleen_attachment_close(); taken while packets come to it
 *
 * Return: 0; -ENOENT when there is none; a negative errno.
 */
int baleen_icp_find(const struct baleen_pins *pins, struct baleen_attachment *attachment);

#endif /* BALEEN_ICP_BEHIND_H */
