// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The slots of a cuckoo table as a sorted set of fingerprints. */
#include <errno.h>
#include <stdlib.h>

#include "filter/fingerprints.h"

static struct baleen_cuckoo_place place_of_hash(const struct baleen_filter *filter, u32 domain,
						u64 hash)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_key key = { .domain = domain };

	if (baleen_table_has_fingerprints(table))
		return baleen_cuckoo_locate_print(table, hash, table->slot_bits);
	if (domain != BALEEN_IP4)
		return baleen_cuckoo_locate_hash(table, hash, table->slot_bits);
	key.ip4 = baleen_unpermute32(&filter->image.seed, hash);
	return baleen_cuckoo_locate(table, &filter->image.seed, &key);
}

/* --- narrow slots ---------------------------------------------------------- */

static u64 print_of_slot(const struct baleen_table *table, u32 bucket, u64 slot)
{
	u64 side = baleen_table_side(table), tag = baleen_slot_tag(table, slot);
	u32 other = baleen_cuckoo_partner(table, bucket, tag);
	bool is_away = side ? slot & side : other < bucket;

	return (u64)(is_away ? other : bucket) << 32 | tag;
}

/* Without a hash: what finds no room cannot go to the stash. */
static struct baleen_cuckoo_place place_of_print(const struct baleen_table *table, u64 print)
{
	u32 home = print >> 32, tag = print;

	return (struct baleen_cuckoo_place){
		.home = home,
		.other = baleen_cuckoo_partner(table, home, tag),
		.slot = tag | baleen_table_side(table) << 1,
	};
}

/* --- read ------------------------------------------------------------------ */

static int compare_fingerprints(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

int baleen_fingerprints_slot(const struct baleen_slots *slots, u32 domain, u32 bucket, u64 slot,
			     u64 *print)
{
	if (baleen_table_keeps_hashes(slots->table, domain))
		return baleen_slot_hash(slots->table, bucket, slot, print) ? 0 : -EINVAL;
	*print = print_of_slot(slots->table, bucket, slot);
	return 0;
}

static int read_slots(const struct baleen_filter *filter, u32 domain,
		      struct baleen_fingerprints *fingerprints)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	const struct baleen_table *table = slots.table;
	bool is_whole = baleen_table_keeps_hashes(table, domain);

	for (u32 bucket = 0; bucket < table->n_buckets; bucket++) {
		for (u32 i = 0; i < baleen_bucket_slots(table); i++) {
			u64 slot = baleen_slots_get(&slots, bucket, i);
			u64 *print = &fingerprints->print[fingerprints->n];

			if (!slot)
				continue;
			if (baleen_fingerprints_slot(&slots, domain, bucket, slot, print))
				return -EINVAL;
			fingerprints->n++;
		}
	}
	for (u32 i = 0; i < table->n_stash; i++) {
		u64 hash = baleen_le64(baleen_slots_stash(&slots)[i]);
		struct baleen_cuckoo_place place = place_of_hash(filter, domain, hash);

		if (hash)
			fingerprints->print[fingerprints->n++] =
				is_whole ? hash : print_of_slot(table, place.home, place.slot);
	}
	return 0;
}

int baleen_fingerprints_read(const struct baleen_filter *filter, u32 domain,
			     struct baleen_fingerprints *fingerprints, struct baleen_error *error)
{
	u64 room = baleen_filter_used(filter, domain);
	struct baleen_fingerprints read = { 0 };

	if (!room) {
		*fingerprints = read;
		return 0;
	}
	read.print = malloc(room * sizeof(*read.print));
	if (!read.print)
		return baleen_fail(error, ENOMEM, "no memory for %llu hashes",
				   (unsigned long long)room);
	if (read_slots(filter, domain, &read)) {
		free(read.print);
		return baleen_fail(error, EINVAL, "a slot that no key makes: damaged");
	}
	qsort(read.print, read.n, sizeof(*read.print), compare_fingerprints);
	*fingerprints = read;
	return 0;
}

/* --- combine, put ---------------------------------------------------------- */

int baleen_fingerprints_combine(const struct baleen_fingerprints *a,
				const struct baleen_fingerprints *b, enum baleen_set_op op,
				bool copies, struct baleen_fingerprints *out,
				struct baleen_error *error)
{
	bool adds = copies && op == BALEEN_SET_UNION;
	u64 *print = malloc((a->n + b->n + 1) * sizeof(*print));
	size_t i = 0, j = 0, n = 0;

	if (!print)
		return baleen_fail(error, ENOMEM, "no memory for %zu hashes", a->n + b->n);
	while (i < a->n || j < b->n) {
		bool in_a = i < a->n && (j == b->n || a->print[i] <= b->print[j]);
		bool in_b = j < b->n && (i == a->n || b->print[j] <= a->print[i]);

		/* One by one, all are kept. */
		if (adds && in_a)
			in_b = false;
		if (baleen_set_keeps(op, in_a, in_b))
			print[n++] = in_a ? a->print[i] : b->print[j];
		i += in_a;
		j += in_b;
	}
	*out = (struct baleen_fingerprints){ print, n };
	return 0;
}

int baleen_fingerprints_put(const struct baleen_fingerprints *fingerprints,
			    struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	struct baleen_table *table = &filter->image.table[domain];
	bool is_whole = baleen_table_keeps_hashes(table, domain);
	bool copies = filter->image.flags & BALEEN_FLAG_COPIES;

	for (size_t i = 0; i < fingerprints->n; i++) {
		struct baleen_cuckoo_place place =
			is_whole ? place_of_hash(filter, domain, fingerprints->print[i]) :
				   place_of_print(table, fingerprints->print[i]);
		bool is_new = copies;
		int err = copies ? baleen_slots_insert_copy(&slots, &place) :
				   baleen_slots_insert(&slots, &place, &is_new);

		if (err)
			return err;
		table->n_entries += is_new;
	}
	return 0;
}
