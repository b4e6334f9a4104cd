/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries that wait for something.
 */
#ifndef BALEEN_ENTRY_ARRAY_H
#define BALEEN_ENTRY_ARRAY_H

#include "state/entry_key.h"

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

#endif /* BALEEN_ENTRY_ARRAY_H */
