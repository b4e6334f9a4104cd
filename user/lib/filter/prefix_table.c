// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv6 prefixes: from the entries of a list to stems, prefixes and markers. */
#include <errno.h>
#include <stdlib.h>

#include "filter/prefix_table.h"
#include "filter/slots.h"
#include "list/list_set.h"

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

/* --- stems ---------------------------------------------------------------- */

/* Stems below @at are done. */
struct stem_walk {
	struct baleen_runs *stems;
	u64 at;
};

static u64 stem_of(const struct baleen_prefix6 *entry)
{
	return entry->hi >> 32;
}

/* The stem behind those that an entry of at most 32 bits covers. */
static u64 stem_end(const struct baleen_prefix6 *entry)
{
	return stem_of(entry) + (1ull << (STEM_LENGTH - entry->length));
}

/* Stems up to @end are in this state. */
static void add_stems(struct stem_walk *walk, u64 end, u32 state)
{
	if (end <= walk->at)
		return;
	if (state != BALEEN_GROUP_NONE)
		walk->stems->run[walk->stems->n++] =
			(struct baleen_run){ walk->at, end - 1, state };
	walk->at = end;
}

/* Up to @end nothing is listed but what lies around: the narrowest first. */
static void close_stems(struct stem_walk *walk, struct enclosing *wide, u64 end)
{
	while (wide->n && stem_end(wide->entry[wide->n - 1]) <= end) {
		const struct baleen_prefix6 *entry = wide->entry[--wide->n];

		add_stems(walk, stem_end(entry), !entry->is_exception);
	}
	add_stems(walk, end, answer_of(wide, STEM_LENGTH));
}

int baleen_stems_make(const struct baleen_entries *entries, struct baleen_runs *stems)
{
	/* Each entry begins a run and ends one. */
	struct baleen_runs made = { .run = malloc((2 * entries->n + 1) * sizeof(*made.run)) };
	struct stem_walk walk = { .stems = &made };
	struct enclosing wide = { 0 };

	if (!made.run)
		return -ENOMEM;
	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_prefix6 *entry = &entries->entry[i];

		close_stems(&walk, &wide, stem_of(entry));
		if (entry->length <= STEM_LENGTH)
			wide.entry[wide.n++] = entry;
		else
			add_stems(&walk, stem_of(entry) + 1,
				  answer_of(&wide, STEM_LENGTH) ? BALEEN_GROUP_IN :
								  BALEEN_GROUP_OUT);
	}
	close_stems(&walk, &wide, 1ull << STEM_LENGTH);
	*stems = made;
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

static int visit_all(const struct baleen_entries *entries, const struct baleen_image *image,
		     item_fn *visit, void *data)
{
	struct markers markers = { .is_set = { false } };
	struct enclosing enclosing = { 0 };
	int err = 0;

	for (size_t i = 0; i < entries->n && !err; i++) {
		enter(&enclosing, &entries->entry[i]);
		if (entries->entry[i].length > STEM_LENGTH)
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

		if (length > STEM_LENGTH)
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
