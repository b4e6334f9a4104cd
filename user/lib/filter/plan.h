/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a count and an error rate to the geometry of a table, and back.
 */
#ifndef BALEEN_PLAN_H
#define BALEEN_PLAN_H

#include <baleen/image.h>

#include "util/error.h"

struct baleen_filter;
struct baleen_shape;

/* Share of slots that a cuckoo table of four-slot buckets is planned to
 * fill; the threshold is 0.9804 (Sanders, Egner, Korst 2003 for b = 4).
 */
#define BALEEN_LOAD_FACTOR 0.95

/* Below this a table has room to spare: a few unlucky buckets weigh more. */
#define BALEEN_SMALL_TABLE 1000

/* Bits a key past which a blocked Bloom table is not worth having, and is not planned: a 64-bit
 * slot of a cuckoo table errs less.
 */
#define BALEEN_BLOOM_MAX_BITS_PER_KEY 128

/**
 * baleen_plan_table() - the smallest table for a number of keys
 * @domain: enum baleen_domain, not one of directories
 * @kind: one that has keys, or BALEEN_KIND_ENTRIES
 * @n: keys or entries to hold, 1 or more
 * @fpp: false positive rate allowed, 0 to below 1; 0 asks for the least the
 *       kind has, and is refused for a Bloom table
 * @table: kind and geometry; first_block and n_entries are 0
 * @error: filled in on failure
 *
 * Cuckoo, IPv4: exact, 32-bit slots below 2^18 buckets, 16-bit above or
 * where they are smaller. Cuckoo, longer keys: 64-bit slots, or 16-bit slots
 * when @fpp allows their error. Bloom: the k of 2, 4, 6, 8 that needs least, in a
 * number of blocks that can be halved (see bloom_bits.h): below 0.8 % more.
 *
 * Return: 0, -EINVAL for a rate out of range, -E2BIG beyond BALEEN_MAX_BLOCKS.
 */
int baleen_plan_table(u32 domain, u32 kind, u64 n, double fpp, struct baleen_table *table,
		      struct baleen_error *error);

/**
 * baleen_plan_shaped() - the smallest table of a geometry that was asked for
 * @domain: as for baleen_plan_table()
 * @kind: enum baleen_kind, not a directory
 * @n: as for baleen_plan_table()
 * @fpp: as for baleen_plan_table()
 * @shape: the geometry asked for; NULL for none
 * @table: as for baleen_plan_table()
 * @error: filled in on failure
 *
 * A rate that is not reached is refused: that of keys with the same hash, n / 2^64 of
 * those that are hashed, or that of the shape.
 *
 * Return: as baleen_plan_table(); -EINVAL also for a shape that the kind or the
 * keys cannot have, saying which, and for such a rate.
 */
int baleen_plan_shaped(u32 domain, u32 kind, u64 n, double fpp, const struct baleen_shape *shape,
		       struct baleen_table *table, struct baleen_error *error);

/**
 * baleen_shape_for_keys() - the hash that a table of such keys has
 * @key_spec: enum baleen_key_spec
 * @kind: enum baleen_kind, not a directory
 * @shape: what was asked for; where that leaves the hash of a classic or counting
 *         table open and the keys are Squid's, it becomes Squid's, so that the filter
 *         is a cache digest; where texts are hashed without a secret its form becomes
 *         whole; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0, or -EINVAL for a hash of other keys or of another kind.
 */
int baleen_shape_for_keys(u32 key_spec, u32 kind, struct baleen_shape *shape,
			  struct baleen_error *error);

/**
 * baleen_hash_rate() - the rate at which another key has the hash of one of the set
 * @domain: enum baleen_domain, of keys
 * @kind: enum baleen_kind
 * @n: keys in it
 * @shape: form and hash count
 *
 * No table of such hashes errs less, whatever it makes of them.
 *
 * Return: 1 - e^(-n / 2^64) of keys that are hashed to 64 bits, of texts in a form 2^32; 0 of
 * keys that are not hashed, and where each position has a hash of its own.
 */
double baleen_hash_rate(u32 domain, u32 kind, u64 n, const struct baleen_shape *shape);

/**
 * baleen_plan_too_many() - the error of a plan beyond BALEEN_MAX_BLOCKS
 * @n: keys asked for
 * @error: filled in
 *
 * Return: -E2BIG.
 */
int baleen_plan_too_many(u64 n, struct baleen_error *error);

/**
 * baleen_tables_place() - put the tables in the order of the domains, without gaps
 * @image: has kind and size of its tables; gets their places and its own size
 * @error: filled in on failure
 *
 * Return: 0, or -E2BIG beyond BALEEN_MAX_BLOCKS.
 */
int baleen_tables_place(struct baleen_image *image, struct baleen_error *error);

/**
 * baleen_table_capacity() - keys that a cuckoo table is planned to hold
 * @table: the table
 *
 * Return: BALEEN_LOAD_FACTOR of its slots; UINT64_MAX for other tables: a
 * Bloom table is never full.
 */
u64 baleen_table_capacity(const struct baleen_table *table);

/**
 * baleen_table_is_exact() - has the table no false positives at all?
 * @image: a checked header
 * @domain: domain of the table
 *
 * Return: true for directories and entries; for a cuckoo table of IPv4
 * addresses or of words in 64-bit slots, which store every bit; for trees; for
 * tables of prefixes up to /64; false when there is no such table.
 */
bool baleen_table_is_exact(const struct baleen_image *image, u32 domain);

/**
 * baleen_image_is_exact() - have all tables no false positives at all?
 * @image: a checked header
 *
 * Return: true or false.
 */
bool baleen_image_is_exact(const struct baleen_image *image);

/**
 * baleen_table_fpp() - expected false positive rate of a table
 * @image: a checked header
 * @domain: domain of the table
 * @n: keys in it, or slots in use
 *
 * Return: probability that a random key outside the set tests positive; of
 * prefixes past /64 that any of the probes takes another one for it.
 */
double baleen_table_fpp(const struct baleen_image *image, u32 domain, u64 n);

/**
 * baleen_image_fpp() - expected false positive rate of the worst table
 * @image: a checked header with its counts
 *
 * Return: the highest of the tables' rates; prefixes are not counted, so of
 * them that of a full table.
 */
double baleen_image_fpp(const struct baleen_image *image);

/**
 * baleen_bloom_fpp() - expected false positive rate of a blocked Bloom table
 * @n_blocks: blocks
 * @n_hashes: bits set per key: 2, 4, 6 or 8
 * @n: keys
 *
 * The mean over Poisson block loads of the exact probability that every bit
 * of a random key is set in both of its words (Putze, Sanders, Singler 2007,
 * section 3, with words of 64 bits instead of whole blocks).
 *
 * Return: the rate.
 */
double baleen_bloom_fpp(u64 n_blocks, u32 n_hashes, u64 n);

#endif /* BALEEN_PLAN_H */
