// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics: the rows of a source. */
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"

/* One more row, in which every number is unknown and every real one not a number:
 * all ones says both.
 */
static void *grow(void *rows, size_t n, size_t row_bytes)
{
	u8 *grown = reallocarray(rows, n + 1, row_bytes);

	if (grown)
		memset(grown + n * row_bytes, 0xff, row_bytes);
	return grown;
}

static void set_label(char *label, size_t bytes, const char *text)
{
	snprintf(label, bytes, "%s", text);
}

/* scheme://name:password@host/path?query#fragment as scheme://host/path */
static void set_public(char *label, const char *address)
{
	const char *host = strstr(address, "://"), *path, *at;

	if (!host || strcspn(address, "/") < (size_t)(host - address)) {
		set_label(label, BALEEN_METRICS_LABEL, address);
		return;
	}
	host += 3;
	path = host + strcspn(host, "/?#");
	at = memrchr(host, '@', path - host);
	snprintf(label, BALEEN_METRICS_LABEL, "%.*s%.*s", (int)(host - address), address,
		 (int)strcspn(at ? at + 1 : host, "?#"), at ? at + 1 : host);
}

/* The label with a number behind it, which takes the place of its end. */
static void number_label(char *label, const char *text, u32 number)
{
	char end[16];
	int n = snprintf(end, sizeof(end), "#%u", number);

	snprintf(label, BALEEN_METRICS_LABEL, "%.*s%s", BALEEN_METRICS_LABEL - 1 - n, text, end);
}

struct baleen_metrics_device *baleen_metrics_add_device(struct baleen_metrics_source *source,
							const char *device)
{
	struct baleen_metrics_device *rows, *row;

	for (size_t i = 0; i < source->n_devices; i++)
		if (!strncmp(source->device[i].device, device, IF_NAMESIZE - 1))
			return NULL;
	rows = grow(source->device, source->n_devices, sizeof(*rows));
	if (!rows)
		return NULL;
	source->device = rows;
	row = &rows[source->n_devices++];
	set_label(row->device, sizeof(row->device), device);
	row->program_id[0] = row->place[0] = '\0';
	return row;
}

struct baleen_metrics_rule *baleen_metrics_add_rule(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *action)
{
	struct baleen_metrics_rule *rows, *row;

	for (size_t i = 0; i < source->n_rules; i++)
		if (!strcmp(source->rule[i].device, device) && !strcmp(source->rule[i].rule, rule))
			return NULL;
	rows = grow(source->rule, source->n_rules, sizeof(*rows));
	if (!rows)
		return NULL;
	source->rule = rows;
	row = &rows[source->n_rules++];
	set_label(row->device, sizeof(row->device), device);
	set_label(row->rule, sizeof(row->rule), rule);
	set_label(row->action, sizeof(row->action), action);
	return row;
}

struct baleen_metrics_table *baleen_metrics_add_table(struct baleen_metrics_source *source,
						      const char *device, const char *rule,
						      const char *table)
{
	struct baleen_metrics_table *rows, *row;

	for (size_t i = 0; i < source->n_tables; i++) {
		row = &source->table[i];
		if (!strcmp(row->device, device) && !strcmp(row->rule, rule) &&
		    !strcmp(row->table, table))
			return NULL;
	}
	rows = grow(source->table, source->n_tables, sizeof(*rows));
	if (!rows)
		return NULL;
	source->table = rows;
	row = &rows[source->n_tables++];
	set_label(row->device, sizeof(row->device), device);
	set_label(row->rule, sizeof(row->rule), rule);
	set_label(row->table, sizeof(row->table), table);
	return row;
}

static bool is_feed_taken(const struct baleen_metrics_source *source, const char *device,
			  const char *rule, const char *label)
{
	for (size_t i = 0; i < source->n_feeds; i++) {
		const struct baleen_metrics_feed *row = &source->feed[i];

		if (!strcmp(row->device, device) && !strcmp(row->rule, rule) &&
		    !strcmp(row->feed, label))
			return true;
	}
	return false;
}

struct baleen_metrics_feed *baleen_metrics_add_feed(struct baleen_metrics_source *source,
						    const char *device, const char *rule,
						    const char *feed)
{
	char address[BALEEN_METRICS_LABEL], label[BALEEN_METRICS_LABEL];
	struct baleen_metrics_feed *rows, *row;

	set_public(address, feed);
	set_label(label, sizeof(label), address);
	for (u32 i = 2; is_feed_taken(source, device, rule, label); i++)
		number_label(label, address, i);
	rows = grow(source->feed, source->n_feeds, sizeof(*rows));
	if (!rows)
		return NULL;
	source->feed = rows;
	row = &rows[source->n_feeds++];
	set_label(row->device, sizeof(row->device), device);
	set_label(row->rule, sizeof(row->rule), rule);
	set_label(row->feed, sizeof(row->feed), label);
	return row;
}

static bool is_origin_taken(const struct baleen_metrics_source *source, const char *device,
			    const char *rule, const char *label)
{
	for (size_t i = 0; i < source->n_origins; i++) {
		const struct baleen_metrics_origin *row = &source->origin[i];

		if (!strcmp(row->device, device) && !strcmp(row->rule, rule) &&
		    !strcmp(row->origin, label))
			return true;
	}
	return false;
}

struct baleen_metrics_origin *baleen_metrics_add_origin(struct baleen_metrics_source *source,
							const char *device, const char *rule,
							const char *origin)
{
	char label[BALEEN_METRICS_LABEL];
	struct baleen_metrics_origin *rows, *row;

	set_label(label, sizeof(label), origin);
	for (u32 i = 2; is_origin_taken(source, device, rule, label); i++)
		number_label(label, origin, i);
	rows = grow(source->origin, source->n_origins, sizeof(*rows));
	if (!rows)
		return NULL;
	source->origin = rows;
	row = &rows[source->n_origins++];
	set_label(row->device, sizeof(row->device), device);
	set_label(row->rule, sizeof(row->rule), rule);
	set_label(row->origin, sizeof(row->origin), label);
	return row;
}

void baleen_metrics_free(struct baleen_metrics_source *source)
{
	free(source->device);
	free(source->rule);
	free(source->table);
	free(source->feed);
	free(source->origin);
	*source = (struct baleen_metrics_source){ 0 };
}
