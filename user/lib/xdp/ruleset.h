/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of a device as a value: what it shall enforce, in order, with its
 * policy.
 *
 * attach puts one on a device that has none; what changes a device reads its
 * ruleset back, edits it and puts it on as a whole by baleen_xdp_update().
 */
#ifndef BALEEN_RULESET_H
#define BALEEN_RULESET_H

#include <baleen/stats.h>

#include "filter/filter.h"
#include "util/error.h"

/* A rule that the device does not have yet. */
#define BALEEN_RULE_NEW (-1)

/**
 * struct baleen_ruleset_rule - one rule
 * @name: below BALEEN_NAME_BYTES, see baleen_rule_name_check()
 * @action: enum baleen_action
 * @qualifiers: further conditions that a frame has to meet
 * @rate_limit: only what is over it is met; all zero for none
 * @filter: to be copied to the kernel, owned by the caller; NULL keeps the live
 *          map of rule @live
 * @live: the rule of the device that this one continues: it takes over its
 *        counters and, without a @filter, its map; BALEEN_RULE_NEW for none
 * @shared: in the kernel module: the filter with a name that it asks, of which
 *          @filter is a copy then; empty for one of its own
 */
struct baleen_ruleset_rule {
	char name[BALEEN_NAME_BYTES];
	u32 action;
	struct baleen_qualifiers qualifiers;
	struct baleen_rate_limit rate_limit;
	const struct baleen_filter *filter;
	int live;
	char shared[BALEEN_NAME_BYTES];
};

/**
 * struct baleen_ruleset - the rules of a device and its policy
 * @rule: in order of evaluation
 * @n_rules: 1 to BALEEN_MAX_RULES
 * @default_drop: drop frames that no rule decides, except vital ones
 * @dry_run: count what would be dropped, drop nothing
 * @sample_interval_ns: least time between two events; 0 for no events
 * @max_bytes: most bytes that its filters may take, as baleen_memory_bound() is asked
 */
struct baleen_ruleset {
	struct baleen_ruleset_rule rule[BALEEN_MAX_RULES];
	u32 n_rules;
	bool default_drop;
	bool dry_run;
	u64 sample_interval_ns;
	u64 max_bytes;
};

/**
 * baleen_action_text() - an action as a word
 * @action: enum baleen_action
 *
 * Return: "drop", "allow" or "count"; NULL for any other number.
 */
const char *baleen_action_text(u32 action);

/**
 * baleen_rule_name_check() - may a rule be called so?
 * @name: 1 to 31 of A-Z a-z 0-9 . _ -, not starting with a dash
 *
 * Return: NULL, or what is wrong with it.
 */
const char *baleen_rule_name_check(const char *name);

/**
 * baleen_ruleset_from_config() - the ruleset that a device has
 * @config: the constants of its program
 * @ruleset: filled in: rule i keeps the live map of rule i
 */
void baleen_ruleset_from_config(const struct baleen_config *config, struct baleen_ruleset *ruleset);

/**
 * baleen_ruleset_find() - the rule of a name
 * @ruleset: the ruleset
 * @name: the rule's name
 *
 * Return: its place, from 0, or -ENOENT.
 */
int baleen_ruleset_find(const struct baleen_ruleset *ruleset, const char *name);

/**
 * baleen_ruleset_insert() - add a rule
 * @ruleset: changed; untouched on failure
 * @place: place of the rule afterwards; n_rules to append it
 * @rule: the rule
 * @error: filled in on failure
 *
 * Return: 0; -E2BIG when there are BALEEN_MAX_RULES; -EEXIST for a name that
 * is taken.
 */
int baleen_ruleset_insert(struct baleen_ruleset *ruleset, u32 place,
			  const struct baleen_ruleset_rule *rule, struct baleen_error *error);

/**
 * baleen_ruleset_remove() - take a rule out
 * @ruleset: changed
 * @place: place of the rule
 */
void baleen_ruleset_remove(struct baleen_ruleset *ruleset, u32 place);

/**
 * baleen_ruleset_move() - put a rule to another place
 * @ruleset: changed
 * @from: its place
 * @to: its place afterwards
 */
void baleen_ruleset_move(struct baleen_ruleset *ruleset, u32 from, u32 to);

/**
 * baleen_ruleset_check() - may a device have this?
 * @ruleset: from wherever
 * @error: filled in on failure
 *
 * Count, names, actions and qualifiers; each rule has a filter or continues a
 * rule of its own.
 *
 * Return: 0; -EINVAL; -E2BIG for too many rules; -EEXIST for a name that two
 * of them have.
 */
int baleen_ruleset_check(const struct baleen_ruleset *ruleset, struct baleen_error *error);

/**
 * baleen_ruleset_fits() - is there memory for its filters?
 * @ruleset: checked
 * @live: the constants of the device; NULL when it has none
 * @error: filled in on failure: the rule that takes most, all bytes, and the bound
 *
 * What takes no more than the device has is let through: a ban that ends, a rule that goes.
 *
 * Return: 0 or -ERANGE.
 */
int baleen_ruleset_fits(const struct baleen_ruleset *ruleset, const struct baleen_config *live,
			struct baleen_error *error);

/**
 * baleen_ruleset_keeps_keys() - do rules that go on keep what their counters are about?
 * @ruleset: the ruleset
 * @device: name of the device
 * @key_spec: fields of the keys of each rule that the device has
 * @error: filled in when a rule would be keyed by others
 *
 * Return: 0 or -EINVAL.
 */
int baleen_ruleset_keeps_keys(const struct baleen_ruleset *ruleset, const char *device,
			      const u32 *key_spec, struct baleen_error *error);

/**
 * baleen_ruleset_configure() - the constants of the program for a ruleset
 * @ruleset: checked
 * @old: those of the program that runs; without rules when there is none. Device,
 *       mode and attach_type are copied from it
 * @counted: present counters of the device; NULL when there are none
 * @config: filled in; may be @old
 *
 * A rule that continues one keeps its slot. Another gets a slot that no rule
 * of either has, if there is one, and what that has counted as its base.
 */
void baleen_ruleset_configure(const struct baleen_ruleset *ruleset, const struct baleen_config *old,
			      const struct baleen_stats *counted, struct baleen_config *config);

/**
 * baleen_limits_are_same() - do two programs have the same limits?
 * @a: constants of one
 * @b: of the other
 *
 * Return: true when the buckets of one are those of the other, also when there are none.
 */
bool baleen_limits_are_same(const struct baleen_config *a, const struct baleen_config *b);

#endif /* BALEEN_RULESET_H */
