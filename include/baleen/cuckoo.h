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
 * slot of w = 16 or 32 bits keeps w - 2 bits of lo: of m 2^(w-2) keys that look
 * different n are taken, so the error is b a 2^-(w-2) at load a with b slots a
 * bucket, about 2^-12 for 16 bits.
 *
 * Other geometries, for who asks for them or for an error: 1 to 3 slots a bucket, of
 * which the first keys without room come at a load of 0.5, 0.89 and 0.95 (four:
 * 0.97), and slots of any width w from 4 to 32 bits. Those hold a fingerprint of 1 to
 * 2^w - 1 of a hash of any key and nothing else, as in Fan et al.: two bits of
 * bookkeeping would make their error twice as large. They look the same in both
 * buckets, so the error is 2 b a / (2^w - 1): 3.0 % for 8 bits, 0.19 % for 12, at
 * 95 % and b = 4. All but 1, 2 or 4 slots of 8 bits are packed: see packed.h. Four of them may
 * be semi-sorted, and take one bit less each: see semi.h.
 *
 * A stash, one block behind the buckets, holds whole hashes of up to eight keys
 * that found no room, where the table was planned with one: a key in an unlucky
 * bucket is not refused. A hash of 0 cannot be there.
 *
 * Without BALEEN_FLAG_COPIES keys that look the same share a slot, and to delete
 * one hides the others. With it each insertion takes a slot, up to 2 b for
 * one key, and each deletion frees one: safe for keys that were inserted.
 *
 * Hash compaction (Wolper and Leroy 1993) is this table with slots of 64 bits. A
 * small Bloom filter in front of it was faster only for keys of which none was in
 * the set: see baleen-kinds(7).
 *
 * Example: m = 2^18, x = 0x12345678: p >> 32 = 0x48d1 is the home bucket,
 * the low half is 0x59e00000, the tag 0x59e00000 >> 18 = 0x1678.
 *
 * Our numbers: 120,430 addresses are 508 kB, a million 2.1 MB, zero error;
 * a million IPv6 addresses are 8.4 MB, error 5e-14.
 */
#ifndef BALEEN_CUCKOO_H
#define BALEEN_CUCKOO_H

#include <baleen/packed.h>
#include <baleen/semi.h>

/**
 * struct baleen_cuckoo_place - where one key may be in a cuckoo table
 * @home: first bucket
 * @other: second bucket; may equal @home
 * @slot: what a slot of the home bucket holds when the key is there; a slot
 *        of the other bucket holds this plus the side bit
 * @hash: what the stash holds when the key is there: all of its hash
 */
struct baleen_cuckoo_place {
	u32 home;
	u32 other;
	u64 slot;
	u64 hash;
};

/**
 * baleen_cuckoo_side() - the side bit of a slot
 * @slot_bits: 8, 12, 16, 32 or 64
 *
 * Context: any, BPF-safe.
 * Return: the bit set in slots that hold a key outside its home bucket; 0 for
 * slots of 8 and 12 bits, which have none.
 */
baleen_inline u64 baleen_cuckoo_side(u32 slot_bits)
{
	return slot_bits < 16 ? 0 : 1ull << (slot_bits - 2);
}

/* The side bit of the slots of a table: packed ones have none. */
baleen_inline u64 baleen_table_side(const struct baleen_table *table)
{
	return baleen_table_has_fingerprints(table) ? 0 : baleen_cuckoo_side(table->slot_bits);
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

/* The other bucket of a fingerprint. The few tags of 8 bits get a multiplication more:
 * alone, Fibonacci hashing leads from bucket to bucket in few directions, and a million
 * buckets of one slot take 39 % instead of 50 %.
 */
baleen_inline u32 baleen_fingerprint_partner(const struct baleen_table *table, u32 bucket, u64 tag)
{
	tag = (u32)tag * 0x85ebca6bu;
	tag ^= tag >> 15;
	return baleen_cuckoo_other(table, bucket, tag);
}

/* The other bucket of the tag of a slot of any table. */
baleen_inline u32 baleen_cuckoo_partner(const struct baleen_table *table, u32 bucket, u64 tag)
{
	return baleen_table_has_fingerprints(table) ?
		       baleen_fingerprint_partner(table, bucket, tag) :
		       baleen_cuckoo_other(table, bucket, tag);
}

/* The bits that a slot keeps of a key that was hashed or permuted to 64 bits; @product
 * gives its home bucket.
 */
baleen_inline u64 baleen_cuckoo_tag(const struct baleen_table *table, u64 hash, u64 product,
				    u32 slot_bits)
{
	if (slot_bits == 64)
		return (u64)((u32)product >> table->log2_buckets) << 32 | (u32)hash;
	return (u32)hash >> (34 - slot_bits);
}

/* Where a key that was hashed to 64 bits belongs, when slots hold fingerprints. */
baleen_inline struct baleen_cuckoo_place
baleen_cuckoo_locate_print(const struct baleen_table *table, u64 hash, u32 slot_bits)
{
	struct baleen_cuckoo_place place;

	place.hash = hash;
	place.home = (hash >> 32) * table->n_buckets >> 32;
	/* 1 to 2^slot_bits - 1, one as often as the other. */
	place.slot = 1 + ((u32)hash * ((1ull << slot_bits) - 1) >> 32);
	place.other = baleen_fingerprint_partner(table, place.home, place.slot);
	return place;
}

/* Where a key that was hashed or permuted to 64 bits belongs; slots are not packed. */
baleen_inline struct baleen_cuckoo_place baleen_cuckoo_locate_hash(const struct baleen_table *table,
								   u64 hash, u32 slot_bits)
{
	u64 product = (hash >> 32) * table->n_buckets;
	u64 tag = baleen_cuckoo_tag(table, hash, product, slot_bits);
	struct baleen_cuckoo_place place;

	if (slot_bits < 16)
		return baleen_cuckoo_locate_print(table, hash, slot_bits);
	place.hash = hash;
	place.home = product >> 32;
	place.other = baleen_cuckoo_other(table, place.home, tag);
	place.slot = tag | baleen_cuckoo_side(slot_bits) << 1;
	return place;
}

/* Where an IPv4 key that was permuted to 32 bits belongs, in an exact table. */
baleen_inline struct baleen_cuckoo_place
baleen_cuckoo_locate_permuted(const struct baleen_table *table, u32 permuted, u32 slot_bits)
{
	u64 product = (u64)permuted * table->n_buckets;
	u64 tag = (u32)product >> table->log2_buckets;
	struct baleen_cuckoo_place place;

	place.hash = permuted;
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
	if (key->domain == BALEEN_IP4 && slot_bits >= 16)
		return baleen_cuckoo_locate_permuted(table, baleen_permute32(seed, key->ip4),
						     slot_bits);
	return baleen_cuckoo_locate_hash(table, baleen_hash64(seed, key), slot_bits);
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
	if (baleen_table_is_packed(table))
		return baleen_cuckoo_locate_print(table, baleen_hash64(seed, key),
						  table->slot_bits);
	return baleen_cuckoo_locate_slots(table, seed, key, table->slot_bits);
}

/* One bit per lane of a word. */
baleen_inline u64 baleen_lane_ones(u32 slot_bits)
{
	return slot_bits == 16 ? 0x0001000100010001ull :
	       slot_bits == 32 ? 0x0000000100000001ull :
				 1;
}

/* Volatile, because a writer may change the filter meanwhile, and the order
 * home, other is what hides none of its keys (search.h). clang takes
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
	/* Home before other: tests/litmus/cuckoo-after.litmus, in C cuckoo-eor.litmus. */
	bucket = (const u64 *)baleen_after_line(bucket, differ);
	differ &=
		baleen_bucket_lacks(bucket, slot_bits, place.slot | baleen_cuckoo_side(slot_bits));
	return (differ & tops) != tops;
}

/* --- any geometry ---------------------------------------------------------- */

/**
 * struct baleen_bucket_spot - where a bucket begins
 * @block: block of the table
 * @bit: bit of this block; buckets of more than a word begin at a word
 */
struct baleen_bucket_spot {
	u32 block;
	u32 bit;
};

/**
 * baleen_bucket_spot() - where a bucket begins
 * @bucket: below BALEEN_MAX_BUCKETS
 * @slots: of a bucket
 * @slot_bits: bits of a slot
 *
 * A block holds 42, 21 or 10 buckets of 12-bit slots. The division by these is a
 * multiplication by 2^36 / 42 and so on, rounded up; the excess, 20 / 2^36, 20 / 2^36
 * and 4 / 2^36 of a bucket, is less than 2^-31.
 *
 * Context: any, BPF-safe.
 * Return: the spot.
 * Source: Granlund and Montgomery 1994, theorem 4.2.
 */
baleen_inline struct baleen_bucket_spot baleen_bucket_spot(u32 bucket, u32 slots, u32 slot_bits)
{
	u32 per_block = slots == 1 ? 42 : slots == 2 ? 21 : 10, bits = slots * slot_bits;
	u64 inverse = slots == 1 ? 1636178018ull : slots == 2 ? 3272356036ull : 6871947674ull;
	struct baleen_bucket_spot spot;

	if (slot_bits == 12) {
		spot.block = bucket * inverse >> 36;
		spot.bit = (bucket - spot.block * per_block) * bits;
	} else {
		spot.block = (u64)bucket * bits >> 9;
		spot.bit = bucket * bits & 511;
	}
	return spot;
}

/* One bit for each lane of the first word of a bucket. */
baleen_inline u64 baleen_bucket_ones(u32 slots, u32 slot_bits)
{
	u64 ones = 1;

	if (slots > 1 && slot_bits <= 32)
		ones |= 1ull << slot_bits;
	if (slots > 2 && slot_bits <= 16)
		ones |= ones << 2 * slot_bits;
	return ones;
}

/* As baleen_bucket_lacks() in a table of any geometry. A store without the
 * bucket's block lacks everything. @before: NULL, or what another bucket lacks, which is loaded
 * before this one.
 */
baleen_inline u64 baleen_bucket_lacks_any(const struct baleen_table *table, const void *store,
					  u32 bucket, u64 slot, u32 slots, u32 slot_bits,
					  const u64 *before)
{
	u64 ones = baleen_bucket_ones(slots, slot_bits), lanes = slot * ones, value, differ;
	struct baleen_bucket_spot spot = baleen_bucket_spot(bucket, slots, slot_bits);
	const struct baleen_block *block =
		baleen_store_block(store, table->first_block + spot.block);
	u32 word = spot.bit >> 6, shift = spot.bit & 63;

	if (!block)
		return ~0ull;
	if (before)
		block = (const struct baleen_block *)baleen_after_line(block, *before);
	value = baleen_le64(baleen_bucket_word(&block->word[word & 7])) >> shift;
	if (slot_bits == 12)
		value |= baleen_le64(baleen_bucket_word(&block->word[(word + 1) & 7]))
			 << 1 << (63 - shift);
	differ = baleen_lanes_differ(baleen_le64(value), lanes, ones);
	for (u32 i = 1; i < 4; i++)
		if (slots * slot_bits > 64 * i)
			differ &= baleen_lanes_differ(baleen_bucket_word(
							      &block->word[(word + i) & 7]),
						      lanes, ones);
	return differ;
}

/* Whether the stash, the last block of the table, has the hash. */
baleen_inline int baleen_stash_has(const struct baleen_table *table, const void *store, u64 hash)
{
	const struct baleen_block *block =
		baleen_store_block(store, table->first_block + table->n_blocks - 1);
	u64 differ = 1;

	if (!block || !hash)
		return 0;
	for (u32 i = 0; i < BALEEN_STASH_SLOTS; i++) {
		u64 x = baleen_le64(baleen_bucket_word(&block->word[i])) ^ hash;

		differ &= (x | -x) >> 63;
	}
	return !differ;
}

/**
 * baleen_cuckoo_test_shape() - is the key in a table of this geometry?
 * @table: a cuckoo table of @key's domain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 * @slots: baleen_bucket_slots() of the table
 * @slot_bits: table->slot_bits; a third faster when both are constants
 *
 * Context: any, BPF-safe.
 * Return: 1 it is (or another key looks the same), 0 surely not.
 */
baleen_inline int baleen_cuckoo_test_shape(const struct baleen_table *table,
					   const struct baleen_seed *seed, const void *store,
					   const struct baleen_key *key, u32 slots, u32 slot_bits)
{
	struct baleen_cuckoo_place place = baleen_cuckoo_locate_slots(table, seed, key, slot_bits);
	u64 tops = baleen_bucket_ones(slots, slot_bits) << (slot_bits - 1);
	u64 differ = baleen_bucket_lacks_any(table, store, place.home, place.slot, slots, slot_bits,
					     NULL);
	/* Fingerprints alone do not move. Else home before other: see above. */
	const u64 *before = slot_bits < 16 ? NULL : &differ;

	differ &= baleen_bucket_lacks_any(table, store, place.other,
					  place.slot | baleen_cuckoo_side(slot_bits), slots,
					  slot_bits, before);
	if ((differ & tops) != tops)
		return 1;
	return table->n_stash ? baleen_stash_has(table, store, place.hash) : 0;
}

/* The same of packed buckets. */
baleen_inline int baleen_cuckoo_test_packed(const struct baleen_table *table,
					    const struct baleen_seed *seed, const void *store,
					    const struct baleen_key *key)
{
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate_print(table, baleen_hash64(seed, key), table->slot_bits);
	u32 slots = baleen_bucket_slots(table), slot_bits = table->slot_bits;

	if (baleen_packed_has(table, store, place.home, place.slot, slots, slot_bits) |
	    baleen_packed_has(table, store, place.other, place.slot, slots, slot_bits))
		return 1;
	return table->n_stash ? baleen_stash_has(table, store, place.hash) : 0;
}

/* And of semi-sorted ones. */
baleen_inline int baleen_cuckoo_test_semi_sorted(const struct baleen_table *table,
						 const struct baleen_seed *seed, const void *store,
						 const struct baleen_key *key)
{
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate_print(table, baleen_hash64(seed, key), table->slot_bits);

	if (baleen_semi_has(table, store, place.home, place.slot) |
	    baleen_semi_has(table, store, place.other, place.slot))
		return 1;
	return table->n_stash ? baleen_stash_has(table, store, place.hash) : 0;
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
	if (baleen_table_is_semi_sorted(table))
		return baleen_cuckoo_test_semi_sorted(table, seed, store, key);
	if (baleen_table_is_packed(table))
		return baleen_cuckoo_test_packed(table, seed, store, key);
	return baleen_cuckoo_test_shape(table, seed, store, key, baleen_bucket_slots(table),
					table->slot_bits);
}

#endif /* BALEEN_CUCKOO_H */
