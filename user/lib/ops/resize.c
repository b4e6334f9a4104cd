// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Another filter of the same set, with room for another number of keys. */
#include <math.h>

#include "ops/edit.h"
#include "ops/refit.h"
#include "ops/resize.h"

#define N_KEYED (BALEEN_TUPLE + 1)

/* A list that is built again gets its size from the plan of the whole. */
static bool is_built_again(const struct baleen_filter *filter)
{
	if (filter->image.flags & BALEEN_FLAG_COPIES)
		return false;
	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (filter->image.table[domain].kind &&
		    !baleen_table_keeps_hashes(&filter->image.table[domain], domain))
			return false;
	return true;
}

int baleen_filter_resize(const struct baleen_filter *filter, u64 capacity,
			 struct baleen_filter *out, struct baleen_error *error)
{
	const struct baleen_list nothing = { .key_spec = filter->image.key_spec };
	u64 n[N_KEYED], sum = 0, n_tables = 0;

	if (is_built_again(filter))
		return baleen_filter_edit(filter, &nothing, BALEEN_SET_UNION, capacity, out, error);
	for (u32 domain = 0; domain < N_KEYED; domain++) {
		n[domain] = baleen_filter_count(filter, domain);
		sum += n[domain];
		n_tables += filter->image.table[domain].kind != BALEEN_KIND_NONE;
	}
	/* Shared out as the keys are. */
	for (u32 domain = 0; domain < N_KEYED; domain++)
		if (filter->image.table[domain].kind)
			n[domain] = fmax(1, sum ? (double)capacity * n[domain] / sum :
						  (double)capacity / n_tables);
	return baleen_filter_refit(filter, n, out, error);
}
