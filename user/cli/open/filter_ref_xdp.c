// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* DEV:RULE where a command says IMAGE: the live filter of an XDP rule. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open/filter_name.h"
#include "cli/open/session.h"
#include "cli/open/guard.h"
#include "filter/recent.h"
#include "icp/icp.h"

/* The filter of a cache that the device answers for; -ENOENT when there is no such one. */
static int read_sibling(struct filter_ref *ref)
{
	struct baleen_error error;
	struct baleen_icp icp;
	int n, err = -ENOENT;

	if (baleen_icp_open(&icp, ref->device, false, NULL))
		return err;
	n = baleen_icp_sibling(&icp, ref->rule);
	if (n >= 0)
		err = baleen_icp_filter(&icp, n, &ref->filter, &error);
	if (n >= 0 && err)
		err = complain("%s", error.text);
	baleen_icp_close(&icp);
	return err;
}

static int read_rule(struct filter_ref *ref, struct baleen_list *list, struct list_options *options)
{
	const char *device = ref->device, *rule = ref->rule;
	bool copies = !options->looks_at_live;
	struct baleen_error error;
	struct baleen_xdp xdp;
	int index, err;

	/* While a writer moves keys, who lists them could miss one. */
	if (baleen_xdp_open(&xdp, device, copies, &error)) {
		err = read_sibling(ref);
		return err == -ENOENT ? complain("%s", error.text) : err;
	}
	index = baleen_xdp_rule_index(&xdp, rule);
	if (index < 0) {
		err = read_sibling(ref);
		if (err == -ENOENT)
			err = complain_no_rule(device, rule);
	} else {
		if (xdp.attach_status != BALEEN_ATTACH_STATUS_ATTACHED &&
		    xdp.attach_status != BALEEN_ATTACH_STATUS_MOVED)
			complain("warning: %s:%s is not in force (%s)", device, rule,
				 baleen_attach_status_text(xdp.attach_status));
		err = baleen_xdp_map_rule(&xdp, index, &ref->filter, &error);
		if (err)
			complain("%s", error.text);
	}
	if (!err && copies)
		err = filter_ref_copy_live(ref);
	baleen_xdp_close(&xdp);
	return err ? EXIT_FAILED : 0;
}

/* --- to change --------------------------------------------------------------- */

static const struct baleen_xdp *xdp_of(const struct filter_ref *ref)
{
	return &ref->session->deploy.xdp;
}

static int find_rule(struct filter_ref *ref)
{
	const struct baleen_xdp *xdp = xdp_of(ref);
	int index = baleen_xdp_rule_index(xdp, ref->rule);
	struct baleen_error error;

	if (index < 0)
		return complain_no_rule(ref->device, ref->rule);
	if (xdp->attach_status != BALEEN_ATTACH_STATUS_ATTACHED)
		return complain("%s: the filter is not in force here (%s)", ref->device,
				baleen_attach_status_text(xdp->attach_status));
	ref->index = index;
	if (baleen_xdp_map_rule(xdp, index, &ref->filter, &error))
		return complain("%s", error.text);
	/* Recent changes are of the state; without, they become part of another image. */
	return baleen_recent_is_empty(&ref->filter) ? 0 : filter_ref_copy_live(ref);
}

static int lock_rule(struct filter_ref *ref)
{
	struct baleen_error error;
	int err;

	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	ref->session = calloc(1, sizeof(*ref->session));
	if (!ref->session)
		return complain("%s", strerror(ENOMEM));
	err = session_open(ref->session, ref->device, ref->wait_ms);
	if (err)
		return err;
	/* Remove pins left by killed commands; an in-place change would not. */
	baleen_attachment_tidy(&ref->session->deploy.xdp.attachment,
			       &ref->session->deploy.xdp.pins);
	return find_rule(ref);
}

static u32 sessions_of(const struct filter_ref *ref)
{
	return ref->session->plan.rules.guard_sessions;
}

static const char *never_path_of(const struct filter_ref *ref)
{
	return ref->session->has_state ? ref->session->plan.rules.never_path : NULL;
}

/* The rule of the state; NULL when it has none. */
static struct baleen_stored_rule *stored_rule(const struct filter_ref *ref)
{
	struct baleen_stored_rules *rules = &ref->session->plan.rules;
	int index = -ENOENT;

	if (ref->session->has_state)
		index = baleen_rule_store_find_rule(
			rules, xdp_of(ref)->config.rule[ref->index].image.name);
	return index < 0 ? NULL : &rules->rule[index];
}

static int guard_keys(const struct filter_ref *ref, const struct baleen_filter *keys,
		      enum baleen_set_op op, bool is_forced)
{
	const struct baleen_xdp *xdp = xdp_of(ref);
	struct baleen_ruleset ruleset;
	const struct baleen_lockout_check check = { .device = xdp->device,
						    .ruleset = &ruleset,
						    .xdp = xdp,
						    .delta = keys,
						    .changed = ref->index,
						    .op = op,
						    .never_path = never_path_of(ref),
						    .sessions = sessions_of(ref) };

	baleen_ruleset_from_config(&xdp->config, &ruleset);
	/* Here already, so that --dry-run is told. */
	return guard_never(&check) ? EXIT_FAILED : guard_host(&check, NULL, is_forced);
}

static int guard_image(const struct filter_ref *ref, const struct baleen_filter *filter,
		       bool is_forced)
{
	const struct baleen_xdp *xdp = xdp_of(ref);
	struct baleen_ruleset ruleset;

	const struct baleen_lockout_check check = { .device = xdp->device,
						    .ruleset = &ruleset,
						    .xdp = xdp,
						    .is_update = true,
						    .never_path = never_path_of(ref),
						    .sessions = sessions_of(ref) };

	baleen_ruleset_from_config(&xdp->config, &ruleset);
	ruleset.rule[ref->index].filter = filter;
	/* A filter that is derived is without what is never dropped, and nobody would be told. */
	if (stored_rule(ref) && guard_never(&check))
		return EXIT_FAILED;
	return guard_host(&check, NULL, is_forced);
}

static int change_rule(struct filter_ref *ref, const struct baleen_list *list,
		       enum baleen_set_op op, bool exist, struct baleen_noop_keys *noop,
		       u64 *n_changed)
{
	struct baleen_error error;
	int err;

	if (!ref->filter.is_mapped)
		return -ENOSPC;
	err = baleen_device_session_change(ref->session, ref->index, list, op, n_changed, &error);
	if (!err || err == -ENOSPC || err == -EOPNOTSUPP || err == -ENOMEM)
		return err;
	return complain("%s", error.text);
}

static bool drops(const struct filter_ref *ref)
{
	return xdp_of(ref)->config.rule[ref->index].action == BALEEN_ACTION_DROP;
}

static bool is_derived(struct filter_ref *ref)
{
	return stored_rule(ref);
}

#define REFUSED 1

/* Refused after a message. */
static int check_derived(void *data, const struct baleen_ruleset *ruleset)
{
	const struct filter_ref *ref = data;
	const struct baleen_stored_rules *rules = &ref->session->plan.rules;

	if (!ref->guards_derived)
		return 0;
	return guard_conf(ref->device, rules, xdp_of(ref), ruleset, ref->is_forced) ? REFUSED : 0;
}

static int put_derived(struct filter_ref *ref, const struct baleen_stored_rule *rule)
{
	struct baleen_device_session *session = ref->session;
	struct baleen_deploy *deploy = &session->deploy;
	struct baleen_error error;
	int err;

	session->plan.rebuild[rule - session->plan.rules.rule] = true;
	err = baleen_rule_store_set_rules(&deploy->state, &session->plan.rules, &error);
	if (!err)
		err = baleen_deploy_put(deploy, &session->plan, NULL, check_derived, ref, &error);
	if (err == REFUSED)
		return EXIT_FAILED;
	return err ? complain("%s", error.text) : 0;
}

static int put_rule(struct filter_ref *ref, const struct baleen_filter *filter)
{
	const struct baleen_stored_rule *rule = stored_rule(ref);
	struct baleen_ruleset ruleset;

	if (rule)
		return put_derived(ref, rule);
	baleen_ruleset_from_config(&xdp_of(ref)->config, &ruleset);
	ruleset.rule[ref->index].filter = filter;
	return session_put(ref->session, &ruleset, NULL, NULL);
}

static void accept_rate(struct filter_ref *ref, double fpp)
{
	struct baleen_stored_rule *rule = stored_rule(ref);

	if (fpp > baleen_gate_accepts(rule))
		rule->accept_fpp = fpp;
}

/* The lists of a rule give way to what is left of it; single entries stay. */
static int replace_rule(struct filter_ref *ref, const struct baleen_filter *filter,
			const struct list_options *lists)
{
	const struct filter_ref made = { .argument = ref->argument, .filter = *filter };
	struct baleen_rule_sources sources = { .n = 1, .source[0] = rule_source(&made, lists) };
	const struct baleen_stored_rule *rule = stored_rule(ref);
	struct baleen_ruleset ruleset;
	struct baleen_error error;

	if (rule)
		sources.source[0].accept_fpp = baleen_gate_accepts(rule);
	baleen_ruleset_from_config(&xdp_of(ref)->config, &ruleset);
	ruleset.rule[ref->index].filter = &made.filter;
	if (!baleen_device_session_put(ref->session, &ruleset, &sources, &error))
		return 0;
	return complain("%s", error.text);
}

static int remember(struct filter_ref *ref, const struct filter_ref *source,
		    const struct list_options *lists)
{
	const struct baleen_stored_rule *rule = stored_rule(ref);
	struct baleen_rule_source added = rule_source(source, lists);
	struct baleen_error error;

	/* A list that adds nothing does no harm. */
	added.allows_empty = true;
	if (!rule || !baleen_device_session_add_feed(ref->session, rule->name, &added, &error))
		return 0;
	return complain("%s", error.text);
}

static void reserve(struct filter_ref *ref, u64 capacity)
{
	struct baleen_stored_rule *rule = stored_rule(ref);

	if (rule)
		rule->capacity = capacity;
}

static void close_session(struct filter_ref *ref)
{
	if (ref->session)
		baleen_device_session_close(ref->session);
	free(ref->session);
	ref->session = NULL;
}

const struct filter_ref_type filter_ref_xdp = {
	.is_live = true,
	.read = read_rule,
	.lock = lock_rule,
	.guard_keys = guard_keys,
	.guard_image = guard_image,
	.change = change_rule,
	.put = put_rule,
	.replace = replace_rule,
	.remember = remember,
	.drops = drops,
	.is_derived = is_derived,
	.accept = accept_rate,
	.reserve = reserve,
	.close = close_session,
};
