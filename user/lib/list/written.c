// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The entries of a list as somebody wrote them. */
#include <errno.h>

#include "list/list_sort.h"
#include "list/special.h"
#include "list/written.h"

int baleen_written_copy(struct baleen_list *list, struct baleen_list *written)
{
	baleen_list_sort(list);
	written->key_spec = list->key_spec;
	return baleen_list_append_all(written, list);
}

/* --- one array ----------------------------------------------------------------- */

enum what { IP4, PREFIX4, IP6, PREFIX6, KEY, N_ARRAYS };

static size_t size_of(const struct baleen_list *list, enum what what)
{
	switch (what) {
	case IP4: return list->n_ip4;
	case PREFIX4: return list->n_prefix4;
	case IP6: return list->n_ip6;
	case PREFIX6: return list->n_prefix6;
	default: return list->n_key;
	}
}

static int compare_prefix4(const struct baleen_prefix4 *a, const struct baleen_prefix4 *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return b->is_exception - a->is_exception;
}

static int compare(const struct baleen_list *a, size_t i, const struct baleen_list *b, size_t j,
		   enum what what)
{
	switch (what) {
	case IP4: return a->ip4[i] < b->ip4[j] ? -1 : a->ip4[i] > b->ip4[j];
	case PREFIX4: return compare_prefix4(&a->prefix4[i], &b->prefix4[j]);
	case IP6: return baleen_ip6_compare(a->ip6[i], b->ip6[j]);
	case PREFIX6: return baleen_prefix6_compare(&a->prefix6[i], &b->prefix6[j]);
	default: return baleen_key_compare(&a->key[i], &b->key[j]);
	}
}

static bool is_again(const struct baleen_list *list, size_t i, enum what what)
{
	return i && !compare(list, i, list, i - 1, what);
}

static bool is_exception(const struct baleen_list *list, size_t i, enum what what)
{
	return what == PREFIX4 ? list->prefix4[i].is_exception :
	       what == PREFIX6 ? list->prefix6[i].is_exception :
				 false;
}

static struct baleen_span span_of(const struct baleen_list *list, size_t i, enum what what)
{
	struct baleen_span span = { .is_ip6 = true };

	switch (what) {
	case IP4: return baleen_span_of_ip4(list->ip4[i]);
	case PREFIX4:
		span = baleen_span_of_ip4(list->prefix4[i].address);
		return baleen_span_prefix(&span, list->prefix4[i].length);
	case IP6: span.first = span.last = list->ip6[i]; return span;
	default:
		span.first = (struct baleen_ip6){ list->prefix6[i].hi, list->prefix6[i].lo };
		return baleen_span_prefix(&span, list->prefix6[i].length);
	}
}

/* --- special-purpose ranges ------------------------------------------------------ */

/**
 * struct ranges - these ranges, along an array
 * @span: of its family, in ascending order
 * @n: how many
 * @at: the first that does not end before the entry that was asked about last
 */
struct ranges {
	struct baleen_span span[BALEEN_N_SPECIAL];
	u32 n;
	u32 at;
};

static void start_ranges(struct ranges *ranges, enum what what)
{
	bool is_ip6 = what == IP6 || what == PREFIX6;

	ranges->n = ranges->at = 0;
	for (u32 i = 0; i < BALEEN_N_SPECIAL && what != KEY; i++) {
		struct baleen_span span = baleen_special_span(i);

		if (span.is_ip6 == is_ip6)
			ranges->span[ranges->n++] = span;
	}
}

/* The range that an entry is in or reaches into first; NULL for none. Entries are asked about in
 * ascending order of their first addresses.
 */
static const struct baleen_span *next_range(struct ranges *ranges, const struct baleen_span *entry)
{
	const struct baleen_span *range;

	while (ranges->at < ranges->n &&
	       baleen_ip6_compare(ranges->span[ranges->at].last, entry->first) < 0)
		ranges->at++;
	range = &ranges->span[ranges->at];
	return ranges->at < ranges->n && baleen_ip6_compare(range->first, entry->last) <= 0 ?
		       range :
		       NULL;
}

static bool is_special(struct ranges *ranges, const struct baleen_list *list, size_t i,
		       enum what what)
{
	struct baleen_span entry;
	const struct baleen_span *range;

	if (!ranges->n)
		return false;
	entry = span_of(list, i, what);
	range = next_range(ranges, &entry);
	return range && baleen_ip6_compare(range->first, entry.first) <= 0 &&
	       baleen_ip6_compare(entry.last, range->last) <= 0;
}

u64 baleen_written_special(const struct baleen_list *written)
{
	struct ranges ranges;
	u64 n = 0;

	for (enum what what = IP4; what < KEY; what++) {
		start_ranges(&ranges, what);
		for (size_t i = 0; i < size_of(written, what); i++) {
			struct baleen_span entry = span_of(written, i, what);

			n += !is_exception(written, i, what) && !is_again(written, i, what) &&
			     next_range(&ranges, &entry);
		}
	}
	return n;
}

/* --- what differs ------------------------------------------------------------------ */

u64 baleen_written_only(const struct baleen_list *written, const struct baleen_list *other,
			bool has_special)
{
	struct ranges ranges;
	u64 n = 0;

	for (enum what what = IP4; what < N_ARRAYS; what++) {
		size_t j = 0;

		start_ranges(&ranges, has_special ? KEY : what);
		for (size_t i = 0; i < size_of(written, what); i++) {
			if (is_again(written, i, what))
				continue;
			while (j < size_of(other, what) && compare(other, j, written, i, what) < 0)
				j++;
			if (j == size_of(other, what) || compare(other, j, written, i, what))
				n += !is_special(&ranges, written, i, what);
		}
	}
	return n;
}
