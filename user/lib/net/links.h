/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The network devices of this namespace and how they are stacked, with the
 * programs and abilities of one of them, as netlink tells it.
 */
#ifndef BALEEN_LINKS_H
#define BALEEN_LINKS_H

#include <net/if.h>

#include <baleen/port.h>

#include "util/error.h"

#define BALEEN_LINK_KIND_BYTES 16

struct baleen_netlink;

/**
 * struct baleen_link - a network device
 * @ifindex: its number
 * @name: its name
 * @kind: kind of a virtual device, such as "veth" or "bond"; else empty
 * @flags: IFF_UP and the others
 * @mtu: its MTU, bytes
 * @n_promiscuous: number of requests for promiscuous mode
 * @master: number of the bridge, bond ... it is a port of; 0 for none
 * @lower: number of the device it is made of (a VLAN's, not a veth's peer); 0 for
 *         none, or one of another namespace
 */
struct baleen_link {
	u32 ifindex;
	char name[IF_NAMESIZE];
	char kind[BALEEN_LINK_KIND_BYTES];
	u32 flags;
	u32 mtu;
	u32 n_promiscuous;
	u32 master;
	u32 lower;
};

/**
 * struct baleen_links - all devices of a network namespace
 * @link: in the kernel's order
 * @n: how many
 */
struct baleen_links {
	struct baleen_link *link;
	size_t n;
};

/**
 * baleen_links_read() - list the devices
 * @links: filled in; to be freed by baleen_links_free()
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_links_read(struct baleen_links *links, struct baleen_error *error);

/**
 * baleen_links_read_on() - the same, on a socket that has more to do
 * @netlink: a socket of NETLINK_ROUTE
 * @links: as for baleen_links_read()
 * @error: filled in on failure
 *
 * Return: as baleen_links_read().
 */
int baleen_links_read_on(struct baleen_netlink *netlink, struct baleen_links *links,
			 struct baleen_error *error);

/**
 * baleen_links_free() - free the list
 * @links: read, or all zeros
 */
void baleen_links_free(struct baleen_links *links);

/**
 * baleen_links_find() - the device of a number
 * @links: read
 * @ifindex: its number
 *
 * Return: the device, or NULL.
 */
const struct baleen_link *baleen_links_find(const struct baleen_links *links, u32 ifindex);

/* Copied from linux/netdev.h, Linux 6.3, which Debian 12 does not have. */
#define BALEEN_XDP_BASIC 1u  /* native programs */
#define BALEEN_XDP_RX_SG 32u /* frames of several buffers */

/**
 * baleen_links_xdp_features() - what XDP the driver of a device can do
 * @ifindex: the device
 * @features: filled in: BALEEN_XDP_BASIC and others
 *
 * Return: 0; -ENOENT when the kernel does not tell (before 6.3); a negative errno.
 */
int baleen_links_xdp_features(u32 ifindex, u64 *features);

/**
 * baleen_links_count_tc() - programs and filters of tc on what a device receives
 * @ifindex: the device
 * @n_filters: filled in: filters at clsact or ingress
 * @n_programs: filled in: BPF programs attached by tcx, Linux 6.6
 *
 * Return: 0 or a negative errno.
 */
int baleen_links_count_tc(u32 ifindex, u32 *n_filters, u32 *n_programs);

/**
 * baleen_links_bpf_link() - the BPF link that holds a program on a device
 * @ifindex: the device
 * @program_id: id of the program
 *
 * Return: its number, or 0 when there is none, or it may not be looked for
 * (CAP_SYS_ADMIN).
 */
u32 baleen_links_bpf_link(u32 ifindex, u32 program_id);

#endif /* BALEEN_LINKS_H */
