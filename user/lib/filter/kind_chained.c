// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The dictionary and hash compaction: plan, rates and keys. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "filter/chains.h"
#include "filter/hashes.h"
#include "filter/kind.h"
#include "filter/plan.h"

/* --- plan ------------------------------------------------------------------ */

static u32 value_bits_of(u32 domain, u32 form)
{
	return form ? BALEEN_FORM_BITS : baleen_key_bits(domain);
}

static double rate_of(u64 n, u32 bits)
{
	return -expm1(-ldexp(n, -(int)bits));
}

static int chains_plan(u32 kind, u64 n, u32 bits, const struct baleen_shape *shape,
		       struct baleen_table *table, struct baleen_error *error)
{
	struct baleen_table made = {
		.kind = kind,
		.slot_bits = bits,
		.form = shape->form,
	};

	if (n > BALEEN_MAX_BUCKETS)
		return baleen_plan_too_many(n, error);
	made.n_room = n;
	made.n_buckets = shape->n_buckets ? shape->n_buckets : n;
	if (baleen_table_blocks(&made) > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	made.n_blocks = baleen_table_blocks(&made);
	*table = made;
	return 0;
}

static int chained_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			struct baleen_table *table, struct baleen_error *error)
{
	if (shape->form)
		return baleen_fail(error, EINVAL,
				   "a dictionary keeps keys, not hashes: --kind compact has those");
	return chains_plan(BALEEN_KIND_CHAINED, n, baleen_key_bits(domain), shape, table, error);
}

static int compact_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			struct baleen_table *table, struct baleen_error *error)
{
	u32 most = value_bits_of(domain, shape->form), bits = shape->slot_bits;

	if (bits > most)
		return baleen_fail(error, EINVAL, "values of %u bits: a key has %u", bits, most);
	if (!bits) {
		bits = fpp ? 1 : most;
		while (bits < most && rate_of(n, bits) > fpp)
			bits++;
	}
	return chains_plan(BALEEN_KIND_COMPACT, n, bits, shape, table, error);
}

static u64 chains_capacity(const struct baleen_table *table)
{
	return table->n_room;
}

/* --- rates ------------------------------------------------------------------ */

static bool chains_are_exact(const struct baleen_table *table, u32 domain)
{
	return !table->form && (domain == BALEEN_IP4 || domain == BALEEN_WORD) &&
	       table->slot_bits == baleen_key_bits(domain);
}

static double chains_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return rate_of(n, table->slot_bits);
}

static u64 chains_used(const struct baleen_filter *filter, u32 domain)
{
	return filter->image.table[domain].n_entries;
}

/* --- keys ------------------------------------------------------------------- */

static u64 value_of(const struct baleen_filter *filter, const struct baleen_key *key)
{
	return baleen_chains_value(&filter->image.table[key->domain], &filter->image.seed, key);
}

static int chains_add(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	struct baleen_chains chains = baleen_chains_of(filter, key->domain);
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES;

	return baleen_chains_insert(&chains, value_of(filter, key), has_copies, changed);
}

static int chains_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	struct baleen_chains chains = baleen_chains_of(filter, key->domain);

	*changed = baleen_chains_remove(&chains, value_of(filter, key));
	return 0;
}

static int chains_insert(struct baleen_filter *filter, const struct baleen_key *keys, size_t n,
			 size_t *n_done)
{
	bool changed;

	for (*n_done = 0; *n_done < n; ++*n_done) {
		int err = chains_add(filter, &keys[*n_done], &changed);

		if (err)
			return err;
	}
	return 0;
}

static u64 chains_copies(const struct baleen_filter *filter, const struct baleen_key *key)
{
	struct baleen_chains chains = baleen_chains_of(filter, key->domain);

	return baleen_chains_count(&chains, value_of(filter, key));
}

/* --- values ------------------------------------------------------------------ */

static int chains_hashes(const struct baleen_filter *filter, u32 domain,
			 struct baleen_hashes *hashes, struct baleen_error *error)
{
	const struct baleen_table *table = &filter->image.table[domain];
	struct baleen_chains chains = baleen_chains_of(filter, domain);
	struct baleen_hashes read = { .n = table->n_entries };

	if (!baleen_table_tells_apart(table, domain))
		return baleen_fail(error, EOPNOTSUPP,
				   "values of %u bits keep too little of a key to move it: build "
				   "the filter again from its lists",
				   table->slot_bits);
	read.hash = malloc((read.n + 1) * sizeof(*read.hash));
	if (!read.hash)
		return baleen_no_memory(error);
	for (u32 i = 0; i < read.n; i++)
		read.hash[i] = baleen_chains_get(&chains, i);
	*hashes = read;
	return 0;
}

static int chains_put_hashes(struct baleen_filter *filter, u32 domain,
			     const struct baleen_hashes *hashes)
{
	struct baleen_chains chains = baleen_chains_of(filter, domain);
	u32 shift = baleen_key_bits(domain) - chains.table->slot_bits;
	bool has_copies = filter->image.flags & BALEEN_FLAG_COPIES, changed;
	int err = 0;

	for (size_t i = 0; i < hashes->n && !err; i++)
		err = baleen_chains_insert(&chains, hashes->hash[i] >> shift, has_copies, &changed);
	return err;
}

/* The two differ in what a value is, which the plan decides. */
#define CHAINS_OPS                                                                                \
	.capacity = chains_capacity, .is_exact = chains_are_exact, .fpp = chains_fpp,             \
	.used = chains_used, .copies = chains_copies, .insert = chains_insert, .add = chains_add, \
	.del = chains_del, .hashes = chains_hashes, .put_hashes = chains_put_hashes

const struct baleen_kind_ops baleen_chained_ops = { .plan = chained_plan, CHAINS_OPS };
const struct baleen_kind_ops baleen_compact_ops = { .plan = compact_plan, CHAINS_OPS };
