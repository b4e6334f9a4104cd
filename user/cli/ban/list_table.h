/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of 'baleen list'.
 */
#ifndef BALEEN_CLI_LIST_TABLE_H
#define BALEEN_CLI_LIST_TABLE_H

#include "cli/ban/describe_entry.h"
#include "state/scope.h"

enum list_sort {
	LIST_BY_KEY,
	LIST_BY_SINCE,
	LIST_BY_LEFT,
};

/**
 * struct list_row - an entry that is listed
 * @scope: of it
 * @entry: the entry
 * @is_parked: no rule has it
 * @exempt: the part of it that is not in force, or NULL
 */
struct list_row {
	const struct baleen_scope *scope;
	struct baleen_rule_entry entry;
	bool is_parked;
	char *exempt;
};

/**
 * struct list_table - what is known of all rows
 * @now_ms: the time
 * @width: of the first columns: rule, key, origin
 * @n: how many rows
 * @n_ending: of them, those that have an end
 * @n_parked: and those that no rule has
 */
struct list_table {
	u64 now_ms;
	int width[3];
	u64 n, n_ending, n_parked;
};

void list_table_measure(struct list_table *table, const struct list_row *row);

/* Nothing when there are no rows. */
void list_table_print_head(const struct list_table *table);
void list_table_print_total(const struct list_table *table);

void list_table_print(const struct list_table *table, const struct list_row *row);

json_t *list_row_describe(const struct list_row *row, u64 now_ms);

void list_rows_sort(struct list_row *row, size_t n, enum list_sort by);

#endif /* BALEEN_CLI_LIST_TABLE_H */
