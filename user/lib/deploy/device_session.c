// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A device that is changed by hand, with the state of its rules. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "deploy/bans.h"
#include "deploy/conf.h"
#include "deploy/device_session.h"
#include "deploy/gate_live.h"
#include "deploy/protect.h"
#include "ops/change.h"
#include "state/book.h"
#include "util/shell.h"

/* --- opening --------------------------------------------------------------- */

/* Says why a device is not attached; returns -ENOENT. */
static int explain_absence(const char *device, struct baleen_error *error)
{
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, device, false, error))
		return -ENOENT;
	baleen_xdp_close(&xdp);
	return baleen_fail(error, ENOENT, "%s: the filter is not in force here (%s)", device,
			   baleen_attach_status_text(xdp.attach_status));
}

static int open_deploy(struct baleen_device_session *session, const char *device, u64 wait_ms,
		       struct baleen_error *error)
{
	int err;

	*session = (struct baleen_device_session){ 0 };
	baleen_bans_end_if_due();
	err = baleen_deploy_open(&session->deploy, device, wait_ms, error);
	session->has_state = !err;
	return err;
}

int baleen_device_session_open_state(struct baleen_device_session *session, const char *device,
				     u64 wait_ms, struct baleen_error *error)
{
	int err = open_deploy(session, device, wait_ms, error);

	return err == -ENOENT ? explain_absence(device, error) : err;
}

static int read_plan(struct baleen_device_session *session, struct baleen_error *error)
{
	int err = baleen_rule_store_begin(&session->deploy.state, error);

	return err ? err :
		     baleen_rule_store_get_rules(&session->deploy.state, &session->plan.rules,
						 error);
}

int baleen_device_session_open(struct baleen_device_session *session, const char *device,
			       u64 wait_ms, struct baleen_error *error)
{
	int err = open_deploy(session, device, wait_ms, error);

	if (err == -ENOENT) {
		err = baleen_xdp_open_within(&session->deploy.xdp, device, wait_ms, error);
		session->deploy.has_xdp = !err;
	} else if (!err && !session->deploy.has_xdp) {
		err = explain_absence(device, error);
	} else if (!err) {
		err = read_plan(session, error);
	}
	if (err)
		baleen_device_session_close(session);
	return err;
}

void baleen_device_session_close(struct baleen_device_session *session)
{
	if (session->has_state)
		baleen_deploy_close(&session->deploy);
	else if (session->deploy.has_xdp)
		baleen_xdp_close(&session->deploy.xdp);
	*session = (struct baleen_device_session){ 0 };
}

/* --- rules ----------------------------------------------------------------- */

static int forget_feed(const struct baleen_feed *feed, void *state)
{
	return baleen_feeds_remove(state, feed->id, NULL);
}

/* The new source of a rule; NULL for a rule that stays. */
static const struct baleen_rule_source *find_source(const struct baleen_rule_sources *sources,
						    const struct baleen_ruleset_rule *rule)
{
	for (u32 i = 0; sources && i < sources->n; i++)
		if (rule->filter == sources->source[i].filter)
			return &sources->source[i];
	return NULL;
}

static void shape_rule(struct baleen_stored_rule *rule, const struct baleen_rule_source *source)
{
	rule->key_spec = source->filter->image.key_spec;
	rule->kind = source->build->kind;
	/* A rate that the list was to be built with is no consent to it. */
	rule->fpp = fmin(source->build->fpp, fmax(source->accept_fpp, BALEEN_ACCEPT_FPP));
	rule->accept_fpp = source->accept_fpp > BALEEN_ACCEPT_FPP ? source->accept_fpp : 0;
	rule->capacity = source->build->capacity;
	rule->is_any = source->is_any;
	baleen_rule_bans_set(rule, &source->bans);
	rule->limits.keep_special &= !source->removes_special;
}

/* A typed list is meant as it is written; a configured one comes from others. */
static struct baleen_stored_rule new_rule(void)
{
	struct baleen_stored_rule rule = { .limits = baleen_feed_limits_default() };

	rule.limits.keep_special = true;
	return rule;
}

/* The rules of the ruleset, in its order, as the state shall have them. */
static void plan_rules(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		       const struct baleen_rule_sources *sources)
{
	struct baleen_stored_rules before = session->plan.rules;
	struct baleen_stored_rules *after = &session->plan.rules;

	after->n_rules = ruleset->n_rules;
	after->default_drop = ruleset->default_drop;
	after->dry_run = ruleset->dry_run;
	after->sample_interval_ns = ruleset->sample_interval_ns;
	for (u32 i = 0; i < ruleset->n_rules; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		const struct baleen_rule_source *source = find_source(sources, rule);
		struct baleen_stored_rule *new = &after->rule[i];
		int old = baleen_rule_store_find_rule(&before, rule->name);

		*new = old >= 0 ? before.rule[old] : new_rule();
		memcpy(new->name, rule->name, sizeof(new->name));
		new->action = rule->action;
		new->qualifiers = rule->qualifiers;
		new->rate_limit = rule->rate_limit;
		if (source)
			shape_rule(new, source);
		session->plan.rebuild[i] = source;
	}
}

static int replace_feeds(struct baleen_device_session *session,
			 const struct baleen_ruleset *ruleset,
			 const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	struct baleen_rule_store *state = &session->deploy.state;
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++) {
		const struct baleen_rule_source *source = find_source(sources, &ruleset->rule[i]);
		const char *name = ruleset->rule[i].name;

		if (!source)
			continue;
		err = baleen_feeds_each(state, name, forget_feed, state, error);
		if (!err && !source->is_any)
			err = baleen_device_session_add_feed(session, name, source, error);
	}
	return err;
}

/* A list is judged by what is to be protected now. */
static int protect(struct baleen_device_session *session, struct baleen_error *error)
{
	for (u32 i = 0; i < session->plan.rules.n_rules; i++)
		if (session->plan.rebuild[i] &&
		    baleen_protected_applies(&session->plan.rules.rule[i]))
			return baleen_protect(&session->deploy.state, &session->plan, NULL, error);
	return 0;
}

static int set_rules(struct baleen_device_session *session, const struct baleen_ruleset *ruleset,
		     const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	int err;

	plan_rules(session, ruleset, sources);
	err = baleen_rule_store_set_rules(&session->deploy.state, &session->plan.rules, error);
	if (!err)
		err = protect(session, error);
	return err ? err : replace_feeds(session, ruleset, sources, error);
}

#define TRIED 1

static int refuse_trial(void *data, const struct baleen_ruleset *ruleset)
{
	return TRIED;
}

/* A trial derives all that would go live, and then takes it back. */
static int put_plan(struct baleen_device_session *session, struct baleen_error *error)
{
	int err = baleen_deploy_put(&session->deploy, &session->plan, NULL,
				    session->is_trial ? refuse_trial : NULL, NULL, error);

	return err == TRIED ? 0 : err;
}

/* The door for filters that were typed, or made of live ones. */
static int ask_gate(struct baleen_lockout_check *check, const struct baleen_rule_sources *sources,
		    struct baleen_error *error)
{
	const struct baleen_ruleset *ruleset = check->ruleset;
	int err = 0;

	for (u32 i = 0; i < ruleset->n_rules && !err; i++) {
		const struct baleen_ruleset_rule *rule = &ruleset->rule[i];
		const struct baleen_rule_source *source =
			rule->filter ? find_source(sources, rule) : NULL;

		if (source)
			err = baleen_gate_rate(rule->name, rule->action, rule->filter,
					       source->accept_fpp, source->mend, error);
		else if (rule->filter && rule->live != BALEEN_RULE_NEW)
			check->made_of_live |= 1u << i;
	}
	return err ? err : baleen_gate_never(check, error);
}

/* A configured rule takes out of its lists what is never dropped. */
static bool takes_out_never(const struct baleen_stored_rules *rules,
			    const struct baleen_ruleset_rule *rule,
			    const struct baleen_rule_sources *sources)
{
	const struct baleen_rule_source *source = rule->filter ? find_source(sources, rule) : NULL;
	int stored = baleen_rule_store_find_rule(rules, rule->name);

	return source && source->is_list && stored >= 0 && rules->rule[stored].guards_feeds;
}

static int ask_gate_to_put(const struct baleen_device_session *session,
			   const struct baleen_ruleset *ruleset,
			   const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	const struct baleen_stored_rules *rules = &session->plan.rules;
	struct baleen_lockout_check check = { .device = session->deploy.xdp.device,
					      .ruleset = ruleset,
					      .xdp = &session->deploy.xdp };

	if (session->has_state)
		check.never_path = rules->never_path;
	for (u32 i = 0; session->has_state && i < ruleset->n_rules; i++)
		if (takes_out_never(rules, &ruleset->rule[i], sources))
			check.takes_out_never |= 1u << i;
	return ask_gate(&check, sources, error);
}

int baleen_device_session_put(struct baleen_device_session *session,
			      const struct baleen_ruleset *ruleset,
			      const struct baleen_rule_sources *sources, struct baleen_error *error)
{
	struct baleen_xdp *xdp = &session->deploy.xdp;
	u32 key_spec[BALEEN_MAX_RULES];
	int err = ask_gate_to_put(session, ruleset, sources, error);

	if (err)
		return err;
	if (!session->has_state)
		return session->is_trial ? baleen_ruleset_check(ruleset, error) :
					   baleen_xdp_update(xdp, ruleset, error);
	for (u32 i = 0; i < xdp->config.n_rules; i++)
		key_spec[i] = xdp->config.rule[i].image.key_spec;
	err = baleen_ruleset_keeps_keys(ruleset, xdp->device, key_spec, error);
	if (!err)
		err = set_rules(session, ruleset, sources, error);
	return err ? err : put_plan(session, error);
}

/* --- in place -------------------------------------------------------------- */

static int ask_gate_to_change(const struct baleen_device_session *session, u32 index,
			      const struct baleen_list *keys, enum baleen_set_op op,
			      struct baleen_error *error)
{
	const struct baleen_build_options options = { .key_spec = keys->key_spec,
						      .kind = BALEEN_KIND_CUCKOO };
	struct baleen_ruleset ruleset;
	struct baleen_filter delta;
	const struct baleen_lockout_check check = { .device = session->deploy.xdp.device,
						    .ruleset = &ruleset,
						    .delta = &delta,
						    .changed = index,
						    .op = op };
	int err = baleen_build(keys, &options, &delta, error);

	if (err)
		return err;
	baleen_ruleset_from_config(&session->deploy.xdp.config, &ruleset);
	err = baleen_gate_never(&check, error);
	baleen_filter_free(&delta);
	return err;
}

int baleen_device_session_change(struct baleen_device_session *session, u32 index,
				 const struct baleen_list *keys, enum baleen_set_op op,
				 u64 *n_changed, struct baleen_error *error)
{
	struct baleen_filter *live;
	int err = ask_gate_to_change(session, index, keys, op, error);

	if (!err)
		err = baleen_xdp_live_rule(&session->deploy.xdp, index, &live, error);
	return err ? err : baleen_change_in_place(live, keys, op, n_changed);
}

/* --- attach ---------------------------------------------------------------- */

int baleen_device_session_forget(const char *device, struct baleen_error *error)
{
	struct baleen_rule_store old;
	int err = baleen_rule_store_open(&old, device, BALEEN_LOCK_TIMEOUT_MS, error);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (old.is_kept) {
		err = baleen_fail(
			error, EEXIST,
			"%s has an applied configuration in %s: 'baleen apply %s' puts it "
			"on again, 'baleen detach --forget %s' forgets it",
			device, old.path, baleen_shell_word(device).text,
			baleen_shell_word(device).text);
		baleen_rule_store_close(&old);
		return err;
	}
	baleen_rule_store_remove(&old);
	return 0;
}

/* A device that cannot be asked may have a filter: its state must not go. */
static int look_for_filter(const char *device, bool *is_there, struct baleen_error *error)
{
	struct baleen_xdp xdp;
	int err = baleen_xdp_open(&xdp, device, false, error);

	*is_there = !err && xdp.attach_status == BALEEN_ATTACH_STATUS_ATTACHED;
	if (!err)
		baleen_xdp_close(&xdp);
	return err == -ENOENT || err == -ENODEV ? 0 : err;
}

/* When two attach at once, one creates the state and the other finds it. */
#define MAX_CREATIONS 3

/* None is created when a filter is there. */
static int create_state(struct baleen_rule_store *state, const char *device, bool *is_there,
			struct baleen_error *error)
{
	int err = -EEXIST;

	for (u32 i = 0; i < MAX_CREATIONS && err == -EEXIST; i++) {
		err = look_for_filter(device, is_there, error);
		if (err || *is_there)
			return err;
		err = baleen_device_session_forget(device, error);
		if (!err)
			err = baleen_rule_store_create(state, device, false, BALEEN_LOCK_TIMEOUT_MS,
						       error);
		else if (err == -EEXIST)
			return -EPERM;
	}
	return err;
}

/* Nothing of a state when a filter is there: to attach will say so. */
static int create_session(struct baleen_device_session *session,
			  const struct baleen_device_attach *attach, struct baleen_error *error)
{
	struct baleen_rule_store *state = &session->deploy.state;
	bool is_there = false;
	int err = create_state(state, attach->device, &is_there, error);

	if (err || is_there)
		return err;
	session->has_state = true;
	session->plan.rules.mode = attach->mode;
	session->plan.rules.attach_type = attach->attach_type;
	baleen_conf_never_path(session->plan.rules.never_path,
			       sizeof(session->plan.rules.never_path));
	err = baleen_rule_store_begin(state, error);
	if (!err)
		err = set_rules(session, attach->ruleset, attach->sources, error);
	return err ? err : baleen_rule_store_commit(state, error);
}

/* The book may have entries of rules of these names: those that were until the boot before go
 * first.
 */
static int follow_entries(struct baleen_device_session *session,
			  struct baleen_device_attach *attach)
{
	struct baleen_deploy *deploy = &session->deploy;
	int err;

	baleen_book_be_there(&deploy->state);
	/* A ban whose transaction is not done does not know of this device. */
	err = baleen_book_wait(&attach->behind);
	if (err || !baleen_rules_count_entries(&deploy->state, &session->plan.rules))
		return err;
	baleen_book_follow_boot(&deploy->state);
	attach->n_entries = baleen_rules_count_entries(&deploy->state, &session->plan.rules);
	if (!attach->n_entries)
		return 0;
	err = baleen_xdp_open_within(&deploy->xdp, attach->device, BALEEN_LOCK_TIMEOUT_MS,
				     &attach->behind);
	deploy->has_xdp = !err;
	return err ? err : baleen_deploy_follow(deploy, baleen_now_ms(), &attach->behind);
}

int baleen_device_session_attach(struct baleen_device_attach *attach,
				 struct baleen_attempts *attempts, struct baleen_error *error)
{
	struct baleen_lockout_check check = { .device = attach->device,
					      .ruleset = attach->ruleset };
	struct baleen_device_session session = { 0 };
	int err;

	memset(attempts, 0, sizeof(*attempts));
	err = ask_gate(&check, attach->sources, error);
	if (!err && !attach->is_forgetful)
		err = create_session(&session, attach, error);
	/* Whoever dies from here on leaves the mark, and the next writer follows. */
	if (!err && session.has_state)
		err = baleen_rule_store_mark(&session.deploy.state, error);
	if (!err)
		err = baleen_xdp_attach(attach->device, attach->ruleset, attach->mode,
					attach->attach_type, attempts, error);
	attach->n_entries = 0;
	attach->behind.text[0] = '\0';
	if (!err && session.has_state && !follow_entries(&session, attach)) {
		attach->behind.text[0] = '\0';
		baleen_rule_store_unmark(&session.deploy.state);
	}
	if (err && session.has_state)
		baleen_rule_store_remove(&session.deploy.state);
	else
		baleen_device_session_close(&session);
	return err;
}
