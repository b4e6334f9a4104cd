// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv6 prefixes: trees, and the layouts before them, against a walk over all entries. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "filter/directory_table.h"
#include "filter/plan.h"
#include "filter/prefix_table.h"
#include "old_prefixes.h"
#include "slow_prefixes.h"

#define LISTS "../shared/data/lists/"

static const struct baleen_build_options plain = {
	.key_spec = BALEEN_KEY_SRC,
	.kind = BALEEN_KIND_CUCKOO,
};

/* --- entries -------------------------------------------------------------- */

/**
 * struct shape - what random entries are like
 * @n: how many
 * @shortest: length
 * @longest: length
 * @n_exceptions: of 100
 * @n_places: addresses that they are near to
 */
struct shape {
	size_t n;
	u32 shortest;
	u32 longest;
	u32 n_exceptions;
	u32 n_places;
};

/* Each differs from its place behind a random bit, so that they nest. */
static struct entries random_entries(struct random *random, const struct shape *shape)
{
	struct entries entries = { .is_ip6 = true, .n = shape->n };

	entries.entry = malloc((shape->n + 1) * sizeof(*entries.entry));
	for (size_t i = 0; i < shape->n; i++) {
		struct random place = { .state = random_below(random, shape->n_places) };
		u64 hi = random_next(&place) >> 3 | 1ull << 61, lo = random_next(&place);
		u32 bit = random_below(random, 128);

		if (bit < 64) {
			hi ^= random_next(random) >> bit;
			lo = random_next(random);
		} else {
			lo ^= random_next(random) >> (bit - 64);
		}
		entries.entry[i] = (struct baleen_prefix6){
			.hi = hi,
			.lo = lo,
			.length = shape->shortest +
				  random_below(random, shape->longest + 1 - shape->shortest),
			.is_exception = random_below(random, 100) < shape->n_exceptions,
		};
		entry_mask(&entries.entry[i]);
	}
	return entries;
}

static void assert_set(const struct baleen_filter *filter, const struct entries *entries,
		       u32 n_probes, struct random *random)
{
	assert_same_around(filter, entries);
	assert_same_random(filter, entries, n_probes, random);
	assert_same(filter, entries, 0, 0);
	assert_same(filter, entries, ~0ull, ~0ull);
}

/* The list comes back as it was. */
static void assert_listed(const struct baleen_filter *filter, const struct baleen_list *list)
{
	struct baleen_list back;
	struct baleen_error error;

	if (baleen_filter_to_list(filter, &back, &error))
		fail_msg("%s", error.text);
	assert_int_equal(back.n_prefix6, list->n_prefix6);
	assert_int_equal(back.n_ip6, 0);
	assert_int_equal(back.n_listed, list->n_listed);
	for (size_t i = 0; i < back.n_prefix6; i++) {
		assert_true(back.prefix6[i].hi == list->prefix6[i].hi);
		assert_true(back.prefix6[i].lo == list->prefix6[i].lo);
		assert_int_equal(back.prefix6[i].length, list->prefix6[i].length);
		assert_int_equal(back.prefix6[i].is_exception, list->prefix6[i].is_exception);
	}
	baleen_list_free(&back);
}

static void try_shape(const struct shape *shape, u32 n_probes, struct random *random)
{
	struct entries entries = random_entries(random, shape);
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filter = filter_of(&list, &plain);
	const struct baleen_image *image = &filter.image;

	assert_set(&filter, &entries, n_probes, random);
	if (list.n_prefix6) {
		assert_int_equal(image->table[BALEEN_IP6_PREFIXES].kind, BALEEN_KIND_NONE);
		assert_listed(&filter, &list);
		assert_int_equal(image->n_entries, list.n_prefix6);
		assert_true(baleen_image_is_exact(image));
		assert_true(baleen_filter_worst_fpp(&filter) == 0);
	}
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		assert_int_equal(baleen_filter_count(&filter, domain),
				 image->table[domain].n_entries);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* --- random mixes --------------------------------------------------------- */

static void test_mixes(void **state)
{
	struct random random = random_from(1);

	for (u32 round = 0; round < 400; round++) {
		struct shape shape = {
			.n = 1 + random_below(&random, 1ull << random_below(&random, 10)),
			.shortest = random_below(&random, 129),
			.n_exceptions = random_below(&random, 60),
			.n_places = 1 + random_below(&random, 30),
		};

		shape.longest = shape.shortest + random_below(&random, 129 - shape.shortest);
		try_shape(&shape, 1000, &random);
	}
}

/* Every length at once, one below the other, every second an exception. */
static void test_nested(void **state)
{
	struct random random = random_from(2);
	struct entries entries = { .is_ip6 = true };

	entries.entry = malloc(129 * sizeof(*entries.entry));
	for (u32 first = 0; first <= 1; first++) {
		struct baleen_list list;
		struct baleen_filter filter;

		entries.n = 0;
		for (u32 length = first; length <= 128; length++) {
			struct baleen_prefix6 *entry = &entries.entry[entries.n++];

			*entry = (struct baleen_prefix6){ 0x20010db8deadbeefull,
							  0xfedcba9876543210ull, length,
							  (length - first) % 2 };
			entry_mask(entry);
		}
		list = entries_list(&entries);
		filter = filter_of(&list, &plain);
		assert_int_equal(list.n_prefix6, entries.n);
		assert_set(&filter, &entries, 20000, &random);
		assert_listed(&filter, &list);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
	}
	free(entries.entry);
}

/* --- past /64 --------------------------------------------------------------- */

static void assert_entries(struct entries *entries, struct random *random)
{
	struct baleen_list list = entries_list(entries);
	struct baleen_filter filter = filter_of(&list, &plain);

	assert_set(&filter, entries, 4000, random);
	assert_true(baleen_image_is_exact(&filter.image));
	assert_listed(&filter, &list);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* More /64s side by side than a node has children, each with prefixes in its first half, its
 * second one, or both, which are listed or exceptions; the /64s may be listed.
 */
static void test_neighbours(void **state)
{
	static const struct baleen_prefix6 below[] = {
		{ 0, 0, 65, 0 },	  { 0, 1ull << 63, 65, 0 },	 { 0, 1, 128, 0 },
		{ 0, ~0ull, 128, 0 },	  { 0, 1ull << 63, 128, 0 },	 { 0, ~0ull >> 1, 128, 0 },
		{ 0, 1ull << 62, 66, 0 }, { 0, 0xffffull << 32, 96, 0 },
	};
	struct random random = random_from(15);
	struct entries entries = { true, malloc(1000 * sizeof(*entries.entry)), 0 };

	for (u32 set = 1; set < 256; set++) {
		entries.n = 0;
		for (u64 i = 0; i < 40; i++) {
			u64 hi = 0x20010db800000000 + i;
			bool is_listed = random_below(&random, 2);

			if (is_listed)
				entries.entry[entries.n++] =
					(struct baleen_prefix6){ hi, 0, 64, 0 };
			for (u32 k = 0; k < 8; k++) {
				struct baleen_prefix6 *entry = &entries.entry[entries.n];

				if (!(set >> k & 1) || !random_below(&random, 8))
					continue;
				*entry = below[k];
				entry->hi = hi;
				/* A host that is no exception is none beside prefixes. */
				entry->is_exception = is_listed;
				entries.n++;
			}
		}
		/* So that hosts stand beside a prefix. */
		entries.entry[entries.n++] =
			(struct baleen_prefix6){ 0x2001000000000000, 0, 32, 0 };
		assert_entries(&entries, &random);
	}
	free(entries.entry);
}

/* Many prefixes in a few /64s: trees of lower halves of several levels. */
static void test_deep(void **state)
{
	struct random random = random_from(16);

	for (u32 n = 1; n <= 1000; n = n * 2 + 1) {
		for (u32 round = 0; round < 8; round++) {
			struct entries entries = { true, malloc(n * sizeof(*entries.entry)), n };
			u32 step = random_below(&random, 40);
			u64 half = round % 4 == 0 ? 0 : round % 4 == 1 ? 1ull << 63 : ~0ull;

			for (u32 i = 0; i < n; i++) {
				u64 lo = random_next(&random) >> 1 << step;
				struct baleen_prefix6 *entry = &entries.entry[i];

				lo = half == ~0ull ? random_next(&random) << step : lo >> 1 | half;
				*entry = (struct baleen_prefix6){
					0x20010db800000000 + i % (1 + round / 4 * 2), lo,
					65 + random_below(&random, 64), random_below(&random, 2)
				};
				entry_mask(entry);
			}
			/* So that hosts stand beside a prefix. */
			entries.entry[0] =
				(struct baleen_prefix6){ 0x20010db800000000, 0, 48, round % 2 };
			assert_entries(&entries, &random);
			free(entries.entry);
		}
	}
}

static void test_ends(void **state)
{
	static const struct baleen_prefix6 ends[][2] = {
		{ { 0, 0, 0, 0 }, { 0, 0, 128, 1 } },
		{ { 0, 0, 0, 0 }, { ~0ull, ~0ull, 128, 1 } },
		{ { 0, 0, 32, 0 }, { ~0ull << 32, 0, 32, 0 } },
		{ { 0, 0, 33, 0 }, { ~0ull << 31, 0, 33, 0 } },
		{ { 0, 0, 1, 0 }, { 1ull << 63, 0, 1, 0 } },
		{ { 0, 0, 127, 0 }, { ~0ull, ~1ull, 127, 0 } },
		{ { 1ull << 63, 0, 1, 0 }, { ~0ull << 31, 0, 33, 1 } },
	};
	struct random random = random_from(4);

	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct entries entries = { true, (struct baleen_prefix6 *)ends[i], 2 };
		struct baleen_list list = entries_list(&entries);
		struct baleen_filter filter = filter_of(&list, &plain);

		assert_set(&filter, &entries, 2000, &random);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
	}
}

/* --- the layout before the tree -------------------------------------------- */

/* Longer entries of a stem decide; what none of them covers is as the wider ones say. */
static u32 stem_state(const struct entries *entries, const struct baleen_prefix6 *entry)
{
	struct entries wide = { .is_ip6 = true,
				.entry = malloc((entries->n + 1) * sizeof(*entry)) };
	u64 stem = entry->hi >> 32 << 32;
	bool is_in;

	for (size_t i = 0; i < entries->n; i++)
		if (entries->entry[i].length <= 32)
			wide.entry[wide.n++] = entries->entry[i];
	is_in = entries_hold(&wide, stem, 0);
	free(wide.entry);
	return is_in ? BALEEN_GROUP_IN : BALEEN_GROUP_OUT;
}

static u32 state_at(const struct entries *entries, u64 stem)
{
	for (size_t i = 0; i < entries->n; i++)
		if (entries->entry[i].length > 32 && entries->entry[i].hi >> 32 == stem)
			return stem_state(entries, &entries->entry[i]);
	return entries_hold(entries, stem << 32, 0) ? BALEEN_GROUP_ALL : BALEEN_GROUP_NONE;
}

static int compare_stems(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Stems change their state where an entry begins or ends, and behind a longer one. */
static struct baleen_runs stems_before(const struct entries *entries)
{
	struct baleen_runs runs = { .run = malloc((3 * entries->n + 1) * sizeof(*runs.run)) };
	u64 *stem = malloc((3 * entries->n + 2) * sizeof(*stem)), hi, lo;
	size_t n = 0;

	stem[n++] = 0;
	for (size_t i = 0; i < entries->n; i++) {
		entry_last(&entries->entry[i], &hi, &lo);
		stem[n++] = entries->entry[i].hi >> 32;
		stem[n++] = (hi >> 32) + 1;
	}
	qsort(stem, n, sizeof(*stem), compare_stems);
	stem[n] = 1ull << 32;
	for (size_t i = 0; i < n; i++) {
		u32 state = stem[i] < stem[i + 1] ? state_at(entries, stem[i]) : 0;

		if (state)
			runs.run[runs.n++] = (struct baleen_run){ stem[i], stem[i + 1] - 1, state };
	}
	free(stem);
	return runs;
}

/* No address costs more than seven probes of the table: the search starts at
 * node 1, and below the seventh level there is none.
 */
static void assert_few_probes(const struct baleen_image *image)
{
	u32 n_nodes = 0, n_lengths = 0;

	for (u32 node = 1; node < BALEEN_LENGTH_NODES; node++) {
		u32 length = image->length_tree[node];

		n_nodes += length != 0;
		assert_true(length == 0 || (length > 32 && length <= 128));
		assert_true(!length || node == 1 || image->length_tree[node / 2]);
	}
	for (u32 bit = 0; bit < 128; bit++)
		n_lengths += image->prefix_lengths[bit / 64] >> bit % 64 & 1;
	assert_int_equal(n_nodes, n_lengths);
	assert_int_equal(BALEEN_LENGTH_NODES, 1 << BALEEN_PREFIX_PROBES);
}

static bool answer_of(const void *data, u64 hi, u64 lo, u32 length)
{
	const struct entries *entries = data;
	struct entries wide = { true, malloc((entries->n + 1) * sizeof(*wide.entry)), 0 };
	bool is_in;

	for (size_t i = 0; i < entries->n; i++)
		if (entries->entry[i].length <= length)
			wide.entry[wide.n++] = entries->entry[i];
	is_in = entries_hold(&wide, hi, lo);
	free(wide.entry);
	return is_in;
}

static void plan_before(const struct entries *entries, u32 longer_than, struct baleen_image *image)
{
	for (size_t i = 0; i < entries->n; i++)
		if (entries->entry[i].length > longer_than)
			old_prefixes_length(image, entries->entry[i].length);
	old_prefixes_plan(image, entries->n, 0);
	assert_int_equal(baleen_plan_table(BALEEN_IP6_ENTRIES, BALEEN_KIND_ENTRIES, entries->n, 0,
					   &image->table[BALEEN_IP6_ENTRIES], NULL),
			 0);
	assert_int_equal(baleen_tables_place(image, NULL), 0);
}

static void fill_before(struct baleen_filter *filter, const struct entries *entries,
			u32 longer_than)
{
	const struct baleen_entries given = { entries->entry, entries->n };
	const struct old_prefixes old = { &filter->image, filter->bytes, answer_of, entries };
	struct baleen_image out;
	const char *reason;

	baleen_entries_fill(filter, &given);
	for (size_t i = 0; i < entries->n; i++) {
		const struct baleen_prefix6 *entry = &entries->entry[i];

		if (entry->length > longer_than)
			old_prefixes_put(&old, entry->hi, entry->lo, entry->length);
	}
	assert_few_probes(&filter->image);
	baleen_filter_seal(filter);
	if (baleen_image_check(filter->bytes, filter->n_bytes, &out, &reason))
		fail_msg("%s", reason);
}

/* An image as Baleen built it before it had trees. */
static struct baleen_filter filter_before(const struct baleen_list *list, u32 bits)
{
	const struct entries entries = { true, list->prefix6, list->n_prefix6 };
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC, .n_listed = list->n_listed };
	struct baleen_runs runs = stems_before(&entries);
	struct baleen_directory_plan plan =
		baleen_directory_plan_groups(&runs, BALEEN_IP6_STEMS, NULL, bits);
	struct random random = random_from(bits);
	struct baleen_filter filter;

	image.table[BALEEN_IP6_STEMS] = baleen_directory_table(&plan, BALEEN_IP6_STEMS);
	image.seed = random_seed(&random);
	plan_before(&entries, 32, &image);
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	baleen_directory_fill(&filter, BALEEN_IP6_STEMS, &runs, &plan);
	fill_before(&filter, &entries, 32);
	free(runs.run);
	return filter;
}

/* And when trees had no low nodes. */
static struct baleen_filter filter_without_low(const struct baleen_list *list)
{
	const struct entries entries = { true, list->prefix6, list->n_prefix6 };
	const struct baleen_entries given = { list->prefix6, list->n_prefix6 };
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC, .n_listed = list->n_listed };
	struct random random = random_from(64);
	struct baleen_bounds bounds;
	struct baleen_filter filter;
	struct baleen_tree tree;

	assert_int_equal(baleen_bounds_make(&given, &bounds), 0);
	for (size_t i = 0; i < bounds.n; i++) {
		u32 *of = &bounds.bound[i].state;

		if (*of >= BALEEN_TREE_CHILD)
			*of = BALEEN_GROUP_OUT + bounds.low[*of - BALEEN_TREE_CHILD].state;
	}
	assert_int_equal(baleen_tree_make(&bounds, BALEEN_TREE_LINES, &tree), 0);
	image.table[BALEEN_IP6_STEMS] = baleen_tree_table(&tree);
	image.seed = random_seed(&random);
	plan_before(&entries, 64, &image);
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	baleen_tree_fill(&filter, &tree);
	fill_before(&filter, &entries, 64);
	baleen_tree_free(&tree);
	baleen_bounds_free(&bounds);
	return filter;
}

static void test_without_low(void **state)
{
	struct random random = random_from(14);

	for (u32 round = 0; round < 20; round++) {
		const struct shape shape = { 100, 8 + 4 * round, 128, 20, 3 };
		struct entries entries = random_entries(&random, &shape);
		struct baleen_list list = entries_list(&entries);
		struct baleen_filter filter = filter_without_low(&list);

		assert_false(baleen_image_is_exact(&filter.image));
		assert_set(&filter, &entries, 1000, &random);
		assert_listed(&filter, &list);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
		free(entries.entry);
	}
}

static void test_before(void **state)
{
	const struct shape shape = { 100, 8, 128, 20, 3 };
	struct random random = random_from(5);
	struct entries entries = random_entries(&random, &shape);
	struct baleen_list list = entries_list(&entries);

	for (u32 bits = BALEEN_MIN_GROUP_BITS; bits <= BALEEN_MAX_GROUP_BITS; bits++) {
		struct baleen_filter filter = filter_before(&list, bits);

		assert_int_equal(filter.image.table[BALEEN_IP6_STEMS].kind, BALEEN_KIND_DIRECTORY);
		assert_true(filter.image.prefix_lengths[0]);
		assert_set(&filter, &entries, 1000, &random);
		assert_listed(&filter, &list);
		baleen_filter_free(&filter);
	}
	baleen_list_free(&list);
	free(entries.entry);
}

/* A marker that carries no answer of its own must hand on the wider one. */
static void test_markers(void **state)
{
	static const struct baleen_prefix6 given[] = {
		{ 0x20010db800000000, 0, 40, 0 },
		{ 0x20010db800010002, 0, 64, 1 },
		{ 0x20010db900010000, 0, 48, 0 },
		{ 0x20010dba00000000, 0, 32, 0 },
		{ 0x20010dba00010002, 0, 64, 1 },
		{ 0x20010dba00010002, 1ull << 63, 65, 0 },
		{ 0x20010dbb00000000, 0, 72, 0 },
		{ 0x20010dbb00000000, 0x0001000200000000, 96, 1 },
		{ 0x20010dbb00000001, 0x0001000000000000, 80, 0 },
	};
	struct entries entries = { true, (struct baleen_prefix6 *)given, 9 };
	struct random random = random_from(3);
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filters[] = { filter_of(&list, &plain), filter_before(&list, 16),
					   filter_without_low(&list) };

	for (u32 i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct baleen_filter *filter = &filters[i];

		/* In the oldest the search for the /64 finds the marker 2001:db8:1::/48,
		 * and then no /64: the /40 decides.
		 */
		assert_true(filter_holds(filter, true, 0x20010db800010003, 0));
		assert_false(filter_holds(filter, true, 0x20010db800010002, 0));
		assert_true(filter_holds(filter, true, 0x20010dba00010003, 0));
		assert_false(filter_holds(filter, true, 0x20010dba00010002, 0));
		assert_true(filter_holds(filter, true, 0x20010dba00010002, ~0ull));
		assert_set(filter, &entries, 10000, &random);
		baleen_filter_free(filter);
	}
	baleen_list_free(&list);
}

/* There a source below no listed stem costs the directory and nothing else. */
static void test_other_stems(void **state)
{
	const struct shape shape = { 300, 33, 128, 20, 20 };
	struct random random = random_from(6);
	struct entries entries = random_entries(&random, &shape);
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filter = filter_before(&list, 20);
	u64 n_others = 0;

	for (u32 i = 0; i < 20000; i++) {
		u64 stem = random_next(&random) >> 32;
		bool listed = false;

		if (i % 2)
			stem = (entries.entry[i % entries.n].hi >> 32) + i % 3 - 1;
		for (size_t k = 0; k < entries.n; k++)
			listed |= entries.entry[k].hi >> 32 == (u32)stem &&
				  !entries.entry[k].is_exception;
		if (listed)
			continue;
		n_others++;
		assert_int_equal(baleen_directory_get(&filter.image.table[BALEEN_IP6_STEMS],
						      filter.bytes, stem, 2),
				 BALEEN_GROUP_NONE);
	}
	assert_true(n_others > 10000);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* --- options -------------------------------------------------------------- */

/* Prefixes of both families, hosts of both, in one image. */
static void test_both_families(void **state)
{
	const struct shape shape = { 500, 20, 64, 20, 30 };
	struct random random = random_from(8);
	struct entries entries = random_entries(&random, &shape);
	struct baleen_list list = entries_list(&entries);
	struct baleen_net4 nets[] = { { 0x0a000000, 0x0affffff }, { 0xc0000200, 0xc000027f } };
	u32 ip4[] = { 0x01020304, 0xc0000280, 0xffffffff };
	struct baleen_list both = list, back;
	struct baleen_filter filter;

	both.net4 = nets;
	both.n_net4 = 2;
	both.ip4 = ip4;
	both.n_ip4 = 3;
	filter = filter_of(&both, &plain);
	assert_set(&filter, &entries, 5000, &random);
	assert_int_equal(baleen_filter_to_list(&filter, &back, NULL), 0);
	/* The host beside the interval has become a part of it. */
	assert_int_equal(back.n_net4, 2);
	assert_int_equal(back.net4[1].last, 0xc0000280);
	assert_int_equal(back.n_ip4, 2);
	assert_int_equal(back.n_prefix6, list.n_prefix6);
	assert_true(filter_holds(&filter, false, 0x0a123456ull << 32, 0));
	assert_false(filter_holds(&filter, false, 0x0b000000ull << 32, 0));
	assert_false(filter_holds(&filter, false, 0xc0000281ull << 32, 0));
	assert_true(filter_holds(&filter, false, 0xffffffffull << 32, 0));
	baleen_filter_free(&filter);
	baleen_list_free(&back);
	baleen_list_free(&list);
	free(entries.entry);
}

/* Seed and key; hosts become prefixes, so that the two merge. */
static void test_like(void **state)
{
	const struct shape prefixes = { 300, 20, 64, 20, 30 }, hosts = { 200, 128, 128, 0, 50 };
	struct random random = random_from(9);
	struct entries a = random_entries(&random, &prefixes), b = random_entries(&random, &hosts);
	struct baleen_list first_list = entries_list(&a), second_list = entries_list(&b);
	struct baleen_build_options options = plain;
	struct baleen_filter first = filter_of(&first_list, &options), second, third;

	assert_int_equal(second_list.n_prefix6, 0);
	options.like = &first.image;
	second = filter_of(&second_list, &options);
	assert_set(&second, &b, 1000, &random);
	assert_int_equal(second.image.table[BALEEN_IP6].kind, BALEEN_KIND_NONE);
	assert_int_equal(second.image.table[BALEEN_IP6_ENTRIES].n_entries, second_list.n_ip6);
	assert_memory_equal(&second.image.seed, &first.image.seed, sizeof(first.image.seed));
	baleen_filter_free(&second);

	/* Hosts are hashed; a list with prefixes cannot be. */
	options.like = NULL;
	second = filter_of(&second_list, &options);
	assert_int_equal(second.image.table[BALEEN_IP6].kind, BALEEN_KIND_CUCKOO);
	options.like = &second.image;
	third = filter_of(&first_list, &options);
	assert_set(&third, &a, 1000, &random);
	baleen_filter_free(&third);
	baleen_filter_free(&second);
	baleen_filter_free(&first);
	baleen_list_free(&first_list);
	baleen_list_free(&second_list);
	free(a.entry);
	free(b.entry);
}

/* --- damage --------------------------------------------------------------- */

/* Whatever stands in the body, nothing outside is read: the sanitizer tells. */
static void test_damage(void **state)
{
	const struct shape shape = { 300, 16, 128, 20, 30 };
	struct random random = random_from(10);
	struct entries entries = random_entries(&random, &shape);
	struct baleen_list list = entries_list(&entries), back;
	struct baleen_filter filter = filter_of(&list, &plain);
	u64 *word = (u64 *)filter.bytes + BALEEN_HEADER_BYTES / 8;
	u64 n_words = (filter.n_bytes - BALEEN_HEADER_BYTES) / 8;

	for (u32 round = 0; round < 200; round++) {
		for (u32 i = 0; i < 2000; i++)
			word[random_below(&random, n_words)] =
				round % 2 ? ~0ull : random_next(&random);
		for (u32 i = 0; i < 2000; i++) {
			const struct baleen_prefix6 *entry = &entries.entry[i % entries.n];

			filter_holds(&filter, true, i % 3 ? entry->hi : random_next(&random),
				     random_next(&random));
		}
		assert_int_equal(baleen_filter_to_list(&filter, &back, NULL), -EINVAL);
	}
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* Each field of an entry that no list makes. */
static void test_damaged_entries(void **state)
{
	static const struct {
		u32 offset;
		u8 value;
	} damages[] = { { 16, 129 }, { 16, 31 },  { 17, 2 },  { 18, 1 },
			{ 23, 1 },   { 7, 0x21 }, { 40, 32 }, { 31, 0 } };
	static const struct baleen_prefix6 given[] = {
		{ 0x2001000000000000, 0, 32, 0 },
		{ 0x2001000000000000, 0, 40, 1 },
		{ 0x2001000200000000, 0, 32, 0 },
	};
	struct entries entries = { true, (struct baleen_prefix6 *)given, 3 };
	struct baleen_list list = entries_list(&entries), back, poison;
	struct baleen_filter filter = filter_of(&list, &plain);
	u8 *bytes = (u8 *)filter.bytes +
		    filter.image.table[BALEEN_IP6_ENTRIES].first_block * BALEEN_BLOCK_BYTES;
	struct baleen_error error;

	memset(&poison, 0xa5, sizeof(poison));
	for (u32 i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		u8 *byte = &bytes[damages[i].offset], old = *byte;

		*byte = damages[i].value;
		back = poison;
		/* A /31 would be fine but for its last bit, as it is for this. */
		if (damages[i].offset == 16 && damages[i].value == 31)
			bytes[4] = 1;
		assert_int_equal(baleen_filter_to_list(&filter, &back, &error), -EINVAL);
		assert_string_equal(error.text, "IPv6 entries that no list makes: damaged");
		assert_memory_equal(&back, &poison, sizeof(back));
		*byte = old;
		bytes[4] = 0;
	}
	assert_int_equal(baleen_filter_to_list(&filter, &back, &error), 0);
	baleen_list_free(&back);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* --- lists of the world --------------------------------------------------- */

/* The entries that matter for the addresses of each /24. */
static struct entries *make_buckets(const struct baleen_list *list)
{
	struct entries *bucket = calloc(1 << 24, sizeof(*bucket));

	for (size_t i = 0; i < list->n_prefix6; i++) {
		const struct baleen_prefix6 *entry = &list->prefix6[i];
		u64 last_hi, last_lo;

		entry_last(entry, &last_hi, &last_lo);
		for (u64 k = entry->hi >> 40; k <= last_hi >> 40; k++) {
			struct entries *of = &bucket[k];

			of->entry = realloc(of->entry, (of->n + 1) * sizeof(*entry));
			of->entry[of->n++] = *entry;
		}
	}
	return bucket;
}

static void try_file(const char *path, u64 seed)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct random random = random_from(seed);
	struct entries *bucket;
	struct baleen_filter filter;
	u64 n_inside = 0;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		print_message("# %s is not there\n", path);
		skip();
	}
	assert_int_equal(baleen_list_read(&list, fd, path, &(struct baleen_list_reader){ 0 }, NULL),
			 0);
	close(fd);
	bucket = make_buckets(&list);
	assert_int_equal(baleen_list_finish(&list), 0);
	filter = filter_of(&list, &plain);
	assert_true(baleen_image_is_exact(&filter.image));
	for (u32 i = 0; i < 2000000; i++) {
		u64 hi = 0x2000000000000000 | random_next(&random) >> 3, lo = random_next(&random);
		bool want;

		if (i % 2) {
			const struct baleen_prefix6 *entry =
				&list.prefix6[random_below(&random, list.n_prefix6)];
			u64 last_hi, last_lo;

			entry_last(entry, &last_hi, &last_lo);
			hi = entry->hi | (hi & (entry->hi ^ last_hi));
		}
		want = entries_hold(&bucket[hi >> 40], hi, lo);
		n_inside += want;
		if (filter_holds(&filter, true, hi, lo) != want)
			fail_msg("%#llx: the list says %d", (unsigned long long)hi, want);
	}
	assert_true(n_inside >= 1000000);
	print_message("# %s: %zu bytes, %u group bits, %u blocks of the tree\n", path,
		      filter.n_bytes, filter.image.table[BALEEN_IP6_STEMS].group_bits,
		      filter.image.table[BALEEN_IP6_STEMS].n_buckets);
	for (u32 i = 0; i < 1 << 24; i++)
		free(bucket[i].entry);
	free(bucket);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void test_country_br(void **state)
{
	try_file(LISTS "country-br.ipv6.cidr", 11);
}

static void test_country_us(void **state)
{
	try_file(LISTS "country-us.ipv6.cidr", 12);
}

/* Many, and what they cost, to be read, not judged. */
static void test_many(void **state)
{
	struct random random = random_from(13);

	for (u32 n = 1000; n <= 300000; n = n < 100000 ? n * 10 : n * 3) {
		const struct shape shape = { n, 33, 64, 5, n / 10 };
		struct entries entries = random_entries(&random, &shape);
		struct baleen_list list = entries_list(&entries);
		struct baleen_filter filter = filter_of(&list, &plain);

		assert_same_random(&filter, &entries, 100, &random);
		print_message("# %u random prefixes: %zu bytes\n", n, filter.n_bytes);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
		free(entries.entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixes),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_markers),
		cmocka_unit_test(test_other_stems),
		cmocka_unit_test(test_without_low),
		cmocka_unit_test(test_both_families),
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_country_br),
		cmocka_unit_test(test_country_us),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
