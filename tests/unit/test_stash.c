// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a cuckoo table has beside slots of its own keys: copies and a stash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/live.h"
#include "filter/plan.h"
#include "list/list.h"
#include "ops/build.h"
#include "shapes.h"

#define POISON 0xa5

/* --- copies ------------------------------------------------------------------- */

/* As many as both buckets have slots, one more is refused, with a stash, too. */
static void copy_one(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, BALEEN_STASH_SLOTS, random);
	struct baleen_key key = random_key(random, geometry->domain);
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(&filter.image.table[geometry->domain], &filter.image.seed,
				     &key);
	u32 most = geometry->bucket_slots * (place.home == place.other ? 1 : 2);
	bool changed = false;
	size_t n_done = POISON;

	filter.image.flags = BALEEN_FLAG_COPIES;
	for (u32 i = 0; i < most; i++)
		assert_int_equal(insert_one(&filter, &key), 0);
	assert_int_equal(baleen_filter_insert(&filter, &key, 1, &n_done), -ENOSPC);
	assert_int_equal(n_done, 0);
	assert_int_equal(filter.image.table[geometry->domain].n_entries, most);
	filter.image.flags |= BALEEN_FLAG_LIVE;
	assert_int_equal(baleen_live_add(&filter, &key, &changed), -EOPNOTSUPP);
	assert_int_equal(baleen_live_del(&filter, &key, &changed), -EOPNOTSUPP);
	assert_int_equal(baleen_live_repair(&filter), 0);
	assert_false(changed);
	filter.image.flags = BALEEN_FLAG_COPIES;
	for (u32 i = most; i; i--) {
		assert_int_equal(baleen_filter_count(&filter, geometry->domain), i);
		assert_int_equal(baleen_filter_test(&filter, &key), 1);
		assert_int_equal(baleen_live_del(&filter, &key, &changed), 0);
		assert_true(changed);
	}
	assert_int_equal(baleen_filter_test(&filter, &key), 0);
	assert_int_equal(baleen_live_del(&filter, &key, &changed), 0);
	assert_false(changed);
	baleen_filter_free(&filter);
}

static void test_copies(void **state)
{
	struct random random = random_from(5);

	each_geometry(copy_one, &random);
}

/* --- stash -------------------------------------------------------------------- */

static u32 n_stashed(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u32 n = 0;

	for (u32 i = 0; i < slots.table->n_stash; i++)
		n += baleen_slots_stash(&slots)[i] != 0;
	return n;
}

/* Of keys that find no room as many as it has slots find some. */
static void fill_stash(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, BALEEN_STASH_SLOTS, random);
	u32 domain = geometry->domain, n = 0;
	struct baleen_key *held = calloc(geometry->n_buckets * 4 + 9, sizeof(*held));
	struct baleen_key key;
	bool changed;

	do {
		do
			key = random_key(random, domain);
		while (baleen_filter_test(&filter, &key));
		held[n] = key;
	} while (!insert_one(&filter, &key) && ++n);
	assert_int_equal(n_stashed(&filter, domain), BALEEN_STASH_SLOTS);
	assert_int_equal(baleen_filter_count(&filter, domain), n);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(baleen_filter_test(&filter, &held[i]), 1);
	assert_sealed(&filter);
	/* Idempotent wherever it is; and one deletion from the stash makes room. */
	for (u32 i = 0; i < n; i++)
		assert_int_equal(insert_one(&filter, &held[i]), 0);
	assert_int_equal(baleen_filter_count(&filter, domain), n);
	if (baleen_table_changes_live(&filter.image.table[domain]))
		filter.image.flags |= BALEEN_FLAG_LIVE;
	for (u32 i = n; i-- && n_stashed(&filter, domain) == BALEEN_STASH_SLOTS;)
		assert_int_equal(baleen_live_del(&filter, &held[i], &changed), 0);
	assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
	assert_int_equal(baleen_filter_test(&filter, &key), 1);
	free(held);
	baleen_filter_free(&filter);
}

static void test_stash(void **state)
{
	struct random random = random_from(6);

	each_geometry(fill_stash, &random);
}

/* The hash 0 looks like a free slot of the stash. */
static void test_stash_zero(void **state)
{
	struct geometry geometry = { BALEEN_WORD, 64, 1, 4, false, false };
	struct random random = random_from(7);
	struct baleen_filter filter = geometry_filter(&geometry, 1, &random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_WORD);
	struct baleen_key zero = { .domain = BALEEN_WORD,
				   .lo = baleen_unpermute64(&filter.image.seed, 0) };

	for (u32 bucket = 0; bucket < 4; bucket++)
		baleen_slots_set(&slots, bucket, 0, 1ull << 63 | 12345 | bucket << 20);
	assert_int_equal(baleen_filter_test(&filter, &zero), 0);
	assert_int_equal(insert_one(&filter, &zero), -ENOSPC);
	assert_int_equal(n_stashed(&filter, BALEEN_WORD), 0);
	baleen_filter_free(&filter);
}

/* A filter like another has its seed: what it has no room for goes to a stash that
 * the other need not have, and what that does not hold is refused.
 */
static void test_like(void **state)
{
	struct random random = random_from(12);
	struct geometry geometry = { BALEEN_IP4, 32, 4, 16, false, false };
	struct baleen_filter like = geometry_filter(&geometry, 0, &random), filter;
	struct baleen_build_options options = { .key_spec = BALEEN_KEY_SRC, .like = &like.image };
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_error error;
	u32 n_slots = geometry.n_buckets * geometry.bucket_slots;

	list.room_ip4 = n_slots + BALEEN_STASH_SLOTS + 1;
	list.ip4 = calloc(list.room_ip4, sizeof(*list.ip4));
	for (u32 n = 1; n <= n_slots + BALEEN_STASH_SLOTS + 1; n++) {
		list.ip4[list.n_ip4++] = random_next(&random);
		if (n < n_slots / 2)
			continue;
		assert_int_equal(baleen_list_finish(&list), 0);
		if (baleen_build(&list, &options, &filter, &error))
			break;
		assert_memory_equal(&filter.image.seed, &like.image.seed, sizeof(like.image.seed));
		assert_int_equal(filter.image.n_entries, n);
		assert_int_equal(filter.image.table[BALEEN_IP4].n_stash,
				 n_stashed(&filter, BALEEN_IP4) ? BALEEN_STASH_SLOTS : 0);
		for (u32 i = 0; i < n; i++) {
			struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = list.ip4[i] };

			assert_int_equal(baleen_filter_test(&filter, &key), 1);
		}
		baleen_filter_free(&filter);
	}
	assert_in_range(list.n_ip4, n_slots, n_slots + BALEEN_STASH_SLOTS + 1);
	baleen_list_free(&list);
	baleen_filter_free(&like);
}

/* --- listed back --------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Stash and copies included: a copy is one key of the list. */
static void list_back(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, 8, random);
	struct baleen_image image = filter.image;
	u64 want[2048];
	struct baleen_list list;
	struct baleen_error error;
	u32 n = 0;

	if (!baleen_table_is_exact(&image, geometry->domain)) {
		assert_int_equal(baleen_filter_to_list(&filter, &list, &error), -EOPNOTSUPP);
		baleen_filter_free(&filter);
		return;
	}
	filter.image.flags = BALEEN_FLAG_COPIES;
	for (;;) {
		struct baleen_key key = random_key(random, geometry->domain);

		if (insert_one(&filter, &key))
			break;
		insert_one(&filter, &key);
		want[n++] = geometry->domain == BALEEN_IP4 ? key.ip4 : key.lo;
	}
	qsort(want, n, sizeof(*want), compare_u64);
	assert_int_equal(baleen_filter_to_list(&filter, &list, &error), 0);
	assert_int_equal(list.n_ip4 + list.n_key, n);
	for (u32 i = 0; i < n; i++)
		assert_true(want[i] == (list.n_ip4 ? list.ip4[i] : list.key[i].lo));
	baleen_list_free(&list);
	baleen_filter_free(&filter);
}

static void test_list(void **state)
{
	struct random random = random_from(8);

	each_geometry(list_back, &random);
}

/* --- in memory ------------------------------------------------------------------ */

/* A table that cannot be built aside takes all that its slots hold. */
static void test_last_slot(void **state)
{
	struct geometry geometry = { BALEEN_IP6, 16, 4, 64, false, false };
	struct random random = random_from(13);
	struct baleen_filter filter = geometry_filter(&geometry, 0, &random);
	u32 n_added = 0;
	bool changed;

	for (u32 i = 0; i < 20000; i++) {
		struct baleen_key key = random_key(&random, BALEEN_IP6);

		n_added += !baleen_live_add(&filter, &key, &changed) && changed;
	}
	assert_in_range(n_added, 64 * 4 - 1, 64 * 4);
	baleen_filter_free(&filter);
}

/* --- live, without a side bit ---------------------------------------------------- */

/* No slot that is in use changes: nothing moves. */
static void add_live(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, 0, random);
	struct baleen_slots slots = baleen_slots_of(&filter, geometry->domain);
	u32 n_refused = 0;

	if (geometry->slot_bits >= 16 || !baleen_table_changes_live(slots.table)) {
		baleen_filter_free(&filter);
		return;
	}
	filter.image.flags |= BALEEN_FLAG_LIVE;
	while (n_refused < 4) {
		struct baleen_key key = random_key(random, geometry->domain);
		struct baleen_cuckoo_place place =
			baleen_cuckoo_locate(slots.table, &filter.image.seed, &key);
		u64 n = baleen_filter_count(&filter, geometry->domain);
		bool has_room = false, was_there = baleen_filter_test(&filter, &key), changed;
		int err = baleen_live_add(&filter, &key, &changed);

		for (u32 i = 0; i < slots.n_slots; i++)
			has_room |= !baleen_slots_get(&slots, place.home, i) ||
				    !baleen_slots_get(&slots, place.other, i);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_false(has_room || was_there);
			n_refused++;
			continue;
		}
		assert_int_equal(changed, !was_there);
		assert_int_equal(baleen_filter_count(&filter, geometry->domain), n + changed);
		assert_int_equal(baleen_filter_test(&filter, &key), 1);
	}
	baleen_filter_free(&filter);
}

static void test_live(void **state)
{
	struct random random = random_from(9);

	each_geometry(add_live, &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stash_zero), cmocka_unit_test(test_copies),
		cmocka_unit_test(test_stash),	   cmocka_unit_test(test_list),
		cmocka_unit_test(test_live),	   cmocka_unit_test(test_like),
		cmocka_unit_test(test_last_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
