// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen policy: what becomes of packets that no rule decides, dry run, sampling. */
#include <errno.h>

#include "cli/open/device_session.h"
#include "cli/open/guard.h"
#include "cli/open/kmod_device.h"
#include "cli/open/policy.h"
#include "util/number.h"

struct change {
	const char *device;
	struct policy policy;
	bool force;
	bool json;
};

static bool changes_anything(const struct policy *policy)
{
	return policy->is_default_given || policy->is_dry_run_given || policy->is_sample_given;
}

/* Only a stricter policy is checked: the present one was accepted before. */
static bool is_stricter(const struct policy *policy)
{
	return (policy->is_default_given && policy->default_drop) ||
	       (policy->is_dry_run_given && !policy->dry_run);
}

static int report(const struct change *change, const struct baleen_ruleset *ruleset)
{
	char rate[NUMBER_TEXT] = "no events";
	u64 interval = ruleset->sample_interval_ns;
	json_t *json;

	if (interval)
		baleen_interval_format(interval, rate);
	if (change->json) {
		json = json_object();
		json_object_set_new(json, "device", json_text(change->device));
		json_object_set_new(json, "default",
				    json_string(ruleset->default_drop ? "drop" : "pass"));
		json_object_set_new(json, "dry_run", json_boolean(ruleset->dry_run));
		json_object_set_new(json, "sample", interval ? json_string(rate) : json_null());
		return print_json(json);
	}
	printf("%s: default %s, %s, %s%s\n", change->device,
	       ruleset->default_drop ? "drop" : "pass", ruleset->dry_run ? "DRY RUN" : "enforced",
	       interval ? "sampling " : "", rate);
	return finish_output(EXIT_DONE);
}

static int apply(const struct change *change, struct device_session *session)
{
	const struct baleen_xdp *xdp = &session->deploy.xdp;
	struct baleen_ruleset ruleset;

	baleen_ruleset_from_config(&xdp->config, &ruleset);
	policy_apply(&change->policy, &ruleset);
	if (!change->force && is_stricter(&change->policy) &&
	    guard_ruleset(xdp->device, xdp, &ruleset, NULL))
		return EXIT_FAILED;
	return session_put(session, &ruleset, NULL, NULL);
}

static int change_xdp(const struct change *change)
{
	struct baleen_ruleset after;
	struct baleen_error error;
	struct device_session session;
	int err;

	if (baleen_device_privileges(&error))
		return complain("%s", error.text);
	err = session_open(&session, change->device, BALEEN_LOCK_TIMEOUT_MS);
	if (err)
		return err == -ENOENT ? complain_not_attached(change->device) : err;
	err = apply(change, &session);
	baleen_ruleset_from_config(&session.deploy.xdp.config, &after);
	session_close(&session);
	return err ? err : report(change, &after);
}

static int edit_kmod(const struct baleen_kmod_rules *now, struct baleen_ruleset *ruleset,
		     const void *policy)
{
	policy_apply(policy, ruleset);
	return 0;
}

static int change_kmod(const struct change *change)
{
	struct kmod_edit edit = { .edit = edit_kmod,
				  .data = &change->policy,
				  .is_unguarded = change->force || !is_stricter(&change->policy) };

	if (kmod_device_edit(change->device, &edit))
		return EXIT_FAILED;
	return report(change, &edit.after);
}

static int show_xdp(const struct change *change)
{
	struct baleen_ruleset ruleset;
	struct baleen_error error;
	struct baleen_xdp xdp;

	if (baleen_xdp_open(&xdp, change->device, false, &error))
		return complain("%s", error.text);
	baleen_ruleset_from_config(&xdp.config, &ruleset);
	baleen_xdp_close(&xdp);
	return report(change, &ruleset);
}

static int show_kmod(const struct change *change)
{
	struct baleen_kmod_rules rules;
	struct baleen_ruleset ruleset;
	struct baleen_error error;

	if (baleen_kmod_rules_open(&rules, change->device, false, &error))
		return complain("%s", error.text);
	baleen_ruleset_from_kmod(&rules, &ruleset);
	baleen_kmod_rules_close(&rules);
	return report(change, &ruleset);
}

static int run(int argc, char **argv)
{
	struct change change = { 0 };
	int err = options_parse(&policy_command, &change, &argc, &argv);

	if (err)
		return err;
	change.device = *argv;
	if (is_kmod_device(change.device))
		return changes_anything(&change.policy) ? change_kmod(&change) : show_kmod(&change);
	return changes_anything(&change.policy) ? change_xdp(&change) : show_xdp(&change);
}

static const struct option_spec options[] = {
	{ .table = policy_option_table, .at = offsetof(struct change, policy) },
	{ "enforce", 0, NULL, policy_enforce, offsetof(struct change, policy),
	  .help = "end a dry run: drop again" },
	{ "no-sample", 0, NULL, policy_sample, offsetof(struct change, policy),
	  .help = "no events any more" },
	FORCE_OPTION(change, force),
	FLAG("json", 'j', change, json, "the policy as JSON"),
	{ 0 },
};

const struct command policy_command = {
	.name = "policy",
	.synopsis = "DEV [--default pass|drop] [--dry-run|--enforce] [--sample N/s|--no-sample] "
		    "[OPTION...]",
	.help = "Changes the policy of a device that has rules, atomically; what is not named stays.\n"
		"Without an option it says what the policy is. Refuses what would cut this host off.\n"
		"The counters go on.\n",
	.options = options,
	.asks = { 1, 1, "one device is asked for" },
	.run = run,
};
