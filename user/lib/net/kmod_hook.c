// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Does the kernel module already filter a device? */
#include <fcntl.h>
#include <linux/baleen.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net/kmod_hook.h"

bool baleen_kmod_has_rules(unsigned int ifindex)
{
	int fd = open(BALEEN_KMOD_NODE, O_RDONLY | O_CLOEXEC | O_NOCTTY), err;
	struct baleen_dev_binding binding = { .ifindex = ifindex };

	if (fd < 0)
		return false;
	err = ioctl(fd, BALEEN_DEV_BINDING, &binding);
	close(fd);
	return !err;
}
