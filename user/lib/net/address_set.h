/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing set of addresses, each with the role it was found in.
 */
#ifndef BALEEN_ADDRESS_SET_H
#define BALEEN_ADDRESS_SET_H

#include "net/host.h"

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
 * @role: why it must not be dropped
 * @key: the address; a loopback or unspecified one is passed over
 * @session: with a peer, or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_address_set_add(struct baleen_address_set *set, enum baleen_host_role role,
			   const struct baleen_key *key, const struct baleen_host_session *session);

/**
 * baleen_address_set_sort() - sort by role, address and session, drop duplicates
 * @set: the set
 */
void baleen_address_set_sort(struct baleen_address_set *set);

#endif /* BALEEN_ADDRESS_SET_H */
