// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: the fleet that this host is in. */
#include <errno.h>

#include "fleet/fleet_conf.h"
#include "fleet/fleet_health.h"
#include "report/checkup_parts.h"
#include "state/entries.h"
#include "util/duration.h"

#define CHECK "fleet"

static void tell_connection(struct baleen_patient *patient,
			    const struct baleen_fleet_health *health)
{
	if (*health->receives)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, CHECK,
				   "nothing comes of the fleet: %.200s", health->receives);
	if (*health->sends)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, CHECK,
				   "nothing goes out to the fleet: %.200s", health->sends);
}

static void tell_policy(struct baleen_patient *patient, const struct baleen_fleet_health *health)
{
	u64 now_ms = baleen_now_ms();
	char span[BALEEN_DURATION_TEXT];

	if (!health->expires_ms || health->expires_ms > now_ms + BALEEN_FLEET_EXPIRES_SOON_MS)
		return;
	if (health->expires_ms <= now_ms)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, CHECK,
				   "the policy has expired: it was not signed again, or Redis "
				   "withholds a newer one; it goes on until there is one");
	else
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, CHECK,
				   "the policy expires in %s: sign one with a later day",
				   baleen_duration_format(health->expires_ms - now_ms, span));
}

static void tell_publishers(struct baleen_patient *patient,
			    const struct baleen_fleet_health *health)
{
	char span[BALEEN_DURATION_TEXT];

	if (health->n_cloned)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, CHECK,
				   "two hosts publish as %s: one is a copy of the other, and what "
				   "it publishes is refused",
				   health->cloned);
	if (health->n_silent)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, CHECK,
				   "%llu of %llu publishers are silent, %s for %s: baleend does "
				   "not run there, or Redis withholds what they say",
				   (unsigned long long)health->n_silent,
				   (unsigned long long)health->n_publishers, health->silent,
				   baleen_duration_format(health->silent_ms, span));
	if (health->n_behind)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, CHECK,
				   "%llu changes of %s have not come yet",
				   (unsigned long long)health->n_changes_behind,
				   health->n_behind == 1 ? health->behind : "others");
	if (health->n_held)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, CHECK,
				   "%llu bans of others are held by the policy, and do not count",
				   (unsigned long long)health->n_held);
}

static void tell_health(struct baleen_patient *patient, const struct baleen_fleet_conf *conf,
			const struct baleen_fleet_health *health)
{
	u32 n = patient->checkup->n;

	tell_connection(patient, health);
	tell_policy(patient, health);
	tell_publishers(patient, health);
	if (n == patient->checkup->n)
		baleen_checkup_add(patient, BALEEN_LEVEL_OK, CHECK,
				   "%s: %llu publishers of other hosts, which this host agrees "
				   "with; %llu hosts are alive",
				   conf->fleet, (unsigned long long)health->n_publishers,
				   (unsigned long long)health->n_hosts);
}

void baleen_checkup_fleet(struct baleen_patient *patient)
{
	struct baleen_fleet_health health;
	struct baleen_fleet_store store;
	struct baleen_fleet_conf conf;
	struct baleen_error error;
	int err = baleen_fleet_conf_read(&conf, &error);

	/* Most hosts are in none. */
	if (err == -ENOENT)
		return;
	if (!err) {
		err = baleen_fleet_store_open(&store, NULL, false, &error);
		if (!err) {
			err = baleen_fleet_health_read(&store, baleen_now_ms(), &health, &error);
			baleen_fleet_store_close(&store);
		}
		if (err == -ENOENT)
			baleen_fail(&error, ENOENT,
				    "this host has heard nothing of %s yet: baleend runs what "
				    "speaks with the others",
				    conf.fleet);
	}
	if (err)
		baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, CHECK, "%s", error.text);
	else
		tell_health(patient, &conf, &health);
}
