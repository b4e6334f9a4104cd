/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The constants of a loaded program, read back.
 */
#ifndef BALEEN_CONFIG_H
#define BALEEN_CONFIG_H

#include <baleen/stats.h>

#include "xdp/pins.h"

/**
 * baleen_config_decode() - the constants of this release or an earlier one
 * @value: the value in their map
 * @n_bytes: how much that is
 * @config: filled in, its names and numbers checked; of an earlier version with
 *          zeros where that had nothing; untouched on failure
 *
 * Return: 0; -EPROTO when it was made by a later release, or by none.
 */
int baleen_config_decode(const void *value, size_t n_bytes, struct baleen_config *config);

/**
 * baleen_config_read() - read the constants of a pinned program
 * @pins: pins of the device
 * @program_id: id of the program
 * @config: filled in as by baleen_config_decode()
 *
 * Return: 0; -ENOENT when it is not pinned; -EPROTO when a version of Baleen
 * made it that is not understood; a negative errno.
 */
int baleen_config_read(const struct baleen_pins *pins, u32 program_id,
		       struct baleen_config *config);

/**
 * baleen_config_set_device() - what follows from the device
 * @config: constants; those of the device are filled in
 * @device: its name, or that of what goes out by it
 * @ifindex: its number
 *
 * Return: 0 or a negative errno.
 */
int baleen_config_set_device(struct baleen_config *config, const char *device, int ifindex);

#endif /* BALEEN_CONFIG_H */
