/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a host must not drop: its own, its gateways, its resolvers
 * and the peers of its TCP sessions.
 */
#ifndef BALEEN_HOST_H
#define BALEEN_HOST_H

#include <baleen/key.h>

#include "util/error.h"

/**
 * enum baleen_host_role - why an address must not be dropped
 * @BALEEN_HOST_OWN: an address of the device, or of one above it
 * @BALEEN_HOST_GATEWAY: a next hop of a route through one of these devices
 * @BALEEN_HOST_RESOLVER: a nameserver of /etc/resolv.conf
 * @BALEEN_HOST_PEER: the peer of an established TCP session
 */
enum baleen_host_role {
	BALEEN_HOST_OWN,
	BALEEN_HOST_GATEWAY,
	BALEEN_HOST_RESOLVER,
	BALEEN_HOST_PEER,
};

/**
 * struct baleen_host_session - what else is known of a TCP session with a peer
 * @own: our address
 * @port: our port
 * @peer_port: the peer's port
 */
struct baleen_host_session {
	struct baleen_key own;
	u16 port;
	u16 peer_port;
};

/**
 * struct baleen_host_address - one address that must not be dropped
 * @role: why
 * @key: the address
 * @session: of a peer; else all zeros
 */
struct baleen_host_address {
	enum baleen_host_role role;
	struct baleen_key key;
	struct baleen_host_session session;
};

/**
 * baleen_host_role_text() - the role in words, as in "gateway of eth0"
 * @role: the role
 *
 * Return: "address", "gateway", "resolver" or "peer of a TCP session".
 */
const char *baleen_host_role_text(enum baleen_host_role role);

/**
 * baleen_host_addresses() - what must not be dropped on a device
 * @ifindex: the device, in the network namespace of the caller
 * @out: array of addresses, to be freed by the caller, sorted; each at most
 *       once per role and session; loopback addresses and unspecified addresses
 *       are left out
 * @n: how many
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
 * Return: 0 or a negative errno; outputs are untouched on failure.
 */
int baleen_host_addresses(int ifindex, struct baleen_host_address **out, size_t *n,
			  struct baleen_error *error);

/**
 * baleen_host_resolvers() - the nameservers of a resolv.conf
 * @path: of the file; a missing one has no nameservers
 * @out: array of addresses, as for baleen_host_addresses()
 * @n: how many
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno; outputs are untouched on failure.
 */
int baleen_host_resolvers(const char *path, struct baleen_host_address **out, size_t *n,
			  struct baleen_error *error);

#endif /* BALEEN_HOST_H */
