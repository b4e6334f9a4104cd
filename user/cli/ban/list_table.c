// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of 'baleen list': aligned, counted, sorted. */
#include <stdlib.h>
#include <string.h>

#include "cli/ban/list_table.h"
#include "state/parked.h"
#include "util/duration.h"
#include "util/number.h"

static void widen(int *width, const char *text)
{
	int length = strlen(text);

	if (length > *width)
		*width = length;
}

void list_table_measure(struct list_table *table, const struct list_row *row)
{
	widen(&table->width[0], row->scope->name);
	widen(&table->width[1], entry_shown(&row->entry).text);
	widen(&table->width[2], row->entry.origin);
	table->n++;
	table->n_ending += row->entry.expires_ms > 0;
	table->n_parked += row->is_parked;
}

void list_table_print_head(const struct list_table *table)
{
	if (table->n)
		say("%-*s  %-*s  %-*s  %-19s  %-8s  %s\n", table->width[0], "RULE", table->width[1],
		    "KEY", table->width[2], "ORIGIN", "SINCE", "LEFT", "REASON");
}

void list_table_print_total(const struct list_table *table)
{
	char n[NUMBER_TEXT];

	if (!table->n)
		return;
	say("%s %s", format_count(table->n, n), baleen_plural(table->n, "entry", "entries"));
	if (table->n_ending)
		say(", %s with an end", format_count(table->n_ending, n));
	if (table->n_parked)
		say(", %s parked", format_count(table->n_parked, n));
	putchar('\n');
}

static bool has_ended(const struct list_row *row, u64 now_ms)
{
	return row->entry.expires_ms && row->entry.expires_ms <= now_ms;
}

void list_table_print(const struct list_table *table, const struct list_row *row)
{
	const struct baleen_rule_entry *entry = &row->entry;
	char since[ENTRY_TIME_TEXT], left[BALEEN_DURATION_TEXT];
	bool ended = has_ended(row, table->now_ms);

	say("%-*s  %-*s  %-*s  %-19s  %-8s  %s", table->width[0], row->scope->name, table->width[1],
	    entry_shown(entry).text, table->width[2], entry->origin,
	    format_entry_time(entry->added_ms, since),
	    ended	      ? "ended" :
	    entry->expires_ms ? format_span(entry->expires_ms - table->now_ms, left) :
				"-",
	    *entry->reason ? entry->reason : "-");
	if (row->is_parked)
		say("; parked: %s", parked_why(row->scope));
	else if (ended)
		say("; ended %s ago, in force until baleend or the next command",
		    format_span(table->now_ms - entry->expires_ms, left));
	say("%s%s\n", row->exempt ? "; " : "", row->exempt ? row->exempt : "");
}

json_t *list_row_describe(const struct list_row *row, u64 now_ms)
{
	const struct baleen_rule_entry *entry = &row->entry;
	json_t *json = describe_entry(entry);
	char device[BALEEN_POINT_BYTES];
	const char *rule = baleen_scopes_split(row->scope, device);

	json_object_set_new(json, "rule", json_text(rule ?: row->scope->name));
	json_object_set_new(json, "device", rule ? json_text(device) : json_null());
	json_object_set_new(json, "left_ms",
			    has_ended(row, now_ms) ? json_integer(0) :
			    entry->expires_ms	   ? json_integer(entry->expires_ms - now_ms) :
						     json_null());
	json_object_set_new(json, "ended", json_boolean(has_ended(row, now_ms)));
	json_object_set_new(json, "parked", json_boolean(row->is_parked));
	json_object_set_new(json, "exempt", row->exempt ? json_text(row->exempt) : json_null());
	return json;
}

static int by_since(const void *a, const void *b)
{
	const struct list_row *x = a, *y = b;

	return (x->entry.added_ms > y->entry.added_ms) - (x->entry.added_ms < y->entry.added_ms);
}

/* Those without an end are the last: 0 less 1 is more than any time. */
static int by_left(const void *a, const void *b)
{
	u64 x = ((const struct list_row *)a)->entry.expires_ms - 1;
	u64 y = ((const struct list_row *)b)->entry.expires_ms - 1;

	return (x > y) - (x < y);
}

void list_rows_sort(struct list_row *row, size_t n, enum list_sort by)
{
	qsort(row, n, sizeof(*row), by == LIST_BY_SINCE ? by_since : by_left);
}
