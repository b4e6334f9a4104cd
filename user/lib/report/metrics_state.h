/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of what is kept of a device: feeds, single entries, times.
 */
#ifndef BALEEN_METRICS_STATE_H
#define BALEEN_METRICS_STATE_H

#include "report/metrics_count.h"

/**
 * baleen_metrics_add_state() - what the state of a device tells
 * @source: has rows for the device and its rules, and gets the others
 * @device: name of the device
 * @counts: remembers how many single entries there are; may be NULL
 *
 * Without a state, or with one that cannot be read, nothing is added.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_metrics_add_state(struct baleen_metrics_source *source, const char *device,
			     struct baleen_metrics_counts *counts);

#endif /* BALEEN_METRICS_STATE_H */
