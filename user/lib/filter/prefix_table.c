// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv6 prefixes: bounds of a tree from the entries of a list; the table of these entries. */
#include <errno.h>
#include <stdlib.h>

#include <baleen/tree.h>

#include "filter/prefix_table.h"
#include "list/list_set.h"

/* Bits of the upper half, by which a tree decides first. */
#define UPPER_LENGTH 64

/* --- bounds --------------------------------------------------------------- */

/* An entry that covers the number being looked at. */
struct cover {
	u64 last;
	u32 state;
};

/**
 * struct walk - upper halves, or the lower ones of a /64, ascending
 * @state: of what no entry covers
 * @n_bounds: how many were found
 * @bound: these
 * @n: how many of @cover there are
 * @cover: each inside those before it; the last may be a /64 with longer prefixes
 */
struct walk {
	u32 state;
	size_t n_bounds;
	struct baleen_bound *bound;
	u32 n;
	struct cover cover[UPPER_LENGTH + 2];
};

static u32 covering_state(const struct walk *walk)
{
	return walk->n ? walk->cover[walk->n - 1].state : walk->state;
}

/* From here on the state is another one, or the same after all. */
static void add_bound(struct walk *walk, u64 from, u32 state)
{
	u32 before;

	if (walk->n_bounds && walk->bound[walk->n_bounds - 1].from == from)
		walk->n_bounds--;
	before = walk->n_bounds ? walk->bound[walk->n_bounds - 1].state : walk->state;
	if (state != before)
		walk->bound[walk->n_bounds++] = (struct baleen_bound){ from, state };
}

/* Covers that end before this number end here. */
static void close_covers(struct walk *walk, u64 number)
{
	while (walk->n && walk->cover[walk->n - 1].last < number) {
		u64 from = walk->cover[--walk->n].last + 1;

		add_bound(walk, from, covering_state(walk));
	}
}

static void open_cover(struct walk *walk, u64 first, u64 last, u32 state)
{
	walk->cover[walk->n++] = (struct cover){ last, state };
	add_bound(walk, first, state);
}

/* The bits of 64 behind a prefix. */
static u64 host_bits(u32 length)
{
	return length < 64 ? ~0ull >> length : 0;
}

/* Longer prefixes of one /64, after the bounds of others. Returns how many entries they are. */
static size_t walk_low(const struct baleen_prefix6 *entry, size_t n, struct baleen_bound *bound,
		       struct baleen_low *low)
{
	struct walk walk = { .state = low->state, .bound = bound };
	size_t i = 0;

	for (; i < n && entry[i].hi == entry->hi; i++) {
		close_covers(&walk, entry[i].lo);
		open_cover(&walk, entry[i].lo, entry[i].lo | host_bits(entry[i].length - 64),
			   !entry[i].is_exception);
	}
	/* A cover that ends with the last number of all has no bound behind it. */
	close_covers(&walk, ~0ull);
	low->n = walk.n_bounds;
	return i;
}

static size_t count_long(const struct baleen_entries *entries)
{
	size_t n = 0;

	for (size_t i = 0; i < entries->n; i++)
		n += entries->entry[i].length > UPPER_LENGTH;
	return n;
}

/* Each entry begins an interval and ends one. */
static int alloc_bounds(const struct baleen_entries *entries, struct baleen_bounds *bounds)
{
	size_t n_long = count_long(entries);

	*bounds =
		(struct baleen_bounds){ .bound = malloc(2 * entries->n * sizeof(*bounds->bound)) };
	if (n_long) {
		bounds->low = malloc(n_long * sizeof(*bounds->low));
		bounds->low_bound = malloc(2 * n_long * sizeof(*bounds->low_bound));
	}
	if (bounds->bound && (!n_long || (bounds->low && bounds->low_bound)))
		return 0;
	baleen_bounds_free(bounds);
	return -ENOMEM;
}

int baleen_bounds_make(const struct baleen_entries *entries, struct baleen_bounds *bounds)
{
	struct walk walk = { .state = BALEEN_GROUP_NONE };
	size_t n_low = 0, n_low_bounds = 0, i = 0;

	if (alloc_bounds(entries, bounds))
		return -ENOMEM;
	walk.bound = bounds->bound;
	while (i < entries->n) {
		const struct baleen_prefix6 *entry = &entries->entry[i];
		struct baleen_low low;

		close_covers(&walk, entry->hi);
		if (entry->length <= UPPER_LENGTH) {
			open_cover(&walk, entry->hi, entry->hi | host_bits(entry->length),
				   !entry->is_exception);
			i++;
			continue;
		}
		low = (struct baleen_low){ .state = covering_state(&walk), .first = n_low_bounds };
		i += walk_low(entry, entries->n - i, &bounds->low_bound[n_low_bounds], &low);
		n_low_bounds += low.n;
		if (!low.n)
			continue;
		open_cover(&walk, entry->hi, entry->hi, BALEEN_TREE_CHILD + n_low);
		bounds->low[n_low++] = low;
	}
	close_covers(&walk, ~0ull);
	bounds->n = walk.n_bounds;
	return 0;
}

void baleen_bounds_free(struct baleen_bounds *bounds)
{
	free(bounds->bound);
	free(bounds->low);
	free(bounds->low_bound);
	*bounds = (struct baleen_bounds){};
}

/* --- entries -------------------------------------------------------------- */

static struct baleen_entry6 *entry_table(const struct baleen_filter *filter)
{
	struct baleen_block *blocks = filter->bytes;

	return (void *)&blocks[filter->image.table[BALEEN_IP6_ENTRIES].first_block];
}

void baleen_entries_fill(struct baleen_filter *filter, const struct baleen_entries *entries)
{
	struct baleen_entry6 *out = entry_table(filter);

	for (size_t i = 0; i < entries->n; i++)
		out[i] = (struct baleen_entry6){
			.hi_le = baleen_le64(entries->entry[i].hi),
			.lo_le = baleen_le64(entries->entry[i].lo),
			.length = entries->entry[i].length,
			.is_exception = entries->entry[i].is_exception,
		};
	filter->image.table[BALEEN_IP6_ENTRIES].n_entries = entries->n;
}

static bool is_masked(const struct baleen_prefix6 *entry)
{
	if (entry->length > 64)
		return !(entry->lo & host_bits(entry->length - 64));
	return !entry->lo && !(entry->hi & host_bits(entry->length));
}

static bool is_before(const struct baleen_prefix6 *a, const struct baleen_prefix6 *b)
{
	if (a->hi != b->hi)
		return a->hi < b->hi;
	return a->lo != b->lo ? a->lo < b->lo : a->length < b->length;
}

int baleen_entries_read(const struct baleen_filter *filter, struct baleen_prefix6 *out)
{
	const struct baleen_entry6 *in = entry_table(filter);

	for (size_t i = 0; i < filter->image.table[BALEEN_IP6_ENTRIES].n_buckets; i++) {
		out[i] = (struct baleen_prefix6){
			.hi = baleen_le64(in[i].hi_le),
			.lo = baleen_le64(in[i].lo_le),
			.length = in[i].length,
			.is_exception = in[i].is_exception,
		};
		if (out[i].length > 128 || out[i].is_exception > 1 || !is_masked(&out[i]) ||
		    !baleen_is_zero(in[i].reserved, sizeof(in[i].reserved)) ||
		    (i && !is_before(&out[i - 1], &out[i])))
			return -EINVAL;
	}
	return 0;
}
