// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A configuration onto its device, in one step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deploy/bans.h"
#include "deploy/conf_apply.h"
#include "deploy/conf_edits.h"
#include "deploy/confirm.h"
#include "deploy/protect.h"
#include "state/rule_store_path.h"
#include "util/duration.h"
#include "util/shell.h"

/* --- open ---------------------------------------------------------------------- */

/**
 * struct taken - a device whose state is about to be changed
 * @deploy: opened
 * @had_state: it had one before
 * @was_kept: which was put on again at boot
 * @is_copied: a kept copy of it is about to be changed instead
 */
struct taken {
	struct baleen_deploy deploy;
	bool had_state;
	bool was_kept;
	bool is_copied;
};

/* A filter that was attached by hand gets a kept copy of its volatile state. The kept
 * state comes first from then on; the volatile one goes when the change is done.
 */
static int adopt(const struct baleen_conf_apply *apply, struct taken *taken,
		 struct baleen_error *error)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, apply->device, apply->timeout_ms, error);

	taken->had_state = !err;
	taken->was_kept = !err && state.is_kept;
	if (err)
		return err == -ENOENT ? 0 : err;
	taken->is_copied = !state.is_kept && !apply->goal.is_volatile;
	if (taken->is_copied) {
		err = baleen_rule_store_name(apply->device, true, path, error);
		if (!err && state.is_beside)
			err = baleen_fail(error, EXDEV,
					  "%s: is of the %s of another network namespace", path,
					  apply->device);
		if (!err)
			err = baleen_rule_store_make_root(true, error);
		if (!err)
			err = baleen_rule_store_copy(&state, path, error);
	}
	baleen_rule_store_close(&state);
	return err;
}

static void forget_copy(const char *device, bool is_kept)
{
	char path[BALEEN_RULE_STORE_PATH_BYTES];

	if (!baleen_rule_store_name(device, is_kept, path, NULL))
		baleen_rule_store_remove_tree(path);
}

static int create(const struct baleen_conf_apply *apply, struct baleen_deploy *deploy,
		  struct baleen_error *error)
{
	struct baleen_deploy made = { 0 };
	int err = baleen_rule_store_create(&made.state, apply->device, !apply->goal.is_volatile,
					   apply->timeout_ms, error);

	if (err)
		return err;
	err = baleen_xdp_open_within(&made.xdp, apply->device, apply->timeout_ms, error);
	made.has_xdp = !err && made.xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!err && !made.has_xdp)
		baleen_xdp_close(&made.xdp);
	if (err && err != -ENOENT) {
		baleen_rule_store_close(&made.state);
		return err;
	}
	*deploy = made;
	return 0;
}

static int open_device(const struct baleen_conf_apply *apply, struct taken *taken,
		       struct baleen_error *error)
{
	int err = adopt(apply, taken, error);

	if (err)
		return err;
	if (!taken->had_state)
		return create(apply, &taken->deploy, error);
	baleen_bans_end_if_due();
	err = baleen_deploy_open(&taken->deploy, apply->device, apply->timeout_ms, error);
	if (err && taken->is_copied)
		forget_copy(apply->device, true);
	return err;
}

/* A kept state that was only made for a change that did not come about goes. */
static void close_device(struct taken *taken, bool is_done)
{
	struct baleen_deploy *deploy = &taken->deploy;

	if (taken->is_copied && !is_done) {
		if (deploy->has_xdp)
			baleen_xdp_close(&deploy->xdp);
		baleen_rule_store_remove(&deploy->state);
		return;
	}
	if (taken->is_copied) {
		baleen_rule_entries_keep(&deploy->state);
		forget_copy(deploy->state.device, false);
	}
	baleen_deploy_close(deploy);
}

/* --- the state -------------------------------------------------------------------- */

/**
 * struct edit - the feeds of a state on the way to those of a configuration
 * @goal: the configuration asked for
 * @state: with a transaction
 * @error: filled in on failure
 */
struct edit {
	const struct baleen_conf_goal *goal;
	struct baleen_rule_store *state;
	struct baleen_error *error;
};

static bool has_version(const struct baleen_feed_versions *versions, const struct baleen_feed *feed)
{
	for (size_t i = 0; i < versions->n; i++)
		if (baleen_feed_is_of(&versions->version[i].feed, feed->rule, &feed->wanted))
			return true;
	return false;
}

/* A feed with a new version is written with that version. */
static int edit_feed(const struct baleen_feed *feed, void *data)
{
	struct edit *edit = data;
	const struct baleen_conf_feed *wanted =
		baleen_conf_find_source(edit->goal->conf, feed->rule, &feed->wanted);
	struct baleen_feed changed = *feed;

	if (!wanted)
		return baleen_feeds_remove(edit->state, feed->id, edit->error);
	if (has_version(edit->goal->versions, feed))
		return 0;
	changed.wanted = wanted->wanted;
	return baleen_feeds_put(edit->state, &changed, edit->error);
}

int baleen_conf_put(const struct baleen_conf_goal *goal, struct baleen_rule_store *state,
		    struct baleen_deploy_plan *plan, struct baleen_error *error)
{
	const struct baleen_feed_versions *versions = goal->versions;
	const struct baleen_conf *conf = goal->conf;
	struct edit edit = { .goal = goal, .state = state, .error = error };
	int err = baleen_rule_store_set_rules(state, &conf->rules, error);

	if (!err)
		err = baleen_feeds_each(state, NULL, edit_feed, &edit, error);
	for (size_t i = 0; i < versions->n && !err; i++)
		err = baleen_feed_version_accept(state, &versions->version[i], error);
	if (!err)
		err = baleen_conf_put_applied(goal, state, error);
	return err ? err : baleen_protect(state, plan, goal->answers, error);
}

/* --- the device ---------------------------------------------------------------------- */

/**
 * struct asking - who has to agree
 * @apply: has the question
 * @xdp: the filter that is on; NULL for none
 */
struct asking {
	const struct baleen_conf_apply *apply;
	const struct baleen_xdp *xdp;
};

static int ask(void *data, const struct baleen_ruleset *ruleset)
{
	const struct asking *asking = data;

	return asking->apply->check(asking->apply->data, asking->xdp, ruleset);
}

static int put(struct baleen_conf_apply *apply, struct baleen_deploy *deploy,
	       struct baleen_error *error)
{
	struct asking asking = { .apply = apply, .xdp = deploy->has_xdp ? &deploy->xdp : NULL };
	int err = baleen_rule_store_begin(&deploy->state, error);

	if (!err)
		err = baleen_conf_put(&apply->goal, &deploy->state, &apply->plan.deploy, error);
	if (err) {
		baleen_rule_store_rollback(&deploy->state);
		return err;
	}
	return baleen_deploy_put(deploy, &apply->plan.deploy, &apply->attempts,
				 apply->check ? ask : NULL, &asking, error);
}

static int put_to_be_confirmed(struct baleen_conf_apply *apply, struct taken *taken,
			       struct baleen_error *error)
{
	const struct baleen_rule_store *before = taken->had_state ? &taken->deploy.state : NULL;
	bool was_open = baleen_confirm_deadline(apply->device);
	int err;

	if (!before && taken->deploy.has_xdp)
		return baleen_fail(error, EINVAL,
				   "%s: was attached without a state, which could not come back: "
				   "apply without --confirm",
				   apply->device);
	err = baleen_confirm_begin(before, apply->device, taken->was_kept, apply->confirm_ms,
				   error);
	if (err)
		return err;
	err = put(apply, &taken->deploy, error);
	if (err && !was_open)
		baleen_confirm_cancel(apply->device);
	return err;
}

/* --- look ------------------------------------------------------------------------------ */

static int look_at_xdp(const char *device, struct baleen_xdp *xdp, bool *has_xdp,
		       struct baleen_error *error)
{
	int err = baleen_xdp_open(xdp, device, false, error);

	*has_xdp = !err && xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!err && !*has_xdp)
		baleen_xdp_close(xdp);
	return err == -ENOENT ? 0 : err;
}

int baleen_conf_look(struct baleen_conf_apply *apply, struct baleen_error *error)
{
	struct baleen_rule_store state;
	struct baleen_xdp xdp;
	bool has_xdp, has_state;
	int err = baleen_rule_store_open(&state, apply->device, 0, error);

	has_state = !err;
	if (err && err != -ENOENT)
		return err;
	err = look_at_xdp(apply->device, &xdp, &has_xdp, error);
	if (!err)
		err = baleen_conf_compare(&apply->goal, has_state ? &state : NULL,
					  has_xdp ? &xdp : NULL, &apply->plan, error);
	if (has_xdp)
		baleen_xdp_close(&xdp);
	if (has_state)
		baleen_rule_store_close(&state);
	return err;
}

/* --- apply ----------------------------------------------------------------------------- */

static bool is_of_device(const struct baleen_conf_change *change)
{
	return change->kind <= BALEEN_CONF_LIVE || change->kind == BALEEN_CONF_NEVER;
}

static bool has_kind(const struct baleen_conf_plan *plan, enum baleen_conf_change_kind kind)
{
	for (size_t i = 0; i < plan->n_changes; i++)
		if (plan->change[i].kind == kind)
			return true;
	return false;
}

/* Changes that opening the device made are reported, too. */
static int add_mended(struct baleen_conf_plan *plan, const struct baleen_conf_plan *before,
		      struct baleen_error *error)
{
	struct baleen_conf_change *all =
		calloc(plan->n_changes + before->n_changes + 1, sizeof(*all));
	size_t n = 0;

	if (!all)
		return baleen_fail(error, ENOMEM, "no memory for the changes");
	for (size_t i = 0; i < before->n_changes; i++)
		if (is_of_device(&before->change[i]) && !has_kind(plan, before->change[i].kind))
			all[n++] = before->change[i];
	if (plan->n_changes)
		memcpy(all + n, plan->change, plan->n_changes * sizeof(*all));
	free(plan->change);
	plan->change = all;
	plan->n_changes += n;
	return 0;
}

/* A change on trial must be confirmed or tried again, so that it is never lost silently. */
static int check_window(const struct baleen_conf_apply *apply, struct baleen_error *error)
{
	u64 deadline_ms = baleen_confirm_deadline(apply->device), now_ms = baleen_now_ms();
	char left[BALEEN_DURATION_TEXT];

	if (!deadline_ms || apply->confirm_ms)
		return 0;
	return baleen_fail(error, EBUSY,
			   "%s: goes back to what was in %s: 'baleen confirm %s' first, or "
			   "--confirm",
			   apply->device,
			   baleen_duration_format(deadline_ms > now_ms ? deadline_ms - now_ms : 1,
						  left),
			   baleen_shell_word(apply->device).text);
}

static int carry_out(struct baleen_conf_apply *apply, const struct baleen_conf_plan *before,
		     struct baleen_error *error)
{
	struct taken taken = { 0 };
	struct baleen_deploy *deploy = &taken.deploy;
	int err = open_device(apply, &taken, error);

	if (err)
		return err;
	err = baleen_conf_compare(&apply->goal, taken.had_state ? &deploy->state : NULL,
				  deploy->has_xdp ? &deploy->xdp : NULL, &apply->plan, error);
	if (!err)
		err = add_mended(&apply->plan, before, error);
	if (!err && apply->plan.n_changes)
		err = apply->confirm_ms ? put_to_be_confirmed(apply, &taken, error) :
					  put(apply, deploy, error);
	close_device(&taken, !err);
	return err;
}

int baleen_conf_apply(struct baleen_conf_apply *apply, struct baleen_error *error)
{
	struct baleen_conf_plan before;
	int err = baleen_conf_look(apply, error);

	if (err || !apply->plan.n_changes)
		return err;
	err = check_window(apply, error);
	if (err)
		return err;
	before = apply->plan;
	apply->plan = (struct baleen_conf_plan){ 0 };
	err = carry_out(apply, &before, error);
	baleen_conf_plan_free(&before);
	if (err)
		baleen_conf_plan_free(&apply->plan);
	return err;
}
