// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The filters that siblings start with. */
#include "filter/kind.h"
#include "icp/icp_filters.h"

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
