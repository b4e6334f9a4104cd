// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One of the rules that a batch of single entries is for. */
#include <errno.h>
#include <string.h>

#include "deploy/batch_rule.h"
#include "deploy/protect.h"

/* --- start ------------------------------------------------------------------- */

/* Whoever read a key by what the rule was before must not be told that it is in force. */
static int check_keys(const struct baleen_batch_rule *rule)
{
	const struct baleen_rule_entry_change *change = rule->batch->change;
	const struct baleen_stored_rule *stored = baleen_deploy_rows_rule(&rule->rows);

	for (size_t i = 0; i < rule->batch->n; i++)
		if (change[i].op == BALEEN_RULE_ENTRY_PUT &&
		    !baleen_entry_key_is_of(&change[i].entry.key, stored->key_spec))
			return baleen_fail(rule->rows.error, EINVAL, "'%s' has other keys by now",
					   stored->name);
	return 0;
}

int baleen_batch_rule_start(struct baleen_batch_rule *rule, const char *name)
{
	struct baleen_rule_store *state = &rule->rows.deploy->state;
	int err = baleen_rule_store_get_rules(state, &rule->rows.rules, rule->rows.error);
	int index;

	if (err)
		return err;
	rule->plan.rules = rule->rows.rules;
	rule->rows.rebuild = rule->plan.rebuild;
	index = baleen_rule_store_find_rule(&rule->rows.rules, name);
	if (index < 0)
		return baleen_fail(rule->rows.error, ENOENT, "%s has no rule '%s'", state->device,
				   name);
	baleen_deploy_rows_start(&rule->rows, index, baleen_now_ms());
	return check_keys(rule);
}

void baleen_batch_rule_end(struct baleen_batch_rule *rule)
{
	baleen_deploy_rows_end(&rule->rows);
	baleen_gate_close(&rule->gate);
	baleen_gate_close(&rule->prefix_gate);
	baleen_host_free(&rule->own_host);
}

/* --- the door ---------------------------------------------------------------- */

static struct baleen_gate make_gate(struct baleen_batch_rule *rule)
{
	const struct baleen_batch *batch = rule->batch;

	return (struct baleen_gate){
		.state = &rule->rows.deploy->state,
		.rule = baleen_deploy_rows_rule(&rule->rows),
		.asker = batch->asker,
		.forces = batch->forces,
		.narrows = batch->narrows,
		.of_bans = rule->of_bans,
		.replaces = batch->snapshot_of ?: batch->flush_of,
		.cuts_sessions = batch->cuts_sessions,
		.sessions = rule->rows.rules.guard_sessions,
		.host = batch->host ? batch->host : &rule->own_host,
		.error = rule->rows.error,
	};
}

static bool is_addition(const struct baleen_rule_entry_change *change)
{
	return change->op == BALEEN_RULE_ENTRY_PUT && !change->entry.is_exception;
}

static const struct baleen_rule_entry *next_addition(void *data)
{
	struct baleen_batch_rule *rule = data;

	while (rule->at < rule->batch->n) {
		const struct baleen_rule_entry_change *change = &rule->batch->change[rule->at++];

		if (is_addition(change))
			return &change->entry;
	}
	return NULL;
}

int baleen_batch_rule_ask(struct baleen_batch_rule *rule,
			  int (*answer)(void *data, struct baleen_rule_entry_change *change,
					enum baleen_gate_answer answer,
					const struct baleen_protected *protected),
			  void *data)
{
	struct baleen_batch *batch = rule->batch;
	bool meets;
	int err;

	rule->gate = make_gate(rule);
	err = baleen_gate_open(&rule->gate);
	if (!err)
		err = baleen_gate_meets(&rule->gate, next_addition, rule, &meets);
	for (size_t i = 0; i < batch->n && !err && meets; i++) {
		struct baleen_rule_entry_change *change = &batch->change[i];
		struct baleen_protected protected;
		enum baleen_gate_answer given;
		u32 yields = change->entry.yields;

		if (!is_addition(change) || change->result == -EPERM)
			continue;
		err = baleen_gate_ask(&rule->gate, &change->entry, &given, &protected);
		/* Nothing is lost by which another rule of the batch has narrowed it. */
		change->entry.yields |= yields;
		if (err || given == BALEEN_GATE_OPEN)
			continue;
		rule->is_narrowed |= given == BALEEN_GATE_NARROWED;
		err = answer(data, change, given, &protected);
	}
	return err;
}

int baleen_batch_rule_protect(struct baleen_batch_rule *rule)
{
	struct baleen_rule_store *state = &rule->rows.deploy->state;
	int err;

	if (!rule->is_narrowed || rule->batch->is_trial || rule->is_read_only)
		return 0;
	err = baleen_rule_store_mark(state, rule->rows.error);
	if (!err)
		err = baleen_rule_store_begin(state, rule->rows.error);
	if (!err)
		err = baleen_protect(state, &rule->plan, NULL, rule->rows.error);
	if (!err)
		return baleen_rule_store_commit(state, rule->rows.error);
	baleen_rule_store_rollback(state);
	/* A list of addresses that is not there is no rule that is not there. */
	return err == -ENOENT ? -EIO : err;
}

/* --- prefixes ------------------------------------------------------------------ */

/* A prefix is banned by nobody's order: what is withheld in it, peers among it whatever the
 * batch says of them, saves all of it.
 */
static int refuse_prefix(void *data, const struct baleen_rule_entry *entry, bool *is_refused)
{
	struct baleen_batch_rule *rule = data;
	struct baleen_rule_entry asked = *entry;
	enum baleen_gate_answer answer;
	struct baleen_protected ignored;
	bool has_room = true;
	int err = 0;

	if (!rule->has_prefix_gate) {
		rule->prefix_gate = make_gate(rule);
		rule->prefix_gate.asker = BALEEN_ASKER_TYPED;
		rule->prefix_gate.forces = rule->prefix_gate.narrows = false;
		rule->prefix_gate.cuts_sessions = false;
		rule->prefix_gate.replaces = NULL;
		err = baleen_gate_open(&rule->prefix_gate);
		rule->has_prefix_gate = !err;
	}
	if (!err)
		err = baleen_gate_ask(&rule->prefix_gate, &asked, &answer, &ignored);
	if (!err)
		err = baleen_gate_has_room(&rule->prefix_gate, &asked, &has_room);
	if (err)
		return err;
	*is_refused = answer != BALEEN_GATE_OPEN || !has_room;
	rule->prefix_gate.n_entries += !*is_refused;
	if (!*is_refused)
		strcpy(rule->widened, baleen_entry_key_text(&entry->key).text);
	return 0;
}

int baleen_batch_rule_widen(struct baleen_batch_rule *rule)
{
	return baleen_deploy_rows_widen(&rule->rows, refuse_prefix, rule);
}

/* --- the map --------------------------------------------------------------------- */

int baleen_batch_rule_agree(struct baleen_batch_rule *rule, bool *in_place,
			    struct baleen_error *error)
{
	rule->rows.dirty.error = error;
	return baleen_dirty_keys_agree(&rule->rows.dirty, rule->batch->atomic || rule->is_narrowed,
				       in_place);
}
