// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Single entries whose time has come. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/deploy_rows.h"
#include "state/unkept.h"
#include "util/array.h"

/**
 * struct expired - entries whose time has come
 * @entry: the entries
 * @n: how many
 */
struct expired {
	struct baleen_rule_entry *entry;
	size_t n;
};

static int keep_expired(const struct baleen_rule_entry *entry, void *data)
{
	struct expired *expired = data;

	if (baleen_array_add(&expired->entry, expired->n))
		return -ENOMEM;
	expired->entry[expired->n++] = *entry;
	return 0;
}

/* The entry of a prefix may go on: more bans than it stood on may have come since. */
static int remove_row(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
		      u64 *n)
{
	return strcmp(entry->origin, BALEEN_ORIGIN_WIDEN) ?
		       baleen_deploy_rows_remove(rows, entry, n) :
		       baleen_deploy_rows_end_prefix(rows, entry);
}

static int remove_expired(struct baleen_deploy_rows *rows, u64 *n_removed)
{
	struct expired expired = { 0 };
	int err =
		baleen_rule_entries_expired(&rows->deploy->state,
					    baleen_deploy_rows_rule(rows)->name, rows->dirty.now_ms,
					    keep_expired, &expired, rows->error);

	if (err == -ENOMEM)
		baleen_no_memory(rows->error);
	for (size_t i = 0; i < expired.n && !err; i++) {
		u64 n = 0;

		err = remove_row(rows, &expired.entry[i], &n);
		*n_removed += n;
	}
	free(expired.entry);
	return err ? err : baleen_deploy_rows_widen(rows, NULL, NULL);
}

static int expire_rule(struct baleen_deploy_rows *rows, u32 index, u64 now_ms, u64 *n_removed)
{
	bool ignored;
	int err;

	baleen_deploy_rows_start(rows, index, now_ms);
	err = baleen_rule_store_refused(&rows->deploy->state, remove_expired(rows, n_removed));
	if (!err && rows->is_changed)
		err = baleen_dirty_keys_agree(&rows->dirty, false, &ignored);
	baleen_deploy_rows_end(rows);
	return err;
}

/* For who counts over months: the state outlives all processes. */
static int note_expired(struct baleen_deploy_rows *rows, u64 n)
{
	struct baleen_rule_store *state = &rows->deploy->state;
	char *text = NULL, sum[24];
	int err = baleen_rule_store_get_text(state, "expired", &text);

	if (err)
		return baleen_fail(rows->error, -err, "%s: %s", state->path, strerror(-err));
	snprintf(sum, sizeof(sum), "%llu", (text ? strtoull(text, NULL, 10) : 0) + n);
	free(text);
	return baleen_rule_store_set_text(state, "expired", sum, rows->error);
}

/* An expired entry is no longer in the set, whatever becomes of its row: so there is
 * no mark, and a map that was changed is not changed back.
 */
static int expire(struct baleen_deploy *deploy, u64 now_ms, u64 *n, struct baleen_error *error)
{
	struct baleen_deploy_rows rows = { .deploy = deploy, .error = error };
	u64 n_removed = 0;
	int err;

	err = baleen_rule_store_get_rules(&deploy->state, &rows.rules, rows.error);
	if (!err)
		err = baleen_rule_store_begin(&deploy->state, rows.error);
	if (err)
		return err;
	for (u32 i = 0; i < rows.rules.n_rules && !err; i++)
		err = expire_rule(&rows, i, now_ms, &n_removed);
	if (!err)
		err = note_expired(&rows, n_removed);
	if (!err)
		err = baleen_rule_store_commit(&deploy->state, rows.error);
	if (err)
		baleen_rule_store_rollback(&deploy->state);
	else
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
	err = expire(deploy, now_ms, n, error ? error : &ignored);
	return baleen_unkept_goes_on(&deploy->state, err) ?
		       expire(deploy, now_ms, n, error ? error : &ignored) :
		       err;
}
