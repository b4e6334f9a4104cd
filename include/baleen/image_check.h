/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one validator of images: from bytes of any origin to a decoded header,
 * and back.
 *
 * Not for packet programs: they get the decoded header as constants.
 *
 * Above 500 lines: nothing reads a field of an image before all of these checks, so they
 * stand in one file, in the order of the header.
 */
#ifndef BALEEN_IMAGE_CHECK_H
#define BALEEN_IMAGE_CHECK_H

#include <baleen/image.h>

static inline bool baleen_is_zero(const u8 *bytes, u32 n_bytes)
{
	u8 all = 0;

	for (u32 i = 0; i < n_bytes; i++)
		all |= bytes[i];
	return !all;
}

static inline const char *baleen_bucket_check(const struct baleen_table *table)
{
	bool is_narrow = table->slot_bits < 16;
	u32 slots = table->bucket_slots;

	if (slots != 1 && slots != 2 && slots != (is_narrow ? 4 : 0))
		return "number of slots of a bucket is not 1, 2 or 4";
	return NULL;
}

static inline const char *baleen_packed_check(const struct baleen_table *table)
{
	u32 slots = table->bucket_slots - BALEEN_PACKED;

	if (slots == (4 | BALEEN_SEMI_SORTED)) {
		if (table->slot_bits > BALEEN_MIN_PACKED_BITS &&
		    table->slot_bits <= BALEEN_MAX_PACKED_BITS)
			return NULL;
		return "width of semi-sorted slots is not 5 to 32 bits";
	}
	if (table->slot_bits < BALEEN_MIN_PACKED_BITS || table->slot_bits > BALEEN_MAX_PACKED_BITS)
		return "width of packed slots is not 4 to 32 bits";
	if (slots < 1 || slots > 4)
		return "number of slots of a packed bucket is not 1 to 4";
	return NULL;
}

static inline const char *baleen_slots_check(const struct baleen_table *table, u32 domain)
{
	u32 slot_bits = table->slot_bits;

	if (slot_bits != 8 && slot_bits != 12 && slot_bits != 16 && slot_bits != 32 &&
	    slot_bits != 64)
		return "slot width is not 8, 12, 16, 32 or 64 bits";
	if (domain == BALEEN_IP4 && slot_bits == 64)
		return "64-bit slots for a 32-bit key";
	if (domain == BALEEN_IP4 && slot_bits >= 16 &&
	    table->log2_buckets + slot_bits - 2 < baleen_key_bits(domain))
		return "slots too narrow for an exact table";
	if (slot_bits == 64 && table->log2_buckets < 2)
		return "fewer than 4 buckets of 64-bit slots";
	return baleen_bucket_check(table);
}

static inline const char *baleen_cuckoo_check(const struct baleen_table *table, u32 domain)
{
	const char *reason = baleen_table_is_packed(table) ? baleen_packed_check(table) :
							     baleen_slots_check(table, domain);

	if (reason)
		return reason;
	if (table->n_stash > BALEEN_STASH_SLOTS)
		return "more slots in the stash than it has";
	if (baleen_table_blocks(table) != table->n_blocks)
		return "number of buckets and blocks disagree";
	/* Differences of bucket numbers are signed: baleen_cuckoo_other(). */
	if (table->n_buckets > BALEEN_MAX_BUCKETS)
		return "more than 2^31 buckets";
	if (table->n_entries > (u64)table->n_buckets * baleen_bucket_slots(table) + table->n_stash)
		return "more entries than slots";
	return NULL;
}

static inline const char *baleen_blocked_check(const struct baleen_table *table)
{
	if (table->n_hashes < 2 || table->n_hashes > 8 || table->n_hashes % 2)
		return "number of hashes is not 2, 4, 6 or 8";
	if (table->n_spare_bits)
		return "blocks that are not full";
	if (baleen_table_blocks(table) != table->n_blocks)
		return "number of buckets and blocks disagree";
	return NULL;
}

static inline const char *baleen_classic_check(const struct baleen_table *table)
{
	if (table->hash == BALEEN_HASH_BLOCKED && table->kind == BALEEN_KIND_COUNTING)
		return baleen_blocked_check(table);
	if (table->hash == BALEEN_HASH_BLOCKED || table->hash >= BALEEN_N_HASHES)
		return "unknown hash";
	if (!table->n_hashes || table->n_hashes > BALEEN_MAX_POSITIONS)
		return "number of hashes is not 1 to 32";
	if (table->hash == BALEEN_HASH_MURMUR3_FNV1A && table->n_hashes != 2)
		return "number of hashes is not 2";
	if (table->hash == BALEEN_HASH_SQUID && table->n_hashes != 4)
		return "number of hashes is not 4";
	/* A cache digest is of whole bytes. */
	if (table->hash == BALEEN_HASH_SQUID && table->n_spare_bits % 8)
		return "bits that are not whole bytes";
	if (table->n_spare_bits >= BALEEN_BLOCK_BYTES * 8)
		return "more bits to spare than a block has";
	if (table->hash != BALEEN_HASH_KEYED && baleen_table_bits(table) > 1ull << 32)
		return "more bits than a hash of 32 bits can choose of";
	if (baleen_table_blocks(table) != table->n_blocks)
		return "number of buckets and blocks disagree";
	return NULL;
}

/* Checks the forms of a table that its body does not depend on. */
static inline const char *baleen_form_check(const struct baleen_table *table, u32 domain)
{
	u32 allowed = BALEEN_FORM_PUBLIC;

	if (table->hash == BALEEN_HASH_BIP37 &&
	    (table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING) &&
	    (table->form & ~BALEEN_FORM_HEX) != (BALEEN_FORM_PUBLIC | BALEEN_FORM_UNSIGNED))
		return "the hash of BIP 37 in another form";
	if (!table->form)
		return NULL;
	if (domain == BALEEN_TUPLE)
		allowed |= BALEEN_FORM_UNSIGNED | BALEEN_FORM_QUOTED | BALEEN_FORM_HEX |
			   BALEEN_FORM_XOR;
	if (!(table->form & BALEEN_FORM_PUBLIC) || table->form & ~allowed ||
	    (table->form & BALEEN_FORM_QUOTED && table->form & BALEEN_FORM_HEX))
		return "an unknown form of a hash";
	if (!(table->form & BALEEN_FORM_XOR) != (table->kind != BALEEN_KIND_CUCKOO))
		return "a form of a hash that the table cannot have";
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO:
		if (table->form & BALEEN_FORM_UNSIGNED && table->slot_bits <= BALEEN_FORM_BITS &&
		    !table->n_stash)
			return NULL;
		break;
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING:
		if (domain == BALEEN_TUPLE &&
		    (table->hash == BALEEN_HASH_MURMUR3 ||
		     table->hash == BALEEN_HASH_MURMUR3_FNV1A || table->hash == BALEEN_HASH_BIP37))
			return NULL;
		break;
	case BALEEN_KIND_COMPACT:
		if (domain == BALEEN_TUPLE && table->slot_bits <= BALEEN_FORM_BITS)
			return NULL;
		break;
	case BALEEN_KIND_QUOTIENT:
		if (domain >= BALEEN_WORD &&
		    table->log2_buckets + table->slot_bits <= BALEEN_FORM_BITS)
			return NULL;
		break;
	}
	return "a form of a hash that the table cannot have";
}

static inline const char *baleen_quotient_check(struct baleen_table *table, u32 domain)
{
	u32 log2 = baleen_log2(table->n_buckets);

	if (table->shape != BALEEN_QUOTIENT_META)
		return "slots without their three bits";
	if (!log2 || table->n_buckets != 1u << log2)
		return "number of slots is not a power of two";
	if (!table->slot_bits || table->slot_bits > 63 ||
	    log2 + table->slot_bits > baleen_key_bits(domain))
		return "fingerprints longer than the keys";
	if (table->longest_cluster > table->n_buckets)
		return "a cluster longer than the table";
	if (baleen_table_blocks(table) != table->n_blocks)
		return "number of slots and blocks disagree";
	if (table->n_entries > table->n_buckets)
		return "more entries than slots";
	table->log2_buckets = log2;
	return NULL;
}

static inline const char *baleen_chained_check(const struct baleen_table *table, u32 domain)
{
	if (table->shape)
		return "a shape in a table that has none";
	if (!table->slot_bits || table->slot_bits > baleen_key_bits(domain))
		return "values longer than the keys";
	if (table->kind == BALEEN_KIND_CHAINED && table->slot_bits != baleen_key_bits(domain))
		return "a dictionary that does not keep its keys";
	if (!table->n_room)
		return "chains without room for an entry";
	if (baleen_table_blocks(table) != table->n_blocks)
		return "number of entries and blocks disagree";
	if (table->n_entries > table->n_room)
		return "more entries than there is room for";
	return NULL;
}

static inline const char *baleen_directory_check(struct baleen_table *table, u32 domain)
{
	if (table->group_bits < BALEEN_MIN_GROUP_BITS || table->group_bits > BALEEN_MAX_GROUP_BITS)
		return "group width is not 8 to 24 bits";
	if (table->n_buckets > 1u << table->group_bits)
		return "more leaves than groups";
	if (baleen_directory_blocks(domain, table->group_bits, table->n_buckets) != table->n_blocks)
		return "number of leaves and blocks disagree";
	table->leaf_block = baleen_table_leaf_block(table);
	return NULL;
}

static inline const char *baleen_tree_check(struct baleen_table *table)
{
	if (table->group_bits < BALEEN_MIN_GROUP_BITS || table->group_bits > BALEEN_MAX_GROUP_BITS)
		return "group width is not 8 to 24 bits";
	if ((u64)baleen_tree_lines(table->group_bits) + table->n_buckets != table->n_blocks)
		return "number of nodes and blocks disagree";
	table->leaf_block = baleen_table_leaf_block(table);
	return NULL;
}

static inline const char *baleen_prefixes_check(const struct baleen_table *table)
{
	if (table->slot_bits != 64)
		return "slots of prefixes are not 64 bits";
	/* With fewer, tags do not keep 64-bit keys whole. */
	if (table->log2_buckets < 5)
		return "fewer than 32 buckets of prefixes";
	if ((table->n_buckets - 1) / 2 + 1 != table->n_blocks)
		return "number of buckets and blocks disagree";
	if (table->n_entries)
		return "a table of prefixes with a number of entries";
	return NULL;
}

static inline const char *baleen_entries_check(const struct baleen_table *table)
{
	u64 bytes = (u64)table->n_buckets * sizeof(struct baleen_entry6);

	if ((bytes - 1) / BALEEN_BLOCK_BYTES + 1 != table->n_blocks)
		return "number of entries and blocks disagree";
	if (table->n_entries && table->n_entries != table->n_buckets)
		return "numbers of entries disagree";
	return NULL;
}

/* Fields that a kind does not have are zero. */
static inline const char *baleen_table_unused(const struct baleen_table *table)
{
	u32 kind = table->kind;
	bool has_slots = kind == BALEEN_KIND_CUCKOO || kind == BALEEN_KIND_PREFIXES ||
			 kind == BALEEN_KIND_QUOTIENT || baleen_kind_has_chains(kind);
	bool has_hashes = kind == BALEEN_KIND_BLOOM || kind == BALEEN_KIND_CLASSIC ||
			  kind == BALEEN_KIND_COUNTING;

	if (table->slot_bits && !has_slots)
		return "slots in a table that has none";
	if (table->n_hashes && !has_hashes)
		return "a number of hashes in a table that has none";
	if (table->shape && (kind == BALEEN_KIND_BLOOM || kind == BALEEN_KIND_PREFIXES ||
			     kind == BALEEN_KIND_ENTRIES))
		return "groups in a table that has none";
	if (table->extra && (kind == BALEEN_KIND_BLOOM || kind == BALEEN_KIND_PREFIXES ||
			     kind == BALEEN_KIND_ENTRIES || kind == BALEEN_KIND_DIRECTORY ||
			     kind == BALEEN_KIND_TREE))
		return "a number that the table has no use for";
	if (!table->n_buckets && kind != BALEEN_KIND_DIRECTORY && kind != BALEEN_KIND_TREE)
		return "a table without buckets";
	return NULL;
}

/* Kinds of the tables of hosts and keys. */
static inline bool baleen_kind_has_keys(u32 kind)
{
	return kind == BALEEN_KIND_CUCKOO || kind == BALEEN_KIND_BLOOM ||
	       kind == BALEEN_KIND_CLASSIC || kind == BALEEN_KIND_COUNTING ||
	       kind == BALEEN_KIND_QUOTIENT || baleen_kind_has_chains(kind);
}

/* May the table of a domain be of this kind? */
static inline bool baleen_kind_is_of(u32 kind, u32 domain)
{
	switch (domain) {
	case BALEEN_IP4_GROUPS: return kind == BALEEN_KIND_DIRECTORY;
	case BALEEN_IP6_STEMS: return kind == BALEEN_KIND_DIRECTORY || kind == BALEEN_KIND_TREE;
	case BALEEN_IP6_PREFIXES: return kind == BALEEN_KIND_PREFIXES;
	case BALEEN_IP6_ENTRIES: return kind == BALEEN_KIND_ENTRIES;
	default: return baleen_kind_has_keys(kind);
	}
}

/* Is the table usable? Nothing here reads the body. */
static inline const char *baleen_table_check(struct baleen_table *table, u32 domain)
{
	const char *reason = baleen_table_unused(table);

	if (reason)
		return reason;
	if (!baleen_kind_is_of(table->kind, domain))
		return "a table of a kind that its keys cannot have";
	if (table->kind == BALEEN_KIND_CUCKOO || table->kind == BALEEN_KIND_PREFIXES)
		table->log2_buckets = baleen_log2(table->n_buckets);
	switch (table->kind) {
	case BALEEN_KIND_CUCKOO: return baleen_cuckoo_check(table, domain);
	case BALEEN_KIND_BLOOM: return baleen_blocked_check(table);
	case BALEEN_KIND_CLASSIC:
	case BALEEN_KIND_COUNTING: return baleen_classic_check(table);
	case BALEEN_KIND_QUOTIENT: return baleen_quotient_check(table, domain);
	case BALEEN_KIND_CHAINED:
	case BALEEN_KIND_COMPACT: return baleen_chained_check(table, domain);
	case BALEEN_KIND_DIRECTORY: return baleen_directory_check(table, domain);
	case BALEEN_KIND_TREE: return baleen_tree_check(table);
	case BALEEN_KIND_PREFIXES: return baleen_prefixes_check(table);
	default: return baleen_entries_check(table);
	}
}

/* Are its positions made of the bytes of a key, not of its hash? */
static inline bool baleen_needs_bytes(const struct baleen_table *table)
{
	return (table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING) &&
	       (table->hash == BALEEN_HASH_MURMUR3 || table->hash == BALEEN_HASH_MURMUR3_FNV1A ||
		table->hash == BALEEN_HASH_BIP37);
}

/* Are its positions those that Squid makes of an MD5? */
static inline bool baleen_needs_md5(const struct baleen_table *table)
{
	return (table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING) &&
	       table->hash == BALEEN_HASH_SQUID;
}

/* Has it keys that are not to be had from a packet or a struct baleen_key? An address
 * is its bytes, a string is not its hash.
 */
static inline bool baleen_needs_string(const struct baleen_table *table, u32 domain)
{
	return table->form || (domain > BALEEN_IP6 && baleen_needs_bytes(table));
}

/* Has a table keys without a secret, and then only strings or fingerprints? */
static inline const char *baleen_forms_agree(const struct baleen_image *image)
{
	u32 spec = image->key_spec, forms = 0;

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		forms |= image->table[domain].form;
	if (spec == BALEEN_KEY_FINGERPRINT ? !forms : forms && spec != BALEEN_KEY_STRING)
		return "a form of a hash for other keys";
	if (forms && !baleen_seed_is_public(&image->seed))
		return "a form of a hash with a secret seed";
	return NULL;
}

/* Which tables may stand together. */
static inline const char *baleen_tables_agree(const struct baleen_image *image)
{
	const struct baleen_table *table = image->table;
	bool has_stems = table[BALEEN_IP6_STEMS].kind;
	u32 spec = image->key_spec;

	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (table[domain].kind && baleen_spec_domain(spec, false) != domain &&
		    baleen_spec_domain(spec, true) != domain)
			return "tables for other keys";
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (baleen_needs_bytes(&table[domain]) && !baleen_spec_is_address(spec) &&
		    spec != BALEEN_KEY_STRING)
			return "a hash of bytes for keys of several fields";
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (baleen_needs_md5(&table[domain]) && spec != BALEEN_KEY_SQUID)
			return "Squid's hash for other keys than Squid's";
	if (baleen_forms_agree(image))
		return baleen_forms_agree(image);
	/* Without their number nobody could tell its entries from free ones. */
	for (u32 domain = BALEEN_IP4; domain <= BALEEN_TUPLE; domain++)
		if (image->flags & BALEEN_FLAG_LIVE && baleen_kind_has_chains(table[domain].kind))
			return "a live table of a kind that packets do not ask";
	if (!baleen_spec_is_address(spec) && (table[BALEEN_IP4_GROUPS].kind || has_stems))
		return "prefixes of keys that are not an address";
	if (has_stems && table[BALEEN_IP6].kind)
		return "two tables of IPv6 addresses";
	if (!table[BALEEN_IP6_ENTRIES].kind != !has_stems)
		return "IPv6 prefixes without their entries";
	if (table[BALEEN_IP6_PREFIXES].kind && !has_stems)
		return "IPv6 prefixes without their stems";
	return NULL;
}

/* The lengths first..last - 1 of the sorted array as the tree below a node. */
static inline void baleen_length_subtree(u8 *tree, u32 node, const u8 *lengths, u32 first, u32 last)
{
	u32 middle = first + (last - first) / 2;

	if (first == last)
		return;
	tree[node] = lengths[middle];
	baleen_length_subtree(tree, 2 * node, lengths, first, middle);
	baleen_length_subtree(tree, 2 * node + 1, lengths, middle + 1, last);
}

/**
 * baleen_length_tree_make() - the search tree of the prefix lengths
 * @image: its prefix_lengths are set, of 33 to 128; length_tree is filled in
 *
 * Context: any but BPF.
 */
static inline void baleen_length_tree_make(struct baleen_image *image)
{
	u8 lengths[128];
	u32 n = 0;

	for (u32 length = 33; length <= 128; length++)
		if (image->prefix_lengths[(length - 1) / 64] >> (length - 1) % 64 & 1)
			lengths[n++] = length;
	memset(image->length_tree, 0, sizeof(image->length_tree));
	baleen_length_subtree(image->length_tree, 1, lengths, 0, n);
}

static inline const char *baleen_lengths_check(struct baleen_image *image)
{
	bool any = image->prefix_lengths[0] || image->prefix_lengths[1];

	if (any != !!image->table[BALEEN_IP6_PREFIXES].kind)
		return "prefix lengths and prefixes disagree";
	if (image->prefix_lengths[0] & 0xffffffff)
		return "prefixes of up to 32 bits among the longer ones";
	if (image->prefix_lengths[0] && image->table[BALEEN_IP6_STEMS].kind == BALEEN_KIND_TREE)
		return "prefixes of up to 64 bits beside a tree, which has them";
	baleen_length_tree_make(image);
	return NULL;
}

/* Decodes and checks the table descriptors. */
static inline const char *baleen_image_check_tables(const struct baleen_image_header *header,
						    struct baleen_image *image)
{
	u64 next = BALEEN_HEADER_BLOCKS, n_entries = 0;
	u32 n_tables = 0;
	const char *reason;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_image_table *raw = &header->table[domain];
		struct baleen_table *table = &image->table[domain];

		table->kind = raw->kind;
		table->slot_bits = raw->slot_bits;
		table->n_hashes = raw->n_hashes;
		table->shape = raw->shape;
		table->extra = baleen_le32(raw->extra_le);
		table->first_block = baleen_le32(raw->first_block_le);
		table->n_blocks = baleen_le32(raw->n_blocks_le);
		table->n_buckets = baleen_le32(raw->n_buckets_le);
		table->n_entries = baleen_le64(raw->n_entries_le);
		table->form = baleen_le32(raw->form_le);
		if (table->kind == BALEEN_KIND_NONE) {
			if (!baleen_is_zero((const u8 *)table, sizeof(*table)))
				return "an absent table with a geometry";
			continue;
		}
		if (table->first_block != next)
			return "tables overlap or leave a gap";
		if (!table->n_blocks || table->n_blocks > BALEEN_MAX_BLOCKS)
			return "an empty or oversized table";
		reason = baleen_table_check(table, domain);
		if (!reason)
			reason = baleen_form_check(table, domain);
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
	reason = baleen_tables_agree(image);
	return reason ? reason : baleen_lengths_check(image);
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

/* As it was before the field had it. */
static inline u32 baleen_header_crc(const struct baleen_image_header *header)
{
	const u8 *bytes = (const u8 *)header;
	u32 at = offsetof(struct baleen_image_header, header_crc_le), zero = 0, crc;

	crc = baleen_crc32c(0, bytes, at);
	crc = baleen_crc32c(crc, &zero, sizeof(zero));
	at += sizeof(zero);
	return baleen_crc32c(crc, bytes + at, sizeof(*header) - at);
}

/* All but the tables and what follows from them. */
static inline void baleen_header_fields(const struct baleen_image_header *header,
					struct baleen_image *image)
{
	memset(image, 0, sizeof(*image));
	image->n_blocks = baleen_le32(header->n_blocks_le);
	image->key_spec = baleen_le32(header->key_spec_le);
	image->flags = baleen_le32(header->flags_le);
	image->body_crc = baleen_le32(header->body_crc_le);
	image->n_entries = baleen_le64(header->n_entries_le);
	image->n_listed = baleen_le64(header->n_listed_le);
	image->n_covered = baleen_le64(header->n_covered_le);
	for (u32 i = 0; i < 2; i++)
		image->prefix_lengths[i] = baleen_le64(header->prefix_lengths_le[i]);
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		image->seed.word[i] = baleen_le64(header->seed_le[i]);
	baleen_seed_expand(&image->seed);
	memcpy(image->name, header->name, sizeof(image->name));
}

/* Why the fields are not usable; NULL when all is well. */
static inline const char *baleen_header_reason(const struct baleen_image_header *header,
					       u64 total_bytes, const struct baleen_image *image)
{
	if (memcmp(header->magic, BALEEN_MAGIC, sizeof(header->magic)))
		return "not a Baleen image";
	if (baleen_le16(header->version_le) != BALEEN_VERSION)
		return "image of an unknown version";
	if (baleen_le16(header->header_bytes_le) != BALEEN_HEADER_BYTES)
		return "header of an unknown size";
	if (baleen_header_crc(header) != baleen_le32(header->header_crc_le))
		return "header checksum does not match: damaged";
	if ((u64)image->n_blocks * BALEEN_BLOCK_BYTES > total_bytes)
		return "truncated";
	if ((u64)image->n_blocks * BALEEN_BLOCK_BYTES < total_bytes)
		return "longer than its header says";
	if (image->n_blocks > BALEEN_MAX_BLOCKS)
		return "too large";
	if (image->flags & ~(BALEEN_FLAG_LIVE | BALEEN_FLAG_COPIES))
		return "unknown flags";
	if ((image->flags & BALEEN_FLAG_LIVE) && (image->body_crc || image->n_entries))
		return "a live image with a checksum or a count";
	if (baleen_spec_is_bad(image->key_spec))
		return "unknown key";
	if (image->n_covered > image->n_listed)
		return "more entries inside others than entries";
	if (header->reserved0 || !baleen_is_zero(header->reserved1, sizeof(header->reserved1)))
		return "reserved bytes are not zero";
	return baleen_image_check_name(header->name);
}

/**
 * baleen_header_decode() - validate the header of an image where it is
 * @header: the header; nobody changes it meanwhile
 * @total_bytes: size of the whole image, header included
 * @image: the decoded header; not to be used after a failure
 * @reason: why the image was refused; untouched on success
 *
 * Checks everything but the body CRC, in a time that does not depend on the
 * size of the image. After it every block number that a probe computes is
 * inside the image. For who has little stack: baleen_header_check() needs 1.5 KiB.
 *
 * Context: any but BPF.
 * Return: 0, or -EINVAL with a reason.
 */
static inline int baleen_header_decode(const struct baleen_image_header *header, u64 total_bytes,
				       struct baleen_image *image, const char **reason)
{
	const char *why;

	baleen_header_fields(header, image);
	why = baleen_header_reason(header, total_bytes, image);
	if (!why)
		why = baleen_image_check_tables(header, image);
	if (!why)
		return 0;
	*reason = why;
	return -EINVAL;
}

/**
 * baleen_header_check() - validate the header of an image of any origin
 * @bytes: BALEEN_HEADER_BYTES bytes, at any alignment
 * @total_bytes: size of the whole image, header included
 * @out: the decoded header; untouched on failure
 * @reason: why the image was refused; untouched on success
 *
 * As baleen_header_decode(), of a copy.
 *
 * Context: any but BPF.
 * Return: 0, or -EINVAL with a reason.
 */
static inline int baleen_header_check(const void *bytes, u64 total_bytes, struct baleen_image *out,
				      const char **reason)
{
	struct baleen_image_header header;
	struct baleen_image image;
	int err;

	memcpy(&header, bytes, sizeof(header));
	err = baleen_header_decode(&header, total_bytes, &image, reason);
	if (!err)
		*out = image;
	return err;
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
	header.n_listed_le = baleen_le64(image->n_listed);
	header.n_covered_le = baleen_le64(image->n_covered);
	for (u32 i = 0; i < 2; i++)
		header.prefix_lengths_le[i] = baleen_le64(image->prefix_lengths[i]);
	memcpy(header.name, image->name, sizeof(header.name));
	for (u32 i = 0; i < BALEEN_SEED_WORDS; i++)
		header.seed_le[i] = baleen_le64(image->seed.word[i]);
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];
		struct baleen_image_table *raw = &header.table[domain];

		raw->kind = table->kind;
		raw->slot_bits = table->slot_bits;
		raw->n_hashes = table->n_hashes;
		raw->shape = table->shape;
		/* In a directory and in a tree it follows from the rest. */
		if (!baleen_table_has_groups(table))
			raw->extra_le = baleen_le32(table->extra);
		raw->first_block_le = baleen_le32(table->first_block);
		raw->n_blocks_le = baleen_le32(table->n_blocks);
		raw->n_buckets_le = baleen_le32(table->n_buckets);
		raw->n_entries_le = baleen_le64(table->n_entries);
		raw->form_le = baleen_le32(table->form);
	}
	header.header_crc_le = baleen_le32(baleen_crc32c(0, &header, sizeof(header)));
	memcpy(out, &header, sizeof(header));
}

/**
 * baleen_header_write_live() - encode the header of an image that changes under readers
 * @image: the decoded header
 * @out: BALEEN_HEADER_BYTES bytes: live, without counts and checksum
 *
 * Context: any but BPF.
 */
static inline void baleen_header_write_live(const struct baleen_image *image, void *out)
{
	struct baleen_image live = *image;

	live.flags |= BALEEN_FLAG_LIVE;
	live.body_crc = 0;
	live.n_entries = 0;
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		live.table[domain].n_entries = 0;
	baleen_header_write(&live, out);
}

#endif /* BALEEN_IMAGE_CHECK_H */
