/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A change of the rules that a device has, be they of XDP or of the kernel module.
 */
#ifndef BALEEN_CLI_DEVICE_EDIT_H
#define BALEEN_CLI_DEVICE_EDIT_H

#include "cli/open/kmod_device.h"

/* May this user change the rules of the device? 0, or EXIT_FAILED after a message. */
int device_edit_check(const char *device);

/* Makes the change, in one step; 0, or EXIT_FAILED after a message. */
int device_edit(const char *device, struct device_edit *edit);

/* The rules that a device has; 0, or EXIT_FAILED after a message. */
int device_ruleset(const char *device, struct baleen_ruleset *ruleset);

#endif /* BALEEN_CLI_DEVICE_EDIT_H */
