// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Changes of an image as the kernel module makes them: against slow models, against the
 * library's changes of a live map, and on bodies that hold anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <baleen/inplace.h>

#include "filter/live.h"
#include "ops/build.h"
#include "planes.h"
#include "quotients.h"
#include "shapes.h"

static bool has(const struct baleen_filter *filter, const struct baleen_key *key)
{
	return baleen_image_test(&filter->image, filter->bytes, key);
}

/* --- a change, and what must be true of any -------------------------------- */

static int change_image(struct baleen_filter *filter, const struct baleen_key *key, bool add,
			bool *changed)
{
	static struct baleen_search search;

	if (!add)
		return baleen_image_del(&filter->image, filter->bytes, key, changed);
	memset(&search, 0xa5, sizeof(search));
	return baleen_image_add(&filter->image, filter->bytes, &search, key, changed);
}

/* A change of the filter and of another that is live: the same answer and the same
 * bytes. A failure leaves both as they were, header and answer included.
 */
static int change(struct baleen_filter *filter, const struct baleen_key *key, bool add,
		  bool *changed)
{
	bool is = true, live_is = true, other = false;
	struct baleen_filter live;
	int err, live_err;

	assert_int_equal(baleen_filter_alloc(&live, &filter->image, NULL), 0);
	memcpy(live.bytes, filter->bytes, live.n_bytes);
	live.image = filter->image;
	live.image.flags |= BALEEN_FLAG_LIVE;
	err = change_image(filter, key, add, &is);
	if (err) {
		assert_true(is);
		assert_memory_equal(filter->bytes, live.bytes, live.n_bytes);
		assert_int_equal(change_image(filter, key, add, &other), err);
		assert_false(other);
	}
	assert_memory_equal(filter->bytes, live.bytes, BALEEN_HEADER_BYTES);
	/* The image is given back as it came for as long as nothing changes. */
	if (!err && !is)
		assert_memory_equal(filter->bytes, live.bytes, live.n_bytes);
	if (add || baleen_image_may_del(&filter->image, key->domain)) {
		live_err = add ? baleen_live_add(&live, key, &live_is) :
				 baleen_live_del(&live, key, &live_is);
		assert_int_equal(live_err, err);
		assert_int_equal(live_is, is);
		assert_memory_equal(filter->bytes, live.bytes, live.n_bytes);
	}
	baleen_filter_free(&live);
	if (!err)
		*changed = is;
	return err;
}

static void refuse(struct baleen_filter *filter, const struct baleen_key *key, bool add, int want)
{
	bool changed;

	assert_int_equal(change(filter, key, add, &changed), want);
}

static struct baleen_key *random_keys(struct random *random, u32 domain, u32 n)
{
	struct baleen_key *keys = calloc(n, sizeof(*keys));

	assert_non_null(keys);
	for (u32 i = 0; i < n; i++)
		keys[i] = random_key(random, domain);
	return keys;
}

/* A filter of a list in text. */
static struct baleen_filter text_filter(const char *text, u32 kind, u64 capacity)
{
	struct random random = { .state = capacity };
	struct baleen_seed seed = random_seed(&random);
	const struct baleen_build_options options = {
		.key_spec = BALEEN_KEY_SRC,
		.kind = kind,
		.seed = &seed,
		.capacity = capacity,
		.fpp = kind == BALEEN_KIND_CUCKOO || kind == BALEEN_KIND_QUOTIENT ? 0 : 0.01,
	};
	struct baleen_list list = { 0 };
	struct baleen_filter filter;
	FILE *file = tmpfile();

	assert_non_null(file);
	fputs(text, file);
	rewind(file);
	assert_int_equal(baleen_list_read(&list, fileno(file), "list", NULL, NULL), 0);
	assert_int_equal(baleen_list_finish(&list), 0);
	assert_int_equal(baleen_build(&list, &options, &filter, NULL), 0);
	fclose(file);
	baleen_list_free(&list);
	return filter;
}

/* --- refused ----------------------------------------------------------------- */

static void test_refused(void **state)
{
	struct random random = random_from(1);
	struct baleen_key ip4 = { .domain = BALEEN_IP4, .ip4 = 0xc0000201 };
	struct baleen_key ip6 = { .domain = BALEEN_IP6, .hi = 0x20010db800000000, .lo = 1 };
	struct baleen_key string = { .domain = BALEEN_TUPLE, .hi = 5 };
	struct baleen_table table = cuckoo_table(32, 64);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	bool changed = true;

	/* No table. */
	refuse(&filter, &ip6, true, -ENOSPC);
	assert_int_equal(change(&filter, &ip6, false, &changed), 0);
	assert_false(changed);
	/* Copies. */
	filter.image.flags |= BALEEN_FLAG_COPIES;
	refuse(&filter, &ip4, true, -EOPNOTSUPP);
	refuse(&filter, &ip4, false, -EOPNOTSUPP);
	baleen_filter_free(&filter);

	/* What cannot forget. */
	table = bloom_table(4, 3);
	filter = table_filter(&table, BALEEN_IP4, &random);
	refuse(&filter, &ip4, false, -EOPNOTSUPP);
	baleen_filter_free(&filter);
	table = plane_table(BALEEN_KIND_CLASSIC, BALEEN_HASH_KEYED, 5, 1000);
	filter = table_filter(&table, BALEEN_IP4, &random);
	refuse(&filter, &ip4, false, -EOPNOTSUPP);
	baleen_filter_free(&filter);

	/* Strings whose bytes are not there. */
	for (u32 kind = BALEEN_KIND_CLASSIC; kind <= BALEEN_KIND_COUNTING; kind++) {
		table = plane_table(kind, BALEEN_HASH_MURMUR3, 5, 1000);
		filter = table_filter(&table, BALEEN_TUPLE, &random);
		refuse(&filter, &string, true, -EOPNOTSUPP);
		refuse(&filter, &string, false, -EOPNOTSUPP);
		baleen_filter_free(&filter);
	}

	/* What shifts when it changes. */
	filter = quotient_filter(8, 10, 1);
	refuse(&filter, &string, true, -EOPNOTSUPP);
	refuse(&filter, &string, false, -EOPNOTSUPP);
	baleen_filter_free(&filter);

	/* Part of a prefix; an address in a prefix of IPv6, and one that is not. */
	filter = text_filter("192.0.0.0/16\n2001:db8::/32\n", BALEEN_KIND_CUCKOO, 0);
	refuse(&filter, &ip4, false, -ENOSPC);
	refuse(&filter, &ip6, false, -ENOSPC);
	assert_int_equal(change(&filter, &ip6, true, &changed), 0);
	assert_false(changed);
	ip6.hi = 0x20010db900000000;
	refuse(&filter, &ip6, true, -ENOSPC);
	changed = true;
	assert_int_equal(change(&filter, &ip6, false, &changed), 0);
	assert_false(changed);
	/* The directory has no table of hosts: a first host finds no room. */
	assert_int_equal(filter.image.table[BALEEN_IP4].kind, BALEEN_KIND_NONE);
	ip4.ip4 = 0xcb007101;
	refuse(&filter, &ip4, true, -ENOSPC);
	baleen_filter_free(&filter);
}

static void test_may_del(void **state)
{
	static const struct {
		u32 domain, kind, slot_bits;
		bool may;
	} cases[] = {
		{ BALEEN_IP4, BALEEN_KIND_CUCKOO, 8, false },
		{ BALEEN_IP4, BALEEN_KIND_CUCKOO, 12, false },
		{ BALEEN_IP4, BALEEN_KIND_CUCKOO, 16, true },
		{ BALEEN_IP4, BALEEN_KIND_CUCKOO, 32, true },
		{ BALEEN_IP6, BALEEN_KIND_CUCKOO, 16, false },
		{ BALEEN_IP6, BALEEN_KIND_CUCKOO, 32, false },
		{ BALEEN_IP6, BALEEN_KIND_CUCKOO, 64, true },
		{ BALEEN_WORD, BALEEN_KIND_CUCKOO, 32, false },
		{ BALEEN_WORD, BALEEN_KIND_CUCKOO, 64, true },
		{ BALEEN_TUPLE, BALEEN_KIND_CUCKOO, 64, true },
		{ BALEEN_IP4, BALEEN_KIND_COUNTING, 0, true },
		{ BALEEN_IP4, BALEEN_KIND_NONE, 0, true },
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct baleen_image image = { 0 };
		struct baleen_table *table = &image.table[cases[i].domain];

		table->kind = cases[i].kind;
		table->slot_bits = cases[i].slot_bits;
		assert_int_equal(baleen_image_may_del(&image, cases[i].domain), cases[i].may);
		image.flags = BALEEN_FLAG_COPIES;
		assert_true(baleen_image_may_del(&image, cases[i].domain));
	}
}

/* --- cuckoo tables of every geometry ---------------------------------------- */

/* Nobody is found who has no place with one of the keys that are in. */
static bool looks_like_one(const struct baleen_filter *filter, const struct baleen_key *keys,
			   const bool *in, u32 n, u32 i)
{
	const struct baleen_table *table = &filter->image.table[keys[i].domain];
	struct baleen_cuckoo_place place =
		baleen_cuckoo_locate(table, &filter->image.seed, &keys[i]);

	for (u32 k = 0; k < n; k++) {
		struct baleen_cuckoo_place other =
			baleen_cuckoo_locate(table, &filter->image.seed, &keys[k]);

		if (in[k] && place.slot == other.slot &&
		    (place.home == other.home ||
		     (!baleen_table_side(table) && place.home == other.other)))
			return true;
	}
	return false;
}

static void assert_keys(const struct baleen_filter *filter, const struct baleen_key *keys,
			const bool *in, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		bool is = has(filter, &keys[i]);

		if (is != in[i])
			assert_true(is && looks_like_one(filter, keys, in, n, i));
	}
}

static bool has_any_of(const struct baleen_filter *filter, const struct baleen_key *keys, u32 n)
{
	bool found = false;

	for (u32 i = 0; i < n; i++)
		found |= has(filter, &keys[i]);
	return found;
}

static void change_cuckoo(struct baleen_filter *filter, u32 domain, struct random *random)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u32 n = table->n_buckets * baleen_bucket_slots(table) * 5 / 4 + 8, n_full = 0;
	struct baleen_key *keys = random_keys(random, domain, n);
	bool *in = calloc(n, sizeof(*in)), may_del = baleen_image_may_del(&filter->image, domain);

	for (u32 op = 0; op < 2 * n; op++) {
		/* All of them once, so that it is full at some time. */
		u32 i = op < n ? op : random_below(random, n);
		bool add = op < n || random_below(random, 2), changed;
		bool was = has(filter, &keys[i]);
		int err = change(filter, &keys[i], add, &changed);

		if (!baleen_table_changes_live(table) || (!add && !may_del)) {
			assert_int_equal(err, -EOPNOTSUPP);
			continue;
		}
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_true(add && !was);
			n_full++;
			continue;
		}
		assert_int_equal(changed, was != add);
		in[i] = add;
		assert_int_equal(has(filter, &keys[i]), add);
	}
	assert_keys(filter, keys, in, n);
	/* A fourth more than slots: keys of slots that tell them apart do not all fit. */
	assert_true(n_full || !baleen_table_tells_apart(table, domain));
	assert_true(baleen_table_changes_live(table) || !has_any_of(filter, keys, n));
	free(keys);
	free(in);
}

static void change_geometry(const struct geometry *geometry, struct random *random)
{
	for (u32 n_stash = 0; n_stash <= BALEEN_STASH_SLOTS; n_stash += BALEEN_STASH_SLOTS) {
		struct baleen_filter filter = geometry_filter(geometry, n_stash, random);

		change_cuckoo(&filter, geometry->domain, random);
		baleen_filter_free(&filter);
	}
}

static void test_cuckoo(void **state)
{
	struct random random = random_from(2);

	each_geometry(change_geometry, &random);
}

/* --- planes of bits ---------------------------------------------------------- */

/* What a plane and its counters have to be, a byte each. */
struct model {
	u64 n_bits;
	u8 *bit, *count;
};

/* Marks the positions of a key, found without a list. */
static void mark(const struct baleen_filter *filter, const struct baleen_key *key, u8 *marks)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	struct baleen_bloom_place place;

	if (table->hash != BALEEN_HASH_BLOCKED) {
		for (u32 i = 0; i < table->n_hashes; i++)
			marks[baleen_classic_position(
				table, baleen_hash64(&filter->image.seed, key), key, i)] = 1;
		return;
	}
	place = baleen_bloom_locate(table, &filter->image.seed, key);
	for (u32 half = 0; half < 2; half++)
		for (u32 bit = 0; bit < 64; bit++)
			if (place.mask[half] >> bit & 1)
				marks[(place.block - table->first_block) * 512 +
				      place.word[half] * 64 + bit] = 1;
}

/* What the change is to do, and whether it is to say that it changed something. */
static bool change_model(struct model *model, const u8 *marks, bool add, bool counts)
{
	bool all_set = true;

	for (u64 p = 0; p < model->n_bits; p++)
		all_set &= !marks[p] || model->bit[p];
	if (!add && !all_set)
		return false;
	for (u64 p = 0; p < model->n_bits; p++) {
		u8 *count = &model->count[p];

		if (!marks[p])
			continue;
		model->bit[p] = add || *count > 1;
		if (counts && *count < 15)
			*count += add ? 1 : *count ? -1 : 0;
	}
	return counts || !all_set;
}

static void assert_model(const struct baleen_filter *filter, u32 domain, const struct model *model)
{
	bool counts = filter->image.table[domain].kind == BALEEN_KIND_COUNTING;

	for (u64 p = 0; p < model->n_bits; p++) {
		assert_int_equal(plane_bit(filter, domain, p), model->bit[p]);
		if (counts)
			assert_int_equal(plane_counter(filter, domain, p), model->count[p]);
	}
}

static void change_plane(const struct baleen_table *table, u32 domain, struct random *random)
{
	bool counts = table->kind == BALEEN_KIND_COUNTING;
	struct baleen_filter filter = table_filter(table, domain, random);
	struct baleen_key *keys = random_keys(random, domain, 64);
	struct model model = { .n_bits = baleen_table_bits(table) };
	u8 *marks = calloc(model.n_bits, 1);

	model.bit = calloc(model.n_bits, 1);
	model.count = calloc(model.n_bits, 1);
	for (u32 op = 0; op < 400; op++) {
		/* Some keys often, so that counters come to their end. */
		u32 i = random_below(random, random_below(random, 4) ? 4 : 64);
		bool add = !counts || random_below(random, 3), changed;

		memset(marks, 0, model.n_bits);
		mark(&filter, &keys[i], marks);
		assert_int_equal(change(&filter, &keys[i], add, &changed), 0);
		assert_int_equal(changed, change_model(&model, marks, add, counts));
		if (add)
			assert_true(has(&filter, &keys[i]));
		if (op % 40 == 0)
			assert_model(&filter, domain, &model);
	}
	assert_model(&filter, domain, &model);
	free(model.bit);
	free(model.count);
	free(marks);
	free(keys);
	baleen_filter_free(&filter);
}

static void test_planes(void **state)
{
	static const u32 kinds[] = { BALEEN_KIND_BLOOM, BALEEN_KIND_CLASSIC, BALEEN_KIND_COUNTING };
	struct random random = random_from(3);

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++) {
		for (u32 i = 0; i < 3 * BALEEN_N_HASHES; i++) {
			u32 kind = kinds[i % 3], hash = i / 3;
			bool is_blocked = hash == BALEEN_HASH_BLOCKED;
			struct baleen_table table =
				plane_table(kind, hash, 4, is_blocked ? 1024 : 999);
			bool knows = baleen_classic_knows(&table, domain);

			if (is_blocked ? kind == BALEEN_KIND_CLASSIC : kind == BALEEN_KIND_BLOOM)
				continue;
			if (!is_blocked && !knows)
				continue;
			if (hash == BALEEN_HASH_MURMUR3_FNV1A)
				table.n_hashes = 2;
			change_plane(&table, domain, &random);
			/* The most that there are. */
			if (hash == BALEEN_HASH_KEYED) {
				table.n_hashes = BALEEN_MAX_POSITIONS;
				change_plane(&table, domain, &random);
			}
		}
	}
}

/* --- prefixes ---------------------------------------------------------------- */

/* Groups of all, some with leaves, one of hosts, and many of nobody. */
static struct baleen_filter directory_filter(u32 kind)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *stream = open_memstream(&text, &n_bytes);
	struct baleen_filter filter;

	fputs("10.0.0.0/8\n192.0.2.1\n2001:db8::/32\n2001:db9:1::/48\n!2001:db8:2::/48\n", stream);
	for (u32 i = 0; i < 64 * 256; i += 2)
		fprintf(stream, "172.16.%u.%u\n", i / 256, i % 256);
	fclose(stream);
	filter = text_filter(text, kind, 10000);
	free(text);
	assert_int_equal(filter.image.table[BALEEN_IP4_GROUPS].kind, BALEEN_KIND_DIRECTORY);
	assert_true(filter.image.table[BALEEN_IP4_GROUPS].n_buckets > 0);
	assert_int_equal(filter.image.table[BALEEN_IP6_STEMS].kind, BALEEN_KIND_TREE);
	return filter;
}

static bool is_listed(u32 ip4)
{
	return ip4 >> 24 == 10 || (ip4 >= 0xac100000 && ip4 < 0xac104000 && ip4 % 2 == 0) ||
	       ip4 == 0xc0000201;
}

/* An address of one of the sorts of groups. */
static u32 some_ip4(struct random *random)
{
	static const u32 first[] = { 0x0a0000f0, 0xac100000, 0xac1002f0, 0xac103ff8,
				     0xac10ff00, 0xc0000200, 0xc0000300, 0xcb007100 };

	return first[random_below(random, 8)] + random_below(random, 16);
}

static void test_directory(void **state)
{
	struct random random = random_from(4);
	struct baleen_filter filter = directory_filter(BALEEN_KIND_CUCKOO);
	u8 *is_in = calloc(1, 1ul << 32 >> 8), n_refused = 0;
	u32 n_changed = 0;

	/* One byte for each address of some_ip4(), by its last 24 bits. */
	for (u32 op = 0; op < 3000; op++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = some_ip4(&random) };
		u8 *known = &is_in[key.ip4 & 0xffffff];
		bool add = random_below(&random, 2), changed;
		bool was = *known ? *known == 1 : is_listed(key.ip4);
		int err;

		assert_int_equal(has(&filter, &key), was);
		err = change(&filter, &key, add, &changed);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			assert_true(!add && key.ip4 >> 24 == 10);
			n_refused = 1;
			continue;
		}
		assert_int_equal(changed, was != add);
		n_changed += changed;
		*known = add ? 1 : 2;
	}
	assert_true(n_refused && n_changed > 500);
	free(is_in);
	baleen_filter_free(&filter);
}

/* --- bodies that hold anything ------------------------------------------------ */

/* All bits at random, few of them set, or most of them. */
static u64 damage(struct random *random, u32 density)
{
	u64 a = random_next(random), b = random_next(random), c = random_next(random);

	return density == 0 ? a : density == 1 ? a & b & c : a | b | c;
}

/* Changes end, say one of three things, and stay in the table of their key, outside of
 * which another, the header or nothing at all is (ASan).
 */
static void change_damaged(struct baleen_filter *filter, struct random *random)
{
	u32 first = BALEEN_HEADER_BYTES / 8, n_words = filter->n_bytes / 8, n_done = 0;
	u64 *words = filter->bytes;

	for (u32 density = 0; density < 3; density++) {
		for (u32 i = first; i < n_words; i++)
			words[i] = damage(random, density);
		for (u32 op = 0; op < 200; op++) {
			struct baleen_key key = random_key(random, random_below(random, 4));
			bool changed;
			int err = change(filter, &key, op % 2, &changed);

			assert_true(!err || err == -ENOSPC || err == -EOPNOTSUPP);
			n_done += !err;
			if (!err && op % 2)
				assert_true(has(filter, &key));
		}
	}
	assert_true(n_done > 0);
}

static void damage_geometry(const struct geometry *geometry, struct random *random)
{
	struct baleen_filter filter;

	if (geometry->n_buckets != 42 && geometry->n_buckets != 101)
		return;
	filter = geometry_filter(geometry, BALEEN_STASH_SLOTS, random);
	change_damaged(&filter, random);
	baleen_filter_free(&filter);
}

static void test_damaged(void **state)
{
	static const u32 kinds[] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_BLOOM, BALEEN_KIND_CLASSIC,
				     BALEEN_KIND_COUNTING, BALEEN_KIND_QUOTIENT };
	struct random random = random_from(5);

	each_geometry(damage_geometry, &random);
	for (u32 i = 0; i < 5; i++) {
		struct baleen_filter filter = directory_filter(kinds[i]);

		change_damaged(&filter, &random);
		baleen_filter_free(&filter);
	}
}

/* A leaf that the directory does not have is not changed, and that is said. */
static void test_damaged_leaf(void **state)
{
	struct baleen_filter filter = directory_filter(BALEEN_KIND_CUCKOO);
	const struct baleen_table *table = &filter.image.table[BALEEN_IP4_GROUPS];
	struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = 0xac100001 };
	struct baleen_block *lines = (struct baleen_block *)filter.bytes + table->first_block;
	struct baleen_group_place place = baleen_group_locate(key.ip4 >> (32 - table->group_bits));
	bool changed;

	assert_int_equal(change(&filter, &key, true, &changed), 0);
	assert_true(changed);
	assert_int_equal(change(&filter, &key, false, &changed), 0);
	for (u64 count = table->n_buckets; count < 1 << 24; count = count * 2 + 1) {
		lines[place.line].word[6] = baleen_le64(count);
		refuse(&filter, &key, true, -ENOSPC);
	}
	baleen_filter_free(&filter);
}

/* Of a key that is in both its places, which a damaged image may have and a killed writer
 * leaves, nothing changes until it goes, and then both go.
 */
static void test_twice(void **state)
{
	struct random random = random_from(7);
	struct baleen_table table = cuckoo_table(32, 64);
	struct baleen_filter filter = table_filter(&table, BALEEN_IP4, &random);
	struct baleen_slots slots = baleen_slots_of(&filter, BALEEN_IP4);
	struct baleen_key key = random_key(&random, BALEEN_IP4);
	struct baleen_cuckoo_place place = baleen_cuckoo_locate(&table, &filter.image.seed, &key);
	void *before = malloc(filter.n_bytes);
	bool changed = true;

	baleen_slots_set(&slots, place.home, 2, place.slot);
	baleen_slots_set(&slots, place.other, 3, place.slot | baleen_cuckoo_side(32));
	memcpy(before, filter.bytes, filter.n_bytes);
	assert_int_equal(change_image(&filter, &key, true, &changed), 0);
	assert_false(changed);
	assert_memory_equal(filter.bytes, before, filter.n_bytes);
	assert_int_equal(change_image(&filter, &key, false, &changed), 0);
	assert_true(changed);
	assert_false(has(&filter, &key));
	free(before);
	baleen_filter_free(&filter);
}

/* A table is changed, and not the one behind it. */
static void test_neighbours(void **state)
{
	struct random random = random_from(6);
	struct baleen_filter one, two;
	struct baleen_table table = cuckoo_table(32, 64);
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC, .seed = random_seed(&random) };
	size_t n_bytes;

	image.table[BALEEN_IP4] = table;
	image.table[BALEEN_IP6] = cuckoo_table(64, 64);
	image.table[BALEEN_IP6].first_block += table.n_blocks;
	image.n_blocks = image.table[BALEEN_IP6].first_block + image.table[BALEEN_IP6].n_blocks;
	n_bytes = (size_t)image.table[BALEEN_IP6].first_block * BALEEN_BLOCK_BYTES;
	assert_int_equal(baleen_filter_alloc(&one, &image, NULL), 0);
	assert_int_equal(baleen_filter_alloc(&two, &image, NULL), 0);
	for (u32 op = 0; op < 400; op++) {
		struct baleen_key key = random_key(&random, op % 2 ? BALEEN_IP6 : BALEEN_IP4);
		bool changed;

		memcpy(two.bytes, one.bytes, one.n_bytes);
		change(&one, &key, true, &changed);
		if (op % 2)
			assert_memory_equal(one.bytes, two.bytes, n_bytes);
		else
			assert_memory_equal((u8 *)one.bytes + n_bytes, (u8 *)two.bytes + n_bytes,
					    one.n_bytes - n_bytes);
	}
	baleen_filter_free(&one);
	baleen_filter_free(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	     cmocka_unit_test(test_may_del),
		cmocka_unit_test(test_cuckoo),	     cmocka_unit_test(test_planes),
		cmocka_unit_test(test_directory),    cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_damaged_leaf), cmocka_unit_test(test_twice),
		cmocka_unit_test(test_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
