/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slots of a quotient table in memory, for those who change or read it all.
 */
#ifndef BALEEN_QUOTIENT_SLOTS_H
#define BALEEN_QUOTIENT_SLOTS_H

#include "filter/filter.h"

/**
 * struct baleen_quotient - a quotient table as an array of slots
 * @table: its geometry; slot numbers are modulo @table->n_buckets
 * @store: the image
 * @word: first word of group 0
 */
struct baleen_quotient {
	const struct baleen_table *table;
	const void *store;
	u64 *word;
};

static inline struct baleen_quotient baleen_quotient_of(const struct baleen_filter *filter,
							u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return (struct baleen_quotient){
		.table = table,
		.store = filter->bytes,
		.word = (u64 *)filter->bytes + (size_t)table->first_block * BALEEN_BLOCK_WORDS,
	};
}

static inline u32 baleen_quotient_groups(const struct baleen_table *table)
{
	return (table->n_buckets - 1) / 64 + 1;
}

/* The bits of a plane that are slots: a table may have less than 64. */
static inline u64 baleen_quotient_all(const struct baleen_table *table)
{
	return table->n_buckets < 64 ? ~(~0ull << table->n_buckets) : ~0ull;
}

static inline u64 *baleen_quotient_group(const struct baleen_quotient *quotient, u32 group)
{
	return quotient->word + (size_t)group * (BALEEN_QUOTIENT_META + quotient->table->slot_bits);
}

/* Which of the slots of a group are not empty. */
static inline u64 baleen_quotient_used(const struct baleen_quotient *quotient, u32 group)
{
	const u64 *word = baleen_quotient_group(quotient, group);

	return baleen_le64(word[BALEEN_QUOTIENT_OCCUPIED] | word[BALEEN_QUOTIENT_CONTINUED] |
			   word[BALEEN_QUOTIENT_SHIFTED]) &
	       baleen_quotient_all(quotient->table);
}

static inline bool baleen_quotient_bit(const struct baleen_quotient *quotient, u32 slot,
				       enum baleen_quotient_plane plane)
{
	slot &= quotient->table->n_buckets - 1;
	return baleen_le64(baleen_quotient_group(quotient, slot >> 6)[plane]) >> (slot & 63) & 1;
}

static inline void baleen_quotient_put_bit(const struct baleen_quotient *quotient, u32 slot,
					   enum baleen_quotient_plane plane, bool value)
{
	u64 *word;

	slot &= quotient->table->n_buckets - 1;
	word = &baleen_quotient_group(quotient, slot >> 6)[plane];
	*word = baleen_le64((baleen_le64(*word) & ~(1ull << (slot & 63))) | (u64)value
										    << (slot & 63));
}

static inline void baleen_quotient_put(const struct baleen_quotient *quotient, u32 slot,
				       u64 remainder)
{
	u32 r = quotient->table->slot_bits, bit, shift;
	u64 mask = ~(~0ull << r), *word;

	slot &= quotient->table->n_buckets - 1;
	bit = (slot & 63) * r;
	shift = bit & 63;
	word = baleen_quotient_group(quotient, slot >> 6) + BALEEN_QUOTIENT_META + (bit >> 6);
	word[0] = baleen_le64((baleen_le64(word[0]) & ~(mask << shift)) | remainder << shift);
	if (shift + r > 64)
		word[1] = baleen_le64((baleen_le64(word[1]) & ~(mask >> (64 - shift))) |
				      remainder >> (64 - shift));
}

#endif /* BALEEN_QUOTIENT_SLOTS_H */
