// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Is a new version of a feed too poor, too much, or too much at once? */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "state/feed_guard.h"
#include "util/memory.h"

#define ALL_IP4 4294967296.0

static const char *const space_name[] = { "the IPv4 space", "the allocated IPv6 space" };

struct baleen_feed_limits baleen_feed_limits_default(void)
{
	return (struct baleen_feed_limits){
		.min_entries = 1,
		.max_shrink = 0.5,
		.max_coverage = 0.25,
		/* A /10 may come, a /9 may not. */
		.max_growth = 0.001,
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

/* The share of the allocated /64s that a prefix of a /64 at most covers, in 2000::/3. */
static double share_of(const struct baleen_prefix6 *prefix)
{
	if (prefix->length >= 3)
		return prefix->hi >> 61 == 1 ? exp2(prefix->length < 64 ? 64 - prefix->length : 0) /
						       BALEEN_ALLOCATED_NET6 :
					       0;
	/* 2000::/3 is the second eighth of all addresses. */
	return prefix->hi >> 62 == 0 ? exp2(61) / BALEEN_ALLOCATED_NET6 : 0;
}

/* /64s of addresses and prefixes inside them: a /64 that has several is one. */
struct inner {
	u64 hi;
	u64 n;
};

static void add_inner(struct inner *inner, u64 hi)
{
	if (hi >> 61 != 1 || (inner->n && inner->hi == hi))
		return;
	inner->hi = hi;
	inner->n++;
}

/* Along the nesting: an entry says the contrary of the next wider one, so what
 * it covers is added or taken away again. An exception inside a /64 leaves the rest of it.
 */
static double share_of_ip6(const struct baleen_list *list)
{
	struct inner inner = { 0 };
	double share = 0;

	for (size_t i = 0; i < list->n_ip6; i++)
		add_inner(&inner, list->ip6[i].hi);
	for (size_t i = 0; i < list->n_prefix6; i++) {
		const struct baleen_prefix6 *prefix = &list->prefix6[i];

		if (prefix->length <= 64)
			share += (prefix->is_exception ? -1 : 1) * share_of(prefix);
		else if (!prefix->is_exception)
			add_inner(&inner, prefix->hi);
	}
	return share + inner.n / BALEEN_ALLOCATED_NET6;
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
		.n_ends = list->n_ends,
	};
}

static void widen(struct baleen_feed_widest *widest, double share, struct baleen_key key)
{
	if (share > widest->share)
		*widest = (struct baleen_feed_widest){ share, key };
}

void baleen_feed_find_widest(const struct baleen_list *list, struct baleen_feed_widest widest[2])
{
	widest[0] = widest[1] = (struct baleen_feed_widest){ 0 };
	for (size_t i = 0; i < list->n_net4; i++)
		widen(&widest[0], ((double)list->net4[i].last - list->net4[i].first + 1) / ALL_IP4,
		      (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = list->net4[i].first });
	for (size_t i = 0; i < list->n_prefix6; i++)
		if (!list->prefix6[i].is_exception)
			widen(&widest[1], share_of(&list->prefix6[i]),
			      (struct baleen_key){ .domain = BALEEN_IP6,
						   .hi = list->prefix6[i].hi,
						   .lo = list->prefix6[i].lo });
}

/* --- entries --- */

u64 baleen_feed_max_entries(const struct baleen_feed_limits *limits, u64 memory_bytes)
{
	return limits->max_entries ?: memory_bytes / BALEEN_FEED_ENTRY_BYTES;
}

int baleen_feed_refuse_entries(u64 n, bool is_all, u64 max, struct baleen_error *error)
{
	return baleen_fail(error, ERANGE, "%s%llu entries: more than max-entries %llu allows",
			   is_all ? "" : "at least ", (unsigned long long)n,
			   (unsigned long long)max);
}

/* --- judging --- */

/**
 * struct judging - a version that is being judged
 * @limits: limits of the feed
 * @excess: filled in when it is too much
 * @error: filled in on refusal
 */
struct judging {
	const struct baleen_feed_limits *limits;
	enum baleen_feed_excess *excess;
	struct baleen_error *error;
};

static int check_shrink(const struct judging *judging, u64 before, u64 now, const char *what)
{
	double lost = now < before ? 1 - (double)now / (double)before : 0;

	if (lost <= judging->limits->max_shrink)
		return 0;
	return baleen_fail(
		judging->error, ERANGE,
		"%s fell by %.1f %%, from %llu to %llu: more than max-shrink %g%% allows", what,
		100 * lost, (unsigned long long)before, (unsigned long long)now,
		100 * judging->limits->max_shrink);
}

/* A list of private ranges is not empty to whoever wrote it. */
static int fail_few(const struct judging *judging, const struct baleen_feed_counts *now)
{
	char special[128] = "";

	if (now->n_special)
		snprintf(
			special, sizeof(special),
			", without %llu in special-purpose ranges (special keep keeps all but 0.0.0.0, :: and 255.255.255.255)",
			(unsigned long long)now->n_special);
	return baleen_fail(judging->error, ERANGE,
			   "%llu entr%s%s: fewer than min-entries %llu asks for",
			   (unsigned long long)now->n_entries, now->n_entries == 1 ? "y" : "ies",
			   special, (unsigned long long)judging->limits->min_entries);
}

static int check_coverage(const struct judging *judging, double share, bool is_ip6)
{
	/* 100 % is no limit. */
	share = fmin(share, 1);
	if (share <= judging->limits->max_coverage)
		return 0;
	*judging->excess = is_ip6 ? BALEEN_EXCESS_IP6 : BALEEN_EXCESS_IP4;
	return baleen_fail(judging->error, ERANGE,
			   "covers %.1f %% of %s: more than max-coverage %g%% allows", 100 * share,
			   space_name[is_ip6], 100 * judging->limits->max_coverage);
}

static int check_growth(const struct judging *judging, double before, double now, bool is_ip6)
{
	double grown = fmin(now, 1) - fmin(before, 1);

	if (grown <= judging->limits->max_growth)
		return 0;
	*judging->excess = is_ip6 ? BALEEN_EXCESS_GROWN_IP6 : BALEEN_EXCESS_GROWN_IP4;
	return baleen_fail(
		judging->error, ERANGE,
		"covers %.3g %% of %s more than before: more than max-growth %g%% allows",
		100 * grown, space_name[is_ip6], 100 * judging->limits->max_growth);
}

/* A list of a line does not become one of a million: nobody has looked at these. */
static int check_grown_entries(const struct judging *judging, u64 before, u64 now)
{
	u64 most =
		before > BALEEN_FEED_GROWN_ENTRIES / 10 ? 10 * before : BALEEN_FEED_GROWN_ENTRIES;

	if (judging->limits->max_entries || now <= most)
		return 0;
	return baleen_fail(judging->error, ERANGE,
			   "%llu entries after %llu: more than %s (max-entries %llu allows them)",
			   (unsigned long long)now, (unsigned long long)before,
			   most == BALEEN_FEED_GROWN_ENTRIES ? "100000" : "ten times as many",
			   (unsigned long long)now);
}

int baleen_feed_check(const struct baleen_feed_limits *limits,
		      const struct baleen_feed_counts *before, const struct baleen_feed_counts *now,
		      enum baleen_feed_excess *excess, struct baleen_error *error)
{
	const struct judging judging = { limits, excess, error };
	u64 most = baleen_feed_max_entries(limits, baleen_memory_total());
	int err;

	*excess = BALEEN_N_EXCESSES;
	if (now->n_entries < limits->min_entries)
		return fail_few(&judging, now);
	if (now->n_entries > most)
		return baleen_feed_refuse_entries(now->n_entries, true, most, error);
	err = check_coverage(&judging, now->n_ip4 / ALL_IP4, false);
	if (!err)
		err = check_coverage(&judging, now->ip6_share, true);
	if (err || !before)
		return err;
	err = check_growth(&judging, before->n_ip4 / ALL_IP4, now->n_ip4 / ALL_IP4, false);
	if (!err)
		err = check_growth(&judging, before->ip6_share, now->ip6_share, true);
	if (!err)
		err = check_grown_entries(&judging, before->n_entries, now->n_entries);
	if (!err)
		err = check_shrink(&judging, before->n_entries, now->n_entries, "entries");
	if (!err)
		err = check_shrink(&judging, before->n_ip4, now->n_ip4, "IPv4 addresses");
	return err;
}
