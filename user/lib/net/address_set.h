/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing set of addresses, each with the role it was found in.
 */
#ifndef BALEEN_ADDRESS_SET_H
#define BALEEN_ADDRESS_SET_H

#include <baleen/key.h>

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
 * @inode: of the socket; 0 when no process has it any more
 * @is_outgoing: this host opened it: nothing listens on our port
 */
struct baleen_host_session {
	struct baleen_key own;
	u16 port;
	u16 peer_port;
	u32 inode;
	bool is_outgoing;
};

/**
 * struct baleen_host_address - one address that must not be dropped
 * @role: why
 * @key: the address
 * @session: session of a peer; else all zeros
 * @ifindex: the device that it is an address of, or that leads to the gateway; 0 for the whole
 *           host, and where one device is spoken of
 */
struct baleen_host_address {
	enum baleen_host_role role;
	struct baleen_key key;
	struct baleen_host_session session;
	u32 ifindex;
};

/**
 * struct baleen_address_set - addresses and their roles
 * @address: sorted and distinct after baleen_address_set_sort(); to be freed
 * @n: how many
 * @room: allocated
 *
 * All zeros is an empty set.
 */
struct baleen_address_set {
	struct baleen_host_address *address;
	size_t n;
	size_t room;
};

/**
 * baleen_address_key() - key of an address as the kernel has it
 * @bytes: the address in network order
 * @n_bytes: 4 or 16; other families have other lengths
 * @key: the key; that of an IPv4-mapped IPv6 address is IPv4
 *
 * Return: true, or false when the address is not of IP; @key is then untouched.
 */
bool baleen_address_key(const void *bytes, size_t n_bytes, struct baleen_key *key);

/**
 * baleen_address_set_add() - add an address
 * @set: the set
 * @address: the address; a loopback or unspecified one is passed over
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_address_set_add(struct baleen_address_set *set,
			   const struct baleen_host_address *address);

/**
 * baleen_address_set_sort() - sort by role, address and session, drop duplicates
 * @set: the set
 */
void baleen_address_set_sort(struct baleen_address_set *set);

#endif /* BALEEN_ADDRESS_SET_H */
