// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics: the rows of a source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics_families.h"
#include "report/metrics_rows.h"
#include "state/feeds.h"
#include "util/array.h"
#include "util/foreign.h"

/* Two names that are shown alike are one name, so it is here that they become what is shown. */
static void set_label(char *label, size_t bytes, const char *text)
{
	baleen_foreign_text(label, bytes, text, strlen(text));
}

/* The label of this text, or from @number 2 on with that behind it, which takes the
 * place of its end.
 */
static void number_label(char *label, const char *text, u32 number)
{
	char numbered[BALEEN_METRICS_LABEL], end[16] = "";

	if (number > 1)
		snprintf(end, sizeof(end), "#%u", number);
	snprintf(numbered, sizeof(numbered), "%.*s%s", (int)(sizeof(numbered) - 1 - strlen(end)),
		 text, end);
	set_label(label, BALEEN_METRICS_LABEL, numbered);
}

/* --- rows ------------------------------------------------------------------ */

/* Has one of the rows all labels of this one? */
static bool is_there(enum baleen_metrics_set set, const void *rows, size_t n, size_t row_bytes,
		     const void *row)
{
	const struct baleen_metrics_label *label = baleen_metrics_labels[set];

	for (size_t i = 0; i < n; i++) {
		const u8 *other = (const u8 *)rows + i * row_bytes;
		u32 same = 0;

		while (same < BALEEN_METRICS_LABELS && label[same].name &&
		       !strcmp((const char *)other + label[same].at,
			       (const char *)row + label[same].at))
			same++;
		if (same == BALEEN_METRICS_LABELS || !label[same].name)
			return true;
	}
	return false;
}

/* All ones are an unknown number, and no number when they are a real one. */
static void forget(void *row, size_t bytes)
{
	memset(row, 0xff, bytes);
}

struct baleen_metrics_device *baleen_metrics_add_device(struct baleen_metrics_source *source,
							const char *device)
{
	struct baleen_metrics_device row;

	forget(&row, sizeof(row));
	snprintf(row.name, sizeof(row.name), "%s", device);
	set_label(row.device, sizeof(row.device), device);
	row.program_id[0] = row.place[0] = '\0';

	if (is_there(BALEEN_METRICS_DEVICES, source->device, source->n_devices, sizeof(row),
		     &row) ||
	    baleen_array_add(&source->device, source->n_devices))
		return NULL;
	source->device[source->n_devices] = row;
	return &source->device[source->n_devices++];
}

struct baleen_metrics_rule *baleen_metrics_add_rule(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *action)
{
	struct baleen_metrics_rule row;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.rule, sizeof(row.rule), rule);
	set_label(row.action, sizeof(row.action), action);

	if (is_there(BALEEN_METRICS_RULES, source->rule, source->n_rules, sizeof(row), &row) ||
	    baleen_array_add(&source->rule, source->n_rules))
		return NULL;
	source->rule[source->n_rules] = row;
	return &source->rule[source->n_rules++];
}

struct baleen_metrics_table *baleen_metrics_add_table(struct baleen_metrics_source *source,
						      const char *device, const char *rule,
						      const char *table)
{
	struct baleen_metrics_table row;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.rule, sizeof(row.rule), rule);
	set_label(row.table, sizeof(row.table), table);

	if (is_there(BALEEN_METRICS_TABLES, source->table, source->n_tables, sizeof(row), &row) ||
	    baleen_array_add(&source->table, source->n_tables))
		return NULL;
	source->table[source->n_tables] = row;
	return &source->table[source->n_tables++];
}

struct baleen_metrics_feed *baleen_metrics_add_feed(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *feed)
{
	struct baleen_metrics_feed row;
	char public[BALEEN_METRICS_LABEL];
	u32 number = 0;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.rule, sizeof(row.rule), rule);
	snprintf(public, sizeof(public), "%.255s", baleen_feed_public_name(feed).text);
	do {
		number_label(row.feed, public, ++number);
	} while (is_there(BALEEN_METRICS_FEEDS, source->feed, source->n_feeds, sizeof(row), &row));

	if (baleen_array_add(&source->feed, source->n_feeds))
		return NULL;
	source->feed[source->n_feeds] = row;
	return &source->feed[source->n_feeds++];
}

struct baleen_metrics_origin *baleen_metrics_add_origin(struct baleen_metrics_source *source,
							const char *device, const char *rule,
							const char *origin)
{
	struct baleen_metrics_origin row;
	u32 number = 0;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.rule, sizeof(row.rule), rule);
	do {
		number_label(row.origin, origin, ++number);
	} while (is_there(BALEEN_METRICS_ORIGINS, source->origin, source->n_origins, sizeof(row),
			  &row));

	if (baleen_array_add(&source->origin, source->n_origins))
		return NULL;
	source->origin[source->n_origins] = row;
	return &source->origin[source->n_origins++];
}

struct baleen_metrics_name *baleen_metrics_add_name(struct baleen_metrics_source *source,
						    const char *device, const char *name)
{
	struct baleen_metrics_name row;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.name, sizeof(row.name), name);

	if (is_there(BALEEN_METRICS_NAMES, source->name, source->n_names, sizeof(row), &row) ||
	    baleen_array_add(&source->name, source->n_names))
		return NULL;
	source->name[source->n_names] = row;
	return &source->name[source->n_names++];
}

struct baleen_metrics_sibling *baleen_metrics_add_sibling(struct baleen_metrics_source *source,
							  const char *device, const char *sibling)
{
	struct baleen_metrics_sibling row;

	forget(&row, sizeof(row));
	set_label(row.device, sizeof(row.device), device);
	set_label(row.sibling, sizeof(row.sibling), sibling);

	if (is_there(BALEEN_METRICS_SIBLINGS, source->sibling, source->n_siblings, sizeof(row),
		     &row) ||
	    baleen_array_add(&source->sibling, source->n_siblings))
		return NULL;
	source->sibling[source->n_siblings] = row;
	return &source->sibling[source->n_siblings++];
}

void baleen_metrics_free(struct baleen_metrics_source *source)
{
	free(source->device);
	free(source->rule);
	free(source->table);
	free(source->feed);
	free(source->origin);
	free(source->name);
	free(source->sibling);
	*source = (struct baleen_metrics_source){ 0 };
}
