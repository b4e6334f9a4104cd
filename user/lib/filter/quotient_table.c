// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A quotient table in memory, changed one fingerprint at a time. */
#include <errno.h>

#include "filter/quotient_slots.h"
#include "filter/quotient_table.h"

/* --- seek ------------------------------------------------------------------ */

/* The first empty slot at or after @slot. */
static bool seek_empty(const struct baleen_quotient *quotient, u32 slot, u32 *empty)
{
	u32 n_groups = baleen_quotient_groups(quotient->table);
	u64 reach = ~0ull << (slot & 63) & baleen_quotient_all(quotient->table);

	for (u32 i = 0; i <= n_groups; i++) {
		u32 group = (slot / 64 + i) & (n_groups - 1);
		u64 bits = ~baleen_quotient_used(quotient, group) & reach;

		if (bits) {
			*empty = group * 64 + baleen_lowest64(bits);
			return true;
		}
		reach = baleen_quotient_all(quotient->table);
	}
	return false;
}

/* The next quotient that has a run; the planes may make no sense. */
static u32 next_occupied(const struct baleen_quotient *quotient, u32 slot)
{
	u32 n = quotient->table->n_buckets;

	for (u32 i = 0; i < n; i++)
		if (baleen_quotient_bit(quotient, ++slot, BALEEN_QUOTIENT_OCCUPIED))
			break;
	return slot & (n - 1);
}

/* How many remainders of a sorted run are less than @remainder. */
static u32 count_less(const struct baleen_quotient *quotient, const struct baleen_quotient_run *run,
		      u64 remainder)
{
	u32 n_less = 0, n = run->n;

	while (n) {
		u32 half = n / 2;
		u64 middle = baleen_quotient_get(quotient->table, quotient->store,
						 run->first + n_less + half);

		if (middle < remainder) {
			n_less += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return n_less;
}

/* Where in a sorted run a remainder is or belongs, and whether it is there. */
static bool find_in_run(const struct baleen_quotient *quotient,
			const struct baleen_quotient_run *run, u64 remainder, u32 *slot)
{
	u32 n_less = count_less(quotient, run, remainder);

	*slot = (run->first + n_less) & (quotient->table->n_buckets - 1);
	return n_less < run->n &&
	       baleen_quotient_get(quotient->table, quotient->store, *slot) == remainder;
}

static bool is_used(const struct baleen_quotient *quotient, u32 slot)
{
	return baleen_quotient_used(quotient, slot / 64) >> (slot & 63) & 1;
}

/* --- change ---------------------------------------------------------------- */

static void put_slot(const struct baleen_quotient *quotient, u32 slot, u64 remainder,
		     bool is_continued, bool is_shifted)
{
	baleen_quotient_put(quotient, slot, remainder);
	baleen_quotient_put_bit(quotient, slot, BALEEN_QUOTIENT_CONTINUED, is_continued);
	baleen_quotient_put_bit(quotient, slot, BALEEN_QUOTIENT_SHIFTED, is_shifted);
}

/* The slots from @slot up to an empty one move on by one. */
static void shift_up(const struct baleen_quotient *quotient, u32 slot, u32 empty)
{
	u32 mask = quotient->table->n_buckets - 1;

	for (u32 to = empty; (to ^ slot) & mask; to--)
		put_slot(quotient, to,
			 baleen_quotient_get(quotient->table, quotient->store, to - 1),
			 baleen_quotient_bit(quotient, to - 1, BALEEN_QUOTIENT_CONTINUED), true);
}

int baleen_quotient_insert(struct baleen_filter *filter, u32 domain, u64 fingerprint, bool *changed)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	struct baleen_table *table = &filter->image.table[domain];
	u64 remainder = fingerprint & ~(~0ull << table->slot_bits);
	u32 home = fingerprint >> table->slot_bits, slot = home, empty, length;
	bool has_run = baleen_quotient_bit(&quotient, home, BALEEN_QUOTIENT_OCCUPIED);
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;
	struct baleen_quotient_run run = { .cluster = home };

	*changed = false;
	if (is_used(&quotient, home)) {
		run = baleen_quotient_find(table, quotient.store, home);
		if (!run.n)
			return -EINVAL;
		slot = (run.first + run.n) & (table->n_buckets - 1);
		if (has_run && find_in_run(&quotient, &run, remainder, &slot) && !has_copies)
			return 0;
	}
	if (!seek_empty(&quotient, slot, &empty))
		return -ENOSPC;
	shift_up(&quotient, slot, empty);
	put_slot(&quotient, slot, remainder, has_run && slot != run.first, slot != home);
	/* The first of the run becomes the second. */
	if (has_run && slot == run.first)
		baleen_quotient_put_bit(&quotient, slot + 1, BALEEN_QUOTIENT_CONTINUED, true);
	baleen_quotient_put_bit(&quotient, home, BALEEN_QUOTIENT_OCCUPIED, true);
	length = ((empty - run.cluster) & (table->n_buckets - 1)) + 1;
	if (length > table->longest_cluster)
		table->longest_cluster = length;
	table->n_entries++;
	*changed = true;
	return 0;
}

/* The slots after @slot in its cluster move back by one, onto it. @home is the
 * quotient of the fingerprint that was there.
 */
static void shift_down(const struct baleen_quotient *quotient, u32 slot, u32 home, bool is_first)
{
	u32 mask = quotient->table->n_buckets - 1;

	for (u32 i = 0; i < mask; i++) {
		u32 next = (slot + 1) & mask;
		bool is_continued = baleen_quotient_bit(quotient, next, BALEEN_QUOTIENT_CONTINUED);

		if (!baleen_quotient_bit(quotient, next, BALEEN_QUOTIENT_SHIFTED))
			break;
		if (!is_continued)
			home = next_occupied(quotient, home);
		put_slot(quotient, slot,
			 baleen_quotient_get(quotient->table, quotient->store, next),
			 is_continued && !is_first, slot != home);
		is_first = false;
		slot = next;
	}
	put_slot(quotient, slot, 0, false, false);
}

void baleen_quotient_delete(struct baleen_filter *filter, u32 domain, u64 fingerprint,
			    bool *changed)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	struct baleen_table *table = &filter->image.table[domain];
	u64 remainder = fingerprint & ~(~0ull << table->slot_bits);
	u32 home = fingerprint >> table->slot_bits, slot;
	struct baleen_quotient_run run;

	*changed = false;
	if (!baleen_quotient_bit(&quotient, home, BALEEN_QUOTIENT_OCCUPIED))
		return;
	run = baleen_quotient_find(table, quotient.store, home);
	if (!find_in_run(&quotient, &run, remainder, &slot))
		return;
	shift_down(&quotient, slot, home, slot == run.first);
	if (run.n == 1)
		baleen_quotient_put_bit(&quotient, home, BALEEN_QUOTIENT_OCCUPIED, false);
	table->n_entries--;
	*changed = true;
}

u64 baleen_quotient_copies(const struct baleen_filter *filter, u32 domain, u64 fingerprint)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	const struct baleen_table *table = quotient.table;
	u64 remainder = fingerprint & ~(~0ull << table->slot_bits);
	u32 home = fingerprint >> table->slot_bits;
	struct baleen_quotient_run run;

	if (!baleen_quotient_bit(&quotient, home, BALEEN_QUOTIENT_OCCUPIED))
		return 0;
	run = baleen_quotient_find(table, quotient.store, home);
	return count_less(&quotient, &run, remainder + 1) - count_less(&quotient, &run, remainder);
}

int baleen_quotient_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[key->domain];

	return baleen_quotient_insert(filter, key->domain,
				      baleen_quotient_fingerprint(table, &filter->image.seed, key),
				      changed);
}

int baleen_quotient_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	const struct baleen_table *table = &filter->image.table[key->domain];

	baleen_quotient_delete(filter, key->domain,
			       baleen_quotient_fingerprint(table, &filter->image.seed, key),
			       changed);
	return 0;
}

/* --- seal ------------------------------------------------------------------ */

/* In a cluster all but the first slot are shifted. */
u32 baleen_quotient_longest(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	u32 n = quotient.table->n_buckets, n_groups = baleen_quotient_groups(quotient.table);
	u32 length = 0, longest = 0;
	bool any = false;

	/* Twice around, for the cluster that goes on at slot 0. */
	for (u32 i = 0; i < 2 * n_groups; i++) {
		u32 group = i & (n_groups - 1);
		u64 shifted = baleen_le64(
			baleen_quotient_group(&quotient, group)[BALEEN_QUOTIENT_SHIFTED]);

		any |= baleen_quotient_used(&quotient, group) != 0;
		if (!shifted) {
			length = 0;
			continue;
		}
		for (u32 slot = 0; slot < 64 && slot < n; slot++) {
			length = shifted >> slot & 1 ? length + 1 : 0;
			longest = length > longest ? length : longest;
		}
	}
	return longest < n ? longest + any : n;
}
