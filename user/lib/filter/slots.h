/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a table of a filter in memory: what building and listing do with them
 * beyond <baleen/slots.h>.
 */
#ifndef BALEEN_LIB_SLOTS_H
#define BALEEN_LIB_SLOTS_H

#include <baleen/slots.h>

#include "filter/filter.h"

static inline struct baleen_slots baleen_slots_of(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_at(&filter->image.table[domain], filter->bytes);

	slots.hash_seed = filter->image.seed.word[0];
	return slots;
}

static inline void baleen_slots_set_bits(const struct baleen_slots *slots, u32 bucket, u32 i,
					 u64 slot)
{
	u64 bit = baleen_slots_bit(slots, bucket, i), mask = (1ull << slots->slot_bits) - 1;
	u64 *word = (u64 *)slots->start + bit / 64;
	u32 shift = bit % 64;

	word[0] = baleen_le64((baleen_le64(word[0]) & ~(mask << shift)) | slot << shift);
	if (shift + slots->slot_bits > 64)
		word[1] = baleen_le64((baleen_le64(word[1]) & ~(mask >> (64 - shift))) |
				      slot >> (64 - shift));
}

baleen_inline void baleen_slots_set(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	size_t index = (size_t)bucket * slots->n_slots + i;

	if (slots->is_semi_sorted) {
		baleen_semi_store(slots, bucket, i, slot);
		return;
	}
	switch (slots->slot_bits) {
	case 8: slots->start[index] = slot; break;
	case 16: ((u16 *)slots->start)[index] = baleen_le16(slot); break;
	case 32: ((u32 *)slots->start)[index] = baleen_le32(slot); break;
	case 64: ((u64 *)slots->start)[index] = baleen_le64(slot); break;
	default: baleen_slots_set_bits(slots, bucket, i, slot); break;
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

/* How often the stash holds a hash. */
static inline u32 baleen_slots_stashed(const struct baleen_slots *slots, u64 hash)
{
	u32 n = 0;

	for (u32 i = 0; hash && i < slots->table->n_stash; i++)
		n += baleen_le64(baleen_slots_stash(slots)[i]) == hash;
	return n;
}

/**
 * baleen_slots_insert() - put a slot into one of its buckets
 * @slots: the table
 * @place: the buckets, and the slot as it is in the home bucket
 * @is_new: set to true when it was not there; of prefixes one with another
 *          answer is the same
 *
 * Slots that are in the way move to their other bucket; when that ends nowhere
 * every move is undone, and the key goes to the stash, if there is one.
 *
 * Return: 0 or -ENOSPC.
 */
int baleen_slots_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
			bool *is_new);

/**
 * baleen_slots_insert_copy() - put a slot in, however often it is there
 * @slots: a cuckoo table
 * @place: as for baleen_slots_insert()
 *
 * Return: 0; -ENOSPC when there is no room, or when all slots of both buckets
 * would not hold one more.
 */
int baleen_slots_insert_copy(const struct baleen_slots *slots,
			     const struct baleen_cuckoo_place *place);

/**
 * struct baleen_slots_watch - who is told of each slot that an insertion writes
 * @put: called before slot @i of @bucket changes from @before to @after
 * @data: for @put
 */
struct baleen_slots_watch {
	void (*put)(void *data, u32 bucket, u32 i, u64 before, u64 after);
	void *data;
};

/**
 * baleen_slots_insert_watched() - put a slot in, with someone watching
 * @slots: the table
 * @place: as for baleen_slots_insert()
 * @is_copy: as baleen_slots_insert_copy(), not as baleen_slots_insert()
 * @watch: who is told; of a walk that is undone, too
 *
 * Return: 0 or -ENOSPC.
 */
int baleen_slots_insert_watched(const struct baleen_slots *slots,
				const struct baleen_cuckoo_place *place, bool is_copy,
				const struct baleen_slots_watch *watch);

/**
 * baleen_slots_copies() - how often a key is in the table
 * @slots: a cuckoo table
 * @place: as for baleen_slots_insert()
 *
 * Return: slots that hold it, those of the stash included.
 */
u32 baleen_slots_copies(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place);

#endif /* BALEEN_LIB_SLOTS_H */
