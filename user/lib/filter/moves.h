/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the places of a small filter come to when it is resized, or merged with others.
 *
 * What comes out of such a change depends on the set only, so it is not told step by step how it
 * was made: each place of the old filters is found again in the new one, by what it holds.
 */
#ifndef BALEEN_MOVES_H
#define BALEEN_MOVES_H

#include "filter/filter.h"

/**
 * struct baleen_move - a place, and where it came to
 * @source: number of the filter that had it
 * @domain: domain of the table
 * @place: the bit, the counter, the bucket or the slot of a quotient table
 * @i: cuckoo: which slot of the bucket
 * @to_place: the same in the new filter
 * @to_i: the same
 */
struct baleen_move {
	u32 source;
	u32 domain;
	u64 place;
	u32 i;
	u64 to_place;
	u32 to_i;
};

/**
 * struct baleen_moves - all moves, by source, domain, place
 * @move: they; to be freed
 * @n: how many
 */
struct baleen_moves {
	struct baleen_move *move;
	size_t n;
};

/**
 * baleen_moves_find() - the moves from one filter to another
 * @from: a filter in memory, of which baleen_steps_are_few()
 * @source: its number, for struct baleen_move
 * @to: a filter that it was resized to, or merged into, of which the same holds
 * @moves: those of other filters stay, these are added; what is in the stash of a table is left out
 *
 * Of copies of a key each comes to another place, as long as there are any.
 *
 * Return: 0; -ENOENT when something of @from is not in @to, -EINVAL for a slot that no key makes,
 * -ENOMEM.
 */
int baleen_moves_find(const struct baleen_filter *from, u32 source, const struct baleen_filter *to,
		      struct baleen_moves *moves);

#endif /* BALEEN_MOVES_H */
