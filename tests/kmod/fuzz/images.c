// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Images that are right, damaged, or right but for what they hold; and keys. */
#include "fuzz.h"

static void scribble(struct fuzz *fuzz, u8 *bytes, size_t n_bytes, u32 n)
{
	for (u32 i = 0; n_bytes && i < n; i++)
		bytes[below(fuzz, n_bytes)] = next_random(&fuzz->random);
}

/* A body that no builder makes: noise, all ones, one block again and again. */
static void fill_body(struct fuzz *fuzz, u8 *body, size_t n_bytes)
{
	switch (below(fuzz, 4)) {
	case 0:
		for (size_t i = 0; i < n_bytes; i += 8) {
			u64 x = next_random(&fuzz->random);

			memcpy(body + i, &x, 8);
		}
		break;
	case 1: memset(body, 0xff, n_bytes); break;
	case 2:
		for (size_t i = BALEEN_BLOCK_BYTES; i < n_bytes; i++)
			body[i] = body[i - BALEEN_BLOCK_BYTES];
		break;
	default: scribble(fuzz, body, n_bytes, 1 + below(fuzz, 200));
	}
}

/* A number of the header is another, the checksum right all the same. */
static void bend_header(struct fuzz *fuzz, u8 *bytes, size_t n_bytes)
{
	struct baleen_image_header *header = (void *)bytes;
	struct baleen_image_table *table = &header->table[below(fuzz, BALEEN_N_DOMAINS)];

	switch (below(fuzz, 8)) {
	case 0: header->flags_le ^= 1u << below(fuzz, 3); break;
	case 1: header->key_spec_le = below(fuzz, 66); break;
	case 2: header->n_blocks_le = odd_number(fuzz, n_bytes / BALEEN_BLOCK_BYTES); break;
	case 3: table->n_buckets_le = odd_number(fuzz, table->n_buckets_le); break;
	case 4: table->extra_le = odd_number(fuzz, table->extra_le); break;
	case 5: table->kind = below(fuzz, BALEEN_N_KINDS + 1); break;
	case 6: header->prefix_lengths_le[below(fuzz, 2)] ^= 1ull << below(fuzz, 64); break;
	default: scribble(fuzz, bytes, BALEEN_HEADER_BYTES, 1 + below(fuzz, 2));
	}
}

/* Live: no counts and no checksum. */
static void make_live(u8 *bytes)
{
	struct baleen_image_header *header = (void *)bytes;

	header->flags_le |= BALEEN_FLAG_LIVE;
	header->n_entries_le = 0;
	for (u32 i = 0; i < BALEEN_N_DOMAINS; i++)
		header->table[i].n_entries_le = 0;
}

static void repair(struct fuzz *fuzz, u8 *bytes, size_t n_bytes)
{
	struct baleen_image_header *header = (void *)bytes;

	if (header->flags_le & BALEEN_FLAG_LIVE && !one_in(fuzz, 8)) {
		header->body_crc_le = 0;
		repair_header(bytes);
	} else {
		repair_body(bytes, n_bytes);
	}
}

u8 *make_image(struct fuzz *fuzz, const u8 *name, size_t *n_bytes)
{
	const struct file *file = &images[below(fuzz, n_images)];
	u8 *bytes = need(malloc(file->n_bytes));

	*n_bytes = file->n_bytes;
	memcpy(bytes, file->bytes, file->n_bytes);
	memcpy(bytes + offsetof(struct baleen_image_header, name), name, BALEEN_NAME_BYTES);
	if (one_in(fuzz, 4))
		make_live(bytes);
	if (one_in(fuzz, 2))
		fill_body(fuzz, bytes + BALEEN_HEADER_BYTES, *n_bytes - BALEEN_HEADER_BYTES);
	if (one_in(fuzz, 4))
		bend_header(fuzz, bytes, *n_bytes);
	if (!one_in(fuzz, 16))
		repair(fuzz, bytes, *n_bytes);
	if (one_in(fuzz, 32))
		scribble(fuzz, bytes, *n_bytes, 1);
	return bytes;
}

bool image_fits_kernel(const struct baleen_image *image)
{
	for (u32 domain = 0; domain <= BALEEN_TUPLE; domain++) {
		const struct baleen_table *table = &image->table[domain];

		if (baleen_needs_string(table, domain))
			return false;
		if (table->kind == BALEEN_KIND_QUOTIENT && !baleen_quotient_fits_packets(table))
			return false;
	}
	return true;
}

/* From few enough that one turns up again. */
struct baleen_key any_key(struct fuzz *fuzz)
{
	struct baleen_key key = { .domain = below(fuzz, 4) };
	u32 x = below(fuzz, 512);

	switch (key.domain) {
	case BALEEN_IP4: key.ip4 = 0x0a000000 | x; break;
	case BALEEN_IP6:
		key.hi = 0x20010db8ull << 32 | (x & 7);
		key.lo = x;
		break;
	case BALEEN_WORD: key.lo = x; break;
	default:
		key.lo = 0x0a000000 | x;
		key.dst_lo = x & 15;
		key.rest = 6ull << 32 | x;
	}
	return key;
}
