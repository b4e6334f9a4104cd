// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps by which a key comes into a small filter in memory, or goes. */
#include <errno.h>
#include <stdlib.h>

#include "filter/kind.h"
#include "filter/live.h"
#include "filter/quotient_table.h"
#include "filter/slots.h"
#include "filter/steps.h"
#include "util/array.h"

int baleen_steps_are_few(const struct baleen_image *image, struct baleen_error *error)
{
	u64 n_bytes = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];

		n_bytes += (u64)table->n_blocks * BALEEN_BLOCK_BYTES;
		if (domain > BALEEN_TUPLE && table->kind)
			return baleen_fail(error, EOPNOTSUPP,
					   "prefixes are laid out as a whole, which has no steps");
	}
	if (n_bytes > BALEEN_STEPS_MAX_BYTES)
		return baleen_fail(error, E2BIG, "%llu bytes of tables, and at most %u are traced",
				   (unsigned long long)n_bytes, BALEEN_STEPS_MAX_BYTES);
	return 0;
}

bool baleen_steps_equal(const struct baleen_filter *a, const struct baleen_filter *b)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table one = a->image.table[domain], other = b->image.table[domain];
		size_t from = (size_t)one.first_block * BALEEN_BLOCK_BYTES;

		one.n_entries = other.n_entries;
		/* Told by the body, at the latest when a filter is sealed. */
		if (one.kind == BALEEN_KIND_QUOTIENT)
			one.longest_cluster = other.longest_cluster;
		if (memcmp(&one, &other, sizeof(one)) ||
		    memcmp(a->bytes + from, b->bytes + from,
			   (size_t)one.n_blocks * BALEEN_BLOCK_BYTES))
			return false;
	}
	return true;
}

static void note(struct baleen_steps *steps, const struct baleen_step *step)
{
	if (!steps->err)
		steps->err = baleen_array_add(&steps->step, steps->n);
	if (!steps->err)
		steps->step[steps->n++] = *step;
}

static int change_key(struct baleen_filter *filter, const struct baleen_key *key,
		      enum baleen_set_op op, bool builds)
{
	bool is_quotient = filter->image.table[key->domain].kind == BALEEN_KIND_QUOTIENT, changed;
	size_t n_done;

	if (builds)
		return baleen_filter_insert(filter, key, 1, &n_done);
	if (op == BALEEN_SET_UNION)
		return is_quotient ? baleen_quotient_add(filter, key, &changed) :
				     baleen_live_add(filter, key, &changed);
	return is_quotient ? baleen_quotient_del(filter, key, &changed) :
			     baleen_live_del(filter, key, &changed);
}

/* A filter with the same body, to compare with; its bytes are to be freed. */
static int keep_body(const struct baleen_filter *filter, struct baleen_filter *old)
{
	*old = *filter;
	old->bytes = malloc(filter->n_bytes);
	if (!old->bytes)
		return -ENOMEM;
	memcpy(old->bytes, filter->bytes, filter->n_bytes);
	return 0;
}

/* --- bits and counters ----------------------------------------------------- */

static u64 step_towards(u64 value, u64 last)
{
	return value < last ? value + 1 : value > last ? value - 1 : value;
}

static u32 bit_value(const struct baleen_filter *filter, u32 domain, u64 bit)
{
	const struct baleen_table *table = &filter->image.table[domain];

	return table->kind == BALEEN_KIND_COUNTING ? baleen_counter_get(table, filter->bytes, bit) :
						     baleen_plane_get(table, filter->bytes, bit);
}

static int change_bits(struct baleen_filter *filter, const struct baleen_key *key,
		       enum baleen_set_op op, bool builds, struct baleen_steps *steps)
{
	const struct baleen_positions *positions = &steps->where.positions;
	int err;

	for (u32 i = 0; i < positions->n; i++)
		note(steps, &(struct baleen_step){
				    .place = positions->bit[i],
				    .before = bit_value(filter, key->domain, positions->bit[i]) });
	err = change_key(filter, key, op, builds);
	for (size_t i = 0; i < steps->n; i++) {
		struct baleen_step *step = &steps->step[i];

		/* A counter that a key has twice goes up twice, or down. */
		for (size_t k = 0; k < i; k++)
			if (steps->step[k].place == step->place)
				step->before = steps->step[k].after;
		step->after =
			step_towards(step->before, bit_value(filter, key->domain, step->place));
	}
	return err;
}

/* --- slots of buckets ------------------------------------------------------ */

static void note_put(void *data, u32 bucket, u32 i, u64 before, u64 after)
{
	note(data,
	     &(struct baleen_step){ .place = bucket, .i = i, .before = before, .after = after });
}

/* As baleen_cuckoo_insert() and baleen_cuckoo_live_add() choose. */
static bool walks(const struct baleen_filter *filter, u32 domain, bool builds)
{
	return builds || filter->image.flags & BALEEN_FLAG_COPIES ||
	       !baleen_table_keeps_hashes(&filter->image.table[domain], domain);
}

/* The slot that changed to @after and is in one of two buckets; false when there is none. */
static bool find_put(const struct baleen_slots *old, const struct baleen_slots *new,
		     const u32 *bucket, const u64 *after, struct baleen_step *step)
{
	for (u32 b = 0; b < 2; b++) {
		for (u32 i = 0; i < new->n_slots; i++) {
			u64 before = baleen_slots_get(old, bucket[b], i);

			if (baleen_slots_get(new, bucket[b], i) != after[b] || before == after[b])
				continue;
			*step = (struct baleen_step){
				.place = bucket[b], .i = i, .before = before, .after = after[b]
			};
			return true;
		}
	}
	return false;
}

/* A search moves each slot at most once: the key has one, what was there another. */
static void follow_moves(const struct baleen_slots *old, const struct baleen_slots *new,
			 const struct baleen_cuckoo_place *place, struct baleen_steps *steps)
{
	u32 bucket[2] = { place->home, place->other };
	u64 after[2] = { place->slot, place->slot | old->side };
	struct baleen_step step;

	while (find_put(old, new, bucket, after, &step)) {
		note(steps, &step);
		if (!step.before || steps->err || steps->n > old->table->n_buckets * old->n_slots)
			return;
		after[0] = after[1] = step.before ^ old->side;
		bucket[0] = bucket[1] = baleen_slots_other(old, step.place, after[0]);
	}
}

/* Where slots ascend, those that stay move: what a bucket holds less often is gone. */
static bool is_cleared(const struct baleen_slots *old, const struct baleen_slots *new, u32 bucket,
		       u32 i)
{
	u64 slot = baleen_slots_get(old, bucket, i);
	u32 n_left = 0;

	if (!old->is_semi_sorted)
		return slot != baleen_slots_get(new, bucket, i);
	for (u32 k = 0; k < old->n_slots; k++)
		n_left += (baleen_slots_get(new, bucket, k) == slot) -
			  (k < i && baleen_slots_get(old, bucket, k) == slot);
	return slot && !n_left;
}

static void note_cleared(const struct baleen_slots *old, const struct baleen_slots *new,
			 struct baleen_steps *steps)
{
	for (u32 bucket = 0; bucket < old->table->n_buckets; bucket++)
		for (u32 i = 0; i < old->n_slots; i++)
			if (is_cleared(old, new, bucket, i))
				note_put(steps, bucket, i, baleen_slots_get(old, bucket, i), 0);
}

static int change_slots(struct baleen_filter *filter, const struct baleen_key *key,
			enum baleen_set_op op, bool builds, struct baleen_steps *steps)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain), old_slots;
	struct baleen_cuckoo_place place = baleen_slots_place(&slots, &filter->image.seed, key);
	const struct baleen_slots_watch watch = { note_put, steps };
	u64 n_stashed = baleen_slots_stashed(&slots, place.hash);
	struct baleen_filter old;
	int err;

	if (op == BALEEN_SET_UNION && walks(filter, key->domain, builds)) {
		err = baleen_slots_insert_watched(&slots, &place,
						  filter->image.flags & BALEEN_FLAG_COPIES, &watch);
	} else {
		err = keep_body(filter, &old);
		if (err)
			return err;
		err = change_key(filter, key, op, builds);
		old_slots = baleen_slots_of(&old, key->domain);
		if (op == BALEEN_SET_UNION)
			follow_moves(&old_slots, &slots, &place, steps);
		else
			note_cleared(&old_slots, &slots, steps);
		free(old.bytes);
	}
	steps->is_stashed = baleen_slots_stashed(&slots, place.hash) != n_stashed;
	return err;
}

/* --- slots of runs --------------------------------------------------------- */

static bool holds_same(const struct baleen_view_slot *a, const struct baleen_view_slot *b)
{
	return a->is_used && b->is_used && a->remainder == b->remainder &&
	       a->quotient == b->quotient;
}

static bool is_same(const struct baleen_view_slot *a, const struct baleen_view_slot *b)
{
	return a->is_used == b->is_used && a->occupied == b->occupied &&
	       a->continued == b->continued && a->shifted == b->shifted &&
	       (!a->is_used || holds_same(a, b));
}

static int change_run(struct baleen_filter *filter, const struct baleen_key *key,
		      enum baleen_set_op op, bool builds, struct baleen_steps *steps)
{
	u32 domain = key->domain, n = filter->image.table[domain].n_buckets;
	/* Remainders move on by one slot for a key, or back by one. */
	u32 step_back = op == BALEEN_SET_UNION ? n - 1 : 1;
	struct baleen_filter old;
	int err = keep_body(filter, &old);

	if (err)
		return err;
	err = change_key(filter, key, op, builds);
	for (u32 slot = 0; slot < n && !err; slot++) {
		u32 neighbour = (slot + step_back) & (n - 1);
		struct baleen_view_slot source = baleen_view_slot(&old, domain, neighbour);
		struct baleen_step step = {
			.place = slot,
			.old = baleen_view_slot(&old, domain, slot),
			.new = baleen_view_slot(filter, domain, slot),
			.from = BALEEN_VIEW_NOWHERE,
		};

		if (is_same(&step.old, &step.new))
			continue;
		if (!holds_same(&step.old, &step.new) && holds_same(&source, &step.new))
			step.from = neighbour;
		note(steps, &step);
	}
	free(old.bytes);
	return err;
}

/* --- chains ------------------------------------------------------------------ */

static int change_chain(struct baleen_filter *filter, const struct baleen_key *key,
			enum baleen_set_op op, bool builds, struct baleen_steps *steps)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	u64 n_before = table->n_entries;
	int err = change_key(filter, key, op, builds);
	bool adds = table->n_entries > n_before;

	if (!err && table->n_entries != n_before)
		note(steps, &(struct baleen_step){
				    .place = steps->where.bucket[0],
				    .i = adds ? 0 : steps->where.slot[0],
				    .before = adds ? 0 : steps->where.fingerprint,
				    .after = adds ? steps->where.fingerprint : 0,
				    .adds = adds,
			    });
	return err;
}

int baleen_steps_change(struct baleen_filter *filter, const struct baleen_key *key,
			enum baleen_set_op op, bool builds, struct baleen_steps *steps)
{
	int err;

	*steps = (struct baleen_steps){ 0 };
	err = baleen_view_key(filter, key->domain, key, &steps->where);
	if (err)
		return err;
	switch (filter->image.table[key->domain].kind) {
	case BALEEN_KIND_CUCKOO: err = change_slots(filter, key, op, builds, steps); break;
	case BALEEN_KIND_QUOTIENT: err = change_run(filter, key, op, builds, steps); break;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: err = change_chain(filter, key, op, builds, steps); break;
	default: err = change_bits(filter, key, op, builds, steps); break;
	}
	return err ? err : steps->err;
}
