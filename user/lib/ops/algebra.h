/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Union, intersection and difference of two filters.
 *
 * Table by table, as each pair of them allows:
 *
 *   both can be listed    listed, combined as lists and built: exact
 *   cuckoo                hashes, of one seed, sorted, combined and put into a
 *                         new table; narrow slots into one of the same geometry
 *   quotient              fingerprints of one seed and length, in one sorted pass
 *   bloom, classic        of one geometry and seed: the bits of either, or of both
 *   counting              the same, with the sum of two counters (which sticks at
 *                         its end) or the lower of them
 *   one can be listed     its list goes into the other, or is taken out of it, or
 *                         what of it the other holds is kept
 */
#ifndef BALEEN_ALGEBRA_H
#define BALEEN_ALGEBRA_H

#include "ops/edit.h"

/**
 * baleen_filter_combine() - one filter made of two
 * @a: one filter, live ones too; name, key, kind and room are taken from it
 * @b: the other
 * @op: set operation
 * @a_name: of @a in messages, which the caller begins with the name of @b
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure: what does not fit, with both values
 *
 * Return: 0; -EINVAL for other keys; -EOPNOTSUPP for what does not fit or cannot
 * be done, saying which; -ENOSPC, -ENOMEM, -E2BIG.
 */
int baleen_filter_combine(const struct baleen_filter *a, const struct baleen_filter *b,
			  enum baleen_set_op op, const char *a_name, struct baleen_filter *out,
			  struct baleen_error *error);

/**
 * baleen_filter_combine_list() - one filter made of a filter and a list
 * @a: the filter, live ones too
 * @list: a finished list of the same key
 * @op: set operation
 * @out: as for baleen_filter_combine()
 * @error: filled in on failure
 *
 * Return: as baleen_filter_combine().
 */
int baleen_filter_combine_list(const struct baleen_filter *a, const struct baleen_list *list,
			       enum baleen_set_op op, struct baleen_filter *out,
			       struct baleen_error *error);

/**
 * baleen_filter_merge() - the union of two filters
 * @a: as for baleen_filter_combine()
 * @b: as for baleen_filter_combine()
 * @out: as for baleen_filter_combine()
 * @error: filled in on failure
 *
 * Return: as baleen_filter_combine().
 */
static inline int baleen_filter_merge(const struct baleen_filter *a, const struct baleen_filter *b,
				      struct baleen_filter *out, struct baleen_error *error)
{
	return baleen_filter_combine(a, b, BALEEN_SET_UNION, "the other", out, error);
}

/**
 * baleen_combine_caveat() - how the result differs from a set
 * @made: by baleen_filter_combine()
 * @op: how
 *
 * Return: one line, or NULL where it is as in a set.
 */
const char *baleen_combine_caveat(const struct baleen_filter *made, enum baleen_set_op op);

/**
 * struct baleen_comparison - two sets by their sizes
 * @n_a: in the first
 * @n_b: in the other
 * @n_both: in both; the rest follows from these
 * @is_estimate: they come from the bits of Bloom filters
 * @rate: chance that a key of one is taken for one of the other; 0 when exact
 */
struct baleen_comparison {
	double n_a;
	double n_b;
	double n_both;
	bool is_estimate;
	double rate;
};

/**
 * baleen_lists_compare() - sizes of two sets and of what they have in common
 * @a: a finished list
 * @b: a finished list of the same key
 * @comparison: filled in: addresses, also those inside prefixes, and keys
 *
 * Return: 0, -EINVAL when the keys differ, or -ENOMEM.
 */
int baleen_lists_compare(const struct baleen_list *a, const struct baleen_list *b,
			 struct baleen_comparison *comparison);

/**
 * baleen_filters_compare() - the same of two filters
 * @a: one filter, live ones too
 * @b: the other; it fits as for baleen_filter_combine(), and the same of them can
 *     be listed
 * @a_name: as for baleen_filter_combine()
 * @comparison: filled in
 * @error: filled in on failure
 *
 * Return: as baleen_filter_combine().
 */
int baleen_filters_compare(const struct baleen_filter *a, const struct baleen_filter *b,
			   const char *a_name, struct baleen_comparison *comparison,
			   struct baleen_error *error);

#endif /* BALEEN_ALGEBRA_H */
