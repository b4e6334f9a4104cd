/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The devices that get the packets a device receives.
 *
 *      eth0 --- port of --- bond0 --- below --- bond0.7 --- port of --- br0
 *
 * XDP on eth0 sees packets to the addresses of all four.
 */
#ifndef BALEEN_UPPERS_H
#define BALEEN_UPPERS_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * struct baleen_uppers - a device and those above it
 * @ifindex: sorted and distinct
 * @n: how many
 *
 * All zeros has no device. baleen_uppers_free() frees the array.
 */
struct baleen_uppers {
	u32 *ifindex;
	size_t n;
};

/**
 * baleen_uppers_find() - the devices above a device
 * @ifindex: the device, in the network namespace of the caller
 * @uppers: the device, its master (bridge, bond, team, VRF), the VLAN, MACsec,
 *          macvlan and ipvlan devices made of it, and so on up from each of
 *          these; to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * A device that was moved into another network namespace cannot be seen, so
 * neither it nor what is above it is found.
 *
 * Return: 0 or a negative errno.
 */
int baleen_uppers_find(u32 ifindex, struct baleen_uppers *uppers, struct baleen_error *error);

/**
 * baleen_uppers_has() - is the device among them?
 * @uppers: from baleen_uppers_find()
 * @ifindex: the device
 *
 * Return: true or false.
 */
bool baleen_uppers_has(const struct baleen_uppers *uppers, u32 ifindex);

/**
 * baleen_uppers_free() - free the array
 * @uppers: found, or all zeros
 */
void baleen_uppers_free(struct baleen_uppers *uppers);

#endif /* BALEEN_UPPERS_H */
