/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the kernel for a list over netlink.
 */
#ifndef BALEEN_NETLINK_H
#define BALEEN_NETLINK_H

#include <libmnl/libmnl.h>

#include <baleen/port.h>

/**
 * baleen_netlink_dump() - everything of one type that the kernel has
 * @bus: NETLINK_ROUTE, NETLINK_SOCK_DIAG, ...
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
int baleen_netlink_dump(int bus, u16 type, const void *header, size_t header_bytes, mnl_cb_t visit,
			void *data);

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
