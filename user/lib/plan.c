// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a count and an error rate to the geometry of a table, and back. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include <baleen/prefixes.h>

#include "plan.h"

/* Bits per key past which a Bloom table is not worth having: a 64-bit slot of
 * a cuckoo table errs less.
 */
#define BLOOM_MAX_BITS_PER_KEY 128

/* Keys in a block past which a bit is unset with probability 1e-7 at most, so
 * that the rate is 1 in all the digits that are printed.
 */
#define BLOOM_SATURATED 4096

#define WORD_BITS 64
#define MAX_BITS_PER_WORD 4

static u64 divide_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

static u64 buckets_for(u64 n)
{
	double load = n < BALEEN_SMALL_TABLE ? 0.8 : BALEEN_LOAD_FACTOR;

	return (u64)ceil(n / (load * BALEEN_BUCKET_SLOTS));
}

/* Fewest buckets with which slots of this width are lossless; section 2 of
 * the design: 2^b buckets and t-bit slots keep b + t - 2 bits.
 */
static u64 min_buckets(u32 domain, u32 slot_bits)
{
	u32 key_bits = baleen_key_bits(domain);

	if (domain == BALEEN_IP6_PREFIXES)
		return 1u << BALEEN_PREFIX_MIN_LOG2;
	if (domain != BALEEN_IP4 && slot_bits == 16)
		return 4;
	return key_bits > slot_bits - 2 ? 1ull << (key_bits - (slot_bits - 2)) : 1;
}

/* Blocks of a cuckoo table; its last block is filled up with buckets. */
static u64 cuckoo_blocks(u32 domain, u32 slot_bits, u64 n)
{
	u64 n_buckets = buckets_for(n), least = min_buckets(domain, slot_bits);

	return divide_up(n_buckets > least ? n_buckets : least,
			 baleen_buckets_per_block(slot_bits));
}

/* Eight slots are compared, each agrees in side bit and tag by chance. */
static double cuckoo16_fpp(double load)
{
	return -expm1(2 * BALEEN_BUCKET_SLOTS * load * log1p(-ldexp(1, -15)));
}

static u32 cuckoo_slot_bits(u32 domain, u64 n, double fpp)
{
	if (domain != BALEEN_IP4)
		return fpp >= cuckoo16_fpp(BALEEN_LOAD_FACTOR) ? 16 : 64;
	return cuckoo_blocks(domain, 16, n) < cuckoo_blocks(domain, 32, n) ? 16 : 32;
}

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
	/* Of the 28 pairs of words a key may choose, one is the pair that is
	 * asked for, and six more touch a given word of it.
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
	u64 low = 1, high = divide_up(n * BLOOM_MAX_BITS_PER_KEY, BALEEN_BLOCK_BYTES * 8) + 1;

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

static int too_many(u64 n, struct baleen_error *error)
{
	return baleen_fail(error, E2BIG, "%llu keys are too many for one filter",
			   (unsigned long long)n);
}

static int plan_bloom(u64 n, double fpp, struct baleen_table *table, struct baleen_error *error)
{
	u64 least = UINT64_MAX;
	u32 n_hashes = 0;

	if (fpp <= 0)
		return baleen_fail(error, EINVAL,
				   "a Bloom filter needs a false positive rate: --fpp");
	for (u32 k = 2; k <= 2 * MAX_BITS_PER_WORD; k += 2) {
		u64 n_blocks = bloom_blocks(k, n, fpp);

		if (n_blocks < least) {
			least = n_blocks;
			n_hashes = k;
		}
	}
	if (!n_hashes)
		return baleen_fail(error, EINVAL,
				   "a Bloom filter cannot reach a false positive rate of %g in %d "
				   "bits a key: use --kind cuckoo",
				   fpp, BLOOM_MAX_BITS_PER_KEY);
	if (least > BALEEN_MAX_BLOCKS)
		return too_many(n, error);
	*table = (struct baleen_table){
		.kind = BALEEN_KIND_BLOOM,
		.n_hashes = n_hashes,
		.n_blocks = least,
		.n_buckets = least,
	};
	return 0;
}

/* Cuckoo tables, and those of prefixes, which differ in what a slot means. */
static int plan_slots(u32 domain, u32 kind, u64 n, double fpp, struct baleen_table *table,
		      struct baleen_error *error)
{
	u32 slot_bits = cuckoo_slot_bits(domain, n, fpp);
	u64 n_blocks = cuckoo_blocks(domain, slot_bits, n);
	u32 n_buckets = n_blocks * baleen_buckets_per_block(slot_bits);

	if (n_blocks > BALEEN_MAX_BLOCKS)
		return too_many(n, error);
	*table = (struct baleen_table){
		.kind = kind,
		.slot_bits = slot_bits,
		.n_blocks = n_blocks,
		.n_buckets = n_buckets,
		.log2_buckets = baleen_log2(n_buckets),
	};
	return 0;
}

static int plan_entries(u64 n, struct baleen_table *table, struct baleen_error *error)
{
	u64 n_blocks = divide_up(n * sizeof(struct baleen_entry6), BALEEN_BLOCK_BYTES);

	if (n_blocks > BALEEN_MAX_BLOCKS)
		return too_many(n, error);
	*table = (struct baleen_table){
		.kind = BALEEN_KIND_ENTRIES,
		.n_blocks = n_blocks,
		.n_buckets = n,
	};
	return 0;
}

int baleen_plan_table(u32 domain, u32 kind, u64 n, double fpp, struct baleen_table *table,
		      struct baleen_error *error)
{
	if (!(fpp >= 0 && fpp < 1))
		return baleen_fail(error, EINVAL, "a false positive rate is 0 or more, below 1");
	/* Far above what any geometry holds, so that nothing below overflows. */
	if (n > (u64)BALEEN_MAX_BLOCKS * BALEEN_BLOCK_BYTES)
		return too_many(n, error);
	switch (kind) {
	case BALEEN_KIND_BLOOM: return plan_bloom(n, fpp, table, error);
	case BALEEN_KIND_ENTRIES: return plan_entries(n, table, error);
	case BALEEN_KIND_PREFIXES: return plan_slots(domain, kind, n, 0, table, error);
	default: return plan_slots(domain, BALEEN_KIND_CUCKOO, n, fpp, table, error);
	}
}

u64 baleen_table_capacity(const struct baleen_table *table)
{
	if (table->kind != BALEEN_KIND_CUCKOO)
		return UINT64_MAX;
	return (u64)table->n_buckets * BALEEN_BUCKET_SLOTS * BALEEN_LOAD_FACTOR;
}

bool baleen_table_is_exact(const struct baleen_image *image, u32 domain)
{
	const struct baleen_table *table = &image->table[domain];

	switch (table->kind) {
	case BALEEN_KIND_DIRECTORY:
	case BALEEN_KIND_ENTRIES: return true;
	case BALEEN_KIND_PREFIXES: return !image->prefix_lengths[1];
	case BALEEN_KIND_CUCKOO:
		return domain == BALEEN_IP4 || (domain == BALEEN_WORD && table->slot_bits == 64);
	default: return false;
	}
}

bool baleen_image_is_exact(const struct baleen_image *image)
{
	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++)
		if (image->table[domain].kind != BALEEN_KIND_NONE &&
		    !baleen_table_is_exact(image, domain))
			return false;
	return true;
}

double baleen_table_fpp(const struct baleen_image *image, u32 domain, u64 n)
{
	const struct baleen_table *table = &image->table[domain];

	if (table->kind == BALEEN_KIND_NONE || baleen_table_is_exact(image, domain))
		return 0;
	if (table->kind == BALEEN_KIND_BLOOM)
		return baleen_bloom_fpp(table->n_blocks, table->n_hashes, n);
	if (table->kind == BALEEN_KIND_PREFIXES)
		return ldexp((double)BALEEN_PREFIX_PROBES * n, -64);
	if (table->slot_bits == 64)
		return ldexp(n, -64);
	return cuckoo16_fpp((double)n / table->n_buckets / BALEEN_BUCKET_SLOTS);
}

double baleen_image_fpp(const struct baleen_image *image)
{
	double worst = 0;

	for (u32 domain = 0; domain < BALEEN_N_DOMAINS; domain++) {
		const struct baleen_table *table = &image->table[domain];
		u64 n = table->kind == BALEEN_KIND_PREFIXES ?
				(u64)table->n_buckets * BALEEN_BUCKET_SLOTS :
				table->n_entries;

		worst = fmax(worst, baleen_table_fpp(image, domain, n));
	}
	return worst;
}
