/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a table in memory, for those who change or list them.
 */
#ifndef BALEEN_SLOTS_H
#define BALEEN_SLOTS_H

#include "filter.h"

/**
 * struct baleen_slots - a cuckoo table, or one of prefixes, as an array of slots
 * @table: its geometry
 * @start: first slot of bucket 0
 *
 * Buckets follow each other without gaps, in blocks as between them.
 */
struct baleen_slots {
	const struct baleen_table *table;
	u8 *start;
};

static inline struct baleen_slots baleen_slots_of(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return (struct baleen_slots){
		.table = table,
		.start = (u8 *)filter->bytes + (size_t)table->first_block * BALEEN_BLOCK_BYTES,
	};
}

static inline u64 baleen_slots_get(const struct baleen_slots *slots, u32 bucket, u32 i)
{
	size_t index = (size_t)bucket * BALEEN_BUCKET_SLOTS + i;

	switch (slots->table->slot_bits) {
	case 16: return baleen_le16(((const u16 *)slots->start)[index]);
	case 32: return baleen_le32(((const u32 *)slots->start)[index]);
	default: return baleen_le64(((const u64 *)slots->start)[index]);
	}
}

static inline void baleen_slots_set(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	size_t index = (size_t)bucket * BALEEN_BUCKET_SLOTS + i;

	switch (slots->table->slot_bits) {
	case 16: ((u16 *)slots->start)[index] = baleen_le16(slot); break;
	case 32: ((u32 *)slots->start)[index] = baleen_le32(slot); break;
	default: ((u64 *)slots->start)[index] = baleen_le64(slot); break;
	}
}

/* The number that baleen_cuckoo_locate() made a place of: the permuted IPv4
 * address, or the 64-bit hash, of which slots of 16 bits keep too little. False
 * for a slot that nothing makes.
 */
static inline bool baleen_slot_hash(const struct baleen_table *table, u32 bucket, u64 slot,
				    u64 *hash)
{
	u64 side = baleen_cuckoo_side(table->slot_bits);
	u64 tag = slot & (side - 1);
	u64 high = table->slot_bits == 64 ? tag >> 32 : tag;
	u32 home = slot & side ? baleen_cuckoo_other(table, bucket, tag) : bucket;
	/* The only x with x * m in [start, start + 2^L), if there is one. */
	u64 start = (u64)home << 32 | high << table->log2_buckets;
	u64 x = (start + table->n_buckets - 1) / table->n_buckets;
	u64 product = x * table->n_buckets;

	if (!(slot & side << 1) || high > ~0u >> table->log2_buckets || x > ~0u ||
	    product >> 32 != home || (u32)product >> table->log2_buckets != high)
		return false;
	*hash = table->slot_bits == 64 ? x << 32 | (u32)tag : x;
	return true;
}

/* The tag of a slot: what is left without the used and the side bit, and in a
 * table of prefixes without answer and class.
 */
static inline u64 baleen_slot_tag(const struct baleen_table *table, u64 slot)
{
	if (table->kind == BALEEN_KIND_PREFIXES)
		return slot & ((1ull << BALEEN_PREFIX_CLASS_SHIFT) - 1);
	return slot & (baleen_cuckoo_side(table->slot_bits) - 1);
}

/**
 * baleen_slots_insert() - put a slot into one of its buckets
 * @slots: the table
 * @place: the buckets, and the slot as it is in the home bucket
 * @is_new: set to true when it was not there; of prefixes one with another
 *          answer is the same
 *
 * Slots that are in the way move to their other bucket; when that ends nowhere
 * every move is undone.
 *
 * Return: 0 or -ENOSPC.
 */
int baleen_slots_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
			bool *is_new);

#endif /* BALEEN_SLOTS_H */
