// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Testing many keys at once: the lines of all are asked for before the first is read. */
#include "filter/recent.h"

/* Keys whose lines are on their way at a time. At 10 M keys, 17 bits a key, in
 * ns: 8: 27, 16: 25, 32 and 64: 24; one after the other: 57.
 */
#define AHEAD 32

/* Blocks past which memory is far: 4 MiB. */
#define LARGE_BLOCKS (1u << 16)

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

static void test_bloom(const struct batch *batch)
{
	const struct baleen_block *blocks = batch->filter->bytes;
	struct baleen_bloom_place place[AHEAD];

	for (size_t i = 0; i < batch->n; i++) {
		place[i] = baleen_bloom_locate(batch->table, &batch->filter->image.seed,
					       &batch->key[i]);
		__builtin_prefetch(&blocks[place[i].block]);
	}
	for (size_t i = 0; i < batch->n; i++) {
		const u64 *word = blocks[place[i].block].word;

		batch->found[i] = !((~baleen_le64(word[place[i].word[0]]) & place[i].mask[0]) |
				    (~baleen_le64(word[place[i].word[1]]) & place[i].mask[1]));
	}
}

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

		differ &= baleen_bucket_lacks(start + at->other * n_words, slot_bits,
					      at->slot | baleen_cuckoo_side(slot_bits));
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
						     slots, slot_bits);

		differ &= baleen_bucket_lacks_any(&table, store, place[i].other,
						  place[i].slot | side, slots, slot_bits);
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

/* Do prefixes decide before the table of the hosts is asked? */
static bool has_prefixes(const struct baleen_image *image, u32 domain)
{
	return (domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind) ||
	       (domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind);
}

static void test_batch(const struct batch *batch)
{
	const struct baleen_table *table = batch->table;
	bool is_plain = baleen_table_is_fast_path(table);

	if (!table->kind || table->form || has_prefixes(&batch->filter->image, batch->key->domain))
		test_each(batch);
	else if (table->kind == BALEEN_KIND_BLOOM ||
		 (table->kind == BALEEN_KIND_COUNTING && table->hash == BALEEN_HASH_BLOCKED))
		test_bloom(batch);
	else if ((table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING) &&
		 baleen_classic_knows(table, batch->key->domain))
		test_classic(batch);
	else if (is_plain && table->slot_bits == 16)
		test_cuckoo(batch, 16);
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
		u32 recent = baleen_filter_test_recent(batch->filter, &batch->key[i]);

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
