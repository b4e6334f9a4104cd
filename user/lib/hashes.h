/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hashes that a table of 64-bit slots keeps: what can be moved to another
 * table with the same seed, though not listed as keys.
 */
#ifndef BALEEN_HASHES_H
#define BALEEN_HASHES_H

#include "filter.h"

/**
 * struct baleen_hashes - hashes of one table
 * @hash: the 64-bit hashes, in the order of their slots
 * @n: how many
 */
struct baleen_hashes {
	u64 *hash;
	size_t n;
};

/**
 * baleen_hashes_read() - what a table of hashed keys holds
 * @filter: the filter, live ones too
 * @domain: BALEEN_IP6 or BALEEN_TUPLE
 * @hashes: filled in; its array is to be freed by the caller; untouched on
 *          failure
 * @error: filled in on failure
 *
 * Return: 0, with none of a table that is not there; -EOPNOTSUPP for a Bloom
 * table or slots of 16 bits, which keep too little; -EINVAL for a slot that
 * nothing makes; -ENOMEM.
 */
int baleen_hashes_read(const struct baleen_filter *filter, u32 domain, struct baleen_hashes *hashes,
		       struct baleen_error *error);

/**
 * baleen_hashes_insert() - put hashes into another table
 * @filter: has the seed of the filter they were read from
 * @domain: their domain, a cuckoo table of 64-bit slots
 * @hashes: the hashes
 *
 * Return: 0, or -ENOSPC when one finds no room; those before it stay.
 */
int baleen_hashes_insert(struct baleen_filter *filter, u32 domain,
			 const struct baleen_hashes *hashes);

#endif /* BALEEN_HASHES_H */
