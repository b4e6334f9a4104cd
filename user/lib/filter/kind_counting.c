// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The counting Bloom filter: plan, rates and keys. */
#include <errno.h>

#include "filter/kind.h"
#include "filter/plan.h"
#include "filter/positions.h"

/* The kind that its plane of bits alone would be. */
static const struct baleen_kind_ops *plane_ops(u32 hash)
{
	return hash == BALEEN_HASH_BLOCKED ? &baleen_bloom_ops : &baleen_classic_ops;
}

static int counting_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			 struct baleen_table *table, struct baleen_error *error)
{
	struct baleen_shape wanted = *shape;
	struct baleen_table planned;
	int err;

	/* Blocks have no number of bits but multiples of their own. */
	if (wanted.n_bits && wanted.is_blocked)
		return baleen_fail(error, EINVAL,
				   "a blocked filter has no number of bits to choose");
	if (wanted.n_bits && !wanted.hash)
		wanted.hash = BALEEN_HASH_KEYED;
	err = plane_ops(wanted.hash)->plan(domain, n, fpp, &wanted, &planned, error);
	if (err)
		return err;
	planned.kind = BALEEN_KIND_COUNTING;
	if (baleen_table_blocks(&planned) > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	planned.n_blocks = baleen_table_blocks(&planned);
	*table = planned;
	return 0;
}

static double counting_fpp(const struct baleen_table *table, u32 domain, u64 n)
{
	return plane_ops(table->hash)->fpp(table, domain, n);
}

static double counting_measure(const struct baleen_filter *filter, u32 domain)
{
	return plane_ops(filter->image.table[domain].hash)->measure(filter, domain);
}

static int counting_del(struct baleen_filter *filter, const struct baleen_key *key, bool *changed)
{
	struct baleen_positions positions;
	int err = baleen_positions_of(&filter->image, key, &positions);

	if (!err)
		*changed = baleen_plane_del(&filter->image.table[key->domain], filter->bytes,
					    &positions);
	return err;
}

/* Each copy counts up all of its counters, so the lowest has the fewest counts of others. */
static u64 counting_copies(const struct baleen_filter *filter, const struct baleen_key *key)
{
	const struct baleen_table *table = &filter->image.table[key->domain];
	struct baleen_positions positions;
	u32 least = BALEEN_COUNTER_MAX;

	if (baleen_positions_of(&filter->image, key, &positions))
		return 0;
	for (u32 i = 0; i < positions.n; i++) {
		u32 count = baleen_counter_get(table, filter->bytes, positions.bit[i]) /
			    baleen_positions_times(&positions, positions.n, positions.bit[i]);

		least = count < least ? count : least;
	}
	return least;
}

const struct baleen_kind_ops baleen_counting_ops = {
	.plan = counting_plan,
	.fpp = counting_fpp,
	.measure = counting_measure,
	.copies = counting_copies,
	.insert = baleen_positions_insert,
	.add = baleen_positions_add,
	.del = counting_del,
};
