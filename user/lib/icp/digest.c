// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Squid's cache digests to images and back, bit for bit. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filter/estimate.h"
#include "icp/digest.h"

#define BLOCK_BITS (BALEEN_BLOCK_BYTES * 8)

/* Squid's default (cf.data.pre). */
#define USUAL_BITS_PER_ENTRY 5

/* --- from a digest ----------------------------------------------------------- */

static struct baleen_digest_head head_of(const void *bytes)
{
	struct baleen_digest_head head;

	memcpy(&head, bytes, sizeof(head));
	return head;
}

bool baleen_digest_is(const void *bytes, size_t n_bytes)
{
	static const u8 versions[] = { 0, BALEEN_DIGEST_CURRENT, 0, BALEEN_DIGEST_REQUIRED };

	return n_bytes >= sizeof(versions) && !memcmp(bytes, versions, sizeof(versions));
}

/* As peerDigestSetCBlock() has it, in its order; what is negative there is huge here. */
static const char *check_head(const struct baleen_digest_head *head,
			      const struct baleen_digest *digest)
{
	if (baleen_be16(head->required_be) > BALEEN_DIGEST_CURRENT)
		return "asks for a newer version of cache digests than 5";
	if (baleen_be16(head->current_be) < BALEEN_DIGEST_REQUIRED)
		return "is of an older version of cache digests than 3";
	if (!digest->capacity || digest->capacity > INT32_MAX)
		return "its capacity is not 1 to 2^31 - 1 entries";
	if (!digest->bits_per_entry)
		return "it has 0 bits per entry";
	if (!digest->mask_bytes || digest->mask_bytes > INT32_MAX)
		return "its mask is not 1 to 2^31 - 1 bytes";
	if (digest->count > INT32_MAX)
		return "its count is not 0 to 2^31 - 1 entries";
	if (digest->mask_bytes != ((u64)digest->capacity * digest->bits_per_entry + 7) / 8)
		return "its mask is not of the size that capacity and bits per entry make";
	if (head->n_hashes != BALEEN_DIGEST_HASHES)
		return "it does not have 4 hashes";
	if ((u64)digest->capacity * digest->bits_per_entry + 7 >= BALEEN_DIGEST_MAX_BITS)
		return "it has 2^31 bits or more, on which Squid aborts";
	return NULL;
}

int baleen_digest_check(const void *bytes, size_t n_bytes, struct baleen_digest *digest,
			const char **reason)
{
	struct baleen_digest_head head;
	struct baleen_digest found;
	const char *wrong = "shorter than the head of a cache digest, 128 bytes";

	if (n_bytes < sizeof(head))
		goto bad;
	head = head_of(bytes);
	found = (struct baleen_digest){
		.capacity = baleen_be32(head.capacity_be),
		.count = baleen_be32(head.count_be),
		.mask_bytes = baleen_be32(head.mask_bytes_be),
		.bits_per_entry = head.bits_per_entry,
	};
	wrong = check_head(&head, &found);
	if (!wrong && n_bytes - sizeof(head) < found.mask_bytes)
		wrong = "its mask is cut off";
	if (!wrong && n_bytes - sizeof(head) > found.mask_bytes)
		wrong = "it is longer than its mask";
	if (wrong)
		goto bad;
	*digest = found;
	return 0;
bad:
	*reason = wrong;
	return -EINVAL;
}

static struct baleen_image image_of(const struct baleen_digest *digest)
{
	u32 n_blocks = (digest->mask_bytes - 1) / BALEEN_BLOCK_BYTES + 1;
	struct baleen_image image = {
		.n_blocks = BALEEN_HEADER_BLOCKS + n_blocks,
		.key_spec = BALEEN_KEY_SQUID,
		.table[BALEEN_TUPLE] = {
			.kind = BALEEN_KIND_CLASSIC,
			.hash = BALEEN_HASH_SQUID,
			.n_hashes = BALEEN_DIGEST_HASHES,
			.first_block = BALEEN_HEADER_BLOCKS,
			.n_blocks = n_blocks,
			.n_buckets = n_blocks,
			.n_spare_bits = n_blocks * BLOCK_BITS - digest->mask_bytes * 8,
		},
	};

	/* No secret is needed, and so two images of one digest are the same bytes. */
	baleen_seed_expand(&image.seed);
	return image;
}

int baleen_digest_decode(const void *bytes, size_t n_bytes, struct baleen_filter *filter,
			 struct baleen_digest *digest, struct baleen_error *error)
{
	struct baleen_filter made;
	struct baleen_digest head;
	struct baleen_image image;
	const char *reason;
	int err = baleen_digest_check(bytes, n_bytes, &head, &reason);

	if (err)
		return baleen_fail(error, -err, "no cache digest: %s", reason);
	image = image_of(&head);
	err = baleen_filter_alloc(&made, &image, error);
	if (err)
		return err;
	memcpy((u8 *)made.bytes + BALEEN_HEADER_BYTES,
	       (const u8 *)bytes + sizeof(struct baleen_digest_head), head.mask_bytes);
	made.image.table[BALEEN_TUPLE].n_entries = head.count;
	baleen_filter_seal(&made);
	*filter = made;
	*digest = head;
	return 0;
}

/* --- to a digest ------------------------------------------------------------- */

static int refuse_kind(const struct baleen_table *table, struct baleen_error *error)
{
	if (table->kind == BALEEN_KIND_CLASSIC || table->kind == BALEEN_KIND_COUNTING)
		return baleen_fail(error, EOPNOTSUPP,
				   "a Bloom filter of other positions than Squid's, and Squid "
				   "would look for its keys elsewhere: make it with --hash squid");
	return baleen_fail(error, EOPNOTSUPP,
			   "a %s filter, and a cache digest is a Bloom filter: make it with "
			   "--kind classic or counting and --hash squid",
			   baleen_kind_name(table->kind));
}

int baleen_digest_fits(const struct baleen_image *image, struct baleen_error *error)
{
	const struct baleen_table *table = &image->table[BALEEN_TUPLE];
	u64 m = baleen_table_bits(table);

	if (image->key_spec != BALEEN_KEY_SQUID)
		return baleen_fail(error, EOPNOTSUPP,
				   "its keys are not those of Squid: make it with --key squid");
	if ((table->kind != BALEEN_KIND_CLASSIC && table->kind != BALEEN_KIND_COUNTING) ||
	    table->hash != BALEEN_HASH_SQUID)
		return refuse_kind(table, error);
	if (m % 8)
		return baleen_fail(error, EOPNOTSUPP,
				   "its %llu bits are no whole bytes, as a cache digest has them: "
				   "make it with --bits %llu",
				   (unsigned long long)m, (unsigned long long)(m + 8 - m % 8));
	if (m + 7 >= BALEEN_DIGEST_MAX_BITS)
		return baleen_fail(error, EOPNOTSUPP,
				   "it has %llu bits, and Squid aborts on digests of 2^31 and more",
				   (unsigned long long)m);
	return 0;
}

static const u8 *plane_of(const struct baleen_filter *filter)
{
	return (const u8 *)filter->bytes +
	       (size_t)filter->image.table[BALEEN_TUPLE].first_block * BALEEN_BLOCK_BYTES;
}

double baleen_digest_share(const struct baleen_filter *filter)
{
	return (double)baleen_bits_count(filter, BALEEN_TUPLE) /
	       baleen_table_bits(&filter->image.table[BALEEN_TUPLE]);
}

/* A live image counts no entries. */
static u64 count_entries(const struct baleen_filter *filter)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_TUPLE];

	if (table->n_entries)
		return table->n_entries;
	return llround(baleen_estimate_table(table, baleen_bits_count(filter, BALEEN_TUPLE)));
}

/* m is whole bytes, so b bits per entry for floor(m / b) entries make m again, as Squid
 * rounds, for each b up to 8.
 */
static struct baleen_digest choose(u64 m, u64 count)
{
	u32 bits_per_entry = USUAL_BITS_PER_ENTRY;

	while (bits_per_entry > 1 && m / bits_per_entry < count)
		bits_per_entry--;
	return (struct baleen_digest){
		.capacity = m / bits_per_entry,
		.count = count < INT32_MAX ? count : INT32_MAX,
		.mask_bytes = m / 8,
		.bits_per_entry = bits_per_entry,
	};
}

static void write_head(const struct baleen_digest *digest, void *bytes)
{
	struct baleen_digest_head head = {
		.current_be = baleen_be16(BALEEN_DIGEST_CURRENT),
		.required_be = baleen_be16(BALEEN_DIGEST_REQUIRED),
		.capacity_be = baleen_be32(digest->capacity),
		.count_be = baleen_be32(digest->count),
		.mask_bytes_be = baleen_be32(digest->mask_bytes),
		.bits_per_entry = digest->bits_per_entry,
		.n_hashes = BALEEN_DIGEST_HASHES,
	};

	memcpy(bytes, &head, sizeof(head));
}

int baleen_digest_encode(const struct baleen_filter *filter, void **bytes, size_t *n_bytes,
			 struct baleen_digest *digest, struct baleen_error *error)
{
	struct baleen_digest chosen;
	int err = baleen_digest_fits(&filter->image, error);
	u8 *made;

	if (err)
		return err;
	chosen = choose(baleen_table_bits(&filter->image.table[BALEEN_TUPLE]),
			count_entries(filter));
	made = malloc(BALEEN_DIGEST_HEAD_BYTES + chosen.mask_bytes);
	if (!made)
		return baleen_fail(error, ENOMEM, "no memory for a digest of %u bytes",
				   chosen.mask_bytes);
	write_head(&chosen, made);
	memcpy(made + BALEEN_DIGEST_HEAD_BYTES, plane_of(filter), chosen.mask_bytes);
	*bytes = made;
	*n_bytes = BALEEN_DIGEST_HEAD_BYTES + chosen.mask_bytes;
	*digest = chosen;
	return 0;
}

int baleen_digest_unite(void *bytes, size_t n_bytes, const void *other, size_t n_other,
			struct baleen_digest *digest)
{
	const u8 *from = other;
	u64 m, n_set = 0;
	u8 *to = bytes;

	if (n_bytes != n_other || n_bytes <= BALEEN_DIGEST_HEAD_BYTES)
		return -EINVAL;
	for (size_t i = BALEEN_DIGEST_HEAD_BYTES; i < n_bytes; i++)
		n_set += __builtin_popcount(to[i] |= from[i]);
	m = (n_bytes - BALEEN_DIGEST_HEAD_BYTES) * 8;
	*digest = choose(m, llround(baleen_estimate_bits(m, BALEEN_DIGEST_HASHES, n_set)));
	write_head(digest, bytes);
	return 0;
}
