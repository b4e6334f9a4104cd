/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The image: the byte layout of a filter. Its validator is in image_check.h.
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
 *           2 n_hashes            u8      24 reserved    8 bytes
 *           3 group_bits          u8
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

/* 2^28 blocks are 16 GiB; block and bucket numbers stay far inside 32 bits. */
#define BALEEN_MAX_BLOCKS (1u << 28)

/**
 * enum baleen_kind - how a table stores its keys
 * @BALEEN_KIND_NONE: the image holds no keys of this domain
 * @BALEEN_KIND_CUCKOO: see cuckoo.h
 * @BALEEN_KIND_BLOOM: see bloom.h
 * @BALEEN_KIND_DIRECTORY: see directory.h
 * @BALEEN_KIND_PREFIXES: see prefixes.h
 * @BALEEN_KIND_ENTRIES: an array of struct baleen_entry6, sorted
 *
 * A user chooses between cuckoo and Bloom; the others come with prefixes.
 */
enum baleen_kind {
	BALEEN_KIND_NONE = 0,
	BALEEN_KIND_CUCKOO = 1,
	BALEEN_KIND_BLOOM = 2,
	BALEEN_KIND_DIRECTORY = 3,
	BALEEN_KIND_PREFIXES = 4,
	BALEEN_KIND_ENTRIES = 5,
};

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
 * @length: of the prefix, 0 to 128
 * @is_exception: what it covers is not in the set
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
	u8 group_bits;
	u32 first_block_le;
	u32 n_blocks_le;
	u32 n_buckets_le;
	u64 n_entries_le;
	u64 reserved;
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
 * @slot_bits: cuckoo: 16, 32 or 64; prefixes: 64; else 0
 * @n_hashes: Bloom: bits set per key, 2, 4, 6 or 8; else 0
 * @log2_buckets: cuckoo, prefixes: floor(log2(@n_buckets)); else 0
 * @group_bits: directory: bits of a group's number, 8 to 24; else 0
 * @leaf_block: directory: index of its first block of leaves in the image
 * @first_block: index of the table's first block in the image
 * @n_blocks: blocks of the table, at least 1
 * @n_buckets: cuckoo, prefixes: buckets of four slots; Bloom: same as
 *             @n_blocks; directory: leaves; entries: how many
 * @reserved: zero
 * @n_entries: keys stored; 0 in a live image. Cuckoo and Bloom: keys;
 *             directory of groups: prefixes that make up the set without the
 *             hosts; entries: entries. The tables that serve another (stems
 *             and prefixes) have 0
 */
struct baleen_table {
	u32 kind;
	u32 slot_bits;
	u32 n_hashes;
	u32 log2_buckets;
	u32 group_bits;
	u32 leaf_block;
	u32 first_block;
	u32 n_blocks;
	u32 n_buckets;
	u32 reserved;
	u64 n_entries;
};

/**
 * struct baleen_image - the header of an image, checked and in host order
 * @n_blocks: blocks of the whole image, header included
 * @key_spec: enum baleen_key_spec
 * @flags: BALEEN_FLAG_LIVE or 0
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

#define BALEEN_BUCKET_SLOTS 4

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
