// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys that strings are in a filter. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "filter/filter_strings.h"
#include "filter/slots.h"
#include "key/key_text.h"
#include "list/list.h"
#include "list/list_sort.h"

static bool hashes_bytes(const struct baleen_filter *filter)
{
	return baleen_needs_bytes(&filter->image.table[BALEEN_TUPLE]);
}

static struct baleen_text text_of(const struct baleen_image *image, struct baleen_string string)
{
	return (struct baleen_text){
		.bytes = string.bytes,
		.n_bytes = string.n_bytes,
		.form = image->table[BALEEN_TUPLE].form,
	};
}

int baleen_strings_check(const struct baleen_strings *strings, const struct baleen_image *image,
			 struct baleen_error *error)
{
	struct baleen_string string;
	char shown[BALEEN_KEY_TEXT];
	size_t at = 0;

	while (image->table[BALEEN_TUPLE].form && baleen_strings_next(strings, &at, &string)) {
		struct baleen_text text = text_of(image, string);

		if (!baleen_text_is_bad(&text))
			continue;
		baleen_string_show(string, shown);
		return baleen_fail(error, EINVAL, "%s: not hexadecimal digits, two for each byte",
				   shown);
	}
	return 0;
}

struct baleen_key baleen_string_key(const struct baleen_filter *filter, struct baleen_string string)
{
	const struct baleen_seed *seed = &filter->image.seed;
	struct baleen_text text = text_of(&filter->image, string);
	struct baleen_key key = {
		.domain = BALEEN_TUPLE,
		.hi = baleen_hash_string(seed, string.bytes, string.n_bytes),
	};

	if (text.form && !hashes_bytes(filter))
		return baleen_text_key(&text, seed);
	if (hashes_bytes(filter)) {
		key.lo = (uintptr_t)string.bytes;
		key.dst_hi = string.n_bytes;
	}
	return key;
}

static bool holds_by_xor(const struct baleen_filter *filter, const struct baleen_key *key)
{
	struct baleen_slots slots = baleen_slots_of(filter, BALEEN_TUPLE);
	struct baleen_cuckoo_place place = baleen_slots_place(&slots, &filter->image.seed, key);

	return baleen_slots_has(&slots, place.home, place.slot) ||
	       baleen_slots_has(&slots, place.other, place.slot);
}

int baleen_filter_test_string(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_TUPLE];
	struct baleen_string string;

	if (table->form & BALEEN_FORM_XOR)
		return holds_by_xor(filter, key);
	if (!hashes_bytes(filter))
		return baleen_table_test(table, &filter->image.seed, filter->bytes, key);
	string = baleen_key_string(key);
	return baleen_classic_test_bytes(table, &filter->image.seed, filter->bytes, string.bytes,
					 string.n_bytes);
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
