/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of recent changes behind a live image, see <baleen/recent.h>: how it is
 * changed, and what it makes of the set.
 */
#ifndef BALEEN_LIB_RECENT_H
#define BALEEN_LIB_RECENT_H

#include <baleen/recent.h>

#include "filter/filter.h"
#include "list/list.h"

/**
 * baleen_recent_buckets() - how large a table a rule gets
 * @image: header of its filter
 *
 * Only tables that can be listed get one: with a set that can be written down, and
 * built anew with what has changed.
 *
 * Return: a power of two; 0 for none.
 */
u32 baleen_recent_buckets(const struct baleen_image *image);

/**
 * baleen_recent_head() - the block before its buckets
 * @filter: of a live map with such a table
 *
 * Return: the block behind the image: lengths of IPv4, then of IPv6, see <baleen/recent.h>.
 */
static inline struct baleen_block *baleen_recent_head(const struct baleen_filter *filter)
{
	return (struct baleen_block *)((u8 *)filter->bytes + filter->n_bytes);
}

/**
 * baleen_recent_is_empty() - does the image tell all there is?
 * @filter: a live filter, or another
 *
 * Return: true or false.
 */
bool baleen_recent_is_empty(const struct baleen_filter *filter);

/**
 * baleen_recent_supports() - can prefixes of a family be put into it?
 * @filter: a live filter
 * @is_ip6: family
 *
 * Return: false without a table, or when the image has IPv6 hosts as hashes, which
 * prefixes cannot be listed with.
 */
bool baleen_recent_supports(const struct baleen_filter *filter, bool is_ip6);

/**
 * baleen_recent_get() - what it says of a prefix itself
 * @filter: a live filter
 * @net: the prefix
 *
 * Return: BALEEN_RECENT_IN, _FRESH and _ROWLESS as they are set beside its name; 0 when
 * it is not there.
 */
u32 baleen_recent_get(const struct baleen_filter *filter, const struct baleen_recent_net *net);

/**
 * baleen_recent_put() - let it say something of a prefix
 * @filter: a writable view of a live filter that takes the family
 * @net: the prefix
 * @flags: BALEEN_RECENT_IN, _FRESH, _ROWLESS
 *
 * Context: one writer at a time.
 * Return: 0; -ENOSPC when there is no room for it, or for its length.
 */
int baleen_recent_put(struct baleen_filter *filter, const struct baleen_recent_net *net, u32 flags);

/**
 * baleen_recent_drop() - let it say nothing of a prefix
 * @filter: a writable view of a live filter
 * @net: the prefix
 *
 * Context: one writer at a time; baleen_recent_tidy() follows.
 */
void baleen_recent_drop(struct baleen_filter *filter, const struct baleen_recent_net *net);

/**
 * baleen_recent_tidy() - no longer ask for lengths that no prefix has
 * @filter: a writable view of a live filter
 *
 * Context: one writer at a time.
 */
void baleen_recent_tidy(struct baleen_filter *filter);

/**
 * baleen_recent_each() - all that it says
 * @filter: a live filter, or another
 * @visit: called with each prefix and its flags; a nonzero return ends the walk
 * @data: passed to @visit
 *
 * Return: 0 or what @visit returned.
 */
int baleen_recent_each(const struct baleen_filter *filter,
		       int (*visit)(const struct baleen_recent_net *net, u32 flags, void *data),
		       void *data);

/**
 * baleen_recent_entries() - by how much it changes the number of entries
 * @filter: a live filter, or another
 *
 * Return: entries that the image does not have, less those that it has and that are gone.
 */
s64 baleen_recent_entries(const struct baleen_filter *filter);

/**
 * baleen_recent_list() - append a prefix to a list
 * @list: before baleen_list_finish()
 * @net: the prefix
 * @is_exception: the keys that it covers are not in the set
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_recent_list(struct baleen_list *list, const struct baleen_recent_net *net,
		       bool is_exception);

/**
 * baleen_recent_apply() - change the set of an image as it says
 * @filter: a live filter, or another
 * @set: a finished list of the image; changed
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_recent_apply(const struct baleen_filter *filter, struct baleen_list *set);

#endif /* BALEEN_LIB_RECENT_H */
