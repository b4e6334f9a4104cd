// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of single entries that come and go in one transaction. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/batch_rows.h"
#include "deploy/deploy_rows.h"
#include "state/book.h"
#include "util/array.h"

void baleen_deploy_rows_start(struct baleen_deploy_rows *rows, u32 index, u64 now_ms)
{
	rows->dirty = (struct baleen_dirty_keys){ .deploy = rows->deploy,
						  .rules = &rows->rules,
						  .index = index,
						  .now_ms = now_ms,
						  .rebuild = rows->rebuild,
						  .error = rows->error };
	rows->is_changed = false;
	rows->n_prefixes = 0;
}

void baleen_deploy_rows_end(struct baleen_deploy_rows *rows)
{
	baleen_dirty_keys_end(&rows->dirty);
	free(rows->prefix);
	rows->prefix = NULL;
	rows->n_prefixes = 0;
}

const struct baleen_stored_rule *baleen_deploy_rows_rule(const struct baleen_deploy_rows *rows)
{
	return &rows->rules.rule[rows->dirty.index];
}

/* --- one row ----------------------------------------------------------------- */

int baleen_deploy_rows_touch(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			     bool is_put, bool is_new)
{
	const struct baleen_stored_rule *rule = baleen_deploy_rows_rule(rows);
	struct baleen_rule_entry as_wide = *entry;
	struct baleen_widen_prefix prefix;

	if (!baleen_entry_key_is_of(&entry->key, rule->key_spec))
		return 0;
	baleen_entry_key_fit(&as_wide.key, baleen_rule_ban_width(rule));
	if (baleen_widen_prefix(rule, &as_wide, &prefix)) {
		if (baleen_array_add(&rows->prefix, rows->n_prefixes))
			return baleen_no_memory(rows->error);
		prefix.has_more = is_put;
		prefix.has_fewer = !is_put;
		rows->prefix[rows->n_prefixes++] = prefix;
	}
	return baleen_dirty_keys_add(&rows->dirty, &as_wide, is_new);
}

int baleen_deploy_rows_put(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			   bool *is_new)
{
	int err = baleen_rule_entries_put(&rows->deploy->state, baleen_deploy_rows_rule(rows)->name,
					  entry, is_new, rows->error);

	if (err)
		return err;
	rows->is_changed = true;
	return baleen_deploy_rows_touch(rows, entry, true, *is_new);
}

int baleen_deploy_rows_remove(struct baleen_deploy_rows *rows,
			      const struct baleen_rule_entry *entry, u64 *n)
{
	int err =
		baleen_rule_entries_remove(&rows->deploy->state,
					   baleen_deploy_rows_rule(rows)->name, entry,
					   entry->origin[0] ? entry->origin : NULL, n, rows->error);

	if (err || !*n)
		return err;
	rows->is_changed = true;
	return baleen_deploy_rows_touch(rows, entry, false, false);
}

int baleen_deploy_rows_take(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			    u64 *n)
{
	const struct baleen_stored_rule *rule = baleen_deploy_rows_rule(rows);
	struct baleen_rule_store own = baleen_book_of(&rows->deploy->state);
	struct baleen_entry_array meant = { 0 };
	int err;

	own.ban_width = baleen_rule_ban_width(rule);
	err = baleen_entry_array_meant(&meant, &own, rule->name, entry, rows->error);
	*n = 0;
	for (size_t i = 0; i < meant.n && !err; i++) {
		u64 n_one = 0;

		err = baleen_deploy_rows_remove(rows, &meant.entry[i], &n_one);
		*n += n_one;
	}
	free(meant.entry);
	return err;
}

int baleen_deploy_rows_end_prefix(struct baleen_deploy_rows *rows,
				  const struct baleen_rule_entry *entry)
{
	struct baleen_widen_prefix prefix = { .has_fewer = true };
	u64 n;

	prefix.widen = baleen_deploy_rows_rule(rows)->widen[entry->key.span.is_ip6];
	if (!prefix.widen.n)
		return baleen_deploy_rows_remove(rows, entry, &n);
	prefix.key = entry->key;
	if (baleen_array_add(&rows->prefix, rows->n_prefixes))
		return baleen_no_memory(rows->error);
	rows->prefix[rows->n_prefixes++] = prefix;
	return 0;
}

/* --- prefixes ---------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct baleen_widen_prefix *x = a, *y = b;

	return baleen_entry_key_compare(&x->key, &y->key);
}

/* Each once. */
static void unite(struct baleen_deploy_rows *rows)
{
	size_t n = 0;

	qsort(rows->prefix, rows->n_prefixes, sizeof(*rows->prefix), by_key);
	for (size_t i = 0; i < rows->n_prefixes; i++) {
		if (!n || by_key(&rows->prefix[n - 1], &rows->prefix[i])) {
			rows->prefix[n++] = rows->prefix[i];
			continue;
		}
		rows->prefix[n - 1].has_more |= rows->prefix[i].has_more;
		rows->prefix[n - 1].has_fewer |= rows->prefix[i].has_fewer;
	}
	rows->n_prefixes = n;
}

int baleen_deploy_rows_widen(struct baleen_deploy_rows *rows,
			     int (*refuse)(void *data, const struct baleen_rule_entry *entry,
					   bool *is_refused),
			     void *data)
{
	const char *rule = baleen_deploy_rows_rule(rows)->name;
	int err = 0;

	if (rows->n_prefixes)
		unite(rows);
	for (size_t i = 0; i < rows->n_prefixes && !err; i++) {
		enum baleen_widen_verdict verdict;
		struct baleen_rule_entry entry;
		bool is_refused = false, is_new;
		u64 n;

		err = baleen_widen_judge(&rows->deploy->state, rule, &rows->prefix[i],
					 rows->dirty.now_ms, &entry, &verdict, rows->error);
		if (!err && verdict == BALEEN_WIDEN_COME && refuse)
			err = refuse(data, &entry, &is_refused);
		if (err || verdict == BALEEN_WIDEN_LEAVE || is_refused)
			continue;
		if (verdict == BALEEN_WIDEN_GO)
			err = baleen_deploy_rows_remove(rows, &entry, &n);
		else if (verdict == BALEEN_WIDEN_RENEW || refuse)
			err = baleen_deploy_rows_put(rows, &entry, &is_new);
	}
	return err;
}
