// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The validator: geometries of each kind of table, right and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <baleen/image_check.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The header of an image of one table. */
static u64 write_header(u32 domain, const struct baleen_table *table, struct baleen_image *image,
			u8 *bytes)
{
	static const u32 spec[] = { BALEEN_KEY_SRC, BALEEN_KEY_DST, BALEEN_KEY_PORTS,
				    BALEEN_KEY_STRING };

	memset(image, 0, sizeof(*image));
	image->n_blocks = BALEEN_HEADER_BLOCKS + table->n_blocks;
	image->key_spec = spec[domain];
	if (domain == BALEEN_TUPLE && baleen_needs_md5(table))
		image->key_spec = BALEEN_KEY_SQUID;
	image->n_entries = table->n_entries;
	image->table[domain] = *table;
	image->table[domain].first_block = BALEEN_HEADER_BLOCKS;
	baleen_seed_expand(&image->seed);
	baleen_header_write(image, bytes);
	return (u64)image->n_blocks * BALEEN_BLOCK_BYTES;
}

static void assert_table_refused(u32 domain, const struct baleen_table *table, const char *why)
{
	struct baleen_image image, out, poison;
	u8 bytes[BALEEN_HEADER_BYTES];
	u64 n_bytes = write_header(domain, table, &image, bytes);
	const char *reason = "accepted";

	memset(&out, 0xa5, sizeof(out));
	memset(&poison, 0xa5, sizeof(poison));
	assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), -EINVAL);
	assert_string_equal(reason, why);
	assert_memory_equal(&out, &poison, sizeof(out));
}

static void assert_table_accepted(u32 domain, const struct baleen_table *table)
{
	u8 bytes[BALEEN_HEADER_BYTES];
	struct baleen_image image, out;
	u64 n_bytes = write_header(domain, table, &image, bytes);
	const char *reason;

	if (baleen_header_check(bytes, n_bytes, &out, &reason))
		fail_msg("%s", reason);
	assert_memory_equal(&out, &image, sizeof(out));
}

struct geometry {
	u32 domain;
	struct baleen_table table;
	const char *reason;
};

static void assert_all_refused(const struct geometry *geometry, u32 n)
{
	for (u32 i = 0; i < n; i++)
		assert_table_refused(geometry[i].domain, &geometry[i].table, geometry[i].reason);
}

static void assert_all_accepted(const struct geometry *geometry, u32 n)
{
	for (u32 i = 0; i < n; i++)
		assert_table_accepted(geometry[i].domain, &geometry[i].table);
}

#define DISAGREE "number of buckets and blocks disagree"
#define POSITIONS "number of hashes is not 1 to 32"
#define HASHES "number of hashes is not 2, 4, 6 or 8"
#define OTHER_KEYS "Squid's hash for other keys than Squid's"
#define TOO_MANY "more bits than a hash of 32 bits can choose of"

/* domain, hash, hashes, blocks of bits, spare bits, blocks */
#define CLASSIC(d, h, k, n, spare, total)                      \
	.domain = (d), .table = { .kind = BALEEN_KIND_CLASSIC, \
				  .hash = BALEEN_HASH_##h,     \
				  .n_hashes = (k),             \
				  .n_buckets = (n),            \
				  .n_spare_bits = (spare),     \
				  .n_blocks = (total) }
#define COUNTING(d, h, k, n, spare, total)                      \
	.domain = (d), .table = { .kind = BALEEN_KIND_COUNTING, \
				  .hash = BALEEN_HASH_##h,      \
				  .n_hashes = (k),              \
				  .n_buckets = (n),             \
				  .n_spare_bits = (spare),      \
				  .n_blocks = (total) }

static void test_refused_bits(void **state)
{
	static const struct geometry wrong[] = {
		{ CLASSIC(0, BLOCKED, 6, 3, 0, 3), "unknown hash" },
		{ CLASSIC(0, KEYED + 5, 6, 3, 0, 3), "unknown hash" },
		{ CLASSIC(0, KEYED, 0, 3, 0, 3), POSITIONS },
		{ CLASSIC(0, KEYED, 33, 3, 0, 3), POSITIONS },
		{ CLASSIC(0, KEYED, 7, 3, 512, 3), "more bits to spare than a block has" },
		{ CLASSIC(0, KEYED, 7, 3, 0xffffffff, 3), "more bits to spare than a block has" },
		{ CLASSIC(0, KEYED, 7, 3, 0, 4), DISAGREE },
		{ CLASSIC(0, KEYED, 7, 3, 0, 15), DISAGREE },
		{ CLASSIC(0, KEYED, 7, 0, 0, 3), "a table without buckets" },
		{ CLASSIC(1, MURMUR3_FNV1A, 3, 3, 0, 3), "number of hashes is not 2" },
		{ CLASSIC(1, MURMUR3_FNV1A, 1, 3, 0, 3), "number of hashes is not 2" },
		{ CLASSIC(1, MURMUR3, 3, (1 << 23) + 1, 511, (1 << 23) + 1), TOO_MANY },
		{ CLASSIC(2, MURMUR3, 3, 3, 0, 3), "a hash of bytes for keys of several fields" },
		{ COUNTING(0, KEYED + 5, 6, 3, 0, 15), "unknown hash" },
		{ COUNTING(0, BLOCKED, 0, 3, 0, 15), HASHES },
		{ COUNTING(0, BLOCKED, 7, 3, 0, 15), HASHES },
		{ COUNTING(0, BLOCKED, 10, 3, 0, 15), HASHES },
		{ COUNTING(0, BLOCKED, 6, 3, 1, 15), "blocks that are not full" },
		{ COUNTING(0, BLOCKED, 6, 3, 0, 3), DISAGREE },
		{ COUNTING(0, BLOCKED, 6, 3, 0, 14), DISAGREE },
		{ COUNTING(0, KEYED, 0, 3, 0, 15), POSITIONS },
		{ COUNTING(0, KEYED, 7, 3, 9, 16), DISAGREE },
		{ COUNTING(3, MURMUR3_FNV1A, 3, 3, 0, 15), "number of hashes is not 2" },
		{ CLASSIC(3, SQUID, 0, 3, 0, 3), POSITIONS },
		{ CLASSIC(3, SQUID, 3, 3, 0, 3), "number of hashes is not 4" },
		{ CLASSIC(3, SQUID, 5, 3, 0, 3), "number of hashes is not 4" },
		{ CLASSIC(3, SQUID, 4, 3, 1, 3), "bits that are not whole bytes" },
		{ CLASSIC(3, SQUID, 4, 3, 508, 3), "bits that are not whole bytes" },
		{ CLASSIC(3, SQUID, 4, 3, 512, 3), "more bits to spare than a block has" },
		{ CLASSIC(3, SQUID, 4, (1 << 23) + 1, 504, (1 << 23) + 1), TOO_MANY },
		{ CLASSIC(0, SQUID, 4, 3, 0, 3), OTHER_KEYS },
		{ CLASSIC(2, SQUID, 4, 3, 0, 3), OTHER_KEYS },
		{ COUNTING(1, SQUID, 4, 3, 0, 15), OTHER_KEYS },
		{ COUNTING(3, SQUID, 8, 3, 0, 15), "number of hashes is not 4" },
		{ COUNTING(3, SQUID, 4, 3, 20, 15), "bits that are not whole bytes" },
	};

	assert_all_refused(wrong, N_OF(wrong));
}

static void test_accepted_bits(void **state)
{
	static const struct geometry right[] = {
		{ CLASSIC(0, KEYED, 1, 1, 511, 1) },
		{ CLASSIC(1, KEYED, 32, 3, 0, 3) },
		{ CLASSIC(2, KEYED, 7, (1 << 23) + 1, 0, (1 << 23) + 1) },
		{ CLASSIC(3, MURMUR3, 7, 1 << 23, 0, 1 << 23) },
		{ CLASSIC(1, MURMUR3_FNV1A, 2, 3, 100, 3) },
		{ COUNTING(0, BLOCKED, 8, 3, 0, 15) },
		{ COUNTING(1, KEYED, 32, 3, 511, 15) },
		{ COUNTING(3, MURMUR3, 5, 3, 17, 15) },
		{ COUNTING(0, MURMUR3_FNV1A, 2, 1, 0, 5) },
		{ CLASSIC(3, SQUID, 4, 1, 504, 1) },
		{ CLASSIC(3, SQUID, 4, 1 << 23, 0, 1 << 23) },
		{ COUNTING(3, SQUID, 4, 3, 8, 15) },
	};

	assert_all_accepted(right, N_OF(right));
}

/* domain, slot bits, slots of a bucket, buckets, in the stash, blocks */
#define CUCKOO(d, w, b, n, s, total)                          \
	.domain = (d), .table = { .kind = BALEEN_KIND_CUCKOO, \
				  .slot_bits = (w),           \
				  .bucket_slots = (b),        \
				  .n_buckets = (n),           \
				  .n_stash = (s),             \
				  .n_blocks = (total) }
/* domain, quotient bits, remainder bits, longest cluster, blocks */
#define QUOTIENT(d, q, r, longest, total)                        \
	.domain = (d), .table = { .kind = BALEEN_KIND_QUOTIENT,  \
				  .shape = BALEEN_QUOTIENT_META, \
				  .log2_buckets = (q),           \
				  .slot_bits = (r),              \
				  .n_buckets = 1u << (q),        \
				  .longest_cluster = (longest),  \
				  .n_blocks = (total) }

/* domain, kind, bits of a value, buckets, entries, blocks */
#define CHAINS(d, which, l, m, room, total)                    \
	.domain = (d), .table = { .kind = BALEEN_KIND_##which, \
				  .slot_bits = (l),            \
				  .n_buckets = (m),            \
				  .n_room = (room),            \
				  .n_blocks = (total) }

static void test_chains(void **state)
{
	static const char blocks[] = "number of entries and blocks disagree";
	static const struct geometry wrong[] = {
		{ CHAINS(0, CHAINED, 31, 4, 9, 3), "a dictionary that does not keep its keys" },
		{ CHAINS(0, CHAINED, 64, 4, 9, 4), "values longer than the keys" },
		{ CHAINS(1, CHAINED, 32, 4, 9, 3), "a dictionary that does not keep its keys" },
		{ CHAINS(1, COMPACT, 65, 4, 9, 4), "values longer than the keys" },
		{ CHAINS(1, COMPACT, 0, 4, 9, 3), "values longer than the keys" },
		{ CHAINS(1, COMPACT, 12, 4, 0, 2), "chains without room for an entry" },
		{ CHAINS(1, COMPACT, 12, 0, 9, 3), "a table without buckets" },
		{ CHAINS(1, COMPACT, 12, 17, 9, 3), blocks },
		{ CHAINS(1, COMPACT, 12, 16, 17, 3), blocks },
		{ CHAINS(1, COMPACT, 57, 16, 9, 3), blocks },
	};
	static const struct geometry right[] = {
		{ CHAINS(0, CHAINED, 32, 1, 1, 3) },
		{ CHAINS(1, CHAINED, 64, 4, 9, 4) },
		{ CHAINS(2, CHAINED, 64, 16, 8, 3) },
		{ CHAINS(3, COMPACT, 1, 17, 16, 4) },
	};
	struct geometry odd = { CHAINS(1, COMPACT, 12, 4, 9, 3), NULL };

	assert_all_refused(wrong, N_OF(wrong));
	assert_all_accepted(right, N_OF(right));
	odd.table.n_entries = 10;
	assert_table_refused(1, &odd.table, "more entries than there is room for");
	odd.table.n_entries = 9;
	assert_table_accepted(1, &odd.table);
	odd.table.shape = 1;
	assert_table_refused(1, &odd.table, "a shape in a table that has none");
}

static void test_refused_slots(void **state)
{
	static const char bucket[] = "number of slots of a bucket is not 1, 2 or 4";
	static const char packed_width[] = "width of packed slots is not 4 to 32 bits";
	static const char semi_width[] = "width of semi-sorted slots is not 5 to 32 bits";
	static const char packed_bucket[] = "number of slots of a packed bucket is not 1 to 4";
	static const char longer[] = "fingerprints longer than the keys";
	static const struct geometry wrong[] = {
		{ CUCKOO(1, 8, 0, 4, 0, 1), bucket },
		{ CUCKOO(1, 12, 3, 4, 0, 1), bucket },
		{ CUCKOO(1, 16, 4, 8, 0, 1), bucket },
		{ CUCKOO(1, 10, 4, 8, 0, 1), "slot width is not 8, 12, 16, 32 or 64 bits" },
		{ CUCKOO(1, 3, 4 | BALEEN_PACKED, 8, 0, 1), packed_width },
		{ CUCKOO(1, 33, 4 | BALEEN_PACKED, 8, 0, 3), packed_width },
		{ CUCKOO(1, 64, 1 | BALEEN_PACKED, 8, 0, 2), packed_width },
		{ CUCKOO(1, 12, BALEEN_PACKED, 8, 0, 1), packed_bucket },
		{ CUCKOO(1, 12, 5 | BALEEN_PACKED, 8, 0, 1), packed_bucket },
		{ CUCKOO(1, 12, 4 | BALEEN_PACKED | 32, 8, 0, 1), packed_bucket },
		{ CUCKOO(1, 12, 3 | BALEEN_PACKED | BALEEN_SEMI_SORTED, 8, 0, 1), packed_bucket },
		{ CUCKOO(1, 12, 4 | BALEEN_SEMI_SORTED, 8, 0, 1), bucket },
		{ CUCKOO(1, 4, 4 | BALEEN_PACKED | BALEEN_SEMI_SORTED, 8, 0, 1), semi_width },
		{ CUCKOO(1, 33, 4 | BALEEN_PACKED | BALEEN_SEMI_SORTED, 8, 0, 3), semi_width },
		{ CUCKOO(1, 13, 4 | BALEEN_PACKED | BALEEN_SEMI_SORTED, 9, 0, 1), DISAGREE },
		{ CUCKOO(1, 13, 4 | BALEEN_PACKED | BALEEN_SEMI_SORTED, 8, 0, 2), DISAGREE },
		/* The last bucket needs the 128 bits behind it. */
		{ CUCKOO(1, 12, 4 | BALEEN_PACKED, 9, 0, 1), DISAGREE },
		{ CUCKOO(1, 12, 4 | BALEEN_PACKED, 8, 0, 2), DISAGREE },
		{ CUCKOO(1, 8, 4, 17, 0, 1), DISAGREE },
		{ CUCKOO(1, 12, 4, 11, 0, 1), DISAGREE },
		{ CUCKOO(1, 8, 1, (1u << 31) + 1, 0, (1 << 25) + 1), "more than 2^31 buckets" },
		{ CUCKOO(1, 16, 1, 33, 0, 1), DISAGREE },
		{ CUCKOO(1, 16, 0, 8, 1, 1), DISAGREE },
		{ CUCKOO(1, 16, 0, 8, 0, 2), DISAGREE },
		{ CUCKOO(1, 16, 0, 8, 9, 2), "more slots in the stash than it has" },
		{ QUOTIENT(0, 3, 30, 0, 5), longer },
		{ QUOTIENT(1, 3, 62, 0, 9), longer },
		{ QUOTIENT(1, 3, 0, 0, 1), longer },
		{ QUOTIENT(0, 3, 29, 9, 4), "a cluster longer than the table" },
		{ QUOTIENT(0, 3, 29, 0, 5), "number of slots and blocks disagree" },
		{ QUOTIENT(0, 7, 2, 0, 1), "number of slots and blocks disagree" },
		{ QUOTIENT(0, 0, 5, 0, 1), "number of slots is not a power of two" },
	};
	struct geometry odd = { QUOTIENT(0, 3, 29, 0, 4), NULL };

	assert_all_refused(wrong, N_OF(wrong));
	odd.table.n_buckets = 7;
	assert_table_refused(0, &odd.table, "number of slots is not a power of two");
	odd.table.n_buckets = 8;
	odd.table.n_entries = 9;
	assert_table_refused(0, &odd.table, "more entries than slots");
	odd.table.n_entries = 8;
	assert_table_accepted(0, &odd.table);
}

/* The bytes of a string are there, those of a flow are not. */
static void test_hash_of_bytes(void **state)
{
	static const struct geometry murmur3 = { CLASSIC(3, MURMUR3, 7, 3, 0, 3), NULL };
	struct baleen_image image, out;
	u8 bytes[BALEEN_HEADER_BYTES];
	u64 n_bytes = write_header(3, &murmur3.table, &image, bytes);
	const char *reason = "accepted";

	assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), 0);
	image.key_spec = BALEEN_KEY_FLOW;
	baleen_header_write(&image, bytes);
	assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), -EINVAL);
	assert_string_equal(reason, "a hash of bytes for keys of several fields");
}

/* A table of strings or fingerprints in a form. */
static int check_form(struct geometry geometry, u32 form, u32 key_spec, u64 second_word,
		      const char **reason)
{
	struct baleen_image image, out;
	u8 bytes[BALEEN_HEADER_BYTES];
	u64 n_bytes;

	geometry.table.form = form;
	n_bytes = write_header(geometry.domain, &geometry.table, &image, bytes);
	image.key_spec = key_spec;
	image.seed.word[0] = 0xffffffff;
	image.seed.word[1] = second_word;
	baleen_header_write(&image, bytes);
	*reason = "accepted";
	return baleen_header_check(bytes, n_bytes, &out, reason);
}

#define FORM_UNKNOWN "an unknown form of a hash"
#define FORM_MISFIT "a form of a hash that the table cannot have"
#define FORM_BIP37 "the hash of BIP 37 in another form"
#define FORM_KEYS "a form of a hash for other keys"

/* Hashes without a secret are of strings and fingerprints, and of a public seed. */
static void test_forms(void **state)
{
	enum { PUBLIC = 1, UNSIGNED = 2, QUOTED = 4, HEX = 8, XOR = 16 };
	static const struct {
		struct geometry geometry;
		u32 form;
		u32 key_spec;
		u64 second_word;
	} cases[] = {
		{ { CLASSIC(3, MURMUR3, 7, 3, 0, 3), NULL }, PUBLIC, 32, 0 },
		{ { CLASSIC(3, MURMUR3_FNV1A, 2, 3, 0, 3), NULL },
		  PUBLIC | UNSIGNED | QUOTED,
		  32,
		  0 },
		{ { COUNTING(3, MURMUR3, 7, 3, 0, 15), NULL }, PUBLIC | HEX, 32, 0 },
		{ { CLASSIC(3, BIP37, 7, 3, 0, 3), NULL }, PUBLIC | UNSIGNED | HEX, 32, 0 },
		{ { QUOTIENT(3, 3, 29, 1, 4), NULL }, PUBLIC | UNSIGNED | QUOTED, 32, 0 },
		{ { QUOTIENT(2, 5, 6, 1, 2), NULL }, PUBLIC, 128, 0 },
		{ { CLASSIC(3, MURMUR3, 7, 3, 0, 3), FORM_UNKNOWN }, UNSIGNED, 32, 0 },
		{ { CLASSIC(3, MURMUR3, 7, 3, 0, 3), FORM_UNKNOWN }, PUBLIC | 1u << 31, 32, 0 },
		{ { CLASSIC(3, MURMUR3, 7, 3, 0, 3), FORM_UNKNOWN }, PUBLIC | QUOTED | HEX, 32, 0 },
		{ { CLASSIC(3, KEYED, 7, 3, 0, 3), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { CLASSIC(3, SQUID, 4, 3, 0, 3), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { CLASSIC(0, MURMUR3, 7, 3, 0, 3), FORM_MISFIT }, PUBLIC, 1, 0 },
		{ { CLASSIC(0, MURMUR3, 7, 3, 0, 3), FORM_UNKNOWN }, PUBLIC | UNSIGNED, 1, 0 },
		{ { CLASSIC(3, BIP37, 7, 3, 0, 3), FORM_BIP37 }, 0, 32, 0 },
		{ { CLASSIC(3, BIP37, 7, 3, 0, 3), FORM_BIP37 }, PUBLIC, 32, 0 },
		{ { CLASSIC(3, BIP37, 7, 3, 0, 3), FORM_BIP37 },
		  PUBLIC | UNSIGNED | QUOTED,
		  32,
		  0 },
		{ { CUCKOO(3, 16, 1, 10, 0, 1), NULL }, PUBLIC | UNSIGNED | XOR, 32, 0 },
		{ { CUCKOO(3, 32, 0, 4, 0, 1), NULL }, PUBLIC | UNSIGNED | QUOTED | XOR, 32, 0 },
		{ { CUCKOO(3, 16, 2, 16, 0, 1), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { CUCKOO(3, 16, 2, 16, 0, 1), FORM_MISFIT }, PUBLIC | XOR, 32, 0 },
		{ { CUCKOO(3, 64, 2, 4, 0, 1), FORM_MISFIT }, PUBLIC | UNSIGNED | XOR, 32, 0 },
		{ { CUCKOO(3, 16, 2, 16, 8, 2), FORM_MISFIT }, PUBLIC | UNSIGNED | XOR, 32, 0 },
		{ { CUCKOO(1, 16, 2, 16, 0, 1), FORM_UNKNOWN }, PUBLIC | UNSIGNED | XOR, 1, 0 },
		{ { CLASSIC(3, MURMUR3, 7, 3, 0, 3), FORM_MISFIT },
		  PUBLIC | UNSIGNED | XOR,
		  32,
		  0 },
		{ { QUOTIENT(3, 3, 29, 1, 4), FORM_MISFIT }, PUBLIC | UNSIGNED | XOR, 32, 0 },
		{ { QUOTIENT(3, 3, 30, 1, 5), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { CHAINS(3, COMPACT, 32, 4, 9, 3), NULL }, PUBLIC | UNSIGNED, 32, 0 },
		{ { CHAINS(3, COMPACT, 33, 4, 9, 3), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { CHAINS(3, CHAINED, 64, 4, 9, 4), FORM_MISFIT }, PUBLIC, 32, 0 },
		{ { QUOTIENT(2, 3, 30, 1, 5), FORM_MISFIT }, PUBLIC, 128, 0 },
		{ { QUOTIENT(2, 5, 6, 1, 2), FORM_UNKNOWN }, PUBLIC | QUOTED, 128, 0 },
		{ { QUOTIENT(2, 5, 6, 1, 2), FORM_KEYS }, 0, 128, 0 },
		{ { QUOTIENT(2, 5, 6, 1, 2), FORM_KEYS }, PUBLIC, 12, 0 },
		{ { QUOTIENT(3, 5, 6, 1, 2), FORM_KEYS }, PUBLIC, 31, 0 },
		{ { QUOTIENT(3, 5, 6, 1, 2), "a form of a hash with a secret seed" },
		  PUBLIC,
		  32,
		  1 },
	};
	struct geometry geometry;
	const char *reason;

	for (u32 i = 0; i < N_OF(cases); i++) {
		const char *why = cases[i].geometry.reason ?: "accepted";
		int err = check_form(cases[i].geometry, cases[i].form, cases[i].key_spec,
				     cases[i].second_word, &reason);

		if (err != (cases[i].geometry.reason ? -EINVAL : 0) || strcmp(reason, why))
			fail_msg("case %u: %d, %s instead of %s", i, err, reason, why);
		/* The module and packet programs go by this. */
		geometry = cases[i].geometry;
		geometry.table.form = cases[i].form;
		assert_true(err || baleen_needs_string(&geometry.table, geometry.domain));
	}
}

/* Squid's hash is of its keys, which have others besides. */
static void test_hash_of_md5(void **state)
{
	static const u32 others[] = { BALEEN_KEY_STRING, BALEEN_KEY_FLOW,
				      BALEEN_KEY_SRC | BALEEN_KEY_DST };
	static const struct geometry squid = { CLASSIC(3, SQUID, 4, 3, 0, 3), NULL };
	struct baleen_image image, out;
	u8 bytes[BALEEN_HEADER_BYTES];
	u64 n_bytes = write_header(3, &squid.table, &image, bytes);
	const char *reason = "accepted";

	for (u32 i = 0; i < N_OF(others); i++) {
		image.key_spec = others[i];
		baleen_header_write(&image, bytes);
		assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), -EINVAL);
		assert_string_equal(reason, OTHER_KEYS);
	}
	image.key_spec = BALEEN_KEY_SQUID;
	image.table[3].hash = BALEEN_HASH_KEYED;
	baleen_header_write(&image, bytes);
	assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), 0);
	image.table[3].hash = BALEEN_HASH_MURMUR3;
	baleen_header_write(&image, bytes);
	assert_int_equal(baleen_header_check(bytes, n_bytes, &out, &reason), -EINVAL);
	assert_string_equal(reason, "a hash of bytes for keys of several fields");
}

static void test_accepted_slots(void **state)
{
	static const struct geometry right[] = {
		{ CUCKOO(1, 8, 4, 16, 0, 1) },	{ CUCKOO(1, 12, 4, 10, 0, 1) },
		{ CUCKOO(0, 12, 2, 21, 0, 1) }, { CUCKOO(0, 8, 1, 64, 0, 1) },
		{ CUCKOO(1, 16, 1, 32, 0, 1) }, { CUCKOO(3, 16, 2, 16, 8, 2) },
		{ CUCKOO(2, 64, 1, 8, 1, 2) },	{ CUCKOO(2, 32, 0, 4, 0, 1) },
		{ QUOTIENT(0, 3, 29, 8, 4) },	{ QUOTIENT(1, 1, 63, 2, 9) },
		{ QUOTIENT(2, 7, 2, 100, 2) },	{ QUOTIENT(3, 6, 5, 1, 1) },
	};

	for (u32 i = 0; i < N_OF(right); i++) {
		struct baleen_table table = right[i].table;

		table.log2_buckets = baleen_log2(table.n_buckets);
		assert_table_accepted(right[i].domain, &table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_bits),  cmocka_unit_test(test_accepted_bits),
		cmocka_unit_test(test_refused_slots), cmocka_unit_test(test_accepted_slots),
		cmocka_unit_test(test_hash_of_bytes), cmocka_unit_test(test_hash_of_md5),
		cmocka_unit_test(test_forms),	      cmocka_unit_test(test_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
