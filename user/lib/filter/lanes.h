/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that are asked for side by side, with the widest instructions that the CPU has.
 */
#ifndef BALEEN_LANES_H
#define BALEEN_LANES_H

#include "filter/filter.h"

/* Keys whose lines are on their way at a time. At 10 M keys, 17 bits a key, in
 * ns: 8: 27, 16: 25, 32 and 64: 24; one after the other: 57.
 */
#define BALEEN_LANES 32

/**
 * enum baleen_lanes_of - what the lanes hold before they are asked
 * @BALEEN_LANES_HASH: hashes of 64 bits
 * @BALEEN_LANES_WORD: keys of up to 64 bits that are to be permuted to 64
 * @BALEEN_LANES_IP4: IPv4 addresses that are to be permuted to 32 bits
 */
enum baleen_lanes_of {
	BALEEN_LANES_HASH,
	BALEEN_LANES_WORD,
	BALEEN_LANES_IP4,
};

/**
 * enum baleen_lanes_width - the instructions that the CPU has
 * @BALEEN_LANES_ANY: those of each
 * @BALEEN_LANES_AVX2: AVX2 and BMI2
 * @BALEEN_LANES_AVX512: AVX-512 F, BW, DQ and VL, too
 */
enum baleen_lanes_width {
	BALEEN_LANES_ANY,
	BALEEN_LANES_AVX2,
	BALEEN_LANES_AVX512,
};

/**
 * struct baleen_lanes - keys of one domain, or what is left of them
 * @filter: the filter that is asked
 * @table: the table of their domain; baleen_lanes_know() it
 * @of: enum baleen_lanes_of
 * @lane: the keys; lanes that are not used hold anything
 */
struct baleen_lanes {
	const struct baleen_filter *filter;
	const struct baleen_table *table;
	u32 of;
	u64 lane[BALEEN_LANES];
};

/**
 * baleen_lanes_know() - can keys be asked for side by side in this table?
 * @table: a table
 *
 * Return: true for blocked Bloom filters, and for cuckoo tables without a stash whose
 * buckets are read by one load of 64 bits.
 */
bool baleen_lanes_know(const struct baleen_table *table);

/* Do prefixes decide before the table of the hosts is asked? */
static inline bool baleen_image_has_prefixes(const struct baleen_image *image, u32 domain)
{
	return (domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind) ||
	       (domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind);
}

/* Before they are asked in this table, lanes of this domain are to hold this. */
static inline u32 baleen_lanes_of(const struct baleen_table *table, u32 domain)
{
	if (domain == BALEEN_IP4 && table->kind == BALEEN_KIND_CUCKOO &&
	    !baleen_table_has_fingerprints(table))
		return BALEEN_LANES_IP4;
	return domain == BALEEN_IP4 || domain == BALEEN_WORD ? BALEEN_LANES_WORD :
							       BALEEN_LANES_HASH;
}

/* One bit for each slot of a bucket. */
static inline u64 baleen_lanes_ones(const struct baleen_table *table)
{
	u64 ones = 1;

	for (u32 i = 1; i < baleen_bucket_slots(table); i++)
		ones |= ones << table->slot_bits;
	return ones;
}

/* 7 when the load of a bucket may begin at any byte, as packed tables have room for, or 63:
 * at an aligned word.
 */
static inline u32 baleen_lanes_unit(const struct baleen_table *table)
{
	return baleen_table_is_packed(table) ? 7 : 63;
}

/* The word that begins with a bucket. Volatile: see baleen_bucket_word(). */
baleen_inline u64 baleen_lanes_load(const u8 *start, u64 bit, u64 unit)
{
	struct word {
		u64 value;
	} __attribute__((packed, may_alias));
	const volatile struct word *word = (const void *)(start + ((bit & ~unit) >> 3));

	return baleen_le64(word->value) >> (bit & unit);
}

/**
 * baleen_lanes_width() - what instructions can be run
 *
 * Return: the widest that the CPU has, of those that this library was compiled for.
 */
enum baleen_lanes_width baleen_lanes_width(void);

/**
 * baleen_lanes_test() - ask for all of them
 * @lanes: the keys; it is changed
 * @width: baleen_lanes_width(), or less
 * @found: filled in with BALEEN_LANES answers, 1 maybe, 0 surely not
 */
void baleen_lanes_test(struct baleen_lanes *lanes, enum baleen_lanes_width width, u8 *found);

#endif /* BALEEN_LANES_H */
