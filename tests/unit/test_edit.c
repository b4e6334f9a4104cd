// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters changed in place, edited aside, resized and merged: as sets would be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lists.h"
#include "filter/live.h"
#include "ops/algebra.h"
#include "ops/build.h"
#include "ops/change.h"
#include "ops/resize.h"
#include "random.h"

/* --- the slow reference: a small universe of keys, each in or out ---------- */

#define N_KEYS 1024

struct world {
	u32 key_spec;
	bool prefixes; /* lists have prefixes, not only hosts */
};

static const struct world worlds[] = {
	{ BALEEN_KEY_SRC, false },
	{ BALEEN_KEY_SRC, true },
	{ BALEEN_KEY_FLOW, false },
	{ BALEEN_KEY_DST | BALEEN_KEY_DPORT, false },
};

#define N_WORLDS (sizeof(worlds) / sizeof(worlds[0]))

/* Key i: the lower half IPv4, the upper IPv6, each 512 addresses side by side. */
static struct baleen_key key_of(const struct world *world, u32 i)
{
	struct baleen_fields fields = {
		.is_ip6 = i >= N_KEYS / 2,
		.src_lo = 0xc0000200 + i % (N_KEYS / 2),
		.dst_lo = 0x0a000000 + i % (N_KEYS / 2),
		.sport = 1000,
		.dport = 443,
		.proto = 6,
	};

	if (fields.is_ip6)
		fields.src_hi = fields.dst_hi = 0x20010db800000000ull;
	return baleen_key_fields(world->key_spec, &fields);
}

/* A list as text of the first of a run of keys: ranges where there are prefixes. */
static void print_run(FILE *stream, const struct world *world, u32 first, u32 last)
{
	for (u32 i = first; i <= last; i++) {
		struct baleen_key key = key_of(world, i);
		char text[BALEEN_KEY_TEXT];

		baleen_key_format(&key, world->key_spec, text);
		if (world->prefixes && i == first && last > first) {
			struct baleen_key end = key_of(world, last);

			fprintf(stream, "%s-", text);
			baleen_key_format(&end, world->key_spec, text);
			i = last;
		}
		fprintf(stream, "%s\n", text);
	}
}

/* Some runs, a few of them long, and what they come to. */
static struct baleen_list random_list(struct random *random, const struct world *world, u32 n_runs,
				      bool *in)
{
	struct baleen_list list = { .key_spec = world->key_spec };
	FILE *stream;
	char *text;
	size_t n_bytes;
	int fd;

	memset(in, 0, N_KEYS);
	stream = open_memstream(&text, &n_bytes);
	for (u32 run = 0; run < n_runs; run++) {
		u32 half = random_below(random, 2) * (N_KEYS / 2);
		u32 first = half + random_below(random, N_KEYS / 2);
		u32 last = first + (random_below(random, 3) ? 0 : random_below(random, 80));

		if (last >= half + N_KEYS / 2)
			last = half + N_KEYS / 2 - 1;
		memset(&in[first], 1, last - first + 1);
		print_run(stream, world, first, last);
	}
	fclose(stream);
	fd = open_bytes(text, n_bytes);
	assert_int_equal(baleen_list_read(&list, fd, "list", NULL, NULL), 0);
	assert_int_equal(list.n_bad, 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	close(fd);
	free(text);
	return list;
}

static struct baleen_filter build(const struct baleen_list *list, const struct world *world,
				  const struct baleen_image *like, u64 capacity)
{
	const struct baleen_build_options options = {
		.name = "built",
		.key_spec = world->key_spec,
		.kind = BALEEN_KIND_CUCKOO,
		.capacity = capacity,
		.like = like,
	};
	struct baleen_filter filter;
	struct baleen_error error;

	if (baleen_build(list, &options, &filter, &error))
		fail_msg("%s", error.text);
	return filter;
}

static void assert_set(const struct baleen_filter *filter, const struct world *world,
		       const bool *in)
{
	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key key = key_of(world, i);

		assert_int_equal(baleen_filter_test(filter, &key), in[i]);
	}
}

/* The bytes are an image that says the same of itself as the decoded header. */
static void assert_sealed(const struct baleen_filter *filter)
{
	struct baleen_image image;
	const char *reason = "";
	u64 n = 0;

	assert_int_equal(baleen_image_check(filter->bytes, filter->n_bytes, &image, &reason), 0);
	assert_int_equal(image.flags, 0);
	assert_string_equal(image.name, filter->image.name);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		assert_int_equal(image.table[domain].n_entries,
				 baleen_filter_count(filter, domain));
		n += image.table[domain].n_entries;
	}
	assert_int_equal(image.n_entries, n);
}

static void combine(bool *in, const bool *change, enum baleen_set_op op)
{
	for (u32 i = 0; i < N_KEYS; i++)
		in[i] = op == BALEEN_SET_UNION	      ? in[i] || change[i] :
			op == BALEEN_SET_INTERSECTION ? in[i] && change[i] :
							in[i] && !change[i];
}

/* --- aside ----------------------------------------------------------------- */

static void edit_often(const struct world *world, struct random *random)
{
	bool in[N_KEYS], change[N_KEYS];
	struct baleen_list list = random_list(random, world, 20, in);
	struct baleen_filter filter = build(&list, world, NULL, 0);

	baleen_list_free(&list);
	for (u32 step = 0; step < 60; step++) {
		enum baleen_set_op op =
			random_below(random, 2) ? BALEEN_SET_UNION : BALEEN_SET_DIFFERENCE;
		struct baleen_filter next;
		struct baleen_error error;

		list = random_list(random, world, 1 + random_below(random, 12), change);
		/* Hosts stored as hashes and prefixes do not mix. */
		if (baleen_filter_edit(&filter, &list, op, random_below(random, 3000), &next,
				       &error)) {
			assert_true(world->prefixes && list.n_prefix6 &&
				    filter.image.table[BALEEN_IP6].kind);
		} else {
			combine(in, change, op);
			assert_string_equal(next.image.name, "built");
			baleen_filter_free(&filter);
			filter = next;
		}
		assert_set(&filter, world, in);
		assert_sealed(&filter);
		baleen_list_free(&list);
	}
	baleen_filter_free(&filter);
}

static void test_edit(void **state)
{
	struct random random = random_from(1);

	for (u32 i = 0; i < N_WORLDS; i++)
		for (u32 round = 0; round < 5; round++)
			edit_often(&worlds[i], &random);
}

/* --- in place -------------------------------------------------------------- */

static u64 n_of(const bool *in)
{
	u64 n = 0;

	for (u32 i = 0; i < N_KEYS; i++)
		n += in[i];
	return n;
}

/* What is refused in place has changed nothing and is built aside. */
static void change_once(struct baleen_filter *filter, const struct world *world, bool *in,
			struct random *random, u32 *n_in_place)
{
	enum baleen_set_op op = random_below(random, 3) ? BALEEN_SET_UNION : BALEEN_SET_DIFFERENCE;
	bool change[N_KEYS];
	struct baleen_list list = random_list(random, world, 1 + random_below(random, 8), change);
	u64 before = n_of(in), n_changed = ~0ull;
	struct baleen_filter next;
	struct baleen_error error;
	int err = baleen_change_in_place(filter, &list, op, &n_changed);

	if (!err) {
		combine(in, change, op);
		assert_int_equal(n_changed,
				 op == BALEEN_SET_UNION ? n_of(in) - before : before - n_of(in));
		baleen_change_seal(filter);
		++*n_in_place;
	} else {
		assert_int_equal(n_changed, ~0ull);
		assert_set(filter, world, in);
		if (!baleen_change_aside(filter, &list, op, err == -ENOSPC, false, &next, &error)) {
			combine(in, change, op);
			baleen_filter_free(filter);
			*filter = next;
		} else {
			assert_true(list.n_prefix6 && filter->image.table[BALEEN_IP6].kind);
		}
	}
	baleen_list_free(&list);
	assert_set(filter, world, in);
	assert_sealed(filter);
}

static void test_change(void **state)
{
	struct random random = random_from(2);

	for (u32 i = 0; i < N_WORLDS; i++) {
		bool in[N_KEYS];
		struct baleen_list list = random_list(&random, &worlds[i], 20, in);
		struct baleen_filter filter = build(&list, &worlds[i], NULL, 0);
		u32 n_in_place = 0;

		baleen_list_free(&list);
		for (u32 step = 0; step < 200; step++)
			change_once(&filter, &worlds[i], in, &random, &n_in_place);
		assert_true(n_in_place > 10);
		baleen_filter_free(&filter);
	}
}

/* Adds one at a time up to the first refusal: fixed stays so, else it grows. */
static void test_grow(void **state)
{
	const struct world *world = &worlds[0];
	struct random random = random_from(3);
	struct baleen_list list = { .key_spec = BALEEN_KEY_SRC }, more = list;
	struct baleen_filter filter = build(&list, world, NULL, 200), grown;
	struct baleen_error error;
	u32 host;
	u64 n = 0, n_changed;
	int err;

	more.ip4 = &host;
	more.n_ip4 = 1;
	do {
		host = random_next(&random);
		err = baleen_change_in_place(&filter, &more, BALEEN_SET_UNION, &n_changed);
		n += !err;
		assert_true(n < 1000);
	} while (!err);
	assert_int_equal(err, -ENOSPC);
	assert_true(n > 100);
	/* With all at home again there may be room for it, but not for 1000. */
	more.n_ip4 = 1000;
	more.ip4 = malloc(1000 * sizeof(*more.ip4));
	for (u32 i = 0; i < 1000; i++)
		more.ip4[i] = 0x0a000000 + i;
	memset(&grown, 0x5a, sizeof(grown));
	assert_int_equal(baleen_change_aside(&filter, &more, BALEEN_SET_UNION, true, true, &grown,
					     &error),
			 -ENOSPC);
	assert_int_equal(((u8 *)&grown)[0], 0x5a);
	assert_int_equal(baleen_change_in_place(&filter, &more, BALEEN_SET_UNION, &n_changed),
			 -ENOSPC);
	assert_int_equal(baleen_filter_keys(&filter), n);
	assert_int_equal(baleen_change_aside(&filter, &more, BALEEN_SET_UNION, true, false, &grown,
					     &error),
			 0);
	assert_int_equal(baleen_filter_keys(&grown), n + 1000);
	assert_true(baleen_filter_room(&grown) >= (n + 1000) * 1.4);
	free(more.ip4);
	baleen_filter_free(&grown);
	baleen_filter_free(&filter);
}

/* --- what changes nothing -------------------------------------------------- */

static void assert_idle(const char *set, const char *change, enum baleen_set_op op, u64 n,
			u64 n_entries, const char *first)
{
	struct baleen_list lists[2] = { { .key_spec = BALEEN_KEY_SRC },
					{ .key_spec = BALEEN_KEY_SRC } };
	const char *text[] = { set, change };
	struct baleen_filter filter;
	struct baleen_noop_keys noop;

	for (u32 i = 0; i < 2; i++) {
		int fd = open_bytes(text[i], strlen(text[i]));

		assert_int_equal(baleen_list_read(&lists[i], fd, "list", NULL, NULL), 0);
		assert_int_equal(lists[i].n_bad, 0);
		assert_int_equal(baleen_list_finish(&lists[i]), 0);
		close(fd);
	}
	filter = build(&lists[0], &worlds[1], NULL, 0);
	assert_int_equal(baleen_change_find_noop(&filter, &lists[1], op, &noop, NULL), 0);
	if (noop.n != n)
		fail_msg("%s: %llu noop, not %llu", change, (unsigned long long)noop.n,
			 (unsigned long long)n);
	assert_int_equal(noop.n_entries, n_entries);
	if (n)
		assert_string_equal(noop.text, first);
	baleen_filter_free(&filter);
	baleen_list_free(&lists[0]);
	baleen_list_free(&lists[1]);
}

static void test_idle(void **state)
{
	static const char set[] = "10.0.0.0/8\n!10.1.0.0/16\n192.0.2.1\n192.0.2.3\n"
				  "2001:db8::/32\n!2001:db8:1::/48\n2001:db9::1\n";

	assert_idle(set, "192.0.2.1\n192.0.2.2\n", BALEEN_SET_UNION, 1, 2, "192.0.2.1");
	assert_idle(set, "192.0.2.1\n192.0.2.2\n", BALEEN_SET_DIFFERENCE, 1, 2, "192.0.2.2");
	assert_idle(set, "10.2.0.0/16\n10.1.2.0/24\n", BALEEN_SET_UNION, 1, 2, "10.2.0.0/16");
	assert_idle(set, "10.0.0.0/8\n", BALEEN_SET_UNION, 0, 1, NULL);
	assert_idle(set, "10.0.0.0/8\n", BALEEN_SET_DIFFERENCE, 0, 1, NULL);
	assert_idle(set, "10.1.2.0/24\n10.1.4.0-10.1.6.255\n", BALEEN_SET_DIFFERENCE, 2, 2,
		    "10.1.2.0/24");
	assert_idle(set, "10.1.4.0-10.1.6.255\n", BALEEN_SET_DIFFERENCE, 1, 1,
		    "10.1.4.0-10.1.6.255");
	assert_idle(set, "192.0.2.0/30\n", BALEEN_SET_UNION, 0, 1, NULL);
	assert_idle(set, "192.0.2.0/30\n", BALEEN_SET_DIFFERENCE, 0, 1, NULL);
	assert_idle(set, "0.0.0.0/0\n", BALEEN_SET_DIFFERENCE, 0, 1, NULL);
	assert_idle(set, "2001:db8:2::/48\n2001:db8:1:2::/64\n", BALEEN_SET_UNION, 1, 2,
		    "2001:db8:2::/48");
	assert_idle(set, "2001:db8:1:2::/64\n2001:db8:2::/48\n", BALEEN_SET_DIFFERENCE, 1, 2,
		    "2001:db8:1:2::/64");
	assert_idle(set, "2001:db8::/32\n", BALEEN_SET_UNION, 0, 1, NULL);
	assert_idle(set, "2001:db9::/64\n2001:db7::/64\n", BALEEN_SET_DIFFERENCE, 1, 2,
		    "2001:db7::/64");
	assert_idle(set, "2001:db9::1\n2001:db9::2\n", BALEEN_SET_UNION, 1, 2, "2001:db9::1");
}

/* --- merge, resize --------------------------------------------------------- */

/* Two filters that hold hashes merge when their seeds are the same. */
static void merge_once(const struct world *world, struct random *random, bool alike)
{
	bool in[N_KEYS], other[N_KEYS];
	struct baleen_list a_list = random_list(random, world, 30, in);
	struct baleen_list b_list = random_list(random, world, 30, other);
	struct baleen_filter a = build(&a_list, world, NULL, alike ? 20000 : 0);
	struct baleen_filter b = build(&b_list, world, alike ? &a.image : NULL, 0);
	bool hashed = a.image.table[BALEEN_IP6].kind || a.image.table[BALEEN_TUPLE].kind;
	bool b_hashed = b.image.table[BALEEN_IP6].kind || b.image.table[BALEEN_TUPLE].kind;
	struct baleen_filter merged;
	struct baleen_error error;
	int err = baleen_filter_merge(&a, &b, &merged, &error);

	if (err) {
		assert_int_equal(err, -EOPNOTSUPP);
		assert_true((hashed && b_hashed && !alike) ||
			    (world->prefixes && hashed != b_hashed));
	} else {
		combine(in, other, BALEEN_SET_UNION);
		assert_set(&merged, world, in);
		assert_sealed(&merged);
		assert_string_equal(merged.image.name, "built");
		baleen_filter_free(&merged);
	}
	/* A list merges into anything but prefixes into hashes. */
	if (!world->prefixes) {
		assert_int_equal(baleen_filter_edit(&a, &b_list, BALEEN_SET_UNION, 0, &merged,
						    &error),
				 0);
		combine(in, other, BALEEN_SET_UNION);
		assert_set(&merged, world, in);
		baleen_filter_free(&merged);
	}
	baleen_filter_free(&a);
	baleen_filter_free(&b);
	baleen_list_free(&a_list);
	baleen_list_free(&b_list);
}

static void test_merge(void **state)
{
	struct random random = random_from(4);

	for (u32 i = 0; i < N_WORLDS; i++)
		for (u32 round = 0; round < 20; round++)
			merge_once(&worlds[i], &random, round % 2);
}

static void test_resize(void **state)
{
	struct random random = random_from(5);

	for (u32 i = 0; i < N_WORLDS; i++) {
		bool in[N_KEYS];
		struct baleen_list list = random_list(&random, &worlds[i], 30, in);
		struct baleen_filter filter = build(&list, &worlds[i], NULL, 0), large, small;
		struct baleen_error error;

		assert_int_equal(baleen_filter_resize(&filter, 5000, &large, &error), 0);
		assert_set(&large, &worlds[i], in);
		assert_sealed(&large);
		assert_true(baleen_filter_room(&large) >= 4900);
		assert_int_equal(baleen_filter_resize(&large, baleen_filter_keys(&large), &small,
						      &error),
				 0);
		assert_set(&small, &worlds[i], in);
		assert_true(small.n_bytes < large.n_bytes);
		baleen_filter_free(&small);
		baleen_filter_free(&large);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
	}
}

/* --- Bloom ----------------------------------------------------------------- */

static void test_bloom(void **state)
{
	struct random random = random_from(6);
	const struct world *world = &worlds[0];
	const struct baleen_build_options options = {
		.key_spec = BALEEN_KEY_SRC, .kind = BALEEN_KIND_BLOOM, .fpp = 1e-6, .capacity = 4000
	};
	bool in[N_KEYS], change[N_KEYS];
	struct baleen_list list = random_list(&random, world, 30, in);
	struct baleen_list more = random_list(&random, world, 30, change);
	struct baleen_filter filter, added;
	struct baleen_error error;
	u64 n = ~0ull;

	assert_int_equal(baleen_build(&list, &options, &filter, &error), 0);
	assert_int_equal(baleen_filter_resize(&filter, 9000, &added, &error), 0);
	assert_set(&added, world, in);
	baleen_filter_free(&added);
	assert_int_equal(baleen_filter_edit(&filter, &more, BALEEN_SET_DIFFERENCE, 0, &added,
					    &error),
			 -EOPNOTSUPP);
	assert_int_equal(baleen_change_in_place(&filter, &list, BALEEN_SET_DIFFERENCE, &n),
			 -EOPNOTSUPP);
	assert_int_equal(n, ~0ull);
	assert_set(&filter, world, in);
	assert_int_equal(baleen_filter_edit(&filter, &more, BALEEN_SET_UNION, 0, &added, &error),
			 0);
	combine(in, change, BALEEN_SET_UNION);
	assert_set(&added, world, in);
	assert_int_equal(added.image.n_entries, n_of(in));
	assert_int_equal(baleen_change_in_place(&filter, &more, BALEEN_SET_UNION, &n), 0);
	baleen_change_seal(&filter);
	assert_int_equal(filter.image.n_entries, n_of(in));
	assert_memory_equal((u8 *)filter.bytes + BALEEN_HEADER_BYTES,
			    (u8 *)added.bytes + BALEEN_HEADER_BYTES,
			    filter.n_bytes - BALEEN_HEADER_BYTES);
	baleen_filter_free(&added);
	baleen_filter_free(&filter);
	baleen_list_free(&more);
	baleen_list_free(&list);
}

static struct baleen_filter build_text(const char *text, u32 kind, struct baleen_list *list)
{
	const struct baleen_build_options options = { .name = "text",
						      .key_spec = BALEEN_KEY_SRC,
						      .kind = kind,
						      .fpp = 1e-3,
						      .capacity = 100 };
	struct baleen_filter filter;
	struct baleen_error error;
	int fd = open_bytes(text, strlen(text));

	*list = (struct baleen_list){ .key_spec = BALEEN_KEY_SRC };
	assert_int_equal(baleen_list_read(list, fd, "list", NULL, NULL), 0);
	assert_int_equal(list->n_bad, 0);
	assert_int_equal(baleen_list_finish(list), 0);
	close(fd);
	if (baleen_build(list, &options, &filter, &error))
		fail_msg("%s", error.text);
	return filter;
}

/* What a Bloom table took it cannot give back: all is refused before any is taken. */
static void test_bloom_refuses(void **state)
{
	static const struct {
		const char *filter, *change;
	} cases[] = {
		{ "192.0.2.1\n", "198.51.100.1\n198.51.100.2\n2001:db8::1\n" },
		{ "2001:db8::1\n", "198.51.100.1\n2001:db8::2\n" },
		{ "192.0.2.1\n2001:db8::/32\n", "198.51.100.1\n3fff::1\n" },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct baleen_list list, change;
		struct baleen_filter filter = build_text(cases[i].filter, BALEEN_KIND_BLOOM, &list);
		struct baleen_filter delta =
			build_text(cases[i].change, BALEEN_KIND_CUCKOO, &change);
		struct baleen_filter before, out;
		struct baleen_error error;
		u64 n = ~0ull;

		assert_int_equal(baleen_filter_copy(&filter, &before, &error), 0);
		assert_int_equal(baleen_change_in_place(&filter, &change, BALEEN_SET_UNION, &n),
				 -ENOSPC);
		assert_int_equal(n, ~0ull);
		assert_memory_equal(filter.bytes, before.bytes, filter.n_bytes);
		assert_true(baleen_filter_edit(&filter, &change, BALEEN_SET_UNION, 0, &out,
					       &error) < 0);
		baleen_filter_free(&before);
		baleen_filter_free(&delta);
		baleen_filter_free(&filter);
		baleen_list_free(&change);
		baleen_list_free(&list);
	}
}

/* Hosts beside prefixes: their groups must know of them. */
static void test_bloom_beside_prefixes(void **state)
{
	const struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = 0xcb007101 };
	struct baleen_list list, change;
	struct baleen_filter filter =
		build_text("10.0.0.0/8\n192.0.2.1\n", BALEEN_KIND_BLOOM, &list);
	struct baleen_filter delta = build_text("203.0.113.1\n", BALEEN_KIND_CUCKOO, &change);
	struct baleen_filter added;
	struct baleen_error error;
	u64 n;

	assert_int_equal(filter.image.table[BALEEN_IP4].kind, BALEEN_KIND_BLOOM);
	assert_false(baleen_filter_test(&filter, &key));
	assert_int_equal(baleen_filter_edit(&filter, &change, BALEEN_SET_UNION, 0, &added, &error),
			 0);
	assert_true(baleen_filter_test(&added, &key));
	assert_sealed(&added);
	assert_int_equal(baleen_change_in_place(&filter, &change, BALEEN_SET_UNION, &n), 0);
	assert_true(baleen_filter_test(&filter, &key));
	baleen_filter_free(&added);
	baleen_filter_free(&delta);
	baleen_filter_free(&filter);
	baleen_list_free(&change);
	baleen_list_free(&list);
}

/* A positive of tables that keep little may be another key's. */
static void test_idle_unknown(void **state)
{
	static const u32 kinds[] = { BALEEN_KIND_BLOOM, BALEEN_KIND_CUCKOO };

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct baleen_list list;
		struct baleen_filter filter =
			build_text("192.0.2.1\n2001:db8::1\n", kinds[i], &list);
		struct baleen_noop_keys noop;
		struct baleen_error error;

		assert_int_equal(baleen_change_find_noop(&filter, &list, BALEEN_SET_UNION, &noop,
							 &error),
				 0);
		/* IPv4 in a cuckoo table is exact. */
		assert_int_equal(noop.n, kinds[i] == BALEEN_KIND_BLOOM ? 0 : 1);
		assert_int_equal(noop.n_entries, 2);
		baleen_filter_free(&filter);
		baleen_list_free(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_bloom),
		cmocka_unit_test(test_bloom_refuses),
		cmocka_unit_test(test_bloom_beside_prefixes),
		cmocka_unit_test(test_idle_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
