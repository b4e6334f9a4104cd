/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arrays of a list in order.
 */
#ifndef BALEEN_LIST_SORT_H
#define BALEEN_LIST_SORT_H

#include "list/list.h"

/**
 * baleen_list_sort() - sort what has been read
 * @list: the list; its ip4, ip6, prefix4, prefix6 and key are sorted in place
 *
 * Prefixes by address, then length; of one prefix exceptions come first. Time
 * is linear for every input. Threads take as much memory again, where there is some.
 */
void baleen_list_sort(struct baleen_list *list);

/**
 * baleen_prefix6_compare() - order of two IPv6 prefixes
 * @a: one prefix
 * @b: the other
 *
 * Return: -1, 0 or 1 as @a comes before, is or comes after @b.
 */
static inline int baleen_prefix6_compare(const struct baleen_prefix6 *a,
					 const struct baleen_prefix6 *b)
{
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return b->is_exception - a->is_exception;
}

#endif /* BALEEN_LIST_SORT_H */
