/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cuckoo table: where a key may be stored and whether it is.
 *
 * Idea: a key has two buckets of four slots. A slot keeps a tag of the key
 * and one bit that says whether this is the key's home bucket or the other
 * one. When home bucket and tag together still hold every bit of the key,
 * nothing was thrown away and there are no false positives: the table is
 * exact, and its keys can be listed back.
 *
 * Papers: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo Filter" (CoNEXT
 * 2014), section 3 (partial-key cuckoo hashing); Cleary, "Compact Hash
 * Tables Using Bidirectional Linear Probing" (1984) for quotienting: the
 * bucket number carries the bits that the tag does not repeat.
 *
 *      32-bit key, permuted: x          m buckets, L = floor(log2 m)
 *      p = x * m  (64 bits)
 *      +------ p >> 32 ------+-------- low half --------+
 *      |   home, 0..m-1      |  tag = low >> L           |
 *      +---------------------+---------------------------+
 *      other = (h(tag) - home) mod m, so other(other(home)) = home;
 *      h maps the tag to L bits
 *
 *      slot of 16 bits: [ used:1 | side:1 | tag:14 ], 4 slots = 8 bytes,
 *      side 0 in the home bucket, 1 in the other; 8 buckets a block.
 *
 * Two x in one bucket differ by at least m >= 2^L in the low half, so the
 * tag tells them apart: exact for every m, not only for powers of two, as
 * soon as 32 - L <= slot_bits - 2 (2^18 buckets for 16-bit slots, four for
 * 32-bit slots). Longer keys are hashed to 64 bits, (hi, lo): hi is x and
 * the 64-bit slot keeps (low >> L) and all of lo, so it stores the hash
 * exactly and errs only when two hashes collide, n / 2^64 for n entries. A
 * 16-bit slot keeps 14 bits of lo: at load a the error is at most
 * 8 a 2^-15, about 2^-12.
 *
 * Example: m = 2^18, x = 0x12345678: p >> 32 = 0x48d1 is the home bucket,
 * the low half is 0x59e00000, the tag 0x59e00000 >> 18 = 0x1678.
 *
 * Our numbers: 120,430 addresses are 508 kB, a million 2.1 MB, zero error;
 * a million IPv6 addresses are 8.4 MB, error 5e-14.
 */
#ifndef BALEEN_CUCKOO_H
#define BALEEN_CUCKOO_H

#include <baleen/image.h>

/**
 * struct baleen_cuckoo_place - where one key may be in a cuckoo table
 * @home: first bucket
 * @other: second bucket; may equal @home
 * @slot: what a slot of the home bucket holds when the key is there; a slot
 *        of the other bucket holds this plus the side bit
 */
struct baleen_cuckoo_place {
	u32 home;
	u32 other;
	u64 slot;
};

/**
 * baleen_cuckoo_side() - the side bit of a slot
 * @slot_bits: 16, 32 or 64
 *
 * Context: any, BPF-safe.
 * Return: the bit set in slots that hold a key outside its home bucket.
 */
baleen_inline u64 baleen_cuckoo_side(u32 slot_bits)
{
	return 1ull << (slot_bits - 2);
}

/**
 * baleen_cuckoo_other() - the other bucket of a tag
 * @table: the table
 * @bucket: home or other bucket of the key, below table->n_buckets
 * @tag: the key's tag
 *
 * Context: any, BPF-safe.
 * Return: the bucket that is not @bucket (or is it, once in n_buckets).
 */
baleen_inline u32 baleen_cuckoo_other(const struct baleen_table *table, u32 bucket, u64 tag)
{
	/* Fibonacci hashing to L bits: 2^L <= m, so one correction brings the
	 * difference back to 0..m-1. 64-bit tags are folded first. Two shifts,
	 * because L is 0 when there is one bucket.
	 */
	u32 hash = ((u32)tag ^ (u32)(tag >> 32)) * 0x9e3779b1u;
	u32 other = (hash >> 1 >> (31 - table->log2_buckets)) - bucket;

	/* A mask, not a branch: measured 7 instead of 12 ns per packet. */
	return other + (table->n_buckets & (u32)((int)other >> 31));
}

/* Where a key that was hashed or permuted to 64 bits belongs. */
baleen_inline struct baleen_cuckoo_place baleen_cuckoo_locate_hash(const struct baleen_table *table,
								   u64 hash, u32 slot_bits)
{
	u64 product = (hash >> 32) * table->n_buckets, tag;
	struct baleen_cuckoo_place place;

	if (slot_bits == 64)
		tag = (u64)((u32)product >> table->log2_buckets) << 32 | (u32)hash;
	else
		tag = (u32)hash >> (34 - slot_bits);
	place.home = product >> 32;
	place.other = baleen_cuckoo_other(table, place.home, tag);
	place.slot = tag | baleen_cuckoo_side(slot_bits) << 1;
	return place;
}

/* @slot_bits is table->slot_bits; the probe passes it as a constant. */
baleen_inline struct baleen_cuckoo_place
baleen_cuckoo_locate_slots(const struct baleen_table *table, const struct baleen_seed *seed,
			   const struct baleen_key *key, u32 slot_bits)
{
	struct baleen_cuckoo_place place;
	u64 product, tag;

	if (key->domain == BALEEN_IP4) {
		product = (u64)baleen_permute32(seed, key->ip4) * table->n_buckets;
		tag = (u32)product >> table->log2_buckets;
	} else {
		return baleen_cuckoo_locate_hash(table, baleen_hash64(seed, key), slot_bits);
	}
	place.home = product >> 32;
	place.other = baleen_cuckoo_other(table, place.home, tag);
	place.slot = tag | baleen_cuckoo_side(slot_bits) << 1;
	return place;
}

/**
 * baleen_cuckoo_locate() - both buckets and the slot value of a key
 * @table: a cuckoo table of @key's domain
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: the place.
 */
baleen_inline struct baleen_cuckoo_place baleen_cuckoo_locate(const struct baleen_table *table,
							      const struct baleen_seed *seed,
							      const struct baleen_key *key)
{
	return baleen_cuckoo_locate_slots(table, seed, key, table->slot_bits);
}

/* The lanes' highest bits are all set when no lane of @word equals that of
 * @lanes; as a yes or no it is exact, and results combine by &. It is the
 * complement of Warren's (x - ones) & ~x ("Hacker's Delight", section 6-1),
 * an operation shorter.
 */
baleen_inline u64 baleen_lanes_differ(u64 word, u64 lanes, u64 ones)
{
	u64 x = baleen_le64(word) ^ lanes;

	return (ones - 1 - x) | x;
}

/* One bit per lane of a word. */
baleen_inline u64 baleen_lane_ones(u32 slot_bits)
{
	return slot_bits == 16 ? 0x0001000100010001ull :
	       slot_bits == 32 ? 0x0000000100000001ull :
				 1;
}

/* Volatile, because a writer may change the filter meanwhile, and the order
 * home, other is what hides none of its keys (user/lib/live.h). clang takes
 * both buckets in one go otherwise.
 */
baleen_inline u64 baleen_bucket_word(const u64 *word)
{
	return *(const volatile u64 *)word;
}

/* All lanes' highest bits are set when @slot is not in the bucket at @word. */
baleen_inline u64 baleen_bucket_lacks(const u64 *word, u32 slot_bits, u64 slot)
{
	u64 ones = baleen_lane_ones(slot_bits), lanes = slot * ones;
	u64 differ = baleen_lanes_differ(baleen_bucket_word(&word[0]), lanes, ones);

	if (slot_bits >= 32)
		differ &= baleen_lanes_differ(baleen_bucket_word(&word[1]), lanes, ones);
	if (slot_bits == 64)
		differ &= baleen_lanes_differ(baleen_bucket_word(&word[2]), lanes, ones) &
			  baleen_lanes_differ(baleen_bucket_word(&word[3]), lanes, ones);
	return differ;
}

/* The bucket's first word, or NULL when the store has no such block. */
baleen_inline const u64 *baleen_bucket_get(const struct baleen_table *table, const void *store,
					   u32 bucket, u32 slot_bits, u32 domain)
{
	u32 shift = baleen_block_shift(slot_bits);
	/* The tables stand in the order of the domains: IPv4 comes first. */
	u32 first = domain == BALEEN_IP4 ? BALEEN_HEADER_BLOCKS : table->first_block;
	const struct baleen_block *block = baleen_store_block(store, first + (bucket >> shift));

	if (!block)
		return NULL;
	return block->word + ((bucket & (baleen_buckets_per_block(slot_bits) - 1)) << (3 - shift));
}

/**
 * baleen_cuckoo_test_slots() - is the key in the table?
 * @table: a cuckoo table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 * @slot_bits: table->slot_bits, as a constant, so that every shift and mask
 *             is one
 *
 * Two independent cache lines, one test at the end.
 *
 * Context: any, BPF-safe.
 * Return: 1 it is (IPv6: or its hash collides), 0 surely not.
 */
baleen_inline int baleen_cuckoo_test_slots(const struct baleen_table *table,
					   const struct baleen_seed *seed, const void *store,
					   const struct baleen_key *key, u32 slot_bits)
{
	struct baleen_cuckoo_place place = baleen_cuckoo_locate_slots(table, seed, key, slot_bits);
	const u64 *bucket = baleen_bucket_get(table, store, place.home, slot_bits, key->domain);
	u64 tops = baleen_lane_ones(slot_bits) << (slot_bits - 1), differ;

	/* The first load is on its way before the second is computed. */
	if (!bucket)
		return 0;
	differ = baleen_bucket_lacks(bucket, slot_bits, place.slot);
	bucket = baleen_bucket_get(table, store, place.other, slot_bits, key->domain);
	if (!bucket)
		return 0;
	differ &=
		baleen_bucket_lacks(bucket, slot_bits, place.slot | baleen_cuckoo_side(slot_bits));
	return (differ & tops) != tops;
}

/**
 * baleen_cuckoo_test() - is the key in a table of any geometry?
 * @table: a cuckoo table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 it is (or another key looks the same), 0 surely not.
 */
baleen_inline int baleen_cuckoo_test(const struct baleen_table *table,
				     const struct baleen_seed *seed, const void *store,
				     const struct baleen_key *key)
{
	return baleen_cuckoo_test_slots(table, seed, store, key, table->slot_bits);
}

#endif /* BALEEN_CUCKOO_H */
