// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The validator: each damage has its reason, and what is whole comes through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <baleen/image_check.h>

#include "random.h"

#define POISON 0xa5
#define N_BLOCKS 14
#define N_BYTES (N_BLOCKS * BALEEN_BLOCK_BYTES)

/* --- an image ------------------------------------------------------------- */

/* 4 blocks of an IPv4 cuckoo table, then 2 of an IPv6 Bloom table. */
static void make_image(struct random *random, struct baleen_image *image, u8 *bytes)
{
	*image = (struct baleen_image){
		.n_blocks = N_BLOCKS,
		.key_spec = BALEEN_KEY_SRC,
		.n_entries = 33,
		.n_listed = 40,
		.n_covered = 7,
		.seed = random_seed(random),
		.name = "some.txt",
		.table[BALEEN_IP4] =
			{
				.kind = BALEEN_KIND_CUCKOO,
				.slot_bits = 32,
				.log2_buckets = 3,
				.first_block = 8,
				.n_blocks = 4,
				.n_buckets = 15,
				.n_entries = 30,
			},
		.table[BALEEN_IP6] =
			{
				.kind = BALEEN_KIND_BLOOM,
				.n_hashes = 6,
				.first_block = 12,
				.n_blocks = 2,
				.n_buckets = 2,
				.n_entries = 3,
			},
	};
	for (u32 i = BALEEN_HEADER_BYTES; i < N_BYTES; i++)
		bytes[i] = random_next(random);
	image->body_crc =
		baleen_crc32c(0, bytes + BALEEN_HEADER_BYTES, N_BYTES - BALEEN_HEADER_BYTES);
	baleen_header_write(image, bytes);
}

/* Every table that comes with prefixes, 34 blocks. */
static const struct baleen_image prefixes_image = {
	.n_blocks = 34,
	.key_spec = BALEEN_KEY_DST,
	.n_entries = 38,
	.prefix_lengths = { 1ull << 39 | 1ull << 47, 1ull << 63 },
	.table[BALEEN_IP4] = { .kind = BALEEN_KIND_CUCKOO,
			       .slot_bits = 32,
			       .log2_buckets = 3,
			       .first_block = 8,
			       .n_blocks = 4,
			       .n_buckets = 15,
			       .n_entries = 30 },
	.table[BALEEN_IP4_GROUPS] = { .kind = BALEEN_KIND_DIRECTORY,
				      .group_bits = 8,
				      .leaf_block = 14,
				      .first_block = 12,
				      .n_blocks = 2,
				      .n_entries = 5 },
	.table[BALEEN_IP6_STEMS] = { .kind = BALEEN_KIND_DIRECTORY,
				     .group_bits = 8,
				     .leaf_block = 16,
				     .first_block = 14,
				     .n_blocks = 2 },
	.table[BALEEN_IP6_PREFIXES] = { .kind = BALEEN_KIND_PREFIXES,
					.slot_bits = 64,
					.log2_buckets = 5,
					.first_block = 16,
					.n_blocks = 16,
					.n_buckets = 32 },
	.table[BALEEN_IP6_ENTRIES] = { .kind = BALEEN_KIND_ENTRIES,
				       .first_block = 32,
				       .n_blocks = 2,
				       .n_buckets = 3,
				       .n_entries = 3 },
	.length_tree = { 0, 48, 40, 128 },
};

/* Keys of two addresses: a word for IPv4, a tuple for IPv6. 13 blocks. */
static const struct baleen_image fields_image = {
	.n_blocks = 13,
	.key_spec = BALEEN_KEY_SRC | BALEEN_KEY_DST,
	.n_entries = 12,
	.table[BALEEN_WORD] = { .kind = BALEEN_KIND_CUCKOO,
				.slot_bits = 64,
				.log2_buckets = 2,
				.first_block = 8,
				.n_blocks = 4,
				.n_buckets = 7,
				.n_entries = 10 },
	.table[BALEEN_TUPLE] = { .kind = BALEEN_KIND_BLOOM,
				 .n_hashes = 2,
				 .first_block = 12,
				 .n_blocks = 1,
				 .n_buckets = 1,
				 .n_entries = 2 },
};

#define MAX_BYTES (51 * BALEEN_BLOCK_BYTES)

static u64 bytes_of(const struct baleen_image *image)
{
	return (u64)image->n_blocks * BALEEN_BLOCK_BYTES;
}

/* The same with a random seed and body; @bytes have room for MAX_BYTES. */
static void fill_image(struct random *random, const struct baleen_image *geometry,
		       struct baleen_image *image, u8 *bytes)
{
	u64 n_bytes = bytes_of(geometry);

	*image = *geometry;
	image->seed = random_seed(random);
	for (u64 i = BALEEN_HEADER_BYTES; i < n_bytes; i++)
		bytes[i] = random_next(random);
	image->body_crc =
		baleen_crc32c(0, bytes + BALEEN_HEADER_BYTES, n_bytes - BALEEN_HEADER_BYTES);
	baleen_header_write(image, bytes);
}

static void fix_header_crc(u8 *bytes)
{
	u32 crc_le = 0;

	memcpy(bytes + 12, &crc_le, sizeof(crc_le));
	crc_le = baleen_le32(baleen_crc32c(0, bytes, BALEEN_HEADER_BYTES));
	memcpy(bytes + 12, &crc_le, sizeof(crc_le));
}

/* Refused by both checks, in a buffer that ends where the image does, for this
 * reason; NULL for any.
 */
static void assert_refused(const u8 *bytes, u64 total_bytes, const char *why)
{
	u8 *exact = malloc(total_bytes ? total_bytes : 1);
	struct baleen_image out, poison;
	const char *reason = NULL;

	memcpy(exact, bytes, total_bytes);
	memset(&out, POISON, sizeof(out));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_image_check(exact, total_bytes, &out, &reason), -EINVAL);
	assert_memory_equal(&out, &poison, sizeof(out));
	assert_non_null(reason);
	if (why)
		assert_string_equal(reason, why);
	free(exact);
}

static void assert_header_refused(const u8 *bytes, u64 total_bytes, const char *why)
{
	struct baleen_image out, poison;
	const char *reason = NULL;

	memset(&out, POISON, sizeof(out));
	memset(&poison, POISON, sizeof(poison));
	assert_int_equal(baleen_header_check(bytes, total_bytes, &out, &reason), -EINVAL);
	assert_memory_equal(&out, &poison, sizeof(out));
	assert_string_equal(reason, why);
}

static void assert_accepted(const void *bytes, u64 total_bytes, const struct baleen_image *want)
{
	const char *reason = "untouched";
	struct baleen_image out;

	memset(&out, POISON, sizeof(out));
	if (baleen_image_check(bytes, total_bytes, &out, &reason))
		fail_msg("%s", reason);
	assert_string_equal(reason, "untouched");
	assert_memory_equal(&out, want, sizeof(out));
}

/* --- refused -------------------------------------------------------------- */

/* @value of @n_bytes bytes, little-endian, at @offset. */
struct damage {
	u32 offset;
	u32 n_bytes;
	u64 value;
	const char *reason;
};

#define TABLE(domain, offset) (256 + 32 * (domain) + (offset))
#define IP4(offset) TABLE(BALEEN_IP4, offset)
#define IP6(offset) TABLE(BALEEN_IP6, offset)
#define RESERVED "reserved bytes are not zero"
#define ABSENT "an absent table with a geometry"
#define GAP "tables overlap or leave a gap"
#define DISAGREE "number of buckets and blocks disagree"
#define WIDTH "slot width is not 8, 12, 16, 32 or 64 bits"
#define BUCKET "number of slots of a bucket is not 1, 2 or 4"
#define PACKED_WIDTH "width of packed slots is not 4 to 32 bits"
#define PACKED_BUCKET "number of slots of a packed bucket is not 1 to 4"
#define NO_BUCKETS "a table without buckets"
#define NO_USE "a number that the table has no use for"
#define HASHES "number of hashes is not 2, 4, 6 or 8"
#define COUNTS "numbers of entries disagree"
#define OTHER_KEY "tables for other keys"
#define OTHER_KIND "a table of a kind that its keys cannot have"
#define COVERED "more entries inside others than entries"
#define LENGTHS "prefix lengths and prefixes disagree"
#define NO_SLOTS "slots in a table that has none"
#define NO_HASHES "a number of hashes in a table that has none"
#define NO_GROUPS "groups in a table that has none"

static const struct damage damages[] = {
	{ 16, 4, 0, "body checksum does not match: damaged" },
	{ 20, 4, 4, "unknown flags" },
	{ 20, 4, 0x80000001, "unknown flags" },
	{ 20, 4, 1, "a live image with a checksum or a count" },
	{ 24, 4, 0, "longer than its header says" },
	{ 24, 4, N_BLOCKS - 1, "longer than its header says" },
	{ 24, 4, N_BLOCKS + 1, "truncated" },
	{ 24, 4, 0xffffffff, "truncated" },
	{ 28, 4, 0, "unknown key" },
	{ 28, 4, 33, "unknown key" },
	{ 28, 4, 63, "unknown key" },
	{ 28, 4, 65, "unknown key" },
	{ 28, 4, 96, "unknown key" },
	{ 28, 4, 129, "unknown key" },
	{ 28, 4, 256, "unknown key" },
	{ 28, 4, 0x0101, "unknown key" },
	{ 28, 4, 3, OTHER_KEY },
	{ 28, 4, BALEEN_KEY_FLOW, OTHER_KEY },
	{ 28, 4, BALEEN_KEY_STRING, OTHER_KEY },
	{ 28, 4, BALEEN_KEY_SQUID, OTHER_KEY },
	{ 28, 4, BALEEN_KEY_FINGERPRINT, OTHER_KEY },
	{ 32, 8, 32, COUNTS },
	{ 32, 8, 0, COUNTS },
	{ 32, 8, 33 | 1ull << 32, COUNTS },
	{ 40, 8, 6, COVERED },
	{ 48, 8, 41, COVERED },
	{ 48, 8, -1ull, COVERED },
	{ 56, 1, 1, RESERVED },
	{ 63, 1, 0x80, RESERVED },
	{ 192, 1, 1, LENGTHS },
	{ 207, 1, 0x80, LENGTHS },
	{ 208, 1, 1, RESERVED },
	{ 255, 1, 1, RESERVED },
	{ 64, 1, 0, "bytes after the end of the name" },
	{ 64, 1, '\n', "name is not printable" },
	{ 64, 1, 0x7f, "name is not printable" },
	{ 64, 1, 0x80, "name is not printable" },
	{ 95, 1, 'x', "bytes after the end of the name" },
	{ IP4(0), 1, 0xff, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_NONE, ABSENT },
	{ IP4(0), 1, BALEEN_KIND_BLOOM, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_DIRECTORY, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_PREFIXES, OTHER_KIND },
	{ IP4(0), 1, BALEEN_KIND_ENTRIES, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_CLASSIC, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_COUNTING, NO_SLOTS },
	{ IP4(0), 1, BALEEN_KIND_QUOTIENT, "slots without their three bits" },
	{ IP4(0), 1, BALEEN_N_KINDS, NO_SLOTS },
	{ IP4(1), 1, 0, WIDTH },
	{ IP4(1), 1, 8, BUCKET },
	{ IP4(1), 1, 33, WIDTH },
	{ IP4(1), 1, 64, "64-bit slots for a 32-bit key" },
	{ IP4(1), 1, 16, "slots too narrow for an exact table" },
	{ IP4(2), 1, 2, NO_HASHES },
	{ IP4(3), 1, 1, DISAGREE },
	{ IP4(3), 1, 3, BUCKET },
	{ IP4(3), 1, 4, BUCKET },
	{ IP4(3), 1, 255, PACKED_BUCKET },
	{ IP4(4), 4, 7, GAP },
	{ IP4(4), 4, 9, GAP },
	{ IP4(8), 4, 0, "an empty or oversized table" },
	{ IP4(8), 4, BALEEN_MAX_BLOCKS + 1, "an empty or oversized table" },
	{ IP4(8), 4, 3, DISAGREE },
	{ IP4(8), 4, 5, DISAGREE },
	{ IP4(12), 4, 0, NO_BUCKETS },
	{ IP4(12), 4, 12, DISAGREE },
	{ IP4(12), 4, 17, DISAGREE },
	{ IP4(12), 4, 0xffffffff, DISAGREE },
	{ IP4(16), 8, 31, COUNTS },
	{ IP4(16), 8, 61, "more entries than slots" },
	{ IP4(16), 8, -1ull, "more entries than slots" },
	{ IP4(24), 1, 1, DISAGREE },
	{ IP4(24), 1, 9, "more slots in the stash than it has" },
	{ IP4(28), 1, 1, "a form of a hash that the table cannot have" },
	{ IP4(28), 1, 2, "an unknown form of a hash" },
	{ IP4(31), 1, 1, "an unknown form of a hash" },
	{ IP6(0), 1, BALEEN_KIND_NONE, ABSENT },
	{ IP6(0), 1, BALEEN_KIND_CUCKOO, NO_HASHES },
	{ IP6(0), 1, BALEEN_KIND_CLASSIC, "unknown hash" },
	{ IP6(0), 1, BALEEN_KIND_COUNTING, DISAGREE },
	{ IP6(0), 1, BALEEN_N_KINDS, NO_HASHES },
	{ IP6(1), 1, 16, NO_SLOTS },
	{ IP6(2), 1, 0, HASHES },
	{ IP6(2), 1, 1, HASHES },
	{ IP6(2), 1, 7, HASHES },
	{ IP6(2), 1, 10, HASHES },
	{ IP6(3), 1, 1, NO_GROUPS },
	{ IP6(4), 4, 8, GAP },
	{ IP6(4), 4, 13, GAP },
	{ IP6(8), 4, 1, DISAGREE },
	{ IP6(12), 4, 3, DISAGREE },
	{ IP6(16), 8, 4, COUNTS },
	{ IP6(16), 8, -30ull, "number of entries overflows" },
	{ IP6(24), 4, 1, NO_USE },
	{ TABLE(2, 0), 1, BALEEN_KIND_BLOOM, GAP },
	{ TABLE(7, 0), 1, 6, GAP },
	{ TABLE(2, 1), 1, 16, ABSENT },
	{ TABLE(2, 2), 1, 2, ABSENT },
	{ TABLE(2, 3), 1, 1, ABSENT },
	{ TABLE(2, 24), 4, 1, ABSENT },
	{ TABLE(3, 4), 4, 14, ABSENT },
	{ TABLE(5, 8), 4, 1, ABSENT },
	{ TABLE(6, 12), 4, 1, ABSENT },
	{ TABLE(7, 16), 8, 1, ABSENT },
	{ TABLE(7, 31), 1, 1, ABSENT },
};

static void put(u8 *bytes, const struct damage *damage)
{
	for (u32 i = 0; i < damage->n_bytes; i++)
		bytes[damage->offset + i] = damage->value >> 8 * i;
}

static void assert_damages(const u8 *whole, u64 n_bytes, const struct damage *damages, u32 n)
{
	u8 *bytes = malloc(n_bytes);

	for (u32 i = 0; i < n; i++) {
		memcpy(bytes, whole, n_bytes);
		put(bytes, &damages[i]);
		assert_refused(bytes, n_bytes, "header checksum does not match: damaged");
		fix_header_crc(bytes);
		assert_refused(bytes, n_bytes, damages[i].reason);
	}
	free(bytes);
}

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_refused_fields(void **state)
{
	struct random random = random_from(1);
	struct baleen_image image;
	u8 whole[N_BYTES];

	make_image(&random, &image, whole);
	assert_damages(whole, N_BYTES, damages, N_OF(damages));
}

#define GROUPS(offset) TABLE(BALEEN_IP4_GROUPS, offset)
#define STEMS(offset) TABLE(BALEEN_IP6_STEMS, offset)
#define PREFIXES(offset) TABLE(BALEEN_IP6_PREFIXES, offset)
#define ENTRIES(offset) TABLE(BALEEN_IP6_ENTRIES, offset)
#define GROUP_BITS "group width is not 8 to 24 bits"
#define LEAVES "number of leaves and blocks disagree"
#define NODES "number of nodes and blocks disagree"
#define ENTRY_BLOCKS "number of entries and blocks disagree"

static void test_refused_prefixes(void **state)
{
	static const struct damage prefix_damages[] = {
		{ 28, 4, 3, OTHER_KEY },
		{ 28, 4, BALEEN_KEY_DPORT, OTHER_KEY },
		{ 192, 4, 1, "prefixes of up to 32 bits among the longer ones" },
		{ 195, 1, 0x80, "prefixes of up to 32 bits among the longer ones" },
		{ GROUPS(0), 1, BALEEN_KIND_CUCKOO, NO_BUCKETS },
		{ GROUPS(0), 1, BALEEN_KIND_BLOOM, NO_GROUPS },
		{ GROUPS(0), 1, BALEEN_KIND_ENTRIES, NO_GROUPS },
		{ GROUPS(0), 1, BALEEN_KIND_CLASSIC, NO_BUCKETS },
		{ GROUPS(0), 1, BALEEN_N_KINDS, NO_BUCKETS },
		{ GROUPS(0), 1, BALEEN_KIND_NONE, ABSENT },
		{ GROUPS(1), 1, 64, NO_SLOTS },
		{ GROUPS(2), 1, 2, NO_HASHES },
		{ GROUPS(3), 1, 0, GROUP_BITS },
		{ GROUPS(3), 1, 7, GROUP_BITS },
		{ GROUPS(3), 1, 25, GROUP_BITS },
		{ GROUPS(3), 1, 32, GROUP_BITS },
		{ GROUPS(3), 1, 255, GROUP_BITS },
		{ GROUPS(3), 1, 9, LEAVES },
		{ GROUPS(8), 4, 1, LEAVES },
		{ GROUPS(8), 4, 3, LEAVES },
		{ GROUPS(12), 4, 1, LEAVES },
		{ GROUPS(12), 4, 256, LEAVES },
		{ GROUPS(12), 4, 257, "more leaves than groups" },
		{ GROUPS(12), 4, 0xffffffff, "more leaves than groups" },
		{ GROUPS(16), 8, 6, COUNTS },
		{ GROUPS(24), 4, 1, NO_USE },
		{ STEMS(0), 1, BALEEN_KIND_CUCKOO, NO_BUCKETS },
		{ STEMS(0), 1, BALEEN_KIND_PREFIXES, NO_GROUPS },
		{ STEMS(3), 1, 7, GROUP_BITS },
		{ STEMS(3), 1, 25, GROUP_BITS },
		{ STEMS(12), 4, 1, LEAVES },
		{ PREFIXES(0), 1, BALEEN_KIND_CUCKOO, OTHER_KIND },
		{ PREFIXES(0), 1, BALEEN_KIND_BLOOM, NO_SLOTS },
		{ PREFIXES(1), 1, 0, "slots of prefixes are not 64 bits" },
		{ PREFIXES(1), 1, 16, "slots of prefixes are not 64 bits" },
		{ PREFIXES(2), 1, 2, NO_HASHES },
		{ PREFIXES(3), 1, 8, NO_GROUPS },
		{ PREFIXES(12), 4, 31, "fewer than 32 buckets of prefixes" },
		{ PREFIXES(12), 4, 33, DISAGREE },
		{ PREFIXES(12), 4, 0xffffffff, DISAGREE },
		{ PREFIXES(12), 4, 0, NO_BUCKETS },
		{ PREFIXES(16), 8, 1, "a table of prefixes with a number of entries" },
		{ PREFIXES(24), 4, 1, NO_USE },
		{ ENTRIES(0), 1, BALEEN_KIND_CUCKOO, OTHER_KIND },
		{ ENTRIES(0), 1, BALEEN_KIND_DIRECTORY, OTHER_KIND },
		{ ENTRIES(1), 1, 64, NO_SLOTS },
		{ ENTRIES(2), 1, 2, NO_HASHES },
		{ ENTRIES(3), 1, 8, NO_GROUPS },
		{ ENTRIES(12), 4, 0, NO_BUCKETS },
		{ ENTRIES(12), 4, 2, ENTRY_BLOCKS },
		{ ENTRIES(12), 4, 6, ENTRY_BLOCKS },
		{ ENTRIES(12), 4, 0xffffffff, ENTRY_BLOCKS },
		{ ENTRIES(12), 4, 4, COUNTS },
		{ ENTRIES(16), 8, 4, COUNTS },
		{ ENTRIES(16), 8, 0, COUNTS },
		{ ENTRIES(24), 4, 1, NO_USE },
		{ ENTRIES(28), 1, 1, "a form of a hash that the table cannot have" },
	};
	struct random random = random_from(12);
	struct baleen_image image;
	u8 whole[MAX_BYTES];

	fill_image(&random, &prefixes_image, &image, whole);
	assert_accepted(whole, bytes_of(&image), &image);
	assert_damages(whole, bytes_of(&image), prefix_damages, N_OF(prefix_damages));
}

static void test_refused_tree(void **state)
{
	static const struct damage tree_damages[] = {
		{ 192, 4, 1, "prefixes of up to 32 bits among the longer ones" },
		{ 199, 1, 0x80, "prefixes of up to 64 bits beside a tree, which has them" },
		{ STEMS(0), 1, BALEEN_KIND_DIRECTORY, LEAVES },
		{ STEMS(0), 1, BALEEN_KIND_ENTRIES, NO_GROUPS },
		{ STEMS(1), 1, 64, NO_SLOTS },
		{ STEMS(2), 1, 2, NO_HASHES },
		{ STEMS(3), 1, 0, GROUP_BITS },
		{ STEMS(3), 1, 7, GROUP_BITS },
		{ STEMS(3), 1, 25, GROUP_BITS },
		{ STEMS(3), 1, 255, GROUP_BITS },
		{ STEMS(3), 1, 9, NODES },
		{ STEMS(12), 4, 0, NODES },
		{ STEMS(12), 4, 4, NODES },
		{ STEMS(12), 4, 0xffffffff, NODES },
		{ STEMS(12), 4, 0xfffffff0, NODES },
		{ STEMS(16), 8, 1, COUNTS },
		{ STEMS(24), 4, 1, NO_USE },
		{ STEMS(28), 1, 1, "a form of a hash that the table cannot have" },
		{ GROUPS(0), 1, BALEEN_KIND_TREE, OTHER_KIND },
		{ PREFIXES(0), 1, BALEEN_KIND_TREE, NO_SLOTS },
		{ ENTRIES(0), 1, BALEEN_KIND_TREE, OTHER_KIND },
	};
	struct random random = random_from(16);
	struct baleen_image tree_image = prefixes_image, image;
	struct baleen_table *stems = &tree_image.table[BALEEN_IP6_STEMS];
	u8 whole[MAX_BYTES];

	stems->kind = BALEEN_KIND_TREE;
	stems->n_buckets = 3;
	stems->n_blocks = 16 + 3;
	stems->leaf_block = stems->first_block + 16;
	tree_image.n_blocks += stems->n_blocks - 2;
	tree_image.table[BALEEN_IP6_PREFIXES].first_block += stems->n_blocks - 2;
	tree_image.table[BALEEN_IP6_ENTRIES].first_block += stems->n_blocks - 2;
	tree_image.prefix_lengths[0] = 0;
	memset(tree_image.length_tree, 0, sizeof(tree_image.length_tree));
	tree_image.length_tree[1] = 128;
	fill_image(&random, &tree_image, &image, whole);
	assert_accepted(whole, bytes_of(&image), &image);
	assert_damages(whole, bytes_of(&image), tree_damages, N_OF(tree_damages));
}

static void test_refused_several_fields(void **state)
{
	static const struct damage fields_damages[] = {
		{ 28, 4, BALEEN_KEY_SRC, OTHER_KEY },
		{ 28, 4, BALEEN_KEY_PORTS, OTHER_KEY },
		{ 28, 4, BALEEN_KEY_FLOW, OTHER_KEY },
		{ TABLE(2, 0), 1, BALEEN_KIND_DIRECTORY, NO_SLOTS },
		{ TABLE(2, 0), 1, BALEEN_KIND_PREFIXES, OTHER_KIND },
		{ TABLE(2, 1), 1, 32, DISAGREE },
		{ TABLE(2, 1), 1, 0, WIDTH },
		{ TABLE(2, 3), 1, 8, PACKED_WIDTH },
		{ TABLE(2, 12), 4, 3, "fewer than 4 buckets of 64-bit slots" },
		{ TABLE(2, 12), 4, 9, DISAGREE },
		{ TABLE(2, 16), 8, 29, "more entries than slots" },
		{ TABLE(3, 0), 1, BALEEN_KIND_ENTRIES, NO_HASHES },
		{ TABLE(3, 2), 1, 3, HASHES },
		{ TABLE(3, 12), 4, 2, DISAGREE },
	};
	struct random random = random_from(13);
	struct baleen_image image;
	u8 whole[MAX_BYTES];

	fill_image(&random, &fields_image, &image, whole);
	assert_accepted(whole, bytes_of(&image), &image);
	assert_damages(whole, bytes_of(&image), fields_damages, N_OF(fields_damages));
}

/* Puts the tables one behind the other and adds up their entries. */
static void pack_tables(struct baleen_image *image)
{
	image->n_blocks = BALEEN_HEADER_BLOCKS;
	image->n_entries = 0;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table *table = &image->table[domain];

		if (!table->kind)
			continue;
		table->first_block = image->n_blocks;
		if (table->kind == BALEEN_KIND_DIRECTORY)
			table->leaf_block =
				table->first_block + baleen_directory_lines(table->group_bits);
		image->n_blocks += table->n_blocks;
		image->n_entries += table->n_entries;
	}
}

/* Tables that are right by themselves and do not go together. */
static void test_refused_together(void **state)
{
	static const struct {
		u32 drop; /* bits of domains */
		u32 key_spec;
		bool has_lengths;
		bool has_ip6;
		const char *reason;
	} images[] = {
		{ 0, BALEEN_KEY_DST, true, true, "two tables of IPv6 addresses" },
		{ 1 << BALEEN_IP6_STEMS, BALEEN_KEY_DST, true, false,
		  "IPv6 prefixes without their entries" },
		{ 1 << BALEEN_IP6_ENTRIES, BALEEN_KEY_DST, true, false,
		  "IPv6 prefixes without their entries" },
		{ 1 << BALEEN_IP6_STEMS | 1 << BALEEN_IP6_ENTRIES, BALEEN_KEY_DST, true, false,
		  "IPv6 prefixes without their stems" },
		{ 1 << BALEEN_IP6_STEMS | 1 << BALEEN_IP6_PREFIXES, BALEEN_KEY_DST, false, false,
		  "IPv6 prefixes without their entries" },
		{ 1 << BALEEN_IP6_PREFIXES, BALEEN_KEY_DST, true, false, LENGTHS },
		{ 0, BALEEN_KEY_DST, false, false, LENGTHS },
		{ 0xef, BALEEN_KEY_PROTO, false, false,
		  "prefixes of keys that are not an address" },
		{ 0x5f, BALEEN_KEY_PROTO, false, false,
		  "prefixes of keys that are not an address" },
		{ 0xfe, BALEEN_KEY_PROTO, false, false, OTHER_KEY },
	};

	for (u32 i = 0; i < N_OF(images); i++) {
		struct baleen_image image = prefixes_image;
		u8 bytes[BALEEN_HEADER_BYTES];

		for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
			if (images[i].drop >> domain & 1)
				image.table[domain] = (struct baleen_table){ .kind = 0 };
		if (images[i].has_ip6)
			image.table[BALEEN_IP6] = image.table[BALEEN_IP4];
		if (images[i].has_ip6)
			image.table[BALEEN_IP6].slot_bits = 64;
		if (images[i].has_ip6)
			image.table[BALEEN_IP6].n_blocks = 8;
		if (!images[i].has_lengths)
			memset(image.prefix_lengths, 0, sizeof(image.prefix_lengths));
		image.key_spec = images[i].key_spec;
		pack_tables(&image);
		baleen_header_write(&image, bytes);
		assert_header_refused(bytes, bytes_of(&image), images[i].reason);
	}
}

/* What tells another kind of file apart comes before the checksum. */
static void test_refused_origin(void **state)
{
	static const struct damage origins[] = {
		{ 0, 1, 0x88, "not a Baleen image" },
		{ 7, 1, '\r', "not a Baleen image" },
		{ 8, 2, 0, "image of an unknown version" },
		{ 8, 2, 1, "image of an unknown version" },
		{ 8, 2, 3, "image of an unknown version" },
		{ 8, 2, 0x0100, "image of an unknown version" },
		{ 10, 2, 0, "header of an unknown size" },
		{ 10, 2, 513, "header of an unknown size" },
		{ 12, 4, 0, "header checksum does not match: damaged" },
	};
	struct random random = random_from(2);
	u8 whole[N_BYTES], bytes[N_BYTES];
	struct baleen_image image;

	make_image(&random, &image, whole);
	for (u32 i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		memcpy(bytes, whole, N_BYTES);
		put(bytes, &origins[i]);
		assert_refused(bytes, N_BYTES, origins[i].reason);
		if (origins[i].offset == 12)
			continue;
		fix_header_crc(bytes);
		assert_refused(bytes, N_BYTES, origins[i].reason);
	}
}

static void test_refused_bits(void **state)
{
	struct random random = random_from(3);
	struct baleen_image image;
	u8 bytes[N_BYTES];

	make_image(&random, &image, bytes);
	for (u32 bit = 0; bit < N_BYTES * 8; bit++) {
		bytes[bit / 8] ^= 1 << bit % 8;
		assert_refused(bytes, N_BYTES, NULL);
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	assert_accepted(bytes, N_BYTES, &image);
}

static void test_refused_sizes(void **state)
{
	u8 bytes[N_BYTES + BALEEN_BLOCK_BYTES] = { 0 };
	struct random random = random_from(4);
	struct baleen_image image;

	make_image(&random, &image, bytes);
	for (u32 n = 0; n < BALEEN_HEADER_BYTES; n++)
		assert_refused(bytes, n, "shorter than a header");
	for (u32 n = BALEEN_HEADER_BYTES; n < N_BYTES; n++)
		assert_refused(bytes, n, "truncated");
	for (u32 n = N_BYTES + 1; n <= sizeof(bytes); n++)
		assert_refused(bytes, n, "longer than its header says");
	assert_header_refused(bytes, N_BYTES - 1, "truncated");
	assert_header_refused(bytes, -1ull, "longer than its header says");
	assert_header_refused(bytes, N_BYTES | 1ull << 32, "longer than its header says");
}

/* The header alone is checked, so no image of that size is needed. */
static void test_refused_large(void **state)
{
	struct random random = random_from(5);
	struct baleen_image image;
	u8 bytes[N_BYTES];

	make_image(&random, &image, bytes);
	image.n_blocks = BALEEN_MAX_BLOCKS + 1;
	baleen_header_write(&image, bytes);
	assert_header_refused(bytes, (u64)image.n_blocks * BALEEN_BLOCK_BYTES, "too large");
	image.n_blocks = N_BLOCKS + 1;
	baleen_header_write(&image, bytes);
	assert_header_refused(bytes, (u64)image.n_blocks * BALEEN_BLOCK_BYTES,
			      "tables and size disagree");
}

static void test_refused_no_table(void **state)
{
	struct random random = random_from(6);
	struct baleen_image image;
	u8 bytes[N_BYTES];

	make_image(&random, &image, bytes);
	memset(image.table, 0, sizeof(image.table));
	image.n_entries = 0;
	baleen_header_write(&image, bytes);
	assert_refused(bytes, N_BYTES, "no table");
}

static void test_refused_name(void **state)
{
	struct random random = random_from(7);
	struct baleen_image image;
	u8 bytes[N_BYTES];

	make_image(&random, &image, bytes);
	memset(image.name, 'x', sizeof(image.name));
	baleen_header_write(&image, bytes);
	assert_refused(bytes, N_BYTES, "name is not terminated");
}

/* Slots that the probe cannot take apart, whatever else is right. */
static void test_refused_widths(void **state)
{
	static const struct {
		u32 domain, slot_bits, n_blocks, n_buckets;
		const char *reason;
	} tables[] = {
		{ BALEEN_IP4, 16, 32767, 262136, "slots too narrow for an exact table" },
		{ BALEEN_IP4, 16, 32768, 262143, "slots too narrow for an exact table" },
		{ BALEEN_IP4, 32, 1, 3, "slots too narrow for an exact table" },
		{ BALEEN_IP6, 64, 1, 2, "fewer than 4 buckets of 64-bit slots" },
		{ BALEEN_IP6, 64, 2, 3, "fewer than 4 buckets of 64-bit slots" },
	};

	for (u32 i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct baleen_image image = {
			.n_blocks = BALEEN_HEADER_BLOCKS + tables[i].n_blocks,
			.key_spec = BALEEN_KEY_DST,
		};
		u8 bytes[BALEEN_HEADER_BYTES];

		image.table[tables[i].domain] = (struct baleen_table){
			.kind = BALEEN_KIND_CUCKOO,
			.slot_bits = tables[i].slot_bits,
			.first_block = BALEEN_HEADER_BLOCKS,
			.n_blocks = tables[i].n_blocks,
			.n_buckets = tables[i].n_buckets,
		};
		baleen_header_write(&image, bytes);
		assert_header_refused(bytes, (u64)image.n_blocks * BALEEN_BLOCK_BYTES,
				      tables[i].reason);
	}
}

/* --- accepted ------------------------------------------------------------- */

/* The layout as image.h draws it, byte by byte. */
static void test_layout(void **state)
{
	struct random random = random_from(8);
	u8 bytes[N_BYTES], zero[64] = { 0 };
	struct baleen_image image;

	make_image(&random, &image, bytes);
	assert_memory_equal(bytes,
			    "\x89"
			    "BALEEN\n\x02\x00\x00\x02",
			    12);
	assert_memory_equal(bytes + 20, "\0\0\0\0\x0e\0\0\0\x01\0\0\0\x21\0\0\0\0\0\0\0", 20);
	assert_memory_equal(bytes + 40, "\x28\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
	assert_memory_equal(bytes + 64, "some.txt\0\0", 10);
	for (u32 i = 0; i < BALEEN_SEED_WORDS * 8; i++)
		assert_int_equal(bytes[96 + i], image.seed.word[i / 8] >> i % 8 * 8 & 255);
	assert_memory_equal(bytes + 192, zero, 64);
	assert_memory_equal(bytes + 256, "\x01\x20\0\0\x08\0\0\0\x04\0\0\0\x0f\0\0\0\x1e", 17);
	assert_memory_equal(bytes + 288, "\x02\0\x06\0\x0c\0\0\0\x02\0\0\0\x02\0\0\0\x03", 17);
	for (u32 i = 320; i < 512; i += 64)
		assert_memory_equal(bytes + i, zero, 64);
}

static void random_table(struct random *random, u32 domain, struct baleen_image *image)
{
	struct baleen_table *table = &image->table[domain];
	u32 least = 1, per_block = 1;

	*table = (struct baleen_table){ .kind = 1 + random_below(random, 2) };
	if (table->kind == BALEEN_KIND_CUCKOO) {
		u32 wide = domain == BALEEN_IP4 ? 32 : 64;

		table->slot_bits = random_below(random, 2) ? 16 : wide;
		per_block = baleen_buckets_per_block(table->slot_bits);
		least = 4;
		if (domain == BALEEN_IP4 && table->slot_bits == 16)
			least = 1 << 18;
	} else {
		table->n_hashes = 2 + 2 * random_below(random, 4);
	}
	table->n_buckets = least + random_below(random, 1ull << random_below(random, 27));
	if (table->kind == BALEEN_KIND_CUCKOO)
		table->log2_buckets = baleen_log2(table->n_buckets);
	table->n_blocks = (table->n_buckets + per_block - 1) / per_block;
	table->first_block = image->n_blocks;
	table->n_entries = random_below(random, 4ull * table->n_buckets + 1);
	image->n_blocks += table->n_blocks;
	image->n_entries += table->n_entries;
}

static void test_round_trip(void **state)
{
	struct random random = random_from(9);

	for (u32 round = 0; round < 20000; round++) {
		u32 families = 1 + random_below(&random, 3);
		struct baleen_image image, out;
		const char *reason = "untouched";
		u8 bytes[BALEEN_HEADER_BYTES];

		memset(&image, 0, sizeof(image));
		image.n_blocks = BALEEN_HEADER_BLOCKS;
		image.key_spec = 1 + random_below(&random, 2);
		image.body_crc = random_next(&random);
		image.seed = random_seed(&random);
		for (u32 i = random_below(&random, BALEEN_NAME_BYTES); i; i--)
			image.name[i - 1] = ' ' + random_below(&random, 95);
		for (u32 domain = 0; domain <= BALEEN_IP6; domain++)
			if (families >> domain & 1)
				random_table(&random, domain, &image);
		memset(bytes, POISON, sizeof(bytes));
		baleen_header_write(&image, bytes);
		memset(&out, POISON, sizeof(out));
		if (baleen_header_check(bytes, (u64)image.n_blocks * BALEEN_BLOCK_BYTES, &out,
					&reason))
			fail_msg("round %u: %s", round, reason);
		assert_memory_equal(&out, &image, sizeof(out));
	}
}

static void test_unaligned(void **state)
{
	struct random random = random_from(10);
	u8 bytes[N_BYTES], *moved = malloc(N_BYTES + 7);
	struct baleen_image image;

	make_image(&random, &image, bytes);
	for (u32 offset = 0; offset < 8; offset++) {
		memcpy(moved + 7 - offset, bytes, N_BYTES);
		assert_accepted(moved + 7 - offset, N_BYTES, &image);
	}
	free(moved);
}

/* A live image has no counts and no checksum, and its body may change. */
static void test_live(void **state)
{
	struct random random = random_from(11);
	struct baleen_image image;
	u8 bytes[N_BYTES];

	make_image(&random, &image, bytes);
	image.flags = BALEEN_FLAG_LIVE;
	image.n_entries = 0;
	baleen_header_write(&image, bytes);
	assert_refused(bytes, N_BYTES, "a live image with a checksum or a count");
	image.body_crc = 0;
	baleen_header_write(&image, bytes);
	assert_refused(bytes, N_BYTES, COUNTS);
	image.table[BALEEN_IP4].n_entries = 0;
	image.table[BALEEN_IP6].n_entries = 0;
	baleen_header_write(&image, bytes);
	assert_accepted(bytes, N_BYTES, &image);
	for (u32 i = BALEEN_HEADER_BYTES; i < N_BYTES; i++)
		bytes[i] = random_next(&random);
	assert_accepted(bytes, N_BYTES, &image);
	bytes[100] ^= 1;
	assert_refused(bytes, N_BYTES, "header checksum does not match: damaged");
}

/* Directories of every width and number of leaves: sizes from the bits. */
static void test_directories(void **state)
{
	struct random random = random_from(14);

	for (u32 round = 0; round < 2000; round++) {
		u32 group_bits = 8 + round % 17, width = 1 + round / 17 % 2, group_numbers;
		u64 n_groups = 1ull << group_bits, n_leaves, n_lines;
		struct baleen_image image = { .key_spec = BALEEN_KEY_SRC }, out;
		struct baleen_table *table =
			&image.table[width == 1 ? BALEEN_IP4_GROUPS : BALEEN_IP6_STEMS];
		const char *reason = "untouched";
		u8 bytes[BALEEN_HEADER_BYTES];

		group_numbers = 0x100000000ull / n_groups;
		n_leaves = round % 5 == 0 ? n_groups : random_below(&random, n_groups);
		n_lines = (n_groups + 191) / 192;
		*table = (struct baleen_table){
			.kind = BALEEN_KIND_DIRECTORY,
			.group_bits = group_bits,
			.n_blocks = n_lines + (n_leaves * group_numbers * width + 511) / 512,
			.n_buckets = n_leaves,
		};
		if (width == 2)
			image.table[BALEEN_IP6_ENTRIES] =
				(struct baleen_table){ .kind = BALEEN_KIND_ENTRIES,
						       .n_blocks = 1,
						       .n_buckets = 1,
						       .n_entries = 1 };
		pack_tables(&image);
		assert_int_equal(baleen_directory_lines(group_bits), n_lines);
		assert_int_equal(table->leaf_block, BALEEN_HEADER_BLOCKS + n_lines);
		baleen_header_write(&image, bytes);
		memset(&out, POISON, sizeof(out));
		if (baleen_header_check(bytes, bytes_of(&image), &out, &reason))
			fail_msg("%u bits, %u leaves: %s", group_bits, (u32)n_leaves, reason);
		baleen_seed_expand(&image.seed);
		assert_memory_equal(&out, &image, sizeof(out));
		table->n_blocks++;
		pack_tables(&image);
		baleen_header_write(&image, bytes);
		assert_header_refused(bytes, bytes_of(&image), LEAVES);
	}
}

/* In order, and how deep it is. */
static u32 walk_tree(const u8 *tree, u32 node, u8 *lengths, u32 *n)
{
	u32 left, right;

	assert_true(node < 2 * BALEEN_LENGTH_NODES);
	if (node >= BALEEN_LENGTH_NODES || !tree[node])
		return 0;
	left = walk_tree(tree, 2 * node, lengths, n);
	assert_true(*n < 128);
	lengths[(*n)++] = tree[node];
	right = walk_tree(tree, 2 * node + 1, lengths, n);
	return 1 + (left > right ? left : right);
}

static void assert_tree(const struct baleen_image *image, u32 n_lengths)
{
	u32 n = 0, n_nodes = 0, depth, least = 0;
	u8 lengths[128];

	assert_int_equal(image->length_tree[0], 0);
	depth = walk_tree(image->length_tree, 1, lengths, &n);
	assert_int_equal(n, n_lengths);
	for (u32 i = 0; i < n; i++) {
		assert_true(!i || lengths[i - 1] < lengths[i]);
		assert_true(image->prefix_lengths[(lengths[i] - 1) / 64] >> (lengths[i] - 1) % 64 &
			    1);
	}
	for (u32 i = 0; i < BALEEN_LENGTH_NODES; i++)
		n_nodes += image->length_tree[i] != 0;
	assert_int_equal(n_nodes, n_lengths);
	while ((1u << least) <= n_lengths)
		least++;
	assert_int_equal(depth, least);
	assert_true(depth <= 7);
}

/* Any number of lengths from 0 to all 96, and all sets with one or two. */
static void test_length_tree(void **state)
{
	struct random random = random_from(15);

	for (u32 round = 0; round < 97 * 40; round++) {
		struct baleen_image image;
		u32 n_lengths = round % 97;

		memset(&image, POISON, sizeof(image));
		memset(image.prefix_lengths, 0, sizeof(image.prefix_lengths));
		for (u32 n = 0; n < n_lengths;) {
			u32 bit = 32 + random_below(&random, 96);

			n += !(image.prefix_lengths[bit / 64] >> bit % 64 & 1);
			image.prefix_lengths[bit / 64] |= 1ull << bit % 64;
		}
		baleen_length_tree_make(&image);
		assert_tree(&image, n_lengths);
	}
	for (u32 i = 0; i < 96 * 96; i++) {
		u32 bits[2] = { 32 + i / 96, 32 + i % 96 };
		struct baleen_image image = { .n_blocks = 0 };

		for (u32 j = 0; j < 2; j++)
			image.prefix_lengths[bits[j] / 64] |= 1ull << bits[j] % 64;
		baleen_length_tree_make(&image);
		assert_tree(&image, 1 + (bits[0] != bits[1]));
	}
}

static void test_log2(void **state)
{
	for (u32 log2 = 0; log2 < 32; log2++) {
		assert_int_equal(baleen_log2(1u << log2), log2);
		assert_int_equal(baleen_log2((2u << log2) - 1), log2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_fields),
		cmocka_unit_test(test_refused_prefixes),
		cmocka_unit_test(test_refused_tree),
		cmocka_unit_test(test_refused_several_fields),
		cmocka_unit_test(test_refused_together),
		cmocka_unit_test(test_refused_origin),
		cmocka_unit_test(test_refused_bits),
		cmocka_unit_test(test_refused_sizes),
		cmocka_unit_test(test_refused_large),
		cmocka_unit_test(test_refused_no_table),
		cmocka_unit_test(test_refused_name),
		cmocka_unit_test(test_refused_widths),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_length_tree),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_log2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
