/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The membership test of a whole image: dispatch on domain and kind.
 */
#ifndef BALEEN_PROBE_H
#define BALEEN_PROBE_H

#include <baleen/bloom.h>
#include <baleen/classic.h>
#include <baleen/counting.h>
#include <baleen/prefixes.h>
#include <baleen/quotient.h>
#include <baleen/tree.h>

/**
 * baleen_table_is_fast_path() - is this one of the tables that are tuned for?
 * @table: a table of keys, or BALEEN_KIND_NONE
 *
 * These are the cuckoo tables of four slots of 16, 32 or 64 bits without a stash,
 * and the blocked Bloom filter, counting or not.
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_table_is_fast_path(const struct baleen_table *table)
{
	/* Both in one load. */
	return !BALEEN_LOAD(u64, (const u8 *)table + offsetof(struct baleen_table, shape));
}

/**
 * baleen_table_test_fast_path() - is the key in this table?
 * @table: the plain table of @key's domain; BALEEN_KIND_NONE holds nothing
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * When @table is constant data of a BPF load, the verifier keeps only the
 * branch of its kind.
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_table_test_fast_path(const struct baleen_table *table,
					      const struct baleen_seed *seed, const void *store,
					      const struct baleen_key *key)
{
	/* Only a cuckoo table has slots, only a Bloom table has hashes. */
	if (table->slot_bits == 16)
		return baleen_cuckoo_test_slots(table, seed, store, key, 16);
	if (table->slot_bits == 32)
		return baleen_cuckoo_test_slots(table, seed, store, key, 32);
	if (table->slot_bits == 64 && key->domain != BALEEN_IP4)
		return baleen_cuckoo_test_slots(table, seed, store, key, 64);
	if (table->n_hashes)
		return baleen_bloom_test(table, seed, store, key);
	return 0;
}

/**
 * baleen_table_test_other() - is the key in this table?
 * @table: a table of @key's domain that is not plain
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Long: a packet program has it once per rule, out of line.
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_table_test_other(const struct baleen_table *table,
					  const struct baleen_seed *seed, const void *store,
					  const struct baleen_key *key)
{
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO: return baleen_cuckoo_test(table, seed, store, key);
	case BALEEN_KIND_CLASSIC: return baleen_classic_test(table, seed, store, key);
	case BALEEN_KIND_COUNTING: return baleen_counting_test(table, seed, store, key);
	case BALEEN_KIND_QUOTIENT: return baleen_quotient_test(table, seed, store, key);
	default: return 0;
	}
}

/**
 * baleen_table_test() - is the key in this table?
 * @table: the table of @key's domain; BALEEN_KIND_NONE holds nothing
 * @seed: the filter's seed
 * @store: the image (see baleen_store_block())
 * @key: the key
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_table_test(const struct baleen_table *table,
				    const struct baleen_seed *seed, const void *store,
				    const struct baleen_key *key)
{
	if (baleen_table_is_fast_path(table))
		return baleen_table_test_fast_path(table, seed, store, key);
	return baleen_table_test_other(table, seed, store, key);
}

/* Is the IPv4 address in the set, when the list had prefixes? */
baleen_inline int baleen_groups_test(const struct baleen_image *image, const void *store,
				     const struct baleen_key *key)
{
	u32 group = baleen_directory_get(&image->table[BALEEN_IP4_GROUPS], store, key->ip4, 1);

	if (group != BALEEN_GROUP_HOSTS)
		return group;
	return baleen_table_test(&image->table[BALEEN_IP4], &image->seed, store, key);
}

/**
 * baleen_stem_get() - what the first bits of an IPv6 address say
 * @image: a checked header with a BALEEN_IP6_STEMS table
 * @store: the image (see baleen_store_block())
 * @key: a BALEEN_IP6
 *
 * A packet path asks this first, and baleen_stem_test() out of line.
 *
 * Context: any, BPF-safe.
 * Return: BALEEN_GROUP_NONE or _ALL, which decide; BALEEN_GROUP_OUT or _IN; of a tree
 * also what is above these, see baleen_tree_root().
 */
baleen_inline u32 baleen_stem_get(const struct baleen_image *image, const void *store,
				  const struct baleen_key *key)
{
	const struct baleen_table *table = &image->table[BALEEN_IP6_STEMS];

	return table->kind == BALEEN_KIND_TREE ?
		       baleen_tree_root(table, store, key->hi) :
		       baleen_directory_get(table, store, key->hi >> 32, 2);
}

/**
 * baleen_stem_decides() - is it known whether the address is in the set?
 * @image: a checked header with a BALEEN_IP6_STEMS table
 * @stem: from baleen_stem_get()
 *
 * Context: any, BPF-safe.
 * Return: true: it is @stem & 1; false: baleen_stem_test() is to be asked.
 */
baleen_inline bool baleen_stem_decides(const struct baleen_image *image, u32 stem)
{
	return stem <= BALEEN_GROUP_ALL ||
	       (stem < BALEEN_TREE_ROOT && !image->table[BALEEN_IP6_PREFIXES].kind);
}

/**
 * baleen_stem_test() - is the address in the set, when its first bits do not decide it?
 * @image: a checked header with a BALEEN_IP6_STEMS table
 * @store: the image (see baleen_store_block())
 * @hi: upper half of the address
 * @lo: lower half
 * @stem: from baleen_stem_get()
 *
 * Context: any, BPF-safe.
 * Return: 1 it is (in a table of prefixes past /64: or hashes collide), 0 it is not.
 */
baleen_inline int baleen_stem_test(const struct baleen_image *image, const void *store, u64 hi,
				   u64 lo, u32 stem)
{
	const struct baleen_table *table = &image->table[BALEEN_IP6_STEMS];

	if (table->kind == BALEEN_KIND_TREE && stem >= BALEEN_TREE_ROOT)
		stem = baleen_tree_get(table, store, hi, lo, stem - BALEEN_TREE_ROOT);
	if (stem <= BALEEN_GROUP_ALL || !image->table[BALEEN_IP6_PREFIXES].kind)
		return stem & 1;
	return baleen_prefixes_test(image, store, hi, lo, stem & 1);
}

/* Is the IPv6 address in the set, when the list had prefixes? */
baleen_inline int baleen_stems_test(const struct baleen_image *image, const void *store,
				    const struct baleen_key *key)
{
	u32 stem = baleen_stem_get(image, store, key);

	if (baleen_stem_decides(image, stem))
		return stem & 1;
	return baleen_stem_test(image, store, key->hi, key->lo, stem);
}

/**
 * baleen_image_test() - is the key in this image?
 * @image: a checked header
 * @store: the image (see baleen_store_block())
 * @key: the key; its domain is a constant where this is compiled for speed
 *
 * Context: any, BPF-safe.
 * Return: 1 maybe (yes, when the table is exact), 0 surely not.
 */
baleen_inline int baleen_image_test(const struct baleen_image *image, const void *store,
				    const struct baleen_key *key)
{
	if (key->domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind)
		return baleen_groups_test(image, store, key);
	if (key->domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind)
		return baleen_stems_test(image, store, key);
	return baleen_table_test(&image->table[key->domain & 3], &image->seed, store, key);
}

#endif /* BALEEN_PROBE_H */
