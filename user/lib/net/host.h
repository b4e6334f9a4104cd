/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a host must not drop: its own, its gateways, its resolvers
 * and the peers of its TCP sessions.
 */
#ifndef BALEEN_HOST_H
#define BALEEN_HOST_H

#include "net/address_set.h"
#include "util/error.h"

/**
 * baleen_host_role_text() - the role in words, as in "gateway of eth0"
 * @role: the role
 *
 * Return: "address", "gateway", "resolver" or "peer of a TCP session".
 */
const char *baleen_host_role_text(enum baleen_host_role role);

/**
 * struct baleen_host - what must not be dropped on a device
 * @ifindex: the device; 0 before the survey
 * @address: sorted; each at most once per role and session; loopback addresses and
 *           unspecified addresses are left out
 * @n: how many
 *
 * All zeros has no addresses. baleen_host_free() frees the array.
 */
struct baleen_host {
	int ifindex;
	struct baleen_host_address *address;
	size_t n;
};

/**
 * baleen_host_survey() - find what must not be dropped on a device
 * @host: filled in; untouched when it has a survey of this device already, so that
 *        all checks of one command share one survey
 * @ifindex: the device, in the network namespace of the caller
 * @error: filled in on failure
 *
 * A bridge port or the device below a VLAN carries the packets of the device
 * above, so addresses and gateways of that are listed, too; see
 * baleen_upper_devices_find().
 *
 * Reads netlink (devices, addresses, all routing tables with multipath and IPv6
 * next hops, nexthop objects, TCP sockets) and /etc/resolv.conf. Needs no
 * privilege. A missing resolv.conf or a kernel without inet_diag is no error.
 *
 * Return: 0 or a negative errno; @host is untouched on failure.
 */
int baleen_host_survey(struct baleen_host *host, int ifindex, struct baleen_error *error);

/**
 * baleen_host_free() - free the addresses
 * @host: surveyed, or all zeros
 */
void baleen_host_free(struct baleen_host *host);

/**
 * baleen_host_resolvers() - the nameservers of a resolv.conf
 * @path: path of the file; a missing one has no nameservers
 * @out: array of addresses, to be freed by the caller, as in struct baleen_host
 * @n: how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; outputs are untouched on failure.
 */
int baleen_host_resolvers(const char *path, struct baleen_host_address **out, size_t *n,
			  struct baleen_error *error);

#endif /* BALEEN_HOST_H */
