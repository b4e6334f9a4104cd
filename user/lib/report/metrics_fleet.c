// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of the fleet that this host is in. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fleet/fleet_conf.h"
#include "fleet/fleet_health.h"
#include "report/metrics_fleet.h"
#include "state/entries.h"

/* From the broker's time to that of this host. */
static u64 local_s(u64 broker_s, s64 offset_ms)
{
	return broker_s ? broker_s - offset_ms / 1000 : BALEEN_METRICS_UNKNOWN;
}

static void set_refusals(struct baleen_metrics_fleet *row, const u64 *refused)
{
	row->form = refused[BALEEN_FLEET_CAUSE_FORM];
	row->of_fleet = refused[BALEEN_FLEET_CAUSE_FLEET];
	row->publisher = refused[BALEEN_FLEET_CAUSE_PUBLISHER];
	row->signature = refused[BALEEN_FLEET_CAUSE_SIGNATURE];
	row->time = refused[BALEEN_FLEET_CAUSE_TIME];
	row->replay = refused[BALEEN_FLEET_CAUSE_REPLAY];
	row->clone = refused[BALEEN_FLEET_CAUSE_CLONE];
	row->right = refused[BALEEN_FLEET_CAUSE_RIGHT];
	row->full = refused[BALEEN_FLEET_CAUSE_FULL];
}

static void set_health(struct baleen_metrics_fleet *row, const struct baleen_fleet_health *health,
		       s64 offset_ms)
{
	row->sends = !*health->sends;
	row->receives = !*health->receives;
	row->n_hosts = health->n_hosts;
	row->n_publishers = health->n_publishers;
	row->n_silent = health->n_silent;
	row->n_behind = health->n_behind;
	row->n_cloned = health->n_cloned;
	row->n_changes_behind = health->n_changes_behind;
	row->n_unsent = health->n_unsent;
	row->n_entries = health->n_entries;
	row->n_held = health->n_held;
	row->compared_s = local_s(health->looked_s, offset_ms);
	row->agreed_s = local_s(health->agreed_s, offset_ms);
	row->lag_s = health->lag_ms / 1000.0;
	row->silence_s = health->silent_ms / 1000;
	set_refusals(row, health->refused);
}

void baleen_metrics_add_fleet(struct baleen_metrics_source *source)
{
	struct baleen_metrics_fleet *row = &source->fleet;
	struct baleen_fleet_health health;
	struct baleen_fleet_store store;
	struct baleen_fleet_conf conf;

	if (baleen_fleet_conf_read(&conf, NULL))
		return;
	memset(row, 0xff, sizeof(*row));
	memset(row->fleet, 0, sizeof(row->fleet));
	snprintf(row->fleet, sizeof(row->fleet), "%s", conf.fleet);
	row->sends = row->receives = 0;
	row->lag_s = NAN;
	source->n_fleets = 1;
	if (baleen_fleet_store_open(&store, NULL, false, NULL))
		return;
	if (!baleen_fleet_health_read(&store, baleen_now_ms(), &health, NULL))
		set_health(row, &health, baleen_fleet_store_offset(&store));
	baleen_fleet_store_close(&store);
}
