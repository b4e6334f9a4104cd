// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the devices that get the packets a device receives.
 */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "netlink.h"
#include "uppers.h"

/* What @lower receives may go to @upper. */
struct edge {
	u32 lower;
	u32 upper;
};

struct edges {
	struct edge *edge;
	size_t n, room;
};

static int add_edge(struct edges *edges, u32 lower, u32 upper)
{
	size_t room = edges->room ? edges->room * 2 : 64;
	struct edge *grown = edges->edge;

	if (edges->n == edges->room) {
		grown = reallocarray(grown, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		edges->edge = grown;
		edges->room = room;
	}
	grown[edges->n++] = (struct edge){ lower, upper };
	return 0;
}

/* The kinds whose IFLA_LINK is the device below. Of a veth it is the peer, of
 * a tunnel the device that the wrapped packets take.
 */
static bool is_upper_kind(const char *kind)
{
	static const char *const kinds[] = {
		"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

/* @info: IFLA_LINKINFO */
static bool is_upper(const struct nlattr *info)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested (attr, info)
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			return !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
			       is_upper_kind(mnl_attr_get_str(attr));
	return false;
}

static int visit_link(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	u32 master = 0, lower = 0;
	bool is_here = true, is_above = false;
	const struct nlattr *attr;
	int err = 0;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(*header))
		return MNL_CB_OK;
	mnl_attr_for_each (attr, message, sizeof(*header)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_MASTER: master = baleen_netlink_u32(attr); break;
		case IFLA_LINK: lower = baleen_netlink_u32(attr); break;
		/* The device below is in another namespace, and numbered there. */
		case IFLA_LINK_NETNSID: is_here = false; break;
		case IFLA_LINKINFO: is_above = is_upper(attr); break;
		}
	}
	if (master)
		err = add_edge(data, header->ifi_index, master);
	if (!err && lower && is_here && is_above)
		err = add_edge(data, lower, header->ifi_index);
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

static void add_distinct(struct baleen_uppers *uppers, u32 ifindex)
{
	for (size_t i = 0; i < uppers->n; i++)
		if (uppers->ifindex[i] == ifindex)
			return;
	uppers->ifindex[uppers->n++] = ifindex;
}

static int compare(const void *left, const void *right)
{
	u32 a = *(const u32 *)left, b = *(const u32 *)right;

	return (a > b) - (a < b);
}

/* Each edge adds at most one device, whichever way they turn. */
static int follow(const struct edges *edges, u32 ifindex, struct baleen_uppers *uppers)
{
	struct baleen_uppers found = { .n = 1 };

	found.ifindex = calloc(edges->n + 1, sizeof(*found.ifindex));
	if (!found.ifindex)
		return -ENOMEM;
	found.ifindex[0] = ifindex;
	for (size_t i = 0; i < found.n; i++)
		for (size_t j = 0; j < edges->n; j++)
			if (edges->edge[j].lower == found.ifindex[i])
				add_distinct(&found, edges->edge[j].upper);
	qsort(found.ifindex, found.n, sizeof(*found.ifindex), compare);
	*uppers = found;
	return 0;
}

int baleen_uppers_find(u32 ifindex, struct baleen_uppers *uppers, struct baleen_error *error)
{
	static const struct ifinfomsg every_device;
	struct edges edges = { 0 };
	int err = baleen_netlink_dump(NETLINK_ROUTE, RTM_GETLINK, &every_device,
				      sizeof(every_device), visit_link, &edges);

	if (!err)
		err = follow(&edges, ifindex, uppers);
	free(edges.edge);
	if (err)
		return baleen_fail(error, -err, "cannot list the devices of the host: %s",
				   strerror(-err));
	return 0;
}

bool baleen_uppers_has(const struct baleen_uppers *uppers, u32 ifindex)
{
	return uppers->n && bsearch(&ifindex, uppers->ifindex, uppers->n, sizeof(ifindex), compare);
}

void baleen_uppers_free(struct baleen_uppers *uppers)
{
	free(uppers->ifindex);
	*uppers = (struct baleen_uppers){ 0 };
}
