// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * IPv6 entries of a list as the prefixes that the longest decides by, reduced.
 *
 * In the order of their addresses, wider ones first, prefixes are a tree in
 * preorder: those around an entry lie on a stack. First every entry goes that
 * says what the one around it says. Then halves join: when the second of two
 * neighbours that say the same is done, with all inside it, the prefix around
 * both stands for them. If it is an entry itself it said the contrary, so the
 * one around it says the same as they do, and all three go.
 */
#include <stdlib.h>

#include "list/list_set.h"
#include "list/list_sort.h"

#define MAX_DEPTH 129

/* A length that no prefix has: the entry is gone. */
#define GONE 0xff

static bool is_same(const struct baleen_prefix6 *a, const struct baleen_prefix6 *b)
{
	return a->hi == b->hi && a->lo == b->lo && a->length == b->length;
}

/* The prefix beside it, with which it makes up a wider one. */
static struct baleen_prefix6 sibling(struct baleen_prefix6 prefix)
{
	if (prefix.length <= 64)
		prefix.hi ^= 1ull << (64 - prefix.length);
	else
		prefix.lo ^= 1ull << (128 - prefix.length);
	return prefix;
}

static bool is_first_half(const struct baleen_prefix6 *prefix)
{
	struct baleen_prefix6 other = sibling(*prefix);

	return prefix->hi < other.hi || prefix->lo < other.lo;
}

/* --- what says nothing new --- */

static void drop_covered(struct baleen_list *list)
{
	struct baleen_prefix6 *prefix6 = list->prefix6, around[MAX_DEPTH],
			      last = { .length = GONE };
	size_t kept = 0;
	u32 depth = 0;

	for (size_t i = 0; i < list->n_prefix6; i++) {
		struct baleen_prefix6 prefix = prefix6[i];
		bool is_repeated = is_same(&last, &prefix);

		last = prefix;
		while (depth && !baleen_prefix6_is_around(&around[depth - 1], &prefix))
			depth--;
		if (is_repeated ||
		    prefix.is_exception == (depth ? around[depth - 1].is_exception : 1))
			continue;
		around[depth++] = prefix;
		prefix6[kept++] = prefix;
	}
	list->n_covered += list->n_prefix6 - kept;
	list->n_prefix6 = kept;
}

/* --- halves --- */

/*
 * @open: entries around the one at hand
 * @first: first halves that wait for their second, each in the sibling of the
 *         one before it
 */
struct joining {
	struct baleen_prefix6 *prefix6;
	size_t open[MAX_DEPTH];
	u32 n_open;
	size_t first[MAX_DEPTH];
	u32 n_first;
};

/* First halves behind whose sibling @prefix lies wait in vain. */
static void forget_first(struct joining *joining, const struct baleen_prefix6 *prefix)
{
	while (joining->n_first) {
		struct baleen_prefix6 second =
			sibling(joining->prefix6[joining->first[joining->n_first - 1]]);

		if (baleen_prefix6_is_around(&second, prefix))
			break;
		joining->n_first--;
	}
}

/* Return: the first half that @prefix makes up a wider one with, or NULL. They
 * say the same: the contrary of what the one around both says.
 */
static struct baleen_prefix6 *find_first(struct joining *joining,
					 const struct baleen_prefix6 *prefix)
{
	struct baleen_prefix6 *first, second;

	if (!joining->n_first)
		return NULL;
	first = &joining->prefix6[joining->first[joining->n_first - 1]];
	second = sibling(*first);
	return is_same(&second, prefix) ? first : NULL;
}

/* The entry at @i is done, and all inside it. */
static void close_prefix(struct joining *joining, size_t i)
{
	struct baleen_prefix6 *prefix = &joining->prefix6[i], *first, *around = NULL;

	if (prefix->length == GONE)
		return;
	if (joining->n_open)
		around = &joining->prefix6[joining->open[joining->n_open - 1]];
	forget_first(joining, prefix);
	while ((first = find_first(joining, prefix))) {
		joining->n_first--;
		prefix->length = GONE;
		prefix = first;
		prefix->length--;
		if (around && is_same(around, prefix)) {
			around->length = prefix->length = GONE;
			return;
		}
	}
	if (prefix->length && is_first_half(prefix))
		joining->first[joining->n_first++] = prefix - joining->prefix6;
}

static void close_all_but(struct joining *joining, const struct baleen_prefix6 *next)
{
	while (joining->n_open) {
		size_t top = joining->open[joining->n_open - 1];
		const struct baleen_prefix6 *prefix = &joining->prefix6[top];

		if (next && prefix->length != GONE && baleen_prefix6_is_around(prefix, next))
			return;
		joining->n_open--;
		close_prefix(joining, top);
	}
}

static void join_halves(struct baleen_list *list)
{
	struct joining joining = { .prefix6 = list->prefix6 };
	size_t kept = 0;

	for (size_t i = 0; i < list->n_prefix6; i++) {
		close_all_but(&joining, &list->prefix6[i]);
		joining.open[joining.n_open++] = i;
	}
	close_all_but(&joining, NULL);
	for (size_t i = 0; i < list->n_prefix6; i++)
		if (list->prefix6[i].length != GONE)
			list->prefix6[kept++] = list->prefix6[i];
	list->n_prefix6 = kept;
}

/* --- the set --- */

static void hosts_finish(struct baleen_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n_ip6; i++)
		if (!kept || baleen_ip6_compare(list->ip6[kept - 1], list->ip6[i]))
			list->ip6[kept++] = list->ip6[i];
	list->n_covered += list->n_ip6 - kept;
	list->n_ip6 = kept;
}

int baleen_set6_reserve(struct baleen_list *list)
{
	struct baleen_prefix6 *prefix6;
	size_t want = list->n_prefix6 + list->n_ip6;

	if (!list->n_prefix6 || want <= list->room_prefix6)
		return 0;
	prefix6 = reallocarray(list->prefix6, want, sizeof(*prefix6));
	if (!prefix6)
		return -ENOMEM;
	list->prefix6 = prefix6;
	list->room_prefix6 = want;
	return 0;
}

/* Merged in from the back, as prefixes of 128 bits. */
static void merge_hosts(struct baleen_list *list)
{
	size_t n = list->n_prefix6, at = n + list->n_ip6;

	list->n_prefix6 = at;
	while (list->n_ip6) {
		struct baleen_ip6 ip6 = list->ip6[--list->n_ip6];
		struct baleen_prefix6 host = { ip6.hi, ip6.lo, 128, 0 };

		while (n && baleen_prefix6_compare(&list->prefix6[n - 1], &host) > 0)
			list->prefix6[--at] = list->prefix6[--n];
		list->prefix6[--at] = host;
	}
}

static bool are_hosts(const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_prefix6; i++)
		if (list->prefix6[i].length != 128)
			return false;
	return true;
}

/* Their array was theirs before: it has room. */
static void back_to_hosts(struct baleen_list *list)
{
	for (; list->n_ip6 < list->n_prefix6; list->n_ip6++)
		list->ip6[list->n_ip6] = (struct baleen_ip6){
			list->prefix6[list->n_ip6].hi,
			list->prefix6[list->n_ip6].lo,
		};
	free(list->prefix6);
	list->prefix6 = NULL;
	list->n_prefix6 = list->room_prefix6 = 0;
}

void baleen_set6_make(struct baleen_list *list)
{
	if (!list->n_prefix6) {
		hosts_finish(list);
		return;
	}
	merge_hosts(list);
	drop_covered(list);
	join_halves(list);
	if (are_hosts(list)) {
		back_to_hosts(list);
		return;
	}
	free(list->ip6);
	list->ip6 = NULL;
	list->room_ip6 = 0;
}
