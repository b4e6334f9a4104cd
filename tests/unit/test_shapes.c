// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cuckoo table in every geometry, against a plain array of keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/kind.h"
#include "filter/live.h"
#include "filter/plan.h"
#include "shapes.h"

#define POISON 0xa5

/* --- full: refused and undone ----------------------------------------------- */

static void fill_up(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, 0, random);
	u32 n_slots = geometry->n_buckets * geometry->bucket_slots, n_held = 0, n_refused = 0;
	struct baleen_key *held = malloc(n_slots * sizeof(*held));
	u8 *before = malloc(filter.n_bytes);

	while (n_refused < 8) {
		struct baleen_key key = random_key(random, geometry->domain);
		size_t n_done = POISON;
		int err;

		if (baleen_filter_test(&filter, &key))
			continue;
		memcpy(before, filter.bytes, filter.n_bytes);
		err = baleen_filter_insert(&filter, &key, 1, &n_done);
		assert_int_equal(n_done, !err);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_memory_equal(filter.bytes, before, filter.n_bytes);
			assert_false(baleen_filter_test(&filter, &key));
			n_refused++;
		} else {
			held[n_held++] = key;
		}
	}
	assert_true(n_held >= n_slots / 4);
	assert_int_equal(filter.image.table[geometry->domain].n_entries, n_held);
	assert_int_equal(baleen_filter_count(&filter, geometry->domain), n_held);
	for (u32 i = 0; i < n_held; i++)
		assert_true(baleen_filter_test(&filter, &held[i]));
	assert_sealed(&filter);
	free(before);
	free(held);
	baleen_filter_free(&filter);
}

static void test_full(void **state)
{
	struct random random = random_from(1);

	each_geometry(fill_up, &random);
}

/* --- buckets ----------------------------------------------------------------- */

/* The quotient by a multiplication is right up to 2^31 by the theorem that
 * baleen_bucket_spot() names, and where it would go wrong first.
 */
static void test_spots(void **state)
{
	static const u64 per_block[] = { 42, 21, 10 },
			 inverse[] = { 1636178018, 3272356036, 6871947674 };

	for (u32 i = 0; i < 3; i++) {
		u32 d = per_block[i], slots = 1 << i;
		u64 above = inverse[i] * d - (1ull << 36);

		assert_in_range(above, 0, 1ull << (36 - 31));
		for (u32 block = 1; block < (1u << 31) / d; block += block / 1000 + 1) {
			struct baleen_bucket_spot first = baleen_bucket_spot(block * d, slots, 12);
			struct baleen_bucket_spot last =
				baleen_bucket_spot(block * d - 1, slots, 12);

			assert_true(first.block == block && first.bit == 0);
			assert_true(last.block == block - 1 && last.bit == (d - 1) * slots * 12);
		}
		assert_int_equal(baleen_bucket_spot(INT32_MAX, slots, 12).block, INT32_MAX / d);
	}
	for (u32 slot_bits = 8; slot_bits <= 64; slot_bits *= 2)
		assert_int_equal(baleen_bucket_spot(INT32_MAX, 1, slot_bits).block,
				 INT32_MAX / (512 / slot_bits));
}

static bool bucket_has(const struct baleen_slots *slots, const void *bytes, u32 bucket, u64 slot)
{
	u32 n_slots = slots->n_slots, slot_bits = slots->slot_bits;
	u64 tops, differ;

	if (slots->is_semi_sorted)
		return baleen_semi_has(slots->table, bytes, bucket, slot);
	if (baleen_table_is_packed(slots->table))
		return baleen_packed_has(slots->table, bytes, bucket, slot, n_slots, slot_bits);
	tops = baleen_bucket_ones(n_slots, slot_bits) << (slot_bits - 1);
	differ = baleen_bucket_lacks_any(slots->table, bytes, bucket, slot, n_slots, slot_bits,
					 NULL);
	return (differ & tops) != tops;
}

/* Where the probe looks for a slot is where it was put, and nowhere else. */
static void find_slots(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, 0, random);
	struct baleen_slots slots = baleen_slots_of(&filter, geometry->domain);
	u64 slot = -1ull >> (64 - slots.slot_bits);

	for (u32 at = 0; at < geometry->n_buckets * slots.n_slots; at++) {
		u32 bucket = at / slots.n_slots, i_slot = at % slots.n_slots;

		baleen_slots_set(&slots, bucket, i_slot, slot);
		/* Behind those that are free. */
		if (slots.is_semi_sorted)
			i_slot = slots.n_slots - 1;
		assert_true(baleen_slots_get(&slots, bucket, i_slot) == slot);
		for (u32 i = 0; i < geometry->n_buckets; i++) {
			assert_int_equal(bucket_has(&slots, filter.bytes, i, slot), i == bucket);
		}
		assert_int_equal(baleen_filter_count(&filter, geometry->domain), 1);
		baleen_slots_set(&slots, bucket, i_slot, 0);
	}
	baleen_filter_free(&filter);
}

static void test_find_slots(void **state)
{
	struct random random = random_from(2);

	each_geometry(find_slots, &random);
}

static void test_partner(void **state)
{
	struct random random = random_from(3);

	for (u32 n_buckets = 1; n_buckets <= 2000; n_buckets++) {
		struct baleen_table table = { .n_buckets = n_buckets,
					      .log2_buckets = baleen_log2(n_buckets) };
		u32 slot_bits = n_buckets % 2 ? 8 : 64;
		u64 tag = random_next(&random) >> (64 - slot_bits);

		for (u32 bucket = 0; bucket < n_buckets; bucket++) {
			u32 other = baleen_cuckoo_partner(&table, bucket, tag);

			assert_true(other < n_buckets &&
				    baleen_cuckoo_partner(&table, other, tag) == bucket);
		}
	}
}

/* The textbook's other bucket, (bucket ^ hash) mod m, of a tag of 27356 whose
 * hash ends in 7 and is 1 mod 8: from 0 to 7, from 7 to 2. Ours comes back.
 */
static void test_textbook(void **state)
{
	struct baleen_table table = { .n_buckets = 10, .log2_buckets = 3 };
	u32 hash = 17;

	assert_int_equal((0 ^ hash) % 10, 7);
	assert_int_equal((7 ^ hash) % 10, 2);
	for (u32 bucket = 0; bucket < 10; bucket++) {
		u32 other = baleen_cuckoo_partner(&table, bucket, 27356);

		assert_int_equal(baleen_cuckoo_partner(&table, other, 27356), bucket);
	}
}

/* --- against an array of keys ------------------------------------------------- */

/* Keys of which none looks like another in this table. */
static struct baleen_key *unlike_keys(const struct baleen_filter *filter, u32 domain, u32 n,
				      struct random *random)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_cuckoo_place *place = calloc(n, sizeof(*place));
	struct baleen_key *key = calloc(n, sizeof(*key));

	for (u32 at = 0, i; at < n; at += i == at) {
		key[at] = random_key(random, domain);
		place[at] = baleen_cuckoo_locate(table, &filter->image.seed, &key[at]);
		for (i = 0; i < at; i++)
			if (place[i].slot == place[at].slot &&
			    (place[i].home == place[at].home ||
			     (baleen_table_has_fingerprints(table) &&
			      place[i].home == place[at].other)))
				break;
	}
	free(place);
	return key;
}

struct model {
	struct baleen_filter filter;
	struct baleen_key *key;
	u32 *n_copies;
	u32 n_keys;
	u64 n;
};

static void model_check(const struct model *model)
{
	assert_int_equal(baleen_filter_count(&model->filter, model->key[0].domain), model->n);
	for (u32 i = 0; i < model->n_keys; i++)
		assert_int_equal(baleen_filter_test(&model->filter, &model->key[i]),
				 model->n_copies[i] > 0);
}

/* What finds no room changes nothing, what is not there is not deleted. */
static void model_change(struct model *model, u32 i, bool add)
{
	struct baleen_filter *filter = &model->filter;
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES, changed = POISON;
	u8 *before = malloc(filter->n_bytes);
	int err;

	memcpy(before, filter->bytes, filter->n_bytes);
	err = add ? baleen_live_add(filter, &model->key[i], &changed) :
		    baleen_live_del(filter, &model->key[i], &changed);
	if (err) {
		assert_true(add && err == -ENOSPC);
		assert_memory_equal(before, filter->bytes, filter->n_bytes);
	} else {
		assert_int_equal(changed,
				 add ? has_copies || !model->n_copies[i] : model->n_copies[i] > 0);
		model->n_copies[i] += changed ? (add ? 1 : -1) : 0;
		model->n += changed ? (add ? 1 : -1) : 0;
	}
	free(before);
}

static void churn(const struct geometry *geometry, u32 flags, struct random *random)
{
	struct model model = { .filter = geometry_filter(geometry, 3, random) };
	u32 n_slots = geometry->n_buckets * geometry->bucket_slots;

	/* As many as there are different looks of, in a small table. */
	model.n_keys = n_slots < 64 ? n_slots : 64;
	model.filter.image.flags = flags;
	model.key = unlike_keys(&model.filter, geometry->domain, model.n_keys, random);
	model.n_copies = calloc(model.n_keys, sizeof(*model.n_copies));
	for (u32 op = 0; op < 400; op++) {
		/* Mostly adds, then mostly deletes. */
		bool add = random_below(random, 10) < (op < 250 ? 8 : 2);

		model_change(&model, random_below(random, model.n_keys), add);
		if (op % 16 == 0)
			model_check(&model);
	}
	model_check(&model);
	model.filter.image.table[geometry->domain].n_entries = model.n;
	assert_sealed(&model.filter);
	free(model.n_copies);
	free(model.key);
	baleen_filter_free(&model.filter);
}

static void churn_sets(const struct geometry *geometry, struct random *random)
{
	churn(geometry, 0, random);
}

static void churn_copies(const struct geometry *geometry, struct random *random)
{
	churn(geometry, BALEEN_FLAG_COPIES, random);
}

static void test_churn(void **state)
{
	struct random random = random_from(4);

	each_geometry(churn_sets, &random);
	each_geometry(churn_copies, &random);
}

/* --- load ----------------------------------------------------------------------- */

/* Fan et al. 2014, section 5.1: 50, 84 and 95 %. One slot a bucket reaches half
 * with a few keys in the stash.
 */
static void test_load(void **state)
{
	static const double load[] = { 0, 0.5, 0.84, 0, 0.95 };
	struct random random = random_from(10);

	for (u32 slots = 1; slots <= 4; slots *= 2) {
		for (u32 slot_bits = 8; slot_bits <= 64; slot_bits *= 2) {
			struct geometry geometry = { BALEEN_TUPLE, slot_bits, slots,
						     4001,	   false,     false };
			struct baleen_filter filter =
				geometry_filter(&geometry, BALEEN_STASH_SLOTS, &random);
			struct baleen_table *table = &filter.image.table[BALEEN_TUPLE];
			u64 want = 4001 * slots * load[slots];

			while (table->n_entries < want) {
				struct baleen_key key = random_key(&random, BALEEN_TUPLE);

				assert_int_equal(insert_one(&filter, &key), 0);
			}
			baleen_filter_free(&filter);
		}
	}
}

/* --- plan ----------------------------------------------------------------------- */

static void assert_plan_refused(u32 domain, const struct baleen_shape *shape, const char *text)
{
	struct baleen_table table, poison;
	struct baleen_error error;

	memset(&table, POISON, sizeof(table));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_plan_shaped(domain, BALEEN_KIND_CUCKOO, 1000, 0.1, shape, &table,
					    &error),
			 -EINVAL);
	assert_string_equal(error.text, text);
	assert_memory_equal(&table, &poison, sizeof(table));
}

static void test_plan_refused(void **state)
{
	struct baleen_shape shape = { .slot_bits = 33 };

	assert_plan_refused(BALEEN_IP6, &shape, "slots have 4 to 32 bits, or 64, not 33");
	shape.slot_bits = 64;
	assert_plan_refused(BALEEN_IP4, &shape,
			    "slots of 64 bits are too wide for IPv4 addresses: 32 bits are exact");
	shape = (struct baleen_shape){ .slot_bits = 3 };
	assert_plan_refused(BALEEN_IP6, &shape, "slots have 4 to 32 bits, or 64, not 3");
	shape = (struct baleen_shape){ .bucket_slots = 5 };
	assert_plan_refused(BALEEN_IP6, &shape, "buckets have 1 to 4 slots, not 5");
	shape = (struct baleen_shape){ .bucket_slots = 3, .slot_bits = 64 };
	assert_plan_refused(BALEEN_IP6, &shape,
			    "slots of buckets of 3 hold fingerprints of up to 32 bits: they need "
			    "--fpp or --slot-bits");
	shape = (struct baleen_shape){ .bucket_slots = 3, .is_semi_sorted = true };
	assert_plan_refused(BALEEN_IP6, &shape, "semi-sorted buckets have 4 slots, not 3");
	shape = (struct baleen_shape){ .slot_bits = 4, .is_semi_sorted = true };
	assert_plan_refused(BALEEN_IP6, &shape, "semi-sorted slots have 5 to 32 bits, not 4");
	shape = (struct baleen_shape){ .slot_bits = 64, .is_semi_sorted = true };
	assert_plan_refused(BALEEN_IP6, &shape, "semi-sorted slots have 5 to 32 bits, not 64");
	shape = (struct baleen_shape){ .load = 1.5 };
	assert_plan_refused(BALEEN_IP6, &shape, "a load is 0.01 to 1");
}

/* Valid, no fuller than planned, and its keys fit; of tables of one slot a bucket
 * one in 40 would need another seed.
 */
static void plan_one(const struct geometry *geometry, struct random *random)
{
	struct baleen_shape shape = {
		.slot_bits = geometry->slot_bits,
		.bucket_slots = geometry->bucket_slots,
		.is_semi_sorted = geometry->is_semi_sorted,
		.has_stash = geometry->bucket_slots == 1,
	};
	u32 n = geometry->n_buckets * 20;
	struct baleen_table table;
	struct baleen_filter filter;

	assert_int_equal(baleen_plan_shaped(geometry->domain, BALEEN_KIND_CUCKOO, n, 0, &shape,
					    &table, NULL),
			 0);
	assert_int_equal(table.slot_bits, geometry->slot_bits);
	assert_int_equal(baleen_bucket_slots(&table), geometry->bucket_slots);
	assert_int_equal(baleen_table_is_semi_sorted(&table), geometry->is_semi_sorted);
	assert_int_equal(table.n_stash, shape.has_stash ? BALEEN_STASH_SLOTS : 0);
	assert_true((double)table.n_buckets * geometry->bucket_slots * 0.95 >= n);
	table.first_block = BALEEN_HEADER_BLOCKS;
	filter = table_filter(&table, geometry->domain, random);
	if (geometry->domain == BALEEN_WORD)
		filter.image.key_spec = BALEEN_KEY_SRC | BALEEN_KEY_DPORT;
	for (u32 i = 0; i < n; i++) {
		struct baleen_key key = random_key(random, geometry->domain);

		assert_int_equal(insert_one(&filter, &key), 0);
	}
	assert_sealed(&filter);
	baleen_filter_free(&filter);
}

static void test_plan(void **state)
{
	struct random random = random_from(11);

	each_geometry(plan_one, &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_refused), cmocka_unit_test(test_full),
		cmocka_unit_test(test_spots),	     cmocka_unit_test(test_find_slots),
		cmocka_unit_test(test_partner),	     cmocka_unit_test(test_textbook),
		cmocka_unit_test(test_churn),	     cmocka_unit_test(test_load),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
