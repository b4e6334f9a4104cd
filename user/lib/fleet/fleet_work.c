// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The effects of a message. */
#include <string.h>

#include "fleet/fleet_work.h"
#include "util/array.h"

bool baleen_fleet_row_counts(const struct baleen_fleet_work *work,
			     const struct baleen_fleet_row *row)
{
	return !work->account.publisher.is_control && row->hold == BALEEN_FLEET_IN_FORCE &&
	       row->force_ms > work->receiver->now_ms && !work->account.publisher.is_suspended &&
	       !baleen_fleet_pardons_hold(work->pardons, &row->entry, row->base_ms);
}

int baleen_fleet_effect_add(struct baleen_fleet_work *work, const char *publisher,
			    const struct baleen_fleet_row *row, bool is_in_force)
{
	struct baleen_fleet_result *result = work->result;
	struct baleen_fleet_effect *effect;

	if (baleen_array_add(&result->effect, result->n_effects))
		return baleen_no_memory(work->error);
	effect = &result->effect[result->n_effects++];
	*effect = (struct baleen_fleet_effect){ .is_in_force = is_in_force, .entry = row->entry };
	strcpy(effect->publisher, publisher);
	effect->entry.end_ms = row->force_ms;
	return 0;
}
