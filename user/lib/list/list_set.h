/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two halves of baleen_list_finish(): what a sorted list makes of the
 * addresses of one family.
 */
#ifndef BALEEN_LIST_SET_H
#define BALEEN_LIST_SET_H

#include "list/list.h"

/**
 * struct baleen_set4 - what the IPv4 prefixes of a list come to
 * @net4: disjoint intervals that do not touch, hosts among them
 * @n_net4: how many
 * @n_hosts: of them, hosts
 * @n_covered: prefixes and exceptions that change nothing
 */
struct baleen_set4 {
	struct baleen_net4 *net4;
	size_t n_net4;
	size_t n_hosts;
	u64 n_covered;
};

/**
 * baleen_set4_make() - cut the exceptions out of the prefixes
 * @list: sorted; grows room for @set->n_hosts more IPv4 hosts
 * @set: filled in
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_set4_make(struct baleen_list *list, struct baleen_set4 *set);

/**
 * baleen_set4_commit() - replace hosts and prefixes of the list by the set
 * @list: the list
 * @set: the set; belongs to @list from now on
 */
void baleen_set4_commit(struct baleen_list *list, struct baleen_set4 *set);

/**
 * baleen_set6_reserve() - room for what baleen_set6_make() needs
 * @list: the list
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_set6_reserve(struct baleen_list *list);

/**
 * baleen_set6_make() - reduce IPv6 hosts and prefixes to the fewest
 * @list: sorted and reserved
 */
void baleen_set6_make(struct baleen_list *list);

/**
 * baleen_prefix6_is_around() - does a prefix cover the first address of another?
 * @wide: the prefix
 * @prefix: the other
 *
 * Return: true or false.
 */
static inline bool baleen_prefix6_is_around(const struct baleen_prefix6 *wide,
					    const struct baleen_prefix6 *prefix)
{
	u64 hi = wide->hi ^ prefix->hi, lo = wide->lo ^ prefix->lo;

	if (wide->length <= 64)
		return !wide->length || !(hi >> (64 - wide->length));
	return !hi && !(lo >> (128 - wide->length));
}

#endif /* BALEEN_LIST_SET_H */
