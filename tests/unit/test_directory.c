// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* IPv4 prefixes: directories of every width against a walk over all entries. */
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
#include "slow_prefixes.h"

#define LISTS "../shared/data/lists/"

static const struct baleen_build_options plain = {
	.key_spec = BALEEN_KEY_SRC,
	.kind = BALEEN_KIND_CUCKOO,
};

/* --- entries -------------------------------------------------------------- */

/* Prefixes of @shortest..32 bits, @n_exceptions in 100 of them exceptions, in
 * as few or as many places as @where says: entries that overlap are what
 * matters.
 */
static struct entries random_entries(struct random *random, size_t n, u32 shortest,
				     u32 n_exceptions, u32 where)
{
	struct entries entries = { .n = n };

	entries.entry = malloc((n + 1) * sizeof(*entries.entry));
	for (size_t i = 0; i < n; i++) {
		u64 spread = random_next(random), place = random_below(random, where);

		entries.entry[i] = (struct baleen_prefix6){
			/* Places are scattered, addresses of a place are near. */
			.hi = (u64)(u32)(place * 0x9e3779b1u) << 32,
			.length = shortest + random_below(random, 33 - shortest),
			.is_exception = random_below(random, 100) < n_exceptions,
		};
		entries.entry[i].hi ^= (spread & 0xffff) << (32 + random_below(random, 17));
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
	assert_same(filter, entries, 0xffffffffull << 32, 0);
}

/* What comes back is a finished list, the same set, and made into a filter again
 * says the same.
 */
static void assert_listed(const struct baleen_filter *filter, const struct entries *entries,
			  struct random *random)
{
	struct baleen_list list;
	struct baleen_error error;
	struct baleen_filter again;
	size_t j = 0;

	if (baleen_filter_to_list(filter, &list, &error))
		fail_msg("%s", error.text);
	assert_int_equal(list.key_spec, filter->image.key_spec);
	assert_int_equal(list.n_listed, filter->image.n_listed);
	assert_int_equal(list.n_covered, filter->image.n_covered);
	for (size_t i = 0; i < list.n_net4; i++) {
		assert_true(list.net4[i].first < list.net4[i].last);
		assert_true(!i || list.net4[i - 1].last + 1ull < list.net4[i].first);
	}
	for (size_t i = 0; i < list.n_ip4; i++) {
		assert_true(!i || list.ip4[i - 1] < list.ip4[i]);
		while (j < list.n_net4 && list.net4[j].last < list.ip4[i])
			j++;
		assert_true(j == list.n_net4 || list.ip4[i] < list.net4[j].first);
	}
	again = filter_of(&list, &plain);
	assert_set(&again, entries, 500, random);
	baleen_filter_free(&again);
	baleen_list_free(&list);
}

/* --- what a plan says ----------------------------------------------------- */

/* A filter of this layout and nothing else. */
static struct baleen_filter filter_of_plan(const struct baleen_runs *runs,
					   const struct baleen_directory_plan *plan,
					   struct random *random)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC,
				      .n_blocks = BALEEN_HEADER_BLOCKS };
	struct baleen_table *hosts = &image.table[BALEEN_IP4];
	struct baleen_table *groups = &image.table[BALEEN_IP4_GROUPS];
	u32 *ip4 = malloc((plan->n_hosts + 1) * sizeof(*ip4));
	struct baleen_filter filter;

	image.seed = random_seed(random);
	if (plan->n_hosts) {
		assert_int_equal(baleen_plan_table(BALEEN_IP4, BALEEN_KIND_CUCKOO,
						   plan->n_hosts * 2, 0, hosts, NULL),
				 0);
		hosts->first_block = image.n_blocks;
		image.n_blocks += hosts->n_blocks;
	}
	*groups = baleen_directory_table(plan, BALEEN_IP4_GROUPS);
	groups->first_block = image.n_blocks;
	groups->leaf_block = image.n_blocks + baleen_directory_lines(plan->group_bits);
	image.n_blocks += groups->n_blocks;
	assert_int_equal(baleen_filter_alloc(&filter, &image, NULL), 0);
	baleen_directory_hosts(runs, plan, ip4);
	for (u64 i = 0; i < plan->n_hosts; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = ip4[i] };
		size_t n_done;

		assert_true(!i || ip4[i - 1] < ip4[i]);
		assert_int_equal(baleen_filter_insert(&filter, &key, 1, &n_done), 0);
	}
	baleen_directory_fill(&filter, BALEEN_IP4_GROUPS, runs, plan);
	free(ip4);
	return filter;
}

static struct baleen_runs runs_of(const struct baleen_list *list)
{
	struct baleen_runs runs = {
		.run = malloc((list->n_net4 + list->n_ip4 + 1) * sizeof(*runs.run)),
	};
	size_t i = 0, j = 0;

	while (i < list->n_net4 || j < list->n_ip4) {
		bool is_host = i == list->n_net4 ||
			       (j < list->n_ip4 && list->ip4[j] < list->net4[i].first);

		runs.run[runs.n++] = (struct baleen_run){
			.first = is_host ? list->ip4[j] : list->net4[i].first,
			.last = is_host ? list->ip4[j] : list->net4[i].last,
			.state = BALEEN_GROUP_ALL,
		};
		i += !is_host;
		j += is_host;
	}
	return runs;
}

/* --- every width of groups ------------------------------------------------ */

/* A hosts limit of its own choice, then none: all are leaves. */
static void try_group_bits(const struct entries *entries, const struct baleen_list *list, u32 bits,
			   u64 least, struct random *random)
{
	const struct baleen_host_cost cost = { .kind = BALEEN_KIND_CUCKOO };
	struct baleen_runs runs = runs_of(list);

	for (int has_hosts = 0; has_hosts < 2; has_hosts++) {
		struct baleen_directory_plan plan =
			baleen_directory_plan_groups(&runs, BALEEN_IP4_GROUPS,
						     has_hosts ? &cost : NULL, bits);
		struct baleen_filter filter;

		assert_int_equal(plan.group_bits, bits);
		/* Nothing is smaller than what is chosen among all widths. */
		assert_true(plan.n_blocks >= least);
		if (!has_hosts)
			assert_int_equal(plan.n_hosts, 0);
		filter = filter_of_plan(&runs, &plan, random);
		assert_set(&filter, entries, 1000, random);
		assert_listed(&filter, entries, random);
		baleen_filter_free(&filter);
	}
	free(runs.run);
}

static void test_group_bits(void **state)
{
	struct random random = random_from(1);
	struct entries entries = random_entries(&random, 120, 8, 20, 5);
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filter = filter_of(&list, &plain);
	u64 least = filter.image.n_blocks - BALEEN_HEADER_BLOCKS;

	assert_true(list.n_net4);
	for (u32 bits = BALEEN_MIN_GROUP_BITS; bits <= BALEEN_MAX_GROUP_BITS; bits++)
		try_group_bits(&entries, &list, bits, least, &random);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* --- random mixes --------------------------------------------------------- */

static void try_mix(struct random *random, const struct baleen_build_options *options)
{
	size_t n = 1 + random_below(random, 1ull << random_below(random, 10));
	struct entries entries =
		random_entries(random, n, random_below(random, 33), random_below(random, 60),
			       1 + random_below(random, 300));
	struct baleen_list list = entries_list(&entries);
	struct baleen_filter filter = filter_of(&list, options);

	assert_int_equal(filter.image.table[BALEEN_IP4_GROUPS].kind != BALEEN_KIND_NONE,
			 list.n_net4 != 0);
	assert_true(baleen_image_is_exact(&filter.image));
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		assert_int_equal(baleen_filter_count(&filter, domain),
				 filter.image.table[domain].n_entries);
	assert_set(&filter, &entries, 1000, random);
	assert_listed(&filter, &entries, random);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

static void test_mixes(void **state)
{
	struct random random = random_from(2);

	for (u32 round = 0; round < 300; round++)
		try_mix(&random, &plain);
}

/* All and nothing, halves, and what stands at both ends. */
static void test_ends(void **state)
{
	static const struct baleen_prefix6 ends[][3] = {
		{ { 0, 0, 0, 0 } },
		{ { 0, 0, 1, 0 } },
		{ { 1ull << 63, 0, 1, 0 } },
		{ { 0, 0, 0, 0 }, { 0, 0, 32, 1 }, { 0xffffffffull << 32, 0, 32, 1 } },
		{ { 0, 0, 31, 0 }, { 0xfffffffeull << 32, 0, 31, 0 } },
		{ { 0, 0, 0, 0 }, { 0, 0, 0, 1 } },
		{ { 0, 0, 8, 0 }, { 0, 0, 24, 1 }, { 0, 0, 32, 0 } },
	};
	struct random random = random_from(3);

	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct entries entries = { .entry = (struct baleen_prefix6 *)ends[i], .n = 3 };
		struct baleen_list list = { 0 };
		struct baleen_filter filter;

		/* What is not given is an entry of its own: 0.0.0.0/0, no entry. */
		while (entries.n > 1 && !ends[i][entries.n - 1].length &&
		       !ends[i][entries.n - 1].is_exception)
			entries.n--;
		list = entries_list(&entries);
		filter = filter_of(&list, &plain);
		assert_set(&filter, &entries, 2000, &random);
		assert_listed(&filter, &entries, &random);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
	}
}

/* --- counts --------------------------------------------------------------- */

/* The fewest prefixes of the entries in this part of the address space. */
static u64 slow_count(const struct entries *entries, u32 address, u32 length, bool *is_all)
{
	bool all[2];
	u64 n;

	if (length == 32) {
		*is_all = entries_hold(entries, (u64)address << 32, 0);
		return *is_all;
	}
	n = slow_count(entries, address, length + 1, &all[0]);
	n += slow_count(entries, address | 1u << (31 - length), length + 1, &all[1]);
	*is_all = all[0] && all[1];
	return *is_all ? 1 : n;
}

static void test_count(void **state)
{
	struct random random = random_from(4);

	for (u32 round = 0; round < 20; round++) {
		struct entries entries = random_entries(&random, 30, 21, 30, 1);
		struct baleen_list list;
		struct baleen_filter filter;
		struct baleen_runs runs;
		struct baleen_directory_plan plan;
		bool is_all;

		for (size_t i = 0; i < entries.n; i++)
			entries.entry[i].hi &= 0xfffull << 32;
		list = entries_list(&entries);
		runs = runs_of(&list);
		plan = baleen_directory_plan_groups(&runs, BALEEN_IP4_GROUPS, NULL, 20);
		filter = filter_of_plan(&runs, &plan, &random);
		assert_int_equal(baleen_directory_count(&filter),
				 slow_count(&entries, 0, 20, &is_all));
		free(runs.run);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
		free(entries.entry);
	}
}

/* --- options -------------------------------------------------------------- */

/* Room for hosts that are to come. */
static void test_capacity(void **state)
{
	struct random random = random_from(5);
	struct entries entries = random_entries(&random, 500, 16, 10, 100);
	struct baleen_list list = entries_list(&entries);
	struct baleen_build_options options = plain;
	struct baleen_filter filter;

	for (options.capacity = 1000; options.capacity <= 100000; options.capacity *= 10) {
		filter = filter_of(&list, &options);
		assert_set(&filter, &entries, 1000, &random);
		assert_true(baleen_table_capacity(&filter.image.table[BALEEN_IP4]) >=
			    options.capacity);
		baleen_filter_free(&filter);
	}
	baleen_list_free(&list);
	free(entries.entry);
}

/* The rate is that of addresses in groups that have hosts, others are exact. */
static void test_bloom(void **state)
{
	const struct baleen_build_options options = {
		.key_spec = BALEEN_KEY_SRC,
		.kind = BALEEN_KIND_BLOOM,
		.fpp = 1e-2,
	};
	struct random random = random_from(6);
	struct entries entries = random_entries(&random, 3000, 24, 0, 3000);
	struct baleen_list list = entries_list(&entries), back;
	struct baleen_filter filter = filter_of(&list, &options);
	const struct baleen_image *image = &filter.image;
	u64 n_wrong = 0, n_asked = 0;

	assert_int_equal(image->table[BALEEN_IP4].kind, BALEEN_KIND_BLOOM);
	assert_int_equal(image->table[BALEEN_IP4_GROUPS].kind, BALEEN_KIND_DIRECTORY);
	assert_false(baleen_image_is_exact(image));
	assert_true(baleen_filter_worst_fpp(&filter) <= 1e-2);
	for (u32 i = 0; i < 20000; i++) {
		u32 ip4 = i % 2 ? list.ip4[random_below(&random, list.n_ip4)] ^ (i & 254) :
				  random_next(&random);
		u32 group = baleen_directory_get(&image->table[BALEEN_IP4_GROUPS], filter.bytes,
						 ip4, 1);
		bool want = entries_hold(&entries, (u64)ip4 << 32, 0);
		bool got = filter_holds(&filter, false, (u64)ip4 << 32, 0);

		if (group != BALEEN_GROUP_HOSTS)
			assert_int_equal(got, want);
		assert_true(got || !want);
		n_asked += group == BALEEN_GROUP_HOSTS && !want;
		n_wrong += got && !want;
	}
	/* A mean of @n_asked / 100 at most; five standard deviations above. */
	assert_true(n_asked > 1000);
	assert_true(n_wrong * 1. <= n_asked / 100. + 5 * sqrt(n_asked / 100.));
	assert_int_equal(baleen_filter_to_list(&filter, &back, NULL), -EOPNOTSUPP);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* Seed, key and kind; the geometry where it can be kept. */
static void test_like(void **state)
{
	struct random random = random_from(7);
	struct entries hosts = random_entries(&random, 1000, 32, 0, 1000);
	struct entries mixed = random_entries(&random, 1000, 20, 10, 1000);
	struct baleen_list host_list = entries_list(&hosts), mixed_list = entries_list(&mixed);
	struct baleen_build_options options = plain;
	struct baleen_filter first, second, third;

	options.key_spec = BALEEN_KEY_DST;
	options.capacity = 100000;
	first = filter_of(&host_list, &options);
	options = plain;
	options.like = &first.image;
	second = filter_of(&mixed_list, &options);
	assert_set(&second, &mixed, 1000, &random);
	assert_int_equal(second.image.key_spec, BALEEN_KEY_DST);
	assert_memory_equal(&second.image.seed, &first.image.seed, sizeof(first.image.seed));
	assert_int_equal(second.image.table[BALEEN_IP4].n_buckets,
			 first.image.table[BALEEN_IP4].n_buckets);
	options.like = &second.image;
	third = filter_of(&host_list, &options);
	assert_set(&third, &hosts, 1000, &random);
	assert_int_equal(third.image.table[BALEEN_IP4_GROUPS].kind, BALEEN_KIND_NONE);
	baleen_filter_free(&third);
	baleen_filter_free(&second);
	baleen_filter_free(&first);

	/* Few hosts fit there, more are the plan's own choice. */
	options = plain;
	host_list.n_ip4 = 3;
	first = filter_of(&host_list, &options);
	options.like = &first.image;
	second = filter_of(&mixed_list, &options);
	assert_set(&second, &mixed, 1000, &random);
	baleen_filter_free(&second);
	baleen_filter_free(&first);
	baleen_list_free(&host_list);
	baleen_list_free(&mixed_list);
	free(hosts.entry);
	free(mixed.entry);
}

/* --- damage --------------------------------------------------------------- */

/* Whatever stands in the body, nothing outside is read: the sanitizer tells. */
static void test_damage(void **state)
{
	struct random random = random_from(8);
	struct entries entries = random_entries(&random, 300, 12, 10, 300);
	struct baleen_list list = entries_list(&entries), back;
	struct baleen_filter filter = filter_of(&list, &plain);
	const struct baleen_table *table = &filter.image.table[BALEEN_IP4_GROUPS];
	struct baleen_block *blocks = filter.bytes;
	u64 n_words = (u64)table->n_blocks * BALEEN_BLOCK_WORDS;

	assert_true(table->n_buckets > 0);
	for (u32 round = 0; round < 200; round++) {
		u64 *word = blocks[table->first_block].word;

		for (u32 i = 0; i < 2000; i++)
			word[random_below(&random, n_words)] =
				round % 2 ? ~0ull : random_next(&random);
		for (u32 i = 0; i < 2000; i++)
			filter_holds(&filter, false, random_next(&random), 0);
	}
	/* What is listed is what is found. */
	if (!baleen_filter_to_list(&filter, &back, NULL)) {
		for (size_t i = 0; i < back.n_ip4; i++)
			assert_true(filter_holds(&filter, false, (u64)back.ip4[i] << 32, 0));
		for (size_t i = 0; i < back.n_net4; i++) {
			assert_true(filter_holds(&filter, false, (u64)back.net4[i].first << 32, 0));
			assert_true(filter_holds(&filter, false, (u64)back.net4[i].last << 32, 0));
		}
		baleen_list_free(&back);
	}
	baleen_filter_free(&filter);
	baleen_list_free(&list);
	free(entries.entry);
}

/* Past the last leaf there is nothing, as if the bit were not set. */
static void test_rank_past_leaves(void **state)
{
	const struct baleen_run run = { 0x0a000100, 0x0a000180, BALEEN_GROUP_ALL };
	const struct baleen_runs runs = { (struct baleen_run *)&run, 1 };
	struct random random = random_from(9);
	struct baleen_directory_plan plan =
		baleen_directory_plan_groups(&runs, BALEEN_IP4_GROUPS, NULL, 24);
	struct baleen_filter filter = filter_of_plan(&runs, &plan, &random);
	u32 line = filter.image.table[BALEEN_IP4_GROUPS].first_block +
		   baleen_group_locate(0x0a0001).line;
	struct baleen_block *blocks = filter.bytes;

	assert_int_equal(plan.n_leaves, 1);
	assert_true(filter_holds(&filter, false, 0x0a000100ull << 32, 0));
	assert_int_equal(baleen_directory_count(&filter), 2);
	for (u64 rank = 1; rank < 1 << 24; rank = rank * 3 + 1) {
		blocks[line].word[6] = baleen_le64(rank);
		assert_false(filter_holds(&filter, false, 0x0a000100ull << 32, 0));
		assert_int_equal(baleen_directory_count(&filter), 0);
	}
	baleen_filter_free(&filter);
}

/* --- lists of the world --------------------------------------------------- */

/* The entries that matter for the addresses of each /16. */
struct buckets {
	struct entries of[65536];
};

static void bucket_add(struct buckets *buckets, struct baleen_prefix6 entry)
{
	u64 last_hi, last_lo;

	entry_last(&entry, &last_hi, &last_lo);
	for (u64 i = entry.hi >> 48; i <= last_hi >> 48; i++) {
		struct entries *of = &buckets->of[i];

		if (!(of->n & (of->n - 1)))
			of->entry = realloc(of->entry, (of->n ? of->n * 2 : 1) * sizeof(entry));
		of->entry[of->n++] = entry;
	}
}

static struct baleen_list read_list(const char *path)
{
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_error error;
	int fd = open(path, O_RDONLY);

	if (baleen_list_read(&list, fd, path, &(struct baleen_list_reader){ 0 }, &error))
		fail_msg("%s", error.text);
	assert_int_equal(list.n_bad, 0);
	close(fd);
	return list;
}

/* 2 M random addresses, half of them inside, none of them wrong. */
static void try_file(const char *path, u64 seed)
{
	struct random random = random_from(seed);
	struct buckets *buckets = calloc(1, sizeof(*buckets));
	struct baleen_list list;
	struct baleen_filter filter;
	u64 n_inside = 0;

	if (access(path, R_OK)) {
		print_message("# %s is not there\n", path);
		free(buckets);
		skip();
	}
	list = read_list(path);
	for (size_t i = 0; i < list.n_prefix4; i++)
		bucket_add(buckets, (struct baleen_prefix6){
					    .hi = (u64)list.prefix4[i].address << 32,
					    .length = list.prefix4[i].length,
					    .is_exception = list.prefix4[i].is_exception,
				    });
	for (size_t i = 0; i < list.n_ip4; i++)
		bucket_add(buckets, (struct baleen_prefix6){
					    .hi = (u64)list.ip4[i] << 32,
					    .length = 32,
				    });
	assert_int_equal(baleen_list_finish(&list), 0);
	filter = filter_of(&list, &plain);
	for (u32 i = 0; i < 2000000; i++) {
		u32 ip4 = random_next(&random), size;
		bool want;

		if (i % 2) {
			u64 n = random_below(&random, list.n_net4 + list.n_ip4);

			if (n < list.n_net4) {
				size = list.net4[n].last - list.net4[n].first;
				ip4 = list.net4[n].first + random_below(&random, size + 1ull);
			} else {
				ip4 = list.ip4[n - list.n_net4];
			}
		}
		want = entries_hold(&buckets->of[ip4 >> 16], (u64)ip4 << 32, 0);
		n_inside += want;
		if (filter_holds(&filter, false, (u64)ip4 << 32, 0) != want)
			fail_msg("%#x: the list says %d", ip4, want);
	}
	assert_true(n_inside >= 1000000);
	print_message("# %s: %zu bytes, %u group bits, %u leaves, %llu hosts\n", path,
		      filter.n_bytes, filter.image.table[BALEEN_IP4_GROUPS].group_bits,
		      filter.image.table[BALEEN_IP4_GROUPS].n_buckets,
		      (unsigned long long)filter.image.table[BALEEN_IP4].n_entries);
	for (u32 i = 0; i < 65536; i++)
		free(buckets->of[i].entry);
	free(buckets);
	baleen_filter_free(&filter);
	baleen_list_free(&list);
}

static void test_country_us(void **state)
{
	try_file(LISTS "country-us.ipv4.cidr", 10);
}

static void test_country_de(void **state)
{
	try_file(LISTS "country-de.ipv4.cidr", 11);
}

static void test_ipsum(void **state)
{
	try_file(LISTS "ipsum.txt", 12);
}

/* What random prefixes cost, to be read, not judged. */
static void test_sizes(void **state)
{
	struct random random = random_from(13);

	for (u32 n = 1000; n <= 100000; n *= 10) {
		struct entries entries = random_entries(&random, n, 16, 0, n);
		struct baleen_list list = entries_list(&entries);
		struct baleen_filter filter = filter_of(&list, &plain);

		assert_same_random(&filter, &entries, 200, &random);
		print_message("# %u random prefixes: %zu bytes, %u group bits, %u leaves\n", n,
			      filter.n_bytes, filter.image.table[BALEEN_IP4_GROUPS].group_bits,
			      filter.image.table[BALEEN_IP4_GROUPS].n_buckets);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
		free(entries.entry);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_bits),
		cmocka_unit_test(test_mixes),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_like),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_rank_past_leaves),
		cmocka_unit_test(test_country_us),
		cmocka_unit_test(test_country_de),
		cmocka_unit_test(test_ipsum),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
