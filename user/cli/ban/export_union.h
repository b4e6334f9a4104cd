/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The single entries of several rules as those of one set.
 *
 * An exception takes addresses out of its own rule: what another rule drops it does not let in.
 * One set has no such exceptions, so of several rules those that have some are worked out first:
 * what they drop now, and until when.
 */
#ifndef BALEEN_CLI_EXPORT_UNION_H
#define BALEEN_CLI_EXPORT_UNION_H

#include "state/entry_key.h"

/**
 * struct export_union - entries, rule by rule; all zeros at the start
 * @entry: the entries, of addresses
 * @n: how many
 * @first: of each rule that has some, the first of @entry
 * @n_rules: how many
 * @n_lost: stretches of addresses that are left out, and would come back when an exception ends
 */
struct export_union {
	struct baleen_rule_entry *entry;
	size_t n;
	size_t *first;
	size_t n_rules;
	u64 n_lost;
};

/* Entries come of another rule from here on; 0, or -ENOMEM. */
int export_union_begin_rule(struct export_union *all);

/* An entry of the rule at hand; 0, or -ENOMEM. */
int export_union_add(struct export_union *all, const struct baleen_rule_entry *entry);

/* Makes them those of one set: of several rules none of them is an exception, and each key is there
 * once, as the entry that stays longest. Of one rule they stay as they are. 0, or -ENOMEM.
 */
int export_union_make(struct export_union *all, u64 now_ms);

void export_union_free(struct export_union *all);

#endif /* BALEEN_CLI_EXPORT_UNION_H */
