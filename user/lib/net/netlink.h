/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the kernel for a list over netlink, and listens to its news.
 */
#ifndef BALEEN_NETLINK_H
#define BALEEN_NETLINK_H

#include <libmnl/libmnl.h>

#include <baleen/port.h>

struct baleen_error;

/**
 * struct baleen_netlink - a socket for several dumps, one after the other
 * @bus: NETLINK_ROUTE, NETLINK_SOCK_DIAG, ...
 * @socket: NULL before the first dump, and after one that failed
 */
struct baleen_netlink {
	int bus;
	struct mnl_socket *socket;
};

/**
 * baleen_netlink_dump_on() - everything of one type that the kernel has
 * @netlink: opened by the first dump; close with baleen_netlink_close()
 * @type: nlmsg_type of the request
 * @header: fixed header of the request, which follows the netlink header
 * @header_bytes: its size, at most 128
 * @visit: called for each message with @data; returns MNL_CB_OK, or
 *         MNL_CB_ERROR with errno set
 * @data: passed to @visit
 *
 * A dump that something changed under is asked for again, a few times; @visit
 * then sees messages twice.
 *
 * Return: 0 or a negative errno, from the kernel or from @visit; -EINTR when
 * something changed under every dump.
 */
int baleen_netlink_dump_on(struct baleen_netlink *netlink, u16 type, const void *header,
			   size_t header_bytes, mnl_cb_t visit, void *data);

/**
 * baleen_netlink_dump() - the same, on a socket of its own
 * @bus: NETLINK_ROUTE, NETLINK_SOCK_DIAG, ...
 * @type: as for baleen_netlink_dump_on()
 * @header: as there
 * @header_bytes: as there
 * @visit: as there
 * @data: as there
 *
 * Return: as there.
 */
int baleen_netlink_dump(int bus, u16 type, const void *header, size_t header_bytes, mnl_cb_t visit,
			void *data);

/**
 * baleen_netlink_ask() - the one thing of a type that a request names
 * @bus: NETLINK_ROUTE, NETLINK_SOCK_DIAG, ...
 * @type: as for baleen_netlink_dump_on()
 * @header: as there
 * @header_bytes: as there
 * @visit: called with the answer; returns MNL_CB_STOP, or MNL_CB_ERROR with errno set
 * @data: passed to @visit
 *
 * Return: 0 or a negative errno, from the kernel (-ENODEV) or from @visit.
 */
int baleen_netlink_ask(int bus, u16 type, const void *header, size_t header_bytes, mnl_cb_t visit,
		       void *data);

/**
 * baleen_netlink_close() - close the socket
 * @netlink: all zeros but the bus, or used for dumps
 */
void baleen_netlink_close(struct baleen_netlink *netlink);

/**
 * baleen_netlink_listen() - be told when links, addresses or routes change
 * @groups: RTMGRP_LINK, ...
 * @buffer_bytes: room for news that were not read yet; 0 for the system's. More than
 *                net.core.rmem_max needs CAP_NET_ADMIN of the host
 * @subject: their name in a message ("routes")
 * @error: filled on failure; may be NULL
 *
 * Return: a non-blocking file descriptor to read messages from, or a negative errno.
 */
int baleen_netlink_listen(u32 groups, u32 buffer_bytes, const char *subject,
			  struct baleen_error *error);

/**
 * baleen_netlink_u32() - the number of an attribute
 * @attr: the attribute
 *
 * Return: the number; 0 when the attribute is too short for one.
 */
static inline u32 baleen_netlink_u32(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_U32) ? 0 : mnl_attr_get_u32(attr);
}

#endif /* BALEEN_NETLINK_H */
