/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dictionary and hash compaction: values in chains, which filters are compared with.
 *
 * Not for packet programs, and not for the module: a chain has no bound.
 *
 * Idea: m buckets, each the head of a chain of entries. A dictionary (kind chained) keeps all
 * of a key; hash compaction (kind compact) keeps l bits of its hash in the place of the key,
 * so that each entry takes as much as another, and the bucket is one of these bits: two keys
 * with the same l bits cannot be told apart, wherever they came from.
 *
 * Papers: Wolper and Leroy, "Reliable Hashing without Collision Detection" (CAV 1993), has
 * hash compaction.
 *
 *      value v of a key: the upper l bits of the permuted IPv4 key or of baleen_hash64();
 *      kind chained: all 32 or 64 of them
 *      bucket v mod m
 *
 *      body: [ heads: m x u32 | links: n_room x u32 | values: n_room x l bits ]
 *      each part from a block on; a head and a link is the number of an entry and 1, or 0:
 *      the chain ends. Entries are numbered in the order in which they came; the first
 *      table->n_entries are in use. A new one is the first of its chain. Where one goes, the
 *      last takes its number.
 *
 * Example: m = 4, l = 6; values 5, 9, 2: bucket 1 is 9, then 5 (heads 0 2 3 0, links 0 1 0).
 *
 * Error: a dictionary of IPv4 addresses or of keys of 64 bits has none, of longer ones n / 2^64.
 * Compaction finds another key with 1 - (1 - 2^-l)^n, about n / 2^l: a million keys at l = 27
 * with 0.74 %.
 */
#ifndef BALEEN_CHAINED_H
#define BALEEN_CHAINED_H

#include <baleen/image.h>

/**
 * struct baleen_chains - a table of chains in memory
 * @table: its geometry
 * @head: first entry of each bucket and 1, or 0; little-endian
 * @link: likewise the entry behind each
 * @value: the values, table->slot_bits each
 */
struct baleen_chains {
	struct baleen_table *table;
	u32 *head;
	u32 *link;
	u64 *value;
};

/* Words of 32 bits, up to the end of a block. */
static inline size_t baleen_chains_words(u32 n)
{
	return ((size_t)(n - 1) / 16 + 1) * 16;
}

/**
 * baleen_chains_at() - the chains of a table
 * @table: a table of chains
 * @bytes: the image
 *
 * Context: any but BPF.
 * Return: them.
 */
static inline struct baleen_chains baleen_chains_at(struct baleen_table *table, void *bytes)
{
	u32 *start = (u32 *)((u8 *)bytes + (size_t)table->first_block * BALEEN_BLOCK_BYTES);

	return (struct baleen_chains){
		.table = table,
		.head = start,
		.link = start + baleen_chains_words(table->n_buckets),
		.value = (u64 *)(start + baleen_chains_words(table->n_buckets) +
				 baleen_chains_words(table->n_room)),
	};
}

/* The value of an entry below table->n_room. */
static inline u64 baleen_chains_get(const struct baleen_chains *chains, u32 entry)
{
	u32 bits = chains->table->slot_bits;
	u64 bit = (u64)entry * bits;
	u32 shift = bit % 64;
	const u64 *word = chains->value + bit / 64;
	u64 value = baleen_le64(word[0]) >> shift;

	if (shift + bits > 64)
		value |= baleen_le64(word[1]) << (64 - shift);
	return value & ~0ull >> (64 - bits);
}

static inline void baleen_chains_put(const struct baleen_chains *chains, u32 entry, u64 value)
{
	u32 bits = chains->table->slot_bits;
	u64 bit = (u64)entry * bits, mask = ~0ull >> (64 - bits);
	u32 shift = bit % 64;
	u64 *word = chains->value + bit / 64;

	word[0] = baleen_le64((baleen_le64(word[0]) & ~(mask << shift)) | value << shift);
	if (shift + bits > 64)
		word[1] = baleen_le64((baleen_le64(word[1]) & ~(mask >> (64 - shift))) |
				      value >> (64 - shift));
}

/* A head or a link as an entry and 1; what is none of those in use ends the chain. */
static inline u32 baleen_chains_follow(const struct baleen_chains *chains, const u32 *link)
{
	u32 next = baleen_le32(*link);

	return next <= chains->table->n_entries ? next : 0;
}

/**
 * baleen_chains_value() - what the table keeps of a key
 * @table: a table of chains of @key's domain
 * @seed: the filter's seed
 * @key: the key
 *
 * Context: any.
 * Return: its value.
 */
static inline u64 baleen_chains_value(const struct baleen_table *table,
				      const struct baleen_seed *seed, const struct baleen_key *key)
{
	u64 hash = key->domain == BALEEN_IP4 ? (u64)baleen_permute32(seed, key->ip4) << 32 :
					       baleen_hash64(seed, key);

	return hash >> (64 - table->slot_bits);
}

/**
 * baleen_chains_count() - how often a value is in its chain
 * @chains: the table
 * @value: the value
 *
 * Context: any but BPF; ends also where a chain is a circle.
 * Return: how often.
 */
static inline u32 baleen_chains_count(const struct baleen_chains *chains, u64 value)
{
	u32 next = baleen_chains_follow(chains, &chains->head[value % chains->table->n_buckets]);
	u32 n = 0;

	for (u64 steps = 0; next && steps < chains->table->n_entries; steps++) {
		n += baleen_chains_get(chains, next - 1) == value;
		next = baleen_chains_follow(chains, &chains->link[next - 1]);
	}
	return n;
}

#endif /* BALEEN_CHAINED_H */
