// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as an image: refused with a reason and nothing written, or every
 * probe, listing and insertion stays inside it.
 *
 * The first byte of the input says what the rest is:
 *
 *      0  the image
 *      1  the image but for its magic, sizes and checksums, which are put
 *         right, so that they do not hide what lies behind them
 *      2  a recipe for an image that is right but for two bytes of its
 *         header, then bytes to fill its body with
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "filter/filter.h"
#include "filter/plan.h"
#include "list/list.h"
#include "list/list.h"
#include "target.h"

#define N_KEYS 64
#define MAX_TABLE_BLOCKS 16

/* Few, because the rate of an overfull Bloom block takes a millisecond. */
#define MAX_ENTRIES 16

enum form { FORM_BYTES, FORM_CHECKSUMS, FORM_RECIPE, N_FORMS };

struct recipe {
	struct {
		u8 at[2]; /* this byte of the header, */
		u8 by;	  /* plus this */
	} skew[2];
	u8 flags; /* the highest bit: the last block is missing */
	u8 key_spec;
	u8 lengths[16];
	struct {
		u8 kind;
		u8 width; /* chooses slot_bits, n_hashes or group_bits */
		u8 n_blocks;
		u8 n_spare; /* buckets that the last block lacks, leaves */
		u8 n_entries;
	} table[BALEEN_N_DOMAINS];
};

static void *allocate(size_t n_bytes)
{
	void *memory;

	/* To the byte, so that ASan sees a step outside. */
	check(!posix_memalign(&memory, BALEEN_BLOCK_BYTES, n_bytes));
	return memory;
}

static void fix_checksums(u8 *image, size_t n_bytes)
{
	struct baleen_image_header *header = (void *)image;

	if (n_bytes < BALEEN_HEADER_BYTES)
		return;
	memcpy(header->magic, BALEEN_MAGIC, sizeof(header->magic));
	header->version_le = baleen_le16(BALEEN_VERSION);
	header->header_bytes_le = baleen_le16(BALEEN_HEADER_BYTES);
	header->n_blocks_le = baleen_le32(n_bytes / BALEEN_BLOCK_BYTES);
	if (!(baleen_le32(header->flags_le) & BALEEN_FLAG_LIVE))
		header->body_crc_le =
			baleen_le32(baleen_crc32c(0, header + 1, n_bytes - BALEEN_HEADER_BYTES));
	header->header_crc_le = 0;
	header->header_crc_le = baleen_le32(baleen_crc32c(0, header, sizeof(*header)));
}

/* Slots of any width, with bits left over behind the last. */
static void follow_packed(const struct recipe *recipe, u32 domain, struct baleen_table *table)
{
	u32 slots = 1 + recipe->table[domain].kind / 8 % 4;
	u32 n_blocks = 1 + recipe->table[domain].n_blocks % MAX_TABLE_BLOCKS;

	table->slot_bits = 4 + recipe->table[domain].width / 4 % 29;
	table->bucket_slots = slots | BALEEN_PACKED;
	if (slots == 4 && table->slot_bits > BALEEN_MIN_PACKED_BITS &&
	    recipe->table[domain].kind & 1)
		table->bucket_slots |= BALEEN_SEMI_SORTED;
	table->n_buckets = (n_blocks * 512 - BALEEN_PACKED_MARGIN) / baleen_bucket_bits(table);
	table->n_buckets -= recipe->table[domain].n_spare % table->n_buckets;
	table->n_blocks = baleen_table_blocks(table);
}

/* A table of hosts or keys. */
static void follow_keys(const struct recipe *recipe, u32 domain, struct baleen_table *table)
{
	static const u8 widths[] = { 16, 32, 64, 0 };
	u8 width = recipe->table[domain].width;
	u32 per_block = 1;

	table->kind = 1 + recipe->table[domain].kind / 2 % 2;
	if (table->kind == BALEEN_KIND_CUCKOO && recipe->table[domain].kind >= 128) {
		follow_packed(recipe, domain, table);
		return;
	}
	if (table->kind == BALEEN_KIND_CUCKOO) {
		table->slot_bits = widths[width % 4];
		per_block = baleen_buckets_per_block(table->slot_bits);
	} else {
		table->n_hashes = 2 + width % 4 * 2;
	}
	table->n_blocks = 1 + recipe->table[domain].n_blocks % MAX_TABLE_BLOCKS;
	table->n_buckets = table->n_blocks * per_block - recipe->table[domain].n_spare % per_block;
}

/* A digest of Squid's, now and then with a position too many. */
static void follow_digest(const struct recipe *recipe, struct baleen_table *table)
{
	u32 kind = recipe->table[BALEEN_TUPLE].kind;

	table->kind = kind / 4 % 2 ? BALEEN_KIND_COUNTING : BALEEN_KIND_CLASSIC;
	table->hash = BALEEN_HASH_SQUID;
	table->n_hashes = 4 + (recipe->table[BALEEN_TUPLE].width == 255);
	table->n_buckets = 1 + recipe->table[BALEEN_TUPLE].n_blocks % MAX_TABLE_BLOCKS;
	table->n_spare_bits = recipe->table[BALEEN_TUPLE].n_spare % 64 * 8;
	table->n_blocks = baleen_table_blocks(table);
}

/* Indexes and nodes lie in the same blocks, and their bytes are any. */
static void follow_tree(const struct recipe *recipe, struct baleen_table *table)
{
	table->kind = BALEEN_KIND_TREE;
	table->group_bits = 8 + recipe->table[BALEEN_IP6_STEMS].width / 4 % 3;
	table->n_buckets = recipe->table[BALEEN_IP6_STEMS].n_spare % MAX_TABLE_BLOCKS;
	table->n_blocks = baleen_tree_lines(table->group_bits) + table->n_buckets;
}

/* Of the tables that come with prefixes. */
static void follow_prefixes(const struct recipe *recipe, u32 domain, struct baleen_table *table)
{
	u32 n_spare = recipe->table[domain].n_spare, n_blocks = recipe->table[domain].n_blocks;

	switch (domain) {
	case BALEEN_IP6_PREFIXES:
		table->kind = BALEEN_KIND_PREFIXES;
		table->slot_bits = 64;
		table->n_blocks = MAX_TABLE_BLOCKS + n_blocks % MAX_TABLE_BLOCKS;
		table->n_buckets = 2 * table->n_blocks - n_spare % 2;
		break;
	case BALEEN_IP6_ENTRIES:
		table->kind = BALEEN_KIND_ENTRIES;
		table->n_buckets = 1 + n_spare % MAX_ENTRIES;
		table->n_blocks = (table->n_buckets * sizeof(struct baleen_entry6) + 63) / 64;
		break;
	default:
		if (domain == BALEEN_IP6_STEMS && recipe->table[domain].width / 2 % 2) {
			follow_tree(recipe, table);
			break;
		}
		table->kind = BALEEN_KIND_DIRECTORY;
		table->group_bits = recipe->table[domain].width % 2 ? 16 : 8;
		/* A leaf of 8 bits has megabytes. */
		table->n_buckets = table->group_bits == 8 ? 0 : n_spare % 4;
		table->n_blocks =
			baleen_directory_blocks(domain, table->group_bits, table->n_buckets);
		break;
	}
}

/* What the recipe asks for as the header of an image. */
static void follow_recipe(const struct recipe *recipe, struct baleen_image *image)
{
	memset(image, 0, sizeof(*image));
	image->n_blocks = BALEEN_HEADER_BLOCKS;
	image->key_spec = 1 + recipe->key_spec % BALEEN_KEY_FLOW;
	if (recipe->key_spec >= 224)
		image->key_spec = BALEEN_KEY_SQUID;
	image->flags = recipe->flags & BALEEN_FLAG_LIVE;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		struct baleen_table *table = &image->table[domain];

		if (recipe->table[domain].kind % 2 == 0)
			continue;
		if (domain == BALEEN_TUPLE && image->key_spec == BALEEN_KEY_SQUID)
			follow_digest(recipe, table);
		else if (domain <= BALEEN_TUPLE)
			follow_keys(recipe, domain, table);
		else
			follow_prefixes(recipe, domain, table);
		table->first_block = image->n_blocks;
		if (!image->flags && table->kind == BALEEN_KIND_ENTRIES)
			table->n_entries = table->n_buckets;
		else if (!image->flags && table->kind != BALEEN_KIND_PREFIXES &&
			 domain != BALEEN_IP6_STEMS)
			table->n_entries = recipe->table[domain].n_entries % MAX_ENTRIES;
		image->n_blocks += table->n_blocks;
		image->n_entries += table->n_entries;
	}
	if (image->table[BALEEN_IP6_PREFIXES].kind) {
		memcpy(image->prefix_lengths, recipe->lengths, sizeof(image->prefix_lengths));
		image->prefix_lengths[0] &= ~0xffffffffull;
		image->prefix_lengths[1] |= 1;
		if (image->table[BALEEN_IP6_STEMS].kind == BALEEN_KIND_TREE)
			image->prefix_lengths[0] = 0;
	}
}

static u8 *shorten(u8 *image, size_t *n_image)
{
	u8 *shorter = allocate(*n_image -= BALEEN_BLOCK_BYTES);

	memcpy(shorter, image, *n_image);
	free(image);
	return shorter;
}

static u8 *cook(const u8 *bytes, size_t n_bytes, size_t *n_image)
{
	struct baleen_image image;
	struct recipe recipe = { 0 };
	size_t n_recipe = n_bytes < sizeof(recipe) ? n_bytes : sizeof(recipe);
	u8 *made;

	memcpy(&recipe, bytes, n_recipe);
	follow_recipe(&recipe, &image);
	*n_image = (size_t)image.n_blocks * BALEEN_BLOCK_BYTES;
	made = allocate(*n_image);
	baleen_header_write(&image, made);
	for (u32 i = 0; i < 2; i++)
		made[(recipe.skew[i].at[0] << 8 | recipe.skew[i].at[1]) % BALEEN_HEADER_BYTES] +=
			recipe.skew[i].by;
	for (size_t i = BALEEN_HEADER_BYTES; i < *n_image; i++)
		made[i] = n_bytes > n_recipe ? bytes[n_recipe + i % (n_bytes - n_recipe)] : 0;
	if (recipe.flags >> 7 && image.n_blocks > BALEEN_HEADER_BLOCKS)
		made = shorten(made, n_image);
	fix_checksums(made, *n_image);
	return made;
}

static u8 *make_image(const u8 *bytes, size_t n_bytes, size_t *n_image)
{
	enum form form = bytes[0] % N_FORMS;
	u8 *made;

	bytes++;
	n_bytes--;
	if (form == FORM_RECIPE)
		return cook(bytes, n_bytes, n_image);
	*n_image = n_bytes;
	if (form == FORM_CHECKSUMS)
		*n_image -= n_bytes % BALEEN_BLOCK_BYTES;
	made = allocate(*n_image);
	memcpy(made, bytes, *n_image);
	if (form == FORM_CHECKSUMS)
		fix_checksums(made, *n_image);
	return made;
}

static struct baleen_key key_at(u32 domain, u32 i)
{
	u64 x = (i + 1) * 0x9e3779b97f4a7c15ull;
	struct baleen_key key = { .domain = domain, .lo = x * x };

	switch (domain) {
	case BALEEN_IP4: return (struct baleen_key){ .domain = domain, .ip4 = x >> 32 };
	case BALEEN_TUPLE:
		key.dst_hi = ~x;
		key.dst_lo = x >> 7;
		key.rest = x >> 24;
		break;
	case BALEEN_WORD: return key;
	}
	key.hi = x;
	return key;
}

/* The set back, and a filter's word for each of its hosts. */
static void check_list(const struct baleen_filter *filter)
{
	struct baleen_list list;
	struct baleen_error error;
	int err = baleen_filter_to_list(filter, &list, &error);

	if (err) {
		check(err == -EINVAL || err == -EOPNOTSUPP);
		return;
	}
	for (size_t i = 0; i < list.n_ip4; i++) {
		struct baleen_key key = { .domain = BALEEN_IP4, .ip4 = list.ip4[i] };

		check(!i || list.ip4[i - 1] < list.ip4[i]);
		check(baleen_filter_test(filter, &key));
	}
	for (size_t i = 0; i < list.n_net4; i++) {
		struct baleen_key first = { .domain = BALEEN_IP4, .ip4 = list.net4[i].first };
		struct baleen_key last = { .domain = BALEEN_IP4, .ip4 = list.net4[i].last };

		check(list.net4[i].first < list.net4[i].last);
		check(baleen_filter_test(filter, &first) && baleen_filter_test(filter, &last));
	}
	baleen_list_free(&list);
}

/* Whatever stands in the slots, a key that was inserted is found: beside a
 * directory, where that says so. One refusal is enough, it takes thousands of
 * steps.
 */
static void check_insert(struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	int err = 0;

	for (u32 i = 0; i < N_KEYS && !err; i++) {
		struct baleen_key key = key_at(domain, i);
		size_t n_done = 2;

		err = baleen_filter_insert(filter, &key, 1, &n_done);
		check(n_done == !err && (!err || err == -ENOSPC));
		check(err || baleen_table_test(table, &filter->image.seed, filter->bytes, &key));
	}
}

static bool has_keys(const struct baleen_image *image, u32 domain)
{
	return image->table[domain].kind ||
	       (domain == BALEEN_IP4 && image->table[BALEEN_IP4_GROUPS].kind) ||
	       (domain == BALEEN_IP6 && image->table[BALEEN_IP6_STEMS].kind);
}

static void check_accepted(struct baleen_filter *filter)
{
	u8 header[BALEEN_HEADER_BYTES];
	double fpp = baleen_image_fpp(&filter->image);

	/* There is one way only to write a header. */
	baleen_header_write(&filter->image, header);
	check(!memcmp(header, filter->bytes, sizeof(header)));
	check(fpp >= 0 && fpp <= 1);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &filter->image.table[domain];

		for (u32 i = 0; i < N_KEYS; i++) {
			struct baleen_key key = key_at(domain, i);

			check(baleen_filter_test(filter, &key) <= has_keys(&filter->image, domain));
		}
		if (table->kind == BALEEN_KIND_CUCKOO)
			check(baleen_filter_count(filter, domain) <= 4ull * table->n_buckets);
	}
	check_list(filter);
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++)
		if (filter->image.table[domain].kind)
			check_insert(filter, domain);
	check(!memcmp(header, filter->bytes, sizeof(header)));
}

static void check_refused(const struct baleen_image *out, const char *reason)
{
	struct baleen_image poison;

	memset(&poison, 0xa5, sizeof(poison));
	check(!memcmp(out, &poison, sizeof(poison)));
	check(reason && *reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct baleen_filter filter = { .n_bytes = 0 };
	const char *reason = NULL;

	if (!n_bytes)
		return 0;
	filter.bytes = make_image(bytes, n_bytes, &filter.n_bytes);
	memset(&filter.image, 0xa5, sizeof(filter.image));
	if (baleen_image_check(filter.bytes, filter.n_bytes, &filter.image, &reason))
		check_refused(&filter.image, reason);
	else
		check_accepted(&filter);
	free(filter.bytes);
	return 0;
}
