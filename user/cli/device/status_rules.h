/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of status about rules and about packets that no rule decided, the same for
 * XDP and the kernel module.
 */
#ifndef BALEEN_CLI_STATUS_RULES_H
#define BALEEN_CLI_STATUS_RULES_H

#include <baleen/stats.h>

#include "cli/common/cli.h"
#include "filter/filter.h"

/**
 * struct status_rule - a rule as it is
 * @name: its name
 * @action: enum baleen_action
 * @qualifiers: further conditions that a packet has to meet
 * @rate_limit: only what is over it is met; all zero for none
 * @limit: how it is; NULL when it is not known, or none
 * @counted: what it decided, or counted
 * @filter: its filter; NULL of a damaged one
 * @damage: why it is
 * @n_written: entries of its feeds and single ones; 0 when nobody knows
 * @shared: in the kernel module: the filter with a name that it asks, or empty
 */
struct status_rule {
	const char *name;
	u32 action;
	struct baleen_qualifiers qualifiers;
	struct baleen_rate_limit rate_limit;
	const struct baleen_limit_status *limit;
	struct baleen_rule_stats counted;
	const struct baleen_filter *filter;
	const char *damage;
	u64 n_written;
	const char *shared;
};

/* As JSON; as a few lines. */
json_t *describe_status_rule(const struct status_rule *rule);
void print_status_rule(const struct status_rule *rule);

/**
 * struct status_verdicts - what becomes of packets
 * @default_drop: drop packets that no rule decides
 * @dry_run: nothing is
 * @sample_interval_ns: least time between two events; 0 for no events
 * @stats: the counters
 */
struct status_verdicts {
	bool default_drop;
	bool dry_run;
	u64 sample_interval_ns;
	const struct baleen_stats *stats;
};

/* Added to the object of a device; as the lines below its rules. */
void describe_status_verdicts(const struct status_verdicts *verdicts, json_t *json);
void print_status_verdicts(const struct status_verdicts *verdicts);

/* The line above them, in a dry run. */
void print_status_dry_run(bool dry_run);

/* Prints or, with an array, collects a device with rules of the kernel module;
 * EXIT_FAILED after a message, or -ENOENT when there are none.
 */
int status_kmod(const char *device, json_t *all);

/* The same of all devices; *n_shown grows by their number. */
int status_kmod_all(json_t *all, u32 *n_shown);

/* Prints a line for each device that answers ICP, or adds it to the objects of @all;
 * returns how many.
 */
u32 status_icp_all(json_t *all);

/* A table of the objects of all devices; 0, or EXIT_FAILED after a message. */
int print_status_short(const json_t *all);

#endif /* BALEEN_CLI_STATUS_RULES_H */
