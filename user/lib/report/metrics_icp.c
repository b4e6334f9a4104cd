// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of caches that devices answer for. */
#include <errno.h>

#include "icp/icp.h"
#include "report/metrics_icp.h"

#define NS_PER_S 1000000000ull

static int add_siblings(struct baleen_metrics_source *source, const struct baleen_icp *icp)
{
	struct baleen_icp_stats stats;

	if (baleen_icp_stats(icp, &stats, NULL))
		return 0;
	for (u32 n = 0; n < icp->now.config.n_siblings; n++) {
		u64 synced_ns = icp->state->synced_wall_ns[n];
		struct baleen_metrics_sibling *row =
			baleen_metrics_add_sibling(source, icp->device,
						   icp->now.config.sibling[n].name);

		if (!row)
			return -ENOMEM;
		row->n_objects = baleen_icp_entries(icp, n, &stats);
		row->is_fresh = baleen_icp_is_enforced(icp) && baleen_icp_is_fresh(icp, n);
		row->synced_s = synced_ns ? synced_ns / NS_PER_S : BALEEN_METRICS_UNKNOWN;
		row->stats = stats.sibling[n];
	}
	return 0;
}

static int add_found(const struct baleen_pins *pins, void *data)
{
	struct baleen_icp icp;
	int err;

	if (baleen_icp_open_pins(&icp, pins, NULL))
		return 0;
	err = add_siblings(data, &icp);
	baleen_icp_close(&icp);
	return err;
}

static int add_device(struct baleen_metrics_source *source, const char *device)
{
	struct baleen_icp icp;
	int err;

	if (baleen_icp_open(&icp, device, false, NULL))
		return 0;
	err = add_siblings(source, &icp);
	baleen_icp_close(&icp);
	return err;
}

int baleen_metrics_add_icp(struct baleen_metrics_source *source, char *const *devices,
			   size_t n_devices)
{
	int err = 0;

	for (size_t i = 0; i < n_devices && !err; i++)
		err = add_device(source, devices[i]);
	if (!n_devices && baleen_icp_each(add_found, source, NULL) == -ENOMEM)
		err = -ENOMEM;
	return err;
}
