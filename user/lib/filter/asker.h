/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One key after the other asked for in one filter: what does not depend on the key is
 * decided once.
 */
#ifndef BALEEN_ASKER_H
#define BALEEN_ASKER_H

#include "filter/lanes.h"

/**
 * struct baleen_asker - a filter, ready to be asked for numbers
 * @test: asks for one
 * @filter: the filter
 * @domain: of the numbers
 * @seed: the first two words of its seed
 * @start: first byte of the table
 * @table: its geometry
 * @ones: cuckoo: one bit for each slot of a bucket
 * @tops: cuckoo: the highest bit of each slot
 * @sides: cuckoo: the side bit of each slot
 * @unit: cuckoo: 7 when a load may begin at any byte, 63 when at words only
 * @n_bits: cuckoo: bits of a bucket
 * @shift: Bloom: where in the hash the eight bits are
 */
struct baleen_asker {
	int (*test)(const struct baleen_asker *asker, u64 number);
	const struct baleen_filter *filter;
	u32 domain;
	u64 seed[2];
	const u8 *start;
	struct baleen_table table;
	u64 ones;
	u64 tops;
	u64 sides;
	u32 unit;
	u32 n_bits;
	u64 shift[8];
};

/**
 * baleen_asker_init() - get ready
 * @asker: filled in; holds as long as @filter stays where it is and nobody swaps its table
 * @filter: the filter, live ones too
 * @domain: BALEEN_IP4 or BALEEN_WORD
 * @width: baleen_lanes_width(), or less
 */
void baleen_asker_init(struct baleen_asker *asker, const struct baleen_filter *filter, u32 domain,
		       enum baleen_lanes_width width);

/**
 * baleen_asker_test() - is the number in the filter?
 * @asker: the filter
 * @number: an address as a number, or a key of up to 64 bits
 *
 * Return: as baleen_filter_test().
 */
static inline int baleen_asker_test(const struct baleen_asker *asker, u64 number)
{
	return asker->test(asker, number);
}

#endif /* BALEEN_ASKER_H */
