// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a cache digest, and as the mask of one that is right: what is taken comes
 * back bit for bit, with a head that is taken again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "icp/digest.h"
#include "target.h"

/* Return: it was taken. */
static bool check_digest(const u8 *bytes, size_t n_bytes)
{
	struct baleen_digest digest, again;
	struct baleen_filter filter;
	struct baleen_image image;
	struct baleen_error error;
	const char *reason = NULL;
	size_t n_made;
	void *made;

	if (baleen_digest_decode(bytes, n_bytes, &filter, &digest, &error)) {
		check(baleen_digest_check(bytes, n_bytes, &digest, &reason) && reason);
		return false;
	}
	check(n_bytes == BALEEN_DIGEST_HEAD_BYTES + digest.mask_bytes);
	check(!baleen_image_check(filter.bytes, filter.n_bytes, &image, &reason));
	check(!baleen_digest_encode(&filter, &made, &n_made, &again, &error));
	check(n_made == n_bytes && !memcmp((u8 *)made + BALEEN_DIGEST_HEAD_BYTES,
					   bytes + BALEEN_DIGEST_HEAD_BYTES, digest.mask_bytes));
	check(!baleen_digest_check(made, n_made, &digest, &reason));
	free(made);
	baleen_filter_free(&filter);
	return true;
}

/* Eight bits for each of as many entries as the mask has bytes. */
static void check_mask(const u8 *mask, size_t n_bytes)
{
	struct baleen_digest_head head = {
		.current_be = baleen_be16(BALEEN_DIGEST_CURRENT),
		.required_be = baleen_be16(BALEEN_DIGEST_REQUIRED),
		.capacity_be = baleen_be32((u32)n_bytes),
		.mask_bytes_be = baleen_be32((u32)n_bytes),
		.bits_per_entry = 8,
		.n_hashes = BALEEN_DIGEST_HASHES,
	};
	u8 *digest = malloc(sizeof(head) + n_bytes);

	check(digest);
	memcpy(digest, &head, sizeof(head));
	memcpy(digest + sizeof(head), mask, n_bytes);
	check(check_digest(digest, sizeof(head) + n_bytes));
	free(digest);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	check_digest(bytes, n_bytes);
	if (n_bytes)
		check_mask(bytes, n_bytes);
	return 0;
}
