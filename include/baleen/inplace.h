/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing the keys of an image in place, while others read it.
 *
 * Each table changes in its own way: cuckoo tables as search.h has it, Bloom filters
 * as plane.h has it. IPv4 addresses beside a directory go where their group has its
 * members. Writers exclude each other; readers neither wait nor look twice.
 *
 *                          add             delete
 *      cuckoo              home to other   where slots tell keys apart
 *      cuckoo, semi-sorted buckets of 16, 32 or 64 bits only: see semi.h
 *      Bloom, classic      yes             no: they cannot forget
 *      counting            yes             yes
 *      quotient            no              no: it shifts what follows
 *      IPv4 prefixes       in groups with leaves, or by the table of hosts
 *      IPv6 prefixes       no              no: their answers depend on each other
 *
 * An image with copies of keys does not change while it is read: a copy that a
 * killed writer left could not be told from one that counts.
 *
 * The header has been checked; the body may hold anything. An index that comes from the
 * body is compared with the geometry first: the bucket that a slot leads to
 * (baleen_slots_other()), the leaf that counts lead to (baleen_leaf_set()). All other
 * indexes come from the hash of the key. The geometry of a bucket, the positions of a
 * key or BALEEN_SEARCH_NODES bound every loop. The largest frame holds a list of
 * positions, 264 bytes.
 */
#ifndef BALEEN_INPLACE_H
#define BALEEN_INPLACE_H

#include <baleen/plane.h>
#include <baleen/probe.h>
#include <baleen/search.h>

/**
 * typedef baleen_change_fn - adds a key to the table of its domain, or removes it
 * @context: the caller's context
 * @key: the key
 * @changed: whether the table changed; untouched on failure
 *
 * Return: 0 or a negative errno.
 */
typedef int baleen_change_fn(void *context, const struct baleen_key *key, bool *changed);

/* --- a directory of IPv4 groups beside the table of hosts ------------------ */

static inline struct baleen_block *baleen_group_line(const struct baleen_table *table, void *bytes,
						     const struct baleen_group_place *place)
{
	return (struct baleen_block *)bytes + table->first_block + place->line;
}

/* enum baleen_group of the group, not of the address. */
static inline u32 baleen_group_state(const struct baleen_block *line,
				     const struct baleen_group_place *place)
{
	u64 low = baleen_le64(line->word[place->word]) >> place->bit & 1;
	u64 high = baleen_le64(line->word[3 + place->word]) >> place->bit & 1;

	return high << 1 | low;
}

static inline void baleen_word_put(u64 *word, u64 bit, bool value)
{
	u64 mask = baleen_le64(1ull << bit);

	baleen_store_word(word, value ? *word | mask : *word & ~mask);
}

/* The bit of an address whose group has a leaf. */
static inline int baleen_leaf_set(const struct baleen_table *table, void *bytes,
				  const struct baleen_group_place *place, u32 ip4, bool value)
{
	const struct baleen_block *line = baleen_group_line(table, bytes, place);
	u64 leaves =
		baleen_le64(line->word[place->word]) & baleen_le64(line->word[3 + place->word]);
	u64 rank = baleen_leaf_rank(baleen_le64(line->word[6]), leaves, place);
	u32 low_bits = 32 - table->group_bits;
	u64 bit = rank << low_bits | (ip4 & ((1ull << low_bits) - 1));
	struct baleen_block *leaf = (struct baleen_block *)bytes + table->leaf_block;

	/* A damaged count must not lead outside the image. */
	if (rank >= table->n_buckets)
		return -ENOSPC;
	baleen_word_put(&leaf[bit >> 9].word[bit >> 6 & 7], bit & 63, value);
	return 0;
}

/* A group without members gets its first: the group says that there may be some
 * before there are. The other way round, the host of a writer that was killed
 * in between would come up later, with the next one of its group.
 */
static inline int baleen_groups_add_host(struct baleen_block *line,
					 const struct baleen_group_place *place,
					 const struct baleen_key *key, baleen_change_fn *add,
					 void *context, bool *changed)
{
	u64 *high = &line->word[3 + place->word];
	int err;

	baleen_word_put(high, place->bit, true);
	err = add(context, key, changed);
	if (err)
		baleen_word_put(high, place->bit, false);
	else
		/* Also when the table had it, or the bits of a Bloom filter were set. */
		*changed = true;
	return err;
}

static inline int baleen_groups_add(const struct baleen_image *image, void *bytes,
				    const struct baleen_key *key, baleen_change_fn *add,
				    void *context, bool *changed)
{
	const struct baleen_table *table = &image->table[BALEEN_IP4_GROUPS];
	struct baleen_group_place place = baleen_group_locate(key->ip4 >> (32 - table->group_bits));
	struct baleen_block *line = baleen_group_line(table, bytes, &place);
	u32 state = baleen_group_state(line, &place);
	int err;

	if (state == BALEEN_GROUP_HOSTS)
		return add(context, key, changed);
	if (baleen_groups_test(image, bytes, key)) {
		*changed = false;
		return 0;
	}
	if (state == BALEEN_GROUP_NONE)
		return baleen_groups_add_host(line, &place, key, add, context, changed);
	err = baleen_leaf_set(table, bytes, &place, key->ip4, true);
	if (!err)
		*changed = true;
	return err;
}

static inline int baleen_groups_del(const struct baleen_image *image, void *bytes,
				    const struct baleen_key *key, baleen_change_fn *del,
				    void *context, bool *changed)
{
	const struct baleen_table *table = &image->table[BALEEN_IP4_GROUPS];
	struct baleen_group_place place = baleen_group_locate(key->ip4 >> (32 - table->group_bits));
	u32 state = baleen_group_state(baleen_group_line(table, bytes, &place), &place);
	int err;

	if (!baleen_groups_test(image, bytes, key)) {
		*changed = false;
		return 0;
	}
	if (state == BALEEN_GROUP_HOSTS)
		return del(context, key, changed);
	if (state == BALEEN_GROUP_ALL)
		return -ENOSPC;
	err = baleen_leaf_set(table, bytes, &place, key->ip4, false);
	if (!err)
		*changed = true;
	return err;
}

/* IPv6 prefixes carry answers that depend on each other: none in place. */
static inline int baleen_stems_change(const struct baleen_image *image, void *bytes,
				      const struct baleen_key *key, bool is_in, bool *changed)
{
	if (!!baleen_stems_test(image, bytes, key) != is_in)
		return -ENOSPC;
	*changed = false;
	return 0;
}

/* --- images ------------------------------------------------------------------ */

/**
 * baleen_change_add() - add a key, to prefixes or by a function to its table
 * @image: a checked header
 * @bytes: the image
 * @key: the key, of a domain up to BALEEN_TUPLE
 * @add: adds it to the table of its domain
 * @context: for @add
 * @changed: whether it was not there before; untouched on failure
 *
 * Context: any but BPF; one writer at a time.
 * Return: 0; -ENOSPC for prefixes that cannot change in place; what @add returns.
 */
static inline int baleen_change_add(const struct baleen_image *image, void *bytes,
				    const struct baleen_key *key, baleen_change_fn *add,
				    void *context, bool *changed)
{
	if (key->domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind)
		return baleen_groups_add(image, bytes, key, add, context, changed);
	if (key->domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind)
		return baleen_stems_change(image, bytes, key, true, changed);
	return add(context, key, changed);
}

/**
 * baleen_change_del() - remove a key, from prefixes or by a function from its table
 * @image: a checked header
 * @bytes: the image
 * @key: the key, of a domain up to BALEEN_TUPLE
 * @del: removes it from the table of its domain
 * @context: for @del
 * @changed: whether it was there before; untouched on failure
 *
 * Context: any but BPF; one writer at a time.
 * Return: 0; -ENOSPC for part of a prefix; what @del returns.
 */
static inline int baleen_change_del(const struct baleen_image *image, void *bytes,
				    const struct baleen_key *key, baleen_change_fn *del,
				    void *context, bool *changed)
{
	if (key->domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind)
		return baleen_groups_del(image, bytes, key, del, context, changed);
	if (key->domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind)
		return baleen_stems_change(image, bytes, key, false, changed);
	return del(context, key, changed);
}

/**
 * baleen_image_may_del() - does a deletion take no other key with it?
 * @image: a checked header
 * @domain: domain of the keys
 *
 * Context: any.
 * Return: false where two keys may share a slot of the table; true of a table that
 * cannot forget at all.
 */
static inline bool baleen_image_may_del(const struct baleen_image *image, u32 domain)
{
	const struct baleen_table *table = &image->table[domain];

	return (table->kind != BALEEN_KIND_CUCKOO && table->kind != BALEEN_KIND_COMPACT) ||
	       image->flags & BALEEN_FLAG_COPIES || baleen_table_tells_apart(table, domain);
}

/**
 * struct baleen_change - a change of an image that is being read
 * @image: its checked header
 * @bytes: the image
 * @search: scratch; NULL for a deletion
 */
struct baleen_change {
	const struct baleen_image *image;
	void *bytes;
	struct baleen_search *search;
};

static inline int baleen_change_table_add(void *context, const struct baleen_key *key,
					  bool *changed)
{
	const struct baleen_change *change = (const struct baleen_change *)context;
	const struct baleen_image *image = change->image;
	const struct baleen_table *table = &image->table[key->domain];
	struct baleen_positions positions;
	struct baleen_cuckoo_place place;
	struct baleen_slots slots;
	int err;

	switch (table->kind) {
	case BALEEN_KIND_NONE: return -ENOSPC;
	case BALEEN_KIND_CUCKOO:
		if (image->flags & BALEEN_FLAG_COPIES || !baleen_table_changes_live(table))
			return -EOPNOTSUPP;
		slots = baleen_slots_at(table, change->bytes);
		place = baleen_cuckoo_locate(table, &image->seed, key);
		return baleen_cuckoo_add(&slots, change->search, &place, changed);
	case BALEEN_KIND_BLOOM:
		*changed = baleen_bloom_add(table, &image->seed, change->bytes, key);
		return 0;
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING:
		err = baleen_positions_make(table, &image->seed, key, &positions);
		if (!err)
			*changed = baleen_plane_add(table, change->bytes, &positions);
		return err;
	default: return -EOPNOTSUPP;
	}
}

static inline int baleen_change_table_del(void *context, const struct baleen_key *key,
					  bool *changed)
{
	const struct baleen_change *change = (const struct baleen_change *)context;
	const struct baleen_image *image = change->image;
	const struct baleen_table *table = &image->table[key->domain];
	struct baleen_positions positions;
	struct baleen_cuckoo_place place;
	struct baleen_slots slots;
	int err;

	switch (table->kind) {
	case BALEEN_KIND_NONE: *changed = false; return 0;
	case BALEEN_KIND_CUCKOO:
		if (image->flags & BALEEN_FLAG_COPIES || !baleen_table_changes_live(table) ||
		    !baleen_image_may_del(image, key->domain))
			return -EOPNOTSUPP;
		slots = baleen_slots_at(table, change->bytes);
		place = baleen_cuckoo_locate(table, &image->seed, key);
		*changed = baleen_cuckoo_del(&slots, &place);
		return 0;
	case BALEEN_KIND_COUNTING:
		err = baleen_positions_make(table, &image->seed, key, &positions);
		if (!err)
			*changed = baleen_plane_del(table, change->bytes, &positions);
		return err;
	default: return -EOPNOTSUPP;
	}
}

/**
 * baleen_image_add() - add a key to an image that is being read
 * @image: a checked header
 * @bytes: the image, whatever its body holds
 * @search: scratch
 * @key: the key, of a domain up to BALEEN_TUPLE
 * @changed: whether the image changed: the key was not there, or is counted once
 *           more; untouched on failure
 *
 * Header fields are left alone: counts and checksum are wrong afterwards.
 *
 * Context: any but BPF; never sleeps; one writer at a time.
 * Return: 0; -ENOSPC when there is no room for the key, no table for its domain, or
 * IPv6 prefixes: the image has to be built anew; -EOPNOTSUPP for a table that cannot
 * change in place, an image with copies, or a string whose hash is not keyed. Nothing
 * has changed then.
 */
static inline int baleen_image_add(const struct baleen_image *image, void *bytes,
				   struct baleen_search *search, const struct baleen_key *key,
				   bool *changed)
{
	struct baleen_change change = { image, bytes, search };

	return baleen_change_add(image, bytes, key, baleen_change_table_add, &change, changed);
}

/**
 * baleen_image_del() - remove a key from an image that is being read
 * @image: a checked header
 * @bytes: the image, whatever its body holds
 * @key: the key, of a domain up to BALEEN_TUPLE
 * @changed: whether it was there; untouched on failure
 *
 * Context: as baleen_image_add().
 * Return: 0; -ENOSPC for part of a prefix: the image has to be built anew; -EOPNOTSUPP
 * as baleen_image_add(), for a table that cannot forget, and for one where others would
 * go along (see baleen_image_may_del()). Nothing has changed then.
 */
static inline int baleen_image_del(const struct baleen_image *image, void *bytes,
				   const struct baleen_key *key, bool *changed)
{
	struct baleen_change change = { image, bytes, NULL };

	return baleen_change_del(image, bytes, key, baleen_change_table_del, &change, changed);
}

#endif /* BALEEN_INPLACE_H */
