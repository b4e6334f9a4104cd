/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The devices that get the packets a device receives.
 *
 *      eth0 --- port of --- bond0 --- below --- bond0.7 --- port of --- br0
 *
 * XDP on eth0 sees packets to the addresses of all four.
 */
#ifndef BALEEN_UPPER_DEVICES_H
#define BALEEN_UPPER_DEVICES_H

#include <baleen/port.h>

#include "util/error.h"

struct baleen_links;

/**
 * struct baleen_upper_devices - a device and those above it
 * @ifindex: sorted and distinct
 * @n: how many
 *
 * All zeros has no device. baleen_upper_devices_free() frees the array.
 */
struct baleen_upper_devices {
	u32 *ifindex;
	size_t n;
};

/**
 * baleen_upper_devices_find() - the devices above a device
 * @links: all devices of the network namespace
 * @ifindex: the device
 * @upper_devices: the device, its master (bridge, bond, team, VRF), the VLAN, MACsec,
 *          macvlan and ipvlan devices made of it, and so on up from each of
 *          these; to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * A device that was moved into another network namespace cannot be seen, so
 * neither it nor what is above it is found.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_upper_devices_find(const struct baleen_links *links, u32 ifindex,
			      struct baleen_upper_devices *upper_devices,
			      struct baleen_error *error);

/**
 * baleen_upper_devices_has() - is the device among them?
 * @upper_devices: from baleen_upper_devices_find()
 * @ifindex: the device
 *
 * Return: true or false.
 */
bool baleen_upper_devices_has(const struct baleen_upper_devices *upper_devices, u32 ifindex);

/**
 * baleen_upper_devices_free() - free the array
 * @upper_devices: found, or all zeros
 */
void baleen_upper_devices_free(struct baleen_upper_devices *upper_devices);

#endif /* BALEEN_UPPER_DEVICES_H */
