/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bans of many keys inside one prefix become a ban of the prefix.
 *
 *      widen 8 in /24
 *
 *      192.0.2.7    until 10:05        192.0.2.0/24  origin widen
 *      192.0.2.9    until 10:20   -->                reason "8 of 192.0.2.0/24"
 *      ... 8 of them                                 until fewer than 8 are left
 *
 * The entry is one beside the others, which stay. It ends when the bans that it stands on
 * have ended or were taken back, so that fewer than N are left; bans that came later
 * prolong it then. What must not be banned is not banned with its prefix either: such a
 * prefix is not widened.
 */
#ifndef BALEEN_WIDEN_H
#define BALEEN_WIDEN_H

#include "state/entries.h"

/**
 * struct baleen_widen_prefix - a prefix in which bans came or went
 * @key: its addresses
 * @widen: when it is banned
 * @has_more: some came
 * @has_fewer: some went, or the time of its own entry has come
 */
struct baleen_widen_prefix {
	struct baleen_entry_key key;
	struct baleen_widen widen;
	bool has_more;
	bool has_fewer;
};

/**
 * baleen_widen_prefix() - in which prefix does a ban count?
 * @rule: its rule
 * @entry: the ban
 * @prefix: filled in, but for has_more and has_fewer
 *
 * Return: false when it counts in none: an exception, a ban of a prefix as wide, an entry
 * of widen itself, or a rule that does not widen.
 */
bool baleen_widen_prefix(const struct baleen_stored_rule *rule,
			 const struct baleen_rule_entry *entry, struct baleen_widen_prefix *prefix);

/**
 * enum baleen_widen_verdict - what is to become of the entry of a prefix
 * @BALEEN_WIDEN_LEAVE: nothing
 * @BALEEN_WIDEN_COME: it comes
 * @BALEEN_WIDEN_RENEW: it gets another end
 * @BALEEN_WIDEN_GO: it goes
 */
enum baleen_widen_verdict {
	BALEEN_WIDEN_LEAVE,
	BALEEN_WIDEN_COME,
	BALEEN_WIDEN_RENEW,
	BALEEN_WIDEN_GO,
};

/**
 * baleen_widen_judge() - is a prefix to be banned?
 * @state: with a transaction that has the bans that came and went
 * @rule: name of the rule
 * @prefix: the prefix
 * @now_ms: the time
 * @entry: filled in with its entry
 * @verdict: filled in
 * @error: filled in on failure
 *
 * One that is banned is left alone while bans only come: one look, however many there are.
 * One that somebody let go comes again with the next ban inside it.
 *
 * Return: 0 or a negative errno.
 */
int baleen_widen_judge(const struct baleen_rule_store *state, const char *rule,
		       const struct baleen_widen_prefix *prefix, u64 now_ms,
		       struct baleen_rule_entry *entry, enum baleen_widen_verdict *verdict,
		       struct baleen_error *error);

#endif /* BALEEN_WIDEN_H */
