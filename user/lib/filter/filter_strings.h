/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keys that strings are in a filter, whose seed and hash decide them.
 */
#ifndef BALEEN_FILTER_STRINGS_H
#define BALEEN_FILTER_STRINGS_H

#include "filter/filter.h"
#include "list/string_keys.h"

/**
 * baleen_string_key() - the key of a string in a filter
 * @filter: the filter
 * @string: has to stay where it is for as long as the key
 *
 * Return: a BALEEN_TUPLE whose hi is baleen_hash_string(). Where the filter
 * hashes the string's own bytes (BALEEN_HASH_MURMUR3), lo and dst_hi say where
 * they are: see baleen_key_string(). Where another table hashes texts without a secret
 * (enum baleen_form), its hash is that of the text.
 */
struct baleen_key baleen_string_key(const struct baleen_filter *filter,
				    struct baleen_string string);

/**
 * baleen_strings_check() - can strings be keys of a filter?
 * @strings: the strings
 * @image: header of the filter
 * @error: filled in on failure
 *
 * Return: 0; -EINVAL where one is not hexadecimal digits, and they have to be.
 */
int baleen_strings_check(const struct baleen_strings *strings, const struct baleen_image *image,
			 struct baleen_error *error);

/**
 * baleen_list_resolve() - the keys that the strings of a list are in a filter
 * @list: finished; its keys are made anew and sorted, its strings stay
 * @filter: the filter that the list is to change or to be compared with; NULL for
 *          keys that are good for comparing two lists
 *
 * Changes of a filter by a list go by its keys. A list without strings stays as it is.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_list_resolve(struct baleen_list *list, const struct baleen_filter *filter);

#endif /* BALEEN_FILTER_STRINGS_H */
