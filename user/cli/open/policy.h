/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of a device as it is typed: what no rule decides, dry run, sampling.
 */
#ifndef BALEEN_CLI_POLICY_H
#define BALEEN_CLI_POLICY_H

#include "cli/open/rules.h"

/**
 * struct policy - what was said of it
 * @is_default_given: --default
 * @default_drop: its value
 * @is_dry_run_given: --dry-run or --enforce
 * @dry_run: which of them
 * @is_sample_given: --sample or --no-sample
 * @sample_interval_ns: its value; 0 for no events
 */
struct policy {
	bool is_default_given, default_drop;
	bool is_dry_run_given, dry_run;
	bool is_sample_given;
	u64 sample_interval_ns;
};

/* --default, --dry-run and --sample; of a struct policy. */
extern const struct option_spec policy_option_table[];

/* Take one of them, or what takes it back, of a struct policy. */
int policy_default(const struct option_use *use);
int policy_enforce(const struct option_use *use);
int policy_sample(const struct option_use *use);

/* Changes what was said. */
void policy_apply(const struct policy *policy, struct baleen_ruleset *ruleset);

#endif /* BALEEN_CLI_POLICY_H */
