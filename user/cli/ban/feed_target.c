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
#include "util/clock.h"
#include "util/memory.h"

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

static int find_rule(struct feed_target *target)
{
	struct baleen_stored_rule rule;

	if (entries_rule(target->device, target->rule, &rule))
		return EXIT_FAILED;
	target->key_spec = rule.key_spec;
	target->ban_width = baleen_rule_ban_width(&rule);
	target->max_entries = max_entries(&rule);
	return 0;
}

static void complain_sick(const struct baleen_bans *bans)
{
	for (size_t i = 0; i < bans->n_sick; i++)
		complain("%s: %s", bans->sick[i].device, bans->sick[i].error.text);
}

static int find_rules(struct feed_target *target)
{
	struct baleen_bans bans = { 0 };
	struct baleen_error error;
	int err = baleen_bans_open(&bans, target->wait_ms, &error);

	target->key_spec = BALEEN_KEY_SRC;
	target->ban_width = BALEEN_BAN_WIDTH_MAX;
	target->max_entries = ~0ull;
	for (size_t i = 0; i < bans.n_rules; i++) {
		const struct baleen_stored_rule *rule = &bans.rule[i].rule;
		u32 width = baleen_rule_ban_width(rule);
		u64 max = max_entries(rule);

		target->ban_width = width < target->ban_width ? width : target->ban_width;
		target->max_entries = max < target->max_entries ? max : target->max_entries;
	}
	complain_sick(&bans);
	baleen_bans_close(&bans);
	if (err == -ENOENT)
		return complain_no_bans(&error);
	return err ? EXIT_FAILED : 0;
}

int feed_target_find(struct feed_target *target)
{
	struct baleen_error error;
	bool is_all = !strcmp(target->name, FEED_BANS);

	if (!is_all &&
	    !split_live(target->name, target->device, sizeof(target->device), &target->rule))
		return complain_usage(&feed_command, "'%s' is neither DEV:RULE nor bans",
				      target->name);
	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	return is_all ? find_rules(target) : find_rule(target);
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

static int hold(struct feed_target *target, struct baleen_error *error)
{
	int err;

	if (target->is_held)
		return 0;
	if (is_one(target))
		err = baleen_device_session_open_state(&target->session, target->device,
						       target->wait_ms, error);
	else
		err = baleen_bans_open(&target->bans, target->wait_ms, error);
	if (err && !is_one(target))
		baleen_bans_close(&target->bans);
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

static void leave(struct feed_target *target, const char *device, const char *why)
{
	size_t n = strlen(target->left.text);

	snprintf(target->left.text + n, sizeof(target->left.text) - n, "%s%s: %s", n ? "; " : "",
		 device, why);
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

	for (size_t i = 0; i < one.n; i++) {
		one.change[i].result = 0;
		one.change[i].answer = BALEEN_GATE_OPEN;
	}
	one.rule = rule->rule.name;
	one.host = &target->bans.host[rule->deploy];
	err = baleen_deploy_batch(deploy, &one, &why);
	if (err) {
		leave(target, deploy->state.device, why.text);
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

static void name_sick(struct feed_target *target)
{
	for (size_t i = 0; i < target->bans.n_sick; i++)
		leave(target, target->bans.sick[i].device, target->bans.sick[i].error.text);
}

static int put_in_all(struct feed_target *target, struct baleen_batch *batch,
		      struct baleen_error *error)
{
	struct baleen_rule_entry_change *result = calloc(batch->n + 1, sizeof(*result));
	s64 left = -1;
	size_t n = 0;

	if (!result)
		return baleen_no_memory(error);
	name_sick(target);
	for (size_t i = 0; i < target->bans.n_rules; i++) {
		const struct baleen_ban_rule *rule = &target->bans.rule[i];

		if (rule->deploy == left)
			continue;
		if (put_in_rule(target, rule, batch, result, !n))
			left = rule->deploy;
		else
			n++;
	}
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
	return err;
}

int feed_target_put_parked(const struct feed_target *target, const struct baleen_rule_entry *entry,
			   const char *origin, u64 *n, struct baleen_error *error)
{
	struct baleen_scopes taken = { 0 };
	int err = is_one(target) ? 0 : baleen_parked_remove(entry, origin, &taken, error);

	*n += taken.n;
	baleen_scopes_free(&taken);
	return err;
}
