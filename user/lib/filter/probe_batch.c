// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Testing one key, or many at once: the lines of all are asked for before the first is read. */
#include <baleen/chained.h>

#include "filter/lanes.h"
#include "filter/recent.h"

#define AHEAD BALEEN_LANES

/* Blocks past which memory is far: 4 MiB. */
#define LARGE_BLOCKS (1u << 16)

/* 0, 2 or 3 as baleen_recent_test(): recent changes speak first. */
static u32 test_recent(const struct baleen_filter *filter, const struct baleen_key *key)
{
	bool is_ip6 = key->domain == BALEEN_IP6;

	if (!filter->n_recent || key->domain > BALEEN_IP6)
		return 0;
	return baleen_recent_test(&filter->image, filter->bytes, filter->n_recent,
				  is_ip6 ? key->hi : (u64)key->ip4 << 32, is_ip6 ? key->lo : 0,
				  is_ip6);
}

/* Prefixes speak first: only hosts are in chains. */
static int test_chain(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *groups = &filter->image.table[BALEEN_IP4_GROUPS];
	struct baleen_table table = filter->image.table[key->domain];
	struct baleen_chains chains = baleen_chains_at(&table, filter->bytes);

	if (key->domain == BALEEN_IP4 && groups->kind &&
	    baleen_directory_get(groups, filter->bytes, key->ip4, 1) != BALEEN_GROUP_HOSTS)
		return baleen_image_test(&filter->image, filter->bytes, key);
	return baleen_chains_count(&chains, baleen_chains_value(&table, &filter->image.seed, key)) >
	       0;
}

/* Not inline: with the probe of all kinds in each caller the unit tests took 140 s of a
 * processor to compile, in place of 64.
 */
int baleen_filter_test(const struct baleen_filter *filter, const struct baleen_key *key)
{
	u32 recent = test_recent(filter, key);

	if (baleen_kind_has_chains(filter->image.table[key->domain].kind))
		return test_chain(filter, key);
	if (filter->image.key_spec == BALEEN_KEY_STRING)
		return baleen_filter_test_string(filter, key);
	if (recent)
		return recent & 1;
	return baleen_image_test(&filter->image, filter->bytes, key);
}

/**
 * struct batch - keys of one domain
 * @filter: is asked
 * @table: table of their domain
 * @key: the keys
 * @n: how many, at most AHEAD
 * @found: whether each is in
 */
struct batch {
	const struct baleen_filter *filter;
	const struct baleen_table *table;
	const struct baleen_key *key;
	size_t n;
	u8 *found;
};

/* Position by position: of the keys whose bit is set the next line is asked for, and
 * the others cost no more.
 */
static void test_classic(const struct batch *batch)
{
	/* A copy, which no store to @found could change. */
	const struct baleen_table table = *batch->table;
	const struct baleen_block *plane =
		(const struct baleen_block *)batch->filter->bytes + table.first_block;
	u64 hash[AHEAD], at[AHEAD];
	size_t left[AHEAD], n_left = batch->n;

	for (size_t i = 0; i < batch->n; i++) {
		hash[i] = baleen_hash64(&batch->filter->image.seed, &batch->key[i]);
		left[i] = i;
	}
	memset(batch->found, 1, batch->n);
	for (u32 k = 0; k < table.n_hashes; k++) {
		size_t n = n_left;

		for (size_t j = 0; j < n; j++) {
			u64 position = baleen_classic_position(&table, hash[left[j]],
							       &batch->key[left[j]], k);

			at[j] = position;
			__builtin_prefetch(&plane[position >> 9]);
		}
		n_left = 0;
		for (size_t j = 0; j < n; j++) {
			u64 word = baleen_le64(plane[at[j] >> 9].word[at[j] >> 6 & 7]);
			bool is_set = word >> (at[j] & 63) & 1;

			batch->found[left[j]] = is_set;
			left[n_left] = left[j];
			n_left += is_set;
		}
	}
}

/* Hashes of what no permutation makes are computed one by one. */
static void test_lanes(const struct batch *batch)
{
	struct baleen_lanes lanes = { .filter = batch->filter, .table = batch->table };
	u32 domain = batch->key->domain;
	u8 found[AHEAD];

	lanes.of = baleen_lanes_of(batch->table, domain);
	for (size_t i = 0; i < batch->n; i++)
		lanes.lane[i] = domain == BALEEN_IP4 ?
					batch->key[i].ip4 :
				domain == BALEEN_WORD ?
					batch->key[i].lo :
					baleen_hash64(&batch->filter->image.seed, &batch->key[i]);
	baleen_lanes_test(&lanes, baleen_lanes_width(), found);
	memcpy(batch->found, found, batch->n);
}

/* The order home, other holds for the keys of a live map here, too. */
baleen_inline void test_cuckoo(const struct batch *batch, u32 slot_bits)
{
	const u64 *start = (const u64 *)batch->filter->bytes +
			   (size_t)batch->table->first_block * BALEEN_BLOCK_WORDS;
	u64 tops = baleen_lane_ones(slot_bits) << (slot_bits - 1);
	size_t n_words = slot_bits / (64 / BALEEN_BUCKET_SLOTS);
	struct baleen_cuckoo_place place[AHEAD];

	for (size_t i = 0; i < batch->n; i++) {
		place[i] = baleen_cuckoo_locate_slots(batch->table, &batch->filter->image.seed,
						      &batch->key[i], slot_bits);
		__builtin_prefetch(start + place[i].home * n_words);
		__builtin_prefetch(start + place[i].other * n_words);
	}
	for (size_t i = 0; i < batch->n; i++) {
		const struct baleen_cuckoo_place *at = &place[i];
		u64 differ = baleen_bucket_lacks(start + at->home * n_words, slot_bits, at->slot);

		differ &= baleen_bucket_lacks((const u64 *)baleen_after(start + at->other * n_words,
									differ),
					      slot_bits, at->slot | baleen_cuckoo_side(slot_bits));
		batch->found[i] = (differ & tops) != tops;
	}
}

/* The same for another geometry, whose two numbers are constants here. */
baleen_inline void test_shape(const struct batch *batch, u32 slots, u32 slot_bits)
{
	/* A copy, which no store to @found could change. */
	const struct baleen_table table = *batch->table;
	const void *store = batch->filter->bytes;
	const struct baleen_block *first = (const struct baleen_block *)store + table.first_block;
	u64 tops = baleen_bucket_ones(slots, slot_bits) << (slot_bits - 1);
	struct baleen_cuckoo_place place[AHEAD];

	for (size_t i = 0; i < batch->n; i++) {
		place[i] = baleen_cuckoo_locate_slots(&table, &batch->filter->image.seed,
						      &batch->key[i], slot_bits);
		__builtin_prefetch(
			&first[baleen_bucket_spot(place[i].home, slots, slot_bits).block]);
		__builtin_prefetch(
			&first[baleen_bucket_spot(place[i].other, slots, slot_bits).block]);
	}
	for (size_t i = 0; i < batch->n; i++) {
		u64 side = baleen_cuckoo_side(slot_bits);
		u64 differ = baleen_bucket_lacks_any(&table, store, place[i].home, place[i].slot,
						     slots, slot_bits, NULL);

		differ &= baleen_bucket_lacks_any(&table, store, place[i].other,
						  place[i].slot | side, slots, slot_bits, &differ);
		batch->found[i] = (differ & tops) != tops ||
				  (table.n_stash && baleen_stash_has(&table, store, place[i].hash));
	}
}

/* The same of packed buckets. Their width is a variable, which costs a multiplication. */
baleen_inline void test_packed(const struct batch *batch, u32 slots)
{
	/* A copy, which no store to @found could change. */
	const struct baleen_table table = *batch->table;
	const void *store = batch->filter->bytes;
	const u8 *first = (const u8 *)((const struct baleen_block *)store + table.first_block);
	u32 slot_bits = table.slot_bits, n_bits = slots * slot_bits;
	struct baleen_cuckoo_place place[AHEAD];

	for (size_t i = 0; i < batch->n; i++) {
		u64 hash = baleen_hash64(&batch->filter->image.seed, &batch->key[i]);

		place[i] = baleen_cuckoo_locate_print(&table, hash, slot_bits);
		__builtin_prefetch(first + ((u64)place[i].home * n_bits >> 3));
		__builtin_prefetch(first + ((u64)place[i].other * n_bits >> 3));
	}
	for (size_t i = 0; i < batch->n; i++)
		batch->found[i] = baleen_packed_has(&table, store, place[i].home, place[i].slot,
						    slots, slot_bits) |
				  baleen_packed_has(&table, store, place[i].other, place[i].slot,
						    slots, slot_bits) |
				  (table.n_stash && baleen_stash_has(&table, store, place[i].hash));
}

static void test_semi_sorted(const struct batch *batch)
{
	/* A copy, which no store to @found could change. */
	const struct baleen_table table = *batch->table;
	const void *store = batch->filter->bytes;
	const u8 *first = (const u8 *)((const struct baleen_block *)store + table.first_block);
	u32 n_bits = baleen_bucket_bits(&table);
	struct baleen_cuckoo_place place[AHEAD];

	for (size_t i = 0; i < batch->n; i++) {
		u64 hash = baleen_hash64(&batch->filter->image.seed, &batch->key[i]);

		place[i] = baleen_cuckoo_locate_print(&table, hash, table.slot_bits);
		__builtin_prefetch(first + ((u64)place[i].home * n_bits >> 3));
		__builtin_prefetch(first + ((u64)place[i].other * n_bits >> 3));
	}
	for (size_t i = 0; i < batch->n; i++)
		batch->found[i] = baleen_semi_has(&table, store, place[i].home, place[i].slot) |
				  baleen_semi_has(&table, store, place[i].other, place[i].slot) |
				  (table.n_stash && baleen_stash_has(&table, store, place[i].hash));
}

static void test_packed_shapes(const struct batch *batch)
{
	if (baleen_table_is_semi_sorted(batch->table)) {
		test_semi_sorted(batch);
		return;
	}
	switch (baleen_bucket_slots(batch->table)) {
	case 1: test_packed(batch, 1); break;
	case 2: test_packed(batch, 2); break;
	case 3: test_packed(batch, 3); break;
	default: test_packed(batch, 4); break;
	}
}

baleen_inline void test_slots(const struct batch *batch, u32 slot_bits)
{
	switch (baleen_bucket_slots(batch->table)) {
	case 1: test_shape(batch, 1, slot_bits); break;
	case 2: test_shape(batch, 2, slot_bits); break;
	default: test_shape(batch, 4, slot_bits); break;
	}
}

static void test_shapes(const struct batch *batch)
{
	switch (batch->table->slot_bits) {
	case 8: test_slots(batch, 8); break;
	case 12: test_slots(batch, 12); break;
	case 16: test_slots(batch, 16); break;
	case 32: test_slots(batch, 32); break;
	default: test_slots(batch, 64); break;
	}
}

static void ask_for_word(const struct baleen_filter *filter, const struct baleen_table *table,
			 u64 word)
{
	__builtin_prefetch((const u64 *)filter->bytes +
			   (u64)table->first_block * BALEEN_BLOCK_WORDS + word);
}

static void ask_for_quotient(const struct baleen_filter *filter, const struct baleen_table *table,
			     const struct baleen_key *key)
{
	u64 fingerprint = baleen_quotient_fingerprint(table, &filter->image.seed, key);
	u64 slot = fingerprint >> table->slot_bits;
	u64 word = (slot >> 6) * (BALEEN_QUOTIENT_META + table->slot_bits);

	ask_for_word(filter, table, word);
	ask_for_word(filter, table,
		     word + BALEEN_QUOTIENT_META + ((slot & 63) * table->slot_bits >> 6));
}

/* Whatever the geometry is; what is asked for is what a test reads first. To hash keys
 * twice is worth it where the table is larger than the caches.
 */
static void test_each(const struct batch *batch)
{
	bool is_large = batch->table->n_blocks > LARGE_BLOCKS;

	for (size_t i = 0; i < batch->n && is_large; i++)
		if (batch->table->kind == BALEEN_KIND_QUOTIENT)
			ask_for_quotient(batch->filter, batch->table, &batch->key[i]);
	for (size_t i = 0; i < batch->n; i++)
		batch->found[i] = baleen_filter_test(batch->filter, &batch->key[i]);
}

static void test_batch(const struct batch *batch)
{
	const struct baleen_table *table = batch->table;
	bool is_plain = baleen_table_is_fast_path(table);

	if (!table->kind || table->form ||
	    baleen_image_has_prefixes(&batch->filter->image, batch->key->domain))
		test_each(batch);
	else if (baleen_lanes_know(table))
		test_lanes(batch);
	else if ((table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING) &&
		 baleen_classic_knows(table, batch->key->domain))
		test_classic(batch);
	else if (is_plain && table->slot_bits == 32)
		test_cuckoo(batch, 32);
	else if (is_plain && table->slot_bits == 64)
		test_cuckoo(batch, 64);
	else if (table->kind == BALEEN_KIND_CUCKOO && baleen_table_is_packed(table))
		test_packed_shapes(batch);
	else if (table->kind == BALEEN_KIND_CUCKOO)
		test_shapes(batch);
	else
		test_each(batch);
}

/* Recent changes overrule the image. */
static void ask_recent(const struct batch *batch)
{
	if (baleen_recent_is_empty(batch->filter))
		return;
	for (size_t i = 0; i < batch->n; i++) {
		u32 recent = test_recent(batch->filter, &batch->key[i]);

		if (recent)
			batch->found[i] = recent & 1;
	}
}

size_t baleen_filter_test_many(const struct baleen_filter *filter, const struct baleen_key *keys,
			       size_t n, u8 *found)
{
	struct batch batch = { .filter = filter };
	size_t n_found = 0;

	for (size_t at = 0; at < n; at += batch.n) {
		u32 domain = keys[at].domain;

		batch.table = &filter->image.table[domain & 3];
		batch.key = &keys[at];
		batch.found = &found[at];
		batch.n = 1;
		while (batch.n < AHEAD && at + batch.n < n && keys[at + batch.n].domain == domain)
			batch.n++;
		test_batch(&batch);
		ask_recent(&batch);
		for (size_t i = 0; i < batch.n; i++)
			n_found += batch.found[i];
	}
	return n_found;
}

/* Numbers go into the lanes as they are. */
static size_t test_numbers(struct baleen_lanes *lanes, const u64 *number, size_t n, u8 *found)
{
	enum baleen_lanes_width width = baleen_lanes_width();
	size_t n_found = 0;
	u8 rest[AHEAD];

	for (; n >= AHEAD; n -= AHEAD, number += AHEAD, found += AHEAD) {
		memcpy(lanes->lane, number, sizeof(lanes->lane));
		baleen_lanes_test(lanes, width, found);
		for (u32 i = 0; i < AHEAD; i++)
			n_found += found[i];
	}
	if (!n)
		return n_found;
	memcpy(lanes->lane, number, n * sizeof(*number));
	baleen_lanes_test(lanes, width, rest);
	for (size_t i = 0; i < n; i++) {
		found[i] = rest[i];
		n_found += rest[i];
	}
	return n_found;
}

size_t baleen_filter_test_numbers(const struct baleen_filter *filter, u32 domain, const u64 *number,
				  size_t n, u8 *found)
{
	struct baleen_lanes lanes = { .filter = filter, .table = &filter->image.table[domain & 3] };
	struct baleen_key keys[AHEAD] = { 0 };
	size_t n_found = 0, n_keys;

	lanes.of = baleen_lanes_of(lanes.table, domain);
	if (baleen_lanes_know(lanes.table) && !baleen_image_has_prefixes(&filter->image, domain) &&
	    baleen_recent_is_empty(filter))
		return test_numbers(&lanes, number, n, found);
	for (size_t at = 0; at < n; at += n_keys) {
		n_keys = n - at < AHEAD ? n - at : AHEAD;
		for (size_t i = 0; i < n_keys; i++) {
			keys[i].domain = domain;
			if (domain == BALEEN_IP4)
				keys[i].ip4 = number[at + i];
			else
				keys[i].lo = number[at + i];
		}
		n_found += baleen_filter_test_many(filter, keys, n_keys, &found[at]);
	}
	return n_found;
}
