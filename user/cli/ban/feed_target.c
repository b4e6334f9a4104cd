// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A batch of a feed in one rule, or in all that take bans. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ban/feed_target.h"
#include "cli/open/filter_name.h"
#include "net/device.h"
#include "state/book.h"
#include "state/parked.h"
#include "state/rule_store_each.h"
#include "util/clock.h"
#include "util/memory.h"

/* A ban is to be in force soon on those that are not held. */
#define LATE_MS 1000

static bool is_one(const struct feed_target *target)
{
	return *target->device;
}

/* --- which ------------------------------------------------------------------ */

/* A change takes less than a KiB until the commit. */
static u64 max_entries(const struct baleen_stored_rule *rule)
{
	return baleen_feed_max_entries(&rule->limits, baleen_memory_total() / 4);
}

static void begin_to_measure(struct feed_target *target)
{
	target->key_spec = BALEEN_KEY_SRC;
	target->ban_width = BALEEN_BAN_WIDTH_MAX;
	target->max_entries = ~0ull;
}

static void measure(struct feed_target *target, const struct baleen_stored_rule *rule)
{
	u32 width = baleen_rule_ban_width(rule);
	u64 max = max_entries(rule);

	target->key_spec = rule->key_spec;
	target->ban_width = width < target->ban_width ? width : target->ban_width;
	target->max_entries = max < target->max_entries ? max : target->max_entries;
}

/* A device that cannot be read now is named when it is to be held. */
static int look_at_device(struct baleen_rule_store_found *found, void *data)
{
	struct baleen_stored_rules rules;

	if (found->err || baleen_rule_store_get_rules(&found->state, &rules, &found->error))
		return 0;
	for (u32 i = 0; i < rules.n_rules; i++)
		if (rules.rule[i].takes_bans)
			measure(data, &rules.rule[i]);
	return 0;
}

int feed_target_find(struct feed_target *target)
{
	struct baleen_stored_rule rule;
	struct baleen_error error;
	bool is_all = !strcmp(target->name, FEED_BANS);

	if (!is_all &&
	    !split_live(target->name, target->device, sizeof(target->device), &target->rule))
		return complain_usage(&feed_command, "'%s' is neither DEV:RULE nor bans",
				      target->name);
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	begin_to_measure(target);
	if (is_all)
		return baleen_rule_store_each(look_at_device, target, &error) ?
			       complain("%s", error.text) :
			       0;
	if (entries_rule(target->device, target->rule, &rule))
		return EXIT_FAILED;
	measure(target, &rule);
	return 0;
}

/* --- held --------------------------------------------------------------------- */

void feed_target_release(struct feed_target *target)
{
	if (!target->is_held)
		return;
	target->is_held = false;
	if (is_one(target))
		baleen_device_session_close(&target->session);
	baleen_bans_close(&target->bans);
	baleen_host_free(&target->host);
	target->host = (struct baleen_host){ 0 };
}

/* One device that somebody holds is waited for once, and then no longer keeps bans from the
 * others.
 */
static int hold_all(struct feed_target *target, struct baleen_error *error)
{
	bool is_impatient = target->is_late && target->wait_ms > LATE_MS;
	int err = baleen_bans_open(&target->bans, is_impatient ? LATE_MS : target->wait_ms, error);

	target->is_late = target->bans.n_sick;
	if (err) {
		baleen_bans_close(&target->bans);
		return err;
	}
	begin_to_measure(target);
	for (size_t i = 0; i < target->bans.n_rules; i++)
		measure(target, &target->bans.rule[i].rule);
	return 0;
}

static int hold(struct feed_target *target, struct baleen_error *error)
{
	int err;

	if (target->is_held)
		return 0;
	err = is_one(target) ? baleen_device_session_open_state(&target->session, target->device,
								target->wait_ms, error) :
			       hold_all(target, error);
	target->is_held = !err;
	target->held_ms = baleen_monotonic_ms();
	return err;
}

/* --- put ------------------------------------------------------------------------ */

static void warn_ends(struct baleen_batch *batch, const struct baleen_deploy *deploy)
{
	const struct entries entries = { .change = batch->change, .n = batch->n };

	entries_warn_ends(&entries, deploy);
}

static int put_in_one(struct feed_target *target, struct baleen_batch *batch,
		      struct baleen_error *error)
{
	struct baleen_deploy *deploy = &target->session.deploy;
	int err;

	batch->rule = target->rule;
	batch->host = &target->host;
	err = baleen_deploy_batch(deploy, batch, error);
	target->unkept = err ? NULL : baleen_book_unkept_why(&deploy->state);
	if (!err)
		warn_ends(batch, deploy);
	return err;
}

/* An entry that one rule refuses and another takes is narrowed; one is new that some had not. */
static void unite(struct baleen_rule_entry_change *all, const struct baleen_rule_entry_change *one)
{
	const struct baleen_rule_entry_change was = *all, *less;
	bool is_taken = one->result != -EPERM, was_taken = was.result != -EPERM;

	if (!is_taken && !was_taken)
		return;
	less = !is_taken ? one : !was_taken || was.answer != BALEEN_GATE_OPEN ? &was : one;
	if (is_taken && (!was_taken || !one->result))
		*all = *one;
	all->answer = less->answer;
	all->protected = less->protected;
}

/* @rule: NULL for all of the device */
static void leave(struct feed_target *target, const char *device, const char *rule, const char *why)
{
	size_t n = strlen(target->left.text);

	snprintf(target->left.text + n, sizeof(target->left.text) - n, "%s%s%s%s: %s",
		 n ? "; " : "", device, rule ? ":" : "", rule ?: "", why);
}

/* Makes a batch in one of the rules; @result has the results of those before, unless it is the
 * first that takes it.
 */
static int put_in_rule(struct feed_target *target, const struct baleen_ban_rule *rule,
		       struct baleen_batch *batch, struct baleen_rule_entry_change *result,
		       bool is_first)
{
	struct baleen_deploy *deploy = &target->bans.deploy[rule->deploy];
	struct baleen_batch one = *batch;
	struct baleen_error why;
	int err;

	for (size_t i = 0; i < one.n; i++)
		one.change[i].entry.yields = 0;
	one.rule = rule->rule.name;
	one.host = &target->bans.host[rule->deploy];
	err = baleen_deploy_batch(deploy, &one, &why);
	if (err) {
		leave(target, deploy->state.device, rule->rule.name, why.text);
		return err;
	}
	for (size_t i = 0; i < one.n; i++)
		if (is_first)
			result[i] = one.change[i];
		else
			unite(&result[i], &one.change[i]);
	batch->n_flushed += one.n_flushed;
	target->unkept = baleen_book_unkept_why(&deploy->state) ?: target->unkept;
	warn_ends(&one, deploy);
	return 0;
}

static int put_in_all(struct feed_target *target, struct baleen_batch *batch,
		      struct baleen_error *error)
{
	struct baleen_rule_entry_change *result = calloc(batch->n + 1, sizeof(*result));
	size_t n = 0;

	if (!result)
		return baleen_no_memory(error);
	for (size_t i = 0; i < target->bans.n_sick; i++)
		leave(target, target->bans.sick[i].device, NULL, target->bans.sick[i].error.text);
	for (size_t i = 0; i < target->bans.n_rules; i++)
		n += !put_in_rule(target, &target->bans.rule[i], batch, result, !n);
	if (n && batch->n)
		memcpy(batch->change, result, batch->n * sizeof(*result));
	free(result);
	return n ? 0 : baleen_fail(error, EIO, "%s", target->left.text);
}

int feed_target_put(struct feed_target *target, struct baleen_batch *batch,
		    struct baleen_error *error)
{
	int err;

	target->left.text[0] = '\0';
	target->unkept = NULL;
	err = hold(target, error);
	if (err)
		return err;
	err = is_one(target) ? put_in_one(target, batch, error) : put_in_all(target, batch, error);
	/* The next one to open it tries to keep it, or what was left. */
	if (err || target->unkept || target->left.text[0])
		feed_target_release(target);
	return is_one(target) && err == -ENOENT ? -ENODEV : err;
}

static int put_parked(struct baleen_batch *batch, struct baleen_parked_key *key,
		      struct baleen_error *error)
{
	struct baleen_scopes taken;
	size_t n = 0;
	int err;

	for (size_t i = 0; i < batch->n; i++)
		if (batch->change[i].op == BALEEN_RULE_ENTRY_REMOVE)
			key[n++] = (struct baleen_parked_key){ .entry = &batch->change[i].entry };
	if (!n)
		return 0;
	err = baleen_parked_remove(key, n, &taken, error);
	if (err)
		return err;
	baleen_scopes_free(&taken);
	n = 0;
	for (size_t i = 0; i < batch->n; i++)
		if (batch->change[i].op == BALEEN_RULE_ENTRY_REMOVE && key[n++].n)
			batch->change[i].result = 0;
	return 0;
}

int feed_target_put_parked(const struct feed_target *target, struct baleen_batch *batch,
			   struct baleen_error *error)
{
	struct baleen_parked_key *key;
	int err;

	if (is_one(target))
		return 0;
	key = calloc(batch->n + 1, sizeof(*key));
	if (!key)
		return baleen_no_memory(error);
	err = put_parked(batch, key, error);
	free(key);
	return err;
}
