// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a device as it is typed. */

#include "cli/open/policy.h"
#include "util/number.h"

int policy_default(const struct option_use *use)
{
	struct policy *policy = use->to;
	int place = option_word(use);

	policy->is_default_given = true;
	policy->default_drop = place == 1;
	return place < 0 ? EXIT_USAGE : 0;
}

static int set_dry_run(const struct option_use *use, bool dry_run)
{
	struct policy *policy = use->to;

	if (policy->is_dry_run_given && policy->dry_run != dry_run)
		return complain_usage(use->command,
				      "--dry-run and --enforce contradict each other");
	policy->is_dry_run_given = true;
	policy->dry_run = dry_run;
	return 0;
}

static int dry_run(const struct option_use *use)
{
	return set_dry_run(use, true);
}

int policy_enforce(const struct option_use *use)
{
	return set_dry_run(use, false);
}

int policy_sample(const struct option_use *use)
{
	struct policy *policy = use->to;

	if (policy->is_sample_given)
		return complain_usage(use->command, "sampling is asked for twice");
	policy->is_sample_given = true;
	if (use->argument && baleen_interval_parse(use->argument, &policy->sample_interval_ns))
		return option_refuse(use, "not a rate such as 100/s, 6/m or 1/h");
	return 0;
}

const struct option_spec policy_option_table[] = {
	{ "default", 0, "V", policy_default, .words = "pass drop",
	  .help = "what no rule decides: pass (default) or drop; under drop, what a host needs "
		  "to live passes (ARP, neighbour discovery, LACP ...)" },
	{ "dry-run", 0, NULL, dry_run, .help = "count what would be dropped, drop nothing" },
	{ "sample", 0, "N/s", policy_sample,
	  .help = "at most N events a second (/m, /h) of dropped and counted packets" },
	{ 0 },
};

void policy_apply(const struct policy *policy, struct baleen_ruleset *ruleset)
{
	if (policy->is_default_given)
		ruleset->default_drop = policy->default_drop;
	if (policy->is_dry_run_given)
		ruleset->dry_run = policy->dry_run;
	if (policy->is_sample_given)
		ruleset->sample_interval_ns = policy->sample_interval_ns;
}
