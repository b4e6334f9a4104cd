/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a cuckoo table in memory, for those who change or list them.
 *
 * Not for packet programs, which do neither.
 *
 * Here is also the table that Fan et al. draw (BALEEN_FORM_XOR): of a hash H of 32 bits,
 * m buckets and slots of p bits
 *
 *      f = H mod 2^p, or 1 where that is 0      what a slot holds
 *      i = H mod m                              the first bucket
 *      j = (i XOR G(f)) mod m                   the other one; G: murmur3 of the 4 bytes of f
 *
 * Where m is a power of two, the other bucket of j is i. Elsewhere it need not be: a slot
 * that is moved may come to a bucket where nobody looks for its key. Example: m = 10, seed
 * 42, f = 27356: 7 for 0, but 2 for 7.
 */
#ifndef BALEEN_SLOTS_H
#define BALEEN_SLOTS_H

#include <baleen/cuckoo.h>
#include <baleen/murmur3.h>

/**
 * struct baleen_slots - a cuckoo table, or one of prefixes, as an array of slots
 * @table: its geometry
 * @start: first slot of bucket 0
 * @slot_bits: of @table
 * @n_slots: slots of a bucket
 * @side: the bit of a slot that is not in its home bucket; 0 where there is none. These three
 *        are constants where a loop is compiled for them
 * @is_semi_sorted: slots of a bucket ascend, and what is stored finds its place among them. A
 *        constant in such loops, too
 * @hash_seed: seed of the hash of the other bucket, where that is by XOR
 *
 * Buckets follow each other without gaps, in blocks as between them; of slots
 * of 12 bits that are not packed only in blocks.
 *
 * Every function here stays inside the table for a bucket below table->n_buckets and
 * a slot below @n_slots, whatever the table holds: the validator has compared
 * buckets and blocks.
 */
struct baleen_slots {
	const struct baleen_table *table;
	u8 *start;
	u32 slot_bits;
	u32 n_slots;
	u64 side;
	bool is_semi_sorted;
	u32 hash_seed;
};

/* @bytes is the whole image. */
static inline struct baleen_slots baleen_slots_at(const struct baleen_table *table, void *bytes)
{
	return (struct baleen_slots){
		.table = table,
		.start = (u8 *)bytes + (size_t)table->first_block * BALEEN_BLOCK_BYTES,
		.slot_bits = table->slot_bits,
		.n_slots = baleen_bucket_slots(table),
		.side = baleen_table_side(table),
		.is_semi_sorted = baleen_table_is_semi_sorted(table),
	};
}

/* Where a slot begins, in bits from bucket 0; of semi-sorted ones, where the bucket begins. */
static inline u64 baleen_slots_bit(const struct baleen_slots *slots, u32 bucket, u32 i)
{
	struct baleen_bucket_spot spot;

	if (slots->is_semi_sorted)
		return (u64)bucket * baleen_bucket_bits(slots->table);
	if (baleen_table_is_packed(slots->table))
		return ((u64)bucket * slots->n_slots + i) * slots->slot_bits;
	spot = baleen_bucket_spot(bucket, slots->n_slots, slots->slot_bits);
	return (u64)spot.block * BALEEN_BLOCK_BYTES * 8 + spot.bit + i * slots->slot_bits;
}

/* A slot of up to 32 bits, which may be in two words. */
static inline u64 baleen_slots_get_bits(const struct baleen_slots *slots, u32 bucket, u32 i)
{
	u64 bit = baleen_slots_bit(slots, bucket, i);
	const u64 *word = (const u64 *)slots->start + bit / 64;
	u64 value = baleen_le64(word[0]) >> bit % 64;

	if (bit % 64 + slots->slot_bits > 64)
		value |= baleen_le64(word[1]) << (64 - bit % 64);
	return value & ((1ull << slots->slot_bits) - 1);
}

/* --- semi-sorted buckets --- */

static inline u64 baleen_semi_get(const struct baleen_slots *slots, u32 bucket, u32 i)
{
	u32 rest_bits = slots->slot_bits - BALEEN_SEMI_HEAD_BITS;
	u32 n_bits = BALEEN_SEMI_NUMBER_BITS + 4 * rest_bits;
	u32 at = BALEEN_SEMI_NUMBER_BITS + i * rest_bits;
	struct baleen_bits bits = baleen_store_bits(slots->start, 0, (u64)bucket * n_bits, n_bits);
	u64 head = baleen_semi_lists[bits.low & 4095] >> i * BALEEN_SEMI_HEAD_BITS & 15;
	u64 rest = at < 64 ? bits.low >> at | bits.high << 1 << (63 - at) : bits.high >> (at - 64);

	return head << rest_bits | (rest & ((1ull << rest_bits) - 1));
}

/* The number of a list of first bits, which ascend. */
static inline u32 baleen_semi_number(u32 a, u32 b, u32 c, u32 d)
{
	return a + b * (b + 1) / 2 + c * (c + 1) * (c + 2) / 6 +
	       d * (d + 1) * (d + 2) * (d + 3) / 24;
}

/* The bits of a bucket of four slots, which ascend. */
static inline struct baleen_bits baleen_semi_bits(const u64 *slot, u32 rest_bits)
{
	struct baleen_bits bits = {
		.low = baleen_semi_number(slot[0] >> rest_bits, slot[1] >> rest_bits,
					  slot[2] >> rest_bits, slot[3] >> rest_bits)
	};

	for (u32 i = 0; i < 4; i++) {
		u32 at = BALEEN_SEMI_NUMBER_BITS + i * rest_bits;
		u64 rest = slot[i] & ((1ull << rest_bits) - 1);

		if (at < 64) {
			bits.low |= rest << at;
			bits.high |= rest >> 1 >> (63 - at);
		} else {
			bits.high |= rest << (at - 64);
		}
	}
	return bits;
}

baleen_inline u64 baleen_slots_get(const struct baleen_slots *slots, u32 bucket, u32 i)
{
	size_t index = (size_t)bucket * slots->n_slots + i;

	if (slots->is_semi_sorted)
		return baleen_semi_get(slots, bucket, i);
	switch (slots->slot_bits) {
	case 8: return slots->start[index];
	case 16: return baleen_le16(((const u16 *)slots->start)[index]);
	case 32: return baleen_le32(((const u32 *)slots->start)[index]);
	case 64: return baleen_le64(((const u64 *)slots->start)[index]);
	default: return baleen_slots_get_bits(slots, bucket, i);
	}
}

static inline void baleen_word_replace(u64 *word, u64 mask, u64 bits)
{
	baleen_store_word(word, baleen_le64((baleen_le64(*word) & ~mask) | bits));
}

/* Stores up to 128 bits, from the first on, a word after the other. */
static inline void baleen_bits_store(const struct baleen_slots *slots, u64 bit,
				     struct baleen_bits bits, u32 n_bits)
{
	u64 *word = (u64 *)slots->start + bit / 64;
	u32 shift = bit % 64, n = n_bits < 64 - shift ? n_bits : 64 - shift;

	while (n_bits) {
		u64 mask = ~0ull >> (64 - n);

		baleen_word_replace(word++, mask << shift, (bits.low & mask) << shift);
		bits.low = n == 64 ? bits.high : bits.low >> n | bits.high << (64 - n);
		bits.high = n == 64 ? 0 : bits.high >> n;
		n_bits -= n;
		shift = 0;
		n = n_bits < 64 ? n_bits : 64;
	}
}

/* Puts a slot in the place of another; all ascend afterwards. One store where
 * baleen_table_changes_live() says so.
 */
static inline void baleen_semi_store(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	u32 rest_bits = slots->slot_bits - BALEEN_SEMI_HEAD_BITS;
	u32 n_bits = BALEEN_SEMI_NUMBER_BITS + 4 * rest_bits;
	u64 sorted[4];

	for (u32 k = 0; k < 4; k++) {
		u64 next = k == i ? slot : baleen_semi_get(slots, bucket, k);
		u32 at = k;

		for (; at && sorted[at - 1] > next; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = next;
	}
	baleen_bits_store(slots, (u64)bucket * n_bits, baleen_semi_bits(sorted, rest_bits), n_bits);
}

/* Readers load whole words, so that is what they must see change; and each
 * change after those before it. A slot of some widths may be in two words: until
 * the second is stored it looks like one of another key.
 */
static inline void baleen_slots_store(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	u64 bit = baleen_slots_bit(slots, bucket, i);
	u32 slot_bits = slots->slot_bits, shift = bit % 64;
	u64 *word = (u64 *)slots->start + bit / 64;
	u64 mask = ~0ull >> (64 - slot_bits);

	if (slots->is_semi_sorted) {
		baleen_semi_store(slots, bucket, i, slot);
		return;
	}
	baleen_word_replace(word, mask << shift, slot << shift);
	if (shift + slot_bits > 64)
		baleen_word_replace(word + 1, mask >> (64 - shift), slot >> (64 - shift));
}

/* The first slot of @bucket that holds @slot, or how many it has. */
static inline u32 baleen_slots_find(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 n_slots = slots->n_slots, i = 0;

	while (i < n_slots && baleen_slots_get(slots, bucket, i) != slot)
		i++;
	return i;
}

static inline bool baleen_slots_has(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return baleen_slots_find(slots, bucket, slot) < slots->n_slots;
}

/* Whether it was there. Where slots ascend, one that is cleared moves only those before it,
 * which have been looked at.
 */
static inline bool baleen_slots_clear(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	bool found = false;

	for (u32 i = 0; i < slots->n_slots; i++) {
		if (baleen_slots_get(slots, bucket, i) == slot) {
			baleen_slots_store(slots, bucket, i, 0);
			found = true;
		}
	}
	return found;
}

/* The tag of a slot: what is left without the used and the side bit. */
static inline u64 baleen_slot_tag(const struct baleen_table *table, u64 slot)
{
	return slot & (baleen_table_side(table) - 1);
}

/* The other bucket by XOR. */
static inline u32 baleen_xor_partner(const struct baleen_slots *slots, u32 bucket, u32 fingerprint)
{
	u32 hash = baleen_murmur3_mix(slots->hash_seed, fingerprint);

	return (bucket ^ baleen_murmur3_finish(hash, 4)) % slots->table->n_buckets;
}

/**
 * baleen_slots_place() - where a key belongs
 * @slots: a cuckoo table of @key's domain
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any but BPF.
 * Return: its place, by XOR where the table is so.
 */
baleen_inline struct baleen_cuckoo_place baleen_slots_place(const struct baleen_slots *slots,
							    const struct baleen_seed *seed,
							    const struct baleen_key *key)
{
	struct baleen_cuckoo_place place = { 0 };
	u32 hash;

	if (slots->side)
		return baleen_cuckoo_locate_slots(slots->table, seed, key, slots->slot_bits);
	if (!(slots->table->form & BALEEN_FORM_XOR))
		return baleen_cuckoo_locate_print(slots->table, baleen_hash64(seed, key),
						  slots->slot_bits);
	hash = baleen_hash64(seed, key) >> 32;
	place.slot = hash & ~0u >> (32 - slots->slot_bits);
	/* A slot of 0 looks free. */
	place.slot += !place.slot;
	place.home = hash % slots->table->n_buckets;
	place.other = baleen_xor_partner(slots, place.home, place.slot);
	return place;
}

/**
 * baleen_slots_other() - the other bucket of what a slot holds
 * @slots: the table
 * @bucket: where the slot is
 * @slot: its content
 *
 * Context: any but BPF.
 * Return: a bucket of the table, also of what no key makes: baleen_cuckoo_other()
 * takes any tag.
 */
static inline u32 baleen_slots_other(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	if (slots->table->form & BALEEN_FORM_XOR)
		return baleen_xor_partner(slots, bucket, slot);
	return baleen_cuckoo_partner(slots->table, bucket, baleen_slot_tag(slots->table, slot));
}

/* --- the stash -------------------------------------------------------------- */

/* The stash of a cuckoo table, of which n_stash is not 0. */
static inline u64 *baleen_slots_stash(const struct baleen_slots *slots)
{
	return (u64 *)(slots->start + (size_t)(slots->table->n_blocks - 1) * BALEEN_BLOCK_BYTES);
}

/**
 * baleen_stash_find() - where the stash holds a hash
 * @slots: a cuckoo table or one of prefixes
 * @hash: the hash; 0 finds a free slot
 *
 * Context: any but BPF.
 * Return: the first such slot; n_stash when there is none.
 */
static inline u32 baleen_stash_find(const struct baleen_slots *slots, u64 hash)
{
	u32 i = 0;

	while (i < slots->table->n_stash && baleen_le64(baleen_slots_stash(slots)[i]) != hash)
		i++;
	return i;
}

/* A hash of 0 is what a free slot of the stash looks like. */
static inline bool baleen_stash_holds(const struct baleen_slots *slots, u64 hash)
{
	return hash && baleen_stash_find(slots, hash) < slots->table->n_stash;
}

static inline void baleen_stash_store(const struct baleen_slots *slots, u32 i, u64 hash)
{
	baleen_store_word(&baleen_slots_stash(slots)[i], baleen_le64(hash));
}

static inline int baleen_stash_add(const struct baleen_slots *slots, u64 hash)
{
	u32 i = baleen_stash_find(slots, 0);

	if (i == slots->table->n_stash || !hash)
		return -ENOSPC;
	baleen_stash_store(slots, i, hash);
	return 0;
}

/* Whether it was there; once, where it is there more often. */
static inline bool baleen_stash_del(const struct baleen_slots *slots, u64 hash)
{
	if (!baleen_stash_holds(slots, hash))
		return false;
	baleen_stash_store(slots, baleen_stash_find(slots, hash), 0);
	return true;
}

#endif /* BALEEN_SLOTS_H */
