/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Union, intersection and difference of two lists as sets.
 */
#ifndef BALEEN_LIST_COMBINE_H
#define BALEEN_LIST_COMBINE_H

#include "list/list.h"

/**
 * enum baleen_set_op - what of two sets is kept
 * @BALEEN_SET_UNION: what either has
 * @BALEEN_SET_INTERSECTION: what both have
 * @BALEEN_SET_DIFFERENCE: what the first has and the second has not
 */
enum baleen_set_op {
	BALEEN_SET_UNION,
	BALEEN_SET_INTERSECTION,
	BALEEN_SET_DIFFERENCE,
};

/**
 * baleen_set_keeps() - is a key in the result?
 * @op: the operation
 * @in_a: the first set has it
 * @in_b: the second set has it
 *
 * Return: true when it is.
 */
static inline bool baleen_set_keeps(enum baleen_set_op op, bool in_a, bool in_b)
{
	switch (op) {
	case BALEEN_SET_UNION: return in_a || in_b;
	case BALEEN_SET_INTERSECTION: return in_a && in_b;
	default: return in_a && !in_b;
	}
}

/**
 * baleen_list_combine() - one set made of two
 * @a: a finished list
 * @b: a finished list of the same key
 * @op: set operation
 * @out: a finished list, to be freed by the caller; untouched on failure. Its
 *       counts of lines and entries are zero
 *
 * IPv6 prefixes stay prefixes: an address that is cut out of one becomes an
 * exception. IPv4 hosts side by side become intervals, unless neither list has
 * one. Linear in both lists.
 *
 * Return: 0, -EINVAL when the keys differ, or -ENOMEM.
 */
int baleen_list_combine(const struct baleen_list *a, const struct baleen_list *b,
			enum baleen_set_op op, struct baleen_list *out);

/**
 * baleen_list_size() - how many addresses and keys are in a set
 * @list: a finished list
 *
 * Return: the number, those inside prefixes included; rounded above 2^53.
 */
double baleen_list_size(const struct baleen_list *list);

#endif /* BALEEN_LIST_COMBINE_H */
