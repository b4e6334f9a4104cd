// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checkup: caches that the device answers for. */
#include <stdio.h>

#include "deploy/icp_follow.h"
#include "icp/icp.h"
#include "report/checkup_parts.h"

/* At least this share of the answers of a sibling to hits is wrong: it was emptied, or the
 * filter is old.
 */
#define FALSE_SHARE 0.01

static void check_sibling(struct baleen_patient *patient, const struct baleen_icp *icp, u32 n,
			  const struct baleen_icp_sibling_stats *stats)
{
	const char *name = icp->now.config.sibling[n].name, *device = patient->word.text;
	u64 n_compared = stats->agreed_hits + stats->false_hits;

	if (!baleen_icp_is_fresh(icp, n))
		baleen_checkup_add(
			patient, BALEEN_LEVEL_NOTE, "icp",
			"sibling %s was not heard of for %llu s, nor its store read: its "
			"queries go to the cache",
			name, (unsigned long long)icp->now.config.stale_ns / 1000000000);
	if (stats->no_room)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "icp",
				   "sibling %s: %llu objects found no room in its filter: they are "
				   "misses until it has more ('icp capacity', or 'baleen icp "
				   "resync --capacity N %s:%s SOURCE')",
				   name, (unsigned long long)stats->no_room, device, name);
	if (stats->false_hits && stats->false_hits >= FALSE_SHARE * n_compared)
		baleen_checkup_add(patient, BALEEN_LEVEL_NOTE, "icp",
				   "sibling %s said miss to %llu of %llu hits of its filter: read "
				   "its store anew ('baleen icp resync %s:%s SOURCE')",
				   name, (unsigned long long)stats->false_hits,
				   (unsigned long long)n_compared, device, name);
}

static void check_siblings(struct baleen_patient *patient, const struct baleen_icp *icp)
{
	u32 n_siblings = icp->now.config.n_siblings, n_fresh = 0;
	struct baleen_icp_stats stats;

	if (baleen_icp_stats(icp, &stats, NULL))
		return;
	for (u32 n = 0; n < n_siblings; n++) {
		check_sibling(patient, icp, n, &stats.sibling[n]);
		n_fresh += baleen_icp_is_fresh(icp, n);
	}
	baleen_checkup_add(patient, BALEEN_LEVEL_OK, "icp", "%u of %u cache%s %s answered for",
			   n_fresh, n_siblings, n_siblings == 1 ? "" : "s",
			   n_siblings == 1 ? "is" : "are");
}

void baleen_checkup_icp(struct baleen_patient *patient)
{
	const char *device = patient->link->name, *statements = patient->rules.icp;
	struct baleen_error why;
	struct baleen_icp icp;
	int err = baleen_icp_open(&icp, device, false, &why);

	if (*statements && patient->has_xdp && patient->may_load &&
	    !baleen_icp_is_followed(device, statements))
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "icp",
					   "caches are not answered for as the configuration says"),
			"baleen apply %s", patient->word.text);
	if (err)
		return;
	if (!baleen_icp_is_enforced(&icp) && !*statements)
		baleen_finding_mend(
			baleen_checkup_add(patient, BALEEN_LEVEL_PROBLEM, "icp",
					   "caches are not answered for any more: somebody took a "
					   "part of it off"),
			"baleen icp detach %s", patient->word.text);
	else if (baleen_icp_is_enforced(&icp))
		check_siblings(patient, &icp);
	baleen_icp_close(&icp);
}
