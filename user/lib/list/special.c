// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses that no list of strangers may hold. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list/list_algebra.h"
#include "list/list_combine.h"
#include "list/list_set.h"
#include "list/special.h"

/*
 * Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890,
 * updated by RFC 8190), IPv4 and IPv6 multicast address space, and fec0::/10.
 */
const struct baleen_special baleen_special[BALEEN_N_SPECIAL] = {
	{ "0.0.0.0/8", "this network", "RFC 791" },
	{ "10.0.0.0/8", "private use", "RFC 1918" },
	{ "100.64.0.0/10", "shared address space", "RFC 6598" },
	{ "127.0.0.0/8", "loopback", "RFC 1122" },
	{ "169.254.0.0/16", "link local", "RFC 3927" },
	{ "172.16.0.0/12", "private use", "RFC 1918" },
	{ "192.0.0.0/24", "IETF protocol assignments", "RFC 6890" },
	{ "192.0.2.0/24", "documentation", "RFC 5737" },
	{ "192.88.99.0/24", "6to4 relay anycast, deprecated", "RFC 7526" },
	{ "192.168.0.0/16", "private use", "RFC 1918" },
	{ "198.18.0.0/15", "benchmarking", "RFC 2544" },
	{ "198.51.100.0/24", "documentation", "RFC 5737" },
	{ "203.0.113.0/24", "documentation", "RFC 5737" },
	{ "224.0.0.0/4", "multicast", "RFC 5771" },
	{ "240.0.0.0/4", "reserved, with limited broadcast", "RFC 1112" },
	{ "::/128", "unspecified address", "RFC 4291" },
	{ "::1/128", "loopback", "RFC 4291" },
	{ "::ffff:0.0.0.0/96", "IPv4-mapped", "RFC 4291" },
	{ "64:ff9b::/96", "IPv4/IPv6 translation", "RFC 6052" },
	{ "64:ff9b:1::/48", "local IPv4/IPv6 translation", "RFC 8215" },
	{ "100::/64", "discard only", "RFC 6666" },
	{ "100:0:0:1::/64", "dummy prefix", "RFC 9780" },
	{ "2001:2::/48", "benchmarking", "RFC 5180" },
	{ "2001:10::/28", "ORCHID, deprecated", "RFC 4843" },
	{ "2001:db8::/32", "documentation", "RFC 3849" },
	{ "3fff::/20", "documentation", "RFC 9637" },
	{ "5f00::/16", "segment routing", "RFC 9602" },
	{ "fc00::/7", "unique local", "RFC 4193" },
	{ "fe80::/10", "link local", "RFC 4291" },
	{ "fec0::/10", "site local, deprecated", "RFC 3879" },
	{ "ff00::/8", "multicast", "RFC 4291" },
};

/* Source: RFC 1122, 3.2.1.3, and RFC 4291, 2.5.2 */
const char baleen_special_nobody[] = "0.0.0.0 unspecified address\n"
				     "255.255.255.255 limited broadcast\n"
				     ":: unspecified address\n";

struct baleen_span baleen_special_span(u32 i)
{
	struct baleen_span span = { 0 };
	const char *reason;

	baleen_span_parse(baleen_special[i].prefix, strlen(baleen_special[i].prefix), &span,
			  &reason);
	return span;
}

const struct baleen_special *baleen_special_find(const struct baleen_key *key)
{
	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++) {
		struct baleen_span span = baleen_special_span(i);

		if (baleen_span_holds(&span, key))
			return &baleen_special[i];
	}
	return NULL;
}

/* --- ranges as a set --- */

static struct baleen_prefix6 prefix6_of(u32 i)
{
	struct baleen_span rest = baleen_special_span(i), prefix;
	u32 length = baleen_span_split(&rest, &prefix);

	return (struct baleen_prefix6){ prefix.first.hi, prefix.first.lo, length, false };
}

static void add_range(struct baleen_list *ranges, u32 i)
{
	struct baleen_span rest = baleen_special_span(i), prefix;

	if (rest.is_ip6)
		ranges->prefix6[ranges->n_prefix6++] = prefix6_of(i);
	else
		ranges->prefix4[ranges->n_prefix4++] =
			(struct baleen_prefix4){ rest.first.lo, baleen_span_split(&rest, &prefix),
						 false };
}

/* All of the table; to be freed also on failure. */
static int make_ranges(struct baleen_list *ranges, u32 key_spec)
{
	*ranges = (struct baleen_list){
		.key_spec = key_spec,
		.prefix4 = calloc(BALEEN_N_SPECIAL, sizeof(*ranges->prefix4)),
		.room_prefix4 = BALEEN_N_SPECIAL,
		.prefix6 = calloc(BALEEN_N_SPECIAL, sizeof(*ranges->prefix6)),
		.room_prefix6 = BALEEN_N_SPECIAL,
	};
	if (!ranges->prefix4 || !ranges->prefix6)
		return -ENOMEM;
	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++)
		add_range(ranges, i);
	return baleen_list_finish(ranges);
}

/* --- counting --- */

static void count_ip4(const struct baleen_list *list, u32 i, struct baleen_special_removed *removed)
{
	struct baleen_span span = baleen_special_span(i);
	u32 low = span.first.lo, high = span.last.lo;

	for (size_t n = 0; n < list->n_ip4; n++)
		if (list->ip4[n] >= low && list->ip4[n] <= high) {
			removed->n_entries[i]++;
			removed->n_ip4[i]++;
		}
	for (size_t n = 0; n < list->n_net4; n++) {
		u32 first = list->net4[n].first, last = list->net4[n].last;

		if (first > high || last < low)
			continue;
		first = first < low ? low : first;
		last = last > high ? high : last;
		removed->n_entries[i]++;
		removed->n_ip4[i] += (u64)last - first + 1;
	}
}

static bool do_overlap(const struct baleen_prefix6 *a, const struct baleen_prefix6 *b)
{
	return a->length <= b->length ? baleen_prefix6_is_around(a, b) :
					baleen_prefix6_is_around(b, a);
}

static void count_ip6(const struct baleen_list *list, u32 i, struct baleen_special_removed *removed)
{
	struct baleen_prefix6 range = prefix6_of(i);

	for (size_t n = 0; n < list->n_ip6; n++) {
		struct baleen_prefix6 host = { list->ip6[n].hi, list->ip6[n].lo, 128, false };

		removed->n_entries[i] += do_overlap(&range, &host);
	}
	for (size_t n = 0; n < list->n_prefix6; n++)
		removed->n_entries[i] +=
			!list->prefix6[n].is_exception && do_overlap(&range, &list->prefix6[n]);
}

static struct baleen_special_removed count(const struct baleen_list *list)
{
	struct baleen_special_removed removed = { 0 };

	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++) {
		if (baleen_special_span(i).is_ip6)
			count_ip6(list, i, &removed);
		else
			count_ip4(list, i, &removed);
		removed.n_ranges += !!removed.n_entries[i];
	}
	return removed;
}

/* --- removing --- */

static void replace(struct baleen_list *list, struct baleen_list *by)
{
	by->n_lines = list->n_lines;
	by->n_bad = list->n_bad;
	by->n_ends = list->n_ends;
	by->n_listed = list->n_listed;
	by->n_covered = list->n_covered;
	baleen_list_free(list);
	*list = *by;
}

/* All ranges at once: what is inside of them is few. */
static int count_inside(const struct baleen_list *list, const struct baleen_list *ranges,
			struct baleen_special_removed *counts)
{
	struct baleen_list inside;
	int err = baleen_list_combine(list, ranges, BALEEN_SET_INTERSECTION, &inside);

	if (err)
		return err;
	*counts = count(&inside);
	baleen_list_free(&inside);
	return 0;
}

static int subtract_ranges(struct baleen_list *list, const struct baleen_list *ranges)
{
	struct baleen_list outside;
	int err = baleen_list_combine(list, ranges, BALEEN_SET_DIFFERENCE, &outside);

	if (!err)
		replace(list, &outside);
	return err;
}

static int look(const struct baleen_list *list, struct baleen_list *removed_from,
		struct baleen_special_removed *found)
{
	struct baleen_special_removed counts = { 0 };
	struct baleen_list ranges;
	int err;

	if (!baleen_spec_is_address(list->key_spec)) {
		*found = counts;
		return 0;
	}
	err = make_ranges(&ranges, list->key_spec);
	if (!err)
		err = count_inside(list, &ranges, &counts);
	if (!err && removed_from && counts.n_ranges)
		err = subtract_ranges(removed_from, &ranges);
	if (!err)
		*found = counts;
	baleen_list_free(&ranges);
	return err;
}

int baleen_special_count(const struct baleen_list *list, struct baleen_special_removed *inside)
{
	return look(list, NULL, inside);
}

int baleen_special_remove(struct baleen_list *list, struct baleen_special_removed *removed)
{
	return look(list, list, removed);
}

u64 baleen_special_total(const struct baleen_special_removed *removed)
{
	u64 n = 0;

	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++)
		n += removed->n_entries[i];
	return n;
}

int baleen_special_list(u32 key_spec, struct baleen_list *set, struct baleen_error *error)
{
	char text[BALEEN_N_SPECIAL * BALEEN_KEY_TEXT];
	size_t used = 0;

	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s\n",
				 baleen_special[i].prefix);
	return baleen_list_from_text(text, "special-purpose ranges", key_spec, set, error);
}

int baleen_special_nobody_list(u32 key_spec, struct baleen_list *set, struct baleen_error *error)
{
	return baleen_list_from_text(baleen_special_nobody, "addresses of nobody", key_spec, set,
				     error);
}

int baleen_special_leave_nobody(struct baleen_list *list, u64 *n)
{
	char ignored[BALEEN_LIST_TEXT];
	struct baleen_list nobody;
	struct baleen_key first;
	u64 n_met = 0;
	int err = 0;

	if (baleen_spec_is_address(list->key_spec)) {
		err = baleen_special_nobody_list(list->key_spec, &nobody, NULL);
		if (err)
			return err;
		err = baleen_list_meets(list, &nobody, &n_met, ignored, &first);
		if (!err && n_met)
			err = subtract_ranges(list, &nobody);
		baleen_list_free(&nobody);
	}
	if (!err)
		*n = n_met;
	return err;
}

const struct baleen_special *baleen_special_whole(const struct baleen_special_removed *removed)
{
	for (u32 i = 0; i < BALEEN_N_SPECIAL; i++) {
		struct baleen_span span = baleen_special_span(i);
		u64 n = span.last.lo - span.first.lo + 1;

		if (!span.is_ip6 && n >= 1 << 16 && removed->n_ip4[i] == n)
			return &baleen_special[i];
	}
	return NULL;
}
