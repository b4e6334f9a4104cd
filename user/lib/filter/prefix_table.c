// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv6 prefixes: from the entries of a list to bounds, prefixes and markers. */
#include <errno.h>
#include <stdlib.h>

#include "filter/prefix_table.h"
#include "filter/slots.h"
#include "list/list_set.h"

/* Bits of the upper half, which a tree decides. */
#define UPPER_LENGTH 64
#define STEM_LENGTH 32

/* One entry of each length may enclose the next. */
#define MAX_DEPTH 129

/* The entries that cover the one being looked at, the narrowest last. */
struct enclosing {
	u32 n;
	const struct baleen_prefix6 *entry[MAX_DEPTH];
};

static struct baleen_ip6 cut(const struct baleen_prefix6 *entry, u32 length)
{
	struct baleen_ip6 ip6 = { entry->hi, 0 };

	if (length > 64)
		ip6.lo = entry->lo & ~0ull << (128 - length);
	else
		ip6.hi = length ? entry->hi & ~0ull << (64 - length) : 0;
	return ip6;
}

static bool is_masked(const struct baleen_prefix6 *entry)
{
	struct baleen_ip6 ip6 = cut(entry, entry->length);

	return ip6.hi == entry->hi && ip6.lo == entry->lo;
}

static void enter(struct enclosing *enclosing, const struct baleen_prefix6 *entry)
{
	while (enclosing->n && !baleen_prefix6_is_around(enclosing->entry[enclosing->n - 1], entry))
		enclosing->n--;
	enclosing->entry[enclosing->n++] = entry;
}

/* The answer of the entries of at most this length. */
static bool answer_of(const struct enclosing *enclosing, u32 length)
{
	for (u32 i = enclosing->n; i--;)
		if (enclosing->entry[i]->length <= length)
			return !enclosing->entry[i]->is_exception;
	return false;
}

/* --- bounds --------------------------------------------------------------- */

/* Entries that cover the upper half being looked at. */
struct cover {
	u64 last;
	u32 state;
};

/**
 * struct bound_walk - upper halves, ascending
 * @bounds: what was found
 * @n: how many of @cover there are
 * @cover: each inside those before it; the last may be a /64 with longer prefixes
 */
struct bound_walk {
	struct baleen_bounds *bounds;
	u32 n;
	struct cover cover[UPPER_LENGTH + 2];
};

static u32 covering_state(const struct bound_walk *walk)
{
	return walk->n ? walk->cover[walk->n - 1].state : BALEEN_GROUP_NONE;
}

/* From here on the state is another one, or the same after all. */
static void add_bound(struct baleen_bounds *bounds, u64 from, u32 state)
{
	u32 before;

	if (bounds->n && bounds->bound[bounds->n - 1].from == from)
		bounds->n--;
	before = bounds->n ? bounds->bound[bounds->n - 1].state : BALEEN_GROUP_NONE;
	if (state != before)
		bounds->bound[bounds->n++] = (struct baleen_bound){ from, state };
}

/* Covers that end before this upper half end here. */
static void close_covers(struct bound_walk *walk, u64 hi)
{
	while (walk->n && walk->cover[walk->n - 1].last < hi) {
		u64 from = walk->cover[--walk->n].last + 1;

		add_bound(walk->bounds, from, covering_state(walk));
	}
}

static void open_cover(struct bound_walk *walk, const struct baleen_prefix6 *entry)
{
	struct cover cover = { entry->hi, !entry->is_exception };

	if (entry->length > UPPER_LENGTH) {
		u32 around = covering_state(walk);

		/* The /64 has longer prefixes already. */
		if (around > BALEEN_GROUP_ALL)
			return;
		cover.state = around ? BALEEN_GROUP_IN : BALEEN_GROUP_OUT;
	} else if (entry->length < UPPER_LENGTH) {
		cover.last |= ~0ull >> entry->length;
	}
	walk->cover[walk->n++] = cover;
	add_bound(walk->bounds, entry->hi, cover.state);
}

int baleen_bounds_make(const struct baleen_entries *entries, struct baleen_bounds *bounds)
{
	/* Each entry begins an interval and ends one. */
	struct baleen_bounds made = { .bound = malloc(2 * entries->n * sizeof(*made.bound)) };
	struct bound_walk walk = { .bounds = &made };

	if (!made.bound)
		return -ENOMEM;
	for (size_t i = 0; i < entries->n; i++) {
		close_covers(&walk, entries->entry[i].hi);
		open_cover(&walk, &entries->entry[i]);
	}
	/* A cover that ends with the last upper half of all has no bound behind it. */
	close_covers(&walk, ~0ull);
	*bounds = made;
	return 0;
}

/* --- prefixes and markers ------------------------------------------------- */

/* Gets each prefix and marker once; what it does not return 0 for ends all. */
typedef int item_fn(void *data, struct baleen_ip6 ip6, u32 length, bool answer);

/**
 * struct markers - the last marker or prefix of each length
 * @is_set: there was one
 * @ip6: its address
 */
struct markers {
	bool is_set[129];
	struct baleen_ip6 ip6[129];
};

/* Whether it was not there yet. */
static bool mark(struct markers *markers, struct baleen_ip6 ip6, u32 length)
{
	struct baleen_ip6 *last = &markers->ip6[length];

	if (markers->is_set[length] && last->hi == ip6.hi && last->lo == ip6.lo)
		return false;
	markers->is_set[length] = true;
	*last = ip6;
	return true;
}

/* The entry itself, and markers where the search for it goes on to longer
 * prefixes. They say what the entries up to their own length say.
 */
static int visit_entry(const struct baleen_image *image, const struct enclosing *enclosing,
		       struct markers *markers, item_fn *visit, void *data)
{
	const struct baleen_prefix6 *entry = enclosing->entry[enclosing->n - 1];
	u32 node = 1, length;
	int err = 0;

	do {
		length = image->length_tree[node];
		node = 2 * node + (length < entry->length);
		if (length <= entry->length) {
			struct baleen_ip6 ip6 = cut(entry, length);

			if (mark(markers, ip6, length))
				err = visit(data, ip6, length, answer_of(enclosing, length));
		}
	} while (length != entry->length && !err);
	return err;
}

/* Shorter ones are in the tree; in a directory of stems, which no filter has that is built
 * now, up to /32.
 */
static u32 shortest(const struct baleen_image *image)
{
	return image->table[BALEEN_IP6_STEMS].kind == BALEEN_KIND_DIRECTORY ? STEM_LENGTH + 1 :
									      UPPER_LENGTH + 1;
}

static int visit_all(const struct baleen_entries *entries, const struct baleen_image *image,
		     item_fn *visit, void *data)
{
	struct markers markers = { .is_set = { false } };
	struct enclosing enclosing = { 0 };
	int err = 0;

	for (size_t i = 0; i < entries->n && !err; i++) {
		enter(&enclosing, &entries->entry[i]);
		if (entries->entry[i].length >= shortest(image))
			err = visit_entry(image, &enclosing, &markers, visit, data);
	}
	return err;
}

static int count_item(void *data, struct baleen_ip6 ip6, u32 length, bool answer)
{
	++*(u64 *)data;
	return 0;
}

u64 baleen_prefixes_plan(const struct baleen_entries *entries, struct baleen_image *image)
{
	u64 n = 0;

	for (size_t i = 0; i < entries->n; i++) {
		u32 length = entries->entry[i].length;

		if (length >= shortest(image))
			image->prefix_lengths[(length - 1) / 64] |= 1ull << (length - 1) % 64;
	}
	baleen_length_tree_make(image);
	visit_all(entries, image, count_item, &n);
	return n;
}

static int insert_item(void *data, struct baleen_ip6 ip6, u32 length, bool answer)
{
	const struct baleen_filter *filter = data;
	struct baleen_slots slots = baleen_slots_of(filter, BALEEN_IP6_PREFIXES);
	struct baleen_cuckoo_place place =
		baleen_prefix_locate(slots.table, &filter->image.seed, ip6.hi, ip6.lo, length);
	bool is_new = false;
	int err;

	if (answer)
		place.slot |= BALEEN_PREFIX_ANSWER;
	err = baleen_slots_insert(&slots, &place, &is_new);
	/* Another prefix has this hash and may have another answer. */
	return err || is_new ? err : -ENOSPC;
}

int baleen_prefixes_fill(struct baleen_filter *filter, const struct baleen_entries *entries)
{
	return visit_all(entries, &filter->image, insert_item, filter);
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
