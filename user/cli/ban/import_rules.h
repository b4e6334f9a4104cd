/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules that entries of a file go to.
 */
#ifndef BALEEN_CLI_IMPORT_RULES_H
#define BALEEN_CLI_IMPORT_RULES_H

#include "cli/open/entries.h"
#include "cli/open/scope_rules.h"
#include "state/scope.h"

/**
 * struct import_rule - a rule
 * @target: DEV:RULE, or BALEEN_SCOPE_BANS
 * @key_spec: its key fields
 * @missing: why nothing can be put into it; empty when it is there
 * @entries: those that go to it
 * @n_missing: how many would, if it were there
 * @n_ended: those whose end has come already
 * @n_own: those that come from Baleen itself (state/entries.h), and are left out
 */
struct import_rule {
	struct baleen_scope target;
	u32 key_spec;
	struct baleen_error missing;
	struct entries entries;
	u64 n_missing;
	u64 n_ended;
	u64 n_own;
};

/**
 * struct import_rules - all of them; all zeros at the start
 * @rule: in the order in which the file names them
 * @n: how many
 * @at: the one that was asked for last
 * @device_rules: of its device
 */
struct import_rules {
	struct import_rule *rule;
	size_t n;
	size_t at;
	struct scope_rules device_rules;
};

/**
 * struct import_way - how they are put
 * @is_trial: it is only said what would come of it
 * @forces: --force
 * @narrows: --narrow
 * @snapshot_of: what this origin has in these rules besides is deleted; NULL for nothing
 * @origin: of all entries; NULL when each has its own
 * @wait_ms: for other writers
 * @json: the results as JSON, appended to; NULL for words
 */
struct import_way {
	bool is_trial;
	bool forces;
	bool narrows;
	const char *snapshot_of;
	const char *origin;
	u64 wait_ms;
	json_t *json;
};

/* One more rule, which is there; NULL without memory. */
struct import_rule *import_rules_add(struct import_rules *rules, const char *target, u32 key_spec);

/* The rule of this name, as a file has it, valid until the next call; 0, -ENOMEM, or -EINVAL when
 * it is neither DEV:RULE nor BALEEN_SCOPE_BANS.
 */
int import_rules_find(struct import_rules *rules, const char *target, struct import_rule **rule);

/* Puts the entries, rule by rule, and reports it; an exit code. What one rule does not take is
 * left out, and keeps nothing from the others.
 */
int import_rules_put(struct import_rules *rules, const struct import_way *way);

void import_rules_free(struct import_rules *rules);

#endif /* BALEEN_CLI_IMPORT_RULES_H */
