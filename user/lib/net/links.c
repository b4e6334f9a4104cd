// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The network devices of this namespace and what hangs together. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/links.h"
#include "net/netlink.h"
#include "util/array.h"

/* Copied from linux/netdev.h, Linux 6.3, and linux/bpf.h, Linux 6.6. */
#define NETDEV_FAMILY "netdev"
#define NETDEV_CMD_DEV_GET 1
#define NETDEV_A_DEV_IFINDEX 1
#define NETDEV_A_DEV_XDP_FEATURES 3
#define TCX_INGRESS 46

#define MAX_TCX 64
#define MAX_BPF_LINKS 4096

/* --- devices --------------------------------------------------------------- */

static void copy_text(const struct nlattr *attr, char *text, size_t bytes)
{
	if (!mnl_attr_validate(attr, MNL_TYPE_NUL_STRING))
		snprintf(text, bytes, "%s", mnl_attr_get_str(attr));
}

static void read_kind(const struct nlattr *info, struct baleen_link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info)
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			copy_text(attr, link->kind, sizeof(link->kind));
}

/* For a veth, IFLA_LINK is the peer; for a tunnel, the device that its packets leave by. */
static bool is_made_of_another(const char *kind)
{
	static const char *const kinds[] = {
		"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static void read_link(const struct nlmsghdr *message, struct baleen_link *link)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	bool is_here = true;

	*link = (struct baleen_link){ .ifindex = header->ifi_index, .flags = header->ifi_flags };
	mnl_attr_for_each(attr, message, sizeof(*header)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME: copy_text(attr, link->name, sizeof(link->name)); break;
		case IFLA_MTU: link->mtu = baleen_netlink_u32(attr); break;
		case IFLA_PROMISCUITY: link->n_promiscuous = baleen_netlink_u32(attr); break;
		case IFLA_MASTER: link->master = baleen_netlink_u32(attr); break;
		case IFLA_LINK: link->lower = baleen_netlink_u32(attr); break;
		case IFLA_LINK_NETNSID: is_here = false; break;
		case IFLA_LINKINFO: read_kind(attr, link); break;
		}
	}
	if (!is_here || !is_made_of_another(link->kind))
		link->lower = 0;
}

/* A dump that is asked for again comes to devices it has had. */
static int visit_link(const struct nlmsghdr *message, void *data)
{
	struct baleen_links *links = data;
	struct baleen_link link;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct ifinfomsg))
		return MNL_CB_OK;
	read_link(message, &link);
	for (size_t i = 0; i < links->n; i++) {
		if (links->link[i].ifindex == link.ifindex) {
			links->link[i] = link;
			return MNL_CB_OK;
		}
	}
	if (baleen_array_add(&links->link, links->n)) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	links->link[links->n++] = link;
	return MNL_CB_OK;
}

int baleen_links_read_on(struct baleen_netlink *netlink, struct baleen_links *links,
			 struct baleen_error *error)
{
	static const struct ifinfomsg every_device;
	struct baleen_links found = { 0 };
	int err = baleen_netlink_dump_on(netlink, RTM_GETLINK, &every_device, sizeof(every_device),
					 visit_link, &found);

	if (err) {
		free(found.link);
		return baleen_fail(error, -err, "cannot list the devices of the host: %s",
				   strerror(-err));
	}
	*links = found;
	return 0;
}

int baleen_links_read(struct baleen_links *links, struct baleen_error *error)
{
	struct baleen_netlink route = { .bus = NETLINK_ROUTE };
	int err = baleen_links_read_on(&route, links, error);

	baleen_netlink_close(&route);
	return err;
}

void baleen_links_free(struct baleen_links *links)
{
	free(links->link);
	*links = (struct baleen_links){ 0 };
}

const struct baleen_link *baleen_links_find(const struct baleen_links *links, u32 ifindex)
{
	for (size_t i = 0; i < links->n; i++)
		if (links->link[i].ifindex == ifindex)
			return &links->link[i];
	return NULL;
}

/* --- what the driver can --------------------------------------------------- */

/* @data: u16, the number of the family, once it is found */
static int visit_family(const struct nlmsghdr *message, void *data)
{
	const struct nlattr *attr;
	bool is_it = false;
	u16 id = 0;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_NAME)
			is_it = !mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) &&
				!strcmp(mnl_attr_get_str(attr), NETDEV_FAMILY);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			id = mnl_attr_validate(attr, MNL_TYPE_U16) ? 0 : mnl_attr_get_u16(attr);
	}
	if (is_it)
		*(u16 *)data = id;
	return MNL_CB_OK;
}

struct abilities {
	u32 ifindex;
	bool is_found;
	u64 features;
};

static int visit_abilities(const struct nlmsghdr *message, void *data)
{
	struct abilities *wanted = data;
	const struct nlattr *attr;
	u64 features = 0;
	u32 ifindex = 0;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return MNL_CB_OK;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == NETDEV_A_DEV_IFINDEX)
			ifindex = baleen_netlink_u32(attr);
		else if (mnl_attr_get_type(attr) == NETDEV_A_DEV_XDP_FEATURES &&
			 !mnl_attr_validate(attr, MNL_TYPE_U64))
			features = mnl_attr_get_u64(attr);
	}
	if (ifindex == wanted->ifindex) {
		wanted->is_found = true;
		wanted->features = features;
	}
	return MNL_CB_OK;
}

int baleen_links_xdp_features(u32 ifindex, u64 *features)
{
	struct genlmsghdr families = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	struct genlmsghdr devices = { .cmd = NETDEV_CMD_DEV_GET, .version = 1 };
	struct abilities wanted = { .ifindex = ifindex };
	u16 family = 0;
	int err = baleen_netlink_dump(NETLINK_GENERIC, GENL_ID_CTRL, &families, sizeof(families),
				      visit_family, &family);

	if (!err && !family)
		err = -ENOENT;
	if (!err)
		err = baleen_netlink_dump(NETLINK_GENERIC, family, &devices, sizeof(devices),
					  visit_abilities, &wanted);
	if (!err && !wanted.is_found)
		err = -ENOENT;
	if (!err)
		*features = wanted.features;
	return err;
}

/* --- others on the way ----------------------------------------------------- */

/* @data: u32, filters that have a handle: each kind shows itself without one first */
static int visit_filter(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *header = mnl_nlmsg_get_payload(message);

	if (mnl_nlmsg_get_payload_len(message) >= sizeof(*header) && header->tcm_handle)
		++*(u32 *)data;
	return MNL_CB_OK;
}

int baleen_links_count_tc(u32 ifindex, u32 *n_filters, u32 *n_programs)
{
	struct tcmsg request = { .tcm_ifindex = ifindex,
				 .tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS) };
	u32 filters = 0, programs[MAX_TCX], n = MAX_TCX, flags;
	int err = baleen_netlink_dump(NETLINK_ROUTE, RTM_GETTFILTER, &request, sizeof(request),
				      visit_filter, &filters);

	/* No filters can be there without a qdisc for them, or without tc. */
	if (err && err != -EINVAL && err != -ENOENT && err != -EOPNOTSUPP)
		return err;
	err = bpf_prog_query(ifindex, TCX_INGRESS, 0, &flags, programs, &n);
	*n_filters = filters;
	*n_programs = err ? 0 : n;
	return 0;
}

u32 baleen_links_bpf_link(u32 ifindex, u32 program_id)
{
	u32 id = 0, found = 0;

	for (u32 i = 0; i < MAX_BPF_LINKS && !found && !bpf_link_get_next_id(id, &id); i++) {
		struct bpf_link_info info = { 0 };
		u32 bytes = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.type == BPF_LINK_TYPE_XDP &&
		    info.xdp.ifindex == ifindex && info.prog_id == program_id)
			found = info.id;
		close(fd);
	}
	return found;
}
