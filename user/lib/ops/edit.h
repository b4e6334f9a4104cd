/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A filter with a change made, built aside.
 */
#ifndef BALEEN_EDIT_H
#define BALEEN_EDIT_H

#include "filter/filter.h"
#include "list/list_combine.h"

/**
 * baleen_filter_has_bloom() - is any table a Bloom filter, of any kind?
 * @filter: the filter
 *
 * Return: whether; then its keys share bits, any number of them can be added, and
 * only counting ones can be taken out again.
 */
bool baleen_filter_has_bloom(const struct baleen_filter *filter);

/**
 * baleen_filter_note_change() - count a key in or out of a Bloom kind's table
 * @filter: its header is changed
 * @domain: domain of the key
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 *
 * The body of other kinds tells it. The count of a merged filter is an estimate, and
 * a counter at its end stays there, so more keys may be taken out than there are.
 */
void baleen_filter_note_change(struct baleen_filter *filter, u32 domain, enum baleen_set_op op);

/**
 * baleen_filter_list_exact() - the set of the tables that can be listed
 * @filter: the filter, live ones too
 * @list: filled in, as by baleen_filter_to_list(); without IPv6 hosts and keys
 *        of several fields that are stored as hashes
 * @error: filled in on failure
 *
 * Return: as baleen_filter_to_list().
 */
int baleen_filter_list_exact(const struct baleen_filter *filter, struct baleen_list *list,
			     struct baleen_error *error);

/**
 * baleen_filter_check_edit() - can a filter of this kind be edited so?
 * @filter: the filter
 * @change: as for baleen_filter_edit()
 * @op: set operation
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL for another key; -EOPNOTSUPP, saying what it cannot do.
 */
int baleen_filter_check_edit(const struct baleen_filter *filter, const struct baleen_list *change,
			     enum baleen_set_op op, struct baleen_error *error);

/**
 * baleen_filter_edit() - another filter, with a list added, taken away or kept
 * @filter: the filter, live ones too
 * @change: a finished list of the same key
 * @op: set operation
 * @capacity: room for this many hosts and keys; 0 or less than there are for
 *            as many as there are
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * Tables that can be listed are listed, changed and built again. Keys that are stored
 * as 64-bit hashes are taken over by their hash, and the seed stays; keys of
 * @change are added to them or taken away one by one. Tables that keep less change
 * key by key in a copy: Bloom tables and narrow slots in their size, quotient tables
 * in as many slots as it takes. Keys can be taken out of counting and quotient
 * tables, and of narrow slots that count copies.
 *
 * Return: 0; -EINVAL for another key; -EOPNOTSUPP for what the tables keep too
 * little for, saying what; -ENOSPC, -ENOMEM, -E2BIG.
 */
int baleen_filter_edit(const struct baleen_filter *filter, const struct baleen_list *change,
		       enum baleen_set_op op, u64 capacity, struct baleen_filter *out,
		       struct baleen_error *error);

/**
 * baleen_filter_room() - room for hosts and keys
 * @filter: the filter
 *
 * Return: what the tables of slots are planned to hold.
 */
u64 baleen_filter_room(const struct baleen_filter *filter);

/**
 * baleen_filter_held() - the part of a set that an image holds
 * @image: the image
 * @set: a finished list of the same key
 * @is_optional: prefixes are passed over where the image cannot be listed
 * @held: a finished list, to be freed also on failure
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP when @set has prefixes, and the image keeps too little to
 * tell, or to be changed so; -ENOMEM.
 */
int baleen_filter_held(const struct baleen_filter *image, const struct baleen_list *set,
		       bool is_optional, struct baleen_list *held, struct baleen_error *error);

/**
 * baleen_filter_edit_self() - change an image, unless there is nothing to change
 * @image: replaced by the changed one; untouched on failure
 * @change: a finished list of the same key
 * @op: set operation
 * @error: filled in on failure
 *
 * Return: as baleen_filter_edit().
 */
int baleen_filter_edit_self(struct baleen_filter *image, const struct baleen_list *change,
			    enum baleen_set_op op, struct baleen_error *error);

/**
 * baleen_filter_snapshot() - a sealed image of the set that a live filter is
 * @filter: the filter, with its recent changes
 * @image: filled in; free with baleen_filter_free()
 * @error: filled in on failure
 *
 * Without such changes a copy; with them it is built anew.
 *
 * Return: 0; -ENOMEM; as baleen_filter_edit().
 */
int baleen_filter_snapshot(const struct baleen_filter *filter, struct baleen_filter *image,
			   struct baleen_error *error);

#endif /* BALEEN_EDIT_H */
