/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The settings of a network device's driver, as ethtool(8) shows them.
 */
#ifndef BALEEN_ETHTOOL_H
#define BALEEN_ETHTOOL_H

#include <baleen/port.h>

#define BALEEN_DRIVER_BYTES 32

/**
 * struct baleen_ethtool_feature - an offload of a device
 * @is_known: the kernel has it
 * @is_on: it is on
 * @is_fixed: it cannot be changed
 */
struct baleen_ethtool_feature {
	bool is_known;
	bool is_on;
	bool is_fixed;
};

/**
 * struct baleen_ethtool_channels - the receive queues of a device
 * @n: how many there are
 * @max: how many there can be
 * @is_combined: they go by pairs with transmit queues (`combined`), not alone (`rx`)
 */
struct baleen_ethtool_channels {
	u32 n;
	u32 max;
	bool is_combined;
};

/**
 * baleen_ethtool_feature() - look at an offload
 * @device: name of a device of this network namespace
 * @name: the kernel's name of it, such as "rx-lro"
 * @feature: filled in, with is_known false when the device has none of that name
 *
 * Return: 0 or a negative errno.
 */
int baleen_ethtool_feature(const char *device, const char *name,
			   struct baleen_ethtool_feature *feature);

/**
 * baleen_ethtool_channels() - count receive queues
 * @device: name of a device of this network namespace
 * @channels: filled in
 *
 * Return: 0; -EOPNOTSUPP when the driver does not say; a negative errno.
 */
int baleen_ethtool_channels(const char *device, struct baleen_ethtool_channels *channels);

/**
 * baleen_ethtool_driver() - the driver of a device
 * @device: name of a device of this network namespace
 * @driver: at least BALEEN_DRIVER_BYTES bytes
 *
 * Return: 0; -EOPNOTSUPP when it has no name; a negative errno.
 */
int baleen_ethtool_driver(const char *device, char *driver);

/**
 * baleen_ethtool_strips_tags() - does the device take VLAN tags off frames?
 * @device: name of a device of this network namespace
 *
 * Such a tag (rxvlan of ethtool) travels beside the frame, where no XDP program
 * sees it.
 *
 * Return: true when the offload is on; false when it is off or unknown.
 */
bool baleen_ethtool_strips_tags(const char *device);

#endif /* BALEEN_ETHTOOL_H */
