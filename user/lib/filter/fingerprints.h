/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a cuckoo table as a sorted set of fingerprints.
 *
 * Slots that keep all of a hash, or of an address, give it back: it can go into
 * a table of any geometry with the same seed. Narrower ones give home bucket and
 * tag, which mean something in tables of the same geometry only; where slots have
 * no side bit, the lower of the two buckets is the home.
 */
#ifndef BALEEN_FINGERPRINTS_H
#define BALEEN_FINGERPRINTS_H

#include "filter/filter.h"
#include "filter/slots.h"
#include "list/list_combine.h"

/**
 * struct baleen_fingerprints - the fingerprints of one table
 * @print: hashes, or home bucket << 32 | tag; ascending. One twice is two copies
 * @n: how many
 */
struct baleen_fingerprints {
	u64 *print;
	size_t n;
};

/**
 * baleen_fingerprints_slot() - the fingerprint in a slot
 * @slots: a cuckoo table
 * @domain: its domain
 * @bucket: a bucket
 * @slot: what one of its slots holds, not 0
 * @print: set
 *
 * Return: 0; -EINVAL for a slot that no key makes.
 */
int baleen_fingerprints_slot(const struct baleen_slots *slots, u32 domain, u32 bucket, u64 slot,
			     u64 *print);

/**
 * baleen_fingerprints_read() - the fingerprints in a table
 * @filter: the filter, not live
 * @domain: domain of a cuckoo table, or of none, which holds nothing
 * @fingerprints: filled in; its array is to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for a slot that no key makes; -ENOMEM.
 */
int baleen_fingerprints_read(const struct baleen_filter *filter, u32 domain,
			     struct baleen_fingerprints *fingerprints, struct baleen_error *error);

/**
 * baleen_fingerprints_combine() - one set made of two
 * @a: one
 * @b: the other, of a table that fits (see baleen_compat_tables())
 * @op: set operation
 * @copies: copies count: those of both are added
 * @out: filled in; its array is to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_fingerprints_combine(const struct baleen_fingerprints *a,
				const struct baleen_fingerprints *b, enum baleen_set_op op,
				bool copies, struct baleen_fingerprints *out,
				struct baleen_error *error);

/**
 * baleen_fingerprints_put() - put them into a table
 * @fingerprints: fingerprints of a table that fits
 * @filter: has the seed that they were made with
 * @domain: domain of the table
 *
 * Return: 0, or -ENOSPC when one finds no room; those before it stay.
 */
int baleen_fingerprints_put(const struct baleen_fingerprints *fingerprints,
			    struct baleen_filter *filter, u32 domain);

#endif /* BALEEN_FINGERPRINTS_H */
