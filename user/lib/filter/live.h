/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing the keys of a filter in place, while packet programs read it.
 *
 * <baleen/search.h> says how cuckoo tables change and why no reader misses a key,
 * <baleen/inplace.h> the same of the others; the kernel module includes both. A filter in
 * memory that nobody reads meanwhile can change in more ways: keys may move both ways,
 * and copies may count.
 */
#ifndef BALEEN_LIVE_H
#define BALEEN_LIVE_H

#include "filter/filter.h"

/**
 * baleen_live_add() - add a key
 * @filter: a writable mapping of a live map, or a filter in memory
 * @key: the key
 * @changed: whether it was not there before; untouched on failure
 *
 * Counts and checksums of the header are left alone: a live image has none,
 * others are for the caller to count and seal. In an image with copies each
 * addition is another copy.
 *
 * Context: one writer at a time.
 * With a directory of IPv4 groups an address goes where its group has its
 * members.
 *
 * Return: 0; -ENOSPC when there is no room for the key, no table for its
 * domain, or IPv6 prefixes, which cannot change in place: nothing has changed,
 * and the filter must be built anew; -EOPNOTSUPP for a kind that cannot change in
 * place, or a live image with copies.
 */
int baleen_live_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_live_del() - remove a key
 * @filter: a writable mapping of a live map, or a filter in memory
 * @key: the key
 * @changed: whether it was there before; untouched on failure
 *
 * From a table that is not exact this removes every key with the same tag and
 * buckets: as often as the table errs, a deletion takes another listed key with
 * it (16-bit slots of hashed keys: one in 2^12; 64-bit slots: n in 2^64). Where
 * the image has copies, keys that look the same have a slot each and one of
 * these goes, so who deletes only what was added hides nothing. Deleting a key
 * that was never added may hide another one all the same: the caller tests.
 *
 * Context: one writer at a time; see baleen_live_add() for the header.
 * Return: 0; -ENOSPC for a part of a prefix, which the filter must be built
 * anew for; -EOPNOTSUPP for a Bloom table, which cannot forget, and for a live
 * image with copies.
 */
int baleen_live_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_live_repair() - finish the moves of writers that were killed
 * @filter: a writable mapping of a live map, or a filter in memory
 *
 * Removes the home copy of every key that is in both its buckets; each slot
 * is looked at. Only those who count or list slots need this, adding and
 * removing keys does not. Copies of an image that counts them stay.
 *
 * Context: one writer at a time.
 * Return: number of copies removed.
 */
u64 baleen_live_repair(struct baleen_filter *filter);

/**
 * baleen_filter_copy() - a sealed image of a filter, live ones too
 * @filter: the filter; recent changes behind it are left out
 * @copy: filled in; free with baleen_filter_free()
 * @error: filled in on failure
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_filter_copy(const struct baleen_filter *filter, struct baleen_filter *copy,
		       struct baleen_error *error);

#endif /* BALEEN_LIVE_H */
