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
 * x86 does that. The price is that only keys at home can give way. Slots of 8
 * and 12 bits do not say where they are at home, so none of them gives way: a
 * live one takes a key while one of its two buckets, or the stash, has room.
 * Images with copies do not change in place while they are live: a copy that a
 * killed writer left could not be told from one that counts.
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

#endif /* BALEEN_LIVE_H */
