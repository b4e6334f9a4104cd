// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen export: the single entries of several rules as those of one set. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/export_union.h"
#include "state/entry_pieces.h"
#include "util/array.h"

int export_union_begin_rule(struct export_union *all)
{
	if (all->n_rules && all->first[all->n_rules - 1] == all->n)
		return 0;
	if (baleen_array_add(&all->first, all->n_rules))
		return -ENOMEM;
	all->first[all->n_rules++] = all->n;
	return 0;
}

int export_union_add(struct export_union *all, const struct baleen_rule_entry *entry)
{
	if (baleen_array_add(&all->entry, all->n))
		return -ENOMEM;
	all->entry[all->n] = *entry;
	/* A list has what is dropped, however it was asked for. */
	all->entry[all->n++].key.is_lone = false;
	return 0;
}

void export_union_free(struct export_union *all)
{
	free(all->entry);
	free(all->first);
	*all = (struct export_union){ 0 };
}

/* --- exceptions ---------------------------------------------------------------------- */

static int add_span(const struct baleen_entry_piece *span, void *data)
{
	struct baleen_rule_entry entry = { .key.span = span->span, .expires_ms = span->expires_ms };

	snprintf(entry.reason, sizeof(entry.reason), "%s", span->reason);
	return export_union_add(data, &entry);
}

static int add_spans(struct export_union *to, const struct baleen_rule_entry *entry, size_t n,
		     u64 now_ms)
{
	struct baleen_entry_pieces pieces;
	int err = baleen_entry_pieces_make(entry, n, &pieces);

	if (!err)
		err = baleen_entry_pieces_spans(&pieces, false, now_ms, add_span, to);
	if (!err)
		err = baleen_entry_pieces_spans(&pieces, true, now_ms, add_span, to);
	to->n_lost += pieces.n_lost;
	baleen_entry_pieces_free(&pieces);
	return err;
}

static bool has_exceptions(const struct baleen_rule_entry *entry, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (entry[i].is_exception)
			return true;
	return false;
}

static int add_rule(struct export_union *to, const struct baleen_rule_entry *entry, size_t n,
		    u64 now_ms)
{
	int err = 0;

	if (has_exceptions(entry, n))
		return add_spans(to, entry, n, now_ms);
	for (size_t i = 0; i < n && !err; i++)
		err = export_union_add(to, &entry[i]);
	return err;
}

/* --- keys ---------------------------------------------------------------------------- */

/* The entry of a key that stays longest comes first: never is later than any end. */
static int compare(const void *a, const void *b)
{
	const struct baleen_rule_entry *x = a, *y = b;
	u64 x_ms = x->expires_ms - 1, y_ms = y->expires_ms - 1;

	return baleen_entry_key_compare(&x->key, &y->key) ?: (x_ms < y_ms) - (x_ms > y_ms);
}

static void leave_one_each(struct export_union *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->entry, all->n, sizeof(*all->entry), compare);
	for (size_t i = 0; i < all->n; i++)
		if (!n || baleen_entry_key_compare(&all->entry[n - 1].key, &all->entry[i].key))
			all->entry[n++] = all->entry[i];
	all->n = n;
}

int export_union_make(struct export_union *all, u64 now_ms)
{
	struct export_union made = { .n_lost = all->n_lost };
	int err = 0;

	if (all->n_rules && all->first[all->n_rules - 1] == all->n)
		all->n_rules--;
	if (all->n_rules < 2)
		return 0;
	for (size_t i = 0; i < all->n_rules && !err; i++) {
		size_t end = i + 1 < all->n_rules ? all->first[i + 1] : all->n;

		err = add_rule(&made, all->entry + all->first[i], end - all->first[i], now_ms);
	}
	if (err) {
		export_union_free(&made);
		return err;
	}
	leave_one_each(&made);
	export_union_free(all);
	*all = made;
	return 0;
}
