// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is a new version of a feed too poor, or too much? */
#include <errno.h>
#include <math.h>

#include "state/feed_guard.h"

#define ALL_IP4 4294967296.0

struct baleen_feed_limits baleen_feed_limits_default(void)
{
	return (struct baleen_feed_limits){
		.min_entries = 1,
		.max_shrink = 0.5,
		.max_coverage = 0.25,
	};
}

/* --- measuring --- */

static u64 count_ip4(const struct baleen_list *list)
{
	u64 n = list->n_ip4;

	for (size_t i = 0; i < list->n_net4; i++)
		n += (u64)list->net4[i].last - list->net4[i].first + 1;
	return n;
}

/* The share of 2000::/3 that a prefix covers. */
static double share_of(const struct baleen_prefix6 *prefix)
{
	if (prefix->length >= 3)
		return prefix->hi >> 61 == 1 ? exp2(3 - prefix->length) : 0;
	/* 2000::/3 is the second eighth of all addresses. */
	return prefix->hi >> 62 == 0 ? 1 : 0;
}

/* Along the nesting: an entry says the contrary of the next wider one, so what
 * it covers is added or taken away again.
 */
static double share_of_ip6(const struct baleen_list *list)
{
	double share = 0;

	for (size_t i = 0; i < list->n_ip6; i++)
		share += list->ip6[i].hi >> 61 == 1 ? exp2(3 - 128) : 0;
	for (size_t i = 0; i < list->n_prefix6; i++)
		share += (list->prefix6[i].is_exception ? -1 : 1) * share_of(&list->prefix6[i]);
	return share;
}

static bool is_empty(const struct baleen_list *list)
{
	return !(list->n_ip4 || list->n_net4 || list->n_ip6 || list->n_prefix6 || list->n_key);
}

struct baleen_feed_counts baleen_feed_count(const struct baleen_list *list)
{
	return (struct baleen_feed_counts){
		.n_entries = is_empty(list) ? 0 : list->n_listed - list->n_covered,
		.n_ip4 = count_ip4(list),
		.ip6_share = share_of_ip6(list),
	};
}

/* --- judging --- */

static int check_shrink(const struct baleen_feed_limits *limits, u64 before, u64 now,
			const char *what, struct baleen_error *error)
{
	double lost = now < before ? 1 - (double)now / (double)before : 0;

	if (lost <= limits->max_shrink)
		return 0;
	return baleen_fail(
		error, ERANGE,
		"%s fell by %.1f %%, from %llu to %llu: more than max-shrink %g%% allows", what,
		100 * lost, (unsigned long long)before, (unsigned long long)now,
		100 * limits->max_shrink);
}

static int check_coverage(const struct baleen_feed_limits *limits, double share, const char *what,
			  struct baleen_error *error)
{
	if (share <= limits->max_coverage)
		return 0;
	return baleen_fail(error, ERANGE,
			   "covers %.1f %% of %s: more than max-coverage %g%% allows", 100 * share,
			   what, 100 * limits->max_coverage);
}

int baleen_feed_check(const struct baleen_feed_limits *limits,
		      const struct baleen_feed_counts *before, const struct baleen_feed_counts *now,
		      struct baleen_error *error)
{
	int err = 0;

	if (now->n_entries < limits->min_entries)
		return baleen_fail(error, ERANGE,
				   "%llu entr%s: fewer than min-entries %llu asks for",
				   (unsigned long long)now->n_entries,
				   now->n_entries == 1 ? "y" : "ies",
				   (unsigned long long)limits->min_entries);
	if (before)
		err = check_shrink(limits, before->n_entries, now->n_entries, "entries", error);
	if (before && !err)
		err = check_shrink(limits, before->n_ip4, now->n_ip4, "IPv4 addresses", error);
	if (!err)
		err = check_coverage(limits, now->n_ip4 / ALL_IP4, "the IPv4 space", error);
	if (!err)
		err = check_coverage(limits, now->ip6_share, "the global IPv6 space", error);
	return err;
}
