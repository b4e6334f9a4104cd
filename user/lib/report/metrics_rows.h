/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of metrics, added to a source.
 */
#ifndef BALEEN_METRICS_ROWS_H
#define BALEEN_METRICS_ROWS_H

#include "report/metrics_values.h"

/**
 * baleen_metrics_add_device() - a row for a device
 * @source: gets it
 * @device: its name
 *
 * Return: the row, all unknown, valid until the next is added; NULL when there
 * is no memory, or a row with these labels.
 */
struct baleen_metrics_device *baleen_metrics_add_device(struct baleen_metrics_source *source,
							const char *device);

/**
 * baleen_metrics_add_rule() - a row for a rule
 * @source: gets it
 * @device: device of the rule
 * @rule: its name
 * @action: "drop", "allow" or "count"
 *
 * Return: as baleen_metrics_add_device().
 */
struct baleen_metrics_rule *baleen_metrics_add_rule(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *action);

/**
 * baleen_metrics_add_table() - a row for a table that can be full
 * @source: gets it
 * @device: device of the rule
 * @rule: its name
 * @table: its name
 *
 * Return: as baleen_metrics_add_device().
 */
struct baleen_metrics_table *baleen_metrics_add_table(struct baleen_metrics_source *source,
						      const char *device, const char *rule,
						      const char *table);

/**
 * baleen_metrics_add_feed() - a row for a feed
 * @source: gets it
 * @device: device of the rule
 * @rule: its name
 * @feed: its path or URL; everybody can read metrics, so of a URL the name,
 *        password, query and fragment are left out
 *
 * Return: the row, all unknown, valid until the next is added; its label is made
 * one that no other feed of the rule has. NULL when there is no memory.
 */
struct baleen_metrics_feed *baleen_metrics_add_feed(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *feed);

/**
 * baleen_metrics_add_origin() - a row for the single entries of an origin
 * @source: gets it
 * @device: device of the rule
 * @rule: its name
 * @origin: the origin that added them
 *
 * Return: as baleen_metrics_add_feed().
 */
struct baleen_metrics_origin *baleen_metrics_add_origin(struct baleen_metrics_source *source,
							const char *device, const char *rule,
							const char *origin);

/**
 * baleen_metrics_add_name() - a row for a never-name
 * @source: gets it
 * @device: the device
 * @name: the name
 *
 * Return: the row, all unknown, valid until the next is added. NULL when it is there
 * already, or there is no memory.
 */
struct baleen_metrics_name *baleen_metrics_add_name(struct baleen_metrics_source *source,
						    const char *device, const char *name);

/**
 * baleen_metrics_add_sibling() - a row for a cache that is answered for
 * @source: gets it
 * @device: the device
 * @sibling: its name
 *
 * Return: as baleen_metrics_add_name().
 */
struct baleen_metrics_sibling *baleen_metrics_add_sibling(struct baleen_metrics_source *source,
							  const char *device, const char *sibling);

/**
 * baleen_metrics_free() - free the rows and make the source empty
 * @source: the source
 */
void baleen_metrics_free(struct baleen_metrics_source *source);

#endif /* BALEEN_METRICS_ROWS_H */
