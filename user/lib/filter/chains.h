/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing tables of chains (chained.h), and putting them together.
 */
#ifndef BALEEN_CHAINS_H
#define BALEEN_CHAINS_H

#include <baleen/chained.h>

#include "filter/filter.h"

/**
 * baleen_chains_of() - the chains of a filter
 * @filter: the filter
 * @domain: of a table of chains
 *
 * Return: them; they change the filter's table, also its number of entries.
 */
struct baleen_chains baleen_chains_of(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_chains_insert() - put a value into its chain
 * @chains: the table
 * @value: its value
 * @is_copy: also where it is there
 * @changed: whether there is one more
 *
 * Return: 0; -ENOSPC where there is no room for an entry.
 */
int baleen_chains_insert(const struct baleen_chains *chains, u64 value, bool is_copy,
			 bool *changed);

/**
 * baleen_chains_remove() - take a value out of its chain, once
 * @chains: the table
 * @value: its value
 *
 * Return: whether it was there.
 */
bool baleen_chains_remove(const struct baleen_chains *chains, u64 value);

/**
 * baleen_chains_unite() - the values of tables, in one
 * @filters: each with a table of @domain, of one kind, width and form
 * @n: how many, 1 or more
 * @domain: their domain
 * @n_room: entries to have room for; no fewer than there are
 * @out: filled in; has this table alone
 * @error: filled in on failure
 *
 * No key is needed: the bucket of a value comes from the value.
 *
 * Return: 0, -E2BIG or -ENOMEM.
 */
int baleen_chains_unite(const struct baleen_filter *const *filters, u32 n, u32 domain, u64 n_room,
			struct baleen_filter *out, struct baleen_error *error);

#endif /* BALEEN_CHAINS_H */
