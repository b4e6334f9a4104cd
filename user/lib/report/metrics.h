/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics: values as text for Prometheus and its kin.
 *
 * One table, metrics_families.h, has every family: name, type, unit, help, and where its
 * value stands in the rows of a source. Two formats come out of it: OpenMetrics
 * 1.0, and the Prometheus text format 0.0.4, which is also what node_exporter's
 * textfile collector reads. A source is filled by metrics_source.h, or by hand.
 *
 *      source.rule[]                     # TYPE baleen_rule_packets counter
 *      device  rule  action  packets     # UNIT baleen_rule_packets packets
 *      eth0    bad   drop    17          # HELP baleen_rule_packets Frames that ...
 *                                        baleen_rule_packets_total{device="eth0",...} 17
 */
#ifndef BALEEN_METRICS_H
#define BALEEN_METRICS_H

#include "report/metrics_rows.h"
#include "util/error.h"

/**
 * enum baleen_metrics_format - how it is written
 * @BALEEN_METRICS_PROMETHEUS: text format 0.0.4
 * @BALEEN_METRICS_OPENMETRICS: OpenMetrics 1.0
 */
enum baleen_metrics_format {
	BALEEN_METRICS_PROMETHEUS,
	BALEEN_METRICS_OPENMETRICS,
};

/**
 * baleen_metrics_format() - a source as text
 * @source: the metrics to write
 * @format: how
 * @text: to be freed by the caller; untouched on failure
 * @n_bytes: its length
 * @error: filled in on failure
 *
 * A family without samples is left out. The numbers have a point whatever the
 * locale. Label values are escaped.
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_metrics_format(const struct baleen_metrics_source *source,
			  enum baleen_metrics_format format, char **text, size_t *n_bytes,
			  struct baleen_error *error);

/**
 * baleen_metrics_content_type() - the Content-Type of a format
 * @format: the format
 *
 * Return: it.
 */
const char *baleen_metrics_content_type(enum baleen_metrics_format format);

/**
 * baleen_metrics_accepted() - the format that a client asks for
 * @accept: its Accept header; NULL when it has none
 *
 * Return: OpenMetrics when it is named there with a weight above zero, else
 * Prometheus.
 */
enum baleen_metrics_format baleen_metrics_accepted(const char *accept);

#endif /* BALEEN_METRICS_H */
