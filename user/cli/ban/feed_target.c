// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A batch of a feed: entries of one rule, or bans of all that take some. */
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
	bool is_all = !strcmp(target->name, BALEEN_SCOPE_BANS);

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

static int hold_all(struct feed_target *target, struct baleen_error *error)
{
	int err = baleen_bans_open(&target->bans, BALEEN_SCOPE_BANS, error);

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

static int put_in_one(struct feed_target *target, struct baleen_batch *batch,
		      struct baleen_error *error)
{
	struct baleen_deploy *deploy = &target->session.deploy;
	const struct entries entries = { .change = batch->change, .n = batch->n };
	int err;

	batch->rule = target->rule;
	batch->host = &target->host;
	err = baleen_deploy_batch(deploy, batch, error);
	target->unkept = err ? NULL : baleen_book_unkept_why(&deploy->state);
	if (!err)
		entries_warn_ends(&entries, deploy);
	return err;
}

static void note_behind(struct feed_target *target)
{
	struct baleen_bans *bans = &target->bans;
	struct baleen_error *behind = &target->behind;

	for (u32 i = 0; i < bans->n_devices; i++) {
		size_t n = strlen(behind->text);

		if (bans->device[i].is_behind)
			snprintf(behind->text + n, sizeof(behind->text) - n, "%s%s: %s",
				 n ? "; " : "", bans->device[i].name, bans->device[i].why.text);
	}
	target->is_late = behind->text[0];
}

/* Nobody is held who is not held with all others. */
static bool is_contended(const struct baleen_bans *bans)
{
	for (u32 i = 0; i < bans->n_devices; i++)
		if (bans->device[i].is_late || bans->device[i].is_behind)
			return true;
	return false;
}

/* One device that somebody holds is waited for once, and then no longer makes bans wait. */
static int put_in_all(struct feed_target *target, struct baleen_batch *batch,
		      struct baleen_error *error)
{
	const struct entries entries = { .change = batch->change, .n = batch->n };
	bool is_impatient = target->is_late && target->wait_ms > LATE_MS;
	int err = baleen_bans_put(&target->bans, batch, is_impatient ? LATE_MS : target->wait_ms,
				  NULL, error);

	if (err)
		return err;
	note_behind(target);
	target->unkept = baleen_book_unkept_why(&target->bans.book);
	entries_warn_bans_end(&entries, &target->bans);
	return 0;
}

int feed_target_put(struct feed_target *target, struct baleen_batch *batch,
		    struct baleen_error *error)
{
	int err;

	target->behind.text[0] = '\0';
	target->unkept = NULL;
	err = hold(target, error);
	if (err)
		return err;
	err = is_one(target) ? put_in_one(target, batch, error) : put_in_all(target, batch, error);
	/* The next one to open it tries to keep it, and to hold all. */
	if (err || target->unkept || is_contended(&target->bans))
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
