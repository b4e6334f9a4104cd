// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A change of the rules that a device has, be they of XDP or of the kernel module. */
#include "cli/open/device_edit.h"
#include "cli/open/session.h"
#include "cli/open/guard.h"

static bool is_configured(const struct baleen_stored_rule *rule)
{
	return rule->guards_feeds;
}

static bool takes_out_host(const struct baleen_stored_rule *rule)
{
	return baleen_protected_of_feeds(rule, BALEEN_PROTECTED_HOST);
}

/* Rules of the state that get a new list, and of which this is true; a bit each. */
static u32 find_rules(const struct baleen_device_session *session, const struct device_edit *edit,
		      bool (*applies)(const struct baleen_stored_rule *rule))
{
	u32 rules = 0;

	for (u32 i = 0; i < edit->after.n_rules && session->has_state; i++) {
		const struct baleen_ruleset_rule *rule = &edit->after.rule[i];
		const struct rule_argument *from =
			edit->rules && rule->filter ? rules_find(edit->rules, rule) : NULL;
		int stored = baleen_rule_store_find_rule(&session->plan.rules, rule->name);

		if (from && from->ref.is_list && stored >= 0 &&
		    applies(&session->plan.rules.rule[stored]))
			rules |= 1u << i;
	}
	return rules;
}

static int edit_session(struct baleen_device_session *session, struct device_edit *edit)
{
	const struct baleen_xdp *xdp = &session->deploy.xdp;
	struct baleen_ruleset *after = &edit->after;

	if (!session->has_state && rules_refuse_words(edit->rules, xdp->device))
		return EXIT_FAILED;
	baleen_ruleset_from_config(&xdp->config, after);
	if (edit->edit(NULL, after, edit->data))
		return EXIT_FAILED;
	if (!session->has_state && rules_leave_nobody(edit->rules, after))
		return EXIT_FAILED;
	if (xdp->attach_status == BALEEN_ATTACH_STATUS_ATTACHED && !edit->is_unguarded &&
	    guard_host(
		    &(struct baleen_lockout_check){
			    .device = xdp->device,
			    .ruleset = after,
			    .xdp = xdp,
			    .sessions = session->plan.rules.guard_sessions,
			    .protects = find_rules(session, edit, takes_out_host),
			    .removes_special =
				    find_rules(session, edit, baleen_rule_removes_special) },
		    edit->rules, edit->is_forced))
		return EXIT_FAILED;
	if (edit->rules)
		rules_warn_vlan(edit->rules, xdp->device);
	edit->is_configured = find_rules(session, edit, is_configured);
	session->is_trial = edit->is_trial;
	return session_put(session, after, edit->rules, edit->lists);
}

int device_edit_check(const char *device)
{
	struct baleen_error error;

	if (!is_kmod_device(device) && baleen_device_privileges(&error))
		return complain("%s", error.text);
	return 0;
}

int device_edit(const char *device, struct device_edit *edit)
{
	struct baleen_device_session session;
	int err;

	if (is_kmod_device(device))
		return rules_refuse_words(edit->rules, device) ? EXIT_FAILED :
								 kmod_device_edit(device, edit);
	err = session_open(&session, device, BALEEN_LOCK_TIMEOUT_MS);
	if (err)
		return err;
	err = edit_session(&session, edit);
	edit->n_special = session.n_special;
	edit->n_protected = session.n_protected;
	edit->first_protected = session.first_protected;
	baleen_device_session_close(&session);
	return err;
}

int device_ruleset(const char *device, struct baleen_ruleset *ruleset)
{
	struct baleen_kmod_rules rules;
	struct baleen_error error;
	struct baleen_xdp xdp;
	bool of_module = is_kmod_device(device);

	if (of_module ? baleen_kmod_rules_open(&rules, device, false, &error) :
			baleen_xdp_open(&xdp, device, false, &error))
		return complain("%s", error.text);
	if (of_module) {
		baleen_ruleset_from_kmod(&rules, ruleset);
		baleen_kmod_rules_close(&rules);
	} else {
		baleen_ruleset_from_config(&xdp.config, ruleset);
		baleen_xdp_close(&xdp);
	}
	return 0;
}
