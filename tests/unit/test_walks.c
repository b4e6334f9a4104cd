// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Many keys put into a cuckoo table at once: the same set as one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "shapes.h"

#define N_KEYS 8192

/* Distinct keys, then the first ones again. */
static struct baleen_key *draw_keys(u32 domain, u32 n_again, struct random *random)
{
	struct baleen_key *keys = calloc(N_KEYS, sizeof(*keys));

	for (u32 i = 0; i < N_KEYS; i++)
		keys[i] = i < N_KEYS - n_again ? random_key(random, domain) :
						 keys[i - (N_KEYS - n_again)];
	return keys;
}

/* @room: slots for 100 keys. */
static struct baleen_filter make(u32 domain, u32 slot_bits, bool is_packed, u32 room,
				 struct random *random)
{
	struct geometry geometry = { .domain = domain,
				     .slot_bits = slot_bits,
				     .bucket_slots = BALEEN_BUCKET_SLOTS,
				     .n_buckets = N_KEYS / 100 * room / BALEEN_BUCKET_SLOTS + 1,
				     .is_packed = is_packed };

	return geometry_filter(&geometry, 0, random);
}

static void compare(u32 domain, u32 slot_bits, bool is_packed, u32 room, u32 n_again)
{
	struct random random = random_from(slot_bits + room);
	struct baleen_key *keys = draw_keys(domain, n_again, &random);
	struct baleen_filter filter = make(domain, slot_bits, is_packed, room, &random);
	struct baleen_filter slow;
	size_t n_done;

	assert_int_equal(baleen_filter_alloc(&slow, &filter.image, NULL), 0);
	assert_int_equal(baleen_filter_insert(&filter, keys, N_KEYS, &n_done), 0);
	assert_int_equal(n_done, N_KEYS);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_int_equal(insert_one(&slow, &keys[i]), 0);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_true(baleen_filter_test(&filter, &keys[i]));
	assert_int_equal(filter.image.table[domain].n_entries,
			 baleen_filter_count(&filter, domain));
	assert_int_equal(filter.image.table[domain].n_entries, slow.image.table[domain].n_entries);
	assert_sealed(&filter);
	baleen_filter_free(&slow);
	baleen_filter_free(&filter);
	free(keys);
}

/* 104 slots for 100 keys: the last walks are long. */
static void test_same_set(void **state)
{
	compare(BALEEN_IP4, 32, false, 104, 0);
	compare(BALEEN_IP4, 32, false, 106, 100);
	compare(BALEEN_IP4, 9, true, 106, 0);
	compare(BALEEN_IP6, 64, false, 104, 4096);
	compare(BALEEN_IP6, 16, false, 106, 1000);
	compare(BALEEN_IP6, 8, false, 106, 0);
	compare(BALEEN_IP6, 13, true, 106, 0);
}

/* Walks that end nowhere are undone, and keys go in one by one up to the first without room. */
static void test_full(void **state)
{
	struct random random = random_from(5);
	struct baleen_key *keys = draw_keys(BALEEN_IP4, 0, &random);
	struct baleen_filter filter = make(BALEEN_IP4, 32, false, 80, &random);
	size_t n_done = 0;

	assert_int_equal(baleen_filter_insert(&filter, keys, N_KEYS, &n_done), -ENOSPC);
	assert_in_range(n_done, N_KEYS * 70 / 100, N_KEYS * 80 / 100);
	assert_int_equal(filter.image.table[BALEEN_IP4].n_entries, n_done);
	assert_int_equal(baleen_filter_count(&filter, BALEEN_IP4), n_done);
	for (u32 i = 0; i < N_KEYS; i++)
		assert_int_equal(baleen_filter_test(&filter, &keys[i]), i < n_done);
	assert_sealed(&filter);
	baleen_filter_free(&filter);
	free(keys);
}

/* Two fillings with one seed give the same bytes. */
static void test_same_bytes(void **state)
{
	struct random random = random_from(6);
	struct baleen_key *keys = draw_keys(BALEEN_IP4, 0, &random);
	struct baleen_filter filter = make(BALEEN_IP4, 32, false, 105, &random), again;
	size_t n_done;

	assert_int_equal(baleen_filter_alloc(&again, &filter.image, NULL), 0);
	assert_int_equal(baleen_filter_insert(&filter, keys, N_KEYS, &n_done), 0);
	assert_int_equal(baleen_filter_insert(&again, keys, N_KEYS, &n_done), 0);
	assert_memory_equal(filter.bytes, again.bytes, filter.n_bytes);
	baleen_filter_free(&again);
	baleen_filter_free(&filter);
	free(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_set),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
