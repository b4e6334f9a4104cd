// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bits of a Bloom filter that another program made, as an image. */
#include <errno.h>
#include <math.h>

#include "filter/estimate.h"
#include "ops/bits.h"
#include "ops/build.h"

static u8 reverse(u8 byte)
{
	u8 reversed = 0;

	for (u32 i = 0; i < 8; i++)
		reversed |= (byte >> i & 1) << (7 - i);
	return reversed;
}

static int fill(const struct baleen_build_options *options, const u8 *bytes, bool is_msb,
		struct baleen_filter *filter, struct baleen_error *error)
{
	u32 domain = baleen_spec_domain(options->key_spec, false);
	u64 n_bits = options->shape.n_bits, n_bytes = baleen_bits_bytes(n_bits);
	u8 *plane = (u8 *)baleen_plane(filter, domain);

	for (u64 i = 0; i < n_bytes; i++)
		plane[i] = is_msb ? reverse(bytes[i]) : bytes[i];
	if (n_bits % 8 && plane[n_bytes - 1] >> n_bits % 8)
		return baleen_fail(
			error, EINVAL,
			"bits are set behind the last of %llu: another number of bits, or "
			"another order",
			(unsigned long long)n_bits);
	filter->image.table[domain].n_entries = llround(baleen_estimate_keys(filter, domain));
	return 0;
}

int baleen_bits_read(const struct baleen_build_options *options, const u8 *bytes, bool is_msb,
		     struct baleen_filter *filter, struct baleen_error *error)
{
	struct baleen_build_options wanted = {
		.name = options->name,
		.key_spec = options->key_spec,
		.kind = BALEEN_KIND_CLASSIC,
		.shape = options->shape,
	};
	const struct baleen_list none = { .key_spec = options->key_spec };
	struct baleen_filter built;
	int err;

	if (options->shape.hash <= BALEEN_HASH_KEYED)
		return baleen_fail(error, EINVAL,
				   "a keyed hash has a secret, which no other program has");
	err = baleen_build(&none, &wanted, &built, error);
	if (err)
		return err;
	err = fill(options, bytes, is_msb, &built, error);
	if (err) {
		baleen_filter_free(&built);
		return err;
	}
	baleen_filter_seal(&built);
	*filter = built;
	return 0;
}
