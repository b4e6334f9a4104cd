/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy of a device as it is typed: what no rule decides, dry run, sampling.
 */
#ifndef BALEEN_CLI_POLICY_H
#define BALEEN_CLI_POLICY_H

#include "cli/open/rules.h"
#include "net/device.h"

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

enum policy_option {
	OPTION_DEFAULT = OPTION_OF_RULE_COMMAND,
	OPTION_DRY_RUN,
	OPTION_SAMPLE,
	OPTION_ENFORCE,
	OPTION_NO_SAMPLE,
	OPTION_OF_POLICY_COMMAND,
};

#define POLICY_OPTIONS                                            \
	{ "default", required_argument, NULL, OPTION_DEFAULT },   \
		{ "dry-run", no_argument, NULL, OPTION_DRY_RUN }, \
	{                                                         \
		"sample", required_argument, NULL, OPTION_SAMPLE  \
	}

#define POLICY_OPTIONS_HELP                                                                     \
	"  --default V      what no rule decides: pass (default) or drop; under drop, what a\n" \
	"                   host needs to live passes (ARP, neighbour discovery, LACP ...)\n"   \
	"  --dry-run        count what would be dropped, drop nothing\n"                        \
	"  --sample N/s     at most N events a second (/m, /h) of dropped and counted packets\n"

/* --default, --dry-run and --sample; of a struct policy. */
extern const struct option_spec policy_option_table[];

/* Takes one of them; of its row @value is an enum policy_option. */
int policy_option(const struct option_use *use);

/* Policy options by code: 0, EXIT_USAGE after a message, or -ENOENT when the
 * code is none of them.
 */
int policy_option_take(const struct command *command, struct policy *policy, int option,
		       const char *argument);

/* Takes the argument of --mode; 0, or EXIT_USAGE after a message. */
int take_mode(const struct command *command, const char *argument, enum baleen_mode *mode);

/* Changes what was said. */
void policy_apply(const struct policy *policy, struct baleen_ruleset *ruleset);

/* "100/s" from an interval, into at least NUMBER_TEXT bytes; returns @text. */
const char *format_interval(u64 interval_ns, char *text);

#endif /* BALEEN_CLI_POLICY_H */
