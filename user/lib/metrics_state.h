/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of what is kept of a device: feeds, single entries, times.
 */
#ifndef BALEEN_METRICS_STATE_H
#define BALEEN_METRICS_STATE_H

#include "metrics.h"

/**
 * baleen_metrics_add_state() - what the state of a device tells
 * @source: has rows for the device and its rules, and gets the others
 * @device: name of the device
 *
 * Without a state, or with one that cannot be read, nothing is added.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_metrics_add_state(struct baleen_metrics_source *source, const char *device);

#endif /* BALEEN_METRICS_STATE_H */
