/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of caches that devices answer for.
 */
#ifndef BALEEN_METRICS_ICP_H
#define BALEEN_METRICS_ICP_H

#include "report/metrics_rows.h"

/**
 * baleen_metrics_add_icp() - rows for siblings
 * @source: gets them
 * @devices: names of the devices that are asked for
 * @n_devices: how many; 0 for all of this network namespace
 *
 * A device without siblings has no row.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_metrics_add_icp(struct baleen_metrics_source *source, char *const *devices,
			   size_t n_devices);

#endif /* BALEEN_METRICS_ICP_H */
