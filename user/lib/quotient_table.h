/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quotient tables in memory: changed by fingerprint, checked, resized, merged.
 *
 * The body depends on the set of fingerprints only, whatever the order in which
 * they came and went, so what these functions make equals a fresh build byte
 * for byte.
 */
#ifndef BALEEN_QUOTIENT_TABLE_H
#define BALEEN_QUOTIENT_TABLE_H

#include "filter.h"
#include "list_combine.h"

/* Share of the slots that a table is planned to fill; see the bound of the scan
 * in quotient.h.
 */
#define BALEEN_QUOTIENT_LOAD 0.75

/**
 * baleen_quotient_insert() - add a fingerprint
 * @filter: the filter
 * @domain: of a quotient table
 * @fingerprint: q + r bits
 * @changed: false when it was there
 *
 * Return: 0; -ENOSPC when no slot is free; -EINVAL when the body is damaged.
 * The body is unchanged then.
 */
int baleen_quotient_insert(struct baleen_filter *filter, u32 domain, u64 fingerprint,
			   bool *changed);

/**
 * baleen_quotient_delete() - take a fingerprint out
 * @filter: the filter
 * @domain: of a quotient table
 * @fingerprint: q + r bits
 * @changed: false when it was not there
 *
 * Two keys of one fingerprint are one: in a table that is not exact, deleting a
 * key takes those with it that look the same.
 */
void baleen_quotient_delete(struct baleen_filter *filter, u32 domain, u64 fingerprint,
			    bool *changed);

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
 * @domain: of a quotient table
 *
 * Return: how many.
 */
u32 baleen_quotient_longest(const struct baleen_filter *filter, u32 domain);

#endif /* BALEEN_QUOTIENT_TABLE_H */
