/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A list added to a filter or taken out of it.
 *
 * In place it is fast, each key old or new at any moment. Built aside it is
 * all or nothing, takes prefixes, and makes room.
 */
#ifndef BALEEN_LIB_CHANGE_H
#define BALEEN_LIB_CHANGE_H

#include "ops/edit.h"

/* The longest text of an entry: two IPv6 addresses and a dash. */
#define BALEEN_ENTRY_TEXT (2 * BALEEN_KEY_TEXT)

/**
 * struct baleen_noop_keys - entries of a change that change nothing
 * @n: how many
 * @n_entries: of so many in all
 * @text: the first of them
 */
struct baleen_noop_keys {
	u64 n;
	u64 n_entries;
	char text[BALEEN_ENTRY_TEXT];
};

/**
 * baleen_change_n_keys() - hosts and keys of a change, without its prefixes
 * @list: a finished list
 *
 * Return: how many.
 */
u64 baleen_change_n_keys(const struct baleen_list *list);

/**
 * baleen_change_key() - one of them
 * @list: a finished list
 * @i: below baleen_change_n_keys()
 *
 * Return: the key.
 */
struct baleen_key baleen_change_key(const struct baleen_list *list, u64 i);

/**
 * baleen_change_key_text() - one of them as text
 * @filter: the filter
 * @list: a finished list
 * @key: of baleen_change_key()
 * @text: at least BALEEN_KEY_TEXT bytes: as it was typed, in quotes when it is a string
 */
void baleen_change_key_text(const struct baleen_filter *filter, const struct baleen_list *list,
			    const struct baleen_key *key, char *text);

/**
 * baleen_change_note_noop() - which keys change nothing, prefixes aside
 * @filter: the filter; with @is_in its header alone
 * @change: as for baleen_change_find_noop()
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @is_in: for each key whether the filter has it; NULL to look
 * @noop: filled in
 */
void baleen_change_note_noop(const struct baleen_filter *filter, const struct baleen_list *change,
			     enum baleen_set_op op, const u8 *is_in, struct baleen_noop_keys *noop);

/**
 * baleen_change_find_noop() - what is there already, or is not there at all
 * @filter: the filter, live ones too
 * @change: a finished list of the same key, without exceptions
 * @op: BALEEN_SET_UNION looks for what is wholly in @filter, as far as tables
 *      say so: of a Bloom table and of 16-bit hashes it names none,
 *      BALEEN_SET_DIFFERENCE for what nothing of is in it
 * @noop: filled in
 * @error: filled in on failure
 *
 * Return: 0; -EOPNOTSUPP when the tables keep too little to tell, or to be
 * changed so; -ENOMEM, -EINVAL.
 */
int baleen_change_find_noop(const struct baleen_filter *filter, const struct baleen_list *change,
			    enum baleen_set_op op, struct baleen_noop_keys *noop,
			    struct baleen_error *error);

/**
 * baleen_change_check_in_place() - may it be tried in place?
 * @filter: the filter, of which only the header is looked at
 * @change: as for baleen_change_find_noop()
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 *
 * Return: 0; -ENOSPC or -EOPNOTSUPP when this must be built aside.
 */
int baleen_change_check_in_place(const struct baleen_filter *filter,
				 const struct baleen_list *change, enum baleen_set_op op);

/**
 * baleen_change_in_place() - change a filter that packets may be asking
 * @filter: a writable view of a live map, or a filter in memory
 * @change: as for baleen_change_find_noop()
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @n_changed: keys that were added or taken out; untouched on failure
 *
 * Keys change one after the other. An image in memory is to be sealed by
 * baleen_change_seal() afterwards.
 *
 * Context: one writer at a time.
 * Return: 0; -ENOSPC or -EOPNOTSUPP when this must be built aside, if it can be
 * at all: what had changed was taken back.
 */
int baleen_change_in_place(struct baleen_filter *filter, const struct baleen_list *change,
			   enum baleen_set_op op, u64 *n_changed);

/**
 * baleen_change_seal() - count the keys of an image in memory, and seal it
 * @filter: changed in place
 */
void baleen_change_seal(struct baleen_filter *filter);

/**
 * baleen_change_aside() - another filter, with the change made
 * @filter: the filter, live ones too
 * @change: as for baleen_change_find_noop()
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @is_full: it was tried in place and refused
 * @fixed: @out may be no larger than @filter
 * @out: a sealed filter, to be freed by the caller; untouched on failure
 * @error: filled in on failure
 *
 * The room that the filter has for hosts and keys stays. If it is too small, the new
 * room is half as much again as is needed: keys find room in place as long as a third
 * of a table is empty.
 *
 * Return: as baleen_filter_edit(); -ENOSPC when @fixed and too small.
 */
int baleen_change_aside(const struct baleen_filter *filter, const struct baleen_list *change,
			enum baleen_set_op op, bool is_full, bool fixed, struct baleen_filter *out,
			struct baleen_error *error);

/**
 * baleen_filter_keys() - hosts and keys in the tables, by looking
 * @filter: the filter
 *
 * Return: how many; what is in prefixes does not count.
 */
u64 baleen_filter_keys(const struct baleen_filter *filter);

#endif /* BALEEN_LIB_CHANGE_H */
