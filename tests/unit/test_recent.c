// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of recent changes behind an image, held to an array that is searched. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/recent.h"
#include "list/list_algebra.h"
#include "ops/build.h"
#include "ops/edit.h"
#include "random.h"

#define LIST "10.0.0.0/20\n!10.0.5.0/24\n10.1.0.1\n2001:db8::/40\n!2001:db8:5::/48\n2001:db9::1\n"
#define N_STEPS 3000
#define MAX_NETS 256

/* A filter as a live one is mapped: the image, and the table behind it. */
static struct baleen_filter make_live(const char *text)
{
	const struct baleen_build_options options = { .name = "live",
						      .key_spec = BALEEN_KEY_SRC,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_filter image, live;
	struct baleen_list list;

	assert_int_equal(baleen_list_from_text(text, "list", BALEEN_KEY_SRC, &list, NULL), 0);
	assert_int_equal(baleen_build(&list, &options, &image, NULL), 0);
	live = image;
	live.n_recent = baleen_recent_buckets(&image.image);
	assert_true(live.n_recent);
	live.bytes = aligned_alloc(BALEEN_BLOCK_BYTES,
				   image.n_bytes + baleen_recent_bytes(live.n_recent));
	assert_non_null(live.bytes);
	memcpy(live.bytes, image.bytes, image.n_bytes);
	memset((u8 *)live.bytes + image.n_bytes, 0, baleen_recent_bytes(live.n_recent));
	baleen_filter_free(&image);
	baleen_list_free(&list);
	return live;
}

/* What is in the table, to be searched from end to end. */
struct slow {
	struct baleen_recent_net net[MAX_NETS];
	u32 flags[MAX_NETS];
	u32 n;
};

static bool is_same(const struct baleen_recent_net *a, const struct baleen_recent_net *b)
{
	return a->hi == b->hi && a->lo == b->lo && a->length == b->length && a->is_ip6 == b->is_ip6;
}

static u32 slow_find(const struct slow *slow, const struct baleen_recent_net *net)
{
	u32 i = 0;

	while (i < slow->n && !is_same(&slow->net[i], net))
		i++;
	return i;
}

static bool covers(const struct baleen_recent_net *net, const struct baleen_key *key)
{
	u64 hi = key->domain == BALEEN_IP6 ? key->hi : (u64)key->ip4 << 32;

	if (net->is_ip6 != (key->domain == BALEEN_IP6))
		return false;
	for (u32 bit = 0; bit < net->length; bit++) {
		u64 differ = bit < 64 ? (hi ^ net->hi) << bit : (key->lo ^ net->lo) << (bit - 64);

		if (differ >> 63)
			return false;
	}
	return true;
}

static int slow_test(const struct slow *slow, const struct baleen_filter *image,
		     const struct baleen_key *key)
{
	int answer = baleen_image_test(&image->image, image->bytes, key), longest = -1;

	for (u32 i = 0; i < slow->n; i++) {
		if (slow->net[i].length <= longest || !covers(&slow->net[i], key))
			continue;
		longest = slow->net[i].length;
		answer = !!(slow->flags[i] & BALEEN_RECENT_IN);
	}
	return answer;
}

/* A small world, in which prefixes cover each other. */
static struct baleen_key draw_key(struct random *random)
{
	struct baleen_key key = { .domain = random_below(random, 2) ? BALEEN_IP6 : BALEEN_IP4 };

	if (key.domain == BALEEN_IP4) {
		key.ip4 = 0x0a000000 | random_below(random, 3) << 16 |
			  random_below(random, 8) << 8 | random_below(random, 4);
		return key;
	}
	key.hi = 0x20010db800000000ull | random_below(random, 2) << 32 |
		 random_below(random, 8) << 16 | random_below(random, 2);
	key.lo = random_below(random, 2) << 63 | random_below(random, 3);
	return key;
}

static struct baleen_recent_net draw_net(struct random *random)
{
	static const u8 lengths[2][7] = { { 8, 16, 20, 24, 30, 32, 0 },
					  { 31, 40, 48, 63, 64, 65, 128 } };
	struct baleen_key key = draw_key(random);
	bool is_ip6 = key.domain == BALEEN_IP6;

	return baleen_recent_net(is_ip6 ? key.hi : (u64)key.ip4 << 32, key.lo,
				 lengths[is_ip6][random_below(random, 7)], is_ip6);
}

static void step(struct baleen_filter *live, struct slow *slow, struct random *random)
{
	struct baleen_recent_net net = draw_net(random);
	u32 flags = random_below(random, 2) ? BALEEN_RECENT_IN : 0, i = slow_find(slow, &net);

	flags |= random_below(random, 2) ? BALEEN_RECENT_FRESH : 0;
	if (random_below(random, 2)) {
		baleen_recent_drop(live, &net);
		baleen_recent_tidy(live);
		if (i < slow->n) {
			slow->n--;
			slow->net[i] = slow->net[slow->n];
			slow->flags[i] = slow->flags[slow->n];
		}
		assert_int_equal(baleen_recent_get(live, &net), 0);
		return;
	}
	assert_int_equal(baleen_recent_put(live, &net, flags), 0);
	slow->net[i] = net;
	slow->flags[i] = flags;
	slow->n += i == slow->n;
	assert_true(slow->n < MAX_NETS);
	assert_int_equal(baleen_recent_get(live, &net) & (BALEEN_RECENT_IN | BALEEN_RECENT_FRESH),
			 flags);
}

static void assert_same(const struct baleen_filter *live, const struct slow *slow,
			struct random *random)
{
	struct baleen_key key[64];
	u8 found[64];

	for (u32 i = 0; i < 64; i++)
		key[i] = draw_key(random);
	baleen_filter_test_many(live, key, 64, found);
	for (u32 i = 0; i < 64; i++) {
		assert_int_equal(baleen_filter_test(live, &key[i]), slow_test(slow, live, &key[i]));
		assert_int_equal(found[i], slow_test(slow, live, &key[i]));
	}
}

/* As an image of its own it is the same set. */
static void assert_snapshot(const struct baleen_filter *live, struct random *random)
{
	struct baleen_error error;
	struct baleen_filter image;

	assert_int_equal(baleen_filter_snapshot(live, &image, &error), 0);
	assert_int_equal(image.n_recent, 0);
	for (u32 i = 0; i < 2000; i++) {
		struct baleen_key key = draw_key(random);

		assert_int_equal(baleen_filter_test(&image, &key), baleen_filter_test(live, &key));
	}
	baleen_filter_free(&image);
}

static void test_random(void **state)
{
	struct random random = random_from(0x726563656e74);
	struct baleen_filter live = make_live(LIST);
	static struct slow slow;

	assert_true(baleen_recent_is_empty(&live));
	for (u32 i = 0; i < N_STEPS; i++) {
		step(&live, &slow, &random);
		assert_same(&live, &slow, &random);
		assert_int_equal(baleen_recent_is_empty(&live), !slow.n);
		if (i % 300 == 0)
			assert_snapshot(&live, &random);
	}
	while (slow.n)
		baleen_recent_drop(&live, &slow.net[--slow.n]);
	baleen_recent_tidy(&live);
	assert_true(baleen_recent_is_empty(&live));
	baleen_filter_free(&live);
}

static void test_too_many_lengths(void **state)
{
	struct baleen_filter live = make_live(LIST);

	for (u32 length = 0; length <= 128; length += 16) {
		struct baleen_recent_net net = baleen_recent_net(~0ull, ~0ull, 128 - length, true);
		int err = length == 128 ? -ENOSPC : 0;

		assert_int_equal(baleen_recent_put(&live, &net, BALEEN_RECENT_IN), err);
	}
	baleen_filter_free(&live);
}

/* Half of the slots before the first is refused, and then each is still found. */
static void test_full(void **state)
{
	struct random random = random_from(0x66756c6c);
	struct baleen_filter live = make_live(LIST);
	u64 n_slots = live.n_recent * BALEEN_RECENT_SLOTS, n = 0;
	struct baleen_recent_net net;
	struct baleen_key key = { .domain = BALEEN_IP6 };

	do
		net = baleen_recent_net(0x3000000000000000ull | n++ << 8, 0, 64, true);
	while (!baleen_recent_put(&live, &net, BALEEN_RECENT_IN));
	printf("# %llu of %llu slots\n", (unsigned long long)n, (unsigned long long)n_slots);
	assert_true(n > n_slots / 2);
	for (u64 i = 0; i < n - 1; i++) {
		key.hi = 0x3000000000000000ull | i << 8;
		key.lo = random_next(&random);
		assert_true(baleen_filter_test(&live, &key));
		key.hi |= 1;
		assert_false(baleen_filter_test(&live, &key));
	}
	baleen_filter_free(&live);
}

/* Which rules have none: whose tables cannot be written down as a list. */
static void test_who_has_one(void **state)
{
	struct baleen_image image = { .n_blocks = BALEEN_HEADER_BLOCKS,
				      .key_spec = BALEEN_KEY_SRC,
				      .table[BALEEN_IP4] = { .kind = BALEEN_KIND_CUCKOO,
							     .slot_bits = 16 } };

	assert_int_equal(baleen_recent_buckets(&image), 2048);
	image.n_blocks = 1 << 20;
	assert_int_equal(baleen_recent_buckets(&image), 4096);
	image.flags = BALEEN_FLAG_COPIES;
	assert_int_equal(baleen_recent_buckets(&image), 0);
	image.flags = 0;
	image.table[BALEEN_IP4].slot_bits = 12;
	assert_int_equal(baleen_recent_buckets(&image), 0);
	image.table[BALEEN_IP4] = (struct baleen_table){ .kind = BALEEN_KIND_BLOOM, .n_hashes = 6 };
	assert_int_equal(baleen_recent_buckets(&image), 0);
	image.table[BALEEN_IP4] = (struct baleen_table){ 0 };
	image.key_spec = BALEEN_KEY_STRING;
	assert_int_equal(baleen_recent_buckets(&image), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_too_many_lengths),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_who_has_one),
	};

	return cmocka_run_group_tests_name("recent", tests, NULL, NULL);
}
