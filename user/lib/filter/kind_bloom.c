// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The blocked Bloom filter: plan, rates, and bits set. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include <baleen/plane.h>

#include "filter/filter.h"
#include "filter/kind.h"
#include "filter/plan.h"

/* Keys in a block past which a bit is unset with probability 1e-7 at most, so
 * that the rate is 1 in all the digits that are printed.
 */
#define BLOOM_SATURATED 4096

#define BLOCK_BITS (BALEEN_BLOCK_BYTES * 8)
#define WORD_BITS 64
#define MAX_BITS_PER_WORD 4

/* Keys whose block is asked for ahead of insertion. */
#define AHEAD 16

static u64 divide_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

/* --- plan ------------------------------------------------------------------ */

/* P(j): the probability that h random bits of a word are all set after j keys
 * threw h bits each into it, by inclusion and exclusion over the d distinct
 * ones among the h.
 */
static double word_positive(u32 h, double j)
{
	/* distinct[h][d]: h throws into 64 fall on d distinct bits. */
	static const double distinct[MAX_BITS_PER_WORD + 1][MAX_BITS_PER_WORD + 1] = {
		{ 1 },
		{ 0, 1 },
		{ 0, 1 / 64., 63 / 64. },
		{ 0, 1 / 4096., 3 * 63 / 4096., 63 * 62 / 4096. },
		{ 0, 1 / 262144., 7 * 63 / 262144., 6 * 63 * 62 / 262144., 63 * 62 * 61 / 262144. },
	};
	static const double choose[MAX_BITS_PER_WORD + 1][MAX_BITS_PER_WORD + 1] = {
		{ 1 }, { 1, 1 }, { 1, 2, 1 }, { 1, 3, 3, 1 }, { 1, 4, 6, 4, 1 },
	};
	double sum = 0;

	for (u32 d = 1; d <= h; d++) {
		double all_set = 0;

		for (u32 i = 0; i <= d; i++)
			all_set += (i % 2 ? -1 : 1) * choose[d][i] *
				   pow(1 - (double)i / WORD_BITS, h * j);
		sum += distinct[h][d] * all_set;
	}
	return sum;
}

static double poisson(double mean, u32 k)
{
	return exp(k * log(mean) - mean - lgamma(k + 1.));
}

double baleen_bloom_fpp(u64 n_blocks, u32 n_hashes, u64 n)
{
	/* A key chooses one of 28 pairs of words: one is the pair at hand, and
	 * six more touch a given word of it.
	 */
	double per_block = (double)n / n_blocks;
	double both = per_block / 28, one = per_block * 6 / 28;
	double spread_both = 10 + both + 10 * sqrt(both), spread_one = 10 + one + 10 * sqrt(one);
	double fpp = 0;

	if (!n)
		return 0;
	if (per_block > BLOOM_SATURATED)
		return 1;
	for (u32 c = 0; c < spread_both; c++) {
		double word = 0;

		for (u32 j = 0; j < spread_one; j++)
			word += poisson(one, j) * word_positive(n_hashes / 2, c + j);
		fpp += poisson(both, c) * word * word;
	}
	return fpp < 1 ? fpp : 1;
}

/* Fewest blocks with which k hashes reach the rate; more than the limit when
 * they do not. The rate falls with the blocks, so halve the interval.
 */
static u64 bloom_blocks(u32 n_hashes, u64 n, double fpp)
{
	u64 low = 1,
	    high = divide_up(n * BALEEN_BLOOM_MAX_BITS_PER_KEY, BALEEN_BLOCK_BYTES * 8) + 1;

	if (baleen_bloom_fpp(high, n_hashes, n) > fpp)
		return UINT64_MAX;
	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (baleen_bloom_fpp(middle, n_hashes, n) > fpp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fewest blocks for the rate, and the hashes that go with them. */
static u64 choose_blocks(u64 n, double fpp, u32 n_hashes, u32 *best)
{
	u64 least = UINT64_MAX;

	for (u32 k = 2; k <= 2 * MAX_BITS_PER_WORD; k += 2) {
		u64 n_blocks = n_hashes && n_hashes != k ? UINT64_MAX : bloom_blocks(k, n, fpp);

		if (n_blocks < least) {
			least = n_blocks;
			*best = k;
		}
	}
	return least;
}

/* The hashes with the lowest rate in so many blocks. */
static u32 choose_hashes(u64 n_blocks, u64 n)
{
	u32 best = 2;

	for (u32 k = 4; k <= 2 * MAX_BITS_PER_WORD; k += 2)
		if (baleen_bloom_fpp(n_blocks, k, n) < baleen_bloom_fpp(n_blocks, best, n))
			best = k;
	return best;
}

static int check_shape(double fpp, const struct baleen_shape *shape, struct baleen_error *error)
{
	if (shape->n_hashes % 2 || shape->n_hashes > 2 * MAX_BITS_PER_WORD)
		return baleen_fail(error, EINVAL,
				   "a blocked Bloom filter has 2, 4, 6 or 8 hashes, not %u: use "
				   "--kind classic",
				   shape->n_hashes);
	if (shape->n_bits > (u64)BALEEN_MAX_BLOCKS * BLOCK_BITS)
		return baleen_fail(error, E2BIG, "%llu bits are too many for one filter",
				   (unsigned long long)shape->n_bits);
	if (!shape->n_bits && fpp <= 0)
		return baleen_fail(error, EINVAL,
				   "a Bloom filter needs a false positive rate: --fpp");
	return 0;
}

/* Up to a number that can be halved again and again, see bloom_bits.h, until it is
 * small: below 0.8 % more, of a table below 256 blocks one more.
 */
static u64 round_blocks(u64 n_blocks)
{
	u32 log2 = baleen_log2(n_blocks);
	u64 unit = 1ull << (log2 > 7 ? log2 - 7 : log2 > 4);

	return divide_up(n_blocks, unit) * unit;
}

static int bloom_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
		      struct baleen_table *table, struct baleen_error *error)
{
	u64 n_blocks = divide_up(shape->n_bits, BLOCK_BITS);
	u32 n_hashes = shape->n_hashes;
	int err = check_shape(fpp, shape, error);

	if (err)
		return err;
	if (!n_blocks)
		n_blocks = choose_blocks(n, fpp, shape->n_hashes, &n_hashes);
	else if (!n_hashes)
		n_hashes = choose_hashes(n_blocks, n);
	if (n_blocks == UINT64_MAX)
		return baleen_fail(error, EINVAL,
				   "a Bloom filter cannot reach a false positive rate of %g in %d "
				   "bits a key: use --kind cuckoo",
				   fpp, BALEEN_BLOOM_MAX_BITS_PER_KEY);
	if (n_blocks > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	if (!shape->n_bits)
		n_blocks = round_blocks(n_blocks);
	*table = (struct baleen_table){
		.kind = BALEEN_KIND_BLOOM,
		.n_hashes = n_hashes,
		.n_blocks = n_blocks,
		.n_buckets = n_blocks,
	};
	return 0;
}

static double bloom_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return baleen_bloom_fpp(table->n_buckets, table->n_hashes, n);
}

/* --- rates of a filter as it is --------------------------------------------- */

/* The chance that a random key's bits are set in this block: it chooses two
 * words, any two alike, and n_hashes / 2 bits in each.
 */
static double block_fpp(const struct baleen_block *block, const double share[65])
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < BALEEN_BLOCK_WORDS; i++) {
		double word = share[__builtin_popcountll(block->word[i])];

		sum += word;
		squares += word * word;
	}
	/* The mean over ordered pairs of different words. */
	return (sum * sum - squares) / (BALEEN_BLOCK_WORDS * (BALEEN_BLOCK_WORDS - 1));
}

/* The false positive rate of a plane of blocks as it is: the mean over its blocks. */
static double measure(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	const struct baleen_block *block = filter->bytes;
	double share[65], sum = 0;

	for (u32 ones = 0; ones <= 64; ones++)
		share[ones] = pow(ones / 64., table->n_hashes / 2);
	for (u32 i = 0; i < table->n_buckets; i++)
		sum += block_fpp(&block[table->first_block + i], share);
	return sum / table->n_buckets;
}

/* --- keys ------------------------------------------------------------------- */

static int bloom_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			size_t *n_done)
{
	struct baleen_table *table = &filter->image.table[keys[0].domain];
	struct baleen_block *blocks = filter->bytes;
	struct baleen_bloom_place ring[AHEAD];

	for (size_t i = 0; i < n + AHEAD; i++) {
		struct baleen_bloom_place *place = &ring[i % AHEAD];

		if (i >= AHEAD)
			for (int half = 0; half < 2; half++)
				blocks[place->block].word[place->word[half]] |=
					baleen_le64(place->mask[half]);
		if (i < n) {
			*place = baleen_bloom_locate(table, &filter->image.seed, &keys[i]);
			__builtin_prefetch(&blocks[place->block], 1);
		}
	}
	table->n_entries += n;
	*n_done = n;
	return 0;
}

static int bloom_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	*changed = baleen_bloom_add(&filter->image.table[key->domain], &filter->image.seed,
				    filter->bytes, key);
	return 0;
}

const struct baleen_kind_ops baleen_bloom_ops = {
	.plan = bloom_plan,
	.fpp = bloom_fpp,
	.measure = measure,
	.insert = bloom_insert,
	.add = bloom_add,
};
