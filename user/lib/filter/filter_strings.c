// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys that strings are in a filter. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "filter/filter_strings.h"
#include "list/list.h"
#include "list/list_sort.h"

static bool hashes_bytes(const struct baleen_filter *filter)
{
	return baleen_needs_bytes(&filter->image.table[BALEEN_TUPLE]);
}

struct baleen_key baleen_string_key(const struct baleen_filter *filter, struct baleen_string string)
{
	struct baleen_key key = {
		.domain = BALEEN_TUPLE,
		.hi = baleen_hash_string(&filter->image.seed, string.bytes, string.n_bytes),
	};

	if (hashes_bytes(filter)) {
		key.lo = (uintptr_t)string.bytes;
		key.dst_hi = string.n_bytes;
	}
	return key;
}

int baleen_filter_test_string(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_TUPLE];
	struct baleen_string string;

	if (!hashes_bytes(filter))
		return baleen_table_test(table, &filter->image.seed, filter->bytes, key);
	string = baleen_key_string(key);
	return baleen_classic_test_bytes(table, filter->bytes, string.bytes, string.n_bytes);
}

int baleen_list_resolve(struct baleen_list *list, const struct baleen_filter *filter)
{
	static const struct baleen_filter none;
	struct baleen_string string;
	struct baleen_key *keys;
	size_t at = 0, n = 0;

	if (!list->strings.n)
		return 0;
	keys = calloc(list->strings.n, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	while (baleen_strings_next(&list->strings, &at, &string))
		keys[n++] = baleen_string_key(filter ? filter : &none, string);
	free(list->key);
	list->key = keys;
	list->n_key = list->room_key = n;
	baleen_list_sort(list);
	return 0;
}
