// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changing the keys of a filter in place, while packet programs read it. */
#include <errno.h>

#include "cuckoo_table.h"
#include "kind.h"
#include "live.h"
#include "slots.h"

/* Buckets looked at for one key. Of 614,400 additions to tables of 2^18 and
 * 2^20 slots that a build had filled to 80, 85, 90 and 95 %, 1, 13, 121 and
 * 1,386 found no path. Filled from empty, the first was refused at 84 to 98 %,
 * with moves both ways at 95 to 98 %; 2,048 buckets gain 1 %.
 */
#define MAX_NODES 512

#define NO_PARENT ~0u

/**
 * struct node - a bucket that the search has reached
 * @bucket: the bucket
 * @parent: index of the node it was reached from, or NO_PARENT
 * @i: slot of the parent's bucket whose key has @bucket as its other one
 */
struct node {
	u32 bucket;
	u32 parent;
	u32 i;
};

/* Breadth first, so that the fewest keys move. */
struct search {
	u32 n;
	struct node node[MAX_NODES];
};

/* The first slot of @bucket that holds @slot, or BALEEN_BUCKET_SLOTS. */
static u32 find_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 i = 0;

	while (i < BALEEN_BUCKET_SLOTS && baleen_slots_get(slots, bucket, i) != slot)
		i++;
	return i;
}

static bool has_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return find_slot(slots, bucket, slot) < BALEEN_BUCKET_SLOTS;
}

/* Readers load whole words, so that is what they must see change; and each
 * change after those before it.
 */
static void store_slot(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	u32 slot_bits = slots->table->slot_bits;
	u64 bit = ((u64)bucket * BALEEN_BUCKET_SLOTS + i) * slot_bits;
	u64 *word = (u64 *)slots->start + bit / 64;
	u64 mask = ~0ull >> (64 - slot_bits) << bit % 64;
	u64 value = (baleen_le64(*word) & ~mask) | slot << bit % 64;

	__atomic_store_n(word, baleen_le64(value), __ATOMIC_RELEASE);
}

/* Whether it was there. */
static bool clear_slots(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	bool found = false;

	for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++) {
		if (baleen_slots_get(slots, bucket, i) == slot) {
			store_slot(slots, bucket, i, 0);
			found = true;
		}
	}
	return found;
}

static u32 other_bucket(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return baleen_cuckoo_other(slots->table, bucket, baleen_slot_tag(slots->table, slot));
}

static void reach(struct search *search, u32 bucket, u32 parent, u32 i)
{
	for (u32 k = 0; k < search->n; k++)
		if (search->node[k].bucket == bucket)
			return;
	if (search->n < MAX_NODES)
		search->node[search->n++] = (struct node){ bucket, parent, i };
}

/* A slot of this bucket that may be overwritten, or BALEEN_BUCKET_SLOTS; then
 * the search goes on at the other buckets of the keys that are at home.
 */
static u32 visit(const struct baleen_slots *slots, struct search *search, u32 node)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits);
	u32 bucket = search->node[node].bucket;
	u32 found = find_slot(slots, bucket, 0);

	for (u32 i = 0; found == BALEEN_BUCKET_SLOTS && i < BALEEN_BUCKET_SLOTS; i++) {
		u64 slot = baleen_slots_get(slots, bucket, i);
		u32 other = other_bucket(slots, bucket, slot);

		if (slot & side)
			continue;
		/* What a killed writer left in both places is free at home. */
		if (has_slot(slots, other, slot | side))
			found = i;
		else
			reach(search, other, node, i);
	}
	return found;
}

/* From the free end backwards: each key is copied over the one that was
 * copied before it, the last is overwritten by the new one.
 */
static void move_along(const struct baleen_slots *slots, const struct search *search, u32 node,
		       u32 i, const struct baleen_cuckoo_place *place)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits);
	const struct node *at = &search->node[node];

	while (at->parent != NO_PARENT) {
		const struct node *from = &search->node[at->parent];
		u64 slot = baleen_slots_get(slots, from->bucket, at->i);

		store_slot(slots, at->bucket, i, slot | side);
		i = at->i;
		at = from;
	}
	store_slot(slots, at->bucket, i,
		   at->bucket == place->home ? place->slot : place->slot | side);
}

static int cuckoo_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	struct search search;

	search.n = 0;
	reach(&search, place->home, NO_PARENT, 0);
	reach(&search, place->other, NO_PARENT, 0);
	for (u32 node = 0; node < search.n; node++) {
		u32 i = visit(slots, &search, node);

		if (i < BALEEN_BUCKET_SLOTS) {
			move_along(slots, &search, node, i, place);
			return 0;
		}
	}
	return -ENOSPC;
}

static int cuckoo_add(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
		      bool *changed)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits);
	bool is_away = has_slot(slots, place->other, place->slot | side);
	int err;

	/* In both places: a move that was not finished. */
	if (is_away)
		clear_slots(slots, place->home, place->slot);
	if (is_away || has_slot(slots, place->home, place->slot)) {
		*changed = false;
		return 0;
	}
	err = cuckoo_insert(slots, place);
	if (!err)
		*changed = true;
	return err;
}

static bool cuckoo_del(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits);
	bool was_home = clear_slots(slots, place->home, place->slot);

	return clear_slots(slots, place->other, place->slot | side) || was_home;
}

int baleen_cuckoo_live_add(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(slots.table, &filter->image.seed, key);

	return cuckoo_add(&slots, &place, changed);
}

int baleen_cuckoo_live_del(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(slots.table, &filter->image.seed, key);

	*changed = cuckoo_del(&slots, &place);
	return 0;
}

static int table_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	if (table->kind == BALEEN_KIND_NONE)
		return -ENOSPC;
	return ops->add ? ops->add(filter, key, changed) : -EOPNOTSUPP;
}

static int table_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	if (table->kind == BALEEN_KIND_NONE) {
		*changed = false;
		return 0;
	}
	return ops->del ? ops->del(filter, key, changed) : -EOPNOTSUPP;
}

/* --- a directory of IPv4 groups beside the table of hosts ------------------ */

static struct baleen_block *group_line(const struct baleen_filter *filter,
				       const struct baleen_group_place *place)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP4_GROUPS];

	return (struct baleen_block *)filter->bytes + table->first_block + place->line;
}

/* enum baleen_group of the group, not of the address. */
static u32 group_state(const struct baleen_filter *filter, const struct baleen_group_place *place)
{
	const struct baleen_block *line = group_line(filter, place);
	u64 low = baleen_le64(line->word[place->word]) >> place->bit & 1;
	u64 high = baleen_le64(line->word[3 + place->word]) >> place->bit & 1;

	return high << 1 | low;
}

static void set_bit(u64 *word, u64 bit, bool value)
{
	u64 mask = baleen_le64(1ull << bit);

	__atomic_store_n(word, value ? *word | mask : *word & ~mask, __ATOMIC_RELEASE);
}

/* The bit of an address whose group has a leaf. */
static void set_leaf(struct baleen_filter *filter, const struct baleen_group_place *place, u32 ip4,
		     bool value)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP4_GROUPS];
	const struct baleen_block *line = group_line(filter, place);
	u64 leaves =
		baleen_le64(line->word[place->word]) & baleen_le64(line->word[3 + place->word]);
	u64 rank = baleen_leaf_rank(baleen_le64(line->word[6]), leaves, place);
	u32 low_bits = 32 - table->group_bits;
	u64 bit = rank << low_bits | (ip4 & ((1ull << low_bits) - 1));
	struct baleen_block *leaf = (struct baleen_block *)filter->bytes + table->leaf_block;

	/* A damaged count must not lead outside the image. */
	if (rank < table->n_buckets)
		set_bit(&leaf[bit >> 9].word[bit >> 6 & 7], bit & 63, value);
}

/* A group without members gets its first: the group says that there may be some
 * before there are. The other way round, the host of a writer that was killed
 * in between would come up later, with the next one of its group.
 */
static int groups_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP4_GROUPS];
	struct baleen_group_place place = baleen_group_locate(key->ip4 >> (32 - table->group_bits));
	u32 state = group_state(filter, &place);
	int err = 0;

	if (state != BALEEN_GROUP_HOSTS && baleen_filter_test(filter, key)) {
		*changed = false;
		return 0;
	}
	if (state == BALEEN_GROUP_LEAF) {
		set_leaf(filter, &place, key->ip4, true);
		*changed = true;
		return 0;
	}
	if (state == BALEEN_GROUP_NONE)
		set_bit(&group_line(filter, &place)->word[3 + place.word], place.bit, true);
	err = table_add(filter, key, changed);
	if (err && state == BALEEN_GROUP_NONE)
		set_bit(&group_line(filter, &place)->word[3 + place.word], place.bit, false);
	return err;
}

static int groups_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP4_GROUPS];
	struct baleen_group_place place = baleen_group_locate(key->ip4 >> (32 - table->group_bits));
	u32 state = group_state(filter, &place);

	if (!baleen_filter_test(filter, key)) {
		*changed = false;
		return 0;
	}
	if (state == BALEEN_GROUP_HOSTS)
		return table_del(filter, key, changed);
	if (state == BALEEN_GROUP_ALL)
		return -ENOSPC;
	set_leaf(filter, &place, key->ip4, false);
	*changed = true;
	return 0;
}

/* IPv6 prefixes carry answers that depend on each other: none in place. */
static int stems_change(struct baleen_filter *filter, const struct baleen_key *key, bool is_in,
			bool *changed)
{
	if (!!baleen_filter_test(filter, key) != is_in)
		return -ENOSPC;
	*changed = false;
	return 0;
}

int baleen_live_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	if (key->domain == BALEEN_IP4 && filter->image.table[BALEEN_IP4_GROUPS].kind)
		return groups_add(filter, key, changed);
	if (key->domain == BALEEN_IP6 && filter->image.table[BALEEN_IP6_STEMS].kind)
		return stems_change(filter, key, true, changed);
	return table_add(filter, key, changed);
}

int baleen_live_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	if (key->domain == BALEEN_IP4 && filter->image.table[BALEEN_IP4_GROUPS].kind)
		return groups_del(filter, key, changed);
	if (key->domain == BALEEN_IP6 && filter->image.table[BALEEN_IP6_STEMS].kind)
		return stems_change(filter, key, false, changed);
	return table_del(filter, key, changed);
}

/* --- after writers that were killed ---------------------------------------- */

static u64 cuckoo_repair(const struct baleen_slots *slots)
{
	u64 side = baleen_cuckoo_side(slots->table->slot_bits), n = 0;

	for (u32 bucket = 0; bucket < slots->table->n_buckets; bucket++) {
		for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++) {
			u64 slot = baleen_slots_get(slots, bucket, i);

			if (slot & side)
				n += clear_slots(slots, other_bucket(slots, bucket, slot),
						 slot & ~side);
		}
	}
	return n;
}

u64 baleen_live_repair(struct baleen_filter *filter)
{
	u64 n = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_slots slots = baleen_slots_of(filter, domain);

		if (slots.table->kind == BALEEN_KIND_CUCKOO)
			n += cuckoo_repair(&slots);
	}
	return n;
}
