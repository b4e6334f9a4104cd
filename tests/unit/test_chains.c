// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of chains: damaged ones come to an end; values of every width are kept. Which bytes a
 * table has is compared in tests/cli/text-model.sh.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filter/chains.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/view.h"

#define N_KEYS 40

static struct baleen_filter make(u32 bits, u32 n_buckets)
{
	const struct baleen_shape shape = { .slot_bits = bits, .n_buckets = n_buckets };
	struct baleen_image image = { .key_spec = BALEEN_KEY_FLOW };
	struct baleen_filter filter;
	struct baleen_error error;

	assert_int_equal(baleen_plan_shaped(BALEEN_TUPLE, BALEEN_KIND_COMPACT, N_KEYS, 0, &shape,
					    &image.table[BALEEN_TUPLE], &error),
			 0);
	assert_int_equal(baleen_tables_place(&image, &error), 0);
	assert_int_equal(baleen_filter_alloc(&filter, &image, &error), 0);
	return filter;
}

static u64 value_of(u32 i, u32 bits)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

/* All that were put in are there, each once, and none behind the last; then they go. */
static void test_widths(void **state)
{
	for (u32 bits = 1; bits <= 64; bits++) {
		struct baleen_filter filter = make(bits, 7);
		struct baleen_chains chains = baleen_chains_of(&filter, BALEEN_TUPLE);
		bool changed = true;

		for (u32 i = 0; i < N_KEYS; i++)
			assert_int_equal(baleen_chains_insert(&chains, value_of(i, bits), true,
							      &changed),
					 0);
		assert_int_equal(baleen_chains_insert(&chains, 0, true, &changed), -ENOSPC);
		assert_false(changed);
		for (u32 i = 0; i < N_KEYS; i++)
			assert_int_equal(baleen_chains_get(&chains, i), value_of(i, bits));
		assert_int_equal(baleen_chains_insert(&chains, value_of(3, bits), false, &changed),
				 0);
		assert_false(changed);
		for (u32 i = 0; i < N_KEYS; i++)
			assert_true(baleen_chains_remove(&chains, value_of(i * 7 % N_KEYS, bits)));
		assert_false(baleen_chains_remove(&chains, value_of(0, bits)));
		for (u64 i = BALEEN_HEADER_BYTES; i < filter.n_bytes; i++)
			assert_int_equal(((u8 *)filter.bytes)[i], 0);
		baleen_filter_free(&filter);
	}
}

/* Heads and links that lead around, or out of the table. */
static void test_damaged(void **state)
{
	struct baleen_filter filter = make(13, 4);
	struct baleen_chains chains = baleen_chains_of(&filter, BALEEN_TUPLE);
	struct baleen_view_summary summary;
	bool changed;

	for (u32 i = 0; i < 9; i++)
		assert_int_equal(baleen_chains_insert(&chains, 4 * i, false, &changed), 0);
	chains.link[0] = baleen_le32(9);
	assert_int_equal(baleen_chains_count(&chains, 4 * 4), 1);
	assert_int_equal(baleen_chains_count(&chains, 4 * 100), 0);
	assert_false(baleen_chains_remove(&chains, 4 * 100));
	assert_int_equal(baleen_view_chain(&filter, BALEEN_TUPLE, 0, NULL, 0), 9);
	for (u32 bucket = 0; bucket < 4; bucket++)
		chains.head[bucket] = baleen_le32(1);
	baleen_view_summarise(&filter, BALEEN_TUPLE, &summary);
	chains.head[0] = baleen_le32(10);
	assert_int_equal(baleen_chains_count(&chains, 0), 0);
	chains.head[0] = ~0u;
	assert_int_equal(baleen_chains_count(&chains, 0), 0);
	assert_true(baleen_chains_remove(&chains, 0) == false);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
