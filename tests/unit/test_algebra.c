// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Union, intersection, difference and size of filters of every kind: as of sets. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "filter/estimate.h"
#include "filter/compat.h"
#include "filter/plan.h"
#include "key/squid_key.h"
#include "ops/algebra.h"
#include "ops/build.h"
#include "ops/change.h"
#include "ops/resize.h"
#include "ops/seed.h"
#include "random.h"

/* --- the slow reference: a small universe of keys, each in or out ---------- */

#define N_KEYS 1024
#define CAPACITY 1200

enum {
	EXACT = 1,     /* no false positives, listed or by whole hashes */
	CANONICAL = 2, /* the body is a function of the set */
	FORGETS = 4,   /* can be subtracted from */
	RESIZES = 8,
};

/* A world is a kind of filter over one key. */
static const struct world {
	const char *name;
	u32 key_spec;
	u32 kind;
	struct baleen_shape shape;
	double fpp;
	u32 is;
} worlds[] = {
	{ "cuckoo", BALEEN_KEY_SRC, BALEEN_KIND_CUCKOO, { 0 }, 0, EXACT | FORGETS | RESIZES },
	{ "cuckoo of 2",
	  BALEEN_KEY_SRC,
	  BALEEN_KIND_CUCKOO,
	  { .bucket_slots = 2, .has_stash = true },
	  0,
	  EXACT | FORGETS | RESIZES },
	{ "cuckoo of words",
	  BALEEN_KEY_DST | BALEEN_KEY_DPORT,
	  BALEEN_KIND_CUCKOO,
	  { 0 },
	  0,
	  EXACT | FORGETS | RESIZES },
	{ "cuckoo of 1, hashes",
	  BALEEN_KEY_FLOW,
	  BALEEN_KIND_CUCKOO,
	  { .bucket_slots = 1, .has_stash = true },
	  0,
	  EXACT | FORGETS | RESIZES },
	{ "cuckoo, 16 bits", BALEEN_KEY_FLOW, BALEEN_KIND_CUCKOO, { .slot_bits = 16 }, 0.01, 0 },
	{ "cuckoo, 12 bits", BALEEN_KEY_SRC, BALEEN_KIND_CUCKOO, { .slot_bits = 12 }, 0.1, 0 },
	{ "cuckoo, 8 bits",
	  BALEEN_KEY_FLOW,
	  BALEEN_KIND_CUCKOO,
	  { .slot_bits = 8, .bucket_slots = 2 },
	  0.2,
	  0 },
	{ "bloom", BALEEN_KEY_SRC, BALEEN_KIND_BLOOM, { 0 }, 1e-3, CANONICAL },
	{ "bloom of flows", BALEEN_KEY_FLOW, BALEEN_KIND_BLOOM, { 0 }, 1e-4, CANONICAL },
	{ "classic", BALEEN_KEY_SRC, BALEEN_KIND_CLASSIC, { 0 }, 1e-3, CANONICAL },
	{ "classic, murmur3",
	  BALEEN_KEY_SRC,
	  BALEEN_KIND_CLASSIC,
	  { .hash = BALEEN_HASH_MURMUR3 },
	  1e-3,
	  CANONICAL },
	{ "counting", BALEEN_KEY_SRC, BALEEN_KIND_COUNTING, { 0 }, 1e-3, CANONICAL },
	{ "counting, keyed",
	  BALEEN_KEY_FLOW,
	  BALEEN_KIND_COUNTING,
	  { .hash = BALEEN_HASH_KEYED },
	  1e-3,
	  CANONICAL },
	{ "cuckoo of Squid's",
	  BALEEN_KEY_SQUID,
	  BALEEN_KIND_CUCKOO,
	  { 0 },
	  0,
	  EXACT | FORGETS | RESIZES },
	{ "digest", BALEEN_KEY_SQUID, BALEEN_KIND_CLASSIC, { 0 }, 1e-3, CANONICAL },
	{ "counting digest", BALEEN_KEY_SQUID, BALEEN_KIND_COUNTING, { 0 }, 1e-3, CANONICAL },
	{ "quotient of words",
	  BALEEN_KEY_DST | BALEEN_KEY_DPORT,
	  BALEEN_KIND_QUOTIENT,
	  { 0 },
	  0,
	  EXACT | CANONICAL | FORGETS | RESIZES },
	{ "quotient",
	  BALEEN_KEY_SRC,
	  BALEEN_KIND_QUOTIENT,
	  { .remainder_bits = 20 },
	  0.01,
	  CANONICAL | FORGETS | RESIZES },
	{ "quotient of flows",
	  BALEEN_KEY_FLOW,
	  BALEEN_KIND_QUOTIENT,
	  { 0 },
	  0,
	  EXACT | CANONICAL | FORGETS | RESIZES },
};

#define N_WORLDS (sizeof(worlds) / sizeof(worlds[0]))

/* The lower half IPv4, the upper IPv6. */
static struct baleen_key key_of(const struct world *world, u32 i)
{
	struct baleen_fields fields = {
		.is_ip6 = i >= N_KEYS / 2,
		.src_lo = 0xc0000200 + i % (N_KEYS / 2) * 77777,
		.dst_lo = 0x0a000000 + i % (N_KEYS / 2) * 3,
		.sport = 1000 + i,
		.dport = 443,
		.proto = 6,
	};

	if (world->key_spec == BALEEN_KEY_SQUID) {
		struct baleen_key key;

		baleen_squid_key_url((const char *)&fields, sizeof(fields), &key);
		return key;
	}
	if (fields.is_ip6)
		fields.src_hi = fields.dst_hi = 0x20010db800000000ull;
	return baleen_key_fields(world->key_spec, &fields);
}

static struct baleen_list list_of(const struct world *world, const bool *in)
{
	struct baleen_list list = {
		.key_spec = world->key_spec,
		.ip4 = malloc(N_KEYS * sizeof(*list.ip4)),
		.room_ip4 = N_KEYS,
		.ip6 = malloc(N_KEYS * sizeof(*list.ip6)),
		.room_ip6 = N_KEYS,
		.key = malloc(N_KEYS * sizeof(*list.key)),
		.room_key = N_KEYS,
	};

	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key key = key_of(world, i);

		if (!in[i])
			continue;
		if (key.domain == BALEEN_IP4)
			list.ip4[list.n_ip4++] = key.ip4;
		else if (key.domain == BALEEN_IP6)
			list.ip6[list.n_ip6++] = (struct baleen_ip6){ key.hi, key.lo };
		else
			list.key[list.n_key++] = key;
	}
	assert_int_equal(baleen_list_finish(&list), 0);
	return list;
}

static void choose(struct random *random, u32 of, bool *in)
{
	for (u32 i = 0; i < N_KEYS; i++)
		in[i] = !random_below(random, of);
}

static bool keeps(enum baleen_set_op op, bool in_a, bool in_b)
{
	return op == BALEEN_SET_UNION	     ? in_a || in_b :
	       op == BALEEN_SET_INTERSECTION ? in_a && in_b :
					       in_a && !in_b;
}

static void combine(const bool *a, const bool *b, enum baleen_set_op op, bool *out)
{
	for (u32 i = 0; i < N_KEYS; i++)
		out[i] = keeps(op, a[i], b[i]);
}

static struct baleen_filter build(const struct world *world, const bool *in, const char *seed_text,
				  const struct baleen_image *like)
{
	struct baleen_list list = list_of(world, in);
	struct baleen_seed seed;
	const struct baleen_build_options options = {
		.name = "built",
		.key_spec = world->key_spec,
		.kind = world->kind,
		.shape = world->shape,
		.fpp = world->fpp,
		.capacity = CAPACITY,
		.seed = &seed,
		.like = like,
	};
	struct baleen_filter filter;
	struct baleen_error error;

	baleen_seed_from_text(seed_text, &seed);
	if (baleen_build(&list, &options, &filter, &error))
		fail_msg("%s: %s", world->name, error.text);
	baleen_list_free(&list);
	return filter;
}

/* --- what came out --------------------------------------------------------- */

/* All keys of the set, of exact filters no other, and hardly another of the rest. */
static void assert_set(const struct world *world, const struct baleen_filter *filter,
		       const bool *in)
{
	u32 n_wrong = 0;

	for (u32 i = 0; i < N_KEYS; i++) {
		struct baleen_key key = key_of(world, i);
		bool found = baleen_filter_test(filter, &key);

		if (found < in[i])
			fail_msg("%s: key %u is lost", world->name, i);
		n_wrong += found > in[i];
	}
	if (n_wrong > (world->is & EXACT ? 0 : N_KEYS / 3))
		fail_msg("%s: %u false positives", world->name, n_wrong);
}

static void assert_sealed(const struct baleen_filter *filter)
{
	struct baleen_image image;
	const char *reason = "";

	if (baleen_image_check(filter->bytes, filter->n_bytes, &image, &reason))
		fail_msg("%s", reason);
	assert_string_equal(image.name, "built");
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		assert_int_equal(image.table[domain].n_entries,
				 baleen_filter_count(filter, domain));
}

/* Tables and, but for counters, bodies. */
static void assert_same_body(const struct world *world, const struct baleen_filter *a,
			     const struct baleen_filter *b)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *x = &a->image.table[domain];
		const struct baleen_table *y = &b->image.table[domain];
		u32 n = baleen_table_is_bit_array(x) ? x->n_buckets : x->n_blocks;

		if (memcmp(x, y, offsetof(struct baleen_table, n_entries)))
			fail_msg("%s: another table", world->name);
		if (memcmp((struct baleen_block *)a->bytes + x->first_block,
			   (struct baleen_block *)b->bytes + y->first_block,
			   (size_t)n * BALEEN_BLOCK_BYTES))
			fail_msg("%s: another body", world->name);
	}
}

/* --- two filters ----------------------------------------------------------- */

static struct baleen_filter combined(const struct world *world, const struct baleen_filter *a,
				     const struct baleen_filter *b, enum baleen_set_op op)
{
	struct baleen_filter made;
	struct baleen_error error;

	if (baleen_filter_combine(a, b, op, "a", &made, &error))
		fail_msg("%s: %s", world->name, error.text);
	assert_sealed(&made);
	return made;
}

static void assert_refused(const struct world *world, const struct baleen_filter *a,
			   const struct baleen_filter *b, enum baleen_set_op op)
{
	struct baleen_filter made;
	struct baleen_error error = { "" };

	memset(&made, 0x5a, sizeof(made));
	if (baleen_filter_combine(a, b, op, "a", &made, &error) != -EOPNOTSUPP)
		fail_msg("%s: not refused", world->name);
	assert_true(error.text[0]);
	assert_int_equal(((u8 *)&made)[0], 0x5a);
}

static void combine_once(const struct world *world, struct random *random, enum baleen_set_op op)
{
	bool in_a[N_KEYS], in_b[N_KEYS], want[N_KEYS];
	struct baleen_filter a, b, made, fresh, turned;

	choose(random, 2, in_a);
	choose(random, 3, in_b);
	combine(in_a, in_b, op, want);
	a = build(world, in_a, "algebra", NULL);
	b = build(world, in_b, "algebra", &a.image);
	fresh = build(world, want, "algebra", &a.image);
	if (op == BALEEN_SET_DIFFERENCE && !(world->is & FORGETS)) {
		assert_refused(world, &a, &b, op);
	} else {
		made = combined(world, &a, &b, op);
		assert_set(world, &made, want);
		/* The AND of two planes may have more bits than that of the set. */
		if (world->is & CANONICAL &&
		    !(op == BALEEN_SET_INTERSECTION && baleen_filter_has_bloom(&a)))
			assert_same_body(world, &made, &fresh);
		if (op != BALEEN_SET_DIFFERENCE && world->is & CANONICAL) {
			turned = combined(world, &b, &a, op);
			assert_same_body(world, &made, &turned);
			baleen_filter_free(&turned);
		}
		baleen_filter_free(&made);
	}
	baleen_filter_free(&fresh);
	baleen_filter_free(&b);
	baleen_filter_free(&a);
}

static void test_combine(void **state)
{
	struct random random = random_from(1);

	for (u32 i = 0; i < N_WORLDS; i++)
		for (u32 round = 0; round < 3; round++)
			for (u32 op = BALEEN_SET_UNION; op <= BALEEN_SET_DIFFERENCE; op++)
				combine_once(&worlds[i], &random, op);
}

/* A filter with itself, and with nothing. */
static void test_ends(void **state)
{
	struct random random = random_from(2);
	bool in[N_KEYS], none[N_KEYS] = { 0 };

	for (u32 i = 0; i < N_WORLDS; i++) {
		const struct world *world = &worlds[i];
		struct baleen_filter a, empty, made;

		choose(&random, 2, in);
		a = build(world, in, "ends", NULL);
		empty = build(world, none, "ends", &a.image);
		made = combined(world, &a, &empty, BALEEN_SET_UNION);
		assert_set(world, &made, in);
		baleen_filter_free(&made);
		made = combined(world, &a, &a, BALEEN_SET_INTERSECTION);
		assert_set(world, &made, in);
		baleen_filter_free(&made);
		made = combined(world, &empty, &a, BALEEN_SET_INTERSECTION);
		assert_set(world, &made, none);
		baleen_filter_free(&made);
		if (world->is & FORGETS) {
			made = combined(world, &a, &a, BALEEN_SET_DIFFERENCE);
			assert_set(world, &made, none);
			assert_int_equal(made.image.n_entries, 0);
			baleen_filter_free(&made);
		}
		baleen_filter_free(&empty);
		baleen_filter_free(&a);
	}
}

/* Leaves of a tree, nodes that are the OR of their children, and the root. */
static void test_tree(void **state)
{
	static const u32 kinds[] = { 7, 9, 14 };
	struct random random = random_from(3);

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct world *world = &worlds[kinds[i]];
		struct baleen_filter node[8], all;
		bool in[4][N_KEYS], any[N_KEYS] = { 0 };

		for (u32 leaf = 0; leaf < 4; leaf++) {
			choose(&random, 10, in[leaf]);
			combine(any, in[leaf], BALEEN_SET_UNION, any);
			node[4 + leaf] =
				build(world, in[leaf], "tree", leaf ? &node[4].image : NULL);
		}
		for (u32 n = 3; n; n--)
			node[n] = combined(world, &node[2 * n], &node[2 * n + 1], BALEEN_SET_UNION);
		all = build(world, any, "tree", &node[4].image);
		assert_same_body(world, &node[1], &all);
		for (u32 leaf = 0; leaf < 4; leaf++)
			for (u32 n = 4 + leaf; n; n /= 2)
				for (u32 k = 0; k < N_KEYS; k++) {
					struct baleen_key key = key_of(world, k);

					assert_true(baleen_filter_test(&node[n], &key) >=
						    in[leaf][k]);
				}
		baleen_filter_free(&all);
		for (u32 n = 1; n < 8; n++)
			baleen_filter_free(&node[n]);
	}
}

/* --- a list ---------------------------------------------------------------- */

/* Keys that only look the same are not deleted one by one. */
static bool may_take_list(const struct world *world, enum baleen_set_op op)
{
	return op != BALEEN_SET_DIFFERENCE || (world->is & FORGETS && world->is & EXACT);
}

static void test_list(void **state)
{
	struct random random = random_from(4);
	bool in_a[N_KEYS], in_b[N_KEYS], want[N_KEYS];

	for (u32 i = 0; i < N_WORLDS; i++) {
		for (u32 op = BALEEN_SET_UNION; op <= BALEEN_SET_DIFFERENCE; op++) {
			const struct world *world = &worlds[i];
			struct baleen_filter a, made;
			struct baleen_list list;
			struct baleen_error error;
			int err;

			choose(&random, 3, in_a);
			choose(&random, 3, in_b);
			combine(in_a, in_b, op, want);
			a = build(world, in_a, "list", NULL);
			list = list_of(world, in_b);
			err = baleen_filter_combine_list(&a, &list, op, &made, &error);
			if (!may_take_list(world, op))
				assert_int_equal(err, -EOPNOTSUPP);
			else if (err)
				fail_msg("%s: %s", world->name, error.text);
			else
				assert_set(world, &made, want);
			if (!err)
				baleen_filter_free(&made);
			baleen_list_free(&list);
			baleen_filter_free(&a);
		}
	}
}

/* --- size ------------------------------------------------------------------ */

static void test_resize(void **state)
{
	struct random random = random_from(5);
	bool in[N_KEYS];

	for (u32 i = 0; i < N_WORLDS; i++) {
		const struct world *world = &worlds[i];
		struct baleen_filter a, large, small;
		struct baleen_error error;
		u64 n;

		choose(&random, 2, in);
		a = build(world, in, "resize", NULL);
		n = baleen_filter_keys(&a);
		if (!(world->is & RESIZES)) {
			assert_int_equal(baleen_filter_resize(&a, 1000000, &large, &error),
					 -EOPNOTSUPP);
			baleen_filter_free(&a);
			continue;
		}
		if (baleen_filter_resize(&a, 8 * CAPACITY, &large, &error))
			fail_msg("%s: %s", world->name, error.text);
		assert_sealed(&large);
		assert_set(world, &large, in);
		assert_true(baleen_filter_room(&large) >= 8 * CAPACITY * 0.99);
		if (baleen_filter_resize(&large, n, &small, &error))
			fail_msg("%s: %s", world->name, error.text);
		assert_sealed(&small);
		assert_set(world, &small, in);
		assert_true(small.n_bytes < large.n_bytes);
		baleen_filter_free(&small);
		baleen_filter_free(&large);
		baleen_filter_free(&a);
	}
}

/* Both tables in 16 blocks. */
static struct baleen_filter build_16(const struct world *world, const bool *in)
{
	bool none[N_KEYS] = { 0 };
	struct baleen_filter model, filter;

	none[0] = none[N_KEYS - 1] = true;
	model = build(world, none, "fold", NULL);
	for (u32 domain = 0; domain <= BALEEN_IP6; domain++) {
		struct baleen_table *table = &model.image.table[domain];

		table->n_buckets = 16;
		table->n_blocks = baleen_table_blocks(table);
	}
	filter = build(world, in, "fold", &model.image);
	baleen_filter_free(&model);
	return filter;
}

/* Bit for bit what the keys make in the smaller size, however often it is folded. */
static void test_fold(void **state)
{
	static const u32 kinds[] = { 7, 11 };
	struct random random = random_from(6);

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct world *world = &worlds[kinds[i]];
		struct baleen_filter a, folded, fresh;
		struct baleen_error error;
		bool in[N_KEYS];

		choose(&random, 4, in);
		a = build_16(world, in);
		/* 16 blocks have room for 16 * 512 ln 2 / k in each family. */
		assert_int_equal(baleen_filter_resize(&a, 16 * 1000, &folded, &error), -EOPNOTSUPP);
		for (u32 n = 1; n <= 3; n++) {
			u32 k = a.image.table[BALEEN_IP4].n_hashes;
			u64 room = 16 * 512 * 0.69 / k / (1 << n);

			assert_int_equal(baleen_filter_resize(&a, room, &folded, &error), 0);
			assert_sealed(&folded);
			assert_true(folded.image.table[BALEEN_IP4].n_buckets <= 16u >> n);
			assert_set(world, &folded, in);
			fresh = build(world, in, "fold", &folded.image);
			assert_same_body(world, &folded, &fresh);
			baleen_filter_free(&fresh);
			baleen_filter_free(&folded);
		}
		baleen_filter_free(&a);
	}
}

/* --- compare --------------------------------------------------------------- */

static void test_compare(void **state)
{
	struct random random = random_from(7);
	bool in_a[N_KEYS], in_b[N_KEYS];

	for (u32 i = 0; i < N_WORLDS; i++) {
		const struct world *world = &worlds[i];
		double n_a = 0, n_b = 0, n_both = 0, off = world->is & EXACT ? 0 : 40;
		struct baleen_comparison found;
		struct baleen_filter a, b;
		struct baleen_error error;

		choose(&random, 2, in_a);
		choose(&random, 3, in_b);
		for (u32 k = 0; k < N_KEYS; k++) {
			n_a += in_a[k];
			n_b += in_b[k];
			n_both += in_a[k] && in_b[k];
		}
		a = build(world, in_a, "compare", NULL);
		b = build(world, in_b, "compare", &a.image);
		if (baleen_filters_compare(&a, &b, "a", &found, &error))
			fail_msg("%s: %s", world->name, error.text);
		assert_int_equal(found.is_estimate, baleen_filter_has_bloom(&a));
		if (fabs(found.n_a - n_a) > off || fabs(found.n_b - n_b) > off ||
		    fabs(found.n_both - n_both) > off)
			fail_msg("%s: %g, %g, %g, not %g, %g, %g", world->name, found.n_a,
				 found.n_b, found.n_both, n_a, n_b, n_both);
		baleen_filter_free(&b);
		baleen_filter_free(&a);
	}
}

/* --- what does not fit ------------------------------------------------------- */

static void assert_fit(const struct baleen_image *a, const struct baleen_image *b, u32 domain,
		       const char *want)
{
	struct baleen_error error = { "" };
	int err = baleen_compat_keys(a, b, "a.bln", &error);

	if (!err)
		err = baleen_compat_tables(a, b, domain, "a.bln", &error);
	assert_int_equal(!err, !want);
	if (want)
		assert_string_equal(error.text, want);
}

static struct baleen_image image_of(struct baleen_table table)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };

	image.seed.word[0] = 0x1234;
	image.table[BALEEN_IP4] = table;
	return image;
}

#define CLASSIC .kind = BALEEN_KIND_CLASSIC, .n_buckets = 4
#define CUCKOO .kind = BALEEN_KIND_CUCKOO, .n_buckets = 64

/* In the order in which both values are named. */
static void test_fit(void **state)
{
	static const struct {
		struct baleen_table a, b;
		const char *want;
	} cases[] = {
		{ { CLASSIC, .n_hashes = 6, .hash = 1 },
		  { CLASSIC, .n_hashes = 4, .hash = 1 },
		  "4 hashes, a.bln has 6" },
		{ { CLASSIC, .n_hashes = 6, .hash = 1 },
		  { CLASSIC, .n_hashes = 4, .hash = 2 },
		  "hash murmur3, a.bln has keyed" },
		{ { CLASSIC, .n_hashes = 6, .hash = 1 },
		  { CLASSIC, .n_hashes = 6, .hash = 1, .n_spare_bits = 48 },
		  "2000 bits, a.bln has 2048" },
		{ { CLASSIC, .n_hashes = 6, .hash = 1 },
		  { CUCKOO, .slot_bits = 16 },
		  "kind cuckoo, a.bln has classic" },
		{ { CUCKOO, .slot_bits = 8, .bucket_slots = 2 },
		  { CUCKOO, .slot_bits = 12, .bucket_slots = 2 },
		  "slots of 12 bits, a.bln has 8" },
		{ { CUCKOO, .slot_bits = 8, .bucket_slots = 2 },
		  { CUCKOO, .slot_bits = 8, .bucket_slots = 4 },
		  "4 slots a bucket, a.bln has 2" },
		{ { .kind = BALEEN_KIND_CUCKOO, .slot_bits = 8, .n_buckets = 10 },
		  { CUCKOO, .slot_bits = 8 },
		  "64 buckets, a.bln has 10" },
		{ { CUCKOO, .slot_bits = 16 }, { CUCKOO, .slot_bits = 32 }, NULL },
		{ { .kind = BALEEN_KIND_QUOTIENT, .log2_buckets = 4, .slot_bits = 16 },
		  { .kind = BALEEN_KIND_QUOTIENT, .log2_buckets = 5, .slot_bits = 16 },
		  "fingerprints of 21 bits, a.bln has 20" },
		{ { .kind = BALEEN_KIND_QUOTIENT, .log2_buckets = 4, .slot_bits = 16 },
		  { .kind = BALEEN_KIND_QUOTIENT, .log2_buckets = 5, .slot_bits = 15 },
		  NULL },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct baleen_image a = image_of(cases[i].a), b = image_of(cases[i].b);

		assert_fit(&a, &b, BALEEN_IP4, cases[i].want);
	}
}

static void test_fit_seeds(void **state)
{
	struct baleen_image a = image_of(
		(struct baleen_table){ CLASSIC, .n_hashes = 2, .hash = BALEEN_HASH_KEYED });
	struct baleen_image b = a;

	b.seed.word[0] = 0x5678;
	assert_fit(&a, &b, BALEEN_IP4,
		   "seed 0000000000005678..., a.bln has 0000000000001234...: build one --like the "
		   "other");
	a.table[BALEEN_IP4].hash = b.table[BALEEN_IP4].hash = BALEEN_HASH_MURMUR3;
	assert_fit(&a, &b, BALEEN_IP4, NULL);
	/* As two digests of two Squids are. */
	a.table[BALEEN_IP4].hash = b.table[BALEEN_IP4].hash = BALEEN_HASH_SQUID;
	assert_fit(&a, &b, BALEEN_IP4, NULL);
	b.flags = BALEEN_FLAG_COPIES;
	assert_fit(&a, &b, BALEEN_IP4, "copies of a key count, a.bln has each once");
	b.key_spec = BALEEN_KEY_DST;
	assert_fit(&a, &b, BALEEN_IP4, "key dst, a.bln has src");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_combine),	  cmocka_unit_test(test_ends),
		cmocka_unit_test(test_tree),	  cmocka_unit_test(test_list),
		cmocka_unit_test(test_resize),	  cmocka_unit_test(test_fold),
		cmocka_unit_test(test_compare),	  cmocka_unit_test(test_fit),
		cmocka_unit_test(test_fit_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
