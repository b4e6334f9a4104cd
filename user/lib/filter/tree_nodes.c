// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees of IPv6 addresses: nodes. */
#include <stdlib.h>

#include <baleen/tree.h>

#include "filter/tree_nodes.h"

#define NARROW_BITS 31
#define MAX_SHIFT (64 - NARROW_BITS)
#define TOP_BIT (1ull << 63)

/* Place for more blocks, side by side. */
u64 baleen_tree_add_blocks(struct baleen_tree_maker *maker, u64 n)
{
	struct baleen_tree *tree = maker->tree;
	u64 at = tree->n_blocks, room = tree->room;
	void *block;

	tree->n_blocks += n;
	if (maker->is_counting || tree->n_blocks <= room)
		return at;
	if (tree->n_blocks > maker->max_blocks) {
		maker->is_full = true;
		return 0;
	}
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

/* --- groups --------------------------------------------------------------- */

/* The first bounds of @group, and of these what is in the part of it that begins with
 * @first; the group then begins behind that.
 */
struct baleen_tree_group baleen_tree_cut(struct baleen_tree_group *group, u64 first, u64 last)
{
	struct baleen_tree_group part = {
		.first = first, .last = last, .state = group->state, .is_low = group->is_low
	};

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

bool baleen_tree_is_uniform(const struct baleen_tree_group *group)
{
	return !group->n && group->state <= BALEEN_GROUP_ALL;
}

/* --- nodes ---------------------------------------------------------------- */

/**
 * struct level - nodes that are made of intervals
 * @interval: the intervals
 * @n: how many
 * @last: the last number of the last one
 * @is_inner: they are nodes themselves
 * @is_low: of lower halves
 */
struct level {
	struct baleen_tree_interval *interval;
	size_t n;
	u64 last;
	bool is_inner;
	bool is_low;
};

/* Intervals that one node takes. */
struct chunk {
	size_t n;
	bool is_wide;
	u32 shift;
};

/* Can these be told apart by 31 bits, above which all their numbers agree? */
static bool is_narrow(const struct baleen_tree_interval *interval, size_t n, u64 last, u32 *shift)
{
	u64 keys = 1ull << MAX_SHIFT;

	for (size_t i = 1; i < n; i++)
		keys |= interval[i].from;
	*shift = __builtin_ctzll(keys);
	return *shift == MAX_SHIFT || !((interval[0].from ^ last) >> (NARROW_BITS + *shift));
}

static bool is_child(const struct level *level, size_t i)
{
	return level->is_inner || level->interval[i].value >= BALEEN_TREE_CHILD;
}

static size_t count_children(const struct level *level, size_t at, size_t n)
{
	size_t n_children = 0;

	for (size_t i = at; i < at + n; i++)
		n_children += is_child(level, i);
	return n_children;
}

/* The most that a node takes from interval @at on. */
static struct chunk next_chunk(const struct level *level, size_t at)
{
	const struct baleen_tree_interval *interval = &level->interval[at];
	size_t n = level->n - at, least = BALEEN_TREE_WIDE_KEYS + 1;
	struct chunk chunk = { .is_wide = true, .n = BALEEN_TREE_NARROW_KEYS + 1 };

	if (chunk.n > n)
		chunk.n = n;
	if (count_children(level, at, chunk.n) > BALEEN_TREE_CHILDREN)
		chunk.n = BALEEN_TREE_CHILDREN;
	for (; chunk.n > least; chunk.n--) {
		u64 end = chunk.n < n ? interval[chunk.n].from - 1 : level->last;

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

/* A node of the intervals from @at on; their children are at @base, side by side. */
static void write_node(u64 *word, const struct level *level, size_t at, const struct chunk *chunk,
		       u64 base)
{
	u64 form = chunk->is_wide ? BALEEN_TREE_WIDE : (u64)chunk->shift << BALEEN_TREE_SHIFT_AT;
	const struct baleen_tree_interval *interval = &level->interval[at];
	u64 child = BALEEN_TREE_CHILD;

	if (level->is_low)
		form |= BALEEN_TREE_LOW;
	for (u32 i = 0; i < BALEEN_TREE_KEY_WORDS; i++)
		word[i] = baleen_le64(chunk->is_wide ? BALEEN_TREE_WIDE : BALEEN_TREE_FLAGS);
	for (u32 i = 1; i < chunk->n; i++)
		set_key(word, chunk, i - 1, interval[i].from);
	/* Above interval i are all keys but the first i. */
	for (u32 i = 0; i < chunk->n; i++) {
		u64 value = is_child(level, at + i) ? child++ : interval[i].value;

		form |= value << 4 * (chunk->n - 1 - i);
	}
	word[BALEEN_TREE_BASE] = baleen_le64(base);
	word[BALEEN_TREE_FORM] = baleen_le64(form);
}

static void make_low(struct baleen_tree_maker *maker, u32 number, u64 root);

/* Trees of lower halves below one node. Returns the root of the first. */
static u64 make_lows(struct baleen_tree_maker *maker, const struct level *level, size_t at,
		     size_t n)
{
	u64 roots = baleen_tree_add_blocks(maker, count_children(level, at, n)), root = roots;

	for (size_t i = at; i < at + n && !maker->is_full; i++)
		if (is_child(level, i))
			make_low(maker, level->interval[i].value - BALEEN_TREE_CHILD, root++);
	return roots;
}

/* The nodes of one level, of which the first has its place at @place; the intervals are then
 * those of the level above.
 */
static void make_level(struct baleen_tree_maker *maker, struct level *level, u64 place)
{
	struct baleen_tree_interval *interval = level->interval;
	size_t n_chunks = 0;

	for (size_t i = 0; i < level->n && !maker->is_full;) {
		struct chunk chunk = next_chunk(level, i);
		u64 base = interval[i].value;

		if (!maker->is_counting && !level->is_inner)
			base = make_lows(maker, level, i, chunk.n);
		if (!maker->is_counting && !maker->is_full)
			write_node(maker->tree->block[place + n_chunks], level, i, &chunk, base);
		interval[n_chunks] =
			(struct baleen_tree_interval){ interval[i].from, place + n_chunks };
		n_chunks++;
		i += chunk.n;
	}
	level->n = n_chunks;
	level->is_inner = true;
}

static size_t count_chunks(const struct level *level)
{
	size_t n_chunks = 0;

	for (size_t i = 0; i < level->n; n_chunks++)
		i += next_chunk(level, i).n;
	return n_chunks;
}

/* From the leaves to the root, which has a place. Each level takes 7 intervals a node, but for
 * the last one, so that 12 of them have more leaves than an image has blocks. Returns the
 * steps from the root to a leaf.
 */
u32 baleen_tree_make_nodes(struct baleen_tree_maker *maker, const struct baleen_tree_group *group,
			   u64 root)
{
	struct level level = { .interval = group->is_low ? maker->low_interval : maker->interval,
			       .n = group->n + 1,
			       .last = group->last,
			       .is_low = group->is_low };
	u32 n_steps = 0;

	level.interval[0] = (struct baleen_tree_interval){ group->first, group->state };
	for (size_t i = 0; i < group->n; i++)
		level.interval[i + 1] = (struct baleen_tree_interval){ group->bound[i].from,
								       group->bound[i].state };
	for (; !maker->is_full; n_steps++) {
		size_t n_chunks = count_chunks(&level);
		u64 place = n_chunks > 1 ? baleen_tree_add_blocks(maker, n_chunks) : root;

		if (maker->is_full)
			break;
		make_level(maker, &level, place);
		if (n_chunks == 1)
			break;
	}
	return n_steps;
}

/* --- lower halves --------------------------------------------------------- */

/* The root of two halves that both have bounds. */
static void make_halves(struct baleen_tree_maker *maker, const struct baleen_tree_group *half,
			u64 root)
{
	struct baleen_tree_interval interval[] = { { half[0].first, 0 }, { half[1].first, 0 } };
	const struct level level = {
		.interval = interval, .n = 2, .last = ~0ull, .is_inner = true, .is_low = true
	};
	const struct chunk chunk = { .n = 2, .shift = MAX_SHIFT };
	u64 child = baleen_tree_add_blocks(maker, 2);

	if (!maker->is_full)
		write_node(maker->tree->block[root], &level, 0, &chunk, child);
	for (u32 i = 0; i < 2; i++)
		baleen_tree_make_nodes(maker, &half[i], child + i);
}

/* The tree of the lower halves of a /64, whose root has a place. */
static void make_low(struct baleen_tree_maker *maker, u32 number, u64 root)
{
	const struct baleen_low *low = &maker->bounds->low[number];
	struct baleen_tree_group all = { .is_low = true,
					 .state = low->state,
					 .n = low->n,
					 .bound = &maker->bounds->low_bound[low->first] };
	struct baleen_tree_group half[] = { baleen_tree_cut(&all, 0, TOP_BIT - 1),
					    baleen_tree_cut(&all, TOP_BIT, ~0ull) };
	bool is_upper = baleen_tree_is_uniform(&half[0]);
	u64 form;

	if (!is_upper && !baleen_tree_is_uniform(&half[1])) {
		make_halves(maker, half, root);
		return;
	}
	/* Where both halves are uniform, as of a /65, one has a node of one interval. */
	baleen_tree_make_nodes(maker, &half[is_upper], root);
	form = BALEEN_TREE_HALF | (u64)is_upper << BALEEN_TREE_HALF_AT |
	       (u64)half[!is_upper].state << BALEEN_TREE_REST_AT;
	if (!maker->is_full)
		maker->tree->block[root][BALEEN_TREE_FORM] |= baleen_le64(form);
}
