/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The image: the byte layout of a filter. Its validator is in image_check.h. (Above 500
 * lines, two thirds of them the description of one format.)
 *
 * The same bytes are the file, the BPF array map and the data section of a
 * self-contained XDP object. Everything is little-endian. The image is a
 * header of 8 blocks, then the blocks of each table in the order of the
 * domains, without gaps:
 *
 *      0  magic "\x89BALEEN\n"                8 bytes
 *      8  version (2)                         u16
 *     10  header_bytes (512)                  u16
 *     12  header_crc                          u32  CRC-32C of the 512 bytes,
 *                                                  this field taken as zero
 *     16  body_crc                            u32  CRC-32C of the rest; 0 live
 *     20  flags                               u32  bit 0: live
 *                                                  bit 1: copies of a key count
 *     24  n_blocks                            u32  header included
 *     28  key_spec                            u32  enum baleen_key_spec
 *     32  n_entries                           u64  sum of the tables; 0 live
 *     40  n_listed                            u64  entries of the lists
 *     48  n_covered                           u64  of them inside another
 *     56  reserved, zero                      8 bytes
 *     64  name                                32 bytes, NUL-padded
 *     96  seed                                12 x u64
 *    192  prefix_lengths                      2 x u64  bit n - 1 of the 128:
 *                                                  /n occurs in IP6_PREFIXES
 *    208  reserved, zero                      48 bytes
 *    256  table[8], one per enum baleen_domain, 32 bytes each:
 *           0 kind (0: no table)  u8      12 n_buckets   u32
 *           1 slot_bits           u8      16 n_entries   u64; 0 live
 *           2 n_hashes            u8      24 extra       u32, of the kind
 *           3 shape, of the kind  u8      28 form        u32, enum baleen_form
 *           4 first_block         u32
 *           8 n_blocks            u32
 *    512  body
 *
 * In a live map the filter changes under the reader, so the body CRC and the
 * counts are zero and the live flag is set; they are filled in on export.
 */
#ifndef BALEEN_IMAGE_H
#define BALEEN_IMAGE_H

#include <baleen/hash.h>

#define BALEEN_MAGIC \
	"\x89"       \
	"BALEEN\n"
#define BALEEN_VERSION 2
#define BALEEN_HEADER_BYTES 512
#define BALEEN_HEADER_BLOCKS (BALEEN_HEADER_BYTES / BALEEN_BLOCK_BYTES)
#define BALEEN_NAME_BYTES 32
#define BALEEN_FLAG_LIVE 1u
#define BALEEN_FLAG_COPIES 2u

/* 2^28 blocks are 16 GiB; block and bucket numbers stay far inside 32 bits. */
#define BALEEN_MAX_BLOCKS (1u << 28)

/* Most buckets of a cuckoo table: the other bucket is computed in 32 bits with a sign. */
#define BALEEN_MAX_BUCKETS (1u << 31)

/**
 * enum baleen_kind - how a table stores its keys
 * @BALEEN_KIND_NONE: the image holds no keys of this domain
 * @BALEEN_KIND_CUCKOO: see cuckoo.h
 * @BALEEN_KIND_BLOOM: see bloom.h
 * @BALEEN_KIND_DIRECTORY: see directory.h
 * @BALEEN_KIND_PREFIXES: see prefixes.h
 * @BALEEN_KIND_ENTRIES: an array of struct baleen_entry6, sorted
 * @BALEEN_KIND_CLASSIC: see classic.h
 * @BALEEN_KIND_COUNTING: see counting.h
 * @BALEEN_KIND_QUOTIENT: see quotient.h
 * @BALEEN_KIND_TREE: see tree.h
 * @BALEEN_KIND_CHAINED: a dictionary, see chained.h; only userspace asks it
 * @BALEEN_KIND_COMPACT: hash compaction, see chained.h; only userspace asks it
 * @BALEEN_N_KINDS: how many
 *
 * A user does not choose DIRECTORY, PREFIXES, ENTRIES and TREE: they come with
 * prefixes, beside a cuckoo or Bloom table of the hosts.
 */
enum baleen_kind {
	BALEEN_KIND_NONE = 0,
	BALEEN_KIND_CUCKOO = 1,
	BALEEN_KIND_BLOOM = 2,
	BALEEN_KIND_DIRECTORY = 3,
	BALEEN_KIND_PREFIXES = 4,
	BALEEN_KIND_ENTRIES = 5,
	BALEEN_KIND_CLASSIC = 6,
	BALEEN_KIND_COUNTING = 7,
	BALEEN_KIND_QUOTIENT = 8,
	BALEEN_KIND_TREE = 9,
	BALEEN_KIND_CHAINED = 10,
	BALEEN_KIND_COMPACT = 11,
	BALEEN_N_KINDS = 12,
};

/**
 * enum baleen_hash - how a classic or counting table makes positions of a key
 * @BALEEN_HASH_BLOCKED: counting only: words and bits as in bloom.h
 * @BALEEN_HASH_KEYED: by the seed of the filter
 * @BALEEN_HASH_MURMUR3: see classic.h; without a secret
 * @BALEEN_HASH_MURMUR3_FNV1A: two positions; without a secret
 * @BALEEN_HASH_SQUID: of keys of BALEEN_KEY_SQUID: four positions, those of Squid's
 *                     cache digests; without a secret
 * @BALEEN_HASH_BIP37: of strings: those of the filters of Bitcoin's light clients, see
 *                     classic.h; without a secret
 * @BALEEN_N_HASHES: how many
 */
enum baleen_hash {
	BALEEN_HASH_BLOCKED = 0,
	BALEEN_HASH_KEYED = 1,
	BALEEN_HASH_MURMUR3 = 2,
	BALEEN_HASH_MURMUR3_FNV1A = 3,
	BALEEN_HASH_SQUID = 4,
	BALEEN_HASH_BIP37 = 5,
	BALEEN_N_HASHES = 6,
};

/**
 * enum baleen_form - how a table hashes texts without a secret; combined by |
 * @BALEEN_FORM_PUBLIC: the seed of the image is public, see &struct baleen_seed; of a
 *                      classic or counting table only the hash starts from it
 * @BALEEN_FORM_UNSIGNED: the hash is taken modulo m as an unsigned number
 * @BALEEN_FORM_QUOTED: MurmurHash3 is of the text in single quotes
 * @BALEEN_FORM_HEX: the text is the hexadecimal digits of what is hashed
 * @BALEEN_FORM_XOR: cuckoo: buckets and fingerprints as in the paper, see slots.h; keys
 *                   may be lost where the number of buckets is no power of two
 *
 * The keys are strings, or fingerprints, which are their own hash. Only userspace asks
 * such tables: see text_hash.h.
 */
enum baleen_form {
	BALEEN_FORM_PUBLIC = 1,
	BALEEN_FORM_UNSIGNED = 2,
	BALEEN_FORM_QUOTED = 4,
	BALEEN_FORM_HEX = 8,
	BALEEN_FORM_XOR = 16,
};

/* Bits of a hash of texts: fingerprints are not longer. */
#define BALEEN_FORM_BITS 32

/* Positions of a key in a classic or counting table at the most. */
#define BALEEN_MAX_POSITIONS 32

/* Slots of the stash of a cuckoo table: one block. */
#define BALEEN_STASH_SLOTS BALEEN_BLOCK_WORDS

/* Bits of metadata beside a remainder; the shape of a quotient table. */
#define BALEEN_QUOTIENT_META 3

/* Blocks of counters for each block of bits, four bits a bit. */
#define BALEEN_COUNTER_BITS 4

/* Groups in a line of a directory, and the widest and narrowest groups. */
#define BALEEN_LINE_GROUPS 192
#define BALEEN_MIN_GROUP_BITS 8
#define BALEEN_MAX_GROUP_BITS 24

/* Room for the search tree of prefix lengths: seven levels, node 0 unused. */
#define BALEEN_LENGTH_NODES 128

/**
 * struct baleen_entry6 - one IPv6 entry as it was listed
 * @hi_le: upper half of the address, bits below the length zero
 * @lo_le: lower half
 * @length: length of the prefix, 0 to 128
 * @is_exception: keys that it covers are not in the set
 * @reserved: zero
 *
 * Sorted by address, then length; no two with the same address and length.
 */
struct baleen_entry6 {
	u64 hi_le;
	u64 lo_le;
	u8 length;
	u8 is_exception;
	u8 reserved[6];
};

_Static_assert(sizeof(struct baleen_entry6) == 24, "entry layout");

struct baleen_image_table {
	u8 kind;
	u8 slot_bits;
	u8 n_hashes;
	u8 shape;
	u32 first_block_le;
	u32 n_blocks_le;
	u32 n_buckets_le;
	u64 n_entries_le;
	u32 extra_le;
	u32 form_le;
};

struct baleen_image_header {
	u8 magic[8];
	u16 version_le;
	u16 header_bytes_le;
	u32 header_crc_le;
	u32 body_crc_le;
	u32 flags_le;
	u32 n_blocks_le;
	u32 key_spec_le;
	u64 n_entries_le;
	u64 n_listed_le;
	u64 n_covered_le;
	u64 reserved0;
	char name[BALEEN_NAME_BYTES];
	u64 seed_le[BALEEN_SEED_WORDS];
	u64 prefix_lengths_le[2];
	u8 reserved1[48];
	struct baleen_image_table table[BALEEN_N_DOMAINS];
};

_Static_assert(sizeof(struct baleen_image_table) == 32, "table layout");
_Static_assert(sizeof(struct baleen_image_header) == BALEEN_HEADER_BYTES, "header layout");

/**
 * struct baleen_table - one table of an image, checked and in host order
 * @kind: enum baleen_kind; BALEEN_KIND_NONE when the domain has no table
 * @slot_bits: cuckoo: 8, 12, 16, 32 or 64, packed 4 to 32; prefixes: 64; quotient:
 *             bits of a remainder, 1 to 63; chained, compact: bits of a value, 1 to 64;
 *             else 0
 * @n_hashes: bits set per key; Bloom and blocked counting: 2, 4, 6 or 8;
 *            classic and other counting: 1 to BALEEN_MAX_POSITIONS; else 0
 * @log2_buckets: cuckoo, prefixes: floor(log2(@n_buckets)); quotient: bits of a
 *                quotient, 1 to 31; else 0
 * @group_bits: directory, tree: bits of a group's number, 8 to 24
 * @bucket_slots: cuckoo: slots of a bucket: 1 or 2; 4 is 0 in slots of 16 bits
 *                and more, and 4 in narrower ones; packed: 1 to 4, and
 *                BALEEN_PACKED; semi-sorted: 4, and BALEEN_SEMI_SORTED, too. See
 *                baleen_bucket_slots()
 * @hash: classic, counting: enum baleen_hash
 * @shape: the same byte, whatever the kind calls it; quotient:
 *         BALEEN_QUOTIENT_META; else 0
 * @leaf_block: directory, tree: index of its first block of leaves, of nodes in the image
 * @n_stash: cuckoo: slots of the stash, in use or not, 0 to BALEEN_STASH_SLOTS.
 *           When there are any, the last block of the table is the stash
 * @longest_cluster: quotient: slots of the longest cluster
 * @n_spare_bits: classic, counting: bits of the last block of the bit plane
 *                that are no positions, 0 to 511
 * @n_room: chained, compact: entries that there is room for, 1 or more
 * @extra: the same word, whatever the kind calls it; else 0
 * @first_block: index of the table's first block in the image
 * @n_blocks: blocks of the table, at least 1
 * @n_buckets: cuckoo, prefixes, chained, compact: buckets; Bloom, classic, counting: blocks of
 *             the bit plane; quotient: slots, 2^@log2_buckets; directory:
 *             leaves; tree: blocks behind its first index; entries: how many
 * @form: enum baleen_form; 0 where keys are hashed as packets have them
 * @n_entries: keys stored; 0 in a live image. Directory of groups: prefixes that
 *             make up the set without the hosts; entries: entries. The tables
 *             that serve another (stems and prefixes) have 0
 *
 * Where @shape and @extra are zero the table is plain: it is one of those that
 * the packet path is tuned for (see probe.h).
 */
struct baleen_table {
	u32 kind;
	u32 slot_bits;
	u32 n_hashes;
	u32 log2_buckets;
	union {
		u32 shape;
		u32 group_bits;
		u32 bucket_slots;
		u32 hash;
	};
	union {
		u32 extra;
		u32 leaf_block;
		u32 n_stash;
		u32 longest_cluster;
		u32 n_spare_bits;
		u32 n_room;
	};
	u32 first_block;
	u32 n_blocks;
	u32 n_buckets;
	u32 form;
	u64 n_entries;
};

/**
 * struct baleen_image - the header of an image, checked and in host order
 * @n_blocks: blocks of the whole image, header included
 * @key_spec: enum baleen_key_spec
 * @flags: BALEEN_FLAG_LIVE, BALEEN_FLAG_COPIES or both
 * @body_crc: CRC-32C of the body; 0 in a live image
 * @n_entries: keys stored in all tables; 0 in a live image
 * @n_listed: entries of the lists it was built of; 0 when not known
 * @n_covered: those of them that another makes superfluous: duplicates, hosts
 *             and prefixes inside wider ones
 * @prefix_lengths: bit n - 1 of the 128 is set when the table of IPv6 prefixes
 *                  holds prefixes or markers of length n
 * @seed: keys the hashes
 * @table: one per enum baleen_domain
 * @length_tree: the lengths of @prefix_lengths as a balanced search tree: the
 *               root is node 1, node n has the children 2n (shorter) and 2n + 1
 *               (longer); 0 where there is no node
 * @name: for people; NUL-terminated, printable ASCII, may be empty
 */
struct baleen_image {
	u32 n_blocks;
	u32 key_spec;
	u32 flags;
	u32 body_crc;
	u64 n_entries;
	u64 n_listed;
	u64 n_covered;
	u64 prefix_lengths[2];
	struct baleen_seed seed;
	struct baleen_table table[BALEEN_N_DOMAINS];
	u8 length_tree[BALEEN_LENGTH_NODES];
	char name[BALEEN_NAME_BYTES];
};

/**
 * baleen_kind_name() - a kind as it is typed and shown
 * @kind: enum baleen_kind
 *
 * Context: any but BPF.
 * Return: its name; "none" of BALEEN_KIND_NONE and of a number that is no kind.
 */
static inline __attribute__((unused)) const char *baleen_kind_name(u32 kind)
{
	switch (kind) {
	case BALEEN_KIND_CUCKOO: return "cuckoo";
	case BALEEN_KIND_BLOOM: return "bloom";
	case BALEEN_KIND_DIRECTORY: return "directory";
	case BALEEN_KIND_PREFIXES: return "prefixes";
	case BALEEN_KIND_ENTRIES: return "entries";
	case BALEEN_KIND_CLASSIC: return "classic";
	case BALEEN_KIND_COUNTING: return "counting";
	case BALEEN_KIND_QUOTIENT: return "quotient";
	case BALEEN_KIND_TREE: return "tree";
	case BALEEN_KIND_CHAINED: return "chained";
	case BALEEN_KIND_COMPACT: return "compact";
	default: return "none";
	}
}

/**
 * baleen_hash_name() - a way of hashing as it is typed and shown
 * @hash: enum baleen_hash
 *
 * Context: any but BPF.
 * Return: its name; "none" of a number that is no way.
 */
static inline __attribute__((unused)) const char *baleen_hash_name(u32 hash)
{
	switch (hash) {
	case BALEEN_HASH_BLOCKED: return "blocked";
	case BALEEN_HASH_KEYED: return "keyed";
	case BALEEN_HASH_MURMUR3: return "murmur3";
	case BALEEN_HASH_MURMUR3_FNV1A: return "murmur3-fnv1a";
	case BALEEN_HASH_SQUID: return "squid";
	case BALEEN_HASH_BIP37: return "bip37";
	default: return "none";
	}
}

/**
 * baleen_log2() - floor of the binary logarithm
 * @x: at least 1
 *
 * Context: any.
 * Return: the position of the highest bit set.
 */
baleen_inline u32 baleen_log2(u32 x)
{
	u32 log2 = 0;

	for (int shift = 16; shift; shift >>= 1) {
		if (x >> shift) {
			x >>= shift;
			log2 += shift;
		}
	}
	return log2;
}

/**
 * baleen_directory_lines() - lines of the groups of a directory
 * @group_bits: 8 to 24
 *
 * Context: any.
 * Return: how many blocks.
 */
baleen_inline u32 baleen_directory_lines(u32 group_bits)
{
	return ((1u << group_bits) - 1) / BALEEN_LINE_GROUPS + 1;
}

/**
 * baleen_leaf_width() - bits per number in the leaves of a directory
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 *
 * Context: any.
 * Return: 1 or 2.
 */
baleen_inline u32 baleen_leaf_width(u32 domain)
{
	return domain == BALEEN_IP6_STEMS ? 2 : 1;
}

/**
 * baleen_tree_lines() - lines of an index of a tree
 * @bits: bits that choose an entry, at least 4
 *
 * Context: any.
 * Return: how many blocks.
 */
baleen_inline u32 baleen_tree_lines(u32 bits)
{
	return 1u << (bits - 4);
}

/**
 * baleen_table_leaf_block() - the block behind the lines of groups of a table
 * @table: kind and geometry are set, its place too
 *
 * Context: any.
 * Return: the number of a block of the image; 0 of a table without groups.
 */
baleen_inline u32 baleen_table_leaf_block(const struct baleen_table *table)
{
	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY:
		return table->first_block + baleen_directory_lines(table->group_bits);
	case BALEEN_KIND_TREE: return table->first_block + baleen_tree_lines(table->group_bits);
	default: return 0;
	}
}

/**
 * baleen_table_has_groups() - has a table lines of groups, and what they lead to behind them?
 * @table: the table
 *
 * Context: any.
 * Return: true of a directory and of a tree.
 */
baleen_inline bool baleen_table_has_groups(const struct baleen_table *table)
{
	return table->kind == BALEEN_KIND_DIRECTORY || table->kind == BALEEN_KIND_TREE;
}

/**
 * baleen_directory_blocks() - blocks of a directory
 * @domain: BALEEN_IP4_GROUPS or BALEEN_IP6_STEMS
 * @group_bits: 8 to 24
 * @n_leaves: at most 2^@group_bits
 *
 * Context: any.
 * Return: how many, leaves included.
 */
baleen_inline u64 baleen_directory_blocks(u32 domain, u32 group_bits, u64 n_leaves)
{
	u64 bits = (n_leaves << (32 - group_bits)) * baleen_leaf_width(domain);

	return baleen_directory_lines(group_bits) + (bits + 511) / 512;
}

/**
 * baleen_key_bits() - bits of a hashed or permuted key of a domain
 * @domain: enum baleen_domain
 *
 * Context: any.
 * Return: 32 for IPv4, which is permuted; 64 for what is hashed first.
 */
baleen_inline u32 baleen_key_bits(u32 domain)
{
	return domain == BALEEN_IP4 ? 32 : 64;
}

/* Slots of a bucket where the table is plain; others: baleen_bucket_slots(). */
#define BALEEN_BUCKET_SLOTS 4

/* A bit of the shape of a cuckoo table: its buckets are packed, see packed.h. */
#define BALEEN_PACKED 8u

/* Another bit of it, with BALEEN_PACKED: the four slots of a bucket are sorted, see semi.h. */
#define BALEEN_SEMI_SORTED 16u

/* Widths of the slots that are packed; semi-sorted ones have one bit more at least. */
#define BALEEN_MIN_PACKED_BITS 4
#define BALEEN_MAX_PACKED_BITS 32

/* Bits behind the last of packed buckets, which a load may take along. */
#define BALEEN_PACKED_MARGIN 128

/**
 * baleen_bucket_slots() - slots of a bucket
 * @table: a cuckoo table or one of prefixes
 *
 * Context: any, BPF-safe.
 * Return: 1, 2 or 4; of packed buckets also 3.
 */
baleen_inline u32 baleen_bucket_slots(const struct baleen_table *table)
{
	u32 slots = table->bucket_slots & (BALEEN_PACKED - 1);

	return slots ? slots : BALEEN_BUCKET_SLOTS;
}

/**
 * baleen_table_is_packed() - are the buckets of a cuckoo table packed?
 * @table: a cuckoo table or one of prefixes
 *
 * Context: any, BPF-safe.
 * Return: true or false.
 */
baleen_inline bool baleen_table_is_packed(const struct baleen_table *table)
{
	return table->bucket_slots & BALEEN_PACKED;
}

/**
 * baleen_table_is_semi_sorted() - are the buckets of a cuckoo table semi-sorted?
 * @table: a cuckoo table or one of prefixes
 *
 * Context: any, BPF-safe.
 * Return: true or false; true of packed buckets only.
 */
baleen_inline bool baleen_table_is_semi_sorted(const struct baleen_table *table)
{
	return table->bucket_slots & BALEEN_SEMI_SORTED;
}

/* Bits of a bucket: of semi-sorted slots each takes one less. */
baleen_inline u32 baleen_bucket_bits(const struct baleen_table *table)
{
	u32 slot_bits = table->slot_bits - baleen_table_is_semi_sorted(table);

	return baleen_bucket_slots(table) * slot_bits;
}

/**
 * baleen_table_changes_live() - can the slots of a cuckoo table change under readers?
 * @table: a cuckoo table or one of prefixes
 *
 * Context: any.
 * Return: false where buckets are semi-sorted and not one aligned piece of a word each: no
 * single store changes them.
 */
baleen_inline bool baleen_table_changes_live(const struct baleen_table *table)
{
	u32 n_bits = baleen_bucket_bits(table);

	return !baleen_table_is_semi_sorted(table) || n_bits == 16 || n_bits == 32 || n_bits == 64;
}

/**
 * baleen_table_has_fingerprints() - do slots hold a fingerprint and nothing else?
 * @table: a cuckoo table or one of prefixes
 *
 * Context: any, BPF-safe.
 * Return: true of packed slots, of those of less than 16 bits, and of those of which the
 * other bucket is by XOR.
 */
baleen_inline bool baleen_table_has_fingerprints(const struct baleen_table *table)
{
	return table->slot_bits < 16 || table->form || baleen_table_is_packed(table);
}

/**
 * baleen_cuckoo_per_block() - buckets in one block, where they are not packed
 * @table: a cuckoo table or one of prefixes
 *
 * A bucket is never in two blocks: of slots of 12 bits 32 or 8 bits are left
 * over at the end of each.
 *
 * Context: any.
 * Return: 2 to 64.
 */
baleen_inline u32 baleen_cuckoo_per_block(const struct baleen_table *table)
{
	return BALEEN_BLOCK_BYTES * 8 / (baleen_bucket_slots(table) * table->slot_bits);
}

/* Blocks of the buckets of a table, without the stash. */
baleen_inline u64 baleen_bucket_blocks(const struct baleen_table *table)
{
	u64 n = table->n_buckets;

	if (!baleen_table_is_packed(table))
		return (n - 1) / baleen_cuckoo_per_block(table) + 1;
	return (n * baleen_bucket_bits(table) + BALEEN_PACKED_MARGIN - 1) / 512 + 1;
}

/**
 * baleen_kind_has_chains() - does a kind store values in chains?
 * @kind: enum baleen_kind
 *
 * Context: any.
 * Return: true of a dictionary and of hash compaction, which no packet asks.
 */
baleen_inline bool baleen_kind_has_chains(u32 kind)
{
	return kind == BALEEN_KIND_CHAINED || kind == BALEEN_KIND_COMPACT;
}

/**
 * baleen_table_bits() - positions of a bit plane
 * @table: a Bloom, classic or counting table
 *
 * Context: any, BPF-safe.
 * Return: m of the textbooks.
 */
baleen_inline u64 baleen_table_bits(const struct baleen_table *table)
{
	return ((u64)table->n_buckets << 9) - table->n_spare_bits;
}

/**
 * baleen_table_blocks() - blocks that a table of this geometry takes
 * @table: kind and geometry are set; not a directory nor entries
 *
 * Context: any but BPF.
 * Return: how many.
 */
baleen_inline u64 baleen_table_blocks(const struct baleen_table *table)
{
	u64 n = table->n_buckets, n_words;

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO: return baleen_bucket_blocks(table) + !!table->n_stash;
	case BALEEN_KIND_PREFIXES: return baleen_bucket_blocks(table);
	case BALEEN_KIND_COUNTING: return n * (1 + BALEEN_COUNTER_BITS);
	case BALEEN_KIND_QUOTIENT:
		n_words = ((n - 1) / 64 + 1) * (BALEEN_QUOTIENT_META + table->slot_bits);
		return (n_words - 1) / BALEEN_BLOCK_WORDS + 1;
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT:
		return (n - 1) / 16 + 1 + ((u64)table->n_room - 1) / 16 + 1 +
		       ((u64)table->n_room * table->slot_bits - 1) / 512 + 1;
	default: return n;
	}
}

/**
 * baleen_table_loses_keys() - may a key that was added not be found?
 * @table: the table
 *
 * Context: any.
 * Return: true where the other bucket of the other bucket need not be the first.
 */
baleen_inline bool baleen_table_loses_keys(const struct baleen_table *table)
{
	return table->form & BALEEN_FORM_XOR && table->n_buckets & (table->n_buckets - 1);
}

/**
 * baleen_table_keeps_hashes() - can keys move to a table of another geometry?
 * @table: the table
 * @domain: its domain
 *
 * Context: any.
 * Return: true for a cuckoo table whose slots keep all of a hash or of an address, and for a
 * dictionary.
 */
baleen_inline bool baleen_table_keeps_hashes(const struct baleen_table *table, u32 domain)
{
	if (table->kind == BALEEN_KIND_CHAINED)
		return true;
	return table->kind == BALEEN_KIND_CUCKOO && !baleen_table_has_fingerprints(table) &&
	       (table->slot_bits == 64 || domain == BALEEN_IP4);
}

/**
 * baleen_table_tells_apart() - is each slot that of one key?
 * @table: a cuckoo or quotient table, or one of chains
 * @domain: its domain
 *
 * Context: any.
 * Return: true when slots keep all of a hash or of an address, so that deleting a
 * key takes no other with it.
 */
baleen_inline bool baleen_table_tells_apart(const struct baleen_table *table, u32 domain)
{
	if (table->kind == BALEEN_KIND_QUOTIENT)
		return table->log2_buckets + table->slot_bits == baleen_key_bits(domain);
	if (table->kind == BALEEN_KIND_COMPACT)
		return table->slot_bits == baleen_key_bits(domain);
	return baleen_table_keeps_hashes(table, domain);
}

/**
 * baleen_block_shift() - binary logarithm of the cuckoo buckets in a block
 * @slot_bits: 16, 32 or 64
 *
 * Shifts, not divisions: the verifier does not follow a division, and the
 * program would pay for it on every packet.
 *
 * Context: any, BPF-safe.
 * Return: 3, 2 or 1.
 */
baleen_inline u32 baleen_block_shift(u32 slot_bits)
{
	return 3 - (slot_bits >> 5);
}

/**
 * baleen_buckets_per_block() - cuckoo buckets in one 64-byte block
 * @slot_bits: 16, 32 or 64
 *
 * Context: any, BPF-safe.
 * Return: 8, 4 or 2.
 */
baleen_inline u32 baleen_buckets_per_block(u32 slot_bits)
{
	return 1u << baleen_block_shift(slot_bits);
}

#endif /* BALEEN_IMAGE_H */
