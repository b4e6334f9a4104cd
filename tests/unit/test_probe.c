// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Directories and prefix tables made by hand, against slow references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/image_check.h>
#include <baleen/probe.h>

#include "old_prefixes.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static void *allocate(u32 n_blocks)
{
	void *bytes = NULL;

	/* To the byte: ASan watches the end. */
	assert_int_equal(posix_memalign(&bytes, BALEEN_BLOCK_BYTES,
					(size_t)n_blocks * BALEEN_BLOCK_BYTES),
			 0);
	memset(bytes, 0, (size_t)n_blocks * BALEEN_BLOCK_BYTES);
	return bytes;
}

static void set_bits(u8 *bytes, u64 bit, u32 value)
{
	for (; value; value /= 2, bit++)
		if (value % 2)
			bytes[bit / 8] |= 1 << bit % 8;
}

/* --- the directory -------------------------------------------------------- */

/* The state of each group; what a leaf says of a number is made of the number,
 * so that no test needs 2^32 of them.
 */
struct directory {
	u32 width;
	u64 salt;
	u8 *group; /* enum baleen_group */
	struct baleen_table table;
	struct baleen_block *store;
};

static u32 leaf_says(const struct directory *directory, u32 number)
{
	return baleen_mix64(directory->salt + number) % (directory->width == 1 ? 2 : 4);
}

static u32 slow_get(const struct directory *directory, u32 number)
{
	u32 state = directory->group[number / (0x100000000ull >> directory->table.group_bits)];

	return state == BALEEN_GROUP_LEAF ? leaf_says(directory, number) : state;
}

/* 0 to 2 or a leaf, one group in @spread having one, up to @most leaves. */
static void choose_groups(struct directory *directory, u32 spread, u32 most, struct random *random)
{
	u32 n_groups = 1u << directory->table.group_bits;

	directory->group = malloc(n_groups);
	for (u32 i = 0; i < n_groups; i++) {
		directory->group[i] = random_below(random, 3);
		if (directory->table.n_buckets == most || random_below(random, spread))
			continue;
		directory->group[i] = BALEEN_GROUP_LEAF;
		directory->table.n_buckets++;
	}
}

/* The picture on top of directory.h, one group after the other. */
static void write_groups(struct directory *directory)
{
	u32 n_groups = 1u << directory->table.group_bits, n_leaves = 0;

	for (u32 i = 0; i < n_groups; i++) {
		u64 *word = directory->store[i / 192].word;
		u32 third = i % 192 / 64;

		if (i % 192 == 0)
			word[6] = n_leaves;
		word[third] |= (u64)(directory->group[i] & 1) << i % 64;
		word[3 + third] |= (u64)(directory->group[i] >> 1) << i % 64;
		if (directory->group[i] != BALEEN_GROUP_LEAF)
			continue;
		n_leaves++;
		if (third == 0)
			word[6] += 1ull << 32;
		if (third <= 1)
			word[6] += 1ull << 40;
	}
	for (u32 i = 0; i < directory->table.leaf_block; i++)
		directory->store[i].word[6] = baleen_le64(directory->store[i].word[6]);
}

static void write_leaves(struct directory *directory)
{
	u32 group_bits = directory->table.group_bits, n_leaves = 0;
	u64 n_numbers = 0x100000000ull >> group_bits;
	u8 *leaves = (u8 *)&directory->store[directory->table.leaf_block];

	for (u64 i = 0; i < 1ull << group_bits; i++) {
		if (directory->group[i] != BALEEN_GROUP_LEAF)
			continue;
		for (u64 n = 0; n < n_numbers; n++)
			set_bits(leaves, (n_leaves * n_numbers + n) * directory->width,
				 leaf_says(directory, i * n_numbers + n));
		n_leaves++;
	}
}

static struct directory make_directory(u32 group_bits, u32 width, u32 spread, u32 most,
				       struct random *random)
{
	u32 domain = width == 1 ? BALEEN_IP4_GROUPS : BALEEN_IP6_STEMS;
	struct directory directory = { .width = width, .salt = random_next(random) };
	struct baleen_table *table = &directory.table;

	table->kind = BALEEN_KIND_DIRECTORY;
	table->group_bits = group_bits;
	choose_groups(&directory, spread, most, random);
	table->leaf_block = baleen_directory_lines(group_bits);
	table->n_blocks = baleen_directory_blocks(domain, group_bits, table->n_buckets);
	directory.store = allocate(table->n_blocks);
	write_groups(&directory);
	write_leaves(&directory);
	return directory;
}

static void free_directory(struct directory *directory)
{
	free(directory->group);
	free(directory->store);
}

static void assert_number(const struct directory *directory, u32 number)
{
	u32 got =
		baleen_directory_get(&directory->table, directory->store, number, directory->width);

	if (got != slow_get(directory, number))
		fail_msg("%u bits, width %u: %#x is %u, not %u", directory->table.group_bits,
			 directory->width, number, got, slow_get(directory, number));
}

static void assert_directory(const struct directory *directory, struct random *random)
{
	u32 group_bits = directory->table.group_bits, n_groups = 1u << group_bits;

	for (u32 i = 0; i < 20000; i++) {
		/* Each group of a narrow directory, and each end of them. */
		u32 group = i < n_groups ? i : random_below(random, n_groups);
		u32 first = group << (32 - group_bits), last = first | (0xffffffff >> group_bits);

		assert_number(directory, first);
		assert_number(directory, last);
		assert_number(directory, first + random_below(random, (u64)last - first + 1));
	}
	assert_number(directory, 0xffffffff);
}

static void test_directory(void **state)
{
	struct random random = random_from(1);

	for (u32 group_bits = 8; group_bits <= 24; group_bits++) {
		for (u32 width = 1; width <= 2; width++) {
			/* 2^22 numbers in leaves at most, but one leaf at least. */
			u32 most = group_bits < 10 ? 1 : 1u << (group_bits - 10);
			struct directory directory =
				make_directory(group_bits, width, group_bits < 12 ? 1 : 3, most,
					       &random);

			assert_true(directory.table.n_buckets > 0);
			assert_directory(&directory, &random);
			free_directory(&directory);
		}
	}
}

/* Leaves only: the counts of a line are as large as they can be. */
static void test_directory_of_leaves(void **state)
{
	struct random random = random_from(2);
	struct directory directory = make_directory(16, 1, 1, 300, &random);

	for (u32 i = 0; i < 300; i++)
		assert_int_equal(directory.group[i], BALEEN_GROUP_LEAF);
	assert_directory(&directory, &random);
	free_directory(&directory);
	directory = make_directory(16, 1, 1, 0, &random);
	assert_directory(&directory, &random);
	free_directory(&directory);
}

/* The numbers of the example on top of directory.h. */
static void test_example(void **state)
{
	struct baleen_group_place place = baleen_group_locate(0xc00002);

	assert_int_equal(place.line, 65536);
	assert_int_equal(place.word, 0);
	assert_int_equal(place.bit, 2);
	for (u32 group = 0; group < 1u << 24; group++) {
		place = baleen_group_locate(group);
		assert_true(place.line == group / 192 && place.word == group % 192 / 64 &&
			    place.bit == group % 64);
	}
}

/* A leaf that the table does not have holds nothing. */
static void test_rank_past_end(void **state)
{
	struct random random = random_from(3);
	struct directory directory = make_directory(12, 2, 4, 200, &random);
	u32 n_leaves = directory.table.n_buckets;

	for (u32 n = 0; n <= n_leaves; n++) {
		u32 rank = 0;

		directory.table.n_buckets = n;
		for (u32 group = 0; group < 4096; group++) {
			u32 number = group << 20 | 0x12345;

			if (directory.group[group] != BALEEN_GROUP_LEAF)
				continue;
			assert_int_equal(baleen_directory_get(&directory.table, directory.store,
							      number, 2),
					 rank++ < n ? leaf_says(&directory, number) : 0);
		}
		assert_int_equal(rank, n_leaves);
	}
	free_directory(&directory);
}

/* Any bytes for a directory: nothing outside is read, no leaf is returned. */
static void test_damaged_directory(void **state)
{
	struct random random = random_from(4);

	for (u32 round = 0; round < 300; round++) {
		u32 width = 1 + round % 2, group_bits = 14 + round % 5;
		struct directory directory = make_directory(group_bits, width, 64, 4, &random);
		u64 *word = directory.store->word;

		for (u32 i = 0; i < directory.table.n_blocks * 8; i++)
			if (i % 8 == 6 || round % 3)
				word[i] = random_next(&random) | -(u64)!random_below(&random, 8);
		for (u32 i = 0; i < 2000; i++) {
			u32 got = baleen_directory_get(&directory.table, directory.store,
						       random_next(&random), width);

			assert_true(got < (width == 1 ? 3 : 4));
		}
		free_directory(&directory);
	}
}

/* --- prefixes ------------------------------------------------------------- */

#define MAX_PREFIXES 400

struct prefix {
	u64 hi;
	u64 lo;
	u32 length;
	bool is_exception;
};

/* Prefixes, and the table made of them. */
struct prefixes {
	struct prefix prefix[MAX_PREFIXES];
	u32 n;
	struct baleen_image image;
	struct baleen_block *store;
};

static u32 bit_of(u64 hi, u64 lo, u32 i)
{
	return (i < 64 ? hi >> (63 - i) : lo >> (127 - i)) & 1;
}

static void flip_bit(u64 *hi, u64 *lo, u32 i)
{
	if (i < 64)
		*hi ^= 1ull << (63 - i);
	else
		*lo ^= 1ull << (127 - i);
}

static bool covers(const struct prefix *prefix, u64 hi, u64 lo)
{
	for (u32 i = 0; i < prefix->length; i++)
		if (bit_of(prefix->hi, prefix->lo, i) != bit_of(hi, lo, i))
			return false;
	return true;
}

/* What the longest prefix of up to @longest bits says; else @otherwise. */
static u32 slow_match(const struct prefixes *prefixes, u64 hi, u64 lo, u32 longest, u32 otherwise)
{
	u32 best = 0;

	for (u32 i = 0; i < prefixes->n; i++) {
		const struct prefix *prefix = &prefixes->prefix[i];

		if (prefix->length > longest || prefix->length <= best || !covers(prefix, hi, lo))
			continue;
		best = prefix->length;
		otherwise = !prefix->is_exception;
	}
	return otherwise;
}

/* What the stems of this test say of what no prefix covers. */
static u32 stem_says(u64 hi)
{
	return hi >> 32 & 1;
}

static bool answer_of(const void *prefixes, u64 hi, u64 lo, u32 length)
{
	return slow_match(prefixes, hi, lo, length, stem_says(hi));
}

static void make_prefixes(struct prefixes *prefixes, struct random *random)
{
	struct baleen_image *image = &prefixes->image;
	struct old_prefixes old = { .image = image, .answer = answer_of, .data = prefixes };

	*image = (struct baleen_image){ .key_spec = BALEEN_KEY_SRC, .seed = random_seed(random) };
	for (u32 i = 0; i < prefixes->n; i++)
		old_prefixes_length(image, prefixes->prefix[i].length);
	old_prefixes_plan(image, prefixes->n, random_below(random, 100));
	old.blocks = prefixes->store = allocate(image->table[BALEEN_IP6_PREFIXES].n_blocks);
	for (u32 i = 0; i < prefixes->n; i++) {
		const struct prefix *prefix = &prefixes->prefix[i];

		old_prefixes_put(&old, prefix->hi, prefix->lo, prefix->length);
	}
}

static void assert_address(const struct prefixes *prefixes, u64 hi, u64 lo)
{
	u32 want = slow_match(prefixes, hi, lo, 128, stem_says(hi));
	u32 got = baleen_prefixes_test(&prefixes->image, prefixes->store, hi, lo, stem_says(hi));

	if (got != want)
		fail_msg("%#llx %#llx is %u", (unsigned long long)hi, (unsigned long long)lo, got);
}

/* The prefix's own address, all its neighbours, and random ones below it. */
static void assert_around(const struct prefixes *prefixes, const struct prefix *prefix,
			  struct random *random)
{
	assert_address(prefixes, prefix->hi, prefix->lo);
	for (u32 i = 0; i < 128; i++) {
		u64 hi = prefix->hi, lo = prefix->lo;

		flip_bit(&hi, &lo, i);
		assert_address(prefixes, hi, lo);
		/* Others below what differs in this bit. */
		for (u32 below = i + 1; below < 128; below++)
			if (random_below(random, 2))
				flip_bit(&hi, &lo, below);
		assert_address(prefixes, hi, lo);
	}
}

static void assert_prefixes(struct prefixes *prefixes, struct random *random)
{
	make_prefixes(prefixes, random);
	for (u32 i = 0; i < prefixes->n; i++)
		assert_around(prefixes, &prefixes->prefix[i], random);
	for (u32 i = 0; i < 100; i++)
		assert_address(prefixes, random_next(random), random_next(random));
	free(prefixes->store);
}

static struct prefix random_prefix(struct random *random, u64 hi, u64 lo, u32 length)
{
	struct prefix prefix = { hi, lo, length, random_below(random, 2) };

	for (u32 i = length; i < 128; i++)
		if (bit_of(hi, lo, i))
			flip_bit(&prefix.hi, &prefix.lo, i);
	return prefix;
}

static void test_each_length(void **state)
{
	struct random random = random_from(5);
	struct prefixes *prefixes = calloc(1, sizeof(*prefixes));

	for (u32 i = 0; i < 96 * 8; i++) {
		prefixes->n = 1;
		prefixes->prefix[0] = random_prefix(&random, random_next(&random),
						    random_next(&random), 33 + i % 96);
		assert_prefixes(prefixes, &random);
	}
	free(prefixes);
}

/* One address with a prefix of every length, and with some of them. */
static void test_nested(void **state)
{
	struct random random = random_from(6);
	struct prefixes *prefixes = calloc(1, sizeof(*prefixes));

	for (u32 round = 0; round < 30; round++) {
		u64 hi = random_next(&random), lo = random_next(&random);

		prefixes->n = 0;
		for (u32 length = 33; length <= 128; length++)
			if (round < 3 || random_below(&random, 1 + round % 5) == 0)
				prefixes->prefix[prefixes->n++] =
					random_prefix(&random, hi, lo, length);
		assert_prefixes(prefixes, &random);
	}
	free(prefixes);
}

static bool is_there(const struct prefixes *prefixes, const struct prefix *prefix)
{
	for (u32 i = 0; i < prefixes->n; i++)
		if (prefixes->prefix[i].length == prefix->length &&
		    covers(&prefixes->prefix[i], prefix->hi, prefix->lo))
			return true;
	return false;
}

/* Prefixes of a few lengths that are often inside one another. */
static void test_mixes(void **state)
{
	struct random random = random_from(7);
	struct prefixes *prefixes = calloc(1, sizeof(*prefixes));

	for (u32 round = 0; round < 40; round++) {
		u32 n_lengths = 1 + random_below(&random, 1 + round * 2);
		u8 lengths[96];

		for (u32 i = 0; i < n_lengths; i++)
			lengths[i] = 33 + random_below(&random, 96);
		prefixes->n = 0;
		for (u32 i = 0; i < 60; i++) {
			/* A step aside from one of those before. */
			const struct prefix *near = &prefixes->prefix[i / 2];
			u64 hi = random_next(&random), lo = random_next(&random);
			struct prefix prefix;

			if (i > 2 && i / 2 < prefixes->n) {
				hi = near->hi;
				lo = near->lo;
				flip_bit(&hi, &lo, 32 + random_below(&random, 96));
			}
			prefix = random_prefix(&random, hi, lo,
					       lengths[random_below(&random, n_lengths)]);
			if (!is_there(prefixes, &prefix))
				prefixes->prefix[prefixes->n++] = prefix;
		}
		assert_prefixes(prefixes, &random);
	}
	free(prefixes);
}

/* Prefix, the one behind it and zeros: no two lengths share a place, and what
 * is not part of the prefix does not matter.
 */
static void test_locate(void **state)
{
	struct random random = random_from(8);
	struct baleen_table table = { .n_buckets = 1000, .log2_buckets = 9, .slot_bits = 64 };
	struct baleen_seed seed = random_seed(&random);

	for (u32 round = 0; round < 20; round++) {
		u64 hi = random_next(&random), lo = random_next(&random), slots[129];

		for (u32 length = 33; length <= 128; length++) {
			struct baleen_cuckoo_place place =
				baleen_prefix_locate(&table, &seed, hi, lo, length);

			slots[length] = place.slot;
			assert_true(place.home < 1000 && place.other < 1000);
			assert_int_equal(place.slot >> 63, 1);
			assert_int_equal(place.slot >> 61 & 3, 0);
			assert_int_equal(place.slot >> 59 & 3, length < 64  ? 0 :
							       length == 64 ? 1 :
							       length < 128 ? 2 :
									      3);
			for (u32 other = 33; other < length; other++)
				assert_true(slots[other] != slots[length]);
			for (u32 bit = 0; bit < 128; bit++) {
				u64 hi2 = hi, lo2 = lo;
				struct baleen_cuckoo_place place2;

				flip_bit(&hi2, &lo2, bit);
				place2 = baleen_prefix_locate(&table, &seed, hi2, lo2, length);
				assert_int_equal(place2.slot == place.slot &&
							 place2.home == place.home,
						 bit >= length);
			}
		}
	}
}

/* With the fewest buckets a tag still keeps the upper half whole. */
static void test_least_buckets(void **state)
{
	struct random random = random_from(9);

	for (u32 n_buckets = 32; n_buckets < 70; n_buckets++) {
		struct baleen_table table = { .n_buckets = n_buckets,
					      .log2_buckets = baleen_log2(n_buckets) };
		struct baleen_seed seed = random_seed(&random);

		for (u32 i = 0; i < 5000; i++) {
			u64 hi = random_next(&random);
			struct baleen_cuckoo_place place =
				baleen_prefix_locate(&table, &seed, hi, 0, 64);
			u64 x = baleen_permute64(&seed, hi), tag = place.slot % (1ull << 59);
			u64 product = (x >> 32) * n_buckets;

			assert_int_equal(place.home, product >> 32);
			assert_int_equal(tag >> 32, (u32)product >> table.log2_buckets);
			assert_int_equal((u32)tag, (u32)x);
		}
	}
}

/* --- the image ------------------------------------------------------------ */

static void put_group(struct baleen_block *line, u32 group, u32 says)
{
	line[group / 192].word[group % 192 / 64] |= (u64)(says & 1) << group % 64;
	line[group / 192].word[3 + group % 192 / 64] |= (u64)(says >> 1) << group % 64;
}

/* IPv4: the directory decides, and the table of hosts only where it says so. */
static void test_groups_and_hosts(void **state)
{
	struct random random = random_from(10);
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC, .seed = random_seed(&random) };
	struct baleen_block *store = allocate(8 + 1 + 2);

	image.table[BALEEN_IP4] = (struct baleen_table){ .kind = BALEEN_KIND_BLOOM,
							 .n_hashes = 2,
							 .first_block = 8,
							 .n_blocks = 1,
							 .n_buckets = 1 };
	image.table[BALEEN_IP4_GROUPS] = (struct baleen_table){ .kind = BALEEN_KIND_DIRECTORY,
								.group_bits = 8,
								.leaf_block = 11,
								.first_block = 9,
								.n_blocks = 2 };
	for (u32 group = 0; group < 256; group++)
		put_group(store + 9, group, group % 4);
	for (u32 full = 0; full < 2; full++) {
		/* The Bloom block says yes to every key, or to none. */
		memset(&store[8], full ? 0xff : 0, sizeof(store[8]));
		for (u32 i = 0; i < 10000; i++) {
			struct baleen_key key = random_key(&random, BALEEN_IP4);
			u32 group = key.ip4 >> 24, says = group % 4;
			u32 want = says == BALEEN_GROUP_ALL || (says == BALEEN_GROUP_HOSTS && full);

			assert_int_equal(baleen_image_test(&image, store, &key), want);
		}
	}
	/* A list of prefixes alone has no table of hosts. */
	image.table[BALEEN_IP4].kind = BALEEN_KIND_NONE;
	image.table[BALEEN_IP4].n_hashes = 0;
	for (u32 i = 0; i < 1000; i++) {
		struct baleen_key key = random_key(&random, BALEEN_IP4);

		assert_int_equal(baleen_image_test(&image, store, &key),
				 (key.ip4 >> 24) % 4 == BALEEN_GROUP_ALL);
	}
	free(store);
}

/* IPv6: none and all decide, the others give the prefixes their answer. */
static void test_stems_and_prefixes(void **state)
{
	struct random random = random_from(11);
	struct prefixes *prefixes = calloc(1, sizeof(*prefixes));
	struct baleen_image *image = &prefixes->image;
	struct baleen_block *store;
	u32 n_prefix_blocks;

	for (u32 i = 0; i < 200; i++)
		prefixes->prefix[prefixes->n++] =
			random_prefix(&random, random_next(&random), random_next(&random),
				      33 + random_below(&random, 96));
	make_prefixes(prefixes, &random);
	n_prefix_blocks = image->table[BALEEN_IP6_PREFIXES].n_blocks;
	store = allocate(8 + 2 + n_prefix_blocks);
	memcpy(store + 10, prefixes->store, n_prefix_blocks * sizeof(*store));
	image->table[BALEEN_IP6_PREFIXES].first_block = 10;
	image->table[BALEEN_IP6_STEMS] = (struct baleen_table){ .kind = BALEEN_KIND_DIRECTORY,
								.group_bits = 8,
								.leaf_block = 10,
								.first_block = 8,
								.n_blocks = 2 };
	/* Without leaves, 3 says nothing; so no group is in. */
	for (u32 group = 0; group < 256; group++)
		put_group(store + 8, group, group % 3);
	for (u32 i = 0; i < 20000; i++) {
		const struct prefix *prefix = &prefixes->prefix[i % 200];
		struct baleen_key key = { .domain = BALEEN_IP6,
					  .hi = prefix->hi,
					  .lo = prefix->lo };
		u32 says = (key.hi >> 56) % 3;
		u32 want = says;

		if (i % 2)
			flip_bit(&key.hi, &key.lo, 32 + random_below(&random, 96));
		if (says == BALEEN_GROUP_OUT)
			want = baleen_prefixes_test(image, store, key.hi, key.lo, 0);
		assert_int_equal(baleen_image_test(image, store, &key), want);
	}
	image->table[BALEEN_IP6_PREFIXES].kind = BALEEN_KIND_NONE;
	for (u32 i = 0; i < 1000; i++) {
		struct baleen_key key = random_key(&random, BALEEN_IP6);

		assert_int_equal(baleen_image_test(image, store, &key),
				 (key.hi >> 56) % 3 == BALEEN_GROUP_ALL);
	}
	free(store);
	free(prefixes->store);
	free(prefixes);
}

/* Stems in a leaf have two bits each, addresses one. */
static void test_leaf_of_image(void **state)
{
	struct baleen_image image = { .key_spec = BALEEN_KEY_SRC };
	struct baleen_table *table = &image.table[BALEEN_IP6_STEMS];
	struct baleen_block *store = allocate(8 + 342 + 256);

	*table = (struct baleen_table){ .kind = BALEEN_KIND_DIRECTORY,
					.group_bits = 16,
					.leaf_block = 8 + 342,
					.first_block = 8,
					.n_blocks = 342 + 256,
					.n_buckets = 1 };
	put_group(store + 8, 0x2001, BALEEN_GROUP_LEAF);
	for (u32 i = 0; i < 65536; i++)
		set_bits((u8 *)&store[table->leaf_block], 2 * i, baleen_mix64(i) % 4);
	for (u32 i = 0; i < 65536; i++) {
		struct baleen_key key = { .domain = BALEEN_IP6,
					  .hi = 0x20010000ull << 32 | (u64)i << 32 };

		assert_int_equal(baleen_stem_get(&image, store, &key), baleen_mix64(i) % 4);
		/* No prefix covers it: all and in are in the set, with a table or not. */
		image.table[BALEEN_IP6_PREFIXES].kind = i / 4 % 2 ? BALEEN_KIND_PREFIXES : 0;
		assert_int_equal(baleen_image_test(&image, store, &key), baleen_mix64(i) % 2);
	}
	image.table[BALEEN_IP4_GROUPS] = *table;
	for (u32 i = 0; i < 65536; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = 0x20010000 | i };

		assert_int_equal(baleen_image_test(&image, store, &key),
				 baleen_mix64(i / 2) % 4 >> i % 2 & 1);
	}
	free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_past_end),
		cmocka_unit_test(test_damaged_directory),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_directory_of_leaves),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_each_length),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_mixes),
		cmocka_unit_test(test_locate),
		cmocka_unit_test(test_least_buckets),
		cmocka_unit_test(test_leaf_of_image),
		cmocka_unit_test(test_groups_and_hosts),
		cmocka_unit_test(test_stems_and_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
