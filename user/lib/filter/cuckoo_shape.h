/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shapes that a cuckoo table can have.
 */
#ifndef BALEEN_CUCKOO_SHAPE_H
#define BALEEN_CUCKOO_SHAPE_H

#include "filter/kind.h"
#include "filter/plan.h"

/* The least load, asked for or sought. */
#define BALEEN_CUCKOO_LEAST_LOAD 0.01

/**
 * baleen_cuckoo_most_load() - the load beyond which a key finds no room
 * @bucket_slots: slots of a bucket, 1 to 4
 *
 * Return: the share of the slots, however large the table.
 * Source: Fan et al. 2014, section 5.1; Sanders, Egner, Korst 2003.
 */
double baleen_cuckoo_most_load(u32 bucket_slots);

/**
 * baleen_cuckoo_min_buckets() - fewest buckets with which slots are lossless
 * @domain: domain of the table
 * @slot_bits: bits of a slot
 * @is_packed: slots hold fingerprints
 *
 * Section 2 of the design: 2^b buckets and t-bit slots keep b + t - 2 bits. Lossy tables
 * have a few buckets, so that there is another one.
 *
 * Return: how many.
 */
u64 baleen_cuckoo_min_buckets(u32 domain, u32 slot_bits, bool is_packed);

/**
 * baleen_cuckoo_is_aligned() - can slots be in blocks?
 * @slot_bits: bits of a slot
 * @bucket_slots: slots of a bucket
 *
 * Return: true of slots that say where a key is at home, and of those of 8 bits.
 */
bool baleen_cuckoo_is_aligned(u32 slot_bits, u32 bucket_slots);

/**
 * baleen_cuckoo_shape_check() - can a cuckoo table have this shape?
 * @domain: as for baleen_plan_table()
 * @n: as for baleen_plan_table()
 * @fpp: as for baleen_plan_table()
 * @shape: the geometry asked for
 * @error: filled in on failure
 *
 * Return: 0 or -EINVAL.
 */
int baleen_cuckoo_shape_check(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			      struct baleen_error *error);

#endif /* BALEEN_CUCKOO_SHAPE_H */
