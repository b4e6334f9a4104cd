/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of IPv6 prefixes (see prefixes.h) as Baleen built them before trees had all lengths.
 */
#ifndef BALEEN_TESTS_OLD_PREFIXES_H
#define BALEEN_TESTS_OLD_PREFIXES_H

#include <baleen/image_check.h>
#include <baleen/prefixes.h>

#include "random.h"

/* The answer of the prefixes of at most this length; if there is none, of the stem. */
typedef bool old_answer_fn(const void *data, u64 hi, u64 lo, u32 length);

/**
 * struct old_prefixes - a table that is being filled
 * @image: has a table, its lengths and their tree
 * @blocks: the image
 * @answer: tells what a prefix or marker says
 * @data: for it
 */
struct old_prefixes {
	const struct baleen_image *image;
	void *blocks;
	old_answer_fn *answer;
	const void *data;
};

static inline void old_prefixes_length(struct baleen_image *image, u32 length)
{
	image->prefix_lengths[(length - 1) / 64] |= 1ull << (length - 1) % 64;
}

/* After all lengths: their tree, and so many buckets that one of four slots is never full. */
static inline void old_prefixes_plan(struct baleen_image *image, u32 n, u32 n_more_buckets)
{
	u32 n_buckets = 32 + 64 * n + n_more_buckets;

	baleen_length_tree_make(image);
	image->table[BALEEN_IP6_PREFIXES] =
		(struct baleen_table){ .kind = BALEEN_KIND_PREFIXES,
				       .slot_bits = 64,
				       .n_buckets = n_buckets,
				       .log2_buckets = baleen_log2(n_buckets),
				       .n_blocks = (n_buckets + 1) / 2 };
}

/* Home or other bucket, by turns, so that the probe needs both. */
static inline void old_prefixes_store(const struct old_prefixes *old, u64 hi, u64 lo, u32 length)
{
	const struct baleen_table *table = &old->image->table[BALEEN_IP6_PREFIXES];
	struct baleen_cuckoo_place place =
		baleen_prefix_locate(table, &old->image->seed, hi, lo, length);
	bool is_home = place.slot % 2;
	u64 slot = place.slot | (is_home ? 0 : baleen_cuckoo_side(64));
	u64 *word = (u64 *)((struct baleen_block *)old->blocks + table->first_block) +
		    4 * (is_home ? place.home : place.other);
	u32 i = 0;

	while (i < 4 && word[i] && (word[i] & ~BALEEN_PREFIX_ANSWER) != slot)
		i++;
	assert_true(i < 4);
	word[i] = slot | (old->answer(old->data, hi, lo, length) ? BALEEN_PREFIX_ANSWER : 0);
}

/* The prefix and its markers: at each shorter length that the search visits. */
static inline void old_prefixes_put(const struct old_prefixes *old, u64 hi, u64 lo, u32 length)
{
	const u8 *tree = old->image->length_tree;
	u32 node = 1;

	while (tree[node] != length) {
		assert_true(node < BALEEN_LENGTH_NODES / 2 && tree[node]);
		if (tree[node] < length)
			old_prefixes_store(old, hi, lo, tree[node]);
		node = 2 * node + (tree[node] < length);
	}
	old_prefixes_store(old, hi, lo, length);
}

#endif /* BALEEN_TESTS_OLD_PREFIXES_H */
