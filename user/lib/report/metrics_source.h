/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics of the devices as they are: from the kernel, and from what is kept of
 * them.
 *
 * For an HTTP endpoint, one struct baleen_metrics_counts for the life of the
 * process (tables of a million keys are then counted once a minute, and not at each
 * scrape), and per scrape:
 *
 *      struct baleen_metrics_source source = { .daemon = &me };
 *
 *      err = baleen_metrics_collect(&source, NULL, 0, &counts, &error);
 *      err = baleen_metrics_format(&source, baleen_metrics_accepted(accept), &text, &n, &error);
 *      baleen_metrics_free(&source);
 */
#ifndef BALEEN_METRICS_SOURCE_H
#define BALEEN_METRICS_SOURCE_H

#include "report/metrics.h"
#include "report/metrics_count.h"
#include "util/output.h"

/**
 * baleen_metrics_collect() - metrics of the devices of this network namespace
 * @source: what is known is added to it; free with baleen_metrics_free()
 * @devices: names of the devices asked for
 * @n_devices: how many; 0 for all that have a filter, or rules that are kept
 * @counts: kept between calls by who calls often; NULL for none
 * @error: filled in on failure
 *
 * Leaves out the values of a device that cannot be read, and its state says so; the
 * other devices are complete.
 *
 * Return: 0; -ENOMEM; a negative errno when the devices cannot be listed; @source
 * then says only that.
 */
int baleen_metrics_collect(struct baleen_metrics_source *source, char *const *devices,
			   size_t n_devices, struct baleen_metrics_counts *counts,
			   struct baleen_error *error);

/**
 * baleen_metrics_write() - metrics into a file for node_exporter
 * @source: the metrics to write
 * @format: how
 * @path: path of the file, which is replaced whole or not at all; 0644. node_exporter
 *        reads what ends in .prom
 * @kind: whence the path comes
 * @error: filled in on failure
 *
 * Return: 0 or a negative errno.
 */
int baleen_metrics_write(const struct baleen_metrics_source *source,
			 enum baleen_metrics_format format, const char *path,
			 enum baleen_output_kind kind, struct baleen_error *error);

#endif /* BALEEN_METRICS_SOURCE_H */
