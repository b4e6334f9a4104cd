/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of single entries that come and go in one transaction, and the keys that they
 * touch: what batches and expiry share.
 */
#ifndef BALEEN_DEPLOY_ROWS_H
#define BALEEN_DEPLOY_ROWS_H

#include "deploy/dirty_keys.h"
#include "deploy/widen.h"

/**
 * struct baleen_deploy_rows - changes of the rows of a rule
 * @deploy: device and state, with a transaction
 * @rules: rules of the state
 * @dirty: keys of changed rows
 * @is_changed: a row was changed
 * @prefix: prefixes in which bans came or went, and that the rule may widen them to
 * @n_prefixes: how many
 * @rebuild: other rules that are derived anew in the same step; NULL for none
 * @error: the caller's
 *
 * @deploy, @rules, @rebuild and @error are given.
 */
struct baleen_deploy_rows {
	struct baleen_deploy *deploy;
	struct baleen_stored_rules rules;
	struct baleen_dirty_keys dirty;
	bool is_changed;
	struct baleen_widen_prefix *prefix;
	size_t n_prefixes;
	const bool *rebuild;
	struct baleen_error *error;
};

/**
 * baleen_deploy_rows_start() - rows are of this rule from now on
 * @rows: end with baleen_deploy_rows_end()
 * @index: index of the rule
 * @now_ms: the time
 */
void baleen_deploy_rows_start(struct baleen_deploy_rows *rows, u32 index, u64 now_ms);

/**
 * baleen_deploy_rows_end() - free what a rule needed
 * @rows: started, or all zeros but for what was given
 */
void baleen_deploy_rows_end(struct baleen_deploy_rows *rows);

/**
 * baleen_deploy_rows_rule() - the rule
 * @rows: started
 *
 * Return: the rule.
 */
const struct baleen_stored_rule *baleen_deploy_rows_rule(const struct baleen_deploy_rows *rows);

/**
 * baleen_deploy_rows_touch() - a row comes or goes
 * @rows: started
 * @entry: its entry
 * @is_put: it comes
 * @is_new: it was not there
 *
 * Return: 0 or -ENOMEM.
 */
int baleen_deploy_rows_touch(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			     bool is_put, bool is_new);

/**
 * baleen_deploy_rows_put() - add an entry, or renew it
 * @rows: started
 * @entry: the entry
 * @is_new: filled in: it was not there
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_rows_put(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			   bool *is_new);

/**
 * baleen_deploy_rows_remove() - forget an entry
 * @rows: started
 * @entry: the entry; of all origins when its own is empty
 * @n: filled in: how many there were
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_rows_remove(struct baleen_deploy_rows *rows,
			      const struct baleen_rule_entry *entry, u64 *n);

/**
 * baleen_deploy_rows_take() - forget an entry as somebody asks for it
 * @rows: started
 * @entry: the entry; of all origins when its own is empty
 * @n: filled in: how many there were
 *
 * Lone IPv6 addresses that stand for it in the rule go with it.
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_rows_take(struct baleen_deploy_rows *rows, const struct baleen_rule_entry *entry,
			    u64 *n);

/**
 * baleen_deploy_rows_end_prefix() - the time of the entry of a prefix has come
 * @rows: started
 * @entry: the entry, of the origin BALEEN_ORIGIN_WIDEN
 *
 * It goes, or gets another end, with baleen_deploy_rows_widen().
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_rows_end_prefix(struct baleen_deploy_rows *rows,
				  const struct baleen_rule_entry *entry);

/**
 * baleen_deploy_rows_widen() - ban, or let go, the prefixes in which bans came or went
 * @rows: started, with all other changes made
 * @refuse: says whether the entry of a prefix must not come; NULL when none may come,
 *          only go or get another end
 * @data: passed to @refuse
 *
 * Return: 0 or a negative errno.
 */
int baleen_deploy_rows_widen(struct baleen_deploy_rows *rows,
			     int (*refuse)(void *data, const struct baleen_rule_entry *entry,
					   bool *is_refused),
			     void *data);

#endif /* BALEEN_DEPLOY_ROWS_H */
