// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The classic Bloom filter: plan, rates and keys. */
#include <errno.h>
#include <math.h>

#include <baleen/squid.h>

#include "filter/estimate.h"
#include "filter/bloom_math.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/positions.h"

#define BLOCK_BITS (BALEEN_BLOCK_BYTES * 8)

/* --- plan ------------------------------------------------------------------ */

/* Positions of a hash that has no choice of them, or 0. */
static u32 fixed_hashes(u32 hash)
{
	if (hash == BALEEN_HASH_SQUID)
		return BALEEN_DIGEST_HASHES;
	return hash == BALEEN_HASH_MURMUR3_FNV1A ? 2 : 0;
}

static const char *hash_noun(u32 hash)
{
	return hash == BALEEN_HASH_SQUID ? "Squid's hash" :
	       hash == BALEEN_HASH_BIP37 ? "BIP 37's hash" :
					   "murmur3";
}

static int check_squid(u32 domain, const struct baleen_shape *shape, struct baleen_error *error)
{
	if (domain != BALEEN_TUPLE)
		return baleen_fail(error, EINVAL, "Squid's hash is for keys of Squid");
	if (shape->n_hashes && shape->n_hashes != BALEEN_DIGEST_HASHES)
		return baleen_fail(error, EINVAL,
				   "Squid's hash has 4 positions, not %u: use --hash keyed",
				   shape->n_hashes);
	if (shape->n_bits % 8)
		return baleen_fail(error, EINVAL,
				   "Squid's digests are whole bytes, which %llu bits are not",
				   (unsigned long long)shape->n_bits);
	return 0;
}

static int check_shape(u32 domain, double fpp, const struct baleen_shape *shape,
		       struct baleen_error *error)
{
	bool is_keyed = shape->hash <= BALEEN_HASH_KEYED;

	if (shape->n_hashes > BALEEN_MAX_POSITIONS)
		return baleen_fail(error, EINVAL, "a Bloom filter has 1 to %d hashes, not %u",
				   BALEEN_MAX_POSITIONS, shape->n_hashes);
	if (shape->hash == BALEEN_HASH_MURMUR3_FNV1A && shape->n_hashes && shape->n_hashes != 2)
		return baleen_fail(error, EINVAL, "murmur3 and FNV-1a are 2 hashes, not %u",
				   shape->n_hashes);
	if (!is_keyed && domain == BALEEN_WORD)
		return baleen_fail(error, EINVAL,
				   "murmur3 hashes addresses and strings, not keys of several "
				   "fields");
	if (!is_keyed && shape->n_bits > 1ull << 32)
		return baleen_fail(error, EINVAL,
				   "%s has 32 bits and chooses of 2^32 at most, not of %llu: "
				   "use --hash keyed",
				   hash_noun(shape->hash), (unsigned long long)shape->n_bits);
	if (shape->n_bits > (u64)BALEEN_MAX_BLOCKS * BLOCK_BITS)
		return baleen_fail(error, E2BIG, "%llu bits are too many for one filter",
				   (unsigned long long)shape->n_bits);
	if (!shape->n_bits && fpp <= 0)
		return baleen_fail(error, EINVAL,
				   "a Bloom filter needs a false positive rate or a size: --fpp "
				   "or --bits");
	return 0;
}

/* As many bits as the rate needs, up to the end of a block: they are there. */
static int choose_bits(u64 n, double fpp, u32 hash, u32 n_hashes, u64 *n_bits,
		       struct baleen_error *error)
{
	double n_blocks = ceil(baleen_classic_bits(n, fpp, n_hashes) / BLOCK_BITS);

	if (n_blocks > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	if (hash != BALEEN_HASH_KEYED && n_blocks * BLOCK_BITS > 1ull << 32)
		return baleen_fail(error, EINVAL,
				   "%s has 32 bits, which is too little for %llu keys at "
				   "this rate: use --hash keyed",
				   hash_noun(hash), (unsigned long long)n);
	*n_bits = n_blocks * BLOCK_BITS;
	return 0;
}

static int classic_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			struct baleen_table *table, struct baleen_error *error)
{
	u32 hash = shape->hash ? shape->hash : BALEEN_HASH_KEYED, n_hashes = shape->n_hashes;
	u64 n_bits = shape->n_bits, n_blocks;
	int err = hash == BALEEN_HASH_SQUID ? check_squid(domain, shape, error) : 0;

	if (!err)
		err = check_shape(domain, fpp, shape, error);
	if (fixed_hashes(hash))
		n_hashes = fixed_hashes(hash);
	if (!err && !n_bits)
		err = choose_bits(n, fpp, hash, n_hashes, &n_bits, error);
	if (err)
		return err;
	n_blocks = (n_bits - 1) / BLOCK_BITS + 1;
	*table = (struct baleen_table){
		.kind = BALEEN_KIND_CLASSIC,
		.hash = hash,
		.form = shape->form,
		.n_hashes = n_hashes ? n_hashes : baleen_classic_hashes(n_bits, n),
		.n_blocks = n_blocks,
		.n_buckets = n_blocks,
		.n_spare_bits = n_blocks * BLOCK_BITS - n_bits,
	};
	return 0;
}

/* --- rates ------------------------------------------------------------------ */

static double classic_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return baleen_classic_fpp(baleen_table_bits(table), table->n_hashes, n);
}

static double classic_measure(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	double share = (double)baleen_bits_count(filter, domain) / baleen_table_bits(table);

	/* Behind the last bit a file may have others. */
	return pow(fmin(share, 1), table->n_hashes);
}

const struct baleen_kind_ops baleen_classic_ops = {
	.plan = classic_plan,
	.fpp = classic_fpp,
	.measure = classic_measure,
	.insert = baleen_positions_insert,
	.add = baleen_positions_add,
};
