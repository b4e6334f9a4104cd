/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does the kernel module already filter a device? Programs on devices ask this before
 * they take its place; the rules themselves are for kmod/.
 */
#ifndef BALEEN_KMOD_HOOK_H
#define BALEEN_KMOD_HOOK_H

#include <stdbool.h>

/* The device node of the module. */
#define BALEEN_KMOD_NODE "/dev/baleen"

/**
 * baleen_kmod_has_rules() - does the kernel module have rules on a device?
 * @ifindex: interface index of the device
 *
 * Return: true when it has; false when not, or when it cannot be asked.
 */
bool baleen_kmod_has_rules(unsigned int ifindex);

#endif /* BALEEN_KMOD_HOOK_H */
