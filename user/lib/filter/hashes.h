/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hashes that a table keeps whole: what can be moved to another table with
 * the same seed, though not always listed as keys.
 */
#ifndef BALEEN_HASHES_H
#define BALEEN_HASHES_H

#include "filter/filter.h"

/**
 * struct baleen_hashes - hashes of one table
 * @hash: the hashes, in the order of their slots: of an exact table of IPv4
 *        addresses these as permuted by baleen_permute32(), of other keys
 *        baleen_hash64(). A key of which there are copies is there as often
 * @n: how many
 */
struct baleen_hashes {
	u64 *hash;
	size_t n;
};

/**
 * baleen_hashes_read() - the hashes in a table of keys
 * @filter: the filter, live ones too
 * @domain: one of the first four
 * @hashes: filled in; its array is to be freed by the caller; untouched on
 *          failure
 * @error: filled in on failure
 *
 * Return: 0, with none of a table that is not there; -EOPNOTSUPP for a Bloom
 * table or slots that keep too little; -EINVAL for a slot that nothing makes;
 * -ENOMEM.
 */
int baleen_hashes_read(const struct baleen_filter *filter, u32 domain, struct baleen_hashes *hashes,
		       struct baleen_error *error);

/**
 * baleen_hashes_insert() - put hashes into another table
 * @filter: has the seed of the filter they were read from
 * @domain: their domain
 * @hashes: the hashes; of IPv4 addresses what this table, too, makes of them: it
 *          is exact when they are permuted addresses, and lossy otherwise
 *
 * Return: 0, or -ENOSPC when one finds no room; those before it stay.
 */
int baleen_hashes_insert(struct baleen_filter *filter, u32 domain,
			 const struct baleen_hashes *hashes);

#endif /* BALEEN_HASHES_H */
