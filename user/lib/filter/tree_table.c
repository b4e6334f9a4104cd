// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of IPv6 addresses: indexes before nodes, written. */
#include <errno.h>
#include <stdlib.h>

#include <baleen/tree.h>

#include "filter/tree_table.h"

/* Bits of a first index: a quarter of the bounds' square, so that few stems share an entry, up to
 * 1 MiB; long lists 8 entries a bound, up to 4 MiB. Seven in eight are outside of 2000::/3 and
 * not asked. Where most entries are answers, a source under no stem costs 7 ns at 1 k
 * prefixes, and 17 with 12 bits; and what 18 bits leave of a /48 fits into a narrow node: 23 ns
 * in a stem, not 29. At 100 k 20 bits take 16 ns under no stem, 18 take 25.
 */
#define LEAST_BITS 8
#define SHORT_LIST_BITS 18
#define LONG_LIST_BITS 20
#define LONG_LIST_LOG2_ENTRIES 3

/* Bits of a second index: at least a line, at most what an entry can say. */
#define SECOND_LEAST_BITS 4
#define SECOND_MOST_BITS 31

/* Indexes are tried from 8 ends an entry to 8 entries an end, those of 4 KiB always. Of the
 * prefixes of a country, which lie close together, a source in a stem takes 28 ns, and 37 with
 * at most one entry an end; with 64 100 k prefixes in one /32 have an index of 32 MiB.
 */
#define LOG2_ENDS 3
#define SMALL_BITS 10

/* One more node on the way of an address weighs as much as so many bytes for each end: its
 * branch is mispredicted where ways differ. With 256 a country takes 2 ns less and random
 * lengths a fifth more memory.
 */
#define STEP_BYTES 64

/* --- groups --------------------------------------------------------------- */

/* The entry of a group that has no index; @cost grows by the steps of its ends. */
static u32 make_entry(struct baleen_tree_maker *maker, const struct baleen_tree_group *group,
		      u64 *cost)
{
	u64 root;

	if (baleen_tree_is_uniform(group))
		return group->state;
	root = baleen_tree_add_blocks(maker, 1);
	*cost += baleen_tree_make_nodes(maker, group, root) * (group->n + 1) * STEP_BYTES;
	return BALEEN_TREE_ROOT + root;
}

/* The entries of the parts of a group, to @entry where it is not NULL. The parts without
 * bounds are skipped where they are only counted.
 */
static u64 make_entries(struct baleen_tree_maker *maker, struct baleen_tree_group group, u32 bits,
			u32 *entry)
{
	u32 low_bits = __builtin_popcountll(group.last - group.first) - bits;
	u64 size = 1ull << low_bits, first = group.first, cost = 0;

	for (u64 i = 0; i < 1ull << bits && !maker->is_full; i++, first += size) {
		struct baleen_tree_group part;

		if (!entry && !group.n)
			break;
		if (!entry && group.bound->from > first + size - 1) {
			i = (group.bound->from - group.first) >> low_bits;
			first = group.first + (i << low_bits);
		}
		part = baleen_tree_cut(&group, first, first + size - 1);
		if (entry)
			entry[i] = make_entry(maker, &part, &cost);
		else
			make_entry(maker, &part, &cost);
	}
	return cost;
}

/* Bytes and steps of a group with an index of @bits, 0 for none. */
static u64 weigh(const struct baleen_tree_maker *maker, const struct baleen_tree_group *group,
		 u32 bits)
{
	struct baleen_tree counted = {};
	struct baleen_tree_maker counter = { .tree = &counted,
					     .is_counting = true,
					     .interval = maker->interval };
	u64 cost = 0;

	if (bits)
		cost = make_entries(&counter, *group, bits, NULL) + (4ull << bits);
	else
		make_entry(&counter, group, &cost);
	return cost + counted.n_blocks * BALEEN_BLOCK_BYTES;
}

static u32 at_most(u32 bits, u32 most)
{
	return bits < most ? bits : most;
}

/* The width of the index of a group: the first of the best. */
static u32 choose_bits(const struct baleen_tree_maker *maker, const struct baleen_tree_group *group)
{
	u32 log2 = baleen_log2(group->n + 1), bits = SECOND_LEAST_BITS, best = 0;
	u32 most = at_most(log2 + LOG2_ENDS, SECOND_MOST_BITS);
	u32 all = __builtin_popcountll(group->last - group->first);
	u64 cheapest = weigh(maker, group, 0), cost;

	if (most < SMALL_BITS)
		most = SMALL_BITS;
	if (log2 > bits + LOG2_ENDS)
		bits = log2 - LOG2_ENDS;
	/* No wider one weighs less than its entries. */
	for (; bits <= most && bits < all && 4ull << bits < cheapest; bits++) {
		cost = weigh(maker, group, bits);
		if (cost < cheapest) {
			cheapest = cost;
			best = bits;
		}
	}
	return best;
}

/* Two entries of an index a word, which is zero. */
static void write_index(u64 *word, const u32 *entry, u32 bits)
{
	for (u64 i = 0; i < 1ull << bits; i++)
		word[i / 2] |= baleen_le64((u64)entry[i] << i % 2 * 32);
}

/* The index of a group goes into blocks of its own. */
static u32 make_index(struct baleen_tree_maker *maker, const struct baleen_tree_group *group,
		      u32 bits)
{
	u64 line = baleen_tree_add_blocks(maker, baleen_tree_lines(bits));
	u32 *entry = calloc(1ull << bits, sizeof(*entry));

	if (!entry)
		maker->is_full = true;
	if (!maker->is_full)
		make_entries(maker, *group, bits, entry);
	if (!maker->is_full)
		write_index(maker->tree->block[line], entry, bits);
	free(entry);
	return BALEEN_TREE_INDEX | bits << BALEEN_TREE_BITS_AT | (line & (BALEEN_TREE_LINES - 1));
}

/* --- trees ---------------------------------------------------------------- */

static void make_all(struct baleen_tree_maker *maker, const struct baleen_bounds *bounds)
{
	struct baleen_tree *tree = maker->tree;
	struct baleen_tree_group all = { .bound = bounds->bound, .n = bounds->n };
	u64 last = ~0ull >> tree->group_bits, ignored = 0;

	for (u64 i = 0; i < 1ull << tree->group_bits && !maker->is_full; i++) {
		u64 first = i << (64 - tree->group_bits);
		struct baleen_tree_group group = baleen_tree_cut(&all, first, first | last);
		u32 bits = baleen_tree_is_uniform(&group) ? 0 : choose_bits(maker, &group);

		tree->index[i] = bits ? make_index(maker, &group, bits) :
					make_entry(maker, &group, &ignored);
	}
}

static u32 first_bits(size_t n_bounds)
{
	u32 log2 = baleen_log2(n_bounds + 1), short_list, long_list;

	if (2 * log2 < LEAST_BITS + 2)
		return LEAST_BITS;
	short_list = at_most(2 * log2 - 2, SHORT_LIST_BITS);
	long_list = at_most(log2 + LONG_LIST_LOG2_ENTRIES, LONG_LIST_BITS);
	return short_list > long_list ? short_list : long_list;
}

/* The most intervals of a tree of lower halves. */
static size_t most_low(const struct baleen_bounds *bounds)
{
	u32 most = 0;

	for (size_t i = 0; i < bounds->n; i++) {
		u32 state = bounds->bound[i].state;

		if (state >= BALEEN_TREE_CHILD && bounds->low[state - BALEEN_TREE_CHILD].n > most)
			most = bounds->low[state - BALEEN_TREE_CHILD].n;
	}
	return (size_t)most + 1;
}

int baleen_tree_make(const struct baleen_bounds *bounds, u64 max_blocks, struct baleen_tree *tree)
{
	u32 bits = first_bits(bounds->n);
	struct baleen_tree_maker maker = { .tree = tree,
					   .bounds = bounds,
					   .max_blocks = max_blocks };
	int err = 0;

	*tree = (struct baleen_tree){ .group_bits = bits };
	tree->index = calloc(1ull << bits, sizeof(*tree->index));
	maker.interval = malloc((bounds->n + 1) * sizeof(*maker.interval));
	maker.low_interval = malloc(most_low(bounds) * sizeof(*maker.low_interval));
	if (tree->index && maker.interval && maker.low_interval)
		make_all(&maker, bounds);
	else
		maker.is_full = true;
	if (tree->n_blocks > max_blocks)
		err = -E2BIG;
	else if (maker.is_full)
		err = -ENOMEM;
	free(maker.interval);
	free(maker.low_interval);
	return err;
}

void baleen_tree_free(struct baleen_tree *tree)
{
	free(tree->index);
	free(tree->block);
	*tree = (struct baleen_tree){};
}

struct baleen_table baleen_tree_table(const struct baleen_tree *tree)
{
	return (struct baleen_table){
		.kind = BALEEN_KIND_TREE,
		.group_bits = tree->group_bits,
		.n_blocks = baleen_tree_lines(tree->group_bits) + tree->n_blocks,
		.n_buckets = tree->n_blocks,
	};
}

void baleen_tree_fill(struct baleen_filter *filter, const struct baleen_tree *tree)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_IP6_STEMS];
	struct baleen_block *blocks = filter->bytes;

	write_index(blocks[table->first_block].word, tree->index, tree->group_bits);
	if (tree->n_blocks)
		memcpy(&blocks[table->leaf_block], tree->block,
		       tree->n_blocks * BALEEN_BLOCK_BYTES);
}
