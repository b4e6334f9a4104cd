// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries whose time has come, and prefixes that are no longer widened. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/batch_rows.h"
#include "deploy/deploy_rows.h"
#include "state/book.h"

/* The entry of a prefix may go on: more bans than it stood on may have come since. */
static int remove_row(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
		      u64 *n)
{
	const struct baleen_widen *widen =
		&baleen_deploy_rows_rule(rows)->widen[entry->key.span.is_ip6];

	if (strcmp(entry->origin, BALEEN_ORIGIN_WIDEN) ||
	    baleen_span_length(&entry->key.span) != (int)widen->length)
		return baleen_deploy_rows_remove(rows, entry, n);
	return baleen_deploy_rows_end_prefix(rows, entry);
}

static int remove_rows(struct baleen_deploy_rows *rows, const struct baleen_entry_array *ending,
		       u64 *n_removed)
{
	int err = 0;

	for (size_t i = 0; i < ending->n && !err; i++) {
		u64 n = 0;

		err = remove_row(rows, &ending->entry[i], &n);
		*n_removed += n;
	}
	return err ? err : baleen_deploy_rows_widen(rows, NULL, NULL);
}

typedef int (*find_function)(const struct baleen_rule_store *state, const char *rule, u64 now_ms,
			     int (*visit)(const struct baleen_rule_entry *entry, void *data),
			     void *data, struct baleen_error *error);

static int find_widened(const struct baleen_rule_store *state, const char *rule, u64 now_ms,
			int (*visit)(const struct baleen_rule_entry *entry, void *data), void *data,
			struct baleen_error *error)
{
	return baleen_rule_entries_each(state, rule, BALEEN_ORIGIN_WIDEN, visit, data, error);
}

static int end_rule(struct baleen_deploy_rows *rows, u32 index, u64 now_ms, find_function find,
		    u64 *n_removed)
{
	struct baleen_entry_array ending = { 0 };
	bool ignored;
	int err;

	baleen_deploy_rows_start(rows, index, now_ms);
	err = find(&rows->deploy->state, baleen_deploy_rows_rule(rows)->name, now_ms,
		   baleen_entry_array_keep, &ending, rows->error);
	if (err == -ENOMEM)
		baleen_no_memory(rows->error);
	if (!err)
		err = baleen_book_refused(&rows->deploy->state,
					  remove_rows(rows, &ending, n_removed));
	free(ending.entry);
	if (!err && rows->is_changed)
		err = baleen_dirty_keys_agree(&rows->dirty, false, &ignored);
	baleen_deploy_rows_end(rows);
	return err;
}

/* An expired entry is no longer in the set, whatever becomes of its row: so there is
 * no mark, and a map that was changed is not changed back.
 */
static int end_all(struct baleen_deploy *deploy, u64 now_ms, find_function find, u64 *n,
		   struct baleen_error *error)
{
	struct baleen_deploy_rows rows = { .deploy = deploy, .error = error };
	u64 n_removed = 0;
	int err;

	err = baleen_rule_store_get_rules(&deploy->state, &rows.rules, rows.error);
	if (!err)
		err = baleen_book_begin(&deploy->state, rows.error);
	if (err)
		return err;
	for (u32 i = 0; i < rows.rules.n_rules && !err; i++)
		err = end_rule(&rows, i, now_ms, find, &n_removed);
	if (!err && find == baleen_rule_entries_expired)
		err = baleen_rule_entries_expire(&deploy->state, now_ms, &n_removed, rows.error);
	err = baleen_book_end(&deploy->state, err, rows.error);
	if (!err)
		*n = n_removed;
	return err;
}

int baleen_deploy_expire(struct baleen_deploy *deploy, u64 now_ms, u64 *n,
			 struct baleen_error *error)
{
	u64 next = baleen_rule_entries_next_expiry(&deploy->state);
	struct baleen_error ignored;
	int err;

	*n = 0;
	if (!next || next > now_ms)
		return 0;
	err = end_all(deploy, now_ms, baleen_rule_entries_expired, n, error ? error : &ignored);
	return baleen_book_goes_on(&deploy->state, err) ?
		       end_all(deploy, now_ms, baleen_rule_entries_expired, n,
			       error ? error : &ignored) :
		       err;
}

int baleen_deploy_settle_widened(struct baleen_deploy *deploy,
				 const struct baleen_stored_rules *rules,
				 struct baleen_error *error)
{
	bool has_any = false;
	u64 n;
	int err;

	for (u32 i = 0; i < rules->n_rules && !has_any; i++)
		has_any = baleen_rule_entries_count(&deploy->state, rules->rule[i].name,
						    BALEEN_ORIGIN_WIDEN);
	if (!has_any)
		return 0;
	/* Their time has not come: whoever dies in between leaves the mark. */
	err = baleen_rule_store_mark(&deploy->state, error);
	if (!err)
		err = end_all(deploy, baleen_now_ms(), find_widened, &n, error);
	if (!err)
		baleen_rule_store_unmark(&deploy->state);
	return err;
}
