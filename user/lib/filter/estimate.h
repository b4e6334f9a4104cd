/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many keys a Bloom filter holds, from its bits.
 *
 * Idea: a key leaves a given bit of m as it is with probability q, so after n
 * keys the share of bits that are zero is q^n in the mean; the n for which it is
 * the share that is seen is the estimate.
 *
 * With k positions of which each is any bit, q = (1 - 1/m)^k = e^(-k/m), nearly,
 * and n = -(m/k) ln(1 - N/m) for N bits that are set. A blocked filter is no other:
 * a key comes to a given word with probability 2/8 of its block's, that is
 * 1 / (4 blocks), and throws k/2 bits into its 64, so that
 *
 *      q = 1 - (1 - (63/64)^(k/2)) / (4 blocks)
 *
 * and that keys crowd in some blocks is part of it. Words of the same key are not
 * independent, but the mean is all that is used.
 *
 * Source: Swamidass and Baldi, "Mathematical Correction for Fingerprint
 * Similarity Measures to Improve Chemical Retrieval" (J. Chem. Inf. Model.
 * 2007), with their ends: 0 below k, 1 at k, m/k when all are set.
 * The blocked form is ours; test_estimate.c holds both against known sets.
 *
 * Error: the number of set bits has a variance below that of m independent
 * throws. At half full, a million keys in a classic filter of k = 7: a standard
 * deviation of 0.03 %. Near to full the estimate says little, at full nothing.
 */
#ifndef BALEEN_ESTIMATE_H
#define BALEEN_ESTIMATE_H

#include "filter/filter.h"

/**
 * struct baleen_overlap - sizes of two sets and of what they share, estimated
 * @a: keys in the first
 * @b: keys in the second
 * @either: in any of them
 * @both: in each of them
 * @only_a: in the first alone
 * @only_b: in the second alone
 */
struct baleen_overlap {
	double a;
	double b;
	double either;
	double both;
	double only_a;
	double only_b;
};

/**
 * baleen_table_is_bit_array() - is this a table of bits?
 * @table: the table
 *
 * Return: true for Bloom, classic and counting tables.
 */
bool baleen_table_is_bit_array(const struct baleen_table *table);

/**
 * baleen_plane() - the words of a plane of bits
 * @filter: the filter
 * @domain: domain of the table
 *
 * Return: the first of baleen_plane_words().
 */
static inline u64 *baleen_plane(const struct baleen_filter *filter, u32 domain)
{
	u64 first = filter->image.table[domain].first_block;

	return (u64 *)filter->bytes + first * BALEEN_BLOCK_WORDS;
}

static inline u64 baleen_plane_words(const struct baleen_filter *filter, u32 domain)
{
	return (u64)filter->image.table[domain].n_buckets * BALEEN_BLOCK_WORDS;
}

/**
 * baleen_bits_count() - bits that are set
 * @filter: the filter
 * @domain: domain of the table
 *
 * Return: how many of baleen_table_bits().
 */
u64 baleen_bits_count(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_counters_stuck() - counters that do not count any more
 * @filter: the filter
 * @domain: domain of the table
 *
 * Return: how many stand at BALEEN_COUNTER_MAX; 0 for a table without counters.
 */
u64 baleen_counters_stuck(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_estimate_bits() - keys in a classic plane of bits
 * @m: bits
 * @k: positions a key
 * @n_set: bits that are set, @m at the most
 *
 * Return: the estimate.
 */
double baleen_estimate_bits(u64 m, u32 k, u64 n_set);

/**
 * baleen_estimate_table() - keys of any plane of bits
 * @table: a Bloom, classic or counting table
 * @n_set: bits that are set
 *
 * Return: the estimate.
 */
double baleen_estimate_table(const struct baleen_table *table, u64 n_set);

/**
 * baleen_estimate_keys() - distinct keys in a table
 * @filter: the filter, live ones too
 * @domain: domain of a Bloom, classic or counting table
 *
 * Return: the estimate.
 */
double baleen_estimate_keys(const struct baleen_filter *filter, u32 domain);

/**
 * baleen_estimate_overlap() - keys that two filters share
 * @a: the first
 * @b: the second
 * @domain: domain of two tables that fit, see compat.h
 * @overlap: filled in
 *
 * The union is what the bits of both say; the rest follows by inclusion and
 * exclusion, so the smaller of two sets of very different size is known with the
 * error of the larger. No number is below 0.
 */
void baleen_estimate_overlap(const struct baleen_filter *a, const struct baleen_filter *b,
			     u32 domain, struct baleen_overlap *overlap);

#endif /* BALEEN_ESTIMATE_H */
