// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Builds: refused lists, then lists of any length and shape.
 *
 * The lists are the same in every run, the seeds of the filters are not: they
 * come from getrandom(), and a build must succeed whatever it says.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/live.h"
#include "ops/build.h"
#include "tables.h"

#define POISON 0xa5

static const struct baleen_build_options plain = {
	.key_spec = BALEEN_KEY_SRC,
	.kind = BALEEN_KIND_CUCKOO,
};

/* --- lists ---------------------------------------------------------------- */

/* Number i of a list in some order; distinct for distinct i. */
typedef u32 ip4_at(u32 i);

static u32 ip4_random(u32 i)
{
	i = (i + 12345) * 0x9e3779b1u;
	i = (i ^ i >> 15) * 0x85ebca6bu;
	return (i ^ i >> 13) * 0xc2b2ae35u;
}

static u32 ip4_consecutive(u32 i)
{
	return 0x0a000000 + i;
}

static u32 ip4_every_256th(u32 i)
{
	return i << 8 | i >> 24;
}

static u32 ip4_every_65536th(u32 i)
{
	return i << 16 | i >> 16;
}

static u32 ip4_reversed(u32 i)
{
	u32 reversed = 0;

	for (u32 bit = 0; bit < 32; bit++)
		reversed |= (i >> bit & 1) << (31 - bit);
	return reversed;
}

static struct baleen_list make_list(ip4_at *at, u32 n4, u32 n6)
{
	struct baleen_list list = { .n_ip4 = n4, .room_ip4 = n4, .n_ip6 = n6, .room_ip6 = n6 };

	list.ip4 = malloc((n4 + 1) * sizeof(*list.ip4));
	list.ip6 = malloc((n6 + 1) * sizeof(*list.ip6));
	for (u32 i = 0; i < n4; i++)
		list.ip4[i] = at(i);
	for (u32 i = 0; i < n6; i++)
		list.ip6[i] = (struct baleen_ip6){ .hi = 0x20010db8ull << 32 | i / 4, .lo = i };
	baleen_list_finish(&list);
	assert_int_equal(list.n_ip4, n4);
	assert_int_equal(list.n_ip6, n6);
	assert_int_equal(list.n_covered, 0);
	return list;
}

/* --- refused -------------------------------------------------------------- */

static void assert_build_refused(const struct baleen_list *list,
				 const struct baleen_build_options *options, int code,
				 const char *text)
{
	struct baleen_filter filter, poison;
	struct baleen_error error = { "" };

	memset(&filter, POISON, sizeof(filter));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_build(list, options, &filter, &error), -code);
	assert_memory_equal(&filter, &poison, sizeof(filter));
	if (text)
		assert_string_equal(error.text, text);
}

static void test_refused_capacity(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = make_list(ip4_random, 1000, 500);

	options.capacity = 1499;
	assert_build_refused(&list, &options, ENOSPC, "1500 keys do not fit: the capacity is 1499");
	options.capacity = 1;
	assert_build_refused(&list, &options, ENOSPC, "1500 keys do not fit: the capacity is 1");
	baleen_list_free(&list);
}

static void test_refused_rate(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = make_list(ip4_random, 10, 0);

	options.fpp = 1;
	assert_build_refused(&list, &options, EINVAL,
			     "a false positive rate is 0 or more, below 1");
	options.fpp = 0;
	options.kind = BALEEN_KIND_BLOOM;
	assert_build_refused(&list, &options, EINVAL,
			     "a Bloom filter needs a false positive rate: --fpp");
	baleen_list_free(&list);
}

static void test_refused_like(void **state)
{
	struct baleen_list small = make_list(ip4_random, 100, 0);
	struct baleen_list large = make_list(ip4_random, 1000, 0);
	struct baleen_list mixed = make_list(ip4_random, 10, 1);
	struct baleen_build_options options = plain;
	struct baleen_filter filter;
	struct baleen_error error;
	unsigned int n, n_fit;

	assert_int_equal(baleen_build(&small, &plain, &filter, &error), 0);
	options.like = &filter.image;
	assert_build_refused(&mixed, &options, EINVAL,
			     "the list has IPv6 keys, the image to be like has no table for them");
	assert_build_refused(&large, &options, ENOSPC, NULL);
	assert_int_equal(baleen_build(&large, &options, &filter, &error), -ENOSPC);
	assert_int_equal(sscanf(error.text, "%u keys do not fit: %u did", &n, &n_fit), 2);
	assert_int_equal(n, 1000);
	assert_in_range(n_fit, 100,
			4 * filter.image.table[BALEEN_IP4].n_buckets + BALEEN_STASH_SLOTS);
	baleen_filter_free(&filter);
	baleen_list_free(&small);
	baleen_list_free(&large);
	baleen_list_free(&mixed);
}

/* --- any length and shape ------------------------------------------------- */

static void assert_holds(const struct baleen_filter *filter, const struct baleen_list *list)
{
	for (size_t i = 0; i < list->n_ip4; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = list->ip4[i] };

		if (!baleen_filter_test(filter, &key))
			fail_msg("%#x is missing of %zu", key.ip4, list->n_ip4);
	}
	for (size_t i = 0; i < list->n_ip6; i++) {
		struct baleen_key key = { .domain = BALEEN_IP6,
					  .hi = list->ip6[i].hi,
					  .lo = list->ip6[i].lo };

		if (!baleen_filter_test(filter, &key))
			fail_msg("IPv6 key %#llx is missing of %zu", (unsigned long long)key.lo,
				 list->n_ip6);
	}
}

static void assert_sound(const struct baleen_filter *filter, const struct baleen_list *list)
{
	struct baleen_image out;
	const char *reason;

	if (baleen_image_check(filter->bytes, filter->n_bytes, &out, &reason))
		fail_msg("%s", reason);
	assert_memory_equal(&out, &filter->image, sizeof(out));
	assert_int_equal(out.n_entries, list->n_ip4 + list->n_ip6);
	assert_int_equal(out.table[BALEEN_IP4].n_entries, list->n_ip4);
	assert_int_equal(out.table[BALEEN_IP6].n_entries, list->n_ip6);
	assert_int_equal(baleen_filter_count(filter, BALEEN_IP4), list->n_ip4);
	assert_int_equal(baleen_filter_count(filter, BALEEN_IP6), list->n_ip6);
	assert_holds(filter, list);
}

/* 95 % but for the last block, which is filled up with buckets; between 498,000
 * and 996,000 keys the fewest buckets of 16-bit slots take less than 32 bits a
 * key.
 */
static void assert_load(const struct baleen_table *table, u64 n)
{
	u64 per_block = baleen_buckets_per_block(table->slot_bits) * BALEEN_BUCKET_SLOTS;
	u64 n_slots = (u64)table->n_buckets * BALEEN_BUCKET_SLOTS;

	if (n < 1000 || (table->slot_bits == 16 && table->n_buckets == 1 << 18))
		return;
	if (n < 0.94 * (n_slots - per_block))
		fail_msg("%llu keys in %llu slots", (unsigned long long)n,
			 (unsigned long long)n_slots);
	if (n >= 2000)
		assert_true(n >= 0.94 * n_slots);
}

static void try_build(ip4_at *at, u32 n4, u32 n6)
{
	struct baleen_list list = make_list(at, n4, n6);
	struct baleen_filter filter;
	struct baleen_error error;

	if (baleen_build(&list, &plain, &filter, &error))
		fail_msg("%u and %u keys: %s", n4, n6, error.text);
	assert_sound(&filter, &list);
	if (n4)
		assert_load(&filter.image.table[BALEEN_IP4], n4);
	if (n6)
		assert_load(&filter.image.table[BALEEN_IP6], n6);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void test_few(void **state)
{
	for (u32 n = 1; n <= 3000; n++)
		try_build(ip4_random, n, 0);
	for (u32 n = 1; n <= 300; n++)
		try_build(ip4_random, 0, n);
}

static void test_many(void **state)
{
	struct random random = random_from(1);

	for (double n = 3000; n < 4000000; n *= 1.3)
		try_build(ip4_random, n + random_below(&random, n / 4), 0);
	try_build(ip4_random, 4000000, 0);
}

static void test_many_ip6(void **state)
{
	try_build(ip4_random, 0, 20000);
	try_build(ip4_random, 0, 1000000);
}

static void test_shapes(void **state)
{
	static ip4_at *const shapes[] = { ip4_consecutive, ip4_every_256th, ip4_every_65536th,
					  ip4_reversed };
	static const u32 counts[] = { 1000, 1003, 1500, 10000, 60000, 131072, 498000, 996147 };

	for (u32 i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (u32 j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
			try_build(shapes[i], counts[j], 0);
}

static void test_both_families(void **state)
{
	try_build(ip4_random, 1, 1);
	try_build(ip4_random, 1000, 3);
	try_build(ip4_random, 7, 50000);
	try_build(ip4_random, 300000, 20000);
}

/* --- options -------------------------------------------------------------- */

/* An empty list makes an image in which nothing is, not a refused one. */
static void test_empty(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = { .n_lines = 3 };
	struct random random = random_from(2);
	struct baleen_filter filter;

	for (u32 capacity = 0; capacity <= 5000; capacity += 5000) {
		options.capacity = capacity;
		assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
		assert_sound(&filter, &list);
		assert_true(baleen_table_capacity(&filter.image.table[BALEEN_IP4]) >= capacity);
		for (u32 i = 0; i < 1000; i++) {
			struct baleen_key key = random_key(&random, i % 2);

			assert_int_equal(baleen_filter_test(&filter, &key), 0);
		}
		baleen_filter_free(&filter);
	}
}

static void test_capacity(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = make_list(ip4_random, 300, 100);
	struct baleen_filter filter;

	options.capacity = 400;
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_sound(&filter, &list);
	baleen_filter_free(&filter);
	options.capacity = 40000;
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_sound(&filter, &list);
	/* Shared out as the list is. */
	assert_in_range(baleen_table_capacity(&filter.image.table[BALEEN_IP4]), 30000, 30100);
	assert_in_range(baleen_table_capacity(&filter.image.table[BALEEN_IP6]), 10000, 10100);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void test_bloom(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = make_list(ip4_random, 30000, 20000);
	struct baleen_filter filter;

	options.kind = BALEEN_KIND_BLOOM;
	options.fpp = 1e-3;
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_sound(&filter, &list);
	assert_int_equal(filter.image.table[BALEEN_IP4].kind, BALEEN_KIND_BLOOM);
	assert_int_equal(filter.image.table[BALEEN_IP6].kind, BALEEN_KIND_BLOOM);
	/* What comes out keeps the rate asked for, and what is predicted is
	 * near; the bits tell, not the count in the header.
	 */
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_IP6; domain++) {
		struct baleen_table *table = &filter.image.table[domain];
		double fpp = baleen_filter_fpp(&filter, domain);

		assert_true(fpp <= 1e-3);
		assert_true(fabs(fpp / baleen_table_fpp(&filter.image, domain, table->n_entries) -
				 1) < .2);
		table->n_entries = 1;
		assert_true(baleen_filter_fpp(&filter, domain) == fpp);
	}
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* Same geometry, key and seed; name and content are the list's own. */
static void test_like(void **state)
{
	struct baleen_list first = make_list(ip4_random, 5000, 10);
	struct baleen_list second = make_list(ip4_consecutive, 4000, 0);
	struct baleen_build_options options = plain;
	struct baleen_filter a, b;
	struct baleen_image live;

	options.name = "first";
	options.key_spec = BALEEN_KEY_DST;
	assert_int_equal(baleen_build(&first, &options, &a, NULL), 0);
	live = a.image;
	live.flags = BALEEN_FLAG_LIVE;
	live.body_crc = 0;
	options.like = &live;
	options.name = "second";
	options.key_spec = BALEEN_KEY_SRC;
	options.kind = BALEEN_KIND_BLOOM;
	assert_int_equal(baleen_build(&second, &options, &b, NULL), 0);
	assert_sound(&b, &second);
	assert_int_equal(b.image.flags, 0);
	assert_int_equal(b.image.key_spec, BALEEN_KEY_DST);
	assert_string_equal(b.image.name, "second");
	assert_memory_equal(&b.image.seed, &a.image.seed, sizeof(a.image.seed));
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table table = a.image.table[domain];

		table.n_entries = b.image.table[domain].n_entries;
		assert_memory_equal(&b.image.table[domain], &table, sizeof(table));
	}
	baleen_filter_free(&a);
	baleen_filter_free(&b);
	baleen_list_free(&first);
	baleen_list_free(&second);
}

static void test_name(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = make_list(ip4_random, 1, 0);
	struct baleen_filter filter;

	options.name = "0123456789012345678901234567890";
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_sound(&filter, &list);
	assert_string_equal(filter.image.name, options.name);
	assert_int_equal(filter.image.key_spec, BALEEN_KEY_SRC);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

/* Who knows the seed of one filter does not know that of another. */
static void test_seeds(void **state)
{
	struct baleen_list list = make_list(ip4_random, 10, 0);
	struct baleen_filter a, b;

	assert_int_equal(baleen_build(&list, &plain, &a, NULL), 0);
	assert_int_equal(baleen_build(&list, &plain, &b, NULL), 0);
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		assert_true(a.image.seed.word[i] != b.image.seed.word[i]);
	baleen_filter_free(&a);
	baleen_filter_free(&b);
	baleen_list_free(&list);
}

/* --- keys of several fields ------------------------------------------------ */

static struct baleen_key key_of(struct random *random, u32 spec, bool is_ip6)
{
	struct baleen_fields fields = {
		.is_ip6 = is_ip6,
		.src_hi = is_ip6 ? random_next(random) : 0,
		.src_lo = is_ip6 ? random_next(random) : (u32)random_next(random),
		.dst_hi = is_ip6 ? random_next(random) : 0,
		.dst_lo = is_ip6 ? random_next(random) : (u32)random_next(random),
		.sport = random_next(random),
		.dport = random_next(random),
		.proto = random_next(random),
	};

	return baleen_key_fields(spec, &fields);
}

/* @n keys, half of them IPv6; made again from the same seed. */
static struct baleen_list make_keys(u32 spec, u32 n, u64 seed)
{
	struct baleen_list list = { .key_spec = spec, .n_key = n, .room_key = n, .n_listed = n };
	struct random random = { .state = seed };

	list.key = malloc((n + 1) * sizeof(*list.key));
	for (u32 i = 0; i < n; i++)
		list.key[i] = key_of(&random, spec, i % 2);
	assert_int_equal(baleen_list_finish(&list), 0);
	return list;
}

static void assert_keys(const struct baleen_filter *filter, const struct baleen_list *list,
			u32 spec, struct random *random)
{
	u64 n_wrong = 0, n_keys = 0;

	for (size_t i = 0; i < list->n_key; i++)
		assert_true(baleen_filter_test(filter, &list->key[i]));
	for (u32 i = 0; i < 20000; i++) {
		struct baleen_key key = key_of(random, spec, i % 2);
		bool listed = bsearch(&key, list->key, list->n_key, sizeof(key),
				      (int (*)(const void *, const void *))baleen_key_compare);

		n_wrong += !listed && baleen_filter_test(filter, &key);
	}
	assert_int_equal(n_wrong, 0);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		n_keys += filter->image.table[domain].n_entries;
	assert_int_equal(n_keys, list->n_key);
}

/* Keys that fit in 64 bits come back, longer ones cannot. */
static void assert_keys_listed(const struct baleen_filter *filter, const struct baleen_list *list)
{
	struct baleen_list back;
	struct baleen_error error;

	if (filter->image.table[BALEEN_TUPLE].kind) {
		assert_false(baleen_image_is_exact(&filter->image));
		assert_int_equal(baleen_filter_to_list(filter, &back, &error), -EOPNOTSUPP);
		return;
	}
	assert_true(baleen_image_is_exact(&filter->image));
	assert_int_equal(baleen_filter_to_list(filter, &back, &error), 0);
	assert_int_equal(back.key_spec, list->key_spec);
	assert_int_equal(back.n_key, list->n_key);
	assert_memory_equal(back.key, list->key, list->n_key * sizeof(*list->key));
	baleen_list_free(&back);
}

static void test_fields(void **state)
{
	static const u32 counts[] = { 1, 2, 3, 100, 1000, 20000 };
	struct random random = random_from(3);

	for (u32 spec = 1; spec <= BALEEN_KEY_FLOW; spec++) {
		for (u32 i = 0; i < 6 && !baleen_spec_is_address(spec); i++) {
			struct baleen_build_options options = plain;
			struct baleen_list list = make_keys(spec, counts[i], spec);
			struct baleen_image out;
			struct baleen_filter filter;
			struct baleen_error error;
			const char *reason;

			options.key_spec = spec;
			if (baleen_build(&list, &options, &filter, &error))
				fail_msg("spec %u: %s", spec, error.text);
			if (baleen_image_check(filter.bytes, filter.n_bytes, &out, &reason))
				fail_msg("spec %u: %s", spec, reason);
			assert_memory_equal(&out, &filter.image, sizeof(out));
			assert_keys(&filter, &list, spec, &random);
			assert_keys_listed(&filter, &list);
			baleen_filter_free(&filter);
			baleen_list_free(&list);
		}
	}
}

/* The keys of a list are those of the filter. */
static void test_refused_fields(void **state)
{
	const u32 spec = BALEEN_KEY_SRC | BALEEN_KEY_DPORT;
	struct baleen_build_options options = plain;
	struct baleen_list keys = make_keys(spec, 10, 1), hosts = make_list(ip4_random, 10, 0);
	struct baleen_filter filter;

	assert_build_refused(&keys, &options, EINVAL, "the list has other keys than the filter");
	options.key_spec = spec | BALEEN_KEY_PROTO;
	assert_build_refused(&keys, &options, EINVAL, "the list has other keys than the filter");
	assert_build_refused(&hosts, &options, EINVAL, "the list has other keys than the filter");
	options.key_spec = spec;
	assert_build_refused(&hosts, &options, EINVAL, "the list has other keys than the filter");
	/* Short keys alone, then a list with longer ones. */
	keys.n_key = 1;
	while (keys.key[0].domain != BALEEN_WORD)
		keys.key[0] = keys.key[1];
	assert_int_equal(baleen_build(&keys, &options, &filter, NULL), 0);
	baleen_list_free(&keys);
	keys = make_keys(spec, 10, 1);
	options.like = &filter.image;
	assert_build_refused(&keys, &options, EINVAL,
			     "the list has long keys, the image to be like has no table for them");
	baleen_filter_free(&filter);
	baleen_list_free(&keys);
	baleen_list_free(&hosts);
}

/* Of any key an empty list makes an image that validates, with room. */
static void test_empty_fields(void **state)
{
	struct baleen_build_options options = plain;
	struct baleen_list list = { .n_lines = 1 };
	struct random random = random_from(4);

	for (options.key_spec = 1; options.key_spec <= BALEEN_KEY_FLOW; options.key_spec++) {
		u32 domain = baleen_spec_domain(options.key_spec, false);
		struct baleen_image out;
		struct baleen_filter filter;
		const char *reason;

		options.capacity = options.key_spec % 2 ? 0 : 1000;
		assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
		if (baleen_image_check(filter.bytes, filter.n_bytes, &out, &reason))
			fail_msg("spec %u: %s", options.key_spec, reason);
		assert_true(baleen_table_capacity(&out.table[domain]) >= options.capacity);
		for (u32 i = 0; i < 1000; i++) {
			struct baleen_key key = key_of(&random, options.key_spec, i % 2);

			assert_int_equal(baleen_filter_test(&filter, &key), 0);
		}
		baleen_filter_free(&filter);
	}
}

/* What was listed is told, also by a copy of a live map. */
static void test_listed(void **state)
{
	struct baleen_list list = make_list(ip4_random, 100, 100);
	struct baleen_filter filter, copy;

	list.n_listed = 300;
	list.n_covered = 100;
	assert_int_equal(baleen_build(&list, &plain, &filter, NULL), 0);
	filter.image.flags = BALEEN_FLAG_LIVE;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		filter.image.table[domain].n_entries = 0;
	assert_int_equal(baleen_filter_copy(&filter, &copy, NULL), 0);
	assert_int_equal(copy.image.n_listed, 300);
	assert_int_equal(copy.image.n_covered, 100);
	assert_int_equal(copy.image.n_entries, 200);
	baleen_filter_free(&filter);
	baleen_filter_free(&copy);
	/* Who made the list in memory may not have counted. */
	list.n_listed = 0;
	assert_int_equal(baleen_build(&list, &plain, &filter, NULL), 0);
	assert_sound(&filter, &list);
	assert_int_equal(filter.image.n_covered, 0);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_capacity),
		cmocka_unit_test(test_refused_rate),
		cmocka_unit_test(test_refused_like),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_ip6),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_both_families),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_seeds),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_refused_fields),
		cmocka_unit_test(test_empty_fields),
		cmocka_unit_test(test_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
