// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the places of a small filter come to when it is resized, or merged with others. */
#include <errno.h>
#include <stdlib.h>

#include "filter/bloom_bits.h"
#include "filter/fingerprints.h"
#include "filter/moves.h"
#include "filter/view.h"
#include "util/array.h"

/* A place that holds something: @id is the same in both filters. */
struct held {
	u64 id;
	u64 place;
	u32 i;
};

struct holding {
	struct held *held;
	size_t n;
};

static int add(struct holding *holding, u64 id, u64 place, u32 i)
{
	int err = baleen_array_add(&holding->held, holding->n);

	if (!err)
		holding->held[holding->n++] = (struct held){ id, place, i };
	return err;
}

static int read_bits(const struct baleen_filter *filter, u32 domain, const struct baleen_filter *to,
		     struct holding *holding)
{
	const struct baleen_table *table = &filter->image.table[domain];
	int err = 0;

	for (u64 bit = 0; bit < baleen_table_bits(table) && !err; bit++)
		if (baleen_plane_get(table, filter->bytes, bit))
			err = add(holding, baleen_bits_folded(table, &to->image.table[domain], bit),
				  bit, 0);
	return err;
}

static int read_run_slots(const struct baleen_filter *filter, u32 domain, struct holding *holding)
{
	const struct baleen_table *table = &filter->image.table[domain];
	int err = 0;

	for (u32 slot = 0; slot < table->n_buckets && !err; slot++) {
		struct baleen_view_slot view = baleen_view_slot(filter, domain, slot);

		if (view.is_used)
			err = add(holding, (u64)view.quotient << table->slot_bits | view.remainder,
				  slot, 0);
	}
	return err;
}

static int read_buckets(const struct baleen_filter *filter, u32 domain, struct holding *holding)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	int err = 0;

	for (u32 bucket = 0; bucket < slots.table->n_buckets; bucket++) {
		for (u32 i = 0; i < slots.n_slots && !err; i++) {
			u64 slot = baleen_slots_get(&slots, bucket, i), print;

			if (!slot)
				continue;
			err = baleen_fingerprints_slot(&slots, domain, bucket, slot, &print);
			if (!err)
				err = add(holding, print, bucket, i);
		}
	}
	return err;
}

static int compare_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (int)x->i - (int)y->i;
}

/* All that a table holds, by id. @to: the filter whose places are ids of bits. */
static int read_table(const struct baleen_filter *filter, u32 domain,
		      const struct baleen_filter *to, struct holding *holding)
{
	int err;

	switch (filter->image.table[domain].kind) {
	case BALEEN_KIND_NONE: err = 0; break;
	case BALEEN_KIND_CUCKOO: err = read_buckets(filter, domain, holding); break;
	case BALEEN_KIND_QUOTIENT: err = read_run_slots(filter, domain, holding); break;
	default: err = read_bits(filter, domain, to, holding); break;
	}
	if (!err && holding->n)
		qsort(holding->held, holding->n, sizeof(*holding->held), compare_held);
	return err;
}

/* Both are sorted: copies side by side, each with the next, and what is too much with the last. */
static int join(const struct holding *from, const struct holding *to, u32 source, u32 domain,
		struct baleen_moves *moves)
{
	size_t k = 0;
	int err = 0;

	for (size_t i = 0; i < from->n && !err; i++) {
		const struct held *held = &from->held[i];
		bool is_copy = i && held[-1].id == held->id;

		if (is_copy && k + 1 < to->n && to->held[k + 1].id == held->id)
			k++;
		while (k < to->n && to->held[k].id < held->id)
			k++;
		if (k == to->n || to->held[k].id != held->id)
			return -ENOENT;
		err = baleen_array_add(&moves->move, moves->n);
		if (!err)
			moves->move[moves->n++] = (struct baleen_move){
				source,	      domain, held->place, held->i, to->held[k].place,
				to->held[k].i
			};
	}
	return err;
}

static int compare_moves(const void *a, const void *b)
{
	const struct baleen_move *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (int)x->i - (int)y->i;
}

int baleen_moves_find(const struct baleen_filter *from, u32 source, const struct baleen_filter *to,
		      struct baleen_moves *moves)
{
	int err = 0;

	for (u32 domain = 0; domain <= BALEEN_TUPLE && !err; domain++) {
		struct holding old = { 0 }, new = { 0 };

		err = read_table(from, domain, to, &old);
		if (!err)
			err = read_table(to, domain, to, &new);
		if (!err)
			err = join(&old, &new, source, domain, moves);
		free(old.held);
		free(new.held);
	}
	if (!err && moves->n)
		qsort(moves->move, moves->n, sizeof(*moves->move), compare_moves);
	return err;
}
