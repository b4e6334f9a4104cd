// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a table holds, place by place: against the sequences that other code reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/view.h"
#include "quotients.h"

static u64 random_fingerprint(struct random *random, u32 q, u32 r)
{
	return random_next(random) >> (64 - q - r);
}

/* The slots give back the fingerprints, in clusters and runs as the summary counts them. */
static void assert_slots_are(const struct baleen_filter *filter, u64 n_fingerprints)
{
	struct baleen_quotient_reader reader = baleen_quotient_reader(filter, DOMAIN);
	u32 n_slots = filter->image.table[DOMAIN].n_buckets,
	    r = filter->image.table[DOMAIN].slot_bits;
	u64 n_used = 0, n_runs = 0, n_clusters = 0, n_ends = 0, n_run_ends = 0;
	struct baleen_view_summary summary;

	for (u32 slot = 0; slot < n_slots; slot++) {
		struct baleen_view_slot view = baleen_view_slot(filter, DOMAIN, slot);

		if (!view.is_used)
			continue;
		n_used++;
		n_runs += !view.continued;
		n_clusters += !view.shifted;
		n_ends += view.ends_cluster;
		n_run_ends += view.ends_run;
		assert_true(quotient_has(filter, (u64)view.quotient << r | view.remainder));
		if (!view.shifted)
			assert_int_equal(view.quotient, slot);
	}
	assert_int_equal(n_used, n_fingerprints);
	assert_int_equal(n_ends, n_clusters);
	assert_int_equal(n_run_ends, n_runs);
	baleen_view_summarise(filter, DOMAIN, &summary);
	assert_int_equal(summary.n_used, n_used);
	assert_int_equal(summary.n_runs, n_runs);
	assert_int_equal(summary.n_clusters, n_clusters);
	while (baleen_quotient_read(&reader)) {
		u32 slot = (reader.at - 1) & (n_slots - 1);
		struct baleen_view_slot view = baleen_view_slot(filter, DOMAIN, slot);

		assert_int_equal((u64)view.quotient << r | view.remainder, reader.value);
	}
}

static void test_quotient(void **state)
{
	struct random random = { .state = 15 };

	for (u32 round = 0; round < 200; round++) {
		u32 q = 1 + round % 9, r = 1 + round % 13, n = round % (1 << q);
		struct baleen_filter filter = quotient_filter(q, r, round + 1);

		for (u32 i = 0; i < n; i++) {
			bool changed;

			/* A full table refuses: what is in is what is compared. */
			baleen_quotient_insert(&filter, DOMAIN, random_fingerprint(&random, q, r),
					       &changed);
		}
		assert_slots_are(&filter, filter.image.table[DOMAIN].n_entries);
		baleen_filter_free(&filter);
	}
}

/* Any body ends the walk, and no quotient is outside of the table. */
static void test_damaged(void **state)
{
	struct random random = { .state = 16 };

	for (u32 round = 0; round < 500; round++) {
		struct baleen_filter filter = quotient_filter(1 + round % 8, 1 + round % 9, round);
		u64 *word = (u64 *)((u8 *)filter.bytes + BALEEN_HEADER_BYTES);
		struct baleen_view_summary summary;

		for (size_t i = 0; i < (filter.n_bytes - BALEEN_HEADER_BYTES) / sizeof(*word); i++)
			word[i] = random_next(&random);
		for (u32 slot = 0; slot < filter.image.table[DOMAIN].n_buckets; slot++)
			assert_true(baleen_view_slot(&filter, DOMAIN, slot).quotient <
				    filter.image.table[DOMAIN].n_buckets);
		baleen_view_summarise(&filter, DOMAIN, &summary);
		assert_true(summary.n_used <= summary.n_places);
		baleen_filter_free(&filter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotient),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
