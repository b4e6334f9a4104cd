// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The policy of a device as it is typed. */
#include <errno.h>
#include <string.h>

#include "cli/open/policy.h"
#include "util/number.h"

const char *format_interval(u64 interval_ns, char *text)
{
	return baleen_interval_format(interval_ns, text);
}

int take_mode(const struct command *command, const char *argument, enum baleen_mode *mode)
{
	for (enum baleen_mode i = BALEEN_MODE_AUTO; i <= BALEEN_MODE_GENERIC; i++) {
		if (!strcmp(argument, baleen_mode_text(i))) {
			*mode = i;
			return 0;
		}
	}
	return complain_usage(command, "--mode '%s': not auto, native or generic", argument);
}

static int take_default(const struct command *command, struct policy *policy, const char *argument)
{
	if (strcmp(argument, "pass") && strcmp(argument, "drop"))
		return complain_usage(command, "--default '%s': not pass or drop", argument);
	policy->is_default_given = true;
	policy->default_drop = !strcmp(argument, "drop");
	return 0;
}

static int take_dry_run(const struct command *command, struct policy *policy, bool dry_run)
{
	if (policy->is_dry_run_given && policy->dry_run != dry_run)
		return complain_usage(command, "--dry-run and --enforce contradict each other");
	policy->is_dry_run_given = true;
	policy->dry_run = dry_run;
	return 0;
}

static int take_sample(const struct command *command, struct policy *policy, const char *argument)
{
	if (policy->is_sample_given)
		return complain_usage(command, "sampling is asked for twice");
	if (argument && baleen_interval_parse(argument, &policy->sample_interval_ns))
		return complain_usage(command,
				      "--sample '%s': not a rate such as 100/s, 6/m or 1/h",
				      argument);
	policy->is_sample_given = true;
	return 0;
}

int policy_option_take(const struct command *command, struct policy *policy, int option,
		       const char *argument)
{
	switch (option) {
	case OPTION_DEFAULT: return take_default(command, policy, argument);
	case OPTION_DRY_RUN: return take_dry_run(command, policy, true);
	case OPTION_ENFORCE: return take_dry_run(command, policy, false);
	case OPTION_SAMPLE: return take_sample(command, policy, argument);
	case OPTION_NO_SAMPLE: return take_sample(command, policy, NULL);
	default: return -ENOENT;
	}
}

int policy_option(const struct option_use *use)
{
	return policy_option_take(use->command, use->to, use->spec->value, use->argument);
}

const struct option_spec policy_option_table[] = {
	{ "default", 0, "V", policy_option, .value = OPTION_DEFAULT, .words = "pass drop",
	  .help = "what no rule decides: pass (default) or drop; under drop, what a host needs "
		  "to live passes (ARP, neighbour discovery, LACP ...)" },
	{ "dry-run", 0, NULL, policy_option, .value = OPTION_DRY_RUN,
	  .help = "count what would be dropped, drop nothing" },
	{ "sample", 0, "N/s", policy_option, .value = OPTION_SAMPLE,
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
