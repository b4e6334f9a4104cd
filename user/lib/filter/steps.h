/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps by which a key comes into a small filter in memory, or goes: which bits, counters
 * and slots change, and in a cuckoo table which slot gives way to which.
 */
#ifndef BALEEN_STEPS_H
#define BALEEN_STEPS_H

#include "filter/view.h"
#include "list/list_combine.h"

/* A filter whose tables take more is not small. */
#define BALEEN_STEPS_MAX_BYTES (64u << 10)

/**
 * struct baleen_step - a place that changes, or of a bit or counter may stay as it is
 * @place: the bit, the counter, the bucket or the slot of a quotient table
 * @i: cuckoo: which slot of the bucket; chains: how many are before it in the chain
 * @before: bit, counter; cuckoo: what is in the slot, 0 when it is free; chains: the value
 *          that goes
 * @after: what is in it then; chains: the value that comes
 * @adds: chains: a value comes
 * @old: quotient: the slot before
 * @new: quotient: the slot then
 * @from: quotient: the slot that held its remainder before; BALEEN_VIEW_NOWHERE: it stayed,
 *        or came with the key
 */
struct baleen_step {
	u64 place;
	u32 i;
	u64 before;
	u64 after;
	bool adds;
	struct baleen_view_slot old;
	struct baleen_view_slot new;
	u32 from;
};

/**
 * struct baleen_steps - all steps of a key
 * @where: where the key is looked up, and what is there before
 * @is_stashed: cuckoo: the stash takes it, or gives it back
 * @n: how many steps
 * @step: they, in the order in which they are taken; of a quotient table by slot
 * @err: a step could not be noted
 */
struct baleen_steps {
	struct baleen_view_key where;
	bool is_stashed;
	size_t n;
	struct baleen_step *step;
	int err;
};

/**
 * baleen_steps_are_few() - is a filter small enough, and without prefixes?
 * @image: a checked header
 * @error: filled in on failure
 *
 * Return: 0; -E2BIG; -EOPNOTSUPP for prefixes, which are laid out as a whole.
 */
int baleen_steps_are_few(const struct baleen_image *image, struct baleen_error *error);

/**
 * baleen_steps_change() - add a key or take it out, and note each step
 * @filter: a filter in memory, of which baleen_steps_are_few()
 * @key: the key
 * @op: BALEEN_SET_UNION or BALEEN_SET_DIFFERENCE
 * @builds: as a build inserts, not as a change in place does: cuckoo keys walk
 * @steps: filled in, also on failure; step[] is to be freed
 *
 * Return: 0; -ENOSPC; -EOPNOTSUPP for a key of which the filter has no table; -ENOMEM.
 */
int baleen_steps_change(struct baleen_filter *filter, const struct baleen_key *key,
			enum baleen_set_op op, bool builds, struct baleen_steps *steps);

/**
 * baleen_steps_equal() - do two filters have the same tables, and the same in them?
 * @a: a filter
 * @b: another
 *
 * Return: whether; what the headers count may differ: keys, the longest cluster.
 */
bool baleen_steps_equal(const struct baleen_filter *a, const struct baleen_filter *b);

#endif /* BALEEN_STEPS_H */
