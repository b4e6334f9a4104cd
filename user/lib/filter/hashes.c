// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The hashes that a table of 64-bit slots keeps. */
#include <errno.h>
#include <stdlib.h>

#include "filter/cuckoo_table.h"
#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/slots.h"

/* A live map may grow meanwhile: no more are read than were counted. */
static int read_slots(const struct baleen_slots *slots, struct baleen_hashes *hashes, u64 room,
		      struct baleen_error *error)
{
	u32 n_slots = slots->n_slots;

	for (u32 bucket = 0; bucket < slots->table->n_buckets; bucket++) {
		for (u32 i = 0; i < n_slots; i++) {
			u64 slot = baleen_slots_get(slots, bucket, i);

			if (!slot || hashes->n == room)
				continue;
			if (!baleen_slot_hash(slots->table, bucket, slot, &hashes->hash[hashes->n]))
				return baleen_fail(error, EINVAL,
						   "bucket %u holds a slot that no key makes: "
						   "damaged",
						   bucket);
			hashes->n++;
		}
	}
	for (u32 i = 0; i < slots->table->n_stash; i++) {
		u64 hash = baleen_le64(baleen_slots_stash(slots)[i]);

		if (hash && hashes->n < room)
			hashes->hash[hashes->n++] = hash;
	}
	return 0;
}

int baleen_cuckoo_hashes(const struct baleen_filter *filter, u32 domain,
			 struct baleen_hashes *hashes, struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	struct baleen_hashes read = { 0 };
	u64 room;
	int err;

	if (!baleen_table_keeps_hashes(table, domain))
		return baleen_fail(error, EOPNOTSUPP,
				   "slots of %u bits keep too little of a key to move it: build "
				   "the filter again from its lists",
				   table->slot_bits);
	room = baleen_filter_used(filter, domain) + 1;
	read.hash = malloc(room * sizeof(*read.hash));
	if (!read.hash)
		return baleen_fail(error, ENOMEM, "no memory for %llu hashes",
				   (unsigned long long)room);
	err = read_slots(&slots, &read, room, error);
	if (err)
		free(read.hash);
	else
		*hashes = read;
	return err;
}

int baleen_hashes_read(const struct baleen_filter *filter, u32 domain, struct baleen_hashes *hashes,
		       struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);

	if (table->kind == BALEEN_KIND_NONE) {
		*hashes = (struct baleen_hashes){ 0 };
		return 0;
	}
	if (!ops->hashes)
		return baleen_fail(error, EOPNOTSUPP,
				   "a Bloom filter keeps neither keys nor hashes: build it again "
				   "from its lists");
	return ops->hashes(filter, domain, hashes, error);
}

int baleen_cuckoo_put_hashes(struct baleen_filter *filter, u32 domain,
			     const struct baleen_hashes *hashes)
{
	struct baleen_table *table = &filter->image.table[domain];
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;

	for (size_t i = 0; i < hashes->n; i++) {
		struct baleen_cuckoo_place place =
			baleen_table_has_fingerprints(table) ?
				baleen_cuckoo_locate_print(table, hashes->hash[i],
							   table->slot_bits) :
			domain == BALEEN_IP4 ?
				baleen_cuckoo_locate_permuted(table, hashes->hash[i],
							      table->slot_bits) :
				baleen_cuckoo_locate_hash(table, hashes->hash[i], table->slot_bits);
		bool is_new = has_copies;
		int err = has_copies ? baleen_slots_insert_copy(&slots, &place) :
				       baleen_slots_insert(&slots, &place, &is_new);

		if (err)
			return err;
		table->n_entries += is_new;
	}
	return 0;
}

int baleen_hashes_insert(struct baleen_filter *filter, u32 domain,
			 const struct baleen_hashes *hashes)
{
	return baleen_kind_ops(filter->image.table[domain].kind)
		->put_hashes(filter, domain, hashes);
}
