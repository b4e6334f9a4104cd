/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Semi-sorted buckets of a cuckoo table: four slots, one bit less each.
 *
 * Idea: nobody asks in which order the four fingerprints of a bucket stand. Sorted, their
 * first four bits are one of 3,876 lists a <= b <= c <= d, whose number takes 12 bits
 * instead of 16. The rest of each fingerprint follows, in the same order.
 *
 * Paper: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo Filter" (CoNEXT 2014), section 5.2.
 *
 *      w = 13: bucket i is the 48 bits from bit 48 i on, little-endian
 *
 *      bit   0         12        21        30        39        48
 *            [ number  | rest a  | rest b  | rest c  | rest d  ]
 *
 * The number of a list is a + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4), 0 to 3,875 (the
 * combinatorial number system): a writer computes it, and a table gives the list back.
 * Slots ascend, so those that are free, 0, come first, and a bucket of zero bits is free.
 *
 * Slots have 5 to 32 bits, and take 4 to 31. Their error is that of packed slots, see
 * cuckoo.h: 13 bits err as little as 13 packed bits, and take 12.
 *
 * Each key that comes or goes changes bits of all four slots. Under readers a bucket can
 * change where it is one aligned piece of a word, so that one store changes it: slots of 5, 9
 * and 17 bits, buckets of 16, 32 and 64. Tables of other widths are built aside.
 *
 * Example: w = 8, slots 0x0f, 0x1a, 0x2b and 0x2c: the list 0, 1, 2, 2 has number
 * 0 + 1 + 4 + 5 = 10, the rests are f, a, b and c: the bucket is 0xcbaf00a.
 */
#ifndef BALEEN_SEMI_H
#define BALEEN_SEMI_H

#include <baleen/image.h>
#include <baleen/semi_lists.h>

/* Bits of the number of a list, and of each of its members. */
#define BALEEN_SEMI_NUMBER_BITS 12
#define BALEEN_SEMI_HEAD_BITS 4

/* Rest and first bits of a slot are at the low ends, each combined by XOR with those that are
 * looked for: the result is 0 when they are the same, else below 2^32.
 */
baleen_inline u64 baleen_semi_differs(u64 rests, u32 heads, u64 mask)
{
	return (rests & mask) | (heads & 15);
}

/**
 * baleen_semi_has() - does a semi-sorted bucket hold a slot?
 * @table: a cuckoo table with BALEEN_SEMI_SORTED
 * @store: the image (see baleen_store_block())
 * @bucket: below table->n_buckets
 * @slot: what to look for, not 0
 *
 * Context: any, BPF-safe.
 * Return: 1 or 0.
 */
baleen_inline u32 baleen_semi_has(const struct baleen_table *table, const void *store, u32 bucket,
				  u64 slot)
{
	u32 rest_bits = table->slot_bits - BALEEN_SEMI_HEAD_BITS;
	u32 n_bits = BALEEN_SEMI_NUMBER_BITS + 4 * rest_bits;
	struct baleen_bits bits =
		baleen_store_bits(store, table->first_block, (u64)bucket * n_bits, n_bits);
	u32 heads = baleen_semi_lists[bits.low & 4095] ^ (u32)(slot >> rest_bits) * 0x1111;
	u64 mask = (1ull << rest_bits) - 1, rest = slot & mask;
	/* The first and the second rest, and the third and the fourth. */
	u64 low = bits.low >> 12 | bits.high << 52;
	u64 high = low >> 2 * rest_bits | bits.high >> 12 << (64 - 2 * rest_bits);
	u64 differ = baleen_semi_differs(low ^ rest, heads, mask) - 1;

	differ |= baleen_semi_differs(low >> rest_bits ^ rest, heads >> 4, mask) - 1;
	differ |= baleen_semi_differs(high ^ rest, heads >> 8, mask) - 1;
	differ |= baleen_semi_differs(high >> rest_bits ^ rest, heads >> 12, mask) - 1;
	/* A difference of 0 has become -1. */
	return differ >> 63;
}

#endif /* BALEEN_SEMI_H */
