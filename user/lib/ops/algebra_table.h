/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One table made of two: the part of algebra.c that depends on the kind.
 */
#ifndef BALEEN_ALGEBRA_TABLE_H
#define BALEEN_ALGEBRA_TABLE_H

#include "filter/fingerprints.h"

/* Why nothing is subtracted from a counting filter. */
extern const char baleen_no_count_down[];

/**
 * baleen_table_alone() - a filter of one empty table
 * @like: header with the seed and the key
 * @table: the geometry
 * @domain: its domain
 * @part: filled in; to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_table_alone(const struct baleen_image *like, const struct baleen_table *table,
		       u32 domain, struct baleen_filter *part, struct baleen_error *error);

/**
 * baleen_table_copy() - a filter of one table of another
 * @filter: the filter, not live
 * @domain: domain of the table
 * @part: filled in; to be freed by the caller
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_table_copy(const struct baleen_filter *filter, u32 domain, struct baleen_filter *part,
		      struct baleen_error *error);

/**
 * baleen_table_view() - a filter as if it had one table
 * @filter: the filter
 * @domain: domain of the table
 *
 * Return: what has the bytes of @filter, and is not to be freed.
 */
struct baleen_filter baleen_table_view(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_table_put() - a table of hashes, of any size
 * @like: header with the seed that they were made with, and a table to be like
 * @domain: domain of the table, whose slots keep all of a hash
 * @fingerprints: the hashes
 * @n: room for so many, or for as many as there are
 * @part: a filter of that table and no other; to be freed by the caller; untouched
 *        on failure
 * @error: filled in on failure
 *
 * Return: 0; -ENOSPC; -ENOMEM; -E2BIG.
 */
int baleen_table_put(const struct baleen_image *like, u32 domain,
		     const struct baleen_fingerprints *fingerprints, u64 n,
		     struct baleen_filter *part, struct baleen_error *error);

/**
 * baleen_tables_combine() - one table made of two
 * @a: one filter, not live
 * @b: the other, not live; at least one of them has a table of @domain, and two
 *     fit as baleen_compat_tables() says
 * @domain: domain of the tables
 * @op: set operation
 * @part: a filter of that table and no other, or of none where nothing is kept; to
 *        be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP for what this kind cannot do; -ENOSPC; -ENOMEM.
 */
int baleen_tables_combine(const struct baleen_filter *a, const struct baleen_filter *b, u32 domain,
			  enum baleen_set_op op, struct baleen_filter *part,
			  struct baleen_error *error);

/**
 * baleen_filters_are_one_pass() - are these quotient filters that fit?
 * @filters: the filters
 * @n: how many
 *
 * Return: true when baleen_quotient_merge() takes all of them at once.
 */
bool baleen_filters_are_one_pass(const struct baleen_filter *const *filters, size_t n);

/**
 * baleen_tables_assemble() - one filter of several tables
 * @parts: filters with no table in common
 * @n_parts: how many
 * @like: header whose name and key the filter gets; the seed is that of the first
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0, -ENOMEM or -E2BIG.
 */
int baleen_tables_assemble(const struct baleen_filter *parts, u32 n_parts,
			   const struct baleen_image *like, struct baleen_filter *out,
			   struct baleen_error *error);

#endif /* BALEEN_ALGEBRA_TABLE_H */
