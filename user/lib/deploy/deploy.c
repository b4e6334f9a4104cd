// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* State and device as one thing, changed together. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "deploy/deploy.h"
#include "deploy/protect.h"
#include "state/book.h"
#include "state/rule_scopes.h"
#include "xdp/stale_pins.h"

/* --- open ------------------------------------------------------------------ */

/* A device that is not there, or that somebody took the filter off, has none:
 * to open it puts nothing on. One that had this name before may have a state of its own.
 */
static int open_xdp(struct baleen_deploy *deploy, u64 timeout_ms, struct baleen_error *error)
{
	const char *device = deploy->state.now;
	int err;

	if (!deploy->state.is.ifindex && !baleen_device_index(device) && errno == ENODEV)
		return 0;
	err = baleen_xdp_open_at(&deploy->xdp, device, deploy->state.is.ifindex, timeout_ms, error);
	deploy->has_xdp = !err && deploy->xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!err && !deploy->has_xdp)
		baleen_xdp_close(&deploy->xdp);
	return err == -ENOENT || err == -ENODEV ? 0 : err;
}

/* Entries are narrowed by the addresses of now. Who left the device behind could not write them
 * down. Where they cannot be found out those of before stay.
 */
static void protect_narrowed(struct baleen_deploy *deploy, const struct baleen_stored_rules *rules)
{
	struct baleen_deploy_plan plan = { .rules = *rules };
	struct baleen_error ignored;
	bool is_any = false;

	for (u32 i = 0; i < rules->n_rules; i++)
		is_any |= baleen_rule_entries_yield(&deploy->state, rules->rule[i].name);
	if (!is_any || baleen_rule_store_begin(&deploy->state, &ignored))
		return;
	if (baleen_protect(&deploy->state, &plan, NULL, &ignored))
		baleen_rule_store_rollback(&deploy->state);
	else
		baleen_rule_store_commit(&deploy->state, &ignored);
}

/* One mark goes when the other is there: who dies in between leaves one. */
static int catch_up(struct baleen_deploy *deploy, const struct baleen_stored_rules *rules,
		    struct baleen_error *error)
{
	int err = deploy->has_xdp ? baleen_rule_store_mark(&deploy->state, error) : 0;

	if (err)
		return err;
	baleen_rule_store_catch_up(&deploy->state);
	protect_narrowed(deploy, rules);
	return 0;
}

/* Finish what a killed writer left half-way, follow the book, and undo changes of other tools. */
static int repair(struct baleen_deploy *deploy, const struct baleen_stored_rules *rules,
		  struct baleen_error *error)
{
	bool is_marked = baleen_rule_store_is_marked(&deploy->state);
	bool is_behind = baleen_rule_store_is_behind(&deploy->state);
	bool is_late = false;
	int err = 0;

	/* A ban whose transaction is not done may not know of this device (protocol.py, blind). */
	if (is_marked && !is_behind && baleen_rules_take(rules, NULL))
		is_late = baleen_book_wait(NULL);
	if (is_behind)
		err = catch_up(deploy, rules, error);
	is_marked |= is_behind;
	if (!err && deploy->has_xdp && rules->n_rules &&
	    (is_marked || baleen_deploy_differs(deploy, rules)))
		err = baleen_deploy_follow(deploy, baleen_now_ms(), error);
	if (!err && is_marked && !is_late)
		baleen_rule_store_unmark(&deploy->state);
	if (err && is_behind)
		baleen_rule_store_leave_behind(&deploy->state, NULL);
	return err;
}

static bool has_to_rebuild(const struct baleen_deploy_plan *plan)
{
	for (u32 i = 0; i < plan->rules.n_rules; i++)
		if (plan->rebuild[i])
			return true;
	return false;
}

/* Follow a never-drop list that was edited. One that cannot be read, or put in force, is no reason
 * to refuse other changes: the last good one stays.
 */
static void follow_never(struct baleen_deploy *deploy, struct baleen_deploy_plan *plan)
{
	struct baleen_error *error = &deploy->never_error;

	if (!plan->rules.n_rules ||
	    !baleen_protected_never_is_stale(&deploy->state, plan->rules.never_path) ||
	    baleen_rule_store_begin(&deploy->state, error))
		return;
	if (baleen_protect_never(&deploy->state, plan, error))
		baleen_rule_store_rollback(&deploy->state);
	else if (has_to_rebuild(plan) && deploy->has_xdp)
		baleen_deploy_put(deploy, plan, NULL, NULL, NULL, error);
	else
		baleen_rule_store_commit(&deploy->state, error);
}

static int open_rest(struct baleen_deploy *deploy, const struct baleen_rule_store *state,
		     u64 timeout_ms, struct baleen_error *error)
{
	struct baleen_deploy opened = { .state = *state };
	struct baleen_deploy_plan plan = { 0 };
	u64 n;
	int err = open_xdp(&opened, timeout_ms, error);

	if (!err)
		baleen_rule_entries_follow(&opened.state, NULL);
	if (!err)
		err = baleen_rule_store_get_rules(&opened.state, &plan.rules, error);
	if (!err)
		err = repair(&opened, &plan.rules, error);
	/* A state is there: what is not is something else. */
	if (err) {
		baleen_deploy_close(&opened);
		return err == -ENOENT ? -EIO : err;
	}
	follow_never(&opened, &plan);
	/* On a full disk the rows stay, and mean nothing. */
	baleen_deploy_expire(&opened, baleen_now_ms(), &n, NULL);
	baleen_book_keep(&opened.state, NULL);
	*deploy = opened;
	return 0;
}

int baleen_deploy_open(struct baleen_deploy *deploy, const char *device, u64 timeout_ms,
		       struct baleen_error *error)
{
	struct baleen_rule_store state;
	int err = baleen_rule_store_open(&state, device, timeout_ms ? timeout_ms : 1, error);

	return err ? err : open_rest(deploy, &state, timeout_ms, error);
}

int baleen_deploy_open_read(struct baleen_deploy *deploy, struct baleen_rule_store *state,
			    const struct baleen_rule_store *book, u64 timeout_ms,
			    struct baleen_error *error)
{
	int err = baleen_rule_store_write(state, timeout_ms ? timeout_ms : 1, error);

	if (!err && book)
		baleen_book_share(state, book);
	return err ? err : open_rest(deploy, state, timeout_ms, error);
}

void baleen_deploy_close(struct baleen_deploy *deploy)
{
	if (deploy->has_xdp)
		baleen_xdp_close(&deploy->xdp);
	deploy->has_xdp = false;
	baleen_rule_store_close(&deploy->state);
}

/* --- put ------------------------------------------------------------------- */

static int note_applied(struct baleen_deploy *deploy, const struct baleen_deploy_step *step,
			struct baleen_error *error)
{
	char time[24];

	snprintf(time, sizeof(time), "%llu", (unsigned long long)step->now_ms / 1000);
	return baleen_rule_store_set_text(&deploy->state, "applied", time, error);
}

/**
 * struct putting - a ruleset on its way to a device
 * @deploy: the device
 * @step: prepared
 * @attempts: filled in by an attach
 * @was_attached: the device had a filter before
 */
struct putting {
	struct baleen_deploy *deploy;
	const struct baleen_deploy_step *step;
	struct baleen_attempts *attempts;
	bool was_attached;
};

static int put(void *data, struct baleen_error *error)
{
	struct putting *putting = data;

	return putting->was_attached ? baleen_deploy_switch(putting->deploy, putting->step, error) :
				       baleen_deploy_attach(putting->deploy, putting->step,
							    putting->attempts, error);
}

/* Commit failed after the switch: restore the old rules. */
static int undo(void *data, bool is_put, struct baleen_error *error)
{
	struct putting *putting = data;
	struct baleen_deploy *deploy = putting->deploy;

	if (!is_put)
		return 0;
	if (putting->was_attached)
		return baleen_deploy_follow(deploy, baleen_now_ms(), error);
	if (deploy->has_xdp)
		baleen_xdp_close(&deploy->xdp);
	deploy->has_xdp = false;
	return baleen_xdp_detach(deploy->state.now, error);
}

/* A ban takes no lock of a device that it does not find, or does not find taking bans: what was
 * committed while the filter was derived is followed here. What is committed later finds it. The
 * mark of the change stays until then (tests/model/protocol.py, early).
 */
static int follow_bans(struct baleen_deploy *deploy, const struct baleen_stored_rules *rules,
		       u64 version)
{
	struct baleen_error ignored;
	int err;

	if (!deploy->has_xdp || !baleen_rules_take(rules, NULL))
		return 0;
	err = baleen_book_wait(&ignored);
	if (err)
		return err;
	if (baleen_book_version(&deploy->state) == version)
		return 0;
	/* There was no book, and there is one without bans. */
	if (!version && !baleen_rules_count_entries(&deploy->state, rules))
		return 0;
	return baleen_deploy_follow(deploy, baleen_now_ms(), &ignored);
}

int baleen_deploy_put(struct baleen_deploy *deploy, const struct baleen_deploy_plan *plan,
		      struct baleen_attempts *attempts,
		      int (*check)(void *data, const struct baleen_ruleset *ruleset), void *data,
		      struct baleen_error *error)
{
	struct baleen_deploy_step step = { .plan = plan, .now_ms = baleen_now_ms() };
	struct baleen_attempts ignored;
	struct putting putting = { .deploy = deploy,
				   .step = &step,
				   .attempts = attempts ? attempts : &ignored,
				   .was_attached = deploy->has_xdp };
	const struct baleen_deploy_change change = {
		.put = put, .undo = undo, .data = &putting, .stays_marked = true
	};
	u64 version;
	int err;

	if (!putting.was_attached)
		baleen_book_follow_boot(&deploy->state);
	/* Where that fails they come from the fleet. */
	for (u32 i = 0; i < plan->rules.n_rules; i++)
		baleen_rule_entries_seed(&deploy->state, &plan->rules.rule[i].fleet, NULL);
	version = baleen_book_version(&deploy->state);
	err = baleen_deploy_prepare(deploy, &step, error);
	if (!err && check)
		err = check(data, &step.ruleset);
	if (!err)
		err = baleen_deploy_note_times(deploy, &step, error);
	if (!err)
		err = note_applied(deploy, &step, error);
	if (!err)
		err = baleen_deploy_commit(deploy, &change, error);
	if (err)
		baleen_rule_store_rollback(&deploy->state);
	else if (!putting.was_attached)
		baleen_stale_pins_forget_name(deploy->state.device);
	if (!err)
		baleen_book_be_there(&deploy->state);
	baleen_deploy_step_free(&step);
	if (!err && !follow_bans(deploy, &plan->rules, version))
		baleen_rule_store_unmark(&deploy->state);
	/* They stay in force where that fails, and are judged at their end. */
	if (!err)
		baleen_deploy_settle_widened(deploy, &plan->rules, NULL);
	return err;
}

/* When it is the book that cannot be read, lists alone are better than no filter. Entries come with
 * the next command that can read it, which finds the mark.
 */
static int prepare_without_book(struct baleen_deploy *deploy, struct baleen_deploy_step *step)
{
	const struct baleen_deploy_plan *plan = step->plan;
	struct baleen_error ignored;
	int err = plan->rules.n_rules ? baleen_book_do_without(&deploy->state, &ignored) : -EINVAL;

	baleen_deploy_step_free(step);
	*step = (struct baleen_deploy_step){ .plan = plan, .now_ms = baleen_now_ms() };
	if (err)
		return err;
	baleen_rule_store_mark(&deploy->state, &ignored);
	return baleen_deploy_prepare(deploy, step, &ignored);
}

int baleen_deploy_restore(struct baleen_deploy *deploy, struct baleen_attempts *attempts,
			  struct baleen_error *error)
{
	struct baleen_deploy_plan plan = { 0 };
	struct baleen_deploy_step step = { .plan = &plan, .now_ms = baleen_now_ms() };
	int err;

	memset(attempts, 0, sizeof(*attempts));
	if (deploy->has_xdp)
		return 0;
	/* Nothing that a full disk could refuse is a reason to be without a filter. */
	baleen_book_follow_boot(&deploy->state);
	err = baleen_rule_store_get_rules(&deploy->state, &plan.rules, error);
	if (!err)
		err = baleen_deploy_prepare(deploy, &step, error);
	if (err && !prepare_without_book(deploy, &step)) {
		deploy->book_error = *error;
		err = 0;
	}
	if (!err)
		err = baleen_deploy_attach(deploy, &step, attempts, error);
	/* A device that comes and goes leaves no filters behind. */
	if (!err)
		baleen_stale_pins_forget_name(deploy->state.device);
	/* The state is of this device from here on, by its number. */
	if (!err && !baleen_rule_store_begin(&deploy->state, NULL))
		baleen_rule_store_commit(&deploy->state, NULL);
	baleen_deploy_step_free(&step);
	return err;
}

int baleen_deploy_refresh(const char *device, bool force, u32 *old_id, u32 *id,
			  struct baleen_error *error)
{
	struct baleen_deploy followed;
	struct baleen_ruleset ruleset;
	struct baleen_xdp xdp;
	u32 before;
	int err;

	if (!baleen_deploy_open(&followed, device, BALEEN_LOCK_TIMEOUT_MS, NULL))
		baleen_deploy_close(&followed);
	err = baleen_xdp_open(&xdp, device, true, error);
	if (err)
		return err;
	before = xdp.program_id;
	if (force || !baleen_xdp_is_current(&xdp)) {
		baleen_ruleset_from_config(&xdp.config, &ruleset);
		err = baleen_xdp_update(&xdp, &ruleset, error);
	}
	if (!err) {
		*old_id = before;
		*id = xdp.program_id;
	}
	baleen_xdp_close(&xdp);
	return err;
}
