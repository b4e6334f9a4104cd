// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The quotient filter, on fingerprints: the textbook's examples, and a slow one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "quotients.h"
#include "slow_quotient.h"

/* --- the examples of the issue ---------------------------------------------- */

struct slot {
	u32 slot;
	u64 remainder;
	u32 bits; /* occupied, continued, shifted */
};

static u32 slot_bits(const struct baleen_quotient *quotient, u32 slot)
{
	return (u32)baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_OCCUPIED) << 2 |
	       (u32)baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_CONTINUED) << 1 |
	       (u32)baleen_quotient_bit(quotient, slot, BALEEN_QUOTIENT_SHIFTED);
}

static void assert_slots(const struct baleen_filter *filter, const struct slot *slots, u32 n)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, DOMAIN);

	for (u32 slot = 0; slot < quotient.table->n_buckets; slot++) {
		struct slot expected = { .slot = slot };

		for (u32 i = 0; i < n; i++)
			if (slots[i].slot == slot)
				expected = slots[i];
		assert_int_equal(baleen_quotient_get(quotient.table, quotient.store, slot),
				 expected.remainder);
		assert_int_equal(slot_bits(&quotient, slot), expected.bits);
	}
}

static void insert_all(struct baleen_filter *filter, const u64 *fingerprints, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		bool changed = false;

		assert_false(quotient_has(filter, fingerprints[i]));
		assert_int_equal(baleen_quotient_insert(filter, DOMAIN, fingerprints[i], &changed),
				 0);
		assert_true(changed);
		assert_int_equal(baleen_quotient_insert(filter, DOMAIN, fingerprints[i], &changed),
				 0);
		assert_false(changed);
		for (u32 j = 0; j <= i; j++)
			assert_true(quotient_has(filter, fingerprints[j]));
	}
	assert_int_equal(filter->image.table[DOMAIN].n_entries, n);
}

static void test_example_wide(void **state)
{
	static const u64 fingerprints[] = {
		4248224207, 629555247, 2673248856, 775943400, 1474643542, 567538184,
	};
	static const struct slot slots[] = {
		{ 1, 30667272, 4 },  { 2, 92684335, 7 },  { 3, 239072488, 3 },
		{ 4, 400901718, 5 }, { 5, 525765208, 1 }, { 7, 490127823, 4 },
	};
	struct baleen_filter filter = quotient_filter(3, 29, 1);

	insert_all(&filter, fingerprints, 6);
	assert_slots(&filter, slots, 6);
	assert_sealed(&filter);
	assert_int_equal(filter.image.table[DOMAIN].longest_cluster, 5);
	baleen_filter_free(&filter);
}

static void test_example_narrow(void **state)
{
	static const u64 fingerprints[] = {
		021 << 6 | 012, 023 << 6 | 047, 023 << 6 | 077,
		024 << 6 | 055, 024 << 6 | 076, 024 << 6 | 000,
	};
	static const struct slot slots[] = {
		{ 17, 012, 4 }, { 19, 047, 4 }, { 20, 077, 7 },
		{ 21, 000, 1 }, { 22, 055, 3 }, { 23, 076, 3 },
	};
	struct baleen_filter filter = quotient_filter(5, 6, 2);

	insert_all(&filter, fingerprints, 6);
	assert_slots(&filter, slots, 6);
	assert_sealed(&filter);
	baleen_filter_free(&filter);
}

/* --- against the slow one --------------------------------------------------- */

static void assert_like_slow(const struct baleen_filter *filter, const struct slow_quotient *slow)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, DOMAIN);
	const struct baleen_table *table = quotient.table;

	assert_int_equal(table->n_entries, slow->n);
	assert_int_equal(baleen_filter_count(filter, DOMAIN), slow->n);
	assert_int_equal(baleen_quotient_longest(filter, DOMAIN), slow_longest(slow));
	assert_true(table->longest_cluster >= slow_longest(slow));
	for (u32 slot = 0; slot < 1u << slow->q; slot++) {
		u64 remainder = slow->fingerprint[slot] & ((1ull << slow->r) - 1);
		u32 bits = slow_is_occupied(slow, slot) << 2 | slow_is_continued(slow, slot) << 1 |
			   slow_is_shifted(slow, slot);

		assert_int_equal(slot_bits(&quotient, slot), bits);
		assert_int_equal(baleen_quotient_get(table, quotient.store, slot),
				 slow->used[slot] ? remainder : 0);
	}
}

/* Of few fingerprints, so that many are there already and runs grow long. */
static u64 some_fingerprint(const struct slow_quotient *slow, struct random *random, u32 n_wanted)
{
	u64 fingerprint = random_next(random) >> (64 - slow->q - slow->r);

	if (random_below(random, 2))
		fingerprint = random_below(random, n_wanted) * 0x9e3779b97f4a7c15ull >>
			      (64 - slow->q - slow->r);
	/* Around the last slot and slot 0. */
	if (!random_below(random, 4))
		fingerprint = (fingerprint & ((1ull << slow->r) - 1)) |
			      (random_below(random, 2) ? 0 : ((1ull << slow->q) - 1) << slow->r);
	return fingerprint;
}

static void insert_both(struct baleen_filter *filter, struct slow_quotient *slow, u64 fingerprint,
			u8 *before)
{
	bool was_there = slow_has(slow, fingerprint), changed = !was_there;
	int err;

	assert_int_equal(quotient_has(filter, fingerprint), was_there);
	assert_int_equal(quotient_count(filter, fingerprint), slow_count(slow, fingerprint));
	memcpy(before, filter->bytes, filter->n_bytes);
	err = baleen_quotient_insert(filter, DOMAIN, fingerprint, &changed);
	if (slow_insert(slow, fingerprint)) {
		assert_int_equal(err, 0);
		assert_int_equal(changed, slow->copies || !was_there);
	} else {
		assert_int_equal(err, -ENOSPC);
		assert_memory_equal(before, filter->bytes, filter->n_bytes);
	}
}

static void delete_both(struct baleen_filter *filter, struct slow_quotient *slow, u64 fingerprint)
{
	bool was_there = slow_has(slow, fingerprint), changed = !was_there;

	baleen_quotient_delete(filter, DOMAIN, fingerprint, &changed);
	slow_delete(slow, fingerprint);
	assert_int_equal(changed, was_there);
	assert_int_equal(quotient_has(filter, fingerprint), slow_has(slow, fingerprint));
	assert_int_equal(quotient_count(filter, fingerprint), slow_count(slow, fingerprint));
}

/* Fills up, empties, and so on, with some of the other in between. */
static void churn(u32 q, u32 r, u32 n_steps, bool copies, struct random *random)
{
	struct baleen_filter filter = quotient_filter(q, r, 3);
	struct slow_quotient *slow = calloc(1, sizeof(*slow));
	u8 *before = malloc(filter.n_bytes);
	bool grows = true;

	slow->q = q;
	slow->r = r;
	slow->copies = copies;
	filter.image.flags = copies ? BALEEN_FLAG_COPIES : 0;
	for (u32 i = 0; i < n_steps; i++) {
		u64 fingerprint = some_fingerprint(slow, random, 2u << q);
		u32 slot = random_below(random, 1u << q);

		if (random_below(random, 8) ? grows : !grows) {
			insert_both(&filter, slow, fingerprint, before);
		} else {
			if (slow->used[slot])
				fingerprint = slow->fingerprint[slot];
			delete_both(&filter, slow, fingerprint);
		}
		if (slow->n == 1u << q || !slow->n)
			grows = !slow->n;
		assert_like_slow(&filter, slow);
	}
	assert_sealed(&filter);
	assert_int_equal(baleen_quotient_check_body(&filter, DOMAIN, NULL), 0);
	free(before);
	free(slow);
	baleen_filter_free(&filter);
}

static void churn_shapes(bool copies, u64 seed)
{
	static const u8 shapes[][2] = {
		{ 1, 1 },  { 1, 63 }, { 2, 2 },	 { 2, 31 }, { 3, 3 },  { 4, 5 },
		{ 4, 59 }, { 5, 6 },  { 5, 33 }, { 6, 1 },  { 6, 13 }, { 6, 58 },
	};
	struct random random = random_from(seed);

	for (u32 i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		churn(shapes[i][0], shapes[i][1], 1000, copies, &random);
	churn(7, 9, 600, copies, &random);
	churn(8, 7, 600, copies, &random);
}

static void test_churn(void **state)
{
	churn_shapes(false, 3);
}

static void test_churn_copies(void **state)
{
	churn_shapes(true, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example_wide),
		cmocka_unit_test(test_example_narrow),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_churn_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
