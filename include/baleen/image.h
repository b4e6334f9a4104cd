/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The image: the byte layout of a filter and the one validator of it.
 *
 * The same bytes are the file, the BPF array map and the data section of a
 * self-contained XDP object. Everything is little-endian. The image is a
 * header of 8 blocks, then the blocks of each table in the order of the
 * domains, without gaps:
 *
 *      0  magic "\x89BALEEN\n"                8 bytes
 *      8  version (1)                         u16
 *     10  header_bytes (512)                  u16
 *     12  header_crc                          u32  CRC-32C of the 512 bytes,
 *                                                  this field taken as zero
 *     16  body_crc                            u32  CRC-32C of the rest; 0 live
 *     20  flags                               u32  bit 0: live
 *     24  n_blocks                            u32  header included
 *     28  key_spec                            u32  enum baleen_key_spec
 *     32  n_entries                           u64  sum of the tables; 0 live
 *     40  reserved, zero                      24 bytes
 *     64  name                                32 bytes, NUL-padded
 *     96  seed                                12 x u64
 *    192  reserved, zero                      64 bytes
 *    256  table[8], one per enum baleen_domain, 32 bytes each:
 *           0 kind (0: no table)  u8      12 n_buckets   u32
 *           1 slot_bits           u8      16 n_entries   u64; 0 live
 *           2 n_hashes            u8      24 reserved    8 bytes
 *           3 reserved            u8
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
#define BALEEN_VERSION 1
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
 */
enum baleen_kind {
	BALEEN_KIND_NONE = 0,
	BALEEN_KIND_CUCKOO = 1,
	BALEEN_KIND_BLOOM = 2,
};

struct baleen_image_table {
	u8 kind;
	u8 slot_bits;
	u8 n_hashes;
	u8 reserved0;
	u32 first_block_le;
	u32 n_blocks_le;
	u32 n_buckets_le;
	u64 n_entries_le;
	u64 reserved1;
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
	u8 reserved0[24];
	char name[BALEEN_NAME_BYTES];
	u64 seed_le[BALEEN_SEED_WORDS];
	u8 reserved1[64];
	struct baleen_image_table table[BALEEN_N_DOMAINS];
};

_Static_assert(sizeof(struct baleen_image_table) == 32, "table layout");
_Static_assert(sizeof(struct baleen_image_header) == BALEEN_HEADER_BYTES, "header layout");

/**
 * struct baleen_table - one table of an image, checked and in host order
 * @kind: enum baleen_kind; BALEEN_KIND_NONE when the domain has no table
 * @slot_bits: cuckoo: 16, 32 or 64; else 0
 * @n_hashes: Bloom: bits set per key, 2, 4, 6 or 8; else 0
 * @log2_buckets: floor(log2(@n_buckets))
 * @first_block: index of the table's first block in the image
 * @n_blocks: blocks of the table, at least 1
 * @n_buckets: cuckoo: buckets of four slots; Bloom: same as @n_blocks
 * @reserved: zero
 * @n_entries: keys stored; 0 in a live image
 */
struct baleen_table {
	u32 kind;
	u32 slot_bits;
	u32 n_hashes;
	u32 log2_buckets;
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
 * @seed: keys the hashes
 * @table: one per enum baleen_domain
 * @name: for people; NUL-terminated, printable ASCII, may be empty
 */
struct baleen_image {
	u32 n_blocks;
	u32 key_spec;
	u32 flags;
	u32 body_crc;
	u64 n_entries;
	struct baleen_seed seed;
	struct baleen_table table[BALEEN_N_DOMAINS];
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

#ifndef __bpf__
/* What makes a table of a known kind usable: nothing here reads the body. */
static inline const char *baleen_table_check(const struct baleen_table *table, u32 domain)
{
	u32 log2_buckets = table->log2_buckets;
	u32 per_block;

	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		if (table->n_hashes)
			return "a cuckoo table with a number of hashes";
		if (table->slot_bits != 16 && table->slot_bits != 32 && table->slot_bits != 64)
			return "slot width is not 16, 32 or 64 bits";
		if (domain == BALEEN_IP4 && table->slot_bits == 64)
			return "64-bit slots for a 32-bit key";
		if (domain == BALEEN_IP6 && table->slot_bits == 32)
			return "32-bit slots for a hashed key";
		if (domain == BALEEN_IP4 &&
		    log2_buckets + table->slot_bits - 2 < baleen_key_bits(domain))
			return "slots too narrow for an exact table";
		if (table->slot_bits == 64 && log2_buckets < 2)
			return "fewer than 4 buckets of 64-bit slots";
		per_block = baleen_buckets_per_block(table->slot_bits);
		if ((table->n_buckets - 1) / per_block + 1 != table->n_blocks)
			return "number of buckets and blocks disagree";
		if (table->n_entries > (u64)table->n_buckets * BALEEN_BUCKET_SLOTS)
			return "more entries than slots";
		return NULL;
	case BALEEN_KIND_BLOOM:
		if (table->slot_bits)
			return "a Bloom table with slots";
		if (table->n_hashes < 2 || table->n_hashes > 8 || table->n_hashes % 2)
			return "number of hashes is not 2, 4, 6 or 8";
		if (table->n_buckets != table->n_blocks)
			return "number of buckets and blocks disagree";
		return NULL;
	default: return "unknown kind";
	}
}

/* Decodes and checks the table descriptors; on success *next is n_blocks. */
static inline const char *baleen_image_check_tables(const struct baleen_image_header *header,
						    struct baleen_image *image)
{
	u64 next = BALEEN_HEADER_BLOCKS, n_entries = 0;
	u32 n_tables = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_image_table *raw = &header->table[domain];
		struct baleen_table *table = &image->table[domain];
		const char *reason;

		if (raw->reserved0 || raw->reserved1)
			return "reserved bytes of a table are not zero";
		table->kind = raw->kind;
		table->slot_bits = raw->slot_bits;
		table->n_hashes = raw->n_hashes;
		table->first_block = baleen_le32(raw->first_block_le);
		table->n_blocks = baleen_le32(raw->n_blocks_le);
		table->n_buckets = baleen_le32(raw->n_buckets_le);
		table->n_entries = baleen_le64(raw->n_entries_le);
		if (table->kind == BALEEN_KIND_NONE) {
			if (table->slot_bits || table->n_hashes || table->first_block ||
			    table->n_blocks || table->n_buckets || table->n_entries)
				return "an absent table with a geometry";
			continue;
		}
		if (domain != BALEEN_IP4 && domain != BALEEN_IP6)
			return "a table of an unknown domain";
		if (table->first_block != next)
			return "tables overlap or leave a gap";
		if (!table->n_blocks || table->n_blocks > BALEEN_MAX_BLOCKS || !table->n_buckets)
			return "an empty or oversized table";
		table->log2_buckets = baleen_log2(table->n_buckets);
		reason = baleen_table_check(table, domain);
		if (reason)
			return reason;
		if (n_entries + table->n_entries < n_entries)
			return "number of entries overflows";
		next += table->n_blocks;
		n_entries += table->n_entries;
		n_tables++;
	}
	if (!n_tables)
		return "no table";
	if (next != image->n_blocks)
		return "tables and size disagree";
	if (n_entries != image->n_entries)
		return "numbers of entries disagree";
	return NULL;
}

static inline const char *baleen_image_check_name(const char *name)
{
	u32 i = 0;

	while (i < BALEEN_NAME_BYTES && name[i]) {
		if (name[i] < ' ' || name[i] > '~')
			return "name is not printable";
		i++;
	}
	if (i == BALEEN_NAME_BYTES)
		return "name is not terminated";
	for (; i < BALEEN_NAME_BYTES; i++)
		if (name[i])
			return "bytes after the end of the name";
	return NULL;
}

static inline bool baleen_is_zero(const u8 *bytes, u32 n_bytes)
{
	u8 all = 0;

	for (u32 i = 0; i < n_bytes; i++)
		all |= bytes[i];
	return !all;
}

/**
 * baleen_header_check() - validate the header of an image of any origin
 * @bytes: BALEEN_HEADER_BYTES bytes, at any alignment
 * @total_bytes: size of the whole image, header included
 * @out: the decoded header; untouched on failure
 * @reason: why the image was refused; untouched on success
 *
 * Checks everything but the body CRC, in a time that does not depend on the
 * size of the image. After it every block number that a probe computes is
 * inside the image.
 *
 * Context: any but BPF.
 * Return: 0, or -EINVAL with a reason.
 */
static inline int baleen_header_check(const void *bytes, u64 total_bytes, struct baleen_image *out,
				      const char **reason)
{
	struct baleen_image_header header;
	struct baleen_image image;
	const char *why = NULL;
	u32 header_crc;

	memcpy(&header, bytes, sizeof(header));
	memset(&image, 0, sizeof(image));
	header_crc = baleen_le32(header.header_crc_le);
	header.header_crc_le = 0;
	image.n_blocks = baleen_le32(header.n_blocks_le);
	image.key_spec = baleen_le32(header.key_spec_le);
	image.flags = baleen_le32(header.flags_le);
	image.body_crc = baleen_le32(header.body_crc_le);
	image.n_entries = baleen_le64(header.n_entries_le);
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image.seed.word[i] = baleen_le64(header.seed_le[i]);
	memcpy(image.name, header.name, sizeof(image.name));

	if (memcmp(header.magic, BALEEN_MAGIC, sizeof(header.magic)))
		why = "not a Baleen image";
	else if (baleen_le16(header.version_le) != BALEEN_VERSION)
		why = "image of an unknown version";
	else if (baleen_le16(header.header_bytes_le) != BALEEN_HEADER_BYTES)
		why = "header of an unknown size";
	else if (baleen_crc32c(0, &header, sizeof(header)) != header_crc)
		why = "header checksum does not match: damaged";
	else if ((u64)image.n_blocks * BALEEN_BLOCK_BYTES > total_bytes)
		why = "truncated";
	else if ((u64)image.n_blocks * BALEEN_BLOCK_BYTES < total_bytes)
		why = "longer than its header says";
	else if (image.n_blocks > BALEEN_MAX_BLOCKS)
		why = "too large";
	else if (image.flags & ~BALEEN_FLAG_LIVE)
		why = "unknown flags";
	else if ((image.flags & BALEEN_FLAG_LIVE) && (image.body_crc || image.n_entries))
		why = "a live image with a checksum or a count";
	else if (image.key_spec != BALEEN_KEY_SRC && image.key_spec != BALEEN_KEY_DST)
		why = "unknown key";
	else if (!baleen_is_zero(header.reserved0, sizeof(header.reserved0)) ||
		 !baleen_is_zero(header.reserved1, sizeof(header.reserved1)))
		why = "reserved bytes are not zero";
	else
		why = baleen_image_check_name(header.name);
	if (!why)
		why = baleen_image_check_tables(&header, &image);
	if (why) {
		*reason = why;
		return -EINVAL;
	}
	*out = image;
	return 0;
}

/**
 * baleen_image_check() - validate a whole image, header and body
 * @bytes: the image
 * @total_bytes: its size
 * @out: the decoded header; untouched on failure
 * @reason: why the image was refused; untouched on success
 *
 * A live image is accepted without a body CRC.
 *
 * Context: any but BPF; reads every byte once.
 * Return: 0, or -EINVAL with a reason.
 */
static inline int baleen_image_check(const void *bytes, u64 total_bytes, struct baleen_image *out,
				     const char **reason)
{
	struct baleen_image image;
	int err;

	if (total_bytes < BALEEN_HEADER_BYTES) {
		*reason = "shorter than a header";
		return -EINVAL;
	}
	err = baleen_header_check(bytes, total_bytes, &image, reason);
	if (err)
		return err;
	if (!(image.flags & BALEEN_FLAG_LIVE) &&
	    baleen_crc32c(0, (const u8 *)bytes + BALEEN_HEADER_BYTES,
			  total_bytes - BALEEN_HEADER_BYTES) != image.body_crc) {
		*reason = "body checksum does not match: damaged";
		return -EINVAL;
	}
	*out = image;
	return 0;
}

/**
 * baleen_header_write() - encode a header, its CRC included
 * @image: the decoded header, with a body CRC that fits the body
 * @out: BALEEN_HEADER_BYTES bytes
 *
 * Context: any but BPF.
 */
static inline void baleen_header_write(const struct baleen_image *image, void *out)
{
	struct baleen_image_header header;

	memset(&header, 0, sizeof(header));
	memcpy(header.magic, BALEEN_MAGIC, sizeof(header.magic));
	header.version_le = baleen_le16(BALEEN_VERSION);
	header.header_bytes_le = baleen_le16(BALEEN_HEADER_BYTES);
	header.body_crc_le = baleen_le32(image->body_crc);
	header.flags_le = baleen_le32(image->flags);
	header.n_blocks_le = baleen_le32(image->n_blocks);
	header.key_spec_le = baleen_le32(image->key_spec);
	header.n_entries_le = baleen_le64(image->n_entries);
	memcpy(header.name, image->name, sizeof(header.name));
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		header.seed_le[i] = baleen_le64(image->seed.word[i]);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];
		struct baleen_image_table *raw = &header.table[domain];

		raw->kind = table->kind;
		raw->slot_bits = table->slot_bits;
		raw->n_hashes = table->n_hashes;
		raw->first_block_le = baleen_le32(table->first_block);
		raw->n_blocks_le = baleen_le32(table->n_blocks);
		raw->n_buckets_le = baleen_le32(table->n_buckets);
		raw->n_entries_le = baleen_le64(table->n_entries);
	}
	header.header_crc_le = baleen_le32(baleen_crc32c(0, &header, sizeof(header)));
	memcpy(out, &header, sizeof(header));
}
#endif /* !__bpf__ */

#endif /* BALEEN_IMAGE_H */
