/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries that wait for something.
 */
#ifndef BALEEN_ENTRY_ARRAY_H
#define BALEEN_ENTRY_ARRAY_H

#include "state/entry_key.h"
#include "state/rule_store_handle.h"

/**
 * struct baleen_entry_array - entries that wait for something; all zeros at the start
 * @entry: they; freed by the caller
 * @n: how many
 */
struct baleen_entry_array {
	struct baleen_rule_entry *entry;
	size_t n;
};

/**
 * baleen_entry_array_keep() - add an entry, as it is visited
 * @entry: the entry
 * @array: struct baleen_entry_array
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_entry_array_keep(const struct baleen_rule_entry *entry, void *array);

/**
 * baleen_entry_array_meant() - the entries that somebody means who takes one back
 * @array: all zeros; filled in, also on failure: first the entry, then the lone IPv6 addresses that
 *         stand for it (baleen_rule_entries_lone())
 * @state: opened
 * @rule: name of the rule
 * @entry: the entry; of all origins when its own is empty
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_entry_array_meant(struct baleen_entry_array *array,
			     const struct baleen_rule_store *state, const char *rule,
			     const struct baleen_rule_entry *entry, struct baleen_error *error);

#endif /* BALEEN_ENTRY_ARRAY_H */
