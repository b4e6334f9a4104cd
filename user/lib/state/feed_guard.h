/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a new version of a feed too poor, too much, or too much at once, to be put in
 * force?
 *
 * IPv6 is counted in /64s, what one host has: an address is one, too. The space that they are
 * a share of is what IANA has given to the regional registries, eight /12s. 2000::/3 is 64
 * times as large, and all that networks announce would be a thousandth of it.
 */
#ifndef BALEEN_FEED_GUARD_H
#define BALEEN_FEED_GUARD_H

#include "list/list.h"
#include "util/error.h"

/**
 * struct baleen_feed_limits - what a feed must stay within
 * @min_entries: fewest entries
 * @max_shrink: greatest share of its entries or IPv4 addresses that it may lose
 *              from one version to the next, 0 to 1
 * @max_coverage: greatest share of the IPv4 space, or of the allocated /64s of IPv6, that it
 *                may cover, 0 to 1
 * @max_growth: greatest share of the same space that a version may cover beyond what
 *              the one before it covers, 0 to 1
 * @keep_special: special-purpose ranges (special.h) are not taken out
 * @max_entries: most entries; 0 for as many as the machine's memory is for, and of a version
 *               that follows another ten times as many as that has, or BALEEN_FEED_GROWN_ENTRIES
 */
struct baleen_feed_limits {
	u64 min_entries;
	double max_shrink;
	double max_coverage;
	double max_growth;
	bool keep_special;
	u64 max_entries;
};

/* The allocated /64s: of a /9. */
#define BALEEN_ALLOCATED_NET6 36028797018963968.0

/* An entry for so many bytes of the machine's memory. Of 1.5 million IPv6 prefixes each took 207
 * bytes of user memory while they were read, sorted and laid out, and 80 in the kernel, twice
 * while old and new filter are there: 370 of these 1024.
 * As they are written, entries of old and new list are kept for a moment: 24 bytes more each.
 */
#define BALEEN_FEED_ENTRY_BYTES 1024

/* A list may become so long at once, however short it was. */
#define BALEEN_FEED_GROWN_ENTRIES 100000

/**
 * struct baleen_feed_counts - the size of a feed
 * @n_entries: as listed, without those that others make superfluous; 0 when
 *             nothing is left of them
 * @n_ip4: IPv4 addresses
 * @ip6_share: /64s of 2000::/3 that it touches, as a share of the allocated ones; above 1 for
 *             more than these
 * @n_special: entries in special-purpose ranges that were taken out before
 * @n_ends: entries of `ipset save` that end there, and not in a feed
 */
struct baleen_feed_counts {
	u64 n_entries;
	u64 n_ip4;
	double ip6_share;
	u64 n_special;
	u64 n_ends;
};

/**
 * baleen_feed_limits_default() - the limits of a feed when nothing is said
 *
 * Return: one entry at least, half of it lost at most, a quarter of the space, a
 * thousandth of it at once, no special-purpose ranges.
 */
struct baleen_feed_limits baleen_feed_limits_default(void);

/**
 * baleen_feed_max_entries() - most entries of a list that is being read
 * @limits: limits of the feed
 * @memory_bytes: baleen_memory_total()
 *
 * Return: what the limits say, or one for each BALEEN_FEED_ENTRY_BYTES.
 */
u64 baleen_feed_max_entries(const struct baleen_feed_limits *limits, u64 memory_bytes);

/**
 * baleen_feed_refuse_entries() - more entries than that, as an error
 * @n: how many, or how many had been read
 * @is_all: all have been read
 * @max: baleen_feed_max_entries()
 * @error: filled in: the figure and the bound
 *
 * Return: -ERANGE.
 */
int baleen_feed_refuse_entries(u64 n, bool is_all, u64 max, struct baleen_error *error);

/**
 * baleen_feed_count() - measure a feed
 * @list: finished, special-purpose ranges removed
 *
 * Return: the counts.
 */
struct baleen_feed_counts baleen_feed_count(const struct baleen_list *list);

/**
 * enum baleen_feed_excess - what there is too much of
 * @BALEEN_EXCESS_IP4: IPv4 addresses
 * @BALEEN_EXCESS_IP6: IPv6 addresses
 * @BALEEN_EXCESS_GROWN_IP4: IPv4 addresses that were not listed before
 * @BALEEN_EXCESS_GROWN_IP6: IPv6 addresses that were not listed before
 * @BALEEN_N_EXCESSES: how many there are; of a refusal: nothing of these
 */
enum baleen_feed_excess {
	BALEEN_EXCESS_IP4,
	BALEEN_EXCESS_IP6,
	BALEEN_EXCESS_GROWN_IP4,
	BALEEN_EXCESS_GROWN_IP6,
	BALEEN_N_EXCESSES,
};

/**
 * struct baleen_feed_widest - where a set covers most
 * @share: of the space that its widest prefix or interval covers; 0 for an empty set
 * @key: an address in that
 */
struct baleen_feed_widest {
	double share;
	struct baleen_key key;
};

/**
 * baleen_feed_find_widest() - where does a feed cover most?
 * @list: finished
 * @widest: filled in: of IPv4, of IPv6
 */
void baleen_feed_find_widest(const struct baleen_list *list, struct baleen_feed_widest widest[2]);

/**
 * baleen_feed_check() - may this version follow that one?
 * @limits: limits of the feed
 * @before: the version in force, or NULL when there is none
 * @now: the new version
 * @excess: filled in on refusal
 * @error: filled in on refusal: the figure, the limit and its option
 *         (min-entries, max-entries, max-coverage, max-growth or max-shrink), without the
 *         feed's name
 *
 * What covers too much is told as that, though it may have swallowed other entries.
 *
 * Return: 0 or -ERANGE.
 */
int baleen_feed_check(const struct baleen_feed_limits *limits,
		      const struct baleen_feed_counts *before, const struct baleen_feed_counts *now,
		      enum baleen_feed_excess *excess, struct baleen_error *error);

#endif /* BALEEN_FEED_GUARD_H */
