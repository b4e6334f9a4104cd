/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two filters can be combined when kind, geometry and seed agree; else a message
 * names both values: "4 hashes, a.bln has 6".
 */
#ifndef BALEEN_COMPAT_H
#define BALEEN_COMPAT_H

#include <stddef.h>
#include <string.h>

#include "filter/kind.h"

/**
 * baleen_compat_keys() - are their keys the same fields, and copies of them counted alike?
 * @a: header of the first filter
 * @b: header of the other
 * @a_name: of @a in the message, which the caller begins with the name of @b
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_compat_keys(const struct baleen_image *a, const struct baleen_image *b,
		       const char *a_name, struct baleen_error *error);

/**
 * baleen_compat_seeds() - do they hash alike?
 * @a: header of the first filter
 * @b: header of the other
 * @a_name: as for baleen_compat_keys()
 * @error: filled in on failure
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int baleen_compat_seeds(const struct baleen_image *a, const struct baleen_image *b,
			const char *a_name, struct baleen_error *error);

/**
 * baleen_compat_tables() - can what one table keeps go into the other?
 * @a: header of the first filter
 * @b: header of the other
 * @domain: both have a table of it
 * @a_name: as for baleen_compat_keys()
 * @error: filled in on failure
 *
 * The Bloom kinds need the same bits, the same number of them a key and the same
 * hash. Cuckoo tables need the same geometry where slots keep less than all of a
 * hash. Quotient tables need fingerprints of one length, however it is divided.
 * Seeds have to be the same unless hashes have none.
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int baleen_compat_tables(const struct baleen_image *a, const struct baleen_image *b, u32 domain,
			 const char *a_name, struct baleen_error *error);

/**
 * baleen_same_geometry() - have two tables the same geometry, whatever is in them?
 * @a: a table of a header
 * @b: the other
 *
 * Return: whether all but their entries is the same.
 */
static inline bool baleen_same_geometry(const struct baleen_table *a, const struct baleen_table *b)
{
	return !memcmp(a, b, offsetof(struct baleen_table, n_entries));
}

/**
 * baleen_table_shape() - what to ask of the plan of a table like this one
 * @table: a cuckoo table that keeps hashes, or another
 * @shape: filled in; the plan of a plain table needs nothing
 */
static inline void baleen_table_shape(const struct baleen_table *table, struct baleen_shape *shape)
{
	*shape = (struct baleen_shape){ 0 };
	if (table->kind != BALEEN_KIND_CUCKOO)
		return;
	shape->bucket_slots = table->bucket_slots;
	shape->has_stash = table->n_stash;
}

#endif /* BALEEN_COMPAT_H */
