// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waiting for network devices to appear, change their name, or go. */
#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/link_wait.h"

int baleen_link_wait_open(struct baleen_error *error)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd < 0)
		return baleen_fail(error, errno, "cannot listen for network devices: %m");
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address))) {
		int err = baleen_fail(error, errno, "cannot listen for network devices: %m");

		close(fd);
		return err;
	}
	return fd;
}

/* An overflow of the socket's buffer is an event as well. */
static void drain(int fd)
{
	char bytes[16384];
	int n = 0;

	while (n++ < 1024 && (recv(fd, bytes, sizeof(bytes), 0) > 0 || errno == ENOBUFS))
		;
}

bool baleen_link_wait(int fd, u64 timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (poll(&pollfd, 1, timeout_ms < INT_MAX ? timeout_ms : INT_MAX) <= 0)
		return false;
	drain(fd);
	return true;
}
