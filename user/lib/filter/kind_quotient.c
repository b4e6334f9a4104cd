// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The quotient filter: plan, rates and keys. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/quotient_stream.h"
#include "filter/quotient_table.h"

/* The widest quotient and remainder that an image holds. */
#define MAX_LOG2 31
#define MAX_REMAINDER_BITS 63

/* Keys whose lines are asked for ahead of insertion, as in insert.c. */
#define AHEAD 16

/* --- plan ------------------------------------------------------------------ */

/* Bits of the smallest table that n keys fill no further than this. */
static u32 quotient_bits(u64 n, double load)
{
	u32 log2 = 1;

	while (log2 <= MAX_LOG2 && n > ldexp(load, log2))
		log2++;
	return log2;
}

/* The least r with 1 - e^(-n / 2^(q + r)) <= fpp. */
static u32 remainder_bits(u64 n, double fpp, u32 log2, u32 key_bits)
{
	u32 r = 1;

	while (r < key_bits - log2 && -expm1(-ldexp(n, -(int)(log2 + r))) > fpp)
		r++;
	return r;
}

static int check_shape(u64 n, double fpp, u32 log2, u32 key_bits, const struct baleen_shape *shape,
		       struct baleen_error *error)
{
	double rate = -expm1(-ldexp(n, -(int)(log2 + shape->remainder_bits)));

	if (shape->remainder_bits > MAX_REMAINDER_BITS || log2 + shape->remainder_bits > key_bits)
		return baleen_fail(error, EINVAL,
				   "remainders of %u bits: %u bits of a key of %u are left beside "
				   "%llu slots",
				   shape->remainder_bits, key_bits - log2, key_bits, 1ull << log2);
	/* All bits of a key err in no key, or as rarely as can be. */
	if (fpp && rate > fpp && log2 + shape->remainder_bits < key_bits)
		return baleen_fail(error, EINVAL,
				   "remainders of %u bits err at a rate of %g, more than %g",
				   shape->remainder_bits, rate, fpp);
	return 0;
}

static int quotient_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			 struct baleen_table *table, struct baleen_error *error)
{
	u32 key_bits = shape->form ? BALEEN_FORM_BITS : baleen_key_bits(domain);
	u32 log2 = quotient_bits(n, shape->load ? shape->load : BALEEN_QUOTIENT_LOAD);
	struct baleen_table made = {
		.kind = BALEEN_KIND_QUOTIENT,
		.shape = BALEEN_QUOTIENT_META,
		.form = shape->form,
	};
	int err;

	if (log2 > MAX_LOG2)
		return baleen_plan_too_many(n, error);
	if (shape->remainder_bits) {
		err = check_shape(n, fpp, log2, key_bits, shape, error);
		if (err)
			return err;
	}
	made.log2_buckets = log2;
	made.n_buckets = 1u << log2;
	made.slot_bits = shape->remainder_bits ? shape->remainder_bits :
			 fpp		       ? remainder_bits(n, fpp, log2, key_bits) :
						 key_bits - log2;
	if (baleen_table_blocks(&made) > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	made.n_blocks = baleen_table_blocks(&made);
	*table = made;
	return 0;
}

static u64 quotient_capacity(const struct baleen_table *table)
{
	return table->n_buckets * BALEEN_QUOTIENT_LOAD;
}

/* --- rates ----------------------------------------------------------------- */

static bool quotient_is_exact(const struct baleen_table *table, u32 domain)
{
	return (domain == BALEEN_IP4 || domain == BALEEN_WORD) &&
	       table->log2_buckets + table->slot_bits == baleen_key_bits(domain);
}

static double quotient_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return -expm1(-ldexp(n, -(int)(table->log2_buckets + table->slot_bits)));
}

static u64 quotient_used(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	u64 n = 0;

	for (u32 group = 0; group < baleen_quotient_groups(quotient.table); group++)
		n += baleen_popcount64(baleen_quotient_used(&quotient, group));
	return n;
}

/* Copies of one stand side by side. */
static u64 count_unlike(const struct baleen_filter *filter, u32 domain)
{
	struct baleen_quotient_reader reader = baleen_quotient_reader(filter, domain);
	u64 n = 0, last = 0;

	for (; baleen_quotient_read(&reader); last = reader.value)
		n += !n || reader.value != last;
	return n;
}

/* A random key has any fingerprint of those that there are. */
static double quotient_measure(const struct baleen_filter *filter, u32 domain)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u64 n = filter->image.flags & BALEEN_FLAG_COPIES ? count_unlike(filter, domain) :
							   quotient_used(filter, domain);

	return ldexp(n, -(int)(table->log2_buckets + table->slot_bits));
}

/* --- keys ------------------------------------------------------------------ */

/* The lines that say where a run is, and where its remainders are likely to be. */
static void prefetch(const struct baleen_quotient *quotient, u64 fingerprint)
{
	u32 r = quotient->table->slot_bits, home = fingerprint >> r;
	const u64 *group = baleen_quotient_group(quotient, home / 64);

	__builtin_prefetch(group);
	__builtin_prefetch(group + BALEEN_QUOTIENT_META + (home % 64 * r >> 6));
}

static int quotient_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			   size_t *n_done)
{
	u32 domain = keys[0].domain;
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_quotient quotient = baleen_quotient_of(filter, domain);
	u64 ring[AHEAD];

	*n_done = 0;
	for (size_t i = 0; i < n + AHEAD; i++) {
		u64 *fingerprint = &ring[i % AHEAD];

		if (i >= AHEAD) {
			bool changed;
			int err = baleen_quotient_insert(filter, domain, *fingerprint, &changed);

			if (err)
				return err;
			++*n_done;
		}
		if (i < n) {
			*fingerprint =
				baleen_quotient_fingerprint(table, &filter->image.seed, &keys[i]);
			prefetch(&quotient, *fingerprint);
		}
	}
	return 0;
}

/* Hashes that are kept whole: the permuted address, or all 64 bits. */
static int quotient_hashes(const struct baleen_filter *filter, u32 domain,
			   struct baleen_hashes *hashes, struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_quotient_reader reader;
	struct baleen_hashes read = { 0 };
	u64 room = quotient_used(filter, domain) + 1;
	int err;

	if (table->log2_buckets + table->slot_bits != baleen_key_bits(domain))
		return baleen_fail(error, EOPNOTSUPP,
				   "fingerprints of %u bits keep too little of a key to move it: "
				   "build the filter again from its lists",
				   table->log2_buckets + table->slot_bits);
	err = baleen_quotient_check_body(filter, domain, error);
	if (err)
		return err;
	read.hash = malloc(room * sizeof(*read.hash));
	if (!read.hash)
		return baleen_fail(error, ENOMEM, "no memory for %llu hashes",
				   (unsigned long long)room);
	reader = baleen_quotient_reader(filter, domain);
	while (baleen_quotient_read(&reader))
		read.hash[read.n++] = reader.value;
	*hashes = read;
	return 0;
}

static int quotient_put_hashes(struct baleen_filter *filter, u32 domain,
			       const struct baleen_hashes *hashes)
{
	const struct baleen_table *table = &filter->image.table[domain];
	u64 *fingerprint = NULL;
	int err = 0;

	if (!table->n_entries)
		fingerprint = malloc((hashes->n + 1) * sizeof(*fingerprint));
	for (size_t i = 0; i < hashes->n && !err; i++) {
		u64 folded = baleen_quotient_fold(table, domain, hashes->hash[i]);
		bool changed;

		if (fingerprint)
			fingerprint[i] = folded;
		else
			err = baleen_quotient_insert(filter, domain, folded, &changed);
	}
	if (fingerprint)
		err = baleen_quotient_fill(filter, domain, fingerprint, hashes->n);
	free(fingerprint);
	return err;
}

static u64 quotient_copies(const struct baleen_filter *filter, const struct baleen_key *key)
{
	return baleen_quotient_copies(filter, key->domain,
				      baleen_quotient_fingerprint(&filter->image.table[key->domain],
								  &filter->image.seed, key));
}

static void quotient_seal(struct baleen_filter *filter, u32 domain)
{
	filter->image.table[domain].longest_cluster = baleen_quotient_longest(filter, domain);
}

const struct baleen_kind_ops baleen_quotient_ops = {
	.plan = quotient_plan,
	.capacity = quotient_capacity,
	.is_exact = quotient_is_exact,
	.fpp = quotient_fpp,
	.measure = quotient_measure,
	.used = quotient_used,
	.count = quotient_used,
	.copies = quotient_copies,
	.insert = quotient_insert,
	.hashes = quotient_hashes,
	.put_hashes = quotient_put_hashes,
	.sorts = true,
	.seal = quotient_seal,
};
