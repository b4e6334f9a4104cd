/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A quotient table as the textbook tells it: slots that hold whole fingerprints,
 * filled one by one with ordered linear probing (Amble and Knuth, "Ordered hash
 * tables", 1974), and the three bits read off at the end.
 */
#ifndef BALEEN_TESTS_SLOW_QUOTIENT_H
#define BALEEN_TESTS_SLOW_QUOTIENT_H

#include "filter/quotient_slots.h"
#include "random.h"

/**
 * struct slow_quotient - the slots
 * @q: bits of a quotient, at most SLOW_MAX_LOG2
 * @r: bits of a remainder
 * @n: slots in use
 * @copies: a fingerprint is there as often as it was inserted
 * @used: is there a fingerprint?
 * @fingerprint: which
 */
#define SLOW_MAX_LOG2 12
struct slow_quotient {
	u32 q, r, n;
	bool copies;
	bool used[1 << SLOW_MAX_LOG2];
	u64 fingerprint[1 << SLOW_MAX_LOG2];
};

static inline u32 slow_home(const struct slow_quotient *slow, u64 fingerprint)
{
	return fingerprint >> slow->r;
}

static inline u32 slow_distance(const struct slow_quotient *slow, u32 slot, u64 fingerprint)
{
	return (slot - slow_home(slow, fingerprint)) & ((1u << slow->q) - 1);
}

static inline u32 slow_count(const struct slow_quotient *slow, u64 fingerprint)
{
	u32 n = 0;

	for (u32 slot = 0; slot < 1u << slow->q; slot++)
		n += slow->used[slot] && slow->fingerprint[slot] == fingerprint;
	return n;
}

static inline bool slow_has(const struct slow_quotient *slow, u64 fingerprint)
{
	for (u32 slot = 0; slot < 1u << slow->q; slot++)
		if (slow->used[slot] && slow->fingerprint[slot] == fingerprint)
			return true;
	return false;
}

/* Whoever is further from home, or smaller in the same home, stays. */
static inline bool slow_insert(struct slow_quotient *slow, u64 fingerprint)
{
	u32 mask = (1u << slow->q) - 1, slot = slow_home(slow, fingerprint);

	if (!slow->copies && slow_has(slow, fingerprint))
		return true;
	if (slow->n == mask + 1)
		return false;
	for (; slow->used[slot]; slot = (slot + 1) & mask) {
		u64 other = slow->fingerprint[slot];
		u32 mine = slow_distance(slow, slot, fingerprint);
		u32 its = slow_distance(slow, slot, other);

		if (mine > its || (mine == its && fingerprint < other)) {
			slow->fingerprint[slot] = fingerprint;
			fingerprint = other;
		}
	}
	slow->used[slot] = true;
	slow->fingerprint[slot] = fingerprint;
	slow->n++;
	return true;
}

/* All others again, in any order. */
static inline void slow_delete(struct slow_quotient *slow, u64 fingerprint)
{
	struct slow_quotient rest = { .q = slow->q, .r = slow->r, .copies = slow->copies };
	bool is_gone = false;

	for (u32 slot = 0; slot < 1u << slow->q; slot++) {
		if (!slow->used[slot])
			continue;
		if (!is_gone && slow->fingerprint[slot] == fingerprint)
			is_gone = true;
		else
			slow_insert(&rest, slow->fingerprint[slot]);
	}
	*slow = rest;
}

static inline bool slow_is_occupied(const struct slow_quotient *slow, u32 slot)
{
	for (u32 i = 0; i < 1u << slow->q; i++)
		if (slow->used[i] && slow_home(slow, slow->fingerprint[i]) == slot)
			return true;
	return false;
}

static inline bool slow_is_shifted(const struct slow_quotient *slow, u32 slot)
{
	return slow->used[slot] && slow_home(slow, slow->fingerprint[slot]) != slot;
}

static inline bool slow_is_continued(const struct slow_quotient *slow, u32 slot)
{
	u32 before = (slot - 1) & ((1u << slow->q) - 1);

	return slow_is_shifted(slow, slot) && slow->used[before] &&
	       slow_home(slow, slow->fingerprint[before]) ==
		       slow_home(slow, slow->fingerprint[slot]);
}

/* Slots of the longest cluster. */
static inline u32 slow_longest(const struct slow_quotient *slow)
{
	u32 n = 1u << slow->q, longest = 0;

	for (u32 slot = 0; slot < n; slot++) {
		u32 length = 1;

		if (!slow->used[slot] || slow_is_shifted(slow, slot))
			continue;
		while (length < n && slow_is_shifted(slow, (slot + length) & (n - 1)))
			length++;
		longest = length > longest ? length : longest;
	}
	return longest;
}

#endif /* BALEEN_TESTS_SLOW_QUOTIENT_H */
