// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cost of each kind of filter, without making one. */
#include <errno.h>
#include <math.h>

#include "filter/bloom_math.h"
#include "ops/plan_kinds.h"

const u32 baleen_planned_kinds[BALEEN_N_PLANNED] = { BALEEN_KIND_CUCKOO, BALEEN_KIND_BLOOM,
						     BALEEN_KIND_CLASSIC, BALEEN_KIND_COUNTING,
						     BALEEN_KIND_QUOTIENT };

/* Below 2^-62 no kind has another rate to offer but none at all. */
#define LEAST_LOG2 (-62.)

/* Halvings of that interval, to one part in 10^7 of a rate. */
#define HALVINGS 30

/* A filter with this rate says yes to all but one key in a million. */
#define MOST_RATE 0.999999

/* Slots of a bucket in the memory examples of the texts. */
#define TEXTBOOK_SLOTS 2

/* The texts' loads of buckets of 1, 2 and 4 slots; of 3 they tell none. */
static const double textbook_loads[] = { 0, 0.5, 0.84, 0, 0.95 };

/* --- plans of Baleen ------------------------------------------------------- */

void baleen_cost_plan(u32 domain, u32 kind, u64 n, double fpp, const struct baleen_shape *shape,
		      struct baleen_cost *cost)
{
	struct baleen_image image = { 0 };

	*cost = (struct baleen_cost){ .table.kind = kind };
	cost->err = baleen_plan_shaped(domain, kind, n, fpp, shape, &cost->table, &cost->error);
	if (cost->err)
		return;
	image.table[domain] = cost->table;
	cost->n_bytes = (u64)cost->table.n_blocks * BALEEN_BLOCK_BYTES;
	cost->n_bits =
		kind == BALEEN_KIND_CLASSIC ? baleen_table_bits(&cost->table) : cost->n_bytes * 8;
	cost->bits_per_key = (double)cost->n_bits / n;
	cost->is_exact = baleen_table_is_exact(&image, domain);
	cost->fpp = baleen_table_fpp(&image, domain, n);
}

/* Blocks are filled up: what the last one has left over is not counted. */
static bool is_within(const struct baleen_cost *cost, double n_bits)
{
	return !cost->err && cost->n_bits < n_bits + BALEEN_BLOCK_BYTES * 8;
}

/* As many bits as there may be, and the best rate that these have. */
static void fill_plane(u32 domain, u32 kind, u64 n, double bits_per_key,
		       const struct baleen_shape *shape, struct baleen_cost *cost)
{
	double n_bits = kind == BALEEN_KIND_COUNTING ?
				bits_per_key * n / (1 + BALEEN_COUNTER_BITS) :
				bits_per_key * n;
	struct baleen_shape sized = *shape;
	u64 n_blocks = n_bits / (BALEEN_BLOCK_BYTES * 8);
	double least = 1;

	if (kind == BALEEN_KIND_CLASSIC || shape->hash || shape->n_bits) {
		sized.n_bits = shape->n_bits ? shape->n_bits : n_bits;
		if (shape->hash == BALEEN_HASH_SQUID && !shape->n_bits)
			sized.n_bits -= sized.n_bits % 8;
		baleen_cost_plan(domain, kind, n, 0, &sized, cost);
		return;
	}
	/* A plan takes no more than that, however many there may be. */
	n_blocks = fmin(n_blocks,
			n * (double)BALEEN_BLOOM_MAX_BITS_PER_KEY / (BALEEN_BLOCK_BYTES * 8) + 1);
	/* And a little more, so that it can be folded in halves. */
	n_blocks -= n_blocks / 64 + (n_blocks > 1);
	for (u32 k = 2; k <= 8 && n_blocks; k += 2)
		if (!shape->n_hashes || shape->n_hashes == k)
			least = fmin(least, baleen_bloom_fpp(n_blocks, k, n));
	/* Next to it, where sums of the same come out otherwise. */
	least = fmax(least, baleen_hash_rate(domain, kind, n, shape));
	baleen_cost_plan(domain, kind, n, fmin(least * (1 + 1e-9), MOST_RATE), shape, cost);
}

static void fill_slots(u32 domain, u32 kind, u64 n, double bits_per_key,
		       const struct baleen_shape *shape, struct baleen_cost *cost)
{
	double low = LEAST_LOG2, high = 0;
	struct baleen_cost tried, loosest;

	baleen_cost_plan(domain, kind, n, 0, shape, &tried);
	if (is_within(&tried, bits_per_key * n)) {
		*cost = tried;
		return;
	}
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		baleen_cost_plan(domain, kind, n, exp2(middle), shape, &tried);
		if (is_within(&tried, bits_per_key * n)) {
			*cost = tried;
			high = middle;
		} else {
			low = middle;
		}
	}
	/* Another reason than the bits: no rate helps against it. */
	baleen_cost_plan(domain, kind, n, MOST_RATE, shape, &loosest);
	if (cost->err && loosest.err)
		*cost = loosest;
}

void baleen_cost_fill(u32 domain, u32 kind, u64 n, double bits_per_key,
		      const struct baleen_shape *shape, struct baleen_cost *cost)
{
	struct baleen_cost found = { .err = -EINVAL };

	if (kind == BALEEN_KIND_CUCKOO || kind == BALEEN_KIND_QUOTIENT ||
	    baleen_kind_has_chains(kind))
		fill_slots(domain, kind, n, bits_per_key, shape, &found);
	else
		fill_plane(domain, kind, n, bits_per_key, shape, &found);
	*cost = found;
	if (is_within(&found, bits_per_key * n) || (found.err && *found.error.text))
		return;
	*cost = (struct baleen_cost){ .table.kind = kind };
	cost->err =
		baleen_fail(&cost->error, EINVAL, "takes more than %g bits a key", bits_per_key);
}

/* --- plans of the textbooks ------------------------------------------------- */

double baleen_any_bound(double n, double fpp)
{
	return n * log2(1 / fpp);
}

/* Longer than a double: of 10^10 keys that has no digits left behind the point of m. */
static struct baleen_textbook textbook_bloom(double n, double fpp)
{
	const long double ln2 = logl(2);
	double m = floorl(-n * logl(fpp) / (ln2 * ln2));
	u32 k = floorl(m / n * ln2);

	return (struct baleen_textbook){
		.n_bits = m,
		.n_hashes = k,
		.fpp = k ? baleen_classic_fpp(m, k, n) : 1,
	};
}

static struct baleen_textbook textbook_quotient(double n, double fpp)
{
	int q = 0, r;
	double load;

	while (ldexp(1, q) <= n)
		q++;
	load = ldexp(n, -q);
	r = ceil(log2(-load / log1p(-fpp)));
	return (struct baleen_textbook){
		.n_bits = ldexp(r + BALEEN_QUOTIENT_META, q),
		.log2_buckets = q,
		.slot_bits = r,
		.load = load,
		.fpp = -expm1(-ldexp(n, -(q + r))),
	};
}

static struct baleen_textbook textbook_cuckoo(double n, double fpp, u32 bucket_slots)
{
	u32 b = bucket_slots ? bucket_slots : TEXTBOOK_SLOTS, log2_buckets = 0;
	double load = textbook_loads[b];
	int p = 0;

	while (ldexp(b, log2_buckets) < n)
		log2_buckets++;
	/* The logarithm of a number next to a power of two is rounded; this is not. */
	while (ldexp(fpp, p) < 2 * b)
		p++;
	return (struct baleen_textbook){
		.n_bits = ldexp(b * p, log2_buckets),
		.log2_buckets = log2_buckets,
		.bucket_slots = b,
		.slot_bits = p,
		.load = n / ldexp(b, log2_buckets),
		.n_buckets_least = ceil(n / b),
		.load_limit = load,
		.n_buckets_loaded = load ? ceil(n / (b * load)) : 0,
		.fpp = -expm1(2 * b * log1p(-ldexp(1, -p))),
	};
}

static struct baleen_textbook textbook_compact(double n, double fpp)
{
	int l = 0;

	while (ldexp(fpp, l) < n)
		l++;
	return (struct baleen_textbook){
		.n_bits = n * l,
		.slot_bits = l,
		.fpp = ldexp(n, -l),
	};
}

struct baleen_textbook baleen_textbook_plan(u32 kind, double n, double fpp, u32 bucket_slots)
{
	struct baleen_textbook plan;

	switch (kind) {
	case BALEEN_KIND_QUOTIENT: return textbook_quotient(n, fpp);
	case BALEEN_KIND_CUCKOO: return textbook_cuckoo(n, fpp, bucket_slots);
	case BALEEN_KIND_COMPACT: return textbook_compact(n, fpp);
	case BALEEN_KIND_COUNTING:
		plan = textbook_bloom(n, fpp);
		plan.n_bits *= BALEEN_COUNTER_BITS;
		return plan;
	default: return textbook_bloom(n, fpp);
	}
}
