// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of slots, of keys and of IPv6 prefixes: plan, rates and counts. */
#include <math.h>
#include <stdint.h>

#include "cuckoo_table.h"
#include "hashes.h"
#include "kind.h"
#include "plan.h"
#include "slots.h"

static u64 divide_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

/* --- plan ------------------------------------------------------------------ */

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

/* Cuckoo tables, and those of prefixes, which differ in what a slot means. */
static int plan_slots(u32 domain, u32 kind, u64 n, double fpp, struct baleen_table *table,
		      struct baleen_error *error)
{
	u32 slot_bits = cuckoo_slot_bits(domain, n, fpp);
	u64 n_blocks = cuckoo_blocks(domain, slot_bits, n);
	u32 n_buckets = n_blocks * baleen_buckets_per_block(slot_bits);

	if (n_blocks > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	*table = (struct baleen_table){
		.kind = kind,
		.slot_bits = slot_bits,
		.n_blocks = n_blocks,
		.n_buckets = n_buckets,
		.log2_buckets = baleen_log2(n_buckets),
	};
	return 0;
}

static int cuckoo_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
		       struct baleen_table *table, struct baleen_error *error)
{
	return plan_slots(domain, BALEEN_KIND_CUCKOO, n, fpp, table, error);
}

static int prefixes_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			 struct baleen_table *table, struct baleen_error *error)
{
	return plan_slots(domain, BALEEN_KIND_PREFIXES, n, 0, table, error);
}

static u64 cuckoo_capacity(const struct baleen_table *table)
{
	return (u64)table->n_buckets * BALEEN_BUCKET_SLOTS * BALEEN_LOAD_FACTOR;
}

/* --- rates ----------------------------------------------------------------- */

static bool cuckoo_is_exact(const struct baleen_table *table, u32 domain)
{
	return domain == BALEEN_IP4 || (domain == BALEEN_WORD && table->slot_bits == 64);
}

static double cuckoo_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	if (table->slot_bits == 64)
		return ldexp(n, -64);
	return cuckoo16_fpp((double)n / table->n_buckets / BALEEN_BUCKET_SLOTS);
}

static double prefixes_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return ldexp((double)BALEEN_PREFIX_PROBES * n, -64);
}

static u64 slots_used(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_slots slots = baleen_slots_of(filter, domain);
	u64 n = 0;

	for (u32 bucket = 0; bucket < slots.table->n_buckets; bucket++)
		for (u32 i = 0; i < baleen_bucket_slots(slots.table); i++)
			n += baleen_slots_get(&slots, bucket, i) != 0;
	for (u32 i = 0; i < slots.table->n_stash; i++)
		n += baleen_slots_stash(&slots)[i] != 0;
	return n;
}

const struct baleen_kind_ops baleen_cuckoo_ops = {
	.name = "cuckoo",
	.plan = cuckoo_plan,
	.capacity = cuckoo_capacity,
	.is_exact = cuckoo_is_exact,
	.fpp = cuckoo_fpp,
	.used = slots_used,
	.count = slots_used,
	.insert = baleen_cuckoo_insert,
	.add = baleen_cuckoo_live_add,
	.del = baleen_cuckoo_live_del,
	.hashes = baleen_cuckoo_hashes,
	.put_hashes = baleen_cuckoo_put_hashes,
};

/* Past /64 it depends on the lengths that occur: see baleen_table_is_exact(). */
const struct baleen_kind_ops baleen_prefixes_ops = {
	.name = "prefixes",
	.plan = prefixes_plan,
	.fpp = prefixes_fpp,
	.used = slots_used,
};
