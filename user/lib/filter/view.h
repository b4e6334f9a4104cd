/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The content of a table, place by place and in numbers, for those who draw it.
 *
 * A place is a bit of a Bloom, classic or counting table, a bucket of a cuckoo table or of
 * one of prefixes, a bucket with its chain, a slot of a quotient table, a group of a directory,
 * an entry of a table of entries.
 */
#ifndef BALEEN_VIEW_H
#define BALEEN_VIEW_H

#include <baleen/plane.h>

#include "filter/filter.h"

/* Bars of the longest histogram: blocks of 512 bits by 32 bits. */
#define BALEEN_VIEW_BARS 17

/* Room for the name of a bar. */
#define BALEEN_VIEW_NAME 24

/**
 * struct baleen_view_summary - a table in numbers
 * @n_places: places of the table
 * @n_used: bits that are set, counters above zero, slots in use, groups that are not empty, entries
 * @n_stuck: counting: counters that do not count any more
 * @n_runs: quotient: runs
 * @n_clusters: quotient: clusters: they begin with a slot that is not shifted
 * @longest_run: quotient: slots
 * @longest_cluster: quotient: slots
 * @n_bars: bars of the histogram; 0: none
 * @bar: blocks by bits set, counters by value, buckets by slots in use or by the length of
 *       their chain, runs by length, groups by state; see baleen_view_bar_name()
 */
struct baleen_view_summary {
	u64 n_places;
	u64 n_used;
	u64 n_stuck;
	u64 n_runs;
	u64 n_clusters;
	u64 longest_run;
	u64 longest_cluster;
	u32 n_bars;
	u64 bar[BALEEN_VIEW_BARS];
};

/**
 * struct baleen_view_slot - a slot of a quotient table
 * @is_used: it holds a remainder
 * @occupied: there is a run of the quotient that is the slot's number
 * @continued: it is not the first of its run
 * @shifted: it is not where its quotient is
 * @ends_run: it is the last of its run
 * @ends_cluster: it is the last of its cluster
 * @remainder: what it holds
 * @quotient: of which quotient, when it is used
 */
struct baleen_view_slot {
	bool is_used;
	bool occupied;
	bool continued;
	bool shifted;
	bool ends_run;
	bool ends_cluster;
	u64 remainder;
	u32 quotient;
};

/* A key is in no slot. */
#define BALEEN_VIEW_NOWHERE (~0u)

/**
 * struct baleen_view_key - where a table is asked for a key
 * @positions: tables of bits: its bits
 * @bucket: cuckoo: home and other bucket; chains: the bucket, twice
 * @slot: cuckoo: the slot of each bucket that holds the key, or BALEEN_VIEW_NOWHERE;
 *        quotient: the first: the first slot that does; chains: the first: how many are
 *        before it in its chain
 * @n_copies: cuckoo, quotient, chains: slots or entries that hold the key
 * @is_stashed: cuckoo: the stash holds the key
 * @fingerprint: cuckoo: what a slot keeps of it; quotient: q + r bits; chains: its value
 * @quotient: its upper bits
 * @remainder: its lower bits
 * @run: quotient: the run of @quotient; none when n is 0
 * @group: directory: number of the group
 */
struct baleen_view_key {
	struct baleen_positions positions;
	u32 bucket[2];
	u32 slot[2];
	u32 n_copies;
	bool is_stashed;
	u64 fingerprint;
	u32 quotient;
	u64 remainder;
	struct baleen_quotient_run run;
	u32 group;
};

/**
 * baleen_view_places() - places of a table
 * @table: the table
 *
 * Return: how many.
 */
u64 baleen_view_places(const struct baleen_table *table);

/**
 * baleen_view_summarise() - a table in numbers
 * @filter: the filter
 * @domain: domain of a table
 * @summary: filled in
 */
void baleen_view_summarise(const struct baleen_filter *filter, u32 domain,
			   struct baleen_view_summary *summary);

/**
 * baleen_view_bar_name() - what a bar of the histogram counts
 * @table: the table
 * @domain: its domain
 * @bar: below n_bars
 * @name: filled in with a number, a range or a state; BALEEN_VIEW_NAME bytes
 *
 * Return: @name.
 */
const char *baleen_view_bar_name(const struct baleen_table *table, u32 domain, u32 bar, char *name);

/**
 * baleen_view_group() - the state of a group of a directory, or of an entry of the first
 * index of a tree
 * @filter: the filter
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 * @group: number of the group
 *
 * Return: enum baleen_group; 3: it has a leaf, or leads to nodes.
 */
u32 baleen_view_group(const struct baleen_filter *filter, u32 domain, u32 group);

/**
 * baleen_view_slot() - a slot of a quotient table
 * @filter: the filter
 * @domain: domain of a quotient table
 * @slot: number of the slot
 *
 * Return: what is in it.
 */
struct baleen_view_slot baleen_view_slot(const struct baleen_filter *filter, u32 domain, u32 slot);

/**
 * baleen_view_chain() - the chain of a bucket
 * @filter: the filter
 * @domain: domain of a table of chains
 * @bucket: number of the bucket
 * @value: filled in with the first @room values, from the head on
 * @room: how many
 *
 * Return: the length of the chain.
 */
u32 baleen_view_chain(const struct baleen_filter *filter, u32 domain, u32 bucket, u64 *value,
		      u32 room);

/**
 * baleen_view_key() - where a table is asked for a key
 * @filter: the filter
 * @domain: domain of the table: that of @key, or the directory before it
 * @key: the key
 * @where: filled in as the kind of the table says; untouched on failure
 *
 * Return: 0; -EOPNOTSUPP when the table is not asked for such keys.
 */
int baleen_view_key(const struct baleen_filter *filter, u32 domain, const struct baleen_key *key,
		    struct baleen_view_key *where);

#endif /* BALEEN_VIEW_H */
