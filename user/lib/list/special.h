/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses that no list of strangers may hold: private, link-local, multicast
 * and the other special-purpose ranges of IANA's registries (RFC 6890).
 *
 * In the table is what is not globally reachable, and NAT64's well-known prefix: behind it is
 * all of IPv4, and a wide prefix of a list, such as ::/8, does not mean it. Not in it, though
 * registered:
 *
 * - 2002::/16, and Teredo's 2001::/32: each address there stands for one IPv4
 *   host and sends packets as that host. A list that names some means them.
 * - AS112, AMT and other anycast services (192.31.196.0/24, 2001:1::/32, ...):
 *   they are hosts of the internet as any other.
 */
#ifndef BALEEN_SPECIAL_H
#define BALEEN_SPECIAL_H

#include "list/list.h"

#define BALEEN_N_SPECIAL 31

/**
 * struct baleen_special - a special-purpose range
 * @prefix: as text
 * @name: what it is for
 * @source: the RFC
 *
 * No two of them overlap.
 */
struct baleen_special {
	const char *prefix;
	const char *name;
	const char *source;
};

/* IPv4 before IPv6, in ascending order. */
extern const struct baleen_special baleen_special[BALEEN_N_SPECIAL];

/* A list of those that are nobody's, each with what it is behind it: hosts that have no address yet
 * send from 0.0.0.0 and ::, and ask all by 255.255.255.255.
 */
extern const char baleen_special_nobody[];

/**
 * struct baleen_special_removed - the entries removed from a set
 * @n_entries: by range, as in baleen_special: hosts and, of IPv4, disjoint
 *             intervals, of IPv6 prefixes, that were in the range or reached
 *             into it
 * @n_ip4: by range: IPv4 addresses
 * @n_ranges: how many ranges had any
 */
struct baleen_special_removed {
	u64 n_entries[BALEEN_N_SPECIAL];
	u64 n_ip4[BALEEN_N_SPECIAL];
	u32 n_ranges;
};

/**
 * baleen_special_span() - one of these ranges
 * @i: its index in baleen_special
 *
 * Return: its addresses.
 */
struct baleen_span baleen_special_span(u32 i);

/**
 * baleen_special_find() - which range is an address in?
 * @key: key of domain BALEEN_IP4 or BALEEN_IP6
 *
 * Return: one of baleen_special, or NULL.
 */
const struct baleen_special *baleen_special_find(const struct baleen_key *key);

/**
 * baleen_special_count() - how much of a set is in special-purpose ranges?
 * @list: finished; keys of several fields are in none
 * @inside: filled in: entries as baleen_special_remove() would remove them
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_special_count(const struct baleen_list *list, struct baleen_special_removed *inside);

/**
 * baleen_special_total() - the entries of all ranges
 * @removed: counted
 *
 * Return: the sum.
 */
u64 baleen_special_total(const struct baleen_special_removed *removed);

/**
 * baleen_special_list() - all of these ranges as a set
 * @key_spec: an address
 * @set: filled in, to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_special_list(u32 key_spec, struct baleen_list *set, struct baleen_error *error);

/**
 * baleen_special_whole() - is a whole network of these in the set?
 * @removed: counted
 *
 * Lists of strangers that are meant for the edge of the internet have such: 10.0.0.0/8 and
 * the like. Hosts and small networks are those that somebody means.
 *
 * Return: the first IPv4 range of 65,536 addresses or more that is in the set as a whole, or
 * NULL.
 */
const struct baleen_special *baleen_special_whole(const struct baleen_special_removed *removed);

/**
 * baleen_special_remove() - take the special-purpose ranges out of a set
 * @list: finished; keys of several fields are left alone. Its counts of lines
 *        and entries stay what they were
 * @removed: filled in
 *
 * Both are untouched on failure.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_special_remove(struct baleen_list *list, struct baleen_special_removed *removed);

/**
 * baleen_special_nobody_list() - baleen_special_nobody as a set
 * @key_spec: an address
 * @set: filled in, to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_special_nobody_list(u32 key_spec, struct baleen_list *set, struct baleen_error *error);

/**
 * baleen_special_leave_nobody() - take what is nobody's out of a set
 * @list: finished; keys of several fields are left alone. Its counts of lines and entries stay
 *        what they were
 * @n: how many of them were in it
 *
 * Both are untouched on failure.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_special_leave_nobody(struct baleen_list *list, u64 *n);

#endif /* BALEEN_SPECIAL_H */
