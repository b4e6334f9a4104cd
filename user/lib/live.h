/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing the keys of a filter in place, while packet programs read it.
 *
 * Idea: the probe looks into a key's home bucket first and into its other
 * bucket second. A writer that moves keys from home to other only, copy
 * first, hides none of them: who does not find the key at home has looked
 * after the copy was made, and finds that.
 *
 *      bucket 3       bucket 8       bucket 5
 *      [ a b c d ]    [ e f g h ]    [ i j k - ]    e's other bucket is 8,
 *                                                   c's 8, f's 5: add x to 3
 *      [ a b c d ]    [ e f g h ]    [ i j k F ]    1. copy f
 *      [ a b c d ]    [ e C g h ]    [ i j k F ]    2. copy c over f
 *      [ a b x d ]    [ e C g h ]    [ i j k F ]    3. x over c
 *
 * Each line is one store of an aligned 64-bit word, so after any of them each
 * old key is in one of its buckets, and at most one is in both. That is legal:
 * a writer that was killed leaves it so, and the next one takes it into
 * account. Writers must exclude each other; readers do nothing.
 *
 * Stores become visible in their order, and loads must be made in theirs:
 * x86 does that. The price is that only keys at home can give way.
 */
#ifndef BALEEN_LIVE_H
#define BALEEN_LIVE_H

#include "filter.h"

/**
 * baleen_live_add() - add a key
 * @filter: a writable mapping of a live map, or a filter in memory
 * @key: the key
 * @changed: whether it was not there before; untouched on failure
 *
 * Counts and checksums of the header are left alone: a live image has none,
 * others are for the caller to count and seal.
 *
 * Context: one writer at a time.
 * With a directory of IPv4 groups an address goes where its group has its
 * members.
 *
 * Return: 0; -ENOSPC when there is no room for the key, no table for its
 * domain, or IPv6 prefixes, which cannot change in place: nothing has changed,
 * and the filter must be built anew.
 */
int baleen_live_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_live_del() - remove a key
 * @filter: a writable mapping of a live map, or a filter in memory
 * @key: the key
 * @changed: whether it was there before; untouched on failure
 *
 * From a table that is not exact this removes every key with the same tag and
 * buckets: of 16-bit slots of hashed keys about one in 2^12 deletions takes
 * another listed key with it, of 64-bit slots n in 2^64.
 *
 * Context: one writer at a time; see baleen_live_add() for the header.
 * Return: 0; -ENOSPC for a part of a prefix, which the filter must be built
 * anew for; -EOPNOTSUPP for a Bloom table, which cannot forget.
 */
int baleen_live_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed);

/**
 * baleen_live_repair() - finish the moves of writers that were killed
 * @filter: a writable mapping of a live map, or a filter in memory
 *
 * Removes the home copy of every key that is in both its buckets; each slot
 * is looked at. Only those who count or list slots need this, adding and
 * removing keys does not.
 *
 * Context: one writer at a time.
 * Return: number of copies removed.
 */
u64 baleen_live_repair(struct baleen_filter *filter);

#endif /* BALEEN_LIVE_H */
