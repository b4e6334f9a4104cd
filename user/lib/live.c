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

static u64 side_of(const struct baleen_slots *slots)
{
	return baleen_cuckoo_side(slots->slot_bits);
}

/* The first slot of @bucket that holds @slot, or how many it has. */
static u32 find_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 n_slots = slots->n_slots, i = 0;

	while (i < n_slots && baleen_slots_get(slots, bucket, i) != slot)
		i++;
	return i;
}

static bool has_slot(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return find_slot(slots, bucket, slot) < slots->n_slots;
}

static void store_bits(u64 *word, u64 mask, u64 bits)
{
	u64 value = (baleen_le64(*word) & ~mask) | bits;

	__atomic_store_n(word, baleen_le64(value), __ATOMIC_RELEASE);
}

/* Readers load whole words, so that is what they must see change; and each
 * change after those before it. A slot of 12 bits may be in two words: until
 * the second is stored it looks like one of another key.
 */
static void store_slot(const struct baleen_slots *slots, u32 bucket, u32 i, u64 slot)
{
	u64 bit = baleen_slots_bit(slots, bucket, i);
	u32 slot_bits = slots->slot_bits, shift = bit % 64;
	u64 *word = (u64 *)slots->start + bit / 64;
	u64 mask = ~0ull >> (64 - slot_bits);

	store_bits(word, mask << shift, slot << shift);
	if (shift + slot_bits > 64)
		store_bits(word + 1, mask >> (64 - shift), slot >> (64 - shift));
}

/* Whether it was there. */
static bool clear_slots(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	bool found = false;

	for (u32 i = 0; i < slots->n_slots; i++) {
		if (baleen_slots_get(slots, bucket, i) == slot) {
			store_slot(slots, bucket, i, 0);
			found = true;
		}
	}
	return found;
}

static u32 other_bucket(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	return baleen_cuckoo_partner(slots->table, bucket, baleen_slot_tag(slots->table, slot),
				     slots->slot_bits);
}

static void reach(struct search *search, u32 bucket, u32 parent, u32 i)
{
	for (u32 k = 0; k < search->n; k++)
		if (search->node[k].bucket == bucket)
			return;
	if (search->n < MAX_NODES)
		search->node[search->n++] = (struct node){ bucket, parent, i };
}

/* A slot of this bucket that may be overwritten, or how many it has; then the
 * search goes on at the other buckets of the keys that are at home. A slot that
 * does not say where it is at home stays.
 */
static u32 visit(const struct baleen_slots *slots, struct search *search, u32 node)
{
	u32 bucket = search->node[node].bucket, n_slots = slots->n_slots;
	u64 side = side_of(slots);
	u32 found = find_slot(slots, bucket, 0);

	for (u32 i = 0; found == n_slots && i < n_slots && side; i++) {
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
	u64 side = side_of(slots);
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

/* --- the stash -------------------------------------------------------------- */

static bool is_stashed(const struct baleen_slots *slots, u64 hash)
{
	u32 n_stash = slots->table->n_stash;

	return hash && n_stash && baleen_stash_find(slots, hash) < n_stash;
}

static void store_stash(const struct baleen_slots *slots, u32 i, u64 hash)
{
	__atomic_store_n(&baleen_slots_stash(slots)[i], baleen_le64(hash), __ATOMIC_RELEASE);
}

static int stash_add(const struct baleen_slots *slots, u64 hash)
{
	u32 i = baleen_stash_find(slots, 0);

	if (i == slots->table->n_stash || !hash)
		return -ENOSPC;
	store_stash(slots, i, hash);
	return 0;
}

/* --- keys -------------------------------------------------------------------- */

static int cuckoo_insert(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	struct search search;

	search.n = 0;
	reach(&search, place->home, NO_PARENT, 0);
	reach(&search, place->other, NO_PARENT, 0);
	for (u32 node = 0; node < search.n; node++) {
		u32 i = visit(slots, &search, node);

		if (i < slots->n_slots) {
			move_along(slots, &search, node, i, place);
			return 0;
		}
	}
	return stash_add(slots, place->hash);
}

static int cuckoo_add(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place,
		      bool *changed)
{
	u64 away = place->slot | side_of(slots);
	bool is_away = has_slot(slots, place->other, away);
	int err;

	/* In both places: a move that was not finished. */
	if (is_away && away != place->slot)
		clear_slots(slots, place->home, place->slot);
	if (is_away || has_slot(slots, place->home, place->slot) ||
	    is_stashed(slots, place->hash)) {
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
	bool was_there = clear_slots(slots, place->home, place->slot);

	was_there |= clear_slots(slots, place->other, place->slot | side_of(slots));
	if (!is_stashed(slots, place->hash))
		return was_there;
	store_stash(slots, baleen_stash_find(slots, place->hash), 0);
	return true;
}

/* --- a cuckoo table of copies, or that is in memory ------------------------- */

static bool is_live(const struct baleen_filter *filter)
{
	return filter->is_mapped || filter->image.flags & BALEEN_FLAG_LIVE;
}

static bool has_copies(const struct baleen_filter *filter)
{
	return filter->image.flags & BALEEN_FLAG_COPIES;
}

/* Where there is no way to build it aside with more room, all may move. */
static bool keeps_too_little(const struct baleen_slots *slots, u32 domain)
{
	return slots->slot_bits < (domain == BALEEN_IP4 ? 16 : 64);
}

static bool clear_first(const struct baleen_slots *slots, u32 bucket, u64 slot)
{
	u32 i = find_slot(slots, bucket, slot);

	if (i == slots->n_slots)
		return false;
	store_slot(slots, bucket, i, 0);
	return true;
}

/* From the stash first: it has the fewest slots. */
static bool del_copy(const struct baleen_slots *slots, const struct baleen_cuckoo_place *place)
{
	if (is_stashed(slots, place->hash)) {
		store_stash(slots, baleen_stash_find(slots, place->hash), 0);
		return true;
	}
	return clear_first(slots, place->other, place->slot | side_of(slots)) ||
	       clear_first(slots, place->home, place->slot);
}

int baleen_cuckoo_live_add(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(slots.table, &filter->image.seed, key);
	bool is_new = has_copies(filter);
	int err;

	/* A copy that a killed writer left could not be told from one that counts. */
	if (has_copies(filter) && is_live(filter))
		return -EOPNOTSUPP;
	if (has_copies(filter))
		err = baleen_slots_insert_copy(&slots, &place);
	else if (keeps_too_little(&slots, key->domain) && !is_live(filter))
		err = baleen_slots_insert(&slots, &place, &is_new);
	else
		err = cuckoo_add(&slots, &place, &is_new);
	if (!err)
		*changed = is_new;
	return err;
}

int baleen_cuckoo_live_del(struct baleen_filter *filter, const struct baleen_key *key,
			   bool *changed)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(slots.table, &filter->image.seed, key);

	if (has_copies(filter) && is_live(filter))
		return -EOPNOTSUPP;
	*changed = has_copies(filter) ? del_copy(&slots, &place) : cuckoo_del(&slots, &place);
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
	u32 n_slots = slots->n_slots;
	u64 side = side_of(slots), n = 0;

	for (u32 bucket = 0; bucket < slots->table->n_buckets && side; bucket++) {
		for (u32 i = 0; i < n_slots; i++) {
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

		if (slots.table->kind == BALEEN_KIND_CUCKOO && !has_copies(filter))
			n += cuckoo_repair(&slots);
	}
	return n;
}
