/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An empty cuckoo table filled with many keys at once, by all threads.
 *
 * To put one key in after the other is to wait for a line of memory each time. Here all keys
 * go in round by round. In a round they are first dealt out by their bucket to regions of the
 * table that stay in the cache, then each region is filled by one thread:
 *
 *      round 0   into the home bucket, if it has a free slot: 82 of 100 keys do so, at 95 %
 *                of four slots a bucket
 *      then      into the other bucket: into a free slot, or in the place of one that is
 *                there, which goes on in its own other bucket in the next round
 *
 * To deal out keeps their order, and which slot gives way is computed from what comes and
 * where: the table is the same with any number of threads.
 */
#ifndef BALEEN_CUCKOO_FILL_H
#define BALEEN_CUCKOO_FILL_H

#include "filter/filter.h"

/* Fewer keys go in one after the other: the table is in the cache as a whole. */
#define BALEEN_CUCKOO_FILL_LEAST (1u << 16)

/**
 * struct baleen_fill - keys as a table locates them
 * @n: how many
 * @hash: of the @n keys from number @at on: the permuted address of IPv4, else the hash of
 *        64 bits; called by several threads at once
 * @data: for @hash
 */
struct baleen_fill {
	size_t n;
	void (*hash)(const void *data, size_t at, size_t n, u64 *hash);
	const void *data;
};

/**
 * baleen_cuckoo_fill() - put all keys into an empty table, or none
 * @filter: the filter
 * @domain: the table's domain
 * @fill: the keys; of IPv4 each once
 *
 * Return: 0; -EOPNOTSUPP where it would not be faster, or the geometry is another one; -ENOSPC
 * when a key finds no room; -ENOMEM. The table is empty then.
 */
int baleen_cuckoo_fill(struct baleen_filter *filter, u32 domain, const struct baleen_fill *fill);

#endif /* BALEEN_CUCKOO_FILL_H */
