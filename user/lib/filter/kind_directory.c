// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables that come with prefixes, as far as they are like any other. */

#include "filter/directory_table.h"
#include "filter/kind.h"
#include "filter/plan.h"

static u64 directory_count(const struct baleen_filter *filter, u32 domain)
{
	return domain == BALEEN_IP4_GROUPS ? baleen_directory_count(filter) : 0;
}

const struct baleen_kind_ops baleen_directory_ops = {
	.count = directory_count,
};

static int entries_plan(u32 domain, u64 n, double fpp, const struct baleen_shape *shape,
			struct baleen_table *table, struct baleen_error *error)
{
	u64 n_blocks = (n * sizeof(struct baleen_entry6) + BALEEN_BLOCK_BYTES - 1) / BALEEN_BLOCK_BYTES;

	if (n_blocks > BALEEN_MAX_BLOCKS)
		return baleen_plan_too_many(n, error);
	*table = (struct baleen_table){
		.kind = BALEEN_KIND_ENTRIES,
		.n_blocks = n_blocks,
		.n_buckets = n,
	};
	return 0;
}

static u64 entries_count(const struct baleen_filter *filter, u32 domain)
{
	return filter->image.table[domain].n_buckets;
}

const struct baleen_kind_ops baleen_entries_ops = {
	.plan = entries_plan,
	.count = entries_count,
};
