// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filters that siblings start with. */
#include "filter/kind.h"
#include "icp/icp.h"
#include "icp/icp_filters.h"
#include "icp/icp_words.h"

void baleen_icp_shape(struct baleen_build_options *build, bool is_kind_given, bool is_hash_given)
{
	build->key_spec = BALEEN_KEY_SQUID;
	if ((is_hash_given || build->fpp) && !is_kind_given)
		build->kind = BALEEN_KIND_COUNTING;
	if (build->kind != BALEEN_KIND_CUCKOO && build->kind != BALEEN_KIND_QUOTIENT && !build->fpp)
		build->fpp = BALEEN_ICP_FPP;
	if (build->kind == BALEEN_KIND_COUNTING && !is_hash_given)
		build->shape.hash = BALEEN_HASH_SQUID;
}

/* Room for objects to come, in a kind that changes in place. */
void baleen_icp_shape_fed(struct baleen_build_options *build)
{
	if (!build->capacity)
		build->capacity = BALEEN_ICP_CAPACITY;
	if (build->kind == BALEEN_KIND_CUCKOO) {
		build->shape.slot_bits = 64;
		build->shape.load = BALEEN_ICP_CUCKOO_LOAD;
	}
}

int baleen_icp_make_empty(const struct baleen_build_options *build, struct baleen_filter *filter,
			  struct baleen_error *error)
{
	struct baleen_list none = { .key_spec = BALEEN_KEY_SQUID };
	int err = baleen_list_finish(&none);

	if (err)
		baleen_no_memory(error);
	else
		err = baleen_build(&none, build, filter, error);
	baleen_list_free(&none);
	return err;
}

u64 baleen_icp_room(const struct baleen_filter *filter, u64 capacity)
{
	const struct baleen_table *table = &filter->image.table[BALEEN_TUPLE];
	const struct baleen_kind_ops *ops = baleen_kind_ops(table->kind);
	u64 room = ops->capacity ? ops->capacity(table) : capacity;

	return room > filter->image.n_entries ? room : filter->image.n_entries;
}
