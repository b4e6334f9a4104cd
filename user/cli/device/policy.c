// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* baleen policy: what becomes of packets that no rule decides, dry run, sampling. */
#include "cli/common/options.h"
#include "cli/open/device_edit.h"
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
	const char *undecided = ruleset->default_drop ? "drop" : "pass";

	if (interval)
		baleen_interval_format(interval, rate);
	if (change->json)
		return print_json(json_pack("{s:o, s:s, s:b, s:s?}", "device",
					    json_text(change->device), "default", undecided,
					    "dry_run", ruleset->dry_run, "sample",
					    interval ? rate : NULL));
	say("%s: default %s, %s, %s%s\n", change->device, undecided,
	    ruleset->dry_run ? "DRY RUN" : "enforced", interval ? "sampling " : "", rate);
	return finish_output(EXIT_DONE);
}

static int edit_policy(const struct baleen_kmod_rules *now, struct baleen_ruleset *ruleset,
		       const void *policy)
{
	policy_apply(policy, ruleset);
	return 0;
}

static int change_policy(const struct change *change)
{
	struct device_edit edit = {
		.edit = edit_policy,
		.data = &change->policy,
		.is_unguarded = !is_stricter(&change->policy),
		.is_forced = change->force,
	};

	if (device_edit_check(change->device) || device_edit(change->device, &edit))
		return EXIT_FAILED;
	return report(change, &edit.after);
}

static int show_policy(const struct change *change)
{
	struct baleen_ruleset ruleset;

	return device_ruleset(change->device, &ruleset) ? EXIT_FAILED : report(change, &ruleset);
}

static int run(int argc, char **argv)
{
	struct change change = { 0 };
	int err = options_parse(&policy_command, &change, &argc, &argv);

	if (err)
		return err;
	change.device = *argv;
	return changes_anything(&change.policy) ? change_policy(&change) : show_policy(&change);
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
