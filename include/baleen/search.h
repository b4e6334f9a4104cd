/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing the keys of a cuckoo table that is being read.
 *
 * Idea: the probe looks into a key's home bucket first and into its other
 * bucket second. A writer that moves keys from home to other only, copy
 * first, hides none of them: who does not find the key at home has looked
 * after the copy was made, and finds that.
 *
 *      bucket 3       bucket 8       bucket 5
 *      [ a b c d ]    [ e f g h ]    [ i j k - ]    e's other bucket is 8,
 *                                                   c's 8, f's 5: add x to 3
 *      [ a b c d ]    [ e f g h ]    [ i j k F ]    1. copy f
 *      [ a b c d ]    [ e C g h ]    [ i j k F ]    2. copy c over f
 *      [ a b x d ]    [ e C g h ]    [ i j k F ]    3. x over c
 *
 * Each line is one store of an aligned 64-bit word, so after any of them each
 * old key is in one of its buckets, and at most one is in both. That is legal:
 * a writer that was killed leaves it so, and the next one takes it into
 * account. Writers must exclude each other; readers do nothing.
 *
 * Stores become visible in their order, and loads must be made in theirs: x86 does that, and
 * elsewhere the place of the second is made of the first (baleen_after(), and where what gave way
 * lies over another key that did tests/litmus/cuckoo-two-moves.litmus). The price is that only
 * keys at home can give way. Slots that hold fingerprints only do not say where they are at home,
 * so none of them gives way: such a table takes a key while one of its two buckets, or the stash,
 * has room.
 */
#ifndef BALEEN_SEARCH_H
#define BALEEN_SEARCH_H

#include <baleen/slots.h>

/* Buckets looked at for one key. In 614,400 additions to tables of 2^18 and
 * 2^20 slots that a build had filled to 80, 85, 90 and 95 %, 1, 13, 121 and
 * 1,386 found no path. Filled from empty, the first was refused at 84 to 98 %,
 * with moves both ways at 95 to 98 %; 2,048 buckets gain 1 %.
 */
#define BALEEN_SEARCH_NODES 512

#define BALEEN_SEARCH_ROOT ~0u

/**
 * struct baleen_search_node - a bucket that the search has reached
 * @bucket: the bucket
 * @parent: index of the node it was reached from, or BALEEN_SEARCH_ROOT
 * @i: slot of the parent's bucket whose key has @bucket as its other one
 */
struct baleen_search_node {
	u32 bucket;
	u32 parent;
	u32 i;
};

/**
 * struct baleen_search - scratch of a search for room, 6 KiB
 * @n: nodes that were reached
 * @node: breadth first, so that the fewest keys move
 */
struct baleen_search {
	u32 n;
	struct baleen_search_node node[BALEEN_SEARCH_NODES];
};

/* Each bucket once, so a damaged table ends like any other: after so many nodes. */
static inline void baleen_search_reach(struct baleen_search *search, u32 bucket, u32 parent, u32 i)
{
	for (u32 k = 0; k < search->n; k++)
		if (search->node[k].bucket == bucket)
			return;
	if (search->n < BALEEN_SEARCH_NODES)
		search->node[search->n++] = (struct baleen_search_node){ bucket, parent, i };
}

/* A slot of this bucket that may be overwritten, or how many it has; then the
 * search goes on at the other buckets of the keys that are at home. A slot that
 * does not say where it is at home stays.
 */
static inline u32 baleen_search_visit(const struct baleen_slots *slots,
				      struct baleen_search *search, u32 node)
{
	u32 bucket = search->node[node].bucket, n_slots = slots->n_slots;
	u64 side = slots->side;
	u32 found = baleen_slots_find(slots, bucket, 0);

	for (u32 i = 0; found == n_slots && i < n_slots && side; i++) {
		u64 slot = baleen_slots_get(slots, bucket, i);
		u32 other = baleen_slots_other(slots, bucket, slot);

		if (slot & side)
			continue;
		/* A killed writer left it in both places: the one at home is free. */
		if (baleen_slots_has(slots, other, slot | side))
			found = i;
		else
			baleen_search_reach(search, other, node, i);
	}
	return found;
}

/* From the free end backwards: each key is copied over the one that was
 * copied before it, the last is overwritten by the new one. A parent comes before
 * its children, so this ends.
 */
static inline void baleen_search_move(const struct baleen_slots *slots,
				      const struct baleen_search *search, u32 node, u32 i,
				      const struct baleen_cuckoo_place *place)
{
	u64 side = slots->side;
	const struct baleen_search_node *at = &search->node[node];

	while (at->parent != BALEEN_SEARCH_ROOT) {
		const struct baleen_search_node *from = &search->node[at->parent];
		u64 slot = baleen_slots_get(slots, from->bucket, at->i);

		baleen_slots_store(slots, at->bucket, i, slot | side);
		i = at->i;
		at = from;
	}
	baleen_slots_store(slots, at->bucket, i,
			   at->bucket == place->home ? place->slot : place->slot | side);
}

static inline int baleen_search_insert(const struct baleen_slots *slots,
				       struct baleen_search *search,
				       const struct baleen_cuckoo_place *place)
{
	search->n = 0;
	baleen_search_reach(search, place->home, BALEEN_SEARCH_ROOT, 0);
	baleen_search_reach(search, place->other, BALEEN_SEARCH_ROOT, 0);
	for (u32 node = 0; node < search->n; node++) {
		u32 i = baleen_search_visit(slots, search, node);

		if (i < slots->n_slots) {
			baleen_search_move(slots, search, node, i, place);
			return 0;
		}
	}
	return baleen_stash_add(slots, place->hash);
}

/**
 * baleen_cuckoo_add() - add a key
 * @slots: a cuckoo table, whatever it holds
 * @search: scratch
 * @place: place of the key
 * @changed: whether it was not there before; untouched on failure
 *
 * Not a bit changes of a table that has the key, also where it has it twice.
 *
 * Takes at most BALEEN_SEARCH_NODES buckets, 2^20 comparisons of nodes: about a
 * millisecond when there is no room.
 *
 * Context: any but BPF; one writer at a time.
 * Return: 0; -ENOSPC when there is no room, and nothing has changed.
 */
static inline int baleen_cuckoo_add(const struct baleen_slots *slots, struct baleen_search *search,
				    const struct baleen_cuckoo_place *place, bool *changed)
{
	u64 away = place->slot | slots->side;
	int err;

	if (baleen_slots_has(slots, place->home, place->slot) ||
	    baleen_slots_has(slots, place->other, away) || baleen_stash_holds(slots, place->hash)) {
		*changed = false;
		return 0;
	}
	err = baleen_search_insert(slots, search, place);
	if (!err)
		*changed = true;
	return err;
}

/**
 * baleen_cuckoo_del() - remove a key, and all that look the same
 * @slots: a cuckoo table, whatever it holds
 * @place: place of the key
 *
 * Context: any but BPF; one writer at a time.
 * Return: whether it was there.
 */
static inline bool baleen_cuckoo_del(const struct baleen_slots *slots,
				     const struct baleen_cuckoo_place *place)
{
	u64 away = place->slot | slots->side;
	bool was_there = baleen_slots_clear(slots, place->home, place->slot);

	was_there |= baleen_slots_clear(slots, place->other, away);
	was_there |= baleen_stash_del(slots, place->hash);
	return was_there;
}

#endif /* BALEEN_SEARCH_H */
