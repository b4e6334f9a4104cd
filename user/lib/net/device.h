/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A network device, and the XDP program on it.
 *
 * What goes out by a device has rules of its own. Its name is that of the device with
 * @egress behind it, its number that of the device with a minus:
 *
 *      eth0            3       what comes in, by XDP
 *      eth0@egress    -3       what goes out, by tc
 *
 * So whatever is kept by name or number is kept for each of them. What asks the kernel
 * about the device itself takes baleen_device_real() of the number.
 */
#ifndef BALEEN_DEVICE_H
#define BALEEN_DEVICE_H

#include <baleen/port.h>
#include <net/if.h>

#include "util/error.h"

#define BALEEN_EGRESS "@egress"

/* Room for the name of a device, or of what goes out by it. */
#define BALEEN_POINT_BYTES (IF_NAMESIZE + sizeof(BALEEN_EGRESS) - 1)

/**
 * enum baleen_mode - where on the receive path the program runs
 * @BALEEN_MODE_AUTO: native if the driver can, else generic
 * @BALEEN_MODE_NATIVE: in the driver
 * @BALEEN_MODE_GENERIC: behind it, on socket buffers: slower, any driver
 * @BALEEN_MODE_OFFLOAD: on the card; only reported, never asked for
 * @BALEEN_MODE_EGRESS: of what goes out; only reported, never asked for
 */
enum baleen_mode {
	BALEEN_MODE_AUTO,
	BALEEN_MODE_NATIVE,
	BALEEN_MODE_GENERIC,
	BALEEN_MODE_OFFLOAD,
	BALEEN_MODE_EGRESS,
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
 * Return: "auto", "native", "generic", "offload" or "egress".
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
 * baleen_device_is_egress() - is it the name of what goes out?
 * @device: a name
 *
 * Return: true when it ends in @egress.
 */
bool baleen_device_is_egress(const char *device);

/**
 * baleen_device_base() - the device of a name
 * @device: name of a device, or of what goes out by it
 * @base: filled in, of BALEEN_POINT_BYTES: the name without @egress
 *
 * Return: @base.
 */
const char *baleen_device_base(const char *device, char *base);

/**
 * baleen_device_egress() - the name of what goes out by a device
 * @device: name of the device, or of what goes out by it
 * @egress: filled in, of BALEEN_POINT_BYTES
 *
 * Return: 0; -ENAMETOOLONG when no device can be called @device.
 */
int baleen_device_egress(const char *device, char *egress);

/**
 * baleen_device_is_name() - can a device be called so?
 * @device: a name, with or without @egress
 *
 * Return: true when it can.
 */
bool baleen_device_is_name(const char *device);

/**
 * baleen_device_real() - the number that the kernel has for a device
 * @ifindex: number of the device, or of what goes out by it
 *
 * Return: the number of the device.
 */
int baleen_device_real(int ifindex);

/**
 * baleen_device_has_ethernet() - do its frames have a header of Ethernet?
 * @ifindex: number of the device, or of what goes out by it
 * @has_ethernet: false of tun, WireGuard and tunnels of IP; untouched on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_device_has_ethernet(int ifindex, bool *has_ethernet);

/**
 * baleen_device_index() - the number of a device
 * @device: name of a device of this network namespace, and not of an alias
 *
 * Return: its index, of what goes out by it with a minus, or 0 when there is no such device
 * (errno is ENODEV), or it cannot be looked for.
 */
int baleen_device_index(const char *device);

/**
 * baleen_device_name() - the name of a device
 * @ifindex: number of a device of this network namespace, or of what goes out by it
 * @device: its name, of up to BALEEN_POINT_BYTES
 *
 * Return: whether there is such a device.
 */
bool baleen_device_name(int ifindex, char *device);

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
 * @ifindex: the device; of what goes out by it nothing is told
 * @program: filled in; its id is 0 when there is none
 *
 * Return: 0 or a negative errno.
 */
int baleen_device_program(int ifindex, struct baleen_program *program);

/**
 * baleen_device_look() - the name of a device and the XDP program on it, as of one moment
 * @ifindex: the device
 * @device: filled in, of BALEEN_POINT_BYTES: its name
 * @program: filled in, but for its name; its id is 0 when there is none
 *
 * Return: 0; -ENODEV; a negative errno.
 */
int baleen_device_look(int ifindex, char *device, struct baleen_program *program);

/**
 * baleen_program_name() - the kernel's name of a program
 * @program: its name is filled in; empty when the kernel does not tell
 */
void baleen_program_name(struct baleen_program *program);

#endif /* BALEEN_DEVICE_H */
