/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plain set of numbers: a hash table with open addressing, to hold filters against.
 */
#ifndef BALEEN_TESTS_SET_H
#define BALEEN_TESTS_SET_H

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <baleen/hash.h>

/**
 * struct set - numbers
 * @slot: each holds a number plus 1, or 0
 * @mask: slots less 1; they are a power of two
 * @n: numbers in it
 */
struct set {
	u32 *slot;
	u32 mask;
	u32 n;
};

/* Room for @n_most numbers and as many free slots at least. */
static inline void set_init(struct set *set, u32 n_most)
{
	u32 n_slots = 2;

	while (n_slots < 2 * n_most)
		n_slots *= 2;
	*set = (struct set){ .slot = calloc(n_slots, sizeof(u32)), .mask = n_slots - 1 };
	if (!set->slot)
		errx(1, "no memory for a set");
}

static inline void set_free(struct set *set)
{
	free(set->slot);
}

static inline void set_clear(struct set *set)
{
	memset(set->slot, 0, (set->mask + 1ul) * sizeof(u32));
	set->n = 0;
}

static inline u32 set_home(const struct set *set, u32 number)
{
	return baleen_mix64(number + 1) & set->mask;
}

/* The slot that holds a number, or the free one where it would go. */
static inline u32 set_find(const struct set *set, u32 number)
{
	u32 at = set_home(set, number);

	while (set->slot[at] && set->slot[at] != number + 1)
		at = (at + 1) & set->mask;
	return at;
}

static inline bool set_has(const struct set *set, u32 number)
{
	return set->slot[set_find(set, number)];
}

static inline void set_add(struct set *set, u32 number)
{
	u32 at = set_find(set, number);

	set->n += !set->slot[at];
	set->slot[at] = number + 1;
}

/* What stands behind it in the run goes to where it would be without it. */
static inline void set_remove(struct set *set, u32 number)
{
	u32 at = set_find(set, number);

	if (!set->slot[at])
		return;
	set->slot[at] = 0;
	set->n--;
	for (at = (at + 1) & set->mask; set->slot[at]; at = (at + 1) & set->mask) {
		u32 moved = set->slot[at];

		set->slot[at] = 0;
		set->slot[set_find(set, moved - 1)] = moved;
	}
}

#endif /* BALEEN_TESTS_SET_H */
