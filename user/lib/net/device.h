/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A network device, and the XDP program on it.
 */
#ifndef BALEEN_DEVICE_H
#define BALEEN_DEVICE_H

#include <baleen/port.h>

#include "util/error.h"

/**
 * enum baleen_mode - where on the receive path the program runs
 * @BALEEN_MODE_AUTO: native if the driver can, else generic
 * @BALEEN_MODE_NATIVE: in the driver
 * @BALEEN_MODE_GENERIC: behind it, on socket buffers: slower, any driver
 * @BALEEN_MODE_OFFLOAD: on the card; only reported, never asked for
 */
enum baleen_mode {
	BALEEN_MODE_AUTO,
	BALEEN_MODE_NATIVE,
	BALEEN_MODE_GENERIC,
	BALEEN_MODE_OFFLOAD,
};

/**
 * struct baleen_program - an XDP program on a device
 * @id: id of the program; 0 when there is none
 * @name: the kernel's name of it; may be empty
 * @mode: how it is attached
 */
struct baleen_program {
	u32 id;
	char name[16];
	enum baleen_mode mode;
};

/**
 * baleen_mode_text() - the mode as a word
 * @mode: the mode
 *
 * Return: "auto", "native", "generic" or "offload".
 */
const char *baleen_mode_text(enum baleen_mode mode);

/**
 * baleen_device_privileges() - may this process load and attach?
 * @error: names the first missing capability
 *
 * Return: 0 or -EPERM.
 */
int baleen_device_privileges(struct baleen_error *error);

/**
 * baleen_device_index() - the number of a device
 * @device: name of a device of this network namespace, and not of an alias
 *
 * Return: its index, or 0 when there is no such device (errno is ENODEV), or it cannot
 * be looked for.
 */
unsigned int baleen_device_index(const char *device);

/**
 * baleen_device_name() - the name of a device
 * @ifindex: number of a device of this network namespace
 * @device: its name, of up to IF_NAMESIZE bytes
 *
 * Return: whether there is such a device.
 */
bool baleen_device_name(unsigned int ifindex, char *device);

/**
 * baleen_device_expect() - from now on, a device has the name that it is to get
 * @ifindex: number of a device of this network namespace
 * @device: the name that udev gives it when its rules are done
 * @error: filled in on failure
 *
 * All of this process knows one device by another name then than the kernel.
 *
 * Return: 0; -ENODEV when no device has this number; -EEXIST when another one
 * has the name.
 */
int baleen_device_expect(unsigned int ifindex, const char *device, struct baleen_error *error);

/**
 * baleen_device_ifindex() - the device of a name
 * @device: name of a device of this network namespace
 * @ifindex: its index
 * @error: filled in on failure
 *
 * Return: 0 or -ENODEV.
 */
int baleen_device_ifindex(const char *device, int *ifindex, struct baleen_error *error);

/**
 * baleen_device_program() - the XDP program on a device
 * @ifindex: the device
 * @program: filled in; its id is 0 when there is none
 *
 * Return: 0, or a negative errno that baleen_log_reason() explains.
 */
int baleen_device_program(int ifindex, struct baleen_program *program);

#endif /* BALEEN_DEVICE_H */
