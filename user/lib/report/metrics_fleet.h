/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of the fleet that this host is in.
 */
#ifndef BALEEN_METRICS_FLEET_H
#define BALEEN_METRICS_FLEET_H

#include "report/metrics_values.h"

/**
 * baleen_metrics_add_fleet() - what the database of the fleet knows
 * @source: gets its fleet, if this host is in one
 *
 * Without a database nothing comes in and nothing goes out, and no more is known.
 */
void baleen_metrics_add_fleet(struct baleen_metrics_source *source);

#endif /* BALEEN_METRICS_FLEET_H */
