// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a cache digest: what is taken comes back bit for bit, with a head that
 * is taken again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void check(bool right)
{
	if (!right)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
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
		return 0;
	}
	check(n_bytes == BALEEN_DIGEST_HEAD_BYTES + digest.mask_bytes);
	check(!baleen_image_check(filter.bytes, filter.n_bytes, &image, &reason));
	check(!baleen_digest_encode(&filter, &made, &n_made, &again, &error));
	check(n_made == n_bytes && !memcmp((u8 *)made + BALEEN_DIGEST_HEAD_BYTES,
					   bytes + BALEEN_DIGEST_HEAD_BYTES, digest.mask_bytes));
	check(!baleen_digest_check(made, n_made, &digest, &reason));
	free(made);
	baleen_filter_free(&filter);
	return 0;
}
