/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instances of ICP that are left of devices which no longer exist, in any namespace.
 */
#ifndef BALEEN_ICP_GONE_H
#define BALEEN_ICP_GONE_H

#include "icp/icp.h"
#include "xdp/stale_pins.h"

/**
 * baleen_icp_forget_stale() - remove the pins of every instance that has no device
 * @tell: called with each after it was forgotten
 * @data: passed to @tell
 * @error: filled in on failure
 *
 * As baleen_stale_pins_forget(): what a killed command left without a link is removed, too,
 * and not told.
 *
 * Return: 0; -ETIMEDOUT when a writer held on to a directory; a negative errno.
 */
int baleen_icp_forget_stale(void (*tell)(const struct baleen_stale_pins *gone, void *data),
			    void *data, struct baleen_error *error);

#endif /* BALEEN_ICP_GONE_H */
