/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quotient tables in memory: changed by fingerprint, checked, resized, merged.
 *
 * The body depends on the set of fingerprints only, whatever the order in which
 * they came and went, so what these functions make equals a fresh build byte
 * for byte. With BALEEN_FLAG_COPIES it is a multiset: keys that look the same
 * have a slot each, side by side.
 */
#ifndef BALEEN_QUOTIENT_TABLE_H
#define BALEEN_QUOTIENT_TABLE_H

#include "filter/filter.h"
#include "list/list_combine.h"

/* Share of the slots that a table is planned to fill; see the bound of the scan
 * in quotient.h.
 */
#define BALEEN_QUOTIENT_LOAD 0.75

/**
 * baleen_quotient_insert() - add a fingerprint
 * @filter: the filter
 * @domain: domain of a quotient table
 * @fingerprint: q + r bits
 * @changed: false when it was there; where copies count, it is there once more
 *
 * Return: 0; -ENOSPC when no slot is free; -EINVAL when the body is damaged.
 * The body is unchanged then.
 */
int baleen_quotient_insert(struct baleen_filter *filter, u32 domain, u64 fingerprint,
			   bool *changed);

/**
 * baleen_quotient_delete() - take a fingerprint out
 * @filter: the filter
 * @domain: domain of a quotient table
 * @fingerprint: q + r bits
 * @changed: false when it was not there
 *
 * Two keys of one fingerprint are one: in a table that is not exact, deleting a
 * key takes those with it that look the same. Where copies count, one of them goes.
 */
void baleen_quotient_delete(struct baleen_filter *filter, u32 domain, u64 fingerprint,
			    bool *changed);

/**
 * baleen_quotient_copies() - how often a fingerprint is in the table
 * @filter: the filter
 * @domain: domain of a quotient table
 * @fingerprint: q + r bits
 *
 * Return: how often; 0 or 1 where copies do not count.
 */
u64 baleen_quotient_copies(const struct baleen_filter *filter, u32 domain, u64 fingerprint);

/**
 * baleen_quotient_add() - add a key to a filter in memory
 * @filter: the filter; it is to be sealed afterwards
 * @key: a key of a quotient table
 * @changed: false when it was there, or looked as if
 *
 * Return: as baleen_quotient_insert().
 */
int baleen_quotient_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_quotient_del() - take a key out of a filter in memory
 * @filter: the filter; it is to be sealed afterwards
 * @key: a key of a quotient table
 * @changed: false when it was not there
 *
 * See baleen_quotient_delete().
 *
 * Return: 0.
 */
int baleen_quotient_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_quotient_longest() - slots of the longest cluster, by looking
 * @filter: the filter
 * @domain: domain of a quotient table
 *
 * Return: how many.
 */
u32 baleen_quotient_longest(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_quotient_check_body() - does the body of a table make sense?
 * @filter: the filter, of any origin
 * @domain: domain of a quotient table
 * @error: filled in on failure
 *
 * An image from elsewhere may have any body with a valid checksum. All functions here
 * stay inside the body and end; but only after this check are the values that they read
 * the fingerprints of a set, or, where copies count, of a multiset.
 *
 * Return: 0, or -EINVAL when no keys make this body.
 */
int baleen_quotient_check_body(const struct baleen_filter *filter, u32 domain,
			       struct baleen_error *error);

/**
 * baleen_quotient_check_del() - does a deletion take no other key with it?
 * @filter: the filter
 * @domain: domain of a quotient table
 * @change: a finished list of the same key: what is to be deleted
 * @error: filled in on failure
 *
 * One slot may stand for two keys, unless it keeps all of a key, copies count, or keys are
 * fingerprints of which no part is cut off. Sets of fingerprints can still be taken from each
 * other, which says what else goes: algebra.h.
 *
 * Return: 0; -EOPNOTSUPP, saying why.
 */
int baleen_quotient_check_del(const struct baleen_filter *filter, u32 domain,
			      const struct baleen_list *change, struct baleen_error *error);

/**
 * baleen_quotient_fill() - put many fingerprints into an empty table
 * @filter: the filter
 * @domain: domain of a quotient table in which nothing is
 * @fingerprints: sorted here; may repeat, and are kept as often where copies count
 * @n: how many
 *
 * Return: 0; -ENOSPC when there are more than slots, -ENOMEM; nothing is
 * written then.
 */
int baleen_quotient_fill(struct baleen_filter *filter, u32 domain, u64 *fingerprints, size_t n);

/**
 * baleen_quotient_resize() - another size, without the keys
 * @filter: the filter, live ones too; its other tables stay as they are
 * @capacity: room for this many keys in all, shared out as the keys are; what
 *            is there finds room whatever it says
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP when there is no quotient table; -EINVAL when one is
 * damaged; -E2BIG, -ENOMEM.
 */
int baleen_quotient_resize(const struct baleen_filter *filter, u64 capacity,
			   struct baleen_filter *out, struct baleen_error *error);

/**
 * baleen_quotient_merge() - union, intersection or difference in one sorted pass
 * @filters: quotient filters of one key, seed and q + r, of any size; live ones
 *           too; copies count in all of them or in none; name and key are taken
 *           from the first
 * @n: how many, 1 or more
 * @op: set operation; a difference keeps what only the first has. Where copies
 *      count they are added up; the fewest are kept; or those of the others are
 *      taken from those of the first
 * @capacity: room for this many keys in all; 0 for as much as the largest table
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Memory: what is made, and nothing that grows with it. In filters that are not
 * exact keys of one fingerprint are one: an intersection errs at the rate of
 * its parts, and a difference loses keys of the first that look like one of the
 * others.
 *
 * Return: 0; -EINVAL, naming both values, for another key, seed or q + r, where
 * copies count in some only, and when a table is damaged; -EOPNOTSUPP beside tables of other kinds;
 * -E2BIG, -ENOMEM.
 */
int baleen_quotient_merge(const struct baleen_filter *const *filters, size_t n,
			  enum baleen_set_op op, u64 capacity, struct baleen_filter *out,
			  struct baleen_error *error);

/**
 * baleen_quotient_count() - how many fingerprints that would keep
 * @filters: as for baleen_quotient_merge()
 * @n: how many
 * @op: set operation
 * @n_kept: set
 * @error: filled in on failure
 *
 * Return: as baleen_quotient_merge().
 */
int baleen_quotient_count(const struct baleen_filter *const *filters, size_t n,
			  enum baleen_set_op op, u64 *n_kept, struct baleen_error *error);

#endif /* BALEEN_QUOTIENT_TABLE_H */
