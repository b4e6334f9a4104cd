// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of slots, of keys and of IPv6 prefixes: plan, rates and counts. */
#include <errno.h>
#include <math.h>
#include <stdint.h>

#include "filter/cuckoo_fill.h"
#include "filter/cuckoo_shape.h"
#include "filter/cuckoo_table.h"
#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/slots.h"

static u64 divide_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

/* --- plan ------------------------------------------------------------------ */

/* Share of the slots that a table is planned to fill. In 1,000 builds each with 10
 * to 3,000 keys the first seed was refused in 2.4 % at the most with one slot a
 * bucket, 1 % with two and 0.2 % with four; with 20,000 keys and more never. A few
 * unlucky buckets weigh more in a small table.
 */
static double planned_load(u32 bucket_slots, u64 n)
{
	static const double small[] = { 0.25, 0.7, 0.75, 0.8 },
			    large[] = { 0.45, 0.84, 0.92, BALEEN_LOAD_FACTOR };
	double load = large[bucket_slots - 1];

	if (n >= BALEEN_SMALL_TABLE)
		return load;
	/* Never more slots than the fewest keys of a large table have. */
	return fmax(small[bucket_slots - 1], load * n / BALEEN_SMALL_TABLE);
}

/* The table that is asked for. */
struct request {
	u32 domain;
	u64 n;
	double fpp;
	u32 bucket_slots;
	double load;
	bool is_loaded;
	bool has_copies;
	bool is_semi_sorted;
	bool has_stash;
	u32 n_buckets;
	u32 form;
};

/* As many buckets as there is room for in the blocks of so many. */
static u64 fill_blocks(const struct baleen_table *table, u64 n_buckets)
{
	u64 bits = baleen_bucket_bits(table), per_block;

	if (baleen_table_is_packed(table))
		return (divide_up(n_buckets * bits + BALEEN_PACKED_MARGIN, 512) * 512 -
			BALEEN_PACKED_MARGIN) /
		       bits;
	per_block = baleen_cuckoo_per_block(table);
	return divide_up(n_buckets, per_block) * per_block;
}

/* Its last block is filled up with buckets. */
static void plan_width(const struct request *request, u32 slot_bits, bool is_packed,
		       struct baleen_table *table)
{
	u32 slots = request->bucket_slots;
	u64 least = baleen_cuckoo_min_buckets(request->domain, slot_bits, is_packed), n_buckets;
	u32 packed = request->is_semi_sorted ? BALEEN_PACKED | BALEEN_SEMI_SORTED : BALEEN_PACKED;

	*table = (struct baleen_table){
		.kind = BALEEN_KIND_CUCKOO,
		.slot_bits = slot_bits,
		.bucket_slots = is_packed					? slots | packed :
				slots == BALEEN_BUCKET_SLOTS && slot_bits >= 16 ? 0 :
										  slots,
		.n_stash = request->has_stash ? BALEEN_STASH_SLOTS : 0,
		.form = request->form,
	};
	n_buckets = (u64)ceil(request->n / (request->load * slots));
	n_buckets = fill_blocks(table, n_buckets > least ? n_buckets : least);
	if (request->n_buckets)
		n_buckets = request->n_buckets;
	/* Past the limit as well where the number is cut. */
	table->n_buckets = n_buckets <= UINT32_MAX ? n_buckets : UINT32_MAX;
	table->log2_buckets = baleen_log2(table->n_buckets);
	table->n_blocks = baleen_table_blocks(table);
}

/* The share of keys outside the set that find a slot which looks like theirs:
 * of what a lossy table tells apart, as much as it has slots in use.
 */
static double cuckoo_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	u32 slot_bits = table->slot_bits;
	double looks = (double)table->n_buckets * ldexp(1, slot_bits - 2);

	if (slot_bits == 64)
		return ldexp(n, -64);
	/* A slot without a side bit looks the same in both buckets. */
	if (baleen_table_has_fingerprints(table))
		looks = (double)table->n_buckets * ((1ull << slot_bits) - 1) / 2;
	return fmin(1, n / looks);
}

static bool cuckoo_is_exact(const struct baleen_table *table, u32 domain)
{
	return !baleen_table_has_fingerprints(table) &&
	       (domain == BALEEN_IP4 || (domain == BALEEN_WORD && table->slot_bits == 64));
}

/* The mean number of groups that find no room, whatever the load: keys that look the same, each
 * with a slot, and more of them than two buckets have. A Poisson distribution counts the keys of
 * a group. Where slots tell keys apart there is no group.
 */
static double crowded_out(const struct request *request, const struct baleen_table *table)
{
	double slots = 2 * baleen_bucket_slots(table), mean, looks;

	if (!request->has_copies || baleen_table_tells_apart(table, request->domain))
		return 0;
	mean = cuckoo_fpp(table, request->domain, request->n);
	looks = request->n / mean;
	/* The first term of the tail: all that matters where rates are low. */
	return looks * exp((slots + 1) * log(mean) - mean - lgamma(slots + 2));
}

/* Seeds of which the first one may be refused for that. */
#define MOST_CROWDED_OUT 0.02

/* Whether a table can be, and errs as little as is allowed when it is full. */
static bool is_fit(const struct request *request, const struct baleen_table *table)
{
	u64 n_full = (u64)table->n_buckets * request->bucket_slots * request->load;

	return table->n_blocks <= BALEEN_MAX_BLOCKS && table->n_buckets <= BALEEN_MAX_BUCKETS &&
	       (cuckoo_is_exact(table, request->domain) ||
		cuckoo_fpp(table, request->domain, n_full) <= request->fpp) &&
	       crowded_out(request, table) <= MOST_CROWDED_OUT;
}

static struct request with_slots(const struct request *request, u32 bucket_slots)
{
	struct request changed = *request;

	changed.bucket_slots = bucket_slots;
	if (!changed.is_loaded)
		changed.load = planned_load(bucket_slots, request->n);
	return changed;
}

/* The smallest slots that are exact for IPv4 addresses. */
static void plan_exact(const struct request *request, struct baleen_table *table)
{
	struct baleen_table wide;

	plan_width(request, 16, false, table);
	plan_width(request, 32, false, &wide);
	if (table->n_blocks >= wide.n_blocks)
		*table = wide;
}

/* Slots of which the same width in blocks does not do better. */
static bool may_pack(const struct request *request, u32 slot_bits, u32 bucket_slots)
{
	if (request->is_semi_sorted)
		return bucket_slots == BALEEN_BUCKET_SLOTS && slot_bits > BALEEN_MIN_PACKED_BITS &&
		       slot_bits <= BALEEN_MAX_PACKED_BITS;
	if (baleen_cuckoo_is_aligned(slot_bits, bucket_slots) &&
	    (slot_bits == 8 || request->domain == BALEEN_IP4))
		return false;
	return slot_bits <= BALEEN_MAX_PACKED_BITS;
}

/* A table of one shape is what was asked for, whatever its rate. Slots that say where a
 * key is at home come first; those that hold fingerprints err half as much.
 */
static void plan_shape(const struct request *request, const struct baleen_shape *shape,
		       struct baleen_table *table)
{
	bool is_packed = request->is_semi_sorted ||
			 !baleen_cuckoo_is_aligned(shape->slot_bits, request->bucket_slots);
	struct baleen_table packed;

	plan_width(request, shape->slot_bits, is_packed, table);
	if (is_packed || is_fit(request, table) || request->form ||
	    !may_pack(request, shape->slot_bits, request->bucket_slots))
		return;
	plan_width(request, shape->slot_bits, true, &packed);
	if (is_fit(request, &packed))
		*table = packed;
}

/* A search for the smallest table. */
struct search {
	const struct baleen_shape *shape;
	struct baleen_table *table;
	bool is_found;
	bool empties;
};

/* The load at which slots that err too often when they are full err as little as is allowed: the
 * rate is in proportion to the load. A hair less, against rounding.
 */
static double allowed_load(const struct request *request, const struct baleen_table *table)
{
	u64 n_slots = (u64)table->n_buckets * request->bucket_slots;

	return request->fpp / cuckoo_fpp(table, request->domain, n_slots) * (1 - 1e-9);
}

static void try_width(struct search *search, const struct request *request, u32 slot_bits,
		      bool is_packed)
{
	struct request tried = *request;
	struct baleen_table planned;

	plan_width(request, slot_bits, is_packed, &planned);
	if (search->empties) {
		tried.load = allowed_load(request, &planned);
		if (tried.load < BALEEN_CUCKOO_LEAST_LOAD || tried.load >= request->load)
			return;
		plan_width(&tried, slot_bits, is_packed, &planned);
	}
	if (!is_fit(&tried, &planned) ||
	    (search->is_found && planned.n_blocks >= search->table->n_blocks))
		return;
	*search->table = planned;
	search->is_found = true;
}

static void try_shapes(struct search *search, const struct request *request)
{
	const struct baleen_shape *shape = search->shape;
	u32 least = shape->slot_bits ? shape->slot_bits : BALEEN_MIN_PACKED_BITS;
	u32 most = shape->slot_bits ? shape->slot_bits : 64;

	for (u32 slots = BALEEN_BUCKET_SLOTS; slots; slots--) {
		const struct request changed = with_slots(request, slots);

		if ((shape->bucket_slots && shape->bucket_slots != slots) ||
		    changed.load > baleen_cuckoo_most_load(slots))
			continue;
		for (u32 width = least; width <= most; width++) {
			if (baleen_cuckoo_is_aligned(width, slots) && !request->is_semi_sorted)
				try_width(search, &changed, width, false);
			if (may_pack(request, width, slots))
				try_width(search, &changed, width, true);
		}
	}
}

/* Buckets whose slots cannot keep all of a key. */
static bool has_prints_only(const struct request *request, const struct baleen_shape *shape)
{
	return request->is_semi_sorted || shape->bucket_slots == 3;
}

/* The smallest of all shapes and loads that err as little as is allowed; of those of one size the
 * one in blocks, that of most slots a bucket, which fills best, and that of wider slots, which
 * errs less. IPv4 addresses are exact, unless they may err; of what else a packet has, wide slots
 * can change in place.
 */
static void plan_any(const struct request *request, const struct baleen_shape *shape,
		     struct baleen_table *table)
{
	bool is_exact = request->domain == BALEEN_IP4 && !shape->slot_bits &&
			!has_prints_only(request, shape);
	struct search search = { .shape = shape, .table = table, .is_found = is_exact };

	/* No rate, or none that is low enough: slots that keep all. */
	if (is_exact)
		plan_exact(request, table);
	else if (shape->slot_bits)
		plan_shape(request, shape, table);
	else if (has_prints_only(request, shape))
		plan_width(request, BALEEN_MAX_PACKED_BITS, true, table);
	else
		plan_width(request, 64, false, table);
	if (is_exact && !shape->may_err)
		return;
	try_shapes(&search, request);
	search.empties = true;
	if (!request->is_loaded && request->fpp)
		try_shapes(&search, request);
}

static int plan_slots(const struct request *request, const struct baleen_shape *shape,
		      struct baleen_table *table, struct baleen_error *error)
{
	struct baleen_table planned;

	if (shape->slot_bits && (shape->bucket_slots || shape->n_buckets || !request->fpp))
		plan_shape(request, shape, &planned);
	else
		plan_any(request, shape, &planned);
	if (!shape->slot_bits && has_prints_only(request, shape) &&
	    cuckoo_fpp(&planned, request->domain, request->n) > request->fpp)
		return baleen_fail(error, EINVAL, "fingerprints of 32 bits err more often than %g",
				   request->fpp);
	if (planned.n_blocks > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(request->n, error);
	if (planned.n_buckets > BALEEN_MAX_BUCKETS)
		return baleen_fail(error, EOVERFLOW,
				   "%llu keys are too many for one filter: a table has 2^31 "
				   "buckets at most",
				   (unsigned long long)request->n);
	*table = planned;
	return 0;
}

static int cuckoo_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
		       struct baleen_table *table, struct baleen_error *error)
{
	u32 slots = shape->bucket_slots ? shape->bucket_slots : BALEEN_BUCKET_SLOTS;
	struct request request = {
		.domain = domain,
		.n = n,
		.fpp = fpp,
		.bucket_slots = slots,
		.load = shape->load,
		.is_loaded = shape->load,
		.has_copies = shape->has_copies,
		.is_semi_sorted = shape->is_semi_sorted,
		.has_stash = shape->has_stash,
		.n_buckets = shape->n_buckets,
		.form = shape->form,
	};
	int err = baleen_cuckoo_shape_check(domain, n, fpp, shape, error);

	if (err)
		return err;
	if (!shape->load)
		request.load = planned_load(slots, n);
	return plan_slots(&request, shape, table, error);
}

static u64 cuckoo_capacity(const struct baleen_table *table)
{
	u32 slots = baleen_bucket_slots(table);

	return (u64)table->n_buckets * slots * planned_load(slots, UINT64_MAX);
}

/* --- rates ----------------------------------------------------------------- */

static double prefixes_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return ldexp((double)BALEEN_PREFIX_PROBES * n, -64);
}

static u64 slots_used(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u64 n = 0;

	for (u32 bucket = 0; bucket < slots.table->n_buckets; bucket++)
		for (u32 i = 0; i < slots.n_slots; i++)
			n += baleen_slots_get(&slots, bucket, i) != 0;
	for (u32 i = 0; i < slots.table->n_stash; i++)
		n += baleen_slots_stash(&slots)[i] != 0;
	return n;
}

static u64 cuckoo_copies(const struct baleen_filter *filter, const struct baleen_key *key)
{
	struct baleen_slots slots = baleen_slots_of(filter, key->domain);
	struct baleen_cuckoo_place place = baleen_slots_place(&slots, &filter->image.seed, key);

	return baleen_slots_copies(&slots, &place);
}

const struct baleen_kind_ops baleen_cuckoo_ops = {
	.plan = cuckoo_plan,
	.capacity = cuckoo_capacity,
	.is_exact = cuckoo_is_exact,
	.fpp = cuckoo_fpp,
	.used = slots_used,
	.count = slots_used,
	.copies = cuckoo_copies,
	.insert = baleen_cuckoo_insert,
	.fill = baleen_cuckoo_fill,
	.add = baleen_cuckoo_live_add,
	.del = baleen_cuckoo_live_del,
	.hashes = baleen_cuckoo_hashes,
	.put_hashes = baleen_cuckoo_put_hashes,
};

/* In images of before trees had low nodes. Past /64 it depends on the lengths that occur: see
 * baleen_table_is_exact().
 */
const struct baleen_kind_ops baleen_prefixes_ops = {
	.fpp = prefixes_fpp,
	.used = slots_used,
};
