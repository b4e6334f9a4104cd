// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a list as people write it to its entries. */
#include <stdlib.h>
#include <unistd.h>

#include "list/list.h"
#include "list/scanner.h"
#include "util/array.h"

/* --- the list --- */

int baleen_list_add_ip4(struct baleen_list *list, u32 host)
{
	if (baleen_array_reserve(&list->ip4, &list->room_ip4, list->n_ip4 + 1))
		return -ENOMEM;
	list->ip4[list->n_ip4++] = host;
	return 0;
}

int baleen_list_add_ip6(struct baleen_list *list, struct baleen_ip6 host)
{
	if (baleen_array_reserve(&list->ip6, &list->room_ip6, list->n_ip6 + 1))
		return -ENOMEM;
	list->ip6[list->n_ip6++] = host;
	return 0;
}

int baleen_list_add_prefix4(struct baleen_list *list, u32 address, u32 length, bool is_exception)
{
	if (baleen_array_reserve(&list->prefix4, &list->room_prefix4, list->n_prefix4 + 1))
		return -ENOMEM;
	list->prefix4[list->n_prefix4++] = (struct baleen_prefix4){ address, length, is_exception };
	return 0;
}

int baleen_list_add_prefix6(struct baleen_list *list, struct baleen_ip6 address, u32 length,
			    bool is_exception)
{
	if (baleen_array_reserve(&list->prefix6, &list->room_prefix6, list->n_prefix6 + 1))
		return -ENOMEM;
	list->prefix6[list->n_prefix6++] =
		(struct baleen_prefix6){ address.hi, address.lo, length, is_exception };
	return 0;
}

static int append_key(struct baleen_list *list, const struct baleen_key *key)
{
	if (baleen_array_reserve(&list->key, &list->room_key, list->n_key + 1))
		return -ENOMEM;
	list->key[list->n_key++] = *key;
	list->n_listed++;
	return 0;
}

/* An empty line is no string. */
int baleen_list_append_string(struct baleen_list *list, const char *bytes, size_t n_bytes)
{
	if (!n_bytes)
		return 0;
	if (baleen_strings_add(&list->strings, bytes, n_bytes))
		return -ENOMEM;
	list->n_listed++;
	return 0;
}

/* IPv4 hosts of a range stay with its prefixes, so that they join them. */
static int append_span(struct baleen_list *list, struct baleen_span rest, bool is_exception)
{
	bool is_host = !is_exception && !baleen_ip6_compare(rest.first, rest.last);
	struct baleen_span prefix;
	int ret;

	if (is_host && !rest.is_ip6) {
		ret = baleen_list_add_ip4(list, rest.first.lo);
		list->n_listed += !ret;
		return ret;
	}
	do {
		u32 length = baleen_span_split(&rest, &prefix);

		if (!rest.is_ip6)
			ret = baleen_list_add_prefix4(list, prefix.first.lo, length, is_exception);
		else if (length == 128 && !is_exception)
			ret = baleen_list_add_ip6(list, prefix.first);
		else
			ret = baleen_list_add_prefix6(list, prefix.first, length, is_exception);
		list->n_listed += !ret;
	} while (!ret && baleen_ip6_compare(prefix.last, rest.last));
	return ret;
}

int baleen_list_append(struct baleen_list *list, const struct baleen_entry *entry)
{
	switch (entry->kind) {
	case BALEEN_ENTRY_SPAN: return append_span(list, entry->span, entry->is_exception);
	case BALEEN_ENTRY_KEY: return append_key(list, &entry->key);
	default: return 0;
	}
}

int baleen_list_add(struct baleen_list *list, const char *text, const char **reason)
{
	size_t length = strlen(text);
	struct baleen_entry entry;

	if (!list->key_spec)
		list->key_spec = BALEEN_KEY_SRC;
	if (list->key_spec == BALEEN_KEY_STRING)
		return baleen_list_append_string(list, text, length);
	baleen_entry_parse(&entry, list->key_spec, text, text + length);
	if (entry.kind == BALEEN_ENTRY_BAD)
		*reason = entry.reason;
	else if (entry.kind == BALEEN_ENTRY_NONE || entry.length != length || strchr(text, '\n'))
		*reason = "not a key";
	else
		return baleen_list_append(list, &entry);
	return -EINVAL;
}

#define APPEND_ALL(to, from, what)                                                             \
	({                                                                                     \
		size_t n_ = (to)->n_##what + (from)->n_##what;                                 \
		int err_ = (from)->n_##what ?                                                  \
				   baleen_array_reserve(&(to)->what, &(to)->room_##what, n_) : \
				   0;                                                          \
                                                                                               \
		if (!err_ && (from)->n_##what)                                                 \
			memcpy(&(to)->what[(to)->n_##what], (from)->what,                      \
			       (from)->n_##what * sizeof(*(from)->what));                      \
		if (!err_)                                                                     \
			(to)->n_##what = n_;                                                   \
		err_;                                                                          \
	})

int baleen_list_append_all(struct baleen_list *list, const struct baleen_list *more)
{
	if (APPEND_ALL(list, more, ip4) || APPEND_ALL(list, more, ip6) ||
	    APPEND_ALL(list, more, prefix4) || APPEND_ALL(list, more, prefix6) ||
	    APPEND_ALL(list, more, key))
		return -ENOMEM;
	list->n_listed += more->n_listed;
	list->n_bad += more->n_bad;
	list->n_ends += more->n_ends;
	return 0;
}

bool baleen_list_has_exceptions(const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_prefix4; i++)
		if (list->prefix4[i].is_exception)
			return true;
	for (size_t i = 0; i < list->n_prefix6; i++)
		if (list->prefix6[i].is_exception)
			return true;
	return false;
}

void baleen_list_free(struct baleen_list *list)
{
	free(list->ip4);
	free(list->net4);
	free(list->ip6);
	free(list->prefix6);
	free(list->key);
	free(list->prefix4);
	baleen_strings_free(&list->strings);
	*list = (struct baleen_list){ 0 };
}

/* --- lines --- */

int baleen_list_scan(int fd, u32 key_spec, baleen_list_visit *visit, void *data)
{
	struct baleen_entry entry;
	struct baleen_scanner scan;
	int ret = baleen_scanner_start(&scan, fd, key_spec);

	if (ret)
		return ret;
	while ((ret = baleen_scanner_next(&scan, &entry)) > 0) {
		ret = visit(&entry, scan.line, data);
		if (ret)
			break;
	}
	free(scan.buffer);
	return ret;
}
