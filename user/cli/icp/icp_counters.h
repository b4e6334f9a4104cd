/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters of an instance of ICP, by name.
 */
#ifndef BALEEN_CLI_ICP_COUNTERS_H
#define BALEEN_CLI_ICP_COUNTERS_H

#include <baleen/icp.h>

#include "cli/common/cli.h"

/* Adds each counter of a sibling to an object of JSON. */
void describe_icp_sibling(json_t *json, const struct baleen_icp_sibling_stats *stats);

/* The same of a feeder. */
void describe_icp_feeder(json_t *json, const struct baleen_icp_feeder_stats *stats);

/* Lines of what a sibling has counted; zeros are left out but for hits and misses. */
void print_icp_sibling(const struct baleen_icp_sibling_stats *stats, bool is_fed, bool is_observed);

/* Prints the counters of a feeder, to the end of a line. */
void print_icp_feeder(const struct baleen_icp_feeder_stats *stats);

#endif /* BALEEN_CLI_ICP_COUNTERS_H */
