/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that a host must not drop: its own, its gateways, its resolvers
 * and the peers of its TCP sessions.
 */
#ifndef BALEEN_HOST_H
#define BALEEN_HOST_H

#include "net/links.h"
#include "net/logins.h"
#include "util/error.h"

/**
 * baleen_host_role_text() - the role in words, as in "gateway of eth0"
 * @role: the role
 *
 * Return: "address", "gateway", "resolver" or "peer of a TCP session".
 */
const char *baleen_host_role_text(enum baleen_host_role role);

/**
 * enum baleen_session_guard - the TCP sessions whose peers must not be dropped
 * @BALEEN_GUARD_OUTGOING: those that this host opened, and by which somebody is logged in
 * @BALEEN_GUARD_OWN: those by which somebody is logged in
 * @BALEEN_GUARD_ALL: all, also of everybody who reached a port
 * @BALEEN_GUARD_NONE: none
 *
 * An attacker can connect to a port that listens, so that alone protects nobody from a feed
 * or a ban.
 */
enum baleen_session_guard {
	BALEEN_GUARD_OUTGOING,
	BALEEN_GUARD_OWN,
	BALEEN_GUARD_ALL,
	BALEEN_GUARD_NONE,
};

#define BALEEN_N_GUARDS 4

/* Their names: outgoing, own, all, none. */
extern const char *const baleen_session_guards[BALEEN_N_GUARDS];

/**
 * struct baleen_host - what must not be dropped on a device
 * @ifindex: the device; 0 before the survey
 * @address: sorted; each at most once per role and session; loopback addresses and
 *           unspecified addresses are left out
 * @n: how many
 * @logins: of people, once baleen_host_guards() has asked for them
 * @has_logins: it has
 * @is_surveyed: the rest is filled in
 * @all: the same of all devices
 * @links: they, and how they are stacked
 *
 * All zeros has no addresses. baleen_host_free() frees what it has.
 */
struct baleen_host {
	int ifindex;
	struct baleen_host_address *address;
	size_t n;
	struct baleen_logins logins;
	bool has_logins;
	bool is_surveyed;
	struct baleen_address_set all;
	struct baleen_links links;
};

/**
 * baleen_host_survey() - find what must not be dropped on a device
 * @host: filled in; the host is surveyed once, for all devices and checks of one command:
 *        another device has its addresses picked out of what is there
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
 * Return: 0 or a negative errno; the addresses of @host are untouched on failure.
 */
int baleen_host_survey(struct baleen_host *host, int ifindex, struct baleen_error *error);

/**
 * baleen_host_guards() - must an address not be dropped?
 * @host: surveyed
 * @guard: which sessions count
 * @address: one of @host
 *
 * Reads /proc at the first question that needs it. Without memory for that a session
 * counts.
 *
 * Return: true of all but the peers of other sessions.
 */
bool baleen_host_guards(struct baleen_host *host, enum baleen_session_guard guard,
			const struct baleen_host_address *address);

/**
 * baleen_host_free() - free the addresses
 * @host: surveyed, or all zeros
 */
void baleen_host_free(struct baleen_host *host);

#endif /* BALEEN_HOST_H */
