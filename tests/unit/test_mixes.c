// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Random mixes of all lengths with exceptions: 2 million addresses, half of
 * them inside, against a walk over all entries that could cover them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/plan.h"
#include "slow_prefixes.h"

#define N_EACH 1000000
#define MAX_DRAWS 100000000

static const struct baleen_build_options plain = {
	.key_spec = BALEEN_KEY_SRC,
	.kind = BALEEN_KIND_CUCKOO,
};

/**
 * struct mix - what the entries are like
 * @n: how many
 * @is_ip6: their family
 * @shortest: length of those that are in no other
 * @longest: length
 */
struct mix {
	size_t n;
	bool is_ip6;
	u32 shortest;
	u32 longest;
};

/* An address below the entry. */
static void draw_below(struct random *random, const struct baleen_prefix6 *entry, u64 *hi, u64 *lo)
{
	u64 last_hi, last_lo;

	entry_last(entry, &last_hi, &last_lo);
	*hi = entry->hi | (random_next(random) & (entry->hi ^ last_hi));
	*lo = entry->lo | (random_next(random) & (entry->lo ^ last_lo));
}

/* IPv6 that is in use is in 2000::/3. */
static void draw_any(struct random *random, bool is_ip6, u64 *hi, u64 *lo)
{
	*hi = random_next(random);
	*lo = is_ip6 ? random_next(random) : 0;
	if (is_ip6)
		*hi = *hi >> 3 | 1ull << 61;
	else
		*hi &= ~0ull << 32;
}

/* Every second is inside an earlier one, every third of these an exception. */
static struct entries draw_entries(struct random *random, const struct mix *mix)
{
	struct entries entries = { .is_ip6 = mix->is_ip6 };

	entries.entry = calloc(mix->n, sizeof(*entries.entry));
	assert_non_null(entries.entry);
	while (entries.n < mix->n) {
		struct baleen_prefix6 *entry = &entries.entry[entries.n];
		const struct baleen_prefix6 *outer =
			&entries.entry[random_below(random, entries.n + 1)];

		if (outer != entry && outer->length < mix->longest && entries.n % 2) {
			draw_below(random, outer, &entry->hi, &entry->lo);
			entry->length = outer->length + 1 +
					random_below(random, mix->longest - outer->length);
			entry->is_exception = !random_below(random, 3);
		} else {
			draw_any(random, mix->is_ip6, &entry->hi, &entry->lo);
			entry->length = mix->shortest +
					random_below(random, mix->longest + 1 - mix->shortest);
		}
		if (!mix->is_ip6)
			entry->hi &= ~0ull << 32;
		entry_mask(entry);
		entries.n++;
	}
	return entries;
}

/* The entries that matter for the addresses of each /16. */
static struct entries *make_buckets(const struct entries *entries)
{
	struct entries *buckets = calloc(65536, sizeof(*buckets));

	assert_non_null(buckets);
	for (size_t i = 0; i < entries->n; i++) {
		u64 last_hi, last_lo;

		entry_last(&entries->entry[i], &last_hi, &last_lo);
		for (u64 k = entries->entry[i].hi >> 48; k <= last_hi >> 48; k++) {
			struct entries *of = &buckets[k];

			if (!(of->n & (of->n - 1)))
				of->entry = realloc(of->entry,
						    (of->n ? of->n * 2 : 1) * sizeof(*of->entry));
			of->entry[of->n++] = entries->entry[i];
		}
	}
	return buckets;
}

/* Anywhere, inside an entry, or beside it. */
static void draw_address(struct random *random, const struct entries *entries, u64 *hi, u64 *lo)
{
	const struct baleen_prefix6 *entry = &entries->entry[random_below(random, entries->n)];
	u64 step = entries->is_ip6 ? 1 : 1ull << 32;

	switch (random_below(random, 8)) {
	case 0:
	case 1:
	case 2: draw_any(random, entries->is_ip6, hi, lo); break;
	case 3:
		*hi = entry->hi - (entries->is_ip6 ? !entry->lo : step);
		*lo = entry->lo - entries->is_ip6;
		break;
	case 4:
		entry_last(entry, hi, lo);
		*lo += entries->is_ip6;
		*hi += entries->is_ip6 ? !*lo : step;
		break;
	default: draw_below(random, entry, hi, lo);
	}
	if (!entries->is_ip6) {
		*hi &= ~0ull << 32;
		*lo = 0;
	}
}

static void try_addresses(const struct baleen_filter *filter, const struct entries *entries,
			  struct random *random)
{
	struct entries *buckets = make_buckets(entries);
	u32 n[2] = { 0, 0 };

	for (u32 i = 0; n[0] < N_EACH || n[1] < N_EACH; i++) {
		bool want;
		u64 hi, lo;

		assert_true(i < MAX_DRAWS);
		draw_address(random, entries, &hi, &lo);
		want = entries_hold(&buckets[hi >> 48], hi, lo);
		if (n[want] == N_EACH)
			continue;
		n[want]++;
		if (filter_holds(filter, entries->is_ip6, hi, lo) != want)
			fail_msg("%#llx %#llx: the entries say %d", (unsigned long long)hi,
				 (unsigned long long)lo, want);
	}
	for (u32 i = 0; i < 65536; i++)
		free(buckets[i].entry);
	free(buckets);
}

static void try_mix(const struct mix *mix, u64 seed)
{
	struct random random = random_from(seed);
	struct entries entries = draw_entries(&random, mix);
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filter = filter_of(&list, &plain);

	assert_true(baleen_image_is_exact(&filter.image));
	assert_true(baleen_filter_worst_fpp(&filter) == 0);
	try_addresses(&filter, &entries, &random);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

static void test_ip4(void **state)
{
	try_mix(&(struct mix){ .n = 20000, .shortest = 8, .longest = 32 }, 1);
}

/* Nearly all is inside, but for the exceptions. */
static void test_ip4_from_0(void **state)
{
	try_mix(&(struct mix){ .n = 300, .shortest = 0, .longest = 32 }, 2);
}

static void test_ip6_up_to_64(void **state)
{
	try_mix(&(struct mix){ .n = 20000, .is_ip6 = true, .shortest = 16, .longest = 64 }, 3);
}

static void test_ip6(void **state)
{
	const struct mix mix = {
		.n = 20000,
		.is_ip6 = true,
		.shortest = 16,
		.longest = 128,
	};

	try_mix(&mix, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ip4),
		cmocka_unit_test(test_ip4_from_0),
		cmocka_unit_test(test_ip6_up_to_64),
		cmocka_unit_test(test_ip6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
