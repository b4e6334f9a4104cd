/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The constants of a loaded program, read back.
 */
#ifndef BALEEN_CONFIG_H
#define BALEEN_CONFIG_H

#include <baleen/stats.h>

#include "pins.h"

/**
 * baleen_config_read() - read the constants of a pinned program
 * @pins: of the device
 * @program_id: of the program
 * @config: filled in, its names and numbers checked
 *
 * Return: 0; -ENOENT when it is not pinned; -EPROTO when another version of
 * Baleen made it; a negative errno.
 */
int baleen_config_read(const struct baleen_pins *pins, u32 program_id,
		       struct baleen_config *config);

#endif /* BALEEN_CONFIG_H */
