// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changing a filter in place: what it holds, and what a killed writer leaves. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "filter/live.h"
#include "filter/slots.h"
#include "lists.h"
#include "ops/build.h"
#include "tables.h"

struct geometry {
	u32 domain, slot_bits, n_buckets;
};

/* In four and five buckets some keys have one bucket for both. */
static const struct geometry geometries[] = {
	{ BALEEN_IP4, 32, 4 }, { BALEEN_IP4, 32, 101 }, { BALEEN_IP4, 32, 256 },
	{ BALEEN_IP6, 16, 5 }, { BALEEN_IP6, 16, 61 },	{ BALEEN_IP6, 16, 256 },
	{ BALEEN_IP6, 64, 5 }, { BALEEN_IP6, 64, 99 },	{ BALEEN_IP6, 64, 256 },
};

#define N_GEOMETRIES (sizeof(geometries) / sizeof(geometries[0]))

static struct baleen_filter geometry_filter(const struct geometry *geometry, struct random *random)
{
	struct baleen_table table = cuckoo_table(geometry->slot_bits, geometry->n_buckets);
	struct baleen_filter filter = table_filter(&table, geometry->domain, random);

	filter.image.flags = BALEEN_FLAG_LIVE;
	return filter;
}

static struct baleen_cuckoo_place place_of(const struct baleen_filter *filter,
					   const struct baleen_key *key)
{
	return baleen_cuckoo_locate(&filter->image.table[key->domain], &filter->image.seed, key);
}

/* --- the slow reference: every key there is, and whether it is listed ------ */

struct universe {
	u32 n;
	struct baleen_key *key;
	bool *listed;
};

/* Keys that no table takes for each other: narrow slots of hashed keys would. */
static struct universe universe_of(const struct baleen_filter *filter, u32 domain, u32 n,
				   struct random *random)
{
	struct universe universe = {
		.key = calloc(n, sizeof(*universe.key)),
		.listed = calloc(n, sizeof(*universe.listed)),
	};

	while (universe.n < n) {
		struct baleen_key key = random_key(random, domain);
		struct baleen_cuckoo_place place = place_of(filter, &key);
		u32 i = 0;

		for (; i < universe.n; i++) {
			struct baleen_cuckoo_place taken = place_of(filter, &universe.key[i]);

			if (taken.home == place.home && taken.slot == place.slot)
				break;
		}
		if (i == universe.n)
			universe.key[universe.n++] = key;
	}
	return universe;
}

static void universe_free(struct universe *universe)
{
	free(universe->key);
	free(universe->listed);
}

static u32 n_listed(const struct universe *universe)
{
	u32 n = 0;

	for (u32 i = 0; i < universe->n; i++)
		n += universe->listed[i];
	return n;
}

/* These keys and no others, each in one place once it was repaired. */
static void assert_universe(const struct baleen_filter *filter, const struct universe *universe)
{
	struct baleen_filter copy;

	assert_int_equal(baleen_filter_alloc(&copy, &filter->image, NULL), 0);
	memcpy(copy.bytes, filter->bytes, copy.n_bytes);
	baleen_live_repair(&copy);
	assert_int_equal(baleen_filter_count(&copy, universe->key[0].domain), n_listed(universe));
	baleen_filter_free(&copy);
	for (u32 i = 0; i < universe->n; i++)
		assert_int_equal(baleen_filter_test(filter, &universe->key[i]),
				 universe->listed[i]);
}

/* A key that is away from home never comes back: a reader may have looked
 * there before and look here after.
 */
static void assert_away_stay(const struct baleen_filter *filter, u32 domain, void *bytes)
{
	struct baleen_filter before = { .image = filter->image, .bytes = bytes };
	struct baleen_slots was = baleen_slots_of(&before, domain);
	struct baleen_slots is = baleen_slots_of(filter, domain);
	u64 side = baleen_cuckoo_side(was.table->slot_bits);

	for (u32 bucket = 0; bucket < was.table->n_buckets; bucket++)
		for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++)
			if (baleen_slots_get(&was, bucket, i) & side)
				assert_int_equal(baleen_slots_get(&is, bucket, i),
						 baleen_slots_get(&was, bucket, i));
}

/* Adds a key; without room, nothing at all may have changed. */
static int add_checked(struct baleen_filter *filter, const struct baleen_key *key, bool is_there)
{
	u8 *before = malloc(filter->n_bytes);
	bool changed = is_there;
	int err;

	memcpy(before, filter->bytes, filter->n_bytes);
	err = baleen_live_add(filter, key, &changed);
	if (err) {
		assert_int_equal(err, -ENOSPC);
		assert_false(is_there);
		assert_int_equal(changed, is_there);
		assert_memory_equal(before, filter->bytes, filter->n_bytes);
	} else {
		assert_int_equal(changed, !is_there);
		assert_true(baleen_filter_test(filter, key));
		assert_away_stay(filter, key->domain, before);
	}
	free(before);
	return err;
}

static void del_checked(struct baleen_filter *filter, const struct baleen_key *key, bool was_there)
{
	bool changed = !was_there;

	assert_int_equal(baleen_live_del(filter, key, &changed), 0);
	assert_int_equal(changed, was_there);
	assert_false(baleen_filter_test(filter, key));
}

/* As a writer leaves it that was killed between copy and clear: whether the
 * key was at home and there was room for the copy.
 */
static bool duplicate(struct baleen_filter *filter, const struct baleen_key *key)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place = place_of(filter, key);
	u64 side = baleen_cuckoo_side(slots.table->slot_bits);
	u32 free = BALEEN_BUCKET_SLOTS;
	bool is_home = false;

	for (u32 i = 0; i < BALEEN_BUCKET_SLOTS; i++) {
		is_home |= baleen_slots_get(&slots, place.home, i) == place.slot;
		if (!baleen_slots_get(&slots, place.other, i))
			free = i;
	}
	if (!is_home || free == BALEEN_BUCKET_SLOTS)
		return false;
	baleen_slots_set(&slots, place.other, free, place.slot | side);
	return true;
}

/* --- refused --------------------------------------------------------------- */

static void assert_refused(struct baleen_filter *filter, const struct baleen_key *key,
			   int (*change)(struct baleen_filter *, const struct baleen_key *, bool *),
			   int want)
{
	u8 *before = malloc(filter->n_bytes);

	memcpy(before, filter->bytes, filter->n_bytes);
	for (int poison = 0; poison < 2; poison++) {
		bool changed = poison;

		assert_int_equal(change(filter, key, &changed), want);
		assert_int_equal(changed, poison);
	}
	assert_memory_equal(before, filter->bytes, filter->n_bytes);
	free(before);
}

static void test_refused(void **state)
{
	struct random random = random_from(1);
	struct baleen_table cuckoo = cuckoo_table(32, 8), bloom = bloom_table(4, 8);
	struct baleen_filter filter = table_filter(&cuckoo, BALEEN_IP4, &random);
	struct baleen_key ip4 = random_key(&random, BALEEN_IP4);
	struct baleen_key ip6 = random_key(&random, BALEEN_IP6);
	bool changed = true;

	assert_refused(&filter, &ip6, baleen_live_add, -ENOSPC);
	assert_int_equal(baleen_live_del(&filter, &ip6, &changed), 0);
	assert_false(changed);
	filter.image.table[BALEEN_IP4].kind = 99;
	assert_refused(&filter, &ip4, baleen_live_add, -EOPNOTSUPP);
	assert_refused(&filter, &ip4, baleen_live_del, -EOPNOTSUPP);
	assert_int_equal(baleen_live_repair(&filter), 0);
	baleen_filter_free(&filter);

	filter = table_filter(&bloom, BALEEN_IP4, &random);
	assert_int_equal(insert_one(&filter, &ip4), 0);
	assert_refused(&filter, &ip4, baleen_live_del, -EOPNOTSUPP);
	assert_int_equal(baleen_live_repair(&filter), 0);
	baleen_filter_free(&filter);
}

/* --- as the reference ------------------------------------------------------ */

/* Fills up to the first refusal and empties again, at random on the way. */
static void churn(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, random);
	u32 n_slots = geometry->n_buckets * BALEEN_BUCKET_SLOTS;
	struct universe universe = universe_of(&filter, geometry->domain, n_slots * 3 / 2, random);
	u32 n_refused = 0, n_duplicates = 0;

	for (u32 op = 0; op < n_slots * 40; op++) {
		u32 i = random_below(random, universe.n);
		/* Mostly adds, then mostly deletes, and so on. */
		bool add = random_below(random, 10) < (op / (n_slots * 4) % 2 ? 3 : 8);

		if (random_below(random, 8) == 0 && universe.listed[i])
			n_duplicates += duplicate(&filter, &universe.key[i]);
		if (add && add_checked(&filter, &universe.key[i], universe.listed[i])) {
			n_refused++;
		} else {
			if (!add)
				del_checked(&filter, &universe.key[i], universe.listed[i]);
			universe.listed[i] = add;
		}
		if (op % 64 == 0)
			assert_universe(&filter, &universe);
	}
	assert_universe(&filter, &universe);
	assert_true(n_refused > 0);
	assert_true(n_duplicates > 0);
	universe_free(&universe);
	baleen_filter_free(&filter);
}

static void test_churn(void **state)
{
	struct random random = random_from(2);

	for (u32 i = 0; i < N_GEOMETRIES; i++)
		churn(&geometries[i], &random);
}

/* Without room an exact table is nearly full, and it says so every time. */
static void test_full(void **state)
{
	struct random random = random_from(3);

	for (u32 i = 0; i < N_GEOMETRIES; i++) {
		const struct geometry *geometry = &geometries[i];
		struct baleen_filter filter = geometry_filter(geometry, &random);
		u32 n_slots = geometry->n_buckets * BALEEN_BUCKET_SLOTS, n = 0;
		struct baleen_key key;

		for (;;) {
			key = random_key(&random, geometry->domain);
			if (baleen_filter_test(&filter, &key))
				continue;
			if (add_checked(&filter, &key, false))
				break;
			n++;
		}
		assert_refused(&filter, &key, baleen_live_add, -ENOSPC);
		assert_int_equal(baleen_filter_count(&filter, geometry->domain), n);
		assert_true(n >= n_slots / 2);
		baleen_filter_free(&filter);
	}
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* Narrow slots of addresses need a large table, that of the builder. */
static void test_exact(void **state)
{
	const u32 n = 800000, n_changed = 20000;
	struct random random = random_from(4);
	struct baleen_table table = cuckoo_table(16, 1 << 18);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	u32 *want = malloc(n * sizeof(*want));
	struct baleen_list got;

	/* An odd multiplier makes distinct keys; the first are taken out for
	 * as many after the last.
	 */
	for (u32 i = 0; i < n + n_changed; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = i * 0x9e3779b1u };
		struct baleen_key first = { .domain = BALEEN_IP4, .ip4 = (i - n) * 0x9e3779b1u };
		bool changed = false;

		if (i < n) {
			assert_int_equal(insert_one(&filter, &key), 0);
			want[i] = key.ip4;
			continue;
		}
		assert_int_equal(baleen_live_del(&filter, &first, &changed), 0);
		assert_true(changed);
		assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
		assert_true(changed);
		want[i - n] = key.ip4;
	}
	qsort(want, n, sizeof(*want), compare_u32);
	assert_int_equal(baleen_filter_to_list(&filter, &got, NULL), 0);
	assert_int_equal(got.n_ip4, n);
	assert_memory_equal(got.ip4, want, n * sizeof(*want));
	baleen_list_free(&got);
	free(want);
	baleen_filter_free(&filter);
}

static void test_bloom(void **state)
{
	struct random random = random_from(5);

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_IP6; domain++) {
		struct baleen_table table = bloom_table(8, 50);
		struct baleen_filter filter = table_filter(&table, domain, &random);
		struct baleen_filter want;

		assert_int_equal(baleen_filter_alloc(&want, &filter.image, NULL), 0);
		for (u32 i = 0; i < 2000; i++) {
			struct baleen_key key = random_key(&random, domain);
			bool was_there = baleen_filter_test(&filter, &key), changed = was_there;

			assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
			assert_int_equal(changed, !was_there);
			assert_int_equal(baleen_live_add(&filter, &key, &changed), 0);
			assert_false(changed);
			assert_int_equal(insert_one(&want, &key), 0);
			assert_memory_equal(filter.bytes, want.bytes, want.n_bytes);
		}
		baleen_filter_free(&want);
		baleen_filter_free(&filter);
	}
}

/* --- in both places -------------------------------------------------------- */

/* Each of add, del and repair, alone, on a key that is in both its places. */
static void test_duplicates(void **state)
{
	struct random random = random_from(6);

	for (u32 i = 0; i < N_GEOMETRIES; i++) {
		u32 domain = geometries[i].domain;
		struct baleen_filter filter = geometry_filter(&geometries[i], &random);
		struct baleen_key key = random_key(&random, domain);

		assert_int_equal(add_checked(&filter, &key, false), 0);
		assert_true(duplicate(&filter, &key));
		assert_int_equal(baleen_filter_count(&filter, domain), 2);
		assert_int_equal(add_checked(&filter, &key, true), 0);
		assert_int_equal(baleen_filter_count(&filter, domain), 1);
		del_checked(&filter, &key, true);

		assert_int_equal(add_checked(&filter, &key, false), 0);
		assert_true(duplicate(&filter, &key));
		del_checked(&filter, &key, true);
		assert_int_equal(baleen_filter_count(&filter, domain), 0);

		assert_int_equal(add_checked(&filter, &key, false), 0);
		assert_int_equal(baleen_live_repair(&filter), 0);
		assert_true(duplicate(&filter, &key));
		assert_int_equal(baleen_live_repair(&filter), 1);
		assert_int_equal(baleen_filter_count(&filter, domain), 1);
		assert_true(baleen_filter_test(&filter, &key));
		baleen_filter_free(&filter);
	}
}

/* The first listed key that is away from home, in another bucket, and whose
 * home is full.
 */
static struct baleen_cuckoo_place find_away(const struct baleen_filter *filter,
					    const struct universe *universe)
{
	struct baleen_slots slots = baleen_slots_of(filter, universe->key[0].domain);
	u64 side = baleen_cuckoo_side(slots.table->slot_bits);

	for (u32 i = 0; i < universe->n; i++) {
		struct baleen_cuckoo_place place = place_of(filter, &universe->key[i]);
		bool is_full = true, is_away = false;

		for (u32 k = 0; k < BALEEN_BUCKET_SLOTS; k++) {
			is_full &= baleen_slots_get(&slots, place.home, k) != 0;
			is_away |= baleen_slots_get(&slots, place.other, k) == (place.slot | side);
		}
		if (is_full && is_away && place.home != place.other)
			return place;
	}
	fail_msg("no key is away from home");
	return (struct baleen_cuckoo_place){ 0 };
}

/* In a full table, what is left at home of a key that moved is room. */
static void test_left_at_home(void **state)
{
	struct random random = random_from(8);

	for (u32 i = 0; i < N_GEOMETRIES; i++) {
		u32 domain = geometries[i].domain, n_slots = geometries[i].n_buckets * 4, n;
		struct baleen_filter filter = geometry_filter(&geometries[i], &random);
		struct universe universe = universe_of(&filter, domain, n_slots * 3 / 2, &random);
		struct baleen_slots slots = baleen_slots_of(&filter, domain);
		struct baleen_cuckoo_place left;
		struct baleen_key key;

		for (u32 k = 0; k < universe.n; k++)
			add_checked(&filter, &universe.key[k], false);
		left = find_away(&filter, &universe);
		baleen_slots_set(&slots, left.home, 0, left.slot);
		n = baleen_filter_count(&filter, domain);
		do
			key = random_key(&random, domain);
		while (place_of(&filter, &key).home != left.home ||
		       baleen_filter_test(&filter, &key));
		assert_int_equal(add_checked(&filter, &key, false), 0);
		assert_int_equal(baleen_slots_get(&slots, left.home, 0),
				 place_of(&filter, &key).slot);
		assert_int_equal(baleen_filter_count(&filter, domain), n);
		assert_int_equal(baleen_live_repair(&filter), 0);
		universe_free(&universe);
		baleen_filter_free(&filter);
	}
}

/* --- a directory of IPv4 groups --------------------------------------------- */

/* Groups of all, one with a leaf, one of hosts, and many of nobody. */
static struct baleen_filter directory_filter(u64 capacity)
{
	const struct baleen_build_options options = { .key_spec = BALEEN_KEY_SRC,
						      .kind = BALEEN_KIND_CUCKOO,
						      .capacity = capacity };
	struct baleen_list list = { 0 };
	struct baleen_filter filter;
	char *text;
	size_t n_bytes;
	FILE *stream = open_memstream(&text, &n_bytes);
	int fd;

	fputs("10.0.0.0/8\n192.0.2.1\n", stream);
	for (u32 i = 0; i < 64 * 256; i += 2)
		fprintf(stream, "172.16.%u.%u\n", i / 256, i % 256);
	fclose(stream);
	fd = open_bytes(text, n_bytes);
	free(text);
	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	assert_int_equal(filter.image.table[BALEEN_IP4_GROUPS].kind, BALEEN_KIND_DIRECTORY);
	assert_true(filter.image.table[BALEEN_IP4_GROUPS].n_buckets > 0);
	close(fd);
	baleen_list_free(&list);
	return filter;
}

static bool is_listed(u32 ip4)
{
	return ip4 >> 24 == 10 || (ip4 >= 0xac100000 && ip4 < 0xac104000 && ip4 % 2 == 0) ||
	       ip4 == 0xc0000201;
}

/* Addresses of every sort of group, and their neighbours. */
static struct universe directory_universe(void)
{
	static const u32 first[] = { 0x0a0000f0, 0xac100000, 0xac1002f0, 0xac103ff8,
				     0xac10ff00, 0xc0000200, 0xc0000300, 0xcb007100 };
	u32 n_runs = sizeof(first) / sizeof(first[0]), n = n_runs * 16;
	struct universe universe = { .n = n,
				     .key = calloc(n, sizeof(*universe.key)),
				     .listed = calloc(n, sizeof(*universe.listed)) };

	for (u32 i = 0; i < n; i++) {
		u32 ip4 = first[i / 16] + i % 16;

		universe.key[i] = (struct baleen_key){ .domain = BALEEN_IP4, .ip4 = ip4 };
		universe.listed[i] = is_listed(ip4);
	}
	return universe;
}

static void assert_listed(const struct baleen_filter *filter, const struct universe *universe)
{
	for (u32 i = 0; i < universe->n; i++)
		assert_int_equal(baleen_filter_test(filter, &universe->key[i]),
				 universe->listed[i]);
}

/* Only a part of a group that is listed whole cannot go. */
static void test_directory(void **state)
{
	struct random random = random_from(9);
	struct baleen_filter filter = directory_filter(10000);
	struct universe universe = directory_universe();
	u32 n_refused = 0, n_changed = 0;

	for (u32 op = 0; op < 4000; op++) {
		u32 i = random_below(&random, universe.n);
		bool add = random_below(&random, 2), changed = false;
		int err = add ? baleen_live_add(&filter, &universe.key[i], &changed) :
				baleen_live_del(&filter, &universe.key[i], &changed);

		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_false(add);
			assert_true(is_listed(universe.key[i].ip4));
			n_refused++;
		} else {
			assert_int_equal(changed, universe.listed[i] != add);
			n_changed += changed;
			universe.listed[i] = add;
		}
		assert_listed(&filter, &universe);
	}
	assert_true(n_refused > 0 && n_changed > 500);
	universe_free(&universe);
	baleen_filter_free(&filter);
}

/* Without room for the first host of a group, the group is as it was. */
static void test_directory_full(void **state)
{
	struct random random = random_from(10);
	struct baleen_filter filter = directory_filter(0);
	struct baleen_key key = { .domain = BALEEN_IP4 };
	u8 *before = malloc(filter.n_bytes);
	bool changed = true;
	int err = 0;

	while (!err) {
		memcpy(before, filter.bytes, filter.n_bytes);
		key.ip4 = 0xd0000000 | random_below(&random, 1 << 28);
		changed = baleen_filter_test(&filter, &key);
		err = baleen_live_add(&filter, &key, &changed);
	}
	assert_int_equal(err, -ENOSPC);
	assert_false(changed);
	assert_memory_equal(before, filter.bytes, filter.n_bytes);
	free(before);
	baleen_filter_free(&filter);
}

/* --- killed at every store ------------------------------------------------- */

/* What must hold wherever the writer stops. */
struct trace {
	struct baleen_filter *filter;
	const struct universe *universe;
	u32 i; /* the key that is added or removed; all others stay */
	bool add;
};

static void map_shared(struct baleen_filter *filter)
{
	void *bytes = mmap(NULL, filter->n_bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(bytes, MAP_FAILED);
	memcpy(bytes, filter->bytes, filter->n_bytes);
	free(filter->bytes);
	filter->bytes = bytes;
	filter->is_mapped = true;
}

/* The next writer does it again, and then empties the table key by key. */
static void assert_recovers(const struct trace *trace)
{
	const struct universe *universe = trace->universe;
	struct baleen_filter copy;
	u32 domain = universe->key[0].domain;
	bool changed;

	assert_int_equal(baleen_filter_alloc(&copy, &trace->filter->image, NULL), 0);
	memcpy(copy.bytes, trace->filter->bytes, copy.n_bytes);
	if (trace->add)
		assert_int_equal(baleen_live_add(&copy, &universe->key[trace->i], &changed), 0);
	else
		assert_int_equal(baleen_live_del(&copy, &universe->key[trace->i], &changed), 0);
	for (u32 i = 0; i < universe->n; i++) {
		bool is_there = i == trace->i ? trace->add : universe->listed[i];

		assert_int_equal(baleen_filter_test(&copy, &universe->key[i]), is_there);
		assert_int_equal(baleen_live_del(&copy, &universe->key[i], &changed), 0);
		assert_int_equal(changed, is_there);
	}
	assert_int_equal(baleen_filter_count(&copy, domain), 0);
	baleen_filter_free(&copy);
}

static void assert_stopped(const struct trace *trace, const u64 *last)
{
	const u64 *now = trace->filter->bytes;
	u32 n_words = 0;

	for (size_t i = 0; i < trace->filter->n_bytes / sizeof(*now); i++)
		n_words += now[i] != last[i];
	assert_int_equal(n_words, 1);
	for (u32 i = 0; i < trace->universe->n; i++)
		if (i != trace->i)
			assert_int_equal(baleen_filter_test(trace->filter,
							    &trace->universe->key[i]),
					 trace->universe->listed[i]);
	assert_recovers(trace);
}

/* The change, one instruction at a time; returns how many of them stored. */
static u32 step_through(const struct trace *trace)
{
	struct baleen_filter *filter = trace->filter;
	const struct baleen_key *key = &trace->universe->key[trace->i];
	u64 *last = malloc(filter->n_bytes);
	u32 n_stores = 0;
	int status;
	pid_t pid;

	memcpy(last, filter->bytes, filter->n_bytes);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		bool changed;

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(trace->add ? baleen_live_add(filter, key, &changed) :
				   baleen_live_del(filter, key, &changed));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		if (memcmp(last, filter->bytes, filter->n_bytes)) {
			n_stores++;
			assert_stopped(trace, last);
			memcpy(last, filter->bytes, filter->n_bytes);
		}
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	free(last);
	return n_stores;
}

/* How many words the change will store, tried on a copy; 0: no room. */
static u32 n_stores_of_add(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const u64 *before = filter->bytes, *after;
	struct baleen_filter copy;
	u32 n_words = 0;
	bool changed;

	assert_int_equal(baleen_filter_alloc(&copy, &filter->image, NULL), 0);
	memcpy(copy.bytes, filter->bytes, copy.n_bytes);
	after = copy.bytes;
	if (!baleen_live_add(&copy, key, &changed))
		for (size_t i = 0; i < copy.n_bytes / sizeof(*after); i++)
			n_words += before[i] != after[i];
	baleen_filter_free(&copy);
	return n_words;
}

/* Additions that move keys, then removals of keys, some of them in both places. */
static void kill_everywhere(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter = geometry_filter(geometry, random);
	u32 n_slots = geometry->n_buckets * BALEEN_BUCKET_SLOTS, n_moving = 0, n_double = 0;
	struct universe universe = universe_of(&filter, geometry->domain, n_slots * 3 / 2, random);
	struct trace trace = { .filter = &filter, .universe = &universe, .add = true };

	map_shared(&filter);
	for (; trace.i < universe.n; trace.i++) {
		const struct baleen_key *key = &universe.key[trace.i];
		u32 want = n_stores_of_add(&filter, key);

		/* Two moves or more; under a debugger it takes its time. */
		if (want > 2 && n_moving++ < 2)
			assert_int_equal(step_through(&trace), want);
		else if (want)
			assert_int_equal(add_checked(&filter, key, false), 0);
		universe.listed[trace.i] = want > 0;
	}
	assert_true(n_moving >= 2);
	trace.add = false;
	for (trace.i = 0; trace.i < universe.n; trace.i++) {
		const struct baleen_key *key = &universe.key[trace.i];
		bool is_double = universe.listed[trace.i] && duplicate(&filter, key);

		if (is_double && n_double++ < 1)
			assert_int_equal(step_through(&trace), 2);
		else
			del_checked(&filter, key, universe.listed[trace.i]);
		universe.listed[trace.i] = false;
	}
	assert_true(n_double >= 1);
	universe_free(&universe);
	baleen_filter_free(&filter);
}

static void test_killed(void **state)
{
	static const struct geometry small[] = { { BALEEN_IP4, 32, 64 },
						 { BALEEN_IP6, 16, 64 },
						 { BALEEN_IP6, 64, 61 } };
	struct random random = random_from(7);

	for (u32 i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		kill_everywhere(&small[i], &random);
}

/* After any store of a change in a directory all others are as they were, and
 * the key is as the next writer says: nothing of the dead one comes up later.
 */
static void kill_in_directory(struct baleen_filter *filter, struct universe *universe, u32 i,
			      bool add)
{
	struct baleen_key neighbour = universe->key[i ^ 1];
	u8 *before = malloc(filter->n_bytes), *last = malloc(filter->n_bytes);
	bool changed;
	int status;
	pid_t pid;

	memcpy(before, filter->bytes, filter->n_bytes);
	memcpy(last, filter->bytes, filter->n_bytes);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(add ? baleen_live_add(filter, &universe->key[i], &changed) :
			    baleen_live_del(filter, &universe->key[i], &changed));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		if (memcmp(last, filter->bytes, filter->n_bytes)) {
			struct baleen_filter copy;

			memcpy(last, filter->bytes, filter->n_bytes);
			assert_int_equal(baleen_filter_alloc(&copy, &filter->image, NULL), 0);
			memcpy(copy.bytes, filter->bytes, copy.n_bytes);
			assert_int_equal(baleen_live_del(&copy, &universe->key[i], &changed), 0);
			assert_int_equal(baleen_live_add(&copy, &neighbour, &changed), 0);
			for (u32 k = 0; k < universe->n; k++)
				assert_int_equal(baleen_filter_test(&copy, &universe->key[k]),
						 k == i	      ? false :
						 k == (i ^ 1) ? true :
								universe->listed[k]);
			baleen_filter_free(&copy);
		}
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(baleen_filter_test(filter, &universe->key[i]), add);
	memcpy(filter->bytes, before, filter->n_bytes);
	free(before);
	free(last);
}

static void test_killed_in_directory(void **state)
{
	struct baleen_filter filter = directory_filter(10000);
	struct universe universe = directory_universe();

	map_shared(&filter);
	/* Of each sort of group that changes in place. */
	for (u32 i = 0; i < universe.n; i += 5)
		if (universe.key[i].ip4 >> 24 != 10)
			kill_in_directory(&filter, &universe, i, !universe.listed[i]);
	universe_free(&universe);
	baleen_filter_free(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_left_at_home),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_directory_full),
		cmocka_unit_test(test_killed_in_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
