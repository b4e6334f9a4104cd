/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packed buckets of a cuckoo table: b slots of any width w from 4 to 32 bits.
 *
 * Idea: the buckets are one string of bits, without gaps, so that a table takes what
 * the formula says, n w / load bits, whatever w and b are. A bucket is loaded whole,
 * and compared with the key's fingerprint in all slots at once.
 *
 *      w = 5, b = 3: bucket i is the 15 bits from bit 15 i on, little-endian
 *
 *      byte    0        1        2        3        4
 *      bit     01234567 89abcdef 01234567 89abcdef 01234567
 *              0000011111222223 33334444455555 ...
 *              [ bucket 0     ] [ bucket 1    ][ bucket 2
 *
 * Where memory is flat two loads of 64 bits, at any byte, are enough for each bucket,
 * and one for those of up to 57 bits. In a BPF map no load may pass a block: words are loaded
 * there, two for each bucket of a width that never reaches into a third, and else three: see
 * baleen_store_bits(). BALEEN_PACKED_MARGIN
 * bits behind the last bucket are zero and belong to the table, so that none of these
 * loads leaves it: 16 bytes, and what the last block has left over.
 *
 * Slots hold fingerprints of 1 to 2^w - 1 as cuckoo.h has it; 0 is a free slot. A
 * writer changes one slot in one or two words. It puts keys only into slots that are free,
 * so each reader finds all keys that stay; between the two stores a new slot looks like
 * one of another key.
 *
 * Semi-sorted buckets save a bit a key: see semi.h.
 *
 * Example: w = 12, b = 4, 0.2 %: 48 bits a bucket, 10.7 in a block, which would hold 10
 * in blocks without straddling: 12.6 instead of 13.5 bits a key at 95 %.
 */
#ifndef BALEEN_PACKED_H
#define BALEEN_PACKED_H

#include <baleen/image.h>

/* The lanes' highest bits are all set when no lane of @word equals that of
 * @lanes; as a yes or no it is exact, and results combine by &. It is the
 * complement of Warren's (x - ones) & ~x ("Hacker's Delight", section 6-1),
 * an operation shorter. Lanes are of any width.
 */
baleen_inline u64 baleen_lanes_differ(u64 word, u64 lanes, u64 ones)
{
	u64 x = baleen_le64(word) ^ lanes;

	return (ones - 1 - x) | x;
}

/* 1 when one of @slots lanes, each of @slot_bits, at the low end of @word is @slot, or 0. */
baleen_inline u32 baleen_lanes_have(u64 word, u64 slot, u32 slots, u32 slot_bits)
{
	u64 ones = 1, tops;

	if (slots > 1)
		ones |= 1ull << slot_bits;
	if (slots > 2)
		ones |= 1ull << 2 * slot_bits;
	if (slots > 3)
		ones |= 1ull << 3 * slot_bits;
	tops = ones << (slot_bits - 1);
	return (baleen_lanes_differ(baleen_le64(word), slot * ones, ones) & tops) != tops;
}

/**
 * baleen_packed_has() - does a packed bucket hold a slot?
 * @table: a cuckoo table with BALEEN_PACKED
 * @store: the image (see baleen_store_block())
 * @bucket: below table->n_buckets
 * @slot: what to look for, not 0
 * @slots: of a bucket
 * @slot_bits: bits of a slot
 *
 * Context: any, BPF-safe.
 * Return: 1 or 0.
 */
baleen_inline u32 baleen_packed_has(const struct baleen_table *table, const void *store, u32 bucket,
				    u64 slot, u32 slots, u32 slot_bits)
{
	u32 n_bits = slots * slot_bits;
	struct baleen_bits bits =
		baleen_store_bits(store, table->first_block, (u64)bucket * n_bits, n_bits);
	u64 upper;

	if (n_bits <= 64)
		return baleen_lanes_have(bits.low, slot, slots, slot_bits);
	/* Two slots, and what is left. */
	upper = bits.low >> 1 >> (2 * slot_bits - 1) | bits.high << (64 - 2 * slot_bits);
	return baleen_lanes_have(bits.low, slot, 2, slot_bits) |
	       baleen_lanes_have(upper, slot, slots - 2, slot_bits);
}

#endif /* BALEEN_PACKED_H */
