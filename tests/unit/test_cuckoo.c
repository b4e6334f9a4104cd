// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cuckoo table: buckets, tags and slots, and that it is exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/slots.h"
#include "list/list.h"
#include "tables.h"

#define POISON 0xa5

/* --- full: refused and undone --------------------------------------------- */

/* Inserts keys until half as many as there are slots were refused; a refused
 * key changes nothing, so the rest of the table fills up to the last slot.
 */
static void fill_up(struct baleen_filter *filter, u32 domain, struct random *random)
{
	struct baleen_table *table = &filter->image.table[domain];
	u32 n_slots = table->n_buckets * BALEEN_BUCKET_SLOTS, n_refused = 0, n_held = 0;
	struct baleen_key *held = malloc(n_slots * sizeof(*held));
	u8 *before = malloc(filter->n_bytes);

	while (n_refused < n_slots * 8) {
		struct baleen_key key = random_key(random, domain);
		size_t n_done = POISON;
		int err;

		if (baleen_filter_test(filter, &key))
			continue;
		memcpy(before, filter->bytes, filter->n_bytes);
		err = baleen_filter_insert(filter, &key, 1, &n_done);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_int_equal(n_done, 0);
			assert_memory_equal(filter->bytes, before, filter->n_bytes);
			assert_false(baleen_filter_test(filter, &key));
			n_refused++;
		} else {
			assert_int_equal(n_done, 1);
			held[n_held++] = key;
		}
		assert_int_equal(table->n_entries, n_held);
	}
	assert_int_equal(baleen_filter_count(filter, domain), n_held);
	/* Walks end in a free slot wherever one is, up to the very last. */
	assert_true(n_held >= n_slots - 1);
	for (u32 i = 0; i < n_held; i++)
		assert_true(baleen_filter_test(filter, &held[i]));
	assert_sealed(filter);
	free(before);
	free(held);
}

static void test_full(void **state)
{
	static const struct {
		u32 domain, slot_bits, n_buckets;
	} tables[] = {
		{BALEEN_IP4, 32, 4},   {BALEEN_IP4, 32, 7},  {BALEEN_IP4, 32, 64},
		{BALEEN_IP4, 32, 101}, {BALEEN_IP6, 16, 4},  {BALEEN_IP6, 16, 61},
		{BALEEN_IP6, 16, 64},  {BALEEN_IP6, 64, 4},  {BALEEN_IP6, 64, 5},
		{BALEEN_IP6, 64, 64},  {BALEEN_IP6, 64, 99},
	};
	struct random random = random_from(1);

	for (u32 i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct baleen_table table = cuckoo_table(tables[i].slot_bits, tables[i].n_buckets);
		struct baleen_filter filter = table_filter(&table, tables[i].domain, &random);

		fill_up(&filter, tables[i].domain, &random);
		baleen_filter_free(&filter);
	}
}

/* Keys before the one without room stay, and it is said how many they are. */
static void test_full_batch(void **state)
{
	struct random random = random_from(2);
	struct baleen_table table = cuckoo_table(32, 8);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_key keys[100];
	size_t n_done = POISON;

	for (u32 i = 0; i < 100; i++)
		keys[i] = (struct baleen_key){.domain = BALEEN_IP4, .ip4 = i};
	assert_int_equal(baleen_filter_insert(&filter, keys, 100, &n_done), -ENOSPC);
	assert_in_range(n_done, 24, 32);
	assert_int_equal(filter.image.table[BALEEN_IP4].n_entries, n_done);
	for (u32 i = 0; i < 100; i++)
		assert_int_equal(baleen_filter_test(&filter, &keys[i]), i < n_done);
	baleen_filter_free(&filter);
}

static void test_list_refused(void **state)
{
	struct random random = random_from(3);
	struct baleen_table table = cuckoo_table(64, 8);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);
	struct baleen_list list, poison;
	struct baleen_error error;

	memset(&list, POISON, sizeof(list));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_filter_to_list(&filter, &list, &error), -EOPNOTSUPP);
	assert_memory_equal(&list, &poison, sizeof(list));
	assert_string_equal(error.text, "keys stored as hashes cannot be listed back (IPv6 table)");
	baleen_filter_free(&filter);
}

/* A slot that no key makes: unused but not zero, a tag beyond the largest of
 * its home bucket, or one that falls between two keys.
 */
static void test_list_damaged(void **state)
{
	static const struct {
		u32 bucket, slot;
	} damages[] = {
		{0, 1},
		{3, 0x40000000},
		{2, 0x80000000 | 0x3fffffff},
		{5, 0x80000000 | 1 << 29},
		/* Keys of bucket 0 are multiples of 13: tag 2, 16 to 23, has none. */
		{0, 0x80000002},
	};
	struct random random = random_from(4);
	struct baleen_table table = cuckoo_table(32, 13);

	for (u32 i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
		struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP4);
		struct baleen_list list, poison;
		struct baleen_error error;
		char want[80];

		baleen_slots_set(&slots, damages[i].bucket, 3, damages[i].slot);
		memset(&list, POISON, sizeof(list));
		memset(&poison, POISON, sizeof(poison));
		assert_int_equal(baleen_filter_to_list(&filter, &list, &error), -EINVAL);
		assert_memory_equal(&list, &poison, sizeof(list));
		snprintf(want, sizeof(want), "bucket %u holds a slot that no key makes: damaged",
			 damages[i].bucket);
		assert_string_equal(error.text, want);
		baleen_filter_free(&filter);
	}
}

/* --- buckets and tags ----------------------------------------------------- */

static void assert_other(u32 n_buckets, u32 bucket, u64 tag)
{
	struct baleen_table table = {.n_buckets = n_buckets,
				     .log2_buckets = baleen_log2(n_buckets)};
	u32 other = baleen_cuckoo_other(&table, bucket, tag);
	u32 hash = (u32)(tag ^ tag >> 32) * 0x9e3779b1u;
	u64 sum = (u64)hash >> (32 - table.log2_buckets);

	if (other >= n_buckets || baleen_cuckoo_other(&table, other, tag) != bucket)
		fail_msg("bucket %u of %u, tag %#llx: other %u", bucket, n_buckets,
			 (unsigned long long)tag, other);
	assert_int_equal(((u64)bucket + other) % n_buckets, sum);
}

static void test_other(void **state)
{
	struct random random = random_from(5);

	for (u32 n_buckets = 1; n_buckets <= 3000; n_buckets++) {
		for (u32 bucket = 0; bucket < n_buckets; bucket += 1 + n_buckets / 50)
			assert_other(n_buckets, bucket, random_next(&random));
		assert_other(n_buckets, n_buckets - 1, 0);
		assert_other(n_buckets, 0, -1ull);
	}
	for (u32 round = 0; round < 1000000; round++) {
		u32 n_buckets = 1 + random_below(&random, 1ull << random_below(&random, 32));

		assert_other(n_buckets, random_below(&random, n_buckets), random_next(&random));
		assert_other(1u << 31, random_below(&random, 1u << 31), random_next(&random));
	}
}

/* All keys of a home bucket, which are neighbours as permuted: the tags differ,
 * fit into the slot, and the place is what the text on top of cuckoo.h says.
 */
static void assert_home(const struct baleen_table *table, const struct baleen_seed *seed, u32 home)
{
	u64 m = table->n_buckets, first = (((u64)home << 32) + m - 1) / m;
	u64 end = (((u64)home + 1) << 32) / m + ((((u64)home + 1) << 32) % m != 0);
	u64 last_tag = 0;

	for (u64 x = first; x < end; x++) {
		struct baleen_key key = {.domain = BALEEN_IP4, .ip4 = baleen_unpermute32(seed, x)};
		struct baleen_cuckoo_place place = baleen_cuckoo_locate(table, seed, &key);
		u64 tag = baleen_slot_tag(table, place.slot);

		assert_true(place.home == home && place.other < m);
		assert_true(place.slot == (tag | 1ull << (table->slot_bits - 1)));
		assert_true(tag == (x * m % 0x100000000ull) >> table->log2_buckets);
		if (x > first && tag <= last_tag)
			fail_msg("%u buckets, home %u: tags %#llx, %#llx", table->n_buckets, home,
				 (unsigned long long)last_tag, (unsigned long long)tag);
		last_tag = tag;
	}
}

static void test_tags(void **state)
{
	static const u32 n_buckets[] = {262144, 262145, 262147,	  300007,	  524287,
					524288, 999983, 1u << 24, (1u << 24) + 1, (1u << 31) - 64};
	struct random random = random_from(6);

	for (u32 i = 0; i < sizeof(n_buckets) / sizeof(n_buckets[0]); i++) {
		struct baleen_seed seed = random_seed(&random);
		struct baleen_table table = cuckoo_table(16, n_buckets[i]);

		assert_home(&table, &seed, 0);
		assert_home(&table, &seed, n_buckets[i] - 1);
		for (u32 round = 0; round < 20; round++)
			assert_home(&table, &seed, random_below(&random, n_buckets[i]));
		table = cuckoo_table(32, n_buckets[i] / 2);
		for (u32 round = 0; round < 10; round++)
			assert_home(&table, &seed, random_below(&random, n_buckets[i] / 2));
	}
}

/* The example on top of cuckoo.h. */
static void test_example(void **state)
{
	struct baleen_table table = cuckoo_table(16, 1 << 18);
	struct baleen_seed seed = {0};
	struct baleen_key key = {.domain = BALEEN_IP4,
				 .ip4 = baleen_unpermute32(&seed, 0x12345678)};
	struct baleen_cuckoo_place place = baleen_cuckoo_locate(&table, &seed, &key);

	assert_int_equal(place.home, 0x48d1);
	assert_int_equal(place.slot, 0x8000 | 0x1678);
}

/* Hashed keys: 64-bit slots and home together are the whole hash. */
static void test_hashed_tags(void **state)
{
	struct random random = random_from(7);

	for (u32 round = 0; round < 200000; round++) {
		u32 n_buckets = 4 + random_below(&random, 1ull << random_below(&random, 30));
		struct baleen_table wide = cuckoo_table(64, n_buckets);
		struct baleen_table narrow = cuckoo_table(16, n_buckets);
		struct baleen_seed seed = random_seed(&random);
		struct baleen_key key = random_key(&random, BALEEN_IP6);
		struct baleen_cuckoo_place place = baleen_cuckoo_locate(&wide, &seed, &key);
		u64 hash = baleen_hash_ip6(&seed, key.hi, key.lo);
		u64 product = (hash >> 32) * n_buckets;

		assert_int_equal(place.home, product >> 32);
		assert_int_equal(place.slot >> 62, 2);
		assert_int_equal((u32)place.slot, (u32)hash);
		assert_int_equal((place.slot & ~(3ull << 62)) >> 32,
				 (u32)product >> wide.log2_buckets);
		place = baleen_cuckoo_locate(&narrow, &seed, &key);
		assert_int_equal(place.home, product >> 32);
		assert_int_equal(place.slot, 0x8000 | (u32)hash >> 18);
	}
}

/* --- words ---------------------------------------------------------------- */

/* Words whose lanes are often zero, or nearly, where borrows go wrong. */
static u64 random_word(struct random *random, u32 lane_bits)
{
	u64 word = 0;

	for (u32 at = 0; at < 64; at += lane_bits) {
		static const u64 lanes[] = {0, 0, 1, 2, 0x7fff, 0x8000, 0x8001, -1ull};
		u64 lane = random_below(random, 9);

		lane = lane < 8 ? lanes[lane] : random_next(random);
		word |= (lane_bits < 64 ? lane & ((1ull << lane_bits) - 1) : lane) << at;
	}
	return word;
}

/* The highest bit of each lane. */
static u64 lane_tops(u32 slot_bits)
{
	return baleen_lane_ones(slot_bits) << (slot_bits - 1);
}

static bool has_zero_lane(u64 word, u32 slot_bits)
{
	u64 differ = baleen_lanes_differ(baleen_le64(word), 0, baleen_lane_ones(slot_bits));

	return (differ & lane_tops(slot_bits)) != lane_tops(slot_bits);
}

static void test_zero_lanes(void **state)
{
	struct random random = random_from(8);

	for (u32 round = 0; round < 500000; round++) {
		u64 word = random_word(&random, round % 2 ? 16 : 32);
		bool zero16 = false, zero32 = false;

		for (u32 at = 0; at < 64; at += 16)
			zero16 |= !(word >> at & 0xffff);
		for (u32 at = 0; at < 64; at += 32)
			zero32 |= !(word >> at & 0xffffffff);
		assert_true(has_zero_lane(word, 16) == zero16);
		assert_true(has_zero_lane(word, 32) == zero32);
		assert_true(has_zero_lane(word, 64) == !word);
	}
	assert_true(has_zero_lane(0, 64));
	assert_false(has_zero_lane(1ull << 63, 64));
	assert_false(has_zero_lane(-1ull, 64));
}

static void test_bucket_holds(void **state)
{
	struct random random = random_from(9);
	u64 n_held = 0;

	for (u32 round = 0; round < 300000; round++) {
		u32 slot_bits = 16 << round % 3;
		struct baleen_table table = cuckoo_table(slot_bits, 1);
		struct baleen_block block;
		struct baleen_slots slots = {.table = &table,
					     .start = (u8 *)&block,
					     .slot_bits = slot_bits,
					     .n_slots = BALEEN_BUCKET_SLOTS};
		u64 slot = random_word(&random, slot_bits), differ;
		bool want = false;

		slot = slot_bits == 64 ? slot : slot & ((1ull << slot_bits) - 1);
		for (u32 i = 0; i < 8; i++)
			block.word[i] = random_word(&random, slot_bits);
		for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++)
			want |= baleen_slots_get(&slots, 0, i) == slot;
		differ = baleen_bucket_lacks(block.word, slot_bits, slot);
		assert_true(((differ & lane_tops(slot_bits)) != lane_tops(slot_bits)) == want);
		n_held += want;
	}
	assert_in_range(n_held, 50000, 250000);
}

/* Where the probe looks for a bucket is where its slots are. */
static void test_slots(void **state)
{
	struct random random = random_from(10);

	for (u32 slot_bits = 16; slot_bits <= 64; slot_bits *= 2) {
		struct baleen_table table = cuckoo_table(slot_bits, 37);
		struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);
		struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP6);

		for (u32 at = 0; at < 37 * BALEEN_BUCKET_SLOTS; at++) {
			u32 bucket = at / 4, width = slot_bits / 8;
			u64 want = (-1ull - ((u64)at << 32 | at) * 0x10001) >> (64 - slot_bits),
			    got = 0;
			const u64 *start;

			baleen_slots_set(&slots, bucket, at % 4, want);
			assert_int_equal(baleen_slots_get(&slots, bucket, at % 4), want);
			start = baleen_bucket_get(&table, filter.bytes, bucket, slot_bits, BALEEN_IP6);
			memcpy(&got, (u8 *)start + at % 4 * width, width);
			assert_int_equal(got, want);
			assert_int_equal((u8 *)start - slots.start, at / 4 * 4 * width);
		}
		baleen_filter_free(&filter);
	}
}

/* --- exact ---------------------------------------------------------------- */

/* The keys of a small space, and a plain set of them: a bit each. */
#define SPACE (1u << 24)

struct set {
	u64 word[SPACE / 64];
	u32 n;
};

static bool set_has(const struct set *set, u32 i)
{
	return set->word[i / 64] >> i % 64 & 1;
}

static struct set *random_set(struct random *random, u32 n)
{
	struct set *set = calloc(1, sizeof(*set));

	while (set->n < n) {
		u32 i = random_below(random, SPACE);

		set->n += !set_has(set, i);
		set->word[i / 64] |= 1ull << i % 64;
	}
	return set;
}

/* How number i of the space becomes a key. Neighbours in permuted order share
 * home buckets and have tags side by side: only whole tags tell them apart. As
 * few home buckets soon are full, such a set fills no table.
 */
enum order { IN_A_ROW, PERMUTED, HASHED };

static struct baleen_key space_key(const struct baleen_seed *seed, enum order order, u32 i)
{
	struct baleen_key key = {.domain = order == HASHED ? BALEEN_IP6 : BALEEN_IP4};

	if (order == HASHED) {
		key.hi = 0x20010db800000000ull;
		key.lo = i;
	} else {
		key.ip4 = 0x0a000000 + i;
		if (order == PERMUTED)
			key.ip4 = baleen_unpermute32(seed, key.ip4);
	}
	return key;
}

static void insert_set(struct baleen_filter *filter, enum order order, const struct set *set)
{
	for (u32 i = 0; i < SPACE; i++) {
		struct baleen_key key = space_key(&filter->image.seed, order, i);

		if (set_has(set, i))
			assert_int_equal(insert_one(filter, &key), 0);
	}
}

static void assert_equals_set(const struct baleen_filter *filter, enum order order,
			      const struct set *set)
{
	for (u32 i = 0; i < SPACE; i++) {
		struct baleen_key key = space_key(&filter->image.seed, order, i);

		if (baleen_filter_test(filter, &key) != set_has(set, i))
			fail_msg("key %u is %u in the set", i, set_has(set, i));
	}
}

static void assert_lists_set(const struct baleen_filter *filter, enum order order,
			     const struct set *set)
{
	struct baleen_list list;

	assert_int_equal(baleen_filter_to_list(filter, &list, NULL), 0);
	assert_int_equal(list.n_ip4, set->n);
	for (size_t i = 0; i < list.n_ip4; i++) {
		u32 ip4 = list.ip4[i];

		assert_true(!i || list.ip4[i - 1] < ip4);
		if (order == PERMUTED)
			ip4 = baleen_permute32(&filter->image.seed, ip4);
		assert_in_range(ip4, 0x0a000000, 0x0affffff);
		assert_true(set_has(set, ip4 - 0x0a000000));
	}
	baleen_list_free(&list);
}

static void assert_idempotent(struct baleen_filter *filter, enum order order, const struct set *set)
{
	u8 *before = malloc(filter->n_bytes);

	memcpy(before, filter->bytes, filter->n_bytes);
	insert_set(filter, order, set);
	assert_memory_equal(filter->bytes, before, filter->n_bytes);
	assert_int_equal(filter->image.table[order == HASHED ? BALEEN_IP6 : BALEEN_IP4].n_entries,
			 set->n);
	free(before);
}

static void try_exact(u32 slot_bits, u32 n_buckets, enum order order, u32 n, struct random *random)
{
	u32 domain = order == HASHED ? BALEEN_IP6 : BALEEN_IP4;
	struct baleen_table table = cuckoo_table(slot_bits, n_buckets);
	struct baleen_filter filter = table_filter(&table, domain, random);
	struct set *set = random_set(random, n);

	insert_set(&filter, order, set);
	assert_equals_set(&filter, order, set);
	assert_int_equal(baleen_filter_count(&filter, domain), n);
	assert_idempotent(&filter, order, set);
	if (order != HASHED)
		assert_lists_set(&filter, order, set);
	assert_sealed(&filter);
	free(set);
	baleen_filter_free(&filter);
}

static void test_exact_small(void **state)
{
	struct random random = random_from(11);

	try_exact(32, 4, IN_A_ROW, 9, &random);
	try_exact(32, 5, PERMUTED, 9, &random);
	try_exact(32, 1021, IN_A_ROW, 3700, &random);
	try_exact(64, 4, HASHED, 9, &random);
}

static void test_exact32(void **state)
{
	struct random random = random_from(12);

	try_exact(32, 1 << 15, IN_A_ROW, 124000, &random);
	try_exact(32, 33001, PERMUTED, 20000, &random);
}

static void test_exact16(void **state)
{
	struct random random = random_from(13);

	try_exact(16, 1 << 18, IN_A_ROW, 996000, &random);
	try_exact(16, 1 << 18, PERMUTED, 200000, &random);
	try_exact(16, 270001, IN_A_ROW, 1026000, &random);
	/* Their other buckets lie in the 2^18 that the tag is hashed to. */
	try_exact(16, 524287, PERMUTED, 250000, &random);
}

static void test_exact64(void **state)
{
	struct random random = random_from(14);

	try_exact(64, 1 << 16, HASHED, 249000, &random);
	try_exact(64, 100003, HASHED, 380000, &random);
}

/* 16-bit slots of hashed keys miss nobody; how many too many is for the plan. */
static void test_hashed16(void **state)
{
	struct random random = random_from(15);
	struct baleen_table table = cuckoo_table(16, 60013);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP6, &random);
	struct set *set = random_set(&random, 228000);
	u64 n_held;

	insert_set(&filter, HASHED, set);
	for (u32 i = 0; i < SPACE; i++) {
		struct baleen_key key = space_key(&filter.image.seed, HASHED, i);

		if (set_has(set, i))
			assert_true(baleen_filter_test(&filter, &key));
	}
	/* A key that was taken for one of those before it has no slot. */
	n_held = filter.image.table[BALEEN_IP6].n_entries;
	assert_in_range(n_held, 227900, 228000);
	assert_int_equal(baleen_filter_count(&filter, BALEEN_IP6), n_held);
	assert_sealed(&filter);
	free(set);
	baleen_filter_free(&filter);
}

/* A crash between copy and clear leaves a key in both places: it is one key. */
static void test_twice(void **state)
{
	struct random random = random_from(16);
	struct baleen_table table = cuckoo_table(32, 1000);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP4);
	struct baleen_key key = random_key(&random, BALEEN_IP4);
	struct baleen_cuckoo_place place = baleen_cuckoo_locate(&table, &filter.image.seed, &key);
	struct baleen_list list;

	baleen_slots_set(&slots, place.home, 2, place.slot);
	baleen_slots_set(&slots, place.other, 1, place.slot | baleen_cuckoo_side(32));
	assert_int_equal(baleen_filter_test(&filter, &key), 1);
	assert_int_equal(baleen_filter_to_list(&filter, &list, NULL), 0);
	assert_int_equal(list.n_ip4, 1);
	assert_int_equal(list.ip4[0], key.ip4);
	baleen_list_free(&list);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),	     cmocka_unit_test(test_full_batch),
		cmocka_unit_test(test_list_refused), cmocka_unit_test(test_list_damaged),
		cmocka_unit_test(test_other),	     cmocka_unit_test(test_tags),
		cmocka_unit_test(test_example),	     cmocka_unit_test(test_hashed_tags),
		cmocka_unit_test(test_zero_lanes),   cmocka_unit_test(test_bucket_holds),
		cmocka_unit_test(test_slots),	     cmocka_unit_test(test_exact_small),
		cmocka_unit_test(test_exact32),	     cmocka_unit_test(test_exact16),
		cmocka_unit_test(test_exact64),	     cmocka_unit_test(test_hashed16),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
