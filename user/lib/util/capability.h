/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capabilities of this process: capabilities(7). */
#ifndef BALEEN_CAPABILITY_H
#define BALEEN_CAPABILITY_H

#include <errno.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * struct baleen_capabilities - the effective ones of this process
 * @data: as capget(2) has them
 */
struct baleen_capabilities {
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

/**
 * baleen_capabilities_read() - ask for them
 * @capabilities: filled in; none on failure
 *
 * Return: 0 or a negative errno.
 */
static inline int baleen_capabilities_read(struct baleen_capabilities *capabilities)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	*capabilities = (struct baleen_capabilities){ 0 };
	return syscall(SYS_capget, &header, capabilities->data) ? -errno : 0;
}

/**
 * baleen_capabilities_has() - is it among them?
 * @capabilities: read
 * @capability: such as CAP_NET_ADMIN
 *
 * Return: true or false.
 */
static inline bool baleen_capabilities_has(const struct baleen_capabilities *capabilities,
					   int capability)
{
	return capabilities->data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

#endif /* BALEEN_CAPABILITY_H */
