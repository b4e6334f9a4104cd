/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finished lists as sets: made of text, asked, united, and taken from each other.
 */
#ifndef BALEEN_LIST_ALGEBRA_H
#define BALEEN_LIST_ALGEBRA_H

#include "list/list_combine.h"

/* An entry of a set as text: two IPv6 addresses and a dash. */
#define BALEEN_LIST_TEXT (2 * BALEEN_KEY_TEXT)

/**
 * baleen_text_open() - a text as a file
 * @text: the bytes
 * @n_bytes: how many
 *
 * Return: a descriptor at the start of it, or a negative errno.
 */
int baleen_text_open(const char *text, size_t n_bytes);

/**
 * baleen_list_from_text() - the set of the lines of a text
 * @text: lines of a list; NULL for none
 * @name: its name in messages
 * @key_spec: enum baleen_key_spec
 * @set: a finished list, to be freed by the caller; untouched on failure
 * @error: filled in on failure: names the first bad line
 *
 * Return: 0; -EINVAL for a bad line; -ENOMEM; a negative errno.
 */
int baleen_list_from_text(const char *text, const char *name, u32 key_spec, struct baleen_list *set,
			  struct baleen_error *error);

/**
 * baleen_list_is_empty() - has it no key at all?
 * @set: a finished list
 *
 * Return: true or false.
 */
static inline bool baleen_list_is_empty(const struct baleen_list *set)
{
	return !(set->n_ip4 || set->n_net4 || set->n_ip6 || set->n_prefix6 || set->n_key);
}

/**
 * baleen_list_has() - is a key in a set?
 * @set: a finished list
 * @key: an address, or a key of several fields
 *
 * By bisection, but for IPv6 prefixes, which are all looked at.
 *
 * Return: true or false.
 */
bool baleen_list_has(const struct baleen_list *set, const struct baleen_key *key);

/**
 * baleen_list_meets() - entries that two sets have in common
 * @set: a finished list of addresses
 * @other: another
 * @n: entries of what they have in common
 * @text: the first of them; untouched when there is none; BALEEN_LIST_TEXT bytes
 * @first: its first address; untouched when there is none
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_meets(const struct baleen_list *set, const struct baleen_list *other, u64 *n,
		      char *text, struct baleen_key *first);

/**
 * baleen_list_unite() - add a set to another
 * @set: a finished list; untouched on failure
 * @other: another of the same key
 *
 * Return: 0, -EINVAL when the keys differ, or -ENOMEM.
 */
int baleen_list_unite(struct baleen_list *set, const struct baleen_list *other);

/**
 * baleen_list_subtract() - take a set out of another
 * @set: a finished list; a whole set still after a failure, but maybe with part
 *       of @other taken out
 * @other: another of the same key
 *
 * IPv4 hosts stay hosts, also side by side, where there are no prefixes.
 *
 * Return: 0, -EINVAL when the keys differ, or -ENOMEM.
 */
int baleen_list_subtract(struct baleen_list *set, const struct baleen_list *other);

#endif /* BALEEN_LIST_ALGEBRA_H */
