// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Waiting for network devices to appear, change their name, or go. */
#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/link_wait.h"
#include "net/netlink.h"

int baleen_link_wait_open(struct baleen_error *error)
{
	return baleen_netlink_listen(RTMGRP_LINK, 0, "network devices", error);
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
