/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of metric families, for who writes them; see metrics.h.
 */
#ifndef BALEEN_METRICS_FAMILIES_H
#define BALEEN_METRICS_FAMILIES_H

#include "report/metrics_values.h"

#define BALEEN_METRICS_LABELS 3

/**
 * enum baleen_metrics_type - what a family is
 * @BALEEN_METRICS_COUNTER: goes up, and starts again from zero
 * @BALEEN_METRICS_GAUGE: goes up and down
 * @BALEEN_METRICS_STATES: one of several
 * @BALEEN_METRICS_INFO: labels, and always 1
 */
enum baleen_metrics_type {
	BALEEN_METRICS_COUNTER,
	BALEEN_METRICS_GAUGE,
	BALEEN_METRICS_STATES,
	BALEEN_METRICS_INFO,
};

/**
 * enum baleen_metrics_set - the rows that have a family
 * @BALEEN_METRICS_RELEASE: release, one row
 * @BALEEN_METRICS_DAEMON: daemon, one row
 * @BALEEN_METRICS_DEVICES: device
 * @BALEEN_METRICS_PROGRAMS: device, with the labels of their programs
 * @BALEEN_METRICS_RULES: rule
 * @BALEEN_METRICS_TABLES: table
 * @BALEEN_METRICS_FEEDS: feed
 * @BALEEN_METRICS_ORIGINS: origin
 * @BALEEN_METRICS_NAMES: name
 * @BALEEN_METRICS_SIBLINGS: sibling
 * @BALEEN_METRICS_FLEET: fleet, one row
 * @BALEEN_METRICS_N_SETS: how many
 */
enum baleen_metrics_set {
	BALEEN_METRICS_RELEASE,
	BALEEN_METRICS_DAEMON,
	BALEEN_METRICS_DEVICES,
	BALEEN_METRICS_PROGRAMS,
	BALEEN_METRICS_RULES,
	BALEEN_METRICS_TABLES,
	BALEEN_METRICS_FEEDS,
	BALEEN_METRICS_ORIGINS,
	BALEEN_METRICS_NAMES,
	BALEEN_METRICS_SIBLINGS,
	BALEEN_METRICS_FLEET,
	BALEEN_METRICS_N_SETS,
};

/**
 * struct baleen_metrics_part - one of several samples of a row
 * @name: value of the label that tells them apart
 * @at: where its value stands in the row; of a state its number
 */
struct baleen_metrics_part {
	const char *name;
	size_t at;
};

/**
 * struct baleen_metrics_label - a label of a row
 * @name: name of the label
 * @at: where its text stands in the row
 */
struct baleen_metrics_label {
	const char *name;
	size_t at;
};

/**
 * struct baleen_metrics_family - a metric family
 * @name: without the suffix of its samples
 * @type: what it is
 * @unit: how @name ends, as OpenMetrics has it; NULL for none
 * @set: whose rows have it
 * @is_real: the value is a double, not a u64
 * @at: where the value stands in a row
 * @by: the label that tells the parts apart; NULL when there are none, or states
 * @parts: ended by one without a name
 * @help: a sentence
 */
struct baleen_metrics_family {
	const char *name;
	enum baleen_metrics_type type;
	const char *unit;
	enum baleen_metrics_set set;
	bool is_real;
	size_t at;
	const char *by;
	const struct baleen_metrics_part *parts;
	const char *help;
};

/* Ended by one without a name. */
extern const struct baleen_metrics_family baleen_metrics_families[];

/* The labels of each set; ended by BALEEN_METRICS_LABELS, or one without a name. */
extern const struct baleen_metrics_label baleen_metrics_labels[BALEEN_METRICS_N_SETS]
							      [BALEEN_METRICS_LABELS];

#endif /* BALEEN_METRICS_FAMILIES_H */
