// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of the upper halves of IPv6 addresses: laid out, written. */
#include <errno.h>
#include <stdlib.h>

#include <baleen/tree.h>

#include "filter/tree_table.h"

#define NARROW_BITS 31
#define MAX_SHIFT (64 - NARROW_BITS)

/* Bits of a first index: 256 entries for each bound, up to 1 MiB; long lists 8, up to 4 MiB.
 * Seven in eight are outside of 2000::/3 and not asked. Where most entries are answers, a source
 * under no stem costs 7 ns at 1 k prefixes, and 17 with 12 bits; and what 18 bits leave of a
 * /48 fits into a narrow node: 23 ns in a stem, not 29. At 100 k 20 bits take 16 ns under no
 * stem, 18 take 25.
 */
#define LEAST_BITS 12
#define SHORT_LIST_BITS 18
#define SHORT_LIST_LOG2_ENTRIES 8
#define LONG_LIST_BITS 20
#define LONG_LIST_LOG2_ENTRIES 3

/* Bits of a second index: at least a line, at most what an entry can say. */
#define SECOND_LEAST_BITS 4
#define SECOND_MOST_BITS 31

/* The narrowest index that is considered has so many ends (a power of two) an entry. */
#define WIDEST_ENDS 3

/* One more node on the way of an address weighs as much as so many bytes for each end: its
 * branch is mispredicted where ways differ. With 64 country-us takes 28 ns in a stem, not 25,
 * and 1.9 MiB, not 2.1; with 1024 24 ns, and random lengths three times the memory.
 */
#define STEP_BYTES 256

/* Numbers side by side; they end before those of the next one. */
struct interval {
	u64 from;
	/* A state; above the leaves a block. */
	u32 value;
};

/**
 * struct group - numbers with the same first bits
 * @first: the lowest
 * @last: the highest
 * @state: of the lowest
 * @n: how many bounds there are behind the lowest
 * @bound: the first of these
 */
struct group {
	u64 first;
	u64 last;
	u32 state;
	size_t n;
	const struct baleen_bound *bound;
};

/**
 * struct maker - a tree that is being made, or a part of it that is counted
 * @tree: the tree
 * @is_counting: no block is written
 * @is_full: there is no memory for more of them
 * @interval: room for the intervals of a group
 */
struct maker {
	struct baleen_tree *tree;
	bool is_counting;
	bool is_full;
	struct interval *interval;
};

/* Place for more blocks, side by side. */
static u64 add_blocks(struct maker *maker, u64 n)
{
	struct baleen_tree *tree = maker->tree;
	u64 at = tree->n_blocks, room = tree->room;
	void *block;

	tree->n_blocks += n;
	if (maker->is_counting || tree->n_blocks <= room)
		return at;
	room = tree->n_blocks + tree->n_blocks / 2;
	block = realloc(tree->block, room * sizeof(*tree->block));
	if (!block) {
		tree->n_blocks = at;
		maker->is_full = true;
		return 0;
	}
	tree->block = block;
	memset(tree->block[tree->room], 0, (room - tree->room) * sizeof(*tree->block));
	tree->room = room;
	return at;
}

/* --- nodes ---------------------------------------------------------------- */

/* Intervals that one node takes. */
struct chunk {
	size_t n;
	bool is_wide;
	u32 shift;
};

/* Can these be told apart by 31 bits, above which all their numbers agree? */
static bool is_narrow(const struct interval *interval, size_t n, u64 last, u32 *shift)
{
	u64 keys = 1ull << MAX_SHIFT;

	for (size_t i = 1; i < n; i++)
		keys |= interval[i].from;
	*shift = __builtin_ctzll(keys);
	return *shift == MAX_SHIFT || !((interval[0].from ^ last) >> (NARROW_BITS + *shift));
}

/* The most that a node takes of the first of @n, of which the last ends with @last. */
static struct chunk next_chunk(const struct interval *interval, size_t n, u64 last, bool is_inner)
{
	size_t most = is_inner ? BALEEN_TREE_CHILDREN : BALEEN_TREE_NARROW_KEYS + 1;
	size_t least = BALEEN_TREE_WIDE_KEYS + 1;
	struct chunk chunk = { .is_wide = true };

	for (chunk.n = n < most ? n : most; chunk.n > least; chunk.n--) {
		u64 end = chunk.n < n ? interval[chunk.n].from - 1 : last;

		if (is_narrow(interval, chunk.n, end, &chunk.shift)) {
			chunk.is_wide = false;
			return chunk;
		}
	}
	return chunk;
}

static void set_key(u64 *word, const struct chunk *chunk, u32 i, u64 number)
{
	u64 key = number & ~BALEEN_TREE_WIDE;
	u32 at = 0;

	if (!chunk->is_wide) {
		key = number >> chunk->shift & BALEEN_TREE_WINDOW;
		at = i % 2 * 32;
		i /= 2;
	}
	word[i] |= baleen_le64(key << at);
}

static void write_node(u64 *word, const struct interval *interval, const struct chunk *chunk,
		       bool is_inner)
{
	u64 form = chunk->is_wide ? BALEEN_TREE_WIDE : (u64)chunk->shift << BALEEN_TREE_SHIFT_AT;
	u32 base = is_inner ? interval[0].value : 0;

	for (u32 i = 0; i < BALEEN_TREE_KEY_WORDS; i++)
		word[i] = baleen_le64(chunk->is_wide ? BALEEN_TREE_WIDE : BALEEN_TREE_FLAGS);
	for (u32 i = 1; i < chunk->n; i++)
		set_key(word, chunk, i - 1, interval[i].from);
	/* Above interval i are all keys but the first i. */
	for (u32 i = 0; i < chunk->n; i++) {
		u64 value =
			is_inner ? BALEEN_TREE_CHILD + interval[i].value - base : interval[i].value;

		form |= value << 4 * (chunk->n - 1 - i);
	}
	word[BALEEN_TREE_BASE] = baleen_le64(base);
	word[BALEEN_TREE_FORM] = baleen_le64(form);
}

/* The nodes of one level, of which the first has its place at @place; the intervals are then
 * those of the level above.
 */
static size_t make_level(struct maker *maker, size_t n, u64 last, u64 place, bool is_inner)
{
	struct interval *interval = maker->interval;
	size_t n_chunks = 0;

	for (size_t i = 0; i < n;) {
		struct chunk chunk = next_chunk(&interval[i], n - i, last, is_inner);

		if (!maker->is_counting)
			write_node(maker->tree->block[place + n_chunks], &interval[i], &chunk,
				   is_inner);
		interval[n_chunks] = (struct interval){ interval[i].from, place + n_chunks };
		n_chunks++;
		i += chunk.n;
	}
	return n_chunks;
}

static size_t count_chunks(const struct maker *maker, size_t n, u64 last, bool is_inner)
{
	size_t n_chunks = 0;

	for (size_t i = 0; i < n; n_chunks++)
		i += next_chunk(&maker->interval[i], n - i, last, is_inner).n;
	return n_chunks;
}

/* From the leaves to the root, which is given a place first. Each level takes 7 intervals a
 * node, but for the last one, so that BALEEN_TREE_DEPTH of them have more leaves than an
 * image has blocks. Returns the steps from the root to a leaf.
 */
static u32 make_nodes(struct maker *maker, const struct group *group, u64 *root)
{
	size_t n = group->n + 1, n_chunks;
	u32 n_steps = 0;

	maker->interval[0] = (struct interval){ group->first, group->state };
	for (size_t i = 0; i < group->n; i++)
		maker->interval[i + 1] =
			(struct interval){ group->bound[i].from, group->bound[i].state };
	*root = add_blocks(maker, 1);
	for (; !maker->is_full; n_steps++) {
		u64 place = *root;

		n_chunks = count_chunks(maker, n, group->last, n_steps);
		if (n_chunks > 1)
			place = add_blocks(maker, n_chunks);
		if (maker->is_full)
			break;
		n = make_level(maker, n, group->last, place, n_steps);
		if (n_chunks == 1)
			break;
	}
	return n_steps;
}

/* --- groups --------------------------------------------------------------- */

/* The first bounds of @group, and of these what is in the part of it that begins with
 * @first; the group then begins behind that.
 */
static struct group take_part(struct group *group, u64 first, u64 last)
{
	struct group part = { .first = first, .last = last, .state = group->state };

	if (group->n && group->bound->from == first) {
		part.state = group->bound->state;
		group->bound++;
		group->n--;
	}
	part.bound = group->bound;
	while (part.n < group->n && part.bound[part.n].from <= last)
		part.n++;
	group->bound += part.n;
	group->n -= part.n;
	group->state = part.n ? part.bound[part.n - 1].state : part.state;
	return part;
}

static bool is_uniform(const struct group *group)
{
	return !group->n && group->state <= BALEEN_GROUP_ALL;
}

/* The entry of a group that has no index; @cost grows by the steps of its ends. */
static u32 make_entry(struct maker *maker, const struct group *group, u64 *cost)
{
	u64 root;

	if (is_uniform(group))
		return group->state;
	*cost += make_nodes(maker, group, &root) * (group->n + 1) * STEP_BYTES;
	return BALEEN_TREE_ROOT + root;
}

/* The entries of the parts of a group, to @entry where it is not NULL. The parts without
 * bounds are skipped where they are only counted.
 */
static u64 make_entries(struct maker *maker, struct group group, u32 bits, u32 *entry)
{
	u32 low_bits = __builtin_popcountll(group.last - group.first) - bits;
	u64 size = 1ull << low_bits, first = group.first, cost = 0;

	for (u64 i = 0; i < 1ull << bits && !maker->is_full; i++, first += size) {
		struct group part;

		if (!entry && !group.n)
			break;
		if (!entry && group.bound->from > first + size - 1) {
			i = (group.bound->from - group.first) >> low_bits;
			first = group.first + (i << low_bits);
		}
		part = take_part(&group, first, first + size - 1);
		if (entry)
			entry[i] = make_entry(maker, &part, &cost);
		else
			make_entry(maker, &part, &cost);
	}
	return cost;
}

/* Bytes and steps of a group with an index of @bits, 0 for none. */
static u64 weigh(const struct maker *maker, const struct group *group, u32 bits)
{
	struct baleen_tree counted = {};
	struct maker counter = { .tree = &counted, .is_counting = true };
	u64 cost = 0;

	counter.interval = maker->interval;
	if (bits)
		cost = make_entries(&counter, *group, bits, NULL) + (4ull << bits);
	else
		make_entry(&counter, group, &cost);
	return cost + counted.n_blocks * BALEEN_BLOCK_BYTES;
}

/* The width of the index of a group: of those whose entries alone do not weigh more than the
 * best so far, which is then found.
 */
static u32 choose_bits(const struct maker *maker, const struct group *group)
{
	u32 most = __builtin_popcountll(group->last - group->first), best = 0, bits;
	u64 cheapest = weigh(maker, group, 0), cost;

	bits = baleen_log2(group->n + 1);
	bits = bits > WIDEST_ENDS + SECOND_LEAST_BITS ? bits - WIDEST_ENDS : SECOND_LEAST_BITS;
	for (; bits <= SECOND_MOST_BITS && bits < most && 4ull << bits < cheapest; bits++) {
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
static u32 make_index(struct maker *maker, const struct group *group, u32 bits)
{
	u64 line = add_blocks(maker, baleen_tree_lines(bits));
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

static void make_all(struct maker *maker, const struct baleen_bounds *bounds)
{
	struct baleen_tree *tree = maker->tree;
	struct group all = { .bound = bounds->bound, .n = bounds->n };
	u64 last = ~0ull >> tree->group_bits, ignored = 0;

	for (u64 i = 0; i < 1ull << tree->group_bits && !maker->is_full; i++) {
		u64 first = i << (64 - tree->group_bits);
		struct group group = take_part(&all, first, first | last);
		u32 bits = is_uniform(&group) ? 0 : choose_bits(maker, &group);

		tree->index[i] = bits ? make_index(maker, &group, bits) :
					make_entry(maker, &group, &ignored);
	}
}

static u32 at_most(u32 bits, u32 most)
{
	return bits < most ? bits : most;
}

static u32 first_bits(size_t n_bounds)
{
	u32 log2 = baleen_log2(n_bounds + 1);
	u32 short_list = at_most(log2 + SHORT_LIST_LOG2_ENTRIES, SHORT_LIST_BITS);
	u32 long_list = at_most(log2 + LONG_LIST_LOG2_ENTRIES, LONG_LIST_BITS);
	u32 bits = short_list > long_list ? short_list : long_list;

	return bits > LEAST_BITS ? bits : LEAST_BITS;
}

int baleen_tree_make(const struct baleen_bounds *bounds, struct baleen_tree *tree)
{
	u32 bits = first_bits(bounds->n);
	struct maker maker = { .tree = tree };
	int err = 0;

	*tree = (struct baleen_tree){ .group_bits = bits };
	tree->index = calloc(1ull << bits, sizeof(*tree->index));
	maker.interval = malloc((bounds->n + 1) * sizeof(*maker.interval));
	if (tree->index && maker.interval)
		make_all(&maker, bounds);
	if (!tree->index || !maker.interval || maker.is_full)
		err = -ENOMEM;
	else if (tree->n_blocks > BALEEN_TREE_LINES)
		err = -E2BIG;
	free(maker.interval);
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
